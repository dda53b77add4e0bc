/* tile_features.h - the features of a matrix product by register tiles, from which its time is
 * predicted (features.h). */
#ifndef CODEGEN_C_MICROKERNEL_TILE_FEATURES_H
#define CODEGEN_C_MICROKERNEL_TILE_FEATURES_H

#include "codegen_c/core/window.h"

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
