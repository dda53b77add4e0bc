#include "quantize/calibrate.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "quantize/logits.h"
#include "quantize/workers.h"
#include "runtime/engine/engine.h"

/* One tensor that is watched. */
struct watched {
    const struct value *value;
    int index;       /* in the order of the table */
    int logits_axis; /* of a softmax that alone reads it: what that sees is counted; else -1 */
    pthread_mutex_t lock;
    struct tally tally;
    double sum;
};

struct run {
    struct function *fn;
    const struct calibration_source *source;
    const struct calibration_options *options;
    int n;
    struct watched *watched;   /* [n], in the order of the table */
    struct watched **by_value; /* the same, sorted for the search */
    pthread_mutex_t lock;      /* for what follows */
    pthread_cond_t committed;
    int64_t next, n_committed; /* samples: to be taken, and with their sums added */
    bool failed;
    atomic_int next_thresholds;
    struct calib_table *table;
};

struct worker {
    struct run *run;
    int n_workers; /* that stand from here on */
    struct ctx *ctx;
    struct engine *engine;
    struct tally tally; /* of the tensor just seen */
    double *sums;       /* [n] of the sample at work */
    struct tensor *inputs, *outputs;
    int64_t sample; /* that failed */
    bool failed;
};

/* --- what is watched -------------------------------------------------------------------------- */

static int compare_values(const void *a, const void *b)
{
    const struct value *x = (*(struct watched *const *)a)->value;
    const struct value *y = (*(struct watched *const *)b)->value;

    return ((uintptr_t)x > (uintptr_t)y) - ((uintptr_t)x < (uintptr_t)y);
}

static struct watched *find_watched(const struct run *run, const struct value *value)
{
    struct watched key = { .value = value }, *const wanted = &key;
    struct watched **found = run->n ? bsearch(&wanted, run->by_value, (size_t)run->n,
                                              sizeof(struct watched *), compare_values)
                                    : NULL;

    return found ? *found : NULL;
}

static void watch(struct run *run, struct arena *arena, const struct value *value)
{
    struct watched *w = &run->watched[run->n];

    if (!dtype_is_float(value->type.dtype))
        return;
    *w = (struct watched){ .value = value,
                           .index = run->n,
                           .logits_axis = logits_axis(value),
                           .tally = tally_new(arena) };
    pthread_mutex_init(&w->lock, NULL);
    run->by_value[run->n++] = w;
}

