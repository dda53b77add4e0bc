/* main.c - which command, and how its diagnostics and exit code reach the user. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "include/relayc/relayc.h"

static bool (*const run_command[COMMAND_COUNT])(struct cli *) = {
    [COMMAND_ANALYZE] = command_analyze,     [COMMAND_BENCH] = command_bench,
    [COMMAND_CALIBRATE] = command_calibrate, [COMMAND_COMPARE] = command_compare,
    [COMMAND_COMPILE] = command_compile,     [COMMAND_COMPLETION] = command_completion,
    [COMMAND_DIFF] = command_diff,           [COMMAND_EVAL] = command_eval,
    [COMMAND_EXPLAIN] = command_explain,     [COMMAND_HELP] = command_help,
    [COMMAND_INSPECT] = command_inspect,     [COMMAND_PACKAGE] = command_package,
    [COMMAND_REPORT] = command_report,       [COMMAND_RUN] = command_run,
    [COMMAND_QUANTIZE] = command_quantize,   [COMMAND_SEARCH] = command_search,
    [COMMAND_TARGETS] = command_targets,     [COMMAND_TUNE] = command_tune,
    [COMMAND_VERIFY] = command_verify,
};

void say(const struct cli *cli, const char *format, ...)
{
    va_list args;

    if (cli->quiet || cli->json)
        return;
    progress_clear();
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
}

/* --- what the driver tells -------------------------------------------------------------------- */

static void show_note(void *user, const char *text)
{
    const struct cli *cli = user;
    cJSON *list = cli->json ? cJSON_GetObjectItemCaseSensitive(cli->json, "notes") : NULL;

    if (cli->json && !list)
        list = cJSON_AddArrayToObject(cli->json, "notes");
    if (list)
        cJSON_AddItemToArray(list, cJSON_CreateString(text));
    if (list || cli->quiet)
        return;
    progress_clear();
    fprintf(stderr, "note: %s\n", text);
}

static void show_text(void *user, const char *text)
{
    say(user, "%s", text);
}

static void show_work(void *user, const char *what, int64_t done, int64_t n)
{
    (void)user;
    progress_count(what, done, n);
}

static void show_step(void *user, const char *what)
{
    (void)user;
    progress_step(what);
}

/* --- the terminal ----------------------------------------------------------------------------- */

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value;
}

/* NO_COLOR (no-color.org) and TERM=dumb switch colour off, CLICOLOR_FORCE on. */
static bool use_colour(struct ctx *ctx, const struct arguments *args)
{
    static const char *const words[] = { "auto", "always", "never", NULL };
    int when;

    if (!option_word(ctx, args, OPTION_COLOR, words, 0, &when) || when)
        return when == 1;
    if (is_set("NO_COLOR") || (getenv("TERM") && strcmp(getenv("TERM"), "dumb") == 0))
        return false;
    return isatty(STDERR_FILENO) || is_set("CLICOLOR_FORCE");
}

static void add_diagnostics(struct cli *cli)
{
    cJSON *list = cJSON_AddArrayToObject(cli->json, "diagnostics");

    for (const struct diag *d = cli->ctx->diags.first; d; d = d->next) {
        cJSON *row = cJSON_CreateObject();
        char code[8];

        snprintf(code, sizeof code, "R%04d", (int)d->code % 10000);
        cJSON_AddStringToObject(row, "code", code);
        cJSON_AddStringToObject(row, "severity", d->severity == DIAG_ERROR ? "error" : "warning");
        cJSON_AddStringToObject(row, "message", d->message);
        if (d->origin) {
            cJSON_AddNumberToObject(row, "node", (double)d->origin->index);
            cJSON_AddStringToObject(row, "name", str_safe(&cli->ctx->perm, d->origin->name, 4096));
            cJSON_AddStringToObject(row, "op_type",
                                    str_safe(&cli->ctx->perm, d->origin->op_type, 200));
        }
        if (d->note)
            cJSON_AddStringToObject(row, "note", d->note);
        if (d->help)
            cJSON_AddStringToObject(row, "help", d->help);
        cJSON_AddItemToArray(list, row);
    }
}

static void print_json(struct cli *cli)
{
    char *text;

    add_diagnostics(cli);
    text = cJSON_Print(cli->json);
    if (!text)
        out_of_memory(0);
    puts(text);
    cJSON_free(text);
    cJSON_Delete(cli->json);
}

static void run(struct cli *cli)
{
    const struct arguments *args = &cli->driver->args;

    if (has_option(args, OPTION_VERSION)) {
        puts("relayc " RELAYC_VERSION);
    } else if (args->command == COMMAND_COUNT) {
        print_overview(has_option(args, OPTION_HELP) ? stdout : stderr);
        if (!has_option(args, OPTION_HELP))
            diag_error(cli->ctx, DIAG_USAGE, NULL, "no command given");
    } else if (has_option(args, OPTION_HELP)) {
        print_command_help(stdout, args->command);
    } else {
        cli->quiet = has_option(args, OPTION_QUIET);
        if (has_option(args, OPTION_JSON)) {
            cli->json = cJSON_CreateObject();
            cJSON_AddStringToObject(
                cli->json, "schema",
                arena_printf(&cli->ctx->perm, "relayc-%s-1", command_name(args->command)));
        }
        progress_start(!cli->quiet && !cli->json && isatty(STDERR_FILENO));
        if (!(config_read(cli) && run_command[args->command](cli)) && !cli->ctx->diags.n_errors)
            diag_error(cli->ctx, DIAG_INTERNAL, NULL, "'%s' failed without a diagnostic",
                       command_name(args->command));
    }
}

/* All that was said has been written? A short write is an error also where a later one was none. */
static bool flush_output(struct cli *cli)
{
    const bool failed = ferror(stdout) != 0;

    return (fflush(stdout) == 0 && !failed) ||
           diag_error(cli->ctx, DIAG_FILE_WRITE, NULL, "cannot write to standard output: %s",
                      failed ? "an earlier part of it was lost" : strerror(errno));
}

/* The files come last: whoever finds them has an exit code of 0, or one that speaks of the model.
 */
static void finish(struct cli *cli, bool colour)
{
    struct output_set *outputs = cli->outputs;

    if (!flush_output(cli) || !outputs->is_finished)
        output_abort(outputs);
    else
        output_commit(outputs);
    diag_print(cli->ctx, stderr, colour, 8);
}

int main(int argc, char **argv)
{
    struct ctx *ctx = ctx_new(NULL);
    struct driver_state driver = driver_begin(ctx, COMMAND_COUNT);
    struct output_set outputs = { .ctx = ctx };
    struct cli cli = { .ctx = ctx, .driver = &driver, .outputs = &outputs };
    const struct driver_events events = {
        .note = show_note, .say = show_text, .progress = show_work, .begin = show_step, .user = &cli
    };
    bool colour;
    int code, late;

    interrupt_handle();
    driver.events = &events;
    driver.outputs = &outputs;
    if (arguments_parse(ctx, argc, argv, &driver.args))
        run(&cli);
    progress_stop();
    colour = use_colour(ctx, &driver.args);
    if (cli.json)
        print_json(&cli);
    else
        diag_print(ctx, stderr, colour, 8);
    code = diag_exit_code(ctx);
    diag_save(ctx); /* they have been told */
    finish(&cli, colour);
    late = diag_exit_code(ctx);
    driver_free(&driver);
    ctx_free(ctx);
    return late > code ? late : code;
}
