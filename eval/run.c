#include "eval/run.h"

#include <pthread.h>

#include "quantize/workers.h"
#include "runtime/engine/engine.h"

struct state {
    const struct eval_run *run;
    struct answers *answers;
    pthread_mutex_t lock; /* for what follows */
    int64_t next, n_done;
    bool failed;
};

struct worker {
    struct sample_worker common;
    struct state *state;
};

static bool make_engine(void *user)
{
    struct worker *worker = user;

    worker->common.engine = engine_new(worker->common.ctx, worker->state->run->fn);
    return worker->common.engine != NULL;
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
        engine_run(worker->common.engine, inputs, outputs, &bulk, NULL) &&
        answers_see(worker->state->answers, ctx, sample, inputs, outputs, fn->ret->n_inputs);

    bulk_release(&bulk);
    arena_release(&ctx->scratch);
    return ok;
}

/* -1 = there are no more. */
static int64_t take_sample(struct state *state)
{
    int64_t sample = -1;

    pthread_mutex_lock(&state->lock);
    if (!state->failed && state->next < state->answers->n)
        sample = state->next++;
    pthread_mutex_unlock(&state->lock);
    return sample;
}

static void finish_sample(struct state *state, bool ok)
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

bool eval_on_engine(struct ctx *ctx, const struct eval_run *run, struct answers *answers)
{
    struct state state = { .run = run, .answers = answers };
    static const struct sample_work how = { NULL, make_engine, work, NULL };
    const int n = workers_wanted(answers->n, run->n_threads);
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

bool eval_on_generated(struct ctx *ctx, const struct eval_run *run, struct generated *generated,
                       struct answers *answers)
{
    const struct calibration_source *samples = run->samples;
    struct arena arena = { NULL };
    struct tensor *inputs = arena_array(&arena, struct tensor, run->fn->n_params);
    struct tensor *outputs = arena_array(&arena, struct tensor, run->fn->ret->n_inputs);
    bool ok = true;

    for (int64_t i = 0; ok && i < answers->n; i++) {
        struct bulk bulk = { 0 };

        ok = samples->load(samples->user, ctx, &bulk, i, inputs) &&
             generated_run(generated, inputs, outputs, &bulk) &&
             answers_see(answers, ctx, i, inputs, outputs, run->fn->ret->n_inputs);
        bulk_release(&bulk);
        if (ok && run->progress)
            run->progress(run->user, i + 1, answers->n);
    }
    arena_release(&arena);
    return ok;
}
