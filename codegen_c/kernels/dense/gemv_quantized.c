/* gemv_quantized.c - see gemv.h: quantised weights packed in 32-bit words.
 *
 * method   the values of consecutive inputs share a word, so that every CPU makes a vector of
 *          floats of a vector of words by shifts and masks. A minifloat's exponent is moved to
 *          where a float has its own; the power of two by which the result is too small is
 *          multiplied into x and the sums. Subnormal values become subnormal floats, 150 cycles a
 *          vector on x86; if there are more than a few, the exponent is moved to where an f16 has
 *          its own, and CPUs convert f16 at full speed, subnormal or not. Without such a conversion
 *          values are converted by bits, which takes twice as long (docs/lab/measured.md) */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minifloat.h"
#include "base/str.h"
#include "codegen_c/expr/decode.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/machine/machine.h"
#include "codegen_c/microkernel/gemv.h"

enum {
    WORD_BITS = 32,
    FLOAT_BIAS = 127,
    FLOAT_MANTISSA = 23,
    F16_BIAS = 15,
    F16_EXPONENT_BITS = 5,
    MOST_F16_SHIFT = 24, /* of x and the sums, in powers of two */
    FEW = 1000,          /* at most one subnormal value in this many */
    MANY_REGISTERS = 32, /* for eight vectors of sums, their words, and inputs */
    LEAST_OF_BYTES = 32, /* the least exponent of a non-zero value as a byte */
    MOST_NIBBLE_BIAS = 20
};

static bool is_integer(const struct type *type)
{
    return type->dtype == DTYPE_I8 || type->dtype == DTYPE_I4;
}

static unsigned code_at(const struct value *weight, int64_t i)
{
    return ((const uint8_t *)weight->data)[i];
}

/* Infinity and NaN, as the format has them. */
static bool is_special(const struct minifloat *format, unsigned code)
{
    const unsigned sign = 1u << (minifloat_bits(format) - 1), magnitude = code & (sign - 1);

    switch (format->specials) {
    case MINIFLOAT_IEEE:
        return magnitude >> format->mantissa_bits == (1u << format->exponent_bits) - 1;
    case MINIFLOAT_FN: return magnitude == sign - 1;
    case MINIFLOAT_FNUZ: return (code & (2 * sign - 1)) == sign;
    default: return false;
    }
}

static bool has_specials(const struct value *weight, const struct minifloat *format)
{
    for (int64_t i = 0; i < type_elements(&weight->type); i++)
        if (is_special(format, code_at(weight, i)))
            return true;
    return false;
}

static bool has_many_subnormals(const struct value *weight, const struct minifloat *format)
{
    const int64_t n = type_elements(&weight->type);
    const unsigned mask = (1u << (minifloat_bits(format) - 1)) - 1;
    int64_t found = 0;

    for (int64_t i = 0; i < n; i++) {
        const unsigned magnitude = code_at(weight, i) & mask;

        found += magnitude > 0 && magnitude < 1u << format->mantissa_bits;
    }
    return found * FEW > n;
}

bool gemv_takes_words(const struct value *weight)
{
    const struct type *type = &weight->type;
    const struct minifloat *format = decode_format(type);
    const int bits = type_packed_bits(type);

    if ((bits != 4 && bits != 8 && bits != 16) || type->dtype == DTYPE_F16)
        return false;
    if (!format)
        return type->dtype == DTYPE_BF16 || is_integer(type);
    /* Without subnormal floats, magnitudes are 2^-126 to 2^127. */
    return format->sign == MINIFLOAT_SIGNED && minifloat_bits(format) == bits &&
           FLOAT_BIAS - format->bias >= 1 &&
           FLOAT_BIAS - format->bias + (1 << format->exponent_bits) <= 254 &&
           !has_specials(weight, format);
}

/* Values that are f16 once their exponent is moved, subnormal ones included: CPUs convert these at full speed. */
static bool fits_f16(const struct type *type)
{
    const struct minifloat *format = decode_format(type);

    return format && type_packed_bits(type) == 8 && format->exponent_bits < F16_EXPONENT_BITS &&
           abs(F16_BIAS - format->bias) <= MOST_F16_SHIFT;
}

