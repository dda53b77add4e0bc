/* pairs.h - Winograd inner products: two products by one multiplication, for CPUs whose FPU has
 * separate pipes for additions (struct machine, adders). What kernels that sum so share;
 * templates/helpers/pairs.c.tmpl, templates/helpers/microkernel/tile_pairs{,_steps}.c.
 *
 * Of the n products of a sum, the first pairs_paired(n), two thirds, are taken in pairs. So a
 * sum takes n / 3 multiplications of pairs and n / 3 of single products: 2/3 of the time if
 * multipliers are the bottleneck.
 *
 * Error: let u = 2^-24, |x| the norm of a row's inputs, |w| that of a channel's weights and t =
 * |x| / |w|. A sum of pairs is rounded by at most about n u (|x| + |w|)^2 = n u |x| |w| (t + 2 +
 * 1 / t); plain products give n u |x| |w|. To bound t, weights are stored scaled by powers of
 * two, and inputs are scaled if their mean square is not within 1 / PAIRS_LEAST ... PAIRS_MOST
 * (or PAIRS_MOST_TO_COPY). That mean is taken over all rows that sum_pairs sees at once, a strip
 * or a tile: a row much smaller than its neighbours is as exact as they are, not as it would be
 * alone. */
#ifndef CODEGEN_C_MICROKERNEL_PAIRS_H
#define CODEGEN_C_MICROKERNEL_PAIRS_H

#include "codegen_c/core/kernel.h"

enum {
    PAIRS_LANES = 16, /* lanes of the CPU that ADD_PAIR is written for */

    /* Bounds of the mean square of inputs: 1 / PAIRS_LEAST ... PAIRS_MOST. That of weights is 1/8
     * to 1/2, so t is 1/11 to 11 and t + 2 + 1 / t at most 14 (4 if both are equal). Where inputs
     * would have to be copied to be scaled, the upper bound is PAIRS_MOST_TO_COPY: t is at most 23,
     * t + 2 + 1 / t at most 25. Typical networks: docs/lab/kernels.md. */
    PAIRS_LEAST = 256,
    PAIRS_MOST = 16,
    PAIRS_MOST_TO_COPY = 64
};

/* How many of len inputs, from the first on, are taken in pairs. */
int64_t pairs_paired(int64_t len);

/* Predicted time, in multiply-adds of one vector. pairs_time: a row of len inputs times `vectors`
 * vectors of channels (plain products take vectors * len). pairs_sum_time: the row's correction sum
 * and sum of squares. */
double pairs_time(const struct machine *machine, int64_t vectors, int64_t len);
double pairs_sum_time(const struct machine *machine, int64_t len);

/* Whether tiles address all their pixels by one pointer and a fixed step, not by a pointer per
 * pixel. With a pointer per pixel gcc needs two registers each and spills, and where loads are the
 * bottleneck (Zen 5) reloads cost as much as the work. */
bool pairs_want_one_pointer(const struct machine *machine);

/* The power of two that divides a channel's weights (len of them, `step` elements apart) so that
 * the mean square of those taken in pairs becomes 1/8 to 1/2 of `usual`. */
float pairs_scale(const float *weights, int64_t step, int64_t len, double usual);

/* A channel's correction sum, w0 w1 - w2 w3 + w4 w5 ..., of the weights taken in pairs. */
float pairs_sum(const float *weights, int64_t step, int64_t len);

/* Sets `sum_pairs`, the function of the inputs' correction sums, and `most`, its upper bound. */
void bind_sums_of_pairs(struct bind *bind, int most);

#endif
