/* fake_quant_to_exact.c - what stands between FP8 numbers that are decoded and FP8 numbers that are
 * encoded again is computed in integers, exactly: no float at run time, the same bits everywhere.
 *
 * needs    types; the simulated form of quantize.h; constants not folded yet (fold_constant would
 *          decode the weights)
 * gives    qnn.conv, dense, matmul with sums of 64 bits and qnn.requantize; qnn.add, mul, div,
 *          averages, norms and the like; tables (qnn.lut); operators that move or choose read and
 *          write quantised values
 * method   local rewrite rules. What moves, and tables, change no bit. Products, sums, averages and
 *          norms are rounded once, from the exact sum, where f32 rounds each partial sum as well:
 *          their results may be one code apart
 *
 * docs/guide/fp8.md lists what stays in floats. So does a product with anything but biases, relu,
 * clip and an added FP8 value (a residual) behind it; formats without an exact form
 * (relay_ir/ops/exact.h); scales that are computed; results that others read as floats as well. */
#include "relay_ir/passes/pipeline.h"

#include "relay_ir/passes/rules.h"

#define ENCODE ROOTS(OP_QNN_QUANTIZE, OP_CAST)

static const struct rule rules[] = {
    { "move_before_decode", move_before_decode,
      ROOTS(OP_COPY, OP_RESHAPE, OP_SQUEEZE, OP_EXPAND_DIMS, OP_TRANSPOSE, OP_STRIDED_SLICE,
            OP_DEPTH_TO_SPACE, OP_SPACE_TO_DEPTH, OP_TAKE, OP_MAX_POOL1D, OP_MAX_POOL2D,
            OP_MAX_POOL3D) },
    { "resize_before_decode", resize_before_decode, ROOTS(OP_RESIZE) },
    { "pad_before_decode", pad_before_decode, ROOTS(OP_PAD) },
    { "join_before_decode", join_before_decode, ROOTS(OP_CONCATENATE) },

    { "encode_of_decode", exact_encode_of_decode, ENCODE },
    { "encode_of_elements", encode_of_elements, ENCODE },
    { "encode_of_concatenate", encode_of_concatenate, ENCODE },
    { "exact_binary", exact_binary, ENCODE },
    { "exact_affine", exact_affine, ENCODE },
    { "exact_average", exact_average, ENCODE },
    { "exact_prod", exact_prod, ENCODE },
    { "encode_of_bool", encode_of_bool, ENCODE },
    { "exact_choice", exact_choice, ENCODE },
    { "exact_sums", exact_sums, ENCODE },
    { "exact_lp_pool", exact_lp_pool, ENCODE },
    { "exact_norm", exact_norm, ENCODE },
    { "exact_normalize", exact_normalize, ENCODE },
    { "exact_polyphase", exact_polyphase, ENCODE },
    { "exact_product", exact_product, ENCODE },
    { "exact_recurrent", exact_recurrent, ENCODE },
    { "exact_resize", exact_resize, ENCODE },
    { "exact_softmax", exact_softmax, ENCODE },
    { "encode_of_channels", encode_of_channels, ENCODE }, /* where nothing smaller does it */
    { "arg_before_decode", arg_before_decode, ROOTS(OP_ARGMAX, OP_ARGMIN) },
    { "greatest_before_decode", greatest_before_decode, ROOTS(OP_MAX, OP_MIN, OP_GLOBAL_MAX_POOL) },
    { "hardmax_before_decode", hardmax_before_decode, ROOTS(OP_HARDMAX) },

    /* … of which tables have left none */
    { "compare_before_decode", compare_before_decode,
      ROOTS(OP_EQUAL, OP_GREATER, OP_GREATER_EQUAL, OP_LESS, OP_LESS_EQUAL, OP_NOT_EQUAL) },
    { "predicate_before_decode", predicate_before_decode, ROOTS(OP_ISFINITE, OP_ISINF, OP_ISNAN) },
};

enum { N_RULES = sizeof rules / sizeof *rules, N_LAST = 2 };

bool pass_fake_quant_to_exact(struct module *module)
{
    bool changed = false;

    return rewrite_module(module, rules, N_RULES - N_LAST) &&
           rewrite_module(module, rules, N_RULES) && pairs_before_decode(module, &changed) &&
           (!changed || rewrite_module(module, rules, N_RULES));
}

const struct rule *fake_quant_to_exact_rules(int *n)
{
    *n = N_RULES;
    return rules;
}
