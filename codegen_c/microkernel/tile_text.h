/* tile_text.h - from a tile's name (tile_name.h) to its function in the C; shared by the ways of
 * choosing tiles in tile.c. */
#ifndef CODEGEN_C_MICROKERNEL_TILE_TEXT_H
#define CODEGEN_C_MICROKERNEL_TILE_TEXT_H

#include "base/str.h"
#include "codegen_c/microkernel/tile_name.h"

/* The preprocessor line before shape i of n: "#if ..."; nothing if n is 1. */
void tile_add_condition(struct str *out, int n, int i);

/* "#define NAME(DO, j) DO(j, 0) DO(j, 1)". */
void tile_add_list(struct str *out, const char *name, int vectors);

/* Requests the helpers of the tile's vectors and returns these. */
struct row_vector bind_tile_vector(struct bind *bind, const struct tile_name *naming);

/* Adds the microkernel as a helper, or that of the first half of the tile's channels. Returns the function's name. */
const char *new_tile_fn(struct bind *bind, const char *name, const struct tile_name *naming,
                        bool half, struct tile_form form, int64_t step);

/* Requests the tile's helpers: extents, lists, and its function unless that exists. Sets
 * naming->vector. */
struct tile named_tile(struct bind *bind, struct tile_name *naming, struct tile_form form,
                       int64_t step);

/* The same, and sets the keys `pixels` and `tile` to the names of its extents. */
struct tile bind_named_tile(struct bind *bind, struct tile_name *naming, struct tile_form form,
                            int64_t step);

#endif
