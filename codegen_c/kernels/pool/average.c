/* average.c - see average.h. */
#include "codegen_c/kernels/pool/average.h"

#include <inttypes.h>

#include "codegen_c/core/anchor.h"
#include "codegen_c/core/number.h"
#include "codegen_c/expr/exact_steps.h"
#include "codegen_c/expr/scalar_exact.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/walk.h"

bool takes_qnn_scales(const struct region *region, int64_t n, const char **why)
{
    const struct node *node = region->anchor;
    const int64_t levels = (int64_t)1 << 8 * dtype_bytes(anchor_input(region, 0)->dtype);

    for (int i = 1; i < node->n_inputs; i++)
        if (node->inputs[i]->kind != VALUE_CONSTANT) {
            *why = "a scale or zero point is not known at compile time";
            return false;
        }
    if (type_minifloat(anchor_input(region, 0)) || n <= INT32_MAX / levels)
        return true;
    *why = "a sum may leave 32 bits";
    return false;
}

struct qnn_scales known_qnn_scales(const struct node *node)
{
    struct tensor tensors[5];
    const struct tensor *in[5];

    for (int i = 1; i < 5; i++) {
        tensors[i] = value_tensor(node->inputs[i]);
        in[i] = &tensors[i];
    }
    return qnn_scales_of(in);
}

struct fixed_point average_factor(const struct node *node, int64_t n)
{
    const struct minifloat *from = type_minifloat(&node->inputs[0]->type);
    const struct qnn_scales scales = known_qnn_scales(node);
    struct exact_factor factor;

    if (node->op == OP_QNN_MEAN_DOUBLE)
        return qnn_mean_double_of(&scales, n);
    if (!from)
        return qnn_average_factor_of(&scales, n);
    factor = exact_average_of(from, scales.in_scale, type_minifloat(&node->outputs[0]->type),
                              scales.out_scale, n);
    return (struct fixed_point){ factor.multiplier, factor.shift };
}

const char *bind_average_sum(struct bind *bind, int64_t n)
{
    const struct minifloat *from = type_minifloat(anchor_input(bind->region, 0));
    const bool fits = !from || exact_greatest(from) <= INT32_MAX / (n > 0 ? n : 1);

    bind_flag(bind, "exact", from != NULL);
    if (from)
        bind_steps(bind, "x_steps", 0);
    return fits ? "int32_t" : "int64_t";
}

static enum dtype out_dtype(const struct bind *bind)
{
    return anchor_output(bind->region, 0)->dtype;
}

/* " + y_zero", or "". */
static const char *plus(struct bind *bind, int64_t number)
{
    return plus_number(bind->arena, "", bind->region->anchor, "y_zero", number);
}

const char *plain_average(struct bind *bind, const char *sum, int64_t n, const char *many)
{
    const int64_t zero = known_qnn_scales(bind->region->anchor).out_zero;

    if (!many && n == 0)
        return number_i32(bind->arena, bind->region->anchor, "y_zero", zero);
    bind_helper(bind, "average");
    return arena_printf(bind->arena, "(%s)(average(%s, %s)%s)", dtype_c_type(out_dtype(bind)), sum,
                        many ? many : arena_printf(bind->arena, "%" PRId64, n), plus(bind, zero));
}

const char *rescaled_sum_by(struct bind *bind, const char *sum, const char *multiplier,
                            const char *shift)
{
    const struct minifloat *to = type_minifloat(anchor_output(bind->region, 0));
    const int64_t zero = known_qnn_scales(bind->region->anchor).out_zero;
    const bool twice = bind->region->anchor->op == OP_QNN_MEAN_DOUBLE;

    if (to) {
        bind_helper(bind, "scale_to_minifloat");
        return arena_printf(bind->arena, "scale_to_minifloat(%s, %s, %s, %s)", sum, multiplier,
                            shift, exact_format_text(bind->arena, to));
    }
    bind_helper(bind, twice ? "requantize" : "requantize_once");
    bind_helper(bind, "saturate_int");
    return arena_printf(
        bind->arena, "(%s)saturate_int((int64_t)%s(%s, %s, %s)%s, %" PRId64 ", %" PRId64 ")",
        dtype_c_type(out_dtype(bind)), twice ? "requantize" : "requantize_once", sum, multiplier,
        shift, plus(bind, zero), (int64_t)dtype_least(out_dtype(bind)),
        (int64_t)dtype_greatest(out_dtype(bind)));
}

const char *rescaled_sum(struct bind *bind, const char *sum, struct fixed_point factor)
{
    return rescaled_sum_by(
        bind, sum, number_i32(bind->arena, bind->region->anchor, "y_multiplier", factor.multiplier),
        number_i32(bind->arena, bind->region->anchor, "y_shift", factor.shift));
}