/* --- packing ---------------------------------------------------------------------------------- */

/* The index of element k in a row: each block begins a word. */
static int64_t code_place(const struct type *type, int64_t k)
{
    const int64_t per = WORD_BITS / type_packed_bits(type);
    const int64_t block = type_has_blocks(type) ? type->quant->block : 0;

    return block ? k / block * ((block + per - 1) / per * per) + k % block : k;
}

/* 4-bit values stored as two words of bytes: inputs 0 to 3 in the lower halves, 4 to 7 in the
 * upper. As bytes they are a format without subnormals for them (nibble_bytes). */
static bool are_nibbles(const struct type *type)
{
    const struct minifloat *format = decode_format(type);

    return format && type_packed_bits(type) == 4 && format->mantissa_bits == 1 &&
           abs(format->bias) < MOST_NIBBLE_BIAS;
}

/* The place in a word of an input's value. */
static int64_t place_in_word(const struct type *type, int64_t k)
{
    return are_nibbles(type) ? k % 4 * 2 + k / 4 : k;
}

/* Packs the values as [panel, word, output, value in the word]. */
static void *words_make(struct bind *bind, const struct value *weight, const struct panels *p,
                        struct type *type)
{
    const size_t bytes = dtype_bytes(type->dtype);
    const int64_t per = WORD_BITS / type_packed_bits(type);
    const int64_t words = p->len ? code_place(&weight->type, p->len - 1) / per + 1 : 0;
    const int64_t rows = panels_rows(p);
    const char *from = weight->data;
    char *to;

    type->rank = 1;
    type->dim[0] = (rows * words + p->slack) * per;
    to = constant_alloc(bind->region->fn, type);
    memset(to, 0, (size_t)type->dim[0] * bytes);
    for (int64_t row = 0; row < p->n_rows; row++) {
        const int64_t panel = row / p->width * p->width;
        const int64_t width = rows - panel < p->width ? rows - panel : p->width;

        for (int64_t k = 0; k < p->len; k++) {
            const int64_t place = code_place(&weight->type, k);
            const int64_t word = panel * words + place / per * width + row - panel;

            memcpy(to + (size_t)(word * per + place_in_word(&weight->type, place % per)) * bytes,
                   from + (size_t)(row * p->row_step + k * p->len_step) * bytes, bytes);
        }
    }
    return to;
}

/* --- function --------------------------------------------------------------------------------- */

static const char *hex(struct keys *keys, unsigned bits)
{
    return arena_printf(keys->arena, "0x%08X", bits);
}

/* Integers with zero points. */
static bool has_zeros(const struct type *type)
{
    return type_has_blocks(type) && type->quant->zero;
}

/* The keys of value j of output i, converted as a scalar. */
static void set_scalar_keys(struct bind *bind, struct keys *keys, const struct type *type,
                            int units)
{
    const int bits = type_packed_bits(type);
    const char *get = type->dtype == DTYPE_I8
                          ? "(float)"
                          : arena_printf(bind->arena, "%s(", decode_function(bind, type));

    for (int i = 0; i < 4; i++) {
        const char *first = i ? arena_printf(bind->arena, "%d + ", i * units) : "";
        const char *number =
            bits == 4
                ? arena_printf(bind->arena,
                               are_nibbles(type) ? "%s(uint8_t)(w[%sj %% 4] >> j / 4 * 4 & 15))"
                                                 : "%s(uint8_t)(w[%sj / 2] >> j %% 2 * 4 & 15))",
                               get, first)
                : arena_printf(bind->arena, "%sw[%sj]%s", get, first,
                               type->dtype == DTYPE_I8 ? "" : ")");

        keys_set(keys, arena_printf(bind->arena, "code%d", i),
                 has_zeros(type) ? arena_printf(bind->arena, "(%s - z%d)", number, i) : number);
    }
}

/* " * 0x1p60f"; "" for 0. */
static void set_scale_key(struct keys *keys, const char *key, int exponent)
{
    keys_offer(keys, key, exponent ? arena_printf(keys->arena, " * 0x1p%df", exponent) : "");
}

