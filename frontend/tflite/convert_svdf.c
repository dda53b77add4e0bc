/* convert_svdf.c - SVDF, taken apart: its state, a variable tensor, is a row of the newest results of
 * each filter, moved on by one; the result is a weighted sum of these rows. */
#include "frontend/tflite/convert_recurrent.h"

enum { X, FEATURES, TIMES, SVDF_BIAS, SVDF_STATE };
enum { RANK, SVDF_ACTIVATION };

struct svdf {
    int64_t batch, input, filters, memory, rank, units;
    bool quantized;
};

static bool check_svdf(struct tfl_node *node, struct svdf *svdf)
{
    const struct type *x, *w, *t;

    if (!tfl_check(node, 5, 5, 1) && !(node->n_inputs == 5 && !node->inputs[SVDF_BIAS]))
        return false;
    for (int i = 0; i < 3; i++)
        if (!tfl_check_rank(node, node->inputs[i], 2, 2))
            return false;
    x = &node->inputs[X]->type;
    w = &node->inputs[FEATURES]->type;
    t = &node->inputs[TIMES]->type;
    *svdf = (struct svdf){ .batch = x->dim[0],
                           .input = x->dim[1],
                           .filters = w->dim[0],
                           .memory = t->dim[1],
                           .rank = tfl_int(node, RANK, 0),
                           .quantized = x->dtype == DTYPE_I8 };
    if (svdf->batch < 1 || svdf->input < 1 || svdf->memory < 1 || svdf->rank < 1 ||
        svdf->filters < 1 || svdf->filters % svdf->rank != 0)
        return tfl_unsupported(node, "rank %lld of %lld filters", (long long)svdf->rank,
                               (long long)svdf->filters);
    svdf->units = svdf->filters / svdf->rank;
    return tfl_check_shape(node, FEATURES, 2, svdf->filters, svdf->input) &&
           tfl_check_shape(node, TIMES, 2, svdf->filters, svdf->memory) &&
           tfl_check_shape(node, SVDF_BIAS, 1, svdf->units, 0) &&
           tfl_check_shape(node, SVDF_STATE, 2, svdf->batch, svdf->filters * svdf->memory);
}

/* Sums of quantised values times a b / c, in f32, as a tensor's quantised values around `zero`. */
static struct value *rescaled(struct tfl_node *node, struct value *sums, const struct tfl_tensor *a,
                              const struct tfl_tensor *b, const struct tfl_tensor *c,
                              struct value *zero, const char *suffix)
{
    const union attrs attrs = { .requantize = { .rounding = "double" } };
    const float factor = (float)(tfl_scale(a, 0) * tfl_scale(b, 0)) / (float)tfl_scale(c, 0);
    struct value *scale =
        tfl_number(node, DTYPE_F64, (double)factor * tfl_scale(c, 0), "scale_of_sums");

    return tfl_build(node, OP_QNN_REQUANTIZE, &attrs, suffix, 5,
                     (struct value *const[]){ sums, scale,
                                              tfl_number(node, DTYPE_I32, 0, "zero_of_sums"),
                                              tfl_scale_of(node, c, "scale"), zero });
}

/* Weights of 8 bits for floats are taken as the numbers that they stand for. */
static struct value *real_features(struct tfl_node *node)
{
    const union attrs attrs = { .axis = { .axis = -1 } };
    const struct tfl_tensor *w = node->inputs[FEATURES];

    if (w->type.dtype == DTYPE_F32)
        return tfl_value(node, FEATURES);
    return tfl_build(node, OP_QNN_DEQUANTIZE, &attrs, "numbers", 3,
                     (struct value *const[]){ tfl_value(node, FEATURES),
                                              tfl_scale_of(node, w, "w_scale"),
                                              tfl_number(node, DTYPE_I8, 0, "w_zero") });
}

static struct value *cast(struct tfl_node *node, struct value *x, enum dtype to, const char *suffix)
{
    const union attrs attrs = { .cast = { .dtype = to, .saturate = false } };

    return x ? tfl_build1(node, OP_CAST, &attrs, suffix, x) : NULL;
}

/* Quantised values around 0 moved to the zero point of a state: as the kernel does, which saturates before and
 * not behind. */
static struct value *moved(struct tfl_node *node, struct value *quantized)
{
    const struct tfl_tensor *state = node->inputs[SVDF_STATE];
    struct value *wide;

    if (tfl_zero(state) == 0)
        return quantized;
    wide = tfl_build(node, OP_ADD, NULL, "sum", 2,
                     (struct value *const[]){
                         cast(node, quantized, DTYPE_I32, "wide_codes"),
                         tfl_number(node, DTYPE_I32, (double)tfl_zero(state), "zero_of_state") });
    return cast(node, wide, state->type.dtype, "newest");
}

/* The newest result of each filter. */
static struct value *newest(struct tfl_node *node, const struct svdf *svdf)
{
    const union attrs dense = { .dense = { .out_dtype = DTYPE_NONE } };
    const struct tfl_tensor *x = node->inputs[X], *w = node->inputs[FEATURES];
    const struct tfl_tensor *state = node->inputs[SVDF_STATE];

    if (!svdf->quantized)
        return tfl_build(node, OP_DENSE, &dense, "newest", 2,
                         (struct value *const[]){ tfl_value(node, X), real_features(node) });
    return moved(
        node,
        rescaled(node,
                 tfl_build(node, OP_QNN_DENSE, &dense, "features", 4,
                           (struct value *const[]){ tfl_value(node, X), tfl_value(node, FEATURES),
                                                    tfl_zero_of(node, x, "x_zero"),
                                                    tfl_number(node, DTYPE_I8, 0, "w_zero") }),
                 x, w, state, tfl_number(node, state->type.dtype, 0, "zero"),
                 tfl_zero(state) == 0 ? "newest" : "saturated"));
}

