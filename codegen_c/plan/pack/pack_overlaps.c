/* pack_overlaps.c - see pack_overlaps.h.
 *
 * needs    blocks with sizes and lifetimes, of which some may begin in front of another one, `overlap`
 *          bytes or more, and reach into it
 * gives    offsets, the size of the arena, a lower bound
 * method   Blocks one by one to the lowest place that is free. The first order is by size; then the
 *          block that ends highest is put before the others, again and again, as often as the work
 *          allows: what is in the way of others is placed first. A chain of blocks that reach each
 *          into the next wants room in front of the last: its floor, and the bound */
#include "codegen_c/plan/pack/pack_overlaps.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROUNDS = 2000,
    MOST_FEWER = 8,           /* searches with a part of the overlaps */
    MOST_LOOKS = 400000000,   /* of one search: blocks, and pairs alive together, times rounds */
    MOST_TOGETHER = 1 << 24,  /* pairs; with more nothing overlaps */
    MOST_OVER = 4 * PACK_WORK /* beyond `work`, in the round that uses it up */
};

struct overlaps {
    struct block *blocks;
    int n;
    size_t *floor;       /* by block: what its chain needs in front of it */
    int **together;      /* by block: those alive with it … */
    int *n_together;     /* … and how many */
    size_t *top;         /* of a placement: by block in its order */
    int *order, *place;  /* blocks by order, and the order by block */
    size_t *alive;       /* by block: bytes alive when it begins, side by side */
    uint64_t n_pairs;    /* all of n_together */
    uint64_t work, over; /* steps left; and those beyond, of the round that uses them up */
};

static size_t end_of(const struct block *block)
{
    return block->offset + plan_round(block->bytes);
}

/* Whether block `low`, at that offset, is out of the way of block `high` at this one, or reaches
 * into it as it may. */
static bool is_in_front(const struct block *blocks, int low, size_t low_at, int high,
                        size_t high_at)
{
    if (low_at + plan_round(blocks[low].bytes) <= high_at)
        return true;
    if (blocks[low].before != high + 1)
        return false;
    return blocks[low].exact ? low_at + blocks[low].overlap == high_at
                             : low_at + blocks[low].overlap <= high_at;
}

static bool is_free(const struct overlaps *overlaps, int i, size_t at, const int *placed, int n)
{
    if (at < overlaps->floor[i])
        return false;
    for (int k = 0; k < n; k++) {
        const size_t other = overlaps->blocks[placed[k]].offset;

        if (!is_in_front(overlaps->blocks, i, at, placed[k], other) &&
            !is_in_front(overlaps->blocks, placed[k], other, i, at))
            return false;
    }
    return true;
}

/* The lowest place of block i among those that are placed: its floor, behind one of them, or where
 * one of the two reaches into the other. */
static size_t lowest(struct overlaps *overlaps, int i, const int *placed, int n)
{
    const struct block *blocks = overlaps->blocks;
    const uint64_t work = (uint64_t)n * (uint64_t)n + 1;
    size_t best = SIZE_MAX;

    overlaps->over += overlaps->work < work ? work - overlaps->work : 0;
    overlaps->work -= overlaps->work < work ? overlaps->work : work;
    if (is_free(overlaps, i, overlaps->floor[i], placed, n))
        return overlaps->floor[i];
    for (int k = 0; k < n; k++) {
        const struct block *other = &blocks[placed[k]];

        if (end_of(other) < best && is_free(overlaps, i, end_of(other), placed, n))
            best = end_of(other);
        if (other->before == i + 1 && other->offset + other->overlap < best &&
            is_free(overlaps, i, other->offset + other->overlap, placed, n))
            best = other->offset + other->overlap;
        if (blocks[i].before == placed[k] + 1 && other->offset >= blocks[i].overlap &&
            other->offset - blocks[i].overlap < best &&
            is_free(overlaps, i, other->offset - blocks[i].overlap, placed, n))
            best = other->offset - blocks[i].overlap;
    }
    return best;
}

/* Places all blocks in their order; returns the bytes needed, and the block that ends there;
 * SIZE_MAX where that is too much work. */
static size_t place_all(struct overlaps *overlaps, int *placed, int *highest)
{
    size_t needed = 0;

    for (int k = 0; k < overlaps->n; k++) {
        if (overlaps->over > MOST_OVER)
            return SIZE_MAX;

        const int i = overlaps->order[k];
        int n = 0;

        for (int j = 0; j < overlaps->n_together[i]; j++)
            if (overlaps->place[overlaps->together[i][j]] < k)
                placed[n++] = overlaps->together[i][j];
        overlaps->blocks[i].offset = lowest(overlaps, i, placed, n);
        if (end_of(&overlaps->blocks[i]) > needed) {
            needed = end_of(&overlaps->blocks[i]);
            *highest = i;
        }
    }
    return needed;
}

struct start {
    int first, block;
};

static int earlier_first(const void *left, const void *right)
{
    const struct start *a = left, *b = right;

    return a->first != b->first ? (a->first > b->first) - (a->first < b->first)
                                : (a->block > b->block) - (a->block < b->block);
}

