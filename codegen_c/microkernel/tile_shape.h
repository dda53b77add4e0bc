/* tile_shape.h - the shape of a register tile, MR pixels by vectors of channels, chosen by the CPU
 * and the matrix: rules, and their model of time. tile.c writes the C. */
#ifndef CODEGEN_C_MICROKERNEL_TILE_SHAPE_H
#define CODEGEN_C_MICROKERNEL_TILE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "codegen_c/machine/machine.h"

enum {
    TILE_PANEL = 32,
    WIDE_TILE_PANEL = 64, /* width of panels if tile_is_wide */
    TILE_THREE_QUARTERS = 24,
    N_TILE_SHAPES = 5
};

struct tile_shape {
    const char *condition; /* of compiler macros; "" = otherwise */
    int lanes, vectors, pixels;
    bool short_end; /* the last vector has half as many lanes */
};

/* Output channels of the tile (NR). */
int tile_channels(const struct tile_shape *shape);

/* Shapes among which compiler macros choose (--target generic), from the longest vectors to
 * scalars; the same as the rows of machines.def. */
extern const struct tile_shape tile_shapes[N_TILE_SHAPES];

struct tile_shape tile_shape_of_machine(const struct machine *machine);

/* Whether a matrix of `columns` columns is packed in panels of WIDE_TILE_PANEL, and its tile. */
bool tile_is_wide(const struct machine *machine, int64_t columns);

struct tile_shape tile_widened(struct tile_shape shape);

/* The shape for fewer columns than a whole tile has; unchanged if there are enough. */
struct tile_shape tile_narrowed(struct tile_shape shape, int64_t columns);

/* The shape of TILE_THREE_QUARTERS columns, for matrices where 32 would waste a quarter. */
struct tile_shape tile_three_quarters(struct tile_shape shape);

/* The shape whose number of pixels leaves few of `rows` over; rows 0: unknown. `stepped`: pixels
 * are addressed by one pointer, so that there may be more of them. */
struct tile_shape tile_fitted(struct tile_shape shape, int64_t rows, bool stepped);

/* The same for Winograd inner products (pairs.h). `rest`: the rows left over by whole tiles get a
 * tile of their own. */
struct tile_shape tile_fitted_to_pairs(const struct machine *machine, struct tile_shape shape,
                                       int64_t rows, bool rest);

/* Whether sums and weights fit the registers, the tile fits a panel, and enough of its channels are
 * real. */
bool tile_is_possible(const struct machine *machine, int64_t panel, int64_t vectors, int64_t pixels,
                      int64_t columns);

/* The class of `columns`: the largest number of columns with the same shapes on every CPU in
 * question; 0 = all that are more than a few. */
int64_t tile_class(const struct machine *machine, int64_t columns);

/* Whether tile_three_quarters applies to this many columns. */
bool tile_is_three_quarters(const struct machine *machine, int64_t columns);

#endif