/* 4-bit values as bytes: with 6 bits of exponent, the least non-zero value gets LEAST_OF_BYTES. */
static struct minifloat nibble_format(const struct minifloat *format)
{
    return (struct minifloat){ "bytes",         6, 1, format->bias + LEAST_OF_BYTES, MINIFLOAT_NONE,
                               MINIFLOAT_SIGNED };
}

static const char *nibble_function(struct bind *bind, const struct type *type)
{
    const struct minifloat *format = decode_format(type);
    const char *name = arena_printf(bind->arena, "%s_bytes", decode_name(bind, type));
    struct str table = { .arena = bind->arena };
    struct keys keys;

    if (bind_own_helper(bind, name))
        return name;
    for (unsigned code = 0; code < 16; code++) {
        const unsigned magnitude = code & 7, sign = code >> 3 << 7;
        const unsigned byte = magnitude == 0   ? 0
                              : magnitude == 1 ? 2 * LEAST_OF_BYTES
                                               : 2 * LEAST_OF_BYTES + magnitude;

        str_printf(&table, "%s%u", code ? ", " : "", sign | byte);
    }
    bind_include(bind, "stdint.h");
    keys_init(&keys, bind->arena);
    keys_set(&keys, "format", format->name);
    keys_set(&keys, "table", str_text(&table));
    return bind_new_helper(bind, name, "templates/helpers/nibble_bytes.c.tmpl", &keys);
}

/* On CPUs that convert f16, or may. Where bits are promised x and the sums are not scaled, and
 * values must be exact: by bits. */
static bool converts_f16(const struct bind *bind, const struct type *type)
{
    const struct machine *machine = bind->machine;

    return fits_f16(type) && !bits_are_promised(bind) &&
           (machine->lanes == 0 || machine->arch == ARCH_AARCH64 ||
            (machine->arch == ARCH_X86_64 && machine->lanes > 4));
}

static void set_f16_keys(struct keys *keys, const struct minifloat *format)
{
    const int shift = F16_EXPONENT_BITS - format->exponent_bits;
    const unsigned half = 0x8000u | 0x7F00u >> shift;

    keys_set_int(keys, "half_shift", shift);
    keys_set(keys, "half_mask", hex(keys, half << 16 | half));
}