static struct value *widened(struct tfl_node *node, const struct svdf *svdf, struct value *x,
                             const char *suffix)
{
    const union attrs attrs = { .cast = { .dtype = DTYPE_I32, .saturate = true } };

    return !x || !svdf->quantized ? x : tfl_build1(node, OP_CAST, &attrs, suffix, x);
}

/* The weighted sums of the states, and the bias. */
static struct value *weighted(struct tfl_node *node, const struct svdf *svdf, struct value *state)
{
    const int64_t numbers[] = { svdf->batch, svdf->units, svdf->rank * svdf->memory };
    const union attrs sum = { .reduce = { .axis = { .n = 1, .at = { 2 } } } };
    struct value *times = widened(
        node, svdf, tfl_shaped(node, tfl_value(node, TIMES), 2, numbers + 1, "rows"), "times");
    struct value *states =
        widened(node, svdf, tfl_shaped(node, state, 3, numbers, "states"), "wide");

    if (svdf->quantized && tfl_zero(node->inputs[SVDF_STATE]) != 0)
        states = tfl_build(
            node, OP_SUBTRACT, NULL, "centred", 2,
            (struct value *const[]){ states, tfl_number(node, DTYPE_I32,
                                                        (double)tfl_zero(node->inputs[SVDF_STATE]),
                                                        "zero_of_states") });
    struct value *products =
        tfl_build(node, OP_MULTIPLY, NULL, "products", 2, (struct value *const[]){ states, times });
    struct value *y = products ? tfl_build1(node, OP_SUM, &sum, "sums", products) : NULL;
    const union attrs axis = { .axis = { .axis = 1 } };

    if (!tfl_check_type(node, node->inputs[SVDF_BIAS], svdf->quantized ? DTYPE_I32 : DTYPE_F32))
        return NULL;
    return tfl_build(node, OP_BIAS_ADD, &axis, "biased", 2,
                     (struct value *const[]){ y, tfl_value(node, SVDF_BIAS) });
}

static bool check_svdf_quantized(struct tfl_node *node)
{
    const struct tfl_tensor *state = node->inputs[SVDF_STATE], *times = node->inputs[TIMES];

    if (!tfl_check_type(node, node->inputs[FEATURES], DTYPE_I8) ||
        !tfl_check_type(node, node->outputs[0], DTYPE_I8))
        return false;
    if ((state->type.dtype != DTYPE_I8 && state->type.dtype != DTYPE_I16) ||
        times->type.dtype != state->type.dtype)
        return tfl_unsupported(node, "a state of %s and weights of it of %s, expected i8 or i16",
                               dtype_name(state->type.dtype), dtype_name(times->type.dtype));
    for (int i = 0; i < 5; i++)
        if (i != SVDF_BIAS && !tfl_check_scale(node, node->inputs[i]))
            return false;
    if (tfl_zero(times) != 0 || tfl_zero(node->inputs[FEATURES]) != 0)
        return tfl_unsupported(node, "weights with a zero point other than 0");
    if (state->type.dtype == DTYPE_I16 && tfl_zero(state) != 0)
        return tfl_unsupported(node, "a state of 16 bits with a zero point other than 0");
    return tfl_check_scale(node, node->outputs[0]);
}

static bool check_svdf_floats(struct tfl_node *node)
{
    const struct tfl_tensor *w = node->inputs[FEATURES];

    if (!tfl_check_type(node, node->inputs[X], DTYPE_F32) ||
        !tfl_check_type(node, node->inputs[TIMES], DTYPE_F32))
        return false;
    if (w->type.dtype != DTYPE_I8)
        return tfl_check_type(node, w, DTYPE_F32);
    if (!tfl_check_scale(node, w))
        return false;
    return tfl_zero(w) == 0 || tfl_unsupported(node, "weights with a zero point other than 0");
}

bool convert_tfl_svdf(struct tfl_node *node)
{
    struct svdf svdf;
    struct value *state, *y;
    union attrs axis = { .axis = { .axis = 2 } };

    if (!check_svdf(node, &svdf) ||
        !(svdf.quantized ? check_svdf_quantized(node) : check_svdf_floats(node)))
        return false;
    const int64_t rows[] = { svdf.batch, svdf.filters, svdf.memory };
    const int64_t last[] = { svdf.batch, svdf.filters, 1 };
    const int64_t flat[] = { svdf.batch, svdf.filters * svdf.memory };
    struct value *kept = tfl_shaped(node, tfl_state(node, SVDF_STATE), 3, rows, "before");
    struct value *added = tfl_shaped(node, newest(node, &svdf), 3, last, "added");

    if (!kept || !added)
        return false;
    state = svdf.memory == 1
                ? added
                : tfl_build(node, OP_CONCATENATE, &axis, "behind", 2,
                            (struct value *const[]){
                                tfl_along(node, kept, 2, 1, svdf.memory - 1, "moved"), added });
    y = weighted(node, &svdf, state);
    if (!y || !tfl_state_set(node, SVDF_STATE, tfl_shaped(node, state, 2, flat, "state")))
        return false;
    if (svdf.quantized)
        return tfl_output(node, 0,
                          rescaled(node, y, node->inputs[SVDF_STATE], node->inputs[TIMES],
                                   node->outputs[0], tfl_zero_of(node, node->outputs[0], "zero"),
                                   "codes"));
    return tfl_output(node, 0, tfl_activation(node, SVDF_ACTIVATION, y));
}
