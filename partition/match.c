/* match.c - looks for a pattern at a node.
 *
 * needs    function_number
 * gives    a match, or where the attempt that came furthest ended
 * method   A list of goals, "this value must match this part", is worked off from its head; an
 *          operator puts goals for its inputs in front. Where there is a choice (alternatives,
 *          optional steps, both orders of operands) the rest of the list is tried for each, and
 *          what was bound since is forgotten: so a choice is taken back for whatever comes later,
 *          the rule of outside use included. A part that stands in several places (`_` read twice)
 *          is matched once and compared then.
 *
 * That no path leaves a match and comes back follows from the rule of outside use: only the root's
 * values are read outside, by nodes behind the root, and all nodes of the match stand before it. */
#include <assert.h>
#include <string.h>

#include "base/str.h"
#include "partition/match_search.h"

bool op_is_commutative(enum op op)
{
    switch (op) {
    case OP_ADD:
    case OP_MULTIPLY:
    case OP_MAXIMUM:
    case OP_MINIMUM:
    case OP_EQUAL:
    case OP_NOT_EQUAL:
    case OP_LOGICAL_AND:
    case OP_LOGICAL_OR:
    case OP_LOGICAL_XOR:
    case OP_BITWISE_AND:
    case OP_BITWISE_OR:
    case OP_BITWISE_XOR: return true;
    default: return false;
    }
}

bool search_has_node(const struct search *s, int from, const struct node *node)
{
    for (int i = from; i < s->n_nodes; i++)
        if (s->nodes[i] == node)
            return true;
    return false;
}

bool search_may_take(const struct search *s, const struct node *node)
{
    return !s->matcher->may_take || s->matcher->may_take(s->matcher->user, node);
}

/* Of failures behind equally many operators, which came further: none is there, another one is, the
 * right one is. */
static int closeness(enum failure failure, const struct node *def)
{
    if (failure == FAILURE_ABSENT)
        return 0;
    return failure != FAILURE_OP ? 2 : def != NULL;
}

bool search_fail(struct search *s, enum failure failure, const struct goal *goal, int attr)
{
    struct node *def = goal->value ? goal->value->def : NULL;
    const bool of_node = goal->pattern->kind >= PAT_OP && failure != FAILURE_ABSENT;
    const struct failed attempt = {
        .any = true,
        .failure = failure,
        .score = 4 * s->n_nodes + closeness(failure, def),
        .n_matched = s->n_nodes,
        .pattern = goal->pattern,
        .node = (of_node && def) || !goal->reader ? def : goal->reader,
        .value = goal->value,
        .reader = goal->reader,
        .attr = attr,
    };

    if (s->failed)
        failed_note(s->failed, &attempt);
    return false;
}

/* --- conditions ------------------------------------------------------------------------------- */

static bool type_holds(const struct type_test *test, const struct type *type)
{
    if (test->dtypes && !(test->dtypes >> type->dtype & 1))
        return false;
    if (test->rank >= 0 && type->rank != test->rank)
        return false;
    for (int i = 0; test->has_shape && i < test->rank; i++)
        if (test->dim[i] >= 0 && test->dim[i] != type->dim[i])
            return false;
    return true;
}

static bool is_single(const struct type *type)
{
    return dtype_is_float(type->dtype) && dtype_packed_bits(type->dtype) >= 32;
}

/* Quantised values of fewer than 32 bits that an operator reads beside floats (weights of FP8, i8,
 * f16 beside data of f32), which a backend does not expect if its pattern has no types. Operators
 * that are there to read quantised values do not count. */
static bool is_code(const struct node *reader, const struct type *type)
{
    bool beside_floats = false;

    if (!reader || dtype_kind(type->dtype) == KIND_BOOL || dtype_packed_bits(type->dtype) >= 32 ||
        reader->op == OP_CAST || str_starts(op_name(reader->op), "qnn."))
        return false;
    for (int i = 0; i < reader->n_inputs; i++)
        beside_floats = beside_floats || (reader->inputs[i] && is_single(&reader->inputs[i]->type));
    return beside_floats;
}

static bool leaf_type_holds(const struct goal *goal)
{
    const struct type_test *test = &goal->pattern->type;

    return type_holds(test, &goal->value->type) &&
           (test->dtypes || !is_code(goal->reader, &goal->value->type));
}

static bool term_equal(const struct term *a, const struct term *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case TERM_INT: return a->integer == b->integer;
    case TERM_REAL: return !(a->real < b->real) && !(a->real > b->real);
    case TERM_TEXT: return strcmp(a->text, b->text) == 0;
    case TERM_INTS: return ints_equal(&a->ints, &b->ints);
    default: return true;
    }
}

