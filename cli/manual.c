/* manual.c - the same as --help, as manual pages (man 7 groff_man). */
#include <string.h>

#include "cli/help.h"
#include "include/relayc/relayc.h"

static void add_escaped(FILE *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n && text[i]; i++) {
        if (i == 0 && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", out);
        if (text[i] == '-')
            fputs("\\-", out);
        else if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '~')
            fputs("\\(ti", out);
        else if (text[i] == '\'')
            fputs("\\(aq", out);
        else
            fputc(text[i], out);
    }
}

static void add_text(FILE *out, const char *text)
{
    add_escaped(out, text, strlen(text));
}

static void add_upper(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text, out);
}

static void section(FILE *out, const char *title)
{
    fputs(".SH ", out);
    add_upper(out, title);
    fputc('\n', out);
}

/* Examples and lists are indented: they stay as they are. */
static void add_topic(FILE *out, const char *text)
{
    bool verbatim = false;

    fputs(".PP\n", out);
    for (; *text; text += strcspn(text, "\n") + 1) {
        const size_t n = strcspn(text, "\n");

        if (n && (*text == ' ') != verbatim) {
            verbatim = !verbatim;
            fputs(verbatim ? ".nf\n" : ".fi\n", out);
        }
        if (!n) {
            fputs(".PP\n", out);
            continue;
        }
        add_escaped(out, text, n);
        fputc('\n', out);
    }
    if (verbatim)
        fputs(".fi\n", out);
}

static void add_option(FILE *out, enum option_id option, enum command command)
{
    const struct option_row *row = &option_rows[option];

    fputs(".TP\n", out);
    if (row->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", row->letter);
    fputs("\\fB\\-\\-", out);
    add_text(out, row->name);
    fputs("\\fR", out);
    if (row->argument) {
        fputs(" \\fI", out);
        add_text(out, row->argument);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    add_text(out, option_help(option, command));
    fputc('\n', out);
}

static void add_options(FILE *out, enum command command)
{
    bool done[OPTION_COUNT] = { false };

    section(out, "OPTIONS");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *title = option_group((enum option_id)i);

        if (done[i] || !command_has(command, (enum option_id)i))
            continue;
        fputs(".SS ", out);
        add_text(out, title);
        fputc('\n', out);
        for (int k = i; k < OPTION_COUNT; k++)
            if (command_has(command, (enum option_id)k) &&
                strcmp(option_group((enum option_id)k), title) == 0) {
                add_option(out, (enum option_id)k, command);
                done[k] = true;
            }
    }
}

static void add_commands(FILE *out)
{
    section(out, "COMMANDS");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, ".TP\n\\fBrelayc\\-%s\\fR(1)\n", command_rows[i].name);
        add_text(out, command_rows[i].summary);
        fputc('\n', out);
    }
}

void print_manual(FILE *out, struct arena *arena, enum command command)
{
    const bool whole = command == COMMAND_COUNT;
    const char *name = whole ? "relayc" : arena_printf(arena, "relayc-%s", command_name(command));
    const char *summary =
        whole ? "from a trained neural network to self-contained C" : command_rows[command].summary;
    const char *text = whole ? NULL : topic_text(arena, command_name(command)), *topic;

    fputs(".TH ", out);
    add_upper(out, name);
    fprintf(out, " 1 \"\" \"relayc %s\" \"User Commands\"\n", RELAYC_VERSION);
    section(out, "NAME");
    add_text(out, name);
    fputs(" \\- ", out);
    add_text(out, summary);
    fputc('\n', out);
    section(out, "SYNOPSIS");
    fprintf(out, "\\fBrelayc\\fR \\fI%s\\fR ", whole ? "COMMAND" : command_name(command));
    add_text(out, whole ? "..." : command_rows[command].operands);
    fputs(" [\\fIoptions\\fR]\n", out);
    if (text) {
        section(out, "DESCRIPTION");
        add_topic(out, text);
    }
    if (whole) {
        add_commands(out);
        for (size_t i = 0; (topic = topic_name(arena, i)) != NULL; i++)
            if (*topic) {
                section(out, topic);
                add_topic(out, topic_text(arena, topic));
            }
    } else {
        add_options(out, command);
    }
    section(out, "SEE ALSO");
    fputs(whole ? "The guide, /usr/share/doc/relayc/docs/guide.\n" : "\\fBrelayc\\fR(1)\n", out);
}
