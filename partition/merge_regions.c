/* merge_regions.c - joins neighbouring composites of one target.
 *
 * needs    choices that are disjoint
 * gives    partition->regions, in order of their first root; free of cycles
 * method   levels: a few sweeps over all edges, then a bounded amount of work per edge between
 *          regions of one target
 *
 * A unit is a chosen candidate or a node of the host, and is named by the id of its root. What a
 * unit computes is read outside of it at its root only (pattern_match sees to that), so every edge
 * between units leads to a greater root: units in order of their roots are in topological order.
 *
 * Every unit gets a level so that along each edge
 *      the level does not fall,                            (1)
 *      and rises where the target changes                  (2)
 * (the host counts as one target). Units of one target on one level that edges connect become a
 * region. Then no path leaves a region and comes back, and no regions wait for each other: an edge
 * out of a region leads to another target, hence up by (2); or to the same target on another level,
 * hence up by (1); the same target and level would be the same region. Levels never fall behind it,
 * so nothing on such a path is of the region's level again. Which levels are chosen within (1) and
 * (2) decides only how large regions get, never whether they are sound: the sweeps below move one
 * unit at a time within the bounds that its neighbours set, and lifting moves whole regions
 * together with everything that would be too low behind them; both keep (1) and (2). */
#include "partition/partition.h"

#include "partition/measure.h"

enum { MAX_LIFT = 512 }; /* units and edges that lifting one region may look at */

/* A value that a unit computes and another one reads (twice: two edges). */
struct edge {
    int from, to;
    int rise; /* how much the level must rise along it */
    double bytes;
    struct edge *next_in, *next_out;
};

struct unit {
    const struct target *target; /* NULL = host */
    struct edge *in, *out;
    int level;
    int region;
    int joined;     /* union-find: another unit of the same region, or itself */
    int last, next; /* units of a region as a list: the last, of the first; the next, -1 = none */
};

struct levels {
    struct partition *partition;
    struct arena *scratch;
    int n;              /* nodes */
    int *unit_of;       /* by node id: the unit's root */
    struct unit *units; /* by root; others are not used */
    int highest;
    double *company; /* by level, all 0 between uses */
};

static bool is_unit(const struct levels *l, int id)
{
    return l->unit_of[id] == id;
}

static void add_edge(struct levels *l, int from, int to, const struct value *value)
{
    struct edge *edge = arena_new(l->scratch, struct edge);

    *edge = (struct edge){ .from = from,
                           .to = to,
                           .rise = l->units[from].target != l->units[to].target,
                           .bytes = (double)type_bytes(&value->type),
                           .next_in = l->units[to].in,
                           .next_out = l->units[from].out };
    l->units[to].in = l->units[from].out = edge;
}

static void collect_units(struct levels *l)
{
    const struct partition *partition = l->partition;

    l->unit_of = arena_array(l->scratch, int, l->n);
    l->units = arena_array(l->scratch, struct unit, l->n);
    l->company = arena_array(l->scratch, double, 2 * l->n + 2);
    for (int id = 0; id < l->n; id++) {
        const struct candidate *choice = partition->choice[id];

        l->unit_of[id] = choice ? choice->match.root->id : id;
        l->units[id].target = choice ? choice->row->target : NULL;
        l->units[id].joined = id;
    }
    for (int id = 0; id < l->n; id++)
        for (int i = 0; i < partition->nodes[id]->n_inputs; i++) {
            const struct value *value = partition->nodes[id]->inputs[i];

            if (value && value->def && l->unit_of[value->def->id] != l->unit_of[id])
                add_edge(l, l->unit_of[value->def->id], l->unit_of[id], value);
        }
}

/* --- levels ----------------------------------------------------------------------------------- */

/* The bounds that the neighbours set. */
static int lowest_level(const struct levels *l, const struct unit *unit)
{
    int lowest = 0;

    for (const struct edge *e = unit->in; e; e = e->next_in)
        if (lowest < l->units[e->from].level + e->rise)
            lowest = l->units[e->from].level + e->rise;
    return lowest;
}

static int highest_level(const struct levels *l, const struct unit *unit)
{
    int highest = l->highest;

    for (const struct edge *e = unit->out; e; e = e->next_out)
        if (highest > l->units[e->to].level - e->rise)
            highest = l->units[e->to].level - e->rise;
    return highest;
}

