/* tile.h - the microkernel of convolutions and matrix products: a register tile of f32 sums, PIXELS
 * rows (MR) by TILE columns (NR).
 *
 * Columns are output channels. Their weights are packed in panels whose width is a multiple of
 * every TILE that the target may have. How tiles are chosen: docs/design/kernels.md; figures:
 * docs/lab/kernels.md. */
#ifndef CODEGEN_C_MICROKERNEL_TILE_H
#define CODEGEN_C_MICROKERNEL_TILE_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/microkernel/epilogue_store.h"

enum {
    MOST_TILE_PIXELS = 32, /* upper bound of PIXELS */
    SMALL_TILES = 4,       /* tiles that conv_small computes per decoded KC block, at least; … */
    LEADING_TILES = 3      /* … if the result overlaps x */
};

/* Tiles that conv_small computes together, so that weights are dequantised once for all of them:
 * SMALL_TILES, or 8 with vectors of 16 lanes (20 KiB of stack). With overlap LEADING_TILES: more
 * would increase the distance. */
int tile_group(const struct region *region);

/* Panel width on this CPU: a multiple of every TILE that it may have. */
int tile_panel(const struct machine *machine);

/* Panel width for N columns of bind_tile_of_rows or bind_tile_by_steps: 64 on 16-lane CPUs that use
 * 4-vector tiles. */
int tile_panel_of(const struct machine *machine, int64_t columns);

/* Floats of a cache line: what FETCH_LINE prefetches per input. */
int tile_line(void);

/* The extents of the tile that bind_tile_f32 chooses for a matrix; rows 0: unknown. With --target
 * generic those of a CPU with AVX-512. */
void tile_extents(const struct machine *machine, int64_t rows, int64_t columns, int *pixels,
                  int *channels);

/* Upper bound of the pixels of a tile of bind_tile_of_rows or bind_tile_by_steps. */
int tile_most_pixels(const struct region *region, int64_t columns);

/* The extents of the tile that bind_tile_of_pairs chooses. */
void tile_extents_of_pairs(const struct machine *machine, int64_t rows, int64_t columns,
                           int *pixels, int *channels);

/* What a microkernel does, as four independent axes; in C:
 * templates/helpers/microkernel/tile_*.c. */
enum tile_input {
    TILE_POINTERS, /* x through pointers to pixels, kernel tap by kernel tap */
    TILE_OFFSETS,  /* through pointers to pixels, at a table of offsets */
    TILE_ROWS      /* rows of an array */
};
enum tile_fetch {
    FETCH_NOTHING,
    FETCH_LINE, /* a cache line for each input */
    FETCH_PACED /* `fetch` floats for each input, so that the next block arrives just in time */
};
struct tile_form {
    enum tile_input input;
    enum tile_fetch fetch;
    bool adds;  /* to the sums in memory; else to 0 */
    bool pairs; /* Winograd inner products (templates/helpers/microkernel/tile_pairs.c) */
};

/* The usual one: pointers, and nothing else. */
#define TILE_TAPS ((struct tile_form){ .input = TILE_POINTERS })

/* A convolution or product whose tiles may have an epilogue store. */
struct tile_stores {
    const struct window *w;
    struct tile_place place;
    bool gathered; /* x is gathered by shuffles whose constants gcc would keep in the tile's
                      registers */
};

struct tile {
    const char *fn;
    const char *pixels, *channels;  /* C names of its extents */
    int most_pixels, most_channels; /* upper bounds, on any CPU */
    struct row_vector vector;       /* channels are whole vectors of this type */
    bool stores;                    /* stores results to y, not sums to an array */
    const char *place, *args;       /* of the epilogue store: arguments of y, and, after the
                                       number of pixels … */
    bool some;                      /* … and of channels */
    bool halves;                    /* the last columns use half_fn */
};

/* Requests the microkernel for a matrix of `columns` columns; rows 0: unknown. Sets `pixels` and
 * `tile` to the names of its extents, which depend on the columns only, not on the form. */
struct tile bind_tile_f32(struct bind *bind, int64_t rows, int64_t columns, struct tile_form form);

/* The same, with a number of pixels that leaves few of `rows` over. Sets `halves` if the last
 * columns fill no more than half a tile; `half_fn` computes these.
 *
 * If the epilogue has a vector text (epilogue_store.h) and vectors of channels are whole ones on every
 * CPU, the tile stores its first n_pixels pixels to y: the key `stores` is set and `results` is the
 * last arguments of the functions. Otherwise `results` is "sum". */
struct tile bind_tile_of_rows(struct bind *bind, int64_t rows, int64_t columns,
                              struct tile_form form, const struct tile_stores *stores);

/* The tile of a matrix product, as TILE_TAPS, in panels of 32. halves, half_fn and stores as in
 * bind_tile_of_rows. Sets `some` if tiles store although the last vector of channels is not whole:
 * n_channels then follows n_pixels (16 lanes, masked stores). The caller sets `results`. */
struct tile bind_tile_of_product(struct bind *bind, int64_t rows, int64_t columns,
                                 const struct tile_stores *stores);

/* The same with TILE_OFFSETS, for pixels `step` elements apart: one pointer addresses all of them.
 * With a pointer for each of 14 pixels compilers run out of registers. */
struct tile bind_tile_by_steps(struct bind *bind, int64_t rows, int64_t columns, int64_t step,
                               const struct tile_stores *stores);

/* The same by pointers, which adds, with paced prefetch, without halves: columns are whole panels. */
struct tile bind_tile_of_parts(struct bind *bind, int64_t rows, int64_t columns);

/* The same with TILE_OFFSETS, with sums stored to an array by whole vectors of one length. */
struct tile bind_tile_of_sums(struct bind *bind, int64_t rows, int64_t columns, int64_t step);

/* The Winograd inner product by pointers; `ahead`: with FETCH_LINE. halves and half_fn as
 * in bind_tile_of_rows. Sets `tile_fn`, the TILE_TAPS tile of the same extents; and `others` and
 * `pairs_fn` if some tiles store sums to an array although more than half of their channels are
 * real.
 *
 * `end`, if not NULL, is the epilogue store of whole tiles, whose functions take y (epilogue_store_y) and
 * end->args. If `step` is not 0, pixels of x are `step` elements apart, and these functions
 * (pairs_fn and half_fn if `end` is NULL) take a pointer to the first one instead of one per pixel.
 * `store_fn` computes whole tiles; `rest_fn`, if `rest` is set, the pixels left over;
 * `store_half_fn`, if `half_stores` is set, a last half of a tile's channels. */
struct tile bind_tile_of_pairs(struct bind *bind, int64_t rows, int64_t columns, bool ahead,
                               int64_t step, const struct epilogue_store *end);

/* The same by rows, with FETCH_LINE and a scale for each channel. If `step` is not 0, rows are `step` elements apart and the function
 * has no argument for it. `tile_fn` is the plain tile. */
struct tile bind_tile_of_pair_rows(struct bind *bind, int64_t rows, int64_t columns, int64_t step);

/* Whether tiles that do not cross rows of `len` pixels cost at most a twentieth more than tiles
 * over rows * len pixels. */
bool tiles_fill_rows(const struct machine *machine, int64_t rows, int64_t len, int64_t columns);

#endif
