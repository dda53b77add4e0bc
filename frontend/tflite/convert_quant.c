#include "frontend/tflite/convert_quant.h"

#include <string.h>

#include "frontend/tflite/convert_compose.h"

/* Which inputs of the node x, the weights and the bias are. */
static const struct tfl_tensor *x_of(const struct tfl_node *node, const struct tfl_product *product)
{
    return node->inputs[product->inputs.x];
}

static const struct tfl_tensor *w_of(const struct tfl_node *node, const struct tfl_product *product)
{
    return node->inputs[product->inputs.x == product->inputs.w ? 1 : product->inputs.w];
}

static int bias_at(const struct tfl_product *product)
{
    return product->inputs.bias ? product->inputs.bias : 2;
}

static int64_t times_of(const struct tfl_product *product)
{
    return product->times ? product->times : 1;
}

/* The bias, as often as its channels stand in the result. */
static struct value *repeated_bias(struct tfl_node *node, const struct tfl_product *product,
                                   enum dtype dtype)
{
    const int64_t n = product->n * product->times;
    const struct type type = type_make(dtype, 1, &n);
    const size_t bytes = (size_t)product->n * dtype_bytes(dtype);
    struct tensor bias;
    char *all;

    if (!tfl_constant(node, bias_at(product), &bias))
        return NULL;
    all = tfl_payload(node, &type);
    for (int64_t i = 0; all && i < product->times; i++)
        memcpy(all + (size_t)i * bytes, bias.data, bytes);
    return tfl_made(node, &type, all, "bias");
}

/* The bias, as its number of channels; NULL after an error, *absent where there is none. */
static struct value *bias_of(struct tfl_node *node, const struct tfl_product *product,
                             enum dtype dtype, bool *absent)
{
    const struct type shape = type_make(dtype, 1, &product->n);
    const int at = bias_at(product);

    *absent = node->n_inputs <= at;
    if (*absent || !tfl_check_type(node, node->inputs[at], dtype))
        return NULL;
    if (type_elements(&node->inputs[at]->type) == product->n)
        return product->times ? repeated_bias(node, product, dtype)
                              : tfl_reshape(node, tfl_value(node, at), &shape, "bias");
    tfl_unsupported(node, "a bias of %s for %lld channels",
                    type_text(&node->ctx->perm, &node->inputs[at]->type), (long long)product->n);
    return NULL;
}

static struct value *biased(struct tfl_node *node, const struct tfl_product *product,
                            struct value *y, enum dtype dtype)
{
    const union attrs attrs = { .axis = { .axis = product->axis } };
    bool absent;
    struct value *bias = bias_of(node, product, dtype, &absent);

    return absent ? y
                  : tfl_build(node, OP_BIAS_ADD, &attrs, "biased", 2,
                              (struct value *const[]){ y, bias });
}

double tfl_scale_of_sums(const struct tfl_node *node, const struct tfl_product *product, int64_t i)
{
    return tfl_scale(x_of(node, product), 0) * tfl_scale(w_of(node, product), i % product->n);
}

static struct value *scale_of_sums(struct tfl_node *node, const struct tfl_product *product)
{
    const bool one = w_of(node, product)->scales.n == 1;
    const int64_t n = product->n * times_of(product);
    const struct type type = one ? type_scalar(DTYPE_F64) : type_make(DTYPE_F64, 1, &n);
    double *scales = tfl_payload(node, &type);

    for (int64_t i = 0; scales && i < (one ? 1 : n); i++)
        scales[i] = tfl_scale_of_sums(node, product, i);
    return tfl_made(node, &type, scales, "scale_of_sums");
}

struct value *tfl_sums(struct tfl_node *node, const struct tfl_product *product, struct value *x,
                       int64_t zero)
{
    const struct tfl_tensor *w = w_of(node, product);
    const double w_zero = w->is_unsigned ? (double)tfl_zero(w) : 0;

    return x ? tfl_build(node, product->integer, product->attrs, "sums", 4,
                         (struct value *const[]){
                             x, product->w, tfl_number(node, x->type.dtype, (double)zero, "x_zero"),
                             tfl_number(node, DTYPE_I8, w_zero, "w_zero") })
             : NULL;
}

