/* simplify_expr.c - recognises operators that were exported as their definitions, drops identities.
 *
 * needs    types; constants on the right, no duplicate expressions
 * gives    fewer nodes that compute the same numbers, up to rounding (x + 0 turns -0 into +0 and is
 *          dropped all the same); nothing that treats NaN or infinity otherwise
 * method   local rewrite rules, first match wins: the longer pattern stands above its parts */
#include "relay_ir/passes/pipeline.h"

#include "relay_ir/passes/rules/rules.h"

static const struct rule rules[] = {
    { "drop_add_zero", drop_add_zero, 1, { OP_ADD } },
    { "drop_multiply_one", drop_multiply_one, 2, { OP_MULTIPLY, OP_DIVIDE } },
    { "drop_power_one", drop_power_one, 1, { OP_POWER } },
    { "double_negative", double_negative, 1, { OP_NEGATIVE } },
    { "add_negative", add_negative, 1, { OP_ADD } },
    { "subtract_negative", subtract_negative, 1, { OP_SUBTRACT } },
    { "select_branch", select_branch, 1, { OP_WHERE } },
    { "drop_broadcast_operand", drop_broadcast_operand, 0, { 0 } },
    { "transpose_into_matmul", transpose_into_matmul, 1, { OP_MATMUL } },

    { "find_softmax", find_softmax, 1, { OP_DIVIDE } },
    { "find_layer_norm", find_layer_norm, 1, { OP_MULTIPLY } },
    { "layer_norm_beta", layer_norm_beta, 1, { OP_ADD } },

    { "find_gelu_erf", find_gelu_erf, 2, { OP_MULTIPLY, OP_DIVIDE } },
    { "find_gelu_tanh", find_gelu_tanh, 2, { OP_MULTIPLY, OP_DIVIDE } },
    { "find_hard_swish", find_hard_swish, 2, { OP_MULTIPLY, OP_DIVIDE } },
    { "find_hard_sigmoid", find_hard_sigmoid, 2, { OP_MULTIPLY, OP_DIVIDE } },
    { "find_silu", find_silu, 1, { OP_MULTIPLY } },
    { "find_mish", find_mish, 1, { OP_MULTIPLY } },
    { "find_softsign", find_softsign, 1, { OP_DIVIDE } },
    { "find_sigmoid", find_sigmoid, 2, { OP_DIVIDE, OP_RECIPROCAL } },
    { "power_to_multiply", power_to_multiply, 1, { OP_POWER } },
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