/* As early as can be. */
static void sweep_forward(struct levels *l)
{
    for (int id = 0; id < l->n; id++)
        if (is_unit(l, id)) {
            l->units[id].level = lowest_level(l, &l->units[id]);
            if (l->highest < l->units[id].level)
                l->highest = l->units[id].level;
        }
    l->highest = 2 * l->highest + 1; /* room to rise for what nobody waits for */
}

/* Whether a unit joins nothing whatever its level is. It is moved out of the way of others. */
static bool is_alone(const struct unit *unit)
{
    for (const struct edge *e = unit->in; unit->target && e; e = e->next_in)
        if (!e->rise)
            return false;
    for (const struct edge *e = unit->out; unit->target && e; e = e->next_out)
        if (!e->rise)
            return false;
    return true;
}

/* A unit whose reader of the same target had to wait for something else waits with it, so that a
 * short branch joins the long one that it meets. Units that join nothing rise as far as they can,
 * which makes room for those in front of them. */
static void sweep_backward(struct levels *l)
{
    for (int id = l->n; id-- > 0;) {
        struct unit *unit = &l->units[id];
        const int highest = is_unit(l, id) ? highest_level(l, unit) : 0;
        int reader = l->highest + 1;

        if (!is_unit(l, id))
            continue;
        for (const struct edge *e = unit->out; e; e = e->next_out)
            if (!e->rise && reader > l->units[e->to].level)
                reader = l->units[e->to].level;
        if (is_alone(unit))
            unit->level = highest;
        else if (reader <= highest)
            unit->level = reader;
    }
}

/* Of the levels within bounds where the unit has neighbours of its own target the one where it
 * shares the most bytes with them; its own level among equals. */
static int best_level(struct levels *l, const struct unit *unit)
{
    const int lowest = lowest_level(l, unit), highest = highest_level(l, unit);
    int best = unit->level;

    for (const struct edge *e = unit->in; e; e = e->next_in)
        if (!e->rise)
            l->company[l->units[e->from].level] += e->bytes;
    for (const struct edge *e = unit->out; e; e = e->next_out)
        if (!e->rise)
            l->company[l->units[e->to].level] += e->bytes;
    for (const struct edge *e = unit->in; e; e = e->next_in) {
        const int level = l->units[e->from].level;

        if (!e->rise && level >= lowest && l->company[level] > l->company[best])
            best = level;
    }
    for (const struct edge *e = unit->out; e; e = e->next_out) {
        const int level = l->units[e->to].level;

        if (!e->rise && level <= highest && l->company[level] > l->company[best])
            best = level;
    }
    for (const struct edge *e = unit->in; e; e = e->next_in)
        l->company[l->units[e->from].level] = 0;
    for (const struct edge *e = unit->out; e; e = e->next_out)
        l->company[l->units[e->to].level] = 0;
    return best;
}

/* The sweep before has lifted units away from those that could not follow: the cut goes to where
 * the fewest bytes are handed over. */
static void sweep_refine(struct levels *l)
{
    for (int id = 0; id < l->n; id++)
        if (is_unit(l, id))
            l->units[id].level = is_alone(&l->units[id]) ? lowest_level(l, &l->units[id])
                                                         : best_level(l, &l->units[id]);
}

/* --- regions ---------------------------------------------------------------------------------- */

static int find(struct levels *l, int id)
{
    while (l->units[id].joined != id) {
        l->units[id].joined = l->units[l->units[id].joined].joined;
        id = l->units[id].joined;
    }
    return id;
}

/* The least root of a region stands for it. */
static void join_units(struct levels *l)
{
    for (int id = 0; id < l->n; id++)
        l->units[id].joined = id;
    for (int id = 0; id < l->n; id++) {
        if (!is_unit(l, id) || !l->units[id].target)
            continue;
        for (const struct edge *e = l->units[id].in; e; e = e->next_in) {
            const int a = find(l, e->from), b = find(l, id);

            if (!e->rise && l->units[e->from].level == l->units[id].level)
                l->units[a < b ? b : a].joined = a < b ? a : b;
        }
    }
}

/* --- lifting ---------------------------------------------------------------------------------- */

/* Regions whose levels are changed together, each region as a whole, or not at all. */
struct lift {
    int work;               /* units and edges looked at */
    int n_moved, n_waiting; /* units; regions whose readers have not been looked at */
    struct {
        int unit, level;
    } moved[MAX_LIFT]; /* with the levels they had */
    int waiting[MAX_LIFT];
};

