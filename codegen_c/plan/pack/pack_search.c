/* pack_search.c - depth-first search for a packing below a height.
 *
 * needs    items with sizes and lifetimes, a target
 * gives    offsets, or the proof that there are none, or neither within the work allowed
 * method   Canonical packings only (MiniMalloc, Moffitt, ASPLOS 2023): every item rests on the
 * floor or on an item below it, and items are placed by rising offset, so that the offset of an
 *          item to be placed is known: the top of what is below. What the search leaves out is in
 *          the comment of `candidates`, each with the reason why some packing as good remains: one
 * whose sum of offsets is less, so that the reasons cannot go round in a circle. */
#include "codegen_c/plan/pack/pack_search.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A change to take back: an item placed (offset < 0), or the earlier offset of an item raised. */
struct change {
    int item, offset;
};

/* How much an item had to do with failures. */
struct blame {
    uint64_t amount;
    int item;
};

/* A part of the problem that failed, known by two hashes. */
struct failure {
    uint64_t key, check;
};

/* A failure counts BLAME, so that halves of it are not lost at once. */
enum { FAILURES = 1 << 16, BLAME = 1 << 16 };

struct search {
    const struct item *items;
    int n, n_sections;
    int **neighbours, *n_neighbours; /* items alive at the same time */
    int *twin; /* the item before that is equal in size and lifetime; -1 = none */

    int *rank;       /* by item: its place in the order of trying */
    uint64_t *blame; /* by item: BLAME per failure it was in, less for older ones */
    struct blame *by_blame;

    bool *placed;
    int *offset;   /* where it lies, or the lowest place it could have now */
    int *rest;     /* by section: sum of sizes still to be placed */
    int *crossing; /* by section: items to be placed that are alive in it and in the one before */
    int *above;    /* by section, within `bound`: sum of sizes that must lie above an offset */
    struct change *changes;
    int n_changes;

    int *pool; /* lists of items, a stack */
    struct failure *failures;
    int target;
    uint64_t work, limit, nodes;
};

/* The unplaced items of one part of the problem, and the last placement. */
struct part {
    int *items, n; /* sorted by sort_by_offset when looked at */
    int from, to;  /* sections */
    int level;     /* offset of the last placement: what follows is not below it, */
    int last_rank; /* and in the same offset has a higher rank */
    int *free;     /* of the pool */
};

static bool overlap(const struct item *a, const struct item *b)
{
    return a->from < b->to && b->from < a->to;
}

struct search *search_new(struct arena *arena, const struct item *items, int n, int n_sections)
{
    struct search *search = arena_new(arena, struct search);
    int *near = arena_array(arena, int, n);
    size_t n_pairs = 0;

    *search = (struct search){ .items = items, .n = n, .n_sections = n_sections };
    search->neighbours = arena_array(arena, int *, n);
    search->n_neighbours = arena_array(arena, int, n);
    search->twin = arena_array(arena, int, n);
    search->rank = arena_array(arena, int, n);
    search->blame = arena_array(arena, uint64_t, n);
    search->by_blame = arena_array(arena, struct blame, n);
    for (int i = 0; i < n; i++) {
        int n_near = 0;

        search->rank[i] = i;
        search->twin[i] = -1;
        for (int j = 0; j < n; j++) {
            if (j != i && overlap(&items[i], &items[j]))
                near[n_near++] = j;
            if (j < i && items[i].size == items[j].size && items[i].from == items[j].from &&
                items[i].to == items[j].to)
                search->twin[i] = j;
        }
        search->neighbours[i] = arena_memdup(arena, near, (size_t)n_near * sizeof *near);
        search->n_neighbours[i] = n_near;
        n_pairs += (size_t)n_near;
    }
    search->placed = arena_array(arena, bool, n);
    search->offset = arena_array(arena, int, n);
    search->rest = arena_array(arena, int, n_sections);
    search->crossing = arena_array(arena, int, n_sections);
    search->above = arena_array(arena, int, n_sections);
    search->changes = arena_array(arena, struct change, (size_t)n + n_pairs);
    /* Each placement takes two lists of what is left. */
    search->pool = arena_array(arena, int, ((size_t)n + 1) * ((size_t)n + 2));
    search->failures = arena_array(arena, struct failure, FAILURES);
    return search;
}

int search_offset(const struct search *search, int i)
{
    return search->offset[i];
}

uint64_t search_nodes(const struct search *search)
{
    return search->nodes;
}

