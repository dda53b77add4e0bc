#include "quantize/outcome.h"

#include <math.h>
#include <string.h>

#include "quantize/workers.h"
#include "runtime/engine/engine.h"

enum { MAX_SAMPLES = 64 };

static const size_t kept_bytes = (size_t)64 << 20;

struct outcome {
    int64_t n_samples;
    int n_results;
    const float **results; /* [n_samples, n_results], NULL = is not looked at */
};

/* Each thread takes the samples that have its number, modulo their number: what it writes is its
 * own, and no sum depends on the threads. */
struct worker {
    struct sample_worker common;
    struct quantization *q;
    const struct outcome *was; /* NULL = results are kept */
    struct outcome *now;
    double *losses; /* [n_samples, n_results] */
};

static bool is_seen(const struct function *fn, int result)
{
    return fn->ret->inputs[result]->type.dtype == DTYPE_F32;
}

static double cosine_loss(const float *x, const float *y, int64_t n)
{
    double xy = 0, xx = 0, yy = 0;

    for (int64_t i = 0; i < n; i++) {
        xy += (double)x[i] * (double)y[i];
        xx += (double)x[i] * (double)x[i];
        yy += (double)y[i] * (double)y[i];
    }
    if (xx == 0 && yy == 0)
        return 0;
    return xx == 0 || yy == 0 ? 1 : 1 - xy / sqrt(xx * yy);
}

static void see_results(struct worker *worker, int64_t sample, const struct tensor *outputs)
{
    const struct function *fn = worker->q->module->main;

    for (int i = 0; i < worker->now->n_results; i++) {
        const int64_t at = sample * worker->now->n_results + i;
        const size_t bytes = type_bytes(&outputs[i].type);

        if (!is_seen(fn, i))
            continue;
        if (worker->was)
            worker->losses[at] = cosine_loss(worker->was->results[at], outputs[i].data,
                                             type_elements(&outputs[i].type));
        else
            memcpy((void *)worker->now->results[at], outputs[i].data, bytes);
    }
}

static bool run_sample(struct worker *worker, int64_t sample)
{
    const struct calibration_source *source = worker->q->options->samples;
    const struct function *fn = worker->q->module->main;
    struct arena arena = { NULL };
    struct bulk bulk = { 0 };
    struct tensor *inputs = arena_array(&arena, struct tensor, fn->n_params);
    struct tensor *outputs = arena_array(&arena, struct tensor, fn->ret->n_inputs);
    const bool ok = source->load(source->user, worker->common.ctx, &bulk, sample, inputs) &&
                    engine_run(worker->common.engine, inputs, outputs, &bulk, NULL);

    if (ok)
        see_results(worker, sample, outputs);
    bulk_release(&bulk);
    arena_release(&arena);
    arena_release(&worker->common.ctx->scratch);
    return ok;
}

static bool make_engine(void *user)
{
    struct worker *worker = user;

    worker->common.engine = engine_new(worker->common.ctx, worker->q->module->main);
    return worker->common.engine != NULL;
}

static void run_samples(void *user)
{
    struct worker *worker = user;
    struct sample_worker *common = &worker->common;

    for (int64_t s = common->index; s < worker->now->n_samples && common->failed < 0;
         s += common->n)
        if (!run_sample(worker, s))
            common->failed = s;
}

static bool run(struct quantization *q, const struct outcome *was, struct outcome *now,
                double *losses)
{
    static const struct sample_work work = { "bias correction", make_engine, run_samples, NULL };
    const int n = workers_wanted(now->n_samples, q->options->n_threads);
    struct arena arena = { NULL };
    struct worker *workers = arena_array(&arena, struct worker, n);
    bool ok;

    for (int i = 0; i < n; i++)
        workers[i] = (struct worker){ .q = q, .was = was, .now = now, .losses = losses };
    ok = workers_on_samples(q->ctx, workers, sizeof *workers, n, &work);
    arena_release(&arena);
    return ok;
}

struct outcome *outcome_of(struct quantization *q)
{
    const struct function *fn = q->module->main;
    struct outcome *outcome = arena_new(&q->ctx->perm, struct outcome);
    size_t bytes = 0;

    outcome->n_results = fn->ret->n_inputs;
    for (int i = 0; i < outcome->n_results; i++)
        if (is_seen(fn, i))
            bytes += type_bytes(&fn->ret->inputs[i]->type);
    outcome->n_samples =
        q->options->samples->n < MAX_SAMPLES ? q->options->samples->n : MAX_SAMPLES;
    while (outcome->n_samples > 1 && bytes > kept_bytes / (size_t)outcome->n_samples)
        outcome->n_samples--;
    outcome->results =
        arena_array(&q->ctx->perm, const float *, outcome->n_samples * outcome->n_results);
    for (int64_t s = 0; s < outcome->n_samples; s++)
        for (int i = 0; i < outcome->n_results; i++)
            if (is_seen(fn, i))
                outcome->results[s * outcome->n_results + i] =
                    arena_alloc(&q->ctx->perm, type_bytes(&fn->ret->inputs[i]->type));
    return run(q, NULL, outcome, NULL) ? outcome : NULL;
}

bool outcome_loss(struct quantization *q, const struct outcome *was, double *loss)
{
    struct arena arena = { NULL };
    const int64_t n = was->n_samples * was->n_results;
    double *losses = arena_array(&arena, double, n);
    struct outcome now = *was;
    int64_t n_seen = 0;
    const bool ok = run(q, was, &now, losses);

    *loss = 0;
    for (int64_t i = 0; i < n; i++) {
        *loss += losses[i];
        n_seen += was->results[i] != NULL;
    }
    *loss /= (double)(n_seen ? n_seen : 1);
    arena_release(&arena);
    return ok;
}
