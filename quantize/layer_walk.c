#include "quantize/layer_walk.h"

#include <math.h>
#include <pthread.h>

#include "base/str.h"
#include "quantize/layer_cut.h"
#include "quantize/workers.h"

/* What is kept of a sample: both live in `bulk`. */
struct sample {
    struct bulk bulk;
    struct tensor *tensors; /* as the list of live values; NULL = nothing is kept */
};

struct shared {
    const struct layer_walk *walk;
    struct layer_cut cut; /* at the product at hand */
    struct linear linear; /* of it */
    struct sample *samples;
    int64_t n_kept;       /* samples from here on are not kept behind this product */
    double *sums;         /* [n_samples, out_c] */
    int64_t n_positions;  /* of each channel, in one sample */
    int64_t n_picked;     /* of them */
    float *picked;        /* [out_c, n_samples, n_picked] */
    pthread_mutex_t lock; /* for what follows */
    int64_t next_sample;
    bool failed;
};

struct worker {
    struct shared *state;
    struct ctx *ctx;
    struct part next, whole; /* of the two plans, made when first needed */
    int64_t sample;          /* that failed */
    bool failed;
};

/* --- one sample ------------------------------------------------------------------------------- */

/* Sums over all but the channels, in the order of memory. */
static void add_channels(const struct tensor *y, const struct linear *linear, double *sums)
{
    const int64_t outer = type_span(&y->type, 0, linear->out_axis);
    const int64_t inner = type_span(&y->type, linear->out_axis + 1, y->type.rank);
    const float *f32 = y->type.dtype == DTYPE_F32 ? y->data : NULL;
    int64_t at = 0;

    for (int64_t o = 0; o < outer; o++)
        for (int64_t c = 0; c < linear->out_c; c++) {
            double sum = 0;

            for (int64_t i = 0; i < inner; i++, at++)
                sum += f32 ? (double)f32[at] : tensor_at(y, at);
            sums[c] += sum;
        }
}

/* Numbers at positions that lie evenly, the first one included. */
static void pick(const struct shared *state, const struct tensor *y, int64_t sample)
{
    const struct linear *linear = &state->linear;
    const int64_t inner = type_span(&y->type, linear->out_axis + 1, y->type.rank);

    for (int64_t c = 0; c < linear->out_c; c++)
        for (int64_t i = 0; i < state->n_picked; i++) {
            const int64_t position = i * state->n_positions / state->n_picked;
            const int64_t at = (position / inner * linear->out_c + c) * inner + position % inner;

            state->picked[(c * state->walk->n_samples + sample) * state->n_picked + i] =
                (float)tensor_at(y, at);
        }
}

static bool check_finite(const struct shared *state, struct ctx *ctx, int64_t sample,
                         const double *sums)
{
    const struct node *product = state->cut.product;
    int64_t c = 0;

    while (c < state->linear.out_c && isfinite(sums[c]))
        c++;
    if (c == state->linear.out_c)
        return true;
    diag_error(ctx, DIAG_CALIB_TABLE, NULL,
               "sample %lld gives infinities or NaN in '%s' (%s), channel %lld", (long long)sample,
               str_safe(&ctx->perm, product->outputs[0]->name, 200), op_name(product->op),
               (long long)c);
    diag_help(ctx, "leave this sample out, or give inputs in the range that the model expects "
                   "(--preprocess)");
    return false;
}

/* Fills the part's inputs: from what is kept of the sample, else the sample is loaded. */
static bool find_inputs(struct worker *worker, struct sample *sample, int64_t index,
                        struct tensor *loaded, struct part *part)
{
    const struct shared *state = worker->state;
    const struct calibration_source *source = state->walk->source;
    const bool fresh = !sample->tensors;

    if (fresh) {
        struct ctx *ctx = ctx_new(worker->ctx->diags.input_name);
        const bool ok = source->load(source->user, ctx, &sample->bulk, index, loaded);

        workers_report(worker->ctx, ctx, NULL);
        ctx_free(ctx);
        if (!ok)
            return false;
    }
    for (int i = 0; i < part->module->main->n_params; i++) {
        const struct value *value = part->outer[i];

        part->inputs[i] =
            fresh ? loaded[value->index] : sample->tensors[live_find(&state->cut.before, value)];
    }
    return true;
}

/* What later products read of this sample stays, everything else goes. */
static void keep_live(const struct shared *state, struct sample *sample, const struct part *part,
                      const struct tensor *loaded)
{
    const struct live *after = &state->cut.after;
    struct arena arena = { NULL };
    const void **kept = arena_array(&arena, const void *, after->n + 1);
    struct tensor *tensors = bulk_alloc(&sample->bulk, (size_t)(after->n + 1) * sizeof *tensors);

    for (int i = 0; i < after->n; i++) {
        const struct value *value = after->values[i];
        const int result = part_result(part->plan, value);

        if (result >= 0)
            tensors[i] = part->outputs[result];
        else if (sample->tensors)
            tensors[i] = sample->tensors[live_find(&state->cut.before, value)];
        else
            tensors[i] = loaded[value->index];
        kept[i] = tensors[i].data;
    }
    kept[after->n] = tensors;
    bulk_keep(&sample->bulk, kept, (size_t)after->n + 1);
    sample->tensors = tensors;
    arena_release(&arena);
}

static void forget(struct sample *sample)
{
    bulk_release(&sample->bulk);
    sample->tensors = NULL;
}

