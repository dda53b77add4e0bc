/* match_paths.c - dominates(parent, path, child), once its child has matched.
 *
 * method   From the inputs of the child that its pattern leaves open, up through operators that
 *          match the path: every value met may be the parent's, the nearest is tried first. Of the
 *          operators met, those that read the parent, or read one that does, belong to the match;
 *          the others compute values from outside. That nothing else leads from the parent to the
 *          child, and nothing in between is read elsewhere, is the rule of outside use. */
#include "partition/match_search.h"

struct paths {
    struct search *search;
    const struct goal *goal;
    int n_nodes, n_values;
    struct node *nodes[SEARCH_MAX_PATH]; /* that match the path, in the order of meeting */
    struct value *values[4 * SEARCH_MAX_PATH];
};

/* Whether a match of the pattern may be rooted at this node, for all that its operator tells. */
static bool may_end_at(const struct pattern *pattern, const struct node *node)
{
    switch (pattern->kind) {
    case PAT_OP: return node->op == pattern->op;
    case PAT_OP_CLASS: return op_row(node->op)->pattern == pattern->op_class;
    case PAT_TUPLE_GET: return may_end_at(pattern->args[0], node);
    case PAT_DOMINATES: return may_end_at(pattern->args[2], node);
    case PAT_ALTERNATIVE:
    case PAT_OPTIONAL:
        for (int i = 0; i < pattern->n_args; i++)
            if (may_end_at(pattern->args[i], node))
                return true;
        return false;
    default: return true;
    }
}

static bool is_on_path(const struct paths *paths, struct value *value)
{
    const struct search *outer = paths->search;
    const struct pattern *path = paths->goal->pattern->args[1];
    struct search search;

    if (!may_end_at(path, value->def) || !search_may_take(outer, value->def) ||
        search_has_node(outer, 0, value->def))
        return false;
    search.matcher = outer->matcher;
    search.pattern = path;
    search.root = value->def;
    search.is_path = true;
    search.steps = search.n_goals = search.n_bound = search.n_nodes = 0;
    search.failed = NULL;
    search.out = NULL;
    return search_solve(&search, &(struct goal){ .pattern = path, .value = value });
}

static void meet(struct paths *paths, struct value *value)
{
    if (!value || !value->def)
        return;
    for (int i = 0; i < paths->n_values; i++)
        if (paths->values[i] == value)
            return;
    if (paths->n_values < 4 * SEARCH_MAX_PATH)
        paths->values[paths->n_values++] = value;
}

/* Whether the child's pattern says what this input is, other than that a path may end there. */
static bool is_claimed(const struct paths *paths, const struct value *value)
{
    const struct search *s = paths->search;

    for (int i = paths->goal->n_bound; i < s->n_bound; i++) {
        const struct bound *bound = &s->bound[i];

        if (bound->value == value && !bound->rest &&
            (bound->pattern->kind != PAT_WILDCARD || bound->pattern->capture))
            return true;
    }
    return false;
}

static void meet_all(struct paths *paths)
{
    const struct search *s = paths->search;

    for (int i = paths->goal->n_nodes; i < s->n_nodes; i++)
        for (int k = 0; k < s->nodes[i]->n_inputs; k++)
            if (s->nodes[i]->inputs[k] && !is_claimed(paths, s->nodes[i]->inputs[k]))
                meet(paths, s->nodes[i]->inputs[k]);
    for (int i = 0; i < paths->n_values && paths->n_nodes < SEARCH_MAX_PATH; i++) {
        struct node *node = paths->values[i]->def;
        bool known = false;

        for (int k = 0; k < paths->n_nodes; k++)
            known = known || paths->nodes[k] == node;
        if (known || !is_on_path(paths, paths->values[i]))
            continue;
        paths->nodes[paths->n_nodes++] = node;
        for (int k = 0; k < node->n_inputs; k++)
            meet(paths, node->inputs[k]);
    }
}

/* By position in the graph; there are few, and most are in order already. */
static void sort(struct paths *paths)
{
    for (int i = 1; i < paths->n_nodes; i++)
        for (int k = i; k > 0 && paths->nodes[k - 1]->id > paths->nodes[k]->id; k--) {
            struct node *node = paths->nodes[k];

            paths->nodes[k] = paths->nodes[k - 1];
            paths->nodes[k - 1] = node;
        }
    for (int i = 1; i < paths->n_values; i++)
        for (int k = i; k > 0 && paths->values[k - 1]->id < paths->values[k]->id; k--) {
            struct value *value = paths->values[k];

            paths->values[k] = paths->values[k - 1];
            paths->values[k - 1] = value;
        }
}

/* Adds the operators between this parent and the child to the match. */
static void add_between(const struct paths *paths, const struct value *parent)
{
    struct search *s = paths->search;
    const int from = s->n_nodes;

    for (int i = 0; i < paths->n_nodes; i++) {
        struct node *node = paths->nodes[i];
        bool reads = false;

        for (int k = 0; k < node->n_inputs && node != parent->def; k++)
            reads = reads || node->inputs[k] == parent ||
                    (node->inputs[k] && search_has_node(s, from, node->inputs[k]->def));
        if (reads && s->n_nodes < SEARCH_MAX_NODES - PATTERN_MAX_PARTS)
            s->nodes[s->n_nodes++] = node;
    }
}

bool search_paths(struct search *s, const struct goal *goal)
{
    const struct pattern *parent = goal->pattern->args[0];
    const int n_goals = s->n_goals, n_nodes = s->n_nodes;
    struct paths paths;
    bool tried = false;

    paths.search = s;
    paths.goal = goal;
    paths.n_nodes = paths.n_values = 0;
    meet_all(&paths);
    sort(&paths);
    for (int i = 0; i < paths.n_values; i++) {
        struct value *value = paths.values[i];

        if (!may_end_at(parent, value->def) || search_has_node(s, 0, value->def))
            continue;
        tried = true;
        add_between(&paths, value);
        s->goals[s->n_goals] = (struct goal){ .pattern = parent,
                                              .value = value,
                                              .reader = goal->value->def,
                                              .connector = goal->connector,
                                              .next = goal->next };
        if (search_solve(s, &s->goals[s->n_goals++]))
            return true;
        s->n_goals = n_goals;
        s->n_nodes = n_nodes;
    }
    return tried ? false : search_fail(s, FAILURE_PATH, goal, 0);
}
