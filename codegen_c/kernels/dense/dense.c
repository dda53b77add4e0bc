/* dense.c - matrix products: with constant weights (packed in panels of four outputs), of two
 * computed operands, and of integers. */
#include "codegen_c/kernels/dense/dense.h"
#include "codegen_c/kernels/dense/dense_accepts.h"

#include <inttypes.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/microkernel/accumulate.h"

enum { TILE = 4, COLUMNS = 16 /* as in the templates */ };

bool bind_dense_shape(struct bind *bind, const struct dense *d)
{
    const bool many = d->rows > 1;
    const struct panels panels = { .groups = 1,
                                   .n_rows = d->out_c,
                                   .len = d->in_c,
                                   .row_step = d->transposed ? 1 : d->in_c,
                                   .len_step = d->transposed ? d->out_c : 1,
                                   .width = TILE };

    bind_data(bind);
    bind_number_helper(bind, many ? "tile_4x4" : "tile_1x4");
    bind_input(bind, "x", 0);
    bind_weight_panels(bind, &panels, "[out_c / 4, in_c, 4 of out_c]");
    bind_int(bind, "in_c", d->in_c);
    bind_int(bind, "out_c", d->out_c);
    if (!many) {
        const bool coded = data_is_small(bind->region);
        const bool in_blocks = coded && weight_is_small(bind->region);

        bind_flag(bind, "kc_blocks", in_blocks);
        bind_flag(bind, "whole", coded && !in_blocks);
        if (coded && !in_blocks)
            bind_scratch_numbers(bind, d->in_c);
        return bind_epilogue_at(bind, in_blocks ? "sum[at - start]" : "sum[i]", "at");
    }
    bind_int(bind, "rows", d->rows);
    bind_scratch_numbers(bind, d->in_c * TILE);
    return bind_epilogue_at(bind, "sum[i][j]", "at");
}

static bool bind_dense(struct bind *bind)
{
    const struct dense dense = dense_of(bind->region);

    return bind_dense_shape(bind, &dense);
}

static bool bind_matmul_dense(struct bind *bind)
{
    const struct dense dense = dense_of_matmul(bind->region);

    return bind_dense_shape(bind, &dense);
}

/* --- two operands of any kind ----------------------------------------------------------------- */

struct product product_of(const struct region *region)
{
    const struct node *node = region->anchor;
    const struct type *a = anchor_input(region, 0), *b = anchor_input(region, 1);
    const struct type *y = anchor_output(region, 0);
    struct product p = { .batch = 1 };

    if (node->op == OP_DENSE || node->op == OP_QNN_DENSE) { /* a[.., k] and b[n, k] */
        p.m = type_span(a, 0, a->rank - 1);
        p.k = b->dim[1];
        p.n = b->dim[0];
        p.transpose_b = true;
        return p;
    }
    p.transpose_a = node->attrs.matmul.transpose_a;
    p.transpose_b = node->attrs.matmul.transpose_b;
    p.batch = type_span(y, 0, y->rank - 2);
    p.m = a->dim[a->rank - (p.transpose_a ? 1 : 2)];
    p.k = a->dim[a->rank - (p.transpose_a ? 2 : 1)];
    p.n = b->dim[b->rank - (p.transpose_b ? 2 : 1)];
    return p;
}

static bool are_matrices(const struct region *region, const char **why)
{
    if (anchor_input(region, 0)->rank >= 2 && anchor_input(region, 1)->rank >= 2)
        return true;
    *why = "an operand is a vector";
    return false;
}

static bool accepts_matmul(const struct region *region, const char **why)
{
    return takes_number(region, why) && are_matrices(region, why);
}

/* The index of an operand's matrix, from `batch`, that of the output's. */
static const char *matrix_number(struct bind *bind, const struct type *y, const struct type *x)
{
    struct str out = { .arena = bind->arena };
    int64_t y_step = 1, x_step = 1;
    bool same = true;

    for (int i = 3; i <= y->rank; i++) {
        int64_t extent = y->dim[y->rank - i], own = i <= x->rank ? x->dim[x->rank - i] : 1;

        same = same && own == extent;
        if (own > 1) {
            str_printf(&out, "%sbatch", out.n ? " + " : "");
            if (y_step > 1)
                str_printf(&out, " / %" PRId64, y_step);
            if (type_span(y, 0, y->rank - i) > 1)
                str_printf(&out, " %% %" PRId64, extent);
            if (x_step > 1)
                str_printf(&out, " * %" PRId64, x_step);
        }
        y_step *= extent;
        x_step *= own;
    }
    if (same)
        return "batch";
    return out.n ? arena_printf(bind->arena, "(%s)", str_text(&out)) : "0";
}

