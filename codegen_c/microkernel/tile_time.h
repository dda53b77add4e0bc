/* tile_time.h - the predicted time of a register tile, fitted to tuning logs (tile_times.def), the
 * fastest tile by that, and the features of a product from which cost models predict its time. */
#ifndef CODEGEN_C_MICROKERNEL_TILE_TIME_H
#define CODEGEN_C_MICROKERNEL_TILE_TIME_H

#include "codegen_c/core/window.h"
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

/* What the features of a matrix product by register tiles are made of (features.h). */
struct tiled {
    int64_t groups;        /* number of products: batch x groups */
    int64_t rows, row_len; /* output pixels: rows of row_len; no tile crosses the end of a row */
    int64_t columns, len;  /* output channels; length of a sum */
    bool alike;            /* all vectors of a tile have the same length */
};

/* That of a convolution; by_row: tiles do not cross rows. */
struct tiled tiled_conv(const struct window *window, bool by_row);

/* Sets the region's features, after its tile, and its NC block if any, are chosen. */
void tile_tell_features(struct bind *bind, const struct tiled *tiled);

#endif
