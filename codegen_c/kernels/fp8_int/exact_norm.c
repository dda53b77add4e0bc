/* exact_norm.c - normalisations, lp_normalize and lrn of integer-accumulated FP8
 * (relay_ir/ops/exact.h). */
#include <inttypes.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/expr/exact_steps.h"
#include "codegen_c/expr/scalar_exact.h"
#include "codegen_c/kernels/norm/norm.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/ops/norm.h"
#include "relay_ir/walk.h"

enum { X, IN_SCALE, OUT_SCALE = 3, SCALE = 5, BIAS };

static bool accepts_exact_norm(const struct region *region, const char **why)
{
    *why = "the operands are not floats of 8 bits with known scales";
    if (!type_minifloat(anchor_input(region, X)) || !takes_sizes(region, why))
        return false;
    for (int i = 1; i < region->anchor->n_inputs; i++)
        if (region->anchor->inputs[i]->kind != VALUE_CONSTANT)
            return false;
    return true;
}

/* The formats of x and y. */
static const struct minifloat *from_of(const struct bind *bind)
{
    return type_minifloat(anchor_input(bind->region, X));
}

static const struct minifloat *to_of(const struct bind *bind)
{
    return type_minifloat(anchor_output(bind->region, 0));
}

static double real_of(const struct bind *bind, int input)
{
    const struct tensor tensor = value_tensor(bind->region->anchor->inputs[input]);

    return tensor_at(&tensor, 0);
}

/* --- norms ------------------------------------------------------------------------------------ */

/* A constant vector, in least steps of the result by 2^shift. */
static void bind_vector(struct bind *bind, const char *key, const struct tensor *vector,
                        double out_scale, int shift)
{
    const int64_t n = type_elements(&vector->type);
    int32_t *steps = table_new(bind, DTYPE_I32, n);

    for (int64_t i = 0; i < n; i++)
        steps[i] = exact_norm_steps(to_of(bind), tensor_at(vector, i), out_scale, shift);
    bind_table(bind, key,
               arena_printf(bind->arena, "%s_%s", bind->region->anchor->outputs[0]->name, key),
               DTYPE_I32, n, steps);
}

/* The type of sums, and of distances from a mean times the number of elements: 32 bits if they
 * fit. */
static const char *sum_type(const struct bind *bind, int64_t len)
{
    return exact_greatest(from_of(bind)) <= INT32_MAX / (2 * len) ? "int32_t" : "int64_t";
}

static void bind_numbers(struct bind *bind, int64_t len)
{
    const struct node *node = bind->region->anchor;
    const double out_scale = real_of(bind, OUT_SCALE);
    const bool biased = node->n_inputs > BIAS;
    const struct tensor scale = value_tensor(node->inputs[SCALE]);
    const struct tensor bias = biased ? value_tensor(node->inputs[BIAS]) : scale;
    const struct exact_norm norm =
        exact_norm_of(from_of(bind), real_of(bind, IN_SCALE), to_of(bind), out_scale,
                      node->attrs.norm.epsilon, len, &scale, biased ? &bias : NULL);

    bind_text(bind, "tsum", "%s", sum_type(bind, len));
    bind_flag(bind, "biased", biased);
    bind_vector(bind, "scale", &scale, out_scale, norm.shift);
    if (biased) {
        bind_vector(bind, "bias", &bias, out_scale, norm.shift);
        bind_text(bind, "one", "INT64_C(%" PRId64 ")", (int64_t)1 << norm.fraction);
    }
    bind_text(bind, "epsilon", "UINT64_C(%" PRIu64 "), %d", norm.epsilon, norm.exponent);
    bind_int(bind, "fraction", norm.fraction);
    bind_int(bind, "steps", norm.shift);
    bind_text(bind, "format", "-%d, %s", norm.shift + norm.fraction,
              exact_format_text(bind->arena, to_of(bind)));
}

