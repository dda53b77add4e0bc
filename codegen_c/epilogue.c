/* epilogue.c - the element-wise nodes of a region as C statements inside a kernel's loop nest.
 *
 * method   one `const` variable per node, in order; operands are read where they are used, uniform
 *          constants stand there as numbers; of several channels at a time the same text,
 *          with vectors as variables and the helpers for them (lanes.h) */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "codegen_c/codec.h"
#include "codegen_c/emit.h"
#include "codegen_c/kernels/decode.h"
#include "codegen_c/lanes.h"
#include "codegen_c/scalar.h"
#include "codegen_c/scalar_qnn.h"
#include "relay_ir/ops/qnn.h"

enum { LEAST_LANES = 8 }; /* of integers, on x86 */

struct epilogue {
    struct bind *bind;
    const struct position *position;
    const struct epilogue_row *row; /* NULL: elements are read, and written, one by one */
    struct str of_channels;         /* what stands before a loop over positions */
    struct str text, before;        /* … what stands before the loop over a row, … */
    const struct node *last; /* … the node of the result, which may be encoded behind it, … */
    const char *needs;       /* … and its helpers */
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

/* `role` is what a variable would be called. */
static const char *read_at(struct epilogue *e, struct value *value, const char *index,
                           const char *role)
{
    const char *array = bind_operand(e->bind, value), *load;
    const struct position *at = e->position;

    if (!at->lanes)
        return arena_printf(e->bind->arena, "%s[%s]", array, index);
    load = arena_printf(e->bind->arena, "i32x%d_load_%s(&%s[%s])", at->lanes,
                        dtype_name(value->type.dtype), array, index);
    if (!at->hoists || value->kind != VALUE_CONSTANT || strcmp(index, at->coord[at->rank - 1]) != 0)
        return load;
    role = arena_printf(e->bind->arena, "%s_%d", role, ++e->n_variables);
    str_printf(&e->of_channels, "const i32x%d %s = %s;\n", at->lanes, role, load);
    return role;
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
    return read_at(e, value, index_at(e, value, &e->bind->region->fn->ret->inputs[0]->type, axis),
                   node->op == OP_BIAS_ADD ? "bias" : "operand");
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
        operands[i] = read_at(e, tables[i], at, i ? "shift" : "multiplier");
}

/* Whether an operand's elements lie side by side as those of the result do: then a row of codes is
 * decoded before the loop. Sets *at to where it begins. */
static bool lies_in_rows(struct epilogue *e, const struct value *value, const char **at)
{
    const struct type *result = &e->bind->region->fn->ret->inputs[0]->type;
    const struct position *const position = e->position;

    if (value->kind != VALUE_PARAM || !type_same_shape(&value->type, result))
        return false;
    e->position = &e->row->start;
    *at = index_at(e, value, result, -1);
    e->position = position;
    return true;
}

/* Names with blanks between them, but for one. */
static const char *names_without(struct arena *arena, const char *names, const char *name)
{
    struct str out = { .arena = arena };

    for (size_t n; *names; names += n + (names[n] == ' ')) {
        n = strcspn(names, " ");
        if (strcmp(arena_strndup(arena, names, n), name) != 0)
            str_printf(&out, "%s%.*s", out.n ? " " : "", (int)n, names);
    }
    return str_text(&out);
}

/* The text of a node that decodes such an operand, without its decoder, and the number instead of
 * the code. */
static const char *decoded_before(struct epilogue *e, const struct node *node, const char *text,
                                  const char **operand, const char **needs)
{
    struct arena *arena = e->bind->arena;
    const struct value *value = node->n_inputs ? node->inputs[0] : NULL;
    const struct minifloat *format = value ? decode_format(&value->type) : NULL;
    const char *decode, *found, *at, *array;

    if (!e->row || !format || !decode_has_vectors(e->bind, &value->type) ||
        !lies_in_rows(e, value, &at))
        return text;
    decode = arena_printf(arena, "%s($a)", codec_decoder(arena, format));
    found = strstr(text, decode);
    if (!found || count_placeholder(text, 'a') != 1)
        return text;
    array = arena_printf(arena, "%s_number", bind_operand(e->bind, node->inputs[0]));
    if (!strstr(str_text(&e->before), arena_printf(arena, " %s[", array)))
        str_printf(&e->before, "float %s[%s];\n\n%s\n", array, e->row->most,
                   codec_unpack(e->bind, &value->type, bind_operand(e->bind, node->inputs[0]), at,
                                e->row->n, array, e->row->multiple));
    *operand = arena_printf(arena, "%s[%s]", array, e->row->i);
    *needs = names_without(arena, *needs, codec_decoder(arena, format));
    return arena_printf(arena, "%.*s$a%s", (int)(found - text), text, found + strlen(decode));
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
                   : lanes_text(bind->arena, text, e->position->lanes, is_result(e, node),
                                e->position->lanes >= LEAST_LANES && requantizes_from_0(node));
        needs = "";
    }
    text = decoded_before(e, node, text, &operands[0], &needs);
    if (count_placeholder(text, 'A'))
        read_tables(e, node, operands + SCALAR_OPERANDS - QNN_TABLES);
    for (int i = 0; i < node->n_inputs && i < SCALAR_OPERANDS - QNN_TABLES; i++) {
        const int n = count_placeholder(text, (char)('a' + i));
        const struct value *value = node->inputs[i];

        if (n == 0)
            continue;
        if (!operands[i])
            operands[i] = read_operand(e, node, i);
        if (uniform_literal(bind, value))
            continue;
        if (!is_primary(operands[i]) || (n > 1 && !is_name(operands[i])))
            operands[i] = add_variable(e, value->type.dtype,
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

/* Bytes that become numbers of 32 bits, as which lanes hold them anyway. */
static bool widens_bytes(const struct node *node)
{
    const enum dtype from = node->inputs[0]->type.dtype;

    return node->op == OP_CAST && (from == DTYPE_I8 || from == DTYPE_U8) &&
           node->outputs[0]->type.dtype == DTYPE_I32;
}

static bool node_takes_lanes(struct epilogue *e, const struct node *node, int lanes)
{
    const char *needs, *text;

    if (widens_bytes(node))
        return goes_along(e, node, 0);
    if (node->op != OP_BIAS_ADD && node->op != OP_QNN_REQUANTIZE && node->op != OP_QNN_ADD &&
        node->op != OP_QNN_SUBTRACT)
        return false;
    text = scalar_text(e->bind->arena, node, &needs);
    if (!text || (*needs && strcmp(needs, "requantize_down clamp_int") != 0 &&
                  !(lanes >= LEAST_LANES && requantize_takes_lanes(node))))
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
                              .of_channels = { .arena = bind->arena },
                              .text = { .arena = bind->arena },
                              .before = { .arena = bind->arena },
                              .expressions = { .arena = bind->arena } };
}

static bool is_in_epilogue(const struct region *region, const struct node *node)
{
    return node != region->anchor && !is_prologue(node, region->anchor);
}

static bool takes_lanes(struct bind *bind, const struct position *position, int lanes)
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
            if (!node_takes_lanes(&e, n, lanes))
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
    return lanes && takes_lanes(bind, position, lanes) ? lanes : 0;
}

static bool add_nodes(struct epilogue *e, const char *acc)
{
    const struct region *region = e->bind->region;

    if (region->anchor)
        map_set(&e->expressions, region->anchor->outputs[0]->name,
                arena_strdup(e->bind->arena, acc));
    for (const struct node *n = region->fn->first; n; n = n->next)
        if (is_in_epilogue(region, n) && !add_node(e, n))
            return false;
    return true;
}

static const char *result_of(struct epilogue *e)
{
    return map_get(&e->expressions, e->bind->region->fn->ret->inputs[0]->name);
}

bool bind_epilogue(struct bind *bind, const char *acc, const struct position *position)
{
    struct epilogue e = epilogue_begin(bind, position);

    if (!add_nodes(&e, acc))
        return false;
    if (position->lanes)
        bind_lanes_of(bind, position->lanes, str_text(&e.text));
    bind_text(bind, "epilogue", "%s", str_text(&e.text));
    bind_text(bind, "result", "%s", result_of(&e));
    if (position->hoists)
        bind_text(bind, "of_channels", "%s", str_text(&e.of_channels));
    return true;
}

/* --- by rows ------------------------------------------------------------------------------------
 */

/* Whether `text` is "FUNCTION(...)" to its end. */
static bool is_call(const char *text)
{
    int depth = 0;

    for (text += strcspn(text, "("); *text; text++) {
        depth += (*text == '(') - (*text == ')');
        if (depth == 0)
            return text[1] == '\0';
    }
    return false;
}

/* If the last variable is the result, "const uint8_t cast_4 = f32_to_f8e4m3(NUMBER);": takes it off
 * the text, sets *number and *encoder and returns statements that encode a row of them; else NULL.
 */
static const char *take_encoder(struct epilogue *e, const char **number, const char **encoder)
{
    struct arena *arena = e->bind->arena;
    char *const text = arena_strdup(arena, str_text(&e->text));
    const size_t n = strlen(text);
    const char *equals, *pack;
    char *line = text + n;

    while (line > text && (line == text + n || line[-1] != '\n'))
        line--;
    equals = strstr(line, " = ");
    if (!equals || !str_ends(text, ");\n") ||
        !str_ends(arena_strndup(arena, line, (size_t)(equals - line)), result_of(e)))
        return NULL;
    equals += strlen(" = ");
    *number = arena_strndup(arena, equals, strlen(equals) - strlen(";\n"));
    *encoder = arena_strndup(arena, *number, strcspn(*number, "("));
    pack = is_call(*number)
               ? codec_pack(e->bind, *encoder, "result", e->row->n, "&y[start]", e->row->multiple)
               : NULL;
    if (!pack)
        return NULL;
    *number = arena_strndup(arena, *number + strlen(*encoder) + 1,
                            strlen(*number) - strlen(*encoder) - 2);
    *line = '\0';
    e->text = (struct str){ .arena = arena };
    str_add(&e->text, text);
    return pack;
}

/* Whether the name stands in the text. */
static bool has_word(const char *text, const char *word)
{
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
            !(isalnum((unsigned char)at[strlen(word)]) || at[strlen(word)] == '_'))
            return true;
    return false;
}

bool bind_row_epilogue(struct bind *bind, const char *acc, const struct position *position,
                       const struct epilogue_row *row)
{
    struct epilogue e = epilogue_begin(bind, position);
    const char *number = NULL, *encoder = "", *pack, *result, *text;

    e.row = row;
    if (!add_nodes(&e, acc))
        return false;
    pack = take_encoder(&e, &number, &encoder);
    if (e.last)
        scalar_needs(bind, e.last, names_without(bind->arena, e.needs, pack ? encoder : ""));
    result = pack ? number : result_of(&e);
    text = arena_printf(bind->arena, "%s%s", str_text(&e.text), result);
    bind_text(bind, "epilogue", "%s", str_text(&e.text));
    bind_text(bind, "result", "%s", result);
    bind_text(bind, "decoded", "%s", str_text(&e.before));
    bind_flag(bind, "packed", pack != NULL);
    bind_text(bind, "pack", "%s", pack ? pack : "");
    bind_flag(bind, "uses_at", !pack || has_word(text, "at"));
    bind_flag(bind, "uses_oc", !pack || has_word(text, "oc") || has_word(text, "at"));
    bind_flag(bind, "uses_start", pack || has_word(str_text(&e.before), "start"));
    return true;
}
