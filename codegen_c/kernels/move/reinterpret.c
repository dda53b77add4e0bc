/* reinterpret.c - the bits of each element as those of another type of the same size: a copy. */
#include "codegen_c/core/anchor.h"

static bool accepts_reinterpret(const struct region *region, const char **why)
{
    (void)region; /* any type that C can store */
    (void)why;
    return true;
}

static bool bind_reinterpret(struct bind *bind)
{
    bind_text(bind, "x", "%s", bind_operand(bind, bind->region->anchor->inputs[0]));
    bind_int(bind, "len", type_elements(anchor_output(bind->region, 0)));
    bind_include(bind, "string.h");
    return true;
}

const struct kernel kernel_reinterpret = {
    .name = "reinterpret",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_REINTERPRET), accepts_reinterpret, bind_reinterpret } },
};
