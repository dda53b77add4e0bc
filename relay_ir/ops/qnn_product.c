/* qnn_product.c - qnn.conv1d, conv2d, conv3d, dense and matmul: sums of products of small integers.
 *
 * y = sum of (x - x_zero) * (w - w_zero), modulo 2^32, as i32. Padding has x's zero point, so that
 * it adds nothing. x_zero is one number; w_zero one, or one for each output channel: the first
 * dimension of a convolution's or dense layer's w, the last of matmul's b. Shapes and attributes
 * are those of the float operators. Of FP8 and other narrow floats: exact.h.
 *
 * method   the zero points are subtracted first, then the float operators' evaluators sum: in
 *          double for convolutions (products of at most 2^25 are exact for 2^28 terms), else in
 *          integers */
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/spatial.h"
#include "relay_ir/walk.h"

enum { X, W, X_ZERO, W_ZERO };

/* `channels` is the number of output channels; *out_dtype becomes absent. */
static bool check_operands(struct ctx *ctx, const struct node *node, int64_t channels,
                           enum dtype *out_dtype)
{
    const enum dtype x = input_type(node, X)->dtype, w = input_type(node, W)->dtype;

    if (!qnn_check_quantized(ctx, node, X) || !qnn_check_zero(ctx, node, X_ZERO, x, 1) ||
        !qnn_check_zero(ctx, node, W_ZERO, w, channels))
        return false;
    if (w != DTYPE_I8 && w != DTYPE_U8)
        return diag_error(ctx, DIAG_TYPE, node_origin(node),
                          "input 1 of %s is %s, expected i8 or u8", op_name(node->op),
                          dtype_name(w));
    if (*out_dtype != DTYPE_NONE && *out_dtype != DTYPE_I32)
        return diag_error(ctx, DIAG_TYPE, node_origin(node),
                          "the out_dtype of %s is %s, expected i32", op_name(node->op),
                          dtype_name(*out_dtype));
    *out_dtype = DTYPE_NONE;
    return true;
}

bool infer_qnn_conv(struct ctx *ctx, struct node *node)
{
    struct type y;

    if (dtype_kind(input_type(node, X)->dtype) == KIND_MINIFLOAT)
        return infer_exact_conv(ctx, node);
    if (!conv_shape(ctx, node, &y) ||
        !check_operands(ctx, node, input_type(node, W)->dim[0], &node->attrs.conv.out_dtype))
        return false;
    set_output(node, 0, DTYPE_I32, &y);
    return true;
}

bool infer_qnn_dense(struct ctx *ctx, struct node *node)
{
    struct type y;

    if (dtype_kind(input_type(node, X)->dtype) == KIND_MINIFLOAT)
        return infer_exact_dense(ctx, node);
    if (!dense_shape(ctx, node, &y) ||
        !check_operands(ctx, node, y.dim[y.rank - 1], &node->attrs.dense.out_dtype))
        return false;
    set_output(node, 0, DTYPE_I32, &y);
    return true;
}

/* The columns of matmul's b. */
static int64_t columns_of(const struct node *node)
{
    const struct type *b = input_type(node, W);

    return b->rank < 2 ? 1 : b->dim[b->rank - (node->attrs.matmul.transpose_b ? 2 : 1)];
}

bool infer_qnn_matmul(struct ctx *ctx, struct node *node)
{
    struct type y;

    if (dtype_kind(input_type(node, X)->dtype) == KIND_MINIFLOAT)
        return infer_exact_matmul(ctx, node);
    if (!matmul_shape(ctx, node, &y) ||
        !check_operands(ctx, node, columns_of(node), &node->attrs.matmul.out_dtype))
        return false;
    set_output(node, 0, DTYPE_I32, &y);
    return true;
}

/* x - zero, where element i of x belongs to element i / inner % n of the n zeros. */
static struct tensor centred(struct bulk *bulk, enum dtype dtype, const struct tensor *x,
                             const struct tensor *zero, int64_t inner)
{
    struct type type = x->type;
    const int64_t n = type_elements(&zero->type), elements = type_elements(&type);
    struct tensor to;

    type.dtype = dtype;
    to = tensor_new(bulk, &type);
    for (int64_t i = 0; i < elements; i++)
        tensor_put_wide(&to, i, tensor_wide_at(x, i) - tensor_wide_at(zero, i / inner % n));
    return to;
}

bool eval_qnn_conv(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                   struct tensor *out)
{
    if (dtype_kind(in[X]->type.dtype) == KIND_MINIFLOAT)
        return eval_exact_conv(ctx, node, in, out);

    struct bulk bulk = { NULL, 0 };
    const struct type *w_type = &in[W]->type;
    const struct tensor x = centred(&bulk, DTYPE_F64, in[X], in[X_ZERO], 1);
    const struct tensor w =
        centred(&bulk, DTYPE_F64, in[W], in[W_ZERO], type_span(w_type, 1, w_type->rank));
    struct type sum_type = out->type;
    struct tensor sums;
    bool ok;

    sum_type.dtype = DTYPE_F64;
    sums = tensor_new(&bulk, &sum_type);
    ok = eval_conv(ctx, node, (const struct tensor *const[]){ &x, &w }, &sums);
    for (int64_t i = 0; ok && i < type_elements(&out->type); i++)
        tensor_put_wide(out, i, (wide)tensor_at(&sums, i));
    bulk_release(&bulk);
    return ok;
}

bool eval_qnn_dense(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                    struct tensor *out)
{
    if (dtype_kind(in[X]->type.dtype) == KIND_MINIFLOAT)
        return eval_exact_dense(ctx, node, in, out);

    struct bulk bulk = { NULL, 0 };
    const struct tensor x = centred(&bulk, DTYPE_I32, in[X], in[X_ZERO], 1);
    const struct tensor w = centred(&bulk, DTYPE_I32, in[W], in[W_ZERO], in[W]->type.dim[1]);
    const bool ok = eval_dense(ctx, node, (const struct tensor *const[]){ &x, &w }, out);

    bulk_release(&bulk);
    return ok;
}

bool eval_qnn_matmul(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                     struct tensor *out)
{
    if (dtype_kind(in[X]->type.dtype) == KIND_MINIFLOAT)
        return eval_exact_matmul(ctx, node, in, out);

    const struct type *b_type = &in[W]->type;
    const int64_t inner =
        node->attrs.matmul.transpose_b && b_type->rank > 1 ? b_type->dim[b_type->rank - 1] : 1;
    struct bulk bulk = { NULL, 0 };
    const struct tensor a = centred(&bulk, DTYPE_I32, in[X], in[X_ZERO], 1);
    const struct tensor b = centred(&bulk, DTYPE_I32, in[W], in[W_ZERO], inner);
    const bool ok = eval_matmul(ctx, node, (const struct tensor *const[]){ &a, &b }, out);

    bulk_release(&bulk);
    return ok;
}
