/* convert_dynamic.c - what onnxruntime.quantization writes for data that are quantised at run time, or
 * not at all: MatMulIntegerToFloat, DynamicQuantizeMatMul, DynamicQuantizeLSTM, MatMulNBits. */
#include <string.h>

#include "frontend/onnx/convert_product.h"
#include "frontend/onnx/convert_qnn.h"

/* --- integer products with f32 results -------------------------------------------------------- */

/* y = A * B in integers, times both scales, plus the bias. */
static bool scaled_product(struct onnx_node *node, struct value *a, struct value *a_scale,
                           struct value *a_zero, int b_scale, int b_zero, int bias)
{
    struct value *const operands[] = { a, onnx_input(node, 1), a_zero, onnx_input(node, b_zero) };
    struct value *add = onnx_input(node, bias), *y, *scale;

    if (!a || !a_scale)
        return false;
    y = onnx_inner(node, convert_matmul_integer, 0, 10, 4, operands, "product");
    scale = apply2(node, OP_MULTIPLY, "scale", a_scale, scale_input(node, b_scale));
    y = apply2(node, OP_MULTIPLY, add ? "real" : "", cast_to(node, y, DTYPE_F32, "sum"), scale);
    return onnx_output(node, 0, add ? apply2(node, OP_ADD, "", y, add) : y);
}

/* A, B, a_scale, b_scale, a_zero, b_zero, bias */
bool convert_matmul_integer_to_float(struct onnx_node *node)
{
    return onnx_check_inputs(node, 4, 7) &&
           scaled_product(node, onnx_input(node, 0), scale_input(node, 2), onnx_input(node, 4), 3,
                          5, 6);
}

/* A in f32, B, b_scale, b_zero, bias */
bool convert_dynamic_quantize_matmul(struct onnx_node *node)
{
    struct value *quantized[3] = { NULL };

    return onnx_check_inputs(node, 3, 5) && onnx_check_kind(node, 0, TAKES_FLOAT) &&
           quantize_at_run_time(node, onnx_input(node, 0), "codes", quantized) &&
           scaled_product(node, quantized[0], quantized[1], quantized[2], 2, 3, 4);
}

/* --- DynamicQuantizeLSTM ---------------------------------------------------------------------- */

/* Weights [directions, in, 4 * hidden] of integers as LSTM's [directions, 4 * hidden, in] of f32. */
static struct value *weights(struct onnx_node *node, int i, int scale, int zero, const char *suffix)
{
    const struct ints axes = { 3, { 0, 2, 1 } };
    struct value *w = onnx_input(node, i), *factor = scale_input(node, scale);
    struct value *centre = onnx_input(node, zero);
    const int64_t directions = w->type.dim[0];
    struct ints shape = { .n = 3 };

    if (!factor || !onnx_check_rank(node, i, 3, 3) || !onnx_check_rank(node, scale, 0, 2))
        return NULL;
    /* one for each direction, or for each column of each direction */
    shape.at[0] = directions;
    shape.at[1] = 1;
    shape.at[2] = type_elements(&factor->type) / (directions ? directions : 1);
    if (shape.at[2] * directions != type_elements(&factor->type)) {
        onnx_unsupported(node, "input %d has shape %s, wanted a scale for each direction or column",
                         scale, shape_text(&node->ctx->perm, &factor->type));
        return NULL;
    }
    w = cast_to(node, w, DTYPE_F32, suffix);
    if (centre)
        w = apply2(node, OP_SUBTRACT, suffix, w,
                   reshape_to(node, cast_to(node, centre, DTYPE_F32, "zero"), &shape, "zero"));
    w = apply2(node, OP_MULTIPLY, suffix, w, reshape_to(node, factor, &shape, "scale"));
    return transpose_to(node, w, &axes, suffix);
}

/* X, W, R, B, sequence_lens, initial_h, initial_c, P, w_scale, w_zero, r_scale, r_zero. ONNX Runtime
 * rounds data to 8 bits in front of each product; here they stay f32. */
