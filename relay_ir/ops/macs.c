/* macs.c - see macs.h. */
#include "relay_ir/macs.h"

#include "relay_ir/ops/qnn_recurrent.h"

static int64_t multiply(int64_t a, int64_t b)
{
    int64_t product;

    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* Each weight meets every entry of the batch at every step; x [steps, batch, input], or the first
 * two the other way. */
static int64_t recurrent_macs(const struct node *node, int w, int r)
{
    return multiply(type_span(&node->inputs[0]->type, 0, 2),
                    type_elements(&node->inputs[w]->type) + type_elements(&node->inputs[r]->type));
}

int64_t node_macs(const struct node *node)
{
    const struct type *x, *w, *y;

    switch (node->op) {
    case OP_RNN:
    case OP_GRU:
    case OP_LSTM:
    case OP_QNN_LSTM_TABLES: return recurrent_macs(node, 1, 2);
    case OP_QNN_RNN:
    case OP_QNN_GRU:
    case OP_QNN_LSTM: return recurrent_macs(node, QNN_RNN_W, QNN_RNN_R);
    default: break;
    }
    if (node->n_inputs < 2 || !node->inputs[0] || !node->inputs[1] || node->n_outputs != 1)
        return 0;
    x = &node->inputs[0]->type;
    w = &node->inputs[1]->type;
    y = &node->outputs[0]->type;
    switch (node->op) {
    case OP_CONV1D:
    case OP_CONV2D:
    case OP_CONV3D:
    case OP_QNN_CONV1D:
    case OP_QNN_CONV2D:
    case OP_QNN_CONV3D: /* weight [out_c, in_c / groups, k...] */
        return multiply(type_elements(y), type_span(w, 1, w->rank));
    case OP_CONV1D_TRANSPOSE:
    case OP_CONV2D_TRANSPOSE:
    case OP_CONV3D_TRANSPOSE: /* every input element meets [out_c / groups, k...] */
        return multiply(type_elements(x), type_span(w, 1, w->rank));
    case OP_DENSE:
    case OP_QNN_DENSE: return multiply(type_elements(y), x->rank ? x->dim[x->rank - 1] : 1);
    case OP_MATMUL:
    case OP_QNN_MATMUL: {
        const bool transposed = node->attrs.matmul.transpose_a && x->rank > 1;

        return multiply(type_elements(y), x->rank ? x->dim[x->rank - 1 - transposed] : 1);
    }
    default: return 0;
    }
}

double node_work(const struct node *node)
{
    const double macs = (double)node_macs(node);
    double elements = 64; /* a small one takes its time, too */

    for (int i = 0; i < node->n_inputs; i++)
        elements += node->inputs[i] ? (double)type_elements(&node->inputs[i]->type) : 0;
    for (int i = 0; i < node->n_outputs; i++)
        elements += (double)type_elements(&node->outputs[i]->type);
    return macs > elements ? macs : elements;
}
