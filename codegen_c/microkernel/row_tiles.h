/* row_tiles.h - how the outputs of a row are cut into tiles of columns, and their text, for
 * depthwise convolutions. */
#ifndef CODEGEN_C_MICROKERNEL_ROW_TILES_H
#define CODEGEN_C_MICROKERNEL_ROW_TILES_H

#include "codegen_c/core/window.h"

enum {
    MOST_TILES = 6,
    MOST_TILE_COLUMNS = 8 /* as many sums hide how long it takes to add to one */
};

/* `n` output columns from `first` on, then as many again, `count` times altogether. Only of a tile
 * that comes once may a window reach outside the row. */
struct row_tile {
    int first, n, count;
};

/* Cuts a row into at most MOST_TILES kinds of tiles of at most `most` columns, which follow one
 * another: as few as possible, then as equal ones as possible. Returns their number, 0 where more
 * would be needed. */
int tiles_of_row(const struct window *window, int most, struct row_tile *tiles);

/* Whether there are such tiles, and the windows of all columns reach into the row. */
bool has_row_tiles(const struct window *window, int most_columns);

/* What happens to an input `v` of a tile, on one row of the kernel, for the sums s0, s1 .. of its
 * columns, with the weights w0, w1 .. of the row. Sets
 *   n_tiles, when0 ..       how many kinds of tiles, and "if (ow < 7) ", "else if (ow < 49) ",
 * "else " columns, most_columns   of a tile; it varies where `uneven`, as `choice_of_columns` says,
 * and more                    declares it: ", columns" n_sums0, sums0 ..       of tile 0: how many,
 * and what they begin as: "s0 = { 0 }, s1 = { 0 }" left0 ..                the first input column
 *   n_inputs0, input0_0 ..  the input columns, counted from that,
 *   adds0_0 ..              and what they add: "s0 += w1 * v; s1 += w0 * v;"; with `fuse` a macro
 *                           (sum, x, w), else NULL: "FUSE_VECTOR(s0, v, w1); ..."
 *   n_weights0, weight0_0   which weights there are
 *   strip_left, strip_extent  by the tile's column: the first input column under it, and how many
 *   most_extent             columns there are; at most */
void bind_row_tiles(struct bind *bind, const struct window *window, int most_columns,
                    const char *fuse);

#endif
