/* qnn_exact_softmax.c - qnn.softmax and qnn.log_softmax of narrow floats; exact.h has the
 * arithmetic. */
#include <assert.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/scales.h"

static bool infer_line(struct ctx *ctx, struct node *node)
{
    if (!exact_check_scales(ctx, node) ||
        !check_axis(ctx, node, input_type(node, 0), &node->attrs.axis.axis))
        return false;
    set_scaled_output(node, input_type(node, 4)->dtype, input_type(node, 0), 3, 4, -1);
    return true;
}

bool infer_exact_softmax(struct ctx *ctx, struct node *node)
{
    return infer_line(ctx, node);
}

bool infer_exact_log_softmax(struct ctx *ctx, struct node *node)
{
    return infer_line(ctx, node);
}

/* A line of n elements `step` apart. */
static void softmax_line(const struct exact_powers *powers, const struct minifloat *to,
                         struct exact_factor factor, const uint8_t *x, int64_t n, int64_t step,
                         uint8_t *y)
{
    uint64_t sum = 0, share = 0;
    int top = powers->exponent[x[0]];

    for (int64_t i = 1; i < n; i++)
        top = powers->exponent[x[i * step]] > top ? powers->exponent[x[i * step]] : top;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < n; i++) {
            const int down = top - powers->exponent[x[i * step]];
            const uint64_t power = down < 32 ? powers->mantissa[x[i * step]] >> down : 0;

            if (pass == 0)
                sum += power;
            else
                y[i * step] = (uint8_t)exact_scale(to, (int64_t)(power * share >> 30), factor);
        }
        assert(sum > 0); /* of the greatest, at least */
        share = ((uint64_t)1 << 62) / sum;
    }
}

bool eval_exact_softmax(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                        struct tensor *out)
{
    const struct minifloat *to = type_minifloat(&out->type);
    const struct exact_factor factor = exact_softmax_of(to, tensor_at(in[3], 0));
    const int axis = (int)node->attrs.axis.axis;
    const struct type *x = &in[0]->type;
    const int64_t n = x->dim[axis], inner = type_span(x, axis + 1, x->rank);
    const int64_t lines = n > 0 ? type_span(x, 0, axis) * inner : 0;
    struct bulk bulk = { NULL, 0 };
    struct exact_powers *powers = bulk_alloc(&bulk, sizeof *powers);

    (void)ctx;
    exact_powers_of(type_minifloat(x), tensor_at(in[1], 0), powers);
    for (int64_t i = 0; i < lines; i++) {
        const int64_t from = i / inner * n * inner + i % inner;

        softmax_line(powers, to, factor, (const uint8_t *)in[0]->data + from, n, inner,
                     (uint8_t *)out->data + from);
    }
    bulk_release(&bulk);
    return true;
}

/* Likewise. */
static void log_softmax_line(const struct exact_log_softmax *of, const struct minifloat *from,
                             const struct minifloat *to, const uint8_t *x, int64_t n, int64_t step,
                             uint8_t *y)
{
    uint8_t highest = x[0];
    uint64_t sum = 0, log;

    for (int64_t i = 1; i < n; i++)
        if (exact_steps(from, x[i * step]) > exact_steps(from, highest))
            highest = x[i * step];
    for (int64_t i = 0; i < n; i++) {
        const int down = of->powers.exponent[highest] - of->powers.exponent[x[i * step]];

        sum += down < 32 ? of->powers.mantissa[x[i * step]] >> down : 0;
    }
    log = qnn_log_of(of->logs, 2 * sum) -
          qnn_log_of(of->logs, 2 * (uint64_t)of->powers.mantissa[highest]);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t below =
            (uint64_t)(exact_steps(from, highest) - exact_steps(from, x[i * step]));

        y[i * step] = (uint8_t)exact_round(to, below * of->step + log, -EXACT_LOG_BITS, true);
    }
}

bool eval_exact_log_softmax(struct ctx *ctx, const struct node *node,
                            const struct tensor *const *in, struct tensor *out)
{
    const struct minifloat *from = type_minifloat(&in[0]->type), *to = type_minifloat(&out->type);
    const int axis = (int)node->attrs.axis.axis;
    const struct type *x = &in[0]->type;
    const int64_t n = x->dim[axis], inner = type_span(x, axis + 1, x->rank);
    const int64_t lines = n > 0 ? type_span(x, 0, axis) * inner : 0;
    struct bulk bulk = { NULL, 0 };
    struct exact_log_softmax *of = bulk_alloc(&bulk, sizeof *of);

    (void)ctx;
    exact_log_softmax_of(from, tensor_at(in[1], 0), to, tensor_at(in[3], 0), of);
    for (int64_t i = 0; i < lines; i++) {
        const int64_t at = i / inner * n * inner + i % inner;

        log_softmax_line(of, from, to, (const uint8_t *)in[0]->data + at, n, inner,
                         (uint8_t *)out->data + at);
    }
    bulk_release(&bulk);
    return true;
}
