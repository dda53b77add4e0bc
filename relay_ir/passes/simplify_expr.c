/* simplify_expr.c - recognises operators that were exported as their definitions, drops identities.
 *
 * needs    types; constants on the right, no duplicate expressions
 * gives    fewer nodes that compute the same numbers, up to rounding (x + 0 turns -0 into +0 and is
 *          dropped all the same); nothing that treats NaN or infinity otherwise
 * method   local rewrite rules, first match wins: the longer pattern stands above its parts */
#include "relay_ir/passes/pipeline.h"

#include "relay_ir/passes/rules/rules.h"

static const struct rule rules[] = {
    { "drop_add_zero", OP_ADD, drop_add_zero },
    { "drop_multiply_one", OP_MULTIPLY, drop_multiply_one },
    { "drop_divide_one", OP_DIVIDE, drop_multiply_one },
    { "drop_power_one", OP_POWER, drop_power_one },
    { "double_negative", OP_NEGATIVE, double_negative },
    { "add_negative", OP_ADD, add_negative },
    { "subtract_negative", OP_SUBTRACT, subtract_negative },
    { "select_branch", OP_WHERE, select_branch },
    { "drop_broadcast_operand", OP_COUNT, drop_broadcast_operand },
    { "transpose_into_matmul", OP_MATMUL, transpose_into_matmul },

    { "softmax", OP_DIVIDE, find_softmax },
    { "layer_norm", OP_MULTIPLY, find_layer_norm },
    { "layer_norm_beta", OP_ADD, layer_norm_beta },

    { "gelu_erf", OP_MULTIPLY, find_gelu_erf },
    { "gelu_erf_divide", OP_DIVIDE, find_gelu_erf },
    { "gelu_tanh", OP_MULTIPLY, find_gelu_tanh },
    { "hard_swish", OP_MULTIPLY, find_hard_swish },
    { "hard_swish_divide", OP_DIVIDE, find_hard_swish },
    { "hard_sigmoid", OP_MULTIPLY, find_hard_sigmoid },
    { "hard_sigmoid_divide", OP_DIVIDE, find_hard_sigmoid },
    { "silu", OP_MULTIPLY, find_silu },
    { "mish", OP_MULTIPLY, find_mish },
    { "softsign", OP_DIVIDE, find_softsign },
    { "sigmoid", OP_DIVIDE, find_sigmoid },
    { "sigmoid_reciprocal", OP_RECIPROCAL, find_sigmoid },
    { "power_to_multiply", OP_POWER, power_to_multiply },
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
