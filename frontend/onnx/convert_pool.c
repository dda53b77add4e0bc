/* convert_pool.c - MaxPool, AveragePool, LpPool, MaxUnpool and the global pools. */
#include "frontend/onnx/convert_helpers.h"

static bool read_pool(struct onnx_node *node, union attrs *attrs)
{
    struct onnx_window window;

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_NUMBER) ||
        !window_read(node, NULL, &window))
        return false;
    *attrs = (union attrs){ 0 };
    attrs->pool.pool_size = window.kernel;
    attrs->pool.strides = window.strides;
    attrs->pool.padding = window.padding;
    attrs->pool.dilation = window.dilation;
    attrs->pool.ceil_mode = onnx_int(node, "ceil_mode", 0) != 0;
    attrs->pool.layout = window_layout(window.n, false, false);
    return onnx_ok(node);
}

/* Before opset 19, ONNX Runtime divides by the whole window where one window is longer than the
 * padded input, as if there were padding behind; not with ceil_mode. */
static void pad_overhang(struct onnx_node *node, struct pool_attrs *pool)
{
    const struct value *x = onnx_input(node, 0);
    const int n = pool->pool_size.n;

    for (int i = 0; i < n && i + 2 < x->type.rank; i++) {
        const int64_t over = pool->pool_size.at[i] - x->type.dim[2 + i] - pool->padding.at[i] -
                             pool->padding.at[n + i];

        if (over > 0 && over < pool->strides.at[i])
            pool->padding.at[n + i] += over;
    }
}

bool convert_average_pool(struct onnx_node *node)
{
    static const enum op ops[] = { OP_AVG_POOL1D, OP_AVG_POOL2D, OP_AVG_POOL3D };
    union attrs attrs;

    if (!read_pool(node, &attrs) || !onnx_check_kind(node, 0, TAKES_FLOAT))
        return false;
    attrs.pool.count_include_pad = onnx_int(node, "count_include_pad", 0) != 0;
    if (node->opset < 19 && attrs.pool.count_include_pad && !attrs.pool.ceil_mode)
        pad_overhang(node, &attrs.pool);
    return onnx_ok(node) && onnx_output(node, 0,
                                        onnx_build1(node, ops[attrs.pool.pool_size.n - 1], &attrs,
                                                    "", onnx_input(node, 0)));
}

bool convert_lp_pool(struct onnx_node *node)
{
    static const enum op ops[] = { OP_LP_POOL1D, OP_LP_POOL2D, OP_LP_POOL3D };
    union attrs attrs;

    if (!read_pool(node, &attrs) || !onnx_check_kind(node, 0, TAKES_FLOAT))
        return false;
    attrs.pool.p = onnx_int(node, "p", 2);
    if (attrs.pool.p < 1 || attrs.pool.p > 64)
        return bad_attribute(node, "attribute p is %lld, wanted 1 or more",
                             (long long)attrs.pool.p);
    return onnx_ok(node) && onnx_output(node, 0,
                                        onnx_build1(node, ops[attrs.pool.pool_size.n - 1], &attrs,
                                                    "", onnx_input(node, 0)));
}

bool convert_max_pool(struct onnx_node *node)
{
    static const enum op ops[] = { OP_MAX_POOL1D, OP_MAX_POOL2D, OP_MAX_POOL3D };
    struct value *x = onnx_input(node, 0);
    union attrs attrs;

    if (!read_pool(node, &attrs))
        return false;
    attrs.pool.storage_order = onnx_int(node, "storage_order", 0);
    if (attrs.pool.storage_order != 0 && attrs.pool.storage_order != 1)
        return bad_attribute(node, "attribute storage_order is %lld, wanted 0 or 1",
                             (long long)attrs.pool.storage_order);
    if (wants_output(node, 1))
        return output_node(node, OP_MAX_POOL_INDICES, &attrs, 1, &x, 2);
    attrs.pool.storage_order = 0; /* does not affect the maxima */
    return onnx_output(node, 0, onnx_build1(node, ops[attrs.pool.pool_size.n - 1], &attrs, "", x));
}

