/* qnn.c - products of quantised values: convolutions, dense layers, matrix products.
 *
 * Weights are read in their own layout. A zero point that is known to be 0 costs nothing, others a
 * subtraction: x's once per tap and output pixel, w's in each product. The factors are then below
 * 2^17 and 2^9, so that a product is an int. */
#include "codegen_c/kernels/int8/qnn.h"

#include <inttypes.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/core/number.h"
#include "codegen_c/core/window.h"
#include "codegen_c/kernels/dense/dense.h"

enum { X, W, X_ZERO, W_ZERO };

/* Binds `key`, the C expression of a zero point, and `minus`, the suffix of an element; both "" if
 * it is known to be 0. `channel`: the output channel's index. */
static void bind_zero(struct bind *bind, const char *key, const char *minus, int input,
                      const char *channel)
{
    struct value *value = bind->region->anchor->inputs[input];
    double number;

    keys_offer(bind->keys, minus, arena_printf(bind->arena, " - %s", key));
    if (value->kind != VALUE_CONSTANT || !value_uniform(value, &number)) {
        bind_text(bind, key, "%s[%s]", bind_operand(bind, value),
                  type_elements(&value->type) == 1 ? "0" : channel);
    } else if (number != 0 || input == X_ZERO) {
        bind_text(bind, key, "%s",
                  number_i32(bind->arena, bind->region->anchor,
                             input == X_ZERO ? "zero_of_x" : "zero_of_w", (int64_t)number));
    } else {
        bind_text(bind, key, "%s", "");
        keys_offer(bind->keys, minus, "");
    }
}

static void bind_factors(struct bind *bind, const char *channel)
{
    bind_type(bind);
    bind_text(bind, "tw", "%s", dtype_c_type(anchor_input(bind->region, W)->dtype));
    bind_zero(bind, "x_zero", "minus_x_zero", X_ZERO, "0");
    bind_zero(bind, "w_zero", "minus_w_zero", W_ZERO, channel);
}

bool accepts_qnn_conv(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);

    return takes_sizes(region, why) && takes_window(&w, why);
}

/* The index of a result; oc counts the channels of all images. */
static const char *out_place(struct bind *bind, const struct window *w)
{
    const bool deep = w->rank == 3;
    const long long c = (long long)w->out_c;

    if (!w->out_channels_last)
        return deep ? "((oc * OUT_D + od) * OUT_H + oh) * OUT_W + ow"
                    : "(oc * OUT_H + oh) * OUT_W + ow";
    if (w->batch == 1)
        return arena_printf(bind->arena, "(%s * OUT_W + ow) * %lld + oc",
                            deep ? "(od * OUT_H + oh)" : "oh", c);
    return arena_printf(bind->arena, "((%s * OUT_H + oh) * OUT_W + ow) * %lld + oc %% %lld",
                        deep ? arena_printf(bind->arena, "(oc / %lld * OUT_D + od)", c)
                             : arena_printf(bind->arena, "oc / %lld", c),
                        c, c);
}

/* The index that a tap reads, and the number of elements. */
static void bind_places(struct bind *bind, const struct window *w)
{
    const bool deep = w->rank == 3;

    bind_flag(bind, "deep", deep);
    bind_text(bind, "at", "%s", out_place(bind, w));
    if (w->channels_last) {
        bind_text(bind, "from", "%s * %" PRId64 " + ic",
                  deep ? "((id * IN_H + ih) * IN_W + iw)" : "(ih * IN_W + iw)", w->in_c);
        bind_text(bind, "in_shape", "[%sIN_H, IN_W, %" PRId64 "]", deep ? "IN_D, " : "", w->in_c);
        bind_text(bind, "in_at", "g / GROUPS * %" PRId64 " + g %% GROUPS * IN_C",
                  w->in_c * window_in_len(w));
    } else {
        bind_text(bind, "from",
                  deep ? "((ic * IN_D + id) * IN_H + ih) * IN_W + iw"
                       : "(ic * IN_H + ih) * IN_W + iw");
        bind_text(bind, "in_shape", deep ? "[IN_C, IN_D, IN_H, IN_W]" : "[IN_C, IN_H, IN_W]");
        bind_text(bind, "in_at", deep ? "g * IN_C * IN_D * IN_H * IN_W" : "g * IN_C * IN_H * IN_W");
    }
    bind_text(bind, "weight_shape", deep ? "[IN_C, K_D, K_H, K_W]" : "[IN_C, K_H, K_W]");
    bind_text(bind, "patch", deep ? "IN_C * K_D * K_H * K_W" : "IN_C * K_H * K_W");
    bind_text(bind, "minus_front", "%s", w->padded ? " - PAD_FRONT" : "");
    bind_text(bind, "minus_top", "%s", w->padded ? " - PAD_TOP" : "");
    bind_text(bind, "minus_left", "%s", w->padded ? " - PAD_LEFT" : "");
}

