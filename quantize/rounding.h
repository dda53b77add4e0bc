/* rounding.h - rounding of weights other than to nearest: errors of one weight may be compensated
 * by others of its row. Minimises the error of the results on samples, (w - q) H (w - q), with H
 * from quantize/gram.h.
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

/* All values of a format of at most 8 bits, ascending. */
struct grid {
    int n;
    double at[256];
    uint8_t code[256]; /* bit pattern */
};

/* Grid of a quantised type; integers only symmetric: -127 .. 127, -7 .. 7. */
struct grid grid_of(const struct type *quantized);

/* Index of the nearest value. */
int grid_nearest(const struct grid *grid, double x);

struct rows {
    enum rounding method; /* not NEAREST */
    int64_t n, k;
    const float *w;      /* [n, k] */
    const float *scales; /* [n, k]: real = scale * grid */
    const float *h;      /* [k, k] */
    uint8_t *index;      /* [n, k] grid index: in: nearest; out: chosen */
    int n_threads;
    /* results */
    double before, after; /* error summed over rows */
    int64_t n_changed;    /* changed rows */
};

/* False, without changes, if H is not positive definite (no data). */
bool rows_round(struct ctx *ctx, const struct grid *grid, struct rows *rows);

#endif
