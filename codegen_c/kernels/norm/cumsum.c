/* cumsum.c - cumulative sums and products along one axis. */
#include "codegen_c/core/anchor.h"
#include "codegen_c/microkernel/accumulate.h"

static bool bind_cumsum(struct bind *bind)
{
    const struct cumsum_attrs *attrs = &bind->region->anchor->attrs.cumsum;
    const struct type *x = anchor_input(bind->region, 0);
    const enum dtype dtype = x->dtype;
    const int64_t inner = type_span(x, type_axis(x, attrs->axis) + 1, x->rank);
    const int64_t most = machine_has_deep_stack(bind->machine) ? 64 : 16; /* interleaved sums */
    const bool multiplies = bind->region->anchor->op == OP_CUMPROD;
    const char *acc = multiplies ? "product" : "sum";

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_axis(bind, attrs->axis);
    bind_flag(bind, "reverse", attrs->reverse);
    bind_flag(bind, "exclusive", attrs->exclusive);
    bind_text(bind, "acc", "%s", acc);
    bind_text(bind, "by", multiplies ? "*=" : "+=");
    bind_accumulator(bind, dtype);
    if (inner > 1) {
        bind_flag(bind, "multiplies", multiplies);
        bind_int(bind, "c_block", inner < most ? inner : most);
    } else {
        bind_text(bind, "start", multiplies ? "1" : "0");
    }
    bind_text(bind, "outcome", "%s",
              accumulated(bind, dtype, inner > 1 ? arena_printf(bind->arena, "%s[k]", acc) : acc));
    return true;
}

const struct kernel kernel_cumsum = {
    .name = "cumsum",
    .sums = SUMS_PLAIN,
    .forms = { { OPS(OP_CUMPROD, OP_CUMSUM), takes_number, bind_cumsum } },
};
