/* reduce.c - sums, means and products over axes. */
#include "runtime/engine/primitive.h"

bool reduce_supports(const struct node *node, const char **why)
{
    *why = "oneDNN's extremes of infinities are finite";
    if (node->op == OP_MAX || node->op == OP_MIN)
        return false;
    *why = "nothing is reduced";
    return type_elements(&node->inputs[0]->type) != type_elements(&node->outputs[0]->type);
}

static dnnl_alg_kind_t algorithm_of(enum op op)
{
    switch (op) {
    case OP_PROD: return dnnl_reduction_mul;
    case OP_MEAN: return dnnl_reduction_mean;
    default: return dnnl_reduction_sum;
    }
}

bool reduce_prepare(struct work *work)
{
    const struct node *node = work->node;
    const struct type *in = &node->inputs[0]->type;
    const struct ints *axes = &node->attrs.reduce.axis;
    struct operand x = work_native(work, node->inputs[0]);
    int64_t dims[MAX_RANK];
    dnnl_memory_desc_t dst;
    dnnl_reduction_desc_t desc;

    for (int i = 0; i < in->rank; i++)
        dims[i] =
            axes->n == 0 || ints_has(axes, i) || ints_has(axes, i - in->rank) ? 1 : in->dim[i];
    dst = layout_dense(in->rank, dims);
    return work_take(work,
                     dnnl_reduction_desc_init(&desc, algorithm_of(node->op), &x.as, &dst, 0, 0),
                     NULL) &&
           work_create(work, &desc, &dst) && work_bind(work, DNNL_ARG_SRC, &x) &&
           work_result(work, DNNL_ARG_DST, 0) && work_finish(work);
}
