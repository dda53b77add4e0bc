/* number_format.h - formats of quantised values: element types and families, by name.
 *
 *   f16 bf16                 half precision
 *   i8 i4                    symmetric integers: -127 .. 127, -7 .. 7
 *   f8e4m3 f8e3m4 ...        every row of base/minifloat.def
 *   afp<e,m,k>               adaptive floating point (ICCV 2021); afp<e,m>: k from the numbers;
 *                            afp8 ... afp3: of that many bits; e and m too are chosen for each
 *                            tensor. Where nobody chooses, they are those of the authors' code:
 *                            m = 0 for 3 bits, 1 for 4, 2 above; e is the rest
 *   auto                     of FP8: chosen for each tensor, quantize/choose_format.c
 *   mxfp8 mxfp6 mxfp4        OCP MX: blocks of 32 share a power of two; elements f8e4m3, f6e2m3,
 *                            f4e2m1; mxfp8=f8e5m2 and mxfp6=f6e3m2 are the other ones
 *
 * A stored code is scaled: real = scale * code. */
#ifndef QUANTIZE_NUMBER_FORMAT_H
#define QUANTIZE_NUMBER_FORMAT_H

#include "base/minifloat.h"
#include "relay_ir/type.h"

struct number_format {
    char name[24];          /* as above */
    enum dtype dtype;       /* of stored values */
    struct minifloat codec; /* MINIFLOAT dtypes; AFP without k: bias not chosen yet */
    bool chooses_bias;      /* afp<e,m>: k is chosen by number_format_fit */
    bool chooses_split;     /* afp8: e and m are chosen by quantize/search.h */
    bool chooses_format;    /* auto: what is not chosen is f8e4m3 */
    int64_t block;          /* MX: 32; else 0 */
};

/* False if the text is not a format. */
bool number_format_parse(const char *text, struct number_format *out);

/* "f16, bf16, i8 ..." for messages. */
const char *number_format_list(struct arena *arena);

bool number_format_is_fp8(const struct number_format *format); /* 8-bit minifloat without blocks */

/* Without a sign: for data that is never negative. */
bool number_format_is_unsigned(const struct number_format *format);

/* An unsigned format with the least bit of its mantissa as a sign: u8e2m6 is f8e2m5. Others:
 * unchanged. */
struct number_format number_format_signed(const struct number_format *format);

/* Greatest magnitude: 448 of f8e4m3, 127 of i8, 65504 of f16. */
double number_format_max(const struct number_format *format);

/* Bits per element without scales. */
int number_format_bits(const struct number_format *format);

/* afp<e,m>: the format with the smallest maximum >= `greatest` (> 0, finite), so that the scale is
 * 1; others: unchanged. */
struct number_format number_format_fit(const struct number_format *format, double greatest);

/* x quantised with `scale` and converted back: to nearest, ties to even, saturating. The quotient
 * is computed in double, as for constants; at run time it is f32. */
double number_format_round(const struct number_format *format, double x, double scale);

/* quantized[i] = x[i] / scale in the format's dtype (2 bytes for f16 and bf16, else 1). */
void number_format_encode(const struct number_format *format, const float *x, size_t n, float scale,
                          void *quantized);

/* Type of a quantised tensor: `shape` with the format's dtype, and the codec for AFP (qtype in the
 * arena). */
struct type number_format_type(const struct number_format *format, const struct type *shape,
                               struct arena *arena);

#endif
