/* forest_tables.c - nodes of trees as splits (x <= threshold): the other comparisons are one or two of
 * these, with the next smaller number as threshold where v < t is meant. Equal leaves and equal splits
 * are one, and a split whose children are the same vanishes. */
#include "frontend/onnx/forest_tables.h"

#include <math.h>
#include <string.h>

static uint64_t hash_bytes(const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

static bool same_split(const struct split *a, const struct split *b)
{
    return a->feature == b->feature && a->first == b->first && a->second == b->second &&
           memcmp(&a->threshold, &b->threshold, sizeof a->threshold) == 0;
}

/* The place of a split: an older one that is equal, or a child if both are the same. */
static int32_t add_split(struct tables *tables, int64_t feature, bool missing, double threshold,
                         int32_t first, int32_t second)
{
    struct split split;
    uint64_t slot;

    if (first == second)
        return first;
    memset(&split, 0, sizeof split);
    split.feature = (int32_t)(missing ? ~feature : feature);
    split.first = first;
    split.second = second;
    split.threshold = threshold;
    slot = hash_bytes(&split, sizeof split) & tables->mask;
    for (; tables->slots[slot]; slot = (slot + 1) & tables->mask)
        if (tables->slots[slot] > 0 && same_split(&tables->splits[tables->slots[slot] - 1], &split))
            return tables->slots[slot] - 1;
    tables->splits[tables->n_splits++] = split;
    tables->slots[slot] = (int32_t)tables->n_splits;
    return (int32_t)tables->n_splits - 1;
}

/* Room for one more leaf. */
static double *next_leaf(struct tables *tables)
{
    if (tables->n_leaves == tables->room_for_leaves) {
        const int64_t room = 2 * tables->room_for_leaves + 64;
        double *grown = arena_array(tables->arena, double, room * tables->width);

        if (tables->n_leaves)
            memcpy(grown, tables->leaves,
                   sizeof *grown * (size_t)(tables->n_leaves * tables->width));
        tables->leaves = grown;
        tables->room_for_leaves = room;
    }
    return tables->leaves + tables->n_leaves * tables->width;
}

static double beyond_all(const char *aggregate)
{
    return strcmp(aggregate, "sum") == 0   ? 0
           : strcmp(aggregate, "min") == 0 ? (double)INFINITY
                                           : (double)-INFINITY;
}

static void fill_leaf(const struct tables *tables, const struct forest_node *leaf, int64_t target,
                      double *row)
{
    const char *aggregate = tables->forest->aggregate;
    const bool adds = strcmp(aggregate, "sum") == 0, least = strcmp(aggregate, "min") == 0;

    for (int64_t k = 0; k < tables->width; k++)
        row[k] = beyond_all(aggregate);
    for (int64_t i = 0; i < leaf->n_entries; i++) {
        const struct forest_entry *entry = &tables->forest->entries[leaf->entry + i];
        double *to = &row[entry->target - target];

        if (adds)
            *to += entry->weight;
        else if (least ? entry->weight < *to : entry->weight > *to)
            *to = entry->weight;
    }
}

int32_t tables_add_leaf(struct tables *tables, const struct forest_node *leaf, int64_t target)
{
    const size_t bytes = sizeof(double) * (size_t)tables->width;
    double *row = next_leaf(tables);
    uint64_t slot;

    fill_leaf(tables, leaf, target, row);
    slot = hash_bytes(row, bytes) & tables->mask;
    for (; tables->slots[slot]; slot = (slot + 1) & tables->mask) {
        const int32_t found = -1 - tables->slots[slot];

        if (found >= 0 && memcmp(tables->leaves + found * tables->width, row, bytes) == 0)
            return ~found;
    }
    tables->slots[slot] = (int32_t)(-1 - tables->n_leaves);
    return ~(int32_t)tables->n_leaves++;
}

/* The greatest number below t, of the forest's type: v < t is v <= that. Nothing is below -inf or
 * NaN, and nothing is <= NaN. */
static double below(enum dtype dtype, double t)
{
    if (isnan(t) || (isinf(t) && t < 0))
        return (double)NAN;
    return dtype == DTYPE_F32 ? (double)nextafterf((float)t, -INFINITY)
                              : nextafter(t, (double)-INFINITY);
}

/* v == t: v <= t, and not v < t. NaN goes to yes, if that is so. */
static int32_t add_equal(struct tables *tables, int64_t feature, bool missing, double t,
                         int32_t yes, int32_t no)
{
    const int32_t inner =
        add_split(tables, feature, false, below(tables->forest->dtype, t), no, yes);

    return add_split(tables, feature, missing, t, inner, no);
}

int32_t tables_add_node(struct tables *tables, const struct forest_node *at)
{
    const int32_t yes = tables->place[at->yes], no = tables->place[at->no];
    const double t = at->threshold, before = below(tables->forest->dtype, t);
    const bool missing = at->missing_is_true;
    int32_t place = no;

    switch (at->mode) {
    case FOREST_LEQ: return add_split(tables, at->feature, missing, t, yes, no);
    case FOREST_LT: return add_split(tables, at->feature, missing, before, yes, no);
    case FOREST_GTE: return add_split(tables, at->feature, !missing, before, no, yes);
    case FOREST_GT: return add_split(tables, at->feature, !missing, t, no, yes);
    case FOREST_EQ: return add_equal(tables, at->feature, missing, t, yes, no);
    case FOREST_NEQ: /* NaN differs from all numbers */
        place = add_split(tables, at->feature, false, before, yes, no);
        return add_split(tables, at->feature, false, t, place, yes);
    default:
        for (int64_t i = at->n_members; i--;)
            place = add_equal(tables, at->feature, missing, tables->forest->members[at->member + i],
                              yes, place);
        return place;
    }
}
