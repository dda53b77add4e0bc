/* forest.c - trees become the tables of ml.tree_ensemble.
 *
 * 1. Each tree is walked: a node that leads back to itself, and numbers out of range, are errors;
 *    the targets of a tree's leaves are noted.
 * 2. From the leaves up, nodes become splits (forest_tables.c).
 * No step is recursive: a file may hold trees of any depth. */
#include "frontend/onnx/forest.h"

#include <string.h>

#include "frontend/onnx/convert_helpers.h"
#include "frontend/onnx/forest_tables.h"

/* --- 1. walks --------------------------------------------------------------------------------- */

struct step {
    int64_t at;
    int phase; /* children entered so far */
};

struct walk {
    struct onnx_node *node;
    const struct forest *forest;
    int64_t *entered, *left; /* number of the last walk that did, from 1; 0 = none */
    struct step *stack;
    int64_t n;
};

static void walk_begin(struct walk *walk, struct arena *arena)
{
    const int64_t n = walk->forest->n_nodes;

    walk->entered = arena_array(arena, int64_t, n);
    walk->left = arena_array(arena, int64_t, n);
    walk->stack = arena_array(arena, struct step, n);
}

static bool walk_enter(struct walk *walk, int64_t at, int64_t number)
{
    if (at < 0 || at >= walk->forest->n_nodes)
        return bad_attribute(walk->node, "tree %lld leads to a node that does not exist",
                             (long long)(number - 1));
    if (walk->left[at] == number)
        return true;
    if (walk->entered[at] == number)
        return bad_attribute(walk->node, "tree %lld has a cycle: one of its nodes leads to itself",
                             (long long)(number - 1));
    if (!limit_spend(walk->node->ctx, walk->node->origin, 1))
        return false;
    walk->entered[at] = number;
    walk->stack[walk->n++] = (struct step){ .at = at };
    return true;
}

/* The next node of which all children were left, or -1 at the end; -2 after an error. */
static int64_t walk_next(struct walk *walk, int64_t number)
{
    while (walk->n) {
        struct step *step = &walk->stack[walk->n - 1];
        const struct forest_node *at = &walk->forest->nodes[step->at];

        if (at->mode == FOREST_LEAF || step->phase == 2) {
            walk->left[step->at] = number;
            walk->n--;
            return step->at;
        }
        if (!walk_enter(walk, step->phase++ ? at->no : at->yes, number))
            return -2;
    }
    return -1;
}

/* --- 2. surveys and tables -------------------------------------------------------------------- */

/* Of each tree: the least target and, of all, the most columns that the leaves of one reach. Also
 * how many splits there can be. */
struct survey {
    int64_t *low;
    bool *reached; /* [n_targets] some leaf has a number for it */
    bool uneven;   /* leaves of one tree have numbers for different targets */
    int64_t width, n_splits, n_leaves;
};

struct span {
    int64_t low, high;   /* of the targets of a tree */
    int64_t least, most; /* numbers of a leaf */
};

static bool survey_leaf(struct walk *walk, const struct forest_node *leaf, struct survey *survey,
                        struct span *span)
{
    const struct forest *forest = walk->forest;

    for (int64_t i = 0; i < leaf->n_entries; i++) {
        const int64_t target = forest->entries[leaf->entry + i].target;

        if (target < 0 || target >= forest->n_targets)
            return bad_attribute(walk->node, "a leaf adds to number %lld of %lld",
                                 (long long)target, (long long)forest->n_targets);
        span->low = target < span->low ? target : span->low;
        span->high = target > span->high ? target : span->high;
        survey->reached[target] = true;
    }
    span->least = leaf->n_entries < span->least ? leaf->n_entries : span->least;
    span->most = leaf->n_entries > span->most ? leaf->n_entries : span->most;
    survey->n_leaves++;
    return true;
}

static bool survey_node(struct walk *walk, int64_t at, const struct value *x, struct survey *survey,
                        struct span *span)
{
    const struct forest_node *found = &walk->forest->nodes[at];

