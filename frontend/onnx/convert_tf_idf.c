/* convert_tf_idf.c - TfIdfVectorizer of integers: how often each n-gram of a pool occurs in a list, or in each row.
 *
 * method   for each length of n-grams: all places where one may lie (for each number of skipped elements between its
 *          neighbours) are taken side by side and compared with those of the pool; what agrees is added up, and a
 *          product with a constant matrix brings the sums to their columns, weighed */
#include <math.h>
#include <string.h>

#include "frontend/onnx/convert_helpers.h"

struct grams {
    struct onnx_node *node;
    const int64_t *pool, *counts, *indexes; /* counts: where those of length 1, 2 ... begin */
    int64_t n_pool, n_counts, n_indexes;
    int64_t columns, rows, length; /* of the result; of x */
    int64_t skips;
    const char *mode;
    struct reals weights;
};

/* n-grams of n elements; *first: how many shorter ones there are. */
static int64_t grams_of(const struct grams *g, int64_t n, int64_t *first)
{
    int64_t before = 0;

    for (int64_t i = 1; i <= n && i <= g->n_counts; i++) {
        const int64_t end = i < g->n_counts ? g->counts[i] : g->n_pool;
        const int64_t here = (end - g->counts[i - 1]) / i;

        *first = before;
        before += here;
        if (i == n)
            return here;
    }
    return 0;
}

/* The indices of elements that n-grams may be made of: [places, n]; *n_places of them. */
static struct value *places(const struct grams *g, int64_t n, int64_t *n_places)
{
    const int64_t skips = n == 1 ? 0 : g->skips;
    struct type type = { .dtype = DTYPE_I64, .rank = 2, .dim = { 0, n } };
    int64_t *at;

    for (int64_t skip = 0; skip <= skips; skip++)
        type.dim[0] += g->length > (n - 1) * (skip + 1) ? g->length - (n - 1) * (skip + 1) : 0;
    *n_places = type.dim[0];
    if (*n_places == 0 || !onnx_granted(g->node, DTYPE_I64, (double)*n_places * (double)n))
        return NULL;
    at = constant_alloc(g->node->fn, &type);
    for (int64_t skip = 0; skip <= skips; skip++)
        for (int64_t begin = 0; begin + (n - 1) * (skip + 1) < g->length; begin++)
            for (int64_t k = 0; k < n; k++)
                *at++ = begin + k * (skip + 1);
    return onnx_from_tensor(g->node, &(struct tensor){ type, at - *n_places * n }, "places");
}

static struct value *pool_of(const struct grams *g, int64_t n, int64_t n_grams)
{
    const struct type type = { .dtype = DTYPE_I64, .rank = 4, .dim = { 1, 1, n_grams, n } };
    int64_t *data = constant_alloc(g->node->fn, &type);

    memcpy(data, g->pool + g->counts[n - 1], (size_t)(n_grams * n) * sizeof *data);
    return onnx_from_tensor(g->node, &(struct tensor){ type, data }, "pool");
}

/* Where the counts of these n-grams go: [n_grams, columns]. */
static struct value *columns_of(const struct grams *g, int64_t first, int64_t n_grams)
{
    const bool weighed = strcmp(g->mode, "TF") != 0 && g->weights.n;
    const struct type type = { .dtype = DTYPE_F32, .rank = 2, .dim = { n_grams, g->columns } };
    float *data;

    if (!onnx_granted(g->node, DTYPE_F32, (double)n_grams * (double)g->columns))
        return NULL;
    data = constant_alloc(g->node->fn, &type);
    for (int64_t i = 0; i < n_grams; i++)
        data[i * g->columns + g->indexes[first + i]] =
            weighed ? (float)g->weights.at[first + i] : 1;
    return onnx_from_tensor(g->node, &(struct tensor){ type, data }, "columns");
}

/* The counts of all n-grams of n elements, in their columns; `sum` where there are none. */
static struct value *add_grams(const struct grams *g, struct value *x, int64_t n, struct value *sum)
{
    const union attrs along = { .axis = { .axis = 1 } };
    const struct ints last = { 1, { 3 } }, second = { 1, { 1 } };
    struct onnx_node *node = g->node;
    int64_t first = 0, n_places = 0;
    const int64_t n_grams = grams_of(g, n, &first);
    struct value *at = n_grams ? places(g, n, &n_places) : NULL, *found;
    const struct ints windows = { 4, { g->rows, n_places, 1, n } };

