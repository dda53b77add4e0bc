/* config.c - relayc.toml: options of a project ('relayc help config').
 *
 * A subset of TOML: keys are the long names of options; values are strings, numbers, true, false, or arrays of strings
 * and numbers; a table has the name of a command. */
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/cli.h"

static const char usual[] = "relayc.toml";

struct config {
    struct cli *cli;
    const char *path, *at;
    int line;
    bool is_trusted; /* named by --config */
    bool is_other;   /* in the table of another command */
    bool in_table;
    struct option_values given[2][OPTION_COUNT]; /* outside, and in the command's table */
};

static bool fail(const struct config *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(const struct config *c, const char *format, ...)
{
    va_list args;
    const char *text;

    va_start(args, format);
    text = arena_vprintf(&c->cli->ctx->perm, format, args);
    va_end(args);
    return diag_error(c->cli->ctx, DIAG_USAGE, NULL, "%s:%d: %s",
                      str_safe(&c->cli->ctx->perm, c->path, 400), c->line, text);
}

/* Past spaces and comments; with `lines` past ends of lines, too. */
static void skip_space(struct config *c, bool lines)
{
    for (;; c->at++) {
        if (*c->at == '#')
            c->at += strcspn(c->at, "\n");
        if (*c->at == '\n' && lines)
            c->line++;
        else if (!*c->at || !strchr(" \t\r", *c->at))
            return;
    }
}

static const char *word(struct config *c)
{
    const size_t n =
        strspn(c->at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+.");
    const char *text = arena_strndup(&c->cli->ctx->perm, c->at, n);

    c->at += n;
    return text;
}

/* NULL after an error. */
static const char *quoted(struct config *c)
{
    const char quote = *c->at++;
    struct str text = { .arena = &c->cli->ctx->perm };

    for (; *c->at && *c->at != quote && *c->at != '\n'; c->at++) {
        static const char escapes[] = "\"\"\\\\n\nt\t"; /* what stands for what */
        const char *escape = escapes;

        if (*c->at != '\\' || quote == '\'') {
            str_addn(&text, c->at, 1);
            continue;
        }
        for (c->at++; *escape && *escape != *c->at;)
            escape += 2;
        if (!*escape) {
            fail(c, "strings have the escapes \\\" \\\\ \\n \\t only; '...' has none");
            return NULL;
        }
        str_addn(&text, escape + 1, 1);
    }
    if (*c->at != quote) {
        fail(c, "a string does not end in its line");
        return NULL;
    }
    c->at++;
    return str_text(&text);
}

/* What a folder that was fetched must not say. */
static bool check_trust(const struct config *c, enum option_id option, const char *value)
{
    static const enum option_id starts[] = { OPTION_CC, OPTION_CFLAGS, OPTION_RUNNER,
                                             OPTION_TARGET_DIR };
    static const enum option_id writes[] = { OPTION_OUTPUT_DIR, OPTION_OUTPUT, OPTION_REPORT,
                                             OPTION_QUANTIZE_LOG };
    bool ok = option != OPTION_METRIC || !str_starts(value, "cmd:");

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        ok = ok && option != starts[i];
    if (!ok && !c->is_trusted) {
        fail(c, "--%s starts programs or loads code", option_name(option));
        diag_help(c->cli->ctx, "if the file is yours, give --config %s",
                  str_safe(&c->cli->ctx->perm, c->path, 400));
        return false;
    }
    for (size_t i = 0; i < sizeof writes / sizeof *writes && !c->is_trusted; i++)
        if (option == writes[i] && (*value == '/' || strstr(value, ".."))) {
            fail(c, "--%s: '%s' is outside of this folder", option_name(option),
                 str_safe(&c->cli->ctx->perm, value, 200));
            diag_help(c->cli->ctx, "if the file is yours, give --config %s",
                      str_safe(&c->cli->ctx->perm, c->path, 400));
            return false;
        }
    return true;
}

/* A string, a number; NULL after an error. */
static const char *scalar(struct config *c)
{
    const char *text = *c->at == '"' || *c->at == '\'' ? quoted(c) : word(c);

    if (text && !*text && c->at[-1] != '"' && c->at[-1] != '\'') {
        fail(c, "expected a value: \"text\", a number, true, false, or [...]");
        return NULL;
    }
    return text;
}

static bool add(struct config *c, enum option_id option, const char *value)
{
    if (!value || !check_trust(c, option, value))
        return false;
    option_add(c->cli->ctx, &c->given[c->in_table][option], value);
    return true;
}

static bool read_array(struct config *c, enum option_id option)
{
    for (c->at++;;) {
        skip_space(c, true);
        if (*c->at == ']')
            break;
        if (!add(c, option, scalar(c)))
            return false;
        skip_space(c, true);
        if (*c->at == ',')
            c->at++;
        else if (*c->at != ']')
            return fail(c, "expected ',' or ']'");
    }
    c->at++;
    return true;
}

static bool read_value(struct config *c, enum option_id option)
{
    const char *argument = option_rows[option].argument, *text;
    const bool is_string = *c->at == '"' || *c->at == '\'';

    if (c->given[c->in_table][option].n)
        return fail(c, "'%s' is given twice", option_name(option));
    if (*c->at == '[')
        return argument ? read_array(c, option)
                        : fail(c, "--%s is true or false", option_name(option));
    text = scalar(c);
    if (!text)
        return false;
    if (!argument && !is_string && strcmp(text, "false") == 0)
        return true;
    if (!argument)
        return !is_string && strcmp(text, "true") == 0
                   ? add(c, option, "")
                   : fail(c, "--%s is true or false", option_name(option));
    if (!is_string && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
        return fail(c, "--%s needs a value: %s", option_name(option), argument);
    return add(c, option, text);
}

static bool read_table(struct config *c)
{
    const char *name;
    int command = 0;

    c->at++;
    skip_space(c, false);
    name = word(c);
    skip_space(c, false);
    if (*c->at++ != ']')
        return fail(c, "expected [COMMAND]");
    while (command < COMMAND_COUNT && strcmp(command_rows[command].name, name) != 0)
        command++;
    if (command == COMMAND_COUNT)
        return fail(c, "no command is called '%s'", name);
    c->in_table = true;
    c->is_other = command != (int)c->cli->driver->args.command;
    return true;
}

static bool unknown_key(const struct config *c, const char *key)
{
    const char *names[OPTION_COUNT], *nearest;

    for (int i = 0; i < OPTION_COUNT; i++)
        names[i] = option_rows[i].name;
    nearest = str_nearest(key, names, OPTION_COUNT);
    fail(c, "no option is called '%s'", str_safe(&c->cli->ctx->perm, key, 80));
    if (nearest)
        diag_help(c->cli->ctx, "did you mean %s?", nearest);
    return false;
}

static bool read_line(struct config *c)
{
    struct option_values kept;
    const char *key;
    enum option_id option;
    bool ok;

    if (*c->at == '[')
        return read_table(c);
    key = *c->at == '"' || *c->at == '\'' ? quoted(c) : word(c);
    if (!key)
        return false;
    option = option_find(key);
    if (option == OPTION_COUNT || option == OPTION_CONFIG)
        return unknown_key(c, key);
    skip_space(c, false);
    if (*c->at != '=')
        return fail(c, "expected %s = VALUE", key);
    c->at++;
    skip_space(c, false);
    kept = c->given[1][option];
    if (c->is_other)
        c->given[1][option] = (struct option_values){ .n = 0 };
    ok = read_value(c, option);
    if (c->is_other)
        c->given[1][option] = kept;
    return ok;
}

static bool read_all(struct config *c)
{
    for (skip_space(c, true); *c->at; skip_space(c, true)) {
        if (!read_line(c))
            return false;
        skip_space(c, false);
        if (*c->at && *c->at != '\n')
            return fail(c, "expected the end of the line");
    }
    return true;
}

/* The command line's options stay; what was taken is said. */
static void apply(struct config *c)
{
    struct arguments *args = &c->cli->driver->args;
    struct str taken = { .arena = &c->cli->ctx->perm };

    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_values *values = &c->given[c->given[1][i].n > 0][i];

        if (!values->n || args->options[i].n || !(option_rows[i].commands & (1 << args->command)))
            continue;
        args->options[i] = *values;
        for (int k = 0; k < values->n; k++)
            str_printf(&taken, " --%s%s%s", option_rows[i].name, *values->at[k] ? " " : "",
                       str_safe(&c->cli->ctx->perm, values->at[k], 200));
    }
    if (taken.n)
        driver_note(c->cli->driver,
                    arena_printf(&c->cli->ctx->perm, "%s:%s",
                                 str_safe(&c->cli->ctx->perm, c->path, 400), str_text(&taken)));
}

bool config_read(struct cli *cli)
{
    const struct arguments *args = &cli->driver->args;
    const char *named = option_text(args, OPTION_CONFIG, NULL);
    struct config *c;
    struct mapping file;

    if (named ? strcmp(named, "none") == 0 : access(usual, F_OK) != 0)
        return true;
    if (args->command == COMMAND_HELP || args->command == COMMAND_COMPLETION ||
        args->command == COMMAND_EXPLAIN)
        return true;
    c = arena_new(&cli->ctx->perm, struct config);
    *c = (struct config){
        .cli = cli, .path = named ? named : usual, .line = 1, .is_trusted = named != NULL
    };
    if (!file_map(cli->ctx, c->path, &file))
        return false;
    c->at = arena_strndup(&cli->ctx->perm, (const char *)file.data, file.size);
    file_unmap(&file);
    if (!read_all(c))
        return false;
    apply(c);
    return true;
}
