/* convert_compose.c - chains of integer operators; see convert_compose.h. */
#include "frontend/tflite/convert_compose.h"

#include <math.h>

#include "relay_ir/ops/qnn.h"
#include "relay_ir/walk.h"

struct value *tfl_two(struct tfl_node *node, enum op op, const char *suffix, struct value *a,
                      struct value *b)
{
    return tfl_build(node, op, NULL, suffix, 2, (struct value *const[]){ a, b });
}

struct value *tfl_cast(struct tfl_node *node, enum dtype dtype, const char *suffix, struct value *x)
{
    const union attrs attrs = { .cast = { .dtype = dtype, .saturate = true } };

    return x && x->type.dtype == dtype ? x : tfl_build1(node, OP_CAST, &attrs, suffix, x);
}

struct value *tfl_where(struct tfl_node *node, const char *suffix, struct value *condition,
                        struct value *a, struct value *b)
{
    return tfl_build(node, OP_WHERE, NULL, suffix, 3, (struct value *const[]){ condition, a, b });
}

struct value *tfl_steps(struct tfl_node *node, int input, int shift, const char *suffix)
{
    const int64_t zero = tfl_zero(node->inputs[input]);
    struct value *x = tfl_cast(node, DTYPE_I32, suffix, tfl_value(node, input));

    if (zero != 0)
        x = tfl_two(node, OP_SUBTRACT, suffix, x,
                    tfl_number(node, DTYPE_I32, (double)zero, "zero"));
    return shift ? tfl_two(node, OP_MULTIPLY, suffix, x,
                           tfl_number(node, DTYPE_I32, ldexp(1, shift), "unit"))
                 : x;
}

struct value *tfl_flipped(struct tfl_node *node, struct value *x, enum dtype to)
{
    x = tfl_cast(node, DTYPE_U8, "unsigned", x);
    return tfl_cast(
        node, to, "signed",
        tfl_two(node, OP_BITWISE_XOR, "flipped", x, tfl_number(node, DTYPE_U8, 128, "sign_bit")));
}

static bool gives(double in, double out, struct fixed_point wanted)
{
    const struct fixed_point got = fixed_point_of(in / out);

    return got.multiplier == wanted.multiplier && got.shift == wanted.shift;
}

/* in_scale with which a requantisation to out_scale has exactly this factor. */
static double in_scale_of(double factor, double out_scale)
{
    const struct fixed_point wanted = fixed_point_of(factor);
    const double product = factor * out_scale;

    if (gives(product, out_scale, wanted))
        return product;
    return gives(nextafter(product, 0), out_scale, wanted) ? nextafter(product, 0)
                                                           : nextafter(product, INFINITY);
}

static struct value *requantized(struct tfl_node *node, struct value *x, double factor,
                                 double out_scale, enum dtype dtype, int64_t zero,
                                 const char *suffix)
{
    const union attrs attrs = { .requantize = { .rounding = "double" } };

    return tfl_build(node, OP_QNN_REQUANTIZE, &attrs, suffix, 5,
                     (struct value *const[]){
                         x, tfl_number(node, DTYPE_F64, in_scale_of(factor, out_scale), "factor"),
                         tfl_number(node, DTYPE_I32, 0, "no_zero"),
                         tfl_number(node, DTYPE_F32, out_scale, "scale"),
                         tfl_number(node, dtype, (double)zero, "zero") });
}

struct value *tfl_scaled(struct tfl_node *node, struct value *x, double factor, const char *suffix)
{
    return requantized(node, x, factor, 1, DTYPE_I32, 0, suffix);
}

struct value *tfl_quantized(struct tfl_node *node, struct value *x, double factor,
                            const char *suffix)
{
    const struct tfl_tensor *y = node->outputs[0];

    return requantized(node, x, factor, tfl_scale(y, 0), y->type.dtype, tfl_zero(y), suffix);
}

struct value *tfl_integers(struct tfl_node *node, const struct type *type, const int64_t *at,
                           const char *suffix)
{
    void *payload = tfl_payload(node, type);

    for (int64_t i = 0; payload && i < type_elements(type); i++)
        dtype_store_int(type->dtype, payload, i, at[i]);
    return tfl_made(node, type, payload, suffix);
}

bool tfl_is_plain(const struct tfl_tensor *tensor)
{
    return tensor->type.dtype == DTYPE_I32 || tensor->type.dtype == DTYPE_I64;
}

static bool check_code(struct tfl_node *node, const struct tfl_tensor *tensor, enum dtype dtype)
{
    if (!tfl_check_type(node, tensor, dtype) || !tfl_check_scale(node, tensor))
        return false;
    if (dtype == DTYPE_I8 || tfl_zero(tensor) == 0)
        return true;
    return tfl_unsupported(node, "%s is INT16 with the zero point %lld, expected 0",
                           tfl_tensor_text(node->ctx, node->graph, tensor),
                           (long long)tfl_zero(tensor));
}

bool tfl_check_quantized(struct tfl_node *node)
{
    const enum dtype dtype = node->inputs[0]->type.dtype == DTYPE_I16 ? DTYPE_I16 : DTYPE_I8;

    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] && !check_code(node, node->inputs[i], dtype))
            return false;
    for (int i = 0; i < node->n_outputs; i++)
        if (!check_code(node, node->outputs[i], dtype))
            return false;
    return true;
}

bool tfl_check_axis(struct tfl_node *node, int64_t axis, int rank, int64_t *out)
{
    *out = axis < 0 ? axis + rank : axis;
    return (*out >= 0 && *out < rank) ||
           tfl_unsupported(node, "axis %lld of %d dimensions", (long long)axis, rank);
}

struct value *tfl_table(struct tfl_node *node, const int64_t of[256])
{
    const struct type type = type_make(DTYPE_I8, 1, (const int64_t[]){ QNN_VALUES });
    const union attrs attrs = { .axis = { .axis = 0 } };
    const struct tfl_tensor *y = node->outputs[0];
    int64_t quantized[QNN_VALUES];

    for (int i = 0; i < QNN_VALUES; i++)
        quantized[i] = of[i] < INT8_MIN ? INT8_MIN : of[i] > INT8_MAX ? INT8_MAX : of[i];
    return tfl_build(
        node, OP_QNN_LUT, &attrs, "codes", 4,
        (struct value *const[]){ tfl_value(node, 0), tfl_integers(node, &type, quantized, "table"),
                                 tfl_scale_of(node, y, "scale"), tfl_zero_of(node, y, "zero") });
}
