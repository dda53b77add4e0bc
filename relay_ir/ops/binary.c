/* binary.c - operators on two elements at a time, with NumPy broadcasting.
 *
 * Integers, where C leaves something open: results wrap to the width of the type; x / 0 and x mod 0
 * are 0; shift counts beyond the width (or negative) shift everything out, which leaves -1 of a
 * negative number shifted right; 0 to a negative power is 0. Division truncates, mod has the sign
 * of the dividend (C), floor_mod that of the divisor (Python). Floats follow IEEE 754; maximum and
 * minimum pass NaN on, as NumPy's do. */
#include <math.h>
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/walk.h"

static double add(double x, double y)
{
    return x + y;
}

static double subtract(double x, double y)
{
    return x - y;
}

static double multiply(double x, double y)
{
    return x * y;
}

static double divide(double x, double y)
{
    return x / y;
}

static double prelu(double x, double slope)
{
    return x < 0 ? x * slope : x;
}

static double floor_mod(double x, double y)
{
    const double rest = fmod(x, y);

    if (rest == 0)
        return copysign(0, y);
    return (rest < 0) != (y < 0) ? rest + y : rest;
}

static double maximum(double x, double y)
{
    return isnan(x) || isnan(y) ? NAN : x > y ? x : y;
}

static double minimum(double x, double y)
{
    return isnan(x) || isnan(y) ? NAN : x < y ? x : y;
}

static wide whole_add(wide x, wide y)
{
    return x + y;
}

static wide whole_subtract(wide x, wide y)
{
    return x - y;
}

static wide whole_divide(wide x, wide y)
{
    return y ? x / y : 0;
}

static wide whole_mod(wide x, wide y)
{
    return y ? x % y : 0;
}

static wide whole_maximum(wide x, wide y)
{
    return x > y ? x : y;
}

static wide whole_minimum(wide x, wide y)
{
    return x < y ? x : y;
}

static wide bit_and(wide x, wide y)
{
    return x & y;
}

static wide bit_or(wide x, wide y)
{
    return x | y;
}

static wide bit_xor(wide x, wide y)
{
    return x ^ y;
}

/* Modulo 2^64, which is all that any element type keeps. */
static wide whole_multiply(wide x, wide y)
{
    return (wide)((uint64_t)x * (uint64_t)y);
}

static wide whole_floor_mod(wide x, wide y)
{
    const wide rest = whole_mod(x, y);

    return rest && (rest < 0) != (y < 0) ? rest + y : rest;
}

static wide whole_power(wide x, wide y)
{
    uint64_t base = (uint64_t)x, power = 1;

    if (y < 0)
        return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    for (; y; y >>= 1, base *= base)
        power *= y & 1 ? base : 1;
    return (wide)power;
}

static wide whole_prelu(wide x, wide slope)
{
    return x < 0 ? whole_multiply(x, slope) : x;
}

static wide left_shift(wide x, wide count, int bits)
{
    return count < 0 || count >= bits ? 0 : (wide)((uint64_t)x << count);
}

static wide right_shift(wide x, wide count, int bits)
{
    if (count < 0 || count >= bits)
        return x < 0 ? -1 : 0;
    return x < 0 ? -((-x - 1) >> count) - 1 : x >> count; /* towards minus infinity */
}