static void count(struct search *search, int i, int sign)
{
    const struct item *item = &search->items[i];

    for (int s = item->from; s < item->to; s++)
        search->rest[s] += sign * item->size;
    for (int s = item->from + 1; s < item->to; s++)
        search->crossing[s] += sign;
}

/* Everything alive at the same time as item i can only lie above it from now on. */
static void place(struct search *search, int i)
{
    const int top = search->offset[i] + search->items[i].size;

    search->placed[i] = true;
    count(search, i, -1);
    search->changes[search->n_changes++] = (struct change){ i, -1 };
    for (int k = 0; k < search->n_neighbours[i]; k++) {
        const int j = search->neighbours[i][k];

        if (search->placed[j] || search->offset[j] >= top)
            continue;
        search->changes[search->n_changes++] = (struct change){ j, search->offset[j] };
        search->offset[j] = top;
    }
    search->work += (uint64_t)search->n_neighbours[i];
    search->nodes++;
}

static void take_back(struct search *search, int n_changes)
{
    while (search->n_changes > n_changes) {
        const struct change *change = &search->changes[--search->n_changes];

        if (change->offset < 0) {
            search->placed[change->item] = false;
            count(search, change->item, 1);
        } else {
            search->offset[change->item] = change->offset;
        }
    }
}

/* By rising offset, in equal offsets by rank. Nearly sorted already: a placement raises few. */
static void sort_by_offset(struct search *search, const struct part *part)
{
    for (int k = 1; k < part->n; k++) {
        const int i = part->items[k], offset = search->offset[i];
        int at = k;

        for (; at > 0; at--) {
            const int before = part->items[at - 1];

            if (search->offset[before] < offset ||
                (search->offset[before] == offset && search->rank[before] < search->rank[i]))
                break;
            part->items[at] = before;
        }
        part->items[at] = i;
        search->work += (uint64_t)(k - at);
    }
}

/* Items from the k-th on do not fit above its offset in one of its sections. */
static void blame(struct search *search, const struct part *part, int k, int sum)
{
    const struct item *items = search->items;
    int s = items[part->items[k]].from;

    while (search->above[s] != sum)
        s++;
    for (; k < part->n; k++)
        if (items[part->items[k]].from <= s && s < items[part->items[k]].to)
            search->blame[part->items[k]] += BLAME;
}

/* The highest offset that the next placement may have, or -1 when the part cannot succeed. In every
 * section all that is left lies above the last level; and those of them that cannot lie below some
 * offset all lie above it. */
static int bound(struct search *search, const struct part *part)
{
    int *above = search->above, highest = INT_MAX;

    for (int s = part->from; s < part->to; s++) {
        const int room = search->target - search->rest[s];

        above[s] = 0;
        if (search->rest[s] > 0 && room < highest)
            highest = room;
    }
    if (highest < part->level)
        return -1;
    for (int k = part->n - 1; k >= 0; k--) {
        const struct item *item = &search->items[part->items[k]];
        int most = 0;

        for (int s = item->from; s < item->to; s++) {
            above[s] += item->size;
            most = above[s] > most ? above[s] : most;
        }
        if (most > search->target - search->offset[part->items[k]]) {
            blame(search, part, k, most);
            return -1;
        }
        search->work += (uint64_t)(item->to - item->from);
    }
    return highest;
}

/* What may be placed next, of a sorted part. Left out are
 *  - items whose place is below the last level: they would have come before,
 *  - items at or above the top that another has in its lowest place: the other could drop there
 *    without touching anything that is still to come,
 *  - items whose twin waits: exchanging the two changes nothing. */
