/* tile_time.h - the predicted time of a register tile, fitted to tuning logs (tile_times.def), and
 * the fastest tile by that. */
#ifndef CODEGEN_C_MICROKERNEL_TILE_TIME_H
#define CODEGEN_C_MICROKERNEL_TILE_TIME_H

#include "codegen_c/microkernel/tile_shape.h"

/* A matrix product by register tiles. */
struct tile_product {
    int64_t rows, columns, len; /* len: length of a sum; 0 = unknown */
};

/* Tiles of a product; halves: those at the end of the columns that need half of their vectors
 * only. */
struct tile_counts {
    double whole, halves;
};

struct tile_counts tile_counts_of(const struct tile_shape *shape, const struct tile_product *p);

/* Predicted picoseconds, excluding the cost common to all tiles; negative if unknown. */
double tile_time(const struct machine *machine, const struct tile_shape *shape,
                 const struct tile_product *p);

/* The fastest tile for panels of this width, if it is noticeably faster than `usual`; otherwise, or
 * if the time of `usual` is unknown, `usual`. */
struct tile_shape tile_fastest(const struct machine *machine, struct tile_shape usual,
                               int64_t panel, const struct tile_product *p);

#endif
