/* annotate_target.c - gives every node to one candidate or to the host.
 *
 * needs    candidates
 * gives    partition->choice, disjoint; every candidate that was not taken says why (passed_over)
 * method   greedy: candidates by estimated saving (ASSIGN_COST; those of a favourite target first),
 *          or target by target in the user's order (ASSIGN_PRIORITY). One whose nodes are partly
 *          gone is void, but a smaller row, or the same one without its optional part, may match
 *          what is left: the target looks again there, and what it finds takes part in the next
 *          round. Ends when nothing is found, after MAX_ROUNDS at the latest. Each round costs a
 *          sort and a look at the nodes around what was lost. */
#include "partition/partition.h"

#include <stdlib.h>

#include "partition/candidates.h"
#include "partition/measure.h"

enum {
    MAX_ROUNDS = 8,
    REACH = 4 /* how far behind a lost node a root is looked for: rows are rarely longer */
};

/* A candidate that wants its nodes. */
struct bid {
    struct candidate *candidate;
    bool favourite;
    double saving;
    int order; /* of the target */
};

struct choosing {
    struct partition *partition;
    struct arena *scratch;
    int n;
    struct bid *bids;
    int n_lost;
    struct candidate **lost; /* whose nodes went to others */
};

static int compare_savings(const void *left, const void *right)
{
    const struct bid *a = left, *b = right;

    if (a->favourite != b->favourite)
        return a->favourite ? -1 : 1;
    if (a->saving != b->saving)
        return a->saving < b->saving ? 1 : -1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->candidate->id < b->candidate->id ? -1 : 1;
}

/* The candidates from `from` on in a new list: of one target, or of all (NULL). */
static void collect_bids(struct choosing *c, struct candidate *from, const struct target *only)
{
    const struct partition_options *options = c->partition->options;

    c->n = 0;
    c->n_lost = 0;
    c->bids = arena_array(c->scratch, struct bid, c->partition->n_candidates);
    c->lost = arena_array(c->scratch, struct candidate *, c->partition->n_candidates);
    for (struct candidate *candidate = from; candidate; candidate = candidate->next) {
        int order = 0;

        if (only && candidate->row->target != only)
            continue;
        while (options->offload[order] != candidate->row->target)
            order++;
        c->bids[c->n++] =
            (struct bid){ .candidate = candidate,
                          .favourite = candidate->row->target == c->partition->favourite,
                          .saving = candidate->host_ns - candidate->target_ns,
                          .order = order };
    }
    if (options->assign == ASSIGN_COST)
        qsort(c->bids, (size_t)c->n, sizeof *c->bids, compare_savings);
}

/* Who has one of its nodes; NULL = all are free. */
static const struct candidate *taken_by(const struct partition *partition,
                                        const struct candidate *candidate)
{
    for (int i = 0; i < candidate->match.n_nodes; i++) {
        const struct candidate *other = partition->choice[candidate->match.nodes[i]->id];

        if (other)
            return other;
    }
    return NULL;
}

static void take(struct partition *partition, struct candidate *candidate)
{
    candidate->passed_over = NULL;
    for (int i = 0; i < candidate->match.n_nodes; i++)
        partition->choice[candidate->match.nodes[i]->id] = candidate;
}

static void choose(struct choosing *c)
{
    struct partition *partition = c->partition;

    for (int i = 0; i < c->n; i++) {
        struct candidate *candidate = c->bids[i].candidate;
        const struct candidate *other = taken_by(partition, candidate);

        if (candidate->excluded) {
            if (candidate->too_big)
                c->lost[c->n_lost++] = candidate;
        } else if (other) {
            candidate->passed_over = arena_printf(&partition->arena, "its nodes went to %s#%d",
                                                  other->row->name, other->id);
            c->lost[c->n_lost++] = candidate;
        } else if (partition->options->assign == ASSIGN_COST && c->bids[i].saving < 0) {
            candidate->passed_over =
                arena_printf(&partition->arena, "slower than %s", partition->host->name);
        } else {
            take(partition, candidate);
        }
    }
}

/* --- what is left ----------------------------------------------------------------------------- */

/* Marks free nodes of the target's lost candidates, and free nodes up to REACH steps behind them: a
 * row whose root stands there may begin in what was lost. */
static int mark_left(const struct choosing *c, const struct target *target, int *reach)
{
    const struct partition *partition = c->partition;
    int n = 0;

    for (int i = 0; i < c->n_lost; i++)
        for (int j = 0; c->lost[i]->row->target == target && j < c->lost[i]->match.n_nodes; j++)
            reach[c->lost[i]->match.nodes[j]->id] = REACH;
    for (int id = 0; id < partition->n_nodes; id++) {
        const struct node *node = partition->nodes[id];

        for (int i = 0; i < node->n_inputs; i++) {
            const struct value *value = node->inputs[i];

            if (value && value->def && reach[value->def->id] - 1 > reach[id])
                reach[id] = reach[value->def->id] - 1;
        }
        if (partition->choice[id])
            reach[id] = 0;
        n += reach[id] > 0;
    }
    return n;
}