bool convert_dynamic_quantize_lstm(struct onnx_node *node)
{
    struct onnx_node inner = *node;
    struct value *inputs[8];

    if (!onnx_check_inputs(node, 3, 12) || !onnx_input(node, 8) || !onnx_input(node, 10))
        return onnx_unsupported(node, "the scales of W and R are missing");
    for (int i = 0; i < 8; i++)
        inputs[i] = onnx_input(node, i);
    inputs[1] = weights(node, 1, 8, 9, "w");
    inputs[2] = weights(node, 2, 10, 11, "r");
    if (!inputs[1] || !inputs[2])
        return false;
    inner.arg = OP_LSTM;
    inner.opset = 14;
    inner.inputs = inputs;
    inner.n_inputs = 8;
    while (!inputs[inner.n_inputs - 1])
        inner.n_inputs--;
    return convert_rnn(&inner);
}

/* --- MatMulNBits ------------------------------------------------------------------------------ */

struct nbits {
    int64_t k, n, bits, block, blocks, bytes; /* bytes of a block */
};

static bool read_nbits(struct onnx_node *node, struct nbits *at)
{
    const struct type *b = &onnx_input(node, 1)->type;

    at->k = onnx_int(node, "K", 0);
    at->n = onnx_int(node, "N", 0);
    at->bits = onnx_int(node, "bits", 4);
    at->block = onnx_int(node, "block_size", 0);
    if (!onnx_ok(node))
        return false;
    if (at->k < 1 || at->n < 1 || at->block < 1 || at->k > INT32_MAX || at->n > INT32_MAX ||
        at->block > INT32_MAX)
        return bad_attribute(node, "K is %lld, N %lld, block_size %lld: wanted 1 or more",
                             (long long)at->k, (long long)at->n, (long long)at->block);
    if (at->bits != 4 && at->bits != 8)
        return onnx_unsupported(node, "weights of %lld bits, wanted 4 or 8", (long long)at->bits);
    if (at->block % 8 != 0)
        return onnx_unsupported(node, "blocks of %lld, wanted a multiple of 8",
                                (long long)at->block);
    at->blocks = (at->k + at->block - 1) / at->block;
    at->bytes = (at->block * at->bits + 7) / 8;
    if (b->dtype != DTYPE_U8 || type_elements(b) != at->n * at->blocks * at->bytes)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "input 1 is %s, wanted %lld x %lld blocks of %lld bytes",
                          type_text(&node->ctx->perm, b), (long long)at->n, (long long)at->blocks,
                          (long long)at->bytes);
    return true;
}

/* Rows of numbers of 4 or 8 bits, each in a byte; a row of `packed` begins at a byte. */
static void unpack(const struct nbits *at, const uint8_t *packed, int64_t row_bytes,
                   int64_t columns, uint8_t *out)
{
    for (int64_t i = 0; i < at->n; i++)
        for (int64_t j = 0; j < columns; j++) {
            const uint8_t byte = packed[i * row_bytes + j * at->bits / 8];

            out[i * columns + j] = at->bits == 8 ? byte : j % 2 ? byte >> 4 : byte & 15;
        }
}

/* Zero points: packed as the weights are, or absent (half of the range). */
static bool read_zeros(struct onnx_node *node, const struct nbits *at, uint8_t *zeros)
{
    const int64_t row = (at->blocks * at->bits + 7) / 8;
    struct tensor given;

    if (!onnx_input(node, 3)) {
        memset(zeros, at->bits == 4 ? 8 : 128, (size_t)(at->n * at->blocks));
        return true;
    }
    if (!onnx_constant(node, 3, &given))
        return false;
    if (given.type.dtype != DTYPE_U8 || type_elements(&given.type) != at->n * row)
        return onnx_unsupported(node, "input 3 is %s, wanted zero points as packed bytes",
                                type_text(&node->ctx->perm, &given.type));
    unpack(at, given.data, row, at->blocks, zeros);
    return true;
}

/* Weights keep their blocks where scales are positive. ONNX Runtime's quantiser writes negative ones:
 * there values and zero points are counted from the other end. */
static void make_positive(const struct nbits *at, uint8_t *quantized, uint8_t *zeros, float *scales)
{
    const uint8_t most = at->bits == 4 ? 15 : 255;

    for (int64_t i = 0; i < at->n * at->blocks; i++) {
        const int64_t row = i / at->blocks, first = i % at->blocks * at->block;

        if (!(scales[i] < 0))
            continue;
        scales[i] = -scales[i];
        zeros[i] = (uint8_t)(most - zeros[i]);
        for (int64_t j = first; j < first + at->block && j < at->k; j++)
            quantized[row * at->k + j] = (uint8_t)(most - quantized[row * at->k + j]);
    }
}

