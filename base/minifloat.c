/* minifloat.c - see minifloat.h. A "magnitude" is a code without its sign bit. Magnitudes count up
 * as the numbers do, one per representable number, so that rounding and its carry are plain integer
 * arithmetic: number = units of the binade, magnitude = units + units of all binades below. */
#include "base/minifloat.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct minifloat minifloats[MINIFLOAT_COUNT] = {
#define MINIFLOAT(symbol, name, exponent_bits, mantissa_bits, bias, specials, sign)                \
    [MINIFLOAT_##symbol] = { name, exponent_bits,        mantissa_bits,                            \
                             bias, MINIFLOAT_##specials, MINIFLOAT_##sign },
#include "base/minifloat.def"
#undef MINIFLOAT
};

bool minifloat_afp(int exponent_bits, int mantissa_bits, int bias, struct minifloat *out)
{
    const int least = -149, greatest = 127; /* exponents of f32, subnormals included */

    if (exponent_bits < 1 || exponent_bits > 8 || mantissa_bits < 0 || mantissa_bits > 7)
        return false;
    /* The exponents of the greatest binade and of the unit of subnormals; no overflow on the way.
     */
    if (bias < (1 << exponent_bits) - 1 - greatest || bias > 1 - mantissa_bits - least)
        return false;
    *out = (struct minifloat){ .exponent_bits = exponent_bits,
                               .mantissa_bits = mantissa_bits,
                               .bias = bias,
                               .specials = MINIFLOAT_NONE };
    snprintf(out->name, sizeof out->name, "afp<%d,%d,%d>", exponent_bits, mantissa_bits, bias);
    return true;
}

bool minifloat_from_name(const char *name, struct minifloat *out)
{
    int e, m, k;

    for (int i = 0; i < MINIFLOAT_COUNT; i++)
        if (strcmp(minifloats[i].name, name) == 0) {
            *out = minifloats[i];
            return true;
        }
    /* %4d: no text overflows an int. What sscanf lets pass beyond the spelling, strcmp does not. */
    return sscanf(name, "afp<%4d,%4d,%4d>", &e, &m, &k) == 3 && minifloat_afp(e, m, k, out) &&
           strcmp(out->name, name) == 0;
}

int minifloat_bits(const struct minifloat *format)
{
    return (format->sign == MINIFLOAT_SIGNED) + format->exponent_bits + format->mantissa_bits;
}

/* --- magnitudes ------------------------------------------------------------------------------- */
unsigned minifloat_sign(const struct minifloat *format)
{
    return 1u << (format->exponent_bits + format->mantissa_bits);
}

/* Of the greatest finite number. */
static unsigned greatest_magnitude(const struct minifloat *format)
{
    const unsigned all_ones = minifloat_sign(format) - 1;

    switch (format->specials) {
    case MINIFLOAT_IEEE: return all_ones - (1u << format->mantissa_bits);
    case MINIFLOAT_FN: return all_ones - 1;
    default: return all_ones;
    }
}

unsigned minifloat_nan(const struct minifloat *format)
{
    switch (format->specials) {
    case MINIFLOAT_NONE: return greatest_magnitude(format);
    case MINIFLOAT_FNUZ: return minifloat_sign(format);
    default: return minifloat_sign(format) - 1;
    }
}

static unsigned overflow_magnitude(const struct minifloat *format, bool saturate)
{
    if (saturate || format->specials == MINIFLOAT_NONE)
        return greatest_magnitude(format);
    if (format->specials == MINIFLOAT_IEEE)
        return greatest_magnitude(format) + 1; /* infinity */
    return minifloat_nan(format);
}

/* FNUZ's NaN is the sign bit itself, so that a sign may be added to it; but its zero has none. */
static unsigned with_sign(const struct minifloat *format, unsigned magnitude, bool negative)
{
    if (negative && format->sign == MINIFLOAT_UNSIGNED)
        return 0;
    if (!negative || (magnitude == 0 && format->specials == MINIFLOAT_FNUZ))
        return magnitude;
    return magnitude | minifloat_sign(format);
}

/* --- one number ------------------------------------------------------------------------------- */
static bool is_nan(const struct minifloat *format, unsigned code)
{
    const unsigned magnitude = code & (minifloat_sign(format) - 1);

    switch (format->specials) {
    case MINIFLOAT_NONE: return false;
    case MINIFLOAT_FNUZ: return code == minifloat_sign(format);
    case MINIFLOAT_FN: return magnitude > greatest_magnitude(format);
    default: return magnitude > greatest_magnitude(format) + 1;
    }
}

