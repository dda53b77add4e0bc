/* plan.h - where every value of main lives while the generated code runs.
 *
 * In two steps, because kernels say how much scratch they need only after they know whether they
 * work in place: plan_alias decides which values share storage (views, in-place results, outputs
 * written directly), plan_pack gives the rest offsets in the arena. Between the two, plan_order
 * looks for a better order of the regions; where there is one, all begins again. Deterministic. */
#ifndef CODEGEN_C_CORE_PLAN_H
#define CODEGEN_C_CORE_PLAN_H

#include <stdint.h>

#include "codegen_c/codegen.h"
#include "codegen_c/core/kernel.h"

enum { PLAN_ALIGN = 16 };

/* A piece of the arena during a stretch of time: from the region that writes it first to the region
 * that reads it last, both included. Regions are numbered by their order. */
struct block {
    const struct value *value; /* the first value stored in it; NULL = scratch of region `first` */
    size_t bytes;              /* as asked for, not rounded */
    int first, last;
    size_t offset;
    int pool;    /* index into plan->pools */
    int before;  /* the number, plus 1, of a block whose last region is the first of this one: this
                    one may reach into it, if it begins `overlap` bytes or more in front; 0 = none */
    size_t overlap; /* a multiple of PLAN_ALIGN */
    bool exact;     /* no more than `overlap` */
};

/* What lies in one memory. Without --pool there is one, which is called "arena". */
struct pool {
    const struct codegen_pool *of; /* NULL = the one without limit */
    size_t bytes;                  /* of the arena: a multiple of PLAN_ALIGN, or 0 */
    size_t constant_bytes;         /* rounded each to PLAN_ALIGN */
    uint64_t traffic;              /* bytes that regions load and store there in one run */
};

/* A constant array, which is there all the time. */
struct plan_constant {
    size_t bytes;
    uint64_t traffic; /* bytes of it that regions load in one run */
    int pool;         /* set by plan_pack; -1 = none: where compilers put constants */
};

/* A value that is stored within another one, of which it becomes a part: an operand of a
 * concatenation, or a result of a split or slice. Its pixels (what lies along its last dim) are
 * runs of the whole. A concatenation that lies over what its operands are computed from is a part
 * of that, all of it, and so are they (overlay.c). */
struct part {
    const struct value *whole; /* no part itself; NULL = the value is stored by itself */
    const struct value *of;    /* the concatenation that takes it, or what is split or lies under
                                  it: the whole or a part of that */
    int64_t at;                /* elements of the whole before the value's first */
    int64_t pixel_stride;      /* elements from one pixel to the next; 0: dense */
    bool is_view;              /* of a split or slice: who wrote the whole wrote it */
};

struct plan {
    const struct function *main; /* numbered */
    int n_regions;
    bool copies_states; /* results that are kept lie in the arena, to be copied after the last
                           region; set by plan_alias */
    bool io_inside; /* inputs are in the arena, from before the first region on, and outputs, until
                       after the last; results may go over inputs */

    /* By value id. A view (reshape) is stored where its root is, which may be part of a whole. */
    struct part *part;
    const struct value **root;
    int *result;                 /* of roots: the first result of main that is it; -1 = none */
    int *first, *last;           /* of wholes: the region that writes, the last that reads it */
    struct codegen_place *place; /* the same for a root and its views */
    int *block;                  /* index into blocks; -1 = not in the arena */

    struct block *blocks; /* values in the order of writing, then scratch */
    int n_blocks, capacity;

    int n_constants; /* that pools are to take, given to plan_pack; 0 = none */
    struct plan_constant *constants;

    int n_pools; /* at least 1, after plan_pack */
    struct pool *pools;
    size_t zone;        /* plan_guard */
    size_t arena_bytes; /* of all pools; a multiple of PLAN_ALIGN, or 0 */
    size_t lower_bound; /* no offsets for these blocks can need less */
    bool optimal;       /* arena_bytes == lower_bound */
    size_t naive_bytes; /* every value and every scratch its own place */
    size_t order_peak;  /* the most alive at once */
    size_t order_bound; /* … which is no less in any order of the regions */
};

/* Which values are stored as parts of others: by value id, for roots and views alike. Sets
 * region->absent of the concatenations: where all operands are, there is nothing left to do, and
 * the region is to be left out from here on. */
struct part *plan_parts(struct arena *arena, const struct function *main, struct region *regions,
                        int n_regions, bool io_inside);

/* Begins a plan: fills root, first and last. */
void plan_liveness(struct plan *plan, struct arena *arena, const struct function *main,
                   struct part *part, const struct region *regions, int n_regions, bool io_inside);

