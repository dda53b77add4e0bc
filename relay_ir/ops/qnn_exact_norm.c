/* qnn_exact_norm.c - qnn.layer_norm and its kin, lp_normalize and lrn of narrow floats; exact.h has
 * the arithmetic. */
#include <stdlib.h>

#include "relay_ir/layout.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/norm.h"
#include "relay_ir/ops/qnn.h"

enum { IN_SCALE = 1, OUT_SCALE = 3, SCALE = 5, BIAS };

/* What all of them read and write. */
struct ends {
    const struct minifloat *from, *to;
    double in_scale, out_scale;
    const uint8_t *x;
    uint8_t *y;
};

static struct ends ends_of(const struct tensor *const *in, const struct tensor *out)
{
    return (struct ends){ type_minifloat(&in[0]->type),
                          type_minifloat(&out->type),
                          tensor_at(in[IN_SCALE], 0),
                          tensor_at(in[OUT_SCALE], 0),
                          in[0]->data,
                          out->data };
}

/* --- norms ------------------------------------------------------------------------------------ */

/* z of each of a block's n numbers. */
static void normalise(const struct exact_norm *norm, const struct ends *ends, const uint8_t *x,
                      int64_t n, int64_t *z)
{
    int64_t sum = 0;
    uint64_t squares = 0;
    struct exact_inverse root;

    for (int64_t i = 0; i < n; i++) {
        const int64_t v = exact_steps(ends->from, x[i]);

        sum += v;
        squares += (uint64_t)(v * v);
    }
    root = exact_inverse_deviation(norm, n, sum, squares);
    for (int64_t i = 0; i < n; i++)
        z[i] = exact_scale_whole(
            n * exact_steps(ends->from, x[i]) - sum,
            (struct exact_factor){ root.significand, norm->fraction - root.shift });
}

bool eval_exact_norm(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                     struct tensor *out)
{
    const char *layout = norm_is_last(node) ? "NHWC" : "NCHW";
    const struct tensor *bias = node->n_inputs > BIAS ? in[BIAS] : NULL;
    struct bulk bulk = { NULL, 0 };
    const struct tensor x = tensor_channels_first(&bulk, in[0], layout);
    struct tensor first = tensor_first_for(&bulk, out, layout);
    const struct norm_blocks blocks = norm_blocks_of(node, &x.type);
    const struct ends ends = ends_of(in, out);
    uint8_t *y = first.data;
    const struct exact_norm norm =
        exact_norm_of(ends.from, ends.in_scale, ends.to, ends.out_scale, node->attrs.norm.epsilon,
                      blocks.size, in[SCALE], bias);
    const int64_t n = type_elements(&out->type), one = (int64_t)1 << norm.fraction;
    int64_t *z = bulk_alloc(&bulk, (size_t)(n > 0 ? blocks.size : 1) * sizeof *z);

    (void)ctx;
    for (int64_t start = 0; start < n; start += blocks.size) {
        normalise(&norm, &ends, (const uint8_t *)x.data + start, blocks.size, z);
        for (int64_t i = 0; i < blocks.size; i++) {
            const int64_t c = (start + i) / blocks.scale_size % blocks.n_scales;
            const int64_t scale =
                exact_norm_steps(ends.to, tensor_at(in[SCALE], c), ends.out_scale, norm.shift);
            const int64_t moved =
                bias ? exact_norm_steps(ends.to, tensor_at(bias, c), ends.out_scale, norm.shift)
                     : 0;
            const int64_t steps = z[i] * scale + moved * one;

            y[start + i] = (uint8_t)exact_round(ends.to, (uint64_t)llabs(steps),
                                                -(norm.shift + norm.fraction), steps < 0);
        }
    }
    tensor_store_first(&first, layout, out);
    bulk_release(&bulk);
    return true;
}

/* --- lp_normalize ----------------------------------------------------------------------------- */

/* The line of n elements `step` apart that begins with element `at`. */
static void normalise_line(const struct ends *ends, int64_t p, int64_t at, int64_t n, int64_t step)
{
    uint64_t norm = 0;
    struct exact_factor factor;

    for (int64_t i = 0; i < n; i++) {
        const int64_t v = exact_steps(ends->from, ends->x[at + i * step]);

        norm += (uint64_t)(p == 2 ? v * v : llabs(v));
    }
    factor = exact_share_factor(p == 2 ? exact_inverse_root_of(norm) : exact_inverse_of(norm),
                                exact_share_of(ends->to, ends->out_scale));
    for (int64_t i = 0; i < n; i++)
        ends->y[at + i * step] =
            (uint8_t)exact_scale(ends->to, exact_steps(ends->from, ends->x[at + i * step]), factor);
}

bool eval_exact_lp_normalize(struct ctx *ctx, const struct node *node,
                             const struct tensor *const *in, struct tensor *out)
{
    const struct ends ends = ends_of(in, out);
    const struct type *type = &out->type;
    const int axis = (int)node->attrs.lp_normalize.axis;
    const int64_t n = type->dim[axis], step = type_span(type, axis + 1, type->rank);
    const int64_t n_lines = type_span(type, 0, axis) * step;

    (void)ctx;
    for (int64_t line = 0; line < n_lines; line++)
        normalise_line(&ends, node->attrs.lp_normalize.p, line / step * n * step + line % step, n,
                       step);
    return true;
}

/* --- lrn -------------------------------------------------------------------------------------- */

bool eval_exact_lrn(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                    struct tensor *out)
{
    const struct lrn_attrs *attrs = &node->attrs.lrn;
    const struct ends ends = ends_of(in, out);
    const struct qnn_lrn_powers lrn = exact_lrn_of(attrs, ends.from, ends.in_scale);
    const struct exact_factor factor =
        exact_lrn_factor(attrs, ends.from, ends.in_scale, ends.to, ends.out_scale);
    const struct type *type = &out->type;
    const int axis = layout_channel_axis(attrs->layout, type->rank);
    const int64_t channels = type->dim[axis], n = type_elements(type);
    const int64_t step = type_span(type, axis + 1, type->rank);
    const int64_t before = (attrs->size - 1) / 2, after = attrs->size - 1 - before;

    (void)ctx;
    for (int64_t i = 0; i < n; i++) {
        const int64_t c = i / step % channels, v = exact_steps(ends.from, ends.x[i]);
        const int64_t from = c > before ? c - before : 0;
        const int64_t to = channels - 1 - c > after ? c + after : channels - 1;
        uint64_t squares = 0;

        for (int64_t k = from; k <= to; k++) {
            const int64_t near = exact_steps(ends.from, ends.x[i + (k - c) * step]);

            squares += (uint64_t)(near * near);
        }
        ends.y[i] = (uint8_t)exact_scale(ends.to, v * qnn_lrn_power(&lrn, squares), factor);
    }
    return true;
}
