/* layer_norm.c - layer normalisation of floats. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/kernels/norm/norm.h"

static bool bind_layer_norm(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct type *x = anchor_input(bind->region, 0);
    const int axis = type_axis(x, node->attrs.norm.axis);

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_input(bind, "scale", 1);
    bind_flag(bind, "biased", anchor_input(bind->region, 2) != NULL);
    if (anchor_input(bind->region, 2))
        bind_input(bind, "bias", 2);
    bind_int(bind, "rows", type_span(x, 0, axis));
    bind_int(bind, "len", type_span(x, axis, x->rank));
    bind_row_statistics(bind, type_span(x, axis, x->rank));
    bind_number(bind, "epsilon", node->attrs.norm.epsilon);
    bind_own_math(bind, "sqrt", "sqrt");
    return bind_epilogue_at(bind, "v", "at");
}

const struct kernel kernel_layer_norm = {
    .name = "layer_norm",
    .sums = SUMS_ROWS,
    .in_place = true,
    .forms = { { OPS(OP_LAYER_NORM), takes_float, bind_layer_norm } },
};
