/* resize.c - image resizing, where oneDNN's rule gives the samples that the model's rule gives.
 *
 * oneDNN takes the pixel centre (o + 0.5) * in / out - 0.5 and rounds it (nearest; a tie goes up)
 * or blends its two neighbours, repeating the border (linear). */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/layout.h"
#include "runtime/engine/primitive.h"

/* How x lies: the channels are a dim that is not resized. */
static const char *layout_of(const struct node *node)
{
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;

    return x->dim[1] == y->dim[1] ? "NCHW" : "NHWC";
}

static bool is_word(const char *word, const char *wanted)
{
    return strcmp(word, wanted) == 0;
}

/* Whether out is a whole multiple of in for every dim, so that neither ties nor the choice of the
 * coordinate rule change which pixel is the nearest. */
static bool multiplies(const struct node *node)
{
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;

    for (int i = 1; i < x->rank; i++)
        if (y->dim[i] % x->dim[i] != 0)
            return false;
    return true;
}

/* Whether the declared scales are out / in: then both rules mean the same. */
static bool scales_are_exact(const struct node *node)
{
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    const struct reals *scales = &node->attrs.resize.scales;

    for (int i = 0; i < scales->n && i < x->rank; i++)
        if (fabs(scales->at[i] * (double)x->dim[i] - (double)y->dim[i]) > 1e-9 * (double)y->dim[i])
            return false;
    return true;
}

bool resize_supports(const struct node *node, const char **why)
{
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    const int channels = layout_channel_axis(layout_of(node), x->rank);
    const struct resize_attrs *a = &node->attrs.resize;
    const char *mode = a->coordinate_transformation_mode, *rounding = a->rounding_method;
    const bool centred = is_word(mode, "half_pixel");

    *why = "it is not an image of one to three spatial dims that alone are resized";
    if (node->n_inputs != 1 || x->rank < 3 || x->rank > 5 || x->dim[0] != y->dim[0] ||
        x->dim[channels] != y->dim[channels])
        return false;
    *why = "oneDNN samples other points than this rule";
    if (a->antialias || !scales_are_exact(node))
        return false;
    if (is_word(a->method, "linear"))
        return centred;
    return is_word(a->method, "nearest_neighbor") && multiplies(node) &&
           (centred ? str_starts(rounding, "round_prefer")
                    : is_word(mode, "asymmetric") && is_word(rounding, "floor"));
}

bool resize_prepare(struct work *work)
{
    const struct node *node = work->node;
    const char *layout = layout_of(node);
    const struct type y = type_channels_first(&node->outputs[0]->type, layout);
    const dnnl_alg_kind_t algorithm = is_word(node->attrs.resize.method, "linear")
                                          ? dnnl_resampling_linear
                                          : dnnl_resampling_nearest;
    struct operand x = work_image(work, node->inputs[0], layout);
    dnnl_memory_desc_t dst = layout_any(y.rank, y.dim);
    dnnl_resampling_desc_t desc;

    work->out_layout = layout;
    return work_take(work,
                     dnnl_resampling_forward_desc_init(&desc, dnnl_forward_inference, algorithm,
                                                       NULL, &x.as, &dst),
                     NULL) &&
           work_create(work, &desc, &dst) && work_bind(work, DNNL_ARG_SRC, &x) &&
           work_result(work, DNNL_ARG_DST, 0) && work_finish(work);
}
