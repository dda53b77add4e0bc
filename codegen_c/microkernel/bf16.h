/* bf16.h - products of floats of a byte as products of bf16, two at a time, on machines that have
 * an instruction for it (machine.h).
 *
 * The numbers of such formats are bf16, and products of two of them are f32: nothing is rounded but
 * sums, after each product. So the bits are those of sums in f32. */
#ifndef CODEGEN_C_MICROKERNEL_BF16_H
#define CODEGEN_C_MICROKERNEL_BF16_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/microkernel/tile_end.h"

enum { BF16_LANES = 16 /* what ADD_BF16 is written for: the machine's */ };

/* Whether all numbers of both operands, floats of a byte, are bf16, and no product is subnormal. */
bool takes_bf16(const struct region *region, const char **why);

/* The function that makes words of two bf16 of codes: f8e4m3_bf16(codes, n, words). */
const char *bf16_unpack(struct bind *bind, const struct type *type);

/* The tile of so many vectors of channels by pixels, stored to y if there is an end, else to an
 * array; `some`: not all channels need be there. Returns the function's name. */
const char *bf16_tile(struct bind *bind, int vectors, int pixels, const struct tile_end *end,
                      bool some);

/* A row of a depthwise convolution: of pixels of as many words. */
struct bf16_row {
    int64_t k_h, k_w, stride;
    int pixel;    /* words of a pixel of x: BF16_LANES; half as many where two go together */
    int together; /* pixels; of the last ones more are read, and stored to an array, than there are
                   */
    bool some;    /* not all channels need be there */
};

/* The function of such a row, stored to y if there is an end, else to an array; and how many words
 * of weights each channel has, row by row, two weights in each, the last of a row that has an odd
 * number with 0. */
const char *bf16_row(struct bind *bind, const struct bf16_row *row, const struct tile_end *end);
int64_t bf16_row_words(const struct bf16_row *row);

/* The function that makes words of codes for it, one in each: of pixels, or `flat`, of n codes. */
const char *bf16_unpack_row(struct bind *bind, const struct type *type, bool flat);

#endif
