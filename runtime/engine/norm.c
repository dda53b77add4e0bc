/* norm.c - normalisation: batch (with given statistics), layer, local response. */
#include "runtime/engine/primitive.h"

bool batch_norm_supports(const struct node *node, const char **why)
{
    *why = "the channels are not dim 1";
    return node->inputs[0]->type.rank >= 2 && node->inputs[0]->type.rank <= 5 &&
           type_axis(&node->inputs[0]->type, node->attrs.batch_norm.axis) == 1;
}

/* Inputs 1 to 4: scale, shift, mean, variance. */
bool batch_norm_prepare(struct work *work)
{
    static const int args[] = { DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE };
    const struct node *node = work->node;
    struct operand x = work_native(work, node->inputs[0]);
    dnnl_batch_normalization_desc_t desc;

    if (!work_take(work,
                   dnnl_batch_normalization_forward_desc_init(
                       &desc, dnnl_forward_inference, &x.as, (float)node->attrs.batch_norm.epsilon,
                       dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift),
                   NULL) ||
        !work_create(work, &desc, &x.as) || !work_bind(work, DNNL_ARG_SRC, &x))
        return false;
    for (int i = 0; i < 4; i++) {
        struct operand vector = work_plain(work, node->inputs[1 + i]);

        if (!work_bind(work, args[i], &vector))
            return false;
    }
    return work_result(work, DNNL_ARG_DST, 0) && work_finish(work);
}

bool layer_norm_supports(const struct node *node, const char **why)
{
    const struct type *x = &node->inputs[0]->type;
    const int axis = type_axis(x, node->attrs.norm.axis);

    *why = "scale and shift are not of the normalised shape";
    for (int i = 1; i < node->n_inputs; i++)
        if (axis < 0 || type_elements(&node->inputs[i]->type) != type_span(x, axis, x->rank))
            return false;
    return axis >= 0;
}

/* All dims from the axis on are one to oneDNN. Inputs 1 and 2: scale, shift. */
bool layer_norm_prepare(struct work *work)
{
    static const int args[] = { DNNL_ARG_SCALE, DNNL_ARG_SHIFT };
    const struct node *node = work->node;
    const struct type *type = &node->inputs[0]->type;
    const int axis = type_axis(type, node->attrs.norm.axis);
    const int64_t dims[2] = { type_span(type, 0, axis), type_span(type, axis, type->rank) };
    struct operand x = work_dense(work, node->inputs[0], 2, dims);
    dnnl_layer_normalization_desc_t desc;

    if (!work_take(work,
                   dnnl_layer_normalization_forward_desc_init(
                       &desc, dnnl_forward_inference, &x.as, NULL, (float)node->attrs.norm.epsilon,
                       dnnl_use_scale | (node->n_inputs > 2 ? dnnl_use_shift : 0u)),
                   NULL) ||
        !work_create(work, &desc, &x.as) || !work_bind(work, DNNL_ARG_SRC, &x))
        return false;
    for (int i = 1; i < node->n_inputs; i++) {
        struct operand vector = work_dense(work, node->inputs[i], 1, &dims[1]);

        if (!work_bind(work, args[i - 1], &vector))
            return false;
    }
    return work_result(work, DNNL_ARG_DST, 0) && work_finish(work);
}

bool lrn_supports(const struct node *node, const char **why)
{
    *why = "the neighbourhood is not centred";
    return node->attrs.lrn.size % 2 == 1 && node->inputs[0]->type.rank >= 3 &&
           node->inputs[0]->type.rank <= 5;
}

bool lrn_prepare(struct work *work)
{
    const struct lrn_attrs *a = &work->node->attrs.lrn;
    struct operand x = work_image(work, work->node->inputs[0], a->layout);
    dnnl_lrn_desc_t desc;

    work->out_layout = a->layout;
    return work_take(work,
                     dnnl_lrn_forward_desc_init(&desc, dnnl_forward_inference,
                                                dnnl_lrn_across_channels, &x.as, a->size,
                                                (float)a->alpha, (float)a->beta, (float)a->bias),
                     NULL) &&
           work_create(work, &desc, &x.as) && work_bind(work, DNNL_ARG_SRC, &x) &&
           work_result(work, DNNL_ARG_DST, 0) && work_finish(work);
}
