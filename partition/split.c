/* split.c - see split.h.
 *
 * A region's candidates are put into a topological order that follows one branch as long as it can,
 * so that few values cross between neighbours. Pieces are runs of that order: all edges between
 * them lead forward, and a path that leaves the region does not come back, so pieces are convex and
 * free of cycles as the region was. Cuts are chosen by dynamic programming: least estimated
 * hand-over of all pieces, then fewest bytes, then fewest pieces.
 *
 * Of the pieces that begin at a candidate only the WINDOW longest that fit are looked at. So the
 * first piece may end at one of WINDOW places, the second at one of twice as many ...; of these
 * only the last STARTS begin further pieces. The last of all is always among them, so an end is
 * found. Thus a region costs at most STARTS steps per candidate instead of its square, and one
 * whose pieces have at most WINDOW candidates is cut as well as can be. */
#include "partition/split.h"

#include <assert.h>

enum {
    WINDOW = 64,
    STARTS = 128,
    /* Memory on the chip of a piece is found by adding to the places that a value lives at; this
     * bounds the work for graphs whose values all live long. */
    MAX_PIECE_ONCHIP = 256
};

/* --- the order -------------------------------------------------------------------------------- */

struct ordering {
    struct partition *partition;
    int region;
    int *waiting; /* by root: reads of other candidates' values that have not run */
};

static bool in_region(const struct ordering *o, const struct node *node)
{
    const struct candidate *choice = node->op == OP_RETURN ? NULL : o->partition->choice[node->id];

    return choice && choice->region == o->region;
}

static int count_reads(const struct ordering *o, const struct candidate *candidate)
{
    int n = 0;

    for (int i = 0; i < candidate->match.n_nodes; i++)
        for (int j = 0; j < candidate->match.nodes[i]->n_inputs; j++) {
            const struct value *value = candidate->match.nodes[i]->inputs[j];

            if (value && value->def && o->partition->choice[value->def->id] != candidate)
                n += in_region(o, value->def);
        }
    return n;
}

static int compare_roots(const struct candidate *a, const struct candidate *b)
{
    return a->match.root->id < b->match.root->id ? -1 : 1;
}

/* The readers that wait for nothing else now, pushed so that the one whose root comes first is
 * taken next. */
static int push_ready(const struct ordering *o, const struct node *root, struct candidate **stack,
                      int depth)
{
    const int from = depth;

    for (int i = 0; i < root->n_outputs; i++)
        for (const struct use *use = root->outputs[i]->uses; use; use = use->next) {
            struct candidate *reader =
                in_region(o, use->node) ? o->partition->choice[use->node->id] : NULL;
            int at = depth;

            if (!reader || --o->waiting[reader->match.root->id] > 0)
                continue;
            for (; at > from && compare_roots(stack[at - 1], reader) < 0; at--)
                stack[at] = stack[at - 1];
            stack[at] = reader;
            depth++;
        }
    return depth;
}

static void order_candidates(struct ordering *o, struct region_plan *region, struct arena *scratch)
{
    struct candidate **stack = arena_array(scratch, struct candidate *, region->n);
    struct candidate **order = arena_array(scratch, struct candidate *, region->n);
    int depth = 0, n = 0;

    for (int i = region->n; i-- > 0;) {
        const int reads = count_reads(o, region->candidates[i]);

        o->waiting[region->candidates[i]->match.root->id] = reads;
        if (reads == 0)
            stack[depth++] = region->candidates[i];
    }
    while (depth > 0) {
        struct candidate *next = stack[--depth];

        order[n++] = next;
        depth = push_ready(o, next->match.root, stack, depth);
    }
    assert(n == region->n);
    for (int i = 0; i < n; i++)
        region->candidates[i] = order[i];
}

/* --- the cuts --------------------------------------------------------------------------------- */

/* The best way to cut the candidates in front of a place. */
struct cut {
    bool reached;
    int from; /* where the last piece begins */
    double ns, bytes;
    int pieces;
};

static bool is_better(const struct cut *a, const struct cut *b)
{
    if (!b->reached || a->ns != b->ns)
        return !b->reached || a->ns < b->ns;
    return a->bytes != b->bytes ? a->bytes < b->bytes : a->pieces < b->pieces;
}

/* A piece that fits. */
struct piece {
    int end;
    double ns, bytes;
};

static void relax(struct cut *cuts, int from, const struct piece *piece)
{
    const struct cut cut = { .reached = true,
                             .from = from,
                             .ns = cuts[from].ns + piece->ns,
                             .bytes = cuts[from].bytes + piece->bytes,
                             .pieces = cuts[from].pieces + 1 };

    if (is_better(&cut, &cuts[piece->end]))
        cuts[piece->end] = cut;
}

