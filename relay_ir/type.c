#include "relay_ir/type.h"

#include <string.h>

#include "base/str.h"

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
    return a->kind == b->kind && a->storage == b->storage && a->axis == b->axis && a->n == b->n &&
           a->block == b->block &&
           memcmp(a->scale, b->scale, (size_t)a->n * sizeof *a->scale) == 0 &&
           !a->zero == !b->zero &&
           (!a->zero || memcmp(a->zero, b->zero, (size_t)a->n * sizeof *a->zero) == 0);
}

bool type_equal(const struct type *a, const struct type *b)
{
    return a->dtype == b->dtype && type_same_shape(a, b) && quant_equal(a->quant, b->quant);
}

bool type_check_size(struct ctx *ctx, const struct origin *origin, const struct type *type)
{
    int64_t bytes = (int64_t)dtype_bytes(type->dtype);
    bool overflow = false;

    for (int i = 0; i < type->rank; i++) {
        if (type->dim[i] < 0)
            return diag_error(ctx, DIAG_SHAPE, origin, "shape %s has a negative dimension",
                              shape_text(&ctx->perm, type));
    }
    /* An empty tensor must not hide an overflow of its other dims: they are multiplied elsewhere.
     */
    for (int i = 0; i < type->rank; i++)
        if (type->dim[i] &&
            (__builtin_mul_overflow(bytes, type->dim[i], &bytes) || bytes > TYPE_MAX_BYTES))
            overflow = true;
    if (overflow)
        return diag_error(ctx, DIAG_TOO_BIG, origin, "a tensor of shape %s is too big",
                          shape_text(&ctx->perm, type));
    return true;
}

static const char *join_dims(struct arena *arena, const struct type *type, const char *open,
                             const char *separator, const char *close)
{
    struct str out = { .arena = arena };

    str_add(&out, open);
    for (int i = 0; i < type->rank; i++)
        str_printf(&out, "%s%lld", i ? separator : "", (long long)type->dim[i]);
    str_add(&out, close);
    return str_text(&out);
}

const char *shape_text(struct arena *arena, const struct type *type)
{
    return type->rank ? join_dims(arena, type, "", "x", "") : "scalar";
}

const char *type_text(struct arena *arena, const struct type *type)
{
    return arena_printf(arena, "%s %s", join_dims(arena, type, "(", ",", ")"),
                        dtype_name(type->dtype));
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

double tensor_at(const struct tensor *tensor, int64_t index)
{
    return dtype_load(tensor->type.dtype, tensor->data, index);
}

int64_t tensor_int_at(const struct tensor *tensor, int64_t index)
{
    return dtype_load_int(tensor->type.dtype, tensor->data, index);
}

bool tensor_equal(const struct tensor *a, const struct tensor *b)
{
    return type_equal(&a->type, &b->type) &&
           (a->data == b->data || memcmp(a->data, b->data, type_bytes(&a->type)) == 0);
}
