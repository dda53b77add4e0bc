/* decode.c - see decode.h. */
#include "codegen_c/expr/decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/expr/halves.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/expr/vector.h"

enum { COLUMNS = 100, INDENT = 4, F32_MANTISSA = 23, F32_BIAS = 127 };
enum { HALF_MANTISSA = 10, HALF_BIAS = 15, HALF_EXPONENT_BITS = 5, MOST_HALF_BIAS = 60 };

bool decode_takes(const struct type *type)
{
    const struct minifloat *format = type_minifloat(type);

    switch (type->dtype) {
    case DTYPE_F16:
    case DTYPE_BF16:
    case DTYPE_I8:
    case DTYPE_I4: return true;
    default: return format && minifloat_bits(format) <= 8;
    }
}

float decode_number(const struct type *type, const void *data, int64_t i)
{
    const struct minifloat *format = type_minifloat(type);

    if (type->dtype == DTYPE_I4)
        return (float)(((((const uint8_t *)data)[i] & 15) ^ 8) - 8);
    if (format)
        return minifloat_decode(format, ((const uint8_t *)data)[i]);
    return (float)dtype_load(type->dtype, data, i);
}

bool decode_are_finite(const struct value *constant)
{
    for (int64_t i = 0; i < type_elements(&constant->type); i++)
        if (!isfinite(decode_number(&constant->type, constant->data, i)))
            return false;
    return true;
}

/* f16 as a minifloat, for the templates. */
static const struct minifloat half = { "f16", 5, 10, 15, MINIFLOAT_IEEE, MINIFLOAT_SIGNED };

const struct minifloat *decode_format(const struct type *type)
{
    return type->dtype == DTYPE_F16 ? &half : type_minifloat(type);
}

const char *decode_name(struct bind *bind, const struct type *type)
{
    const struct minifloat *format = decode_format(type);

    if (!format)
        return dtype_name(type->dtype);
    if (type->dtype != DTYPE_AFP)
        return format->name;
    return arena_printf(bind->arena, "afp_%d_%d_%s%d", format->exponent_bits, format->mantissa_bits,
                        format->bias < 0 ? "m" : "", abs(format->bias));
}

/* Moving bits must not go through a subnormal float. */
static bool is_within_f32(const struct minifloat *format)
{
    return 1 - format->bias - format->mantissa_bits >= -126;
}

static int n_patterns(const struct type *type)
{
    return 1 << type_packed_bits(type);
}

static float number_of(const struct type *type, int code)
{
    if (type->dtype == DTYPE_I4)
        return (float)((code ^ 8) - 8);
    return minifloat_decode(type_minifloat(type), (unsigned)code);
}

/* All values, as lines of text. */
static const char *table_text(struct bind *bind, const struct type *type)
{
    struct str out = { .arena = bind->arena };
    size_t column = INDENT;

    for (int i = 0; i < n_patterns(type); i++) {
        const char *number = bind_literal(bind, DTYPE_F32, (double)number_of(type, i));
        const bool wraps = column + strlen(number) + 2 > COLUMNS;

        str_printf(&out, "%s%s,", i == 0 ? "" : wraps ? "\n" : " ", number);
        column = (wraps || i == 0 ? INDENT : column + 1) + strlen(number) + 1;
    }
    return str_text(&out);
}

static const char *hex(struct arena *arena, unsigned number)
{
    return arena_printf(arena, "0x%08X", number);
}

static bool has_table(const struct type *type)
{
    return type->dtype != DTYPE_F16;
}

static bool has_trick(const struct type *type)
{
    return type->dtype != DTYPE_I4 && type_packed_bits(type) >= 8 &&
           is_within_f32(decode_format(type));
}

static const char *table_name(struct bind *bind, const struct type *type)
{
    return arena_printf(bind->arena, "%s_number", decode_name(bind, type));
}

static void set_table_keys(struct bind *bind, const struct type *type, struct keys *keys)
{
    const int n = n_patterns(type);

    keys_set(keys, "numbers", table_name(bind, type));
    keys_set_int(keys, "n_numbers", n);
    keys_set(keys, "table_text", table_text(bind, type));
    keys_set(keys, "index", n == 256 ? "code" : arena_printf(bind->arena, "code & %d", n - 1));
}

