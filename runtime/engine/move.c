/* move.c - operators that only move elements: concatenate, split, strided_slice, transpose. */
#include "runtime/engine/primitive.h"

bool concat_supports(const struct node *node, const char **why)
{
    *why = "it joins too many tensors";
    return node->n_inputs < MAX_BOUND && node->inputs[0]->type.rank > 0;
}

/* Whether two layouts keep their dims in the same order, with the same blocks inside. */
static bool same_order(const dnnl_memory_desc_t *a, const dnnl_memory_desc_t *b)
{
    const dnnl_blocking_desc_t *x = &a->format_desc.blocking, *y = &b->format_desc.blocking;

    if (x->inner_nblks != y->inner_nblks)
        return false;
    for (int i = 0; i < x->inner_nblks; i++)
        if (x->inner_blks[i] != y->inner_blks[i] || x->inner_idxs[i] != y->inner_idxs[i])
            return false;
    for (int i = 0; i < a->ndims; i++)
        for (int k = 0; k < i; k++)
            if ((x->strides[i] < x->strides[k]) != (y->strides[i] < y->strides[k]))
                return false;
    return true;
}

/* Whether the inputs can be joined in the layout that they have: it is the same for all, and its
 * blocks are not cut. */
static bool join_natively(struct work *work, int axis)
{
    const struct node *node = work->node;
    const struct operand first = work_native(work, node->inputs[0]);

    for (int i = 0; i < node->n_inputs; i++) {
        const struct operand x = work_native(work, node->inputs[i]);
        const dnnl_blocking_desc_t *blocking = &x.as.format_desc.blocking;

        if (!same_order(&x.as, &first.as))
            return false;
        for (int k = 0; k < blocking->inner_nblks; k++)
            if (blocking->inner_idxs[k] == axis && x.as.dims[axis] % blocking->inner_blks[k] != 0)
                return false;
    }
    return true;
}

bool concat_prepare(struct work *work)
{
    const struct node *node = work->node;
    const struct type *y = &node->outputs[0]->type;
    const int axis = type_axis(y, node->attrs.axis.axis);
    const bool native = join_natively(work, axis);
    const dnnl_memory_desc_t dst = layout_dense(y->rank, y->dim);
    dnnl_memory_desc_t layouts[MAX_BOUND];
    struct operand operands[MAX_BOUND];
    dnnl_primitive_desc_t desc = NULL;
    dnnl_status_t status;

    for (int i = 0; i < node->n_inputs; i++) {
        operands[i] =
            native ? work_native(work, node->inputs[i]) : work_plain(work, node->inputs[i]);
        layouts[i] = operands[i].as;
    }
    status = dnnl_concat_primitive_desc_create(&desc, native ? NULL : &dst, node->n_inputs, axis,
                                               layouts, NULL, work->plan->engine);
    if (!work_take(work, status, desc))
        return false;
    for (int i = 0; i < node->n_inputs; i++)
        if (!work_bind(work, DNNL_ARG_MULTIPLE_SRC + i, &operands[i]))
            return false;
    return work_result(work, DNNL_ARG_DST, 0) && work_finish(work);
}

/* One output that is an input seen through `from`, copied. */
static bool copy_out(struct work *work, const struct operand *x, const dnnl_memory_desc_t *from,
                     int output)
{
    const struct type *y = &work->node->outputs[output]->type;
    const dnnl_memory_desc_t dst = layout_dense(y->rank, y->dim);
    const struct operand part = { .slot = x->slot, .as = *from };
    dnnl_primitive_desc_t desc = NULL;
    const dnnl_status_t status = dnnl_reorder_primitive_desc_create(&desc, from, work->plan->engine,
                                                                    &dst, work->plan->engine, NULL);

    return work_take(work, status, desc) && work_bind(work, DNNL_ARG_FROM, &part) &&
           work_result(work, DNNL_ARG_TO, output) && work_finish(work);
}

bool transpose_supports(const struct node *node, const char **why)
{
    *why = "a scalar is not transposed";
    return node->inputs[0]->type.rank > 0;
}

bool transpose_prepare(struct work *work)
{
    const struct node *node = work->node;
    const struct ints *axes = &node->attrs.axes.axes;
    const int rank = node->inputs[0]->type.rank;
    const struct operand x = work_plain(work, node->inputs[0]);
    dnnl_memory_desc_t from;
    int order[MAX_RANK]; /* where each dim of the input goes */

    for (int i = 0; i < rank; i++)
        order[ints_get(axes, i, rank - 1 - i)] = i;
    return x.slot && work_take(work, dnnl_memory_desc_permute_axes(&from, &x.as, order), NULL) &&
           copy_out(work, &x, &from, 0);
}

/* Elements begin, begin + stride ... of each dim of a dense input, `size` of them. */
static dnnl_memory_desc_t cut(const struct operand *x, const int64_t *begin, const int64_t *stride,
                              const int64_t *size)
{
    const int64_t *steps = x->as.format_desc.blocking.strides;
    dnnl_memory_desc_t part = x->as;
    int64_t offset = 0;
    dnnl_dims_t strides;

    for (int i = 0; i < x->as.ndims; i++) {
        offset += begin[i] * steps[i];
        strides[i] = stride[i] * steps[i];
    }
    dnnl_memory_desc_init_by_strides(&part, x->as.ndims, size, dnnl_f32, strides);
    part.offset0 = offset;
    return part;
}

bool slice_supports(const struct node *node, const char **why)
{
    const struct slice_attrs *a = &node->attrs.slice;

    *why = "it runs backwards";
    for (int i = 0; i < a->strides.n; i++)
        if (a->strides.at[i] < 1)
            return false;
    *why = "a scalar is not cut";
    return node->inputs[0]->type.rank > 0;
}

bool slice_prepare(struct work *work)
{
    const struct slice_attrs *a = &work->node->attrs.slice;
    const struct operand x = work_plain(work, work->node->inputs[0]);
    dnnl_memory_desc_t from;

    if (!x.slot)
        return false;
    from = cut(&x, a->begin.at, a->strides.at, work->node->outputs[0]->type.dim);
    return copy_out(work, &x, &from, 0);
}

bool split_supports(const struct node *node, const char **why)
{
    *why = "a scalar is not split";
    return node->inputs[0]->type.rank > 0;
}

bool split_prepare(struct work *work)
{
    const struct node *node = work->node;
    const int axis = type_axis(&node->inputs[0]->type, node->attrs.split.axis);
    const struct operand x = work_plain(work, node->inputs[0]);
    int64_t begin[MAX_RANK] = { 0 }, stride[MAX_RANK];

    if (!x.slot)
        return false;
    for (int i = 0; i < MAX_RANK; i++)
        stride[i] = 1;
    for (int i = 0; i < node->n_outputs; i++) {
        const int64_t *size = node->outputs[i]->type.dim;
        const dnnl_memory_desc_t from = cut(&x, begin, stride, size);

        if (!copy_out(work, &x, &from, i))
            return false;
        begin[axis] += size[axis];
    }
    return true;
}
