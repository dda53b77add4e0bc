/* fake_quant_to_integer.c - what stands between qnn.dequantize and qnn.quantize is computed in
 * integers (models exported with QuantizeLinear and DequantizeLinear around float operators).
 *
 * needs    types; constants not folded yet: fold_constant makes f32 weights of
 * dequantize(constant), and nobody could tell afterwards that they were 8 bits wide gives qnn.conv,
 * dense, matmul with qnn.requantize, qnn.add, qnn.mul; operators that move numbers read and write
 * integers; no quantize of a dequantize method   local rewrite rules. One kind moves operators in
 * front of a dequantize, and changes no bit. The other begins at a quantize, and may change its
 * output by one step: where the float form rounds once, to nearest, ties to even, the integer form
 * rounds the bias, then the product with a fixed-point factor twice (ops/fixed_point.c). Its sums
 * are exact; those of f32 are not, so that a float form whose sums cancel may be further away.
 *
 * These stay in floats, between dequantize and quantize, as targets expect them: averages, softmax,
 * sigmoid, tanh and all else without a row; subtract (there is no qnn.subtract); operands of
 * different types; more than one scale other than for weights; scales that are computed; sums that
 * could leave 32 bits; a bias that would be rounded by more than half a step; results that others
 * read as floats as well. A dequantize that others read stays for them. */
#include "relay_ir/passes/pipeline.h"

#include "relay_ir/passes/rules/rules.h"

#define QUANTIZE ROOTS(OP_QNN_QUANTIZE)

static const struct rule rules[] = {
    { "move_before_dequantize", move_before_dequantize,
      ROOTS(OP_COPY, OP_RESHAPE, OP_SQUEEZE, OP_EXPAND_DIMS, OP_TRANSPOSE, OP_STRIDED_SLICE,
            OP_DEPTH_TO_SPACE, OP_SPACE_TO_DEPTH, OP_TAKE, OP_MAX_POOL1D, OP_MAX_POOL2D,
            OP_MAX_POOL3D) },
    { "transpose_before_dequantize", transpose_before_dequantize, ROOTS(OP_TRANSPOSE) },
    { "pad_before_dequantize", pad_before_dequantize, ROOTS(OP_PAD) },
    { "clip_before_dequantize", clip_before_dequantize, ROOTS(OP_RELU, OP_CLIP) },
    { "join_before_dequantize", join_before_dequantize, ROOTS(OP_CONCATENATE) },

    { "quantize_of_dequantize", quantize_of_dequantize, QUANTIZE },
    { "quantize_of_clip", quantize_of_clip, QUANTIZE },
    { "quantize_of_concatenate", quantize_of_concatenate, QUANTIZE },
    { "binary_to_integer", binary_to_integer, QUANTIZE },
    { "product_to_integer", product_to_integer, QUANTIZE },
};

bool pass_fake_quant_to_integer(struct module *module)
{
    return rewrite_module(module, rules, sizeof rules / sizeof *rules);
}

const struct rule *fake_quant_to_integer_rules(int *n)
{
    *n = sizeof rules / sizeof *rules;
    return rules;
}
