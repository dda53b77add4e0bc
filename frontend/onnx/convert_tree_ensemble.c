/* convert_tree_ensemble.c - TreeEnsemble (ai.onnx.ml, operator set 5): nodes and leaves have lists of their
 * own, and are named by their places in these. */
#include <math.h>

#include "frontend/onnx/forest.h"
#include "frontend/onnx/ml.h"

struct lists {
    struct ml_ints roots, features, yes, no, yes_is_leaf, no_is_leaf, missing, targets;
    struct tensor modes, splits, weights, members;
    bool has_members;
};

static bool read_tensors(struct onnx_node *node, struct lists *lists)
{
    const struct {
        const char *name;
        struct tensor *to;
        bool needed;
    } all[] = { { "nodes_modes", &lists->modes, true },
                { "nodes_splits", &lists->splits, true },
                { "leaf_weights", &lists->weights, true },
                { "membership_values", &lists->members, false } };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const bool here = onnx_has(node, all[i].name);

        if (!here && all[i].needed)
            return bad_attribute(node, "attribute %s is missing", all[i].name);
        if (here && !onnx_tensor(node, all[i].name, all[i].to))
            return false;
    }
    lists->has_members = onnx_has(node, "membership_values");
    return true;
}

static bool read_lists(struct onnx_node *node, struct lists *lists)
{
    int64_t n, n_leaves;

    lists->roots = ml_ints(node, "tree_roots");
    lists->features = ml_ints(node, "nodes_featureids");
    lists->yes = ml_ints(node, "nodes_truenodeids");
    lists->no = ml_ints(node, "nodes_falsenodeids");
    lists->yes_is_leaf = ml_ints(node, "nodes_trueleafs");
    lists->no_is_leaf = ml_ints(node, "nodes_falseleafs");
    lists->missing = ml_ints(node, "nodes_missing_value_tracks_true");
    lists->targets = ml_ints(node, "leaf_targetids");
    if (!onnx_ok(node) || !read_tensors(node, lists))
        return false;
    n = lists->features.n;
    n_leaves = lists->targets.n;
    if (lists->yes.n != n || lists->no.n != n || lists->yes_is_leaf.n != n ||
        lists->no_is_leaf.n != n || (lists->missing.n && lists->missing.n != n) ||
        type_elements(&lists->modes.type) != n || type_elements(&lists->splits.type) != n ||
        type_elements(&lists->weights.type) != n_leaves)
        return bad_attribute(node, "the lists of nodes or of leaves differ in length");
    return limit_spend(node->ctx, node->origin, (double)n + (double)n_leaves);
}

/* A child's place among the nodes, behind which the leaves stand; -1 = out of range. */
static int64_t place_of(const struct lists *lists, int64_t at, bool is_leaf)
{
    if (at < 0 || at >= (is_leaf ? lists->targets.n : lists->features.n))
        return -1;
    return is_leaf ? lists->features.n + at : at;
}

/* Sets of members stand one after the other, each with a NaN behind it, in the order of nodes. */
static bool read_members(struct onnx_node *node, const struct lists *lists, struct forest *forest)
{
    const int64_t n = lists->has_members ? type_elements(&lists->members.type) : 0;
    int64_t next = 0;

    forest->n_members = n;
    forest->members = arena_array(&forest->arena, double, n);
    for (int64_t i = 0; i < n; i++)
        forest->members[i] = tensor_at(&lists->members, i);
    for (int64_t i = 0; i < lists->features.n; i++) {
        struct forest_node *at = &forest->nodes[i];

        if (at->mode != FOREST_MEMBER)
            continue;
        at->member = next;
        while (next < n && !isnan(forest->members[next]))
            next++;
        if (next == n)
            return bad_attribute(node, "membership_values has fewer sets than there are nodes with "
                                       "BRANCH_MEMBER; each ends with a NaN");
        at->n_members = next++ - at->member;
    }
    return true;
}

static bool read_nodes(struct onnx_node *node, const struct lists *lists, struct forest *forest)
{
    const int64_t n = lists->features.n, n_leaves = lists->targets.n;

    forest->n_nodes = n + n_leaves;
    forest->nodes = arena_array(&forest->arena, struct forest_node, forest->n_nodes);
    forest->entries = arena_array(&forest->arena, struct forest_entry, n_leaves);
    forest->n_entries = n_leaves;
    for (int64_t i = 0; i < n; i++) {
        struct forest_node *to = &forest->nodes[i];
        const double mode = tensor_at(&lists->modes, i);

        if (!(mode >= FOREST_LEQ && mode <= FOREST_MEMBER))
            return bad_attribute(node, "nodes_modes has the unknown mode %g", mode);
        *to = (struct forest_node){
            .mode = (enum forest_mode)mode,
            .missing_is_true = lists->missing.n && lists->missing.at[i],
            .feature = lists->features.at[i],
            .threshold = tensor_at(&lists->splits, i),
            .yes = place_of(lists, lists->yes.at[i], lists->yes_is_leaf.at[i] != 0),
            .no = place_of(lists, lists->no.at[i], lists->no_is_leaf.at[i] != 0)
        };
    }
    for (int64_t i = 0; i < n_leaves; i++) {
        forest->nodes[n + i] =
            (struct forest_node){ .mode = FOREST_LEAF, .entry = i, .n_entries = 1 };
        forest->entries[i] =
            (struct forest_entry){ lists->targets.at[i], tensor_at(&lists->weights, i) };
    }
    forest->n_roots = lists->roots.n;
    forest->roots = arena_array(&forest->arena, int64_t, lists->roots.n);
    for (int64_t i = 0; i < lists->roots.n; i++)
        forest->roots[i] = place_of(lists, lists->roots.at[i], false);
    return read_members(node, lists, forest);
}

static bool ensemble(struct onnx_node *node, struct forest *forest)
{
    enum { AVERAGE, SUM, MIN, MAX };
    const int64_t aggregate = onnx_int(node, "aggregate_function", SUM);
    const int64_t post = onnx_int(node, "post_transform", ML_NONE);
    struct value *x = onnx_input(node, 0), *y;
    struct lists lists = { .has_members = false };

    forest->dtype = x && x->type.dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
    forest->n_targets = onnx_int(node, "n_targets", 1);
    forest->aggregate = aggregate == MIN ? "min" : aggregate == MAX ? "max" : "sum";
    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_kind(node, 0, TAKES_FLOAT) || !onnx_ok(node))
        return false;
    if (aggregate < AVERAGE || aggregate > MAX || post < ML_NONE || post > ML_PROBIT)
        return bad_attribute(node,
                             "aggregate_function is %lld, post_transform %lld: expected are 0 to "
                             "3 and 0 to 4",
                             (long long)aggregate, (long long)post);
    if (!read_lists(node, &lists) || !read_nodes(node, &lists, forest))
        return false;
    y = forest_scores(node, forest, ml_rows(node, 0, forest->dtype), "trees");
    if (y && aggregate == AVERAGE)
        y = apply2(node, OP_DIVIDE, "average", y,
                   scalar_like(node, y, (double)forest->n_roots, "n_trees"));
    if (forest->n_targets > 1 || post == ML_PROBIT) /* as ONNX Runtime */
        y = ml_transform(node, (enum ml_post)post, y);
    return y && onnx_output(node, 0, cast_to(node, y, x->type.dtype, "y"));
}

bool convert_tree_ensemble(struct onnx_node *node)
{
    struct forest forest = { .n_nodes = 0 };
    const bool ok = ensemble(node, &forest);

    arena_release(&forest.arena);
    return ok;
}
