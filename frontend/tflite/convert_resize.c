/* convert_resize.c - RESIZE_BILINEAR: of quantised values, in whole units of 2^-10 of an element; of floats, with
 * places in f32. */
#include "frontend/tflite/convert.h"

bool convert_tfl_resize_bilinear(struct tfl_node *node)
{
    enum { CORNERS = 2, HALF };
    enum { MOST = 1 << 20 };
    const bool corners = tfl_flag(node, CORNERS), half = tfl_flag(node, HALF);
    const struct type *x, *y;
    struct ints size;
    union attrs attrs;

    if (!tfl_check(node, 2, 2, 1) || !tfl_check_rank(node, node->inputs[0], 4, 4) ||
        !tfl_check_rank(node, node->outputs[0], 4, 4) || !tfl_constant_ints(node, 1, &size) ||
        !tfl_check_kept(node, node->inputs[0], node->outputs[0]))
        return false;
    x = &node->inputs[0]->type;
    y = &node->outputs[0]->type;
    if (x->dtype != DTYPE_F32 && !tfl_check_type(node, node->inputs[0], DTYPE_I8))
        return false;
    for (int axis = 1; axis < 3; axis++)
        if (size.n != 2 || size.at[axis - 1] != y->dim[axis] || x->dim[axis] < 1 ||
            x->dim[axis] > MOST || y->dim[axis] < 1 || y->dim[axis] > MOST || (corners && half))
            return tfl_unsupported(node, "%s to %s", type_text(&node->ctx->perm, x),
                                   type_text(&node->ctx->perm, y));
    attrs.resize =
        (struct resize_attrs){ .method = "linear",
                               .coordinate_transformation_mode = half      ? "tflite_half_pixel"
                                                                 : corners ? "tflite_align_corners"
                                                                           : "tflite_asymmetric",
                               .rounding_method = "" };
    attrs.resize.size = ints_of(4, (const int64_t[]){ x->dim[0], x->dim[3], y->dim[1], y->dim[2] });
    return tfl_output_first(node, 0,
                            tfl_build1(node, x->dtype == DTYPE_F32 ? OP_RESIZE : OP_QNN_RESIZE,
                                       &attrs, "between", tfl_first(node, 0)));
}
