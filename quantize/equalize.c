/* equalize.c - cross-layer equalisation: scales move from one layer's weights to the next's.
 *
 * needs    the prepared float graph, before it is calibrated
 * gives    the same function. Of two products with nothing between them but what a positive factor
 *          per channel passes through, channel i of the first and the columns of the second that
 *          read it have the same greatest weight. clip becomes minimum (maximum) with a constant
 *          per channel; no other node is added
 * method   Nagel et al. 2019 (1906.04721), 4.1: y_i / s_i and s_i W2, s_i = sqrt(r1_i / r2_i), pair
 *          after pair until nothing moves; numbers are rounded once, in the end */
#include <math.h>

#include "base/str.h"
#include "quantize/batch_norms.h"
#include "quantize/equalize_pair.h"
#include "quantize/steps.h"

enum { MAX_SWEEPS = 1000 };

static const double settled = 1e-3; /* of the logarithm of a factor, in one sweep */
static const double unmoved = 1e-3; /* a pair whose factors are all nearer to 1 is left alone */
/* Of a factor. A channel whose weights are next to nothing would become the greatest of its tensor,
 * whose scale then serves nobody else: with 2^12 int8 loses 32 points on vww_mobilenetv1, with 2^4
 * none. */
static const double limit = 0x1p4;

struct equalizer {
    struct quantization *q;
    struct arena arena;
    int n_layers, n_pairs;
    struct equal_layer *layers;
    struct equal_pair *pairs;
    double *first, *second, *greatest; /* room: for each channel of the widest layer */
};

/* --- which layers ----------------------------------------------------------------------------- */

/* minimum has no integer form: a clip between integers stays what it is. */
static bool may_replace_clip(const struct quantize_options *options)
{
    bool integers = options->exact || options->precision.mode == PRECISION_INT8;

    for (int i = 0; options->qtable && i < options->qtable->n; i++)
        integers = integers || options->qtable->rows[i].precision.mode == PRECISION_INT8;
    return !integers;
}

/* Greatest magnitude of each block; false when weights are not finite. */
static bool measure(struct equal_layer *layer)
{
    const float *w = layer->node->inputs[1]->data;

    for (int64_t block = 0; block < linear_blocks(&layer->linear); block++)
        for (int64_t i = 0; i < layer->linear.taps; i++) {
            const float magnitude = fabsf(w[block * layer->linear.taps + i]);

            if (!isfinite(magnitude))
                return false;
            layer->greatest[block] = fmaxf(layer->greatest[block], magnitude);
        }
    return true;
}

static void find_layers(struct equalizer *e)
{
    struct function *fn = e->q->module->main;

    function_number(fn);
    e->layers = arena_array(&e->arena, struct equal_layer, fn->n_nodes);
    for (struct node *node = fn->first; node; node = node->next) {
        struct equal_layer *layer = &e->layers[e->n_layers];
        const struct value *weight = node->n_inputs == 2 ? node->inputs[1] : NULL;

        *layer = (struct equal_layer){ .node = node };
        if (!linear_of(node, &layer->linear) || layer->linear.lead != 1 ||
            weight->kind != VALUE_CONSTANT || weight->type.dtype != DTYPE_F32 ||
            weight->uses->next || node->outputs[0]->type.dtype != DTYPE_F32)
            continue;
        layer->greatest = arena_array(&e->arena, float, linear_blocks(&layer->linear));
        if (measure(layer))
            e->n_layers++;
    }
}

static struct equal_layer *layer_of(const struct equalizer *e, const struct node *node)
{
    for (int i = 0; i < e->n_layers; i++)
        if (e->layers[i].node == node)
            return &e->layers[i];
    return NULL;
}

static void find_pairs(struct equalizer *e)
{
    const bool clips = may_replace_clip(e->q->options);

    e->pairs = arena_array(&e->arena, struct equal_pair, e->n_layers);
    for (int i = 0; i < e->n_layers; i++) {
        struct equal_pair *pair = &e->pairs[e->n_pairs];
        struct equal_layer *first = &e->layers[i];
        struct node *end = pair_end(first->node, first->linear.out_axis, clips, &pair->repeat);
        struct equal_layer *second = end ? layer_of(e, end) : NULL;

        if (!second || second->linear.in_c != first->linear.out_c * pair->repeat)
            continue;
        pair->first = first;
        pair->second = second;
        pair->n = first->linear.out_c;
        pair->factor = arena_array(&e->arena, double, pair->n);
        for (int64_t c = 0; c < pair->n; c++)
            pair->factor[c] = 1;
        first->out = second->in = pair;
        e->n_pairs++;
    }
}

/* --- factors ---------------------------------------------------------------------------------- */

/* The factor of each input or output channel of a layer, as its pairs have it now. */
static void channel_factors(const struct equal_layer *layer, bool of_outputs, double *factors)
{
    const int64_t n = of_outputs ? layer->linear.out_c : layer->linear.in_c;
    const struct equal_pair *pair = of_outputs ? layer->out : layer->in;

    for (int64_t c = 0; c < n; c++)
        factors[c] = !pair ? 1 : of_outputs ? 1 / pair->factor[c] : pair->factor[c / pair->repeat];
}

/* The greatest weight of each output channel, or of each `repeat` input channels, with all factors
 * of now. This is all the work there is: no division per block. */
