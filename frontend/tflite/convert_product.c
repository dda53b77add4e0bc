/* convert_product.c - TRANSPOSE_CONV, BATCH_MATMUL. */
#include <string.h>

#include "frontend/tflite/convert_compose.h"
#include "frontend/tflite/convert_quant.h"
#include "relay_ir/walk.h"

enum { PADDING, STRIDE_W, STRIDE_H, ACTIVATION };
enum { SAME, VALID };

/* --- transposed convolutions ------------------------------------------------------------------ */

/* Rows, then columns. TensorFlow Lite's inputs: the result's shape, weights of O, H, W, I, x, a bias. */
struct transposed {
    int64_t in[2], out[2], kernel[2], stride[2], before[2];
    int64_t in_c, out_c;
};

static bool read_transposed(struct tfl_node *node, struct transposed *t)
{
    enum { MOST = 1 << 16 };
    const struct type *w, *x, *y;

    if (!tfl_check(node, 3, 4, 1) || !tfl_check_rank(node, node->inputs[1], 4, 4) ||
        !tfl_check_rank(node, node->inputs[2], 4, 4) ||
        !tfl_check_rank(node, node->outputs[0], 4, 4))
        return false;
    w = &node->inputs[1]->type;
    x = &node->inputs[2]->type;
    y = &node->outputs[0]->type;
    t->in_c = x->dim[3];
    t->out_c = w->dim[0];
    for (int i = 0; i < 2; i++) {
        const int64_t scheme = tfl_word(node, PADDING);
        int64_t total, covered;

        t->in[i] = x->dim[1 + i];
        t->out[i] = y->dim[1 + i];
        t->kernel[i] = w->dim[1 + i];
        t->stride[i] = tfl_int(node, i ? STRIDE_W : STRIDE_H, 0);
        if (scheme < SAME || scheme > VALID || t->in[i] < 1 || t->in[i] > MOST || t->out[i] < 1 ||
            t->out[i] > MOST || t->kernel[i] < 1 || t->kernel[i] > MOST || t->stride[i] < 1 ||
            t->stride[i] > 64)
            return tfl_unsupported(node, "a window of %lld with stride %lld, %lld to %lld",
                                   (long long)t->kernel[i], (long long)t->stride[i],
                                   (long long)t->in[i], (long long)t->out[i]);
        covered = scheme == SAME ? (t->out[i] + t->stride[i] - 1) / t->stride[i]
                                 : (t->out[i] - t->kernel[i] + t->stride[i]) / t->stride[i];
        total = (covered - 1) * t->stride[i] + t->kernel[i] - t->out[i];
        t->before[i] = total > 0 ? total / 2 : 0;
    }
    if (w->dim[3] != t->in_c || y->dim[3] != t->out_c || x->dim[0] != y->dim[0] || t->out_c < 1)
        return tfl_unsupported(node, "weights of %s for an input of %s and a result of %s",
                               type_text(&node->ctx->perm, w), type_text(&node->ctx->perm, x),
                               type_text(&node->ctx->perm, y));
    return true;
}

/* Taps of a phase: of each stride-th element of the kernel. */
static int64_t taps_of(const struct transposed *t, int i)
{
    return (t->kernel[i] + t->stride[i] - 1) / t->stride[i];
}

/* Element (o, c, y, x) of the phases' weights: phase (py, px) is the outer part of o, and the taps lie in reverse.
 * -1 where the phase is shorter. */
static int64_t source_of(const struct transposed *t, int64_t o, int64_t c, int64_t y, int64_t x)
{
    const int64_t phase = o / t->out_c, channel = o % t->out_c;
    const int64_t row = phase / t->stride[1] + t->stride[0] * (taps_of(t, 0) - 1 - y);
    const int64_t column = phase % t->stride[1] + t->stride[1] * (taps_of(t, 1) - 1 - x);

    if (row >= t->kernel[0] || column >= t->kernel[1])
        return -1;
    return ((channel * t->kernel[0] + row) * t->kernel[1] + column) * t->in_c + c;
}

static struct value *weights_of_phases(struct tfl_node *node, const struct transposed *t,
                                       const struct tensor *w)
{
    const int64_t phases = t->stride[0] * t->stride[1];
    const int64_t n_y = taps_of(t, 0), n_x = taps_of(t, 1);
    const struct type type =
        type_make(w->type.dtype, 4, (const int64_t[]){ phases * t->out_c, t->in_c, n_y, n_x });
    const size_t bytes = dtype_bytes(type.dtype);
    char *made;
    int64_t i = 0;

    if (!type_check_size(node->ctx, node->origin, &type))
        return NULL;
    made = tfl_payload(node, &type);
    for (int64_t o = 0; made && o < phases * t->out_c; o++)
        for (int64_t c = 0; c < t->in_c; c++)
            for (int64_t k = 0; k < n_y * n_x; k++, i++) {
                const int64_t from = source_of(t, o, c, k / n_x, k % n_x);

                if (from >= 0)
                    memcpy(made + (size_t)i * bytes, (const char *)w->data + (size_t)from * bytes,
                           bytes);
            }
    return tfl_weights(node, tfl_made(node, &type, made, "phases"));
}

