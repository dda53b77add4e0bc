/* codec.c - see codec.h. The quantised values are those of base/minifloat.c, whatever the CPU does
 * with f32 subnormals.
 *
 * method   the bits of the f32 are rounded where the mantissa ends, ties to even, so that a carry
 *          goes into the exponent. The CPU rounds subnormals: v + 2^23 units has the unit as its
 *          last bit */
#include "codegen_c/expr/codec.h"

#include <math.h>
#include <string.h>

#include "codegen_c/core/state.h"
#include "codegen_c/expr/decode.h"
#include "codegen_c/text/literal.h"

static const char to_f32[] = "_to_f32", from_f32[] = "f32_to_", unsaturated[] = "_unsaturated";

/* The one 16-bit format. */
static bool is_half(const struct minifloat *format)
{
    return format->mantissa_bits > 7;
}

/* Whether all values, and the constants of the text, are normal f32, and the format has 8 bits or
 * is f16. */
static bool is_within_f32(const struct minifloat *format)
{
    const int unit = 1 - format->bias - format->mantissa_bits;

    return unit >= -126 && unit + 23 <= 127 && (minifloat_bits(format) <= 8 || is_half(format));
}

/* The C identifier of a format: "afp<4,3,-2>" is afp_4_3_m2. */
static const char *identifier(struct arena *arena, const struct minifloat *format)
{
    struct str out = { .arena = arena };

    for (const char *c = format->name; *c; c++) {
        if (*c == '<' || *c == ',')
            str_add(&out, "_");
        else if (*c == '-')
            str_add(&out, "m");
        else if (*c != '>')
            str_addn(&out, c, 1);
    }
    return str_text(&out);
}

static bool format_of(struct arena *arena, const char *name, struct minifloat *format)
{
    struct str afp = { .arena = arena };

    if (strcmp(name, "f16") == 0) {
        *format = *decode_format(&(struct type){ .dtype = DTYPE_F16 });
        return true;
    }
    if (!str_starts(name, "afp_"))
        return minifloat_from_name(name, format);
    str_add(&afp, "afp<");
    for (const char *c = name + 4; *c; c++)
        str_addn(&afp, *c == '_' ? "," : *c == 'm' ? "-" : c, 1);
    str_add(&afp, ">");
    return minifloat_from_name(str_text(&afp), format);
}

const char *codec_decoder(struct arena *arena, const struct minifloat *format)
{
    return arena_printf(arena, "%s%s", identifier(arena, format), to_f32);
}

const char *codec_encoder(struct arena *arena, const struct minifloat *format, bool saturate)
{
    return is_within_f32(format)
               ? arena_printf(arena, "%s%s%s", from_f32, identifier(arena, format),
                              saturate || is_half(format) ? "" : unsaturated)
               : NULL;
}

static void set_number(struct keys *keys, const char *key, double number)
{
    bool math;

    keys_set(keys, key, literal_of_number(keys->arena, DTYPE_F32, number, &math));
}

static const char *hex(struct keys *keys, unsigned number)
{
    return arena_printf(keys->arena,
                        number > 0xFFFF ? "0x%08X"
                        : number > 0xFF ? "0x%04X"
                                        : "0x%02X",
                        number);
}

static void set_keys(struct keys *keys, const struct minifloat *format, bool saturate)
{
    const int m = format->mantissa_bits, magnitude_bits = format->exponent_bits + m;
    const unsigned overflow = minifloat_encode(format, INFINITY, saturate);
    const unsigned greatest = minifloat_encode(format, INFINITY, true);
    const double magic = ldexp(1, 24 - format->bias - m);
    const bool ieee = format->specials == MINIFLOAT_IEEE;
    const union {
        float number;
        uint32_t bits;
    } magic_bits = { (float)magic };

    keys_set(keys, "format", format->name);
    keys_set_int(keys, "shift", 23 - m);
    keys_set(keys, "rebias", hex(keys, (unsigned)(127 - format->bias) << 23));
    keys_set_flag(keys, "signless", format->sign == MINIFLOAT_UNSIGNED);
    keys_offer(keys, "sign", hex(keys, 1u << magnitude_bits));
    keys_offer(keys, "sign_shift", arena_printf(keys->arena, "%d", 31 - magnitude_bits));
    set_number(keys, "magic", magic);
    keys_set(keys, "magic_bits", hex(keys, magic_bits.bits));
    keys_set(keys, "half_less", hex(keys, (1u << (22 - m)) - 1));
    keys_set(keys, "least_bits", hex(keys, (unsigned)(128 - format->bias) << 23));
    keys_set(keys, "greatest", hex(keys, greatest));
    keys_set(keys, "overflow", hex(keys, overflow));
    keys_offer(keys, "beyond", overflow == greatest ? "that" : ieee ? "infinity" : "NaN");
    keys_offer(keys, "tc", is_half(format) ? "uint16_t" : "uint8_t");
    /* The NaN of f16 is the quiet one of base/dtype.c. */
    keys_set(keys, "nan",
             hex(keys, is_half(format) ? greatest + 1 + (1u << (m - 1)) : minifloat_nan(format)));
    keys_set_flag(keys, "fnuz", format->specials == MINIFLOAT_FNUZ);
}

static bool bind_decoder(struct bind *bind, const char *name)
{
    const size_t n = strlen(name) - strlen(to_f32);
    struct qtype *codec = arena_new(bind->arena, struct qtype);
    struct type type = type_scalar(dtype_from_name(arena_strndup(bind->arena, name, n)));

    if (type.dtype == DTYPE_NONE) {
        if (!format_of(bind->arena, arena_strndup(bind->arena, name, n), &codec->format))
            return false;
        type.dtype = DTYPE_AFP;
        type.quant = codec;
    }
    return decode_format(&type) && decode_function(bind, &type);
}

