/* canonicalize.c - brings equivalent forms to one form, so that later passes and kernels see few.
 *
 * needs    types
 * gives    reshape as the only view; constants on the right; biases as bias_add; products with
 *          constant matrices as dense; bounds as relu or clip; padding inside the operators
 * method   local rewrite rules, first match wins */
#include "relay_ir/passes/pipeline.h"

#include "relay_ir/passes/rules/rules.h"

static const struct rule rules[] = {
    { "squeeze_to_reshape", OP_SQUEEZE, view_to_reshape },
    { "expand_dims_to_reshape", OP_EXPAND_DIMS, view_to_reshape },
    { "merge_reshapes", OP_RESHAPE, merge_reshapes },
    { "drop_reshape", OP_RESHAPE, drop_reshape },
    { "drop_transpose", OP_TRANSPOSE, drop_transpose },
    { "merge_transposes", OP_TRANSPOSE, merge_transposes },

    { "drop_copy", OP_COPY, drop_copy },
    { "drop_cast", OP_CAST, drop_cast },
    { "drop_slice", OP_STRIDED_SLICE, drop_slice },
    { "drop_pad", OP_PAD, drop_pad },
    { "drop_concatenate", OP_CONCATENATE, drop_concatenate },
    { "flatten_concatenate", OP_CONCATENATE, flatten_concatenate },
    { "join_split", OP_CONCATENATE, join_split },
    { "drop_split", OP_SPLIT, drop_split },
    { "drop_broadcast_to", OP_BROADCAST_TO, drop_broadcast },
    { "drop_tile", OP_TILE, drop_broadcast },
    { "drop_resize", OP_RESIZE, drop_resize },
    { "drop_avg_pool1d", OP_AVG_POOL1D, drop_pool },
    { "drop_avg_pool2d", OP_AVG_POOL2D, drop_pool },
    { "drop_avg_pool3d", OP_AVG_POOL3D, drop_pool },
    { "drop_max_pool1d", OP_MAX_POOL1D, drop_pool },
    { "drop_max_pool2d", OP_MAX_POOL2D, drop_pool },
    { "drop_max_pool3d", OP_MAX_POOL3D, drop_pool },
    { "drop_global_avg_pool", OP_GLOBAL_AVG_POOL, drop_reduction },
    { "drop_global_max_pool", OP_GLOBAL_MAX_POOL, drop_reduction },
    { "drop_sum", OP_SUM, drop_reduction },
    { "drop_mean", OP_MEAN, drop_reduction },
    { "drop_prod", OP_PROD, drop_reduction },
    { "drop_min", OP_MIN, drop_reduction },
    { "drop_max", OP_MAX, drop_reduction },

    { "constant_to_right_add", OP_ADD, constant_to_right },
    { "constant_to_right_multiply", OP_MULTIPLY, constant_to_right },
    { "constant_to_right_maximum", OP_MAXIMUM, constant_to_right },
    { "constant_to_right_minimum", OP_MINIMUM, constant_to_right },
    { "subtract_to_add", OP_SUBTRACT, subtract_to_add },
    { "divide_to_multiply", OP_DIVIDE, divide_to_multiply },

    { "clip_to_relu", OP_CLIP, clip_to_relu },
    { "merge_clips", OP_CLIP, merge_clips },
    { "merge_relus", OP_RELU, merge_clips },
    { "maximum_to_clip", OP_MAXIMUM, maximum_to_clip },
    { "minimum_to_clip", OP_MINIMUM, minimum_to_clip },

    { "matmul_to_dense", OP_MATMUL, matmul_to_dense },
    { "sink_unflatten", OP_COUNT, sink_unflatten },
    { "merge_biases", OP_ADD, merge_biases },
    { "merge_bias_adds", OP_BIAS_ADD, merge_biases },
    { "add_to_bias", OP_ADD, add_to_bias },

    { "pad_into_conv1d", OP_CONV1D, pad_into_conv },
    { "pad_into_conv2d", OP_CONV2D, pad_into_conv },
    { "pad_into_conv3d", OP_CONV3D, pad_into_conv },
    { "pad_into_avg_pool1d", OP_AVG_POOL1D, pad_into_average_pool },
    { "pad_into_avg_pool2d", OP_AVG_POOL2D, pad_into_average_pool },
    { "pad_into_avg_pool3d", OP_AVG_POOL3D, pad_into_average_pool },
    { "pad_into_max_pool1d", OP_MAX_POOL1D, pad_into_max_pool },
    { "pad_into_max_pool2d", OP_MAX_POOL2D, pad_into_max_pool },
    { "pad_into_max_pool3d", OP_MAX_POOL3D, pad_into_max_pool },
    { "mean_to_global_pool", OP_MEAN, reduction_to_global_pool },
    { "max_to_global_pool", OP_MAX, reduction_to_global_pool },
    { "avg_pool1d_to_global", OP_AVG_POOL1D, pool_to_global_pool },
    { "avg_pool2d_to_global", OP_AVG_POOL2D, pool_to_global_pool },
    { "avg_pool3d_to_global", OP_AVG_POOL3D, pool_to_global_pool },
    { "max_pool1d_to_global", OP_MAX_POOL1D, pool_to_global_pool },
    { "max_pool2d_to_global", OP_MAX_POOL2D, pool_to_global_pool },
    { "max_pool3d_to_global", OP_MAX_POOL3D, pool_to_global_pool },
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
