/* convert_qnn_blocks.c - QuantizeLinear and DequantizeLinear with a scale for each block of
 * elements along an axis (operator set 21): scales and zero points are repeated over their blocks,
 * then
 *
 * dequantised   (x - zero) * scale
 * quantised     saturate(round(x / scale) + zero), rounded half to even
 *
 * Weights keep their blocks (QTYPE_BLOCKS of relay_ir/type.h) where these lie in rows: of a matrix
 * along either axis, of a kernel along its last axis but for axes of 1. */
#include <math.h>

#include "frontend/onnx/convert_qnn.h"

/* Along which axis, and how long blocks are; the last may be shorter. */
struct blocks {
    int axis;
    int64_t size, n;
};

bool has_blocks(struct onnx_node *node)
{
    const struct value *x = onnx_input(node, 0), *scale = onnx_input(node, 1);

    return onnx_int(node, "block_size", 0) != 0 ||
           (scale->type.rank > 1 && scale->type.rank == x->type.rank);
}

static bool bad_shape(struct onnx_node *node, int input)
{
    return diag_error(
        node->ctx, DIAG_SHAPE, node->origin,
        "input %d has shape %s, which is not a number for each block of an input of shape %s",
        input, shape_text(&node->ctx->perm, &onnx_input(node, input)->type),
        shape_text(&node->ctx->perm, &onnx_input(node, 0)->type));
}

static bool read_blocks(struct onnx_node *node, struct blocks *out)
{
    const struct type *x = &onnx_input(node, 0)->type, *scale = &onnx_input(node, 1)->type;
    const int64_t size = onnx_int(node, "block_size", 0);

    out->axis = normal_axis_attr(node, 1, x->rank);
    if (out->axis < 0 || !onnx_check_kind(node, 1, TAKES_FLOAT))
        return false;
    if (x->rank + 1 > MAX_RANK)
        return onnx_unsupported(node, "blocks of a tensor of rank %d", x->rank);
    if (scale->rank != x->rank || scale->dim[out->axis] < 1)
        return bad_shape(node, 1);
    out->n = scale->dim[out->axis];
    out->size = size ? size : (x->dim[out->axis] + out->n - 1) / out->n;
    if (out->size < 1 || out->size > INT32_MAX)
        return bad_attribute(node, "attribute block_size is %lld, wanted 1 or more",
                             (long long)out->size);
    for (int i = 0; i < x->rank; i++)
        if (i == out->axis ? (x->dim[i] + out->size - 1) / out->size != out->n
                           : scale->dim[i] != x->dim[i])
            return bad_shape(node, 1);
    if (onnx_input(node, 2) && !type_same_shape(&onnx_input(node, 2)->type, scale))
        return bad_shape(node, 2);
    return true;
}

/* One number for each element of input 0, in f32. */
static struct value *over_blocks(struct onnx_node *node, const struct blocks *blocks,
                                 struct value *per_block, const char *suffix)
{
    const struct type *x = &onnx_input(node, 0)->type;
    struct ints shape = { .n = 0 }, all = ints_of_shape(x);
    struct value *y = cast_to(node, per_block, DTYPE_F32, suffix);
    union attrs attrs = { .shape = { .shape = { 0 } } };

    for (int i = 0; i < x->rank; i++) {
        shape.at[shape.n++] = i == blocks->axis ? blocks->n : x->dim[i];
        if (i == blocks->axis)
            shape.at[shape.n++] = 1;
    }
    y = reshape_to(node, y, &shape, suffix);
    shape.at[blocks->axis + 1] = blocks->size;
    attrs.shape.shape = shape;
    y = y ? onnx_build1(node, OP_BROADCAST_TO, &attrs, suffix, y) : NULL;
    all.at[blocks->axis] = blocks->n * blocks->size;
    y = reshape_to(node, y, &all, suffix);
    if (all.at[blocks->axis] == x->dim[blocks->axis])
        return y;
    attrs = (union attrs){ .slice = { .begin = ints_fill(x->rank, 0),
                                      .strides = ints_fill(x->rank, 1),
                                      .size = ints_of_shape(x) } };
    return y ? onnx_build1(node, OP_STRIDED_SLICE, &attrs, suffix, y) : NULL;
}