/* False where too many are alive together. */
static bool find_together(struct overlaps *overlaps, struct arena *scratch)
{
    const struct block *blocks = overlaps->blocks;
    const int n = overlaps->n;
    struct start *starts = arena_array(scratch, struct start, n);
    int *alive = arena_array(scratch, int, n), *filled = arena_array(scratch, int, n);

    overlaps->together = arena_array(scratch, int *, n);
    overlaps->n_together = arena_array(scratch, int, n);
    for (int i = 0; i < n; i++)
        starts[i] = (struct start){ blocks[i].first, i };
    qsort(starts, (size_t)n, sizeof *starts, earlier_first);
    for (int fill = 0; fill < 2; fill++) { /* counts, then lists */
        int n_alive = 0;

        for (int k = 0; k < n; k++) {
            const int i = starts[k].block;
            int kept = 0;

            for (int j = 0; j < n_alive; j++)
                if (blocks[alive[j]].last >= blocks[i].first)
                    alive[kept++] = alive[j];
            n_alive = kept;
            for (int j = 0; j < n_alive; j++) {
                const int other = alive[j];

                if (fill) {
                    overlaps->together[i][filled[i]++] = other;
                    overlaps->together[other][filled[other]++] = i;
                } else {
                    overlaps->n_together[i]++;
                    overlaps->n_together[other]++;
                }
            }
            overlaps->n_pairs += fill ? 0 : 2 * (uint64_t)n_alive;
            if (overlaps->n_pairs > MOST_TOGETHER)
                return false;
            alive[n_alive++] = i;
        }
        for (int i = 0; i < n && !fill; i++)
            overlaps->together[i] = arena_array(scratch, int, overlaps->n_together[i]);
    }
    return true;
}

/* The blocks in front of which others begin come after those in time: the last begins lowest. */
static void find_floors(struct overlaps *overlaps, struct arena *scratch)
{
    bool again = true;

    overlaps->floor = arena_array(scratch, size_t, overlaps->n);
    while (again) {
        again = false;
        for (int i = overlaps->n - 1; i >= 0; i--) { /* as they come in time: one round is enough */
            const struct block *y = &overlaps->blocks[i];
            const size_t floor = overlaps->floor[i] + y->overlap;

            if (y->before && overlaps->floor[y->before - 1] < floor) {
                overlaps->floor[y->before - 1] = floor;
                again = true;
            }
        }
    }
}

static void move_first(struct overlaps *overlaps, int block)
{
    int k = overlaps->place[block];

    for (; k > 0; k--)
        overlaps->order[k] = overlaps->order[k - 1];
    overlaps->order[0] = block;
    for (k = 0; k < overlaps->n; k++)
        overlaps->place[overlaps->order[k]] = k;
}

struct sized {
    size_t bytes;
    int block;
};

static int greater_first(const void *left, const void *right)
{
    const struct sized *a = left, *b = right;

    return a->bytes != b->bytes ? (a->bytes < b->bytes) - (a->bytes > b->bytes)
                                : (a->block > b->block) - (a->block < b->block);
}

static void order_by_size(struct overlaps *overlaps, struct arena *scratch)
{
    struct sized *sized = arena_array(scratch, struct sized, overlaps->n);

    for (int i = 0; i < overlaps->n; i++)
        sized[i] = (struct sized){ overlaps->blocks[i].bytes, i };
    qsort(sized, (size_t)overlaps->n, sizeof *sized, greater_first);
    for (int k = 0; k < overlaps->n; k++)
        overlaps->order[k] = sized[k].block;
    for (int k = 0; k < overlaps->n; k++)
        overlaps->place[overlaps->order[k]] = k;
}

static void keep(const struct overlaps *overlaps, size_t *offsets)
{
    for (int i = 0; i < overlaps->n; i++)
        offsets[i] = overlaps->blocks[i].offset;
}

static size_t search(struct overlaps *overlaps, struct arena *scratch, size_t enough)
{
    int *placed = arena_array(scratch, int, overlaps->n), highest = 0;
    size_t *offsets = arena_array(scratch, size_t, overlaps->n), best = SIZE_MAX;

    order_by_size(overlaps, scratch);
    for (uint64_t round = 0; round < MOST_ROUNDS && best > enough && overlaps->work > 0 &&
                             round * ((uint64_t)overlaps->n + overlaps->n_pairs) < MOST_LOOKS;
         round++) {
        const size_t needed = place_all(overlaps, placed, &highest);

        if (needed < best) {
            best = needed;
            keep(overlaps, offsets);
        }
        /* A block that is first already ends where it must: the one behind it is next. */
        move_first(overlaps, overlaps->order[0] == highest
                                 ? overlaps->order[overlaps->n - 1 - (int)(round % 3) % overlaps->n]
                                 : highest);
    }
    for (int i = 0; i < overlaps->n && best < SIZE_MAX; i++)
        overlaps->blocks[i].offset = offsets[i];
    return best;
}

