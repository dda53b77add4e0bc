/* pack_exact.c - makes a packing smaller, down to the least that is possible if the work suffices.
 *
 * needs    blocks with the offsets of a packing
 * gives    offsets of a packing that is not larger, and what no packing can be below
 * method   Blocks are split where no lifetime crosses from one time to the next. For each such
 *          component: the lower bound as the target first, then bisection between what is known to
 *          be impossible and the best packing so far. A target is looked for in several orders of
 *          the blocks, in turns that grow, as the search is fast in one order and lost in another.
 */
#include "codegen_c/plan/pack/pack_exact.h"

#include <stdlib.h>

#include "codegen_c/plan/pack/pack_search.h"

/* Beyond these the tables of the search are too large, or its numbers. */
enum { MAX_ITEMS = 1000, MAX_UNITS = 1 << 29 };

/* Each order is used twice: as it is, and as a start for search_learn. */
enum { FIRST_TURN = 1 << 18, ORDERS = 4, SEARCHES = 2 * ORDERS };

/* Blocks that share no time with others; sections count from its start. */
struct component {
    struct arena *arena;
    struct block *blocks;
    struct item *items;
    int n, n_sections;
    int *live; /* by section: the sum of sizes */
    struct search *searches[SEARCHES];
    struct item *sorted[SEARCHES];
};

/* An item with what the orders sort by. */
struct ranked {
    struct item item;
    long long width, area;
    int live; /* the most alive in a section of its lifetime */
};

static int units_of(const struct block *block)
{
    return (int)(plan_round(block->bytes) / PLAN_ALIGN);
}

static int descending(long long a, long long b)
{
    return (a < b) - (a > b);
}

static int by_width(const struct ranked *a, const struct ranked *b)
{
    return descending(a->width, b->width);
}

static int by_area(const struct ranked *a, const struct ranked *b)
{
    return descending(a->area, b->area);
}

static int by_live(const struct ranked *a, const struct ranked *b)
{
    return descending(a->live, b->live);
}

typedef int compare_ranked(const struct ranked *, const struct ranked *);

static int in_turn(const void *left, const void *right, compare_ranked *const keys[3])
{
    const struct ranked *a = left, *b = right;
    int order = 0;

    for (int k = 0; k < 3 && order == 0; k++)
        order = keys[k](a, b);
    return order ? order : a->item.block - b->item.block;
}

static int width_area_live(const void *a, const void *b)
{
    return in_turn(a, b, (compare_ranked *const[]){ by_width, by_area, by_live });
}

static int live_area_width(const void *a, const void *b)
{
    return in_turn(a, b, (compare_ranked *const[]){ by_live, by_area, by_width });
}

static int live_width_area(const void *a, const void *b)
{
    return in_turn(a, b, (compare_ranked *const[]){ by_live, by_width, by_area });
}

static int area_width_live(const void *a, const void *b)
{
    return in_turn(a, b, (compare_ranked *const[]){ by_area, by_width, by_live });
}

static int (*const orders[ORDERS])(const void *, const void *) = {
    width_area_live,
    live_area_width,
    live_width_area,
    area_width_live,
};

static struct search *search_in_order(struct component *component, int k)
{
    const int n = component->n;
    struct ranked *ranked = arena_array(component->arena, struct ranked, n);
    struct item *sorted = arena_array(component->arena, struct item, n);

    for (int i = 0; i < n; i++) {
        const struct item *item = &component->items[i];

        ranked[i] = (struct ranked){ .item = *item, .width = item->to - item->from };
        ranked[i].area = ranked[i].width * item->size;
        for (int s = item->from; s < item->to; s++)
            if (component->live[s] > ranked[i].live)
                ranked[i].live = component->live[s];
    }
    qsort(ranked, (size_t)n, sizeof *ranked, orders[k % ORDERS]);
    for (int i = 0; i < n; i++)
        sorted[i] = ranked[i].item;
    component->sorted[k] = sorted;
    return search_new(component->arena, sorted, n, component->n_sections);
}

/* What a search has found becomes the packing; returns its height. */
static int take_over(struct component *component, int k)
{
    const struct item *items = component->sorted[k];
    int height = 0;

    for (int i = 0; i < component->n; i++) {
        const int offset = search_offset(component->searches[k], i);

        component->blocks[items[i].block].offset = (size_t)offset * PLAN_ALIGN;
        height = offset + items[i].size > height ? offset + items[i].size : height;
    }
    return height;
}

/* Looks for the target with all searches in rotation, with `work` steps at most; sets *found_by. What
 * is impossible for one is for all. */
static enum search_result attempt(struct component *component, int target, uint64_t work,
                                  struct packing *packing, int *found_by)
{
    enum search_result result = SEARCH_GAVE_UP;
    uint64_t done = 0, turn = (uint64_t)component->n * (uint64_t)component->n;

