#include "quantize/gram.h"

#include <math.h>
#include <string.h>

#include "quantize/workers.h"
#include "relay_ir/ops/spatial.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/gram.h"

enum { LANES = 4, POSITIONS = 256, MAX_SAMPLES = 128 };

/* --- which products --------------------------------------------------------------------------- */

static bool is_convolution(const struct node *node)
{
    return node->op == OP_CONV1D || node->op == OP_CONV2D || node->op == OP_CONV3D;
}

bool gram_prepare(const struct node *product, struct gram *out)
{
    *out = (struct gram){ .product = product };
    if (!linear_of(product, &out->linear) || out->linear.lead != 1 ||
        product->inputs[0]->type.dtype != DTYPE_F32)
        return false;
    if (is_convolution(product)) {
        const char *layout = product->attrs.conv.data_layout;

        if (layout[0] != 'N' || layout[1] != 'C')
            return false;
    } else if (product->op != OP_DENSE &&
               (product->op != OP_MATMUL || product->attrs.matmul.transpose_a)) {
        return false;
    }
    out->k = out->linear.in_c / out->linear.groups * out->linear.taps;
    return true;
}

size_t gram_bytes(const struct gram *gram)
{
    return (size_t)LANES * (size_t)gram->linear.groups * (size_t)gram->k * (size_t)gram->k *
           sizeof *gram->sums;
}

/* --- what one output reads -------------------------------------------------------------------- */

/* x[k] of position `at` (of the output, in its order without channels) and a group of channels. */
static void take_window(const struct gram *gram, const struct spatial *s, const float *data,
                        int64_t at, int64_t group, float *x)
{
    const struct slide *d = &s->dim[0], *h = &s->dim[1], *w = &s->dim[2];
    const int64_t channels = gram->linear.in_c / gram->linear.groups;
    const int64_t plane = d->in * h->in * w->in, positions = d->out * h->out * w->out;
    const int64_t batch = at / positions, ow = at % w->out, oh = at / w->out % h->out;
    const int64_t od = at % positions / (w->out * h->out);
    const float *from = data + (batch * gram->linear.in_c + group * channels) * plane;

    for (int64_t c = 0; c < channels; c++, from += plane)
        for (int64_t kd = 0; kd < d->kernel; kd++)
            for (int64_t kh = 0; kh < h->kernel; kh++)
                for (int64_t kw = 0; kw < w->kernel; kw++) {
                    const int64_t id = od * d->stride - d->pad_before + kd * d->dilation;
                    const int64_t ih = oh * h->stride - h->pad_before + kh * h->dilation;
                    const int64_t iw = ow * w->stride - w->pad_before + kw * w->dilation;
                    const bool inside =
                        id >= 0 && id < d->in && ih >= 0 && ih < h->in && iw >= 0 && iw < w->in;

                    *x++ = inside ? from[(id * h->in + ih) * w->in + iw] : 0;
                }
}

static struct spatial spatial_of(const struct node *node)
{
    const int rank = node->inputs[0]->type.rank - 2;
    const struct conv_attrs *attrs = &node->attrs.conv;
    struct spatial s =
        spatial_make(rank, node->inputs[0]->type.dim + 2, node->inputs[1]->type.dim + 2,
                     &attrs->strides, &attrs->padding, &attrs->dilation);

    for (int i = 0; i < MAX_SPATIAL; i++)
        s.dim[i].out =
            i < MAX_SPATIAL - rank ? 1 : node->outputs[0]->type.dim[2 + i - (MAX_SPATIAL - rank)];
    return s;
}

/* --- threads ---------------------------------------------------------------------------------- */

struct collection {
    struct quantization *q;
    struct gram *grams;
    int n;
    int64_t n_samples;
    bool with_sums;
};

struct worker {
    struct sample_worker common;
    const struct collection *all;
    int lane;                  /* at work on */
    float *(*sums)[LANES];     /* [n]: of each gram; shared, each lane has one owner */
    float *(*greatest)[LANES]; /* [n] */
    float *x;                  /* room: [POSITIONS, greatest k] */
    bool broken;               /* oneDNN refused a sum */
};

static void see_greatest(const struct gram *gram, const struct tensor *tensor, float *greatest)
{
    const int axis = gram->linear.in_axis;
    const int64_t inner = type_span(&tensor->type, axis + 1, tensor->type.rank);
    const int64_t n = type_elements(&tensor->type);
    const float *data = tensor->data;

    for (int64_t i = 0; i < n; i++) {
        float *most = &greatest[i / inner % gram->linear.in_c];

        *most = fmaxf(*most, fabsf(data[i]));
    }
}

static bool see_sums(struct worker *worker, const struct gram *gram, const struct tensor *tensor,
                     float *sums)
{
    const bool windows = is_convolution(gram->product);
    const struct spatial s = windows ? spatial_of(gram->product) : (struct spatial){ 0 };
    const int64_t n_there = type_elements(&gram->product->outputs[0]->type) / gram->linear.out_c;
    const int64_t n = n_there < POSITIONS ? n_there : POSITIONS;

    for (int64_t g = 0; g < gram->linear.groups; g++) {
        for (int64_t i = 0; i < n; i++) {
            const int64_t at = i * n_there / n;
            float *x = worker->x + i * gram->k;

            if (windows)
                take_window(gram, &s, tensor->data, at, g, x);
            else
                memcpy(x, (const float *)tensor->data + at * gram->k, (size_t)gram->k * sizeof *x);
        }
        if (!engine_gram(worker->x, n, gram->k, sums + g * gram->k * gram->k))
            return false;
    }
    return true;
}

