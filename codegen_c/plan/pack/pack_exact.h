/* pack_exact.h - the search behind pack_blocks. */
#ifndef CODEGEN_C_PLAN_PACK_PACK_EXACT_H
#define CODEGEN_C_PLAN_PACK_PACK_EXACT_H

#include "codegen_c/core/plan.h"

/* Lowers packing->bytes towards packing->lower_bound, and raises the bound by what is proved
 * impossible. The offsets of the blocks are those of a packing, before and after. */
void pack_exact(struct arena *arena, struct block *blocks, int n, uint64_t limit,
                struct packing *packing);

#endif
