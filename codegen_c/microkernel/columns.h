/* columns.h - the microkernel of pixel vectors: lanes are neighbouring pixels of one channel,
 * weights are broadcast. For few output channels, which do not fill a vector. */
#ifndef CODEGEN_C_MICROKERNEL_COLUMNS_H
#define CODEGEN_C_MICROKERNEL_COLUMNS_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/microkernel/epilogue_store.h"
#include "codegen_c/microkernel/microkernel.h"

struct columns {
    int channels, vectors; /* the register tile: channels by vectors of pixels */
    bool planar;           /* y, or the array of sums, is channels first; else channels last */
    bool splat;  /* weights are stored LANES times each, for CPUs without a broadcasting load */
    bool joined; /* channels last, and a pixel's channels follow those of the pixel before
                    without a gap */
};

/* The tile for out_c channels on a CPU with vectors. */
struct columns columns_of(const struct machine *machine, int64_t out_c, bool planar);

/* The microkernel's name. `end`: the epilogue of its sums; NULL = none. */
const char *bind_columns(struct bind *bind, const struct columns *columns,
                         const struct epilogue_store *end);

/* The axes of templates/helpers/microkernel/tile_columns.c that the tile decides. fuse: the function that adds a product
 * with one rounding; NULL = two roundings. */
void columns_axes_set(const struct columns *columns, const char *fuse, struct microkernel *kernel);

/* The function (x, n, even, odd) that splits a row of n floats into its even and its odd
 * elements. */
const char *bind_halve_row(struct bind *bind);

#endif
