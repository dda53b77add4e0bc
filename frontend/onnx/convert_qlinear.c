/* convert_qlinear.c - products of quantised operands: QLinearConv, ConvInteger, QLinearMatMul,
 * MatMulInteger, and QGemm of com.microsoft.
 *
 * The product is one of integers with 32-bit sums; a bias in the product's scale is added to them,
 * and qnn.requantize makes of them what the next operator takes. Weights that are known at compile
 * time make qnn.dense of a matrix product, as they make nn.dense of MatMul. */
#include "frontend/onnx/convert_product.h"
#include "frontend/onnx/convert_qnn.h"

/* Where a node has its operands; -1 = nowhere. */
struct operands {
    int x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias;
};

static const struct operands qlinear = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
static const struct operands integer = { 0, -1, 2, 1, -1, 3, -1, -1, -1 };
static const struct operands qgemm = { 0, 1, 2, 3, 4, 5, 7, 8, 6 };

/* A scale or zero point of the first operand must be one number. */
static bool check_one(struct onnx_node *node, int i)
{
    const struct value *value = onnx_input(node, i);

    if (!value || type_elements(&value->type) == 1)
        return true;
    return onnx_unsupported(node, "input %d has shape %s; relayc takes one number there", i,
                            shape_text(&node->ctx->perm, &value->type));
}

static struct value *as_one(struct onnx_node *node, struct value *value, const char *suffix)
{
    const struct ints scalar = { .n = 0 };

    return value && value->type.rank > 1 && type_elements(&value->type) == 1
               ? reshape_to(node, value, &scalar, suffix)
               : value;
}

static struct value *product(struct onnx_node *node, const struct operands *at, enum op op,
                             const union attrs *attrs, struct value *x, struct value *w,
                             const char *suffix)
{
    struct value *inputs[4] = { x, w, NULL, NULL };

    if (!x || !w || !check_one(node, at->x_zero))
        return NULL;
    inputs[2] = as_one(node, zero_point(node, at->x_zero, x->type.dtype), "x_zero");
    inputs[3] = as_one(node, zero_point(node, at->w_zero, w->type.dtype), "w_zero");
    return inputs[2] && inputs[3] ? onnx_build(node, op, attrs, suffix, 4, inputs) : NULL;
}

/* --- convolutions ----------------------------------------------------------------------------- */

static bool convert_conv_of(struct onnx_node *node, const struct operands *at)
{
    static const enum op ops[] = { OP_QNN_CONV1D, OP_QNN_CONV2D, OP_QNN_CONV3D };
    const union attrs channels = { .axis = { .axis = 1 } };
    const bool requantizes = at->y_scale >= 0;
    struct value *x = onnx_input(node, at->x), *w = onnx_input(node, at->w), *y;
    struct value *bias = at->bias >= 0 ? onnx_input(node, at->bias) : NULL;
    union attrs attrs = { .conv = { .groups = onnx_int(node, "group", 1) } };
    struct ints kernel;
    struct onnx_window window;

    if (!onnx_check_rank(node, at->x, 3, 2 + MAX_SPATIAL) ||
        !onnx_check_rank(node, at->w, x->type.rank, x->type.rank))
        return false;
    kernel = ints_of(w->type.rank - 2, w->type.dim + 2);
    if (!window_read(node, &kernel, &window) || !onnx_ok(node))
        return false;
    attrs.conv.strides = window.strides;
    attrs.conv.padding = window.padding;
    attrs.conv.dilation = window.dilation;
    attrs.conv.data_layout = window_layout(window.n, false, false);
    attrs.conv.kernel_layout = window_layout(window.n, true, false);
    y = product(node, at, ops[window.n - 1], &attrs, x, w, requantizes ? "conv" : "");
    if (y && bias)
        y = onnx_build2(node, OP_BIAS_ADD, &channels, "bias", y, bias);
    if (y && requantizes)
        y = rescaled(node, y, at->x_scale, at->w_scale, 1, at->y_scale, at->y_zero, "");
    return onnx_output(node, 0, y);
}

bool convert_qlinear_conv(struct onnx_node *node)
{
    return onnx_check_inputs(node, 8, 9) && convert_conv_of(node, &qlinear);
}