    if (n_grams == 0 || (!at && n_places == 0))
        return sum;
    found = at ? onnx_build2(node, OP_TAKE, &along, "windows", x, at) : NULL;
    found = found ? reshape_to(node, found, &windows, "windows") : NULL;
    found = found ? apply2(node, OP_EQUAL, "equal", found, pool_of(g, n, n_grams)) : NULL;
    found = found ? cast_to(node, found, DTYPE_F32, "equal_numbers") : NULL;
    found = found ? reduce_with(node, OP_MIN, found, &last, false, "found") : NULL;
    found = found ? reduce_with(node, OP_SUM, found, &second, false, "counts") : NULL;
    if (found && strcmp(g->mode, "IDF") == 0)
        found = apply2(node, OP_MINIMUM, "occurs", found, scalar_like(node, found, 1, "one"));
    found = apply2(node, OP_MATMUL, "columns", found, columns_of(g, first, n_grams));
    return sum && found ? apply2(node, OP_ADD, "sum", sum, found) : found;
}

static bool check_grams(struct grams *g)
{
    int64_t total = 0, first = 0;

    for (int64_t i = 0; i < g->n_counts; i++)
        if (g->counts[i] < (i ? g->counts[i - 1] : 0) || g->counts[i] > g->n_pool)
            return bad_attribute(g->node, "attribute ngram_counts does not rise within the pool");
    for (int64_t n = 1; n <= g->n_counts; n++)
        total += grams_of(g, n, &first);
    if (total != g->n_indexes || (g->weights.n && g->weights.n != g->n_indexes))
        return bad_attribute(g->node,
                             "the pool has %lld n-grams, ngram_indexes %lld and weights %d numbers",
                             (long long)total, (long long)g->n_indexes, g->weights.n);
    for (int64_t i = 0; i < g->n_indexes; i++) {
        if (g->indexes[i] < 0 || g->indexes[i] >= INT32_MAX)
            return bad_attribute(g->node, "attribute ngram_indexes has %lld",
                                 (long long)g->indexes[i]);
        g->columns = g->indexes[i] >= g->columns ? g->indexes[i] + 1 : g->columns;
    }
    return g->columns > 0 || bad_attribute(g->node, "attribute ngram_indexes is empty");
}

bool convert_tf_idf(struct onnx_node *node)
{
    struct grams g = { .node = node, .mode = onnx_word(node, "mode", "") };
    const int64_t least = onnx_int(node, "min_gram_length", 1),
                  most = onnx_int(node, "max_gram_length", 1);
    struct value *x = onnx_input(node, 0), *sum = NULL;
    struct ints shape = { .n = 0 };

    if (!onnx_check_inputs(node, 1, 1) || !onnx_check_rank(node, 0, 1, 2) ||
        !onnx_check_kind(node, 0, TAKES_INTEGER))
        return false;
    if (onnx_has(node, "pool_strings"))
        return onnx_unsupported(node, "n-grams of strings");
    g.skips = onnx_int(node, "max_skip_count", 0);
    g.weights = onnx_reals(node, "weights");
    if (!onnx_int_list(node, "pool_int64s", &g.pool, &g.n_pool) ||
        !onnx_int_list(node, "ngram_counts", &g.counts, &g.n_counts) ||
        !onnx_int_list(node, "ngram_indexes", &g.indexes, &g.n_indexes) || !onnx_ok(node) ||
        !check_grams(&g))
        return false;
    if (strcmp(g.mode, "TF") != 0 && strcmp(g.mode, "IDF") != 0 && strcmp(g.mode, "TFIDF") != 0)
        return bad_attribute(node, "attribute mode is none of TF, IDF and TFIDF");
    if (least < 1 || most < least || most > MAX_INTS || g.skips < 0 || g.skips > INT32_MAX)
        return bad_attribute(node, "n-grams of %lld to %lld elements, %lld skipped",
                             (long long)least, (long long)most, (long long)g.skips);
    g.length = x->type.dim[x->type.rank - 1];
    g.rows = x->type.rank == 2 ? x->type.dim[0] : 1;
    shape = (struct ints){ 2, { g.rows, g.length } };
    x = reshape_to(node, cast_to(node, x, DTYPE_I64, "wide"), &shape, "rows");
    g.skips = g.skips < g.length ? g.skips : g.length;
    for (int64_t n = least; n <= most && x; n++) {
        const int n_errors = node->ctx->diags.n_errors;

        sum = add_grams(&g, x, n, sum);
        if (node->ctx->diags.n_errors > n_errors)
            return false;
    }
    shape = (struct ints){ 2, { g.rows, g.columns } };
    if (x && !sum)
        sum = full_of(node, DTYPE_F32, 0, &shape, "nothing");
    shape = onnx_input(node, 0)->type.rank == 1 ? (struct ints){ 1, { g.columns } } : shape;
    return sum && onnx_output(node, 0, reshape_to(node, sum, &shape, ""));
}
