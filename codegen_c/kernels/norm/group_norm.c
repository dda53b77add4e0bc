/* group_norm.c - group and instance normalisation of floats, channels first and last. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/vector.h"
#include "codegen_c/kernels/norm/norm.h"

static bool accepts_group_norm(const struct region *region, const char **why)
{
    if (region->anchor->attrs.norm.axis == 1)
        return takes_float(region, why);
    *why = "the channels are last";
    return false;
}

static bool accepts_group_norm_last(const struct region *region, const char **why)
{
    if (region->anchor->attrs.norm.axis != 1)
        return takes_float(region, why);
    *why = "the channels are not last";
    return false;
}

/* Instance normalisation has one channel per group. */
static bool bind_group_norm(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct type *x = anchor_input(bind->region, 0);
    const int64_t groups = node->op == OP_GROUP_NORM ? node->attrs.norm.groups : x->dim[1];
    const int64_t group_c = x->dim[1] / groups;
    struct position position;

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_input(bind, "scale", 1);
    bind_input(bind, "bias", 2);
    bind_int(bind, "batch", x->dim[0]);
    bind_int(bind, "groups", groups);
    bind_int(bind, "group_c", group_c);
    bind_int(bind, "plane", type_span(x, 2, x->rank));
    bind_row_statistics(bind, group_c * type_span(x, 2, x->rank));
    bind_text(bind, "group", x->dim[0] > 1 ? "g %% GROUPS" : "g");
    bind_number(bind, "epsilon", node->attrs.norm.epsilon);
    bind_own_math(bind, "sqrt", "sqrt");
    position_by_division(bind, "at", &position);
    if (x->dim[1] > 1)
        position.coord[1] = "c";
    return bind_epilogue(bind, "v", &position);
}

static bool bind_group_norm_last(struct bind *bind)
{
    enum { BLOCK = 64 /* channels; their sums are on the stack */ };
    const struct node *node = bind->region->anchor;
    const struct type *x = anchor_input(bind->region, 0);
    const int64_t channels = x->dim[x->rank - 1];
    struct position position;

    bind_type(bind);
    bind_helper(bind, "wide_loops");
    bind_input(bind, "x", 0);
    bind_input(bind, "scale", 1);
    bind_input(bind, "bias", 2);
    bind_flag(bind, "batched", x->dim[0] > 1);
    bind_int(bind, "batch", x->dim[0]);
    bind_int(bind, "plane", type_span(x, 1, x->rank - 1));
    bind_int(bind, "channels", channels);
    bind_int(bind, "c_block", row_block(channels, BLOCK));
    bind_int(bind, "groups", node->op == OP_GROUP_NORM ? node->attrs.norm.groups : channels);
    bind_text(bind, "at_p", x->dim[0] > 1 ? "(n * PLANE + p)" : "p");
    bind_number(bind, "epsilon", node->attrs.norm.epsilon);
    bind_own_math(bind, "sqrt", "sqrt");
    bind_scratch(bind, (size_t)(2 * channels) * dtype_bytes(x->dtype));
    position_by_division(bind, "at", &position);
    if (channels > 1)
        position.coord[x->rank - 1] = "c";
    return bind_epilogue(bind, "v", &position);
}

const struct kernel kernel_group_norm = {
    .name = "group_norm",
    .sums = SUMS_ROWS,
    .in_place = true,
    .forms = { { OPS(OP_GROUP_NORM, OP_INSTANCE_NORM), accepts_group_norm, bind_group_norm } },
};

const struct kernel kernel_group_norm_last = {
    .name = "group_norm_last",
    .sums = SUMS_FOUR_PIXELS,
    .in_place = true,
    .forms = { { OPS(OP_GROUP_NORM, OP_INSTANCE_NORM), accepts_group_norm_last,
                 bind_group_norm_last } },
};
