/* tile_features.h - what the time of a product of matrices by register tiles is made of
 * (features.h). */
#ifndef CODEGEN_C_MICROKERNEL_TILE_FEATURES_H
#define CODEGEN_C_MICROKERNEL_TILE_FEATURES_H

#include "codegen_c/core/window.h"

struct tiled {
    int64_t groups;        /* products, of batch and groups */
    int64_t rows, row_len; /* of places; no tile crosses the end of a row */
    int64_t columns, len;  /* output channels, and the length of a sum */
    bool alike;            /* all vectors of a tile have the same length */
};

/* A convolution's, whose tiles cross rows; by_row: they do not. */
struct tiled tiled_conv(const struct window *window, bool by_row);

/* Sets the region's features, once its tile (and its chunk, if it has one) are chosen. */
void tile_tell_features(struct bind *bind, const struct tiled *tiled);

#endif
