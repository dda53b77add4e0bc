/* epilogue.c - the element-wise nodes of a region as C statements inside a kernel's loop nest.
 *
 * method   one `const` variable per node, in order; operands are read where they are used, uniform
 *          constants stand there as numbers; of several channels at a time the same text,
 *          with vectors as variables and the helpers for them (lanes.h) */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "codegen_c/emit.h"
#include "codegen_c/lanes.h"
#include "codegen_c/scalar.h"
#include "codegen_c/scalar_qnn.h"
#include "relay_ir/ops/qnn.h"

enum { LEAST_LANES = 8 }; /* of integers, on x86 */

struct epilogue {
    struct bind *bind;
    const struct position *position;
    struct str text;
    int n_variables;
    struct map expressions; /* name of a value computed so far -> its C expression */
};

/* Names, subscripts, calls: nothing that an operator beside it could tear apart. */
static bool is_primary(const char *expression)
{
    int depth = 0;

    for (const char *c = expression; *c; c++) {
        depth += (*c == '[' || *c == '(') - (*c == ']' || *c == ')');
        if (depth == 0 && !isalnum((unsigned char)*c) && !strchr("_.])", *c))
            return false;
    }
    return true;
}

static bool is_name(const char *expression)
{
    return is_primary(expression) && !strpbrk(expression, "[(");
}

static const char *in_parentheses(struct arena *arena, const char *expression)
{
    return is_primary(expression) ? expression : arena_printf(arena, "(%s)", expression);
}

/* The index of an operand's element at this position: its shape is aligned to the right and repeats
 * where its dim is 1. `axis` >= 0: the operand is a vector along this axis. */
static const char *index_at(struct epilogue *e, const struct value *value, const struct type *shape,
                            int axis)
{
    const struct region *region = e->bind->region;
    const struct type *operand = &value->type;
    const struct position *at = e->position;
    struct arena *arena = e->bind->arena;
    const int64_t pitch =
        value->kind == VALUE_PARAM && region->param_pitch ? region->param_pitch[value->index] : 0;
    const char *index = NULL;
    int64_t extent = 1; /* of the dims that share the coming coordinate */

    if (axis >= 0)
        return operand->dim[0] == 1 ? "0" : at->coord[axis];
    if (pitch) /* the plan has seen to it that the shapes are the same */
        return arena_printf(arena, "%s * %" PRId64 " + %s", at->pixel, pitch, at->channel);
    if (type_same_shape(operand, shape))
        return at->linear;
    for (int i = 0; i < operand->rank; i++) {
        const char *coord = at->coord[at->rank - operand->rank + i];

        extent *= operand->dim[i];
        if (!coord || extent == 1)
            continue;
        index = index ? arena_printf(arena, "%s * %" PRId64 " + %s", in_parentheses(arena, index),
                                     extent, in_parentheses(arena, coord))
                      : coord;
        extent = 1;
    }
    return index ? index : "0";
}

/* The number that a constant is everywhere, as a literal. 64-bit integers are compared exactly only
 * while a double holds them. */
static const char *uniform_literal(struct bind *bind, const struct value *value)
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

static const char *read_at(struct epilogue *e, struct value *value, const char *index)
{
    const char *array = bind_operand(e->bind, value);
    const int lanes = e->position->lanes;

    return lanes ? arena_printf(e->bind->arena, "i32x%d_load_%s(&%s[%s])", lanes,
                                dtype_name(value->type.dtype), array, index)
                 : arena_printf(e->bind->arena, "%s[%s]", array, index);
}

static const char *read_operand(struct epilogue *e, const struct node *node, int input)
{
    struct value *value = node->inputs[input];
    const char *known = map_get(&e->expressions, value->name), *literal;
    const int axis = node->op == OP_BIAS_ADD && input == 1 ? (int)node->attrs.axis.axis
                                                           : qnn_vector_axis(node, input);

    if (known)
        return known;
    literal = uniform_literal(e->bind, value);
    if (literal)
        return literal;
    return read_at(e, value, index_at(e, value, &e->bind->region->fn->ret->inputs[0]->type, axis));
}

