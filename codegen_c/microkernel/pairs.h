/* pairs.h - two products by one multiplication, on processors whose additions have units of their
 * own: what the kernels that sum so have in common (templates/helpers/{pairs,tile_pairs}.c.tmpl).
 *
 * A sum of n products takes n / 3 multiplications of pairs and n / 3 others: 2/3 of the time, as
 * far as the multipliers are what it waits for. Errors: with u = 2^-24, the norms of a row's
 * inputs |x| and of a channel's weights |w|, and t = |x| / |w|, a sum of pairs is rounded by at
 * most about n u (|x| + |w|)^2 = n u |x| |w| (t + 2 + 1 / t), where products themselves give n u
 * |x| |w|. So weights are stored times powers of two, and inputs are taken times one where the mean
 * of their squares is not from 1 / PAIRS_LEAST to PAIRS_MOST, or PAIRS_MOST_TO_COPY. That mean is
 * one of all rows that sum_pairs takes at once (of a strip or a tile), so |x| stands for theirs: a
 * row that is much smaller than its neighbours is as exact as they are, not as it would be alone.
 */
#ifndef CODEGEN_C_MICROKERNEL_PAIRS_H
#define CODEGEN_C_MICROKERNEL_PAIRS_H

#include "codegen_c/core/kernel.h"

enum {
    PAIRS_LANES = 16, /* what ADD_PAIR is written for: the machine's */

    /* The mean square of weights is 1/8 to 1/2, that of inputs from 1 / PAIRS_LEAST to `most`: so t
     * is from 1/11 to 11 where that is PAIRS_MOST, and t + 2 + 1 / t at most 14; 4 where both are
     * alike. With PAIRS_MOST_TO_COPY, where inputs have to be copied to be multiplied, t is up to
     * 23, t + 2 + 1 / t at most 25. Behind batch normalisation inputs have 1/130 to 2
     * (mobilenetv2), without it up to 2^13 (squeezenet11). */
    PAIRS_LEAST = 256,
    PAIRS_MOST = 16,
    PAIRS_MOST_TO_COPY = 64
};

/* How many of the first of len inputs are taken in pairs. */
int64_t pairs_paired(int64_t len);

/* What it takes to multiply a row of len inputs by the weights of so many vectors of channels in
 * pairs, and before that to make the sums of the row's products of neighbours, and of its squares:
 * in the time of a multiply-add of vectors, of which the products themselves are vectors * len. */
double pairs_time(const struct machine *machine, int64_t vectors, int64_t len);
double pairs_sum_time(const struct machine *machine, int64_t len);

/* Whether tiles have one pointer for all of their pixels in any case, for which these lie a known
 * step apart: with one for each gcc takes two registers a pixel and has none left, where loads,
 * which also bring registers back, are what a tile waits for (Zen 5, 64 to 64 channels at 25x5: 270
 * GFLOP/s in place of 380, peak 273). */
bool pairs_want_one_pointer(const struct machine *machine);

/* The power of two by which a channel's weights, len of them, `step` apart, are divided, so that
 * the mean square of those that are taken in pairs is from 1/8 to 1/2 of `usual`. */
float pairs_scale(const float *weights, int64_t step, int64_t len, double usual);

/* w0 w1 - w2 w3 + w4 w5 ... of those that are taken in pairs. */
float pairs_sum(const float *weights, int64_t step, int64_t len);

/* Sets sum_pairs, the function that does the same for inputs, and its argument `most`. */
void bind_sums_of_pairs(struct bind *bind, int most);

#endif
