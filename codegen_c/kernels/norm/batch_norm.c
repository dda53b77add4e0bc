/* batch_norm.c - batch normalisation of floats whose numbers are not folded into weights. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/kernels/norm/norm.h"

static bool bind_batch_norm(struct bind *bind)
{
    static const char *const keys[] = { "scale", "bias", "mean", "variance" };
    const struct node *node = bind->region->anchor;
    const struct type *x = anchor_input(bind->region, 0);
    struct position position;

    bind_type(bind);
    bind_input(bind, "x", 0);
    for (int i = 0; i < 4; i++)
        bind_input(bind, keys[i], 1 + i);
    bind_axis(bind, node->attrs.batch_norm.axis);
    bind_number(bind, "epsilon", node->attrs.batch_norm.epsilon);
    bind_own_math(bind, "sqrt", "sqrt");
    position_by_division(bind, "at", &position);
    if (x->dim[type_axis(x, node->attrs.batch_norm.axis)] > 1)
        position.coord[type_axis(x, node->attrs.batch_norm.axis)] = "c";
    return bind_epilogue(bind, "v", &position);
}

const struct kernel kernel_batch_norm = {
    .name = "batch_norm",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { OPS(OP_BATCH_NORM), takes_float, bind_batch_norm } },
};
