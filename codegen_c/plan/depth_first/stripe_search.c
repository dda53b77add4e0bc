/* stripe_search.c - which regions are striped together, so that the arena takes no more than it
 * may.
 *
 * needs    main, planned without stripes
 * method   the order of the regions is cut into runs; a run of one region is computed as it is, a
 *          longer one in stripes. What a run needs - its buffers, and all that is alive around it -
 *          does not depend on how the rest is cut, so the best cut is a shortest path: first the
 * one whose greatest need is least, or, where less is asked for, the one with the fewest stripes
 *          among those that fit
 *
 * Or so that feature maps stay in a cache: then the cut that saves most of what would go through
 * the cache behind it, less what stripes cost. */
#include "codegen_c/core/stripe.h"

#include "codegen_c/core/plan.h"

/* Longer runs than this are not looked at, and no more than MOST_WORK steps of flows: about a second.
 */
enum { LONGEST_RUN = 48 };
static const int64_t MOST_WORK = 400000000;

/* A place in memory: a value, or a concatenation with its parts. */
struct whole {
    size_t bytes;
    int first, last; /* calls that write or read it */
    bool is_kept;    /* from before the first, or until behind the last */
};

struct run {
    size_t around; /* bytes alive beside the buffers */
    size_t least;  /* with the smallest buffers; SIZE_MAX = it cannot be striped */
};

struct stripe_search {
    struct arena *arena;
    int n_nodes;
    const char **order; /* as of struct stripe_plan */
    int n;              /* calls */
    struct row_region *regions;
    size_t *scratch; /* of each while it runs as it is */
    size_t *alone;   /* bytes alive while it does */
    struct whole *wholes;
    int n_wholes;
    int64_t *most_rows; /* of the calls up to here: to bound how many stripes make sense */
    struct run *runs;   /* [n][LONGEST_RUN], by first and length - 1 */
    int64_t work;
};

static struct run *run_at(const struct stripe_search *search, int first, int last)
{
    return &search->runs[(size_t)first * LONGEST_RUN + (size_t)(last - first)];
}

/* --- what is alive ---------------------------------------------------------------------------- */

static void touch(struct whole *whole, int call)
{
    if (whole->first < 0 || whole->first > call)
        whole->first = call;
    if (whole->last < call)
        whole->last = call;
}

/* Inputs and outputs in the arena. */
static void keep(struct whole *whole, const struct type *type, int call)
{
    whole->bytes = plan_round(type_bytes(type));
    whole->is_kept = true;
    touch(whole, call);
}

static void find_wholes(struct stripe_search *search, const struct plan *plan)
{
    const int n = plan->main->n_values;
    struct whole *by_id = arena_array(search->arena, struct whole, n);
    int call = 0;

    for (int i = 0; i < n; i++)
        by_id[i] = (struct whole){ .first = -1, .last = -1 };
    for (const struct node *node = plan->main->first; node; node = node->next) {
        if (node->op != OP_CALL)
            continue;
        for (int i = 0; i < node->n_inputs + node->n_outputs; i++) {
            const struct value *value =
                i < node->n_inputs ? node->inputs[i] : node->outputs[i - node->n_inputs];
            const struct value *whole = plan_whole(plan, value);

            if (plan->place[whole->id].kind != PLACE_ARENA)
                continue;
            by_id[whole->id].bytes = plan_round(type_bytes(&whole->type));
            touch(&by_id[whole->id], call);
        }
        call++;
    }
    for (int i = 0; i < plan->main->n_params; i++)
        if (plan->place[plan->main->params[i]->id].kind == PLACE_ARENA)
            keep(&by_id[plan->main->params[i]->id], &plan->main->params[i]->type, 0);
    for (int i = 0; i < plan->main->ret->n_inputs; i++)
        if (plan->place[plan->main->ret->inputs[i]->id].kind == PLACE_ARENA)
            keep(&by_id[plan_whole(plan, plan->main->ret->inputs[i])->id],
                 &plan_whole(plan, plan->main->ret->inputs[i])->type, call - 1);
    search->wholes = arena_array(search->arena, struct whole, n);
    for (int i = 0; i < n; i++)
        if (by_id[i].first >= 0)
            search->wholes[search->n_wholes++] = by_id[i];
}

