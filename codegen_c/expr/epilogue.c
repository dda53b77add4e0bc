/* epilogue.c - the element-wise nodes of a region as C statements inside a kernel's loop nest.
 *
 * method   one `const` variable per node, in order. Operands are read where they are used; uniform
 *          constants are literals. For several channels at a time the text is the same, with vector
 *          variables and vector helpers (lanes.h) */
#include "codegen_c/expr/epilogue.h"

#include <ctype.h>
#include <string.h>

#include "codegen_c/expr/lanes.h"

static bool expression_is_name(const char *expression)
{
    return expression_is_primary(expression) && !strpbrk(expression, "[(");
}

/* The stem of a variable's name: "x" for "x[i]", "w" for a constant's array. */
static const char *stem_of(struct arena *arena, const struct value *value, const char *expression)
{
    size_t n = 0;

    if (value->kind == VALUE_CONSTANT)
        return "w";
    while (isalnum((unsigned char)expression[n]) || expression[n] == '_')
        n++;
    return n && isalpha((unsigned char)expression[0]) ? arena_strndup(arena, expression, n) : "v";
}

/* Adds "const TYPE STEM_1 = expression;" and returns the name. */
static const char *add_variable(struct epilogue *e, const char *type, const char *stem,
                                const char *expression)
{
    const char *name = arena_printf(e->bind->arena, "%s_%d", stem, ++e->n_variables);

    if (e->position->lanes)
        str_printf(&e->text, "const i32x%d %s = %s;\n", e->position->lanes, name, expression);
    else
        str_printf(&e->text, "const %s %s = %s;\n", type, name, expression);
    return name;
}

/* "relu" of "nn.relu". */
static const char *short_name(enum op op)
{
    const char *dot = strrchr(op_name(op), '.');

    return dot ? dot + 1 : op_name(op);
}

/* copy, and operators without effect on this type, need no variable. */
static bool text_is_operand(const char *text, const char *operand)
{
    return operand && strcmp(text, operand) == 0;
}

static bool is_result(const struct epilogue *e, const struct node *node)
{
    return node->outputs[0] == e->bind->region->fn->ret->inputs[0];
}

/* Whether a node's text only compares this operand with 0, or casts it. */
static bool takes_any_width(const struct node *node, int input)
{
    switch (node->op) {
    case OP_LOGICAL_AND:
    case OP_LOGICAL_NOT:
    case OP_LOGICAL_OR:
    case OP_LOGICAL_XOR: return true;
    case OP_WHERE: return input == 0;
    case OP_CAST: return node->outputs[0]->type.dtype == DTYPE_F32;
    default: return false;
    }
}

/* The C type of a variable. Booleans between nodes are int on CPUs with vectors: bytes beside floats need vectors of
 * four times as many lanes, for which compilers have no code (gcc 12: 13 times slower). */
static const char *variable_type(const struct epilogue *e, const struct node *node)
{
    const struct value *value = node->outputs[0];

    if (value->type.dtype != DTYPE_BOOL || is_result(e, node) || e->bind->machine->lanes == 1)
        return dtype_c_type(value->type.dtype);
    for (const struct node *n = node->next; n; n = n->next)
        for (int i = 0; i < n->n_inputs; i++)
            if (n->inputs[i] == value && !takes_any_width(n, i))
                return dtype_c_type(value->type.dtype);
    return "int";
}

/* Behind a ReLU half of the numbers are 0, and what a scale makes of 0 is known: on scalar cores a
 * branch leaves the division out, and the compiler what follows it. Zeros of both signs and NaN
 * stay what they are. */
static const char *without_zeros(const struct bind *bind, const struct node *node, const char *text)
{
    static const char quotient[] = "$a / $b";
    const struct node *before = node->inputs[0]->def;
    const char *at = strstr(text, quotient);

    if (!at || node->op != OP_QNN_QUANTIZE || !before || before->op != OP_RELU ||
        !machine_is_microcontroller(bind->machine))
        return text;
    return arena_printf(bind->arena, "%.*s$a <= 0.0f ? $a : %s", (int)(at - text), text, at);
}

