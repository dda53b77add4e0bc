/* fake_quant_to_integer.c - what stands between qnn.dequantize and qnn.quantize is computed in
 * integers (models exported with QuantizeLinear and DequantizeLinear around float operators).
 *
 * needs    types; constants not folded yet: fold_constant makes f32 weights of
 *          dequantize(constant), and nobody could tell afterwards that they were 8 bits wide
 * gives    qnn.* operators on what is stored; operators that move numbers read and write integers;
 *          no quantize of a dequantize
 * method   local rewrite rules. One kind moves operators in front of a dequantize, and changes no
 *          bit. The other begins at a quantize, and may change its output by one step: where the
 *          float form rounds once, to nearest, ties to even, the integer form rounds the bias, then
 *          the product with a fixed-point factor twice (ops/fixed_point.c). Its sums are exact;
 *          those of f32 are not, so that a float form whose sums cancel may be further away.
 *          Tables hold what the float form gives, to the bit
 * rounding with module->rounds_as_onnx (--rounding onnx) rules of the second kind fire where the
 *          result is that of the float form: bounds, choices, tables of 8 bits; and for products,
 *          whose exact sum is rounded as ONNX Runtime does it (qnn.requantize, "onnx"). All else
 *          stays in floats
 *
 * docs/guide/qdq.md lists what stays in floats, between dequantize and quantize. A dequantize that
 * others read stays for them. */
#include "relay_ir/passes/pipeline.h"

#include "relay_ir/passes/rules.h"

#define QUANTIZE ROOTS(OP_QNN_QUANTIZE)
#define ENCODE ROOTS(OP_QNN_QUANTIZE, OP_CAST) /* to narrow floats */

static const struct rule rules[] = {
    { "move_before_dequantize", move_before_dequantize,
      ROOTS(OP_BROADCAST_TO, OP_COPY, OP_DEPTH_TO_SPACE, OP_EXPAND_DIMS, OP_GATHER, OP_GATHER_ND,
            OP_GLOBAL_MAX_POOL, OP_MAX, OP_MAX_POOL1D, OP_MAX_POOL2D, OP_MAX_POOL3D, OP_MIN,
            OP_RESHAPE, OP_RESIZE, OP_REVERSE_SEQUENCE, OP_SPACE_TO_DEPTH, OP_SQUEEZE,
            OP_STRIDED_SLICE, OP_TAKE, OP_TILE, OP_TRANSPOSE) },
    { "transpose_before_dequantize", transpose_before_dequantize, ROOTS(OP_TRANSPOSE) },
    { "pad_before_dequantize", pad_before_dequantize, ROOTS(OP_PAD) },
    { "clip_before_dequantize", clip_before_dequantize, ROOTS(OP_RELU, OP_CLIP) },
    { "join_before_dequantize", join_before_dequantize, ROOTS(OP_CONCATENATE) },

    { "quantize_of_dequantize", quantize_of_dequantize, QUANTIZE },
    { "quantize_of_clip", quantize_of_clip, QUANTIZE },
    { "quantize_of_concatenate", quantize_of_concatenate, QUANTIZE },
    { "binary_to_integer", binary_to_integer, QUANTIZE },
    { "transposed_conv_to_polyphase", transposed_conv_to_polyphase, QUANTIZE },
    { "product_to_integer", product_to_integer, QUANTIZE },
    { "hardmax_before_dequantize", hardmax_before_dequantize, ROOTS(OP_HARDMAX) },
    { "arg_before_dequantize", arg_before_dequantize, ROOTS(OP_ARGMAX, OP_ARGMIN) },
    { "quantize_of_split", quantize_of_split, QUANTIZE },
    { "quantize_of_pad", quantize_of_pad, QUANTIZE },
    { "encode_of_bool", encode_of_bool, ENCODE },
    { "choice_to_integer", choice_to_integer, QUANTIZE },
    { "sums_to_integer", sums_to_integer, QUANTIZE },
    { "lp_pool_to_average", lp_pool_to_average, QUANTIZE },
    { "prod_to_integer", prod_to_integer, QUANTIZE },
    { "reduction_to_integer", reduction_to_integer, QUANTIZE },
    { "norm_to_integer", norm_to_integer, QUANTIZE },
    { "grid_sample_to_integer", grid_sample_to_integer, QUANTIZE },
    { "resize_to_integer", resize_to_integer, QUANTIZE },
    { "recurrent_to_integer", recurrent_to_integer, QUANTIZE },
    { "chain_to_table", chain_to_table, QUANTIZE },
    { "quantize_of_move", quantize_of_move, QUANTIZE },
    { "table_of_table", table_of_table, ROOTS(OP_QNN_LUT) },

    { "requantize_as_onnx", requantize_as_onnx, ROOTS(OP_QNN_REQUANTIZE) },
    { "binary_as_onnx", binary_as_onnx, ROOTS(OP_QNN_ADD, OP_QNN_SUBTRACT, OP_QNN_MUL) },
    { "global_average_as_onnx", global_average_as_onnx, QUANTIZE },

    { "move_before_decoder", move_before_decoder,
      ROOTS(OP_BROADCAST_TO, OP_COPY, OP_DEPTH_TO_SPACE, OP_EXPAND_DIMS, OP_GATHER, OP_GATHER_ND,
            OP_MAX_POOL1D, OP_MAX_POOL2D, OP_MAX_POOL3D, OP_RESHAPE, OP_REVERSE_SEQUENCE,
            OP_SPACE_TO_DEPTH, OP_SQUEEZE, OP_STRIDED_SLICE, OP_TAKE, OP_TILE, OP_TRANSPOSE) },
    { "pad_before_decoder", pad_before_decoder, ROOTS(OP_PAD) },
    { "join_before_decoder", join_before_decoder, ROOTS(OP_CONCATENATE) },
    { "encode_of_decode", encode_of_decode, ENCODE },
    { "encode_of_split", encode_of_split, ENCODE },
    { "encode_before_move", encode_before_move, ENCODE },

    /* … of which tables have left none */
    { "compare_before_dequantize", compare_before_dequantize,
      ROOTS(OP_EQUAL, OP_GREATER, OP_GREATER_EQUAL, OP_LESS, OP_LESS_EQUAL, OP_NOT_EQUAL) },
    { "predicate_before_dequantize", predicate_before_dequantize,
      ROOTS(OP_ISFINITE, OP_ISINF, OP_ISNAN) },
};