/* Bytes that are alive during the whole run, but what only the run itself knows. */
static size_t bytes_around(const struct stripe_search *search, int first, int last)
{
    size_t bytes = 0;

    for (int i = 0; i < search->n_wholes; i++) {
        const struct whole *whole = &search->wholes[i];

        if (whole->first <= last && whole->last >= first &&
            (whole->is_kept || whole->first < first || whole->last > last))
            bytes += whole->bytes;
    }
    return bytes;
}

static void find_alone(struct stripe_search *search, const struct plan *plan,
                       const struct region *regions)
{
    struct arena scratch = { NULL };
    const size_t *alive = plan_alive(plan, &scratch);
    int call = 0, r = 0;

    for (const struct node *node = plan->main->first; node; node = node->next) {
        if (node->op != OP_CALL)
            continue;
        if (r < plan->n_regions && regions[r].call == node) {
            search->alone[call] = alive[r];
            search->scratch[call] = regions[r].config.scratch_bytes;
            if (regions[r].config.winograd_tile || regions[r].config.pairs)
                search->regions[call].why = "Winograd's sums depend on where its tiles begin";
            r++;
        }
        call++;
    }
    arena_release(&scratch);
}

/* --- runs ------------------------------------------------------------------------------------- */

/* A value of the run that is read inside must be read as it is, not through a view. */
static bool has_inner_view(const struct stripe_search *search, int first, int last)
{
    const struct node *call = search->regions[last].call;

    for (int k = 0; k < call->n_inputs; k++) {
        const struct value *value = call->inputs[k];

        if (!value->def || value->def->op == OP_CALL)
            continue;
        while (value->def && value->def->op != OP_CALL)
            value = value->def->inputs[0];
        for (int i = first; i < last; i++)
            if (search->regions[i].call == value->def)
                return true;
    }
    return false;
}

static struct stripes stripes_at(struct stripe_search *search, struct arena *arena, int first,
                                 int last)
{
    struct stripes stripes = { .n = last - first + 1, .regions = &search->regions[first] };

    stripes_link(arena, &stripes);
    return stripes;
}

static int64_t most_rows(const struct stripe_search *search, int first, int last)
{
    int64_t most = 1;

    for (int i = first; i <= last; i++)
        if (search->regions[i].rows > most)
            most = search->regions[i].rows;
    return most;
}

/* Bytes of the run in `parts` parts; SIZE_MAX beyond `most`. */
static size_t run_bytes(struct stripe_search *search, int first, int last, int64_t parts,
                        size_t most, int64_t *n_calls)
{
    const size_t around = run_at(search, first, last)->around;
    struct arena scratch = { NULL };
    struct stripes stripes = stripes_at(search, &scratch, first, last);
    size_t bytes = SIZE_MAX;

    if (around < most && stripes_flow(&scratch, &stripes, parts, &search->scratch[first],
                                      most - around, &search->work)) {
        bytes = around + stripes.scratch;
        *n_calls = stripes.n_calls;
    }
    arena_release(&scratch);
    return bytes;
}

static void find_runs(struct stripe_search *search, size_t most)
{
    for (int first = 0; first < search->n; first++)
        for (int last = first; last < search->n && last - first < LONGEST_RUN; last++) {
            struct run *run = run_at(search, first, last);
            int64_t n_calls;

            run->least = SIZE_MAX;
            if (search->regions[last].why || has_inner_view(search, first, last)) {
                for (int i = last; i < search->n && i - first < LONGEST_RUN; i++)
                    run_at(search, first, i)->least = SIZE_MAX;
                break;
            }
            run->around = bytes_around(search, first, last);
            if (last > first && search->work > 0)
                run->least =
                    run_bytes(search, first, last, most_rows(search, first, last), most, &n_calls);
        }
}

