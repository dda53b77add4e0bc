#include <string.h>

#include "relay_ir/text/parser.h"
#include "relay_ir/text/words.h"

/* A growing list of pointers. */
struct list {
    void **at;
    int n, capacity;
};

static void list_add(struct parser *parser, struct list *list, const void *item)
{
    if (list->n == list->capacity) {
        void **grown;

        list->capacity = list->capacity ? 2 * list->capacity : 8;
        grown = arena_array(&parser->module->ctx->scratch, void *, list->capacity);
        if (list->n)
            memcpy(grown, list->at, (size_t)list->n * sizeof *grown);
        list->at = grown;
    }
    list->at[list->n++] = (void *)(uintptr_t)item;
}

bool parser_reference(struct parser *parser, bool optional, struct value **value)
{
    struct reader *reader = &parser->reader;
    const char *start, *name;
    bool constant;

    *value = NULL;
    if (optional && reader_accept(reader, "_"))
        return true;
    reader_skip_blanks(reader);
    start = reader->at;
    constant = *start == '@';
    if (!constant && *start != '%')
        return reader_expected(reader, "%name or @name");
    reader->at++;
    if (!reader_name(reader, &name))
        return false;
    *value = map_get(&parser->fn->names, name);
    if (*value && ((*value)->kind == VALUE_CONSTANT) == constant)
        return true;
    reader->at = start;
    return reader_fail(reader, "%s '%s' is not defined", constant ? "constant" : "value",
                       str_safe(&reader->ctx->scratch, name, 60));
}

static bool read_outputs(struct parser *parser, struct list *names)
{
    struct reader *reader = &parser->reader;
    const char *name;

    do {
        if (!reader_expect(reader, "%") || !reader_name(reader, &name) ||
            !parser_check_new(parser, name))
            return false;
        list_add(parser, names, name);
    } while (reader_accept(reader, ","));
    return reader_expect(reader, "=");
}

static bool read_inputs(struct parser *parser, struct list *inputs)
{
    struct reader *reader = &parser->reader;
    struct value *value;

    if (!reader_expect(reader, "("))
        return false;
    if (reader_accept(reader, ")"))
        return true;
    do {
        if (!parser_reference(parser, true, &value))
            return false;
        list_add(parser, inputs, value);
    } while (reader_accept(reader, ","));
    return reader_accept(reader, ")") || reader_expected(reader, "',' or ')'");
}

static bool read_operator(struct parser *parser, int n_outputs, enum op *op)
{
    struct reader *reader = &parser->reader;
    const char *names[OP_COUNT], *name, *near;
    size_t n;
    int wanted;

    reader_skip_blanks(reader);
    n = word_length(reader->at);
    name = arena_strndup(&reader->ctx->scratch, reader->at, n);
    *op = op_from_name(name);
    if (*op == OP_COUNT) {
        for (int i = 0; i < OP_COUNT; i++)
            names[i] = op_name((enum op)i);
        near = str_nearest(name, names, OP_COUNT);
        reader_expected(reader, "an operator");
        if (near)
            diag_help(reader->ctx, "did you mean %s?", near);
        return false;
    }
    wanted = op_row(*op)->n_outputs;
    if (wanted >= 0 && wanted != n_outputs)
        return reader_fail(reader, "%s has %d outputs, %d are named", name, wanted, n_outputs);
    reader->at += n;
    return true;
}

/* "from Conv \"conv1\" #0 + Relu #1", all of it optional */
static bool read_origins(struct parser *parser, const struct origin **first)
{
    struct reader *reader = &parser->reader;
    const struct origin **end = first;

    *first = NULL;
    if (!reader_accept(reader, "from"))
        return true;
    do {
        struct origin *origin = arena_new(&reader->ctx->perm, struct origin);
        int64_t index = -1;

        origin->name = "";
        if (!reader_name(reader, &origin->op_type))
            return false;
        reader_skip_blanks(reader);
        if (*reader->at == '"' && !reader_string(reader, &origin->name))
            return false;
        if (reader_accept(reader, "#") && !reader_number(reader, INT32_MAX, &index))
            return false;
        origin->index = (long)index;
        *end = origin;
        end = &origin->next;
    } while (reader_accept(reader, "+"));
    return true;
}