/* x [blocks, len]; of groups: [batch, groups, channels of a group, plane] */
static bool bind_exact_norm(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct type *x = anchor_input(bind->region, X);
    const struct type first = norm_first(node, x);
    const int64_t len = norm_blocks_of(node, &first).size;
    const bool grouped = node->op != OP_QNN_LAYER_NORM;

    bind_type(bind);
    bind_input(bind, "x", X);
    bind_steps(bind, "x_steps", X);
    bind_numbers(bind, len);
    bind_helper(bind, "inverse_deviation");
    bind_helper(bind, "scale_to_i64");
    bind_helper(bind, "sum_to_minifloat");
    bind_flag(bind, "grouped", grouped);
    bind_text(bind, "block", grouped ? "group of an image's channels" : "row");
    bind_text(bind, "c", grouped ? "c" : "i");
    if (!grouped) {
        bind_flag(bind, "last", false);
        bind_text(bind, "start", "g * LEN");
        bind_int(bind, "blocks", len ? type_elements(x) / len : 0);
        bind_int(bind, "len", len);
        return bind_epilogue_at(bind, "v", "at");
    }
    return bind_norm_groups(bind);
}

/* --- lp_normalize, lrn ------------------------------------------------------------------------ */

static bool bind_exact_lp_normalize(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct lp_normalize_attrs *attrs = &node->attrs.lp_normalize;
    const struct exact_factor share = exact_share_of(to_of(bind), real_of(bind, OUT_SCALE));
    const struct type *x = anchor_input(bind->region, X);
    const bool strided = type_span(x, (int)attrs->axis + 1, x->rank) > 1;

    bind_type(bind);
    bind_input(bind, "x", X);
    bind_steps(bind, "x_steps", X);
    bind_axis(bind, attrs->axis);
    bind_int(bind, "p", attrs->p);
    bind_flag(bind, "p1", attrs->p == 1);
    bind_flag(bind, "p2", attrs->p == 2);
    bind_text(bind, "at", "%s", strided ? "(outer * LEN + i) * INNER + inner" : "outer * LEN + i");
    bind_int(bind, "multiplier", share.multiplier);
    bind_int(bind, "share", share.shift + 31);
    bind_text(bind, "format", "%s", exact_format_text(bind->arena, to_of(bind)));
    bind_helper(bind, attrs->p == 1 ? "inverse_of" : "inverse_root");
    bind_helper(bind, "sum_to_minifloat");
    return bind_epilogue_at(bind, "v", "at");
}

static bool bind_exact_lrn(struct bind *bind)
{
    const struct node *node = bind->region->anchor;
    const struct qnn_lrn_powers lrn =
        exact_lrn_of(&node->attrs.lrn, from_of(bind), real_of(bind, IN_SCALE));
    const struct exact_factor factor =
        exact_lrn_factor(&node->attrs.lrn, from_of(bind), real_of(bind, IN_SCALE), to_of(bind),
                         real_of(bind, OUT_SCALE));

    bind_lrn_places(bind);
    bind_steps(bind, "x_steps", X);
    bind_lrn_powers(bind, &lrn);
    bind_text(bind, "factor", "%" PRId32 ", %d, %s", factor.multiplier, factor.shift,
              exact_format_text(bind->arena, to_of(bind)));
    bind_helper(bind, "scale_to_minifloat");
    return bind_epilogue_at(bind, "v", "at");
}

const struct kernel kernel_exact_norm = {
    .name = "exact_norm",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { OPS(OP_QNN_GROUP_NORM, OP_QNN_INSTANCE_NORM, OP_QNN_LAYER_NORM),
                 accepts_exact_norm, bind_exact_norm } },
};

const struct kernel kernel_exact_lp_normalize = {
    .name = "exact_lp_normalize",
    .sums = SUMS_NONE,
    .in_place = true,
    .forms = { { OPS(OP_QNN_LP_NORMALIZE), accepts_exact_norm, bind_exact_lp_normalize } },
};

const struct kernel kernel_exact_lrn = {
    .name = "exact_lrn",
    .sums = SUMS_NONE,
    .forms = { { OPS(OP_QNN_LRN), accepts_exact_norm, bind_exact_lrn } },
};
