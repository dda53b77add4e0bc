/* convert_binary.c - comparisons and logic; DIV, FLOOR_DIV, FLOOR_MOD, POW, SQUARED_DIFFERENCE, PRELU, ADD_N. */
#include <math.h>

#include "frontend/tflite/convert_compose.h"
#include "relay_ir/ops/qnn.h"

static struct value *of_both(struct tfl_node *node, enum op op, const char *suffix)
{
    return tfl_two(node, op, suffix, tfl_value(node, 0), tfl_value(node, 1));
}

static bool same_types(struct tfl_node *node)
{
    return tfl_check_type(node, node->inputs[1], node->inputs[0]->type.dtype);
}

static bool is_real(const struct tfl_node *node)
{
    return node->inputs[0]->type.dtype == DTYPE_F32;
}

/* --- comparisons and logic -------------------------------------------------------------------- */

/* The distance of a code in steps of 2^-8, rounded. */
static struct value *comparable(struct tfl_node *node, int input)
{
    return tfl_scaled(node, tfl_steps(node, input, 8, input ? "b_steps" : "a_steps"),
                      tfl_scale(node->inputs[input], 0), input ? "b" : "a");
}

bool convert_tfl_compare(struct tfl_node *node)
{
    const enum op op = (enum op)node->arg;

    if (!tfl_check(node, 2, 2, 1) || !same_types(node))
        return false;
    if (node->inputs[0]->type.dtype != DTYPE_I8)
        return tfl_output(node, 0, of_both(node, op, "y"));
    for (int i = 0; i < 2; i++) {
        if (!tfl_check_scale(node, node->inputs[i]))
            return false;
        if (tfl_scale(node->inputs[i], 0) >= 1)
            return tfl_unsupported(node, "codes with a scale of %g, expected one below 1",
                                   tfl_scale(node->inputs[i], 0));
    }
    return tfl_output(node, 0, tfl_two(node, op, "y", comparable(node, 0), comparable(node, 1)));
}

bool convert_tfl_logical(struct tfl_node *node)
{
    const int n = node->arg == OP_LOGICAL_NOT ? 1 : 2;

    if (!tfl_check(node, n, n, 1))
        return false;
    return tfl_output(node, 0,
                      n == 2 ? of_both(node, (enum op)node->arg, "y")
                             : tfl_build1(node, OP_LOGICAL_NOT, NULL, "y", tfl_value(node, 0)));
}

/* --- quotients -------------------------------------------------------------------------------- */

static bool check_numbers(struct tfl_node *node)
{
    return tfl_check(node, 2, 2, 1) && same_types(node) &&
           (tfl_is_plain(node->inputs[0]) || tfl_check_type(node, node->inputs[0], DTYPE_F32));
}

bool convert_tfl_divide(struct tfl_node *node)
{
    if (node->n_inputs == 2 && node->inputs[0] && node->inputs[0]->type.dtype == DTYPE_I8 &&
        !tfl_is_plain(node->inputs[0]))
        return tfl_check(node, 2, 2, 1) && tfl_divide_quantized(node);
    return check_numbers(node) &&
           tfl_output(node, 0, tfl_activation(node, 0, of_both(node, OP_DIVIDE, "quotient")));
}

/* Floats are divided as doubles. */
bool convert_tfl_floor_div(struct tfl_node *node)
{
    struct value *y;

    if (!check_numbers(node))
        return false;
    if (is_real(node)) {
        y = tfl_two(node, OP_DIVIDE, "quotient", tfl_cast(node, DTYPE_F64, "a", tfl_value(node, 0)),
                    tfl_cast(node, DTYPE_F64, "b", tfl_value(node, 1)));
        y = tfl_cast(node, DTYPE_F32, "floor",
                     y ? tfl_build1(node, OP_FLOOR, NULL, "whole", y) : NULL);
    } else {
        y = tfl_two(node, OP_SUBTRACT, "multiple", tfl_value(node, 0),
                    of_both(node, OP_FLOOR_MOD, "rest"));
        y = tfl_two(node, OP_DIVIDE, "floor", y, tfl_value(node, 1));
    }
    return tfl_output(node, 0, y);
}

/* FLOOR_MOD and POW. */
bool convert_tfl_plain_binary(struct tfl_node *node)
{
    return check_numbers(node) && tfl_output(node, 0, of_both(node, (enum op)node->arg, "y"));
}

/* --- squared differences ---------------------------------------------------------------------- */

