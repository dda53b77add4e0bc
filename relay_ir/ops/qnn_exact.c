/* qnn_exact.c - qnn.conv1d ... matmul, add, subtract, mul and div of narrow floats: exact.h has the
 * arithmetic.
 *
 * products  sum of steps of x times steps of w, as i64; what pads adds nothing
 * add       the two operands times their factors, added in 64 bits, rounded once; subtract as well
 * mul       the product of the steps times one factor, rounded once
 * div       the steps of a times a factor for each code of b, rounded once */
#include <stdlib.h>

#include "relay_ir/layout.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/ops/spatial.h"
#include "relay_ir/walk.h"

enum { X, W, X_ZERO, W_ZERO };

/* --- type inference --------------------------------------------------------------------------- */

bool exact_check_quantized(struct ctx *ctx, const struct node *node, int input)
{
    const struct type *type = input_type(node, input);

    if (exact_greatest(type_minifloat(type)))
        return true;
    diag_error(ctx, DIAG_UNSUPPORTED_TYPE, node_origin(node),
               "input %d of %s is %s, expected a narrow float with at most 2^30 steps", input,
               op_name(node->op), dtype_name(type->dtype));
    diag_help(
        ctx,
        "exact arithmetic takes f8e4m3, f8e4m3fnuz, f8e3m4, f8e2m5, hfp8_143 and smaller ones");
    return false;
}

static bool is_zero(const struct value *value)
{
    const int64_t n = value->kind == VALUE_CONSTANT ? type_elements(&value->type) : 0;
    bool zero = n > 0;

    for (int64_t i = 0; zero && i < n; i++) {
        const struct tensor tensor = value_tensor(value);

        zero = tensor_at(&tensor, i) == 0;
    }
    return zero;
}

bool exact_check_zero(struct ctx *ctx, const struct node *node, int input, int64_t n)
{
    if (!qnn_check_vector(ctx, node, input, n))
        return false;
    if (is_zero(node->inputs[input]))
        return true;
    return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                      "%s: the zero point of %s is not the constant 0", op_name(node->op),
                      dtype_name(input_type(node, input)->dtype));
}

bool exact_check_scales(struct ctx *ctx, const struct node *node)
{
    return exact_check_quantized(ctx, node, 0) && exact_check_quantized(ctx, node, 4) &&
           qnn_check_scale(ctx, node, 1, 1) && exact_check_zero(ctx, node, 2, 1) &&
           qnn_check_scale(ctx, node, 3, 1) && exact_check_zero(ctx, node, 4, 1);
}

/* Sums of `terms` products must fit into 64 bits, whatever the order. */
static bool infer_product(struct ctx *ctx, struct node *node, const struct type *y, int64_t terms,
                          int64_t channels, enum dtype *out_dtype)
{
    int64_t most;

    if (!exact_check_quantized(ctx, node, X) || !exact_check_quantized(ctx, node, W) ||
        !exact_check_zero(ctx, node, X_ZERO, 1) || !exact_check_zero(ctx, node, W_ZERO, channels))
        return false;
    if (*out_dtype != DTYPE_NONE && *out_dtype != DTYPE_I64)
        return diag_error(ctx, DIAG_TYPE, node_origin(node),
                          "the out_dtype of %s of %s is %s, expected i64", op_name(node->op),
                          dtype_name(input_type(node, X)->dtype), dtype_name(*out_dtype));
    *out_dtype = DTYPE_NONE;
    most = INT64_MAX / exact_greatest(type_minifloat(input_type(node, X))) /
           exact_greatest(type_minifloat(input_type(node, W)));
    if (terms > most)
        return diag_error(
            ctx, DIAG_TOO_BIG, node_origin(node),
            "%s: sums of %lld products of %s and %s may leave 64 bits, expected at most %lld",
            op_name(node->op), (long long)terms, dtype_name(input_type(node, X)->dtype),
            dtype_name(input_type(node, W)->dtype), (long long)most);
    set_output(node, 0, DTYPE_I64, y);
    return true;
}

