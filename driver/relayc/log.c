/* log.c - what the log function of a context gets. */
#define _GNU_SOURCE /* fopencookie */
#include "driver/relayc/context.h"

#include "base/memory.h"

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

FILE *log_open(relayc_context *context)
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

void log_close(FILE *stream)
{
    memory_disown(stream);
    if (stream)
        fclose(stream);
}

struct driver_events log_events(relayc_context *context)
{
    return (struct driver_events){
        .note = on_note, .say = on_say, .progress = on_progress, .user = context
    };
}

void relayc_set_log(relayc_context *context, relayc_log_function *function, void *user)
{
    context->log = function;
    context->log_user = user;
}
