/* tree_ensemble.c - decision trees as tables that a loop walks through. Tables have the narrowest
 * integers; questions (feature and threshold) that several splits ask are stored once, where that is
 * smaller. */
#include <stdlib.h>
#include <string.h>

#include "codegen_c/core/anchor.h"
#include "relay_ir/ops/trees.h"

/* Whether C takes the tables with int as their index. */
static bool accepts_tree_ensemble(const struct region *region, const char **why)
{
    return takes_float(region, why) && takes_constant(region, TREES_FEATURE, why);
}

/* The narrowest type for numbers from `low` to `high`. */
static enum dtype dtype_for(int32_t low, int32_t high)
{
    if (low >= 0)
        return high <= UINT8_MAX ? DTYPE_U8 : high <= UINT16_MAX ? DTYPE_U16 : DTYPE_I32;
    if (low >= INT8_MIN && high <= INT8_MAX)
        return DTYPE_I8;
    return low >= INT16_MIN && high <= INT16_MAX ? DTYPE_I16 : DTYPE_I32;
}

static enum dtype dtype_of(int64_t n, const int32_t *from)
{
    int32_t low = 0, high = 0;

    for (int64_t i = 0; i < n; i++) {
        low = from[i] < low ? from[i] : low;
        high = from[i] > high ? from[i] : high;
    }
    return dtype_for(low, high);
}

/* Makes a table of integers: its C name and its C type. An empty one has a number that is not
 * read. */
static void bind_ints(struct bind *bind, const char *key, const char *type_key, const char *name,
                      int64_t n, const int32_t *from)
{
    const enum dtype dtype = dtype_of(n, from);
    const int64_t length = n ? n : 1;
    uint8_t *table = table_new(bind, dtype, length);
    const size_t bytes = dtype_bytes(dtype);

    for (int64_t i = 0; i < n; i++) /* little-endian */
        memcpy(table + (size_t)i * bytes, &from[i], bytes);
    bind_table(bind, key, name, dtype, length, table);
    bind_text(bind, type_key, "%s", dtype_c_type(dtype));
}

/* --- questions -------------------------------------------------------------------------------- */

/* What a split asks, and which number the question gets. */
struct question {
    int64_t split;
    int32_t feature;
    uint64_t threshold; /* its bits */
};

static int compare_questions(const void *left, const void *right)
{
    const struct question *a = left, *b = right;

    if (a->feature != b->feature)
        return a->feature < b->feature ? -1 : 1;
    return (a->threshold > b->threshold) - (a->threshold < b->threshold);
}

/* Questions that differ, as tables; number[split]: which. Also of numbers without a feature. */
struct questions {
    int64_t n;
    int32_t *number, *feature;
    uint8_t *threshold;
};

static struct questions questions_of(struct bind *bind, int64_t n, const int32_t *feature,
                                     const struct value *numbers)
{
    const size_t bytes = dtype_bytes(numbers->type.dtype);
    struct question *all = arena_array(bind->arena, struct question, n + 1);
    struct questions out = { .number = arena_array(bind->arena, int32_t, n + 1),
                             .feature = arena_array(bind->arena, int32_t, n + 1),
                             .threshold = table_new(bind, numbers->type.dtype, n ? n : 1) };

    for (int64_t i = 0; i < n; i++) {
        all[i] = (struct question){ .split = i, .feature = feature ? feature[i] : 0 };
        memcpy(&all[i].threshold, (const uint8_t *)numbers->data + (size_t)i * bytes, bytes);
    }
    qsort(all, (size_t)n, sizeof *all, compare_questions);
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || compare_questions(&all[i - 1], &all[i]) != 0) {
            out.feature[out.n] = all[i].feature;
            memcpy(out.threshold + (size_t)out.n * bytes, &all[i].threshold, bytes);
            out.n++;
        }
        out.number[all[i].split] = (int32_t)(out.n - 1);
    }
    return out;
}

/* Features and thresholds by question, if numbers of questions and these take less than one of each
 * for a split. */
static void bind_questions(struct bind *bind, const struct trees *trees)
{
    struct value *const *inputs = bind->region->anchor->inputs;
    const enum dtype dtype = inputs[TREES_THRESHOLD]->type.dtype;
    const int64_t n = trees->n_splits;
    const struct questions questions =
        questions_of(bind, n, trees->feature, inputs[TREES_THRESHOLD]);
    const int64_t whole =
        (int64_t)dtype_bytes(dtype) + (int64_t)dtype_bytes(dtype_of(n, trees->feature));
    const bool shared =
        whole * questions.n + n * (int64_t)dtype_bytes(dtype_of(n, questions.number)) < whole * n;

    bind_flag(bind, "shared", shared);
    if (!shared) {
        bind_ints(bind, "feature", "tfeature", inputs[TREES_FEATURE]->name, n, trees->feature);
        if (n)
            memcpy(questions.threshold, inputs[TREES_THRESHOLD]->data,
                   dtype_bytes(dtype) * (size_t)n);
        bind_table(bind, "threshold", inputs[TREES_THRESHOLD]->name, dtype, n ? n : 1,
                   questions.threshold);
        return;
    }
    bind_ints(bind, "question", "tquestion",
              arena_printf(bind->arena, "%s.question", inputs[TREES_X]->name), n, questions.number);
    bind_ints(bind, "feature", "tfeature", inputs[TREES_FEATURE]->name, questions.n,
              questions.feature);
    bind_table(bind, "threshold", inputs[TREES_THRESHOLD]->name, dtype, questions.n,
               questions.threshold);
}

