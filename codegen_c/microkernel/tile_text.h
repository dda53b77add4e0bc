/* tile_text.h - from what a tile is called (tile_name.h) to its function in the C: what the ways of
 * choosing tiles (tile.c) share. */
#ifndef CODEGEN_C_MICROKERNEL_TILE_TEXT_H
#define CODEGEN_C_MICROKERNEL_TILE_TEXT_H

#include "base/str.h"
#include "codegen_c/microkernel/tile_name.h"

/* "#if ...", the line before shape i of n; nothing where n is 1. */
void tile_add_condition(struct str *out, int n, int i);

/* "#define NAME(DO, j) DO(j, 0) DO(j, 1)". */
void tile_add_list(struct str *out, const char *name, int vectors);

/* The vectors of the tile, once their helpers have been asked for. */
struct row_vector bind_tile_vector(struct bind *bind, const struct tile_name *naming);

/* A new helper of that name, over the vectors of a list ("EACH_VECTOR_2x10"). Returns the
 * function's name. */
const char *new_tile_fn(struct bind *bind, const char *name, const struct tile_name *naming,
                        const char *each_vector, enum tile_form form, int64_t step);

/* The tile of the name, whose helpers are asked for: extents, lists, and the function unless there
 * is one. Sets naming->vector. */
struct tile named_tile(struct bind *bind, struct tile_name *naming, enum tile_form form,
                       int64_t step);

/* The same, and sets the keys pixels and tile to the names of its extents. */
struct tile bind_named_tile(struct bind *bind, struct tile_name *naming, enum tile_form form,
                            int64_t step);

#endif