struct stripe_search *stripe_search_new(struct arena *arena, const struct plan *plan,
                                        const struct region *regions)
{
    struct stripe_search *search = arena_new(arena, struct stripe_search);
    int n = 0;

    *search = (struct stripe_search){ .arena = arena, .work = MOST_WORK };
    for (const struct node *node = plan->main->first; node; node = node->next) {
        search->n += node->op == OP_CALL;
        search->n_nodes++;
    }
    search->order = arena_array(arena, const char *, search->n_nodes);
    search->n_nodes = 0;
    for (const struct node *node = plan->main->first; node; node = node->next)
        search->order[search->n_nodes++] = node->outputs[0]->name;
    search->regions = arena_array(arena, struct row_region, search->n);
    search->scratch = arena_array(arena, size_t, search->n);
    search->alone = arena_array(arena, size_t, search->n);
    search->runs = arena_array(arena, struct run, search->n * LONGEST_RUN);
    for (struct node *node = plan->main->first; node; node = node->next)
        if (node->op == OP_CALL)
            search->regions[n++] = rows_of_region(arena, node);
    find_alone(search, plan, regions);
    find_wholes(search, plan);
    find_runs(search, plan->arena_bytes);
    return search;
}

/* --- the cut ---------------------------------------------------------------------------------- */

