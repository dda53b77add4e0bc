/* topk.c - the k greatest (least) elements along an axis and where they stand. Equal elements come
 * in the order of their indices; NaN counts as greater than every number. Without `sorted` the
 * order is free, so it is the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/scales.h"
#include "relay_ir/walk.h"

bool infer_topk(struct ctx *ctx, struct node *node)
{
    struct topk_attrs *topk = &node->attrs.topk;
    const struct type *x = input_type(node, 0);
    struct type shape = *x;

    if (!check_kinds(ctx, node, 0, KINDS_NUMBER) || !check_axis(ctx, node, x, &topk->axis))
        return false;
    if (topk->k < 0 || topk->k > x->dim[topk->axis])
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: k is %lld, axis %lld of shape %s has %lld", op_name(node->op),
                          (long long)topk->k, (long long)topk->axis, shape_text(&ctx->perm, x),
                          (long long)x->dim[topk->axis]);
    shape.dim[topk->axis] = topk->k;
    set_output(node, 0, x->dtype, &shape);
    pass_scales(node, 0, 0, -1);
    set_output(node, 1, DTYPE_I64, &shape);
    return true;
}

/* A number as a key to sort by: floats by real, integers by whole; the other one is 0. */
struct item {
    double real;
    wide whole;
    int64_t index;
};

static struct item item_at(const struct tensor *x, int64_t at, int64_t index)
{
    struct item item = { .index = index };

    if (dtype_is_float(x->type.dtype))
        item.real = tensor_at(x, at);
    else
        item.whole = tensor_wide_at(x, at);
    return item;
}

static int compare_keys(const struct item *a, const struct item *b)
{
    const int nan_a = isnan(a->real) != 0, nan_b = isnan(b->real) != 0;

    if (nan_a || nan_b)
        return nan_a - nan_b;
    if (a->real != b->real)
        return a->real < b->real ? -1 : 1;
    return (a->whole > b->whole) - (a->whole < b->whole);
}

static int compare_index(const struct item *a, const struct item *b)
{
    return (a->index > b->index) - (a->index < b->index);
}

static int least_first(const void *a, const void *b)
{
    const int order = compare_keys(a, b);

    return order ? order : compare_index(a, b);
}

static int greatest_first(const void *a, const void *b)
{
    const int order = compare_keys(b, a);

    return order ? order : compare_index(a, b);
}

bool eval_topk(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
               struct tensor *out)
{
    const struct topk_attrs *topk = &node->attrs.topk;
    const struct type *x = &in[0]->type;
    const int64_t n = x->dim[topk->axis], inner = type_span(x, (int)topk->axis + 1, x->rank);
    const int64_t lines = n ? type_elements(x) / n : 0;
    struct arena arena = { NULL };
    struct item *items;

    (void)ctx;
    if (type_elements(&out[0].type) == 0)
        return true;
    items = arena_array(&arena, struct item, n);
    for (int64_t line = 0; line < lines; line++) {
        const int64_t outer = line / inner, column = line % inner;

        for (int64_t i = 0; i < n; i++)
            items[i] = item_at(in[0], (outer * n + i) * inner + column, i);
        qsort(items, (size_t)n, sizeof *items, topk->largest ? greatest_first : least_first);
        for (int64_t i = 0; i < topk->k; i++) {
            const int64_t to = (outer * topk->k + i) * inner + column;

            memcpy(element_at(&out[0], to),
                   element_at(in[0], (outer * n + items[i].index) * inner + column),
                   dtype_bytes(x->dtype));
            tensor_put_wide(&out[1], to, items[i].index);
        }
    }
    arena_release(&arena);
    return true;
}
