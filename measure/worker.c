#include "measure/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/file.h"
#include "base/str.h"

extern char **environ;

enum { LINE_BYTES = 5000, MESSAGE_BYTES = 1500 };

struct worker {
    struct ctx *ctx;
    const char *who, *messages;
    pid_t pid;
    int channel; /* both directions; -1 = the worker has ended */
    char *buffer;
    size_t n, capacity; /* of what was received */
    size_t taken;       /* the line that was given out last, with its end */
};

/* A socket, not pipes: a worker that died must not end us by a signal. */
struct worker *worker_start(struct ctx *ctx, const char *who, const char *const *words,
                            const char *messages)
{
    struct worker *worker = arena_new(&ctx->perm, struct worker);
    posix_spawn_file_actions_t actions;
    int ends[2], error;
    int n = 0;
    char **argv;

    while (words[n])
        n++;
    argv = arena_array(&ctx->perm, char *, n + 1);
    for (int i = 0; i < n; i++)
        argv[i] = arena_strdup(&ctx->perm, words[i]);
    argv[n] = NULL;
    *worker = (struct worker){ .ctx = ctx, .who = who, .messages = messages };
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) {
        diag_error(ctx, DIAG_BENCH, NULL, "cannot start %s: %s", who, strerror(errno));
        return NULL;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages,
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
    error = child_start(&worker->pid, &actions, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    worker->channel = ends[0];
    if (error) {
        close(ends[0]);
        diag_error(ctx, DIAG_BENCH, NULL, "cannot start %s: %s: %s", who,
                   str_safe(&ctx->perm, argv[0], 200), strerror(error));
        return NULL;
    }
    return worker;
}

static void add_messages(struct worker *worker)
{
    struct ctx *ctx = worker->ctx;
    struct diags saved = diag_save(ctx);
    struct str text = { .arena = &ctx->perm };
    struct mapping file;
    const bool ok = file_map(ctx, worker->messages, &file);

    diag_restore(ctx, saved);
    if (!ok)
        return;
    for (size_t i = 0; i < file.size && i < MESSAGE_BYTES; i++) {
        const char c = (char)file.data[i];

        str_addn(&text, c == '\n' || (c >= ' ' && c < 127) ? &c : "?", 1);
    }
    if (text.n)
        diag_note(ctx, "%s", str_text(&text));
    file_unmap(&file);
}

/* Always NULL. */
static const char *report_death(struct worker *worker)
{
    const char *how = "ended without an answer";
    int status = 0;

    close(worker->channel);
    worker->channel = -1;
    child_wait(worker->pid, &status);
    if (WIFSIGNALED(status))
        how = arena_printf(&worker->ctx->perm, "was ended by signal %d (%s)", WTERMSIG(status),
                           strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status))
        how = arena_printf(&worker->ctx->perm, "ended with exit code %d", WEXITSTATUS(status));
    diag_error(worker->ctx, DIAG_BENCH, NULL, "%s %s", worker->who, how);
    add_messages(worker);
    return NULL;
}

static bool send_line(struct worker *worker, const char *line)
{
    const size_t n = strlen(line);

    for (size_t sent = 0; sent < n;) {
        const ssize_t more = send(worker->channel, line + sent, n - sent, MSG_NOSIGNAL);

        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return false;
        sent += (size_t)more;
    }
    return true;
}

/* The next line without its end; NULL when the worker has ended. */
static char *receive_line(struct worker *worker)
{
    char *end;

    memmove(worker->buffer, worker->buffer + worker->taken, worker->n - worker->taken);
    worker->n -= worker->taken;
    worker->taken = 0;
    while (!(end = memchr(worker->buffer, '\n', worker->n))) {
        ssize_t more;

        if (worker->n == worker->capacity) {
            char *grown = arena_alloc(&worker->ctx->perm, 2 * worker->capacity);

            memcpy(grown, worker->buffer, worker->n);
            worker->buffer = grown;
            worker->capacity *= 2;
        }
        more = recv(worker->channel, worker->buffer + worker->n, worker->capacity - worker->n, 0);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return NULL;
        worker->n += (size_t)more;
    }
    *end = '\0';
    worker->taken = (size_t)(end - worker->buffer) + 1;
    return worker->buffer;
}

static const char *ask(struct worker *worker, const char *line)
{
    char *answer;

    if (!worker->buffer) {
        worker->capacity = LINE_BYTES;
        worker->buffer = arena_alloc(&worker->ctx->perm, worker->capacity);
    }
    if (worker->channel < 0)
        return NULL; /* its death has been told */
    if ((line && !send_line(worker, line)) || !(answer = receive_line(worker)))
        return report_death(worker);
    if (strcmp(answer, "ok") == 0)
        return answer + 2;
    if (str_starts(answer, "ok "))
        return answer + 3;
    diag_error(
        worker->ctx, DIAG_BENCH, NULL, "%s: %s", worker->who,
        str_safe(&worker->ctx->perm, str_starts(answer, "error ") ? answer + 6 : answer, 600));
    return NULL;
}

static const char *format_line(struct ctx *ctx, const char *format, va_list args)
{
    struct str line = { .arena = &ctx->scratch };

    str_vprintf(&line, format, args);
    str_add(&line, "\n");
    return str_text(&line);
}

const char *worker_ask(struct worker *worker, const char *format, ...)
{
    const char *line = NULL;
    va_list args;

    if (format) {
        va_start(args, format);
        line = format_line(worker->ctx, format, args);
        va_end(args);
    }
    return ask(worker, line);
}

bool worker_ask_numbers(struct worker *worker, int n, double *numbers, const char *format, ...)
{
    const char *answer, *at;
    va_list args;

    va_start(args, format);
    answer = ask(worker, format_line(worker->ctx, format, args));
    va_end(args);
    if (!answer)
        return false;
    at = answer;
    for (int i = 0; i < n; i++) {
        char *end;

        numbers[i] = strtod(at, &end);
        if (end == at)
            return diag_error(worker->ctx, DIAG_BENCH, NULL,
                              "%s answered '%s', expected %d numbers", worker->who,
                              str_safe(&worker->ctx->perm, answer, 100), n);
        at = end;
    }
    return true;
}

void worker_stop(struct worker *worker)
{
    int status;

    if (!worker || worker->channel < 0)
        return;
    close(worker->channel); /* the end of its input */
    child_wait(worker->pid, &status);
}
