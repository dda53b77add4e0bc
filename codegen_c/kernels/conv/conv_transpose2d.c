/* conv_transpose2d.c - scalar transposed convolutions, channels first. 1-D is bound as 2-D of height
 * 1. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/conv.h"

bool accepts_conv_transpose(const struct region *region, const char **why)
{
    const struct conv_transpose_attrs *attrs = &region->anchor->attrs.conv_transpose;
    const struct window w = window_of_conv_transpose(region);

    return takes_operands(region, why) && takes_window(&w, why) &&
           takes_channels_first(attrs->data_layout, attrs->data_layout, why);
}

/* oc counts the output channels of all groups of all images; divisions tell which. */
static bool bind_conv_transpose(struct bind *bind)
{
    const struct window w = window_of_conv_transpose(bind->region);
    const bool many = w.batch * w.groups > 1, grouped = w.groups > 1;
    struct position position;

    bind_data(bind);
    bind_helper(bind, "window");
    bind_input(bind, "x", 0);
    bind_weight_rows(bind);
    bind_window(bind, &w);
    bind_flag(bind, "many", many);
    bind_int(bind, "batch", w.batch);
    bind_int(bind, "groups", w.groups);
    bind_int(bind, "in_c", w.in_c / w.groups);
    bind_int(bind, "out_c", w.out_c / w.groups);
    bind_text(bind, "n_planes", many ? "BATCH * GROUPS * OUT_C" : "OUT_C");
    bind_text(bind, "plane", many ? "(oc / OUT_C * IN_C + ic)" : "ic");
    bind_text(bind, "weight_in", grouped ? "(oc / OUT_C %% GROUPS * IN_C + ic)" : "ic");
    bind_text(bind, "weight_out", many ? "oc %% OUT_C" : "oc");
    bind_text(bind, "weight_shape", "[%sIN_C, OUT_C, %sK_H, K_W]", grouped ? "GROUPS, " : "",
              w.rank == 3 ? "K_D, " : "");
    bind_scratch_numbers(bind, w.out[2] + (weight_is_small(bind->region) ? w.k[2] : 0));
    position_by_division(bind, "at", &position);
    if (w.out_c > 1)
        position.coord[1] =
            w.batch == 1 ? "oc" : arena_printf(bind->arena, "oc %% %lld", (long long)w.out_c);
    return bind_epilogue(bind, "row[ow]", &position);
}

const struct kernel kernel_conv_transpose2d = {
    .name = "conv_transpose2d",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_CONV1D_TRANSPOSE, OP_CONV2D_TRANSPOSE), accepts_conv_transpose,
                 bind_conv_transpose } },
};

const struct kernel kernel_conv_transpose3d = {
    .name = "conv_transpose3d",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_CONV3D_TRANSPOSE), accepts_conv_transpose, bind_conv_transpose } },
};
