#include "relay_ir/type.h"

#include <math.h>
#include <string.h>

struct type type_make(enum dtype dtype, int rank, const int64_t *dim)
{
    struct type type = { .dtype = dtype, .rank = rank };

    for (int i = 0; i < rank; i++)
        type.dim[i] = dim[i];
    return type;
}

struct type type_scalar(enum dtype dtype)
{
    return (struct type){ .dtype = dtype };
}

int64_t type_span(const struct type *type, int from, int to)
{
    int64_t n = 1;

    for (int i = from; i < to; i++)
        n *= type->dim[i];
    return n;
}

int64_t type_elements(const struct type *type)
{
    return type_span(type, 0, type->rank);
}

size_t type_bytes(const struct type *type)
{
    return (size_t)type_elements(type) * dtype_bytes(type->dtype);
}

const struct minifloat *type_minifloat(const struct type *type)
{
    if (type->dtype == DTYPE_AFP)
        return type->quant && type->quant->format.name[0] ? &type->quant->format : NULL;
    return dtype_minifloat(type->dtype);
}

const char *type_format(const struct type *type)
{
    const struct minifloat *format = type_minifloat(type);

    return format ? format->name : dtype_name(type->dtype);
}

int type_packed_bits(const struct type *type)
{
    const struct minifloat *format = type_minifloat(type);

    return format ? minifloat_bits(format) : dtype_packed_bits(type->dtype);
}

size_t type_packed_bytes(const struct type *type)
{
    return ((size_t)type_elements(type) * (size_t)type_packed_bits(type) + 7) / 8;
}

bool type_has_blocks(const struct type *type)
{
    return type->quant && type->quant->kind == QTYPE_BLOCKS;
}

/* Blocks of one row of [dim 0, rest]. */
static int64_t blocks_of_row(const struct type *type, int64_t block)
{
    const int64_t row = type_span(type, type->rank > 0 ? 1 : 0, type->rank);

    return (row + block - 1) / block;
}

bool type_has_byte_scales(const struct type *type)
{
    for (int64_t i = 0; i < type->quant->n; i++) {
        int exponent;

        if (frexpf(type->quant->scale[i], &exponent) != 0.5F || exponent < -126)
            return false;
    }
    return true;
}

size_t type_scale_bytes(const struct type *type)
{
    if (!type_has_blocks(type))
        return 0;
    return (size_t)type->quant->n *
           ((type_has_byte_scales(type) ? 1 : sizeof(float)) + (type->quant->zero ? 1 : 0));
}

bool type_block_is_regular(int64_t block)
{
    return block > 0 && block % (block <= 64 ? 4 : 32) == 0;
}

int64_t type_n_blocks(const struct type *type, int64_t block)
{
    return (type->rank > 0 ? type->dim[0] : 1) * blocks_of_row(type, block);
}

bool type_same_shape(const struct type *a, const struct type *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

static bool quant_equal(const struct qtype *a, const struct qtype *b)
{
    if (!a || !b)
        return a == b;
    return a->kind == b->kind && a->min == b->min && a->max == b->max &&
           a->threshold == b->threshold && a->axis == b->axis && a->n == b->n &&
           a->block == b->block && strcmp(a->format.name, b->format.name) == 0 &&
           (a->n == 0 || memcmp(a->scale, b->scale, (size_t)a->n * sizeof *a->scale) == 0) &&
           !a->zero == !b->zero &&
           (!a->zero || memcmp(a->zero, b->zero, (size_t)a->n * sizeof *a->zero) == 0);
}

bool type_equal(const struct type *a, const struct type *b)
{
    return a->dtype == b->dtype && type_same_shape(a, b) && quant_equal(a->quant, b->quant);
}

bool type_same_storage(const struct type *a, const struct type *b)
{
    const struct minifloat *a_codec = type_minifloat(a), *b_codec = type_minifloat(b);

    return a->dtype == b->dtype && type_same_shape(a, b) && !a_codec == !b_codec &&
           (!a_codec || strcmp(a_codec->name, b_codec->name) == 0) &&
           type_has_blocks(a) == type_has_blocks(b) &&
           (!type_has_blocks(a) || quant_equal(a->quant, b->quant));
}

bool type_state(struct type *inferred, const struct type *stated)
{
    const struct qtype *quant = stated->quant;
    const bool calibrated = quant && quant->kind == QTYPE_CALIBRATED;

    if (!type_same_storage(inferred, stated))
        return false;
    if (calibrated && !inferred->quant)
        inferred->quant = quant;
    return !quant || quant->kind == QTYPE_PLAIN || quant_equal(quant, inferred->quant);
}

int type_axis(const struct type *type, int64_t axis)
{
    if (axis < -type->rank || axis >= type->rank)
        return -1;
    return (int)(axis < 0 ? axis + type->rank : axis);
}

struct tensor tensor_new(struct bulk *bulk, const struct type *type)
{
    return (struct tensor){ *type, bulk_alloc(bulk, type_bytes(type)) };
}

static double number_in_block(const struct type *type, int64_t index, double code)
{
    const struct qtype *quant = type->quant;
    const int64_t row = type_span(type, type->rank > 0 ? 1 : 0, type->rank);
    const int64_t at = index / row * blocks_of_row(type, quant->block) + index % row / quant->block;

    return (double)quant->scale[at] * (code - (quant->zero ? quant->zero[at] : 0));
}

double tensor_at_any(const struct tensor *tensor, int64_t index)
{
    const struct type *type = &tensor->type;
    double number;

    if (type->dtype == DTYPE_AFP)
        number =
            (double)minifloat_decode(type_minifloat(type), ((const uint8_t *)tensor->data)[index]);
    else
        number = dtype_load(type->dtype, tensor->data, index);
    return type_has_blocks(type) ? number_in_block(type, index, number) : number;
}

int64_t tensor_int_at(const struct tensor *tensor, int64_t index)
{
    return dtype_load_int(tensor->type.dtype, tensor->data, index);
}

bool tensor_equal(const struct tensor *a, const struct tensor *b)
{
    return type_same_storage(&a->type, &b->type) &&
           (a->data == b->data || memcmp(a->data, b->data, type_bytes(&a->type)) == 0);
}