float minifloat_decode(const struct minifloat *format, unsigned code)
{
    const unsigned magnitude = code & (minifloat_sign(format) - 1);
    const int one = 1 << format->mantissa_bits; /* 1.0 in units of the mantissa */
    const int exponent = (int)(magnitude >> format->mantissa_bits);
    const int mantissa = (int)magnitude & (one - 1);
    double number;

    code &= (1u << minifloat_bits(format)) - 1;
    if (is_nan(format, code))
        number = (double)NAN;
    else if (magnitude > greatest_magnitude(format))
        number = (double)INFINITY;
    else
        number = ldexp(exponent ? one + mantissa : mantissa,
                       (exponent ? exponent : 1) - format->bias - format->mantissa_bits);
    return (float)(code & minifloat_sign(format) ? -number : number);
}

float minifloat_max(const struct minifloat *format)
{
    return minifloat_decode(format, greatest_magnitude(format));
}

/* base + value / 2^shift, to nearest, ties to the even sum. (Without mantissa bits it is the base
 * that makes a code odd or even.) */
static uint64_t add_shifted(uint64_t base, uint64_t value, int shift)
{
    uint64_t half, low;

    if (shift > 54) /* a significand is less than 2^53 */
        return base;
    half = (uint64_t)1 << (shift - 1);
    low = value & (2 * half - 1);
    base += value >> shift;
    return base + (low > half || (low == half && base & 1));
}

/* The magnitude of a positive finite double, or one that is too great: up to about 2^18. */
static unsigned round_to_magnitude(const struct minifloat *format, uint64_t bits)
{
    const int least = 1 - format->bias; /* the exponent of subnormals and of the first binade */
    const int exponent = (int)(bits >> 52) - 1023;
    const int binade = exponent > least ? exponent : least;
    const uint64_t significand = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;

    if (exponent == -1023) /* f64 subnormals are far below half of any format's least number */
        return 0;
    return (unsigned)add_shifted((uint64_t)(binade - least) << format->mantissa_bits, significand,
                                 52 - format->mantissa_bits + binade - exponent);
}

unsigned minifloat_encode(const struct minifloat *format, double value, bool saturate)
{
    const uint64_t infinity = (uint64_t)2047 << 52, sign = (uint64_t)1 << 63;
    uint64_t bits;
    unsigned magnitude;

    memcpy(&bits, &value, sizeof bits);
    if ((bits & ~sign) > infinity)
        magnitude = minifloat_nan(format);
    else
        magnitude = round_to_magnitude(format, bits & ~sign); /* infinity: as 2^1024 */
    if (!isnan(value) && magnitude > greatest_magnitude(format))
        magnitude = overflow_magnitude(format, saturate);
    return with_sign(format, magnitude, bits & sign);
}

/* --- arrays ----------------------------------------------------------------------------------- */
/* What the loop over an array needs, calculated once. */
struct encoder {
    uint32_t cut;          /* bits of an f32 mantissa that go */
    uint32_t rebase;       /* f32 bits >> cut, less this, is the magnitude of a normal number */
    uint32_t least_normal; /* f32 bits */
    float rounder;         /* a float added to it is rounded to units of the subnormals */
    uint32_t rounder_bits;
    uint32_t greatest, overflow, nan, sign_bit;
    uint32_t zero_sign; /* sign_bit if there is a -0, else 0 */
    uint32_t kept;      /* what of a code stays if the number is negative */
};

