/* lrn.c - local response normalisation of floats. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/kernels/norm/norm.h"
#include "relay_ir/layout.h"
#include "relay_ir/walk.h"

void bind_lrn_places(struct bind *bind)
{
    const struct lrn_attrs *attrs = &bind->region->anchor->attrs.lrn;
    const struct type *x = anchor_input(bind->region, 0);
    const int axis = layout_channel_axis(attrs->layout, x->rank);

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_int(bind, "batch", type_span(x, 0, axis));
    bind_int(bind, "channels", x->dim[axis]);
    bind_int(bind, "plane", type_span(x, axis + 1, x->rank));
    bind_int(bind, "size", attrs->size);
}

static bool bind_lrn(struct bind *bind)
{
    enum { BLOCK = 64 };
    const struct lrn_attrs *attrs = &bind->region->anchor->attrs.lrn;
    const struct type *x = anchor_input(bind->region, 0);
    const int axis = layout_channel_axis(attrs->layout, x->rank);
    const bool last = type_span(x, axis + 1, x->rank) == 1;

    bind_lrn_places(bind);
    bind_number(bind, "alpha", attrs->alpha);
    bind_number(bind, "beta", attrs->beta);
    bind_number(bind, "bias", attrs->bias);
    bind_int(bind, "block", BLOCK);
    bind_flag(bind, "last", last);
    bind_text(bind, "what", last ? "Channels, BLOCK" : "BLOCK pixels of a channel");
    bind_helper(bind, "wide_loops");
    bind_own_math(bind, "exp", "exp");
    bind_own_math(bind, "log", "log");
    return bind_epilogue_at(bind, "v", "at");
}

const struct kernel kernel_lrn = {
    .name = "lrn",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_LRN), takes_float, bind_lrn } },
};
