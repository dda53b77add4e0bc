/* bayes.c - a format of its own for the weights of each unit (AFP of 3 to 8 bits, or FP8), by the
 * objective of the AFP paper and Bayesian optimisation.
 *
 * The paper (Liu et al., Improving Neural Network Efficiency via Post-training Quantization with
 * Adaptive Floating-Point, ICCV 2021, eq. 12) minimises over layers l the sum of
 *
 *     KL(W_l || Q(W_l)) * cost(bits_l) ^ lambda_l
 *
 * For given lambdas the layers do not depend on each other, so that the best format of each is
 * found by looking at all: no optimiser is needed there. What nobody knows are the lambdas: how
 * dear a bit is, in which layer. That is what is optimised here, by what the whole network does.
 *
 * method   lambda_l = lambda * shape of the layer's place and size: 4 numbers for all layers.
 *          Objective: bits per weight in the mean, with a penalty for a loss above what is allowed,
 *          and for a task's metric below the start's. A Gaussian process (gaussian.h) proposes,
 *          after a first design of corners; then layers whose formats could be smaller, or must be
 *          larger, are changed one by one. At last it has to beat the same bits everywhere
 *
 * target   a share of what tells samples apart (search_spread). A cosine alone is not enough:
 *          squeezenet11 averages what comes out of relus, so that the results of any two images
 *          have one of nearly 0.9, and at 0.97 to f32's it has lost a third of its answers */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "quantize/quantize.h"
#include "quantize/weights.h"
#include "relay_ir/products.h"
#include "search/gaussian.h"
#include "search/strategies.h"

enum { DIMS = 4, LEVELS = 9, FIRST_DESIGN = 9, MOST_FORMATS = 64, LEAST_BITS = 3, MOST_BITS = 8 };

struct layer {
    double *divergence; /* [n_formats]: KL of its weights (or another loss), */
    double *noise;      /* and noise by signal, which tells formats of the same bits apart */
    double place,
        size; /* 0 .. 1: from the input to the output, from the fewest weights to the most */
};

struct bayes {
    struct search *search;
    const struct strategy_options *options;
    struct found *out;
    int *start;
    int n_formats;
    int settings[MOST_FORMATS];
    double bits[MOST_FORMATS];
    struct layer *layers; /* [units.n] */
    int n_seen;
    double *points, *values; /* of the process */
    double allowed;          /* loss (1 - cosine): what the target allows, or the start has */
    double best;             /* objective of what was found */
};

/* --- formats ---------------------------------------------------------------------------------- */

/* The precision's own mode with another format for weights. */
static void add_format(struct bayes *b, const char *name)
{
    struct precision precision = b->options->precision;
    struct number_format format;

    if (b->n_formats == MOST_FORMATS || !number_format_parse(name, &format) ||
        !precision_takes(&precision, &format, false))
        return;
    precision.weights = format;
    b->settings[b->n_formats] = search_setting(b->search, &precision);
    b->bits[b->n_formats++] = number_format_bits(&format);
}

/* Those that the precision takes; add_format leaves out the others. */
static void list_formats(struct bayes *b)
{
    static const char *const named[] = { "f8e4m3", "f8e3m4", "f8e5m2",       "i8",          "i4",
                                         "mxfp8",  "mxfp6",  "mxfp8=f8e5m2", "mxfp6=f6e3m2" };
    struct arena *arena = &b->search->ctx->perm;

    for (int bits = LEAST_BITS; bits <= MOST_BITS; bits++)
        for (int e = 1; e < bits; e++)
            add_format(b, arena_printf(arena, "afp<%d,%d>", e, bits - 1 - e));
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        add_format(b, named[i]);
}

/* --- what the weights lose -------------------------------------------------------------------- */

static const struct node *product_of(const struct module *module, const struct unit *unit)
{
    for (const struct node *node = module->main->first; node; node = node->next) {
        bool named = false;

        for (const struct origin *o = node->origin; o && !named; o = o->next)
            named = o->name && strcmp(o->name, unit->name) == 0;
        if (is_product(node->op) && (named || strcmp(node->outputs[0]->name, unit->name) == 0) &&
            node->inputs[1]->kind == VALUE_CONSTANT && node->inputs[1]->type.dtype == DTYPE_F32)
            return node;
    }
    return NULL;
}