static uint32_t bits_of(float number)
{
    uint32_t bits;

    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* False for formats with numbers near the ends of f32's range, where the loop's arithmetic would
 * leave it (some afp). */
static bool encoder_make(const struct minifloat *format, bool saturate, struct encoder *out)
{
    const int least = 1 - format->bias, unit = least - format->mantissa_bits;
    const bool has_sign = format->sign == MINIFLOAT_SIGNED;

    if (least < -126 || unit < -126 || least > 126 || unit + 23 > 126)
        return false;
    *out = (struct encoder){
        .cut = (uint32_t)(23 - format->mantissa_bits),
        .rebase = (uint32_t)(127 - format->bias) << format->mantissa_bits,
        .least_normal = (uint32_t)(least + 127) << 23,
        .rounder = (float)ldexp(1, unit + 23),
        .rounder_bits = (uint32_t)(unit + 23 + 127) << 23,
        .greatest = greatest_magnitude(format),
        .overflow = overflow_magnitude(format, saturate),
        .nan = minifloat_nan(format),
        .sign_bit = has_sign ? minifloat_sign(format) : 0,
        .zero_sign = has_sign && format->specials != MINIFLOAT_FNUZ ? minifloat_sign(format) : 0,
        .kept = has_sign ? 0xFF : 0,
    };
    return true;
}

static inline uint32_t select(bool condition, uint32_t yes, uint32_t no)
{
    const uint32_t mask = 0u - (uint32_t)condition;

    return (yes & mask) | (no & ~mask);
}

static inline uint8_t encode_f32(const struct encoder *e, float value)
{
    const uint32_t bits = bits_of(value), number = bits & 0x7FFFFFFF;
    const uint32_t odd = ((number >> e->cut) - e->rebase) & 1;
    const uint32_t normal = ((number + (1u << (e->cut - 1)) - 1 + odd) >> e->cut) - e->rebase;
    const uint32_t sign = (0u - (bits >> 31)) & e->sign_bit;
    uint32_t magnitude;
    float positive;

    memcpy(&positive, &number, sizeof positive);
    magnitude =
        select(number < e->least_normal, bits_of(positive + e->rounder) - e->rounder_bits, normal);
    magnitude = select(magnitude > e->greatest, e->overflow, magnitude);
    magnitude = select(number > 0x7F800000, e->nan, magnitude);
    magnitude &= select(bits >> 31, e->kept, 0xFF);
    return (uint8_t)(magnitude | select(magnitude == 0, sign & e->zero_sign, sign));
}

enum { BLOCK = 64 }; /* a constant count is what compilers vectorise at -O2 as well */

typedef void encode_blocks(const struct encoder *encoder, const float *restrict values,
                           uint8_t *restrict codes, size_t n_blocks);

static inline void encode_some(const struct encoder *encoder, const float *restrict values,
                               uint8_t *restrict codes, size_t n_blocks)
{
    const struct encoder e = *encoder;

    for (; n_blocks > 0; n_blocks--, values += BLOCK, codes += BLOCK)
        for (size_t k = 0; k < BLOCK; k++)
            codes[k] = encode_f32(&e, values[k]);
}

static void encode_anywhere(const struct encoder *encoder, const float *restrict values,
                            uint8_t *restrict codes, size_t n_blocks)
{
    encode_some(encoder, values, codes, n_blocks);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void encode_avx2(const struct encoder *encoder,
                                                        const float *restrict values,
                                                        uint8_t *restrict codes, size_t n_blocks)
{
    encode_some(encoder, values, codes, n_blocks);
}

static encode_blocks *best_encoder(void)
{
    return __builtin_cpu_supports("avx2") ? encode_avx2 : encode_anywhere;
}
#else
static encode_blocks *best_encoder(void)
{
    return encode_anywhere;
}
#endif

void minifloat_encode_array(const struct minifloat *format, const float *restrict values,
                            uint8_t *restrict codes, size_t n, bool saturate)
{
    struct encoder encoder;
    size_t i = 0;

    assert(minifloat_bits(format) <= 8);
    if (!encoder_make(format, saturate, &encoder)) {
        for (; i < n; i++)
            codes[i] = (uint8_t)minifloat_encode(format, (double)values[i], saturate);
        return;
    }
    if (n >= BLOCK) {
        best_encoder()(&encoder, values, codes, n / BLOCK);
        i = n / BLOCK * BLOCK;
    }
    for (; i < n; i++)
        codes[i] = encode_f32(&encoder, values[i]);
}

void minifloat_table(const struct minifloat *format, float table[256])
{
    assert(minifloat_bits(format) <= 8);
    for (unsigned code = 0; code < 256; code++)
        table[code] = minifloat_decode(format, code);
}

void minifloat_decode_array(const struct minifloat *format, const uint8_t *restrict codes,
                            float *restrict values, size_t n)
{
    float table[256];

    if (n < 256) { /* the table would cost more than it saves */
        for (size_t i = 0; i < n; i++)
            values[i] = minifloat_decode(format, codes[i]);
        return;
    }
    minifloat_table(format, table);
    for (size_t i = 0; i < n; i++)
        values[i] = table[codes[i]];
}
