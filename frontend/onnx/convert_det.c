/* convert_det.c - Det of small matrices, by products and sums of their elements. */
#include "frontend/onnx/convert_helpers.h"

enum { MAX_DET = 4 };

/* Element (i, j) of all matrices, [...]. */
static struct value *element(struct onnx_node *node, int i, int j)
{
    struct value *x = onnx_input(node, 0);
    const int rank = x->type.rank;
    const struct ints batch = ints_of(rank - 2, x->type.dim);

    x = slice_to(node, slice_to(node, x, rank - 2, i, 1, "row"), rank - 1, j, 1, "element");
    return reshape_to(node, x, &batch, "element");
}

/* The minor of rows from `row` on and the columns of the mask, by its first row. */
static struct value *minor(struct onnx_node *node, int row, int n, int columns)
{
    struct value *sum = NULL;
    bool minus = false;

    for (int j = 0; j < n; j++) {
        struct value *term;

        if (!(columns >> j & 1))
            continue;
        term = element(node, row, j);
        if (row + 1 < n)
            term = apply2(node, OP_MULTIPLY, "term", term,
                          minor(node, row + 1, n, columns & ~(1 << j)));
        if (!term)
            return NULL;
        if (!sum)
            sum = minus ? apply1(node, OP_NEGATIVE, "minus", term) : term;
        else
            sum = apply2(node, minus ? OP_SUBTRACT : OP_ADD, "sum", sum, term);
        minus = !minus;
    }
    return sum;
}

bool convert_det(struct onnx_node *node)
{
    const struct value *x = onnx_input(node, 0);
    int64_t n;

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_FLOAT) ||
        !onnx_check_rank(node, 0, 2, MAX_RANK))
        return false;
    n = x->type.dim[x->type.rank - 1];
    if (n != x->type.dim[x->type.rank - 2])
        return diag_error(node->ctx, DIAG_SHAPE, node->origin,
                          "matrices of shape %s, wanted squares",
                          shape_text(&node->ctx->perm, &x->type));
    if (n < 1 || n > MAX_DET)
        return onnx_unsupported(node, "matrices of %lld rows; 1 to %d are supported", (long long)n,
                                MAX_DET);
    return onnx_output(node, 0, minor(node, 0, (int)n, (1 << n) - 1));
}
