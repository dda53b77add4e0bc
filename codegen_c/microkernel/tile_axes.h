/* tile_axes.h - the axes of the register tiles of f32, templates/helpers/microkernel/tile_*.c: one text for each word
 * of microkernel.h, by what the tile does. */
#ifndef CODEGEN_C_MICROKERNEL_TILE_AXES_H
#define CODEGEN_C_MICROKERNEL_TILE_AXES_H

#include "codegen_c/microkernel/microkernel.h"
#include "codegen_c/microkernel/tile.h"

struct tile_axes {
    struct tile_form form;
    int64_t step;        /* fixed, from one pixel to the next; 0: there is none */
    const char *linkage; /* "static inline" */
    const char *tile;    /* C name of its channels */
    const char *vector;  /* type of vector v … */
    const char *lanes;   /* … and its floats: "LANES" */
    const char *fuse; /* the function that adds a product with one rounding; NULL = two roundings */
    bool fuses_vectors; /* it takes x as a vector, not as a float */
    bool lone;          /* no text has the parameter `step` */
};

/* The file, "tile_taps". */
const char *tile_axes_file(const struct tile_axes *of);

/* All axes but those of the end: LINKAGE ... FETCH_WEIGHT. */
void tile_axes_set(const struct tile_axes *of, struct microkernel *kernel);

/* Those of the end, where sums go to an array. */
void tile_axes_set_sums(struct microkernel *kernel);

/* Where they go through the epilogue to y: its parameters, and texts for j and v that read sums[j][v]. */
struct tile_end {
    const char *parameters, *fetch, *channel, *shared, *end;
};
void tile_axes_set_end(const struct tile_end *end, struct microkernel *kernel);

#endif
