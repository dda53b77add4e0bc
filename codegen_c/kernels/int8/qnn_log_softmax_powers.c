/* qnn_log_softmax_powers.c - qnn.log_softmax_powers; the arithmetic is that of relay_ir/ops/qnn_log_softmax_powers.c. */
#include "codegen_c/core/anchor.h"

static bool accepts_qnn_log_softmax_powers(const struct region *region, const char **why)
{
    return takes_constant(region, 1, why) && takes_constant(region, 2, why) &&
           takes_sizes(region, why);
}

static bool bind_qnn_log_softmax_powers(struct bind *bind)
{
    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_input(bind, "powers", 1);
    bind_input(bind, "exponents", 2);
    bind_axis(bind, bind->region->anchor->attrs.axis.axis);
    bind_helper(bind, "clamp_int");
    bind_helper(bind, "log_q31");
    return true;
}

const struct kernel kernel_qnn_log_softmax_powers = {
    .name = "qnn_log_softmax_powers",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_QNN_LOG_SOFTMAX_POWERS), accepts_qnn_log_softmax_powers,
                 bind_qnn_log_softmax_powers } },
};
