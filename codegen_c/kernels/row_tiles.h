/* row_tiles.h - how the outputs of a row are cut into tiles by the kernel of depthwise
 * convolutions. */
#ifndef CODEGEN_C_KERNELS_ROW_TILES_H
#define CODEGEN_C_KERNELS_ROW_TILES_H

#include "codegen_c/kernels/window.h"

enum { MOST_TILES = 6 };

/* `n` output columns from `first` on, then as many again, `count` times altogether. Only of a tile
 * that comes once may a window reach outside the row. */
struct row_tile {
    int first, n, count;
};

/* Cuts a row into at most MOST_TILES kinds of tiles of at most `most` columns, which follow one
 * another: as few as possible, then as equal ones as possible. Returns their number, 0 where more
 * would be needed. */
int tiles_of_row(const struct window *window, int most, struct row_tile *tiles);

#endif