    if (found->mode == FOREST_LEAF)
        return survey_leaf(walk, found, survey, span);
    if (found->feature < 0 || found->feature >= x->type.dim[1])
        return bad_attribute(walk->node, "a tree asks for element %lld of rows of %lld",
                             (long long)found->feature, (long long)x->type.dim[1]);
    survey->n_splits += found->mode == FOREST_MEMBER ? 2 * found->n_members : 2;
    return true;
}

static bool survey_tree(struct walk *walk, int64_t tree, const struct value *x,
                        struct survey *survey)
{
    struct span span = { .low = walk->forest->n_targets, .high = -1, .least = INT64_MAX };
    int64_t at;

    if (!walk_enter(walk, walk->forest->roots[tree], tree + 1))
        return false;
    while ((at = walk_next(walk, tree + 1)) >= 0)
        if (!survey_node(walk, at, x, survey, &span))
            return false;
    if (at == -2)
        return false;
    if (span.high < 0)
        return true;
    survey->low[tree] = span.low;
    if (span.high - span.low + 1 > survey->width)
        survey->width = span.high - span.low + 1;
    survey->uneven =
        survey->uneven || span.least != span.most || span.most != span.high - span.low + 1;
    return true;
}

/* A minimum or maximum of nothing is infinite in the tables, and 0 in other runtimes. */
static bool survey_ends(struct walk *walk, const struct survey *survey)
{
    bool all = !survey->uneven;

    for (int64_t k = 0; k < walk->forest->n_targets; k++)
        all = all && survey->reached[k];
    return all || strcmp(walk->forest->aggregate, "sum") == 0 ||
           onnx_unsupported(walk->node,
                            "the %s of leaves of which some have no number for a target",
                            walk->forest->aggregate);
}

static bool survey_trees(struct walk *walk, const struct value *x, struct survey *survey)
{
    survey->width = 1;
    for (int64_t tree = 0; tree < walk->forest->n_roots; tree++)
        if (!survey_tree(walk, tree, x, survey))
            return false;
    return survey_ends(walk, survey);
}

static bool fill_tables(struct walk *walk, struct tables *tables, const struct survey *survey,
                        int32_t *root, int32_t *target)
{
    const struct forest *forest = walk->forest;

    for (int64_t tree = 0; tree < forest->n_roots; tree++) {
        const int64_t number = forest->n_roots + tree + 1; /* other walks than the survey's */
        const int64_t last = forest->n_targets - tables->width;
        int64_t at;

        target[tree] = (int32_t)(survey->low[tree] < last ? survey->low[tree] : last);
        if (!walk_enter(walk, forest->roots[tree], number))
            return false;
        while ((at = walk_next(walk, number)) >= 0)
            tables->place[at] = forest->nodes[at].mode == FOREST_LEAF
                                    ? tables_add_leaf(tables, &forest->nodes[at], target[tree])
                                    : tables_add_node(tables, &forest->nodes[at]);
        root[tree] = tables->place[forest->roots[tree]];
    }
    return true;
}

static struct value *table(struct onnx_node *node, enum dtype dtype, int64_t n, int64_t width,
                           const char *suffix, void **data)
{
    const int64_t dims[] = { n, width };
    const struct type type = type_make(dtype, width ? 2 : 1, dims);
    struct tensor tensor = { .type = type, .data = constant_alloc(node->fn, &type) };

    *data = tensor.data;
    return constant_new(node->fn,
                        arena_printf(&node->fn->module->arena, "%s:%s",
                                     output_stem(node),
                                     suffix),
                        &type, tensor.data);
}

