/* fold_dequantize.c - convolutions and matrix products read small numbers as they are stored.
 *
 * needs    types; constants not folded yet: fold_constant would make f32 weights of
 *          dequantize(constant). After fake_quant_to_integer, which takes what can be computed in
 *          integers
 * gives    products of f32 data and small weights, or of FP8 data and small floats, with
 *          out_dtype=f32; their scales, joined, are one constant multiplied behind
 * method   local rewrite rules; numbers differ from the float form only in where they are rounded:
 *          a sum of codes is scaled once, where each number was scaled before
 *
 * Weights in blocks that something else than a product reads become f32, which is said.
 *
 * What stays: zero points other than 0 (their sum would have to be subtracted), scales along
 * another axis than that of the output channels, scales of data that are computed or more than one.
 */
#include "relay_ir/passes/pipeline.h"

#include "relay_ir/passes/rules/rules.h"

static const struct rule rules[] = {
    { "product_of_codes", product_of_codes,
      ROOTS(OP_CONV1D, OP_CONV2D, OP_CONV3D, OP_CONV1D_TRANSPOSE, OP_CONV2D_TRANSPOSE,
            OP_CONV3D_TRANSPOSE, OP_DENSE, OP_MATMUL) },
};

/* A decoder that is left is folded later. */
static void warn_of_blocks(struct module *module)
{
    for (const struct node *node = module->main->first; node; node = node->next) {
        const struct value *codes = node->n_inputs ? node->inputs[0] : NULL;

        if (node->op != OP_CAST || !type_has_blocks(&codes->type) || !node->outputs[0]->uses)
            continue;
        diag_warn(module->ctx, DIAG_QUANTIZE, node_origin(node),
                  "the weights '%s' are in blocks of %lld, and become f32",
                  str_safe(&module->ctx->perm, codes->name, 200),
                  (long long)codes->type.quant->block);
        diag_note(module->ctx, "only convolutions and products of matrices read them as they are");
    }
}

bool pass_fold_dequantize(struct module *module)
{
    const bool ok = rewrite_module(module, rules, sizeof rules / sizeof *rules);

    if (ok)
        warn_of_blocks(module);
    return ok;
}

const struct rule *fold_dequantize_rules(int *n)
{
    *n = sizeof rules / sizeof *rules;
    return rules;
}
