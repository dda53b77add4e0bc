/* judge.c - runs candidates, and compares their results with those of f32.
 *
 * method   candidates are claimed a few at a time, as many as there are threads; each thread builds
 *          one and runs it on all samples. When there are fewer candidates than threads, several
 *          threads build the same one and divide the samples. Sums are taken sample by sample, in
 *          order, so that nothing depends on who ran what */
#include "search/judge.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "quantize/workers.h"
#include "runtime/engine/engine.h"

enum { WAIT_MS = 20 }; /* for other processes */

/* What one sample adds. */
struct sums {
    double cos;           /* over results */
    double noise, signal; /* powers */
    int64_t n;            /* numbers */
};

/* A candidate that is being run. */
struct job {
    const struct proposal *candidate;
    struct mark key;
    struct sums *sums; /* [n_samples] */
    void *trial;       /* of the judge */
    double seconds;
    bool ok;
};

struct worker {
    struct search *search;
    struct job *job;
    int part, n_parts; /* of the samples */
    struct ctx *ctx;
    bool ok;
};

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* --- comparing -------------------------------------------------------------------------------- */

/* NaN counts as 0, which is as wrong as can be. */
static void compare(const float *x, const float *y, int64_t n, struct sums *sums)
{
    double xy = 0, xx = 0, yy = 0, noise = 0;

    for (int64_t i = 0; i < n; i++) {
        const double a = (double)x[i], b = isfinite(y[i]) ? (double)y[i] : 0;

        xy += a * b;
        xx += a * a;
        yy += b * b;
        noise += (a - b) * (a - b);
    }
    sums->cos += xx == 0 && yy == 0 ? 1 : xx == 0 || yy == 0 ? 0 : xy / sqrt(xx * yy);
    sums->noise += noise;
    sums->signal += xx;
    sums->n += n;
}

static void compare_sample(const struct search *search, int64_t sample,
                           const struct tensor *outputs, struct sums *sums)
{
    *sums = (struct sums){ .cos = 0 };
    for (int i = 0; i < search->n_seen; i++) {
        const struct tensor *output = &outputs[search->first_seen + i];

        compare(search->wanted[sample * search->n_seen + i], output->data,
                type_elements(&output->type), sums);
    }
}

static bool finish_score(struct search *search, struct job *job, struct score *score)
{
    const struct search_options *options = search->options;
    struct sums all = { .cos = 0 };

    for (int64_t s = 0; s < options->n_samples; s++) {
        all.cos += job->sums[s].cos;
        all.noise += job->sums[s].noise;
        all.signal += job->sums[s].signal;
        all.n += job->sums[s].n;
    }
    *score = (struct score){ .cos = all.cos / (double)(options->n_samples * search->n_seen),
                             .snr = all.signal > 0  ? all.noise / all.signal
                                    : all.noise > 0 ? (double)INFINITY
                                                    : 0,
                             .mse = all.n ? all.noise / (double)all.n : 0,
                             .task = (double)NAN,
                             .seconds = job->seconds };
    if (options->judge &&
        !options->judge->end(options->judge->user, job->trial, search->ctx, &score->task))
        return false;
    switch (options->measure) {
    case MEASURE_COS: score->loss = 1 - score->cos; break;
    case MEASURE_SNR: score->loss = score->snr; break;
    case MEASURE_MSE: score->loss = score->mse; break;
    case MEASURE_TASK: score->loss = 1 - score->task; break;
    }
    return true;
}

/* --- running ---------------------------------------------------------------------------------- */

static bool run_sample(struct worker *w, struct variant *variant, int n_results, int64_t sample)
{
    const struct search *search = w->search;
    const struct judge *judge = search->options->judge;
    struct arena arena = { NULL };
    struct bulk bulk = { 0 };
    struct tensor *outputs = arena_array(&arena, struct tensor, n_results);
    bool ok = variant_run(variant, sample, outputs, &bulk);

    if (ok)
        compare_sample(search, sample, outputs, &w->job->sums[sample]);
    if (ok && judge)
        ok = judge->see(judge->user, w->job->trial, w->ctx, sample,
                        search->options->inputs + sample * search->module->main->n_params, outputs);
    bulk_release(&bulk);
    arena_release(&arena);
    return ok;
}