static bool read_callee(struct parser *parser, struct function **callee)
{
    struct reader *reader = &parser->reader;
    struct function *const caller = parser->fn;
    const char *const start = reader->at, *name, *back;
    struct section *section;
    bool ok;

    if (!reader_name(reader, &name))
        return false;
    section = map_get(&parser->sections, name);
    back = reader->at;
    reader->at = start;
    if (!section)
        return reader_fail(reader, "unknown function '%s'",
                           str_safe(&reader->ctx->scratch, name, 60));
    if (section->open)
        return reader_fail(reader, "a function may not call itself");
    if (parser->depth == MAX_CALL_DEPTH)
        return reader_fail(reader, "calls are nested more than %d deep", MAX_CALL_DEPTH);
    ok = section->end || parser_section(parser, section);
    parser->fn = caller;
    reader->at = back;
    *callee = section->fn;
    return ok;
}

/* The types that the text states must be what inference gives: a text is often edited by hand. */
static bool check_types(struct parser *parser, const struct node *node)
{
    struct reader *reader = &parser->reader;

    for (int i = 0; i < node->n_outputs; i++) {
        struct type *inferred = &node->outputs[i]->type, stated;

        if (i > 0 && !reader_expect(reader, ","))
            return false;
        if (!reader_type(reader, false, &stated))
            return false;
        if (!type_state(inferred, &stated))
            return reader_fail(reader, "the text says %s, inference gives %s",
                               type_text(&reader->ctx->scratch, &stated),
                               type_text(&reader->ctx->scratch, inferred));
    }
    return true;
}

static bool read_attributes(struct parser *parser, enum op op, union attrs *attrs)
{
    struct reader *reader = &parser->reader;
    const char *reason = "";

    if (attrs_parse(&reader->ctx->perm, op_row(op)->attrs, &reader->at, attrs, &reason))
        return true;
    return reader_fail(reader, "%s", reason);
}

/* Where the origins stand: behind the types, which can only be checked when the node has been made
 * with its origins. */
static bool read_tail(struct parser *parser, int n_outputs, const struct origin **origin,
                      bool *typed)
{
    struct type type;

    *typed = reader_accept(&parser->reader, ":");
    for (int i = 0; *typed && i < n_outputs; i++)
        if ((i && !reader_expect(&parser->reader, ",")) ||
            !reader_type(&parser->reader, false, &type))
            return false;
    return read_origins(parser, origin);
}

bool parser_node(struct parser *parser)
{
    struct reader *reader = &parser->reader;
    struct list names = { NULL, 0, 0 }, inputs = { NULL, 0, 0 };
    struct node_args args = { .op = OP_COUNT };
    const char *types, *end;
    struct node *node;
    union attrs attrs;
    bool typed; /* who writes by hand may leave the types out */

    if (!read_outputs(parser, &names) || !read_operator(parser, names.n, &args.op) ||
        (args.op == OP_CALL && !read_callee(parser, &args.callee)) ||
        !read_inputs(parser, &inputs) || !read_attributes(parser, args.op, &attrs))
        return false;
    types = reader->at;
    if (!read_tail(parser, names.n, &args.origin, &typed))
        return false;
    if (args.callee && (args.callee->n_params != inputs.n || args.callee->ret->n_inputs != names.n))
        return reader_fail(reader, "the function takes %d values and gives %d",
                           args.callee->n_params, args.callee->ret->n_inputs);
    args.n_inputs = inputs.n;
    args.inputs = (struct value *const *)inputs.at;
    args.n_outputs = names.n;
    args.names = (const char *const *)names.at;
    args.attrs = &attrs;
    node = node_new(parser->fn, &args);
    if (!node) {
        diag_note(reader->ctx, "in line %d of the IR text", reader_line(reader));
        return false;
    }
    for (int i = 0; i < names.n; i++)
        if (strcmp(node->outputs[i]->name, args.names[i]) != 0) /* made unique */
            return reader_fail(reader, "two outputs have the same name");
    end = reader->at;
    reader->at = types;
    if (typed && (!reader_expect(reader, ":") || !check_types(parser, node)))
        return false;
    reader->at = end;
    return reader_end_line(reader);
}
