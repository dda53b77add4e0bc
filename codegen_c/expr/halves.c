/* halves.c - see halves.h. */
#include "codegen_c/expr/halves.h"

#include <string.h>

#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/vector.h"

enum {
    MAGNITUDE = 0x7FFF,
    MANTISSA_BITS = 10,
    RAISE = 10,              /* power of two: the least f16 value, 2^-24, becomes 2^-14 */
    END_OF_RAISED = 21 << 10 /* the bits of 64, the least value that would become infinite */
};

/* Whether the CPU has vector conversions of f16, subnormals included. */
static bool converts_halves(const struct machine *machine)
{
    return machine->arch == ARCH_AARCH64 || (machine->arch == ARCH_X86_64 && machine->lanes >= 8);
}

static uint16_t code_at(const struct value *weight, int64_t i)
{
    uint16_t code; /* payloads may be unaligned */

    memcpy(&code, (const char *)weight->data + (size_t)i * sizeof code, sizeof code);
    return code;
}

bool halves_are_raised(const struct machine *machine, const struct value *weight)
{
    if (weight->type.dtype != DTYPE_F16 || weight->kind != VALUE_CONSTANT ||
        converts_halves(machine))
        return false;
    for (int64_t i = 0; i < type_elements(&weight->type); i++)
        if ((code_at(weight, i) & MAGNITUDE) >= END_OF_RAISED)
            return false;
    return true;
}

/* The bits of 2^RAISE times a value below 64: the exponent grows; a subnormal is normalised
 * first. */
static uint16_t raised(uint16_t code)
{
    const int sign = code & ~MAGNITUDE;
    int magnitude = code & MAGNITUDE, exponent = magnitude >> MANTISSA_BITS;

    if (magnitude == 0)
        return code;
    if (exponent == 0)
        for (exponent = 1; magnitude < 1 << MANTISSA_BITS; exponent--)
            magnitude *= 2;
    magnitude &= (1 << MANTISSA_BITS) - 1;
    return (uint16_t)(sign | (exponent + RAISE) << MANTISSA_BITS | magnitude);
}

struct value halves_stored(struct bind *bind, const struct value *weight)
{
    struct value stored = *weight;
    uint16_t *quantized;

    if (!halves_are_raised(bind->machine, weight))
        return stored;
    quantized = constant_alloc(bind->region->fn, &weight->type);
    for (int64_t i = 0; i < type_elements(&weight->type); i++)
        quantized[i] = raised(code_at(weight, i));
    stored.data = quantized;
    return stored;
}

const char *halves_layout(struct bind *bind, const struct value *weight, const char *layout)
{
    return halves_are_raised(bind->machine, weight)
               ? arena_printf(bind->arena, "%s%stimes 2^%d", layout, *layout ? ", " : "", RAISE)
               : layout;
}

const char *halves_of_words(struct bind *bind, bool raised)
{
    return raised ? "f16_moved"
                  : arena_printf(bind->arena, "%s_of_words", halves_numbers(bind, false));
}

const char *halves_numbers(struct bind *bind, bool raised)
{
    const char *name = raised ? "raised_f16_numbers" : "f16_numbers";
    const char *fn = bind_own_helper(bind, name);
    const struct type type = type_scalar(DTYPE_F16);
    struct keys keys;

    if (fn)
        return fn;
    bind_bytes_helper(bind, "vector_u32");
    bind_helper(bind, "f32_of_bits");
    keys_init(&keys, bind->arena);
    keys_offer(&keys, "linkage", raised ? vector_linkage(bind) : "");
    keys_set_flag(&keys, "raised", raised);
    keys_set_flag(&keys, "careful", !raised);
    keys_offer(&keys, "of_one", raised ? "" : decode_function(bind, &type));
    keys_offer_flag(&keys, "generic", raised && bind->machine->lanes == 0);
    return bind_new_helper(bind, name, "templates/helpers/f16_numbers.c.tmpl", &keys);
}

const char *halves_raised_function(struct bind *bind)
{
    static const char name[] = "raised_f16_to_f32";
    const char *fn = bind_own_helper(bind, name);
    struct keys keys;

    if (fn)
        return fn;
    bind_helper(bind, "f32_of_bits");
    keys_init(&keys, bind->arena);
    return bind_new_helper(bind, name, "templates/helpers/raised_f16_to_f32.c.tmpl", &keys);
}