/* Floats go through real; integers and bool through whole, or shift, which knows their width. */
static const struct binary_row {
    unsigned kinds;
    double (*real)(double x, double y);
    wide (*whole)(wide x, wide y);
    wide (*shift)(wide x, wide count, int bits);
} rows[OP_COUNT] = {
    [OP_ADD] = { KINDS_NUMBER, add, whole_add, NULL },
    [OP_BITWISE_AND] = { KINDS_INTEGER, NULL, bit_and, NULL },
    [OP_BITWISE_OR] = { KINDS_INTEGER, NULL, bit_or, NULL },
    [OP_BITWISE_XOR] = { KINDS_INTEGER, NULL, bit_xor, NULL },
    [OP_DIVIDE] = { KINDS_NUMBER, divide, whole_divide, NULL },
    [OP_FLOOR_MOD] = { KINDS_NUMBER, floor_mod, whole_floor_mod, NULL },
    [OP_LEFT_SHIFT] = { KINDS_INTEGER, NULL, NULL, left_shift },
    [OP_LOGICAL_AND] = { KINDS_BOOL, NULL, bit_and, NULL },
    [OP_LOGICAL_OR] = { KINDS_BOOL, NULL, bit_or, NULL },
    [OP_LOGICAL_XOR] = { KINDS_BOOL, NULL, bit_xor, NULL },
    [OP_MAXIMUM] = { KINDS_NUMBER, maximum, whole_maximum, NULL },
    [OP_MINIMUM] = { KINDS_NUMBER, minimum, whole_minimum, NULL },
    [OP_MOD] = { KINDS_NUMBER, fmod, whole_mod, NULL },
    [OP_MULTIPLY] = { KINDS_NUMBER, multiply, whole_multiply, NULL },
    [OP_POWER] = { KINDS_NUMBER, pow, whole_power, NULL },
    [OP_PRELU] = { KINDS_NUMBER, prelu, whole_prelu, NULL },
    [OP_RIGHT_SHIFT] = { KINDS_INTEGER, NULL, NULL, right_shift },
    [OP_SUBTRACT] = { KINDS_NUMBER, subtract, whole_subtract, NULL },
};

/* The broadcast shape of inputs a and b. */
static bool broadcast(struct ctx *ctx, const struct node *node, const struct type *a,
                      const struct type *b, struct type *shape)
{
    if (shape_broadcast(a, b, shape))
        return true;
    return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                      "%s: shapes %s and %s do not broadcast: dimensions must be equal or 1",
                      op_name(node->op), shape_text(&ctx->perm, a), shape_text(&ctx->perm, b));
}

bool infer_broadcast(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0), *y = input_type(node, 1);
    struct type shape;

    if (!check_kinds(ctx, node, 0, rows[node->op].kinds) || !check_same_dtype(ctx, node, 0, 1) ||
        !broadcast(ctx, node, x, y, &shape))
        return false;
    if (node->op == OP_PRELU && !type_same_shape(&shape, x))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: slope of shape %s does not broadcast to x of shape %s",
                          op_name(node->op), shape_text(&ctx->perm, y), shape_text(&ctx->perm, x));
    set_output(node, 0, x->dtype, &shape);
    if (node->op == OP_MAXIMUM || node->op == OP_MINIMUM)
        pass_common_scale(node, 0, 0, 1);
    return true;
}

bool eval_binary(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                 struct tensor *out)
{
    const int64_t n = type_elements(&out->type);
    const int bits = (int)dtype_bytes(out->type.dtype) * 8;
    const struct binary_row *row = &rows[node->op];
    const bool is_float = dtype_is_float(out->type.dtype);
    struct walk walk = walk_begin(out->type.rank, out->type.dim);

    (void)ctx;
    walk_add_broadcast(&walk, &in[0]->type);
    walk_add_broadcast(&walk, &in[1]->type);
    for (int64_t i = 0; i < n; i++, walk_next(&walk)) {
        const int64_t x = walk.offset[0], y = walk.offset[1];

        if (is_float) {
            tensor_put(out, i, row->real(tensor_at(in[0], x), tensor_at(in[1], y)));
        } else {
            const wide a = tensor_wide_at(in[0], x), b = tensor_wide_at(in[1], y);

            tensor_put_wide(out, i, row->shift ? row->shift(a, b, bits) : row->whole(a, b));
        }
    }
    return true;
}

bool infer_compare(struct ctx *ctx, struct node *node)
{
    const bool ordered = node->op != OP_EQUAL && node->op != OP_NOT_EQUAL;
    struct type shape;

    if (!check_kinds(ctx, node, 0, ordered ? KINDS_NUMBER : KINDS_PLAIN) ||
        !check_same_dtype(ctx, node, 0, 1) ||
        !broadcast(ctx, node, input_type(node, 0), input_type(node, 1), &shape))
        return false;
    set_output(node, 0, DTYPE_BOOL, &shape);
    return true;
}

/* `order` is the sign of x - y; a NaN is not ordered. */
static bool comparison(enum op op, bool ordered, int order)
{
    switch (op) {
    case OP_EQUAL: return ordered && order == 0;
    case OP_NOT_EQUAL: return !ordered || order != 0;
    case OP_LESS: return ordered && order < 0;
    case OP_LESS_EQUAL: return ordered && order <= 0;
    case OP_GREATER: return ordered && order > 0;
    default: return ordered && order >= 0;
    }
}

