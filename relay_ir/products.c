#include "relay_ir/products.h"

bool is_product(enum op op)
{
    switch (op) {
    case OP_CONV1D:
    case OP_CONV2D:
    case OP_CONV3D:
    case OP_CONV1D_TRANSPOSE:
    case OP_CONV2D_TRANSPOSE:
    case OP_CONV3D_TRANSPOSE:
    case OP_DENSE:
    case OP_MATMUL: return true;
    default: return false;
    }
}

bool is_recurrent(enum op op)
{
    return op == OP_RNN || op == OP_GRU || op == OP_LSTM;
}

enum dtype *product_out_dtype(struct node *node)
{
    switch (node->op) {
    case OP_DENSE: return &node->attrs.dense.out_dtype;
    case OP_MATMUL: return &node->attrs.matmul.out_dtype;
    case OP_CONV1D_TRANSPOSE:
    case OP_CONV2D_TRANSPOSE:
    case OP_CONV3D_TRANSPOSE: return &node->attrs.conv_transpose.out_dtype;
    default: return &node->attrs.conv.out_dtype;
    }
}

int product_channel_axis(const struct node *node, int *scales_rank)
{
    const int weight_rank = node->inputs[1]->type.rank;

    switch (node->op) {
    case OP_DENSE: *scales_rank = 1; return 0;
    case OP_MATMUL:
        *scales_rank = weight_rank < 2 ? 0 : 1;
        return weight_rank < 2 ? -1 : weight_rank - (node->attrs.matmul.transpose_b ? 2 : 1);
    case OP_CONV1D_TRANSPOSE:
    case OP_CONV2D_TRANSPOSE:
    case OP_CONV3D_TRANSPOSE:
        *scales_rank = weight_rank - 1;
        if (node->attrs.conv_transpose.groups == 1)
            return 1;
        /* a group's share of the channels does not lie along a dim, but where it is one channel */
        return node->attrs.conv_transpose.groups == node->inputs[1]->type.dim[0] &&
                       node->inputs[1]->type.dim[1] == 1
                   ? 0
                   : -1;
    default: *scales_rank = weight_rank - 1; return 0; /* (out_c,1,1) over (n,out_c,h,w) */
    }
}