static void watch_all(struct run *run, struct arena *arena)
{
    size_t n = (size_t)run->fn->n_params;

    for (const struct node *node = run->fn->first; node; node = node->next)
        n += (size_t)node->n_outputs;
    run->watched = arena_array(arena, struct watched, n);
    run->by_value = arena_array(arena, struct watched *, n);
    for (int i = 0; i < run->fn->n_params; i++)
        watch(run, arena, run->fn->params[i]);
    for (const struct node *node = run->fn->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            watch(run, arena, node->outputs[i]);
    if (run->n)
        qsort(run->by_value, (size_t)run->n, sizeof *run->by_value, compare_values);
}

/* --- one sample ------------------------------------------------------------------------------- */

static void see(void *user, const struct value *value, const struct tensor *tensor)
{
    struct worker *worker = user;
    struct watched *w = find_watched(worker->run, value);

    if (!w)
        return;
    if (w->logits_axis >= 0) {
        struct arena arena = { NULL };
        const struct tensor seen = logits_seen(&arena, tensor, w->logits_axis);

        tally_fill(&worker->tally, &seen);
        arena_release(&arena);
    } else {
        tally_fill(&worker->tally, tensor);
    }
    worker->sums[w->index] = worker->tally.sum;
    pthread_mutex_lock(&w->lock);
    tally_merge(&w->tally, &worker->tally);
    pthread_mutex_unlock(&w->lock);
}

static bool run_sample(struct worker *worker, int64_t sample)
{
    const struct observer observer = { .see = see, .user = worker };
    const struct run *run = worker->run;
    struct ctx *ctx = ctx_new(worker->ctx->diags.input_name);
    struct bulk bulk = { 0 };
    bool ok;

    memset(worker->inputs, 0, (size_t)run->fn->n_params * sizeof *worker->inputs);
    memset(worker->sums, 0, (size_t)run->n * sizeof *worker->sums);
    ok = run->source->load(run->source->user, ctx, &bulk, sample, worker->inputs);
    for (int i = 0; i < run->fn->n_params && ok; i++)
        see(worker, run->fn->params[i], &worker->inputs[i]);
    ok = ok && engine_run(worker->engine, worker->inputs, worker->outputs, &bulk, &observer);
    for (const struct diag *d = ctx->diags.first; d; d = d->next) {
        diag_error(worker->ctx, d->code, NULL, "%s", d->message);
        if (d->note)
            diag_note(worker->ctx, "%s", d->note);
        if (d->help)
            diag_help(worker->ctx, "%s", d->help);
    }
    arena_release(&worker->ctx->scratch);
    bulk_release(&bulk);
    ctx_free(ctx);
    return ok;
}

/* Sums are added in the order of the samples, so that rounding is always the same. The sample that
 * comes next is never the one that waits; after a failure nobody's sums matter. */
static void commit(struct worker *worker, int64_t sample, bool ok)
{
    struct run *run = worker->run;

    pthread_mutex_lock(&run->lock);
    while (run->n_committed != sample && !run->failed)
        pthread_cond_wait(&run->committed, &run->lock);
    if (!ok) {
        run->failed = worker->failed = true;
        worker->sample = sample;
    }
    for (int i = 0; i < run->n && !run->failed; i++)
        run->watched[i].sum += worker->sums[i];
    run->n_committed++;
    if (run->options->progress && !run->failed)
        run->options->progress(run->options->user, run->n_committed, run->source->n);
    pthread_cond_broadcast(&run->committed);
    pthread_mutex_unlock(&run->lock);
}

/* -1 = there are no more. */
static int64_t take_sample(struct run *run)
{
    int64_t sample = -1;

    pthread_mutex_lock(&run->lock);
    if (!run->failed && run->next < run->source->n)
        sample = run->next++;
    pthread_mutex_unlock(&run->lock);
    return sample;
}

/* --- threads ---------------------------------------------------------------------------------- */

static void find_thresholds(struct run *run)
{
    const struct calibration_options *options = run->options;
    int i;

    while ((i = atomic_fetch_add(&run->next_thresholds, 1)) < run->n) {
        struct calib_tensor *tensor = &run->table->at[i];

        tally_histogram(&run->watched[i].tally, tensor->histogram);
        for (int k = 0; k < options->n_methods; k++)
            tensor->thresholds[k].value = threshold_find(&options->methods[k], tensor->histogram);
    }
}

/* One thread makes all engines, because that numbers the function's values; with the setting that
 * they will run under. */
static void thread_of_engines(void *user)
{
    struct worker *workers = user;

    for (int i = 0; i < workers->n_workers && !workers->run->failed; i++) {
        workers[i].engine = engine_new(workers[i].ctx, workers->run->fn);
        if (!workers[i].engine)
            workers->run->failed = workers[i].failed = true;
    }
}

struct job {
    struct worker *worker;
    int64_t sample;
    bool ok;
};

static void run_job(void *user)
{
    struct job *job = user;

    job->ok = run_sample(job->worker, job->sample);
}

/* Others wait for the sample of a worker whose memory ends: it is a failure to them. */
static void thread_of_samples(void *user)
{
    struct job job = { .worker = user };

    while ((job.sample = take_sample(job.worker->run)) >= 0) {
        const bool ok = memory_attempt(memory_current(), run_job, &job) && job.ok;

        commit(job.worker, job.sample, ok);
    }
}

static void thread_of_thresholds(void *user)
{
    find_thresholds(((struct worker *)user)->run);
}

/* The worker that failed on the first sample of all that failed; NULL = none did. */
static const struct worker *first_failed(const struct worker *workers, int n)
{
    const struct worker *first = NULL;

    for (int i = 0; i < n; i++)
        if (workers[i].failed && (!first || workers[i].sample < first->sample))
            first = &workers[i];
    return first;
}

static bool report(struct ctx *ctx, const struct worker *workers, int n)
{
    const struct worker *first = first_failed(workers, n);

    if (first)
        workers_report(ctx, first->ctx, NULL);
    return !first;
}

/* Loads one more sample for what there is to say against it. */
static bool is_readable(const struct run *run, struct worker *worker, int64_t sample,
                        struct ctx *to)
{
    struct ctx *ctx = ctx_new(worker->ctx->diags.input_name);
    struct bulk bulk = { 0 };
    const bool ok = run->source->load(run->source->user, ctx, &bulk, sample, worker->inputs);

    if (!ok && to)
        workers_report(to, ctx, NULL);
    bulk_release(&bulk);
    ctx_free(ctx);
    return ok;
}

/* Whoever mends the first bad file wants to know of the others. */
static void report_others(const struct run *run, struct ctx *ctx, struct worker *workers, int n)
{
    const int64_t first = first_failed(workers, n)->sample;
    int64_t n_bad = 1;

    if (is_readable(run, &workers[0], first, NULL)) /* it was the network that failed */
        return;
    for (int64_t i = first + 1; i < run->source->n; i++)
        n_bad += !is_readable(run, &workers[0], i, n_bad < CALIBRATION_MOST_NAMED ? ctx : NULL);
    if (n_bad > CALIBRATION_MOST_NAMED)
        diag_note(ctx, "and %lld more samples cannot be used",
                  (long long)(n_bad - CALIBRATION_MOST_NAMED));
}

static bool observe_samples(struct run *run, struct ctx *ctx, struct worker *workers, int n)
{
    if (!workers_run(ctx, workers, sizeof *workers, n, thread_of_samples))
        return false;
    if (report(ctx, workers, n))
        return true;
    report_others(run, ctx, workers, n);
    return false;
}

/* --- the result ------------------------------------------------------------------------------- */

static void make_table(struct run *run, struct arena *arena)
{
    const struct calibration_options *options = run->options;
    struct calib_table *table = run->table;

    *table = (struct calib_table){ .model = "", .n_samples = run->source->n, .n = run->n };
    table->at = arena_array(arena, struct calib_tensor, run->n);
    for (int i = 0; i < run->n; i++) {
        const struct watched *w = &run->watched[i];
        const double n = (double)w->tally.n;

        table->at[i] = (struct calib_tensor){
            .name = arena_strdup(arena, w->value->name),
            .shape = shape_text(arena, &w->value->type),
            .min = w->tally.min,
            .max = w->tally.max,
            .mean = n > 0 ? w->sum / n : 0,
            .non_finite = w->tally.non_finite,
            .histogram = arena_new(arena, struct histogram),
            .n_thresholds = options->n_methods,
            .thresholds = arena_array(arena, struct calib_threshold, options->n_methods),
        };
        for (int k = 0; k < options->n_methods; k++)
            table->at[i].thresholds[k].method = arena_strdup(arena, options->methods[k].name);
    }
}

static struct worker *make_workers(struct run *run, struct ctx *ctx, struct arena *arena, int n)
{
    struct worker *workers = arena_array(arena, struct worker, n);

    for (int i = 0; i < n; i++) {
        workers[i].run = run;
        workers[i].n_workers = n - i;
        workers[i].ctx = ctx_new(ctx->diags.input_name);
        workers[i].tally = tally_new(arena);
        workers[i].sums = arena_array(arena, double, run->n);
        workers[i].inputs = arena_array(arena, struct tensor, run->fn->n_params);
        workers[i].outputs = arena_array(arena, struct tensor, run->fn->ret->n_inputs);
    }
    return workers;
}

bool calibrate(struct ctx *ctx, struct function *fn, const struct calibration_source *source,
               const struct calibration_options *options, struct calib_table *out)
{
    const int n = source->n < options->n_threads ? (int)source->n : options->n_threads;
    struct run run = { .fn = fn, .source = source, .options = options, .table = out };
    struct arena arena = { NULL };
    struct worker *workers;
    bool ok;

    assert(source->n > 0 && options->n_threads > 0);
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.committed, NULL);
    watch_all(&run, &arena);
    workers = make_workers(&run, ctx, &arena, n);
    ok = workers_run(ctx, workers, sizeof *workers, 1, thread_of_engines) &&
         report(ctx, workers, n) && observe_samples(&run, ctx, workers, n);
    if (ok) {
        make_table(&run, &ctx->perm);
        ok = workers_run(ctx, workers, sizeof *workers, n, thread_of_thresholds);
    }
    for (int i = 0; i < n; i++) {
        engine_free(workers[i].engine);
        ctx_free(workers[i].ctx);
    }
    for (int i = 0; i < run.n; i++)
        pthread_mutex_destroy(&run.watched[i].lock);
    pthread_cond_destroy(&run.committed);
    pthread_mutex_destroy(&run.lock);
    arena_release(&arena);
    return ok;
}
