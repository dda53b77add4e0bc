/* match.c - which region of one compilation is which of another.
 *
 * method   1. regions that share ONNX nodes: the largest share first, then the same signature
 *          2. the rest, in order, by what they compute (longest common subsequence of signatures):
 *             an exporter may have renamed all nodes */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "report/diff.h"

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* A region that stands for a node; others may as well. */
struct holder {
    int region;
    struct holder *next;
};

struct pair {
    int old, new;
    double score;
};

static int by_score(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return x->new != y->new ? x->new - y->new : x->old - y->old;
}

static void add_holder(struct ctx *ctx, struct map *holders, const char *key, int region)
{
    struct holder *holder = arena_new(&ctx->perm, struct holder);

    *holder = (struct holder){ region, map_get(holders, key) };
    if (!holder->next || holder->next->region != region)
        map_set(holders, key, holder);
}

/* Shared nodes as a part of all, and a little more for the same code. */
static double pair_score(const struct fact_region *old, const struct fact_region *new, int shared)
{
    const int n = old->n_nodes > new->n_nodes ? old->n_nodes : new->n_nodes;

    return (double)shared / n + (same_text(old->signature, new->signature) ? 0.1 : 0) +
           (same_text(old->kernel, new->kernel) ? 0.05 : 0) +
           (same_text(old->function, new->function) ? 0.01 : 0);
}

static void match_by_nodes(struct ctx *ctx, const struct facts *old, const struct facts *new,
                           int *old_of, int *new_of)
{
    struct map holders = { .arena = &ctx->perm };
    int *shared = arena_array(&ctx->perm, int, old->n_regions);
    struct pair *pairs;
    size_t n = 0, most = 0;

    for (int i = 0; i < old->n_regions; i++)
        for (int k = 0; k < old->regions[i].n_nodes; k++)
            add_holder(ctx, &holders, old->regions[i].nodes[k].key, i);
    for (int i = 0; i < new->n_regions; i++)
        for (int k = 0; k < new->regions[i].n_nodes; k++)
            for (struct holder *h = map_get(&holders, new->regions[i].nodes[k].key); h; h = h->next)
                most++;
    pairs = arena_array(&ctx->perm, struct pair, most);
    for (int i = 0; i < new->n_regions; i++) {
        const struct fact_region *region = &new->regions[i];
        const size_t first = n;

        for (int k = 0; k < region->n_nodes; k++)
            for (struct holder *h = map_get(&holders, region->nodes[k].key); h; h = h->next)
                if (shared[h->region]++ == 0)
                    pairs[n++] = (struct pair){ h->region, i, 0 };
        for (size_t p = first; p < n; p++) {
            const int o = pairs[p].old;

            pairs[p].score = pair_score(&old->regions[o], region, shared[o]);
            shared[o] = 0;
        }
    }
    qsort(pairs, n, sizeof *pairs, by_score);
    for (size_t p = 0; p < n; p++)
        if (new_of[pairs[p].old] < 0 && old_of[pairs[p].new] < 0) {
            new_of[pairs[p].old] = pairs[p].new;
            old_of[pairs[p].new] = pairs[p].old;
        }
}

static bool same_work(const struct fact_region *a, const struct fact_region *b)
{
    if (a->signature && b->signature)
        return strcmp(a->signature, b->signature) == 0;
    return same_text(a->output, b->output) && same_text(a->kernel, b->kernel) && a->macs == b->macs;
}

static int *unmatched(struct ctx *ctx, const int *partner, int n, int *n_left)
{
    int *left = arena_array(&ctx->perm, int, n);

    for (int i = 0; i < n; i++)
        if (partner[i] < 0)
            left[(*n_left)++] = i;
    return left;
}

