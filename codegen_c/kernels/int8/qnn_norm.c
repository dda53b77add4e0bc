/* qnn_norm.c - softmax, log_softmax and the normalisations of quantised values; the arithmetic is
 * that of relay_ir/ops/qnn_table.c and qnn_norm.c. */
#include <string.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/number.h"
#include "codegen_c/kernels/norm/norm.h"
#include "codegen_c/kernels/pool/average.h"
#include "relay_ir/ops/norm.h"
#include "relay_ir/walk.h"

static bool accepts_qnn_softmax(const struct region *region, const char **why)
{
    return takes_sizes(region, why) && takes_qnn_scales(region, 0, why);
}

/* The zero point of y as an addend: " + y_zero", or "". */
static void bind_out_zero(struct bind *bind, const struct qnn_scales *scales)
{
    bind_text(bind, "plus_zero", "%s",
              plus_number(bind->arena, "", bind->region->anchor, "y_zero", scales->out_zero));
}

static void bind_out_type(struct bind *bind)
{
    const enum dtype out = anchor_output(bind->region, 0)->dtype;

    bind_text(bind, "ty", "%s", dtype_c_type(out));
    bind_int(bind, "least", (int64_t)dtype_least(out));
    bind_int(bind, "most", (int64_t)dtype_greatest(out));
    bind_helper(bind, "saturate_int");
}

/* Differences of 8 bits need the first half of the table only. */
static void bind_powers(struct bind *bind, const uint32_t powers[QNN_POWERS])
{
    const bool of_16 = dtype_bytes(anchor_input(bind->region, 0)->dtype) > 1;
    const int n = of_16 ? QNN_POWERS : QNN_VALUES;
    const char *name =
        arena_printf(bind->arena, "%s_powers", bind->region->anchor->outputs[0]->name);
    uint32_t *table = table_new(bind, DTYPE_U32, n);

    memcpy(table, powers, (size_t)n * sizeof *powers);
    bind_table(bind, "powers", name, DTYPE_U32, n, table);
    bind_flag(bind, "wide", of_16);
    if (of_16)
        bind_helper(bind, "power_of_steps");
}

static bool bind_qnn_log_softmax(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct qnn_scales scales = known_qnn_scales(node);
    const struct qnn_log_softmax of = qnn_log_softmax_of(scales.in_scale, scales.out_scale);
    uint32_t *logs = table_new(bind, DTYPE_U32, QNN_VALUES + 1);

    memcpy(logs, of.logs, sizeof of.logs);
    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_axis(bind, node->attrs.axis.axis);
    bind_powers(bind, of.powers);
    bind_table(bind, "logs", arena_printf(bind->arena, "%s_logs", node->outputs[0]->name),
               DTYPE_U32, QNN_VALUES + 1, logs);
    bind_text(bind, "step", "%s", number_u64(bind->arena, node, "step_of_log", of.step));
    bind_text(bind, "zero", "%s", number_i32(bind->arena, node, "y_zero", scales.out_zero));
    bind_out_type(bind);
    bind_helper(bind, "log_of_sum");
    return true;
}

static bool bind_qnn_softmax(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct qnn_scales scales = known_qnn_scales(node);
    const struct qnn_softmax softmax = qnn_softmax_of(scales.in_scale, scales.out_scale);

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_axis(bind, node->attrs.axis.axis);
    bind_powers(bind, softmax.powers);
    bind_text(bind, "numerator", "%s",
              number_u64(bind->arena, node, "numerator", softmax.numerator));
    bind_text(bind, "shift", "%s", number_i32(bind->arena, node, "y_shift", softmax.shift));
    bind_text(bind, "half", "(UINT64_C(1) << (%s - 1))",
              number_i32(bind->arena, node, "y_shift", softmax.shift));
    bind_out_zero(bind, &scales);
    bind_out_type(bind);
    return true;
}

static bool accepts_qnn_softmax_powers(const struct region *region, const char **why)
{
    *why = "the powers are not known at compile time";
    return region->anchor->inputs[1]->kind == VALUE_CONSTANT && takes_sizes(region, why);
}

