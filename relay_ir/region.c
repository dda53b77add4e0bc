/* region.c - see region.h. */
#include "relay_ir/region.h"

/* What an anchor may decode: its first `n` inputs. Operators that only move numbers stand here for
 * what no rule could bring in front of the decoder: parts in different scales, several outputs. */
static const struct {
    enum op op;
    int n;
} decoding[] = {
    { OP_CONV1D, 1 },
    { OP_CONV1D_TRANSPOSE, 1 },
    { OP_CONV2D, 1 },
    { OP_CONV2D_TRANSPOSE, 1 },
    { OP_CONV3D, 1 },
    { OP_CONV3D_TRANSPOSE, 1 },
    { OP_DENSE, 1 },
    { OP_MATMUL, 1 },
    { OP_ARGMAX, 1 },
    { OP_ARGMIN, 1 },
    { OP_AVG_POOL1D, 1 },
    { OP_AVG_POOL2D, 1 },
    { OP_AVG_POOL3D, 1 },
    { OP_BROADCAST_TO, 1 },
    { OP_CONCATENATE, 1 << 20 },
    { OP_DEPTH_TO_SPACE, 1 },
    { OP_GLOBAL_AVG_POOL, 1 },
    { OP_GLOBAL_MAX_POOL, 1 },
    { OP_GROUP_NORM, 1 },
    { OP_INSTANCE_NORM, 1 },
    { OP_LAYER_NORM, 1 },
    { OP_LOG_SOFTMAX, 1 },
    { OP_LP_NORMALIZE, 1 },
    { OP_LP_POOL1D, 1 },
    { OP_LP_POOL2D, 1 },
    { OP_LP_POOL3D, 1 },
    { OP_LRN, 1 },
    { OP_MAX, 1 },
    { OP_MAX_POOL1D, 1 },
    { OP_MAX_POOL2D, 1 },
    { OP_MAX_POOL3D, 1 },
    { OP_MEAN, 1 },
    { OP_MIN, 1 },
    { OP_PAD, 1 },
    { OP_PROD, 1 },
    { OP_RESIZE, 1 },
    { OP_SOFTMAX, 1 },
    { OP_SPACE_TO_DEPTH, 1 },
    { OP_SPLIT, 1 },
    { OP_STRIDED_SLICE, 1 },
    { OP_SUM, 1 },
    { OP_TILE, 1 },
    { OP_TRANSPOSE, 1 },
};

static bool is_small(enum dtype dtype)
{
    return dtype_kind(dtype) == KIND_MINIFLOAT ||
           (dtype_is_integer(dtype) && dtype_bytes(dtype) <= 2);
}

/* One number, known. Zero points of narrow floats are 0, or type inference would not have them. */
static bool is_one_number(const struct value *value)
{
    double number;

    return dtype_kind(value->type.dtype) == KIND_MINIFLOAT || value_uniform(value, &number);
}

bool is_decoder(const struct node *node)
{
    if (node->op == OP_CAST)
        return node->attrs.cast.dtype == DTYPE_F32 && is_small(node->inputs[0]->type.dtype);
    return node->op == OP_QNN_DEQUANTIZE && is_small(node->inputs[0]->type.dtype) &&
           is_one_number(node->inputs[1]) && is_one_number(node->inputs[2]);
}

bool op_decodes(enum op op, int input)
{
    for (size_t i = 0; i < sizeof decoding / sizeof *decoding; i++)
        if (decoding[i].op == op)
            return input < decoding[i].n;
    return false;
}

bool op_leaves_results(enum op op)
{
    return op == OP_QNN_GRU || op == OP_QNN_LSTM || op == OP_QNN_RNN;
}

struct node *region_anchor(const struct function *region)
{
    for (struct node *node = region->first; node; node = node->next)
        if (!op_is_elementwise(node->op))
            return node;
    return NULL;
}

struct node *anchor_decoder(const struct node *anchor, int input)
{
    return anchor->inputs[input] ? anchor->inputs[input]->def : NULL;
}

bool anchor_decodes_all(const struct node *anchor)
{
    for (int i = 0; i < anchor->n_inputs; i++)
        if (anchor->inputs[i] && anchor->inputs[i]->def && !op_decodes(anchor->op, i))
            return false;
    return true;
}

/* By the node's readers, which are few, where a concatenation may have thousands of inputs. */
bool is_prologue(const struct node *node, const struct node *anchor)
{
    for (int i = 0; anchor && i < node->n_outputs; i++)
        for (const struct use *use = node->outputs[i]->uses; use; use = use->next)
            if (use->node == anchor)
                return true;
    return false;
}
