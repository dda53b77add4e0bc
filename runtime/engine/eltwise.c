/* eltwise.c - element-wise functions of one input. */
#include "runtime/engine/primitive.h"

bool eltwise_supports(const struct node *node, const char **why)
{
    *why = "the exponent is not one number"; /* only power has a form without an algorithm */
    return eltwise_of(node).n > 0;
}

bool eltwise_prepare(struct work *work)
{
    const struct eltwise eltwise = eltwise_of(work->node);
    struct operand x = work_native(work, work->node->inputs[0]);
    dnnl_eltwise_desc_t desc;

    if (!work_blocks_second(work, &x.as))
        x = work_plain(work, work->node->inputs[0]);
    if (!x.slot)
        return false;
    x.as = work_turned(&x.as, work->out_layout, true);
    /* For other ranks, oneDNN 2.6's implementation of an eltwise with post-ops computes nothing. */
    if ((eltwise.n > 1 || eltwise.at[0].scale != 1) && (x.as.ndims < 2 || x.as.ndims > 5))
        return work_refuse(work, "oneDNN computes this function for 2 to 5 dimensions only");
    if (eltwise.at[0].scale != 1) /* the primitive itself has no scale, post-ops have */
        work_eltwise(work, dnnl_eltwise_linear, 1, eltwise.at[0].scale, 0);
    for (int i = 1; i < eltwise.n; i++)
        work_eltwise(work, eltwise.at[i].algorithm, eltwise.at[i].scale, eltwise.at[i].alpha,
                     eltwise.at[i].beta);
    return work_take(work,
                     dnnl_eltwise_forward_desc_init(&desc, dnnl_forward_inference,
                                                    eltwise.at[0].algorithm, &x.as,
                                                    eltwise.at[0].alpha, eltwise.at[0].beta),
                     NULL) &&
           work_create(work, &desc, &x.as) && work_bind(work, DNNL_ARG_SRC, &x) &&
           work_result(work, DNNL_ARG_DST, 0) && work_finish(work);
}