static void look_again(const struct choosing *c, const struct target *target)
{
    struct partition *partition = c->partition;
    int *reach = arena_array(c->scratch, int, partition->n_nodes + 1);
    const int n = mark_left(c, target, reach);
    struct node **roots = arena_array(c->scratch, struct node *, n);
    bool *blocked = arena_array(c->scratch, bool, partition->n_nodes + 1);
    struct candidate_search search = {
        .partition = partition, .target = target, .blocked = blocked, .roots = roots
    };

    for (int id = partition->n_nodes; id-- > 0;) {
        blocked[id] = partition->choice[id] != NULL;
        if (reach[id] > 0)
            roots[search.n_roots++] = partition->nodes[id];
    }
    if (n > 0)
        candidates_find(&search);
}

static bool has_lost(const struct choosing *c, const struct target *target)
{
    for (int i = 0; i < c->n_lost; i++)
        if (c->lost[i]->row->target == target)
            return true;
    return false;
}

/* Chooses among the candidates of one target, or of all (NULL), and among what they find later. */
static void settle(struct choosing *c, const struct target *only)
{
    struct partition *partition = c->partition;
    const struct partition_options *options = partition->options;

    collect_bids(c, partition->first, only);
    choose(c);
    for (int round = 0; round < MAX_ROUNDS && c->n_lost > 0; round++) {
        struct candidate *last = partition->last;

        for (int i = 0; i < options->n_offload; i++)
            if (has_lost(c, options->offload[i]))
                look_again(c, options->offload[i]);
        collect_bids(c, last->next, only);
        choose(c);
    }
}

/* --- the slower ------------------------------------------------------------------------------- */

static bool went_to(const struct partition *partition, const struct node *node,
                    const struct target *target)
{
    const struct candidate *choice = node->op == OP_RETURN ? NULL : partition->choice[node->id];

    return choice && choice->row->target == target;
}

/* The hand-over that it saves when its neighbours of the same target need not go through the host.
 */
static double bridged_ns(const struct partition *partition, const struct candidate *candidate)
{
    const struct target *target = candidate->row->target;
    const struct node *root = candidate->match.root;
    double in = 0, out = 0;

    for (int i = 0; i < candidate->match.n_nodes; i++)
        for (int j = 0; j < candidate->match.nodes[i]->n_inputs; j++) {
            const struct value *value = candidate->match.nodes[i]->inputs[j];

            if (value && value->def && went_to(partition, value->def, target))
                in += (double)type_bytes(&value->type);
        }
    for (int i = 0; i < root->n_outputs; i++)
        for (const struct use *use = root->outputs[i]->uses; use; use = use->next)
            if (went_to(partition, use->node, target)) {
                out += (double)type_bytes(&root->outputs[i]->type);
                break;
            }
    return target->rates.transfer_ns_per_byte * (in + out) +
           (in > 0 && out > 0 ? target->rates.launch_ns : 0);
}

/* What a candidate that was slower than the host saves now. */
static double late_saving(const struct partition *partition, const struct candidate *candidate)
{
    const double saving = measure_candidate_ns(partition, candidate) - candidate->target_ns;

    return saving > 0 ? saving : saving + bridged_ns(partition, candidate);
}

/* A candidate that is slower than the host, but stands between others of its target, may cost less
 * than the way to the host and back. One of element-wise nodes that were free on the host is not
 * when a target has taken what computes their input. In the order of execution: one may be the
 * reason for the next. */
static void look_at_the_slower(struct choosing *c)
{
    struct partition *partition = c->partition;

    for (int id = 0; id < partition->n_nodes; id++) {
        struct candidate *best = NULL;
        double most = 0;

        for (struct candidate *candidate = partition->at_root[id]; candidate;
             candidate = candidate->same_root) {
            double saving;

            if (candidate->excluded || taken_by(partition, candidate))
                continue;
            saving = late_saving(partition, candidate);
            if (saving > most || (best && saving == most)) { /* equal: the one found first */
                best = candidate;
                most = saving;
            }
        }
        if (best)
            take(partition, best);
    }
}

bool partition_annotate_target(struct partition *partition)
{
    const struct partition_options *options = partition->options;
    struct choosing c = { .partition = partition, .scratch = &partition->module->ctx->scratch };

    for (int id = 0; id < partition->n_nodes; id++)
        partition->choice[id] = NULL;
    for (struct candidate *candidate = partition->first; candidate; candidate = candidate->next) {
        candidate->region = -1;
        candidate->passed_over = NULL;
    }
    partition->n_regions = 0;
    if (options->assign == ASSIGN_COST) {
        settle(&c, NULL);
        look_at_the_slower(&c);
    } else {
        for (int i = 0; i < options->n_offload; i++)
            settle(&c, options->offload[i]);
    }
    return true;
}
