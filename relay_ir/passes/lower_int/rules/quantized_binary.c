/* quantized_binary.c - sums, differences, products and quotients of dequantized numbers, and of
 * constants, right before a qnn.quantize. */
#include <math.h>

#include "relay_ir/ops/qnn.h"
#include "relay_ir/passes/lower/quantized.h"

/* An operand: what is stored, and what it means; or a constant of floats, which will be stored in
 * 16 bits. */
struct operand {
    struct value *value;     /* as the operator reads it */
    const struct node *node; /* the qnn.dequantize; NULL: a constant */
    struct affine affine;
    double least, greatest; /* of a constant: what is beyond gives the same results */
};

struct binary {
    const struct node *node; /* add, bias_add, subtract, multiply or divide */
    struct operand side[2];
    struct affine out;
};

static enum op integer_op(enum op op)
{
    switch (op) {
    case OP_ADD:
    case OP_BIAS_ADD: return OP_QNN_ADD;
    case OP_DIVIDE: /* by a constant; else qnn.div */
    case OP_MULTIPLY: return OP_QNN_MUL;
    case OP_SUBTRACT: return OP_QNN_SUBTRACT;
    default: return OP_COUNT;
    }
}

/* A number of a constant as the operator uses it. */
static double used_number(const struct binary *b, int side, double number)
{
    const double used = b->node->op == OP_DIVIDE && side == 1 ? 1 / number : number;

    return fmax(fmin(used, b->side[side].greatest), b->side[side].least);
}

/* A sum with what saturates whatever it is added to, -infinity of a mask say, saturates as well
 * with the nearest number that does so for all of them. */
static void find_limits(struct binary *b, int side)
{
    const struct affine *other = &b->side[1 - side].affine, *out = &b->out;
    const double least = ((double)least_stored(other->dtype) - (double)other->zero) * other->scale;
    const double greatest =
        ((double)greatest_stored(other->dtype) - (double)other->zero) * other->scale;
    const double down = (least_stored(out->dtype) - (double)out->zero - 1) * out->scale;
    const double up = (greatest_stored(out->dtype) - (double)out->zero + 1) * out->scale;
    struct operand *constant = &b->side[side];

    constant->least = -(double)INFINITY;
    constant->greatest = (double)INFINITY;
    if (integer_op(b->node->op) == OP_QNN_MUL || !b->side[1 - side].node)
        return;
    if (integer_op(b->node->op) == OP_QNN_ADD) {
        constant->least = down - greatest;
        constant->greatest = up - least;
    } else if (side == 0) { /* constant - other */
        constant->least = down + least;
        constant->greatest = up + greatest;
    } else {
        constant->least = least - up;
        constant->greatest = greatest - down;
    }
}

/* Symmetric, its greatest magnitude 32767; of the reciprocals where it divides. */
static bool find_constant(struct rewrite *rewrite, struct binary *b, int side)
{
    struct operand *operand = &b->side[side];
    struct bulk bulk = { NULL, 0 };
    struct tensor tensor;
    double greatest = 0;
    bool ok = operand->value->type.dtype == DTYPE_F32 &&
              static_tensor(rewrite, operand->value, &bulk, &tensor);

    for (int64_t i = 0; ok && i < type_elements(&operand->value->type); i++) {
        const double number = tensor_at(&tensor, i), used = used_number(b, side, number);

        ok = !isnan(number) && isfinite(used);
        greatest = fmax(greatest, fabs(used));
    }
    bulk_release(&bulk);
    operand->affine =
        (struct affine){ .dtype = DTYPE_I16, .scale = (double)(float)(greatest / INT16_MAX) };
    return ok && operand->affine.scale >= 0x1p-126;
}

/* Both operands; what is known of the one bounds a constant. */
static bool find_operands(struct rewrite *rewrite, struct binary *b)
{
    for (int side = 0; side < 2; side++) {
        b->side[side].value = b->node->inputs[side];
        b->side[side].node = dequantize_of(rewrite, b->side[side].value, &b->side[side].affine);
    }
    for (int side = 0; side < 2; side++) {
        if (b->side[side].node)
            continue;
        find_limits(b, side);
        if (!find_constant(rewrite, b, side))
            return false;
    }
    return true;
}

/* A quotient of two activations. */
static bool is_quotient(const struct binary *b)
{
    return b->node->op == OP_DIVIDE && b->side[1].node;
}

/* What a constant's 16 bits are off is at most a sixteenth of a step of a result of 8 bits, and
 * half of one of 16. One number beside a value of 8 bits is left to a table, which is exact. */
