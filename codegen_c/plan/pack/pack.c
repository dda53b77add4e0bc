/* pack.c - offsets for blocks of the arena.
 *
 * needs    blocks with sizes and lifetimes
 * gives    offsets, the size of the arena, a lower bound
 * method   best fit with gaps, for several orders of the blocks; then the search of pack_exact.c,
 *          or, where blocks reach into others, that of pack_overlaps.c */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/core/plan.h"
#include "codegen_c/plan/pack/pack_exact.h"
#include "codegen_c/plan/pack/pack_overlaps.h"

static const size_t NOT_PLACED = SIZE_MAX;

size_t plan_round(size_t bytes)
{
    return (bytes + (bytes == 0) + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN;
}

static bool overlap_in_time(const struct block *a, const struct block *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static size_t end_of(const struct block *block)
{
    return block->offset + plan_round(block->bytes);
}

static int compare_offsets(const void *left, const void *right)
{
    const struct block *a = *(struct block *const *)left, *b = *(struct block *const *)right;

    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The smallest gap between the neighbours in time, which come by offset, that is big enough, else
 * behind all of them. */
static size_t best_offset(const struct block *block, struct block **neighbours, int n)
{
    const size_t bytes = plan_round(block->bytes);
    size_t top = 0, best = NOT_PLACED, best_gap = SIZE_MAX;

    for (int i = 0; i < n; i++) {
        const size_t at = neighbours[i]->offset, gap = at > top ? at - top : 0;

        if (gap >= bytes && gap < best_gap) {
            best = top;
            best_gap = gap;
        }
        top = end_of(neighbours[i]) > top ? end_of(neighbours[i]) : top;
    }
    return best == NOT_PLACED ? top : best;
}

/* The blocks placed so far, by stretches of time: who is alive together is found without a look at
 * all others. A block is in the list of each stretch that it lives in. */
struct shelf {
    int width; /* of a stretch */
    int n_stretches, n_entries;
    int *heads; /* by stretch: index into entries + 1; 0 = empty */
    struct shelf_entry {
        struct block *block;
        int next;
    } * entries;
};

enum { MOST_STRETCHES = 256 };

static struct shelf make_shelf(struct arena *scratch, const struct block *blocks, int n)
{
    struct shelf shelf = { .width = 1 };
    size_t n_entries = 0;
    int end = 0;

    for (int i = 0; i < n; i++)
        end = blocks[i].last + 1 > end ? blocks[i].last + 1 : end;
    shelf.width = end / MOST_STRETCHES + 1;
    shelf.n_stretches = end / shelf.width + 1;
    for (int i = 0; i < n; i++)
        n_entries += (size_t)(blocks[i].last / shelf.width - blocks[i].first / shelf.width + 1);
    shelf.heads = arena_array(scratch, int, shelf.n_stretches);
    shelf.entries = arena_array(scratch, struct shelf_entry, n_entries);
    return shelf;
}

static void clear_shelf(struct shelf *shelf)
{
    memset(shelf->heads, 0, (size_t)shelf->n_stretches * sizeof *shelf->heads);
    shelf->n_entries = 0;
}

static void put_on_shelf(struct shelf *shelf, struct block *block)
{
    for (int s = block->first / shelf->width; s <= block->last / shelf->width; s++) {
        shelf->entries[shelf->n_entries] = (struct shelf_entry){ block, shelf->heads[s] };
        shelf->heads[s] = ++shelf->n_entries;
    }
}

/* Each once: in the first stretch that both live in. */
static int find_neighbours(const struct shelf *shelf, const struct block *block,
                           struct block **neighbours)
{
    const int first = block->first / shelf->width, last = block->last / shelf->width;
    int n = 0;

    for (int s = first; s <= last; s++)
        for (int e = shelf->heads[s]; e; e = shelf->entries[e - 1].next) {
            struct block *other = shelf->entries[e - 1].block;
            const int start = other->first / shelf->width;

            if ((start > first ? start : first) == s && overlap_in_time(block, other))
                neighbours[n++] = other;
        }
    return n;
}

/* Whether the shelf's lists are so full that each block would be compared with more than all others
 * at a time. */
static bool is_crowded(struct arena *scratch, const struct shelf *shelf, const struct block *blocks,
                       int n)
{
    uint64_t *entries = arena_array(scratch, uint64_t, shelf->n_stretches), work = 0;

    for (int i = 0; i < n; i++)
        for (int s = blocks[i].first / shelf->width; s <= blocks[i].last / shelf->width; s++)
            entries[s]++;
    for (int s = 0; s < shelf->n_stretches; s++)
        work += entries[s] * entries[s];
    return work > (uint64_t)n * (uint64_t)n;
}

/* Blocks placed so far, by offset: where most are alive together, there is nothing to sort then. */
struct stack {
    struct block **blocks;
    int n;
};

static void put_on_stack(struct stack *stack, struct block *block)
{
    int low = 0, high = stack->n;

    while (low < high) {
        const int middle = low + (high - low) / 2;

        if (stack->blocks[middle]->offset < block->offset)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(&stack->blocks[low + 1], &stack->blocks[low],
            (size_t)(stack->n++ - low) * sizeof *stack->blocks);
    stack->blocks[low] = block;
}

static int find_on_stack(const struct stack *stack, const struct block *block,
                         struct block **neighbours)
{
    int n = 0;

    for (int i = 0; i < stack->n; i++)
        if (overlap_in_time(block, stack->blocks[i]))
            neighbours[n++] = stack->blocks[i];
    return n;
}

/* Places the blocks in this order; returns the bytes needed. With a stack, that instead of the
 * shelf: both give the same offsets. */
static size_t place_in_order(struct shelf *shelf, struct stack *stack, struct block **order, int n,
                             struct block **neighbours)
{
    size_t needed = 0;

    clear_shelf(shelf);
    stack->n = 0;
    for (int i = 0; i < n; i++) {
        int n_neighbours;

        if (stack->blocks) {
            n_neighbours = find_on_stack(stack, order[i], neighbours);
        } else {
            n_neighbours = find_neighbours(shelf, order[i], neighbours);
            qsort(neighbours, (size_t)n_neighbours, sizeof *neighbours, compare_offsets);
        }
        order[i]->offset = best_offset(order[i], neighbours, n_neighbours);
        if (stack->blocks)
            put_on_stack(stack, order[i]);
        else
            put_on_shelf(shelf, order[i]);
        needed = end_of(order[i]) > needed ? end_of(order[i]) : needed;
    }
    return needed;
}

/* Ties are broken by position, so that no order depends on the sort's implementation. */
static int by_position(const struct block *a, const struct block *b)
{
    return (a > b) - (a < b);
}

static int by_bytes(const void *left, const void *right)
{
    const struct block *a = *(struct block *const *)left, *b = *(struct block *const *)right;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return by_position(a, b);
}

static int by_lifetime(const void *left, const void *right)
{
    const struct block *a = *(struct block *const *)left, *b = *(struct block *const *)right;
    const int time_a = a->last - a->first, time_b = b->last - b->first;

    return time_a != time_b ? time_b - time_a : by_bytes(left, right);
}

static int by_area(const void *left, const void *right)
{
    const struct block *a = *(struct block *const *)left, *b = *(struct block *const *)right;
    const double area_a = ((double)a->last - a->first + 1) * (double)a->bytes;
    const double area_b = ((double)b->last - b->first + 1) * (double)b->bytes;

    return area_a != area_b ? (area_a < area_b ? 1 : -1) : by_bytes(left, right);
}

static int by_start(const void *left, const void *right)
{
    const struct block *a = *(struct block *const *)left, *b = *(struct block *const *)right;

    return a->first != b->first ? a->first - b->first : by_bytes(left, right);
}

/* The best of several orders; stops when one needs no more than `enough`. */
static size_t best_fit(struct arena *scratch, struct block *blocks, int n, size_t enough)
{
    static int (*const orders[])(const void *, const void *) = { by_bytes, by_lifetime, by_start,
                                                                 by_area };
    struct block **order = arena_array(scratch, struct block *, n);
    struct block **neighbours = arena_array(scratch, struct block *, n);
    size_t *best_offsets = arena_array(scratch, size_t, n), best = SIZE_MAX;
    struct shelf shelf = make_shelf(scratch, blocks, n);
    struct stack stack = { NULL, 0 };

    if (is_crowded(scratch, &shelf, blocks, n))
        stack.blocks = arena_array(scratch, struct block *, n);
    for (size_t k = 0; k < sizeof orders / sizeof *orders && best > enough; k++) {
        size_t needed;

        for (int i = 0; i < n; i++)
            order[i] = &blocks[i];
        qsort(order, (size_t)n, sizeof *order, orders[k]);
        needed = place_in_order(&shelf, &stack, order, n, neighbours);
        if (needed >= best)
            continue;
        best = needed;
        for (int i = 0; i < n; i++)
            best_offsets[i] = blocks[i].offset;
    }
    for (int i = 0; i < n; i++)
        blocks[i].offset = best_offsets[i];
    return n ? best : 0;
}

size_t pack_shared(const struct block *blocks, int i)
{
    const struct block *y = &blocks[i];
    size_t x_bytes, y_bytes, both;

    if (!y->before)
        return 0;
    x_bytes = plan_round(blocks[y->before - 1].bytes);
    y_bytes = plan_round(y->bytes);
    both = y->overlap + x_bytes > y_bytes ? y->overlap + x_bytes : y_bytes;
    return x_bytes + y_bytes > both ? x_bytes + y_bytes - both : 0;
}

static bool has_overlaps(const struct block *blocks, int n)
{
    for (int i = 0; i < n; i++)
        if (blocks[i].before)
            return true;
    return false;
}

struct packing pack_blocks(struct arena *scratch, struct block *blocks, int n, uint64_t work)
{
    struct packing packing = { .lower_bound = pack_lower_bound(scratch, blocks, n) };

    if (has_overlaps(blocks, n))
        return pack_overlaps(scratch, blocks, n, work);
    packing.bytes = best_fit(scratch, blocks, n, packing.lower_bound);
    if (packing.bytes > packing.lower_bound)
        pack_exact(scratch, blocks, n, work, &packing);
    packing.optimal = packing.bytes == packing.lower_bound;
    return packing;
}

size_t pack_lower_bound(struct arena *scratch, const struct block *blocks, int n)
{
    size_t *alive, most = 0, now = 0;
    int end = 0;

    for (int i = 0; i < n; i++)
        end = blocks[i].last + 1 > end ? blocks[i].last + 1 : end;
    /* What begins at a time, less what ended before it; size_t wraps and comes back. */
    alive = arena_array(scratch, size_t, end + 1);
    for (int i = 0; i < n; i++) {
        alive[blocks[i].first] += plan_round(blocks[i].bytes);
        alive[blocks[i].last + 1] -= plan_round(blocks[i].bytes);
        alive[blocks[i].first] -= pack_shared(blocks, i); /* only then are both alive */
        alive[blocks[i].first + 1] += pack_shared(blocks, i);
    }
    for (int i = 0; i < end; i++) {
        now += alive[i];
        most = now > most ? now : most;
    }
    return most;
}

/* Whether block i may lie over the beginning of block j, as it does. */
static bool reaches_into(const struct block *blocks, int i, int j)
{
    const size_t from = blocks[i].offset + blocks[i].overlap;

    return blocks[i].before == j + 1 && blocks[i].first == blocks[j].last &&
           (blocks[i].exact ? from == blocks[j].offset : from <= blocks[j].offset);
}

static int begins_first(const void *left, const void *right)
{
    const struct block *a = *(const struct block *const *)left;
    const struct block *b = *(const struct block *const *)right;

    return a->first != b->first ? a->first - b->first : by_position(a, b);
}

static bool collide(const struct block *blocks, const struct block *a, const struct block *b)
{
    const int i = (int)(a - blocks), j = (int)(b - blocks);

    return overlap_in_time(a, b) && a->offset < end_of(b) && b->offset < end_of(a) &&
           !reaches_into(blocks, i, j) && !reaches_into(blocks, j, i);
}

/* Each block against those that began before and are alive still. */
static bool are_apart(const struct block *blocks, int n, const struct block **by_first,
                      const struct block **alive)
{
    int n_alive = 0;

    for (int i = 0; i < n; i++)
        by_first[i] = &blocks[i];
    qsort(by_first, (size_t)n, sizeof *by_first, begins_first);
    for (int i = 0; i < n; i++) {
        int kept = 0;

        for (int k = 0; k < n_alive; k++) {
            if (collide(blocks, by_first[i], alive[k]))
                return false;
            if (alive[k]->last >= by_first[i]->first)
                alive[kept++] = alive[k];
        }
        n_alive = kept;
        alive[n_alive++] = by_first[i];
    }
    return true;
}

bool pack_verify(const struct block *blocks, int n, size_t bytes)
{
    struct arena scratch = { NULL };
    bool ok = true;

    for (int i = 0; i < n && ok; i++)
        ok = blocks[i].offset % PLAN_ALIGN == 0 && blocks[i].first <= blocks[i].last &&
             blocks[i].offset <= bytes && plan_round(blocks[i].bytes) <= bytes - blocks[i].offset;
    ok = ok && are_apart(blocks, n, arena_array(&scratch, const struct block *, n),
                         arena_array(&scratch, const struct block *, n));
    arena_release(&scratch);
    return ok;
}
