/* true_first.c - indices of true elements, and behind them those of false ones. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/kernel.h"

static bool accepts_true_first(const struct region *region, const char **why)
{
    (void)region, (void)why;
    return true;
}

static bool bind_true_first(struct bind *bind)
{
    bind_include(bind, "stdint.h");
    bind_input(bind, "x", 0);
    bind_int(bind, "n", anchor_input(bind->region, 0)->dim[0]);
    bind_int(bind, "k", bind->region->anchor->attrs.true_first.k);
    return true;
}

const struct kernel kernel_true_first = {
    .name = "true_first",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_TRUE_FIRST), accepts_true_first, bind_true_first } },
};
