/* qnn_grid_sample.c - qnn.grid_sample: image.grid_sample (grid_sample.c) of quantised values, at
 * coordinates that are quantised values as well. Inputs: x, grid, x_zero, grid_scale, grid_zero,
 * all but the first two constants of one number. The result has the type, the scale and the zero
 * point of x.
 *
 * place   the step of the grid is one factor for each dimension, in 2^-32 elements; a place is
 *         rounded to 2^-16, to nearest, ties up, and is a whole number from there on. Nearest:
 *         ties to even, as in floats
 * weight  linear: 10 bits for each dimension. Cubic, in one or two dimensions: with t the part of
 *         the place in 2^-13, and powers of t rounded down, (-3t^3 + 6t^2 - 3t) / 4 and so on, in
 *         2^-15: the sum is 1 whatever was rounded
 * result  saturate(S / 2^bits + x_zero), S the sum of weights times (x - x_zero): exact, to
 *         nearest, ties up. Beyond the edges, where zeros are, nothing is added
 *
 * So a linear result is half a step off, and by 2^-11 of the difference of neighbours for each
 * dimension; besides that the grid is rounded. */
#include "relay_ir/ops/grid_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/ops/spatial.h"

enum { X, GRID, X_ZERO, GRID_SCALE, GRID_ZERO };
enum { MOST_TAPS = 4, LINEAR_BITS = 10, CUBIC_BITS = 15, ONE = 1 << QNN_COORDINATE_BITS };

int64_t qnn_coordinate_factor(bool align_corners, int64_t extent, double grid_scale)
{
    return (int64_t)rint(ldexp(grid_scale * (double)(align_corners ? extent - 1 : extent), 31));
}

static bool is_method(const struct node *node, const char *method)
{
    return strcmp(node->attrs.grid_sample.method, method) == 0;
}

int qnn_grid_sample_bits(const struct node *node)
{
    const int rank = node->inputs[X]->type.rank - 2;

    return is_method(node, "nearest_neighbor") ? 0
           : is_method(node, "cubic")          ? rank * CUBIC_BITS
                                               : rank * LINEAR_BITS;
}

bool qnn_grid_sample_is_wide(const struct node *node)
{
    return qnn_grid_sample_bits(node) > 20 ||
           (qnn_grid_sample_bits(node) > 0 && dtype_bytes(node->inputs[X]->type.dtype) > 1);
}

bool qnn_grid_sample_takes(const struct node *node, enum dtype grid, double grid_scale)
{
    const struct type *x = &node->inputs[X]->type;
    const double steps = ldexp(1, 8 * (int)dtype_bytes(grid)) - 1;

    if (is_method(node, "cubic") && x->rank > 4)
        return false;
    for (int i = 2; i < x->rank; i++)
        if (!((double)x->dim[i] * (1 + steps * grid_scale) / 2 < QNN_COORDINATE_MOST - 8))
            return false;
    return true;
}

static bool check_places(struct ctx *ctx, const struct node *node, double grid_scale)
{
    if (qnn_grid_sample_takes(node, input_type(node, GRID)->dtype, grid_scale))
        return true;
    return diag_error(
        ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
        "%s: expected coordinates within %d elements, and not cubic in three dimensions",
        op_name(node->op), QNN_COORDINATE_MOST - 8);
}

bool infer_qnn_grid_sample(struct ctx *ctx, struct node *node)
{
    double scale;

    if (!qnn_check_quantized(ctx, node, X) || !qnn_check_quantized(ctx, node, GRID) ||
        !qnn_check_zero(ctx, node, X_ZERO, input_type(node, X)->dtype, 1) ||
        !qnn_check_scale(ctx, node, GRID_SCALE, 1) ||
        !qnn_check_zero(ctx, node, GRID_ZERO, input_type(node, GRID)->dtype, 1) ||
        !grid_sample_shape(ctx, node))
        return false;
    if (value_uniform(node->inputs[GRID_SCALE], &scale) && !check_places(ctx, node, scale))
        return false;
    pass_scales(node, 0, 0, -1);
    return true;
}

/* One spatial dimension of x; begin and end are its edges, as coordinates. */
struct edges {
    int32_t extent, begin, end;
    int64_t factor;
};

struct taps {
    int n;
    int32_t at[MOST_TAPS]; /* -1 = a zero */
    int32_t weight[MOST_TAPS];
};

/* Thrown back by the edges until it is between them. */
static int32_t mirrored(const struct edges *edges, int32_t place)
{
    const int32_t range = edges->end - edges->begin;
    const int32_t beyond = range > 0 ? abs(place - edges->begin) % (2 * range) : 0;

    return edges->begin + (beyond > range ? 2 * range - beyond : beyond);
}

static int32_t element(const struct node *node, const struct edges *edges, int32_t i)
{
    const char *padding = node->attrs.grid_sample.padding_mode;

    if (i >= 0 && i < edges->extent)
        return i;
    if (strcmp(padding, "zeros") == 0)
        return -1;
    if (strcmp(padding, "border") == 0)
        return i < 0 ? 0 : edges->extent - 1;
    return mirrored(edges, i * ONE) / ONE;
}