/* --- the rest --------------------------------------------------------------------------------- */

/* The numbers of the leaves, or codes of them, if both take less: leaves of classifiers have few numbers
 * that differ. */
static void bind_leaves(struct bind *bind, const struct trees *trees)
{
    struct value *leaf = bind->region->anchor->inputs[TREES_LEAF];
    const char *place = trees->n_targets == 1 ? "~at" : "~at * WIDTH + k";
    const enum dtype dtype = leaf->type.dtype;
    const int64_t n = trees->n_leaves * trees->width, whole = (int64_t)dtype_bytes(dtype);
    const struct questions numbers = questions_of(bind, n, NULL, leaf);
    const bool coded =
        whole * numbers.n + n * (int64_t)dtype_bytes(dtype_of(n, numbers.number)) < whole * n;

    bind_flag(bind, "coded", coded);
    bind_text(bind, "from_leaf", coded ? "number[leaf[%s]]" : "leaf[%s]", place);
    if (!coded) {
        bind_input(bind, "leaf", TREES_LEAF);
        return;
    }
    bind_ints(bind, "leaf", "tleaf", leaf->name, n, numbers.number);
    bind_table(bind, "number", arena_printf(bind->arena, "%s.number", leaf->name), dtype, numbers.n,
               numbers.threshold);
}

static bool any(int64_t n, const int32_t *from, bool negative)
{
    for (int64_t i = 0; i < n; i++)
        if (negative ? from[i] < 0 : from[i] != 0)
            return true;
    return false;
}

static void bind_aggregate(struct bind *bind)
{
    const char *aggregate = bind->region->anchor->attrs.tree_ensemble.aggregate;
    const bool adds = strcmp(aggregate, "min") != 0 && strcmp(aggregate, "max") != 0;

    bind_flag(bind, "adds", adds);
    bind_text(bind, "beats", strcmp(aggregate, "min") == 0 ? "<" : ">");
    bind_text(bind, "start", adds ? "0" : strcmp(aggregate, "min") == 0 ? "INFINITY" : "-INFINITY");
    if (!adds)
        bind_include(bind, "math.h");
}

static bool bind_tree_ensemble(struct bind *bind)
{
    enum { MOST_ON_STACK = 64 };
    const struct trees trees = trees_of(bind->region->anchor);
    struct value *const *inputs = bind->region->anchor->inputs;
    const bool single = trees.n_targets == 1, scratch = trees.n_targets > MOST_ON_STACK;
    const bool moves = any(trees.n_trees, trees.target, false);

    bind_type(bind);
    bind_input(bind, "x", TREES_X);
    bind_int(bind, "rows", trees.rows);
    bind_int(bind, "features", trees.features);
    bind_int(bind, "trees", trees.n_trees);
    bind_int(bind, "targets", trees.n_targets);
    bind_int(bind, "width", trees.width);
    bind_questions(bind, &trees);
    bind_ints(bind, "children", "tchildren", inputs[TREES_CHILDREN]->name, 2 * trees.n_splits,
              trees.children);
    bind_ints(bind, "root", "troot", inputs[TREES_ROOT]->name, trees.n_trees, trees.root);
    bind_flag(bind, "moves", moves);
    if (moves)
        bind_ints(bind, "target", "ttarget", inputs[TREES_TARGET]->name, trees.n_trees,
                  trees.target);
    bind_text(bind, "at_target", moves ? "target[tree] + k" : "k");
    bind_leaves(bind, &trees);
    bind_flag(bind, "missing", any(trees.n_splits, trees.feature, true));
    bind_flag(bind, "single", single);
    bind_flag(bind, "several", !single);
    bind_flag(bind, "on_stack", !single && !scratch);
    if (scratch)
        bind_scratch_elements(bind, trees.n_targets);
    bind_aggregate(bind);
    return bind_epilogue_at(bind, single ? "sum" : "sum[k]", single ? "row" : "at");
}

const struct kernel kernel_tree_ensemble = {
    .name = "tree_ensemble",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_TREE_ENSEMBLE), accepts_tree_ensemble, bind_tree_ensemble } },
};
