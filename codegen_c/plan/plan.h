/* plan.h - where every value of main lives while the generated code runs.
 *
 * In two steps, because kernels say how much scratch they need only after they know whether they
 * work in place: plan_alias decides which values share storage (views, in-place results, outputs
 * written directly), plan_pack gives the rest offsets in the arena. Deterministic. */
#ifndef CODEGEN_C_PLAN_PLAN_H
#define CODEGEN_C_PLAN_PLAN_H

#include "codegen_c/codegen.h"
#include "codegen_c/kernel.h"

enum { PLAN_ALIGN = 16 };

/* A piece of the arena during a stretch of time. Regions are numbered by their order; a value is
 * alive from the region that writes it to the last that reads it, both included. */
struct block {
    const struct value *value; /* the first value stored in it; NULL = scratch of region `first` */
    size_t bytes;              /* as asked for, not rounded */
    int first, last;
    size_t offset;
};

struct plan {
    const struct function *main;
    int n_regions;

    /* By value id. A value's storage is that of its root; roots have a place of their own. */
    const struct value **root;
    struct codegen_place *place;
    int *block;      /* index into blocks, -1 = not in the arena */

    struct block *blocks;
    int n_blocks;

    size_t arena_bytes; /* a multiple of PLAN_ALIGN, or 0 */
    size_t lower_bound; /* the most bytes alive at one time, rounded like offsets */
    size_t naive_bytes; /* every block its own place */
};

/* Decides storage classes, and sets region->in_place and region->over. */
void plan_alias(struct plan *plan, struct arena *arena, const struct function *main,
                struct region *regions, int n_regions);

/* Adds the regions' scratch and packs. False after an error: the arena would not fit a target. */
bool plan_pack(struct plan *plan, struct ctx *ctx, struct arena *arena,
               const struct region *regions);

/* Gives each of n blocks an offset, a multiple of PLAN_ALIGN, so that blocks whose times overlap do
 * not overlap in space: best fit into the gaps between blocks placed before, largest first. Returns
 * the bytes needed. */
size_t pack_blocks(struct arena *scratch, struct block *blocks, int n);

/* The most bytes that are alive at one time: no packing can need less. */
size_t pack_lower_bound(struct arena *scratch, const struct block *blocks, int n);

/* Whether no two blocks that are alive at the same time overlap, all offsets are aligned and inside
 * `bytes`. */
bool pack_verify(const struct block *blocks, int n, size_t bytes);

/* pack_verify, and: results do not lie over parameters of their region but where it works in place,
 * and what a region reads still holds what was written. */
bool plan_verify(const struct plan *plan, const struct region *regions);

#endif
