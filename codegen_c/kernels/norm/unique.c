/* unique.c - the rows of a matrix that differ from each other. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/kernel.h"

static bool bind_unique(struct bind *bind)
{
    const struct type *x = anchor_input(bind->region, 0);

    bind_type(bind);
    bind_include(bind, "stdint.h");
    bind_input(bind, "x", 0);
    bind_int(bind, "n", x->dim[0]);
    bind_int(bind, "len", x->dim[1]);
    bind_flag(bind, "sorted", bind->region->anchor->attrs.unique.sorted);
    bind_flag(bind, "float", dtype_is_float(x->dtype));
    return true;
}

const struct kernel kernel_unique = {
    .name = "unique",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_UNIQUE), takes_number, bind_unique } },
};