static void set_trick_keys(const struct type *type, struct keys *keys)
{
    const struct minifloat *format = decode_format(type);
    const int sign_bit = (int)minifloat_sign(format);
    const bool has_sign = format->sign == MINIFLOAT_SIGNED;

    keys_set_flag(keys, "signed", has_sign);
    keys_set(keys, "least_normal",
             arena_printf(keys->arena, "0x%02X", 1u << format->mantissa_bits));
    keys_set_int(keys, "raise", F32_MANTISSA - format->mantissa_bits);
    keys_set(keys, "rebias", hex(keys->arena, (unsigned)(F32_BIAS - format->bias) << F32_MANTISSA));
    keys_set(keys, "excess",
             hex(keys->arena, (unsigned)(F32_BIAS + 1 - format->bias) << F32_MANTISSA));
    keys_set_int(keys, "magnitude_mask", sign_bit - 1);
    keys_set_int(keys, "sign_bit", sign_bit);
    keys_set_int(keys, "sign_shift", 32 - type_packed_bits(type));
    keys_set_flag(keys, "fnuz", format->specials == MINIFLOAT_FNUZ);
    keys_set_flag(keys, "specials",
                  format->specials == MINIFLOAT_IEEE || format->specials == MINIFLOAT_FN);
    keys_set_int(keys, "greatest", (int)minifloat_encode(format, INFINITY, true));
}

/* The function from one value to f32. */
const char *decode_function(struct bind *bind, const struct type *type)
{
    const char *name = arena_printf(bind->arena, "%s_to_f32", decode_name(bind, type));
    const char *function = bind_own_helper(bind, name);
    struct keys keys;
    bool table, trick;

    if (type->dtype == DTYPE_BF16) {
        bind_helper(bind, "bf16_to_f32");
        return "bf16_to_f32";
    }
    if (function)
        return function;
    table = has_table(type);
    trick = has_trick(type);
    keys_init(&keys, bind->arena);
    keys_offer(&keys, "format",
               decode_format(type) ? decode_format(type)->name : dtype_name(type->dtype));
    keys_offer(&keys, "tc", type_packed_bits(type) > 8 ? "uint16_t" : "uint8_t");
    keys_set_flag(&keys, "table", table);
    keys_set_flag(&keys, "trick", trick);
    if (table)
        set_table_keys(bind, type, &keys);
    if (trick) {
        set_trick_keys(type, &keys);
        bind_helper(bind, "f32_bits");
        bind_helper(bind, "f32_of_bits");
    }
    return bind_new_helper(bind, name, "templates/helpers/to_f32.c.tmpl", &keys);
}

static bool is_integer(const struct type *type)
{
    return type->dtype == DTYPE_I8 || type->dtype == DTYPE_I4;
}

void decode_element(struct bind *bind, const struct type *type, const char **get, const char **got)
{
    const bool small = decode_takes(type), calls = small && !is_integer(type);

    *get = calls   ? arena_printf(bind->arena, "%s(", decode_function(bind, type))
           : small ? "(float)"
                   : "";
    *got = calls ? ")" : "";
}

static bool has_byte_trick(const struct type *type)
{
    return type_packed_bits(type) == 8 && decode_format(type) && has_trick(type);
}

bool decode_has_vectors(const struct bind *bind, const struct type *type)
{
    return machine_has_deep_stack(bind->machine) && has_byte_trick(type);
}

void bind_bytes_helper(struct bind *bind, const char *name)
{
    const char *const names[] = { "vector_u32", name };

    bind_vector(bind);
    bind_include(bind, "stdint.h");
    bind_include(bind, "string.h");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct keys keys;

        if (bind_own_helper(bind, names[i]))
            continue;
        keys_init(&keys, bind->arena);
        keys_offer(&keys, "linkage", bind->machine->lanes ? vector_linkage(bind) : "");
        bind_new_helper(bind, names[i],
                        arena_printf(bind->arena, "templates/helpers/%s.c.tmpl", names[i]), &keys);
    }
}

