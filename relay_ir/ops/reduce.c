/* reduce.c - sum, mean, prod, max, min over axes, and argmax, argmin along one.
 *
 * Floats are summed in double, in row-major order. Integers are exact; mean truncates towards zero.
 * Of no elements: sum 0, prod 1, mean NaN (integers 0), max and min the least and the greatest
 * value of the type (floats: infinities). max and min pass NaN on; argmax and argmin take the first
 * NaN for the greatest and the least (NumPy). */
#include <math.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/walk.h"

static const unsigned reduce_kinds[OP_COUNT] = {
    [OP_MAX] = KINDS_PLAIN,   [OP_MEAN] = KINDS_NUMBER, [OP_MIN] = KINDS_PLAIN,
    [OP_PROD] = KINDS_NUMBER, [OP_SUM] = KINDS_NUMBER,
};

/* x without the reduced axes, which stay as 1 with keepdims. */
static struct type reduced_shape(const struct type *x, const struct ints *axes, bool keepdims)
{
    struct type shape = { .dtype = x->dtype };

    for (int i = 0; i < x->rank; i++) {
        if (!ints_has(axes, i))
            shape.dim[shape.rank++] = x->dim[i];
        else if (keepdims)
            shape.dim[shape.rank++] = 1;
    }
    return shape;
}

bool reduce_shape(struct ctx *ctx, struct node *node, struct type *y)
{
    const struct type *x = input_type(node, 0);
    struct reduce_attrs *reduce = &node->attrs.reduce;
    struct ints sorted = { 0 };

    if (!check_axes(ctx, node, x->rank, &reduce->axis))
        return false;
    for (int i = 0; i < x->rank; i++)
        if (reduce->axis.n == 0 || ints_has(&reduce->axis, i))
            sorted.at[sorted.n++] = i;
    reduce->axis = sorted;
    *y = reduced_shape(x, &sorted, reduce->keepdims);
    return true;
}

bool infer_reduce(struct ctx *ctx, struct node *node)
{
    struct type shape;

    if (!check_kinds(ctx, node, 0, reduce_kinds[node->op]) || !reduce_shape(ctx, node, &shape))
        return false;
    set_output(node, 0, shape.dtype, &shape);
    if (node->op == OP_MAX || node->op == OP_MIN)
        pass_scales(node, 0, 0, -1);
    return true;
}

static double reduce_real(enum op op, struct reduction *r, const struct tensor *x)
{
    double result = op == OP_PROD ? 1 : op == OP_MAX ? -INFINITY : op == OP_MIN ? INFINITY : 0;

    for (int64_t i = 0; i < r->n; i++, walk_next(&r->reduced)) {
        const double value = tensor_at(x, r->kept.offset[0] + r->reduced.offset[0]);

        switch (op) {
        case OP_MAX: result = value > result || isnan(value) ? value : result; break;
        case OP_MIN: result = value < result || isnan(value) ? value : result; break;
        case OP_PROD: result *= value; break;
        default: result += value; break;
        }
    }
    return op == OP_MEAN ? result / (double)r->n : result;
}

static wide reduce_whole(enum op op, struct reduction *r, const struct tensor *x)
{
    const enum dtype dtype = x->type.dtype;
    wide result = op == OP_PROD  ? 1
                  : op == OP_MAX ? dtype_least(dtype)
                  : op == OP_MIN ? dtype_greatest(dtype)
                                 : 0;

    for (int64_t i = 0; i < r->n; i++, walk_next(&r->reduced)) {
        const wide value = tensor_wide_at(x, r->kept.offset[0] + r->reduced.offset[0]);

        switch (op) {
        case OP_MAX: result = value > result ? value : result; break;
        case OP_MIN: result = value < result ? value : result; break;
        case OP_PROD: result = (wide)((uint64_t)result * (uint64_t)value); break;
        default: result += value; break;
        }
    }
    return op == OP_MEAN ? (r->n ? result / r->n : 0) : result;
}

void reduce_sums(const struct ints *axes, const struct tensor *x, struct tensor *sums)
{
    const int64_t n = type_elements(&sums->type);
    struct reduction r = reduction_begin(&x->type, axes);

    for (int64_t i = 0; i < n; i++, walk_next(&r.kept))
        tensor_put_wide(sums, i, reduce_whole(OP_SUM, &r, x));
}

bool eval_reduce(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                 struct tensor *out)
{
    const int64_t n = type_elements(&out->type);
    struct reduction r = reduction_begin(&in[0]->type, &node->attrs.reduce.axis);

    (void)ctx;
    for (int64_t i = 0; i < n; i++, walk_next(&r.kept))
        if (dtype_is_float(out->type.dtype))
            tensor_put(out, i, reduce_real(node->op, &r, in[0]));
        else
            tensor_put_wide(out, i, reduce_whole(node->op, &r, in[0]));
    return true;
}

bool infer_arg(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    struct arg_attrs *arg = &node->attrs.arg;
    struct ints axes;
    struct type shape;

    if (!check_kinds(ctx, node, 0, KINDS_NUMBER) || !check_axis(ctx, node, x, &arg->axis))
        return false;
    if (x->dim[arg->axis] == 0)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: axis %lld of shape %s has no elements", op_name(node->op),
                          (long long)arg->axis, shape_text(&ctx->perm, x));
    axes = ints_fill(1, arg->axis);
    shape = reduced_shape(x, &axes, arg->keepdims);
    set_output(node, 0, DTYPE_I64, &shape);
    return true;
}

/* Whether element a of x is a better maximum (minimum) than element b; 0 when they are equal. */
static int compare(const struct tensor *x, int64_t a, int64_t b, bool greatest)
{
    const int sign = greatest ? 1 : -1;

    if (dtype_is_float(x->type.dtype)) {
        const double va = tensor_at(x, a), vb = tensor_at(x, b);

        if (isnan(va) || isnan(vb))
            return (isnan(va) != 0) - (isnan(vb) != 0);
        return sign * ((va > vb) - (va < vb));
    } else {
        const wide va = tensor_wide_at(x, a), vb = tensor_wide_at(x, b);

        return sign * ((va > vb) - (va < vb));
    }
}

bool eval_arg(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
              struct tensor *out)
{
    const struct arg_attrs *arg = &node->attrs.arg;
    const struct type *x = &in[0]->type;
    const int64_t inner = type_span(x, (int)arg->axis + 1, x->rank), extent = x->dim[arg->axis];
    const int64_t n = type_elements(&out->type);

    (void)ctx;
    for (int64_t i = 0; i < n; i++) {
        const int64_t start = i / inner * extent * inner + i % inner;
        int64_t best = 0;

        for (int64_t k = 1; k < extent; k++) {
            const int order =
                compare(in[0], start + k * inner, start + best * inner, node->op == OP_ARGMAX);

            if (order > 0 || (order == 0 && arg->select_last_index))
                best = k;
        }
        tensor_put_wide(out, i, best);
    }
    return true;
}