/* part: of the place, 0 .. 2^16 - 1 */
static void set_weights(const struct node *node, int32_t part, struct taps *taps)
{
    const int32_t t = (part + 4) >> 3, t2 = t * t >> 13, t3 = t2 * t >> 13;

    if (taps->n == 1) {
        taps->weight[0] = 1;
    } else if (is_method(node, "linear")) {
        taps->weight[1] = (part + 32) >> 6;
        taps->weight[0] = (1 << LINEAR_BITS) - taps->weight[1];
    } else {
        taps->weight[0] = -3 * t3 + 6 * t2 - 3 * t;
        taps->weight[1] = 5 * t3 - 9 * t2 + (1 << CUBIC_BITS);
        taps->weight[2] = -5 * t3 + 6 * t2 + 3 * t;
        taps->weight[3] = 3 * t3 - 3 * t2;
    }
}

static struct taps taps_of(const struct node *node, const struct edges *edges, int64_t steps)
{
    const char *padding = node->attrs.grid_sample.padding_mode;
    const int32_t last = edges->extent - 1;
    struct taps taps = { .n = is_method(node, "nearest_neighbor") ? 1
                              : is_method(node, "linear")         ? 2
                                                                  : 4 };
    int32_t place = (int32_t)shifted_to_nearest(steps * edges->factor + last * ((int64_t)1 << 31),
                                                32 - QNN_COORDINATE_BITS);
    int32_t whole;

    if (taps.n == 1)
        place =
            (int32_t)(shifted_to_nearest(place - 1 + (shifted_to_nearest(place - ONE / 2, 16) & 1),
                                         QNN_COORDINATE_BITS) *
                      ONE);
    if (strcmp(padding, "border") == 0 && taps.n != 4 &&
        (place < edges->begin || place > edges->end))
        place = place < edges->begin ? 0 : last * ONE;
    if (strcmp(padding, "reflection") == 0 && (place < edges->begin || place > edges->end))
        place = mirrored(edges, place);
    whole = (int32_t)shifted_to_nearest(place - ONE / 2, QNN_COORDINATE_BITS); /* rounded down */
    set_weights(node, place - whole * ONE, &taps);
    for (int k = 0; k < taps.n; k++)
        taps.at[k] = element(node, edges, whole + k - (taps.n == 4));
    return taps;
}

/* The weighted sum over all combinations of taps, in three dimensions. */
static int64_t sample(const struct tensor *x, int64_t from, int64_t zero, const struct taps *taps,
                      const struct edges *edges)
{
    int64_t sum = 0;

    for (int d = 0; d < taps[0].n; d++)
        for (int h = 0; h < taps[1].n; h++)
            for (int w = 0; w < taps[2].n; w++) {
                const int32_t at[] = { taps[0].at[d], taps[1].at[h], taps[2].at[w] };
                const int64_t share =
                    (int64_t)taps[0].weight[d] * taps[1].weight[h] * taps[2].weight[w];

                if (at[0] >= 0 && at[1] >= 0 && at[2] >= 0)
                    sum +=
                        share * (tensor_int_at(x, from +
                                                      ((int64_t)at[0] * edges[1].extent + at[1]) *
                                                          edges[2].extent +
                                                      at[2]) -
                                 zero);
            }
    return sum;
}

static void set_edges(const struct node *node, const struct type *x, double grid_scale,
                      struct edges edges[MAX_SPATIAL])
{
    const bool corners = node->attrs.grid_sample.align_corners;
    const int missing = MAX_SPATIAL - (x->rank - 2);

    for (int i = 0; i < MAX_SPATIAL; i++) {
        const int64_t extent = i < missing ? 1 : x->dim[2 + i - missing];

        edges[i] = (struct edges){ (int32_t)extent, corners ? 0 : -ONE / 2,
                                   (int32_t)(extent - 1) * ONE + (corners ? 0 : ONE / 2),
                                   qnn_coordinate_factor(corners, extent, grid_scale) };
    }
}

bool eval_qnn_grid_sample(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                          struct tensor *out)
{
    const struct type *x = &in[X]->type, *y = &out->type;
    const int rank = x->rank - 2, bits = qnn_grid_sample_bits(node);
    const int64_t channels = x->dim[1], n_places = type_span(y, 2, y->rank);
    const int64_t plane = type_span(x, 2, x->rank), zero = tensor_int_at(in[X_ZERO], 0);
    const int64_t grid_zero = tensor_int_at(in[GRID_ZERO], 0);
    struct edges edges[MAX_SPATIAL];

    if (!check_places(ctx, node, tensor_at(in[GRID_SCALE], 0)))
        return false;
    set_edges(node, x, tensor_at(in[GRID_SCALE], 0), edges);
    for (int64_t i = 0; i < y->dim[0] * n_places; i++) {
        struct taps taps[MAX_SPATIAL];

        for (int d = 0; d < MAX_SPATIAL; d++)
            taps[d] = (struct taps){ .n = 1, .weight = { 1 } };
        for (int d = MAX_SPATIAL - rank; d < MAX_SPATIAL; d++)
            taps[d] = taps_of(node, &edges[d],
                              tensor_int_at(in[GRID], i * rank + MAX_SPATIAL - 1 - d) - grid_zero);
        for (int64_t c = 0; c < channels; c++) {
            const int64_t image = i / n_places * channels + c;

            qnn_put_saturated(
                out, image * n_places + i % n_places,
                zero + shifted_to_nearest(sample(in[X], image * plane, zero, taps, edges), bits));
        }
    }
    return true;
}
