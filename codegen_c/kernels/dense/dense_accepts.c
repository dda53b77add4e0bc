/* dense_accepts.c - see dense_accepts.h. */
#include "codegen_c/kernels/dense/dense_accepts.h"

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/operands.h"

bool accepts_conv_small(const struct region *region, const char **why)
{
    const struct window w = window_of_conv(region);

    if (!takes_operands(region, why) || !takes_window(&w, why) || !takes_constant(region, 1, why))
        return false;
    *why = "it is not computed in f32";
    if (anchor_output(region, 0)->dtype != DTYPE_F32)
        return false;
    *why = "nothing is added up";
    return w.in_c * window_k_len(&w) > 0;
}

static bool takes_dense(const struct region *region, bool many, const char **why)
{
    const struct type *x = anchor_input(region, 0);

    if (!takes_operands(region, why) || !takes_constant(region, 1, why))
        return false;
    if ((type_span(x, 0, x->rank - 1) != 1) == many)
        return true;
    *why = many ? "there is one row" : "there is more than one row";
    return false;
}

bool accepts_dense(const struct region *region, const char **why)
{
    return takes_dense(region, false, why);
}

bool accepts_dense_rows(const struct region *region, const char **why)
{
    return takes_dense(region, true, why);
}

/* Whether every row of x is multiplied by the same constant matrix. */
static bool is_dense(const struct region *region, const char **why)
{
    const struct type *b = anchor_input(region, 1);

    if (!region->anchor->attrs.matmul.transpose_a && anchor_input(region, 0)->rank >= 2 &&
        b->rank >= 2 && type_span(b, 0, b->rank - 2) == 1)
        return true;
    *why = "the operands are not rows and one matrix";
    return false;
}

bool accepts_matmul_dense(const struct region *region, const char **why)
{
    return is_dense(region, why) && takes_dense(region, false, why);
}

bool accepts_matmul_dense_rows(const struct region *region, const char **why)
{
    return is_dense(region, why) && takes_dense(region, true, why);
}
