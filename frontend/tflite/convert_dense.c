/* convert_dense.c - FULLY_CONNECTED. */
#include "frontend/tflite/convert_quant.h"

enum { ACTIVATION, WEIGHTS_FORMAT, KEEP_DIMS };

/* x as rows of the weights' length. */
static struct value *rows_of(struct tfl_node *node, int64_t length)
{
    const struct type *x = &node->inputs[0]->type;
    const int64_t n = type_elements(x);
    const struct type rows =
        type_make(x->dtype, 2, (const int64_t[]){ length ? n / length : 0, length });

    if (length > 0 && n % length == 0)
        return tfl_reshape(node, tfl_value(node, 0), &rows, "rows");
    tfl_unsupported(node, "weights of %lld columns for an input of %s", (long long)length,
                    type_text(&node->ctx->perm, x));
    return NULL;
}

bool convert_tfl_dense(struct tfl_node *node)
{
    const union attrs attrs = { .dense = { .out_dtype = DTYPE_NONE } };
    const struct type *w;
    struct tensor weights;

    if (!tfl_check(node, 2, 3, 1) || !tfl_check_rank(node, node->inputs[1], 2, 2))
        return false;
    if (tfl_word(node, WEIGHTS_FORMAT) != 0)
        return tfl_unsupported(node, "shuffled weights");
    if (!tfl_constant(node, 1, &weights))
        return false;
    w = &node->inputs[1]->type;
    return tfl_output(
        node, 0,
        tfl_reshape(node,
                    tfl_product(node, &(struct tfl_product){ .integer = OP_QNN_DENSE,
                                                             .real = OP_DENSE,
                                                             .attrs = &attrs,
                                                             .x = rows_of(node, w->dim[1]),
                                                             .w = tfl_value(node, 1),
                                                             .n = w->dim[0],
                                                             .w_axis = 0,
                                                             .axis = 1,
                                                             .activation = ACTIVATION }),
                    &node->outputs[0]->type, "shaped"));
}
