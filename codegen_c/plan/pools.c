/* pools.c - which memory each block goes to, where there are several.
 *
 * needs    blocks with sizes and lifetimes, pools with sizes and speeds
 * gives    block->pool and offset, the bytes and the traffic of each pool
 * method   blocks in the order of traffic for each of their bytes; each goes to the fastest pool
 *          that still has room while it is alive. Then each pool is packed exactly; where that does
 *          not fit (offsets may need more than what is alive), the block with the least traffic
 *          moves on to the next pool. If a block finds no room, all is tried again with the largest
 *          blocks first */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/plan/plan.h"

enum { NOWHERE = -1 };

struct pools {
    struct plan *plan;
    struct ctx *ctx;
    uint64_t *traffic; /* by block */
    int *pool_order;   /* the fastest first */
    int *order;        /* of blocks */
    size_t **alive;    /* [pool][region] bytes */
    bool **banned;     /* [pool][block]: it has been moved out once */
};

/* --- traffic ------------------------------------------------------------------------------------
 */

/* What regions read and write of each block; scratch is written and read once. */
static void find_traffic(struct pools *pools, const struct region *regions)
{
    const struct plan *plan = pools->plan;

    for (int r = 0; r < plan->n_regions; r++) {
        const struct node *call = regions[r].call;

        for (int i = 0; i < call->n_inputs + call->n_outputs; i++) {
            const struct value *value =
                i < call->n_inputs ? call->inputs[i] : call->outputs[i - call->n_inputs];

            if (plan->block[value->id] >= 0)
                pools->traffic[plan->block[value->id]] += type_bytes(&value->type);
        }
    }
    for (int i = 0; i < plan->n_blocks; i++)
        if (!plan->blocks[i].value)
            pools->traffic[i] = 2 * plan->blocks[i].bytes;
}

static double heat(const struct pools *pools, int block)
{
    return (double)pools->traffic[block] / (double)plan_round(pools->plan->blocks[block].bytes);
}

/* Insertion sort: stable, and there is nothing else to hand to qsort. */
static void sort(int *at, int n, bool (*before)(const struct pools *pools, int a, int b),
                 const struct pools *pools)
{
    for (int i = 1; i < n; i++) {
        const int moved = at[i];
        int k = i;

        for (; k > 0 && before(pools, moved, at[k - 1]); k--)
            at[k] = at[k - 1];
        at[k] = moved;
    }
}

static bool hotter(const struct pools *pools, int a, int b)
{
    const double heat_a = heat(pools, a), heat_b = heat(pools, b);

    return heat_a != heat_b ? heat_a > heat_b : pools->traffic[a] > pools->traffic[b];
}

static bool larger(const struct pools *pools, int a, int b)
{
    return pools->plan->blocks[a].bytes > pools->plan->blocks[b].bytes;
}

static bool faster(const struct pools *pools, int a, int b)
{
    static const int rank[] = { [POOL_FAST] = 0, [POOL_NORMAL] = 1, [POOL_SLOW] = 2 };

    return rank[pools->plan->pools[a].of->speed] < rank[pools->plan->pools[b].of->speed];
}

/* --- placement ----------------------------------------------------------------------------------
 */

static void change(struct pools *pools, int block, int pool, bool add)
{
    const struct block *b = &pools->plan->blocks[block];
    const size_t bytes = plan_round(b->bytes);

    for (int r = b->first; r <= b->last; r++)
        pools->alive[pool][r] += add ? bytes : 0 - bytes;
}

static bool has_room(const struct pools *pools, int block, int pool)
{
    const struct block *b = &pools->plan->blocks[block];
    const size_t limit = pools->plan->pools[pool].of->bytes, bytes = plan_round(b->bytes);

    if (pools->banned[pool][block] || bytes > limit)
        return false;
    for (int r = b->first; r <= b->last; r++)
        if (pools->alive[pool][r] > limit - bytes)
            return false;
    return true;
}

static bool place(struct pools *pools, int block)
{
    struct plan *plan = pools->plan;

    plan->blocks[block].pool = NOWHERE;
    for (int i = 0; i < plan->n_pools; i++) {
        const int pool = pools->pool_order[i];

        if (!has_room(pools, block, pool))
            continue;
        plan->blocks[block].pool = pool;
        change(pools, block, pool, true);
        return true;
    }
    return false;
}

static struct packing pack_pool(struct pools *pools, int pool)
{
    struct plan *plan = pools->plan;
    struct block *blocks = arena_array(&pools->ctx->scratch, struct block, plan->n_blocks);
    struct packing packing;
    int n = 0;