static void see(void *user, const struct value *value, const struct tensor *tensor)
{
    struct worker *worker = user;
    const struct collection *all = worker->all;

    for (int i = 0; i < all->n; i++) {
        const struct gram *gram = &all->grams[i];

        if (gram->product->inputs[0] != value)
            continue;
        see_greatest(gram, tensor, worker->greatest[i][worker->lane]);
        if (all->with_sums && !see_sums(worker, gram, tensor, worker->sums[i][worker->lane]))
            worker->broken = true;
    }
}

static bool run_sample(struct worker *worker, int64_t sample)
{
    const struct observer observer = { .see = see, .user = worker };
    const struct calibration_source *source = worker->all->q->options->samples;
    const struct function *fn = worker->all->q->module->main;
    struct arena arena = { NULL };
    struct bulk bulk = { 0 };
    struct tensor *inputs = arena_array(&arena, struct tensor, fn->n_params);
    struct tensor *outputs = arena_array(&arena, struct tensor, fn->ret->n_inputs);
    bool ok = source->load(source->user, worker->common.ctx, &bulk, sample, inputs);

    for (int i = 0; ok && i < fn->n_params; i++)
        see(worker, fn->params[i], &inputs[i]);
    ok = ok && engine_run(worker->common.engine, inputs, outputs, &bulk, &observer);
    if (worker->broken)
        ok = diag_error(worker->common.ctx, DIAG_ENGINE, NULL, "oneDNN cannot multiply matrices");
    bulk_release(&bulk);
    arena_release(&arena);
    arena_release(&worker->common.ctx->scratch);
    return ok;
}

static bool make_engine(void *user)
{
    struct worker *worker = user;

    worker->common.engine = engine_new(worker->common.ctx, worker->all->q->module->main);
    return worker->common.engine != NULL;
}

/* Whole lanes: what a lane adds up, it adds up in the order of its samples. */
static void work(void *user)
{
    struct worker *worker = user;
    struct sample_worker *common = &worker->common;

    for (worker->lane = common->index; worker->lane < LANES; worker->lane += common->n)
        for (int64_t s = worker->lane; s < worker->all->n_samples && common->failed < 0; s += LANES)
            if (!run_sample(worker, s))
                common->failed = s;
}

/* Adds the lanes up, into those of the caller. */
static void finish(struct gram *gram, float *const sums[LANES], float *const greatest[LANES],
                   int64_t n_samples, bool with_sums)
{
    const int64_t n = gram->linear.groups * gram->k * gram->k;
    const int64_t n_there = type_elements(&gram->product->outputs[0]->type) / gram->linear.out_c;

    for (int64_t c = 0; c < gram->linear.in_c; c++)
        for (int lane = 0; lane < LANES; lane++)
            gram->greatest[c] = fmaxf(gram->greatest[c], greatest[lane][c]);
    for (int64_t i = 0; with_sums && i < n; i++)
        gram->sums[i] = (sums[0][i] + sums[1][i]) + (sums[2][i] + sums[3][i]);
    gram->n = n_samples * (n_there < POSITIONS ? n_there : POSITIONS);
}

bool grams_collect(struct quantization *q, struct gram *grams, int n, bool with_sums,
                   struct arena *arena)
{
    const int64_t n_there = q->options->samples->n;
    struct collection all = { .q = q,
                              .grams = grams,
                              .n = n,
                              .n_samples = n_there < MAX_SAMPLES ? n_there : MAX_SAMPLES,
                              .with_sums = with_sums };
    struct arena room = { NULL };
    float *(*sums)[LANES] = arena_alloc_array(&room, (size_t)n, sizeof *sums);
    float *(*greatest)[LANES] = arena_alloc_array(&room, (size_t)n, sizeof *greatest);
    static const struct sample_work how = { "rounding", make_engine, work, NULL };
    const int n_workers = workers_wanted(LANES, q->options->n_threads);
    struct worker workers[LANES];
    int64_t widest = 1;
    bool ok;

    for (int i = 0; i < n; i++) {
        const int64_t size = grams[i].linear.groups * grams[i].k * grams[i].k;

        widest = grams[i].k > widest ? grams[i].k : widest;
        grams[i].greatest = arena_array(arena, float, grams[i].linear.in_c);
        if (with_sums)
            grams[i].sums = arena_array(arena, float, size);
        for (int lane = 0; lane < LANES; lane++) {
            greatest[i][lane] = arena_array(&room, float, grams[i].linear.in_c);
            sums[i][lane] = with_sums ? arena_array(&room, float, size) : NULL;
        }
    }
    for (int i = 0; i < n_workers; i++)
        workers[i] = (struct worker){ .all = &all,
                                      .sums = sums,
                                      .greatest = greatest,
                                      .x = arena_array(&room, float, POSITIONS *widest) };
    ok = workers_on_samples(q->ctx, workers, sizeof *workers, n_workers, &how);
    for (int i = 0; ok && i < n; i++)
        finish(&grams[i], sums[i], greatest[i], all.n_samples, with_sums);
    arena_release(&room);
    return ok;
}
