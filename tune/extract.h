/* extract.h - extracts a region as a model, to be built and timed alone. */
#ifndef TUNE_EXTRACT_H
#define TUNE_EXTRACT_H

#include "relay_ir/ir.h"

/* Module whose main calls a copy of the region with the region's parameters. Constants are borrowed
 * from the region, which must outlive it. NULL after an error. */
struct module *region_extract(struct ctx *ctx, const struct function *region);

#endif