enum { N_RULES = sizeof rules / sizeof *rules, N_LAST = 2 };

typedef struct value *apply(struct rewrite *rewrite, struct node *root);

/* What may be a step away from the float form. */
static apply *const of_fixed_point[] = {
    binary_to_integer,      sums_to_integer,      lp_pool_to_average,
    prod_to_integer,        reduction_to_integer, norm_to_integer,
    grid_sample_to_integer, resize_to_integer,    recurrent_to_integer,
};

/* What is there to bring other forms to that of ONNX. */
static apply *const of_onnx[] = { requantize_as_onnx, binary_as_onnx, global_average_as_onnx };

#define HAS(list, rule) is_among(list, sizeof list / sizeof *list, rule)

static bool is_among(apply *const *list, size_t n, const struct rule *rule)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == rule->apply)
            return true;
    return false;
}

/* A float form rounds once, or as ONNX does. */
static bool rounds_otherwise(const struct module *module, const struct rule *rule)
{
    const bool fixed = HAS(of_fixed_point, rule), onnx = HAS(of_onnx, rule);

    if (module->rounds_as_written)
        return fixed || onnx;
    return module->rounds_as_onnx ? fixed : onnx;
}

/* The first n rules, less those of another rounding. */
static bool rewrite_with(struct module *module, int n)
{
    struct rule fitting[N_RULES];
    int n_fitting = 0;

    for (int i = 0; i < n; i++)
        if (!rounds_otherwise(module, &rules[i]))
            fitting[n_fitting++] = rules[i];
    return rewrite_module(module, fitting, n_fitting);
}

bool pass_fake_quant_to_integer(struct module *module)
{
    bool changed = false;

    return rewrite_with(module, N_RULES - N_LAST) && rewrite_with(module, N_RULES) &&
           pairs_before_dequantize(module, &changed) && (!changed || rewrite_with(module, N_RULES));
}

const struct rule *fake_quant_to_integer_rules(int *n)
{
    *n = N_RULES;
    return rules;
}
