/* softmax.c - softmax and its logarithm along one axis. */
#include "runtime/engine/primitive.h"

bool softmax_supports(const struct node *node, const char **why)
{
    *why = "a scalar has no axis";
    return node->inputs[0]->type.rank > 0;
}

bool softmax_prepare(struct work *work)
{
    const struct node *node = work->node;
    const int axis = type_axis(&node->inputs[0]->type, node->attrs.axis.axis);
    const dnnl_alg_kind_t algorithm =
        node->op == OP_LOG_SOFTMAX ? dnnl_softmax_log : dnnl_softmax_accurate;
    struct operand x = work_native(work, node->inputs[0]);
    dnnl_softmax_v2_desc_t desc;

    return work_take(work,
                     dnnl_softmax_v2_forward_desc_init(&desc, dnnl_forward_inference, algorithm,
                                                       &x.as, &x.as, axis),
                     NULL) &&
           work_create(work, &desc, &x.as) && work_bind(work, DNNL_ARG_SRC, &x) &&
           work_result(work, DNNL_ARG_DST, 0) && work_finish(work);
}