bool infer_exact_conv(struct ctx *ctx, struct node *node)
{
    const struct type *w = input_type(node, W);
    struct type y;

    return conv_shape(ctx, node, &y) && infer_product(ctx, node, &y, type_span(w, 1, w->rank),
                                                      w->dim[0], &node->attrs.conv.out_dtype);
}

bool infer_exact_dense(struct ctx *ctx, struct node *node)
{
    struct type y;

    return dense_shape(ctx, node, &y) &&
           infer_product(ctx, node, &y, input_type(node, W)->dim[1], input_type(node, W)->dim[0],
                         &node->attrs.dense.out_dtype);
}

bool infer_exact_matmul(struct ctx *ctx, struct node *node)
{
    const struct type *b = input_type(node, W);
    const bool turned = node->attrs.matmul.transpose_b && b->rank > 1;
    struct type y;

    if (!matmul_shape(ctx, node, &y))
        return false;
    return infer_product(ctx, node, &y, b->dim[b->rank < 2 || turned ? b->rank - 1 : b->rank - 2],
                         b->rank < 2 ? 1 : b->dim[turned ? b->rank - 2 : b->rank - 1],
                         &node->attrs.matmul.out_dtype);
}

bool infer_exact_requantize(struct ctx *ctx, struct node *node)
{
    static const char *const words[] = { "single" };
    const struct type *x = input_type(node, 0);
    struct requantize_attrs *attrs = &node->attrs.requantize;
    int64_t n = 1;

    if (type_elements(input_type(node, 1)) == 1)
        attrs->axis = 0;
    else if (!check_axis(ctx, node, x, &attrs->axis))
        return false;
    else
        n = x->dim[attrs->axis];
    if (!qnn_check_scale(ctx, node, 1, n) || !qnn_check_scale(ctx, node, 3, 1) ||
        !exact_check_zero(ctx, node, 2, 1) || !exact_check_zero(ctx, node, 4, 1) ||
        (input_type(node, 4)->dtype != DTYPE_I64 && !exact_check_quantized(ctx, node, 4)) ||
        !check_word(ctx, node, "rounding", &attrs->rounding, words, 1))
        return false;
    if (x->dtype != DTYPE_I64)
        return diag_error(ctx, DIAG_TYPE, node_origin(node),
                          "input 0 of %s to %s is %s, expected i64", op_name(node->op),
                          dtype_name(input_type(node, 4)->dtype), dtype_name(x->dtype));
    if (input_type(node, 4)->dtype == DTYPE_I64)
        set_output(node, 0, DTYPE_I64, x);
    else
        set_scaled_output(node, input_type(node, 4)->dtype, x, 3, 4, -1);
    return true;
}

/* Inputs of add and mul. */
enum { A, B, A_SCALE, A_ZERO, B_SCALE, B_ZERO, OUT_SCALE, OUT_ZERO };

bool infer_exact_binary(struct ctx *ctx, struct node *node)
{
    const struct type *a = input_type(node, A), *b = input_type(node, B);
    struct type shape;

    if (!exact_check_quantized(ctx, node, A) || !exact_check_quantized(ctx, node, B) ||
        !exact_check_quantized(ctx, node, OUT_ZERO))
        return false;
    for (int i = A_SCALE; i <= OUT_ZERO; i++)
        if (i % 2 == A_SCALE % 2 ? !qnn_check_scale(ctx, node, i, 1)
                                 : !exact_check_zero(ctx, node, i, 1))
            return false;
    if (!shape_broadcast(a, b, &shape))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: shapes %s and %s do not broadcast: dimensions must be equal or 1",
                          op_name(node->op), shape_text(&ctx->perm, a), shape_text(&ctx->perm, b));
    set_scaled_output(node, input_type(node, OUT_ZERO)->dtype, &shape, OUT_SCALE, OUT_ZERO, -1);
    return true;
}

/* --- evaluation ------------------------------------------------------------------------------- */

struct tensor exact_steps_of(struct bulk *bulk, const struct tensor *quantized)
{
    const struct minifloat *format = type_minifloat(&quantized->type);
    const int64_t n = type_elements(&quantized->type);
    struct type type = quantized->type;
    struct tensor steps;

