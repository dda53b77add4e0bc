/* matmul.c - inner product and matrix multiplication. */
#include "runtime/engine/primitive.h"

bool dense_supports(const struct node *node, const char **why)
{
    *why = "the input is not a matrix";
    return node->inputs[0]->type.rank == 2;
}

bool dense_prepare(struct work *work)
{
    const struct node *node = work->node;
    const struct type *x = &node->inputs[0]->type, *w = &node->inputs[1]->type,
                      *y = &node->outputs[0]->type;
    const struct value *bias = work_bias(work);
    dnnl_memory_desc_t src = layout_any(2, x->dim), weight = layout_any(2, w->dim);
    dnnl_memory_desc_t dst = layout_any(2, y->dim), vector = layout_dense(1, &y->dim[1]);
    struct operand a, b, c;
    dnnl_inner_product_desc_t desc;

    if (!work_is_constant(work, node->inputs[1]))
        weight = layout_dense(2, w->dim); /* no reordering at each run */
    if (!work_take(work,
                   dnnl_inner_product_forward_desc_init(&desc, dnnl_forward_inference, &src,
                                                        &weight, bias ? &vector : NULL, &dst),
                   NULL) ||
        !work_create(work, &desc, &dst))
        return false;
    a = work_native(work, node->inputs[0]);
    b = work_native(work, node->inputs[1]);
    if (!work_bind(work, DNNL_ARG_SRC, &a) || !work_bind(work, DNNL_ARG_WEIGHTS, &b))
        return false;
    if (bias) {
        c = work_dense(work, bias, 1, &y->dim[1]);
        if (!work_bind(work, DNNL_ARG_BIAS, &c))
            return false;
    }
    return work_result(work, DNNL_ARG_DST, 0) && work_finish(work);
}

bool matmul_supports(const struct node *node, const char **why)
{
    const struct matmul_attrs *a = &node->attrs.matmul;

    *why = "a vector is transposed";
    return (node->inputs[0]->type.rank > 1 || !a->transpose_a) &&
           (node->inputs[1]->type.rank > 1 || !a->transpose_b);
}

/* A matrix (or stack of them) as oneDNN's dims of this rank. A vector is a row on the left side and
 * a column on the right one. */
static dnnl_memory_desc_t matrix_layout(const struct type *type, int rank, bool right,
                                        bool transposed)
{
    dnnl_memory_desc_t layout, turned;
    int64_t dims[MAX_RANK];
    int order[MAX_RANK];

    for (int i = 0; i < rank; i++) {
        dims[i] = 1;
        order[i] = i;
    }
    if (type->rank == 1)
        dims[right ? rank - 2 : rank - 1] = type->dim[0];
    for (int i = 0; i < type->rank && type->rank > 1; i++)
        dims[rank - type->rank + i] = type->dim[i];
    layout = layout_dense(rank, dims);
    if (!transposed)
        return layout;
    order[rank - 2] = rank - 1;
    order[rank - 1] = rank - 2;
    return dnnl_memory_desc_permute_axes(&turned, &layout, order) == dnnl_success ? turned : layout;
}

bool matmul_prepare(struct work *work)
{
    const struct node *node = work->node;
    const struct type *x = &node->inputs[0]->type, *w = &node->inputs[1]->type;
    const struct value *bias = work_bias(work);
    const int widest = x->rank > w->rank ? x->rank : w->rank, rank = widest < 2 ? 2 : widest;
    struct operand a = work_plain(work, node->inputs[0]), b = work_plain(work, node->inputs[1]), c;
    dnnl_memory_desc_t weight, dst, vector;
    int64_t dims[MAX_RANK];
    dnnl_matmul_desc_t desc;

    a.as = matrix_layout(x, rank, false, node->attrs.matmul.transpose_a);
    b.as = matrix_layout(w, rank, true, node->attrs.matmul.transpose_b);
    weight = work_is_constant(work, node->inputs[1]) ? layout_any(rank, b.as.dims) : b.as;
    for (int i = 0; i < rank - 2; i++)
        dims[i] = a.as.dims[i] == 1 ? b.as.dims[i] : a.as.dims[i];
    dims[rank - 2] = a.as.dims[rank - 2];
    dims[rank - 1] = b.as.dims[rank - 1];
    dst = layout_dense(rank, dims);
    for (int i = 0; i < rank - 1; i++)
        dims[i] = 1;
    vector = layout_dense(rank, dims);
    if (!work_take(work, dnnl_matmul_desc_init(&desc, &a.as, &weight, bias ? &vector : NULL, &dst),
                   NULL) ||
        !work_create(work, &desc, &dst) || !work_bind(work, DNNL_ARG_SRC, &a) ||
        !work_bind(work, DNNL_ARG_WEIGHTS, &b))
        return false;
    if (bias) {
        c = work_dense(work, bias, rank, dims);
        if (!work_bind(work, DNNL_ARG_BIAS, &c))
            return false;
    }
    return work_result(work, DNNL_ARG_DST, 0) && work_finish(work);
}
