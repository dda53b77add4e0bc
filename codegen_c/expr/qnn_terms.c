/* qnn_terms.c - see qnn_terms.h. */
#include "codegen_c/expr/qnn_terms.h"

#include <inttypes.h>

#include "codegen_c/core/number.h"

bool qnn_is_known(const struct value *value, int64_t *number)
{
    double real;

    if (value->kind != VALUE_CONSTANT || !value_uniform(value, &real))
        return false;
    *number = (int64_t)real;
    return true;
}

double qnn_real(const struct value *constant, int64_t i)
{
    const struct tensor tensor = value_tensor(constant);

    return tensor_at(&tensor, i);
}

int64_t qnn_least(enum dtype dtype)
{
    return dtype_is_signed(dtype) ? -((int64_t)1 << (dtype_packed_bits(dtype) - 1)) : 0;
}

int64_t qnn_most(enum dtype dtype)
{
    const int bits = dtype_packed_bits(dtype);

    return ((int64_t)1 << (dtype_is_signed(dtype) ? bits - 1 : bits)) - 1;
}

const char *qnn_plus(struct arena *arena, const char *x, int64_t number)
{
    if (number == 0)
        return x;
    return arena_printf(arena, "%s %c %" PRId64, x, number < 0 ? '-' : '+',
                        number < 0 ? -number : number);
}

const char *qnn_centred(struct arena *arena, const char *x, const struct node *node,
                        const char *role, int64_t zero)
{
    return arena_printf(arena, "(%s)", minus_number(arena, x, node, role, zero));
}

const char *qnn_saturated(struct arena *arena, const struct node *node, const char *x, int64_t zero)
{
    const enum dtype dtype = node->outputs[0]->type.dtype;
    if (dtype == DTYPE_I32)
        return zero == 0 ? x
                         : arena_printf(arena, "saturate_int(%s, INT32_MIN, INT32_MAX)",
                                        plus_number(arena, arena_printf(arena, "(int64_t)%s", x),
                                                    node, "y_zero", zero));
    return arena_printf(
        arena, "($t)saturate_int(%s, %" PRId64 ", %" PRId64 ")",
        plus_number(arena, arena_printf(arena, "(int64_t)%s", x), node, "y_zero", zero),
        qnn_least(dtype), qnn_most(dtype));
}

const char *qnn_scaled(struct arena *arena, const struct node *node, const char *of,
                       const char *helper, const char *x, struct fixed_point factor)
{
    return arena_printf(
        arena, "%s(%s, %s, %s)", helper, x,
        number_i32(arena, node, arena_printf(arena, "%s_multiplier", of), factor.multiplier),
        number_i32(arena, node, arena_printf(arena, "%s_shift", of), factor.shift));
}

bool qnn_goes_down(struct fixed_point factor)
{
    return factor.shift < 0 && factor.shift >= -31;
}

const char *qnn_clamped(struct arena *arena, const struct node *node, const char *x, int64_t zero)
{
    const enum dtype dtype = node->outputs[0]->type.dtype;

    return arena_printf(arena, "($t)clamp_int(%s, %" PRId64 ", %" PRId64 ")",
                        plus_number(arena, x, node, "y_zero", zero), qnn_least(dtype),
                        qnn_most(dtype));
}
