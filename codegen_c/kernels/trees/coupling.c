/* coupling.c - probabilities of classes from those of pairs. */
#include "codegen_c/core/anchor.h"

static bool accepts_coupling(const struct region *region, const char **why)
{
    *why = "the element type is not f32";
    return anchor_input(region, 0)->dtype == DTYPE_F32 && takes_float(region, why);
}

static bool bind_coupling(struct bind *bind)
{
    const struct type *x = anchor_input(bind->region, 0);
    const int64_t k = bind->region->anchor->attrs.coupling.n_classes;

    bind_helper(bind, "couple_f32");
    bind_input(bind, "x", 0);
    bind_int(bind, "rows", x->dim[0]);
    bind_int(bind, "pairs", x->dim[1]);
    bind_int(bind, "classes", k);
    bind_scratch_elements(bind, k * k + k);
    return true;
}

const struct kernel kernel_coupling = {
    .name = "coupling",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_COUPLING), accepts_coupling, bind_coupling } },
};