static bool add_node(struct epilogue *e, const struct node *node)
{
    struct bind *bind = e->bind;
    const char *operands[SCALAR_OPERANDS] = { 0 };
    const char *needs, *text = scalar_text(bind->arena, node, &needs);

    if (!text) /* scalar_accepts has excluded this */
        return diag_error(bind->ctx, DIAG_INTERNAL, node_origin(node), "no C text for %s",
                          op_name(node->op));
    if (e->position->lanes) {
        text = node->op == OP_BIAS_ADD
                   ? "$a + $b"
                   : lanes_text(bind->arena, text, e->position->lanes, is_result(e, node),
                                e->position->lanes >= EPILOGUE_LEAST_LANES &&
                                    requantizes_from_0(node));
        needs = "";
    } else {
        text = without_zeros(bind, node, text);
    }
    text = epilogue_decode_row(e, node, text, &operands[0], &needs);
    if (scalar_count(text, 'A'))
        epilogue_tables(e, node, operands + SCALAR_OPERANDS - QNN_TABLES);
    for (int i = 0; i < node->n_inputs && i < SCALAR_OPERANDS - QNN_TABLES; i++) {
        const int n = scalar_count(text, (char)('a' + i));
        const struct value *value = node->inputs[i];

        if (n == 0)
            continue;
        if (!operands[i])
            operands[i] = epilogue_operand(e, node, i);
        if (epilogue_literal(bind, value))
            continue;
        if (!expression_is_primary(operands[i]) || (n > 1 && !expression_is_name(operands[i])))
            operands[i] = add_variable(e, dtype_c_type(value->type.dtype),
                                       stem_of(bind->arena, value, operands[i]), operands[i]);
    }
    if (e->row && is_result(e, node)) {
        e->last = node;
        e->needs = needs;
    } else {
        scalar_needs(bind, node, needs);
    }
    text = scalar_expand(bind, node, text, operands);
    if (text_is_operand(text, operands[0]))
        map_set(&e->expressions, node->outputs[0]->name, arena_strdup(bind->arena, text));
    else
        map_set(&e->expressions, node->outputs[0]->name,
                (void *)add_variable(e, variable_type(e, node), short_name(node->op), text));
    return true;
}

struct epilogue epilogue_begin(struct bind *bind, const struct position *position)
{
    return (struct epilogue){ .bind = bind,
                              .position = position,
                              .of_channels = { .arena = bind->arena },
                              .text = { .arena = bind->arena },
                              .before = { .arena = bind->arena },
                              .expressions = { .arena = bind->arena } };
}

bool epilogue_has(const struct region *region, const struct node *node)
{
    return node != region->anchor && !is_prologue(node, region->anchor);
}

bool epilogue_add_nodes(struct epilogue *e, const char *acc)
{
    const struct region *region = e->bind->region;

    if (region->anchor)
        map_set(&e->expressions, region->anchor->outputs[0]->name,
                arena_strdup(e->bind->arena, acc));
    for (const struct node *n = region->fn->first; n; n = n->next)
        if (epilogue_has(region, n) && !add_node(e, n))
            return false;
    return true;
}

const char *epilogue_result(struct epilogue *e)
{
    return map_get(&e->expressions, e->bind->region->fn->ret->inputs[0]->name);
}

void bind_epilogue_text(struct epilogue *e, const char *result)
{
    bind_text(e->bind, "epilogue", "%s", str_text(&e->text));
    bind_text(e->bind, "result", "%s", result);
}

bool bind_epilogue(struct bind *bind, const char *acc, const struct position *position)
{
    struct epilogue e = epilogue_begin(bind, position);

    if (!epilogue_add_nodes(&e, acc))
        return false;
    if (position->lanes)
        bind_lanes_of(bind, position->lanes, str_text(&e.text));
    bind_epilogue_text(&e, epilogue_result(&e));
    if (position->hoists)
        bind_text(bind, "of_channels", "%s", str_text(&e.of_channels));
    return true;
}
