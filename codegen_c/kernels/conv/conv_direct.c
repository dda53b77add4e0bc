/* conv_direct.c - scalar convolutions, channels first, for weights that are computed at run time, or
 * that no other kernel takes. 1-D is bound as 2-D of height 1. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/conv/conv.h"

bool takes_conv(const struct region *region, const char **why)
{
    const struct conv_attrs *attrs = &region->anchor->attrs.conv;
    const struct window w = window_of_conv(region);

    return takes_operands(region, why) && takes_window(&w, why) &&
           takes_channels_first(attrs->data_layout, attrs->out_layout, why);
}

/* Binds the indices of a pixel of y, a weight's tap and the element of x under it, row-major. */
static void bind_direct_places(struct bind *bind, bool deep)
{
    bind_flag(bind, "deep", deep);
    bind_text(bind, "at",
              deep ? "((oc * OUT_D + od) * OUT_H + oh) * OUT_W + ow"
                   : "(oc * OUT_H + oh) * OUT_W + ow");
    bind_text(bind, "tap",
              deep ? "((ic * K_D + kd) * K_H + kh) * K_W + kw" : "(ic * K_H + kh) * K_W + kw");
    bind_text(bind, "from",
              deep ? "((ic * IN_D + id) * IN_H + ih) * IN_W + iw" : "(ic * IN_H + ih) * IN_W + iw");
    bind_text(bind, "in_shape", deep ? "[IN_C, IN_D, IN_H, IN_W]" : "[IN_C, IN_H, IN_W]");
    bind_text(bind, "weight_shape", deep ? "[IN_C, K_D, K_H, K_W]" : "[IN_C, K_H, K_W]");
    bind_text(bind, "in_len", deep ? "IN_C * IN_D * IN_H * IN_W" : "IN_C * IN_H * IN_W");
    bind_text(bind, "patch", deep ? "IN_C * K_D * K_H * K_W" : "IN_C * K_H * K_W");
}

/* oc counts as in transposed convolutions (conv_transpose2d.c). */
static bool bind_conv_direct(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const bool many = w.batch * w.groups > 1;
    struct position position;

    bind_data(bind);
    if (w.padded)
        bind_helper(bind, "window");
    bind_text(bind, "in", many ? "&%s[oc / OUT_C * IN_LEN]" : "%s",
              bind_operand(bind, bind->region->anchor->inputs[0]));
    bind_input(bind, "weight", 1);
    bind_weight_elements(bind);
    bind_window(bind, &w);
    bind_direct_places(bind, w.rank == 3);
    bind_flag(bind, "many", many);
    bind_int(bind, "batch", w.batch);
    bind_int(bind, "groups", w.groups);
    bind_int(bind, "in_c", w.in_c / w.groups);
    bind_int(bind, "out_c", w.out_c / w.groups);
    bind_text(bind, "n_planes", many ? "BATCH * GROUPS * OUT_C" : "OUT_C");
    bind_text(bind, "kernel", w.batch > 1 ? "(oc %% (GROUPS * OUT_C))" : "oc");
    position_by_division(bind, "at", &position);
    if (w.out_c > 1)
        position.coord[1] =
            w.batch == 1 ? "oc" : arena_printf(bind->arena, "oc %% %lld", (long long)w.out_c);
    return bind_epilogue(bind, "sum", &position);
}

const struct kernel kernel_conv_direct = {
    .name = "conv_direct",
    .sums = SUMS_CHANNELS,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D, OP_CONV3D), takes_conv, bind_conv_direct } },
};