bool eval_compare(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                  struct tensor *out)
{
    const int64_t n = type_elements(&out->type);
    const bool is_float = dtype_is_float(in[0]->type.dtype);
    struct walk walk = walk_begin(out->type.rank, out->type.dim);

    (void)ctx;
    walk_add_broadcast(&walk, &in[0]->type);
    walk_add_broadcast(&walk, &in[1]->type);
    for (int64_t i = 0; i < n; i++, walk_next(&walk)) {
        bool ordered = true;
        int order;

        if (is_float) {
            const double x = tensor_at(in[0], walk.offset[0]);
            const double y = tensor_at(in[1], walk.offset[1]);

            ordered = !isnan(x) && !isnan(y);
            order = (x > y) - (x < y);
        } else {
            const wide x = tensor_wide_at(in[0], walk.offset[0]);
            const wide y = tensor_wide_at(in[1], walk.offset[1]);

            order = (x > y) - (x < y);
        }
        tensor_put_wide(out, i, comparison(node->op, ordered, order));
    }
    return true;
}

bool infer_where(struct ctx *ctx, struct node *node)
{
    struct type shape;

    if (!check_kinds(ctx, node, 0, KINDS_BOOL) || !check_same_dtype(ctx, node, 1, 2) ||
        !broadcast(ctx, node, input_type(node, 1), input_type(node, 2), &shape) ||
        !broadcast(ctx, node, input_type(node, 0), &shape, &shape))
        return false;
    set_output(node, 0, input_type(node, 1)->dtype, &shape);
    pass_common_scale(node, 0, 1, 1);
    return true;
}

bool eval_where(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                struct tensor *out)
{
    const int64_t n = type_elements(&out->type);
    const size_t bytes = dtype_bytes(out->type.dtype);
    struct walk walk = walk_begin(out->type.rank, out->type.dim);

    (void)ctx;
    (void)node;
    for (int k = 0; k < 3; k++)
        walk_add_broadcast(&walk, &in[k]->type);
    for (int64_t i = 0; i < n; i++, walk_next(&walk)) {
        const int from = tensor_int_at(in[0], walk.offset[0]) ? 1 : 2;

        memcpy(element_at(out, i), element_at(in[from], walk.offset[from]), bytes);
    }
    return true;
}

bool infer_bias_add(struct ctx *ctx, struct node *node)
{
    const struct type *x = input_type(node, 0), *bias = input_type(node, 1);

    if (!check_kinds(ctx, node, 0, KINDS_NUMBER) || !check_same_dtype(ctx, node, 0, 1) ||
        !check_rank(ctx, node, 1, 1, 1) || !check_axis(ctx, node, x, &node->attrs.axis.axis))
        return false;
    if (bias->dim[0] != x->dim[node->attrs.axis.axis])
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: bias has %lld elements, axis %lld of shape %s wants %lld",
                          op_name(node->op), (long long)bias->dim[0],
                          (long long)node->attrs.axis.axis, shape_text(&ctx->perm, x),
                          (long long)x->dim[node->attrs.axis.axis]);
    set_output(node, 0, x->dtype, x);
    return true;
}

bool eval_bias_add(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                   struct tensor *out)
{
    const struct type *y = &out->type;
    const int axis = (int)node->attrs.axis.axis;
    const int64_t n = type_elements(y), inner = type_span(y, axis + 1, y->rank);

    (void)ctx;
    for (int64_t at = 0, channel = 0; at < n; at += inner, channel = (channel + 1) % y->dim[axis])
        if (y->dtype == DTYPE_F32) { /* the check of passes adds millions */
            const float *from = (const float *)in[0]->data + at;
            const double bias = tensor_at(in[1], channel);
            float *to = (float *)out->data + at;

            for (int64_t i = 0; i < inner; i++)
                to[i] = (float)(from[i] + bias);
        } else if (dtype_is_float(y->dtype)) {
            const double bias = tensor_at(in[1], channel);

            for (int64_t i = at; i < at + inner; i++)
                tensor_put(out, i, tensor_at(in[0], i) + bias);
        } else {
            const wide bias = tensor_wide_at(in[1], channel);

            for (int64_t i = at; i < at + inner; i++)
                tensor_put_wide(out, i, tensor_wide_at(in[0], i) + bias);
        }
    return true;
}
