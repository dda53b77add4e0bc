/* hooks.c - what the templates of cmsis_nn need besides captures: weights in the library's order,
 * multipliers and shifts, offsets. layout.c turns regions to NHWC before. */
#include <math.h>
#include <string.h>

#include "partition/targets/cmsis_nn/layout.h"
#include "partition/targets/quantized.h"

static const struct value *captured(const struct match *match, const char *name)
{
    const struct capture *capture = match_capture(match, name);

    return capture ? capture->value : NULL;
}

static void lower_factor(struct lowering *lowering, const char *name, struct fixed_point factor)
{
    lowering_int(lowering, arena_printf(lowering->arena, "%s_multiplier", name), factor.multiplier);
    lowering_int(lowering, arena_printf(lowering->arena, "%s_shift", name), factor.shift);
}

/* The factors, and the offsets of a product. */
static void lower_product(const struct match *match, int64_t channels, struct lowering *lowering)
{
    lower_requantize(match, channels, lowering);
    lowering_int(lowering, "x_offset", -captured_zero(match, "xz"));
    lowering_int(lowering, "w_offset", -captured_zero(match, "wz"));
    lowering_int(lowering, "out_offset", captured_zero(match, "oz"));
}

/* ${sums}: the bias, zeros where there is none. */
static void lower_bias(const struct match *match, int64_t channels, struct lowering *lowering)
{
    const struct type type = type_make(DTYPE_I32, 1, &channels);
    const struct value *bias = captured(match, "bias");

    lowering_array(lowering, "sums", &type,
                   bias ? bias->data : arena_array(lowering->arena, int32_t, channels), "");
}

/* OIHW to OHWI. */
static void lower_conv_weights(const struct type *w, const int8_t *data, struct lowering *lowering)
{
    const int64_t in = w->dim[1], taps = w->dim[2] * w->dim[3];
    const struct type packed_type =
        type_make(DTYPE_I8, 4, (int64_t[]){ w->dim[0], w->dim[2], w->dim[3], in });
    int8_t *packed = arena_alloc(lowering->arena, type_bytes(w));

    for (int64_t o = 0; o < w->dim[0]; o++)
        for (int64_t i = 0; i < in; i++)
            for (int64_t k = 0; k < taps; k++)
                packed[(o * taps + k) * in + i] = data[(o * in + i) * taps + k];
    lowering_array(lowering, "packed", &packed_type, packed, "OHWI");
}

/* (O, 1, H, W) to (1, H, W, O). */
static void lower_depthwise_weights(const struct type *w, const int8_t *data,
                                    struct lowering *lowering)
{
    const int64_t out = w->dim[0], taps = w->dim[2] * w->dim[3];
    const struct type packed_type =
        type_make(DTYPE_I8, 4, (int64_t[]){ 1, w->dim[2], w->dim[3], out });
    int8_t *packed = arena_alloc(lowering->arena, type_bytes(w));

    for (int64_t o = 0; o < out; o++)
        for (int64_t k = 0; k < taps; k++)
            packed[k * out + o] = data[o * taps + k];
    lowering_array(lowering, "packed", &packed_type, packed, "HWO");
}

/* Where a convolution's window lies, in one direction. */
struct extent {
    int64_t in, out, window, stride, begin, dilation;
};

static struct extent extent_of(const struct node *conv, int axis)
{
    const struct conv_attrs *a = &conv->attrs.conv;

    return (struct extent){ .in = conv->inputs[0]->type.dim[2 + axis],
                            .out = conv->outputs[0]->type.dim[2 + axis],
                            .window = conv->inputs[1]->type.dim[2 + axis],
                            .stride = a->strides.at[axis],
                            .begin = a->padding.at[axis],
                            .dilation = a->dilation.at[axis] };
}

/* On cores with vectors the library has a kernel of its own for images and windows of height 1. It
 * takes for granted that the padding is the same on both sides, or one more behind, and that one
 * element of the first window in the padding behind is padding; else it fails or reads on. */
static bool is_right_in_one_row(const struct extent *w)
{
    const int64_t behind = (w->out - 1) * w->stride - w->begin + w->window - w->in;
    const int64_t n_behind = (w->begin + w->stride - 1 + (behind > w->begin)) / w->stride;

    if (behind < w->begin || behind > w->begin + 1)
        return false;
    return behind == 0 || behind - ((n_behind > 1 ? n_behind : 1) - 1) * w->stride == 1;
}