    type.dtype = DTYPE_I64;
    type.quant = NULL;
    steps = tensor_new(bulk, &type);
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)steps.data)[i] = exact_steps(format, ((const uint8_t *)quantized->data)[i]);
    return steps;
}

/* The input position of tap k for the output position o. */
static int64_t position(const struct slide *slide, int64_t o, int64_t k)
{
    return o * slide->stride - slide->pad_before + k * slide->dilation;
}

/* One row of the kernel: the taps in width, for inputs of one row. */
static int64_t row_sum(const struct slide *width, int64_t ow, const int64_t *x, const int64_t *w)
{
    int64_t sum = 0;

    for (int64_t kw = 0; kw < width->kernel; kw++) {
        const int64_t iw = position(width, ow, kw);

        if (iw >= 0 && iw < width->in)
            sum += x[iw] * w[kw];
    }
    return sum;
}

/* The sum for one output: x and w begin at the first channel of the group. */
static int64_t conv_sum(const struct slide *s, int64_t in_c, const int64_t *at, const int64_t *x,
                        const int64_t *w)
{
    int64_t sum = 0;

    for (int64_t ic = 0; ic < in_c; ic++)
        for (int64_t kd = 0; kd < s[0].kernel; kd++)
            for (int64_t kh = 0; kh < s[1].kernel; kh++, w += s[2].kernel) {
                const int64_t id = position(&s[0], at[0], kd), ih = position(&s[1], at[1], kh);

                if (id >= 0 && id < s[0].in && ih >= 0 && ih < s[1].in)
                    sum += row_sum(&s[2], at[2], x + ((ic * s[0].in + id) * s[1].in + ih) * s[2].in,
                                   w);
            }
    return sum;
}

bool eval_exact_conv(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                     struct tensor *out)
{
    const struct conv_attrs *attrs = &node->attrs.conv;
    const int rank = op_spatial_rank(node->op);
    struct bulk bulk = { NULL, 0 };
    const struct tensor data = tensor_channels_first(&bulk, in[X], attrs->data_layout);
    struct tensor result = tensor_first_for(&bulk, out, attrs->out_layout);
    const struct type *x_type = &data.type, *w_type = &in[W]->type, *y_type = &result.type;
    const struct spatial spatial = spatial_make(rank, x_type->dim + 2, w_type->dim + 2,
                                                &attrs->strides, &attrs->padding, &attrs->dilation);
    const int64_t out_c = y_type->dim[1], group_out = out_c / attrs->groups;
    const int64_t positions = type_span(y_type, 2, 2 + rank), n = type_elements(y_type);
    const int64_t x_plane = type_span(x_type, 2, 2 + rank), w_len = type_span(w_type, 1, 2 + rank);
    const int64_t out_w = y_type->dim[1 + rank], out_h = rank > 1 ? y_type->dim[rank] : 1;
    const int64_t *x = exact_steps_of(&bulk, &data).data, *w = exact_steps_of(&bulk, in[W]).data;

    (void)ctx;
    for (int64_t i = 0; i < n; i++) {
        const int64_t p = i % positions, oc = i / positions % out_c, image = i / positions / out_c;
        const int64_t at[] = { p / out_w / out_h, p / out_w % out_h, p % out_w };
        const int64_t ic = oc / group_out * w_type->dim[1];

        ((int64_t *)result.data)[i] =
            conv_sum(spatial.dim, w_type->dim[1], at, x + (image * x_type->dim[1] + ic) * x_plane,
                     w + oc * w_len);
    }
    tensor_store_first(&result, attrs->out_layout, out);
    bulk_release(&bulk);
    return true;
}

static bool eval_matrices(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                          struct tensor *out,
                          bool (*evaluate)(struct ctx *ctx, const struct node *node,
                                           const struct tensor *const *in, struct tensor *out))
{
    struct bulk bulk = { NULL, 0 };
    const struct tensor x = exact_steps_of(&bulk, in[X]), w = exact_steps_of(&bulk, in[W]);
    const bool ok = evaluate(ctx, node, (const struct tensor *const[]){ &x, &w }, out);

    bulk_release(&bulk);
    return ok;
}

