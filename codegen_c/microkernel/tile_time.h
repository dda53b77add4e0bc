/* tile_time.h - how long a register tile takes, as fitted to tuning logs (tile_times.def), and the
 * tile that is fastest by that. */
#ifndef CODEGEN_C_MICROKERNEL_TILE_TIME_H
#define CODEGEN_C_MICROKERNEL_TILE_TIME_H

#include "codegen_c/microkernel/tile_shape.h"

/* A product of matrices whose inner loops are tiles. */
struct tile_product {
    int64_t rows, columns, len; /* len: of a sum; 0: not known */
};

/* Tiles that it takes; halves: those at the end of the columns that need half of their vectors. */
struct tile_counts {
    double whole, halves;
};

struct tile_counts tile_counts_of(const struct tile_shape *shape, const struct tile_product *p);

/* Picoseconds, but for what all tiles take; negative: the table does not say. */
double tile_time(const struct machine *machine, const struct tile_shape *shape,
                 const struct tile_product *p);

/* The tile of such panels that takes the least time, if that is noticeably less than what `usual`
 * takes; else, and where the table knows nothing of `usual`, that one. */
struct tile_shape tile_fastest(const struct machine *machine, struct tile_shape usual,
                               int64_t panel, const struct tile_product *p);

#endif