static void lower_extent(const struct extent *extent, const char *axis, struct lowering *lowering)
{
    const struct {
        const char *name;
        int64_t number;
    } rows[] = { { "in", extent->in },         { "out", extent->out },
                 { "window", extent->window }, { "stride", extent->stride },
                 { "padding", extent->begin }, { "dilation", extent->dilation } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        lowering_int(lowering, arena_printf(lowering->arena, "%s_%s", rows[i].name, axis),
                     rows[i].number);
}

/* An image of one row is one of one column as well, which the library has no special way for. */
static void lower_window(const struct node *conv, struct lowering *lowering)
{
    const struct extent h = extent_of(conv, 0), w = extent_of(conv, 1);
    const bool turned = h.in == 1 && h.window == 1 && w.window > 1 && !is_right_in_one_row(&w);

    lower_extent(turned ? &w : &h, "h", lowering);
    lower_extent(turned ? &h : &w, "w", lowering);
}

static void lower_conv(const struct match *match, bool depthwise, struct lowering *lowering)
{
    const struct value *w = captured(match, "w");
    const struct node *conv = match_capture(match, "acc")->node;

    lower_product(match, w->type.dim[0], lowering);
    lower_bias(match, w->type.dim[0], lowering);
    lower_window(conv, lowering);
    if (depthwise) {
        lowering_int(lowering, "channel_multiplier", w->type.dim[0] / conv->attrs.conv.groups);
        lower_depthwise_weights(&w->type, w->data, lowering);
    } else {
        lower_conv_weights(&w->type, w->data, lowering);
    }
}

static void lower_add(const struct match *match, struct lowering *lowering)
{
    const struct qnn_add_factors factors =
        qnn_add_factors_of(DTYPE_I8, captured_scale(match, "as", 0), captured_scale(match, "bs", 0),
                           captured_scale(match, "os", 0));

    lower_factor(lowering, "a", factors.a);
    lower_factor(lowering, "b", factors.b);
    lower_factor(lowering, "out", factors.out);
    lowering_int(lowering, "left_shift", factors.shift);
}

static void lower_offsets(const struct match *match, struct lowering *lowering)
{
    lowering_int(lowering, "a_offset", -captured_zero(match, "az"));
    lowering_int(lowering, "b_offset", -captured_zero(match, "bz"));
    lowering_int(lowering, "out_offset", captured_zero(match, "oz"));
}

static void lower_pool(const struct match *match, struct lowering *lowering)
{
    const struct pool_attrs *a = &match_capture(match, "pool")->node->attrs.pool;

    lowering_int(lowering, "window_h", a->pool_size.at[0]);
    lowering_int(lowering, "window_w", a->pool_size.at[1]);
    lowering_int(lowering, "stride_h", a->strides.at[0]);
    lowering_int(lowering, "stride_w", a->strides.at[1]);
    lowering_int(lowering, "pad_h", a->padding.at[0]);
    lowering_int(lowering, "pad_w", a->padding.at[1]);
}

/* The library's softmax takes the input's scale as a factor of 2^26 (5 integer bits of 31), and the
 * difference from the greatest below which it counts 0; as TensorFlow Lite prepares them. */
static void lower_softmax(const struct match *match, struct lowering *lowering)
{
    enum { INTEGER_BITS = 5 };
    const struct type *x = &captured(match, "x")->type;
    const double factor = fmin(captured_scale(match, "s", 0) * 0x1p26, 2147483647.0);
    const struct fixed_point fixed = fixed_point_of(factor);
    const int64_t row = x->dim[x->rank - 1];

    lowering_int(lowering, "multiplier0", fixed.multiplier);
    lowering_int(lowering, "shift0", fixed.shift);
    lowering_int(lowering, "diff_min",
                 -(int64_t)floor(((1 << INTEGER_BITS) - 1) * ldexp(1.0, 31 - INTEGER_BITS) /
                                 ldexp(1.0, fixed.shift)));
    lowering_int(lowering, "row", row);
    lowering_int(lowering, "rows", type_elements(x) / (row ? row : 1));
}

static bool lower(const struct composite_row *row, const struct match *match,
                  struct lowering *lowering)
{
    const char *kind = strchr(row->name, '.') + 1;

    if (strcmp(kind, "conv2d") == 0 || strcmp(kind, "depthwise_conv2d") == 0) {
        lower_conv(match, *kind == 'd', lowering);
    } else if (strcmp(kind, "fully_connected") == 0) {
        lower_product(match, captured(match, "w")->type.dim[0], lowering);
        lower_bias(match, captured(match, "w")->type.dim[0], lowering);
    } else if (strcmp(kind, "add") == 0) {
        lower_add(match, lowering);
        lower_offsets(match, lowering);
    } else if (strcmp(kind, "mul") == 0) {
        lower_factor(lowering, "out",
                     qnn_mul_factor_of(captured_scale(match, "as", 0),
                                       captured_scale(match, "bs", 0),
                                       captured_scale(match, "os", 0)));
        lower_offsets(match, lowering);
    } else if (match_capture(match, "pool")) {
        lower_pool(match, lowering);
    } else if (strcmp(kind, "softmax") == 0) {
        lower_softmax(match, lowering);
    }
    return true;
}

const struct target_hooks cmsis_nn_hooks;
const struct target_hooks cmsis_nn_hooks = { .target = "cmsis_nn",
                                             .optimise = cmsis_nn_to_nhwc,
                                             .lower = lower };
