/* relayc.c - the public face of the driver (relayc.h): contexts, options by name, diagnostics.
 *
 * Each call that can fail works in a memory_guard with a ctx of its own, which lives until the next
 * one. What outlives calls, the options, is not the owner's: a failed call takes nothing of it. */
#define _GNU_SOURCE /* fopencookie */
#include "include/relayc/relayc.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/str.h"
#include "driver/driver.h"
#include "driver/graph_json.h"
#include "relay_ir/json.h"

_Static_assert(RELAYC_NO_MEMORY != RELAYC_IO, "the program has 3 for both");

struct relayc_diagnostic {
    int code;
    relayc_severity severity;
    const char *file, *node, *operator_name, *message, *note, *help;
    long node_index;
    const struct relayc_diagnostic *next;
};

struct setting {
    struct setting *next;
    enum option_id option;
    char value[];
};

/* One call, in the memory of its ctx. */
struct call {
    struct ctx *ctx;
    struct relayc_diagnostic *diagnostics;
    struct driver_state driver;
    struct driver_events events;
    struct output_set outputs;
    bool is_compiled;
    size_t n_files;
    const char **files;
};

struct relayc_context {
    struct memory_owner *owner;
    struct setting *settings; /* in the order in which they were given */
    relayc_log_function *log;
    void *log_user;
    struct call *call;                  /* the last one; NULL = none yet, or memory ran out in it */
    struct relayc_diagnostic no_memory; /* … then this is what it says */
    const struct relayc_diagnostic *first;
    const char *name, *text; /* what the call at work was given */
    relayc_status status;
};

const char *relayc_version(void)
{
    return RELAYC_VERSION;
}

int relayc_version_number(void)
{
    return 10000 * RELAYC_VERSION_MAJOR + 100 * RELAYC_VERSION_MINOR + RELAYC_VERSION_PATCH;
}

/* --- calls ------------------------------------------------------------------------------------ */

static void forget(void *user)
{
    relayc_context *context = user;

    if (context->call)
        ctx_free(context->call->ctx);
    context->call = NULL;
    context->first = NULL;
}

static void begin(relayc_context *context)
{
    struct ctx *ctx = ctx_new(NULL);

    context->call = arena_new(&ctx->perm, struct call);
    context->call->ctx = ctx;
}

static relayc_status status_of(const struct ctx *ctx)
{
    return (relayc_status)diag_exit_code(ctx);
}

static const char *safe(struct ctx *ctx, const char *text)
{
    return text && *text ? str_safe(&ctx->perm, text, 4096) : NULL;
}

/* Names come out of models: what is printed of them must be printable. */
static void keep_diagnostics(relayc_context *context)
{
    struct ctx *ctx = context->call->ctx;
    const struct relayc_diagnostic **end = &context->first;

    for (const struct diag *d = ctx->diags.first; d; d = d->next) {
        struct relayc_diagnostic *out = arena_new(&ctx->perm, struct relayc_diagnostic);

        *out = (struct relayc_diagnostic){
            .code = (int)d->code,
            .severity = d->severity == DIAG_ERROR ? RELAYC_ERROR : RELAYC_WARNING,
            .file = safe(ctx, d->file),
            .node = d->origin ? safe(ctx, d->origin->name) : NULL,
            .operator_name = d->origin ? safe(ctx, d->origin->op_type) : NULL,
            .message = d->message,
            .note = d->note,
            .help = d->help,
            .node_index = d->origin ? d->origin->index : -1,
        };
        *end = out;
        end = &out->next;
    }
    context->status = status_of(ctx);
}

static relayc_status call(relayc_context *context, void (*body)(void *context))
{
    size_t bytes;

    (void)memory_attempt(context->owner, forget, context);
    if (!memory_guard(context->owner, body, context, &bytes)) {
        context->call = NULL;
        context->first = &context->no_memory;
        context->status = RELAYC_NO_MEMORY;
    }
    return context->status;
}

relayc_context *relayc_new(void)
{
    relayc_context *context = calloc(1, sizeof *context);

    if (!context)
        return NULL;
    context->owner = memory_owner_new();
    if (!context->owner) {
        free(context);
        return NULL;
    }
    context->no_memory.code = DIAG_OUT_OF_MEMORY;
    context->no_memory.severity = RELAYC_ERROR;
    context->no_memory.message = "out of memory";
    context->no_memory.node_index = -1;
    return context;
}

static void drop_settings(relayc_context *context, enum option_id option) /* OPTION_COUNT: all */
{
    for (struct setting **at = &context->settings; *at;) {
        struct setting *setting = *at;

        if (option != OPTION_COUNT && setting->option != option) {
            at = &setting->next;
            continue;
        }
        *at = setting->next;
        free(setting);
    }
}

void relayc_free(relayc_context *context)
{
    if (!context)
        return;
    (void)memory_attempt(context->owner, forget, context);
    drop_settings(context, OPTION_COUNT);
    memory_owner_free(context->owner);
    free(context);
}

/* --- options ---------------------------------------------------------------------------------- */

static bool is_taken(enum option_id option)
{
    return option_rows[option].reader == READ_BY_DRIVER && option_rows[option].commands & C_COMPILE;
}

