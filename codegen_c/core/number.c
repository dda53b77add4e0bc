#include "codegen_c/core/number.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "codegen_c/text/literal.h"

/* "Number_" kind, bits and owner in hex, role. */
static const char prefix[] = "Number_";
enum { HEX_DIGITS = 16, HEAD = sizeof prefix - 1 + 2 + 2 * (HEX_DIGITS + 1) };
static const char kinds[] = "ifu";

static const char *token(struct arena *arena, enum number_kind kind, const void *of,
                         const char *role, uint64_t bits)
{
    return arena_printf(arena, "%s%c_%016" PRIx64 "_%016" PRIx64 "_%s", prefix, kinds[kind], bits,
                        (uint64_t)(uintptr_t)of, role);
}

const char *number_i32(struct arena *arena, const void *of, const char *role, int64_t number)
{
    return token(arena, NUMBER_I32, of, role, (uint64_t)number);
}

const char *number_f32(struct arena *arena, const void *of, const char *role, float number)
{
    uint32_t bits;

    memcpy(&bits, &number, sizeof bits);
    return token(arena, NUMBER_F32, of, role, bits);
}

const char *number_u64(struct arena *arena, const void *of, const char *role, uint64_t number)
{
    return token(arena, NUMBER_U64, of, role, number);
}

const char *plus_number(struct arena *arena, const char *x, const void *of, const char *role,
                        int64_t number)
{
    return arena_printf(arena, "%s + %s", x, number_i32(arena, of, role, number));
}

const char *minus_number(struct arena *arena, const char *x, const void *of, const char *role,
                         int64_t number)
{
    return arena_printf(arena, "%s - %s", x, number_i32(arena, of, role, number));
}

static uint64_t hex_at(const char *text)
{
    uint64_t bits = 0;

    for (int i = 0; i < HEX_DIGITS; i++)
        bits = bits << 4 | (uint64_t)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
    return bits;
}

static bool is_role(char c)
{
    return c == '_' || isalnum((unsigned char)c);
}

const char *number_find(const char *text, struct number *number, int *length)
{
    const char *at = strstr(text, prefix), *bits;
    int n = 0;

    if (!at)
        return NULL;
    bits = at + sizeof prefix - 1;
    number->kind = (enum number_kind)(strchr(kinds, *bits) - kinds);
    number->bits = hex_at(bits + 2);
    number->of = hex_at(bits + 2 + HEX_DIGITS + 1);
    number->role = at + HEAD;
    while (is_role(number->role[n]))
        n++;
    number->n_role = n;
    *length = HEAD + n;
    return at;
}

static const char *literal(struct arena *arena, const struct number *number)
{
    const uint32_t bits = (uint32_t)number->bits;
    bool needs_math;
    float real;

    switch (number->kind) {
    case NUMBER_F32:
        memcpy(&real, &bits, sizeof real);
        return literal_of_number(arena, DTYPE_F32, (double)real, &needs_math);
    case NUMBER_U64: return arena_printf(arena, "UINT64_C(%" PRIu64 ")", number->bits);
    default: return arena_printf(arena, "%" PRId64, (int64_t)number->bits);
    }
}

const char *numbers_as_literals(struct arena *arena, const char *text)
{
    struct str out = { .arena = arena };
    struct number number;
    const char *at;
    int length;

    if (!strstr(text, prefix))
        return text;
    while ((at = number_find(text, &number, &length)) != NULL) {
        str_addn(&out, text, (size_t)(at - text));
        str_add(&out, literal(arena, &number));
        text = at + length;
    }
    str_add(&out, text);
    return str_text(&out);
}