static void measure_layer(struct bayes *b, const struct unit *unit, struct layer *layer)
{
    const struct node *node = product_of(b->search->module, unit);
    const struct value *weight = node ? node->inputs[1] : NULL;
    struct arena arena = { NULL };
    int64_t n;
    float *rounded;
    int rank;

    layer->divergence = arena_array(&b->search->ctx->perm, double, b->n_formats);
    layer->noise = arena_array(&b->search->ctx->perm, double, b->n_formats);
    if (!weight)
        return;
    n = type_elements(&weight->type);
    rounded = arena_array(&arena, float, n);
    for (int k = 0; k < b->n_formats; k++) {
        struct metrics_result result;

        weights_round(weight, product_channel_axis(node, &rank),
                      &b->search->settings[b->settings[k]].precision, rounded);
        metrics_of(&arena, weight->data, rounded, n, &result);
        layer->divergence[k] = result.loss[b->options->loss];
        layer->noise[k] = result.loss[LOSS_SNR];
    }
    arena_release(&arena);
}

static void measure_layers(struct bayes *b)
{
    const struct units *units = &b->search->units;
    double most = 1, at = 0;

    for (int i = 0; i < units->n; i++)
        most = fmax(most, (double)units->at[i].n_weights);
    b->layers = arena_array(&b->search->ctx->perm, struct layer, units->n);
    for (int i = 0; i < units->n; i++) {
        if (b->start[i])
            measure_layer(b, &units->at[i], &b->layers[i]);
        b->layers[i].place = at++ / units->n;
        b->layers[i].size = log((double)units->at[i].n_weights + 1) / log(most + 1);
    }
}

/* --- from four numbers to formats ------------------------------------------------------------- */

/* The format of least KL * bits ^ lambda: for each layer by itself. */
static int *formats_at(const struct bayes *b, const double *x)
{
    const struct units *units = &b->search->units;
    int *settings = arena_array(&b->search->ctx->perm, int, units->n);

    for (int i = 0; i < units->n; i++) {
        const struct layer *layer = &b->layers[i];
        const double end = fabs(2 * layer->place - 1);
        const double lambda = 12 * x[0] * x[0] * (1 + 2 * (x[1] - 0.5) * (2 * layer->size - 1)) *
                              (1 + (x[2] - 0.5) * (2 * layer->place - 1)) *
                              (1 - x[3] * end * end * end);
        double least = (double)INFINITY;

        for (int k = 0; b->start[i] && k < b->n_formats; k++) {
            const double cost =
                log(layer->divergence[k] + 1e-12) + fmax(lambda, 0) * log(b->bits[k]);

            if (cost < least) {
                least = cost;
                settings[i] = b->settings[k];
            }
        }
    }
    return settings;
}

static double bits_of(const struct bayes *b, const int *settings)
{
    double bits = 0, n = 0;

    for (int i = 0; i < b->search->units.n; i++) {
        const struct unit *unit = &b->search->units.at[i];
        const struct precision *p = &b->search->settings[settings[i]].precision;

        bits += (double)unit->n_weights * (p->has_weights ? number_format_bits(&p->weights) : 32);
        n += (double)unit->n_weights;
    }
    return n > 0 ? bits / n : 0;
}

/* Of the task's metric, below the start's; 0 without one. */
static double lost_of_task(const struct bayes *b, const struct score *score)
{
    return b->search->options->measure == MEASURE_TASK ? fmax(0, b->out->start.task - score->task)
                                                       : 0;
}

static bool is_good(const struct bayes *b, const struct score *score)
{
    return 1 - score->cos <= b->allowed && lost_of_task(b, score) <= 0;
}

/* Bits, and eight for each factor of ten by which the loss is too great, and one for each hundredth
 * of the metric. */
