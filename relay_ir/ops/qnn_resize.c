/* qnn_resize.c - qnn.resize: image.resize of codes of 8 bits, linear, in one or two dimensions. The
 * result has the scale and the zero point of x: weights are whole numbers whose sum is 2^20 (in two
 * dimensions 2^10 each), and a result is the sum of codes times weights by 2^20, rounded to
 * nearest, halves up: at most 0.25 off, and half a step. */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/resize.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/ops/walk.h"

enum { MOST_CHANGED = 2 };

static int count_changed(const struct node *node)
{
    int n = 0;

    for (int i = 0; i < node->inputs[0]->type.rank; i++)
        n += resize_changes(node, i);
    return n;
}

bool qnn_resize_takes(const struct node *node)
{
    const struct resize_attrs *attrs = &node->attrs.resize;

    return strcmp(attrs->method, "linear") == 0 &&
           strcmp(attrs->coordinate_transformation_mode, "tf_crop_and_resize") != 0 &&
           count_changed(node) <= MOST_CHANGED;
}

int qnn_resize_bits(const struct node *node)
{
    const int n = count_changed(node);

    return n ? QNN_RESIZE_BITS / n : QNN_RESIZE_BITS;
}

void qnn_resize_weights(const struct resize_taps *taps, int bits, uint32_t *weights)
{
    int64_t left = (int64_t)1 << bits;
    int greatest = 0;

    for (int k = 0; k < taps->n; k++) {
        weights[k] = (uint32_t)rint(ldexp(taps->weight[k], bits));
        left -= weights[k];
        greatest = weights[k] > weights[greatest] ? k : greatest;
    }
    weights[greatest] = (uint32_t)(weights[greatest] + left);
}

bool infer_qnn_resize(struct ctx *ctx, struct node *node)
{
    const enum dtype dtype = input_type(node, 0)->dtype;

    if (dtype != DTYPE_I8 && dtype != DTYPE_U8)
        return diag_error(ctx, DIAG_TYPE, node_origin(node),
                          "input 0 of %s is %s, wanted is i8 or u8", op_name(node->op),
                          dtype_name(dtype));
    if (!infer_resize(ctx, node))
        return false;
    if (!qnn_resize_takes(node))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s is linear, in at most two dimensions", op_name(node->op));
    pass_scales(node, 0, 0, -1);
    return true;
}

/* A dimension that changes, at one position. */
struct place {
    const struct resize_taps *taps;
    int64_t step;
    uint32_t *weights;
};

/* Codes count from `least`. */
static uint32_t weigh(const struct place *places, int n, const struct tensor *x, int64_t from,
                      int64_t least)
{
    uint32_t sum = 0;

    if (n == 0)
        return (uint32_t)(tensor_int_at(x, from) - least);
    for (int k = 0; k < places->taps->n; k++)
        sum += places->weights[k] *
               weigh(places + 1, n - 1, x, from + places->taps->at[k] * places->step, least);
    return sum;
}

static void resize_element(const struct node *node, struct resize_taps *const *taps, int64_t i,
                           struct arena *arena, const struct tensor *x, struct tensor *y)
{
    const int bits = qnn_resize_bits(node);
    const int64_t least = (int64_t)dtype_least(x->type.dtype);
    struct place places[MOST_CHANGED];
    int64_t rest = i, from = 0, step = 1;
    uint32_t sum;
    int n = 0;

    for (int d = y->type.rank - 1; d >= 0; d--) {
        const int64_t at = rest % y->type.dim[d];

        if (taps[d]) {
            places[n] = (struct place){ &taps[d][at], step, NULL };
            places[n].weights = arena_array(arena, uint32_t, taps[d][at].n);
            qnn_resize_weights(&taps[d][at], bits, places[n++].weights);
        } else {
            from += at * step;
        }
        rest /= y->type.dim[d];
        step *= x->type.dim[d];
    }
    sum = weigh(places, n, x, from, least);
    if (n > 0)
        sum = (sum + (1u << (bits * n - 1))) >> (bits * n);
    dtype_store_int(y->type.dtype, y->data, i, (int64_t)sum + least);
}

bool eval_qnn_resize(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                     struct tensor *out)
{
    const int64_t n = type_elements(&out->type);
    struct resize_taps *taps[MAX_RANK] = { NULL };
    struct bulk bulk = { NULL, 0 };

    (void)ctx;
    for (int d = 0; d < out->type.rank && n > 0; d++)
        if (resize_changes(node, d))
            taps[d] = resize_taps(&bulk, node, d);
    for (int64_t i = 0; i < n; i++) {
        struct arena arena = { NULL };

        resize_element(node, taps, i, &arena, in[0], out);
        arena_release(&arena);
    }
    bulk_release(&bulk);
    return true;
}