static struct value *numbers(struct onnx_node *node, const struct nbits *at, int64_t columns,
                             const uint8_t *quantized, const char *suffix)
{
    const struct type type = { .dtype = at->bits == 4 ? DTYPE_U4 : DTYPE_U8,
                               .rank = 2,
                               .dim = { at->n, columns } };
    void *data = constant_alloc(node->fn, &type);

    for (int64_t i = 0; i < at->n * columns; i++)
        dtype_store_int(type.dtype, data, i, quantized[i]);
    return onnx_from_tensor(node, &(struct tensor){ type, data }, suffix);
}

/* Values, scales and zero points as DequantizeLinear has them. */
static bool unpack_weights(struct onnx_node *node, const struct nbits *at, struct value *out[3])
{
    const struct type scale_type = { .dtype = DTYPE_F32, .rank = 2, .dim = { at->n, at->blocks } };
    const int64_t n_scales = at->n * at->blocks;
    struct bulk bulk = { NULL, 0 };
    struct tensor packed, given, scales;
    uint8_t *quantized, *zeros;
    bool ok;

    if (!onnx_granted(node, DTYPE_U8, 2.0 * (double)at->n * (double)at->k) ||
        !onnx_constant(node, 1, &packed) || !onnx_constant(node, 2, &given))
        return false;
    if (type_elements(&given.type) != n_scales || !dtype_is_float(given.type.dtype))
        return diag_error(node->ctx, DIAG_SHAPE, node->origin, "input 2 is %s, wanted %lld scales",
                          type_text(&node->ctx->perm, &given.type), (long long)n_scales);
    scales = tensor_new(&bulk, &scale_type);
    quantized = tensor_new(&bulk, &(struct type){ DTYPE_U8, 1, { at->n * at->k }, NULL }).data;
    zeros = tensor_new(&bulk, &(struct type){ DTYPE_U8, 1, { n_scales }, NULL }).data;
    for (int64_t i = 0; i < n_scales; i++)
        dtype_store(DTYPE_F32, scales.data, i, tensor_at(&given, i));
    unpack(at, packed.data, at->blocks * at->bytes, at->k, quantized);
    ok = read_zeros(node, at, zeros);
    if (ok) {
        make_positive(at, quantized, zeros, scales.data);
        out[0] = numbers(node, at, at->k, quantized, "codes");
        out[1] = onnx_from_tensor(node, &scales, "scales");
        out[2] = numbers(node, at, at->blocks, zeros, "zeros");
        ok = out[0] && out[1] && out[2];
    }
    bulk_release(&bulk);
    return ok;
}

/* A * B, where each output has its weights in a row of blocks: A, B, scales, zero points, g_idx,
 * bias. The weights are those of a DequantizeLinear by blocks, so they stay packed. */
bool convert_matmul_nbits(struct onnx_node *node)
{
    struct value *a = onnx_input(node, 0), *bias = onnx_input(node, 5), *inputs[3], *w, *y;
    const struct ints axes = { 2, { 1, 0 } };
    struct ints shape, rows;
    struct nbits at;

    if (!onnx_check_inputs(node, 3, 6) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 1, MAX_RANK) || !read_nbits(node, &at))
        return false;
    if (onnx_input(node, 4))
        return onnx_unsupported(node, "input 4: an order of columns (g_idx) is not supported");
    shape = ints_of_shape(&a->type);
    if (shape.at[shape.n - 1] != at.k)
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "input 0 has shape %s, wanted %lld last",
                          shape_text(&node->ctx->perm, &a->type), (long long)at.k);
    rows = (struct ints){ 2, { 1, at.k } };
    for (int i = 0; i < shape.n - 1; i++)
        rows.at[0] *= shape.at[i];
    shape.at[shape.n - 1] = at.n;
    if (!unpack_weights(node, &at, inputs))
        return false;
    w = onnx_inner(node, convert_dequantize_linear, 0, 21, 3, inputs, "weight");
    w = w ? transpose_to(node, w, &axes, "weight") : NULL;
    a = reshape_to(node, a, &rows, "rows");
    if (!w || !a)
        return false;
    y = onnx_inner(node, convert_matmul, 0, 13, 2, (struct value *[]){ a, w }, "dense");
    y = y ? reshape_to(node, y, &shape, bias ? "product" : "") : NULL;
    return onnx_output(node, 0, bias ? apply2(node, OP_ADD, "", y, bias) : y);
}
