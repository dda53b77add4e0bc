/* matmul_row.c - a row times a matrix, both computed (queries of one token, attention that pools):
 * nothing is packed, as every number of the matrix is used once. */
#include "codegen_c/kernels/anchor.h"
#include "codegen_c/kernels/dense.h"
#include "codegen_c/kernels/operands.h"

bool accepts_matmul_row(const struct region *region, const char **why)
{
    enum { FEWEST = 4 }; /* columns side by side */
    struct product p;

    if (!accepts_matmul_float(region, why))
        return false;
    *why = "the product or an operand is not f32";
    if (anchor_output(region, 0)->dtype != DTYPE_F32 || data_is_small(region) ||
        weight_is_small(region))
        return false;
    p = product_of(region);
    *why = "there are several rows, less than four columns, or these lie one behind the other";
    return p.m == 1 && !p.transpose_b && p.n >= FEWEST;
}

bool bind_matmul_row(struct bind *bind)
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
