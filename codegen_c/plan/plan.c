/* plan.c - packs the arena of a module, and checks the whole plan by following the regions. */
#include "codegen_c/core/plan.h"

#include <assert.h>
#include <stdint.h>

#include "relay_ir/state.h"

void plan_guard(struct plan *plan, size_t zone)
{
    plan->zone = zone;
}

/* One pool, without its limit. Zones are packed as if they belonged to the blocks in front of them.
 */
static struct packing pack_pool(struct plan *plan, struct ctx *ctx, int pool)
{
    struct block *blocks = arena_array(&ctx->scratch, struct block, plan->n_blocks);
    struct packing packing;
    size_t front;
    int n = 0;

    for (int i = 0; i < plan->n_blocks; i++)
        if (plan->blocks[i].pool == pool) {
            blocks[n] = plan->blocks[i];
            if (plan->zone)
                blocks[n].bytes = plan_round(blocks[n].bytes) + plan->zone;
            n++;
        }
    packing = pack_blocks(&ctx->scratch, blocks, n, PACK_WORK);
    front = packing.bytes ? plan->zone : 0;
    for (int i = 0, k = 0; i < plan->n_blocks; i++)
        if (plan->blocks[i].pool == pool)
            plan->blocks[i].offset = blocks[k++].offset + front;
    packing.bytes += front;
    packing.lower_bound += front;
    plan->pools[pool].bytes = packing.bytes;
    return packing;
}

static void pack_one(struct plan *plan, struct ctx *ctx)
{
    const struct packing packing = pack_pool(plan, ctx, 0);

    plan->arena_bytes = packing.bytes;
    plan->lower_bound = packing.lower_bound;
    plan->optimal = packing.optimal;
}

/* Each pool again, with zones. */
static void pack_guarded(struct plan *plan, struct ctx *ctx)
{
    plan->arena_bytes = 0;
    for (int p = 0; p < plan->n_pools; p++)
        plan->arena_bytes += pack_pool(plan, ctx, p).bytes;
}

bool plan_pack(struct plan *plan, struct ctx *ctx, const struct region *regions,
               const struct codegen_pool *pools, int n)
{
    plan->n_pools = n ? n : 1;
    plan->pools = arena_array(&ctx->perm, struct pool, plan->n_pools);
    for (int p = 0; p < n; p++)
        plan->pools[p].of = &pools[p];
    for (int r = 0; r < plan->n_regions; r++) {
        if (regions[r].config.scratch_bytes == 0)
            continue;
        assert(plan->n_blocks < plan->capacity);
        plan->blocks[plan->n_blocks++] =
            (struct block){ .bytes = regions[r].config.scratch_bytes, .first = r, .last = r };
        plan->naive_bytes +=
            plan_round(regions[r].config.scratch_naive ? regions[r].config.scratch_naive
                                                       : regions[r].config.scratch_bytes);
    }
    /* Two ways to the same figure: by tasks and by blocks. */
    assert(plan->order_peak == pack_lower_bound(&ctx->scratch, plan->blocks, plan->n_blocks));
    if (plan->main->module->variants)
        plan_pack_variants(plan, &ctx->scratch, regions);
    else if (n == 0)
        pack_one(plan, ctx);
    else if (!plan_pools(plan, ctx, regions))
        return false;
    else if (plan->zone)
        pack_guarded(plan, ctx);
    for (int i = 0; i < plan->main->n_values; i++)
        if (plan->block[i] >= 0)
            plan->place[i].offset += plan->blocks[plan->block[i]].offset; /* of a part: to its at */
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
    const struct value **of;       /* by block: a whole, NULL = nothing yet */
    bool *has_parts;               /* by value id: is a whole */
    bool *written;                 /* by value id: of a root, and still there */
    bool *is_overlaid;             /* by value id: a whole of which parts were written later */
    const struct value **parts_of; /* by value id of a whole: itself or a part of it, … */
    const struct value **sibling;  /* … by value id: another one */
    const struct value **left; /* of can_read, and the piece that is read of each, or it itself */
    const struct value **piece;
};

