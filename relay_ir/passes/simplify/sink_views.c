/* sink_views.c - what is element-wise stands beside the operator that it may join.
 *
 * needs    types; the layouts are chosen, so that views are what is left of the model's squeezes
 *          and transposes
 * gives    f(reshape(x)) as reshape(f(x)) where x comes from a convolution, a pool or a product
 * method   local rewrite rules, first match wins
 *
 * Exporters write convolutions over time as those over images of one row, and squeeze what they
 * make: bias, activation and residual would be loops of their own. */
#include "relay_ir/passes/pipeline.h"

#include "relay_ir/passes/rules.h"

static const struct rule rules[] = {
    { "merge_reshapes", merge_reshapes, ROOTS(OP_RESHAPE) },
    { "drop_reshape", drop_reshape, ROOTS(OP_RESHAPE) },
    { "compare_with_itself", compare_with_itself,
      ROOTS(OP_EQUAL, OP_GREATER, OP_GREATER_EQUAL, OP_LESS, OP_LESS_EQUAL, OP_NOT_EQUAL) },
    { "drop_own_twin", drop_own_twin,
      ROOTS(OP_BITWISE_AND, OP_BITWISE_OR, OP_LOGICAL_AND, OP_LOGICAL_OR, OP_MAXIMUM, OP_MINIMUM) },
    { "view_behind_elementwise", view_behind_elementwise, NULL },
};

bool pass_sink_views(struct module *module)
{
    return rewrite_module(module, rules, sizeof rules / sizeof *rules);
}

const struct rule *sink_views_rules(int *n)
{
    *n = sizeof rules / sizeof *rules;
    return rules;
}
