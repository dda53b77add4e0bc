/* number_format.h - what numbers may be stored as: element types and families of them, by name.
 *
 *   f16 bf16                 halves
 *   i8 i4                    symmetric integers: -127 .. 127, -7 .. 7
 *   f8e4m3 f8e3m4 ...        every row of base/minifloat.def
 *   afp<e,m,k>               adaptive floating point (ICCV 2021); afp<e,m>: k from the numbers;
 *                            afp8 ... afp3: of that many bits; e and m too are chosen for each
 *                            tensor. Where nobody chooses, they are those of the authors' code:
 *                            m = 0 for 3 bits, 1 for 4, 2 above; e is the rest
 *   mxfp8 mxfp6 mxfp4        OCP MX: blocks of 32 share a power of two; elements f8e4m3, f6e2m3,
 *                            f4e2m1; mxfp8=f8e5m2 and mxfp6=f6e3m2 are the other ones
 *
 * What a code stands for is multiplied by a scale: number = scale * code. */
#ifndef QUANTIZE_NUMBER_FORMAT_H
#define QUANTIZE_NUMBER_FORMAT_H

#include "base/minifloat.h"
#include "relay_ir/type.h"

struct number_format {
    char name[24];          /* as above */
    enum dtype dtype;       /* of a code */
    struct minifloat codec; /* MINIFLOAT dtypes; of AFP without k: bias not chosen yet */
    bool chooses_bias;      /* afp<e,m>: k is to be chosen, see number_format_fit */
    bool chooses_split;     /* afp8: so are e and m, see quantize/format_search.h */
    int64_t block;          /* MX: 32; else 0 */
};

/* False when the text is no format. */
bool number_format_parse(const char *text, struct number_format *out);

/* "f16, bf16, i8 ..." for messages. */
const char *number_format_list(struct arena *arena);

bool number_format_is_fp8(const struct number_format *format); /* 8 bits, a minifloat, no block */

/* The greatest magnitude of a code: 448 of f8e4m3, 127 of i8, 65504 of f16. */
double number_format_max(const struct number_format *format);

/* Bits of one code, scales not counted. */
int number_format_bits(const struct number_format *format);

/* afp<e,m>: the format whose greatest number is the least that is not below `greatest` (> 0,
 * finite), so that the scale is 1; all others: the format itself. */
struct number_format number_format_fit(const struct number_format *format, double greatest);

/* The number that x / scale is stored as, times scale: rounded to nearest, ties to even,
 * saturating. The quotient is one of doubles for constants, as here; at run time it is one of f32.
 */
double number_format_round(const struct number_format *format, double x, double scale);

/* codes[i] = x[i] / scale, of the format's dtype (2 bytes for f16 and bf16, else 1). */
void number_format_encode(const struct number_format *format, const float *x, size_t n, float scale,
                          void *codes);

/* The type of a tensor of codes: `shape` with the format's dtype, and the codec for AFP (the qtype
 * is of the arena). */
struct type number_format_type(const struct number_format *format, const struct type *shape,
                               struct arena *arena);

#endif
