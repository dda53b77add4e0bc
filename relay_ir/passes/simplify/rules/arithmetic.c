/* arithmetic.c - sums, products, powers: one form for what is written in several ways. */
#include <math.h>
#include <stdlib.h>

#include "relay_ir/ops/ops.h"
#include "relay_ir/passes/rules.h"

static bool is_float(const struct node *node)
{
    return dtype_is_float(node->outputs[0]->type.dtype);
}

/* The operand, when it alone has shape and type of the result. */
static struct value *if_alone(struct node *root, struct value *operand)
{
    return type_same_storage(&operand->type, &root->outputs[0]->type) ? operand : NULL;
}

/* f(c, x) -> f(x, c) for commutative f: patterns look on the right. */
struct value *constant_to_right(struct rewrite *rewrite, struct node *root)
{
    struct value *x;
    struct value *const c = constant_side(root, &x);

    if (c != root->inputs[0])
        return NULL;
    return rule_build2(rewrite, root->op, NULL, x, c);
}

/* A constant whose elements are f(element) of another. */
static struct value *map_constant(struct rewrite *rewrite, struct value *from, double (*f)(double))
{
    void *data = constant_alloc(rewrite->fn, &from->type);

    for (int64_t i = 0; i < type_elements(&from->type); i++)
        dtype_store(from->type.dtype, data, i, f(dtype_load(from->type.dtype, from->data, i)));
    return rule_constant_like(rewrite, from, &from->type, data);
}

static double negate(double x)
{
    return -x;
}

static double invert(double x)
{
    return 1 / x;
}

/* x - c -> x + (-c), which is the same number in IEEE arithmetic */
struct value *subtract_to_add(struct rewrite *rewrite, struct node *root)
{
    if (!is_float(root) || root->inputs[1]->kind != VALUE_CONSTANT)
        return NULL;
    return rule_build2(rewrite, OP_ADD, NULL, root->inputs[0],
                       map_constant(rewrite, root->inputs[1], negate));
}

/* Whether every element is a power of two whose inverse is a normal number of the type: dividing
 * by it and multiplying with the inverse round alike. */
static bool has_exact_inverse(const struct value *value)
{
    const struct type *type = &value->type;

    for (int64_t i = 0; i < type_elements(type); i++) {
        const double x = dtype_load(type->dtype, value->data, i);
        int exponent;

        if (!isfinite(x) || fabs(frexp(x, &exponent)) != 0.5 || abs(exponent) > 13)
            return false;
    }
    return true;
}

/* x / c -> x * (1 / c) where that is exact */
struct value *divide_to_multiply(struct rewrite *rewrite, struct node *root)
{
    if (!is_float(root) || root->inputs[1]->kind != VALUE_CONSTANT ||
        !has_exact_inverse(root->inputs[1]))
        return NULL;
    return rule_build2(rewrite, OP_MULTIPLY, NULL, root->inputs[0],
                       map_constant(rewrite, root->inputs[1], invert));
}

/* x * 0 -> 0 of integers, whose 0 is that of all numbers */
struct value *multiply_zero(struct rewrite *rewrite, struct node *root)
{
    struct value *const zero = root->inputs[1];

    (void)rewrite;
    return dtype_is_integer(root->outputs[0]->type.dtype) && is_number(zero, 0) &&
                   type_same_storage(&zero->type, &root->outputs[0]->type)
               ? zero
               : NULL;
}

/* x + 0 -> x; -0 + 0 would be +0, which compares equal. */
struct value *drop_add_zero(struct rewrite *rewrite, struct node *root)
{
    (void)rewrite;
    return is_number(root->inputs[1], 0) ? if_alone(root, root->inputs[0]) : NULL;
}

/* x * 1, x / 1 -> x */
struct value *drop_multiply_one(struct rewrite *rewrite, struct node *root)
{
    (void)rewrite;
    return is_number(root->inputs[1], 1) ? if_alone(root, root->inputs[0]) : NULL;
}

