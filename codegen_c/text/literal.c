/* literal.c - numbers as C literals that give exactly this number back. */
#include "codegen_c/text/literal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Decimal if this many digits are exact, else hex: 9 or 17 digits are no easier to read, and not
 * every compiler rounds them right. */
enum { SHORT_DIGITS = 6, WHOLE_BELOW = 1000000 };

static const char *float_literal(struct arena *arena, enum dtype dtype, double number,
                                 bool *needs_math)
{
    const bool is_f32 = dtype == DTYPE_F32;
    const char *suffix = is_f32 ? "f" : "", *cast = is_f32 ? "" : "(double)";
    char text[64];

    if (fabs(number) < WHOLE_BELOW && number == trunc(number)) /* not 2e+01 */
        return arena_printf(arena, "%.1f%s", number, suffix);
    if (isnan(number) || isinf(number)) {
        *needs_math = true;
        return arena_printf(arena, "%s%s%s", number < 0 ? "-" : "", cast,
                            isnan(number) ? "NAN" : "INFINITY");
    }
    snprintf(text, sizeof text, "%.*g", SHORT_DIGITS, number); /* without zeros at the end */
    if ((is_f32 ? (double)strtof(text, NULL) : strtod(text, NULL)) == number)
        return arena_printf(arena, "%s%s%s", text, strpbrk(text, ".e") ? "" : ".0", suffix);
    return arena_printf(arena, "%a%s", number, suffix);
}

static const char *signed_literal(struct arena *arena, enum dtype dtype, int64_t number)
{
    if (dtype == DTYPE_I64 && number == INT64_MIN)
        return "INT64_MIN";
    if (dtype == DTYPE_I32 && number == INT32_MIN)
        return "INT32_MIN";
    if (number > INT32_MAX || number < -INT32_MAX)
        return arena_printf(arena, "INT64_C(%" PRId64 ")", number);
    return arena_printf(arena, "%" PRId64, number);
}

static const char *unsigned_literal(struct arena *arena, enum dtype dtype, uint64_t number)
{
    if (number > UINT32_MAX)
        return arena_printf(arena, "UINT64_C(%" PRIu64 ")", number);
    /* Narrow types are promoted to int: a suffix would change signedness in expressions. */
    return arena_printf(arena, "%" PRIu64 "%s", number, dtype_bytes(dtype) >= 4 ? "u" : "");
}

static const char *integer_literal(struct arena *arena, enum dtype dtype, int64_t number)
{
    return dtype_is_signed(dtype) ? signed_literal(arena, dtype, number)
                                  : unsigned_literal(arena, dtype, (uint64_t)number);
}

const char *literal_of_element(struct arena *arena, enum dtype dtype, const void *data, int64_t i,
                               bool *needs_math)
{
    if (dtype_kind(dtype) == KIND_MINIFLOAT ||
        dtype_kind(dtype) == KIND_EXPONENT) /* C has the bits only */
        return arena_printf(arena, "0x%02x", ((const uint8_t *)data)[i]);
    if (dtype_is_float(dtype))
        return float_literal(arena, dtype, dtype_load(dtype, data, i), needs_math);
    return integer_literal(arena, dtype, dtype_load_int(dtype, data, i));
}

const char *literal_of_number(struct arena *arena, enum dtype dtype, double number,
                              bool *needs_math)
{
    union {
        uint64_t align;
        unsigned char bytes[16];
    } element = { 0 };

    dtype_store(dtype, element.bytes, 0, number);
    return literal_of_element(arena, dtype, element.bytes, 0, needs_math);
}

const char *literal_decimal_f32(struct arena *arena, float number)
{
    const char *text = "";

    for (int digits = 1; digits <= 9; digits++) {
        text = arena_printf(arena, "%.*g", digits, (double)number);
        if (!(strtof(text, NULL) < number || strtof(text, NULL) > number))
            break;
    }
    return arena_printf(arena, "%s%sf", text, strpbrk(text, ".e") ? "" : ".0");
}