static double objective(const struct bayes *b, const int *settings, const struct score *score)
{
    const double loss = fmax(1 - score->cos, 1e-12);

    return bits_of(b, settings) + 8 * fmax(0, log10(loss / b->allowed)) +
           100 * lost_of_task(b, score);
}

/* --- trials ----------------------------------------------------------------------------------- */

static bool evaluate(struct bayes *b, const int *settings, const char *what, double *value)
{
    struct arena *arena = &b->search->ctx->perm;
    const struct proposal proposal = { .what = what, .settings = settings };
    struct score score;

    if (!search_judge_one(b->search, &proposal, &score))
        return false;
    *value = objective(b, settings, &score);
    if (!is_good(b, &score) || *value >= b->best)
        return true;
    b->best = *value;
    found_stage(b->search, b->out, arena_printf(arena, "%s: %.2f bits", what, bits_of(b, settings)),
                &score);
    b->out->settings = settings;
    b->out->end = score;
    b->out->is_start = false;
    return true;
}

static bool see(struct bayes *b, const double *x)
{
    const char *what =
        arena_printf(&b->search->ctx->perm, "lambdas %.3g %.3g %.3g %.3g", x[0], x[1], x[2], x[3]);

    memcpy(&b->points[b->n_seen * DIMS], x, DIMS * sizeof *x);
    if (!evaluate(b, formats_at(b, x), what, &b->values[b->n_seen]))
        return false;
    b->n_seen++;
    return true;
}

/* All points of a grid; the one from which most is expected. False when nothing is. */
static bool propose(const struct bayes *b, double *x)
{
    struct arena arena = { NULL };
    struct gaussian process = {
        .n = b->n_seen, .dims = DIMS, .points = b->points, .values = b->values
    };
    double best = 1e-6, least = b->values[0];
    bool any = false;

    gaussian_fit(&process, &arena);
    for (int i = 1; i < b->n_seen; i++)
        least = fmin(least, b->values[i]);
    for (int i = 0; i < LEVELS * LEVELS * LEVELS * LEVELS; i++) {
        double point[DIMS], gain;

        for (int k = 0, rest = i; k < DIMS; k++, rest /= LEVELS)
            point[k] = rest % LEVELS / (double)(LEVELS - 1);
        if (point[0] == 0)
            continue; /* lambda is 0, whatever the others are */
        gain = gaussian_improvement(&process, point, least);
        if (gain > best) {
            best = gain;
            memcpy(x, point, sizeof point);
            any = true;
        }
    }
    arena_release(&arena);
    return any;
}

static bool optimise(struct bayes *b)
{
    static const double design[FIRST_DESIGN][DIMS] = {
        { 0.25, 0.5, 0.5, 0 },   { 0.125, 0.5, 0.5, 0 }, { 0.5, 0.5, 0.5, 0 },
        { 0.25, 1, 0.5, 0.5 },   { 0.25, 0, 0.5, 0.5 },  { 0.375, 0.75, 0, 0.5 },
        { 0.375, 0.75, 1, 0.5 }, { 0.5, 0.75, 0.5, 1 },  { 0.125, 1, 0.75, 1 },
    };
    double x[DIMS];

    b->points = arena_array(&b->search->ctx->perm, double, b->options->n_trials *DIMS);
    b->values = arena_array(&b->search->ctx->perm, double, b->options->n_trials);
    b->search->n_expected += 2 * b->options->n_trials;
    for (int i = 0; i < FIRST_DESIGN && i < b->options->n_trials; i++)
        if (!see(b, design[i]))
            return false;
    while (b->n_seen < b->options->n_trials && propose(b, x))
        if (!see(b, x))
            return false;
    return true;
}

/* --- layer by layer --------------------------------------------------------------------------- */

/* The layer's format of this many bits with the least noise; -1 = there is none. */
static int quietest(const struct bayes *b, int unit, double bits)
{
    int best = -1;

    for (int k = 0; k < b->n_formats; k++)
        if (b->bits[k] == bits &&
            (best < 0 || b->layers[unit].noise[k] < b->layers[unit].noise[best]))
            best = k;
    return best < 0 ? -1 : b->settings[best];
}