/* length[i][k]: of the longest common subsequence of what is behind i and k. */
static void match_in_order(struct ctx *ctx, const struct facts *old, const struct facts *new,
                           int *old_of, int *new_of, bool *is_renamed)
{
    enum { MOST_CELLS = 16 << 20 }; /* beyond, nothing more is matched */
    int n_old = 0, n_new = 0;
    const int *a = unmatched(ctx, new_of, old->n_regions, &n_old);
    const int *b = unmatched(ctx, old_of, new->n_regions, &n_new);
    const size_t width = (size_t)n_new + 1;
    int *length;

    if (!n_old || !n_new || (size_t)n_old * width > MOST_CELLS)
        return;
    length = arena_array(&ctx->perm, int, ((size_t)n_old + 1) * width);
    for (int i = n_old - 1; i >= 0; i--)
        for (int k = n_new - 1; k >= 0; k--) {
            const int *here = &length[(size_t)i * width + (size_t)k];
            const int down = here[width], right = here[1];

            length[(size_t)i * width + (size_t)k] =
                same_work(&old->regions[a[i]], &new->regions[b[k]]) ? 1 + here[width + 1]
                : down > right                                      ? down
                                                                    : right;
        }
    for (int i = 0, k = 0; i < n_old && k < n_new;) {
        const int *here = &length[(size_t)i * width + (size_t)k];

        if (same_work(&old->regions[a[i]], &new->regions[b[k]])) {
            new_of[a[i]] = b[k];
            old_of[b[k]] = a[i];
            is_renamed[b[k]] = true;
            i++, k++;
        } else if (here[width] >= here[1]) {
            i++;
        } else {
            k++;
        }
    }
}

static int *no_partners(struct ctx *ctx, int n)
{
    int *partner = arena_array(&ctx->perm, int, n);

    for (int i = 0; i < n; i++)
        partner[i] = -1;
    return partner;
}

int *match_regions(struct ctx *ctx, const struct facts *old, const struct facts *new,
                   bool *is_renamed)
{
    int *old_of = no_partners(ctx, new->n_regions), *new_of = no_partners(ctx, old->n_regions);

    match_by_nodes(ctx, old, new, old_of, new_of);
    match_in_order(ctx, old, new, old_of, new_of, is_renamed);
    return old_of;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* Old weights of one name, those of later arrays first. */
static int take_named(const struct facts *old, const int *new_of, const struct holder *holder,
                      const struct fact_weight *wanted)
{
    int best = -1;

    for (; holder; holder = holder->next) {
        const struct fact_weight *weight = &old->weights[holder->region];
        const bool same =
            same_text(weight->layout, wanted->layout) && same_text(weight->dtype, wanted->dtype);

        if (new_of[holder->region] < 0 && (same || best < 0))
            best = holder->region;
    }
    return best;
}

/* A weight of the region's partner of the same shape and type: initialisers may have other names. */
static int take_of_region(const struct facts *old, const int *new_of, int region,
                          const struct fact_weight *wanted)
{
    for (int i = 0; i < old->n_weights; i++)
        if (new_of[i] < 0 && old->weights[i].region == region &&
            same_text(old->weights[i].dtype, wanted->dtype) &&
            same_text(old->weights[i].shape, wanted->shape))
            return i;
    return -1;
}

int *match_weights(struct ctx *ctx, const struct facts *old, const struct facts *new,
                   const int *region)
{
    int *old_of = no_partners(ctx, new->n_weights), *new_of = no_partners(ctx, old->n_weights);
    struct map holders = { .arena = &ctx->perm };

    for (int i = 0; i < old->n_weights; i++)
        add_holder(ctx, &holders, old->weights[i].name, i);
    for (int i = 0; i < new->n_weights; i++) {
        const struct fact_weight *weight = &new->weights[i];

        old_of[i] = take_named(old, new_of, map_get(&holders, weight->name), weight);
        if (old_of[i] >= 0)
            new_of[old_of[i]] = i;
    }
    for (int i = 0; i < new->n_weights; i++) {
        const int of = new->weights[i].region;

        if (old_of[i] >= 0 || of < 0 || region[of] < 0)
            continue;
        old_of[i] = take_of_region(old, new_of, region[of], &new->weights[i]);
        if (old_of[i] >= 0)
            new_of[old_of[i]] = i;
    }
    return old_of;
}
