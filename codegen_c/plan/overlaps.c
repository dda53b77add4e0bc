/* overlaps.c - results that reach into what their regions read (codegen_c/core/overlap.h).
 *
 * needs    a plan with aliases, its regions' scratch, and order_peak
 * gives    block->before, block->overlap; with offsets, place.overlaps
 * method   only where more would be alive than must be: then other regions keep their text, and
 *          what a compiler may assume of their arguments */
#include "codegen_c/core/plan.h"

#include <assert.h>

/* May be 0, unlike plan_round's. */
static size_t round_overlap(const struct region *region)
{
    return (region->config.overlap.bytes + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN;
}

size_t plan_overlap_bytes(const struct plan *plan, const struct region *region)
{
    const struct value *x, *y = region->call->outputs[0];
    struct block pair[2] = { 0 };

    if (!region->config.can_overlap ||
        !plan_has_place_alone(plan, region, region->config.overlap.param))
        return 0;
    x = plan->root[region->call->inputs[region->config.overlap.param]->id];
    /* Leads are proved of pixels side by side; what else the region reads lies elsewhere. */
    assert(!region->place.operands ||
           (operand_is_dense(&region->place.operands[region->config.overlap.param]) &&
            operand_is_dense(&region->place.result_operands[0])));
    pair[0].bytes = type_bytes(&x->type);
    pair[1].bytes = type_bytes(&y->type);
    pair[1].before = 1;
    pair[1].overlap = round_overlap(region);
    return pack_shared(pair, 1);
}

size_t *plan_alive(const struct plan *plan, struct arena *arena)
{
    size_t *alive = arena_array(arena, size_t, plan->n_regions + 1), now = 0;

    for (int i = 0; i < plan->n_blocks; i++) { /* size_t wraps and comes back */
        alive[plan->blocks[i].first] += plan_round(plan->blocks[i].bytes);
        alive[plan->blocks[i].last + 1] -= plan_round(plan->blocks[i].bytes);
    }
    for (int r = 0; r < plan->n_regions; r++)
        alive[r] = now += alive[r];
    for (int i = 0; i < plan->n_blocks; i++)
        alive[plan->blocks[i].first] -= pack_shared(plan->blocks, i);
    return alive;
}

/* By region, scratch included, before anything overlaps. */
static size_t *alive_with_scratch(const struct plan *plan, struct arena *arena,
                                  const struct region *regions)
{
    size_t *alive = plan_alive(plan, arena);

    for (int r = 0; r < plan->n_regions; r++)
        alive[r] +=
            regions[r].config.scratch_bytes ? plan_round(regions[r].config.scratch_bytes) : 0;
    return alive;
}

void plan_overlaps(struct plan *plan, struct arena *arena, const struct region *regions)
{
    const size_t *alive = alive_with_scratch(plan, arena, regions);

    for (int r = 0; r < plan->n_regions; r++) {
        const struct region *region = &regions[r];
        const struct value *x;
        struct block *block;

        if (alive[r] <= plan->order_peak || region->place.in_place ||
            plan_overlap_bytes(plan, region) == 0)
            continue;
        x = plan->root[region->call->inputs[region->config.overlap.param]->id];
        if (plan->last[x->id] != r)
            continue;
        block = &plan->blocks[plan->block[region->call->outputs[0]->id]];
        block->before = plan->block[x->id] + 1;
        block->overlap = round_overlap(region);
        block->exact = region->config.overlap.exact;
    }
}

void plan_take_overlaps(struct plan *plan, struct region *regions)
{
    for (int i = 0; i < plan->n_blocks; i++) {
        struct block *y = &plan->blocks[i];
        const struct block *x = y->before ? &plan->blocks[y->before - 1] : NULL;

        if (!x)
            continue;
        if (y->offset < x->offset + plan_round(x->bytes) &&
            x->offset < y->offset + plan_round(y->bytes))
            regions[y->first].place.overlaps = true;
        else
            y->before = 0;
    }
}
