/* print_region.h - the C of a region's function from its configuration. Printing decides nothing: it
 * expands each template once, after the plan (codegen_c/select/configure.h). */
#ifndef CODEGEN_C_PRINT_PRINT_REGION_H
#define CODEGEN_C_PRINT_PRINT_REGION_H

#include "base/ctx.h"

struct codegen;

/* emitted[i].text of all regions that have functions of their own in NAME.c, and the text of all
 * helpers made from templates. False after errors. */
bool print_regions(struct codegen *codegen);

#endif
