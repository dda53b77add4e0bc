/* tile_name.h - how a tile is called, and its shape: what is the same of all tiles of a name. */
#ifndef CODEGEN_C_MICROKERNEL_TILE_NAME_H
#define CODEGEN_C_MICROKERNEL_TILE_NAME_H

#include "codegen_c/microkernel/tile.h"
#include "codegen_c/microkernel/tile_shape.h"

/* What a tile is asked for. */
struct tile_wish {
    int64_t rows, columns; /* rows 0: it is not known how many */
    int64_t len;           /* of a sum; 0: tile_times.def was not fitted to such tiles */
    bool alike;            /* all vectors of the tile have the same length, and no panel is wide */
    bool stepped;          /* one pointer tells where all pixels are */
    bool pairs;            /* TILE_PAIRS */
    bool rest;             /* rows that whole tiles leave over have a tile of their own */
};

/* What a tile is called, and its shape where that does not depend on the compiler's macros. */
struct tile_name {
    const char *suffix, *pixels, *tile;
    int64_t narrow; /* 0, or the class of columns */
    bool wide;      /* in panels of 64 */
    int64_t rows;   /* 0: not known */
    bool stepped;   /* where one pointer tells where all pixels are */
    bool apart;     /* a function of its own in the C compiler's hands, too: computes_functions */
    const struct tile_end *end; /* where sums go straight to y, else NULL */
    struct row_vector vector;
    struct tile_shape shape;
};

/* The tile that is chosen for the region (KNOB_TILE) as it is asked for; `vector` and `end` are not
 * set. */
struct tile_name tile_name_of(struct bind *bind, const struct tile_wish *wish);

/* Of the shapes that --target generic leaves to the C compiler, number i. */
struct tile_shape tile_named_shape(const struct tile_name *name, int i);

/* Whether no tile of the class needs the longest vectors that the processor may have. */
bool tile_is_short(const struct machine *machine, const struct tile_name *name);

/* Whether vectors of the tile may differ in length: which is which, VECTOR24 says. */
bool tile_is_mixed(const struct machine *machine, const struct tile_name *name);

/* What the function is called: of a tile (half ""), or of the first half of one ("_half"); for one
 * step if that is not 0. In arena. */
const char *tile_fn_name(struct arena *arena, const struct tile_name *name, const char *half,
                         enum tile_form form, int64_t step);

#endif