static bool move_region(struct levels *l, struct lift *lift, int region, int level)
{
    if (lift->n_waiting == MAX_LIFT)
        return false;
    for (int id = region; id >= 0; id = l->units[id].next) {
        if (lift->n_moved == MAX_LIFT)
            return false;
        lift->moved[lift->n_moved].unit = id;
        lift->moved[lift->n_moved++].level = l->units[id].level;
        l->units[id].level = level;
    }
    lift->waiting[lift->n_waiting++] = region;
    return true;
}

/* Lifts a region to the level of another, and whatever reads it as far as it must. False when that
 * would lift the other, as there is a way between them through something else; or when it is much
 * work. */
static bool lift_to(struct levels *l, struct lift *lift, int region, int other)
{
    if (!move_region(l, lift, region, l->units[other].level))
        return false;
    while (lift->n_waiting > 0)
        for (int id = lift->waiting[--lift->n_waiting]; id >= 0; id = l->units[id].next)
            for (const struct edge *e = l->units[id].out; e; e = e->next_out) {
                const int reader = find(l, e->to), least = l->units[id].level + e->rise;

                if (++lift->work > MAX_LIFT)
                    return false;
                if (l->units[reader].level >= least)
                    continue;
                if (reader == other || !move_region(l, lift, reader, least))
                    return false;
            }
    return true;
}

static void collect_members(struct levels *l)
{
    for (int id = 0; id < l->n; id++) {
        const int first = find(l, id);

        l->units[id].last = id;
        l->units[id].next = -1;
        if (first != id) {
            l->units[l->units[first].last].next = id;
            l->units[first].last = id;
        }
    }
}

/* The sweeps move one unit at a time; where regions of one target still stand on different levels
 * along an edge, the lower one is lifted with all that it pushes up. */
static void lift_regions(struct levels *l)
{
    struct lift *lift = arena_new(l->scratch, struct lift);

    collect_members(l);
    for (int id = 0; id < l->n; id++)
        for (const struct edge *e = is_unit(l, id) ? l->units[id].in : NULL; e; e = e->next_in) {
            const int a = find(l, e->from), b = find(l, id);

            if (e->rise || !l->units[id].target || a == b)
                continue;
            lift->work = lift->n_moved = lift->n_waiting = 0;
            if (lift_to(l, lift, a, b)) {
                const int first = a < b ? a : b, second = a < b ? b : a;

                l->units[second].joined = first;
                l->units[l->units[first].last].next = second;
                l->units[first].last = l->units[second].last;
            } else {
                while (lift->n_moved-- > 0)
                    l->units[lift->moved[lift->n_moved].unit].level =
                        lift->moved[lift->n_moved].level;
            }
        }
    join_units(l); /* levels have the last word */
}

static void make_regions(struct levels *l)
{
    struct partition *partition = l->partition;
    struct measure measure = measure_new(partition, l->scratch);
    int n = 0;

    for (int id = 0; id < l->n; id++)
        if (is_unit(l, id) && l->units[id].target) {
            const int first = find(l, id);

            if (first == id)
                l->units[id].region = n++;
            partition->choice[id]->region = l->units[first].region;
        }
    partition->n_regions = n;
    partition->regions = arena_array(&partition->arena, struct region_plan, n);
    for (int pass = 0; pass < 2; pass++) /* count, then fill */
        for (int id = 0; id < l->n; id++)
            if (is_unit(l, id) && l->units[id].target) {
                struct candidate *choice = partition->choice[id];
                struct region_plan *region = &partition->regions[choice->region];

                if (pass == 0) {
                    region->n++;
                    continue;
                }
                if (!region->candidates) {
                    region->candidates =
                        arena_array(&partition->arena, struct candidate *, region->n);
                    region->n = 0;
                }
                region->candidates[region->n++] = choice;
            }
    for (int i = 0; i < n; i++)
        measure_region(&measure, &partition->regions[i]);
}

bool partition_merge_regions(struct partition *partition)
{
    struct levels levels = { .partition = partition,
                             .scratch = &partition->module->ctx->scratch,
                             .n = partition->n_nodes };

    collect_units(&levels);
    sweep_forward(&levels);
    sweep_backward(&levels);
    sweep_refine(&levels);
    join_units(&levels);
    lift_regions(&levels);
    make_regions(&levels);
    return true;
}