static bool attrs_hold(struct search *s, const struct goal *goal, const struct node *node)
{
    const char *why;

    for (int i = 0; i < goal->pattern->n_attrs; i++) {
        const struct attr_test *test = &goal->pattern->attrs[i];
        struct term term;

        if (!node_attr(node, test->field, &term, &why) || !term_equal(&term, &test->value))
            return search_fail(s, FAILURE_ATTR, goal, i);
    }
    return true;
}

/* --- goals ------------------------------------------------------------------------------------ */

static struct goal *push_goal(struct search *s, const struct goal *goal)
{
    assert(s->n_goals < SEARCH_MAX_GOALS);
    s->goals[s->n_goals] = *goal;
    return &s->goals[s->n_goals++];
}

static void bind(struct search *s, const struct goal *goal, struct value *value, bool rest)
{
    assert(s->n_bound < SEARCH_MAX_GOALS);
    s->bound[s->n_bound++] = (struct bound){ goal->pattern, value, rest, goal->connector };
}

/* The goal with another pattern for the same value, in front of what follows it. */
static bool solve_instead(struct search *s, const struct goal *goal, const struct pattern *pattern)
{
    const int n_goals = s->n_goals;
    struct goal instead = *goal;
    bool found;

    instead.pattern = pattern;
    found = search_solve(s, push_goal(s, &instead));
    s->n_goals = n_goals;
    return found;
}

static bool solve_leaf(struct search *s, const struct goal *goal)
{
    const struct pattern *pattern = goal->pattern;
    struct value *value = goal->value;

    if (!value && (pattern->kind != PAT_WILDCARD || pattern->capture))
        return search_fail(s, FAILURE_ABSENT, goal, 0);
    if (pattern->kind != PAT_WILDCARD &&
        (value->kind == VALUE_CONSTANT) != (pattern->kind == PAT_CONSTANT))
        return search_fail(s, FAILURE_KIND, goal, 0);
    if (value && !leaf_type_holds(goal))
        return search_fail(s, FAILURE_TYPE, goal, 0);
    bind(s, goal, value, false);
    return search_solve(s, goal->next);
}

/* The inputs of a node against the patterns of them; the first two change places when `swapped`. */
static bool solve_inputs(struct search *s, const struct goal *goal, struct node *node,
                         struct pattern *const *args, int n_args, bool swapped)
{
    const int n_goals = s->n_goals, n_bound = s->n_bound;
    const struct goal *next = goal->next;
    bool found;

    if (node->n_inputs > SEARCH_MAX_INPUTS || n_bound > SEARCH_MAX_GOALS - 2 * SEARCH_MAX_INPUTS)
        return search_fail(s, FAILURE_STEPS, goal, 0);
    for (int i = node->n_inputs - 1; i >= 0; i--) {
        struct value *input = node->inputs[swapped && i < 2 ? 1 - i : i];

        if (i >= n_args) {
            if (input)
                bind(s, goal, input, true);
        } else {
            next = push_goal(s, &(struct goal){ .pattern = args[i],
                                                .value = input,
                                                .reader = node,
                                                .connector = goal->connector,
                                                .next = next });
        }
    }
    found = search_solve(s, next);
    s->n_goals = n_goals;
    s->n_bound = n_bound;
    return found;
}

static bool is_op(const struct pattern *pattern, const struct node *node)
{
    return pattern->kind == PAT_OP ? node->op == pattern->op
                                   : op_row(node->op)->pattern == pattern->op_class &&
                                         node->op != OP_CALL && node->op != OP_RETURN;
}

static bool solve_op(struct search *s, const struct goal *goal)
{
    const struct pattern *pattern = goal->pattern;
    struct node *node = goal->value ? goal->value->def : NULL;
    struct pattern *const *args = pattern->args;
    int n_args = pattern->n_args;

    if (!goal->value)
        return search_fail(s, FAILURE_ABSENT, goal, 0);
    if (!node || !is_op(pattern, node))
        return search_fail(s, FAILURE_OP, goal, 0);
    if (!goal->is_root && !goal->any_output && goal->value->index != 0)
        return search_fail(s, FAILURE_OUTPUT, goal, 0);
    if (n_args == 1 && args[0]->kind == PAT_TUPLE) {
        n_args = args[0]->n_args;
        args = args[0]->args;
    }
    if (pattern->any_args ? node->n_inputs < n_args : node->n_inputs != n_args)
        return search_fail(s, FAILURE_INPUTS, goal, 0);
    if (!attrs_hold(s, goal, node))
        return false;
    if (!type_holds(&pattern->type, &goal->value->type))
        return search_fail(s, FAILURE_TYPE, goal, 0);
    if (!search_may_take(s, node))
        return search_fail(s, FAILURE_TAKEN, goal, 0);
    bind(s, goal, goal->value, false);
    if (!search_has_node(s, 0, node))
        s->nodes[s->n_nodes++] = node;
    if (solve_inputs(s, goal, node, args, n_args, false))
        return true;
    return op_is_commutative(node->op) && node->n_inputs == 2 &&
           node->inputs[0] != node->inputs[1] && solve_inputs(s, goal, node, args, n_args, true);
}

