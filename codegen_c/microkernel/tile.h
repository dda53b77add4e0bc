/* tile.h - the micro-kernel of convolutions and matrix products: a tile of f32 sums, PIXELS rows by
 * TILE columns, held in registers.
 *
 * Columns are output channels; their weights lie side by side, in panels that every
 * TILE of the processors in question divides. Figures: shared notes kernels.md, section 3, and
 * docs/lab/measured.md. */
#ifndef CODEGEN_C_MICROKERNEL_TILE_H
#define CODEGEN_C_MICROKERNEL_TILE_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/microkernel/tile_end.h"

enum {
    MOST_TILE_PIXELS = 32, /* no tile has more */
    SMALL_TILES = 4,       /* that conv_small computes together at least … */
    LEADING_TILES = 3      /* … but where its result reaches into x */
};

/* Tiles that conv_small computes together, for which it decodes weights once: SMALL_TILES, and 8
 * with vectors of 16 lanes (20 KiB of stack): on a Zen 4 in FP8 0.78 of the time of 4 for
 * cct_transformer and 0.83 for resnet20_cifar10; 16 take more than 8. AVX2 and SSE2 gained nothing
 * that could be told from the clock's moods. Where the result reaches into x LEADING_TILES, as more
 * would reach further. */
int tile_group(const struct region *region);

/* Columns of a panel on this machine: every TILE that it may have divides it. */
int tile_panel(const struct machine *machine);

/* Of a matrix of so many columns whose tiles bind_tile_of_rows or bind_tile_by_steps names: 64
 * where 16 lanes may take four vectors at once. */
int tile_panel_of(const struct machine *machine, int64_t columns);

/* Numbers of a line of the cache, which TILE_AHEAD and TILE_ROWS fetch for each input. */
int tile_line(void);

/* The tile of a matrix of so many columns, and rows if that is not 0, as bind_tile_f32 takes it;
 * where the machine leaves it to the C compiler, that of a server with AVX-512. */
void tile_extents(const struct machine *machine, int64_t rows, int64_t columns, int *pixels,
                  int *channels);

/* The most pixels that a tile of bind_tile_of_rows or bind_tile_by_steps, of so many columns, may
 * have for the region. */
int tile_most_pixels(const struct region *region, int64_t columns);

/* The same as bind_tile_of_pairs takes it. */
void tile_extents_of_pairs(const struct machine *machine, int64_t rows, int64_t columns,
                           int *pixels, int *channels);

/* How a tile reads x; templates/helpers/tile_f32.c.tmpl says it in C. */
enum tile_form {
    TILE_TAPS,    /* through pointers to pixels, several taps of a kernel one after the other */
    TILE_AHEAD,   /* the same; fetches what is needed later, a line of the cache for each input */
    TILE_EVENLY,  /* the same; fetches as many numbers for each input as it is told */
    TILE_OFFSETS, /* through pointers to pixels, elements at the offsets of a table */
    TILE_ROWS,    /* rows of an array; fetches as TILE_AHEAD */
    TILE_ROWS_EVENLY, /* the same; fetches as TILE_EVENLY */
    TILE_MORE,        /* rows of an array; adds to the sums that are there */
    TILE_MORE_EVENLY, /* the same; fetches as TILE_EVENLY */
    TILE_PARTS, /* through pointers to pixels; adds likewise, and fetches as much as it is told */
    /* templates/helpers/tile_pairs.c.tmpl, from here on: through pointers to pixels */
    TILE_PAIRS,
    TILE_PAIRS_AHEAD,
    TILE_PAIRS_ROWS /* rows of an array, times a scale for each channel; fetches likewise */
};

/* A convolution or a product whose tiles may store their results themselves. */
struct tile_stores {
    const struct window *w;
    struct tile_place place;
    bool gathered; /* what x is gathered with has constants, which gcc would keep in this tile's
                      registers */
};

