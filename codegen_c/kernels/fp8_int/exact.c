/* exact.c - integer-accumulated FP8 (relay_ir/ops/exact.h): convolutions, dense layers, matrix
 * products.
 *
 * Values are read in their own layout; a table of 256 integers for each format of a network maps
 * them to steps of the format. */
#include <string.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/overlap.h"
#include "codegen_c/core/number.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/exact_steps.h"
#include "codegen_c/expr/scalar_exact.h"
#include "codegen_c/kernels/dense/dense.h"
#include "codegen_c/kernels/int8/qnn.h"
#include "relay_ir/ops/exact.h"

enum {
    X,
    W,
    CODES = 256,
    MOST_ON_STACK = 256 /* elements of a patch; larger ones are in scratch */
};

/* Whether both factors are minifloats of one byte: narrower weights are packed. */
static bool takes_quantized(const struct region *region, const char **why)
{
    for (int i = X; i <= W; i++) {
        const struct minifloat *format = type_minifloat(anchor_input(region, i));

        *why = "the operands are not floats of 8 bits";
        if (!format || minifloat_bits(format) != 8)
            return false;
    }
    return takes_sizes(region, why);
}

static void bind_factors(struct bind *bind)
{
    bind_type(bind);
    bind_text(bind, "tw", "%s", dtype_c_type(anchor_input(bind->region, W)->dtype));
    bind_steps(bind, "x_steps", X);
    bind_steps(bind, "w_steps", W);
}

/* Binds `dot`, for integers of x and values of w. */
static void bind_dot(struct bind *bind)
{
    const struct minifloat *x = type_minifloat(anchor_input(bind->region, X));
    const struct minifloat *w = type_minifloat(anchor_input(bind->region, W));

    bind_text(bind, "dot", "%s", exact_dot(bind, w, exact_greatest(x)));
}

static bool accepts_exact_conv(const struct region *region, const char **why)
{
    return takes_quantized(region, why) && accepts_qnn_conv(region, why);
}

static int64_t patch_of(const struct window *w)
{
    return w->in_c / w->groups * window_k_len(w);
}

static size_t scratch_exact_conv(const struct region *region)
{
    const struct window w = window_of_conv(region);
    const bool parts = patch_of(&w) > MOST_ON_STACK && window_k_len(&w) <= MOST_ON_STACK;

    return parts ? (size_t)patch_of(&w) * sizeof(int32_t) : 0;
}

/* Input channels of a patch on the stack: pieces of about equal size. */
static int64_t channels_of_part(const struct window *w)
{
    const int64_t in_c = w->in_c / w->groups, most = MOST_ON_STACK / window_k_len(w);
    const int64_t n_parts = (in_c + most - 1) / most;

    return (in_c + n_parts - 1) / n_parts;
}

/* Binds where a patch is gathered. */
static void bind_patch(struct bind *bind, const struct window *w)
{
    const bool parts = bind->region->place.low_scratch;
    const int64_t n = patch_of(w);
    const bool few = n > 0 && n <= MOST_ON_STACK;

    bind_flag(bind, "parts", parts);
    bind_flag(bind, "few", few && !parts);
    bind_flag(bind, "large", !few && !parts);
    bind_int(bind, "part_c", parts ? channels_of_part(w) : 0);
    bind_text(bind, "row",
              w->batch > 1    ? "(g %% GROUPS * OUT_C + i)"
              : w->groups > 1 ? "(g * OUT_C + i)"
                              : "i");
    if (!few && !parts)
        bind_scratch(bind, (size_t)(n > 0 ? n : 1) * sizeof(int32_t));
}

static bool bind_exact_conv(struct bind *bind)
{
    const struct window w = window_of_conv(bind->region);
    struct position position;

    bind_qnn_places(bind, &w, &position);
    bind_patch(bind, &w);
    bind_factors(bind);
    bind_dot(bind);
    return bind_epilogue(bind, "acc", &position);
}

static bool accepts_exact_matmul(const struct region *region, const char **why)
{
    return takes_quantized(region, why) && accepts_qnn_matmul(region, why);
}

static bool bind_exact_matmul(struct bind *bind)
{
    const struct product p = product_of(bind->region);

    bind_product(bind, &p);
    bind_factors(bind);
    if (p.transpose_b) /* a column's values are contiguous */
        bind_dot(bind);
    else
        bind_flag(bind, "dot", false);
    return bind_epilogue_at(bind, "acc", "at");
}

static bool accepts_exact_softmax(const struct region *region, const char **why)
{
    *why = "the operands are not floats of 8 bits with known scales";
    return type_minifloat(anchor_input(region, X)) && takes_sizes(region, why) &&
           region->anchor->inputs[1]->kind == VALUE_CONSTANT &&
           region->anchor->inputs[3]->kind == VALUE_CONSTANT;
}