static void unknown_option(struct ctx *ctx, const char *name)
{
    const char *names[OPTION_COUNT], *nearest;
    size_t n = 0;

    for (int i = 0; i < OPTION_COUNT; i++)
        if (is_taken((enum option_id)i))
            names[n++] = option_rows[i].name;
    diag_error(ctx, DIAG_USAGE, NULL, "there is no option '%s' of compile that a library takes",
               str_safe(&ctx->perm, name, 80));
    nearest = str_nearest(name, names, n);
    if (nearest)
        diag_help(ctx, "did you mean '%s'?", nearest);
    else
        diag_help(ctx, "relayc_option_at lists them");
}

/* OPTION_COUNT after an error. */
static enum option_id find_option(struct ctx *ctx, const char *name)
{
    const enum option_id option = option_find(name);

    if (option != OPTION_COUNT && is_taken(option))
        return option;
    unknown_option(ctx, name);
    return OPTION_COUNT;
}

static void check_setting(void *user)
{
    relayc_context *context = user;
    enum option_id option;

    begin(context);
    option = find_option(context->call->ctx, context->name);
    if (option != OPTION_COUNT && !option_rows[option].argument && context->text && *context->text)
        diag_error(context->call->ctx, DIAG_USAGE, NULL, "option --%s takes no value",
                   context->name);
    if (option != OPTION_COUNT && option_rows[option].argument && !context->text)
        diag_error(context->call->ctx, DIAG_USAGE, NULL, "option --%s needs a value",
                   context->name);
    keep_diagnostics(context);
}

relayc_status relayc_set(relayc_context *context, const char *name, const char *value)
{
    const size_t n = strlen(value ? value : "") + 1;
    struct setting *setting, **end = &context->settings;

    context->name = name;
    context->text = value;
    if (call(context, check_setting) != RELAYC_OK)
        return context->status;
    setting = malloc(sizeof *setting + n);
    if (!setting) {
        context->first = &context->no_memory;
        return context->status = RELAYC_NO_MEMORY;
    }
    setting->next = NULL;
    setting->option = option_find(name);
    memcpy(setting->value, value ? value : "", n);
    while (*end)
        end = &(*end)->next;
    *end = setting;
    return RELAYC_OK;
}

static void check_name(void *user)
{
    relayc_context *context = user;

    begin(context);
    if (context->name)
        find_option(context->call->ctx, context->name);
    keep_diagnostics(context);
}

relayc_status relayc_unset(relayc_context *context, const char *name)
{
    context->name = name;
    if (call(context, check_name) == RELAYC_OK)
        drop_settings(context, name ? option_find(name) : OPTION_COUNT);
    return context->status;
}

int relayc_option_at(size_t index, relayc_option *out)
{
    const size_t size = out->size < sizeof *out ? out->size : sizeof *out;
    relayc_option found = { .size = out->size };

    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!is_taken((enum option_id)i) || index-- > 0)
            continue;
        found.name = option_rows[i].name;
        found.argument = option_rows[i].argument;
        found.help = option_rows[i].help;
        memcpy(out, &found, size);
        return 1;
    }
    return 0;
}

/* --- the log ---------------------------------------------------------------------------------- */

static void log_text(const relayc_context *context, relayc_log_kind kind, const char *text)
{
    if (context->log)
        context->log(context->log_user, kind, text);
}

static void on_note(void *user, const char *text)
{
    log_text(user, RELAYC_LOG_NOTE, text);
}

static void on_say(void *user, const char *text)
{
    log_text(user, RELAYC_LOG_TEXT, text);
}

static void on_progress(void *user, const char *what, int64_t done, int64_t n)
{
    char text[160];

    if (!n)
        return;
    snprintf(text, sizeof text, "%s %lld/%lld", what, (long long)done, (long long)n);
    log_text(user, RELAYC_LOG_WORK, text);
}

/* What --dump-after and the like print goes line by line, long lines in pieces: nothing is
 * allocated, as a jump out of stdio would leave the stream in its middle. */
struct lines {
    const relayc_context *context;
    size_t n;
    char text[1000];
};

static void end_line(struct lines *lines)
{
    lines->text[lines->n] = '\0';
    if (lines->n)
        log_text(lines->context, RELAYC_LOG_TEXT, lines->text);
    lines->n = 0;
}

static ssize_t write_lines(void *user, const char *bytes, size_t n)
{
    struct lines *lines = user;

    for (size_t i = 0; i < n; i++) {
        lines->text[lines->n++] = bytes[i];
        if (bytes[i] == '\n' || lines->n == sizeof lines->text - 1)
            end_line(lines);
    }
    return (ssize_t)n;
}

static void close_stream(void *stream, size_t size)
{
    (void)size;
    fclose(stream);
}

static FILE *open_log(relayc_context *context)
{
    static const cookie_io_functions_t functions = { .write = write_lines };
    struct ctx *ctx = context->call->ctx;
    struct lines *lines = arena_new(&ctx->perm, struct lines);
    FILE *stream;

    lines->context = context;
    stream = fopencookie(lines, "w", functions);
    if (!stream)
        out_of_memory(0);
    memory_own(stream, close_stream, 0);
    return stream;
}

