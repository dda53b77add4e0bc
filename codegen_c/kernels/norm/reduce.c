/* reduce.c - sum, mean, prod, max and min over any axes. */
#include <inttypes.h>
#include <math.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/number.h"
#include "codegen_c/kernels/pool/average.h"
#include "codegen_c/microkernel/accumulate.h"

/* The dims of x without those of extent 1; neighbours of one kind are merged. */
struct spans {
    int n;
    int64_t dim[MAX_RANK];
    bool reduced[MAX_RANK];
};

static struct spans spans_of(const struct type *x, const struct ints *axes)
{
    struct spans spans = { 0 };

    for (int i = 0; i < x->rank; i++) {
        const bool reduced = ints_has(axes, i);

        if (x->dim[i] == 1)
            continue;
        if (spans.n && spans.reduced[spans.n - 1] == reduced) {
            spans.dim[spans.n - 1] *= x->dim[i];
            continue;
        }
        spans.dim[spans.n] = x->dim[i];
        spans.reduced[spans.n++] = reduced;
    }
    if (spans.n == 0) { /* one element */
        spans.dim[0] = 1;
        spans.reduced[0] = true;
        spans.n = 1;
    }
    return spans;
}

/* The row-major index over all spans, or over the kept ones. */
static const char *span_index(struct bind *bind, const struct spans *spans, bool kept_only)
{
    const char *coord[MAX_RANK], *extent[MAX_RANK];
    int n = 0;

    for (int i = 0; i < spans->n; i++) {
        if (kept_only && spans->reduced[i])
            continue;
        coord[n] = arena_printf(bind->arena, "i%d", i);
        extent[n++] = arena_printf(bind->arena, "D%d", i);
    }
    return row_major(bind, n, coord, extent);
}

/* The helper that reduces the last span as a row; NULL if there is none. */
static const char *row_helper(struct bind *bind, const struct spans *spans)
{
    const enum op op = bind->region->anchor->op;

    if (!spans->reduced[spans->n - 1] || !reads_rows(bind->region, spans->dim[spans->n - 1]))
        return NULL;
    return op == OP_SUM || op == OP_MEAN ? "row_sum_f32"
           : op == OP_MAX                ? "row_max_f32"
           : op == OP_MIN                ? "row_min_f32"
                                         : NULL;
}

/* The start of row (i0, i1 ...) of the outer spans in `array`; kept_only: among the kept ones. */
static const char *row_address(struct bind *bind, const struct spans *spans, const char *array,
                               bool kept_only)
{
    const char *coord[MAX_RANK], *extent[MAX_RANK];
    const int last = spans->n - 1;
    int n = 0;

    for (int i = 0; i < last; i++) {
        if (kept_only && spans->reduced[i])
            continue;
        coord[n] = arena_printf(bind->arena, "i%d", i);
        extent[n++] = arena_printf(bind->arena, "D%d", i);
    }
    return n == 0 ? array
                  : arena_printf(bind->arena, n > 1 ? "&%s[(%s) * D%d]" : "&%s[%s * D%d]", array,
                                 row_major(bind, n, coord, extent), last);
}

/* inner: the template loops over the last span itself. */
static void bind_spans(struct bind *bind, const struct spans *spans, bool inner)
{
    struct str dims = { .arena = bind->arena };
    int n[2] = { 0, 0 };

    for (int i = 0; i < spans->n; i++) {
        const bool reduced = spans->reduced[i];

        str_printf(&dims, "%sD%d = %" PRId64, i ? ", " : "", i, spans->dim[i]);
        if (inner && i == spans->n - 1)
            continue;
        bind_int(bind, arena_printf(bind->arena, reduced ? "reduced%d" : "kept%d", n[reduced]), i);
        n[reduced]++;
    }
    bind_text(bind, "dims", "%s", str_text(&dims));
    bind_int(bind, "n_kept", n[false]);
    bind_int(bind, "n_reduced", n[true]);
    bind_int(bind, "last", spans->n - 1);
    bind_text(bind, "from", "%s", span_index(bind, spans, false));
    bind_text(bind, "to", "%s", span_index(bind, spans, true));
}

