/* pack_overlaps.h - pack_blocks where blocks may reach into others (struct block, `before`). */
#ifndef CODEGEN_C_PLAN_PACK_PACK_OVERLAPS_H
#define CODEGEN_C_PLAN_PACK_PACK_OVERLAPS_H

#include "codegen_c/core/plan.h"

/* As pack_blocks; and never more than it needs where no block reaches into another. */
struct packing pack_overlaps(struct arena *scratch, struct block *blocks, int n, uint64_t work);

#endif