/* NULL where there is no zero point; *ok is false after an error. */
static struct value *zeros_of(struct onnx_node *node, const struct blocks *blocks, bool *ok)
{
    struct value *zero = onnx_input(node, 2);

    if (!zero)
        return NULL;
    zero = over_blocks(node, blocks, zero, "zero");
    *ok = zero != NULL;
    return zero;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* Constants whose blocks a type can tell: quantised values, scales and zero points as [rows,
 * length]. */
struct kept {
    bool turned; /* the matrix is kept as its transpose */
    int64_t rows, len, n_blocks;
    struct type type; /* of the quantised values, signed */
    int32_t shift;    /* of unsigned quantised values and their zero points */
    int32_t least, greatest;
};

static bool is_constant(const struct value *value)
{
    return value && value->kind == VALUE_CONSTANT;
}

static bool set_code_type(enum dtype dtype, struct kept *kept)
{
    const bool nibble = dtype_kind(dtype) == KIND_NIBBLE;

    kept->type.dtype = dtype;
    if (dtype_minifloat(dtype))
        return true;
    if (!nibble && dtype != DTYPE_I8 && dtype != DTYPE_U8)
        return false;
    kept->greatest = nibble ? 7 : 127;
    kept->least = -kept->greatest - 1;
    kept->shift = dtype == DTYPE_U8 || dtype == DTYPE_U4 ? kept->least : 0;
    kept->type.dtype = nibble ? DTYPE_I4 : DTYPE_I8;
    return true;
}

static bool all_zero(const struct value *zero)
{
    const struct tensor tensor = value_tensor(zero);

    for (int64_t i = 0; i < type_elements(&zero->type); i++)
        if (tensor_at(&tensor, i) != 0)
            return false;
    return true;
}

static bool scales_are_fine(const struct value *scale)
{
    const struct tensor tensor = value_tensor(scale);

    for (int64_t i = 0; i < type_elements(&scale->type); i++) {
        const float number = (float)tensor_at(&tensor, i);

        if (!isfinite(number) || number < 0)
            return false;
    }
    return true;
}

static bool can_keep(struct onnx_node *node, const struct blocks *blocks, struct kept *kept)
{
    const struct value *x = onnx_input(node, 0), *scale = onnx_input(node, 1);
    const struct value *zero = onnx_input(node, 2);

    *kept = (struct kept){ .type = x->type };
    kept->turned = x->type.rank == 2 && blocks->axis == 0;
    if (!is_constant(scale) || (zero && !is_constant(zero)) || x->type.rank < 2 ||
        type_elements(&x->type) == 0 || !type_block_is_regular(blocks->size) ||
        !set_code_type(x->type.dtype, kept) || !scales_are_fine(scale) ||
        (zero && dtype_minifloat(x->type.dtype) && !all_zero(zero)))
        return false;
    if (kept->turned)
        kept->type = type_make(kept->type.dtype, 2, (int64_t[]){ x->type.dim[1], x->type.dim[0] });
    kept->type.quant = NULL;
    kept->rows = kept->type.dim[0];
    kept->len = type_span(&kept->type, 1, kept->type.rank);
    kept->n_blocks = (kept->len + blocks->size - 1) / blocks->size;
    return kept->turned || (blocks->axis > 0 && type_span(&x->type, 1, blocks->axis) == 1 &&
                            type_span(&x->type, blocks->axis + 1, x->type.rank) == 1);
}

/* Where an element of [rows, n] lies in the constant. */
static int64_t place_of(const struct kept *kept, int64_t row, int64_t i, int64_t n)
{
    return kept->turned ? i * kept->rows + row : row * n + i;
}

/* A block whose scale is 0 is one of zeros, of any scale. */
static void keep_scales(struct onnx_node *node, const struct kept *kept, float *scales,
                        int32_t *zeros)
{
    const struct tensor scale = value_tensor(onnx_input(node, 1));
    const struct value *zero = onnx_input(node, 2);

    for (int64_t row = 0; row < kept->rows; row++)
        for (int64_t i = 0; i < kept->n_blocks; i++) {
            const int64_t from = place_of(kept, row, i, kept->n_blocks);
            const int64_t to = row * kept->n_blocks + i;
            const struct tensor tensor = zero ? value_tensor(zero) : scale;

            scales[to] = (float)tensor_at(&scale, from);
            zeros[to] = kept->shift + (zero ? (int32_t)tensor_at(&tensor, from) : 0);
        }
}

/* Quantised values with their zero points subtracted where they then still are quantised values: of
 * all, or of none. */
static void keep_quantized(struct onnx_node *node, const struct kept *kept, int64_t block,
                           float *scales, int32_t *zeros, bool subtract, bool *fits,
                           char *quantized)
{
    const struct tensor x = value_tensor(onnx_input(node, 0));
    const enum dtype dtype = kept->type.dtype;

    *fits = true;
    for (int64_t row = 0; row < kept->rows; row++)
        for (int64_t i = 0; i < kept->len; i++) {
            const int64_t from = place_of(kept, row, i, kept->len), to = row * kept->len + i;
            const int64_t at = row * kept->n_blocks + i / block;
            int32_t code;

            if (dtype_minifloat(dtype)) {
                quantized[to] = scales[at] == 0 ? 0 : ((const char *)x.data)[from];
                continue;
            }
            code = (int32_t)tensor_int_at(&x, from) + kept->shift;
            if (scales[at] == 0)
                code = zeros[at];
            if (subtract)
                code -= zeros[at];
            *fits = *fits && code >= kept->least && code <= kept->greatest;
            dtype_store_int(dtype, quantized, to, code);
        }
}

/* NULL after an error. */
static struct value *kept_weights(struct onnx_node *node, const struct kept *kept, int64_t block)
{
    const struct ints swapped = { .n = 2, .at = { 1, 0 } };
    const union attrs attrs = { .cast = { .dtype = DTYPE_F32, .saturate = true } };
    struct arena *arena = &node->fn->module->arena;
    const int64_t n = kept->rows * kept->n_blocks;
    float *scales = arena_array(arena, float, n);
    int32_t *zeros = arena_array(arena, int32_t, n);
    struct qtype *quant = arena_new(arena, struct qtype);
    struct type type = kept->type;
    void *quantized = constant_alloc(node->fn, &kept->type);
    struct value *numbers;
    bool fits;

