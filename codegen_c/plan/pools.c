/* pools.c - which memory each block and each constant goes to, where there are several.
 *
 * needs    blocks with sizes and lifetimes, constants, pools with sizes and speeds
 * gives    block->pool and offset, constant->pool, the bytes and the traffic of each pool
 * method   items (blocks, and constants, which are alive all the time) in the order of traffic for
 *          each of their bytes; each goes to the fastest pool that takes it and has room while it
 *          is alive. Then each pool is packed exactly; where that does not fit (offsets may need
 *          more than what is alive), the item with the least traffic moves on to the next pool. The
 *          same in the order of traffic for each byte and region that the item is alive: what lives
 *          shortly leaves its place to others. Of both what costs less is taken, traffic by the
 *          pools' speeds. If neither finds room for all, the largest items come first */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/core/plan.h"
#include "codegen_c/core/traffic.h"

enum { NOWHERE = -1, USUAL = -2 }; /* where a compiler puts constants by itself */

struct pools {
    struct plan *plan;
    struct ctx *ctx;
    int n_items;       /* blocks, then constants */
    int *pool;         /* by item */
    uint64_t *traffic; /* by item */
    int *pool_order;   /* the fastest first */
    int *order;        /* of items */
    size_t **alive;    /* [pool][region] bytes */
    bool **banned;     /* [pool][item]: it has been moved out once */
    bool is_limited;   /* the usual place of constants is one of the pools */
};

/* --- traffic ---------------------------------------------------------------------------------- */

static const struct plan_constant *constant_of(const struct pools *pools, int item)
{
    const int n = pools->plan->n_blocks;

    return item < n ? NULL : &pools->plan->constants[item - n];
}

static size_t item_bytes(const struct pools *pools, int item)
{
    const struct plan_constant *constant = constant_of(pools, item);

    return plan_round(constant ? constant->bytes : pools->plan->blocks[item].bytes);
}

/* What regions load and store of each block; scratch is written and read once. */
static void find_traffic(struct pools *pools, const struct region *regions)
{
    const struct plan *plan = pools->plan;

    for (int r = 0; r < plan->n_regions; r++) {
        const struct node *call = regions[r].call;

        for (int i = 0; i < call->n_inputs; i++)
            if (plan->block[call->inputs[i]->id] >= 0)
                pools->traffic[plan->block[call->inputs[i]->id]] +=
                    traffic_of_param(&regions[r], i);
        for (int i = 0; i < call->n_outputs; i++)
            if (plan->block[call->outputs[i]->id] >= 0)
                pools->traffic[plan->block[call->outputs[i]->id]] +=
                    type_bytes(&call->outputs[i]->type);
    }
    for (int i = 0; i < plan->n_blocks; i++)
        if (!plan->blocks[i].value)
            pools->traffic[i] = 2 * plan->blocks[i].bytes;
    for (int i = 0; i < plan->n_constants; i++)
        pools->traffic[plan->n_blocks + i] = plan->constants[i].traffic;
}