static bool bind_qnn_softmax_powers(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const int64_t axis = node->attrs.axis.axis;
    const enum dtype to = node->outputs[0]->type.dtype;
    const int64_t least = (int64_t)dtype_least(to);
    const int64_t bits = 8 * (int64_t)dtype_bytes(to);

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_axis(bind, axis);
    bind_text(bind, "powers", "%s", bind_operand(bind, node->inputs[1]));
    bind_text(bind, "ty", "%s", dtype_c_type(to));
    bind_int(bind, "below", 31 - bits);
    bind_text(bind, "twide", "%s",
              node->inputs[0]->type.dim[axis] < 512 ? "uint32_t" : "uint64_t"); /* shifts of 31 */
    bind_text(bind, "plus_least", "%s", !least ? "" : bits == 8 ? " - 128" : " - 32768");
    bind_int(bind, "least", least);
    bind_int(bind, "most", least + (INT64_C(1) << bits) - 1);
    bind_helper(bind, "clamp_int");
    bind_helper(bind, "reciprocal_q31");
    return true;
}

static bool accepts_qnn_l2_normalize(const struct region *region, const char **why)
{
    *why = "the zero point is not known at compile time";
    return region->anchor->inputs[1]->kind == VALUE_CONSTANT && takes_sizes(region, why);
}

static bool bind_qnn_l2_normalize(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct tensor zero = value_tensor(node->inputs[1]);

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_axis(bind, node->attrs.axis.axis);
    bind_text(bind, "x_zero", "%s",
              number_i32(bind->arena, node, "x_zero", tensor_int_at(&zero, 0)));
    bind_text(bind, "ty", "%s", dtype_c_type(DTYPE_I8));
    bind_int(bind, "least", INT8_MIN);
    bind_int(bind, "most", INT8_MAX);
    bind_helper(bind, "clamp_int");
    bind_helper(bind, "inverse_root_q31");
    bind_helper(bind, "requantize");
    return true;
}

/* --- norms ------------------------------------------------------------------------------------ */

enum { SCALE = 5, BIAS };

static bool accepts_qnn_norm(const struct region *region, const char **why)
{
    return takes_sizes(region, why) && takes_qnn_scales(region, 0, why);
}

/* A constant vector, in steps of the result by 2^shift. */
static void bind_vector(struct bind *bind, const char *key, const struct tensor *vector,
                        double out_scale, int shift)
{
    const int64_t n = type_elements(&vector->type);
    int32_t *steps = table_new(bind, DTYPE_I32, n);

    for (int64_t i = 0; i < n; i++)
        steps[i] = qnn_norm_steps(tensor_at(vector, i), out_scale, shift);
    bind_table(bind, key,
               arena_printf(bind->arena, "%s_%s", bind->region->anchor->outputs[0]->name, key),
               DTYPE_I32, n, steps);
}

/* 32-bit sums if they fit. */
static void bind_sums(struct bind *bind, int64_t len)
{
    enum { LONGEST = 1 << 15 };
    const bool narrow = dtype_bytes(anchor_input(bind->region, 0)->dtype) == 1 && len <= LONGEST;

    bind_text(bind, "tsum", narrow ? "int32_t" : "int64_t");
    bind_text(bind, "tsquares", narrow ? "uint32_t" : "uint64_t");
}