bool convert_conv_integer(struct onnx_node *node)
{
    return onnx_check_inputs(node, 2, 4) && convert_conv_of(node, &integer);
}

/* --- matrix products -------------------------------------------------------------------------- */

/* a * b in integers, of rank 2 or more; an operand of rank 1 is seen as a matrix. */
static struct value *integer_matmul(struct onnx_node *node, const struct operands *at,
                                    const char *suffix)
{
    const union attrs none = { .matmul = { 0 } };
    struct value *a = onnx_input(node, at->x), *b = onnx_input(node, at->w);

    if (!onnx_check_rank(node, at->x, 1, MAX_RANK) || !onnx_check_rank(node, at->w, 1, MAX_RANK))
        return NULL;
    if (a->type.rank == 2 && b->type.rank == 2 && is_static(b))
        return product(node, at, OP_QNN_DENSE, NULL, a, turned(node, b), suffix);
    return product(node, at, OP_QNN_MATMUL, &none, as_matrix(node, a, true),
                   as_matrix(node, b, false), suffix);
}

static bool convert_matmul_of(struct onnx_node *node, const struct operands *at)
{
    const bool requantizes = at->y_scale >= 0, row = onnx_input(node, at->x)->type.rank == 1;
    const bool column = onnx_input(node, at->w)->type.rank == 1;
    const char *suffix = row || column ? "matrix" : "";
    struct value *y = integer_matmul(node, at, requantizes ? "product" : suffix);
    struct ints shape;

    if (y && requantizes)
        y = rescaled(node, y, at->x_scale, at->w_scale, y->type.rank - 1, at->y_scale, at->y_zero,
                     suffix);
    if (!y || (!row && !column))
        return onnx_output(node, 0, y);
    shape = product_shape(&y->type, row, column);
    return onnx_output(node, 0, reshape_to(node, y, &shape, ""));
}

bool convert_qlinear_matmul(struct onnx_node *node)
{
    return onnx_check_inputs(node, 8, 8) && convert_matmul_of(node, &qlinear);
}

bool convert_matmul_integer(struct onnx_node *node)
{
    return onnx_check_inputs(node, 2, 4) && convert_matmul_of(node, &integer);
}

/* y = alpha * A * B + C, where C has the scale of the product; f32 where y has no scale. */
bool convert_qgemm(struct onnx_node *node)
{
    const struct operands *at = &qgemm;
    const double alpha = onnx_real(node, "alpha", 1);
    const union attrs columns = { .axis = { .axis = 1 } };
    const union attrs turns = { .matmul = { .transpose_a = onnx_int(node, "transA", 0) != 0,
                                            .transpose_b = onnx_int(node, "transB", 0) != 0 } };
    struct value *a = onnx_input(node, at->x), *b = onnx_input(node, at->w);
    struct value *c = onnx_input(node, at->bias), *y, *scale;

    if (!onnx_check_inputs(node, 6, 9) || !onnx_check_rank(node, at->x, 2, 2) ||
        !onnx_check_rank(node, at->w, 2, 2) || !onnx_check_rank(node, at->bias, 0, 2) ||
        !onnx_ok(node))
        return false;
    if (!turns.matmul.transpose_a && is_static(b))
        y = product(node, at, OP_QNN_DENSE, NULL, a, turns.matmul.transpose_b ? b : turned(node, b),
                    "product");
    else
        y = product(node, at, OP_QNN_MATMUL, &turns, a, b, "product");
    if (y && c && c->type.rank == 1 && c->type.dim[0] == y->type.dim[1])
        y = onnx_build2(node, OP_BIAS_ADD, &columns, "bias", y, c);
    else if (y && c)
        y = apply2(node, OP_ADD, "bias", y, c);
    scale = y ? product_of_scales(node, at->x_scale, at->w_scale, alpha) : NULL;
    if (scale && onnx_input(node, at->y_scale))
        return onnx_output(node, 0, requantized(node, y, scale, 1, at->y_scale, at->y_zero, ""));
    if (scale) {
        struct value *inputs[] = { y, scale, onnx_scalar(node, DTYPE_I32, 0, "zero") };

        return inputs[2] &&
               onnx_output(node, 0, onnx_build(node, OP_QNN_DEQUANTIZE, &columns, "", 3, inputs));
    }
    return false;
}