/* The keys that convert value j of the words q by vectors. */
static void set_vector_keys(struct bind *bind, struct keys *keys, const struct type *type,
                            bool careful)
{
    const bool nibbles = are_nibbles(type) && !careful;
    const struct minifloat bytes =
        nibbles ? nibble_format(decode_format(type)) : (struct minifloat){ 0 };
    const struct minifloat *format = nibbles ? &bytes : decode_format(type);
    const int bits = nibbles ? 8 : type_packed_bits(type), top = WORD_BITS - bits;
    const int shift = format ? 8 - format->exponent_bits : 0;
    const unsigned magnitude =
        format ? ((1u << (bits - 1)) - 1) << (FLOAT_MANTISSA - format->mantissa_bits) : 0x7FFF0000u;
    const bool in_place = is_integer(type) && !bits_are_promised(bind);
    const bool by_f16 = careful && converts_f16(bind, type);
    /* The power of two by which floats are too small; negative: too large. */
    const int exponent = in_place             ? -top
                         : by_f16             ? F16_BIAS - format->bias
                         : format && !careful ? FLOAT_BIAS - format->bias
                                              : 0;
    const char *place = nibbles ? "(j % 4)" : are_nibbles(type) ? "(j % 4 * 2 + j / 4)" : "j";
    const char *word =
        nibbles ? arena_printf(bind->arena, "%s(q >> (uint32_t)(j / 4 * 4) & 0x0F0F0F0Fu)",
                               nibble_function(bind, type))
                : "q";
    const char *code =
        arena_printf(bind->arena, "(%s << (uint32_t)(%d - %d * %s))", word, top, bits, place);
    const char *numbers;

    if (in_place) {
        numbers =
            arena_printf(bind->arena, "__builtin_convertvector((vector_i32)(%s & %su), vector_f32)",
                         code, hex(keys, ~0u << top));
    } else if (is_integer(type)) {
        numbers = arena_printf(
            bind->arena, "__builtin_convertvector((vector_i32)%s >> %d, vector_f32)", code, top);
    } else if (careful) {
        const char *fn = arena_printf(bind->arena, "%s_numbers", decode_name(bind, type));
        const int bias = by_f16 ? F16_BIAS : format->bias;

        keys_set(keys, "numbers", fn);
        keys_set_int(keys, "shift", shift);
        keys_set(keys, "magnitude", hex(keys, magnitude));
        keys_set(keys, "base", hex(keys, (unsigned)(FLOAT_BIAS - bias) << FLOAT_MANTISSA));
        keys_set(keys, "least", bind_literal(bind, DTYPE_F32, ldexp(1, 1 - bias)));
        if (by_f16)
            set_f16_keys(keys, format);
        numbers = by_f16 ? arena_printf(bind->arena, "%s(%s_halves(q, j / 2), j %% 2)", fn, fn)
                         : arena_printf(bind->arena, "%s%s", fn, code);
    } else {
        const char *moved =
            shift ? arena_printf(bind->arena, "(vector_u32)((vector_i32)%s >> %d)", code, shift)
                  : code;

        keys_offer(keys, "mask", hex(keys, magnitude | 0x80000000u));
        keys_offer(keys, "shift", arena_printf(bind->arena, "%d", shift));
        numbers = arena_printf(bind->arena, "((vector_f32)(%s & %su))", moved,
                               hex(keys, magnitude | 0x80000000u));
    }
    keys_set(keys, "vector_numbers", numbers);
    keys_set_flag(keys, "by_f16", by_f16);
    keys_set_flag(keys, "by_bits", careful && !by_f16);
    keys_offer(keys, "taken_as", by_f16 ? "an f16" : "a float");
    keys_set_flag(keys, "scaled", exponent != 0);
    keys_set_flag(keys, "too_small", exponent > 0);
    keys_set_flag(keys, "too_great", exponent < 0);
    keys_offer(keys, "exponent", arena_printf(bind->arena, "%d", abs(exponent)));
    keys_offer(keys, "room", arena_printf(bind->arena, "%d", FLOAT_BIAS - exponent / 2));
    keys_offer(keys, "most_sum", arena_printf(bind->arena, "%d", FLOAT_BIAS + exponent / 2));
    keys_offer(keys, "least_x", arena_printf(bind->arena, "%d", 1 - FLOAT_BIAS - exponent / 2));
    set_scale_key(keys, "centre_scale", -exponent);
    keys_set(keys, "number", has_zeros(type) ? "(" : "");
    keys_set(keys, "less_centre", has_zeros(type) ? " - CENTRE(v))" : "");
    set_scale_key(keys, "prescale", exponent / 2);
    set_scale_key(keys, "unscale", exponent / 2 - exponent);
    set_scale_key(keys, "rescale", exponent - exponent / 2);
}

static void bind_vectors_of(struct bind *bind, const char *name)
{
    struct keys keys;

    if (bind->machine->lanes == 1 || bind_own_helper(bind, name))
        return;
    keys_init(&keys, bind->arena);
    bind_new_helper(bind, name, arena_printf(bind->arena, "templates/helpers/%s.c.tmpl", name),
                    &keys);
}

/* The groups of vectors: all eight, or four at a time if registers are few (32 registers: eight
 * take 0.97 of the time; 16: up to 1.13). */
static void set_group_keys(struct bind *bind, struct keys *keys, int per, bool nibbles)
{
    const int registers = bind->machine->registers;
    const bool generic = bind->machine->lanes == 0, one_by_one = !generic && registers < 16;
    const char *open = one_by_one ? "" : "GROUP(", *shut = one_by_one ? "(v)" : ")";
    struct str adds = { .arena = bind->arena };

    for (int j = 0; j < per; j++) {
        if (j % 4 == 0 && (nibbles || j == 0))
            str_printf(&adds, "%s%s%sCODES%s%s", j ? " } " : "", nibbles ? "{ " : "", open,
                       nibbles ? j ? "_UPPER" : "_LOWER" : "", shut);
        str_printf(&adds, " %sADD_%d%s", open, j, shut);
    }
    str_add(&adds, nibbles ? " }" : "");
    keys_set(keys, "adds", str_text(&adds));
    keys_set_flag(keys, "one_by_one", one_by_one);
    keys_set_flag(keys, "fours", !one_by_one && registers < MANY_REGISTERS);
}