static void bind_norm(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct type first = norm_first(node, &node->inputs[0]->type);
    const int64_t len = norm_blocks_of(node, &first).size;
    const struct qnn_scales scales = known_qnn_scales(node);
    const struct tensor scale = value_tensor(node->inputs[SCALE]);
    const bool biased = node->n_inputs > BIAS;
    const struct tensor bias = biased ? value_tensor(node->inputs[BIAS]) : scale;
    const struct qnn_norm norm =
        qnn_norm_of(&scales, node->attrs.norm.epsilon, node->inputs[0]->type.dtype, len, &scale,
                    biased ? &bias : NULL);
    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_sums(bind, len);
    bind_flag(bind, "biased", biased);
    bind_vector(bind, "scale", &scale, scales.out_scale, norm.shift);
    if (biased)
        bind_vector(bind, "bias", &bias, scales.out_scale, norm.shift);
    bind_text(bind, "spread", "(spread << %s) + %s",
              number_i32(bind->arena, node, "spread_shift", 2 * norm.fraction),
              number_u64(bind->arena, node, "epsilon", norm.epsilon));
    bind_text(bind, "less", "%s",
              number_i32(bind->arena, node, "fraction_bits", norm.fraction + QNN_NORM_BITS));
    bind_text(bind, "shift", "%s",
              number_i32(bind->arena, node, "y_shift", norm.shift + QNN_NORM_BITS));
    bind_out_zero(bind, &scales);
    bind_out_type(bind);
    bind_helper(bind, "inverse_root");
    bind_helper(bind, "shift_to_nearest");
}

static bool bind_qnn_layer_norm(struct bind *bind)
{
    const struct type *x = anchor_input(bind->region, 0);
    const int axis = type_axis(x, bind->region->anchor->attrs.norm.axis);

    bind_norm(bind);
    bind_int(bind, "rows", type_span(x, 0, axis));
    bind_int(bind, "len", type_span(x, axis, x->rank));
    return bind_epilogue_at(bind, "v", "at");
}

bool bind_norm_groups(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct type x = norm_first(node, anchor_input(bind->region, 0));
    const bool last = norm_is_last(node);
    const int64_t groups = node->op == OP_QNN_GROUP_NORM ? node->attrs.norm.groups : x.dim[1];
    struct position position;

    bind_int(bind, "batch", x.dim[0]);
    bind_int(bind, "groups", groups);
    bind_int(bind, "group_c", x.dim[1] / groups);
    bind_int(bind, "plane", type_span(&x, 2, x.rank));
    bind_text(bind, "group", x.dim[0] > 1 ? "g %% GROUPS" : "g");
    bind_flag(bind, "last", last);
    bind_text(bind, "start",
              !last          ? "g * LEN"
              : x.dim[0] > 1 ? "(g / GROUPS * PLANE * CHANNELS + g %% GROUPS * GROUP_C)"
                             : "g * GROUP_C");
    position_by_division(bind, "at", &position);
    if (x.dim[1] > 1)
        position.coord[last ? x.rank - 1 : 1] = "c";
    return bind_epilogue(bind, "v", &position);
}

static bool bind_qnn_group_norm(struct bind *bind)
{
    bind_norm(bind);
    return bind_norm_groups(bind);
}

/* The zero point of x as a suffix of an element, " - x_zero" or ""; and the factor of the result. */
static void bind_rescaled(struct bind *bind, const struct qnn_scales *scales,
                          struct fixed_point factor)
{
    const int64_t zero = scales->in_zero;
    const struct node *node = bind->region->anchor;

    bind_text(bind, "minus_zero", "%s", minus_number(bind->arena, "", node, "x_zero", zero));
    bind_text(bind, "factor", "%s, %s",
              number_i32(bind->arena, node, "y_multiplier", factor.multiplier),
              number_i32(bind->arena, node, "y_shift", factor.shift));
    bind_out_zero(bind, scales);
    bind_out_type(bind);
    bind_helper(bind, "requantize_once");
    bind_helper(bind, "shift_to_nearest");
}

static bool bind_qnn_lp_normalize(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct lp_normalize_attrs *attrs = &node->attrs.lp_normalize;
    const struct qnn_scales scales = known_qnn_scales(node);
    const struct type *x = anchor_input(bind->region, 0);
    const bool strided = type_span(x, (int)attrs->axis + 1, x->rank) > 1;

    bind_type(bind);
    bind_input(bind, "x", 0);
    bind_axis(bind, attrs->axis);
    bind_int(bind, "p", attrs->p);
    bind_flag(bind, "p1", attrs->p == 1);
    bind_flag(bind, "p2", attrs->p == 2);
    bind_text(bind, "at", "%s", strided ? "(outer * LEN + i) * INNER + inner" : "outer * LEN + i");
    bind_int(bind, "less", QNN_SHARE_BITS);
    bind_rescaled(bind, &scales, qnn_share_factor_of(scales.out_scale));
    if (attrs->p == 2)
        bind_helper(bind, "inverse_root");
    return bind_epilogue_at(bind, "v", "at");
}