/* Returns the furthest end of a piece that begins here. */
static int cut_from(struct measure *measure, const struct region_plan *region, int from,
                    struct cut *cuts)
{
    const bool onchip = region->target->limits.max_onchip_bytes != LIMIT_NONE;
    struct piece pieces[WINDOW]; /* the latest, in a ring */
    int n = 0;

    measure_begin(measure, region->target);
    for (int i = from; i < region->n && !(onchip && i - from == MAX_PIECE_ONCHIP); i++) {
        measure_add(measure, region->candidates[i]);
        if (measure_hopeless(measure))
            break;
        if (measure_fits(measure))
            pieces[n++ % WINDOW] = (struct piece){
                .end = i + 1,
                .ns = measure->plan.handover_ns,
                .bytes = (double)measure->plan.input_bytes + (double)measure->plan.output_bytes,
            };
    }
    assert(n > 0);
    for (int i = n > WINDOW ? n - WINDOW : 0; i < n; i++)
        relax(cuts, from, &pieces[i % WINDOW]);
    return pieces[(n - 1) % WINDOW].end;
}

/* Where the pieces begin, in order; *n of them. */
static int *cut_region(struct measure *measure, const struct region_plan *region,
                       struct arena *scratch, int *n)
{
    struct cut *cuts = arena_array(scratch, struct cut, region->n + 1);
    int *begins;
    int last = 0, last_next = 0; /* places where pieces of one number in order, and the next, end */

    cuts[0].reached = true;
    for (int i = 0; i < region->n; i++) {
        if (i > last)
            last = last_next;
        if (cuts[i].reached && last - i < STARTS) {
            const int end = cut_from(measure, region, i, cuts);

            last_next = end > last_next ? end : last_next;
        }
    }
    *n = cuts[region->n].pieces;
    begins = arena_array(scratch, int, *n);
    for (int end = region->n, i = *n; i-- > 0; end = begins[i])
        begins[i] = cuts[end].from;
    return begins;
}

/* --- regions ---------------------------------------------------------------------------------- */

struct splitting {
    struct partition *partition;
    struct measure *measure;
    struct arena *scratch;
    struct ordering ordering;
    struct region_plan *regions; /* the new ones */
    int n;
    struct splits *told;
};

static void add_region(struct splitting *s, struct candidate **candidates, int n)
{
    struct region_plan *region = &s->regions[s->n++];

    region->candidates = candidates;
    region->n = n;
    measure_region(s->measure, region);
}

static void split_region(struct splitting *s, struct region_plan *region, const char *why)
{
    struct split *split = &s->told->at[s->told->n++];
    int *begins;

    order_candidates(&s->ordering, region, s->scratch);
    *split = (struct split){ .target = region->target,
                             .why = why,
                             .n_nodes = region->n_nodes,
                             .first = region->candidates[0] };
    begins = cut_region(s->measure, region, s->scratch, &split->n);
    split->last_before = arena_array(s->scratch, const struct candidate *, split->n);
    for (int i = 0; i < split->n; i++) {
        const int end = i + 1 < split->n ? begins[i + 1] : region->n;

        split->last_before[i] = region->candidates[end - 1];
        add_region(s, region->candidates + begins[i], end - begins[i]);
    }
}

void split_regions(struct partition *partition, struct measure *measure, struct splits *out)
{
    struct arena *scratch = &partition->module->ctx->scratch;
    struct splitting s = { .partition = partition,
                           .measure = measure,
                           .scratch = scratch,
                           .ordering = { .partition = partition },
                           .told = out };
    int n = 0;

    for (int i = 0; i < partition->n_regions; i++)
        n += partition->regions[i].n;
    s.regions = arena_array(&partition->arena, struct region_plan, n);
    s.ordering.waiting = arena_array(scratch, int, partition->n_nodes + 1);
    out->at = arena_array(scratch, struct split, partition->n_regions);
    for (int i = 0; i < partition->n_regions; i++) {
        struct region_plan *region = &partition->regions[i];
        const char *why, *limit;

        measure_region(measure, region);
        why = measure_beyond(measure, &partition->arena, &limit);
        s.ordering.region = i;
        if (why)
            split_region(&s, region, why);
        else
            s.regions[s.n++] = *region;
    }
    partition->regions = s.regions;
    partition->n_regions = s.n;
    for (int i = 0; i < s.n; i++)
        for (int j = 0; j < s.regions[i].n; j++)
            s.regions[i].candidates[j]->region = i;
}
