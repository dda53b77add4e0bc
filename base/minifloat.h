/* minifloat.h - codec of all narrow floats of up to 8 exponent and 7 mantissa bits, with and without
 * a sign: the rows of minifloat.def, and afp<e,m,k>, made at run time.
 *
 * Decoding is exact: every number of every format is an f32. Encoding rounds once, to nearest, ties
 * to the even code, with subnormals; a carry goes into the next binade. Array functions need the
 * CPU's default rounding mode. */
#ifndef BASE_MINIFLOAT_H
#define BASE_MINIFLOAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Codes that are not numbers. */
enum minifloat_specials {
    MINIFLOAT_NONE, /* none */
    MINIFLOAT_IEEE, /* exponent all ones: infinity (mantissa 0) and NaN */
    MINIFLOAT_FN,   /* exponent and mantissa all ones: NaN; no infinity */
    MINIFLOAT_FNUZ  /* what would be -0 is the only NaN; no infinity, no -0 */
};

enum minifloat_sign { MINIFLOAT_SIGNED, MINIFLOAT_UNSIGNED };

struct minifloat {
    char name[24];
    int exponent_bits, mantissa_bits;
    int bias;
    enum minifloat_specials specials;
    enum minifloat_sign sign;
};

enum minifloat_row {
#define MINIFLOAT(symbol, name, exponent_bits, mantissa_bits, bias, specials, sign)                \
    MINIFLOAT_##symbol,
#include "base/minifloat.def"
#undef MINIFLOAT
    MINIFLOAT_COUNT
};

extern const struct minifloat minifloats[MINIFLOAT_COUNT];

/* Adaptive floating point: 1 + e + m bits with bias k and no specials, 1 <= e <= 8, 0 <= m <= 7.
 * False when e or m is out of range, or k such that some number of the format is no f32. */
bool minifloat_afp(int exponent_bits, int mantissa_bits, int bias, struct minifloat *out);

/* A row's name, or "afp<e,m,k>" as minifloat_afp spells it. False if it is neither. */
bool minifloat_from_name(const char *name, struct minifloat *out);

int minifloat_bits(const struct minifloat *format); /* bits per code, with a sign if there is one */
unsigned minifloat_sign(
    const struct minifloat *format); /* sign bit; UNSIGNED: the bit above the code */
float minifloat_max(const struct minifloat *format);    /* greatest finite value */
unsigned minifloat_nan(const struct minifloat *format); /* code of +NaN */

/* Bits of a code above the format's are ignored. */
float minifloat_decode(const struct minifloat *format, unsigned code);

/* What is out of range (infinity too) becomes
 *   saturate       the greatest finite number of its sign
 *   not saturate   infinity, or NaN where there is no infinity, or as above where there is neither
 * "Out of range" is what rounds to a magnitude above the greatest number. NaN becomes the NaN with
 * all exponent and mantissa bits set and its sign, or FNUZ's only NaN; a format without NaN gives
 * the greatest number, with NaN's sign (ONNX has it so for f4e2m1). -0 and what rounds to it is +0
 * in FNUZ. Without a sign, all that has one becomes 0: negative numbers, -infinity, -NaN. */
unsigned minifloat_encode(const struct minifloat *format, double value, bool saturate);

/* Arrays of codes of up to 8 bits, one per byte; results as of the functions above, element for
 * element. The codes and the numbers must not overlap. */
void minifloat_encode_array(const struct minifloat *format, const float *values, uint8_t *codes,
                            size_t n, bool saturate);
void minifloat_decode_array(const struct minifloat *format, const uint8_t *codes, float *values,
                            size_t n);

/* Value of each code of up to 8 bits; narrower formats repeat. */
void minifloat_table(const struct minifloat *format, float table[256]);

#endif
