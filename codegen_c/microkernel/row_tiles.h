/* row_tiles.h - the microkernel of depthwise convolutions: an output row is cut into register tiles
 * of columns, whose code is written out column by column. */
#ifndef CODEGEN_C_MICROKERNEL_ROW_TILES_H
#define CODEGEN_C_MICROKERNEL_ROW_TILES_H

#include "codegen_c/core/window.h"

enum {
    MOST_TILES = 6,
    MOST_TILE_COLUMNS = 8 /* enough sums to hide the latency of an addition */
};

/* A run of `count` tiles of `n` output columns each, the first at column `first`. A window may
 * reach outside the row only where count is 1. */
struct row_tile {
    int first, n, count;
};

/* Cuts a row into at most MOST_TILES consecutive runs of tiles of at most `most` columns: as few
 * runs as possible, then as equal ones as possible. Returns their number; 0 if it takes more. */
int tiles_of_row(const struct window *window, int most, struct row_tile *tiles);

/* Whether a row can be cut so and every window overlaps the row. */
bool has_row_tiles(const struct window *window, int most_columns);

enum { MOST_ROWS = 16 };

/* Rows of several regions, whose windows differ in extents only. Rows have one function if one has all kinds of tiles
 * of the other, or if they have one in common and there are few in all: each costs a comparison. */
struct row_family {
    struct window rows[MOST_ROWS]; /* of different widths */
    int n;
};

/* Adds a row, unless one of its widths is there; false if there is no room. */
bool row_family_add(struct row_family *family, const struct window *row);

/* Whether two rows of the family have one function. */
bool rows_have_one_function(const struct row_family *family, const struct window *a,
                            const struct window *b, int most_columns);

/* Sets the keys of one kernel row: what each input column `v` adds to the sums s0, s1 ... of a
 * tile's columns, with the weights w0, w1 ... of the row.
 *   n_tiles, when0 ...        kinds of tiles, and the choice of one: "if (ow < END0) ",
 *                             "else if (ow < END1) ", "else "
 *   several_tiles, tile_ends  set if there are several kinds, with "END0 = 7, END1 = 49, "
 *   columns, most_columns     columns of a tile; if they vary, `uneven` is set, and the variable
 *   choice_of_columns         `columns` is computed by the statements of choice_of_columns
 *   n_sums0, sums0 ...        sums of tile 0, and their declaration: "s0 = { 0 }, s1 = { 0 }"
 *   left0 ...                 the first input column of tile 0
 *   n_inputs0, input0_0 ...   the input columns, counted from left0
 *   adds0_0 ...               what each adds: "s0 += w1 * v; s1 += w0 * v;"; with `fuse`, a
 *                             function (NULL otherwise): "s0 = fuse_vector(s0, v, w1); ..."
 *   n_weights0, weight0_0 ... the weights in use
 *   strip_left, strip_extent  by the tile's column: its first input column, and how many it reads
 *   most_extent               the maximum of strip_extent
 * The kinds of tiles are those of all rows of `family` that have one function (NULL: of this row only); those that the
 * row lacks are written out for no columns. */
void bind_row_tiles(struct bind *bind, const struct window *window, const struct row_family *family,
                    int most_columns, const char *fuse);

#endif