    keep_scales(node, kept, scales, zeros);
    keep_quantized(node, kept, block, scales, zeros, true, &fits, quantized);
    if (!fits)
        keep_quantized(node, kept, block, scales, zeros, false, &(bool){ true }, quantized);
    for (int64_t i = 0; i < n; i++)
        scales[i] = scales[i] == 0 ? 1 : scales[i];
    *quant = (struct qtype){ .kind = QTYPE_BLOCKS,
                             .axis = -1,
                             .n = n,
                             .block = block,
                             .scale = scales,
                             .zero = fits ? NULL : zeros };
    type.quant = quant;
    numbers = constant_new(node->fn, onnx_input(node, 0)->name, &type, quantized);
    value_take_name(numbers, onnx_input(node, 0));
    numbers = onnx_build1(node, OP_CAST, &attrs, "numbers", numbers);
    return kept->turned ? transpose_to(node, numbers, &swapped, "turned") : numbers;
}

static void warn_of_f32(struct onnx_node *node, const struct blocks *blocks)
{
    diag_warn(node->ctx, DIAG_QUANTIZE, node->origin,
              "blocks of %lld along axis %d of weights of shape %s become f32",
              (long long)blocks->size, blocks->axis,
              shape_text(&node->ctx->perm, &onnx_input(node, 0)->type));
    diag_note(node->ctx,
              "kept as they are: i4, u4, i8, u8 and FP8 in blocks of 4, 8 ... 64, 96 ..., along an "
              "axis of a matrix, or of a kernel whose other axes behind it are 1");
}

/* Zero points are of the type of what they belong to; of another one they need be no numbers of it.
 */
static bool check_zero_type(struct onnx_node *node)
{
    const struct value *x = onnx_input(node, 0), *zero = onnx_input(node, 2);

    return !zero || zero->type.dtype == x->type.dtype ||
           diag_error(node->ctx, DIAG_TYPE, node->origin,
                      "input 2 is a zero point of type %s, expected %s, which input 0 has",
                      dtype_name(zero->type.dtype), dtype_name(x->type.dtype));
}

bool dequantize_blocks(struct onnx_node *node, enum dtype dtype)
{
    const enum dtype_kind kind = dtype_kind(onnx_input(node, 0)->type.dtype);
    struct value *x, *scale, *zero;
    struct blocks blocks;
    struct kept kept;
    bool ok = true;

    if ((kind != KIND_NIBBLE && kind != KIND_MINIFLOAT &&
         !onnx_check_kind(node, 0, TAKES_INTEGER)) ||
        !read_blocks(node, &blocks) || !check_zero_type(node))
        return false;
    if (is_constant(onnx_input(node, 0)) && can_keep(node, &blocks, &kept))
        return onnx_output(node, 0,
                           cast_to(node, kept_weights(node, &kept, blocks.size), dtype, ""));
    if (is_constant(onnx_input(node, 0)))
        warn_of_f32(node, &blocks);
    x = cast_to(node, onnx_input(node, 0), DTYPE_F32, "x");
    scale = over_blocks(node, &blocks, onnx_input(node, 1), "scale");
    zero = zeros_of(node, &blocks, &ok);
    if (!ok)
        return false;
    if (zero)
        x = apply2(node, OP_SUBTRACT, "centred", x, zero);
    x = apply2(node, OP_MULTIPLY, dtype == DTYPE_F32 ? "" : "wide", x, scale);
    return onnx_output(node, 0, cast_to(node, x, dtype, ""));
}

/* To narrow floats, whose zero points are 0. */
static struct value *encode(struct onnx_node *node, struct value *x, enum dtype dtype)
{
    const union attrs attrs = { .cast = { .dtype = dtype,
                                          .saturate = onnx_int(node, "saturate", 1) != 0 } };