static bool constant_is_fine(const struct binary *b, int side)
{
    const struct operand *constant = &b->side[side], *other = &b->side[1 - side];
    const bool product = integer_op(b->node->op) == OP_QNN_MUL;
    const double reach = product ? (double)affine_reach(&other->affine) * other->affine.scale : 1;
    const double part = dtype_bytes(b->out.dtype) == 1 ? 16 : 2;

    if (constant->node)
        return true;
    return other->node &&
           (type_elements(&constant->value->type) > 1 || dtype_bytes(other->affine.dtype) > 1) &&
           constant->affine.scale / 2 * reach <= b->out.scale / part;
}

/* qnn.add rounds its operands in units of t / 2^shift, t twice the greater scale. Refused where
 * such a unit is more than a sixteenth of a step. */
static bool add_is_fine(const struct affine *a, const struct affine *b, const struct affine *out)
{
    const enum dtype dtype = qnn_wider(a->dtype, b->dtype);
    const int shift = qnn_add_factors_of(dtype, a->scale, b->scale, out->scale).shift;

    return 2 * fmax(a->scale, b->scale) / out->scale <= ldexp(1, shift - 4);
}

/* The product must fit into 32 bits. */
static bool mul_is_fine(const struct affine *a, const struct affine *b)
{
    return affine_reach(a) * affine_reach(b) <= INT32_MAX;
}

static bool find_binary(struct rewrite *rewrite, const struct node *root, struct binary *b)
{
    b->node = root->inputs[0]->def;
    if (!b->node || integer_op(b->node->op) == OP_COUNT ||
        !only_quantized(rewrite, root->inputs[0], root) ||
        !affine_of(rewrite, root, root->outputs[0], &b->out))
        return false;
    if (!find_operands(rewrite, b))
        return false;
    if (is_quotient(b))
        return b->side[0].node != NULL;
    return constant_is_fine(b, 0) && constant_is_fine(b, 1) &&
           (integer_op(b->node->op) == OP_QNN_MUL
                ? mul_is_fine(&b->side[0].affine, &b->side[1].affine)
                : add_is_fine(&b->side[0].affine, &b->side[1].affine, &b->out));
}

/* The shape in which it is broadcast: a bias lies along an axis. */
static struct type constant_shape(const struct binary *b, const struct type *type)
{
    const struct type *y = &b->node->outputs[0]->type;
    struct type shape = type_make(DTYPE_I16, type->rank, type->dim);

    if (b->node->op != OP_BIAS_ADD)
        return shape;
    shape.rank = y->rank - (int)b->node->attrs.axis.axis;
    for (int i = 1; i < shape.rank; i++)
        shape.dim[i] = 1;
    return shape;
}

/* What is stored of the operand. */
static struct value *stored(struct rewrite *rewrite, struct binary *b, int side)
{
    struct operand *operand = &b->side[side];
    struct bulk bulk = { NULL, 0 };
    struct tensor tensor;
    struct type shape;
    int16_t *data;

    if (operand->node) {
        rule_covers(rewrite, operand->node);
        return operand->node->inputs[0];
    }
    shape = constant_shape(b, &operand->value->type);
    data = constant_alloc(rewrite->fn, &shape);
    static_tensor(rewrite, operand->value, &bulk, &tensor);
    for (int64_t i = 0; i < type_elements(&shape); i++) {
        const double used = used_number(b, side, tensor_at(&tensor, i));

        data[i] = (int16_t)fmin(rint(used / operand->affine.scale), INT16_MAX);
    }
    bulk_release(&bulk);
    make_affine_values(rewrite, &operand->affine);
    return rule_constant_like(rewrite, operand->value, &shape, data);
}

/* quantize(add, subtract, multiply or divide of dequantize(a) and dequantize(b) or a constant)
 * -> qnn.add, subtract, mul, div */
struct value *binary_to_integer(struct rewrite *rewrite, struct node *root)
{
    struct value *inputs[8];
    struct binary b;

    if (!find_binary(rewrite, root, &b))
        return NULL;
    for (int side = 0; side < 2; side++) {
        inputs[side] = stored(rewrite, &b, side);
        inputs[2 + 2 * side] = b.side[side].affine.scale_value;
        inputs[3 + 2 * side] = b.side[side].affine.zero_value;
    }
    rule_covers(rewrite, b.node);
    inputs[6] = b.out.scale_value;
    inputs[7] = b.out.zero_value;
    return rule_build(rewrite, is_quotient(&b) ? OP_QNN_DIV : integer_op(b.node->op), NULL, 8,
                      inputs);
}