/* Bytes that are alive when each block begins, side by side. */
static void find_alive(struct overlaps *overlaps, struct arena *scratch)
{
    const struct block *blocks = overlaps->blocks;
    size_t *bytes;
    int end = 0;

    for (int i = 0; i < overlaps->n; i++)
        end = blocks[i].last + 1 > end ? blocks[i].last + 1 : end;
    bytes = arena_array(scratch, size_t, end + 1);
    for (int i = 0; i < overlaps->n; i++) { /* size_t wraps and comes back */
        bytes[blocks[i].first] += plan_round(blocks[i].bytes);
        bytes[blocks[i].last + 1] -= plan_round(blocks[i].bytes);
    }
    for (int i = 0; i < end; i++)
        bytes[i + 1] += bytes[i];
    overlaps->alive = arena_array(scratch, size_t, overlaps->n);
    for (int i = 0; i < overlaps->n; i++)
        overlaps->alive[i] = bytes[blocks[i].first];
}

/* The least that is alive, side by side, with a block that may reach into another one, of what is
 * at least `from` and below `end`; `end` = nothing. */
static size_t next_alive(const struct overlaps *overlaps, size_t from, size_t end)
{
    for (int i = 0; i < overlaps->n; i++) {
        const size_t alive = overlaps->blocks[i].before ? overlaps->alive[i] : end;

        if (alive >= from && alive < end)
            end = alive;
    }
    return end;
}

/* What overlaps add up to may be more than they save. So the search is made again with those alone
 * that an arena of fewer bytes needs, for some sizes between the bound and what was found. */
static void search_fewer(struct arena *scratch, const struct overlaps *overlaps,
                         struct packing *packing)
{
    const int n = overlaps->n;
    struct overlaps fewer = *overlaps;
    size_t wanted = packing->lower_bound;

    for (int i = 0; i < MOST_FEWER && fewer.work > 0; i++, wanted++) {
        size_t found;

        wanted = next_alive(overlaps, wanted, packing->bytes);
        if (wanted >= packing->bytes)
            return;
        fewer.blocks = arena_memdup(scratch, overlaps->blocks, (size_t)n * sizeof *fewer.blocks);
        for (int k = 0; k < n; k++)
            if (overlaps->blocks[k].before && overlaps->alive[k] <= wanted)
                fewer.blocks[k].before = 0;
        find_floors(&fewer, scratch);
        found = search(&fewer, scratch, wanted);
        if (found < packing->bytes) {
            packing->bytes = found;
            for (int k = 0; k < n; k++)
                overlaps->blocks[k].offset = fewer.blocks[k].offset;
        }
    }
}

/* What no packing goes below, `bytes` at most: one that needs less has two blocks that would not
 * fit side by side reach the one into the other, and chains of such lie one in front of the other.
 */
static size_t chain_bound(struct arena *scratch, const struct overlaps *of, size_t bytes)
{
    const struct block *blocks = of->blocks;
    const int n = of->n;
    struct block *forced = arena_memdup(scratch, blocks, (size_t)n * sizeof *blocks);
    struct overlaps overlaps = { .blocks = forced, .n = n };
    size_t bound = 0;

    for (int i = 0; i < n; i++)
        if (blocks[i].before && of->alive[i] < bytes)
            forced[i].before = 0;
    find_floors(&overlaps, scratch);
    for (int i = 0; i < n; i++)
        if (overlaps.floor[i] + plan_round(blocks[i].bytes) > bound)
            bound = overlaps.floor[i] + plan_round(blocks[i].bytes);
    return bound < bytes ? bound : bytes;
}

static struct packing pack_apart(struct arena *scratch, const struct block *blocks, int n,
                                 uint64_t work, struct block **packed)
{
    *packed = arena_memdup(scratch, blocks, (size_t)n * sizeof *blocks);
    for (int i = 0; i < n; i++)
        (*packed)[i].before = 0;
    return pack_blocks(scratch, *packed, n, work);
}

struct packing pack_overlaps(struct arena *scratch, struct block *blocks, int n, uint64_t work)
{
    struct overlaps overlaps = { .blocks = blocks,
                                 .n = n,
                                 .order = arena_array(scratch, int, n),
                                 .place = arena_array(scratch, int, n),
                                 .work = work };
    struct packing packing = { .lower_bound = pack_lower_bound(scratch, blocks, n) };
    size_t chains;

    find_alive(&overlaps, scratch);
    packing.bytes = SIZE_MAX;
    if (find_together(&overlaps, scratch)) {
        find_floors(&overlaps, scratch);
        packing.bytes = search(&overlaps, scratch, packing.lower_bound);
        packing.work = work - overlaps.work;
        search_fewer(scratch, &overlaps, &packing);
    }
    if (packing.bytes > packing.lower_bound) {
        struct block *packed;
        const struct packing other = pack_apart(scratch, blocks, n, work, &packed);

        if (other.bytes < packing.bytes) {
            packing.bytes = other.bytes;
            for (int i = 0; i < n; i++)
                blocks[i].offset = packed[i].offset;
        }
    }
    chains = chain_bound(scratch, &overlaps, packing.bytes);
    if (chains > packing.lower_bound)
        packing.lower_bound = chains;
    packing.optimal = packing.bytes == packing.lower_bound;
    return packing;
}