/* power(x, 1) -> x */
struct value *drop_power_one(struct rewrite *rewrite, struct node *root)
{
    (void)rewrite;
    return is_number(root->inputs[1], 1) ? if_alone(root, root->inputs[0]) : NULL;
}

/* power(x, 2) -> x * x. Powers of 0.5 stay: sqrt differs at -0 and at minus infinity. */
struct value *power_to_multiply(struct rewrite *rewrite, struct node *root)
{
    struct value *const x = root->inputs[0];

    if (!is_float(root) || !is_number(root->inputs[1], 2) || !if_alone(root, x))
        return NULL;
    return rule_build2(rewrite, OP_MULTIPLY, NULL, x, x);
}

/* -(-x) -> x */
struct value *double_negative(struct rewrite *rewrite, struct node *root)
{
    const struct node *inner = defined_by(root->inputs[0], OP_NEGATIVE);

    (void)rewrite;
    return inner ? inner->inputs[0] : NULL;
}

/* x + (-y) -> x - y */
struct value *add_negative(struct rewrite *rewrite, struct node *root)
{
    for (int i = 0; i < 2; i++) {
        const struct node *minus = only_defined_by(root->inputs[i], OP_NEGATIVE);

        if (!minus)
            continue;
        rule_covers(rewrite, minus);
        return rule_build2(rewrite, OP_SUBTRACT, NULL, root->inputs[1 - i], minus->inputs[0]);
    }
    return NULL;
}

/* x - (-y) -> x + y */
struct value *subtract_negative(struct rewrite *rewrite, struct node *root)
{
    const struct node *minus = only_defined_by(root->inputs[1], OP_NEGATIVE);

    if (!minus)
        return NULL;
    rule_covers(rewrite, minus);
    return rule_build2(rewrite, OP_ADD, NULL, root->inputs[0], minus->inputs[0]);
}

/* Whether the node's result keeps its shape when input `i` has another type. */
static bool broadcasts_anyway(const struct node *node, int i, const struct type *type)
{
    struct type shape = *type;

    for (int j = 0; j < node->n_inputs; j++)
        if (j != i && !shape_broadcast(&shape, &node->inputs[j]->type, &shape))
            return false;
    return type_same_shape(&shape, &node->outputs[0]->type);
}

/* f(broadcast_to(x), y) -> f(x, y): element-wise operators broadcast by themselves. */
struct value *drop_broadcast_operand(struct rewrite *rewrite, struct node *root)
{
    struct value *inputs[3];

    if (op_row(root->op)->pattern != PATTERN_BROADCAST || root->op == OP_BIAS_ADD ||
        root->op == OP_PRELU || root->n_inputs > 3)
        return NULL;
    for (int i = 0; i < root->n_inputs; i++) {
        const struct node *widened = defined_by(root->inputs[i], OP_BROADCAST_TO);

        if (!widened || !broadcasts_anyway(root, i, &widened->inputs[0]->type))
            continue;
        for (int j = 0; j < root->n_inputs; j++)
            inputs[j] = j == i ? widened->inputs[0] : root->inputs[j];
        rule_covers(rewrite, widened);
        return rule_build(rewrite, root->op, &root->attrs, root->n_inputs, inputs);
    }
    return NULL;
}

/* where(all true or all false, x, y) -> x or y; likewise if; if(c, x, x) -> x */
struct value *select_branch(struct rewrite *rewrite, struct node *root)
{
    (void)rewrite;
    if (is_number(root->inputs[0], 1) || (root->op == OP_IF && root->inputs[1] == root->inputs[2]))
        return if_alone(root, root->inputs[1]);
    return is_number(root->inputs[0], 0) ? if_alone(root, root->inputs[2]) : NULL;
}

/* if(not c, x, y) -> if(c, y, x): conditions that are one another's opposite become one. */
struct value *choose_the_other(struct rewrite *rewrite, struct node *root)
{
    const struct node *opposite = defined_by(root->inputs[0], OP_LOGICAL_NOT);

    if (!opposite)
        return NULL;
    rule_covers(rewrite, opposite);
    return rule_build3(rewrite, OP_IF, NULL, opposite->inputs[0], root->inputs[2], root->inputs[1]);
}