const char *product_matrix(struct bind *bind, const struct product *p, int input)
{
    return p->batch > 1 ? matrix_number(bind, anchor_output(bind->region, 0),
                                        anchor_input(bind->region, input))
                        : "0";
}

void bind_product_matrices(struct bind *bind, const struct product *p)
{
    bind_input(bind, "a", 0);
    bind_flag(bind, "batched", p->batch > 1);
    bind_int(bind, "batch", p->batch);
    bind_text(bind, "a_matrix", "%s", product_matrix(bind, p, 0));
    bind_text(bind, "b_matrix", "%s", product_matrix(bind, p, 1));
    bind_int(bind, "inner", p->k);
    bind_int(bind, "columns", p->n);
}

void bind_product_shape(struct bind *bind, const struct product *p)
{
    bind_product_matrices(bind, p);
    bind_text(bind, "row", p->batch > 1 ? "(batch * ROWS + row)" : "row");
    bind_text(bind, "a_at", p->transpose_a ? "k * ROWS + row" : "row * INNER + k");
    bind_text(bind, "b_at", p->transpose_b ? "column * INNER + k" : "k * COLUMNS + column");
    bind_text(bind, "a_shape", p->transpose_a ? "[INNER, ROWS]" : "[ROWS, INNER]");
    bind_text(bind, "b_shape", p->transpose_b ? "[COLUMNS, INNER]" : "[INNER, COLUMNS]");
    bind_int(bind, "rows", p->m);
}

void bind_product(struct bind *bind, const struct product *p)
{
    bind_type(bind);
    bind_input(bind, "b", 1);
    bind_product_shape(bind, p);
}

bool accepts_matmul_float(const struct region *region, const char **why)
{
    if (!takes_operands(region, why) || !are_matrices(region, why))
        return false;
    *why = "the sums are too long for the panels in scratch";
    return product_of(region).k <= INT32_MAX / 64;
}

static bool bind_matmul(struct bind *bind)
{
    const struct product p = product_of(bind->region);
    const bool packed =
        weight_is_small(bind->region) && bind->region->anchor->inputs[1]->kind == VALUE_CONSTANT;

    bind_product_shape(bind, &p);
    bind_data(bind);
    bind_flag(bind, "packed", packed);
    if (packed) {
        bind_weight_rows(bind);
    } else {
        bind_input(bind, "weight", 1);
        bind_weight_elements(bind);
    }
    bind_number_helper(bind, "tile_4x4");
    bind_scratch_numbers(bind, p.k * (TILE + COLUMNS));
    return bind_epilogue_at(bind, "sum[j][i]", "at");
}

/* Integer sums wrap: unsigned in C. */
static bool bind_matmul_int(struct bind *bind)
{
    const struct product p = product_of(bind->region);
    const enum dtype dtype = anchor_output(bind->region, 0)->dtype;

    bind_product(bind, &p);
    bind_text(bind, "ty", "%s", dtype_c_type(dtype));
    bind_accumulator(bind, dtype);
    bind_text(bind, "outcome", "%s", accumulated(bind, dtype, "sum"));
    return bind_epilogue_at(bind, "product", "at");
}

const struct kernel kernel_dense_rows = {
    .name = "dense_rows",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_CONV1D, OP_CONV2D, OP_CONV3D), accepts_conv_dense_rows, bind_conv_dense },
               { OPS(OP_DENSE), accepts_dense_rows, bind_dense, .late = true },
               { OPS(OP_MATMUL), accepts_matmul_dense_rows, bind_matmul_dense, .late = true } },
};

const struct kernel kernel_dense = {
    .name = "dense",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_DENSE), accepts_dense, bind_dense },
               { OPS(OP_MATMUL), accepts_matmul_dense, bind_matmul_dense } },
};

const struct kernel kernel_matmul = {
    .name = "matmul",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_DENSE, OP_MATMUL), accepts_matmul_float, bind_matmul } },
};

const struct kernel kernel_matmul_int = {
    .name = "matmul_int",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_DENSE, OP_MATMUL), accepts_matmul, bind_matmul_int } },
};