static const char *words_function(struct bind *bind, const struct value *weight)
{
    const struct type *type = &weight->type;
    const bool centred = has_zeros(type);
    const struct minifloat *format = decode_format(type);
    const bool careful = format && (bits_are_promised(bind) ||
                                    (!are_nibbles(type) && has_many_subnormals(weight, format)));
    const int per = WORD_BITS / type_packed_bits(type), units = per == 2 ? 2 : 4;
    const bool scalars = bind->machine->lanes <= 1, vectors = bind->machine->lanes != 1;
    const bool nibbles = are_nibbles(type) && !careful && vectors;
    const bool halves = nibbles || (format && per == 4 && !careful && vectors);
    const char *name =
        arena_printf(bind->arena, "gemv_%s%s%s", decode_name(bind, type),
                     careful && vectors ? "_subnormals" : "", centred ? "_centred" : "");
    const char *fn = bind_own_helper(bind, name);
    struct keys keys;

    if (fn)
        return fn;
    gemv_panel_helper(bind);
    bind_vectors_of(bind, "vector_u32");
    if (halves || (careful && vectors && converts_f16(bind, type)))
        bind_vectors_of(bind, "vector_i16");
    keys_init(&keys, bind->arena);
    keys_set(&keys, "format", format ? format->name : dtype_name(type->dtype));
    keys_set(&keys, "tc", stored_c_type(type));
    keys_set_int(&keys, "per", per);
    keys_set_int(&keys, "per_less_1", per - 1);
    keys_set_int(&keys, "units", units);
    gemv_set_panel(bind, &keys, units);
    keys_set_flag(&keys, "halves", halves);
    keys_set_flag(&keys, "nibbles", nibbles);
    keys_offer(&keys, "bytes", nibbles ? nibble_function(bind, type) : "");
    keys_set_flag(&keys, "centred", centred);
    gemv_set_sum(bind, &keys);
    keys_set(&keys, "zero_argument", centred ? "const int8_t *zero, " : "");
    keys_set_flag(&keys, "scalars", scalars);
    keys_set_flag(&keys, "vectors", vectors);
    keys_set_flag(&keys, "careful", careful && vectors);
    keys_set(&keys, "decoder",
             scalars && type->dtype != DTYPE_I8 ? decode_function(bind, type) : "");
    keys_set_flag(&keys, "first_part_0", true);
    keys_set_flag(&keys, "first_part_1", false);
    if (scalars)
        set_scalar_keys(bind, &keys, type, units);
    if (vectors) {
        set_vector_keys(bind, &keys, type, careful);
        set_group_keys(bind, &keys, per, nibbles);
    }
    return bind_new_helper(bind, name, "templates/helpers/gemv_codes.c.tmpl", &keys);
}

void gemv_bind_words(struct bind *bind, const struct value *weight, const struct panels *panels)
{
    struct type type = quantized_type(bind, &weight->type, 0, NULL);
    const void *words = words_make(bind, weight, panels, &type);
    const int per = WORD_BITS / type_packed_bits(&weight->type);

    const int width = (int)panels->width;

    bind_text(bind, "weight", "%s",
              bind_quantized(bind, weight->name, &type, words,
                             arena_printf(bind->arena,
                                          "panels of %d of out_c: [in_c / %d, %d, %d of in_c]%s",
                                          width, per, width, per,
                                          are_nibbles(&weight->type) ? ", 0 4 1 5 2 6 3 7" : "")));
    bind_text(bind, "tw", "%s", stored_c_type(&weight->type));
    bind_text(bind, "gemv", "%s", words_function(bind, weight));
    bind_text(bind, "panel_shape", "[(IN_C + %d) / %d, %d, %d of IN_C]", per - 1, per, width, per);
}