/* The format of an encoder's name. */
static bool encoded_format(struct bind *bind, const char *name, struct minifloat *format,
                           bool *saturate)
{
    size_t n;

    if (!str_starts(name, from_f32))
        return false;
    *saturate = !str_ends(name, unsaturated);
    n = strlen(name) - strlen(from_f32) - (*saturate ? 0 : strlen(unsaturated));
    return format_of(bind->arena, arena_strndup(bind->arena, name + strlen(from_f32), n), format) &&
           is_within_f32(format);
}

static bool bind_encoder(struct bind *bind, const char *name)
{
    struct minifloat format;
    struct keys keys;
    bool saturate;

    if (!encoded_format(bind, name, &format, &saturate))
        return false;
    keys_init(&keys, bind->arena);
    set_keys(&keys, &format, saturate && !is_half(&format));
    bind_helper(bind, "f32_bits");
    bind_helper(bind, "f32_of_bits");
    bind_new_helper(bind, name, "templates/helpers/f32_to_minifloat.c.tmpl", &keys);
    return true;
}

/* For formats that saturate: limits apply before rounding. */
static void set_limit_keys(struct keys *keys, const struct minifloat *format, bool saturate)
{
    const int m = format->mantissa_bits, most = (int)ilogbf(minifloat_max(format));
    const int places = (256 - ((128 - format->bias) << m) % 256) % 256;

    keys_set_flag(keys, "limited",
                  saturate && format->specials != MINIFLOAT_FNUZ && m > 0 && most + 23 - m < 127);
    set_number(keys, "most", (double)minifloat_max(format));
    set_number(keys, "least_normal", ldexp(1, 1 - format->bias));
    set_number(keys, "factor", ldexp(1 + ldexp(places, -23), 23 - m));
    keys_set_int(keys, "places", places);
    keys_set(keys, "greatest_to_nan",
             hex(keys, minifloat_encode(format, INFINITY, true) ^ minifloat_nan(format)));
}

/* The function that quantises a vector as `encoder` does a float, or, if `many`, n floats; NULL if
 * there is none. */
static const char *bind_pack(struct bind *bind, const char *encoder, bool many)
{
    const char *format_name, *codes, *pack;
    struct minifloat format;
    struct keys keys;
    bool saturate;

    if (!machine_has_deep_stack(bind->machine) ||
        !encoded_format(bind, encoder, &format, &saturate) || is_half(&format) ||
        minifloat_bits(&format) != 8)
        return NULL;
    format_name = encoder + strlen(from_f32);
    codes = arena_printf(bind->arena, "%s_codes", format_name);
    pack = arena_printf(bind->arena, "pack_%s", format_name);
    bind_bytes_helper(bind, "store_bytes");
    if (!bind_own_helper(bind, codes)) {
        keys_init(&keys, bind->arena);
        set_keys(&keys, &format, saturate);
        set_limit_keys(&keys, &format, saturate);
        keys_set(&keys, "encode", encoder);
        bind_new_helper(bind, codes, "templates/helpers/codes.c.tmpl", &keys);
    }
    if (many && !bind_own_helper(bind, pack)) {
        bind_helper(bind, encoder);
        keys_init(&keys, bind->arena);
        keys_set(&keys, "encode", encoder);
        keys_set(&keys, "codes", bind_own_helper(bind, codes));
        bind_new_helper(bind, pack, "templates/helpers/pack.c.tmpl", &keys);
    }
    return bind_own_helper(bind, many ? pack : codes);
}

static bool is_whole(const struct bind *bind, int64_t multiple)
{
    return multiple > 0 && multiple % bind->machine->lanes == 0;
}

const char *codec_pack(struct bind *bind, const char *encoder, const char *numbers, const char *n,
                       const char *codes, int64_t multiple)
{
    const bool whole = is_whole(bind, multiple);
    const char *fn = bind_pack(bind, encoder, !whole);

    if (!fn)
        return NULL;
    return whole ? arena_printf(bind->arena,
                                "for (int v = 0; v < %s; v += LANES)\n"
                                "    store_bytes(%s + v, %s(*(const vector_f32 *)&%s[v]));",
                                n, codes, fn, numbers)
                 : arena_printf(bind->arena, "%s(%s, %s, %s);", fn, numbers, n, codes);
}

const char *codec_unpack(struct bind *bind, const struct type *type, const char *codes,
                         const char *first, const char *n, const char *numbers, int64_t multiple)
{
    if (!decode_has_vectors(bind, type))
        return NULL;
    return is_whole(bind, multiple)
               ? arena_printf(bind->arena,
                              "for (int v = 0; v < %s; v += LANES)\n"
                              "    *(vector_f32 *)(%s + v) = %s(load_bytes(&%s[%s + v]));",
                              n, numbers, decode_of_loaded(bind, type), codes, first)
               : arena_printf(bind->arena, "%s(%s, %s, %s, %s);", decode_unpack(bind, type), codes,
                              first, n, numbers);
}

const char *codec_encode(struct bind *bind, const struct minifloat *format)
{
    const char *encoder = codec_encoder(bind->arena, format, true);

    return encoder ? bind_pack(bind, encoder, false) : NULL;
}

bool codec_bind(struct bind *bind, const char *name)
{
    return str_starts(name, from_f32) ? bind_encoder(bind, name)
                                      : str_ends(name, to_f32) && bind_decoder(bind, name);
}