/* The number of elements reduced to one, in C. */
static const char *count_text(struct bind *bind, const struct spans *spans)
{
    struct str count = { .arena = bind->arena };

    for (int i = 0; i < spans->n; i++)
        if (spans->reduced[i])
            str_printf(&count, "%sD%d", count.n ? " * " : "", i);
    return count.n ? str_text(&count) : "1";
}

/* How rows are read: by a helper or, if NULL, element by element. */
static void bind_rows(struct bind *bind, const struct spans *spans, const char *helper)
{
    bool whole = helper != NULL;

    for (int i = 0; i + 1 < spans->n; i++)
        whole = whole && !spans->reduced[i];
    if (helper)
        bind_helper(bind, helper);
    bind_text(bind, "row", "%s", helper ? helper : "");
    bind_flag(bind, "whole_rows", whole);
    if (helper)
        bind_text(
            bind, "row_from", "%s",
            row_address(bind, spans, bind_operand(bind, anchor_source(bind->region, 0)), false));
    bind_spans(bind, spans, helper != NULL);
}

static void bind_reduction_kind(struct bind *bind, enum op op, bool is_float)
{
    bind_flag(bind, "adds", op == OP_SUM || op == OP_MEAN);
    bind_flag(bind, "multiplies", op == OP_PROD);
    bind_flag(bind, "max", op == OP_MAX);
    bind_flag(bind, "min", op == OP_MIN);
    bind_flag(bind, "float", is_float);
    bind_text(bind, "acc",
              op == OP_MAX || op == OP_MIN ? "best"
              : op == OP_PROD              ? "product"
                                           : "sum");
}

/* Binds the accumulator, its update and the result; n elements, `count` in C. */
static void bind_reduction(struct bind *bind, enum op op, enum dtype dtype, int64_t n,
                           const char *count)
{
    const bool is_float = dtype_is_float(dtype);

    bind_reduction_kind(bind, op, is_float);
    if (op == OP_MAX || op == OP_MIN) {
        bind_text(bind, "tacc", "%s", dtype_c_type(dtype));
        bind_text(bind, "widen", "%s", "");
        bind_text(bind, "start", "%s",
                  dtype == DTYPE_BOOL
                      ? (op == OP_MAX ? "0" : "1")
                      : bind_literal(bind, dtype, op == OP_MAX ? -INFINITY : INFINITY));
        bind_text(bind, "outcome", "best");
        return;
    }
    bind_text(bind, "start", op == OP_PROD ? "1" : "0");
    if (op != OP_MEAN) {
        bind_accumulator(bind, dtype);
        bind_text(bind, "outcome", "%s",
                  accumulated(bind, dtype, op == OP_PROD ? "product" : "sum"));
    } else if (is_float) {
        bind_accumulator(bind, dtype);
        bind_text(bind, "outcome", "sum / (%s)(%s)", dtype_c_type(dtype), count);
    } else { /* exact sum; the quotient is truncated towards zero */
        const bool is_signed = dtype_kind(dtype) == KIND_INT;

        bind_text(bind, "tacc", "uint64_t");
        bind_text(bind, "widen", "%s", dtype == DTYPE_U64 ? "" : "(uint64_t)");
        bind_text(bind, "outcome", "(%s)sum", dtype_c_type(dtype)); /* 0 for no elements */
        if (n > 0)
            bind_text(bind, "outcome", "(%s)(%ssum / (%s))", dtype_c_type(dtype),
                      is_signed ? "(int64_t)" : "", count);
    }
}

static bool bind_reduce(struct bind *bind)
{
    const struct type *x = anchor_input(bind->region, 0);
    const struct spans spans = spans_of(x, &bind->region->anchor->attrs.reduce.axis);
    int64_t n = 1;

    for (int i = 0; i < spans.n; i++)
        if (spans.reduced[i])
            n *= spans.dim[i];
    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_rows(bind, &spans, row_helper(bind, &spans));
    bind_reduction(bind, bind->region->anchor->op, x->dtype, n, count_text(bind, &spans));
    bind_flag(bind, "exact", false);
    bind_fused(bind);
    return bind_epilogue_at(bind, "v", "at");
}