static int candidates(const struct search *search, const struct part *part, int highest, int *list)
{
    int lowest_top = INT_MAX, n = 0;

    for (int k = 0; k < part->n; k++) {
        const int top = search->offset[part->items[k]] + search->items[part->items[k]].size;

        lowest_top = top < lowest_top ? top : lowest_top;
    }
    for (int k = 0; k < part->n; k++) {
        const int i = part->items[k], offset = search->offset[i];

        if (offset >= lowest_top || offset > highest)
            break;
        if (offset > part->level || (offset == part->level && search->rank[i] > part->last_rank))
            if (search->twin[i] < 0 || search->placed[search->twin[i]])
                list[n++] = i;
    }
    return n;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* All that decides how the search of a part goes on. */
static struct failure identity(const struct search *search, const struct part *part)
{
    struct failure id = { 1, 2 };

    for (int k = 0; k < part->n; k++) {
        const uint64_t value =
            (uint64_t)part->items[k] << 32 | (uint32_t)search->offset[part->items[k]];

        id.key = mix(id.key, value);
        id.check = mix(id.check, ~value);
    }
    id.key = mix(id.key, (uint64_t)part->level << 32 | (uint32_t)part->last_rank);
    id.check = mix(id.check, (uint64_t)search->target << 32 | (uint32_t)part->last_rank);
    return id;
}

static enum search_result look(struct search *search, const struct part *part);

/* Cuts what is left where no item crosses from one section to the next; the pieces do not know of
 * each other, so that the failure of one is the failure of all. */
static enum search_result look_at_pieces(struct search *search, const struct part *part)
{
    enum search_result result = SEARCH_FOUND;
    int from = part->from;

    while (from < part->to && result == SEARCH_FOUND) {
        struct part piece = *part;
        int to = from + 1;

        while (to < part->to && search->crossing[to] > 0)
            to++;
        piece.items = part->free;
        piece.from = from;
        piece.to = to;
        piece.n = 0;
        for (int k = 0; k < part->n; k++) {
            const int i = part->items[k];

            if (!search->placed[i] && search->items[i].from >= from && search->items[i].to <= to)
                part->free[piece.n++] = i;
        }
        piece.free = part->free + piece.n;
        if (piece.n > 0)
            result = look(search, &piece);
        from = to;
    }
    return result;
}

static enum search_result look(struct search *search, const struct part *part)
{
    const int n_changes = search->n_changes;
    struct failure id, *failure;
    int highest, *list = part->free, n;

    sort_by_offset(search, part);
    highest = bound(search, part);
    if (highest < 0)
        return SEARCH_IMPOSSIBLE;
    id = identity(search, part);
    failure = &search->failures[id.key % FAILURES];
    if (failure->key == id.key && failure->check == id.check)
        return SEARCH_IMPOSSIBLE;
    n = candidates(search, part, highest, list);
    search->work += 3 * (uint64_t)part->n;
    for (int k = 0; k < n; k++) {
        struct part next = *part;
        enum search_result result;

        if (search->work > search->limit)
            return SEARCH_GAVE_UP;
        next.level = search->offset[list[k]];
        next.last_rank = search->rank[list[k]];
        next.free = list + n;
        place(search, list[k]);
        result = look_at_pieces(search, &next);
        if (result != SEARCH_IMPOSSIBLE)
            return result;
        take_back(search, n_changes);
    }
    *failure = id;
    return SEARCH_IMPOSSIBLE;
}

static int compare_blame(const void *left, const void *right)
{
    const struct blame *a = left, *b = right;

    if (a->amount != b->amount)
        return a->amount < b->amount ? 1 : -1;
    return a->item - b->item;
}

/* Long items first among equals, as they stand in the way of most others. The idea to weigh by
 * failures is of Boussemart et al., Boosting systematic search by weighting constraints, ECAI 2004.
 */
void search_learn(struct search *search)
{
    for (int i = 0; i < search->n; i++) {
        const struct item *item = &search->items[i];

        search->by_blame[i] =
            (struct blame){ search->blame[i] * (uint64_t)(item->to - item->from), i };
        search->blame[i] /= 2;
    }
    qsort(search->by_blame, (size_t)search->n, sizeof *search->by_blame, compare_blame);
    for (int k = 0; k < search->n; k++)
        search->rank[search->by_blame[k].item] = k;
    /* What failed under the old ranks left out other placements in equal offsets. */
    memset(search->failures, 0, FAILURES * sizeof *search->failures);
}

enum search_result search_run(struct search *search, int target, uint64_t limit, uint64_t *work)
{
    struct part all = { .from = 0, .to = search->n_sections, .level = 0, .last_rank = -1 };
    enum search_result result;
    int *items = search->pool;

    take_back(search, 0);
    memset(search->rest, 0, (size_t)search->n_sections * sizeof *search->rest);
    memset(search->crossing, 0, (size_t)search->n_sections * sizeof *search->crossing);
    for (int i = 0; i < search->n; i++) {
        count(search, i, 1);
        items[i] = i;
        search->offset[i] = 0;
    }
    all.items = items;
    all.n = search->n;
    all.free = items + search->n;
    search->target = target;
    search->work = 0;
    search->limit = limit;
    result = look_at_pieces(search, &all);
    *work += search->work;
    return result;
}
