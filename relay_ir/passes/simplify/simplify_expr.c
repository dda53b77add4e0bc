/* simplify_expr.c - recognises operators that were exported as their definitions, drops identities.
 *
 * needs    types; constants on the right, no duplicate expressions
 * gives    fewer nodes that compute the same numbers, up to rounding (x + 0 turns -0 into +0 and is
 *          dropped all the same); nothing that treats NaN or infinity otherwise
 * method   local rewrite rules, first match wins: the longer pattern stands above its parts */
#include "relay_ir/passes/pipeline.h"

#include "relay_ir/passes/rules.h"

static const struct rule rules[] = {
    { "drop_add_zero", drop_add_zero, ROOTS(OP_ADD) },
    { "drop_multiply_one", drop_multiply_one, ROOTS(OP_MULTIPLY, OP_DIVIDE) },
    { "drop_power_one", drop_power_one, ROOTS(OP_POWER) },
    { "double_negative", double_negative, ROOTS(OP_NEGATIVE) },
    { "add_negative", add_negative, ROOTS(OP_ADD) },
    { "subtract_negative", subtract_negative, ROOTS(OP_SUBTRACT) },
    { "select_branch", select_branch, ROOTS(OP_IF, OP_WHERE) },
    { "choose_the_other", choose_the_other, ROOTS(OP_IF) },
    { "drop_broadcast_operand", drop_broadcast_operand, NULL },
    { "transpose_into_matmul", transpose_into_matmul, ROOTS(OP_MATMUL) },

    { "find_softmax", find_softmax, ROOTS(OP_DIVIDE) },
    { "find_layer_norm", find_layer_norm, ROOTS(OP_MULTIPLY) },
    { "layer_norm_beta", layer_norm_beta, ROOTS(OP_ADD) },
    { "find_group_norm", find_group_norm, ROOTS(OP_RESHAPE) },
    { "scale_of_group_norm", scale_of_group_norm, ROOTS(OP_MULTIPLY) },
    { "shift_of_group_norm", shift_of_group_norm, ROOTS(OP_ADD) },

    { "find_gelu_erf", find_gelu_erf, ROOTS(OP_MULTIPLY, OP_DIVIDE) },
    { "find_gelu_tanh", find_gelu_tanh, ROOTS(OP_MULTIPLY, OP_DIVIDE) },
    { "find_hard_swish", find_hard_swish, ROOTS(OP_MULTIPLY, OP_DIVIDE) },
    { "find_hard_sigmoid", find_hard_sigmoid, ROOTS(OP_MULTIPLY, OP_DIVIDE) },
    { "find_silu", find_silu, ROOTS(OP_MULTIPLY) },
    { "find_mish", find_mish, ROOTS(OP_MULTIPLY) },
    { "find_softsign", find_softsign, ROOTS(OP_DIVIDE) },
    { "find_sigmoid", find_sigmoid, ROOTS(OP_DIVIDE, OP_RECIPROCAL) },
    { "power_to_multiply", power_to_multiply, ROOTS(OP_POWER) },
};

bool pass_simplify_expr(struct module *module)
{
    return rewrite_module(module, rules, sizeof rules / sizeof *rules);
}

const struct rule *simplify_expr_rules(int *n)
{
    *n = sizeof rules / sizeof *rules;
    return rules;
}
