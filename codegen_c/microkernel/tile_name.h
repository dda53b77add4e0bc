/* tile_name.h - the name of a register tile and its shape. Equal names mean equal code. */
#ifndef CODEGEN_C_MICROKERNEL_TILE_NAME_H
#define CODEGEN_C_MICROKERNEL_TILE_NAME_H

#include "codegen_c/microkernel/tile.h"
#include "codegen_c/microkernel/tile_shape.h"

/* A request for a tile. */
struct tile_request {
    int64_t rows, columns; /* of the matrix product; rows 0: unknown */
    int64_t len;           /* length of a sum; 0: do not use the fitted times of tile_times.def */
    bool alike;            /* all vectors have the same length, and no panel is wide */
    bool stepped;          /* pixels are addressed by one pointer and a fixed step */
    bool pairs;            /* Winograd inner product */
    bool rest;             /* the rows left over by whole tiles get a tile of their own */
};

/* A tile's name, and its shape unless compiler macros choose it. */
struct tile_name {
    const char *suffix, *pixels, *tile;
    int64_t narrow;             /* 0, or the class of columns (tile_class) */
    bool wide;                  /* panels have WIDE_TILE_PANEL channels */
    int64_t rows;               /* 0: unknown */
    bool stepped;               /* pixels are addressed by one pointer and a fixed step */
    bool apart;                 /* never inlined, so that its registers are its own */
    const struct epilogue_store *end; /* the epilogue store; NULL = sums go to an array */
    struct row_vector vector;
    struct tile_shape shape;
};

/* The tile for a request; KNOB_TILE may choose another. Leaves `vector` and `end` unset. */
struct tile_name tile_name_of(struct bind *bind, const struct tile_request *request);

/* Shape i of those among which compiler macros choose (--target generic). */
struct tile_shape tile_named_shape(const struct tile_name *name, int i);

/* Whether no tile of this name uses the CPU's longest vectors. */
bool tile_is_short(const struct machine *machine, const struct tile_name *name);

/* Whether a tile's vectors may differ in length; VECTOR24 gives each one's type. */
bool tile_is_mixed(const struct machine *machine, const struct tile_name *name);

/* The microkernel's name, in arena. half: "" for the tile, "_half" for its first half of columns.
 * step: the fixed step between pixels, 0 if there is none. */
const char *tile_fn_name(struct arena *arena, const struct tile_name *name, const char *half,
                         struct tile_form form, int64_t step);

#endif
