/* arg.c - argmax and argmin along one axis. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/kernel.h"

static bool bind_arg(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const bool is_max = node->op == OP_ARGMAX, last = node->attrs.arg.select_last_index;
    const struct type *x = anchor_input(bind->region, 0);

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_axis(bind, node->attrs.arg.axis);
    bind_flag(bind, "float", dtype_is_float(x->dtype));
    bind_flag(bind, "last", last);
    bind_text(bind, "which", last ? "last" : "first");
    bind_text(bind, "extreme", is_max ? "greatest" : "least");
    bind_text(bind, "beats", "%c%s", is_max ? '>' : '<', last ? "=" : "");
    return true;
}

const struct kernel kernel_arg = {
    .name = "arg",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_ARGMAX, OP_ARGMIN), takes_number, bind_arg } },
};