/* What a value's memory belongs to: the whole, or the root itself; and where it begins in that. */
const struct value *plan_whole(const struct plan *plan, const struct value *value);
size_t plan_part_bytes(const struct plan *plan, const struct value *value);

/* Decides storage classes and shared blocks, and sets region->in_place and region->over. */
void plan_alias(struct plan *plan, struct arena *arena, struct region *regions);

/* Sets where the regions' operands lie: region->operands and result_operands. */
void plan_operands(const struct plan *plan, struct arena *arena, struct region *regions);

/* Whether the region's function, as text, may write its result over this parameter: it reads each
 * element before it writes it. */
bool plan_goes_over(const struct region *region, int param);

/* Whether the result of a region that has one may be written over parameter i, if nobody else reads
 * that later. After plan_alias. */
bool plan_may_go_over(const struct plan *plan, const struct region *region, int i);

/* Whether the region has one result, and that and parameter i lie in the arena, each by itself. */
bool plan_has_place_alone(const struct plan *plan, const struct region *region, int i);

/* Bytes that the result of a region shares with what it reads while it runs, where it lies over
 * parameter region->overlap.param; 0 = it may not, or there are none. After plan_alias. */
size_t plan_overlap_bytes(const struct plan *plan, const struct region *region);

/* Sets place.low_scratch of regions whose scratch the arena would depend on. After plan_alias,
 * before the regions' text. */
void plan_low_scratch(const struct plan *plan, struct arena *arena, struct region *regions);

/* Where more than order_peak would be alive: results may reach into what their regions read.
 * Between plan_order and plan_pack. */
void plan_overlaps(struct plan *plan, struct arena *arena, const struct region *regions);

/* After plan_pack: sets place.overlaps of regions that do. */
void plan_take_overlaps(struct plan *plan, struct region *regions);

/* By region: bytes of the plan's blocks that are alive while it runs. */
size_t *plan_alive(const struct plan *plan, struct arena *arena);

/* Sets order_peak and order_bound. True: main (the plan's; NULL: it is to stay as it is) has got an
 * order in which less memory is alive at once; plan and regions are of no more use. When scratch is
 * known. */
bool plan_order(struct plan *plan, struct arena *arena, struct function *main,
                const struct region *regions);

/* Adds the regions' scratch and packs, into n pools, or, for n = 0, into one without limit. False
 * after an error: the arena would fit no target, or not the pools. */
bool plan_pack(struct plan *plan, struct ctx *ctx, const struct region *regions,
               const struct codegen_pool *pools, int n);

/* For plan_pack, with --vary (plan_variants.c): one arena for all variants. */
void plan_pack_variants(struct plan *plan, struct arena *arena, const struct region *regions);

/* For plan_pack to leave this many bytes free in front of the first block of each pool and behind
 * each block: a multiple of PLAN_ALIGN. Pools may take more than their limits then. */
void plan_guard(struct plan *plan, size_t zone);

/* For plan_pack (pools.c): gives each block a pool and an offset there, and constants a pool. What
 * is read and written most for its size goes to the fastest memory that has room while it is alive.
 * False after an error. */
bool plan_pools(struct plan *plan, struct ctx *ctx, const struct region *regions);

/* Steps of work for one network: a fraction of a second. Steps and not time, so that the result is
 * the same on every machine. */
enum { PACK_WORK = 100000000 };

struct packing {
    size_t bytes;         /* needed by the offsets found */
    size_t lower_bound;   /* no packing needs less: the most alive at one time, or more if proved */
    bool optimal;         /* bytes == lower_bound */
    uint64_t work, nodes; /* steps of the exact search, and placements tried */
};

/* Gives each of n blocks an offset, a multiple of PLAN_ALIGN, so that blocks whose times overlap do
 * not overlap in space. Best fit in several orders comes first; where that needs more than is alive
 * at one time, an exact search follows, which stops after `work` steps (0 = no search). */
struct packing pack_blocks(struct arena *scratch, struct block *blocks, int n, uint64_t work);

/* Bytes that block i shares with the one before it; 0 = there is none. */
size_t pack_shared(const struct block *blocks, int i);

/* The most bytes that are alive at one time: no packing can need less. */
size_t pack_lower_bound(struct arena *scratch, const struct block *blocks, int n);

/* Whether no two blocks that are alive at the same time overlap, but as `before` allows, and all
 * offsets are aligned and lie within `bytes`. */
bool pack_verify(const struct block *blocks, int n, size_t bytes);

/* pack_verify, and: what a region reads still holds what was written there; results lie over
 * parameters of their region only where it works in place; results of main are where the caller
 * wants them. */
bool plan_verify(const struct plan *plan, struct arena *arena, const struct region *regions);

size_t plan_round(size_t bytes);

#endif
