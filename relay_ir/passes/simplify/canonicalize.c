/* canonicalize.c - brings equivalent forms to one form, so that later passes and kernels see few.
 *
 * needs    types
 * gives    reshape as the only view; constants on the right; biases as bias_add; products with
 *          constant matrices as dense; bounds as relu or clip; padding inside the operators
 * method   local rewrite rules, first match wins */
#include "relay_ir/passes/pipeline.h"

#include "relay_ir/passes/rules.h"

static const struct rule rules[] = {
    { "view_to_reshape", view_to_reshape, ROOTS(OP_SQUEEZE, OP_EXPAND_DIMS) },
    { "merge_reshapes", merge_reshapes, ROOTS(OP_RESHAPE) },
    { "drop_reshape", drop_reshape, ROOTS(OP_RESHAPE) },
    { "drop_transpose", drop_transpose, ROOTS(OP_TRANSPOSE) },
    { "merge_transposes", merge_transposes, ROOTS(OP_TRANSPOSE) },
    { "softmax_behind_transpose", softmax_behind_transpose, ROOTS(OP_TRANSPOSE) },

    { "drop_copy", drop_copy, ROOTS(OP_COPY) },
    { "drop_cast", drop_cast, ROOTS(OP_CAST) },
    { "drop_slice", drop_slice, ROOTS(OP_STRIDED_SLICE) },
    { "merge_slices", merge_slices, ROOTS(OP_STRIDED_SLICE) },
    { "drop_pad", drop_pad, ROOTS(OP_PAD) },
    { "drop_concatenate", drop_concatenate, ROOTS(OP_CONCATENATE) },
    { "flatten_concatenate", flatten_concatenate, ROOTS(OP_CONCATENATE) },
    { "join_split", join_split, ROOTS(OP_CONCATENATE) },
    { "drop_split", drop_split, ROOTS(OP_SPLIT) },
    { "drop_broadcast", drop_broadcast, ROOTS(OP_BROADCAST_TO, OP_TILE) },
    { "drop_resize", drop_resize, ROOTS(OP_RESIZE) },
    { "drop_pool", drop_pool,
      ROOTS(OP_AVG_POOL1D, OP_AVG_POOL2D, OP_AVG_POOL3D, OP_MAX_POOL1D, OP_MAX_POOL2D,
            OP_MAX_POOL3D) },
    { "drop_own_twin", drop_own_twin,
      ROOTS(OP_BITWISE_AND, OP_BITWISE_OR, OP_LOGICAL_AND, OP_LOGICAL_OR, OP_MAXIMUM, OP_MINIMUM) },
    { "drop_reduction", drop_reduction,
      ROOTS(OP_SUM, OP_MEAN, OP_PROD, OP_MIN, OP_MAX, OP_GLOBAL_AVG_POOL, OP_GLOBAL_MAX_POOL) },

    { "constant_to_right", constant_to_right, ROOTS(OP_ADD, OP_MULTIPLY, OP_MAXIMUM, OP_MINIMUM) },
    { "subtract_to_add", subtract_to_add, ROOTS(OP_SUBTRACT) },
    { "divide_to_multiply", divide_to_multiply, ROOTS(OP_DIVIDE) },
    { "multiply_zero", multiply_zero, ROOTS(OP_MULTIPLY) },

    { "clip_to_relu", clip_to_relu, ROOTS(OP_CLIP) },
    { "merge_clips", merge_clips, ROOTS(OP_CLIP, OP_RELU) },
    { "maximum_to_clip", maximum_to_clip, ROOTS(OP_MAXIMUM) },
    { "minimum_to_clip", minimum_to_clip, ROOTS(OP_MINIMUM) },

    { "matmul_to_dense", matmul_to_dense, ROOTS(OP_MATMUL) },
    { "sink_unflatten", sink_unflatten, NULL },
    { "squeeze_behind_elementwise", squeeze_behind_elementwise, NULL },
    { "merge_biases", merge_biases, ROOTS(OP_ADD, OP_BIAS_ADD) },
    { "add_to_bias", add_to_bias, ROOTS(OP_ADD) },
    { "drop_zero_bias", drop_zero_bias, ROOTS(OP_BIAS_ADD) },

    { "pad_behind_transpose", pad_behind_transpose, ROOTS(OP_TRANSPOSE) },
    { "pad_behind_reshape", pad_behind_reshape, ROOTS(OP_RESHAPE) },
    { "pad_into_conv", pad_into_conv, ROOTS(OP_CONV1D, OP_CONV2D, OP_CONV3D) },
    { "cut_kernel", cut_kernel, ROOTS(OP_CONV1D, OP_CONV2D, OP_CONV3D) },
    { "slice_into_conv", slice_into_conv, ROOTS(OP_STRIDED_SLICE) },
    { "pad_into_qnn_conv", pad_into_qnn_conv, ROOTS(OP_QNN_CONV1D, OP_QNN_CONV2D, OP_QNN_CONV3D) },
    { "pad_into_average_pool", pad_into_average_pool,
      ROOTS(OP_AVG_POOL1D, OP_AVG_POOL2D, OP_AVG_POOL3D) },
    { "pad_into_max_pool", pad_into_max_pool, ROOTS(OP_MAX_POOL1D, OP_MAX_POOL2D, OP_MAX_POOL3D) },
    { "reduction_to_global_pool", reduction_to_global_pool, ROOTS(OP_MEAN, OP_MAX) },
    { "pool_to_global_pool", pool_to_global_pool,
      ROOTS(OP_AVG_POOL1D, OP_AVG_POOL2D, OP_AVG_POOL3D, OP_MAX_POOL1D, OP_MAX_POOL2D,
            OP_MAX_POOL3D) },
};

bool pass_canonicalize(struct module *module)
{
    return rewrite_module(module, rules, sizeof rules / sizeof *rules);
}

const struct rule *canonicalize_rules(int *n)
{
    *n = sizeof rules / sizeof *rules;
    return rules;
}
