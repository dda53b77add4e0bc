/* canonicalize.c - brings equivalent forms to one form, so that later passes and kernels see few.
 *
 * needs    types
 * gives    reshape as the only view; constants on the right; biases as bias_add; products with
 *          constant matrices as dense; bounds as relu or clip; padding inside the operators
 * method   local rewrite rules, first match wins */
#include "relay_ir/passes/pipeline.h"

#include "relay_ir/passes/rules/rules.h"

static const struct rule rules[] = {
    { "view_to_reshape", view_to_reshape, 2, { OP_SQUEEZE, OP_EXPAND_DIMS } },
    { "merge_reshapes", merge_reshapes, 1, { OP_RESHAPE } },
    { "drop_reshape", drop_reshape, 1, { OP_RESHAPE } },
    { "drop_transpose", drop_transpose, 1, { OP_TRANSPOSE } },
    { "merge_transposes", merge_transposes, 1, { OP_TRANSPOSE } },

    { "drop_copy", drop_copy, 1, { OP_COPY } },
    { "drop_cast", drop_cast, 1, { OP_CAST } },
    { "drop_slice", drop_slice, 1, { OP_STRIDED_SLICE } },
    { "drop_pad", drop_pad, 1, { OP_PAD } },
    { "drop_concatenate", drop_concatenate, 1, { OP_CONCATENATE } },
    { "flatten_concatenate", flatten_concatenate, 1, { OP_CONCATENATE } },
    { "join_split", join_split, 1, { OP_CONCATENATE } },
    { "drop_split", drop_split, 1, { OP_SPLIT } },
    { "drop_broadcast", drop_broadcast, 2, { OP_BROADCAST_TO, OP_TILE } },
    { "drop_resize", drop_resize, 1, { OP_RESIZE } },
    { "drop_pool", drop_pool, 6,
      { OP_AVG_POOL1D, OP_AVG_POOL2D, OP_AVG_POOL3D, OP_MAX_POOL1D,
        OP_MAX_POOL2D, OP_MAX_POOL3D } },
    { "drop_reduction", drop_reduction, 7,
      { OP_SUM, OP_MEAN, OP_PROD, OP_MIN, OP_MAX, OP_GLOBAL_AVG_POOL, OP_GLOBAL_MAX_POOL } },

    { "constant_to_right", constant_to_right, 4, { OP_ADD, OP_MULTIPLY, OP_MAXIMUM, OP_MINIMUM } },
    { "subtract_to_add", subtract_to_add, 1, { OP_SUBTRACT } },
    { "divide_to_multiply", divide_to_multiply, 1, { OP_DIVIDE } },

    { "clip_to_relu", clip_to_relu, 1, { OP_CLIP } },
    { "merge_clips", merge_clips, 2, { OP_CLIP, OP_RELU } },
    { "maximum_to_clip", maximum_to_clip, 1, { OP_MAXIMUM } },
    { "minimum_to_clip", minimum_to_clip, 1, { OP_MINIMUM } },

    { "matmul_to_dense", matmul_to_dense, 1, { OP_MATMUL } },
    { "sink_unflatten", sink_unflatten, 0, { 0 } },
    { "merge_biases", merge_biases, 2, { OP_ADD, OP_BIAS_ADD } },
    { "add_to_bias", add_to_bias, 1, { OP_ADD } },

    { "pad_into_conv", pad_into_conv, 3, { OP_CONV1D, OP_CONV2D, OP_CONV3D } },
    { "pad_into_average_pool", pad_into_average_pool, 3,
      { OP_AVG_POOL1D, OP_AVG_POOL2D, OP_AVG_POOL3D } },
    { "pad_into_max_pool", pad_into_max_pool, 3, { OP_MAX_POOL1D, OP_MAX_POOL2D, OP_MAX_POOL3D } },
    { "reduction_to_global_pool", reduction_to_global_pool, 2, { OP_MEAN, OP_MAX } },
    { "pool_to_global_pool", pool_to_global_pool, 6,
      { OP_AVG_POOL1D, OP_AVG_POOL2D, OP_AVG_POOL3D, OP_MAX_POOL1D,
        OP_MAX_POOL2D, OP_MAX_POOL3D } },
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