static bool solve_tuple_get(struct search *s, const struct goal *goal)
{
    const struct pattern *pattern = goal->pattern;
    struct goal op = *goal;

    if (!goal->value)
        return search_fail(s, FAILURE_ABSENT, goal, 0);
    if (goal->is_root && pattern->index < s->root->n_outputs)
        op.value = s->root->outputs[pattern->index];
    if (op.value->def && is_op(pattern->args[0], op.value->def) &&
        op.value->index != pattern->index)
        return search_fail(s, FAILURE_OUTPUT, &op, 0);
    if (!type_holds(&pattern->type, &op.value->type))
        return search_fail(s, FAILURE_TYPE, &op, 0);
    op.pattern = pattern->args[0];
    op.any_output = true;
    return search_solve(s, push_goal(s, &op));
}

static bool solve_choice(struct search *s, const struct goal *goal)
{
    const struct pattern *pattern = goal->pattern;

    if (goal->value && !type_holds(&pattern->type, &goal->value->type))
        return search_fail(s, FAILURE_TYPE, goal, 0);
    bind(s, goal, goal->value, false);
    for (int i = 0; i < pattern->n_args; i++)
        if (solve_instead(s, goal, pattern->args[i]))
            return true;
    return false;
}

static bool solve_dominates(struct search *s, const struct goal *goal)
{
    struct goal child = *goal, paths = *goal;

    if (goal->value && !type_holds(&goal->pattern->type, &goal->value->type))
        return search_fail(s, FAILURE_TYPE, goal, 0);
    bind(s, goal, goal->value, false);
    paths.paths = true;
    paths.n_bound = s->n_bound;
    paths.n_nodes = s->n_nodes;
    child.pattern = goal->pattern->args[2];
    child.connector = true;
    child.next = push_goal(s, &paths);
    return search_solve(s, push_goal(s, &child));
}

static bool solve_pattern(struct search *s, const struct goal *goal)
{
    switch (goal->pattern->kind) {
    case PAT_WILDCARD:
    case PAT_CONSTANT:
    case PAT_VARIABLE: return solve_leaf(s, goal);
    case PAT_OP:
    case PAT_OP_CLASS: return solve_op(s, goal);
    case PAT_ALTERNATIVE:
    case PAT_OPTIONAL: return solve_choice(s, goal);
    case PAT_TUPLE_GET: return solve_tuple_get(s, goal);
    case PAT_DOMINATES: return solve_dominates(s, goal);
    case PAT_TUPLE: return false; /* stands in an operator only, which looks into it */
    }
    return false;
}

bool search_solve(struct search *s, const struct goal *goal)
{
    const int n_goals = s->n_goals, n_bound = s->n_bound, n_nodes = s->n_nodes;
    bool found;

    if (!goal)
        return search_finish(s);
    if (++s->steps > SEARCH_MAX_STEPS)
        return s->steps == SEARCH_MAX_STEPS + 1 && search_fail(s, FAILURE_STEPS, goal, 0);
    if (goal->paths) {
        found = search_paths(s, goal);
    } else {
        for (int i = 0; i < n_bound; i++)
            if (s->bound[i].pattern == goal->pattern && !s->bound[i].rest)
                return s->bound[i].value == goal->value ? search_solve(s, goal->next)
                                                        : search_fail(s, FAILURE_SAME, goal, 0);
        found = solve_pattern(s, goal);
    }
    if (!found) {
        s->n_goals = n_goals;
        s->n_bound = n_bound;
        s->n_nodes = n_nodes;
    }
    return found;
}

bool pattern_match(const struct matcher *matcher, const struct pattern *pattern, struct node *root,
                   struct match *out, struct mismatch *why)
{
    struct search search; /* big: its arrays are not cleared */
    struct failed failed;

    assert(root->n_outputs > 0);
    failed.any = false;
    search.matcher = matcher;
    search.pattern = pattern;
    search.root = root;
    search.is_path = false;
    search.steps = search.n_goals = search.n_bound = search.n_nodes = 0;
    search.failed = &failed;
    search.out = out;
    if (search_solve(&search, &(struct goal){
                                  .pattern = pattern, .value = root->outputs[0], .is_root = true }))
        return true;
    failed_tell(&failed, matcher->arena, why);
    return false;
}

const struct capture *match_capture(const struct match *match, const char *name)
{
    for (int i = 0; i < match->n_captures; i++)
        if (strcmp(match->captures[i].name, name) == 0)
            return &match->captures[i];
    return NULL;
}
