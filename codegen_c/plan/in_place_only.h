/* in_place_only.h - what the network would take with the memory reuse of the paper that this
 * project began with, for the report to stand beside the arena.
 *
 * Xu et al. 2024, "FP8 Quantization and Inference Memory Optimization Based on MLIR", section 4.2
 * and algorithm 2: each operator's output has a buffer of its own all the time, but an element-wise
 * operator writes over an operand that nobody but it reads (a def-use chain with one use), the
 * largest where operands have different sizes. Nothing else is shared, and nothing is reordered.
 *
 * An operator is a region here, so that fusion counts for both sides; its scratch has a place of
 * its own, too, as in struct plan's naive_bytes. Inputs and outputs of main count where they are in
 * the arena, views (reshape) are their operands, and parts of concatenations lie by themselves. */
#ifndef CODEGEN_C_PLAN_IN_PLACE_ONLY_H
#define CODEGEN_C_PLAN_IN_PLACE_ONLY_H

#include "codegen_c/core/plan.h"

struct in_place_only {
    size_t bytes; /* of all buffers, each rounded to PLAN_ALIGN; naive_bytes at most */
    size_t alive; /* … the most at once, in the order of main: the best packing of these buffers,
                     which the paper does not do, needs no less */
};

/* When the regions' scratch is known: after plan_pack. */
struct in_place_only plan_in_place_only(const struct plan *plan, struct arena *arena,
                                        const struct region *regions);

#endif
