#include "quantize/number_format.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { MX_BLOCK = 32 }; /* OCP MX 1.0, section 5.2 */

/* Families whose elements are a row of minifloat.def. */
static const struct {
    const char *name;
    enum dtype dtype;
} mx[] = {
    { "mxfp8", DTYPE_F8E4M3 }, { "mxfp8=f8e4m3", DTYPE_F8E4M3 }, { "mxfp8=f8e5m2", DTYPE_F8E5M2 },
    { "mxfp6", DTYPE_F6E2M3 }, { "mxfp6=f6e2m3", DTYPE_F6E2M3 }, { "mxfp6=f6e3m2", DTYPE_F6E3M2 },
    { "mxfp4", DTYPE_F4E2M1 }, { "mxfp4=f4e2m1", DTYPE_F4E2M1 },
};

/* What is named as its element type is. */
static bool parse_element(const char *text, struct number_format *out)
{
    const enum dtype dtype = dtype_from_name(text);

    if (dtype == DTYPE_NONE)
        return false;
    if (dtype != DTYPE_F16 && dtype != DTYPE_BF16 && dtype != DTYPE_I8 && dtype != DTYPE_I4 &&
        !dtype_minifloat(dtype))
        return false;
    out->dtype = dtype;
    if (dtype_minifloat(dtype))
        out->codec = *dtype_minifloat(dtype);
    return true;
}

static bool parse_auto(const char *text, struct number_format *out)
{
    if (strcmp(text, "auto") != 0)
        return false;
    out->chooses_format = true;
    out->dtype = DTYPE_F8E4M3;
    out->codec = *dtype_minifloat(out->dtype);
    return true;
}

static bool parse_mx(const char *text, struct number_format *out)
{
    for (size_t i = 0; i < sizeof mx / sizeof *mx; i++)
        if (strcmp(mx[i].name, text) == 0) {
            out->dtype = mx[i].dtype;
            out->codec = *dtype_minifloat(mx[i].dtype);
            out->block = MX_BLOCK;
            return true;
        }
    return false;
}

/* A bias that makes all numbers of the format f32; any, where k is to be chosen. */
static bool afp_of(int exponent_bits, int mantissa_bits, struct number_format *out)
{
    out->dtype = DTYPE_AFP;
    out->chooses_bias = true;
    return minifloat_afp(exponent_bits, mantissa_bits, 1 << (exponent_bits - 1), &out->codec);
}

/* "afp8": the paper's mantissa for that many bits. */
static bool parse_afp(const char *text, struct number_format *out)
{
    int e, m, end = 0, bits;

    if (minifloat_from_name(text, &out->codec) && str_starts(text, "afp<")) {
        out->dtype = DTYPE_AFP;
        return minifloat_bits(&out->codec) <= 8;
    }
    if (text[strcspn(text, " \t\n\v\f\r+")])
        return false; /* which sscanf would pass over */
    /* One digit each: no int overflows. */
    if (sscanf(text, "afp<%1d,%1d>%n", &e, &m, &end) == 2 && text[end] == '\0')
        return e >= 1 && m >= 0 && 1 + e + m <= 8 && afp_of(e, m, out);
    if (sscanf(text, "afp%1d%n", &bits, &end) != 1 || text[end] != '\0' || bits < 3 || bits > 8)
        return false;
    m = bits == 3 ? 0 : bits == 4 ? 1 : 2;
    out->chooses_split = true;
    return afp_of(bits - 1 - m, m, out);
}

bool number_format_parse(const char *text, struct number_format *out)
{
    *out = (struct number_format){ .dtype = DTYPE_NONE };
    if (strlen(text) >= sizeof out->name || !(parse_element(text, out) || parse_auto(text, out) ||
                                              parse_mx(text, out) || parse_afp(text, out)))
        return false;
    strcpy(out->name, text);
    return true;
}

const char *number_format_list(struct arena *arena)
{
    struct str list = { .arena = arena };

    str_add(&list, "f16, bf16, i8, i4");
    for (int i = 0; i < MINIFLOAT_COUNT; i++)
        str_printf(&list, ", %s", minifloats[i].name);
    str_add(&list, ", auto, afp3 ... afp8, afp<e,m>, afp<e,m,k>, mxfp8, mxfp6, mxfp4");
    return str_text(&list);
}