static void run_job(void *user)
{
    struct worker *w = user;
    const struct search *search = w->search;
    struct module *module = search_build(search, w->job->candidate, w->ctx);
    struct variant *variant = NULL;

    if (module && search_prepare_run(search, module))
        variant = variant_new(search->reuse, w->ctx, module->main);
    w->ok = variant != NULL;
    for (int64_t s = w->part; s < search->options->n_samples && w->ok; s += w->n_parts)
        w->ok = run_sample(w, variant, module->main->ret->n_inputs, s);
    variant_free(variant);
    module_free(module);
}

/* n jobs by all threads. */
static bool run_jobs(struct search *search, struct job *jobs, int n)
{
    const int n_threads = search->options->n_threads;
    const int64_t n_samples = search->options->n_samples;
    const int n_parts =
        n_threads / n < n_samples ? (n_threads / n > 0 ? n_threads / n : 1) : (int)n_samples;
    struct arena arena = { NULL };
    struct worker *workers = arena_array(&arena, struct worker, n * n_parts);
    const double start = seconds_now();
    bool ok;

    for (int i = 0; i < n * n_parts; i++)
        workers[i] = (struct worker){ .search = search,
                                      .job = &jobs[i / n_parts],
                                      .part = i % n_parts,
                                      .n_parts = n_parts,
                                      .ctx = ctx_new(search->ctx->diags.input_name) };
    ok = workers_run(search->ctx, workers, sizeof *workers, n * n_parts, run_job);
    for (int i = 0; i < n * n_parts; i++) {
        if (ok && !workers[i].ok)
            workers_report(search->ctx, workers[i].ctx, workers[i].job->candidate->what);
        ok = ok && workers[i].ok;
        ctx_free(workers[i].ctx);
    }
    for (int i = 0; i < n; i++)
        jobs[i].seconds = seconds_now() - start;
    arena_release(&arena);
    return ok;
}

/* --- f32 -------------------------------------------------------------------------------------- */

struct seer {
    struct search *search;
    int part, n_parts;
    struct ctx *ctx;
    struct variant *variant;
    bool ok;
};

static void make_seers(void *user)
{
    struct seer *seers = user;

    for (int i = 0; i < seers->n_parts; i++)
        seers[i].variant =
            variant_new(seers->search->reuse, seers[i].ctx, seers->search->base->main);
}

static void see_results(void *user)
{
    struct seer *seer = user;
    const struct search *search = seer->search;
    const struct function *fn = search->base->main;
    struct tensor *outputs = arena_array(&seer->ctx->perm, struct tensor, fn->ret->n_inputs);

    seer->ok = seer->variant != NULL;
    for (int64_t s = seer->part; s < search->options->n_samples && seer->ok; s += seer->n_parts) {
        struct bulk bulk = { 0 };

        seer->ok = variant_run(seer->variant, s, outputs, &bulk);
        for (int i = 0; i < search->n_seen && seer->ok; i++)
            memcpy((void *)(uintptr_t)search->wanted[s * search->n_seen + i],
                   outputs[search->first_seen + i].data,
                   type_bytes(&outputs[search->first_seen + i].type));
        bulk_release(&bulk);
    }
}

bool search_see_f32(struct search *search)
{
    const struct function *fn = search->base->main;
    const int64_t n_samples = search->options->n_samples;
    const int n =
        search->options->n_threads < n_samples ? search->options->n_threads : (int)n_samples;
    struct arena *perm = &search->ctx->perm, arena = { NULL };
    struct seer *seers = arena_array(&arena, struct seer, n);
    bool ok;

    search->wanted = arena_array(perm, const float *, n_samples * search->n_seen);
    for (int64_t i = 0; i < n_samples * search->n_seen; i++)
        search->wanted[i] = arena_alloc(
            perm, type_bytes(&fn->ret->inputs[search->first_seen + i % search->n_seen]->type));
    for (int i = 0; i < n; i++)
        seers[i] = (struct seer){
            .search = search, .part = i, .n_parts = n, .ctx = ctx_new(search->ctx->diags.input_name)
        };
    ok = workers_run(search->ctx, seers, sizeof *seers, 1, make_seers) &&
         workers_run(search->ctx, seers, sizeof *seers, n, see_results);
    for (int i = 0; i < n; i++) {
        if (ok && !seers[i].ok)
            workers_report(search->ctx, seers[i].ctx, "f32");
        ok = ok && seers[i].ok;
        variant_free(seers[i].variant);
        ctx_free(seers[i].ctx);
    }
    arena_release(&arena);
    return ok;
}