const char *decode_of_bytes(struct bind *bind, const struct type *type)
{
    const struct minifloat *format = decode_format(type);
    const char *name = arena_printf(bind->arena, "%s_of_bytes", decode_name(bind, type));
    const char *function = bind_own_helper(bind, name);
    const int raise = F32_MANTISSA - format->mantissa_bits, sign_bit = (int)minifloat_sign(format);
    struct keys keys;

    if (function)
        return function;
    bind_bytes_helper(bind, "vector_u32");
    keys_init(&keys, bind->arena);
    keys_set(&keys, "format", format->name);
    keys_set_flag(&keys, "signed", format->sign == MINIFLOAT_SIGNED);
    keys_set_int(&keys, "raise", raise);
    keys_set(&keys, "magnitude", hex(bind->arena, (unsigned)(sign_bit - 1) << raise));
    keys_set(&keys, "base", hex(bind->arena, (unsigned)(F32_BIAS - format->bias) << F32_MANTISSA));
    keys_set(&keys, "least", bind_literal(bind, DTYPE_F32, ldexp(1, 1 - format->bias)));
    keys_set_int(&keys, "sign_shift", 32 - type_packed_bits(type) - raise);
    keys_set_flag(&keys, "specials",
                  format->specials == MINIFLOAT_IEEE || format->specials == MINIFLOAT_FN);
    keys_set(&keys, "greatest",
             hex(bind->arena, (unsigned)minifloat_encode(format, INFINITY, true) << raise));
    keys_set_flag(&keys, "fnuz", format->specials == MINIFLOAT_FNUZ);
    keys_set_int(&keys, "sign_bit", sign_bit);
    return bind_new_helper(bind, name, "templates/helpers/of_bytes.c.tmpl", &keys);
}

const char *decode_of_loaded(struct bind *bind, const struct type *type)
{
    bind_bytes_helper(bind, "load_bytes");
    return decode_of_bytes(bind, type);
}

/* 4- and 6-bit formats that vector code unpacks; without vectors, a table is as fast. */
static bool has_lanes(const struct bind *bind, const struct type *type)
{
    const int bits = type_packed_bits(type);

    return bind->machine->lanes != 1 && (bits == 4 || bits == 6) &&
           (type->dtype == DTYPE_I4 || is_within_f32(decode_format(type)));
}

static const char *lanes_function(struct bind *bind, const struct type *type)
{
    const int bits = type_packed_bits(type);
    const char *name = arena_printf(bind->arena, "load_codes_%d", bits);
    struct keys keys;

    bind_bytes_helper(bind, "vector_u32");
    if (!bind_own_helper(bind, name)) {
        keys_init(&keys, bind->arena);
        keys_set_flag(&keys, "straddles", bits == 6);
        keys_set_int(&keys, "bits", bits);
        bind_new_helper(bind, name, "templates/helpers/load_codes.c.tmpl", &keys);
    }
    if (type->dtype != DTYPE_I4)
        return decode_of_bytes(bind, type);
    if (!bind_own_helper(bind, "i4_of_nibbles")) {
        keys_init(&keys, bind->arena);
        bind_new_helper(bind, "i4_of_nibbles", "templates/helpers/of_nibbles.c.tmpl", &keys);
    }
    return "i4_of_nibbles";
}

/* The text before and behind the address of a vector of values. */
static void set_vector_keys(struct bind *bind, const struct type *type, bool raised, bool vectors,
                            struct keys *keys)
{
    const char *get = "", *got = "";

    if (vectors && type->dtype == DTYPE_F16) {
        get = arena_printf(bind->arena, "%s(", halves_numbers(bind, raised));
        got = raised ? ") * F16_TIMES" : ")";
    } else if (vectors) {
        get = arena_printf(bind->arena, "%s(load_bytes(", decode_of_loaded(bind, type));
        got = "))";
    }
    keys_offer(keys, "not_called",
               type->dtype == DTYPE_F16 && vectors ? halves_numbers(bind, raised) : "");
    keys_offer(keys, "get_vector", get);
    keys_offer(keys, "got_vector", got);
}

