/* requantize.c - qnn.requantize as C text (scalar_qnn.h): scales as multipliers and shifts, or with ONNX rounding as f32
 * factors; tables where channels differ. */
#include <inttypes.h>

#include "codegen_c/core/number.h"
#include "codegen_c/core/state.h"
#include "codegen_c/expr/qnn_terms.h"
#include "codegen_c/expr/scalar_exact.h"
#include "codegen_c/expr/scalar_qnn.h"

static struct fixed_point requantize_factor(const struct node *node, int64_t channel)
{
    const struct value *in_scale = node->inputs[1];
    const int64_t at = type_elements(&in_scale->type) == 1 ? 0 : channel;
    struct fixed_point factor;

    if (is_exact(node)) {
        const struct exact_factor exact = exact_channel_factor(node, channel);

        return (struct fixed_point){ exact.multiplier, exact.shift };
    }
    factor = fixed_point_of(qnn_real(in_scale, at) / qnn_real(node->inputs[3], 0));
    if (factor.multiplier == 0) /* any shift will do: one that requantize_down takes */
        factor.shift = -1;
    return factor;
}

/* The same for rounding "onnx". */
static float onnx_factor(const struct node *node, int64_t channel)
{
    const struct value *in_scale = node->inputs[1];
    const int64_t at = type_elements(&in_scale->type) == 1 ? 0 : channel;

    return onnx_factor_of(qnn_real(in_scale, at), qnn_real(node->inputs[3], 0));
}

static bool one_onnx_factor(const struct node *node)
{
    const int64_t n = type_elements(&node->inputs[1]->type);

    for (int64_t i = 1; i < n; i++)
        if (onnx_factor(node, i) != onnx_factor(node, 0))
            return false;
    return n > 0;
}

/* Whether all channels share one factor. */
static bool one_factor(const struct node *node)
{
    const int64_t n = type_elements(&node->inputs[1]->type);
    const struct fixed_point first = n ? requantize_factor(node, 0) : (struct fixed_point){ 0, 0 };

    for (int64_t i = 1; i < n; i++) {
        const struct fixed_point factor = requantize_factor(node, i);

        if (factor.multiplier != first.multiplier || factor.shift != first.shift)
            return false;
    }
    return true;
}

/* Whether 32 bits hold x, all intermediates and the zero point: an accumulator without a zero
 * point, and factors below 1/2. */
static bool stays_small(const struct node *node, int64_t in_zero)
{
    const int64_t n = type_elements(&node->inputs[1]->type);

    if (node->inputs[0]->type.dtype != DTYPE_I32 || in_zero != 0 || n == 0 || is_exact(node))
        return false;
    for (int64_t i = 0; i < n; i++)
        if (!qnn_goes_down(requantize_factor(node, i)))
            return false;
    return true;
}

/* Whether the value was cast from 8 bits. */
static bool was_byte(const struct value *value)
{
    return value->def && value->def->op == OP_CAST &&
           dtype_bytes(value->def->inputs[0]->type.dtype) == 1;
}

bool requantize_takes_lanes(const struct node *node)
{
    int64_t in_zero;

    return node->op == OP_QNN_REQUANTIZE && node->inputs[0]->type.dtype == DTYPE_I32 &&
           dtype_bytes(node->outputs[0]->type.dtype) == 1 && !is_exact(node) &&
           fixed_point_rounding_of(node->attrs.requantize.rounding) != ROUND_SINGLE &&
           !rounds_as_onnx(node) && qnn_is_known(node->inputs[2], &in_zero) &&
           (in_zero == 0 || was_byte(node->inputs[0]));
}

bool requantize_takes_float_lanes(const struct node *node)
{
    return rounds_as_onnx(node) && dtype_bytes(node->outputs[0]->type.dtype) == 1;
}

bool requantizes_from_0(const struct node *node)
{
    int64_t out_zero;

    return !rounds_as_onnx(node) && node->op == OP_QNN_REQUANTIZE &&
           dtype_bytes(node->outputs[0]->type.dtype) == 1 &&
           qnn_is_known(node->inputs[4], &out_zero) &&
           out_zero == qnn_least(node->outputs[0]->type.dtype);
}

