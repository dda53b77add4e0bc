/* non_max_suppression.c - the boxes that score best, without those that overlap them. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/kernel.h"

static bool accepts_boxes(const struct region *region, const char **why)
{
    return takes_sizes(region, why);
}

static bool bind_boxes(struct bind *bind)
{
    const struct non_max_suppression_attrs *attrs =
        &bind->region->anchor->attrs.non_max_suppression;
    const struct type *scores = anchor_input(bind->region, 1);

    bind_include(bind, "stdint.h");
    bind_helper(bind, "boxes_overlap");
    if (attrs->center)
        bind_helper(bind, "box_corners");
    bind_input(bind, "boxes", 0);
    bind_input(bind, "scores", 1);
    bind_int(bind, "batch", scores->dim[0]);
    bind_int(bind, "classes", scores->dim[1]);
    bind_int(bind, "n", scores->dim[2]);
    bind_int(bind, "most", attrs->max_output);
    bind_flag(bind, "center", attrs->center);
    bind_text(bind, "beats", attrs->keeps_equal ? ">=" : ">");
    bind_text(bind, "threshold", "%s", bind_literal(bind, DTYPE_F32, attrs->score_threshold));
    if (bind->region->anchor->n_inputs > 2)
        bind_text(bind, "iou", "%s[0]", bind_operand(bind, bind->region->anchor->inputs[2]));
    else
        bind_text(bind, "iou", "%s", bind_literal(bind, DTYPE_F32, attrs->iou_threshold));
    return true;
}

const struct kernel kernel_non_max_suppression = {
    .name = "non_max_suppression",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_NON_MAX_SUPPRESSION), accepts_boxes, bind_boxes } },
};
