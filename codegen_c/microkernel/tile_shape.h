/* tile_shape.h - how many pixels and vectors a register tile has, by the machine and the matrix:
 * rules and their model of time. What becomes of them in C is tile.c's. */
#ifndef CODEGEN_C_MICROKERNEL_TILE_SHAPE_H
#define CODEGEN_C_MICROKERNEL_TILE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "codegen_c/machine/machine.h"

enum {
    TILE_PANEL = 32,
    WIDE_TILE_PANEL = 64, /* of columns that tile_is_wide says */
    TILE_THREE_QUARTERS = 24,
    N_TILE_SHAPES = 5
};

struct tile_shape {
    const char *condition; /* of the C compiler's macros; "" = what is left */
    int lanes, vectors, pixels;
    bool short_end; /* the last vector has half the lanes */
};

/* Channels of the tile. */
int tile_channels(const struct tile_shape *shape);

/* What --target generic leaves to the C compiler, from the longest vectors to none: the same tiles
 * as the rows of machines.def. */
extern const struct tile_shape tile_shapes[N_TILE_SHAPES];

struct tile_shape tile_shape_of_machine(const struct machine *machine);

/* Whether matrices of so many columns lie in panels of 64. */
bool tile_is_wide(const struct machine *machine, int64_t columns);

/* The tile of such panels. */
struct tile_shape tile_widened(struct tile_shape shape);

/* The tile of so few columns, if they are few. */
struct tile_shape tile_narrowed(struct tile_shape shape, int64_t columns);

/* The tile of TILE_THREE_QUARTERS columns, where 32 would leave a quarter of it unused. */
struct tile_shape tile_three_quarters(struct tile_shape shape);

/* The tile for so many rows, of about as many pixels. 0 rows: it is not known how many. `stepped`:
 * one pointer tells where all pixels are, so that there may be more. */
struct tile_shape tile_fitted(struct tile_shape shape, int64_t rows, bool stepped);

/* The same of a tile whose products are taken in pairs (pairs.h); `rest`: the rows that whole tiles
 * leave over have one of their own. */
struct tile_shape tile_fitted_to_pairs(const struct machine *machine, struct tile_shape shape,
                                       int64_t rows, bool rest);

/* Whether sums and weights fit into the registers, and the tile into a panel, and enough of it
 * holds channels. */
bool tile_is_possible(const struct machine *machine, int64_t panel, int64_t vectors, int64_t pixels,
                      int64_t columns);

/* Which columns share their shapes on all processors in question: the most of them; 0 = all that
 * are more than a few. */
int64_t tile_class(const struct machine *machine, int64_t columns);

/* Whether tile_three_quarters is for so many columns. */
bool tile_is_three_quarters(const struct machine *machine, int64_t columns);

#endif
