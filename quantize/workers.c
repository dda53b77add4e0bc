#include "quantize/workers.h"

#include <pthread.h>

#include "base/memory.h"
#include "runtime/engine/engine.h"

struct task {
    pthread_t thread;
    bool started;
    void (*body)(void *worker);
    void *worker;
    struct memory_owner *owner; /* of the thread that waits for it */
};

static void *run_task(void *user)
{
    const struct task *task = user;

    engine_use_one_core();
    (void)memory_attempt(task->owner, task->body, task->worker); /* else memory_check says so */
    return NULL;
}

static bool start(struct task *task)
{
    task->started = pthread_create(&task->thread, NULL, run_task, task) == 0;
    return task->started;
}

bool workers_run(struct ctx *ctx, void *workers, size_t size, int n, void (*body)(void *worker))
{
    struct arena arena = { NULL };
    struct task *tasks = arena_array(&arena, struct task, n);
    bool ok = true;

    for (int i = 0; i < n; i++) {
        tasks[i] = (struct task){ .body = body,
                                  .worker = (char *)workers + (size_t)i * size,
                                  .owner = memory_current() };
        start(&tasks[i]);
    }
    for (int i = 0; i < n; i++)
        if (tasks[i].started)
            pthread_join(tasks[i].thread, NULL);
    for (int i = 0; i < n; i++) { /* a worker's share of the work is nobody else's */
        if (tasks[i].started)
            continue;
        if (start(&tasks[i]))
            pthread_join(tasks[i].thread, NULL);
        else
            ok = false;
    }
    arena_release(&arena);
    memory_check();
    return ok || diag_error(ctx, DIAG_ENGINE, NULL, "cannot start a thread");
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

/* --- on samples ------------------------------------------------------------------------------- */

struct crew {
    void *workers;
    size_t size;
    int n;
    bool (*ready)(void *worker);
};

static struct sample_worker *member(const struct crew *crew, int i)
{
    return (struct sample_worker *)(void *)((char *)crew->workers + (size_t)i * crew->size);
}

static void make_ready(void *user)
{
    const struct crew *crew = user;

    for (int i = 0; i < crew->n; i++)
        if (!crew->ready(member(crew, i)))
            member(crew, i)->failed = 0;
}

static bool all_well(struct ctx *ctx, const struct crew *crew, const char *about)
{
    const struct sample_worker *first = NULL;

    for (int i = 0; i < crew->n; i++) {
        const struct sample_worker *worker = member(crew, i);

        if (worker->failed >= 0 && (!first || worker->failed < first->failed))
            first = worker;
    }
    if (first)
        workers_report(ctx, first->ctx, about);
    return !first;
}

int workers_wanted(int64_t n_samples, int n_threads)
{
    const int most = n_threads > 0 ? n_threads : 1;

    return n_samples < 1 ? 1 : n_samples < most ? (int)n_samples : most;
}

bool workers_on_samples(struct ctx *ctx, void *workers, size_t size, int n,
                        const struct sample_work *work)
{
    struct crew crew = { workers, size, n, work->ready };
    bool ok;

    for (int i = 0; i < n; i++)
        *member(&crew, i) = (struct sample_worker){
            .ctx = ctx_new(ctx->diags.input_name), .index = i, .n = n, .failed = -1
        };
    ok = workers_run(ctx, &crew, sizeof crew, 1, make_ready) && all_well(ctx, &crew, work->about) &&
         workers_run(ctx, workers, size, n, work->work) && all_well(ctx, &crew, work->about);
    for (int i = 0; i < n; i++) {
        engine_free(member(&crew, i)->engine);
        if (work->done)
            work->done(member(&crew, i));
        ctx_free(member(&crew, i)->ctx);
    }
    return ok;
}