/* The layer's best format of one bit less (or more); -1 = there is none. */
static int neighbour(const struct bayes *b, int unit, int setting, int step)
{
    const struct precision *now = &b->search->settings[setting].precision;

    return now->has_weights ? quietest(b, unit, number_format_bits(&now->weights) + step) : -1;
}

/* Layers with the most weights first: a bit less there saves most. */
static int *by_weights(const struct bayes *b)
{
    const struct units *units = &b->search->units;
    int *order = arena_array(&b->search->ctx->perm, int, units->n);

    for (int i = 0; i < units->n; i++) {
        int at = i;

        while (at > 0 && units->at[order[at - 1]].n_weights < units->at[i].n_weights) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    return order;
}

/* One layer a bit down, or where that is too much, up: whether the whole is better. */
static bool refine_layer(struct bayes *b, int unit, int *left)
{
    static const int steps[] = { -1, 1 };
    struct search *search = b->search;
    struct arena *arena = &search->ctx->perm;
    const int *settings = b->out->settings;

    for (int k = 0; k < 2 && *left > 0 && b->out->settings == settings; k++) {
        const int setting = neighbour(b, unit, settings[unit], steps[k]);
        const char *name = str_safe(arena, search->units.at[unit].name, 200);
        double value;

        if (setting < 0)
            continue;
        --*left;
        if (!evaluate(b, search_with(search, settings, unit, setting),
                      arena_printf(arena, "%s in %s", name, search->settings[setting].text),
                      &value))
            return false;
    }
    return true;
}

/* Round after round, until nothing gains or the trials are used up. */
static bool refine(struct bayes *b)
{
    const int *order = by_weights(b), *before = NULL;
    int left = b->options->n_trials;

    while (left > 0 && before != b->out->settings) {
        before = b->out->settings;
        for (int i = 0; i < b->search->units.n && left > 0; i++)
            if (b->start[order[i]] && !refine_layer(b, order[i], &left))
                return false;
    }
    return true;
}

/* The same bits everywhere, which formats of their own have to beat. */
static bool try_alike(struct bayes *b)
{
    const struct units *units = &b->search->units;
    struct arena *arena = &b->search->ctx->perm;

    for (int bits = MOST_BITS; bits >= LEAST_BITS; bits--) {
        int *settings = arena_array(arena, int, units->n);
        bool any = true;
        double value;

        for (int i = 0; i < units->n && any; i++) {
            settings[i] = b->start[i] ? quietest(b, i, bits) : 0;
            any = settings[i] >= 0;
        }
        if (!any)
            continue;
        b->search->n_expected++;
        if (!evaluate(b, settings, arena_printf(arena, "all alike: %d bits", bits), &value))
            return false;
    }
    return true;
}

static bool without_formats(const struct bayes *b)
{
    struct ctx *ctx = b->search->ctx;

    diag_error(ctx, DIAG_USAGE, NULL,
               "--strategy bayes chooses among formats of weights, and precision %s has one only",
               precision_name(b->options->precision.mode));
    diag_help(ctx, "afp, fp8, fp8w, int8w, mxfp8 and mxfp6 have several; other strategies choose "
                   "which layers stay f32");
    return false;
}

bool search_bayes(struct search *search, const struct strategy_options *options, struct found *out)
{
    struct bayes b = { .search = search, .options = options, .out = out };
    const int own = search_setting(search, &options->precision), *best;

    b.start = start_settings(search, &options->precision, own);
    search->n_expected = 1;
    if (!found_begin(search, b.start, out))
        return false;
    out->target = 1 - (1 - options->target) * search_spread(search);
    b.allowed = fmax(fmax(1 - out->target, 1 - out->start.cos), 1e-9);
    b.best = objective(&b, b.start, &out->start);
    list_formats(&b);
    if (b.n_formats < 2)
        return without_formats(&b);
    measure_layers(&b);
    if (!optimise(&b) || !refine(&b))
        return false;
    best = out->settings;
    return try_alike(&b) && (out->settings == best || refine(&b));
}