/* As requantize_text, in 32 bits. */
static const char *requantize_down_text(struct arena *arena, const struct node *node,
                                        int64_t out_zero, const char **needs)
{
    const char *y = one_factor(node) ? qnn_scaled(arena, node, "y", "requantize_down", "$a",
                                                  requantize_factor(node, 0))
                                     : "requantize_down($a, $A, $B)";

    *needs = "requantize_down clamp_int";
    return qnn_clamped(arena, node, y, out_zero);
}

static const char *onnx_text(struct arena *arena, const struct node *node, int64_t out_zero,
                             const char **needs)
{
    const enum dtype dtype = node->outputs[0]->type.dtype;

    *needs = "requantize_even";
    return arena_printf(
        arena, "($t)requantize_even($a, %s, %s, %" PRId64 ", %" PRId64 ")",
        one_onnx_factor(node) ? number_f32(arena, node, "y_factor", onnx_factor(node, 0)) : "$A",
        number_i32(arena, node, "y_zero", out_zero), qnn_least(dtype), qnn_most(dtype));
}

const char *qnn_requantize_text(struct arena *arena, const struct node *node, const char **needs)
{
    const bool once = fixed_point_rounding_of(node->attrs.requantize.rounding) == ROUND_SINGLE;
    const char *helper = once ? "requantize_once" : "requantize", *x, *y;
    int64_t in_zero, out_zero;

    if (!qnn_is_known(node->inputs[2], &in_zero) || !qnn_is_known(node->inputs[4], &out_zero) ||
        node->inputs[1]->kind != VALUE_CONSTANT || node->inputs[3]->kind != VALUE_CONSTANT)
        return NULL;
    if (rounds_as_onnx(node))
        return onnx_text(arena, node, out_zero, needs);
    if (!once && dtype_bytes(node->outputs[0]->type.dtype) < 4 && stays_small(node, in_zero))
        return requantize_down_text(arena, node, out_zero, needs);
    *needs = once ? "requantize_once saturate_int" : "requantize saturate_int";
    x = in_zero == 0 ? "$a" : minus_number(arena, "(int64_t)$a", node, "x_zero", in_zero);
    y = one_factor(node) && type_elements(&node->inputs[1]->type) > 0
            ? qnn_scaled(arena, node, "y", helper, x, requantize_factor(node, 0))
            : arena_printf(arena, "%s(%s, $A, $B)", helper, x);
    return qnn_saturated(arena, node, y, out_zero);
}

/* The table of factors for rounding "onnx". */
static void factor_table(struct bind *bind, const struct node *node, struct value **table)
{
    const int64_t n = type_elements(&node->inputs[1]->type);
    const struct type type = type_make(DTYPE_F32, 1, &n);
    float *factors = constant_alloc(bind->region->fn, &type);

    for (int64_t i = 0; i < n; i++)
        factors[i] = onnx_factor(node, i);
    *table = constant_new(bind->region->fn,
                          arena_printf(bind->arena, "%s_factor", node->outputs[0]->name), &type,
                          factors);
}

void qnn_tables(struct bind *bind, const struct node *node, struct value *tables[QNN_TABLES])
{
    const int64_t n = type_elements(&node->inputs[1]->type);
    const struct type multiplier = type_make(DTYPE_I32, 1, &n), shift = type_make(DTYPE_I8, 1, &n);
    struct function *fn = bind->region->fn;
    int32_t *multipliers = constant_alloc(fn, &multiplier);
    int8_t *shifts = constant_alloc(fn, &shift);
    const char *name = node->outputs[0]->name;

    if (rounds_as_onnx(node)) {
        factor_table(bind, node, &tables[0]);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const struct fixed_point factor = requantize_factor(node, i);

        multipliers[i] = factor.multiplier;
        shifts[i] = (int8_t)factor.shift;
    }
    tables[0] = constant_new(fn, arena_printf(bind->arena, "%s_multiplier", name), &multiplier,
                             multipliers);
    tables[1] = constant_new(fn, arena_printf(bind->arena, "%s_shift", name), &shift, shifts);
}
