/* explain.c - collects what every row said about every node.
 *
 * needs    candidates, attempts and choices complete; main numbered and not yet rewritten
 * method   candidates and attempts are sorted to the nodes they are about, then per node and row
 *          the one that tells most: the chosen match, another match, the attempt that came furthest
 */
#include "partition/explain.h"

#include <limits.h>

#include "base/str.h"
#include "partition/measure.h"

/* A candidate or an attempt, in the list of a node that it is about. */
struct remark {
    const struct candidate *candidate; /* or */
    const struct attempt *attempt;
    struct remark *next;
};

struct explaining {
    struct partition *partition;
    struct arena *arena;
    int n_rows;
    const struct composite_row **rows; /* of all targets in the user's order, then of the host */
    struct remark **remarks;           /* by node id, latest first */
    const struct remark **best;        /* by row, of the node at hand */
};

static void add_remark(struct explaining *e, const struct node *node,
                       const struct candidate *candidate, const struct attempt *attempt)
{
    struct remark *made = arena_new(e->arena, struct remark);

    *made = (struct remark){ candidate, attempt, e->remarks[node->id] };
    e->remarks[node->id] = made;
}

static void collect_remarks(struct explaining *e)
{
    e->remarks = arena_array(e->arena, struct remark *, e->partition->fn->n_nodes + 1);
    for (const struct candidate *c = e->partition->first; c; c = c->next)
        for (int i = 0; i < c->match.n_nodes; i++)
            add_remark(e, c->match.nodes[i], c, NULL);
    for (const struct attempt *a = e->partition->attempts; a; a = a->next) {
        add_remark(e, a->node, NULL, a);
        if (a->why.node && a->why.node != a->node)
            add_remark(e, a->why.node, NULL, a);
    }
}

static void add_rows(struct explaining *e, const struct target *target)
{
    for (int i = 0; target && i < target->n_rows; i++)
        e->rows[e->n_rows++] = &target->rows[i];
}

static void collect_rows(struct explaining *e)
{
    const struct partition_options *options = e->partition->options;
    int n = e->partition->host ? e->partition->host->n_rows : 0;

    for (int i = 0; i < options->n_offload; i++)
        n += options->offload[i]->n_rows;
    e->rows = arena_array(e->arena, const struct composite_row *, n);
    e->best = arena_array(e->arena, const struct remark *, n);
    for (int i = 0; i < options->n_offload; i++)
        add_rows(e, options->offload[i]);
    add_rows(e, e->partition->host);
}

static bool is_chosen(const struct explaining *e, const struct candidate *candidate)
{
    return e->partition->choice[candidate->match.root->id] == candidate;
}

/* How much a remark tells: a match more than an attempt, a failed condition more than a failed
 * pattern. */
static int weight(const struct explaining *e, const struct remark *remark)
{
    if (remark->candidate)
        return is_chosen(e, remark->candidate) ? INT_MAX : INT_MAX - 1;
    return remark->attempt->condition ? INT_MAX - 2 : remark->attempt->why.n_matched;
}

/* The best remark of each row; among equals the first one made, which comes last here. */
static void choose_remarks(struct explaining *e, const struct node *node)
{
    for (int i = 0; i < e->n_rows; i++)
        e->best[i] = NULL;
    for (const struct remark *r = e->remarks[node->id]; r; r = r->next) {
        const struct composite_row *row = r->candidate ? r->candidate->row : r->attempt->row;

        for (int i = 0; i < e->n_rows; i++)
            if (e->rows[i] == row && (!e->best[i] || weight(e, r) >= weight(e, e->best[i])))
                e->best[i] = r;
    }
}

/* Why a match was not taken; *reason in a word. */
static const char *why_not(struct explaining *e, const struct candidate *candidate,
                           const char **reason)
{
    *reason = candidate->excluded_by;
    if (candidate->excluded)
        return candidate->excluded;
    *reason = "overlap";
    for (int i = 0; i < candidate->match.n_nodes; i++) {
        const struct node *node = candidate->match.nodes[i];
        const struct candidate *other = e->partition->choice[node->id];

        if (other && other != candidate)
            return arena_printf(e->arena, "\"%s\" belongs to %s#%d",
                                str_safe(e->arena, node->outputs[0]->name, 80), other->row->name,
                                other->id);
    }
    *reason = candidate->target_ns > candidate->host_ns ? "slower" : "assignment";
    return candidate->passed_over ? candidate->passed_over : "the host is estimated to be faster";
}

static struct verdict verdict_of(struct explaining *e, const struct composite_row *row,
                                 const struct remark *remark)
{
    struct verdict made = { .row = row, .tried = remark != NULL, .candidate = -1 };

    if (!remark)
        return made;
    if (remark->candidate) {
        const struct candidate *candidate = remark->candidate;

        made.matched = true;
        made.chosen = is_chosen(e, candidate);
        made.candidate = candidate->id;
        made.n_nodes = candidate->match.n_nodes;
        made.target_ns = candidate->target_ns;
        made.host_ns = measure_candidate_ns(e->partition, candidate);
        made.excluded = made.chosen ? NULL : why_not(e, candidate, &made.reason);
        made.cost_problem = candidate->cost_problem;
    } else {
        const struct attempt *attempt = remark->attempt;

        made.found = attempt->why.found;
        made.wanted = attempt->why.wanted;
        made.elsewhere = attempt->why.is_op && attempt->why.n_matched == 0;
        made.column = attempt->condition ? 0 : (int)attempt->why.offset + 1;
    }
    return made;
}

static void explain_node(struct explaining *e, const struct node *node, struct explained_node *out)
{
    const struct candidate *choice = e->partition->choice[node->id];

    *out = (struct explained_node){ .name = node->outputs[0]->name,
                                    .op = node->op,
                                    .type = type_text(e->arena, &node->outputs[0]->type),
                                    .origin = node->origin,
                                    .target = choice ? choice->row->target : e->partition->host,
                                    .region = choice ? choice->region : -1,
                                    .host_ns = measure_node_ns(e->partition, node) };
    out->verdicts = arena_array(e->arena, struct verdict, e->n_rows);
    choose_remarks(e, node);
    for (int i = e->partition->options->n_offload; i-- > 0;)
        if (e->partition->options->offload[i]->keep_on_host[node->op])
            out->kept_by = e->partition->options->offload[i];
    for (int i = 0; i < e->n_rows; i++)
        if (e->best[i] || pattern_mentions(e->rows[i]->pattern, node->op))
            out->verdicts[out->n++] = verdict_of(e, e->rows[i], e->best[i]);
}

void partition_explain(struct partition *partition)
{
    struct explanation *made = arena_new(&partition->arena, struct explanation);
    struct explaining e = { .partition = partition, .arena = &partition->arena };
    struct function *fn = partition->fn;

    function_number(fn);
    collect_rows(&e);
    collect_remarks(&e);
    made->nodes = arena_array(e.arena, struct explained_node, fn->n_nodes);
    for (const struct node *node = fn->first; node; node = node->next) {
        struct explained_node *out = &made->nodes[made->n_nodes++];

        explain_node(&e, node, out);
    }
    made->host_only_ns = measure_host_only_ns(partition);
    made->chosen_ns = measure_chosen_ns(partition);
    made->n_regions = partition->n_regions;
    made->regions = partition->regions;
    made->decisions = partition->decisions;
    made->n_targets = partition->options->n_offload;
    made->targets = partition->options->offload;
    partition->explanation = made;
}
