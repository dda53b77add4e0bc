/* share.h - --optimize size: one function for regions that differ in their constants only. */
#ifndef CODEGEN_C_PRINT_SHARE_H
#define CODEGEN_C_PRINT_SHARE_H

#include <stdbool.h>

struct codegen;
struct region;
struct weight;

/* Finds regions whose functions differ in constant arrays and comments only, gives them one name and
 * one function that takes the arrays. Before the regions are configured; false after errors. */
bool share_regions(struct codegen *codegen);

/* "array1", by which a region that takes arrays calls this one. */
const char *array_name(struct codegen *codegen, const struct region *region,
                       const struct weight *weight);

#endif
