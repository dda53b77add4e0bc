/* help.c - --help and 'relayc help' as text. */
#include "cli/help.h"

#include <string.h>

#include "base/embedded.h"
#include "base/str.h"

enum { LEFT = 28 }; /* columns of an option's name and argument */

static const char folder[] = "cli/topics/";

void print_wrapped(FILE *out, int column, int indent, const char *text)
{
    bool begun = false;

    for (const char *at = text; *at;) {
        const size_t n = strcspn(at, " \n");

        if (begun && column + 1 + (int)n > HELP_WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (begun) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)n, at);
        column += (int)n;
        begun = true;
        at += n;
        at += strspn(at, " \n");
    }
    fputc('\n', out);
}

/* --- topics ----------------------------------------------------------------------------------- */

const char *topic_text(struct arena *arena, const char *name)
{
    const struct embedded_file *file = embedded_find(arena_printf(arena, "%s%s.txt", folder, name));

    return file ? file->text : NULL;
}

static bool is_command(const char *name, size_t n)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strlen(command_rows[i].name) == n && strncmp(command_rows[i].name, name, n) == 0)
            return true;
    return false;
}

const char *topic_name(struct arena *arena, size_t i)
{
    const char *name;
    size_t n;

    if (i >= n_embedded_files)
        return NULL;
    if (!str_starts(embedded_files[i].path, folder))
        return "";
    name = embedded_files[i].path + strlen(folder);
    n = strlen(name) - strlen(".txt");
    return is_command(name, n) ? "" : arena_strndup(arena, name, n);
}

void print_topics(FILE *out)
{
    fputs("\nTopics ('relayc help TOPIC'):\n", out);
    for (size_t i = 0; i < n_embedded_files; i++) {
        const char *path = embedded_files[i].path, *name = path + strlen(folder);

        if (!str_starts(path, folder) || is_command(name, strlen(name) - strlen(".txt")))
            continue;
        fprintf(out, "  %-12.*s  %.*s\n", (int)(strlen(name) - strlen(".txt")), name,
                (int)strcspn(embedded_files[i].text, "\n"), embedded_files[i].text);
    }
}

/* Paragraphs are wrapped; lines that are indented stay as they are. */
void print_topic(FILE *out, const char *text)
{
    while (*text) {
        const char *end = text;

        if (*text == ' ' || *text == '\n') {
            const int n = (int)strcspn(text, "\n");

            fprintf(out, "%.*s\n", n, text);
            text += n + 1;
            continue;
        }
        while (*end && *end != '\n' && *end != ' ')
            end += strcspn(end, "\n") + 1;
        char paragraph[4096];

        snprintf(paragraph, sizeof paragraph, "%.*s", (int)(end - text), text);
        print_wrapped(out, 0, 0, paragraph);
        text = end;
    }
}

/* --- commands --------------------------------------------------------------------------------- */

bool command_has(enum command command, enum option_id option)
{
    return (option_rows[option].commands & (1 << command)) != 0;
}

void print_overview(FILE *out)
{
    fputs("relayc: from a trained neural network (ONNX, TensorFlow Lite) to self-contained C\n\n"
          "  relayc compile kws.onnx -o gen/        write kws.h, kws.c, kws_weights.c, kws.json\n"
          "  relayc verify kws.onnx                 file = passes = oneDNN = generated C?\n"
          "  relayc run kws.onnx -i x.npy --output y.npy\n\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "  %-10s  ", command_rows[i].name);
        print_wrapped(out, 14, 14, command_rows[i].summary);
    }
    fputs("\n'relayc COMMAND --help' for the options, 'relayc help' for topics; docs/ for the "
          "rest.\n",
          out);
}

static void print_option(FILE *out, enum option_id option, const char *help)
{
    const struct option_row *row = &option_rows[option];
    char left[128];

    snprintf(left, sizeof left, "%c%c%s --%s%s%s", row->letter ? '-' : ' ',
             row->letter ? row->letter : ' ', row->letter ? "," : " ", row->name,
             row->argument ? " " : "", row->argument ? row->argument : "");
    if (strlen(left) > LEFT)
        fprintf(out, "  %s\n  %*s  ", left, LEFT, "");
    else
        fprintf(out, "  %-*s  ", LEFT, left);
    print_wrapped(out, LEFT + 4, LEFT + 4, help);
}

/* Of the groups that come before `option`, has one its title? */
static bool is_first_of_title(enum command command, enum option_id option)
{
    for (int i = 0; i < (int)option; i++)
        if (command_has(command, (enum option_id)i) &&
            strcmp(option_group((enum option_id)i), option_group(option)) == 0)
            return false;
    return command_has(command, option);
}

void print_command_help(FILE *out, enum command command)
{
    const struct command_row *row = &command_rows[command];
    const struct embedded_file *text;
    char path[64];

    fprintf(out, "relayc %s %s [options]\n\n", row->name, row->operands);
    print_wrapped(out, 0, 0, row->summary);
    snprintf(path, sizeof path, "%s%s.txt", folder, row->name);
    text = embedded_find(path);
    if (text) {
        fputc('\n', out);
        print_topic(out, text->text);
    }
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *title = option_group((enum option_id)i);

        if (!is_first_of_title(command, (enum option_id)i))
            continue;
        fprintf(out, "\n%s:\n", title);
        for (int k = i; k < OPTION_COUNT; k++)
            if (command_has(command, (enum option_id)k) &&
                strcmp(option_group((enum option_id)k), title) == 0)
                print_option(out, (enum option_id)k, option_help((enum option_id)k, command));
    }
    fputs("\nExit codes: 0 ok, 1 the model or a check failed, 2 usage, 3 input or output, "
          "70 bug in relayc,\n130 interrupted.\n",
          out);
}

/* Once for each meaning: the commands that share it are named together. */
void print_option_help(FILE *out, enum option_id option)
{
    const int commands = option_rows[option].commands;
    int said = 0;

    for (int c = 0; c < COMMAND_COUNT; c++) {
        const char *help = option_help(option, (enum command)c);

        if (!(commands & ~said & (1 << c)))
            continue;
        print_option(out, option, help);
        fprintf(out, "  %*s  ", LEFT, "");
        if (commands == C_ANY) {
            fputs("(all commands)\n", out);
            return;
        }
        char names[512] = "(";

        for (int k = c; k < COMMAND_COUNT; k++)
            if ((commands & ~said & (1 << k)) && option_help(option, (enum command)k) == help) {
                const size_t n = strlen(names);

                snprintf(names + n, sizeof names - n, "%s%s", n > 1 ? ", " : "",
                         command_rows[k].name);
                said |= 1 << k;
            }
        const size_t n = strlen(names);

        snprintf(names + n, sizeof names - n, ")");
        print_wrapped(out, LEFT + 4, LEFT + 4, names);
    }
}
