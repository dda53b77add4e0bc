/* trees.c - ml.tree_ensemble: sums (minima, maxima) of what decision trees say about rows of x.
 *
 * Inputs, of which all but x are constants:
 *   x          T [rows, features]
 *   feature    i32 [splits]     which element of the row a split looks at: f, or ~f where NaN goes to
 *                               the first child
 *   threshold  T [splits]       x <= threshold goes to the first child
 *   children   i32 [splits, 2]  a split of a lower number, or ~i: leaf i
 *   root       i32 [trees]      likewise, any split
 *   target     i32 [trees]      column of the result to which a leaf's first number belongs
 *   leaf       T [leaves, width]
 * A walk ends, because numbers of splits fall along it. Splits and leaves may be shared. */
#include "relay_ir/ops/trees.h"

#include <math.h>
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/walk.h"

static bool bad_table(struct ctx *ctx, const struct node *node, const char *what, int64_t at,
                      int64_t number)
{
    return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: %s %lld is %lld, out of range",
                      op_name(node->op), what, (long long)at, (long long)number);
}

static bool check_tables(struct ctx *ctx, const struct node *node)
{
    static const char *const names[] = { "x",    "feature", "threshold", "children",
                                         "root", "target",  "leaf" };
    const struct type *x = input_type(node, TREES_X);

    for (int i = TREES_FEATURE; i <= TREES_LEAF; i++) {
        const bool real = i == TREES_THRESHOLD || i == TREES_LEAF;
        const int rank = i == TREES_CHILDREN || i == TREES_LEAF ? 2 : 1;

        if (node->inputs[i]->kind != VALUE_CONSTANT)
            return diag_error(ctx, DIAG_TYPE, node_origin(node), "%s: %s is no constant",
                              op_name(node->op), names[i]);
        if (input_type(node, i)->dtype != (real ? x->dtype : DTYPE_I32))
            return diag_error(ctx, DIAG_TYPE, node_origin(node), "%s: %s is %s, expected %s",
                              op_name(node->op), names[i], dtype_name(input_type(node, i)->dtype),
                              dtype_name(real ? x->dtype : DTYPE_I32));
        if (!check_rank(ctx, node, i, rank, rank))
            return false;
    }
    return true;
}

static bool check_extents(struct ctx *ctx, const struct node *node, const struct trees *trees)
{
    if (input_type(node, TREES_FEATURE)->dim[0] == trees->n_splits &&
        input_type(node, TREES_CHILDREN)->dim[0] == trees->n_splits &&
        input_type(node, TREES_CHILDREN)->dim[1] == 2 &&
        input_type(node, TREES_TARGET)->dim[0] == trees->n_trees && trees->width > 0 &&
        trees->n_targets > 0)
        return true;
    return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                      "%s: tables of splits or trees differ in length, or a leaf has no numbers",
                      op_name(node->op));
}

/* Whether a child or a root is a split below `limit`, or a leaf. */
static bool is_place(const struct trees *trees, int64_t place, int64_t limit)
{
    return place >= 0 ? place < limit : ~place < trees->n_leaves;
}

static bool check_numbers(struct ctx *ctx, const struct node *node, const struct trees *trees)
{
    for (int64_t i = 0; i < trees->n_splits; i++) {
        const int64_t feature = trees->feature[i];

        if ((feature < 0 ? ~feature : feature) >= trees->features)
            return bad_table(ctx, node, "feature", i, feature);
        for (int64_t k = 2 * i; k < 2 * i + 2; k++)
            if (!is_place(trees, trees->children[k], i))
                return bad_table(ctx, node, "child", k, trees->children[k]);
    }
    for (int64_t i = 0; i < trees->n_trees; i++) {
        if (!is_place(trees, trees->root[i], trees->n_splits))
            return bad_table(ctx, node, "root", i, trees->root[i]);
        if (trees->target[i] < 0 || trees->target[i] > trees->n_targets - trees->width)
            return bad_table(ctx, node, "target", i, trees->target[i]);
    }
    return true;
}

