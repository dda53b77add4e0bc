/* normalize.c - nn.lrn and nn.lp_normalize: each element divided by a norm of its neighbours. */
#include <math.h>

#include "relay_ir/layout.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/spatial.h"

bool infer_lrn(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);

    if (!check_kinds(ctx, node, 0, KINDS_FLOAT) || !check_rank(ctx, node, 0, 2, MAX_RANK))
        return false;
    if (node->attrs.lrn.size < 1 || node->attrs.lrn.size > SPATIAL_MOST)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: size is %lld, expected 1 to %lld", op_name(node->op),
                          (long long)node->attrs.lrn.size, (long long)SPATIAL_MOST);
    if (!spatial_check_layout(ctx, node, "layout", x->rank - 2, &node->attrs.lrn.layout))
        return false;
    set_output(node, 0, x->dtype, x);
    return true;
}

/* y = x / (bias + alpha / size * sum)^beta; the sum is over the squares of `size` channels around
 * the element's own, one more behind it than before it when the size is even. */
bool eval_lrn(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
              struct tensor *out)
{
    const struct lrn_attrs *attrs = &node->attrs.lrn;
    const struct type *type = &out->type;
    const int axis = layout_channel_axis(attrs->layout, type->rank);
    const int64_t channels = type->dim[axis], n = type_elements(type);
    const int64_t size = type_span(type, axis + 1, type->rank);
    const int64_t before = (attrs->size - 1) / 2, after = attrs->size - 1 - before;
    struct bulk bulk = { NULL, 0 };
    const double *x = doubles_of(&bulk, in[0]);

    (void)ctx;
    for (int64_t i = 0; i < n; i++) {
        const int64_t c = i / size % channels;
        const int64_t from = c > before ? c - before : 0;
        const int64_t to = channels - 1 - c > after ? c + after : channels - 1;
        double sum = 0;

        for (int64_t k = from; k <= to; k++)
            sum += x[i + (k - c) * size] * x[i + (k - c) * size];
        sum = attrs->bias + attrs->alpha / (double)attrs->size * sum;
        dtype_store(type->dtype, out->data, i, x[i] / pow(sum, attrs->beta));
    }
    bulk_release(&bulk);
    return true;
}

bool infer_lp_normalize(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0);
    const int64_t p = node->attrs.lp_normalize.p;

    if (!check_kinds(ctx, node, 0, KINDS_FLOAT) ||
        !check_axis(ctx, node, x, &node->attrs.lp_normalize.axis))
        return false;
    if (p != 1 && p != 2)
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "%s: p is %lld, expected 1 or 2", op_name(node->op), (long long)p);
    set_output(node, 0, x->dtype, x);
    return true;
}

static double norm(const double *x, int64_t n, int64_t step, int64_t p)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += p == 1 ? fabs(x[i * step]) : x[i * step] * x[i * step];
    return p == 1 ? sum : sqrt(sum);
}

/* What has norm 0 stays 0. */
bool eval_lp_normalize(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                       struct tensor *out)
{
    const struct type *type = &out->type;
    const int axis = (int)node->attrs.lp_normalize.axis;
    const int64_t n = type->dim[axis], step = type_span(type, axis + 1, type->rank);
    const int64_t n_lines = type_span(type, 0, axis) * step;
    struct bulk bulk = { NULL, 0 };
    const double *x = doubles_of(&bulk, in[0]);

    (void)ctx;
    for (int64_t line = 0; line < n_lines; line++) {
        const int64_t at = line / step * n * step + line % step;
        const double length = norm(x + at, n, step, node->attrs.lp_normalize.p);

        for (int64_t i = 0; i < n; i++)
            dtype_store(type->dtype, out->data, at + i * step,
                        length == 0 ? 0 : x[at + i * step] / length);
    }
    bulk_release(&bulk);
    return true;
}
