/* topk.c - the k greatest or least elements along one axis. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/core/kernel.h"

/* Whether to find a threshold and sort what lies above it. A few elements are sorted in faster one
 * by one, as are all where counting is not vectorised. The keys' scratch must not matter. */
static bool accepts_topk_rows(const struct region *region, const char **why)
{
    enum { FEWEST = 64 };
    const struct type *x = anchor_input(region, 0);
    const struct topk_attrs *attrs = &region->anchor->attrs.topk;
    const struct machine *machine = region->machine;

    *why = "it is not of rows of f32, or for the least numbers, or for few";
    if (x->dtype != DTYPE_F32 || !attrs->largest || attrs->k < FEWEST ||
        type_span(x, type_axis(x, attrs->axis) + 1, x->rank) != 1)
        return false;
    *why = "the machine has no vectors, or no second cache";
    return machine->lanes > 1 && machine->l2_bytes > 0;
}

static bool bind_topk(struct bind *bind)
{
    const struct topk_attrs *attrs = &bind->region->anchor->attrs.topk;

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_axis(bind, attrs->axis);
    bind_int(bind, "k", attrs->k);
    bind_flag(bind, "largest", attrs->largest);
    bind_flag(bind, "float", dtype_is_float(anchor_input(bind->region, 0)->dtype));
    bind_text(bind, "extreme", attrs->largest ? "greatest" : "least");
    bind_text(bind, "beats", attrs->largest ? ">" : "<");
    return true;
}

static bool bind_topk_rows(struct bind *bind)
{
    const struct topk_attrs *attrs = &bind->region->anchor->attrs.topk;
    const struct type *x = anchor_input(bind->region, 0);
    const int axis = type_axis(x, attrs->axis);

    bind_input(bind, "x", 0);
    bind_int(bind, "rows", type_span(x, 0, axis));
    bind_int(bind, "len", x->dim[axis]);
    bind_int(bind, "k", attrs->k);
    bind_helper(bind, "wide_loops");
    bind_helper(bind, "level_f32");
    bind_helper(bind, "sort_i64");
    bind_scratch(bind, (size_t)attrs->k * sizeof(int64_t));
    return true;
}

const struct kernel kernel_topk_rows = {
    .name = "topk_rows",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_TOPK), accepts_topk_rows, bind_topk_rows } },
};

const struct kernel kernel_topk = {
    .name = "topk",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_TOPK), takes_number, bind_topk } },
};