    for (int i = 0; i < plan->n_blocks; i++)
        if (plan->blocks[i].pool == pool)
            blocks[n++] = plan->blocks[i];
    packing = pack_blocks(&pools->ctx->scratch, blocks, n, PACK_WORK);
    for (int i = 0, k = 0; i < plan->n_blocks; i++)
        if (plan->blocks[i].pool == pool)
            plan->blocks[i].offset = blocks[k++].offset;
    return packing;
}

/* Packs the pool, and moves blocks out of it until they fit. */
static bool fill_pool(struct pools *pools, int pool)
{
    struct plan *plan = pools->plan;

    for (;;) {
        const struct packing packing = pack_pool(pools, pool);
        int coldest = NOWHERE;

        plan->pools[pool].bytes = packing.bytes;
        if (packing.bytes <= plan->pools[pool].of->bytes)
            return true;
        for (int i = 0; i < plan->n_blocks; i++)
            if (plan->blocks[i].pool == pool && (coldest < 0 || !hotter(pools, i, coldest)))
                coldest = i;
        pools->banned[pool][coldest] = true;
        change(pools, coldest, pool, false);
        if (!place(pools, coldest))
            return false;
    }
}

static void start(struct pools *pools)
{
    const struct plan *plan = pools->plan;

    for (int p = 0; p < plan->n_pools; p++) {
        memset(pools->alive[p], 0, (size_t)plan->n_regions * sizeof **pools->alive);
        memset(pools->banned[p], 0, (size_t)plan->n_blocks * sizeof **pools->banned);
    }
    for (int i = 0; i < plan->n_blocks; i++)
        pools->order[i] = i;
}

/* In this order of blocks; *stuck is one that finds no room. A pool that was packed may get blocks
 * of another one, which was packed later: until none moves. */
static bool try_order(struct pools *pools, bool (*before)(const struct pools *pools, int a, int b),
                      int *stuck)
{
    struct plan *plan = pools->plan;
    bool ok = true;

    start(pools);
    sort(pools->order, plan->n_blocks, before, pools);
    for (int i = 0; i < plan->n_blocks && ok; i++) {
        *stuck = pools->order[i];
        ok = place(pools, pools->order[i]);
    }
    for (int round = 0; round <= plan->n_pools && ok; round++)
        for (int i = 0; i < plan->n_pools && ok; i++)
            ok = fill_pool(pools, pools->pool_order[i]);
    for (int i = 0; i < plan->n_blocks; i++)
        if (plan->blocks[i].pool == NOWHERE)
            *stuck = i;
    return ok;
}

static bool no_room(struct pools *pools, int stuck)
{
    const struct plan *plan = pools->plan;
    const struct block *block = &plan->blocks[stuck];
    struct arena *arena = &pools->ctx->perm;
    struct str text = { .arena = arena };

    diag_error(pools->ctx, DIAG_RAM, NULL, "no pool has room for %s of %zu bytes",
               block->value ? arena_printf(arena, "'%s'", str_safe(arena, block->value->name, 60))
                            : "a region's scratch",
               block->bytes);
    for (int p = 0; p < plan->n_pools; p++)
        str_printf(&text, "%s%s has %zu bytes", p ? ", " : "", plan->pools[p].of->name,
                   plan->pools[p].of->bytes);
    diag_note(pools->ctx, "%s; one arena would need %zu", str_text(&text),
              pack_lower_bound(&pools->ctx->scratch, plan->blocks, plan->n_blocks));
    return false;
}

bool plan_pools(struct plan *plan, struct ctx *ctx, const struct region *regions)
{
    struct arena *arena = &ctx->scratch;
    struct pools pools = { .plan = plan,
                           .ctx = ctx,
                           .traffic = arena_array(arena, uint64_t, plan->n_blocks),
                           .pool_order = arena_array(arena, int, plan->n_pools),
                           .order = arena_array(arena, int, plan->n_blocks),
                           .alive = arena_array(arena, size_t *, plan->n_pools),
                           .banned = arena_array(arena, bool *, plan->n_pools) };
    int stuck = 0;

    for (int p = 0; p < plan->n_pools; p++) {
        pools.pool_order[p] = p;
        pools.alive[p] = arena_array(arena, size_t, plan->n_regions);
        pools.banned[p] = arena_array(arena, bool, plan->n_blocks);
    }
    find_traffic(&pools, regions);
    sort(pools.pool_order, plan->n_pools, faster, &pools);
    if (!try_order(&pools, hotter, &stuck) && !try_order(&pools, larger, &stuck))
        return no_room(&pools, stuck);
    for (int p = 0; p < plan->n_pools; p++)
        plan->arena_bytes += plan->pools[p].bytes;
    for (int i = 0; i < plan->n_blocks; i++)
        plan->pools[plan->blocks[i].pool].traffic += pools.traffic[i];
    plan->lower_bound = plan->order_bound;
    return true;
}