static int count_placeholder(const char *text, char letter)
{
    int n = 0;

    for (; *text; text++)
        n += text[0] == '$' && text[1] == letter;
    return n;
}

/* "x" of "x[i]", "w" for a constant's array. */
static const char *stem_of(struct arena *arena, const struct value *value, const char *expression)
{
    size_t n = 0;

    if (value->kind == VALUE_CONSTANT)
        return "w";
    while (isalnum((unsigned char)expression[n]) || expression[n] == '_')
        n++;
    return n && isalpha((unsigned char)expression[0]) ? arena_strndup(arena, expression, n) : "v";
}

/* Adds "const float STEM_1 = expression;" and returns the name. */
static const char *add_variable(struct epilogue *e, enum dtype dtype, const char *stem,
                                const char *expression)
{
    const char *name = arena_printf(e->bind->arena, "%s_%d", stem, ++e->n_variables);

    if (e->position->lanes)
        str_printf(&e->text, "const i32x%d %s = %s;\n", e->position->lanes, name, expression);
    else
        str_printf(&e->text, "const %s %s = %s;\n", dtype_c_type(dtype), name, expression);
    return name;
}

/* "relu" of "nn.relu". */
static const char *short_name(enum op op)
{
    const char *dot = strrchr(op_name(op), '.');

    return dot ? dot + 1 : op_name(op);
}

/* copy, and what has no effect on this element type, needs no variable. */
static bool text_is_operand(const char *text, const char *operand)
{
    return operand && strcmp(text, operand) == 0;
}

/* The table of a qnn.lut, and which row of it. */
static void read_lut(struct epilogue *e, const struct node *node, const char **operands)
{
    struct arena *arena = e->bind->arena;
    const struct type *table = &node->inputs[1]->type;
    const char *at = e->position->coord[qnn_vector_axis(node, 1)];

    operands[0] = bind_operand(e->bind, node->inputs[1]);
    operands[1] = table->rank == 1 || table->dim[0] == 1
                      ? ""
                      : arena_printf(arena, "%s * %d + ", in_parentheses(arena, at), QNN_CODES);
}

/* Multipliers and shifts, one per channel; the tables of others. */
static void read_tables(struct epilogue *e, const struct node *node, const char **operands)
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
            operands[i] = tables[i] ? bind_operand(e->bind, tables[i]) : NULL;
        return;
    }
    at = e->position->coord[qnn_vector_axis(node, 1)];
    qnn_tables(e->bind, node, tables);
    for (int i = 0; i < QNN_TABLES; i++)
        operands[i] = read_at(e, tables[i], at);
}

static bool is_result(const struct epilogue *e, const struct node *node)
{
    return node->outputs[0] == e->bind->region->fn->ret->inputs[0];
}

static bool add_node(struct epilogue *e, const struct node *node)
{
    struct bind *bind = e->bind;
    const char *operands[SCALAR_OPERANDS] = { 0 };
    const char *needs, *text = scalar_text(bind->arena, node, &needs);

    if (!text) /* scalar_accepts said otherwise */
        return diag_error(bind->ctx, DIAG_INTERNAL, node_origin(node), "no C text for %s",
                          op_name(node->op));
    if (e->position->lanes) {
        text = node->op == OP_BIAS_ADD
                   ? "$a + $b"
                   : lanes_text(bind->arena, text, e->position->lanes, is_result(e, node));
        needs = "";
    }
    if (count_placeholder(text, 'A'))
        read_tables(e, node, operands + SCALAR_OPERANDS - QNN_TABLES);
    for (int i = 0; i < node->n_inputs && i < SCALAR_OPERANDS - QNN_TABLES; i++) {
        const int n = count_placeholder(text, (char)('a' + i));
        const struct value *value = node->inputs[i];

        if (n == 0)
            continue;
        operands[i] = read_operand(e, node, i);
        if (uniform_literal(bind, value))
            continue;
        if (!is_primary(operands[i]) || (n > 1 && !is_name(operands[i])))
            operands[i] = add_variable(e, value->type.dtype,
                                       stem_of(bind->arena, value, operands[i]), operands[i]);
    }
    scalar_needs(bind, node, needs);
    text = scalar_expand(bind, node, text, operands);
    if (text_is_operand(text, operands[0]))
        map_set(&e->expressions, node->outputs[0]->name, arena_strdup(bind->arena, text));
    else
        map_set(&e->expressions, node->outputs[0]->name,
                (void *)add_variable(e, node->outputs[0]->type.dtype, short_name(node->op), text));
    return true;
}

