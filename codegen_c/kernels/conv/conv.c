/* conv.c - scalar convolutions: pointwise, depthwise, the general case, and those whose weights are
 * computed at run time.
 *
 * 1-D is bound as 2-D of height 1. The general kernels gather the inputs of four output pixels and
 * take 4 x 4 tiles of sums from them; weights are packed in panels of four output channels. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/kernels/conv/conv.h"
#include "codegen_c/kernels/conv/conv_tiles.h"

enum {
    TILE = 4,
    MOST_UNROLLED = 25 /* most taps with a statement each */
};

static bool takes_conv(const struct region *region, const char **why)
{
    const struct conv_attrs *attrs = &region->anchor->attrs.conv;
    const struct window w = window_of_conv(region);

    return takes_operands(region, why) && takes_window(&w, why) &&
           takes_channels_first(attrs->data_layout, attrs->out_layout, why);
}

/* With few output channels per input channel a gathered patch is hardly reused. */
static bool accepts_conv_depthwise(const struct region *region, const char **why)
{
    struct window w;

    if (!takes_conv(region, why))
        return false;
    w = window_of_conv(region);
    if (w.rank < 3 && w.in_c == w.groups && w.out_c < TILE * w.groups)
        return true;
    *why = "an output channel reads more than one input channel";
    return false;
}

/* Small kernels have a variable per weight and a statement per tap. */
static void bind_taps(struct bind *bind, const struct window *w)
{
    const bool unrolled = window_k_len(w) <= MOST_UNROLLED, dilated = w->dil[1] * w->dil[2] > 1;

    bind_flag(bind, "unrolled", unrolled);
    bind_flag(bind, "fixed", unrolled && !weight_is_small(bind->region));
    bind_flag(bind, "dilated", dilated);
    bind_text(bind, "row_step", dilated ? "DIL_H * PLANE_W" : "PLANE_W");
    bind_text(bind, "tap", dilated ? "kw * DIL_W" : "kw");
    for (int kh = 0; unrolled && kh < w->k[1]; kh++) {
        struct str weights = { .arena = bind->arena };

        for (int kw = 0; kw < w->k[2]; kw++)
            str_printf(&weights, "%sw%d%d = w[%d]", kw ? ", " : "", kh, kw, kh * (int)w->k[2] + kw);
        bind_text(bind, arena_printf(bind->arena, "weights%d", kh), "%s", str_text(&weights));
        bind_flag(bind, arena_printf(bind->arena, "below%d", kh), kh > 0);
    }
    for (int kw = 0; unrolled && kw < w->k[2]; kw++)
        bind_text(bind, arena_printf(bind->arena, "tap%d", kw),
                  !dilated || kw == 0 ? "%d"
                  : kw == 1           ? "DIL_W"
                                      : "%d * DIL_W",
                  kw);
}

static bool bind_conv_depthwise(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const int64_t plane_h = window_padded_extent(&w, 1), plane_w = window_padded_extent(&w, 2);
    const bool coded = data_is_small(bind->region), small = weight_is_small(bind->region);
    struct position position;

    bind_data(bind);
    bind_input(bind, "x", 0);
    bind_weight_rows(bind);
    bind_window(bind, &w);
    bind_taps(bind, &w);
    bind_flag(bind, "copied", w.padded || coded);
    bind_flag(bind, "plain_copy", coded && !w.padded);
    bind_text(bind, "padded_plane", w.padded || coded ? "plane" : "in");
    bind_text(bind, "plane_start", small ? "w + K_H * K_W" : "scratch");
    bind_int(bind, "plane_h", plane_h);
    bind_int(bind, "plane_w", plane_w);
    bind_flag(bind, "batched", w.batch > 1);
    bind_flag(bind, "multiplied", w.out_c > w.in_c);
    bind_int(bind, "batch", w.batch);
    bind_int(bind, "out_c", w.out_c);
    bind_int(bind, "multiplier", w.out_c / w.in_c);
    bind_text(bind, "n_planes", w.batch > 1 ? "BATCH * OUT_C" : "OUT_C");
    bind_text(bind, "plane", w.out_c > w.in_c ? "(oc / MULTIPLIER)" : "oc");
    bind_text(bind, "kernel", w.batch > 1 ? "(oc %% OUT_C)" : "oc");
    if (w.padded || coded || small)
        bind_scratch_numbers(bind, (w.padded || coded ? plane_h * plane_w : 0) +
                                       (small ? window_k_len(&w) : 0));
    position_by_division(bind, "at", &position);
    if (w.out_c > 1)
        position.coord[1] =
            w.batch == 1 ? "oc" : arena_printf(bind->arena, "oc %% %lld", (long long)w.out_c);
    return bind_epilogue(bind, "sum", &position);
}

/* Weights that cannot be packed, if no other kernel takes them. */
static bool accepts_conv_direct(const struct region *region, const char **why)
{
    return takes_conv(region, why);
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

/* oc counts as in transposed convolutions, below. */
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

const struct kernel kernel_conv_depthwise = {
    .name = "conv_depthwise",
    .forms = { { OPS(OP_CONV1D, OP_CONV2D), accepts_conv_depthwise, bind_conv_depthwise } },
};

const struct kernel kernel_conv_direct = {
    .name = "conv_direct",
    .forms = { { OPS(OP_CONV1D, OP_CONV2D, OP_CONV3D), accepts_conv_direct, bind_conv_direct } },
};

const struct kernel kernel_conv_transpose2d = {
    .name = "conv_transpose2d",
    .forms = { { OPS(OP_CONV1D_TRANSPOSE, OP_CONV2D_TRANSPOSE), accepts_conv_transpose,
                 bind_conv_transpose } },
};

const struct kernel kernel_conv_transpose3d = {
    .name = "conv_transpose3d",
    .forms = { { OPS(OP_CONV3D_TRANSPOSE), accepts_conv_transpose, bind_conv_transpose } },
};