double search_spread(const struct search *search)
{
    const int64_t n_pairs = search->options->n_samples - 1;
    struct sums sums = { .cos = 0 };
    double spread;

    for (int64_t i = 0; i < n_pairs * search->n_seen; i++) {
        const struct value *result =
            search->base->main->ret->inputs[search->first_seen + i % search->n_seen];

        compare(search->wanted[i], search->wanted[i + search->n_seen], type_elements(&result->type),
                &sums);
    }
    spread = n_pairs > 0 ? 1 - sums.cos / (double)(n_pairs * search->n_seen) : 0;
    return spread > 0 && spread < 1 ? spread : 1;
}

/* --- many ------------------------------------------------------------------------------------- */

struct queue {
    struct search *search;
    int n;
    const struct proposal *candidates;
    struct mark *keys;
    struct score *scores;
    bool *done;
    int n_done;
};

static void take_known(struct queue *q, int i)
{
    const struct judged *known = trials_find(q->search->trials, q->keys[i]);
    struct search *search = q->search;

    if (q->done[i] || !known)
        return;
    q->scores[i] = known->score;
    q->done[i] = true;
    q->n_done++;
    search->n_done++;
    if (search->options->progress)
        search->options->progress(search->options->user, search->n_done,
                                  search->n_expected > search->n_done ? search->n_expected
                                                                      : search->n_done);
}

/* Twice the same candidate in one call is one trial. */
static bool is_in(const struct job *jobs, int n, struct mark key)
{
    for (int i = 0; i < n; i++)
        if (mark_equal(jobs[i].key, key))
            return true;
    return false;
}

/* As many as there are threads, of those that nobody else is at. */
static int claim_some(struct queue *q, struct job *jobs)
{
    const int most = q->search->options->n_threads;
    int n = 0;

    for (int i = 0; i < q->n && n < most; i++) {
        if (q->done[i] || is_in(jobs, n, q->keys[i]) ||
            !trials_claim(q->search->trials, q->keys[i]))
            continue;
        jobs[n++] = (struct job){ .candidate = &q->candidates[i], .key = q->keys[i] };
    }
    return n;
}

static bool run_some(struct queue *q, struct job *jobs, int n)
{
    struct search *search = q->search;
    const struct judge *judge = search->options->judge;
    struct arena arena = { NULL };
    bool ok;

    for (int i = 0; i < n; i++) {
        jobs[i].sums = arena_array(&arena, struct sums, search->options->n_samples);
        jobs[i].trial = judge ? judge->begin(judge->user) : NULL;
    }
    ok = run_jobs(search, jobs, n);
    for (int i = 0; i < n; i++) {
        struct score score;

        if (ok)
            ok = finish_score(search, &jobs[i], &score) &&
                 trials_add(search->trials, jobs[i].key, jobs[i].candidate->what, &score);
        else
            trials_give_back(search->trials, jobs[i].key);
    }
    arena_release(&arena);
    arena_release(&search->ctx->scratch);
    return ok;
}

static void wait_for_others(void)
{
    const struct timespec time = { .tv_nsec = WAIT_MS * 1000000 };

    nanosleep(&time, NULL);
}

static bool run_queue(struct queue *q)
{
    struct arena arena = { NULL };
    struct job *jobs = arena_array(&arena, struct job, q->search->options->n_threads);
    bool ok = trials_refresh(q->search->trials);

    while (ok) {
        int n;

        for (int i = 0; i < q->n; i++)
            take_known(q, i);
        if (q->n_done == q->n)
            break;
        n = claim_some(q, jobs);
        if (n > 0)
            ok = run_some(q, jobs, n);
        else
            wait_for_others();
        ok = ok && trials_refresh(q->search->trials);
    }
    arena_release(&arena);
    return ok;
}

bool search_judge_all(struct search *search, int n, const struct proposal *candidates,
                      struct score *scores)
{
    struct arena arena = { NULL };
    struct queue q = { .search = search, .n = n, .candidates = candidates, .scores = scores };
    bool ok;

    q.keys = arena_array(&arena, struct mark, n);
    q.done = arena_array(&arena, bool, n);
    for (int i = 0; i < n; i++)
        q.keys[i] = search_key(search, &candidates[i]);
    ok = run_queue(&q);
    arena_release(&arena);
    return ok;
}

bool search_judge_one(struct search *search, const struct proposal *candidate, struct score *score)
{
    return search_judge_all(search, 1, candidate, score);
}
