/* plan.c - packs the arena of a module, and checks the whole plan by following the regions. */
#include "codegen_c/plan/plan.h"

#include <assert.h>
#include <stdint.h>

bool plan_pack(struct plan *plan, struct ctx *ctx, const struct region *regions)
{
    struct packing packing;

    for (int r = 0; r < plan->n_regions; r++) {
        if (regions[r].scratch_bytes == 0)
            continue;
        assert(plan->n_blocks < plan->capacity);
        plan->blocks[plan->n_blocks++] =
            (struct block){ .bytes = regions[r].scratch_bytes, .first = r, .last = r };
        plan->naive_bytes += plan_round(regions[r].scratch_naive ? regions[r].scratch_naive
                                                                 : regions[r].scratch_bytes);
    }
    /* Two ways to the same figure: by tasks and by blocks. */
    assert(plan->order_peak == pack_lower_bound(&ctx->scratch, plan->blocks, plan->n_blocks));
    packing = pack_blocks(&ctx->scratch, plan->blocks, plan->n_blocks, PACK_WORK);
    plan->arena_bytes = packing.bytes;
    plan->lower_bound = packing.lower_bound;
    plan->optimal = packing.optimal;
    for (int i = 0; i < plan->main->n_values; i++)
        if (plan->block[i] >= 0)
            plan->place[i].offset = plan->blocks[plan->block[i]].offset;
    if (plan->arena_bytes > INT32_MAX) {
        diag_error(
            ctx, DIAG_TOO_BIG, NULL,
            "the arena would take %zu bytes; 2147483647 is the most that a target of 32 bits "
            "can index",
            plan->arena_bytes);
        diag_help(ctx, "try a smaller input with --shape, or batch 1");
        return false;
    }
    return true;
}

/* What each block holds while the regions run. */
struct contents {
    const struct plan *plan;
    const struct value **of; /* by block: a root, NULL = nothing yet */
};

static bool can_read(const struct contents *contents, const struct value *value)
{
    const struct value *root = contents->plan->root[value->id];
    const int block = contents->plan->block[root->id];

    return block < 0 || contents->of[block] == root;
}

static bool write(struct contents *contents, const struct region *region,
                  const struct value *result)
{
    const struct plan *plan = contents->plan;
    const int block = plan->block[result->id];

    if (block < 0)
        return true;
    for (int i = 0; i < region->call->n_inputs; i++)
        if (plan->block[region->call->inputs[i]->id] == block &&
            !(region->in_place && region->over == i))
            return false;
    if (type_bytes(&result->type) > plan->blocks[block].bytes ||
        plan->blocks[block].first > region->index || plan->blocks[block].last < region->index)
        return false;
    contents->of[block] = result;
    return true;
}

/* fuse_ops has made copies where a result is something else than a region's own output. */
static bool results_have_places(const struct plan *plan)
{
    const struct node *ret = plan->main->ret;

    for (int i = 0; i < ret->n_inputs; i++) {
        const struct codegen_place *place = &plan->place[ret->inputs[i]->id];

        if (place->kind != PLACE_OUTPUT || place->index != i)
            return false;
    }
    return true;
}

bool plan_verify(const struct plan *plan, struct arena *arena, const struct region *regions)
{
    struct contents contents = { plan, arena_array(arena, const struct value *, plan->n_blocks) };

    if (!pack_verify(plan->blocks, plan->n_blocks, plan->arena_bytes) || !results_have_places(plan))
        return false;
    for (int r = 0; r < plan->n_regions; r++) {
        const struct node *call = regions[r].call;

        for (int i = 0; i < call->n_inputs; i++) {
            const int block = plan->block[call->inputs[i]->id];

            if (!can_read(&contents, call->inputs[i]) ||
                (block >= 0 && plan->blocks[block].last < r))
                return false;
        }
        for (int i = 0; i < call->n_outputs; i++)
            if (!write(&contents, &regions[r], call->outputs[i]))
                return false;
    }
    return true;
}