bool number_format_is_fp8(const struct number_format *format)
{
    return dtype_minifloat(format->dtype) && minifloat_bits(&format->codec) == 8 && !format->block;
}

bool number_format_is_unsigned(const struct number_format *format)
{
    return dtype_minifloat(format->dtype) && format->codec.sign == MINIFLOAT_UNSIGNED;
}

struct number_format number_format_signed(const struct number_format *format)
{
    struct number_format made = *format;

    for (int i = 0; i < MINIFLOAT_COUNT && number_format_is_unsigned(format); i++)
        if (minifloats[i].sign == MINIFLOAT_SIGNED && minifloat_bits(&minifloats[i]) == 8 &&
            minifloats[i].exponent_bits == format->codec.exponent_bits &&
            minifloats[i].bias == format->codec.bias &&
            number_format_parse(minifloats[i].name, &made))
            break;
    return made;
}

int number_format_bits(const struct number_format *format)
{
    return dtype_kind(format->dtype) == KIND_MINIFLOAT ? minifloat_bits(&format->codec)
                                                       : dtype_packed_bits(format->dtype);
}

double number_format_max(const struct number_format *format)
{
    switch (format->dtype) {
    case DTYPE_F16: return 65504;
    case DTYPE_BF16: return (double)bf16_to_f32(0x7F7F);
    case DTYPE_I8: return 127;
    case DTYPE_I4: return 7;
    default: return (double)minifloat_max(&format->codec);
    }
}

/* The greatest number of a format halves when its bias grows by 1. */
struct number_format number_format_fit(const struct number_format *format, double greatest)
{
    struct number_format fitted = *format;
    int above;

    if (!format->chooses_bias)
        return fitted;
    fitted.chooses_bias = fitted.chooses_split = false;
    (void)frexp(greatest / (double)minifloat_max(&format->codec), &above);
    if (ldexp(0.5, above) * (double)minifloat_max(&format->codec) >= greatest)
        above--; /* a power of two itself */
    /* Nearer to the bias that is there, until all numbers of the format are f32. */
    for (int bias = format->codec.bias - above;; bias += bias < format->codec.bias ? 1 : -1)
        if (minifloat_afp(format->codec.exponent_bits, format->codec.mantissa_bits, bias,
                          &fitted.codec))
            break;
    snprintf(fitted.name, sizeof fitted.name, "%s", fitted.codec.name);
    return fitted;
}

static double clamped(double x, double limit)
{
    return x > limit ? limit : x < -limit ? -limit : x;
}

/* The code's number nearest to x. */
static double nearest(const struct number_format *format, double x)
{
    switch (format->dtype) {
    case DTYPE_F16: return (double)f16_to_f32(f16_from_f64(clamped(x, 65504)));
    case DTYPE_BF16:
        return (double)bf16_to_f32(bf16_from_f64(clamped(x, number_format_max(format))));
    case DTYPE_I8:
    case DTYPE_I4: return isnan(x) ? 0 : nearbyint(clamped(x, number_format_max(format)));
    default:
        return (double)minifloat_decode(&format->codec, minifloat_encode(&format->codec, x, true));
    }
}

double number_format_round(const struct number_format *format, double x, double scale)
{
    return nearest(format, x / scale) * scale;
}

void number_format_encode(const struct number_format *format, const float *x, size_t n, float scale,
                          void *quantized)
{
    const double limit = number_format_max(format);

    for (size_t i = 0; i < n; i++) {
        const double q = (double)x[i] / (double)scale;

        if (dtype_kind(format->dtype) == KIND_MINIFLOAT)
            ((uint8_t *)quantized)[i] = (uint8_t)minifloat_encode(&format->codec, q, true);
        else
            dtype_store(format->dtype, quantized, (int64_t)i, clamped(q, limit));
    }
}

struct type number_format_type(const struct number_format *format, const struct type *shape,
                               struct arena *arena)
{
    struct type type = type_make(format->dtype, shape->rank, shape->dim);
    struct qtype *quant;

    if (format->dtype != DTYPE_AFP)
        return type;
    quant = arena_new(arena, struct qtype);
    *quant = (struct qtype){ .kind = QTYPE_PLAIN, .axis = -1, .format = format->codec };
    type.quant = quant;
    return type;
}
