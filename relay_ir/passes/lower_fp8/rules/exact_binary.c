/* exact_binary.c - sums, differences, products and quotients of FP8 numbers that are encoded again.
 * Bounds (relu, clip) between them and the encoder become a table of quantised values: encoding is monotonous,
 * so that it does not matter which comes first. */
#include <math.h>

#include "relay_ir/ops/exact.h"
#include "relay_ir/passes/lower/exact.h"

static double least_step(const struct small *small)
{
    return ldexp(small->scale, exact_unit(small->format));
}

/* The multiplier of the operand with the smaller steps must keep 16 bits. */
static bool add_is_fine(const struct small *a, const struct small *b)
{
    const double ratio = least_step(a) / least_step(b);

    return ratio <= 0x1p15 && ratio >= 0x1p-15;
}

static bool scales_are_fine(enum op op, const struct small *a, const struct small *b,
                            const struct small *out)
{
    double factor = a->scale * b->scale / out->scale;

    if (op == OP_ADD || op == OP_SUBTRACT)
        factor = fmax(a->scale, b->scale) / out->scale;
    else if (op == OP_DIVIDE)
        factor = a->scale / b->scale / out->scale;
    return factor >= 0x1p-60 && factor <= 0x1p30 &&
           (op == OP_MULTIPLY || op == OP_DIVIDE || add_is_fine(a, b));
}

static enum op exact_op(enum op op)
{
    switch (op) {
    case OP_ADD: return OP_QNN_ADD;
    case OP_DIVIDE: return OP_QNN_DIV;
    case OP_MULTIPLY: return OP_QNN_MUL;
    case OP_SUBTRACT: return OP_QNN_SUBTRACT;
    default: return OP_COUNT;
    }
}

/* encode(add, subtract, multiply or divide of decode(a) and decode(b)) -> qnn.add ...; each of any
 * format */
struct value *exact_binary(struct rewrite *rewrite, struct node *root)
{
    const struct node *node, *a_node, *b_node;
    struct small a, b;
    struct exact_behind behind;
    struct value *y;

    if (!exact_find_behind(rewrite, root, &behind))
        return NULL;
    node = behind.value->def;
    if (exact_op(node->op) == OP_COUNT)
        return NULL;
    a_node = decoder_of(rewrite, node->inputs[0], &a);
    b_node = decoder_of(rewrite, node->inputs[1], &b);
    if (!a_node || !b_node || !scales_are_fine(node->op, &a, &b, &behind.out))
        return NULL;
    rule_covers(rewrite, a_node);
    rule_covers(rewrite, b_node);
    rule_covers(rewrite, node);
    y = rule_build(rewrite, exact_op(node->op), NULL, 8,
                   (struct value *[]){
                       a_node->inputs[0], b_node->inputs[0], scale_operand(rewrite, a.scale),
                       zero_operand(rewrite, a.dtype), scale_operand(rewrite, b.scale),
                       zero_operand(rewrite, b.dtype), scale_operand(rewrite, behind.out.scale),
                       zero_operand(rewrite, behind.out.dtype) });
    return exact_bounded(rewrite, &behind, root, y);
}