bool eval_exact_dense(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                      struct tensor *out)
{
    return eval_matrices(ctx, node, in, out, eval_dense);
}

bool eval_exact_matmul(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                       struct tensor *out)
{
    return eval_matrices(ctx, node, in, out, eval_matmul);
}

bool eval_exact_requantize(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                           struct tensor *out)
{
    const struct minifloat *format = type_minifloat(&out->type);
    const int64_t n = type_elements(&out->type), n_scales = type_elements(&in[1]->type);
    const int axis = (int)node->attrs.requantize.axis;
    const int64_t inner = n_scales == 1 ? 1 : type_span(&out->type, axis + 1, out->type.rank);

    (void)ctx;
    for (int64_t i = 0; i < n; i++) {
        const double in_scale = tensor_at(in[1], i / inner % n_scales);
        const struct exact_factor factor =
            exact_requantize_of(format, in_scale, tensor_at(in[3], 0));

        if (format)
            ((uint8_t *)out->data)[i] =
                (uint8_t)exact_scale(format, tensor_int_at(in[0], i), factor);
        else
            ((int64_t *)out->data)[i] = exact_scale_whole(tensor_int_at(in[0], i), factor);
    }
    return true;
}

void exact_put_average(const struct node *node, const struct qnn_scales *scales, int64_t sum,
                       int64_t n, struct tensor *out, int64_t i)
{
    const struct minifloat *to = type_minifloat(&out->type);
    const struct exact_factor factor = exact_average_of(type_minifloat(&node->inputs[0]->type),
                                                        scales->in_scale, to, scales->out_scale, n);

    ((uint8_t *)out->data)[i] = (uint8_t)exact_scale(to, sum, factor);
}

static unsigned added(const struct minifloat *format, const struct exact_add *add, int64_t a,
                      int64_t b)
{
    const int64_t sum = a * add->a_multiplier + b * add->b_multiplier;

    return exact_round(format, (uint64_t)(sum < 0 ? -sum : sum), add->shift, sum < 0);
}

static unsigned divided(const struct minifloat *format, const struct exact_div *div, int64_t a,
                        unsigned code)
{
    const int32_t multiplier = div->multiplier[code];

    return exact_scale(format, multiplier < 0 ? -a : a,
                       (struct exact_factor){ abs(multiplier), div->shift[code] });
}

bool eval_exact_binary(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                       struct tensor *out)
{
    const struct exact_formats formats = exact_formats_of(node);
    const double a_scale = tensor_at(in[A_SCALE], 0), b_scale = tensor_at(in[B_SCALE], 0);
    const double out_scale = tensor_at(in[OUT_SCALE], 0);
    const struct exact_add add = exact_add_of(node->op, &formats, a_scale, b_scale, out_scale);
    const struct exact_factor mul = exact_mul_of(&formats, a_scale, b_scale, out_scale);
    const uint8_t *a_quantized = in[A]->data, *b_quantized = in[B]->data;
    const int64_t n = type_elements(&out->type);
    struct walk walk = walk_begin(out->type.rank, out->type.dim);
    struct exact_div div;

    (void)ctx;
    if (node->op == OP_QNN_DIV)
        exact_div_of(&formats, a_scale, b_scale, out_scale, &div);
    walk_add_broadcast(&walk, &in[A]->type);
    walk_add_broadcast(&walk, &in[B]->type);
    for (int64_t i = 0; i < n; i++, walk_next(&walk)) {
        const int64_t a = exact_steps(formats.a, a_quantized[walk.offset[0]]);
        const int64_t b = exact_steps(formats.b, b_quantized[walk.offset[1]]);
        unsigned y;

        switch (node->op) {
        case OP_QNN_ADD:
        case OP_QNN_SUBTRACT: y = added(formats.out, &add, a, b); break;
        case OP_QNN_DIV: y = divided(formats.out, &div, a, b_quantized[walk.offset[1]]); break;
        default: y = exact_scale(formats.out, a * b, mul); break;
        }
        ((uint8_t *)out->data)[i] = (uint8_t)y;
    }
    return true;
}
