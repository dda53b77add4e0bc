/* scalar_exact.c - see scalar_exact.h. */
#include "codegen_c/expr/scalar_exact.h"

#include <math.h>
#include <string.h>

#include "base/minifloat.h"
#include "codegen_c/core/number.h"

bool is_exact(const struct node *node)
{
    const struct type *y = &node->outputs[0]->type;

    if (node->op == OP_QNN_REQUANTIZE && y->dtype == DTYPE_I64)
        return true;
    return (node->op == OP_QNN_REQUANTIZE || node->op == OP_QNN_ADD || node->op == OP_QNN_DIV ||
            node->op == OP_QNN_MUL || node->op == OP_QNN_SUBTRACT) &&
           type_minifloat(y);
}

static double real_of(const struct node *node, int input, int64_t i)
{
    const struct tensor tensor = value_tensor(node->inputs[input]);

    return tensor_at(&tensor, i);
}

static bool known(const struct node *node, int from)
{
    for (int i = from; i < node->n_inputs; i++)
        if (node->inputs[i]->kind != VALUE_CONSTANT)
            return false;
    return true;
}

const char *exact_format_text(struct arena *arena, const struct minifloat *format)
{
    return arena_printf(arena, "%d, %uu, %uu", format->mantissa_bits,
                        minifloat_encode(format, INFINITY, true), minifloat_sign(format));
}

static const char *format_text(struct arena *arena, const struct node *node)
{
    return exact_format_text(arena, type_minifloat(&node->outputs[0]->type));
}

struct exact_factor exact_channel_factor(const struct node *node, int64_t channel)
{
    const int64_t n = type_elements(&node->inputs[1]->type);

    return exact_requantize_of(type_minifloat(&node->outputs[0]->type),
                               real_of(node, 1, n == 1 ? 0 : channel), real_of(node, 3, 0));
}

/* Whether all channels share one factor. */
static bool one_factor(const struct node *node)
{
    const int64_t n = type_elements(&node->inputs[1]->type);

    for (int64_t i = 1; i < n; i++) {
        const struct exact_factor a = exact_channel_factor(node, 0);
        const struct exact_factor b = exact_channel_factor(node, i);

        if (a.multiplier != b.multiplier || a.shift != b.shift)
            return false;
    }
    return n > 0;
}

/* "y_multiplier, y_shift" */
static const char *factor_text(struct arena *arena, const struct node *node, const char *of,
                               struct exact_factor factor)
{
    return arena_printf(
        arena, "%s, %s",
        number_i32(arena, node, arena_printf(arena, "%s_multiplier", of), factor.multiplier),
        number_i32(arena, node, arena_printf(arena, "%s_shift", of), factor.shift));
}

static const char *requantize_text(struct arena *arena, const struct node *node, const char **needs)
{
    const bool whole = node->outputs[0]->type.dtype == DTYPE_I64;
    const char *factor = "$A, $B", *format = "";

    if (!known(node, 1))
        return NULL;
    *needs = whole ? "scale_to_i64" : "scale_to_minifloat";
    if (!whole)
        format = arena_printf(arena, ", %s", format_text(arena, node));
    if (one_factor(node))
        factor = factor_text(arena, node, "y", exact_channel_factor(node, 0));
    return arena_printf(arena, "%s($a, %s%s)", *needs, factor, format);
}

enum { A_SCALE = 2, B_SCALE = 4, OUT_SCALE = 6 };

/* An operand, "$a" or "$b", in steps of its format. */
static const char *steps_text(struct arena *arena, const char *operand,
                              const struct minifloat *format)
{
    return arena_printf(arena, "minifloat_steps(%s, %s)", operand,
                        exact_format_text(arena, format));
}

static const char *mul_text(struct arena *arena, const struct node *node, const char **needs)
{
    const struct exact_formats formats = exact_formats_of(node);
    struct exact_factor factor;

    if (!known(node, A_SCALE))
        return NULL;
    *needs = "minifloat_steps scale_to_minifloat";
    factor = exact_mul_of(&formats, real_of(node, A_SCALE, 0), real_of(node, B_SCALE, 0),
                          real_of(node, OUT_SCALE, 0));
    return arena_printf(arena, "scale_to_minifloat((int64_t)%s * %s, %s, %s)",
                        steps_text(arena, "$a", formats.a), steps_text(arena, "$b", formats.b),
                        factor_text(arena, node, "y", factor), format_text(arena, node));
}

static const char *add_text(struct arena *arena, const struct node *node, const char **needs)
{
    const struct exact_formats formats = exact_formats_of(node);
    struct exact_add add;

    if (!known(node, A_SCALE))
        return NULL;
    *needs = "minifloat_steps sum_to_minifloat";
    add = exact_add_of(node->op, &formats, real_of(node, A_SCALE, 0), real_of(node, B_SCALE, 0),
                       real_of(node, OUT_SCALE, 0));
    return arena_printf(arena, "sum_to_minifloat((int64_t)%s * %s + (int64_t)%s * %s, %s, %s)",
                        steps_text(arena, "$a", formats.a),
                        number_i32(arena, node, "a_multiplier", add.a_multiplier),
                        steps_text(arena, "$b", formats.b),
                        number_i32(arena, node, "b_multiplier", add.b_multiplier),
                        number_i32(arena, node, "y_shift", add.shift), format_text(arena, node));
}

static const char *div_text(struct arena *arena, const struct node *node, const char **needs)
{
    const struct exact_formats formats = exact_formats_of(node);

    if (!known(node, A_SCALE))
        return NULL;
    *needs = "minifloat_steps divide_minifloat";
    return arena_printf(arena, "divide_minifloat(%s, $A[$b], $B[$b], %s)",
                        steps_text(arena, "$a", formats.a), format_text(arena, node));
}

void exact_div_tables(struct bind *bind, const struct node *node, struct value *tables[2])
{
    enum { CODES = 256 };
    const int64_t n = CODES;
    const struct type multiplier = type_make(DTYPE_I32, 1, &n), shift = type_make(DTYPE_I8, 1, &n);
    struct function *fn = bind->region->fn;
    int32_t *multipliers = constant_alloc(fn, &multiplier);
    int8_t *shifts = constant_alloc(fn, &shift);
    const char *name = node->outputs[0]->name;
    const struct exact_formats formats = exact_formats_of(node);
    struct exact_div div;

    exact_div_of(&formats, real_of(node, A_SCALE, 0), real_of(node, B_SCALE, 0),
                 real_of(node, OUT_SCALE, 0), &div);
    memcpy(multipliers, div.multiplier, sizeof div.multiplier);
    memcpy(shifts, div.shift, sizeof div.shift);
    tables[0] = constant_new(fn, arena_printf(bind->arena, "%s_multiplier", name), &multiplier,
                             multipliers);
    tables[1] = constant_new(fn, arena_printf(bind->arena, "%s_shift", name), &shift, shifts);
}

const char *exact_text(struct arena *arena, const struct node *node, const char **needs)
{
    switch (node->op) {
    case OP_QNN_ADD:
    case OP_QNN_SUBTRACT: return add_text(arena, node, needs);
    case OP_QNN_DIV: return div_text(arena, node, needs);
    case OP_QNN_MUL: return mul_text(arena, node, needs);
    default: return requantize_text(arena, node, needs);
    }
}
