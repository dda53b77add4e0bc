/* convert_window.c - CONV_2D, DEPTHWISE_CONV_2D, AVERAGE_POOL_2D, MAX_POOL_2D. */
#include <string.h>

#include "frontend/tflite/convert_compose.h"
#include "frontend/tflite/convert_quant.h"
#include "relay_ir/walk.h"

/* Options of convolutions and pools; what follows differs. */
enum { PADDING, STRIDE_W, STRIDE_H };
enum { CONV_ACTIVATION = 3, CONV_DILATION_W, CONV_DILATION_H };
enum { DEPTHWISE_MULTIPLIER = 3, DEPTHWISE_ACTIVATION, DEPTHWISE_DILATION_W, DEPTHWISE_DILATION_H };
enum { POOL_W = 3, POOL_H, POOL_ACTIVATION };
enum { SAME, VALID };

#define MOST ((int64_t)1 << 20) /* of an extent or a step */

/* Rows, then columns. */
struct window {
    int64_t kernel[2], stride[2], dilation[2];
    struct ints padding;
};

/* The padding that the scheme asks for: SAME divides the result's extent by the stride, rounded up,
 * and pads an odd element behind. */
static bool pad_window(struct tfl_node *node, struct window *window)
{
    const struct type *x = &node->inputs[0]->type;
    const int64_t scheme = tfl_word(node, PADDING);

    if (scheme != SAME && scheme != VALID)
        return tfl_unsupported(node, "padding scheme %lld, expected SAME or VALID",
                               (long long)scheme);
    window->padding = ints_fill(4, 0);
    for (int i = 0; i < 2; i++) {
        const int64_t in = x->dim[1 + i], stride = window->stride[i];
        const int64_t covers = (window->kernel[i] - 1) * window->dilation[i] + 1;
        int64_t total;

        if (stride < 1 || stride > MOST || window->dilation[i] < 1 || window->dilation[i] > MOST ||
            window->kernel[i] < 1 || window->kernel[i] > MOST || in > MOST)
            return tfl_unsupported(node,
                                   "a window of %lld with stride %lld and dilation %lld over %lld",
                                   (long long)window->kernel[i], (long long)stride,
                                   (long long)window->dilation[i], (long long)in);
        total = scheme == SAME ? ((in + stride - 1) / stride - 1) * stride + covers - in : 0;
        total = total > 0 ? total : 0;
        window->padding.at[i] = total / 2;
        window->padding.at[2 + i] = total - total / 2;
    }
    return true;
}

/* --- convolutions ----------------------------------------------------------------------------- */

/* The weights, O, H, W, I in the file (depthwise: 1, H, W, O), as O, I, H, W. */
static struct value *weights_of(struct tfl_node *node, bool depthwise, int64_t out_c, int64_t in_c)
{
    struct tensor w, made = { .data = NULL };
    const int64_t *dim;
    int64_t to[MAX_RANK], from[MAX_RANK];

    if (!tfl_constant(node, 1, &w))
        return NULL;
    dim = w.type.dim;
    made.type = type_make(w.type.dtype, 4, (const int64_t[]){ out_c, in_c, dim[1], dim[2] });
    made.data = tfl_payload(node, &made.type);
    if (!made.data)
        return NULL;
    shape_strides(&made.type, to);
    shape_strides(&w.type, from);
    if (depthwise) { /* as O, 1, H, W */
        const int64_t of_channels[] = { from[3], 0, from[1], from[2] };

        copy_steps(4, made.type.dim, dtype_bytes(w.type.dtype), made.data, to, w.data, of_channels);
    } else {
        const int64_t of_channels[] = { from[0], from[3], from[1], from[2] };

        copy_steps(4, made.type.dim, dtype_bytes(w.type.dtype), made.data, to, w.data, of_channels);
    }
    return tfl_weights(node, tfl_made(node, &made.type, made.data, "weights"));
}

