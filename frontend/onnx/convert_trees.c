/* convert_trees.c - TreeEnsembleClassifier and TreeEnsembleRegressor: attributes to struct forest, and what is done
 * to the scores. TreeEnsemble of operator set 5: convert_tree_ensemble.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/forest.h"
#include "frontend/onnx/ml.h"

/* Numbers given as floats, or as a tensor (of doubles) in attribute NAME_as_tensor. */
static bool numbers_of(struct onnx_node *node, struct arena *arena, const char *attr, double **at,
                       int64_t *n)
{
    const char *tensor_attr = arena_printf(arena, "%s_as_tensor", attr);
    const struct ml_reals reals = ml_reals(node, attr);
    struct tensor tensor;

    *n = reals.n;
    *at = arena_array(arena, double, reals.n);
    for (int64_t i = 0; i < reals.n; i++)
        (*at)[i] = (double)reals.at[i];
    if (reals.n || !onnx_has(node, tensor_attr) || !onnx_tensor(node, tensor_attr, &tensor))
        return onnx_ok(node);
    if (!dtype_is_float(tensor.type.dtype))
        return bad_attribute(node, "%s is no tensor of floats", tensor_attr);
    *n = type_elements(&tensor.type);
    *at = arena_array(arena, double, *n);
    for (int64_t i = 0; i < *n; i++)
        (*at)[i] = tensor_at(&tensor, i);
    return true;
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* Where a node stands in the lists, by its tree and its number. */
struct key {
    int64_t tree, id, at;
};

static int compare_keys(const void *left, const void *right)
{
    const struct key *a = left, *b = right;

    if (a->tree != b->tree)
        return a->tree < b->tree ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

struct keys_of {
    struct key *at; /* sorted */
    int64_t n;
};

/* -1 = there is none. */
static int64_t find_node(const struct keys_of *keys, int64_t tree, int64_t id)
{
    const struct key wanted = { tree, id, 0 };
    const struct key *found =
        bsearch(&wanted, keys->at, (size_t)keys->n, sizeof wanted, compare_keys);

    return found ? found->at : -1;
}

struct reading {
    struct onnx_node *node;
    struct forest *forest;
    struct ml_ints trees, ids, features, yes, no, missing;
    struct ml_words modes;
    double *values;
    struct keys_of keys;
};

static bool mode_of(struct onnx_node *node, const char *word, enum forest_mode *mode)
{
    static const char *const names[] = {
        [FOREST_LEQ] = "BRANCH_LEQ", [FOREST_LT] = "BRANCH_LT", [FOREST_GTE] = "BRANCH_GTE",
        [FOREST_GT] = "BRANCH_GT",   [FOREST_EQ] = "BRANCH_EQ", [FOREST_NEQ] = "BRANCH_NEQ",
        [FOREST_MEMBER] = NULL,      [FOREST_LEAF] = "LEAF",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i] && strcmp(word, names[i]) == 0) {
            *mode = (enum forest_mode)i;
            return true;
        }
    return bad_attribute(node, "nodes_modes has an unknown mode");
}

/* All lists of the nodes have one length. */
static bool read_lists(struct reading *r)
{
    struct onnx_node *node = r->node;
    int64_t n_values;

    r->trees = ml_ints(node, "nodes_treeids");
    r->ids = ml_ints(node, "nodes_nodeids");
    r->features = ml_ints(node, "nodes_featureids");
    r->yes = ml_ints(node, "nodes_truenodeids");
    r->no = ml_ints(node, "nodes_falsenodeids");
    r->missing = ml_ints(node, "nodes_missing_value_tracks_true");
    r->modes = ml_words(node, "nodes_modes");
    if (!numbers_of(node, &r->forest->arena, "nodes_values", &r->values, &n_values) ||
        !onnx_ok(node))
        return false;
    if (r->trees.n == 0)
        return bad_attribute(node, "nodes_treeids is empty: there are no trees");
    if (r->ids.n != r->trees.n || r->features.n != r->trees.n || r->yes.n != r->trees.n ||
        r->no.n != r->trees.n || r->modes.n != r->trees.n || n_values != r->trees.n ||
        (r->missing.n && r->missing.n != r->trees.n))
        return bad_attribute(node,
                             "the lists of the nodes differ in length: nodes_treeids has "
                             "%lld numbers, another one has more or less",
                             (long long)r->trees.n);
    return limit_spend(node->ctx, node->origin, (double)r->trees.n);
}

static bool index_nodes(struct reading *r)
{
    r->keys.n = r->trees.n;
    r->keys.at = arena_array(&r->forest->arena, struct key, r->trees.n);
    for (int64_t i = 0; i < r->trees.n; i++)
        r->keys.at[i] = (struct key){ r->trees.at[i], r->ids.at[i], i };
    qsort(r->keys.at, (size_t)r->keys.n, sizeof *r->keys.at, compare_keys);
    for (int64_t i = 1; i < r->keys.n; i++)
        if (compare_keys(&r->keys.at[i - 1], &r->keys.at[i]) == 0)
            return bad_attribute(r->node, "tree %lld has two nodes with the number %lld",
                                 (long long)r->keys.at[i].tree, (long long)r->keys.at[i].id);
    return true;
}

static bool read_nodes(struct reading *r)
{
    struct forest *forest = r->forest;

    if (!read_lists(r) || !index_nodes(r))
        return false;
    forest->n_nodes = r->trees.n;
    forest->nodes = arena_array(&forest->arena, struct forest_node, r->trees.n);
    for (int64_t i = 0; i < r->trees.n; i++) {
        struct forest_node *to = &forest->nodes[i];

        if (!mode_of(r->node, r->modes.at[i], &to->mode))
            return false;
        to->feature = r->features.at[i];
        to->threshold = r->values[i];
        to->missing_is_true = r->missing.n && r->missing.at[i];
        to->yes = find_node(&r->keys, r->trees.at[i], r->yes.at[i]);
        to->no = find_node(&r->keys, r->trees.at[i], r->no.at[i]);
    }
    return true;
}

/* The root of each tree: the node that no other one leads to. Trees in the order of the file. */
static bool find_roots(struct reading *r)
{
    struct forest *forest = r->forest;
    bool *is_child = arena_array(&forest->arena, bool, forest->n_nodes);
    int64_t last_tree = 0;

    for (int64_t i = 0; i < forest->n_nodes; i++) {
        const struct forest_node *at = &forest->nodes[i];

        if (at->mode != FOREST_LEAF && at->yes >= 0)
            is_child[at->yes] = true;
        if (at->mode != FOREST_LEAF && at->no >= 0)
            is_child[at->no] = true;
    }
    forest->roots = arena_array(&forest->arena, int64_t, forest->n_nodes);
    for (int64_t i = 0; i < forest->n_nodes; i++) {
        if (is_child[i])
            continue;
        if (forest->n_roots && r->trees.at[i] == last_tree)
            return bad_attribute(r->node, "tree %lld has two nodes that nothing leads to",
                                 (long long)last_tree);
        forest->roots[forest->n_roots++] = i;
        last_tree = r->trees.at[i];
    }
    if (forest->n_roots == 0)
        return bad_attribute(r->node, "no tree has a root: each node has another one above it");
    return true;
}

/* --- leaves ----------------------------------------------------------------------------------- */

/* The lists PREFIX_treeids, PREFIX_nodeids, PREFIX_ids and PREFIX_weights. */
static bool read_entries(struct reading *r, const char *prefix)
{
    struct forest *forest = r->forest;
    struct arena *arena = &forest->arena;
    const struct ml_ints trees = ml_ints(r->node, arena_printf(arena, "%s_treeids", prefix));
    const struct ml_ints nodes = ml_ints(r->node, arena_printf(arena, "%s_nodeids", prefix));
    const struct ml_ints targets = ml_ints(r->node, arena_printf(arena, "%s_ids", prefix));
    int64_t n, next = 0, *leaf;
    double *weights;

    if (!numbers_of(r->node, arena, arena_printf(arena, "%s_weights", prefix), &weights, &n) ||
        !onnx_ok(r->node) || !limit_spend(r->node->ctx, r->node->origin, (double)n))
        return false;
    if (trees.n != n || nodes.n != n || targets.n != n)
        return bad_attribute(r->node, "the lists %s_... of the leaves differ in length", prefix);
    leaf = arena_array(arena, int64_t, n);
    for (int64_t i = 0; i < n; i++) {
        leaf[i] = find_node(&r->keys, trees.at[i], nodes.at[i]);
        if (leaf[i] < 0)
            return bad_attribute(r->node,
                                 "%s_nodeids names node %lld of tree %lld, which does not "
                                 "exist",
                                 prefix, (long long)nodes.at[i], (long long)trees.at[i]);
        forest->nodes[leaf[i]].n_entries++;
    }
    for (int64_t i = 0; i < forest->n_nodes; i++) {
        forest->nodes[i].entry = next;
        next += forest->nodes[i].n_entries;
        forest->nodes[i].n_entries = 0;
    }
    forest->n_entries = n;
    forest->entries = arena_array(arena, struct forest_entry, n);
    for (int64_t i = 0; i < n; i++) {
        struct forest_node *at = &forest->nodes[leaf[i]];

        forest->entries[at->entry + at->n_entries++] =
            (struct forest_entry){ targets.at[i], weights[i] };
    }
    return true;
}

/* --- scores ----------------------------------------------------------------------------------- */

/* x, in f32 unless it is f64; the forest computes in its type. */
static struct value *rows_for(struct onnx_node *node, struct forest *forest)
{
    struct value *x = onnx_input(node, 0);

    forest->dtype = x && x->type.dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
    return onnx_check_inputs(node, 1, 1) ? ml_rows(node, 0, forest->dtype) : NULL;
}

/* scores + base values, of which there is one for each column or none. */
static struct value *add_base(struct onnx_node *node, struct forest *forest, struct value *scores)
{
    struct value *base;
    double *at;
    int64_t n;
    void *data;
    struct type type;

    if (!scores || !numbers_of(node, &forest->arena, "base_values", &at, &n))
        return NULL;
    if (n == 0)
        return scores;
    if (n != scores->type.dim[1]) {
        bad_attribute(node, "base_values has %lld numbers, there are %lld results", (long long)n,
                      (long long)scores->type.dim[1]);
        return NULL;
    }
    type = type_make(forest->dtype, 1, &n);
    data = constant_alloc(node->fn, &type);
    for (int64_t i = 0; i < n; i++)
        dtype_store(forest->dtype, data, i, at[i]);
    base = onnx_from_tensor(node, &(struct tensor){ .type = type, .data = data }, "base");
    return apply2(node, OP_ADD, "with_base", scores, base);
}

static bool regress(struct onnx_node *node, struct forest *forest)
{
    struct reading reading = { .node = node, .forest = forest };
    const char *aggregate = onnx_word(node, "aggregate_function", "SUM");
    struct value *x = rows_for(node, forest), *y;
    enum ml_post post;

    forest->n_targets = onnx_int(node, "n_targets", 1);
    forest->aggregate = strcmp(aggregate, "MIN") == 0   ? "min"
                        : strcmp(aggregate, "MAX") == 0 ? "max"
                                                        : "sum";
    if (!x || !ml_post(node, &post) || !read_nodes(&reading) || !find_roots(&reading) ||
        !read_entries(&reading, "target"))
        return false;
    y = forest_scores(node, forest, x, "trees");
    if (y && strcmp(aggregate, "AVERAGE") == 0)
        y = apply2(node, OP_DIVIDE, "average", y,
                   scalar_like(node, y, (double)forest->n_roots, "n_trees"));
    y = add_base(node, forest, y);
    if (forest->n_targets > 1 || post == ML_PROBIT) /* as ONNX Runtime */
        y = ml_transform(node, post, y);
    return ml_output(node, 0, y);
}

bool convert_tree_regressor(struct onnx_node *node)
{
    struct forest forest = { .n_nodes = 0 };
    const bool ok = regress(node, &forest);

    arena_release(&forest.arena);
    return ok;
}

/* --- classifier ------------------------------------------------------------------------------- */

/* What the leaves say: of which classes, and whether any is negative. */
struct votes {
    int64_t least, most; /* classes */
    bool negative;
    bool sparse; /* leaves that have no number for some class between these */
};

static struct votes votes_of(const struct forest *forest)
{
    struct votes votes = { .least = INT64_MAX, .most = -1 };

    for (int64_t i = 0; i < forest->n_entries; i++) {
        const struct forest_entry *entry = &forest->entries[i];

        votes.least = entry->target < votes.least ? entry->target : votes.least;
        votes.most = entry->target > votes.most ? entry->target : votes.most;
        votes.negative = votes.negative || entry->weight < 0;
    }
    return votes;
}

/* One score for two classes. ONNX Runtime decides at 0.5 if no leaf is negative, else at 0. */
static bool classify_by_one(struct onnx_node *node, struct forest *forest,
                            const struct ml_classes *classes, enum ml_post post,
                            const struct votes *votes, struct value *scores)
{
    const double limit = votes->negative ? 0 : 0.5;
    struct value *score =
        add_base(node, forest, ml_columns(node, scores, votes->least, 1, "score"));

    if (!score || !ml_output_labels(node, classes, ml_above(node, score, limit)))
        return false;
    if (votes->least == 0)
        return ml_output(node, 1, ml_two_columns(node, post, !votes->negative, score));
    if (onnx_has(node, "base_values"))
        return onnx_unsupported(node, "base values where leaves have a score of class 1 only");
    return ml_output(node, 1, ml_transform(node, post, scores));
}

static bool classify(struct onnx_node *node, struct forest *forest)
{
    struct reading reading = { .node = node, .forest = forest };
    struct value *x = rows_for(node, forest), *scores;
    struct ml_classes classes;
    struct votes votes;
    enum ml_post post;

    forest->aggregate = "sum";
    if (!x || !ml_post(node, &post) ||
        !ml_classes(node, "classlabels_int64s", "classlabels_strings", &classes) ||
        !read_nodes(&reading) || !find_roots(&reading) || !read_entries(&reading, "class"))
        return false;
    forest->n_targets = classes.n;
    votes = votes_of(forest);
    scores = forest_scores(node, forest, x, "trees");
    if (!scores)
        return false;
    if (classes.n == 1)
        return onnx_unsupported(node, "a classifier of one class");
    if (classes.n == 2 && votes.least == votes.most)
        return classify_by_one(node, forest, &classes, post, &votes, scores);
    scores = add_base(node, forest, scores);
    return ml_output_labels(node, &classes, ml_argmax(node, scores)) &&
           ml_output(node, 1, ml_transform(node, post, scores));
}

bool convert_tree_classifier(struct onnx_node *node)
{
    struct forest forest = { .n_nodes = 0 };
    const bool ok = classify(node, &forest);

    arena_release(&forest.arena);
    return ok;
}
