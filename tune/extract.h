/* extract.h - a region as a model of its own, to be built and timed apart. */
#ifndef TUNE_EXTRACT_H
#define TUNE_EXTRACT_H

#include "relay_ir/ir.h"

/* A module whose main calls a copy of the region, with the region's parameters as its own, in their
 * order. Constants are borrowed from the region, which must outlive it. NULL after an error. */
struct module *region_extract(struct ctx *ctx, const struct function *region);

#endif