static bool run_sample(struct worker *worker, int64_t index)
{
    struct shared *state = worker->state;
    struct sample *sample = &state->samples[index];
    struct part *part = sample->tensors ? &worker->next : &worker->whole;
    const struct part_plan *plan = sample->tensors ? &state->cut.next : &state->cut.whole;
    double *sums = state->sums + index * state->linear.out_c;
    struct arena arena = { NULL };
    struct tensor *loaded = arena_array(&arena, struct tensor, state->walk->fn->n_params);
    bool ok = (part->engine || part_make(worker->ctx, plan, part)) &&
              find_inputs(worker, sample, index, loaded, part) &&
              engine_run(part->engine, part->inputs, part->outputs, &sample->bulk, NULL);

    if (ok) {
        add_channels(&part->outputs[0], &state->linear, sums);
        pick(state, &part->outputs[0], index);
        ok = check_finite(state, worker->ctx, index, sums);
    }
    if (ok && index < state->n_kept)
        keep_live(state, sample, part, loaded);
    else
        forget(sample);
    arena_release(&worker->ctx->scratch);
    arena_release(&arena);
    return ok;
}

/* --- one product ------------------------------------------------------------------------------ */

/* -1 = there are no more. */
static int64_t take_sample(struct shared *state)
{
    int64_t sample = -1;

    pthread_mutex_lock(&state->lock);
    if (!state->failed && state->next_sample < state->walk->n_samples)
        sample = state->next_sample++;
    pthread_mutex_unlock(&state->lock);
    return sample;
}

static void work(void *user)
{
    struct worker *worker = user;
    int64_t sample;

    while (!worker->failed && (sample = take_sample(worker->state)) >= 0)
        if (!run_sample(worker, sample)) {
            worker->failed = true;
            worker->sample = sample;
            pthread_mutex_lock(&worker->state->lock);
            worker->state->failed = true;
            pthread_mutex_unlock(&worker->state->lock);
        }
}

/* Of those that failed, the one with the first sample is reported: samples are taken in order. */
static bool report(const struct layer_walk *walk, const struct worker *workers, int n)
{
    const struct worker *first = NULL;

    for (int i = 0; i < n; i++)
        if (workers[i].failed && (!first || workers[i].sample < first->sample))
            first = &workers[i];
    if (first)
        workers_report(walk->ctx, first->ctx, walk->what);
    return !first;
}

static bool run_samples(struct shared *state)
{
    const struct layer_walk *walk = state->walk;
    const int n = walk->n_samples < walk->n_threads ? (int)walk->n_samples : walk->n_threads;
    struct arena arena = { NULL };
    struct worker *workers = arena_array(&arena, struct worker, n);
    bool ok;

    state->next_sample = 0;
    for (int i = 0; i < n; i++)
        workers[i] = (struct worker){ .state = state, .ctx = ctx_new(walk->ctx->diags.input_name) };
    ok = workers_run(walk->ctx, workers, sizeof *workers, n, work) && report(walk, workers, n);
    for (int i = 0; i < n; i++) {
        part_free(&workers[i].next);
        part_free(&workers[i].whole);
        ctx_free(workers[i].ctx);
    }
    arena_release(&arena);
    return ok;
}

/* In the order of the samples. */
static void add_samples(const struct shared *state, double *mean)
{
    const int64_t n = state->linear.out_c;
    const double count = (double)state->n_positions * (double)state->walk->n_samples;

    for (int64_t c = 0; c < n; c++) {
        double sum = 0;

        for (int64_t i = 0; i < state->walk->n_samples; i++)
            sum += state->sums[i * n + c];
        mean[c] = sum / count;
    }
}

static bool run_product(struct shared *state)
{
    const struct layer_walk *walk = state->walk;
    struct arena arena = { NULL };
    double *mean;
    bool ok = linear_of(state->cut.product, &state->linear);
    const size_t bytes = state->cut.after.bytes;

    state->n_kept = bytes && walk->memory / bytes < (size_t)walk->n_samples
                        ? (int64_t)(walk->memory / bytes)
                        : walk->n_samples;
    mean = arena_array(&arena, double, state->linear.out_c);
    state->sums = arena_array(&arena, double, walk->n_samples * state->linear.out_c);
    state->n_positions = type_elements(&state->cut.product->outputs[0]->type) / state->linear.out_c;
    state->n_picked = state->n_positions < walk->pick ? state->n_positions : walk->pick;
    state->picked =
        arena_array(&arena, float, state->linear.out_c * walk->n_samples * state->n_picked);
    ok = ok && run_samples(state);
    if (ok) {
        const struct layer_result result = { mean, state->picked,
                                             walk->n_samples * state->n_picked };

        add_samples(state, mean);
        ok = walk->see(walk->user, state->cut.product, &state->linear, &result);
    }
    arena_release(&arena);
    return ok;
}

/* --- all of them ------------------------------------------------------------------------------ */

static int find_products(const struct layer_walk *walk, struct node **products)
{
    struct linear linear;
    int n = 0;

    for (struct node *node = walk->fn->first; node; node = node->next)
        if (linear_of(node, &linear) && type_elements(&node->outputs[0]->type) > 0 &&
            walk->wants(walk->user, node))
            products[n++] = node;
    return n;
}

bool layer_walk(const struct layer_walk *walk)
{
    struct shared state = { .walk = walk };
    struct arena arena = { NULL };
    struct node **products;
    bool ok = true;
    int n;

    function_number(walk->fn);
    products = arena_array(&arena, struct node *, walk->fn->n_nodes);
    state.samples = arena_array(&arena, struct sample, walk->n_samples);
    n = find_products(walk, products);
    pthread_mutex_init(&state.lock, NULL);
    for (int i = 0; i < n && ok; i++)
        ok = layer_cut(walk->ctx, walk->fn, products + i, n - i, &state.cut) && run_product(&state);
    for (int64_t i = 0; i < walk->n_samples; i++)
        forget(&state.samples[i]);
    pthread_mutex_destroy(&state.lock);
    layer_cut_free(&state.cut);
    arena_release(&arena);
    return ok;
}
