/* parallel.h - --parallel N: regions in N parts that may run at the same time
 * (docs/guide/parallel.md).
 *
 * A region's function gets a parameter `this_part`, and the loop that its template names
 * (//#parallel) runs from where this part begins to where the next begins, in whole steps: each output is computed as without, by one
 * part, so the results are the same bits for any number of threads. Without --parallel no text
 * changes. */
#ifndef CODEGEN_C_PRINT_PARALLEL_H
#define CODEGEN_C_PRINT_PARALLEL_H

#include "base/str.h"

struct codegen;
struct region;
struct region_function;

enum { MAX_PARTS = 64 };

/* Whether the region is worth it, and its kernel has a loop that can be divided. */
bool region_is_split(const struct codegen *codegen, const struct region *region);

/* The function that hands the parts over, with the region's own name. */
void add_hand_over(struct codegen *codegen, struct str *out,
                   const struct region_function *function);

/* The declarations for NAME.h, and what NAME.c has before all regions. */
void add_parallel_header(struct codegen *codegen, struct str *out);
void add_parallel_helpers(struct codegen *codegen, struct str *out);

#endif
