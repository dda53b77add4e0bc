/* matmul_row.c - row times matrix, and matrix times column, both computed (queries of one token,
 * attention pooling). Nothing is packed: each element of the matrix is used once. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/operands.h"
#include "codegen_c/kernels/dense/dense.h"
#include "codegen_c/kernels/dense/dense_gemv.h"

static bool takes_f32(const struct region *region, const char **why)
{
    if (!accepts_matmul_float(region, why))
        return false;
    *why = "the product or an operand is not f32";
    return anchor_output(region, 0)->dtype == DTYPE_F32 && !data_is_small(region) &&
           !weight_is_small(region);
}

static bool accepts_matmul_row(const struct region *region, const char **why)
{
    enum { FEWEST = 4 }; /* columns side by side */
    struct product p;

    if (!takes_f32(region, why))
        return false;
    p = product_of(region);
    *why = "there are several rows, less than four columns, or these lie one behind the other";
    return p.m == 1 && !p.transpose_b && p.n >= FEWEST;
}

/* Whether input `i` is the matrix, with contiguous rows, and the other one a vector. */
static bool is_matrix(const struct product *p, int i)
{
    return i == 0 ? p->n == 1 && (!p->transpose_a || p->m == 1) : p->m == 1 && p->transpose_b;
}

/* Constants are packed: gemv, whose order of sums differs, as no choice of a kernel may. */
static bool is_computed_matrix(const struct region *region, const struct product *p, int i)
{
    return is_matrix(p, i) && region->anchor->inputs[i]->kind != VALUE_CONSTANT;
}

/* Scalar code has faster tiles than 16 interleaved sums. */
static bool accepts_matmul_column(const struct region *region, const char **why)
{
    struct product p;

    if (!takes_f32(region, why))
        return false;
    p = product_of(region);
    *why =
        "both operands are matrices, or one is known or read across its rows, or the machine has "
        "no vectors";
    return (is_computed_matrix(region, &p, 0) || is_computed_matrix(region, &p, 1)) &&
           region->machine->lanes != 1;
}

static bool bind_matmul_row(struct bind *bind)
{
    const struct product p = product_of(bind->region);
    const struct type *y = anchor_output(bind->region, 0);
    struct position position;

    bind_product_matrices(bind, &p);
    bind_input(bind, "b", 1);
    bind_helper(bind, "wide_loops");
    bind_flag(bind, "left", p.k % 4 != 0);
    bind_scratch_numbers(bind, p.n);
    bind_text(bind, "at", p.batch > 1 ? "batch * COLUMNS + column" : "column");
    position_by_division(bind, "at", &position);
    if (y->dim[y->rank - 1] > 1)
        position.coord[y->rank - 1] = "column";
    return bind_epilogue(bind, "sum[column]", &position);
}

static bool bind_matmul_column(struct bind *bind)
{
    const struct product p = product_of(bind->region);
    const struct type *y = anchor_output(bind->region, 0);
    const int matrix = is_matrix(&p, 0) ? 0 : 1, dim = y->rank - (matrix == 0 ? 2 : 1);
    const int64_t rows = matrix == 0 ? p.m : p.n;
    struct position position;

    bind_input(bind, "matrix", matrix);
    bind_input(bind, "vector", 1 - matrix);
    bind_text(bind, "matrix_number", "%s", product_matrix(bind, &p, matrix));
    bind_text(bind, "vector_number", "%s", product_matrix(bind, &p, 1 - matrix));
    bind_flag(bind, "batched", p.batch > 1);
    bind_int(bind, "batch", p.batch);
    bind_int(bind, "rows", rows);
    bind_int(bind, "inner", p.k);
    bind_helper(bind, "wide_loops");
    bind_helper(bind, "dots_f32");
    bind_text(bind, "at", p.batch > 1 ? "batch * ROWS + row" : "row");
    position_by_division(bind, "at", &position);
    if (dim >= 0 && rows > 1 && y->dim[dim] == rows)
        position.coord[dim] = "row";
    return bind_epilogue(bind, "dots[j]", &position);
}

const struct kernel kernel_matmul_column = {
    .name = "matmul_column",
    .sums = SUMS_OF_16,
    .forms = { { OPS(OP_DENSE), accepts_dense_column, bind_matmul_column },
               { OPS(OP_DENSE, OP_MATMUL), accepts_matmul_column, bind_matmul_column,
                 .late = true } },
};

const struct kernel kernel_matmul_row = {
    .name = "matmul_row",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_MATMUL), accepts_matmul_row, bind_matmul_row } },
};