    turn = turn > FIRST_TURN ? turn : FIRST_TURN; /* enough for one way down */
    for (int k = 0; done < work && result == SEARCH_GAVE_UP; k = (k + 1) % SEARCHES) {
        struct search **search = &component->searches[k];

        if (!*search)
            *search = search_in_order(component, k);
        else if (k >= ORDERS)
            search_learn(*search);
        result = search_run(*search, target, turn < work - done ? turn : work - done, &done);
        *found_by = k;
        turn += k == SEARCHES - 1 ? turn / 5 : 0;
    }
    packing->work += done;
    return result;
}

/* Lowers the height of a component from `height`, but not below `enough`; returns what is proved:
 * nothing below it is possible, or nothing below it is of use. */
static int improve(struct component *component, int enough, int *height, uint64_t limit,
                   struct packing *packing)
{
    int possible = enough; /* below: impossible */
    int target = enough;   /* from here on: not given up yet */
    uint64_t share = limit / 2;

    while (target < *height && packing->work < limit) {
        const int middle = target == enough ? target : target + (*height - target) / 2;
        const uint64_t left = limit - packing->work;
        int found_by;

        switch (attempt(component, middle, share < left ? share : left, packing, &found_by)) {
        case SEARCH_FOUND: *height = take_over(component, found_by); break;
        case SEARCH_IMPOSSIBLE: possible = target = middle + 1; break;
        case SEARCH_GAVE_UP: target = middle + 1; break;
        }
        share = limit / 16;
    }
    return possible;
}

static int compare_times(const void *left, const void *right)
{
    const int a = *(const int *)left, b = *(const int *)right;

    return (a > b) - (a < b);
}

static int section_at(const int *times, int n_times, int time)
{
    int low = 0, high = n_times;

    while (high - low > 1) {
        const int middle = low + (high - low) / 2;

        if (times[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The blocks in small units: a section begins where a block does. (Where one ends, no section
 * need begin: what is alive at the end of a section was alive at its start with more.) */
static struct item *items_of(struct arena *arena, const struct block *blocks, int n,
                             int *n_sections)
{
    int *times = arena_array(arena, int, n);
    struct item *items = arena_array(arena, struct item, n);
    int n_times = 0;

    for (int i = 0; i < n; i++)
        times[i] = blocks[i].first;
    qsort(times, (size_t)n, sizeof *times, compare_times);
    for (int i = 0; i < n; i++)
        if (i == 0 || times[i] != times[n_times - 1])
            times[n_times++] = times[i];
    for (int i = 0; i < n; i++)
        items[i] = (struct item){ .size = units_of(&blocks[i]),
                                  .block = i,
                                  .from = section_at(times, n_times, blocks[i].first),
                                  .to = section_at(times, n_times, blocks[i].last) + 1 };
    *n_sections = n_times;
    return items;
}

/* The component that starts in section `from`; *to is where it ends. */
static struct component component_at(struct arena *arena, struct block *blocks,
                                     const struct item *items, int n, int from, int *to)
{
    struct component component = { .arena = arena, .blocks = blocks };
    bool grown = true;

    *to = from + 1;
    while (grown) {
        grown = false;
        for (int i = 0; i < n; i++)
            if (items[i].from >= from && items[i].from < *to && items[i].to > *to) {
                *to = items[i].to;
                grown = true;
            }
    }
    component.n_sections = *to - from;
    component.live = arena_array(arena, int, component.n_sections);
    component.items = arena_array(arena, struct item, n);
    for (int i = 0; i < n; i++) {
        struct item *item = &component.items[component.n];

        if (items[i].from < from || items[i].from >= *to)
            continue;
        *item = items[i];
        item->from -= from;
        item->to -= from;
        for (int s = item->from; s < item->to; s++)
            component.live[s] += item->size;
        component.n++;
    }
    return component;
}

static int height_of(const struct component *component)
{
    int height = 0;

    for (int i = 0; i < component->n; i++) {
        const struct item *item = &component->items[i];
        const int top = (int)(component->blocks[item->block].offset / PLAN_ALIGN) + item->size;

        height = top > height ? top : height;
    }
    return height;
}

static bool is_too_large(const struct block *blocks, int n)
{
    size_t units = 0;

    for (int i = 0; i < n; i++) {
        units += plan_round(blocks[i].bytes) / PLAN_ALIGN;
        if (units > MAX_UNITS)
            return true;
    }
    return n > MAX_ITEMS;
}

void pack_exact(struct arena *arena, struct block *blocks, int n, uint64_t limit,
                struct packing *packing)
{
    const int enough = (int)(packing->lower_bound / PLAN_ALIGN);
    int n_sections, most = 0, proved = enough;
    struct item *items;

    if (is_too_large(blocks, n))
        return;
    items = items_of(arena, blocks, n, &n_sections);
    for (int from = 0, to; from < n_sections; from = to) {
        struct component component = component_at(arena, blocks, items, n, from, &to);
        int height = height_of(&component);
        const int possible = improve(&component, enough, &height, limit, packing);

        for (int k = 0; k < SEARCHES; k++)
            if (component.searches[k])
                packing->nodes += search_nodes(component.searches[k]);
        proved = possible > proved ? possible : proved;
        most = height > most ? height : most;
    }
    packing->bytes = (size_t)most * PLAN_ALIGN;
    packing->lower_bound = (size_t)proved * PLAN_ALIGN;
}