/* Elements of its whole from the first to behind the last that the value's first pixel, or all of
 * it, takes. */
static int64_t part_run(const struct value *value, const struct part *part)
{
    const struct type *type = &value->type;

    return part->pixel_stride ? type->dim[type->rank - 1] : type_elements(type);
}

/* Of one whole; true where it is not known. */
static bool parts_overlap(const struct plan *plan, const struct value *a, const struct value *b)
{
    const struct part *p = &plan->part[a->id], *q = &plan->part[b->id];

    return p->pixel_stride != q->pixel_stride ||
           (p->at < q->at + part_run(b, q) && q->at < p->at + part_run(a, p));
}

/* Whether a result lies over this piece of a whole that was written before (overlay.c). */
static bool is_written_over(const struct contents *contents, const struct value *whole,
                            const struct value *piece)
{
    const struct plan *plan = contents->plan;

    if (!contents->is_overlaid[whole->id])
        return false;
    for (const struct value *over = contents->parts_of[whole->id]; over;
         over = contents->sibling[over->id])
        if (plan->root[over->id] == over && plan->part[over->id].whole == whole &&
            !plan->part[over->id].is_view && contents->written[over->id] &&
            parts_overlap(plan, over, piece))
            return true;
    return false;
}

/* A whole can be read when its parts are there, and the parts of these. No recursion: they may be
 * nested as deeply as a model likes. */
static bool can_read(const struct contents *contents, const struct value *value)
{
    const struct plan *plan = contents->plan;
    int n_left = 0;

    contents->left[n_left] = value;
    contents->piece[n_left++] = value;
    while (n_left > 0) {
        const struct value *root = plan->root[contents->left[--n_left]->id];
        const struct value *piece = contents->piece[n_left];
        const int block = plan->block[root->id];

        if (block >= 0 && contents->of[block] != plan_whole(plan, root))
            return false;
        if (root->kind != VALUE_OUTPUT || contents->written[root->id]) {
            if (plan_whole(plan, root) == root && is_written_over(contents, root, piece))
                return false;
            continue;
        }
        if (plan->part[root->id].is_view) {
            contents->left[n_left] = root->def->inputs[0];
            contents->piece[n_left++] = piece; /* what is asked for */
            continue;
        }
        for (int i = 0; i < root->def->n_inputs; i++) {
            if (!plan->part[root->def->inputs[i]->id].whole || n_left >= plan->main->n_values)
                return false;
            contents->left[n_left] = root->def->inputs[i];
            contents->piece[n_left++] = root->def->inputs[i];
        }
    }
    return true;
}

/* Whatever the block held is lost. */
static void take_block(struct contents *contents, int block, const struct value *whole)
{
    const struct value *old = contents->of[block];

    contents->of[block] = whole;
    if (!old || old == whole || !contents->has_parts[old->id])
        return;
    for (const struct value *part = contents->parts_of[old->id]; part;
         part = contents->sibling[part->id])
        contents->written[part->id] = false;
}

static bool write(struct contents *contents, const struct region *region,
                  const struct value *result)
{
    const struct plan *plan = contents->plan;
    const int block = plan->block[result->id];
    const struct value *whole = plan_whole(plan, result);

    contents->written[result->id] = true;
    if (whole != result && contents->written[whole->id])
        contents->is_overlaid[whole->id] = true;
    if (block < 0)
        return true;
    for (int i = 0; i < region->call->n_inputs; i++)
        if (plan->block[region->call->inputs[i]->id] == block &&
            plan_whole(plan, region->call->inputs[i]) != whole &&
            !(region->place.in_place && region->place.over == i))
            return false;
    if (type_bytes(&whole->type) > plan->blocks[block].bytes ||
        plan->blocks[block].first > region->index || plan->blocks[block].last < region->index)
        return false;
    take_block(contents, block, whole);
    return true;
}

