/* low_scratch.c - regions that have to do without scratch (kernel.spares).
 *
 * needs    a plan with aliases; kernels and overlaps chosen
 * gives    place.low_scratch
 * method   where scratch, beside what is alive in this order, would be more than the arena needs
 *          without any scratch. Where regions hand nothing to each other, scratch is all there is,
 *          and stays */
#include "codegen_c/core/plan.h"

/* Alive during the region, if its result lies over what it reads as far as it can. */
static size_t least_alive(const struct plan *plan, const struct region *region, size_t alive)
{
    const struct value *x;

    if (region->place.in_place || plan_overlap_bytes(plan, region) == 0)
        return alive;
    x = plan->root[region->call->inputs[region->config.overlap.param]->id];
    return plan->last[x->id] == region->index ? alive - plan_overlap_bytes(plan, region) : alive;
}

void plan_low_scratch(const struct plan *plan, struct arena *arena, struct region *regions)
{
    size_t *alive = arena_array(arena, size_t, plan->n_regions + 1), now = 0, peak = 0;

    for (int i = 0; i < plan->n_blocks; i++) { /* size_t wraps and comes back */
        alive[plan->blocks[i].first] += plan_round(plan->blocks[i].bytes);
        alive[plan->blocks[i].last + 1] -= plan_round(plan->blocks[i].bytes);
    }
    for (int r = 0; r < plan->n_regions; r++) {
        now += alive[r];
        alive[r] = least_alive(plan, &regions[r], now);
        peak = alive[r] > peak ? alive[r] : peak;
    }
    for (int r = 0; r < plan->n_regions && peak > 0; r++) {
        const size_t scratch = kernel_spares(&regions[r]);

        regions[r].place.low_scratch = scratch > 0 && alive[r] + plan_round(scratch) > peak;
    }
}