static void ranges(const struct equalizer *e, const struct equal_layer *layer, bool of_outputs,
                   int64_t repeat, double *range)
{
    const struct linear *l = &layer->linear;
    const bool by_first = l->in_first != of_outputs;
    const int64_t n = of_outputs ? l->out_c : l->in_c, in_group = l->first / l->groups;
    const float *greatest = layer->greatest;

    channel_factors(layer, !l->in_first, e->first);
    channel_factors(layer, l->in_first, e->second);
    for (int64_t c = 0; c < n; c++)
        e->greatest[c] = 0;
    for (int64_t i = 0; i < l->first; i++) {
        const double *second = e->second + i / in_group * l->second;
        double *column = e->greatest + i / in_group * l->second;
        double row = 0;

        for (int64_t j = 0; j < l->second; j++) {
            const double weight = (double)*greatest++ * second[j] * e->first[i];

            row = weight > row ? weight : row;
            if (!by_first)
                column[j] = weight > column[j] ? weight : column[j];
        }
        if (by_first)
            e->greatest[i] = row;
    }
    for (int64_t c = 0; c < n / repeat; c++) {
        range[c] = 0;
        for (int64_t i = c * repeat; i < (c + 1) * repeat; i++)
            range[c] = fmax(range[c], e->greatest[i]);
    }
}

/* Returns the greatest move of a logarithm. */
static double balance(const struct equalizer *e, struct equal_pair *pair, double *first,
                      double *second)
{
    double greatest = 0;

    ranges(e, pair->first, true, 1, first);
    ranges(e, pair->second, false, pair->repeat, second);
    for (int64_t c = 0; c < pair->n; c++) {
        const double old = pair->factor[c];

        if (first[c] <= 0 || second[c] <= 0)
            continue; /* a dead channel: no factor helps */
        pair->factor[c] = fmin(fmax(old * sqrt(first[c] / second[c]), 1 / limit), limit);
        greatest = fmax(greatest, fabs(log(pair->factor[c] / old)));
    }
    return greatest;
}

static void find_factors(struct equalizer *e)
{
    int64_t n = 1;
    double *first, *second;

    for (int i = 0; i < e->n_layers; i++) {
        const struct linear *l = &e->layers[i].linear;

        n = l->out_c > n ? l->out_c : n;
        n = l->in_c > n ? l->in_c : n;
    }
    first = arena_array(&e->arena, double, n);
    second = arena_array(&e->arena, double, n);
    e->first = arena_array(&e->arena, double, n);
    e->second = arena_array(&e->arena, double, n);
    e->greatest = arena_array(&e->arena, double, n);
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        double greatest = 0;

        for (int i = 0; i < e->n_pairs; i++)
            greatest = fmax(greatest, balance(e, &e->pairs[i], first, second));
        if (greatest < settled)
            break;
    }
}

/* Pairs that were equal before are not touched. */
static void drop_unmoved(struct equalizer *e)
{
    for (int i = 0; i < e->n_pairs; i++) {
        struct equal_pair *pair = &e->pairs[i];
        double greatest = 0;

        for (int64_t c = 0; c < pair->n; c++)
            greatest = fmax(greatest, fabs(log(pair->factor[c])));
        pair->moved = greatest > unmoved;
        if (!pair->moved)
            pair->first->out = pair->second->in = NULL;
    }
}

/* --- the graph -------------------------------------------------------------------------------- */

static void write_log(const struct equalizer *e, const struct equal_pair *pair)
{
    struct writer *log = e->q->options->log;
    struct arena *scratch = &e->q->ctx->scratch;
    double least = INFINITY, greatest = 0;

    if (!log || e->q->options->log_json) /* whose lines are searches */
        return;
    for (int64_t c = 0; c < pair->n; c++) {
        least = fmin(least, pair->factor[c]);
        greatest = fmax(greatest, pair->factor[c]);
    }
    writer_printf(log, "# equalize %s -> %s: %lld channels, factors %.4g .. %.4g\n",
                  str_safe(scratch, pair->first->node->outputs[0]->name, 200),
                  str_safe(scratch, pair->second->node->outputs[0]->name, 200), (long long)pair->n,
                  least, greatest);
}

/* A table of the original model lacks the ranges that have moved. */
static bool check_table(const struct quantization *q, int n)
{
    const struct quantize_options *options = q->options;
    bool wants_data = options->precision.has_data;

    for (int i = 0; options->qtable && i < options->qtable->n; i++)
        wants_data = wants_data || options->qtable->rows[i].precision.has_data;
    if (!n || !options->calib || !wants_data)
        return true;
    diag_error(
        q->ctx, DIAG_CALIB_TABLE, NULL,
        "equalisation has changed the ranges after %d layer%s, which the calibration table lacks",
        n, str_plural(n));
    diag_help(q->ctx, "give --data instead of the table, or leave out --equalize");
    return false;
}

bool quantize_equalize(struct quantization *q)
{
    struct equalizer e = { .q = q };
    bool ok = true;

    if (!q->options->equalize)
        return true;
    if (q->options->batch_norms)
        q->statistics = batch_norms_copy(q->ctx, q->options->batch_norms);
    find_layers(&e);
    find_pairs(&e);
    find_factors(&e);
    drop_unmoved(&e);
    for (int i = 0; i < e.n_pairs; i++)
        q->report->n_equalized += e.pairs[i].moved;
    ok = check_table(q, q->report->n_equalized);
    for (int i = 0; i < e.n_layers && ok; i++)
        layer_rewrite(&e.layers[i]);
    for (int i = 0; i < e.n_pairs && ok; i++)
        if (e.pairs[i].moved) {
            write_log(&e, &e.pairs[i]);
            ok = pair_rewrite(q, &e.pairs[i]);
        }
    arena_release(&e.arena);
    return ok;
}