/* fuse_ops has made copies where a result is something else than a region's own output. */
static bool results_have_places(const struct plan *plan)
{
    const struct node *ret = plan->main->ret;

    for (int i = 0; i < ret->n_inputs; i++) {
        const struct codegen_place *place = &plan->place[ret->inputs[i]->id];
        const bool inside = place->kind == PLACE_ARENA && plan->block[ret->inputs[i]->id] >= 0;

        const bool outside = place->kind == PLACE_OUTPUT && place->index == i;

        if (state_of_result(plan->main->module, i) ? !inside && !outside
            : plan->io_inside                      ? !inside
                                                   : !outside)
            return false;
    }
    return true;
}

/* Whether operands that lie in a concatenation have places of their own there. */
static bool parts_are_apart(const struct plan *plan)
{
    for (const struct node *node = plan->main->first; node; node = node->next)
        for (int i = 0; i < node->n_inputs && node->op == OP_CALL; i++)
            for (int k = 0; k < i; k++) {
                const struct value *a = node->inputs[i], *b = node->inputs[k];
                const struct part *p = &plan->part[a->id], *q = &plan->part[b->id];

                if (p->of && p->of == q->of && !p->is_view && !q->is_view &&
                    plan->root[a->id] != plan->root[b->id] && parts_overlap(plan, a, b))
                    return false;
            }
    return true;
}

/* Each pool by itself. */
static bool pools_are_packed(const struct plan *plan, struct arena *arena)
{
    struct block *blocks = arena_array(arena, struct block, plan->n_blocks);

    for (int p = 0; p < plan->n_pools; p++) {
        const struct pool *pool = &plan->pools[p];
        int n = 0;

        for (int i = 0; i < plan->n_blocks; i++)
            if (plan->blocks[i].pool == p)
                blocks[n++] = plan->blocks[i];
        if (!pack_verify(blocks, n, pool->bytes) ||
            (pool->of && !plan->zone && pool->bytes + pool->constant_bytes > pool->of->bytes))
            return false;
    }
    return true;
}

bool plan_verify(const struct plan *plan, struct arena *arena, const struct region *regions)
{
    const int n = plan->main->n_values;
    struct contents contents = { .plan = plan,
                                 .of = arena_array(arena, const struct value *, plan->n_blocks),
                                 .has_parts = arena_array(arena, bool, n),
                                 .written = arena_array(arena, bool, n),
                                 .is_overlaid = arena_array(arena, bool, n),
                                 .parts_of = arena_array(arena, const struct value *, n),
                                 .sibling = arena_array(arena, const struct value *, n),
                                 .left = arena_array(arena, const struct value *, n + 1),
                                 .piece = arena_array(arena, const struct value *, n + 1) };

    for (int i = 0; i < n; i++)
        if (plan->part[i].whole)
            contents.has_parts[plan->part[i].whole->id] = true;
    for (const struct node *node = plan->main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++) {
            const struct value *value = node->outputs[i];
            const int whole = plan_whole(plan, value)->id;

            contents.sibling[value->id] = contents.parts_of[whole];
            contents.parts_of[whole] = value;
        }
    if (!parts_are_apart(plan) || !pools_are_packed(plan, arena) || !results_have_places(plan))
        return false;
    for (int i = 0; i < plan->main->n_params && plan->io_inside; i++)
        if (plan->block[plan->main->params[i]->id] >= 0)
            contents.of[plan->block[plan->main->params[i]->id]] = plan->main->params[i];
    for (int r = 0; r < plan->n_regions; r++) {
        const struct node *call = regions[r].call;

        for (int i = 0; i < call->n_inputs; i++) {
            const int block = plan->block[call->inputs[i]->id];

            if (!can_read(&contents, call->inputs[i]) ||
                (block >= 0 && plan->blocks[block].last < r))
                return false;
        }
        for (int i = 0; i < regions[r].guards.n; i++) {
            const struct value *condition = regions[r].guards.at[i].condition;
            const int block = plan->block[condition->id];

            if (!can_read(&contents, condition) || (block >= 0 && plan->blocks[block].last < r))
                return false;
        }
        for (int i = 0; i < call->n_outputs; i++)
            if (!write(&contents, &regions[r], call->outputs[i]))
                return false;
    }
    for (int i = 0; i < plan->main->ret->n_inputs; i++)
        if (!can_read(&contents, plan->main->ret->inputs[i]))
            return false;
    return true;
}
