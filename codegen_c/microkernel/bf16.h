/* bf16.h - products of 8-bit floats (FP8, AFP) on CPUs with a bf16 dot product of two elements
 * (struct machine, bf16).
 *
 * The values are exact in bf16 and their products exact in f32. Only sums are rounded, after each
 * product, so the bits are those of f32 sums. */
#ifndef CODEGEN_C_MICROKERNEL_BF16_H
#define CODEGEN_C_MICROKERNEL_BF16_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/microkernel/epilogue_store.h"

enum { BF16_LANES = 16 /* lanes of the CPU that add_bf16 is written for */ };

/* Whether both operands are 8-bit floats whose values are all exact in bf16 and whose products are
 * never subnormal. */
bool takes_bf16(const struct region *region, const char **why);

/* The function that converts 8-bit floats to pairs of bf16, one pair per 32-bit word:
 * f8e4m3_bf16(codes, n, words). */
const char *bf16_unpack(struct bind *bind, const struct type *type);

/* The microkernel of `pixels` pixels by `vectors` vectors of channels; returns its name. With an
 * `end` it stores results to y, otherwise sums to an array. `some`: the last channels may be
 * missing. */
const char *bf16_tile(struct bind *bind, int vectors, int pixels, const struct epilogue_store *end,
                      bool some);

/* A row of a depthwise convolution, on x converted to words. */
struct bf16_row {
    int64_t k_h, k_w, stride;
    int pixel;    /* words of a pixel of x: BF16_LANES, or half as many where `together` is 2 */
    int together; /* pixels per vector, 1 or 2; rows may be read and computed beyond their last
                     pixel */
    bool some;    /* the last channels may be missing */
};

/* The function of such a row; with an `end` it stores results to y, otherwise sums to an array.
 * bf16_row_words: words of weights per channel. They lie row by row, two weights a word; an odd row
 * is padded with 0. */
const char *bf16_row(struct bind *bind, const struct bf16_row *row,
                     const struct epilogue_store *end);
int64_t bf16_row_words(const struct bf16_row *row);

/* The function that converts 8-bit floats to words for bf16_row, one value per word: of pixels, or,
 * if `flat`, of n values side by side. */
const char *bf16_unpack_row(struct bind *bind, const struct type *type, bool flat);

#endif
