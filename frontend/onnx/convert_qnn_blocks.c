/* convert_qnn_blocks.c - QuantizeLinear and DequantizeLinear with a scale for each block of
 * elements along an axis (operator set 21): scales and zero points are repeated over their blocks,
 * then
 *
 * dequantised   (x - zero) * scale
 * quantised     saturate(round(x / scale) + zero), rounded half to even */
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
    return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                      "input %d has shape %s, which is no number for each block of an input of "
                      "shape %s",
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

bool dequantize_blocks(struct onnx_node *node, enum dtype dtype)
{
    const enum dtype_kind kind = dtype_kind(onnx_input(node, 0)->type.dtype);
    struct value *x, *scale, *zero;
    struct blocks blocks;
    bool ok = true;

    if ((kind != KIND_NIBBLE && kind != KIND_MINIFLOAT &&
         !onnx_check_kind(node, 0, TAKES_INTEGER)) ||
        !read_blocks(node, &blocks))
        return false;
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

/* To small floats, whose zero points are 0. */
static struct value *encode(struct onnx_node *node, struct value *x, enum dtype dtype)
{
    const union attrs attrs = { .cast = { .dtype = dtype,
                                          .saturate = onnx_int(node, "saturate", 1) != 0 } };

    return x && onnx_ok(node) ? onnx_build1(node, OP_CAST, &attrs, "", x) : NULL;
}

static void set_bounds(union attrs *bounds, enum dtype dtype)
{
    const bool is_signed = dtype_kind(dtype) == KIND_INT || dtype == DTYPE_I4;
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
