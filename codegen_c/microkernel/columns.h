/* columns.h - tiles of f32 sums whose vectors lie across channels: each has neighbouring pixels of
 * one channel, and weights are numbers that its lanes share. For few output channels, which do not
 * fill a vector themselves. */
#ifndef CODEGEN_C_MICROKERNEL_COLUMNS_H
#define CODEGEN_C_MICROKERNEL_COLUMNS_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/microkernel/tile_end.h"

struct columns {
    int channels, vectors; /* of a tile */
    bool planar;           /* y, or an array of sums, has pixels side by side; else channels */
    bool splat;  /* weights are read as vectors of LANES copies: no instruction makes them */
    bool joined; /* not planar: channels of a pixel are stored right behind those of the one before
                  */
};

/* The tile for so many channels on a machine with vectors. */
struct columns columns_of(const struct machine *machine, int64_t out_c, bool planar);

/* The tile's function; what becomes of sums before they are stored, NULL = nothing. */
const char *bind_columns(struct bind *bind, const struct columns *columns,
                         const struct tile_end *end);

/* A function (x, n, even, odd) that parts a row of n numbers: those with even numbers from the
 * others. */
const char *bind_halve_row(struct bind *bind);

#endif