/* Whether an operand's index is that of the result or that of its channel: what lies side by side.
 */
static bool goes_along(struct epilogue *e, const struct node *node, int input)
{
    const struct position *at = e->position;
    const struct value *value = node->inputs[input];
    const int axis = node->op == OP_BIAS_ADD && input == 1 ? (int)node->attrs.axis.axis
                                                           : qnn_vector_axis(node, input);
    const char *index;

    if (map_get(&e->expressions, value->name) || uniform_literal(e->bind, value))
        return true;
    index = index_at(e, value, &e->bind->region->fn->ret->inputs[0]->type, axis);
    return strcmp(index, at->linear) == 0 || strcmp(index, at->coord[at->rank - 1]) == 0;
}

static bool node_takes_lanes(struct epilogue *e, const struct node *node)
{
    const char *needs, *text;

    if (node->op != OP_BIAS_ADD && node->op != OP_QNN_REQUANTIZE && node->op != OP_QNN_ADD &&
        node->op != OP_QNN_SUBTRACT)
        return false;
    text = scalar_text(e->bind->arena, node, &needs);
    if (!text || (*needs && strcmp(needs, "requantize_down clamp_int") != 0))
        return false;
    for (int i = 0; i < node->n_inputs && i < SCALAR_OPERANDS - QNN_TABLES; i++)
        if (count_placeholder(text, (char)('a' + i)) && !goes_along(e, node, i))
            return false;
    return !count_placeholder(text, 'A') || qnn_vector_axis(node, 1) == e->position->rank - 1;
}

static struct epilogue epilogue_begin(struct bind *bind, const struct position *position)
{
    return (struct epilogue){ .bind = bind,
                              .position = position,
                              .text = { .arena = bind->arena },
                              .expressions = { .arena = bind->arena } };
}

static bool is_in_epilogue(const struct region *region, const struct node *node)
{
    return node != region->anchor && !is_prologue(node, region->anchor);
}

static bool takes_lanes(struct bind *bind, const struct position *position)
{
    struct epilogue e = epilogue_begin(bind, position);
    const struct region *region = bind->region;
    const enum dtype dtype = region->fn->ret->inputs[0]->type.dtype;
    char *const computed = arena_strdup(bind->arena, "computed");

    if (dtype != DTYPE_I8 && dtype != DTYPE_U8)
        return false;
    map_set(&e.expressions, region->anchor->outputs[0]->name, computed);
    for (const struct node *n = region->fn->first; n; n = n->next)
        if (is_in_epilogue(region, n)) {
            if (!node_takes_lanes(&e, n))
                return false;
            map_set(&e.expressions, n->outputs[0]->name, computed);
        }
    return true;
}

int epilogue_lanes(struct bind *bind, const struct position *position, int64_t channels)
{
    int lanes = machine_integer_lanes(bind->machine);

    while (lanes && channels % lanes != 0)
        lanes = lanes > LEAST_LANES && bind->machine->arch == ARCH_X86_64 ? lanes / 2 : 0;
    return lanes && takes_lanes(bind, position) ? lanes : 0;
}

bool bind_epilogue(struct bind *bind, const char *acc, const struct position *position)
{
    const struct region *region = bind->region;
    const struct value *result = region->fn->ret->inputs[0];
    struct epilogue e = epilogue_begin(bind, position);
    bool ok = true;

    if (position->lanes)
        bind_lanes(bind, position->lanes);
    if (region->anchor)
        map_set(&e.expressions, region->anchor->outputs[0]->name, arena_strdup(bind->arena, acc));
    for (const struct node *n = region->fn->first; n && ok; n = n->next)
        if (is_in_epilogue(region, n))
            ok = add_node(&e, n);
    if (!ok)
        return false;
    bind_text(bind, "epilogue", "%s", str_text(&e.text));
    bind_text(bind, "result", "%s", (const char *)map_get(&e.expressions, result->name));
    return true;
}