static const char *unpack_function(struct bind *bind, const struct type *type, bool raised)
{
    const int bits = type_packed_bits(type);
    const bool convert = type->dtype == DTYPE_I8, is_half = type->dtype == DTYPE_F16;
    const bool vectors = is_half ? bind->machine->lanes > 1 : decode_has_vectors(bind, type);
    const char *name =
        arena_printf(bind->arena, "unpack_%s%s", raised ? "raised_" : "", decode_name(bind, type));
    const char *function = bind_own_helper(bind, name);
    const char *to = convert || function ? ""
                     : raised            ? halves_raised_function(bind)
                                         : decode_function(bind, type);
    const bool lanes = has_lanes(bind, type);
    const bool either = bind->machine->lanes == 0 && (is_half || has_byte_trick(type));
    struct keys keys;

    if (function)
        return function;
    keys_init(&keys, bind->arena);
    set_vector_keys(bind, type, raised, vectors || either, &keys);
    keys_set_flag(&keys, "vectors", vectors || either);
    keys_offer(&keys, "times", raised ? ", 2^10 times them" : "");
    keys_set_flag(&keys, "either", either);
    keys_set_flag(&keys, "loops", !vectors && bits >= 8);
    keys_set(&keys, "format",
             decode_format(type) ? decode_format(type)->name : dtype_name(type->dtype));
    keys_set(&keys, "tc", convert ? "int8_t" : bits > 8 ? "uint16_t" : "uint8_t");
    keys_set_flag(&keys, "packed", bits < 8);
    keys_set_flag(&keys, "lanes", lanes);
    keys_offer(&keys, "lanes_of", lanes ? lanes_function(bind, type) : "");
    keys_set(&keys, "wide", lanes ? "WIDE " : "");
    keys_set_flag(&keys, "straddles", 8 % bits != 0);
    keys_set_int(&keys, "bits", bits);
    keys_set(&keys, "get", convert ? "(float)" : arena_printf(bind->arena, "%s(", to));
    keys_set(&keys, "got", convert ? "" : ")");
    return bind_new_helper(bind, name, "templates/helpers/unpack.c.tmpl", &keys);
}

const char *decode_unpack(struct bind *bind, const struct type *type)
{
    return unpack_function(bind, type, false);
}

const char *decode_unpack_weight(struct bind *bind, const struct value *weight)
{
    return unpack_function(bind, &weight->type, halves_are_raised(bind->machine, weight));
}

/* Whether the format's finite values have the bits of f16 with another bias. */
static bool are_halves(const struct minifloat *format)
{
    const bool fits =
        format->exponent_bits < HALF_EXPONENT_BITS ||
        (format->exponent_bits == HALF_EXPONENT_BITS && format->specials == MINIFLOAT_IEEE);

    return fits && format->sign == MINIFLOAT_SIGNED && abs(format->bias) <= MOST_HALF_BIAS;
}

static void set_half_keys(struct bind *bind, const struct minifloat *format, struct keys *keys)
{
    const int shift = HALF_MANTISSA - format->mantissa_bits, less = format->bias - HALF_BIAS;

    keys_set_int(keys, "less", less);
    keys_set_int(keys, "shift", shift);
    keys_set(keys, "mask", arena_printf(bind->arena, "0x%04X", 0x8000u | 0x7Fu << shift));
    keys_set(keys, "times", bind_literal(bind, DTYPE_F32, ldexp(1, -less)));
}

const char *decode_unpack_panel(struct bind *bind, const struct value *weight)
{
    const struct type *type = &weight->type;
    const bool vectors = decode_has_vectors(bind, type);
    const bool halves = vectors && are_halves(decode_format(type));
    const char *name = arena_printf(bind->arena, "unpack_panel_%s%s",
                                    halves_are_raised(bind->machine, weight) ? "raised_" : "",
                                    decode_name(bind, type));
    const char *function = bind_own_helper(bind, name);
    const char *of_bytes = vectors && !function ? decode_of_loaded(bind, type) : "";
    struct keys keys;

    if (function)
        return function;
    bind_vector(bind);
    keys_init(&keys, bind->arena);
    keys_set_flag(&keys, "vectors", vectors);
    keys_set_flag(&keys, "halves", halves);
    keys_offer(&keys, "of_bytes", of_bytes);
    keys_set(&keys, "format",
             decode_format(type) ? decode_format(type)->name : dtype_name(type->dtype));
    keys_set(&keys, "tc", stored_c_type(type));
    keys_set(&keys, "one", halves ? "TIMES" : "1");
    keys_offer(&keys, "unpack", vectors ? "" : decode_unpack_weight(bind, weight));
    keys_offer(&keys, "linkage", halves ? vector_linkage(bind) : "");
    if (halves)
        set_half_keys(bind, decode_format(type), &keys);
    return bind_new_helper(bind, name, "templates/helpers/unpack_panel.c.tmpl", &keys);
}