/* The last dim is kept: its elements are reduced side by side. */
static bool accepts_reduce_columns(const struct region *region, const char **why)
{
    enum { LEAST = 4 };
    const struct type *x = anchor_input(region, 0);
    const struct spans spans = spans_of(x, &region->anchor->attrs.reduce.axis);

    *why = "the last dim that is not 1 is reduced, shorter than 4, or not of f32";
    return takes_sizes(region, why) && !spans.reduced[spans.n - 1] && spans.n > 1 &&
           spans.dim[spans.n - 1] >= LEAST && x->dtype == DTYPE_F32 &&
           !anchor_decoder(region->anchor, 0);
}

static bool bind_reduce_columns(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct spans spans = spans_of(anchor_input(bind->region, 0), &node->attrs.reduce.axis);
    const bool adds = node->op == OP_SUM || node->op == OP_MEAN;
    const char *acc = adds ? "sum" : "best", *columns = "(float *)scratch";
    const char *result = arena_printf(bind->arena, "%s[i%d]", acc, spans.n - 1);

    bind_input(bind, "x", 0);
    bind_spans(bind, &spans, true);
    bind_flag(bind, "adds", adds);
    bind_flag(bind, "max", node->op == OP_MAX);
    bind_flag(bind, "min", node->op == OP_MIN);
    bind_text(bind, "acc", "%s", acc);
    bind_text(bind, "start", "%s",
              adds ? "0"
                   : bind_literal(bind, DTYPE_F32, node->op == OP_MAX ? -INFINITY : INFINITY));
    bind_flag(bind, "divides", node->op == OP_MEAN);
    bind_text(bind, "outcome", "%s", result);
    if (node->op == OP_MEAN)
        bind_text(bind, "outcome", "%s / (float)(%s)", result, count_text(bind, &spans));
    if (bind_fused(bind))
        bind_scratch_elements(bind, spans.dim[spans.n - 1]);
    else
        columns = row_address(bind, &spans, bind->region->results[0], true);
    bind_text(bind, "columns", "%s", columns);
    return bind_epilogue_at(bind, "v", "at");
}

static bool accepts_qnn_reduce(const struct region *region, const char **why)
{
    const int64_t n = type_elements(anchor_output(region, 0));

    return takes_sizes(region, why) &&
           takes_qnn_scales(region, n ? type_elements(anchor_input(region, 0)) / n : 0, why);
}

/* Sums elements less their zero point. */
static bool bind_qnn_reduce(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct type *x = anchor_input(bind->region, 0);
    const struct spans spans = spans_of(x, &node->attrs.reduce.axis);
    const struct qnn_scales scales = known_qnn_scales(node);
    const bool mean = node->op != OP_QNN_SUM;
    const bool plain = node->op == OP_QNN_MEAN && qnn_average_is_plain(node, &scales);
    const int64_t n_out = type_elements(anchor_output(bind->region, 0));
    const int64_t n = n_out ? type_elements(x) / n_out : 0;

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_rows(bind, &spans, NULL);
    bind_reduction_kind(bind, OP_SUM, false);
    bind_text(bind, "tacc", "%s", bind_average_sum(bind, n));
    bind_text(bind, "widen", "%s", "");
    bind_text(bind, "start", "%s",
              !type_minifloat(x) ? number_i32(bind->arena, node, "start", -n * scales.in_zero)
                                 : "0");
    bind_text(bind, "outcome", "%s",
              plain ? plain_average(bind, "sum", n, NULL)
                    : rescaled_sum(bind, "sum", average_factor(node, mean ? n : 1)));
    return true;
}

const struct kernel kernel_reduce_columns = {
    .name = "reduce_columns",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_MAX, OP_MEAN, OP_MIN, OP_SUM), accepts_reduce_columns,
                 bind_reduce_columns } },
};

const struct kernel kernel_reduce = {
    .name = "reduce",
    .sums = SUMS_ROWS,
    .forms = { { OPS(OP_MAX, OP_MEAN, OP_MIN, OP_PROD, OP_SUM), takes_sizes, bind_reduce },
               { OPS(OP_QNN_MEAN, OP_QNN_MEAN_DOUBLE, OP_QNN_SUM), accepts_qnn_reduce,
                 bind_qnn_reduce } },
};
