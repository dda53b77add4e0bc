/* fold_dequantize.c - convolutions and matrix products read quantised values as they are stored.
 *
 * needs    types; constants not folded yet: fold_constant would make f32 weights of
 *          dequantize(constant). After fake_quant_to_integer, which takes what can be computed in
 *          integers
 * gives    products of f32 data and small weights, or of FP8 data and narrow floats, with
 *          out_dtype=f32; their scales, joined, are one constant multiplied behind
 * method   local rewrite rules; numbers differ from the float form only in where they are rounded:
 *          a sum of quantised values is scaled once, where each number was scaled before
 *
 * Constants that become f32 nevertheless are named: zero points of windows that do not go into
 * quantised values (their sum would have to be subtracted), weights that something else than a
 * product or a take reads. Scales of data that are computed or more than one stay as well. */
#include "relay_ir/passes/pipeline.h"

#include "base/str.h"
#include "relay_ir/passes/rules.h"
#include "relay_ir/products.h"

static const struct rule rules[] = {
    { "product_of_quantized", product_of_quantized,
      ROOTS(OP_CONV1D, OP_CONV2D, OP_CONV3D, OP_CONV1D_TRANSPOSE, OP_CONV2D_TRANSPOSE,
            OP_CONV3D_TRANSPOSE, OP_DENSE, OP_MATMUL) },
    { "turned_quantized", turned_quantized, ROOTS(OP_TRANSPOSE) },
    { "turn_before_decoder", turn_before_decoder, ROOTS(OP_TRANSPOSE) },
    { "quantized_of_weights", quantized_of_weights, ROOTS(OP_QNN_DEQUANTIZE) },
    { "take_of_quantized", take_of_quantized, ROOTS(OP_TAKE) },
};

enum { LEAST_NUMBERS = 64 }; /* of constants whose bytes are worth a word */

/* The operator for whose sake the value is f32, beyond those that move it. */
static const struct node *reader_of(const struct value *value)
{
    const struct node *node = value->uses->node;

    while ((node->op == OP_TRANSPOSE || op_row(node->op)->pattern == PATTERN_VIEW) &&
           node->outputs[0]->uses)
        node = node->outputs[0]->uses->node;
    return node;
}

/* A decoder that is left is folded later: stored numbers of 8 bits and fewer become f32. */
static void warn_of_quantized(struct module *module)
{
    for (const struct node *node = module->main->first; node; node = node->next) {
        const struct value *quantized = node->n_inputs ? node->inputs[0] : NULL;
        const struct node *reader;

        if (node->op != OP_QNN_DEQUANTIZE || quantized->kind != VALUE_CONSTANT ||
            dtype_packed_bits(quantized->type.dtype) > 8 || !node->outputs[0]->uses ||
            node->outputs[0]->type.dtype != DTYPE_F32 ||
            type_elements(&quantized->type) < LEAST_NUMBERS)
            continue;
        reader = reader_of(node->outputs[0]);
        diag_warn(module->ctx, DIAG_QUANTIZE, node_origin(reader),
                  "the constant '%s' is stored as %s, and becomes f32: %s reads it",
                  str_safe(&module->ctx->perm, quantized->name, 200),
                  dtype_name(quantized->type.dtype), op_name(reader->op));
        if (is_product(reader->op))
            diag_note(
                module->ctx,
                "zero points of kernels with windows, and scales along other axes than that of "
                "the output channels, are not kept: quantise these weights symmetrically, per "
                "output channel");
        else
            diag_note(module->ctx, "values stay quantised in products, in gathered tables, and "
                                   "between quantised operators");
    }
}

/* The same of blocks. */
static void warn_of_blocks(struct module *module)
{
    for (const struct node *node = module->main->first; node; node = node->next) {
        const struct value *quantized = node->n_inputs ? node->inputs[0] : NULL;

        if (node->op != OP_CAST || !type_has_blocks(&quantized->type) || !node->outputs[0]->uses)
            continue;
        diag_warn(module->ctx, DIAG_QUANTIZE, node_origin(node),
                  "the weights '%s' are in blocks of %lld, and become f32",
                  str_safe(&module->ctx->perm, quantized->name, 200),
                  (long long)quantized->type.quant->block);
        diag_note(module->ctx, "only convolutions and products of matrices read them as they are");
    }
}

bool pass_fold_dequantize(struct module *module)
{
    const bool ok = rewrite_module(module, rules, sizeof rules / sizeof *rules);

    if (ok) {
        warn_of_blocks(module);
        warn_of_quantized(module);
    }
    return ok;
}

const struct rule *fold_dequantize_rules(int *n)
{
    *n = sizeof rules / sizeof *rules;
    return rules;
}