struct tile {
    const char *fn;
    const char *pixels, *channels;  /* the names of its extents in C */
    int most_pixels, most_channels; /* that it may have, on whatever processor */
    struct row_vector vector;       /* that its channels are whole ones of */
    bool stores;                    /* results in y, in place of sums in an array */
    const char *place, *args;       /* what a function that stores takes of y, and behind how many
                                       results are there … */
    bool some;                      /* … of pixels, and of channels */
    bool halves;                    /* the last columns need half_fn */
};

/* Asks for the helper whose tile suits a matrix of so many columns, and rows if that is not 0. The
 * keys pixels and tile are set to the names of its extents, which are those of all forms for as
 * many columns. */
struct tile bind_tile_f32(struct bind *bind, int64_t rows, int64_t columns, enum tile_form form);

/* The same, of as many pixels as leave few over where there are `rows` of them. Sets halves, and
 * half_fn to a function that computes the first half of a tile's columns, where no more are left at
 * the end.
 *
 * If there is a text for it (tile_end.h), and vectors of channels are whole ones on every
 * processor, the tile stores its first n_pixels pixels. The key stores is set then, and `results`
 * is the last arguments of the functions; else "sum". */
struct tile bind_tile_of_rows(struct bind *bind, int64_t rows, int64_t columns, enum tile_form form,
                              const struct tile_stores *stores);

/* The tile of a product of two matrices, as TILE_TAPS, in panels of 32: halves, half_fn and stores
 * as bind_tile_of_rows, and the key some, where tiles store although their last columns are no
 * whole vectors: those have n_channels behind n_pixels (with 16 lanes, which are stored under
 * masks). `results` is left to the caller. */
struct tile bind_tile_of_product(struct bind *bind, int64_t rows, int64_t columns,
                                 const struct tile_stores *stores);

/* The same as TILE_OFFSETS, of pixels that lie `step` elements apart, so that a single pointer
 * tells where they are: with one for each of 14 pixels compilers run out of registers. */
struct tile bind_tile_by_steps(struct bind *bind, int64_t rows, int64_t columns, int64_t step,
                               const struct tile_stores *stores);

/* The same through pointers as TILE_PARTS, without halves: columns are whole panels. */
struct tile bind_tile_of_parts(struct bind *bind, int64_t rows, int64_t columns);

/* The same, whose sums go to an array by whole vectors of one length. */
struct tile bind_tile_of_sums(struct bind *bind, int64_t rows, int64_t columns, int64_t step);

/* The same as TILE_PAIRS, or, `ahead`, TILE_PAIRS_AHEAD; halves and half_fn as bind_tile_of_rows.
 * Other keys: tile_fn is the tile of TILE_TAPS, of the same extents; others, and pairs_fn, are set
 * if tiles are needed whose sums go to an array although more than half of their channels are
 * there.
 *
 * If not NULL, `end` says how whole tiles store their sums. Their functions take y (tile_end_y) and
 * what `end` says besides; where `step` is not 0, pixels of x lie so far apart, and these
 * functions, or pairs_fn and half_fn if `end` is NULL, take the first of them instead of a pointer
 * for each. store_fn is that of whole tiles; if rest is set, rest_fn that of as many pixels as
 * these leave over; if half_stores is set, the channels end with half of a tile, and store_half_fn
 * stores it. */
struct tile bind_tile_of_pairs(struct bind *bind, int64_t rows, int64_t columns, bool ahead,
                               int64_t step, const struct tile_end *end);

/* The same as TILE_PAIRS_ROWS, of rows that lie `step` apart, if that is not 0: it is no argument
 * then. tile_fn is the tile of TILE_ROWS. */
struct tile bind_tile_of_pair_rows(struct bind *bind, int64_t rows, int64_t columns, int64_t step);

/* Whether tiles of single rows, of `len` pixels each, are nearly as many as those of rows * len
 * pixels: within a twentieth of the time. */
bool tiles_fill_rows(const struct machine *machine, int64_t rows, int64_t len, int64_t columns);

#endif