/* One convolution without strides computes all phases of a result, as channels; these become its rows and columns, of
 * which the padding is cut off. */
static struct value *through_phases(struct tfl_node *node, const struct transposed *t,
                                    const struct tensor *w)
{
    const union attrs blocks = {
        .block = { .block_size = ints_of(2, t->stride), .mode = "DCR", .layout = "NCHW" }
    };
    union attrs attrs, slice;
    struct ints padding = ints_fill(4, 0);
    struct value *y;

    for (int i = 0; i < 2; i++) {
        const int64_t rows = (t->before[i] + t->out[i] + t->stride[i] - 1) / t->stride[i];

        padding.at[i] = taps_of(t, i) - 1;
        padding.at[2 + i] = rows > t->in[i] ? rows - t->in[i] : 0;
    }
    attrs.conv = (struct conv_attrs){ .strides = ints_fill(2, 1),
                                      .padding = padding,
                                      .dilation = ints_fill(2, 1),
                                      .groups = 1,
                                      .data_layout = "NCHW",
                                      .out_layout = "",
                                      .kernel_layout = "OIHW",
                                      .out_dtype = DTYPE_NONE };
    y = tfl_product(node, &(struct tfl_product){ .integer = OP_QNN_CONV2D,
                                                 .real = OP_CONV2D,
                                                 .attrs = &attrs,
                                                 .x = tfl_first(node, 2),
                                                 .w = weights_of_phases(node, t, w),
                                                 .n = t->out_c,
                                                 .times = t->stride[0] * t->stride[1],
                                                 .w_axis = 0,
                                                 .axis = 1,
                                                 .inputs = { .x = 2, .w = 1, .bias = 3 },
                                                 .activation = ACTIVATION });
    y = y ? tfl_build1(node, OP_DEPTH_TO_SPACE, &blocks, "spread", y) : NULL;
    if (!y)
        return NULL;
    slice.slice = (struct slice_attrs){
        .begin = ints_of(4, (const int64_t[]){ 0, 0, t->before[0], t->before[1] }),
        .strides = ints_fill(4, 1),
        .size = ints_of(4, (const int64_t[]){ y->type.dim[0], t->out_c, t->out[0], t->out[1] })
    };
    return tfl_build1(node, OP_STRIDED_SLICE, &slice, "cut", y);
}

bool convert_tfl_transpose_conv(struct tfl_node *node)
{
    struct transposed t;
    struct tensor w;

    if (!read_transposed(node, &t) || !tfl_constant(node, 1, &w))
        return false;
    return tfl_output_first(node, 0, through_phases(node, &t, &w));
}

/* --- products of matrices --------------------------------------------------------------------- */

bool convert_tfl_batch_matmul(struct tfl_node *node)
{
    enum { ADJ_A, ADJ_B };
    const union attrs attrs = { .matmul = { .transpose_a = tfl_flag(node, ADJ_A),
                                            .transpose_b = tfl_flag(node, ADJ_B),
                                            .out_dtype = DTYPE_NONE } };
    const struct tfl_tensor *a, *b;
    struct value *y;

    if (!tfl_check(node, 2, 2, 1) || !tfl_check_rank(node, node->inputs[0], 2, MAX_RANK) ||
        !tfl_check_rank(node, node->inputs[1], 2, MAX_RANK) ||
        !tfl_check_type(node, node->inputs[1], node->inputs[0]->type.dtype))
        return false;
    a = node->inputs[0];
    b = node->inputs[1];
    if (a->type.dtype == DTYPE_F32)
        return tfl_output(
            node, 0,
            tfl_build(node, OP_MATMUL, &attrs, "product", 2,
                      (struct value *const[]){ tfl_value(node, 0), tfl_value(node, 1) }));
    if (!tfl_check_type(node, a, DTYPE_I8) || !tfl_check_quantized(node))
        return false;
    y = tfl_build(node, OP_QNN_MATMUL, &attrs, "sums", 4,
                  (struct value *const[]){ tfl_value(node, 0), tfl_value(node, 1),
                                           tfl_zero_of(node, a, "a_zero"),
                                           tfl_zero_of(node, b, "b_zero") });
    return tfl_output(
        node, 0,
        tfl_quantized(node, y, tfl_scale(a, 0) * tfl_scale(b, 0) / tfl_scale(node->outputs[0], 0),
                      "codes"));
}