/* Both operands in half of the coarser scale's steps, times 2^shift. */
static struct value *quantized_of_squares(struct tfl_node *node)
{
    const int shift = node->inputs[0]->type.dtype == DTYPE_I8 ? 7 : 0;
    const double a = tfl_scale(node->inputs[0], 0), b = tfl_scale(node->inputs[1], 0);
    const double twice = 2 * fmax(a, b);
    struct value *difference =
        tfl_two(node, OP_SUBTRACT, "difference",
                tfl_scaled(node, tfl_steps(node, 0, shift, "a_steps"), a / twice, "a"),
                tfl_scaled(node, tfl_steps(node, 1, shift, "b_steps"), b / twice, "b"));

    return tfl_quantized(node, tfl_two(node, OP_MULTIPLY, "square", difference, difference),
                         twice * twice / (ldexp(1, 2 * shift) * tfl_scale(node->outputs[0], 0)),
                         "codes");
}

bool convert_tfl_squared_difference(struct tfl_node *node)
{
    struct value *difference;

    if (!tfl_check(node, 2, 2, 1) || !same_types(node))
        return false;
    if (!is_real(node) && !tfl_is_plain(node->inputs[0]))
        return tfl_check_quantized(node) && tfl_output(node, 0, quantized_of_squares(node));
    difference = of_both(node, OP_SUBTRACT, "difference");
    return tfl_output(node, 0, tfl_two(node, OP_MULTIPLY, "square", difference, difference));
}

/* --- slopes and sums of several --------------------------------------------------------------- */

bool convert_tfl_prelu(struct tfl_node *node)
{
    struct value *steps, *up, *down;
    double in, out;

    if (!tfl_check(node, 2, 2, 1) || !same_types(node))
        return false;
    if (is_real(node))
        return tfl_output(node, 0, of_both(node, OP_PRELU, "y"));
    if (!tfl_check_type(node, node->inputs[0], DTYPE_I8) || !tfl_check_quantized(node))
        return false;
    in = tfl_scale(node->inputs[0], 0);
    out = tfl_scale(node->outputs[0], 0);
    steps = tfl_steps(node, 0, 0, "steps");
    up = tfl_quantized(node, steps, in / out, "up");
    down = tfl_quantized(
        node, tfl_two(node, OP_MULTIPLY, "products", steps, tfl_steps(node, 1, 0, "slopes")),
        in * tfl_scale(node->inputs[1], 0) / out, "down");
    return tfl_output(node, 0,
                      tfl_where(node, "codes",
                                tfl_two(node, OP_GREATER_EQUAL, "above", steps,
                                        tfl_number(node, DTYPE_I32, 0, "null")),
                                up, down));
}

/* Of quantised values in one scale: steps times 2^19, beside which the kernel adds its own zero point once. */
static struct value *sum_of_quantized(struct tfl_node *node)
{
    const double twice = 2 * tfl_scale(node->inputs[0], 0);
    struct value *sum =
        tfl_number(node, DTYPE_I32, ldexp((double)-tfl_zero(node->inputs[0]), 19), "start");

    for (int i = 0; i < node->n_inputs; i++)
        sum = tfl_two(node, OP_ADD, "sum", sum, tfl_steps(node, i, 19, "steps"));
    return tfl_quantized(node, sum, twice / (0x1p20 * tfl_scale(node->outputs[0], 0)), "codes");
}

bool convert_tfl_add_n(struct tfl_node *node)
{
    struct value *sum;

    if (!tfl_check(node, node->n_inputs > 1 ? node->n_inputs : 2, node->n_inputs, 1))
        return false;
    if (node->inputs[0]->type.dtype != DTYPE_F32) {
        if (!tfl_check_type(node, node->inputs[0], DTYPE_I8) || !tfl_check_quantized(node))
            return false;
        for (int i = 1; i < node->n_inputs; i++)
            if (!tfl_check_same_scale(node, node->inputs[0], node->inputs[i]))
                return false;
        return node->n_inputs <= 14
                   ? tfl_output(node, 0, sum_of_quantized(node))
                   : tfl_unsupported(node, "%d inputs, expected at most 14", node->n_inputs);
    }
    sum = tfl_value(node, 0);
    for (int i = 1; i < node->n_inputs; i++)
        sum = tfl_two(node, OP_ADD, "sum", sum, tfl_value(node, i));
    return tfl_output(node, 0, sum);
}
