/* qnn_resize.c - qnn.resize: image.resize of quantised values, linear or cubic, in one to four
 * dimensions. The result has the type, the scale and the zero point of x.
 *
 * Weights are whole numbers, those of a position and dimension with the sum 2^bits. Linear ones of
 * 8 bits in one or two dimensions have 20 bits, shared by them, so that sums have 32; all others
 * have sums of 64 bits (qnn_resize_is_wide), and 14 bits each, of FP8 up to 28; 42 together. S is
 * the sum of what is read times weights; all of it is exact.
 *
 * 8 bits  saturate(S / 2^(bits * dimensions)), to nearest, ties up (in TensorFlow Lite's modes, whose
 *         weights are exact, away from the value 0): half a step, and what weights
 *         are off: 0.25 at most of 20 bits, 0.05 of 14 (cubic ones, in three dimensions), 0.5 of 10
 *         (linear ones, in four)
 * FP8     S in steps (exact.h), rounded once: exact_round. What weights are off is 2^-8 of the
 *         greatest number that is read in four dimensions, 2^-12 in three, less in others. Steps
 *         have 18 bits, cubic weights magnitudes with a sum of 1.5 at most: 2^63 is out of reach */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/resize.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/walk.h"

enum {
    MOST_CHANGED = 4,
    NARROW_CHANGED = 2,
    NARROW_BITS = 20,
    WIDE_BITS = 14,
    MOST_BITS = 28,
    ALL_BITS = 42
};

static int count_changed(const struct node *node)
{
    int n = 0;

    for (int i = 0; i < node->inputs[0]->type.rank; i++)
        n += resize_changes(node, i);
    return n;
}

static bool is_linear(const struct node *node)
{
    return strcmp(node->attrs.resize.method, "linear") == 0;
}

/* Weights of cubic ones are below 2 as long as alpha is. */
bool qnn_resize_takes(const struct node *node)
{
    const struct resize_attrs *attrs = &node->attrs.resize;

    return (is_linear(node) ||
            (strcmp(attrs->method, "cubic") == 0 && fabs(attrs->cubic_alpha) <= 1)) &&
           strcmp(attrs->coordinate_transformation_mode, "tf_crop_and_resize") != 0 &&
           count_changed(node) <= MOST_CHANGED;
}

bool qnn_resize_is_wide(const struct node *node)
{
    return !is_linear(node) || count_changed(node) > NARROW_CHANGED ||
           !dtype_is_integer(node->inputs[0]->type.dtype);
}

bool qnn_resize_ties_away(const struct node *node)
{
    return strncmp(node->attrs.resize.coordinate_transformation_mode, "tflite_", 7) == 0;
}

int qnn_resize_bits(const struct node *node)
{
    const int n = count_changed(node);
    const int most = dtype_is_integer(node->inputs[0]->type.dtype) ? WIDE_BITS : MOST_BITS;

    if (qnn_resize_is_wide(node))
        return n * most <= ALL_BITS ? most : ALL_BITS / n;
    return n ? NARROW_BITS / n : NARROW_BITS;
}

void qnn_resize_weights(const struct resize_taps *taps, int bits, int32_t *weights)
{
    int64_t left = (int64_t)1 << bits;
    int greatest = 0;

    for (int k = 0; k < taps->n; k++) {
        weights[k] = (int32_t)rint(ldexp(taps->weight[k], bits));
        left -= weights[k];
        greatest = weights[k] > weights[greatest] ? k : greatest;
    }
    weights[greatest] = (int32_t)(weights[greatest] + left);
}

bool infer_qnn_resize(struct ctx *ctx, struct node *node)
{
    const enum dtype dtype = input_type(node, 0)->dtype;

    if (dtype_kind(dtype) == KIND_MINIFLOAT) {
        if (!exact_check_quantized(ctx, node, 0))
            return false;
    } else if (dtype != DTYPE_I8 && dtype != DTYPE_U8) {
        return diag_error(ctx, DIAG_TYPE, node_origin(node),
                          "input 0 of %s is %s, expected i8, u8 or FP8", op_name(node->op),
                          dtype_name(dtype));
    }
    if (!infer_resize(ctx, node))
        return false;
    if (!qnn_resize_takes(node))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s is linear, or cubic with an alpha of -1 to 1, in at most four "
                          "dimensions",
                          op_name(node->op));
    pass_scales(node, 0, 0, -1);
    return true;
}

/* A dimension that changes, at one position. */
struct place {
    const struct resize_taps *taps;
    int64_t step;
    int32_t *weights;
};

static int64_t weigh(const struct place *places, int n, const int32_t *x, int64_t from)
{
    int64_t sum = 0;

    if (n == 0)
        return x[from];
    for (int k = 0; k < places->taps->n; k++)
        sum += places->weights[k] *
               weigh(places + 1, n - 1, x, from + places->taps->at[k] * places->step);
    return sum;
}

/* sum / 2^bits as an element of y. */
static void put(struct tensor *y, int64_t i, int64_t sum, int bits, bool ties_away)
{
    const struct minifloat *format = type_minifloat(&y->type);

    if (format)
        ((uint8_t *)y->data)[i] =
            (uint8_t)exact_round(format, (uint64_t)(sum < 0 ? -sum : sum), -bits, sum < 0);
    else
        qnn_put_saturated(y, i, shifted_to_nearest(sum - (ties_away && sum < 0), bits));
}

static void resize_element(const struct node *node, struct resize_taps *const *taps, int64_t i,
                           struct arena *arena, const int32_t *x, struct tensor *y)
{
    const struct type *shape = &node->inputs[0]->type;
    const int bits = qnn_resize_bits(node);
    struct place places[MOST_CHANGED];
    int64_t rest = i, from = 0, step = 1;
    int n = 0;

    for (int d = y->type.rank - 1; d >= 0; d--) {
        const int64_t at = rest % y->type.dim[d];

        if (taps[d]) {
            places[n] = (struct place){ &taps[d][at], step, NULL };
            places[n].weights = arena_array(arena, int32_t, taps[d][at].n);
            qnn_resize_weights(&taps[d][at], bits, places[n++].weights);
        } else {
            from += at * step;
        }
        rest /= y->type.dim[d];
        step *= shape->dim[d];
    }
    put(y, i, weigh(places, n, x, from), bits * n, qnn_resize_ties_away(node));
}

/* The quantised values as numbers, of FP8 in steps. */
static int32_t *numbers_of(struct bulk *bulk, const struct tensor *x)
{
    const struct minifloat *format = type_minifloat(&x->type);
    const int64_t n = type_elements(&x->type);
    int32_t *numbers = bulk_alloc(bulk, (size_t)(n > 0 ? n : 1) * sizeof *numbers);

    for (int64_t i = 0; i < n; i++)
        numbers[i] = format ? exact_steps(format, ((const uint8_t *)x->data)[i])
                            : (int32_t)tensor_int_at(x, i);
    return numbers;
}

bool eval_qnn_resize(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                     struct tensor *out)
{
    const int64_t n = type_elements(&out->type);
    struct resize_taps *taps[MAX_RANK] = { NULL };
    struct bulk bulk = { NULL, 0 };
    const int32_t *x = numbers_of(&bulk, in[0]);

    (void)ctx;
    for (int d = 0; d < out->type.rank && n > 0; d++)
        if (resize_changes(node, d))
            taps[d] = resize_taps(&bulk, node, d);
    for (int64_t i = 0; i < n; i++) {
        struct arena arena = { NULL };

        resize_element(node, taps, i, &arena, x, out);
        arena_release(&arena);
    }
    bulk_release(&bulk);
    return true;
}
