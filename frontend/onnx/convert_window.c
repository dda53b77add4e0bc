/* convert_window.c - kernel_shape, strides, dilations, pads and auto_pad, as convolutions and pools
 * share them. */
#include <string.h>

#include "frontend/onnx/convert_helpers.h"

/* Bounds that keep every product with a dim far from overflow; networks stay below 2^16. */
#define MOST_STEP ((int64_t)1 << 24)

const char *window_layout(int n, bool kernel, bool transposed)
{
    static const char *const layouts[][MAX_SPATIAL] = {
        { "NCW", "NCHW", "NCDHW" },
        { "OIW", "OIHW", "OIDHW" },
        { "IOW", "IOHW", "IODHW" },
    };

    return layouts[kernel ? 1 + transposed : 0][n - 1];
}

/* A list attribute of n numbers in least..MOST_STEP; `missing` in each place when absent. */
static bool steps(struct onnx_node *node, const char *attr, int n, int64_t least, int64_t missing,
                  struct ints *out)
{
    *out = onnx_ints(node, attr);
    if (!onnx_ok(node))
        return false;
    if (!onnx_has(node, attr))
        *out = ints_fill(n, missing);
    if (out->n != n)
        return bad_attribute(node, "attribute %s has %d numbers, wanted %d", attr, out->n, n);
    for (int i = 0; i < n; i++)
        if (out->at[i] < least || out->at[i] > MOST_STEP)
            return bad_attribute(node, "attribute %s has %lld, wanted %lld or more", attr,
                                 (long long)out->at[i], (long long)least);
    return true;
}

static bool read_kernel(struct onnx_node *node, const struct ints *kernel, struct onnx_window *out)
{
    if (!kernel && !onnx_has(node, "kernel_shape"))
        return bad_attribute(node, "attribute kernel_shape is missing");
    if (!steps(node, "kernel_shape", out->n, 1, 1, &out->kernel))
        return false;
    if (!kernel)
        return true;
    for (int i = 0; i < out->n; i++)
        if (kernel->at[i] < 1 || kernel->at[i] > MOST_STEP)
            return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                              "the kernel is %lld long in dimension %d, wanted 1 or more",
                              (long long)kernel->at[i], i);
    if (onnx_has(node, "kernel_shape") && !ints_equal(kernel, &out->kernel))
        return bad_attribute(node, "attribute kernel_shape differs from the shape of the weights");
    out->kernel = *kernel;
    return true;
}

bool window_read_steps(struct onnx_node *node, const struct ints *kernel, struct onnx_window *out)
{
    const struct value *x = onnx_input(node, 0);
    bool ok;

    if (!onnx_check_rank(node, 0, 3, 2 + MAX_SPATIAL))
        return false;
    out->n = x->type.rank - 2;
    ok = read_kernel(node, kernel, out);
    ok = steps(node, "strides", out->n, 1, 1, &out->strides) && ok;
    ok = steps(node, "dilations", out->n, 1, 1, &out->dilation) && ok;
    out->padding = ints_fill(2 * out->n, 0);
    return ok;
}

void window_split_padding(struct onnx_window *window, int i, int64_t total, bool more_at_end)
{
    int64_t less = total / 2, more = total - less;

    window->padding.at[i] = more_at_end ? less : more;
    window->padding.at[window->n + i] = more_at_end ? more : less;
}

/* SAME: as much padding as makes the output ceil(input / stride) long. */
static void pad_to_same(const struct type *x, bool more_at_end, struct onnx_window *window)
{
    for (int i = 0; i < window->n; i++) {
        int64_t in = x->dim[2 + i], stride = window->strides.at[i];
        int64_t out = in / stride + (in % stride != 0);
        int64_t covered = (window->kernel.at[i] - 1) * window->dilation.at[i] + 1;
        int64_t total = (out - 1) * stride + covered - in;

        window_split_padding(window, i, total > 0 ? total : 0, more_at_end);
    }
}

bool window_read(struct onnx_node *node, const struct ints *kernel, struct onnx_window *out)
{
    const char *mode = onnx_word(node, "auto_pad", "NOTSET");

    if (!window_read_steps(node, kernel, out) || !onnx_ok(node))
        return false;
    if (strcmp(mode, "NOTSET") == 0 || mode[0] == '\0')
        return steps(node, "pads", 2 * out->n, 0, 0, &out->padding);
    if (strcmp(mode, "VALID") == 0)
        return true;
    if (strcmp(mode, "SAME_UPPER") == 0 || strcmp(mode, "SAME_LOWER") == 0) {
        pad_to_same(&onnx_input(node, 0)->type, strcmp(mode, "SAME_UPPER") == 0, out);
        return true;
    }
    return bad_attribute(node, "attribute auto_pad is none of NOTSET, VALID, SAME_UPPER and "
                               "SAME_LOWER");
}