bool convert_global_pool(struct onnx_node *node)
{
    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 3, MAX_RANK))
        return false;
    return onnx_output(node, 0, apply1(node, (enum op)node->arg, "", onnx_input(node, 0)));
}

/* A pool whose window is the whole plane. */
bool convert_global_lp_pool(struct onnx_node *node)
{
    static const enum op ops[] = { OP_LP_POOL1D, OP_LP_POOL2D, OP_LP_POOL3D };
    union attrs attrs = { .pool = { .p = onnx_int(node, "p", 2) } };
    const struct value *x = onnx_input(node, 0);
    int n;

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 3, 2 + MAX_SPATIAL) || !onnx_ok(node))
        return false;
    if (attrs.pool.p < 1 || attrs.pool.p > 64)
        return bad_attribute(node, "attribute p is %lld, wanted 1 or more",
                             (long long)attrs.pool.p);
    n = x->type.rank - 2;
    attrs.pool.pool_size = ints_of(n, x->type.dim + 2);
    attrs.pool.strides = attrs.pool.dilation = ints_fill(n, 1);
    attrs.pool.padding = ints_fill(2 * n, 0);
    attrs.pool.layout = window_layout(n, false, false);
    return onnx_output(node, 0, onnx_build1(node, ops[n - 1], &attrs, "", onnx_input(node, 0)));
}

/* The extents that MaxUnpool gives when nobody says them: those of the pool that it undoes. */
static bool unpooled_extents(struct onnx_node *node, struct ints *shape)
{
    const struct value *x = onnx_input(node, 0);
    struct onnx_window window;

    if (!window_read(node, NULL, &window))
        return false;
    *shape = ints_of_shape(&x->type);
    for (int i = 0; i < window.n; i++)
        shape->at[2 + i] = (x->type.dim[2 + i] - 1) * window.strides.at[i] + window.kernel.at[i] -
                           window.padding.at[i] - window.padding.at[window.n + i];
    return true;
}

/* The indices count through the whole tensor as MaxPool's do, at the extents of the undone pool;
 * with a larger output_shape they are still those of the small one, as the specification's example
 * has it. So: scatter into zeros of the small shape, then pad behind. */
bool convert_max_unpool(struct onnx_node *node)
{
    const struct ints flat = { .n = 1, .at = { -1 } };
    const union attrs scatter = { .scatter = { .axis = 0, .reduction = "none" } };
    union attrs pad = { .pad = { .mode = "constant" } };
    struct ints shape, wanted;
    struct value *parts[3], *y;
    struct type full = { .dtype = DTYPE_F32 };
    int64_t n;

    if (!onnx_check_inputs(node, 2, 3) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !unpooled_extents(node, &shape))
        return false;
    full = type_make(onnx_input(node, 0)->type.dtype, shape.n, shape.at);
    if (!type_check_size(node->ctx, node->origin, &full))
        return false;
    wanted = shape;
    if (onnx_input(node, 2) && !onnx_constant_ints(node, 2, &wanted))
        return false;
    if (wanted.n != shape.n)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "output_shape has %d numbers, wanted %d", wanted.n, shape.n);
    n = type_elements(&full);
    parts[0] = full_of(node, full.dtype, 0, &(struct ints){ .n = 1, .at = { n } }, "zeros");
    parts[1] = reshape_to(node, onnx_input(node, 1), &flat, "flat_indices");
    parts[2] = reshape_to(node, onnx_input(node, 0), &flat, "flat_values");
    if (!parts[0] || !parts[1] || !parts[2])
        return false;
    y = onnx_build(node, OP_SCATTER_ELEMENTS, &scatter, "scattered", 3, parts);
    pad.pad.pad_before = pad.pad.pad_after = ints_fill(shape.n, 0);
    for (int i = 0; i < shape.n; i++)
        pad.pad.pad_after.at[i] = wanted.at[i] - shape.at[i];
    if (ints_equal(&wanted, &shape))
        return onnx_output(node, 0, reshape_to(node, y, &shape, ""));
    y = reshape_to(node, y, &shape, "unpooled");
    return y && onnx_output(node, 0, onnx_build1(node, OP_PAD, &pad, "", y));
}
