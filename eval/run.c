#include "eval/run.h"

#include <pthread.h>

#include "quantize/workers.h"
#include "runtime/engine/engine.h"

struct shared {
    const struct eval_run *run;
    const struct generated *generated; /* NULL = by the engine */
    struct answers *answers;
    pthread_mutex_t lock; /* for what follows */
    int64_t next, n_done;
    bool failed;
};

struct worker {
    struct sample_worker common;
    struct generated *generated; /* the worker's own caller; NULL = by the engine */
    struct shared *state;
};

static bool make_executor(void *user)
{
    struct worker *worker = user;

    if (worker->state->generated) {
        worker->generated = generated_again(worker->common.ctx, worker->state->generated);
        return true;
    }
    worker->common.engine = engine_new(worker->common.ctx, worker->state->run->fn);
    return worker->common.engine != NULL;
}

static void free_executor(void *user)
{
    const struct worker *worker = user;

    generated_free(worker->generated);
}

static bool run_network(struct worker *worker, const struct tensor *inputs, struct tensor *outputs,
                        struct bulk *bulk)
{
    return worker->generated ? generated_run(worker->generated, inputs, outputs, bulk)
                             : engine_run(worker->common.engine, inputs, outputs, bulk, NULL);
}

static bool run_sample(struct worker *worker, int64_t sample)
{
    const struct calibration_source *samples = worker->state->run->samples;
    const struct function *fn = worker->state->run->fn;
    struct ctx *ctx = worker->common.ctx;
    struct tensor *inputs = arena_array(&ctx->scratch, struct tensor, fn->n_params);
    struct tensor *outputs = arena_array(&ctx->scratch, struct tensor, fn->ret->n_inputs);
    struct bulk bulk = { 0 };
    const bool ok =
        samples->load(samples->user, ctx, &bulk, sample, inputs) &&
        run_network(worker, inputs, outputs, &bulk) &&
        answers_see(worker->state->answers, ctx, sample, inputs, outputs, fn->ret->n_inputs);

    bulk_release(&bulk);
    arena_release(&ctx->scratch);
    return ok;
}

/* -1 = there are no more. */
static int64_t take_sample(struct shared *state)
{
    int64_t sample = -1;

    pthread_mutex_lock(&state->lock);
    if (!state->failed && state->next < state->answers->n)
        sample = state->next++;
    pthread_mutex_unlock(&state->lock);
    return sample;
}

static void finish_sample(struct shared *state, bool ok)
{
    const struct eval_run *run = state->run;

    pthread_mutex_lock(&state->lock);
    state->failed |= !ok;
    state->n_done++;
    if (run->progress)
        run->progress(run->user, state->n_done, state->answers->n);
    pthread_mutex_unlock(&state->lock);
}

static void work(void *user)
{
    struct worker *worker = user;
    int64_t sample;

    while (worker->common.failed < 0 && (sample = take_sample(worker->state)) >= 0) {
        const bool ok = run_sample(worker, sample);

        if (!ok)
            worker->common.failed = sample;
        finish_sample(worker->state, ok);
    }
}

static bool run_all(struct ctx *ctx, const struct eval_run *run, const struct generated *generated,
                    struct answers *answers)
{
    struct shared state = { .run = run,
                            .generated = generated,
                            .answers = answers,
                            .next = run->first,
                            .n_done = run->first };
    static const struct sample_work how = { NULL, make_executor, work, free_executor };
    const int n = workers_wanted(answers->n - run->first, run->n_threads);
    struct arena arena = { NULL };
    struct worker *workers = arena_array(&arena, struct worker, n);
    bool ok;

    pthread_mutex_init(&state.lock, NULL);
    for (int i = 0; i < n; i++)
        workers[i] = (struct worker){ .state = &state };
    /* Samples are taken in order, so of those that fail the first is always among them. */
    ok = workers_on_samples(ctx, workers, sizeof *workers, n, &how);
    pthread_mutex_destroy(&state.lock);
    arena_release(&arena);
    return ok;
}

bool eval_on_engine(struct ctx *ctx, const struct eval_run *run, struct answers *answers)
{
    return run_all(ctx, run, NULL, answers);
}

bool eval_on_generated(struct ctx *ctx, const struct eval_run *run, struct generated *generated,
                       struct answers *answers)
{
    return run_all(ctx, run, generated, answers);
}