bool convert_tfl_conv(struct tfl_node *node)
{
    const bool depthwise = node->arg != 0;
    const int dilation = depthwise ? DEPTHWISE_DILATION_W : CONV_DILATION_W;
    const int activation = depthwise ? DEPTHWISE_ACTIVATION : CONV_ACTIVATION;
    const struct type *x, *w;
    int64_t in_c, out_c, group_c;
    struct window window;
    union attrs attrs;

    if (!tfl_check(node, 2, 3, 1) || !tfl_check_rank(node, node->inputs[0], 4, 4) ||
        !tfl_check_rank(node, node->inputs[1], 4, 4))
        return false;
    x = &node->inputs[0]->type;
    w = &node->inputs[1]->type;
    in_c = x->dim[3];
    out_c = depthwise ? w->dim[3] : w->dim[0];
    group_c = depthwise ? 1 : w->dim[3];
    if ((depthwise && w->dim[0] != 1) || group_c < 1 || in_c < 1 || in_c % group_c ||
        out_c % (in_c / group_c) || out_c < 1)
        return tfl_unsupported(node, "weights of %s for an input of %s",
                               type_text(&node->ctx->perm, w), type_text(&node->ctx->perm, x));
    window = (struct window){
        .kernel = { w->dim[1], w->dim[2] },
        .stride = { tfl_int(node, STRIDE_H, 0), tfl_int(node, STRIDE_W, 0) },
        .dilation = { tfl_int(node, dilation + 1, 1), tfl_int(node, dilation, 1) },
    };
    if (!pad_window(node, &window))
        return false;
    attrs.conv = (struct conv_attrs){ .strides = ints_of(2, window.stride),
                                      .padding = window.padding,
                                      .dilation = ints_of(2, window.dilation),
                                      .groups = in_c / group_c,
                                      .data_layout = "NCHW",
                                      .out_layout = "",
                                      .kernel_layout = "OIHW",
                                      .out_dtype = DTYPE_NONE };
    return tfl_output_first(
        node, 0,
        tfl_product(node, &(struct tfl_product){ .integer = OP_QNN_CONV2D,
                                                 .real = OP_CONV2D,
                                                 .attrs = &attrs,
                                                 .x = tfl_first(node, 0),
                                                 .w = weights_of(node, depthwise, out_c, group_c),
                                                 .n = out_c,
                                                 .w_axis = depthwise ? 3 : 0,
                                                 .axis = 1,
                                                 .never_narrow = depthwise,
                                                 .activation = activation }));
}

/* --- pools ------------------------------------------------------------------------------------ */

/* The average of the quantised values themselves: to nearest, ties away from the code 0, whatever the zero
 * point. */
static struct value *average_of_quantized(struct tfl_node *node, const union attrs *attrs,
                                          struct value *x)
{
    const bool flips = node->inputs[0]->is_unsigned;
    const enum dtype dtype = flips ? DTYPE_U8 : node->inputs[0]->type.dtype;
    struct value *scale = tfl_scale_of(node, node->inputs[0], "scale");
    struct value *zero = tfl_number(node, dtype, 0, "zero");
    struct value *const inputs[] = { flips ? tfl_flipped(node, x, DTYPE_U8) : x, scale, zero, scale,
                                     zero };
    struct value *y = tfl_build(node, OP_QNN_AVG_POOL2D, attrs, "codes", 5, inputs);

    return flips ? tfl_flipped(node, y, DTYPE_I8) : y;
}

/* The root of the average square, of floats. */
static struct value *root_of_squares(struct tfl_node *node, const union attrs *attrs,
                                     struct value *x)
{
    struct value *y =
        tfl_build(node, OP_MULTIPLY, NULL, "squares", 2, (struct value *const[]){ x, x });

    y = y ? tfl_build1(node, OP_AVG_POOL2D, attrs, "average", y) : NULL;
    return y ? tfl_build1(node, OP_SQRT, NULL, "root", y) : NULL;
}

/* L2_POOL_2D is that of OP_LP_POOL2D. */
bool convert_tfl_pool(struct tfl_node *node)
{
    const bool average = node->arg == OP_AVG_POOL2D;
    struct window window = {
        .kernel = { tfl_int(node, POOL_H, 0), tfl_int(node, POOL_W, 0) },
        .stride = { tfl_int(node, STRIDE_H, 0), tfl_int(node, STRIDE_W, 0) },
        .dilation = { 1, 1 },
    };
    const struct tfl_tensor *x;
    struct value *first, *y;
    union attrs attrs;

    if (!tfl_check(node, 1, 1, 1) || !tfl_check_rank(node, node->inputs[0], 4, 4) ||
        !pad_window(node, &window))
        return false;
    x = node->inputs[0];
    attrs.pool = (struct pool_attrs){ .pool_size = ints_of(2, window.kernel),
                                      .strides = ints_of(2, window.stride),
                                      .padding = window.padding,
                                      .dilation = ints_of(2, window.dilation),
                                      .layout = "NCHW" };
    first = tfl_first(node, 0);
    if (x->type.dtype == DTYPE_F32) {
        y = node->arg == OP_LP_POOL2D
                ? root_of_squares(node, &attrs, first)
                : tfl_build1(node, (enum op)node->arg, &attrs, "window", first);
    } else {
        if (node->arg == OP_LP_POOL2D)
            return tfl_check_type(node, x, DTYPE_F32);
        if ((x->type.dtype != DTYPE_I16 && !tfl_check_type(node, x, DTYPE_I8)) ||
            !tfl_check_same_scale(node, x, node->outputs[0]))
            return false;
        y = average ? average_of_quantized(node, &attrs, first)
                    : tfl_build1(node, OP_MAX_POOL2D, &attrs, "codes", first);
    }
    return tfl_output_first(node, 0, tfl_activation(node, POOL_ACTIVATION, y));
}