static void close_log(FILE *stream)
{
    memory_disown(stream);
    if (stream)
        fclose(stream);
}

/* --- compiling -------------------------------------------------------------------------------- */

static bool wants_log(const struct arguments *args)
{
    return has_option(args, OPTION_DUMP_AFTER) || has_option(args, OPTION_TIME_PASSES) ||
           has_option(args, OPTION_STATS);
}

static void prepare(relayc_context *context)
{
    struct call *now = context->call;
    struct driver_state *driver = &now->driver;

    *driver = driver_begin(now->ctx, COMMAND_COMPILE);
    driver->args.operands[0] = arena_strdup(&now->ctx->perm, context->text);
    now->events = (struct driver_events){ on_note, on_say, on_progress, context };
    now->outputs.ctx = now->ctx;
    driver->outputs = &now->outputs;
    driver->events = &now->events;
    for (const struct setting *s = context->settings; s; s = s->next)
        driver_give(driver, s->option, s->value);
    driver->log = wants_log(&driver->args) ? open_log(context) : NULL;
}

static void keep_files(struct call *now)
{
    const struct driver_state *driver = &now->driver;
    const int n = driver->emit.c ? driver->result.n_files : 0;

    now->files = arena_array(&now->ctx->perm, const char *, n + 2);
    for (int i = 0; i < n; i++)
        now->files[now->n_files++] = driver->result.files[i];
    if (!driver->emit.json)
        return;
    now->files[now->n_files++] = graph_path(driver, "json");
    if (module_json_has_data(driver->module))
        now->files[now->n_files++] = graph_path(driver, "bin");
}

static void compile(void *user)
{
    relayc_context *context = user;
    struct call *now;
    bool ok;

    begin(context);
    prepare(context);
    now = context->call;
    ok = driver_compile(&now->driver) && output_finish(&now->outputs);
    if (ok)
        keep_files(now);
    ok = ok && output_commit(&now->outputs);
    output_abort(&now->outputs);
    close_log(now->driver.log);
    module_free(now->driver.module);
    driver_free(&now->driver);
    if (!ok && !now->ctx->diags.n_errors)
        diag_error(now->ctx, DIAG_INTERNAL, NULL, "'compile' failed without saying why");
    now->is_compiled = ok;
    if (!ok)
        now->n_files = 0;
    keep_diagnostics(context);
}

relayc_status relayc_compile(relayc_context *context, const char *model)
{
    context->text = model;
    return call(context, compile);
}

const char *relayc_file(const relayc_context *context, size_t index)
{
    return context->call && index < context->call->n_files ? context->call->files[index] : NULL;
}

int relayc_number(const relayc_context *context, const char *name, unsigned long long *out)
{
    const struct call *last = context->call;
    const struct codegen_result none = { 0 };
    const struct codegen_result *result = last && last->is_compiled ? &last->driver.result : &none;
    const struct {
        const char *name;
        unsigned long long number;
    } numbers[] = {
        { "arena_bytes", result->arena_bytes },
        { "weight_bytes", result->weight_bytes },
        { "regions", (unsigned long long)result->n_regions },
        { "onnx_nodes", (unsigned long long)result->n_onnx_nodes },
        { "macs", (unsigned long long)result->macs },
    };

    *out = 0;
    if (result == &none || !last->driver.emit.c)
        return 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].name, name) == 0) {
            *out = numbers[i].number;
            return 1;
        }
    return 0;
}

/* --- diagnostics ------------------------------------------------------------------------------ */

const relayc_diagnostic *relayc_next_diagnostic(const relayc_context *context,
                                                const relayc_diagnostic *previous)
{
    return previous ? previous->next : context->first;
}

int relayc_diagnostic_code(const relayc_diagnostic *diagnostic)
{
    return diagnostic->code;
}

relayc_severity relayc_diagnostic_severity(const relayc_diagnostic *diagnostic)
{
    return diagnostic->severity;
}

const char *relayc_diagnostic_message(const relayc_diagnostic *diagnostic)
{
    return diagnostic->message;
}

const char *relayc_diagnostic_note(const relayc_diagnostic *diagnostic)
{
    return diagnostic->note;
}

const char *relayc_diagnostic_help(const relayc_diagnostic *diagnostic)
{
    return diagnostic->help;
}

const char *relayc_diagnostic_file(const relayc_diagnostic *diagnostic)
{
    return diagnostic->file;
}

const char *relayc_diagnostic_node(const relayc_diagnostic *diagnostic)
{
    return diagnostic->node;
}

const char *relayc_diagnostic_operator(const relayc_diagnostic *diagnostic)
{
    return diagnostic->operator_name;
}

long relayc_diagnostic_node_index(const relayc_diagnostic *diagnostic)
{
    return diagnostic->node_index;
}

const char *relayc_explain(int code)
{
    return diag_explanation((enum diag_code)code);
}

void relayc_set_log(relayc_context *context, relayc_log_function *function, void *user)
{
    context->log = function;
    context->log_user = user;
}
