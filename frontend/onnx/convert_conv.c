/* convert_conv.c - Conv and ConvTranspose, 1 to 3 spatial dims. */
#include <string.h>

#include "frontend/onnx/convert_helpers.h"

static bool read_groups(struct onnx_node *node, int64_t *groups)
{
    *groups = onnx_int(node, "group", 1);
    if (!onnx_ok(node))
        return false;
    return *groups >= 1 ||
           bad_attribute(node, "attribute group is %lld, wanted 1 or more", (long long)*groups);
}

/* Both operands, their ranks and the kernel's extent. */
static bool read_operands(struct onnx_node *node, struct ints *kernel)
{
    const struct value *x = onnx_input(node, 0), *w = onnx_input(node, 1);

    if (!onnx_check_inputs(node, 2, 3) || !onnx_check_rank(node, 0, 3, 2 + MAX_SPATIAL) ||
        !onnx_check_rank(node, 1, x->type.rank, x->type.rank))
        return false;
    *kernel = ints_of(w->type.rank - 2, w->type.dim + 2);
    return true;
}

/* The convolution, with the bias of input 2 where there is one, as output 0. */
static bool finish(struct onnx_node *node, enum op op, const union attrs *attrs)
{
    const union attrs channels = { .axis = { .axis = 1 } };
    struct value *bias = onnx_input(node, 2);
    struct value *y =
        onnx_build2(node, op, attrs, bias ? "conv" : "", onnx_input(node, 0), onnx_input(node, 1));

    if (y && bias)
        y = onnx_build2(node, OP_BIAS_ADD, &channels, "", y, bias);
    return onnx_output(node, 0, y);
}

bool convert_conv(struct onnx_node *node)
{
    static const enum op ops[] = { OP_CONV1D, OP_CONV2D, OP_CONV3D };
    union attrs attrs = { .conv = { .groups = 1 } };
    struct ints kernel;
    struct onnx_window window;

    if (!read_operands(node, &kernel) || !window_read(node, &kernel, &window) ||
        !read_groups(node, &attrs.conv.groups))
        return false;
    attrs.conv.strides = window.strides;
    attrs.conv.padding = window.padding;
    attrs.conv.dilation = window.dilation;
    attrs.conv.data_layout = window_layout(window.n, false, false);
    attrs.conv.kernel_layout = window_layout(window.n, true, false);
    return finish(node, ops[window.n - 1], &attrs);
}

/* A list attribute of one number per spatial dim, all >= 0; out->n = 0 when it is missing. */
static bool read_extents(struct onnx_node *node, const char *attr, int n, struct ints *out)
{
    *out = onnx_ints(node, attr);
    if (!onnx_ok(node))
        return false;
    if (out->n != 0 && out->n != n)
        return bad_attribute(node, "attribute %s has %d numbers, wanted %d", attr, out->n, n);
    for (int i = 0; i < out->n; i++)
        if (out->at[i] < 0 || out->at[i] > INT32_MAX)
            return bad_attribute(node, "attribute %s has %lld, which is out of range", attr,
                                 (long long)out->at[i]);
    return true;
}

/* The padding that gives the wanted output extents. Where even no padding gives too few elements,
 * the rest is added behind, as output_padding. */
static void pad_to_shape(const struct type *x, const struct ints *wanted, bool more_at_end,
                         struct onnx_window *window, struct ints *output_padding)
{
    for (int i = 0; i < window->n; i++) {
        int64_t covered = (window->kernel.at[i] - 1) * window->dilation.at[i] + 1;
        int64_t full = (x->dim[2 + i] - 1) * window->strides.at[i] + covered;
        int64_t total = full + output_padding->at[i] - wanted->at[i];

        if (total < 0)
            output_padding->at[i] -= total;
        window_split_padding(window, i, total > 0 ? total : 0, more_at_end);
    }
}

static bool read_transposed_padding(struct onnx_node *node, const struct ints *kernel,
                                    struct onnx_window *window, struct ints *output_padding)
{
    const struct type *x = &onnx_input(node, 0)->type;
    const char *mode = onnx_word(node, "auto_pad", "NOTSET");
    const bool same = strncmp(mode, "SAME_", 5) == 0, upper = strcmp(mode, "SAME_UPPER") == 0;
    struct ints wanted;

    if (!onnx_ok(node) || !window_read(node, kernel, window) ||
        !read_extents(node, "output_shape", window->n, &wanted) ||
        !read_extents(node, "output_padding", window->n, output_padding))
        return false;
    if (output_padding->n == 0)
        *output_padding = ints_fill(window->n, 0);
    if (wanted.n == 0 && !same)
        return true;
    if (wanted.n == 0) {
        wanted = ints_fill(window->n, 0);
        for (int i = 0; i < window->n; i++)
            if (__builtin_mul_overflow(x->dim[2 + i], window->strides.at[i], &wanted.at[i]))
                return diag_error(node->ctx, DIAG_TOO_BIG, node->origin,
                                  "the output's extent overflows");
    }
    pad_to_shape(x, &wanted, upper, window, output_padding);
    return true;
}

bool convert_conv_transpose(struct onnx_node *node)
{
    static const enum op ops[] = { OP_CONV1D_TRANSPOSE, OP_CONV2D_TRANSPOSE, OP_CONV3D_TRANSPOSE };
    union attrs attrs = { .conv_transpose = { .groups = 1 } };
    struct ints kernel;
    struct onnx_window window;

    if (!read_operands(node, &kernel) ||
        !read_transposed_padding(node, &kernel, &window, &attrs.conv_transpose.output_padding) ||
        !read_groups(node, &attrs.conv_transpose.groups))
        return false;
    attrs.conv_transpose.strides = window.strides;
    attrs.conv_transpose.padding = window.padding;
    attrs.conv_transpose.dilation = window.dilation;
    attrs.conv_transpose.data_layout = window_layout(window.n, false, false);
    attrs.conv_transpose.kernel_layout = window_layout(window.n, true, true);
    return finish(node, ops[window.n - 1], &attrs);
}
