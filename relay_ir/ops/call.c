/* call.c - call and return: typed here, run by the interpreter. */
#include "base/str.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"

bool infer_call(struct ctx *ctx, struct node *node)
{
    const struct function *callee = node->callee;

    if (!callee)
        return diag_error(ctx, DIAG_INTERNAL, node_origin(node), "the call has no callee");
    if (node->n_inputs != callee->n_params || node->n_outputs != callee->ret->n_inputs)
        return diag_error(
            ctx, DIAG_INTERNAL, node_origin(node),
            "call of %s with %d arguments for %d results, it has %d parameters and %d "
            "results",
            str_safe(&ctx->perm, callee->name, 80), node->n_inputs, node->n_outputs,
            callee->n_params, callee->ret->n_inputs);
    for (int i = 0; i < node->n_inputs; i++)
        if (!node->inputs[i] || !type_same_storage(input_type(node, i), &callee->params[i]->type))
            return diag_error(
                ctx, DIAG_INTERNAL, node_origin(node), "call of %s: argument %d is %s, expected %s",
                str_safe(&ctx->perm, callee->name, 80), i,
                node->inputs[i] ? type_text(&ctx->perm, input_type(node, i)) : "absent",
                type_text(&ctx->perm, &callee->params[i]->type));
    for (int i = 0; i < node->n_outputs; i++)
        node->outputs[i]->type = *input_type(callee->ret, i);
    return true;
}

bool infer_return(struct ctx *ctx, struct node *node)
{
    for (int i = 0; i < node->n_inputs; i++)
        if (!node->inputs[i])
            return diag_error(ctx, DIAG_INTERNAL, node_origin(node), "result %d is missing", i);
    return true;
}

bool eval_none(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
               struct tensor *out)
{
    (void)in;
    (void)out;
    return diag_error(ctx, DIAG_INTERNAL, node_origin(node), "%s has no evaluator",
                      op_name(node->op));
}
