/* pool.c - maximum and average pooling, windowed and global. */
#include "relay_ir/layout.h"
#include "runtime/engine/primitive.h"

struct pooling {
    dnnl_alg_kind_t algorithm;
    dnnl_dims_t strides, kernel, dilation, begin, end;
};

static bool is_global(enum op op)
{
    return op == OP_GLOBAL_AVG_POOL || op == OP_GLOBAL_MAX_POOL;
}

static bool is_max(enum op op)
{
    return op == OP_GLOBAL_MAX_POOL || op == OP_MAX_POOL1D || op == OP_MAX_POOL2D ||
           op == OP_MAX_POOL3D;
}

/* How far the last window reaches beyond the input and its padding (ceil_mode), or 0. */
static int64_t overhang(const struct node *node, int i)
{
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    const struct pool_attrs *a = &node->attrs.pool;
    const int n = x->rank - 2, dim = layout_spatial_axis(a->layout) + i;
    const int64_t extent = (ints_get(&a->pool_size, i, 1) - 1) * ints_get(&a->dilation, i, 1) + 1;
    const int64_t reach = (y->dim[dim] - 1) * ints_get(&a->strides, i, 1) + extent -
                          ints_get(&a->padding, i, 0) - x->dim[dim];

    return reach > ints_get(&a->padding, n + i, 0) ? reach - ints_get(&a->padding, n + i, 0) : 0;
}

bool pool_supports(const struct node *node, const char **why)
{
    const struct type *x = &node->inputs[0]->type;
    const struct pool_attrs *a = &node->attrs.pool;
    const int n = x->rank - 2;

    *why = "it does not have one to three spatial dims";
    if (n < 1 || n > 3)
        return false;
    for (int i = 0; i < n && !is_global(node->op); i++) {
        const int64_t size = ints_get(&a->pool_size, i, 1);
        const int64_t end = ints_get(&a->padding, n + i, 0) + overhang(node, i);

        *why = "a window may be entirely in the padding";
        if (ints_get(&a->padding, i, 0) >= size || end >= size)
            return false;
        *why = "the average counts padding beyond the declared one, or holes";
        if (!is_max(node->op) &&
            ((a->count_include_pad && overhang(node, i) > 0) || ints_get(&a->dilation, i, 1) > 1))
            return false;
    }
    return true;
}

static struct pooling pooling_of(const struct node *node)
{
    const struct type *x = &node->inputs[0]->type;
    const struct pool_attrs *a = &node->attrs.pool;
    const int n = x->rank - 2;
    struct pooling pooling = { .algorithm = is_max(node->op)      ? dnnl_pooling_max
                                            : is_global(node->op) ? dnnl_pooling_avg
                                            : a->count_include_pad
                                                ? dnnl_pooling_avg_include_padding
                                                : dnnl_pooling_avg_exclude_padding };

    for (int i = 0; i < n; i++) {
        pooling.strides[i] = 1;
        pooling.kernel[i] = x->dim[layout_spatial_axis(node_layout(node)) + i];
        if (is_global(node->op))
            continue;
        pooling.strides[i] = ints_get(&a->strides, i, 1);
        pooling.kernel[i] = ints_get(&a->pool_size, i, 1);
        pooling.dilation[i] = ints_get(&a->dilation, i, 1) - 1;
        pooling.begin[i] = ints_get(&a->padding, i, 0);
        pooling.end[i] = ints_get(&a->padding, n + i, 0) + overhang(node, i);
    }
    return pooling;
}

bool pool_prepare(struct work *work)
{
    const char *layout = node_layout(work->node);
    const struct type y = type_channels_first(&work->node->outputs[0]->type, layout);
    const struct pooling p = pooling_of(work->node);
    struct operand x = work_image(work, work->node->inputs[0], layout);
    dnnl_memory_desc_t dst = layout_any(y.rank, y.dim);
    dnnl_pooling_v2_desc_t desc;

    work->out_layout = layout;
    return work_take(work,
                     dnnl_pooling_v2_forward_desc_init(&desc, dnnl_forward_inference, p.algorithm,
                                                       &x.as, &dst, p.strides, p.kernel, p.dilation,
                                                       p.begin, p.end),
                     NULL) &&
           work_create(work, &desc, &dst) && work_bind(work, DNNL_ARG_SRC, &x) &&
           work_result(work, DNNL_ARG_DST, 0) && work_finish(work);
}
