/* pairs_axes.h - the axes of the register tiles of Winograd inner products,
 * templates/helpers/microkernel/tile_pairs{,_steps}.c. */
#ifndef CODEGEN_C_MICROKERNEL_PAIRS_AXES_H
#define CODEGEN_C_MICROKERNEL_PAIRS_AXES_H

#include "codegen_c/microkernel/tile_axes.h"

/* The file, "tile_pairs". */
const char *pairs_axes_file(const struct tile_axes *of);

/* All axes but those of the end. registers: inputs are loaded into registers, once for all vectors. */
void pairs_axes_set(const struct tile_axes *of, bool registers, struct microkernel *kernel);

/* Those of the end: sums go to an array, by rows scaled. */
void pairs_axes_set_sums(const struct tile_axes *of, struct microkernel *kernel);

#endif