    return x && onnx_ok(node) ? onnx_build1(node, OP_CAST, &attrs, "", x) : NULL;
}

static void set_bounds(union attrs *bounds, enum dtype dtype)
{
    const bool is_signed = dtype_is_signed(dtype);
    const int bits = dtype_packed_bits(dtype);

    bounds->clip.a_min = is_signed ? -ldexp(1, bits - 1) : 0;
    bounds->clip.a_max = ldexp(1, is_signed ? bits - 1 : bits) - 1;
}

bool quantize_blocks(struct onnx_node *node, struct value *x, enum dtype dtype)
{
    union attrs bounds = { .clip = { 0 } };
    struct value *scale, *zero;
    struct blocks blocks;
    bool ok = true;

    if (!read_blocks(node, &blocks))
        return false;
    if (dtype_kind(dtype) != KIND_MINIFLOAT && dtype_kind(dtype) != KIND_NIBBLE &&
        (!dtype_is_integer(dtype) || dtype_bytes(dtype) > 2))
        return onnx_unsupported(node, "blocks of %s", dtype_name(dtype));
    scale = over_blocks(node, &blocks, onnx_input(node, 1), "scale");
    zero = zeros_of(node, &blocks, &ok);
    if (!ok)
        return false;
    x = apply2(node, OP_DIVIDE, "quotient", x, scale);
    if (dtype_kind(dtype) == KIND_MINIFLOAT)
        return onnx_output(node, 0, encode(node, x, dtype));
    set_bounds(&bounds, dtype);
    x = apply1(node, OP_ROUND, "whole", x);
    if (zero)
        x = apply2(node, OP_ADD, "moved", x, zero);
    x = x ? onnx_build1(node, OP_CLIP, &bounds, "bounded", x) : NULL;
    return onnx_output(node, 0, cast_to(node, x, dtype, ""));
}
