/* unique.c - the rows of a matrix that differ from each other, as ONNX's Unique has them.
 *
 * x (n, length): rows. first (n) i64: the first row of each kind, the kinds ascending by their elements from the left
 * (sorted), or in the order of these rows; kind (n) i64: of each row; size (n) i64: rows of each kind; count (1) i64:
 * kinds. Behind the last kind first and size are 0. NaN counts as greater than every number, and as equal to NaN. */
#include <math.h>
#include <stdlib.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/walk.h"

bool infer_unique(struct ctx *ctx, struct node *node)
{
    const struct type one = { .rank = 1, .dim = { 1 } };
    struct type rows = { .rank = 1 };

    if (!check_kinds(ctx, node, 0, KINDS_NUMBER) || !check_rank(ctx, node, 0, 2, 2))
        return false;
    rows.dim[0] = input_type(node, 0)->dim[0];
    for (int i = 0; i < 3; i++)
        set_output(node, i, DTYPE_I64, &rows);
    set_output(node, 3, DTYPE_I64, &one);
    return true;
}

struct row {
    const struct tensor *x;
    int64_t index;
};

static int compare_elements(const struct tensor *x, int64_t a, int64_t b)
{
    if (dtype_is_float(x->type.dtype)) {
        const double p = tensor_at(x, a), q = tensor_at(x, b);

        if (isnan(p) || isnan(q))
            return (isnan(p) != 0) - (isnan(q) != 0);
        return (p > q) - (p < q);
    }
    return (tensor_wide_at(x, a) > tensor_wide_at(x, b)) -
           (tensor_wide_at(x, a) < tensor_wide_at(x, b));
}

static int compare_rows(const struct row *a, const struct row *b)
{
    const int64_t length = a->x->type.dim[1];
    int order = 0;

    for (int64_t i = 0; i < length && order == 0; i++)
        order = compare_elements(a->x, a->index * length + i, b->index * length + i);
    return order;
}

/* Equal rows in their order. */
static int by_elements(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    const int order = compare_rows(a, b);

    return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* A kind: its first row, and where its rows begin among the sorted ones. */
struct kind {
    int64_t first, begin, end;
};

static int by_first(const void *left, const void *right)
{
    const struct kind *a = left, *b = right;

    return (a->first > b->first) - (a->first < b->first);
}

bool eval_unique(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                 struct tensor *out)
{
    const int64_t n = in[0]->type.dim[0];
    int64_t *first = out[0].data, *kind_of = out[1].data, *size = out[2].data, count = 0;
    struct arena arena = { NULL };
    struct row *rows = arena_array(&arena, struct row, n);
    struct kind *kinds = arena_array(&arena, struct kind, n);

    (void)ctx;
    for (int64_t i = 0; i < n; i++)
        rows[i] = (struct row){ in[0], i };
    if (n)
        qsort(rows, (size_t)n, sizeof *rows, by_elements);
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || compare_rows(&rows[i - 1], &rows[i]) != 0)
            kinds[count++] = (struct kind){ rows[i].index, i, i };
        kinds[count - 1].end = i + 1;
    }
    if (count && !node->attrs.unique.sorted)
        qsort(kinds, (size_t)count, sizeof *kinds, by_first);
    for (int64_t k = 0; k < n; k++) {
        first[k] = k < count ? kinds[k].first : 0;
        size[k] = k < count ? kinds[k].end - kinds[k].begin : 0;
        for (int64_t i = kinds[k].begin; k < count && i < kinds[k].end; i++)
            kind_of[rows[i].index] = k;
    }
    *(int64_t *)out[3].data = count;
    arena_release(&arena);
    return true;
}