void bind_lrn_powers(struct bind *bind, const struct qnn_lrn_powers *lrn)
{
    const char *name = bind->region->anchor->outputs[0]->name;
    uint32_t *powers = table_new(bind, DTYPE_U32, QNN_VALUES + 1);
    uint32_t *exponents = table_new(bind, DTYPE_U32, QNN_LRN_EXPONENTS);

    memcpy(powers, lrn->powers, sizeof lrn->powers);
    memcpy(exponents, lrn->exponents, sizeof lrn->exponents);
    bind_int(bind, "unit", lrn->unit);
    bind_text(bind, "step", "%s",
              number_u64(bind->arena, bind->region->anchor, "step_of_sum", lrn->step));
    bind_table(bind, "powers", arena_printf(bind->arena, "%s_powers", name), DTYPE_U32,
               QNN_VALUES + 1, powers);
    bind_table(bind, "exponents", arena_printf(bind->arena, "%s_exponents", name), DTYPE_U32,
               QNN_LRN_EXPONENTS, exponents);
    bind_helper(bind, "power_of_sum");
}

static bool bind_qnn_lrn(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct lrn_attrs *attrs = &node->attrs.lrn;
    const struct qnn_scales scales = known_qnn_scales(node);
    const struct qnn_lrn_powers lrn =
        qnn_lrn_powers_of(attrs, scales.in_scale, qnn_lrn_reach(node->inputs[0]->type.dtype));

    bind_lrn_places(bind);
    bind_lrn_powers(bind, &lrn);
    bind_int(bind, "less", 31 - QNN_LRN_BITS);
    bind_rescaled(bind, &scales, qnn_lrn_factor_of(attrs, &scales));
    return bind_epilogue_at(bind, "v", "at");
}

const struct kernel kernel_qnn_group_norm = {
    .name = "qnn_group_norm",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { OPS(OP_QNN_GROUP_NORM, OP_QNN_INSTANCE_NORM), accepts_qnn_norm,
                 bind_qnn_group_norm } },
};

const struct kernel kernel_qnn_layer_norm = {
    .name = "qnn_layer_norm",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { OPS(OP_QNN_LAYER_NORM), accepts_qnn_norm, bind_qnn_layer_norm } },
};

const struct kernel kernel_qnn_log_softmax = {
    .name = "qnn_log_softmax",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { OPS(OP_QNN_LOG_SOFTMAX), accepts_qnn_softmax, bind_qnn_log_softmax } },
};

const struct kernel kernel_qnn_lp_normalize = {
    .name = "qnn_lp_normalize",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { OPS(OP_QNN_LP_NORMALIZE), accepts_qnn_norm, bind_qnn_lp_normalize } },
};

const struct kernel kernel_qnn_l2_normalize = {
    .name = "qnn_l2_normalize",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { OPS(OP_QNN_L2_NORMALIZE), accepts_qnn_l2_normalize, bind_qnn_l2_normalize } },
};

const struct kernel kernel_qnn_lrn = {
    .name = "qnn_lrn",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_QNN_LRN), accepts_qnn_norm, bind_qnn_lrn } },
};

const struct kernel kernel_qnn_softmax = {
    .name = "qnn_softmax",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { OPS(OP_QNN_SOFTMAX), accepts_qnn_softmax, bind_qnn_softmax } },
};

const struct kernel kernel_qnn_softmax_powers = {
    .name = "qnn_softmax_powers",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { OPS(OP_QNN_SOFTMAX_POWERS), accepts_qnn_softmax_powers,
                 bind_qnn_softmax_powers } },
};
