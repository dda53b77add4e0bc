/* overlap.c - see overlap.h. */
#include "relay_ir/overlap.h"

bool adds_windows(const struct node *node)
{
    const struct value *w;
    const float *weights;
    int64_t window = 1;

    if (node->op != OP_CONV1D_TRANSPOSE && node->op != OP_CONV2D_TRANSPOSE)
        return false;
    w = node->inputs[1];
    weights = w->data;
    if (w->kind != VALUE_CONSTANT || w->type.dtype != DTYPE_F32 || w->type.quant ||
        node->inputs[0]->type.dtype != DTYPE_F32 || node->outputs[0]->type.dtype != DTYPE_F32)
        return false;
    for (int i = 2; i < w->type.rank; i++)
        window *= w->type.dim[i];
    if (w->type.dim[1] != 1 || w->type.dim[0] != window * node->attrs.conv_transpose.groups)
        return false;
    for (int64_t c = 0; c < w->type.dim[0]; c++)
        for (int64_t k = 0; k < window; k++)
            if (weights[c * window + k] != (c % window == k ? 1 : 0))
                return false;
    return true;
}
