/* reserve.h - names of file scope that the generated C may have whatever the model is: no array,
 * region or pointer of a model is called so. */
#ifndef CODEGEN_C_PLAN_RESERVE_H
#define CODEGEN_C_PLAN_RESERVE_H

#include "base/map.h"

struct codegen;

/* Adds the identifiers that a template or helper defines for what stands behind it: macros that it
 * does not undefine, functions, types and constants. Where a number is part of a name,
 * "fuse_vector${most}", those of all vectors. */
void find_defined_names(struct arena *arena, const char *text, struct map *names);

/* Names that templates and helpers define. */
struct map defined_names(struct arena *arena);

/* Reserves these and the emitters' own names in codegen->names. */
void reserve_names(struct codegen *codegen);

#endif