/* Sums of 32 bits, requantised. */
static struct value *narrow_product(struct tfl_node *node, const struct tfl_product *product)
{
    const union attrs attrs = { .requantize = { .axis = product->axis, .rounding = "double" } };
    const struct tfl_tensor *x = x_of(node, product), *y = node->outputs[0];
    struct value *sums = tfl_sums(node, product, product->x, tfl_zero(x));

    sums = sums ? biased(node, product, sums, DTYPE_I32) : NULL;
    return tfl_build(node, OP_QNN_REQUANTIZE, &attrs, "codes", 5,
                     (struct value *const[]){ sums, scale_of_sums(node, product),
                                              tfl_number(node, DTYPE_I32, 0, "zero_of_sums"),
                                              tfl_scale_of(node, y, "scale"),
                                              tfl_zero_of(node, y, "zero") });
}

/* Quantised values of 16 bits have sums of 64, unless there is a bias of 32. */
static struct value *integer_product(struct tfl_node *node, const struct tfl_product *product)
{
    const struct tfl_tensor *x = x_of(node, product), *w = w_of(node, product);
    const struct tfl_tensor *y = node->outputs[0];
    const enum dtype dtype = x->type.dtype == DTYPE_I16 ? DTYPE_I16 : DTYPE_I8;
    const int at = bias_at(product);

    if (!tfl_check_type(node, x, dtype) || !tfl_check_type(node, w, DTYPE_I8) ||
        !tfl_check_type(node, y, dtype) || !tfl_check_scale(node, x) || !tfl_check_scale(node, y) ||
        !tfl_check_scales(node, w, product->w_axis, product->n))
        return NULL;
    if (dtype == DTYPE_I8)
        return narrow_product(node, product);
    if (tfl_zero(x) != 0 || tfl_zero(y) != 0) {
        tfl_unsupported(node, "INT16 with a zero point, expected 0");
        return NULL;
    }
    if (node->n_inputs > at && node->inputs[at]->type.dtype == DTYPE_I32 && !product->never_narrow)
        return narrow_product(node, product);
    return tfl_wide_product(node, product, at);
}

struct value *tfl_weights(struct tfl_node *node, struct value *w)
{
    return w && w->type.dtype == DTYPE_F16 ? tfl_cast(node, DTYPE_F32, "numbers", w) : w;
}

/* Weights of 8 bits for activations of floats are taken as the numbers that they stand for. */
static struct value *real_weights(struct tfl_node *node, const struct tfl_product *product)
{
    const union attrs attrs = { .axis = { .axis = 0 } };
    const struct tfl_tensor *w = w_of(node, product);
    const int64_t n = (int64_t)w->scales.n;
    const struct type type = n == 1 ? type_scalar(DTYPE_F32) : type_make(DTYPE_F32, 1, &n);
    float *scales;

    if (w->type.dtype == DTYPE_F32)
        return product->w;
    if (!tfl_check_scales(node, w, product->w_axis, product->n))
        return NULL;
    scales = tfl_payload(node, &type);
    for (int64_t i = 0; scales && i < n; i++)
        scales[i] = (float)tfl_scale(w, i);
    return tfl_build(node, OP_QNN_DEQUANTIZE, &attrs, "numbers", 3,
                     (struct value *const[]){ product->w, tfl_made(node, &type, scales, "w_scale"),
                                              tfl_number(node, DTYPE_I8, 0, "w_zero") });
}

static struct value *real_product(struct tfl_node *node, const struct tfl_product *product)
{
    struct value *y;

    if (product->w->type.dtype != DTYPE_I8 && !tfl_check_type(node, w_of(node, product), DTYPE_F32))
        return NULL;
    y = tfl_build(node, product->real, product->attrs, "sums", 2,
                  (struct value *const[]){ product->x, real_weights(node, product) });
    return y ? biased(node, product, y, DTYPE_F32) : NULL;
}

struct value *tfl_product(struct tfl_node *node, const struct tfl_product *product)
{
    if (!product->x || !product->w)
        return NULL;
    return tfl_activation(node, product->activation,
                          x_of(node, product)->type.dtype == DTYPE_F32
                              ? real_product(node, product)
                              : integer_product(node, product));
}
