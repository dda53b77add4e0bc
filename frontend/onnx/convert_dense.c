/* convert_dense.c - MatMul and Gemm.
 *
 * Weights that are known at compile time become nn.dense, whose second operand is [out, in]: the
 * transpose in front of it is folded away. Everything else is nn.matmul. */
#include "frontend/onnx/convert_product.h"

struct value *turned(struct onnx_node *node, struct value *matrix)
{
    const struct ints swapped = { .n = 2, .at = { 1, 0 } };

    return transpose_to(node, matrix, &swapped, "weight");
}

struct value *as_matrix(struct onnx_node *node, struct value *x, bool is_row)
{
    struct ints shape = { .n = 2, .at = { 1, 1 } };

    if (!x || x->type.rank != 1)
        return x;
    shape.at[is_row ? 1 : 0] = x->type.dim[0];
    return reshape_to(node, x, &shape, is_row ? "row" : "column");
}

struct ints product_shape(const struct type *y, bool drop_row, bool drop_column)
{
    struct ints shape = { .n = 0 };

    for (int i = 0; i < y->rank; i++)
        if (!(drop_row && i == y->rank - 2) && !(drop_column && i == y->rank - 1))
            shape.at[shape.n++] = y->dim[i];
    return shape;
}

bool convert_matmul(struct onnx_node *node)
{
    struct value *a = onnx_input(node, 0), *b = onnx_input(node, 1), *y;
    struct ints shape;
    bool row, column;

    if (!onnx_check_inputs(node, 2, 2) || !onnx_check_kind(node, 0, TAKES_NUMBER) ||
        !onnx_check_rank(node, 0, 1, MAX_RANK) || !onnx_check_rank(node, 1, 1, MAX_RANK))
        return false;
    row = a->type.rank == 1;
    column = b->type.rank == 1;
    if (a->type.rank == 2 && b->type.rank == 2 && is_static(b))
        return onnx_output(node, 0, apply2(node, OP_DENSE, "", a, turned(node, b)));
    if (!row && !column)
        return onnx_output(node, 0, apply2(node, OP_MATMUL, "", a, b));
    y = apply2(node, OP_MATMUL, "product", as_matrix(node, a, true), as_matrix(node, b, false));
    if (!y)
        return false;
    shape = product_shape(&y->type, row, column);
    return onnx_output(node, 0, reshape_to(node, y, &shape, ""));
}

/* x * factor; x itself for a factor of 1. */
static struct value *scaled(struct onnx_node *node, struct value *x, double factor,
                            const char *suffix)
{
    if (!x || factor == 1)
        return x;
    return apply2(node, OP_MULTIPLY, suffix, x, scalar_like(node, x, factor, "factor"));
}

/* alpha goes into the weights where those are known, so that it costs nothing. */
static struct value *gemm_product(struct onnx_node *node, double alpha, const char *suffix)
{
    struct value *a = onnx_input(node, 0), *b = onnx_input(node, 1), *y;
    union attrs attrs = { .matmul = { .transpose_a = onnx_int(node, "transA", 0) != 0,
                                      .transpose_b = onnx_int(node, "transB", 0) != 0 } };

    if (!onnx_ok(node))
        return NULL;
    if (is_static(b)) {
        b = scaled(node, b, alpha, "scaled_weight");
        if (attrs.matmul.transpose_a)
            a = turned(node, a);
        if (!attrs.matmul.transpose_b)
            b = turned(node, b);
        return apply2(node, OP_DENSE, suffix, a, b);
    }
    y = onnx_build2(node, OP_MATMUL, &attrs, alpha == 1 ? suffix : "product", a, b);
    return alpha == 1 ? y : scaled(node, y, alpha, suffix);
}

static bool check_factor(struct onnx_node *node, const char *attr, double factor)
{
    enum dtype dtype = onnx_input(node, 0)->type.dtype;

    if (dtype_is_float(dtype) || factor == (double)(int64_t)factor)
        return true;
    return bad_attribute(node, "attribute %s is %g, which %s cannot hold", attr, factor,
                         dtype_name(dtype));
}

/* y = alpha * A * B + beta * C */
bool convert_gemm(struct onnx_node *node)
{
    const union attrs columns = { .axis = { .axis = 1 } };
    double alpha = onnx_real(node, "alpha", 1), beta = onnx_real(node, "beta", 1);
    struct value *c = onnx_input(node, 2), *y;

    if (!onnx_check_inputs(node, 2, 3) || !onnx_check_kind(node, 0, TAKES_NUMBER) ||
        !onnx_check_rank(node, 0, 2, 2) || !onnx_check_rank(node, 1, 2, 2) ||
        !onnx_check_rank(node, 2, 0, 2) || !onnx_ok(node) || !check_factor(node, "alpha", alpha) ||
        !check_factor(node, "beta", beta))
        return false;
    if (c && beta == 0)
        c = NULL;
    y = gemm_product(node, alpha, c ? "dense" : "");
    if (!y || !c)
        return onnx_output(node, 0, y);
    c = scaled(node, c, beta, "bias");
    if (c && c->type.rank == 1 && c->type.dim[0] == y->type.dim[1])
        return onnx_output(node, 0, onnx_build2(node, OP_BIAS_ADD, &columns, "", y, c));
    return onnx_output(node, 0, apply2(node, OP_ADD, "", y, c));
}