/* The tables of exp. */
static void bind_powers(struct bind *bind, const struct exact_powers *powers)
{
    const char *name = bind->region->anchor->outputs[0]->name;
    uint32_t *mantissa = table_new(bind, DTYPE_U32, CODES);
    int16_t *exponent = table_new(bind, DTYPE_I16, CODES);

    memcpy(mantissa, powers->mantissa, sizeof powers->mantissa);
    memcpy(exponent, powers->exponent, sizeof powers->exponent);
    bind_table(bind, "mantissa", arena_printf(bind->arena, "%s_mantissa", name), DTYPE_U32, CODES,
               mantissa);
    bind_table(bind, "exponent", arena_printf(bind->arena, "%s_exponent", name), DTYPE_I16, CODES,
               exponent);
}

static bool bind_exact_softmax(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct tensor in_scale = value_tensor(node->inputs[1]);
    const struct tensor out_scale = value_tensor(node->inputs[3]);
    const struct minifloat *to = type_minifloat(anchor_output(bind->region, 0));
    const struct exact_factor factor = exact_softmax_of(to, tensor_at(&out_scale, 0));
    struct exact_powers powers;

    exact_powers_of(type_minifloat(anchor_input(bind->region, X)), tensor_at(&in_scale, 0),
                    &powers);
    bind_type(bind);
    bind_input(bind, "x", X);
    bind_axis(bind, node->attrs.axis.axis);
    bind_powers(bind, &powers);
    bind_text(bind, "factor", "%s, %s, %s",
              number_i32(bind->arena, node, "y_multiplier", factor.multiplier),
              number_i32(bind->arena, node, "y_shift", factor.shift),
              exact_format_text(bind->arena, to));
    bind_helper(bind, "scale_to_minifloat");
    return true;
}

static bool bind_exact_log_softmax(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct tensor in_scale = value_tensor(node->inputs[1]);
    const struct tensor out_scale = value_tensor(node->inputs[3]);
    const struct minifloat *to = type_minifloat(anchor_output(bind->region, 0));
    uint32_t *logs = table_new(bind, DTYPE_U32, CODES + 1);
    struct exact_log_softmax of;

    exact_log_softmax_of(type_minifloat(anchor_input(bind->region, X)), tensor_at(&in_scale, 0), to,
                         tensor_at(&out_scale, 0), &of);
    memcpy(logs, of.logs, sizeof of.logs);
    bind_type(bind);
    bind_input(bind, "x", X);
    bind_axis(bind, node->attrs.axis.axis);
    bind_powers(bind, &of.powers);
    bind_steps(bind, "x_steps", X);
    bind_table(bind, "logs", arena_printf(bind->arena, "%s_logs", node->outputs[0]->name),
               DTYPE_U32, CODES + 1, logs);
    bind_text(bind, "step", "%s", number_u64(bind->arena, node, "step_of_log", of.step));
    bind_text(bind, "format", "-%d, %s", EXACT_LOG_BITS, exact_format_text(bind->arena, to));
    bind_helper(bind, "log_of_sum");
    bind_helper(bind, "round_to_minifloat");
    return true;
}

/* Pixel by pixel. If each channel is a group, all pixels of one before the next, so that pixels lie
 * exactly over pixels of the same size. */
static bool overlaps_exact_conv(const struct region *region, struct overlap *overlap)
{
    enum { STEP = 16 /* offsets in the arena (PLAN_ALIGN): divides exact distances */ };
    const struct window w = window_of_conv(region);
    const int64_t pixel = w.out_c * (int64_t)y_element_bytes(region);

    overlap->exact = w.groups > 1;
    overlap->bytes = overlap_of_windows(region, &w, 1);
    if (!overlap->exact)
        return window_is_last(&w);
    if (w.in_c != w.groups || w.out_c != w.groups ||
        w.in_c * (int64_t)x_element_bytes(region) != pixel)
        return false;
    if (overlap_lies_over(&w, false))
        overlap->bytes = 0;
    while (overlap->bytes % (size_t)pixel != 0 || overlap->bytes % STEP != 0)
        overlap->bytes++;
    return window_is_last(&w);
}

const struct kernel kernel_exact_conv = {
    .name = "exact_conv",
    .sums = SUMS_NONE,
    .overlaps = overlaps_exact_conv,
    .spares = scratch_exact_conv,
    .forms = { { OPS(OP_QNN_CONV1D, OP_QNN_CONV2D, OP_QNN_CONV3D), accepts_exact_conv,
                 bind_exact_conv } },
};

const struct kernel kernel_exact_matmul = {
    .name = "exact_matmul",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_QNN_DENSE, OP_QNN_MATMUL), accepts_exact_matmul, bind_exact_matmul } },
};

const struct kernel kernel_exact_log_softmax = {
    .name = "exact_log_softmax",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { OPS(OP_QNN_LOG_SOFTMAX), accepts_exact_softmax, bind_exact_log_softmax } },
};

const struct kernel kernel_exact_softmax = {
    .name = "exact_softmax",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { OPS(OP_QNN_SOFTMAX), accepts_exact_softmax, bind_exact_softmax } },
};