static const void *data_of(const struct node *node, int i)
{
    return node->inputs[i]->data;
}

struct trees trees_of(const struct node *node)
{
    const struct type *x = input_type(node, TREES_X), *leaf = input_type(node, TREES_LEAF);

    return (struct trees){ .rows = x->dim[0],
                           .features = x->dim[1],
                           .n_splits = input_type(node, TREES_THRESHOLD)->dim[0],
                           .n_trees = input_type(node, TREES_ROOT)->dim[0],
                           .n_leaves = leaf->dim[0],
                           .width = leaf->dim[1],
                           .n_targets = node->attrs.tree_ensemble.n_targets,
                           .feature = data_of(node, TREES_FEATURE),
                           .children = data_of(node, TREES_CHILDREN),
                           .root = data_of(node, TREES_ROOT),
                           .target = data_of(node, TREES_TARGET) };
}

bool infer_tree_ensemble(struct ctx *ctx, struct node *node)
{
    static const char *const aggregates[] = { "sum", "min", "max" };
    struct tree_ensemble_attrs *attrs = &node->attrs.tree_ensemble;
    struct type shape = { .rank = 2 };
    struct trees trees;

    if (!check_kinds(ctx, node, TREES_X, KINDS_FLOAT) || !check_rank(ctx, node, TREES_X, 2, 2) ||
        !check_word(ctx, node, "aggregate", &attrs->aggregate, aggregates, 3) ||
        !check_tables(ctx, node))
        return false;
    trees = trees_of(node);
    if (!check_extents(ctx, node, &trees) || !check_numbers(ctx, node, &trees))
        return false;
    shape.dim[0] = trees.rows;
    shape.dim[1] = trees.n_targets;
    set_output(node, 0, input_type(node, TREES_X)->dtype, &shape);
    return true;
}

int64_t trees_walk(const struct trees *trees, const struct tensor *threshold,
                   const struct tensor *x, int64_t row, int64_t tree)
{
    int64_t at = trees->root[tree];

    while (at >= 0) {
        const int32_t feature = trees->feature[at];
        const double v = tensor_at(x, row * trees->features + (feature < 0 ? ~feature : feature));
        const bool first = v <= tensor_at(threshold, at) || (feature < 0 && isnan(v));

        at = trees->children[2 * at + !first];
    }
    return ~at;
}

double trees_begin(const struct node *node)
{
    const char *aggregate = node->attrs.tree_ensemble.aggregate;

    return strcmp(aggregate, "min") == 0   ? (double)INFINITY
           : strcmp(aggregate, "max") == 0 ? (double)-INFINITY
                                           : 0;
}

double trees_step(const struct node *node, double before, double leaf)
{
    const char *aggregate = node->attrs.tree_ensemble.aggregate;

    if (strcmp(aggregate, "min") == 0)
        return leaf < before ? leaf : before;
    if (strcmp(aggregate, "max") == 0)
        return leaf > before ? leaf : before;
    return before + leaf;
}

bool eval_tree_ensemble(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                        struct tensor *out)
{
    const struct trees trees = trees_of(node);
    struct arena arena = { NULL };
    double *sums = arena_array(&arena, double, trees.n_targets);

    (void)ctx;
    for (int64_t row = 0; row < trees.rows; row++) {
        for (int64_t k = 0; k < trees.n_targets; k++)
            sums[k] = trees_begin(node);
        for (int64_t tree = 0; tree < trees.n_trees; tree++) {
            const int64_t leaf = trees_walk(&trees, in[TREES_THRESHOLD], in[TREES_X], row, tree);

            for (int64_t k = 0; k < trees.width; k++)
                sums[trees.target[tree] + k] =
                    trees_step(node, sums[trees.target[tree] + k],
                               tensor_at(in[TREES_LEAF], leaf * trees.width + k));
        }
        for (int64_t k = 0; k < trees.n_targets; k++)
            tensor_put(out, row * trees.n_targets + k, sums[k]);
    }
    arena_release(&arena);
    return true;
}
