/* epilogue_operand.c - the operands of element-wise nodes as C: array elements, literals, tables of
 * integers. */
#include "codegen_c/expr/epilogue.h"

#include <math.h>
#include <string.h>

#include "codegen_c/core/number.h"
#include "codegen_c/core/state.h"
#include "codegen_c/text/literal.h"
#include "relay_ir/ops/qnn.h"

const char *epilogue_index(struct epilogue *e, const struct value *value, int axis,
                           const struct position *at)
{
    const struct region *region = e->bind->region;
    const struct operand operand = operand_of(region, value);

    if (axis >= 0)
        return operand.dim[0] == 1 ? "0" : at->coord[axis];
    return operand_index(e->bind->arena, &operand, &region->fn->ret->inputs[0]->type, at);
}

/* A double compares 64-bit integers exactly only up to 2^53. */
const char *epilogue_literal(struct bind *bind, const struct value *value)
{
    double number;
    bool needs_math = false;
    const char *text;

    if (value->kind != VALUE_CONSTANT || !value_uniform(value, &number))
        return NULL;
    if (dtype_bytes(value->type.dtype) == 8 && dtype_is_integer(value->type.dtype) &&
        fabs(number) > 0x1p53 && type_elements(&value->type) > 1)
        return NULL;
    text = literal_of_element(bind->arena, value->type.dtype, value->data, 0, &needs_math);
    if (needs_math)
        bind_include(bind, "math.h");
    return text;
}

int epilogue_axis(const struct node *node, int input)
{
    return node->op == OP_BIAS_ADD && input == 1 ? (int)node->attrs.axis.axis
                                                 : qnn_vector_axis(node, input);
}

/* `role`: the stem of a variable's name. */
static const char *read_at(struct epilogue *e, struct value *value, const char *array,
                           const char *index, const char *role)
{
    const char *load;
    const struct position *at = e->position;
    const char *type = arena_printf(
        e->bind->arena, value->type.dtype == DTYPE_F32 ? "f32x%d" : "i32x%d", at->lanes);

    if (!at->lanes)
        return arena_printf(e->bind->arena, "%s[%s]", array, index);
    load = arena_printf(e->bind->arena, "%s_load_%s(&%s[%s])", type, dtype_name(value->type.dtype),
                        array, index);
    if (!at->hoists || value->kind != VALUE_CONSTANT || strcmp(index, at->coord[at->rank - 1]) != 0)
        return load;
    role = arena_printf(e->bind->arena, "%s_%d", role, ++e->n_variables);
    str_printf(&e->of_channels, "const %s %s = %s;\n", type, role, load);
    return role;
}

const char *qnn_number(struct bind *bind, const struct node *node, int input, const char *literal)
{
    const struct value *value = node->inputs[input];
    const bool quantizes = node->op == OP_QNN_QUANTIZE;
    double number;

    if (!(quantizes || node->op == OP_QNN_DEQUANTIZE) || input < 1 || input > 2 ||
        !value_uniform(value, &number))
        return literal;
    if (input == 1 && value->type.dtype == DTYPE_F32)
        return number_f32(bind->arena, node, quantizes ? "y_scale" : "x_scale", (float)number);
    if (input == 2)
        return number_i32(bind->arena, node, quantizes ? "y_zero" : "x_zero", (int64_t)number);
    return literal;
}

/* The bias of one channel was trained, as that of several is, which is an array. */
static bool is_bias_of_one(const struct epilogue *e, const struct node *node, int input)
{
    return node->op == OP_BIAS_ADD && input == 1 && !e->position->lanes &&
           node->inputs[1]->kind == VALUE_CONSTANT && node->inputs[1]->type.dtype == DTYPE_F32 &&
           type_elements(&node->inputs[1]->type) == 1;
}

const char *epilogue_operand(struct epilogue *e, const struct node *node, int input)
{
    struct value *value = node->inputs[input];
    const char *known = map_get(&e->expressions, value->name), *literal;
    double number;

    if (known)
        return known;
    if (is_bias_of_one(e, node, input) && value_uniform(value, &number))
        return number_f32(e->bind->arena, node, "bias", (float)number);
    literal = epilogue_literal(e->bind, value);
    if (literal)
        return qnn_number(e->bind, node, input, literal);
    return read_at(e, value, bind_operand(e->bind, value),
                   epilogue_index(e, value, epilogue_axis(node, input), e->position),
                   node->op == OP_BIAS_ADD ? "bias" : "operand");
}

/* The table of a qnn.lut, and the index of its row. */
static void read_lut(struct epilogue *e, const struct node *node, const char **operands)
{
    struct arena *arena = e->bind->arena;
    const struct type *table = &node->inputs[1]->type;
    const char *at = e->position->coord[qnn_vector_axis(node, 1)];

    operands[0] = bind_operand(e->bind, node->inputs[1]);
    operands[1] =
        table->rank == 1 || table->dim[0] == 1
            ? ""
            : arena_printf(arena, "%s * %d + ", expression_in_parentheses(arena, at), QNN_VALUES);
}

void epilogue_tables(struct epilogue *e, const struct node *node, const char *operands[QNN_TABLES])
{
    struct value *tables[QNN_TABLES] = { NULL };
    const char *at;

    if (node->op == OP_QNN_LUT) {
        read_lut(e, node, operands);
        return;
    }
    if (node->op == OP_QNN_PWL) {
        for (int i = 0; i < QNN_TABLES; i++)
            operands[i] = bind_operand(e->bind, node->inputs[1 + i]);
        return;
    }
    if (node->op == OP_QNN_DIV) {
        qnn_div_tables(e->bind, node, tables);
        for (int i = 0; i < QNN_TABLES; i++)
            operands[i] = tables[i] ? bind_own_operand(e->bind, tables[i]) : NULL;
        return;
    }
    at = e->position->coord[qnn_vector_axis(node, 1)];
    qnn_tables(e->bind, node, tables);
    for (int i = 0; i < QNN_TABLES && tables[i]; i++)
        operands[i] = read_at(e, tables[i], bind_own_operand(e->bind, tables[i]), at,
                              i                      ? "shift"
                              : rounds_as_onnx(node) ? "factor"
                                                     : "multiplier");
}
