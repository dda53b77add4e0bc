/* candidates.c - see candidates.h.
 *
 * method   row by row, each over all roots whose operator can be the row's root (most rows ask for
 *          one or a few operators, so most pairs of row and node cost one look into a table) */
#include "partition/candidates.h"

#include <float.h>

/* Patterns share parts: a walk over what nests alternatives in optional parts could take forever.
 * One that is longer knows nothing. */
enum { MAX_STEPS = 1 << 12 };

/* Marks the operators that a match of the pattern can have as its root. */
static void mark_roots(const struct pattern *pattern, bool *roots, int *steps)
{
    if (--*steps < 0)
        return;
    switch (pattern->kind) {
    case PAT_OP: roots[pattern->op] = true; break;
    case PAT_ALTERNATIVE:
    case PAT_OPTIONAL:
        for (int i = 0; i < pattern->n_args; i++)
            mark_roots(pattern->args[i], roots, steps);
        break;
    case PAT_TUPLE_GET: mark_roots(pattern->args[0], roots, steps); break;
    case PAT_DOMINATES: mark_roots(pattern->args[2], roots, steps); break;
    case PAT_OP_CLASS:
        for (int op = 0; op < OP_COUNT; op++)
            if (op_row((enum op)op)->pattern == pattern->op_class)
                roots[op] = true;
        break;
    case PAT_WILDCARD:
    case PAT_CONSTANT:
    case PAT_VARIABLE:
    case PAT_TUPLE: break; /* leaves are never roots */
    }
}

/* One row at one root. */
struct trial {
    const struct candidate_search *search;
    const struct node *kept; /* refused last because of keep_on_host */
};

static bool may_take(void *user, const struct node *node)
{
    struct trial *trial = user;

    if (trial->search->target->keep_on_host[node->op]) {
        trial->kept = node;
        return false;
    }
    return node->op != OP_CALL && node->op != OP_RETURN && !trial->search->blocked[node->id];
}

static bool same_nodes(const struct match *a, const struct match *b)
{
    if (a->n_nodes != b->n_nodes)
        return false;
    for (int i = 0; i < a->n_nodes; i++)
        if (a->nodes[i] != b->nodes[i])
            return false;
    return true;
}

static bool is_known(const struct partition *partition, const struct composite_row *row,
                     const struct match *match)
{
    for (const struct candidate *c = partition->at_root[match->root->id]; c; c = c->same_root)
        if (c->row == row && same_nodes(&c->match, match))
            return true;
    return false;
}

/* Estimates come from users' expressions: what is no number of nanoseconds must not upset a sort.
 */
static double sane_ns(double ns)
{
    return ns >= 0 ? (ns < 1e30 ? ns : 1e30) : 0;
}

static struct match copy_match(struct arena *arena, const struct match *match)
{
    struct match copy = *match;

    copy.nodes = arena_memdup(arena, match->nodes, (size_t)match->n_nodes * sizeof *match->nodes);
    copy.captures =
        arena_memdup(arena, match->captures, (size_t)match->n_captures * sizeof *match->captures);
    return copy;
}

/* The same text once: a long table of rows fails for the same few reasons all over a graph. */
static const char *keep_text(struct partition *partition, const char *text)
{
    const char *kept = text ? map_get(&partition->texts, text) : NULL;

    if (text && !kept) {
        char *copy = arena_strdup(&partition->arena, text);

        map_set(&partition->texts, copy, copy);
        kept = copy;
    }
    return kept;
}

static void add_candidate(struct partition *partition, const struct composite_row *row,
                          const struct match *match, struct arena *scratch)
{
    struct candidate *candidate = arena_new(&partition->arena, struct candidate);

    candidate->id = partition->n_candidates++;
    candidate->row = row;
    candidate->match = copy_match(&partition->arena, match);
    candidate->target_ns = sane_ns(composite_cost_ns(row, match, scratch));
    for (int i = 0; i < match->n_nodes; i++)
        if (!host_fused_into(match->nodes[i]))
            candidate->host_ns += sane_ns(host_cost_ns(partition->host, match->nodes[i]));
    candidate->cost_problem = keep_text(partition, composite_cost_problem(row, match, scratch));
    candidate->region = -1;
    candidate->same_root = partition->at_root[match->root->id];
    partition->at_root[match->root->id] = candidate;
    if (partition->last)
        partition->last->next = candidate;
    else
        partition->first = candidate;
    partition->last = candidate;
}

static void add_attempt(struct partition *partition, struct node *node,
                        const struct composite_row *row, const struct mismatch *why, bool condition)
{
    struct attempt *attempt = arena_new(&partition->arena, struct attempt);

    *attempt = (struct attempt){ .node = node, .row = row, .why = *why, .condition = condition };
    attempt->why.found = keep_text(partition, why->found);
    attempt->why.wanted = keep_text(partition, why->wanted);
    if (partition->last_attempt)
        partition->last_attempt->next = attempt;
    else
        partition->attempts = attempt;
    partition->last_attempt = attempt;
}

static void try_row(const struct candidate_search *search, const struct composite_row *row,
                    struct node *root, struct arena *scratch)
{
    struct partition *partition = search->partition;
    struct trial trial = { search, NULL };
    const struct matcher matcher = { scratch, may_take, &trial };
    struct match match = { .n_nodes = 0 };
    struct mismatch why = { .n_matched = 0 };
    bool condition = false;

    if (pattern_match(&matcher, row->pattern, root, &match, &why)) {
        condition = !composite_accepts(row, &match, scratch, &why.found, &why.wanted);
        if (!condition) {
            if (is_known(partition, row, &match))
                return;
            add_candidate(partition, row, &match, scratch);
            for (int i = 0; i < match.n_nodes; i++)
                search->blocked[match.nodes[i]->id] = true;
            return;
        }
        why.node = root;
        why.n_matched = match.n_nodes;
    } else if (trial.kept && why.node == trial.kept) {
        why.found = arena_printf(scratch, "%s stays on the host", op_name(why.node->op));
        why.wanted = "an operator that keep_on_host does not list";
    }
    if (search->record)
        add_attempt(partition, root, row, &why, condition);
}

void candidates_find(const struct candidate_search *search)
{
    bool occurs[OP_COUNT] = { false };

    for (int i = 0; i < search->n_roots; i++)
        occurs[search->roots[i]->op] = true;
    for (int i = 0; i < search->target->n_rows; i++) {
        const struct composite_row *row = &search->target->rows[i];
        bool tried[OP_COUNT] = { false };
        struct arena scratch = { NULL }; /* what is tried and fails would add up */
        int steps = MAX_STEPS;

        mark_roots(row->pattern, tried, &steps);
        /* For the record also at operators that only stand inside: what was wanted there. */
        for (int op = 0; (search->record || steps < 0) && op < OP_COUNT; op++)
            if (occurs[op] && !tried[op])
                tried[op] = pattern_mentions(row->pattern, (enum op)op);
        for (int j = 0; j < search->n_roots; j++) {
            struct node *root = search->roots[j];

            if (tried[root->op] && !search->blocked[root->id])
                try_row(search, row, root, &scratch);
        }
        arena_release(&scratch);
    }
}
