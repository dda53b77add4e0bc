/* rounding.h - which of a format's numbers stands for a weight: not always the nearest, as what one
 * weight loses others of its row can make up for. What counts is the error of the results on
 * samples, (w - q) H (w - q) for the sums H of what the row reads (quantize/gram.h).
 *
 *   gptq      weight after weight, the one with the most energy first; what rounding it costs is
 *             made up for, as far as that goes, by all that are still to come, which are then
 *             rounded from where they have moved (Frantar et al. 2022, 2210.17323). Done here as
 *             Babai's nearest plane over the Cholesky factor of H, which is the same, and needs no
 *             inverse
 *   adaround  each weight goes to the number above or below it (Nagel et al. 2020, 2004.10568).
 *             Which is a quadratic problem of zeros and ones; it is solved by descent: from the
 *             nearest numbers on, the flip that gains most, until none gains
 *
 * A row that does not gain keeps its nearest numbers. Deterministic. */
#ifndef QUANTIZE_ROUNDING_H
#define QUANTIZE_ROUNDING_H

#include <stdbool.h>
#include <stdint.h>

#include "relay_ir/type.h"

enum rounding { ROUND_NEAREST, ROUND_ADAROUND, ROUND_GPTQ };

/* All numbers of a format of at most 8 bits, in order. */
struct grid {
    int n;
    double at[256];
    uint8_t code[256]; /* as stored */
};

/* codes: a type of codes. Of integers only those that are symmetric: -127 .. 127, -7 .. 7. */
struct grid grid_of(const struct type *codes);

/* The index of the nearest number. */
int grid_nearest(const struct grid *grid, double x);

struct rows {
    enum rounding method; /* not NEAREST */
    int64_t n, k;
    const float *w;      /* [n, k] */
    const float *scales; /* [n, k]: number = scale * grid */
    const float *h;      /* [k, k] */
    uint8_t *index;      /* [n, k], in the grid: of the nearest; of those that were chosen */
    int n_threads;
    /* what came of it */
    double before, after; /* sums of the errors of all rows */
    int64_t n_changed;    /* rows */
};

/* False when H is no such matrix (no data): nothing was changed. */
bool rows_round(struct ctx *ctx, const struct grid *grid, struct rows *rows);

#endif
