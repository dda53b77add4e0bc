/* type_check.c - what must hold of a type: its size, and what it says of the numbers. */
#include <math.h>

#include "relay_ir/type.h"

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

static const char *calibrated_problem(struct arena *arena, const struct type *type)
{
    const struct qtype *quant = type->quant;

    if (!dtype_is_float(type->dtype))
        return arena_printf(arena, "%s is calibrated, only f32, f64, f16 and bf16 can be",
                            dtype_name(type->dtype));
    if (!isfinite(quant->min) || !isfinite(quant->max) || quant->min > quant->max)
        return arena_printf(arena, "it was calibrated from %g to %g, which is not a range",
                            quant->min, quant->max);
    if (!isfinite(quant->threshold) || quant->threshold < 0)
        return arena_printf(arena, "the threshold %g is not a number of 0 or more",
                            quant->threshold);
    return NULL;
}

static const char *scale_problem(struct arena *arena, const struct qtype *quant)
{
    for (int64_t i = 0; i < quant->n; i++)
        if (!isfinite(quant->scale[i]) || quant->scale[i] <= 0)
            return arena_printf(arena, "scale %lld is %g, expected a positive number", (long long)i,
                                (double)quant->scale[i]);
    return NULL;
}

/* The numbers that a zero point of this type can have. */
static void zero_range(enum dtype dtype, double *least, double *greatest)
{
    const int bits = dtype_packed_bits(dtype) < 32 ? dtype_packed_bits(dtype) : 32;
    const bool is_signed = dtype_is_signed(dtype);

    *least = is_signed ? -ldexp(1, bits - 1) : 0;
    *greatest = ldexp(1, is_signed ? bits - 1 : bits) - 1;
}

static const char *zero_problem(struct arena *arena, const struct type *type)
{
    const struct qtype *quant = type->quant;
    double least, greatest;

    if (!quant->zero)
        return NULL;
    if (dtype_kind(type->dtype) == KIND_MINIFLOAT)
        return arena_printf(arena, "%s has a zero point, only integers have one",
                            dtype_name(type->dtype));
    zero_range(type->dtype, &least, &greatest);
    for (int64_t i = 0; i < quant->n; i++)
        if (quant->zero[i] < least || quant->zero[i] > greatest)
            return arena_printf(arena, "zero point %d is not a number of type %s", quant->zero[i],
                                dtype_name(type->dtype));
    return NULL;
}

static const char *scaled_problem(struct arena *arena, const struct type *type)
{
    const struct qtype *quant = type->quant;
    const enum dtype_kind kind = dtype_kind(type->dtype);
    const char *problem;

    if (kind != KIND_MINIFLOAT && kind != KIND_NIBBLE &&
        (!dtype_is_integer(type->dtype) || dtype_bytes(type->dtype) > 4))
        return arena_printf(
            arena, "%s is scaled, which needs an integer of up to 32 bits or a narrow float",
            dtype_name(type->dtype));
    if (quant->axis >= type->rank)
        return arena_printf(arena, "axis %d of the scales is out of range for shape %s",
                            quant->axis, shape_text(arena, type));
    if (quant->n != (quant->axis < 0 ? 1 : type->dim[quant->axis]))
        return arena_printf(arena, "%lld scales, expected %lld", (long long)quant->n,
                            quant->axis < 0 ? 1LL : (long long)type->dim[quant->axis]);
    problem = scale_problem(arena, quant);
    return problem ? problem : zero_problem(arena, type);
}

static const char *blocks_problem(struct arena *arena, const struct type *type, bool constant)
{
    const struct qtype *quant = type->quant;
    const char *problem;

    if (!constant)
        return "only constants have block scales";
    if (dtype_kind(type->dtype) != KIND_MINIFLOAT && type->dtype != DTYPE_I8 &&
        type->dtype != DTYPE_I4)
        return arena_printf(arena, "%s has block scales, which need a narrow float, i8 or i4",
                            dtype_name(type->dtype));
    if (quant->block < 1 || quant->block > TYPE_MAX_BYTES)
        return arena_printf(arena, "blocks of %lld elements", (long long)quant->block);
    if (quant->n != type_n_blocks(type, quant->block))
        return arena_printf(arena, "%lld scales for %lld blocks of %lld elements",
                            (long long)quant->n, (long long)type_n_blocks(type, quant->block),
                            (long long)quant->block);
    problem = scale_problem(arena, quant);
    return problem ? problem : zero_problem(arena, type);
}

const char *type_problem(struct arena *arena, const struct type *type, bool constant)
{
    const struct qtype *quant = type->quant;
    const bool has_codec = quant && quant->format.name[0];

    if (type->dtype == DTYPE_AFP && !has_codec)
        return "afp without bits and bias, expected afp<4,3,7> for example";
    if (type->dtype != DTYPE_AFP && has_codec)
        return arena_printf(arena, "%s has the codec %s", dtype_name(type->dtype),
                            quant->format.name);
    if (!quant)
        return NULL;
    switch (quant->kind) {
    case QTYPE_PLAIN: return has_codec ? NULL : "its quantisation is empty";
    case QTYPE_CALIBRATED: return calibrated_problem(arena, type);
    case QTYPE_SCALED: return scaled_problem(arena, type);
    case QTYPE_BLOCKS: return blocks_problem(arena, type, constant);
    }
    return "its kind of quantisation is unknown";
}
