#include "quantize/workers.h"

#include <pthread.h>

#include "runtime/engine/engine.h"

struct task {
    pthread_t thread;
    bool started;
    void (*body)(void *worker);
    void *worker;
};

static void *run_task(void *user)
{
    const struct task *task = user;

    engine_use_one_core();
    task->body(task->worker);
    return NULL;
}

bool workers_run(struct ctx *ctx, void *workers, size_t size, int n, void (*body)(void *worker))
{
    struct arena arena = { NULL };
    struct task *tasks = arena_array(&arena, struct task, n);
    int n_started = 0;

    for (int i = 0; i < n; i++) {
        tasks[i] = (struct task){ .body = body, .worker = (char *)workers + (size_t)i * size };
        tasks[i].started = pthread_create(&tasks[i].thread, NULL, run_task, &tasks[i]) == 0;
        n_started += tasks[i].started;
    }
    for (int i = 0; i < n; i++)
        if (tasks[i].started)
            pthread_join(tasks[i].thread, NULL);
    arena_release(&arena);
    return n_started > 0 || diag_error(ctx, DIAG_ENGINE, NULL, "cannot start a thread");
}

void workers_report(struct ctx *to, const struct ctx *from, const char *about)
{
    for (const struct diag *d = from->diags.first; d; d = d->next) {
        if (d->severity == DIAG_WARNING)
            diag_warn(to, d->code, NULL, "%s", d->message);
        else
            diag_error(to, d->code, NULL, "%s%s%s", about ? about : "", about ? ": " : "",
                       d->message);
        if (d->note)
            diag_note(to, "%s", d->note);
        if (d->help)
            diag_help(to, "%s", d->help);
    }
}