static struct value *build_ensemble(struct onnx_node *node, const struct tables *tables,
                                    struct value *x, const int32_t *root, const int32_t *target,
                                    const char *suffix)
{
    const struct forest *forest = tables->forest;
    const union attrs attrs = { .tree_ensemble = { .n_targets = forest->n_targets,
                                                   .aggregate = forest->aggregate } };
    const int64_t n = tables->n_splits, trees = forest->n_roots;
    struct value *inputs[7] = { x };
    void *data[7];

    inputs[1] = table(node, DTYPE_I32, n, 0, "feature", &data[1]);
    inputs[2] = table(node, forest->dtype, n, 0, "threshold", &data[2]);
    inputs[3] = table(node, DTYPE_I32, n, 2, "children", &data[3]);
    inputs[4] = table(node, DTYPE_I32, trees, 0, "root", &data[4]);
    inputs[5] = table(node, DTYPE_I32, trees, 0, "target", &data[5]);
    inputs[6] = table(node, forest->dtype, tables->n_leaves, tables->width, "leaf", &data[6]);
    for (int64_t i = 0; i < n; i++) {
        ((int32_t *)data[1])[i] = tables->splits[i].feature;
        dtype_store(forest->dtype, data[2], i, tables->splits[i].threshold);
        ((int32_t *)data[3])[2 * i] = tables->splits[i].first;
        ((int32_t *)data[3])[2 * i + 1] = tables->splits[i].second;
    }
    for (int64_t i = 0; i < trees; i++) {
        ((int32_t *)data[4])[i] = root[i];
        ((int32_t *)data[5])[i] = target[i];
    }
    for (int64_t i = 0; i < tables->n_leaves * tables->width; i++)
        dtype_store(forest->dtype, data[6], i, tables->leaves[i]);
    return onnx_build(node, OP_TREE_ENSEMBLE, &attrs, suffix, 7, inputs);
}

/* Whether the tables are within the limits. */
static bool tables_fit(struct onnx_node *node, const struct forest *forest,
                       const struct survey *survey)
{
    enum { MOST = 1 << 30 };

    if (survey->n_splits > MOST || survey->n_leaves > MOST)
        return onnx_unsupported(node, "the trees have more than %d splits or leaves", MOST);
    return onnx_granted(node, DTYPE_F64, 4.0 * (double)survey->n_splits) &&
           onnx_granted(node, forest->dtype, (double)survey->n_leaves * (double)survey->width);
}

static struct value *scores_of(struct walk *walk, struct value *x, struct arena *arena,
                               const char *suffix)
{
    const struct forest *forest = walk->forest;
    struct tables tables = { .forest = forest, .arena = arena };
    struct survey survey = { .low = arena_array(arena, int64_t, forest->n_roots),
                             .reached = arena_array(arena, bool, forest->n_targets) };
    int32_t *root = arena_array(arena, int32_t, forest->n_roots);
    int32_t *target = arena_array(arena, int32_t, forest->n_roots);

    walk_begin(walk, arena);
    if (!survey_trees(walk, x, &survey) || !tables_fit(walk->node, forest, &survey))
        return NULL;
    tables.width = survey.width;
    tables.mask = 64;
    while (tables.mask < 2 * (uint64_t)(survey.n_splits + survey.n_leaves))
        tables.mask *= 2;
    tables.slots = arena_array(arena, int32_t, tables.mask);
    tables.mask--;
    tables.splits = arena_array(arena, struct split, survey.n_splits);
    tables.place = arena_array(arena, int32_t, forest->n_nodes);
    return fill_tables(walk, &tables, &survey, root, target)
               ? build_ensemble(walk->node, &tables, x, root, target, suffix)
               : NULL;
}

struct value *forest_scores(struct onnx_node *node, const struct forest *forest, struct value *x,
                            const char *suffix)
{
    struct walk walk = { .node = node, .forest = forest };
    struct arena arena = { NULL };
    struct value *scores = NULL;

    if (x && forest->n_targets > 0 && forest->n_targets <= INT32_MAX &&
        onnx_granted(node, DTYPE_U8, (double)forest->n_targets))
        scores = scores_of(&walk, x, &arena, suffix);
    else if (x && (forest->n_targets <= 0 || forest->n_targets > INT32_MAX))
        bad_attribute(node, "the trees have %lld results", (long long)forest->n_targets);
    arena_release(&arena);
    return scores;
}