/* What is empty is cold. */
static double heat(const struct pools *pools, int item)
{
    const size_t bytes = item_bytes(pools, item);

    return bytes ? (double)pools->traffic[item] / (double)bytes : 0;
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

/* The regions during which an item is there: a constant always. */
static void lifetime(const struct pools *pools, int item, int *first, int *last)
{
    const bool is_block = item < pools->plan->n_blocks;

    *first = is_block ? pools->plan->blocks[item].first : 0;
    *last = is_block ? pools->plan->blocks[item].last : pools->plan->n_regions - 1;
}

static double density(const struct pools *pools, int item)
{
    int first, last;

    lifetime(pools, item, &first, &last);
    return heat(pools, item) / (last - first + 1);
}

static bool denser(const struct pools *pools, int a, int b)
{
    const double density_a = density(pools, a), density_b = density(pools, b);

    return density_a != density_b ? density_a > density_b : hotter(pools, a, b);
}

static bool larger(const struct pools *pools, int a, int b)
{
    return item_bytes(pools, a) > item_bytes(pools, b);
}

static bool faster(const struct pools *pools, int a, int b)
{
    static const int rank[] = { [POOL_FAST] = 0, [POOL_NORMAL] = 1, [POOL_SLOW] = 2 };

    return rank[pools->plan->pools[a].of->speed] < rank[pools->plan->pools[b].of->speed];
}

/* --- placement -------------------------------------------------------------------------------- */

static void change(struct pools *pools, int item, int pool, bool add)
{
    const size_t bytes = item_bytes(pools, item);
    int first, last;

    lifetime(pools, item, &first, &last);
    for (int r = first; r <= last; r++)
        pools->alive[pool][r] += add ? bytes : 0 - bytes;
    if (constant_of(pools, item))
        pools->plan->pools[pool].constant_bytes += add ? bytes : 0 - bytes;
}

static bool takes(const struct pools *pools, int pool, int item)
{
    const struct codegen_pool *of = pools->plan->pools[pool].of;

    if (!constant_of(pools, item))
        return of->takes != POOL_OF_CONSTANTS;
    return of->takes != POOL_OF_ARENA && (pools->is_limited || of->speed != POOL_SLOW);
}

static bool has_room(const struct pools *pools, int item, int pool)
{
    const size_t limit = pools->plan->pools[pool].of->bytes, bytes = item_bytes(pools, item);
    int first, last;

    if (!takes(pools, pool, item) || pools->banned[pool][item] || bytes > limit)
        return false;
    lifetime(pools, item, &first, &last);
    for (int r = first; r <= last; r++)
        if (pools->alive[pool][r] > limit - bytes)
            return false;
    return true;
}

static bool place(struct pools *pools, int item)
{
    for (int i = 0; i < pools->plan->n_pools; i++) {
        const int pool = pools->pool_order[i];

        if (!has_room(pools, item, pool))
            continue;
        pools->pool[item] = pool;
        change(pools, item, pool, true);
        return true;
    }
    pools->pool[item] = constant_of(pools, item) && !pools->is_limited ? USUAL : NOWHERE;
    return pools->pool[item] == USUAL;
}

static struct packing pack_pool(struct pools *pools, int pool)
{
    struct plan *plan = pools->plan;
    struct block *blocks = arena_array(&pools->ctx->scratch, struct block, plan->n_blocks);
    struct packing packing;
    int n = 0;

    for (int i = 0; i < plan->n_blocks; i++)
        if (pools->pool[i] == pool)
            blocks[n++] = plan->blocks[i];
    packing = pack_blocks(&pools->ctx->scratch, blocks, n, PACK_WORK);
    for (int i = 0, k = 0; i < plan->n_blocks; i++)
        if (pools->pool[i] == pool)
            plan->blocks[i].offset = blocks[k++].offset;
    return packing;
}

/* Packs the pool, and moves items out of it until they fit. */
static bool fill_pool(struct pools *pools, int pool, int *stuck)
{
    struct plan *plan = pools->plan;

    for (;;) {
        const struct packing packing = pack_pool(pools, pool);
        int coldest = NOWHERE;

        plan->pools[pool].bytes = packing.bytes;
        if (packing.bytes + plan->pools[pool].constant_bytes <= plan->pools[pool].of->bytes)
            return true;
        for (int i = 0; i < pools->n_items; i++)
            if (pools->pool[i] == pool && (coldest < 0 || !hotter(pools, i, coldest)))
                coldest = i;
        pools->banned[pool][coldest] = true;
        change(pools, coldest, pool, false);
        *stuck = coldest;
        if (!place(pools, coldest))
            return false;
    }
}

static void start(struct pools *pools)
{
    const struct plan *plan = pools->plan;

    for (int p = 0; p < plan->n_pools; p++) {
        memset(pools->alive[p], 0, (size_t)plan->n_regions * sizeof **pools->alive);
        memset(pools->banned[p], 0, (size_t)pools->n_items * sizeof **pools->banned);
        plan->pools[p].constant_bytes = 0;
    }
    for (int i = 0; i < pools->n_items; i++) {
        pools->order[i] = i;
        pools->pool[i] = NOWHERE;
    }
}

/* In this order of items; *stuck is one that finds no room. A pool that was packed may get blocks
 * of another one, which was packed later: until none moves. */
static bool try_order(struct pools *pools, bool (*before)(const struct pools *pools, int a, int b),
                      int *stuck)
{
    struct plan *plan = pools->plan;
    bool ok = true;

    start(pools);
    sort(pools->order, pools->n_items, before, pools);
    for (int i = 0; i < pools->n_items && ok; i++) {
        *stuck = pools->order[i];
        ok = place(pools, pools->order[i]);
    }
    for (int round = 0; round <= plan->n_pools && ok; round++)
        for (int i = 0; i < plan->n_pools && ok; i++)
            ok = fill_pool(pools, pools->pool_order[i], stuck);
    return ok;
}

/* Of all traffic. How much slower a memory is differs from chip to chip: tightly coupled memory
 * takes a cycle, other RAM and flash about two, what is outside eight or more. */
static double cost(const struct pools *pools)
{
    static const int cycles[] = { [POOL_FAST] = 1, [POOL_NORMAL] = 2, [POOL_SLOW] = 8 };
    double sum = 0;

    for (int i = 0; i < pools->n_items; i++)
        sum +=
            (double)pools->traffic[i] *
            cycles[pools->pool[i] < 0 ? POOL_NORMAL : pools->plan->pools[pools->pool[i]].of->speed];
    return sum;
}

static bool try_orders(struct pools *pools, int *stuck)
{
    const bool first = try_order(pools, denser, stuck);
    const double least = first ? cost(pools) : 0;

    if (try_order(pools, hotter, stuck) && (!first || cost(pools) <= least))
        return true;
    return first ? try_order(pools, denser, stuck) : try_order(pools, larger, stuck);
}

static const char *item_name(const struct pools *pools, int item)
{
    struct arena *arena = &pools->ctx->perm;

    if (constant_of(pools, item))
        return "an array of constants";
    if (!pools->plan->blocks[item].value)
        return "a region's scratch";
    return arena_printf(arena, "'%s'", str_safe(arena, pools->plan->blocks[item].value->name, 60));
}

static bool no_room(struct pools *pools, int stuck)
{
    const struct plan *plan = pools->plan;
    const struct plan_constant *constant = constant_of(pools, stuck);
    struct str text = { .arena = &pools->ctx->perm };
    size_t constants = 0;

    diag_error(pools->ctx, DIAG_RAM, NULL, "no pool has room for %s of %zu bytes",
               item_name(pools, stuck), constant ? constant->bytes : plan->blocks[stuck].bytes);
    for (int p = 0; p < plan->n_pools; p++)
        str_printf(&text, "%s%s has %zu bytes", p ? ", " : "", plan->pools[p].of->name,
                   plan->pools[p].of->bytes);
    str_printf(&text, "; one arena would need %zu",
               pack_lower_bound(&pools->ctx->scratch, plan->blocks, plan->n_blocks));
    for (int i = 0; i < plan->n_constants; i++)
        constants += plan_round(plan->constants[i].bytes);
    if (constants)
        str_printf(&text, ", constants take %zu", constants);
    diag_note(pools->ctx, "%s", str_text(&text));
    return false;
}

/* Writes down what was found. */
static void settle(struct pools *pools)
{
    struct plan *plan = pools->plan;

    for (int p = 0; p < plan->n_pools; p++)
        plan->arena_bytes += plan->pools[p].bytes;
    for (int i = 0; i < plan->n_blocks; i++)
        plan->blocks[i].pool = pools->pool[i];
    for (int i = 0; i < plan->n_constants; i++)
        plan->constants[i].pool =
            pools->pool[plan->n_blocks + i] == USUAL ? -1 : pools->pool[plan->n_blocks + i];
    for (int i = 0; i < pools->n_items; i++)
        if (pools->pool[i] >= 0)
            plan->pools[pools->pool[i]].traffic += pools->traffic[i];
    plan->lower_bound = plan->order_bound;
}

bool plan_pools(struct plan *plan, struct ctx *ctx, const struct region *regions)
{
    struct arena *arena = &ctx->scratch;
    const int n = plan->n_blocks + plan->n_constants;
    struct pools pools = { .plan = plan,
                           .ctx = ctx,
                           .n_items = n,
                           .pool = arena_array(arena, int, n),
                           .traffic = arena_array(arena, uint64_t, n),
                           .pool_order = arena_array(arena, int, plan->n_pools),
                           .order = arena_array(arena, int, n),
                           .alive = arena_array(arena, size_t *, plan->n_pools),
                           .banned = arena_array(arena, bool *, plan->n_pools) };
    int stuck = 0;

    for (int p = 0; p < plan->n_pools; p++) {
        const struct codegen_pool *of = plan->pools[p].of;

        pools.pool_order[p] = p;
        pools.alive[p] = arena_array(arena, size_t, plan->n_regions);
        pools.banned[p] = arena_array(arena, bool, n);
        pools.is_limited = pools.is_limited || (of->takes == POOL_OF_CONSTANTS && !of->section);
    }
    find_traffic(&pools, regions);
    sort(pools.pool_order, plan->n_pools, faster, &pools);
    if (!try_orders(&pools, &stuck))
        return no_room(&pools, stuck);
    settle(&pools);
    return true;
}