/* oc counts the output channels of all groups of all images. */
void bind_qnn_places(struct bind *bind, const struct window *w, struct position *position)
{
    const bool many = w->batch * w->groups > 1;

    bind_input(bind, "x", X);
    bind_input(bind, "weight", W);
    bind_window(bind, w);
    bind_places(bind, w);
    bind_flag(bind, "many", many);
    bind_int(bind, "batch", w->batch);
    bind_int(bind, "groups", w->groups);
    bind_int(bind, "in_c", w->in_c / w->groups);
    bind_int(bind, "out_c", w->out_c / w->groups);
    bind_text(bind, "oc", many ? "g * OUT_C + i" : "i");
    bind_text(bind, "kernel", w->batch > 1 ? "(g %% GROUPS * OUT_C + i)" : "oc");
    position_by_division(bind, "at", position);
    if (w->out_c > 1)
        position->coord[w->out_channels_last ? position->rank - 1 : 1] =
            w->batch == 1 ? "oc" : arena_printf(bind->arena, "oc %% %" PRId64, w->out_c);
}

static bool bind_qnn_conv(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    const bool narrow = dtype_bytes(anchor_input(bind->region, X)->dtype) == 1;
    const int64_t n_patch = w.in_c / w.groups * window_k_len(&w);
    struct position position;

    bind_qnn_places(bind, &w, &position);
    bind_text(bind, "tpatch", narrow ? "int16_t" : "int32_t");
    bind_scratch(bind, (size_t)(n_patch > 0 ? n_patch : 1) * (narrow ? 2 : 4));
    bind_factors(bind, position.coord[w.out_channels_last ? position.rank - 1 : 1]);
    return bind_epilogue(bind, "acc", &position);
}

bool accepts_qnn_matmul(const struct region *region, const char **why)
{
    if (!takes_sizes(region, why))
        return false;
    if (anchor_input(region, X)->rank >= 2 && anchor_input(region, W)->rank >= 2)
        return true;
    *why = "an operand is a vector";
    return false;
}

static bool bind_qnn_matmul(struct bind *bind)
{
    const struct product p = product_of(bind->region);

    bind_product(bind, &p);
    bind_factors(bind, "column");
    return bind_epilogue_at(bind, "acc", "at");
}

static bool overlaps_qnn_conv(const struct region *region, struct overlap *overlap)
{
    const struct window w = window_of_conv(region);

    overlap->bytes = overlap_of_windows(region, &w, 1);
    return window_is_last(&w) && w.groups == 1;
}

const struct kernel kernel_qnn_conv = {
    .name = "qnn_conv",
    .sums = SUMS_NONE,
    .overlaps = overlaps_qnn_conv,
    .forms = { { OPS(OP_QNN_CONV1D, OP_QNN_CONV2D, OP_QNN_CONV3D), accepts_qnn_conv,
                 bind_qnn_conv } },
};

const struct kernel kernel_qnn_matmul = {
    .name = "qnn_matmul",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_QNN_DENSE, OP_QNN_MATMUL), accepts_qnn_matmul, bind_qnn_matmul } },
};
