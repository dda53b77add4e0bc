/* softmax.c - operators along one axis that keep the shape: the softmax family, cumsum and cumprod. */
#include <math.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/walk.h"

/* The axis attribute of each operator that is typed here. */
static int64_t *axis_of(struct node *node)
{
    switch (node->op) {
    case OP_CUMPROD:
    case OP_CUMSUM: return &node->attrs.cumsum.axis;
    case OP_LP_NORMALIZE: return &node->attrs.lp_normalize.axis;
    default: return &node->attrs.axis.axis;
    }
}

bool infer_axis_same(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);

    if (!check_kinds(ctx, node, 0,
                     node->op == OP_CUMSUM || node->op == OP_CUMPROD ? KINDS_NUMBER
                                                                     : KINDS_FLOAT) ||
        !check_axis(ctx, node, x, axis_of(node)))
        return false;
    if (node->op == OP_LP_NORMALIZE && node->attrs.lp_normalize.p != 1 &&
        node->attrs.lp_normalize.p != 2)
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "%s: p is %lld, expected 1 or 2", op_name(node->op),
                          (long long)node->attrs.lp_normalize.p);
    set_output(node, 0, x->dtype, x);
    return true;
}

/* Elements start, start + step, ... of a tensor: n of them. */
struct line {
    int64_t start, step, n;
};

/* Line number i of the lines along an axis. */
static struct line line_along(const struct type *type, int64_t axis, int64_t i)
{
    const int64_t step = type_span(type, (int)axis + 1, type->rank), n = type->dim[axis];

    return (struct line){ i / step * step * n + i % step, step, n };
}

static int64_t count_lines(const struct type *type, int64_t axis)
{
    return type->dim[axis] ? type_elements(type) / type->dim[axis] : 0;
}

/* Where the first greatest element stands. */
static int64_t greatest(const struct tensor *x, struct line line)
{
    int64_t best = line.start;

    for (int64_t k = 1; k < line.n; k++)
        if (tensor_at(x, line.start + k * line.step) > tensor_at(x, best))
            best = line.start + k * line.step;
    return best;
}

/* e^(x - max) cannot overflow, and its sum is at least 1. */
static void softmax_line(const struct tensor *x, struct tensor *y, struct line line, bool log_of)
{
    const double max = tensor_at(x, greatest(x, line));
    double sum = 0;

    for (int64_t k = 0; k < line.n; k++)
        sum += exp(tensor_at(x, line.start + k * line.step) - max);
    for (int64_t k = 0; k < line.n; k++) {
        const int64_t at = line.start + k * line.step;
        const double shifted = tensor_at(x, at) - max;

        tensor_put(y, at, log_of ? shifted - log(sum) : exp(shifted) / sum);
    }
}

bool eval_softmax(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                  struct tensor *out)
{
    const int64_t axis = node->attrs.axis.axis, n = count_lines(&out->type, axis);

    (void)ctx;
    for (int64_t i = 0; i < n; i++) {
        const struct line line = line_along(&out->type, axis, i);

        if (node->op == OP_HARDMAX)
            tensor_put(out, greatest(in[0], line), 1);
        else
            softmax_line(in[0], out, line, node->op == OP_LOG_SOFTMAX);
    }
    return true;
}

double cumulative_begin(enum op op)
{
    return op == OP_CUMPROD;
}

double cumulative_step(enum op op, double before, double x)
{
    return op == OP_CUMPROD ? before * x : before + x;
}

/* exclusive: the element itself is not part of its sum or product. reverse: these run from the end.
 */
static void cumulative_line(const struct node *node, const struct tensor *x, struct tensor *y,
                            struct line line)
{
    const struct cumsum_attrs *attrs = &node->attrs.cumsum;
    const bool is_float = dtype_is_float(x->type.dtype), multiplies = node->op == OP_CUMPROD;
    double real = cumulative_begin(node->op);
    wide whole = multiplies;

    for (int64_t k = 0; k < line.n; k++) {
        const int64_t at = line.start + (attrs->reverse ? line.n - 1 - k : k) * line.step;
        const double real_before = real;
        const wide whole_before = whole;

        if (is_float) {
            real = cumulative_step(node->op, real, tensor_at(x, at));
            tensor_put(y, at, attrs->exclusive ? real_before : real);
        } else {
            if (multiplies) /* modulo 2^64 */
                whole = (wide)((uint64_t)whole * (uint64_t)tensor_wide_at(x, at));
            else
                whole += tensor_wide_at(x, at);
            tensor_put_wide(y, at, attrs->exclusive ? whole_before : whole);
        }
    }
}

bool eval_cumulative(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                     struct tensor *out)
{
    const int64_t axis = node->attrs.cumsum.axis;
    const int64_t n = count_lines(&out->type, axis);

    (void)ctx;
    for (int64_t i = 0; i < n; i++)
        cumulative_line(node, in[0], out, line_along(&out->type, axis, i));
    return true;
}