static size_t greater(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The least that any cut needs. */
static size_t least_need(const struct stripe_search *search)
{
    size_t *need = arena_array(search->arena, size_t, search->n + 1); /* up to a call */

    for (int last = 0; last < search->n; last++) {
        need[last + 1] = greater(need[last], search->alone[last]);
        for (int first = last - 1; first >= 0 && last - first < LONGEST_RUN; first--) {
            const size_t with = greater(need[first], run_at(search, first, last)->least);

            if (with < need[last + 1])
                need[last + 1] = with;
        }
    }
    return need[search->n];
}

/* The fewest parts with which the run fits, by halves of what makes sense; 0 = it does not. */
static int64_t fewest_parts(struct stripe_search *search, int first, int last, size_t most,
                            int64_t *n_calls)
{
    int64_t fewest = 0, calls;

    if (run_at(search, first, last)->least > most)
        return 0;
    for (int64_t parts = most_rows(search, first, last); parts > 1; parts = (parts + 1) / 2) {
        if (run_bytes(search, first, last, parts, most + 1, &calls) > most)
            break;
        fewest = parts;
        *n_calls = calls;
    }
    return fewest;
}

struct cut {
    int64_t n_calls; /* stripes up to here; INT64_MAX = nothing fits */
    int first;       /* of the last run */
    int64_t parts;   /* of it; 0 = it is computed as it is */
};

static void add_run(struct stripe_search *search, struct cut *cuts, int first, int last,
                    size_t most)
{
    struct cut *cut = &cuts[last + 1];
    int64_t n_calls, parts;

    if (cuts[first].n_calls == INT64_MAX || run_at(search, first, last)->least > most)
        return;
    parts = fewest_parts(search, first, last, most, &n_calls);
    if (parts && cuts[first].n_calls + n_calls < cut->n_calls)
        *cut = (struct cut){ cuts[first].n_calls + n_calls, first, parts };
}

static bool is_too_great(const struct stripe_search *search, int first, int last, size_t most)
{
    for (int i = first; i <= last; i++)
        if (search->alone[i] > most)
            return true;
    return false;
}

static struct stripe_plan follow_cuts(const struct stripe_search *search, const struct cut *cuts)
{
    struct stripe_plan plan = { .at =
                                    arena_array(search->arena, struct stripe_choice, search->n + 1),
                                .n_nodes = search->n_nodes,
                                .order = search->order };

    for (int end = search->n; end > 0; end = cuts[end].first)
        if (cuts[end].parts)
            plan.at[plan.n++] = (struct stripe_choice){ cuts[end].first, end - 1, cuts[end].parts };
    for (int i = 0; i < plan.n / 2; i++) {
        const struct stripe_choice at = plan.at[i];

        plan.at[i] = plan.at[plan.n - 1 - i];
        plan.at[plan.n - 1 - i] = at;
    }
    return plan;
}

struct stripe_plan stripe_search_plan(struct stripe_search *search, size_t most)
{
    struct cut *cuts = arena_array(search->arena, struct cut, search->n + 1);
    const size_t least = least_need(search);
    const bool is_out_of_reach = most < least;
    struct stripe_plan plan;

    search->work = MOST_WORK;
    most = greater(most, least);
    for (int last = 0; last < search->n; last++) {
        struct cut *cut = &cuts[last + 1];

        *cut = (struct cut){ INT64_MAX, last, 0 };
        if (cuts[last].n_calls < INT64_MAX && search->alone[last] <= most)
            cut->n_calls = cuts[last].n_calls + 1;
        for (int first = last - 1; first >= 0 && last - first < LONGEST_RUN; first--)
            if (is_too_great(search, first, last, most))
                add_run(search, cuts, first, last, most);
    }
    if (cuts[search->n].n_calls == INT64_MAX) /* no more work */
        return (struct stripe_plan){ .bytes = SIZE_MAX };
    plan = follow_cuts(search, cuts);
    plan.bytes = most;
    for (int i = 0; i < plan.n && is_out_of_reach; i++) /* but the estimate may be too high */
        plan.at[i].parts = most_rows(search, plan.at[i].first, plan.at[i].last);
    return plan;
}

/* --- for speed -------------------------------------------------------------------------------- */

/* A stripe's cost, as bytes that come from the cache behind in the same time: a call and a tile
 * that is not full. */
enum { STRIPE_COST = 8 << 10 };

static size_t constant_bytes(const struct function *fn)
{
    size_t bytes = 0;

    for (const struct node *node = fn->first; node; node = node->next)
        for (int i = 0; i < node->n_inputs; i++)
            if (node->inputs[i] && node->inputs[i]->kind == VALUE_CONSTANT)
                bytes += type_bytes(&node->inputs[i]->type);
    return bytes;
}

/* What the run writes and reads again only inside, as far as it would have left the cache by then:
 * all of a map but half of the cache. */
static int64_t bytes_saved(const struct stripe_search *search, int first, int last, size_t cache)
{
    int64_t saved = 0;

    for (int i = 0; i < search->n_wholes; i++) {
        const struct whole *whole = &search->wholes[i];

        if (!whole->is_kept && first <= whole->first && whole->last <= last &&
            whole->bytes > cache / 2)
            saved += 2 * (int64_t)(whole->bytes - cache / 2);
    }
    return saved;
}

struct stripe_plan stripe_search_fast(struct stripe_search *search, size_t cache)
{
    struct cut *cuts = arena_array(search->arena, struct cut, search->n + 1);
    const size_t near = cache / 8 * 3; /* of buffers and weights, beside what else is read */
    int64_t *gain =
        arena_array(search->arena, int64_t, search->n + 1); /* of the cuts up to a call */

    search->work = MOST_WORK;
    for (int last = 0; last < search->n; last++) {
        size_t weights = constant_bytes(search->regions[last].call->callee);

        gain[last + 1] = gain[last];
        cuts[last + 1] = (struct cut){ .first = last };
        for (int first = last - 1; first >= 0 && last - first < LONGEST_RUN; first--) {
            const int64_t saved = bytes_saved(search, first, last, cache);
            int64_t n_calls, parts;

            weights += constant_bytes(search->regions[first].call->callee);
            if (run_at(search, first, last)->least == SIZE_MAX || weights >= near ||
                gain[first] + saved <= gain[last + 1])
                continue;
            parts = fewest_parts(search, first, last,
                                 run_at(search, first, last)->around + near - weights, &n_calls);
            if (parts && gain[first] + saved - n_calls * STRIPE_COST > gain[last + 1]) {
                gain[last + 1] = gain[first] + saved - n_calls * STRIPE_COST;
                cuts[last + 1] = (struct cut){ .first = first, .parts = parts };
            }
        }
    }
    return follow_cuts(search, cuts);
}
