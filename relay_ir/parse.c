#include "relay_ir/text.h"

#include <stdlib.h>
#include <string.h>

#include "relay_ir/text_reader.h"
#include "relay_ir/text_words.h"

enum {
    MAX_CALL_DEPTH = 64,       /* of functions that call functions */
    MAX_TEXT_PAYLOAD = 1 << 26 /* bytes of a constant that the text alone asks for */
};

/* A function whose head has been seen; its body is parsed when its turn comes or when it is called,
 * whatever is first. */
struct section {
    struct function *fn;
    const char *at, *end; /* behind "fn"; end is set once the body has been parsed */
    bool open;            /* being parsed: a call to it would be recursive */
    struct section *next;
};

struct parser {
    struct reader reader;
    struct module *module;
    struct function *fn;
    const struct module *payloads;
    bool zero_missing;
    struct map by_checksum; /* constants of `payloads` */
    struct map sections;    /* by name */
    struct section *first;
    int depth;
};

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

/* --- constants ------------------------------------------------------------------------------- */

static const char *payload_key(struct arena *arena, unsigned long checksum,
                               const struct type *type, const char *name)
{
    return arena_printf(arena, "%08lx %s %s", checksum, type_text(arena, type), name);
}

/* Payloads are found by checksum, type and name, or else by checksum and type. */
static void index_payloads(struct parser *parser)
{
    struct arena *scratch = parser->by_checksum.arena;

    for (const struct function *fn = parser->payloads->functions; fn; fn = fn->next)
        for (struct value *v = fn->constants; v; v = v->next) {
            const unsigned long checksum = payload_checksum(v);
            const char *any = payload_key(scratch, checksum, &v->type, "");

            map_set(&parser->by_checksum, payload_key(scratch, checksum, &v->type, v->name), v);
            if (!map_get(&parser->by_checksum, any))
                map_set(&parser->by_checksum, any, v);
        }
}

static bool text_payload(struct parser *parser, const struct type *type, void **data)
{
    if (type_bytes(type) > MAX_TEXT_PAYLOAD)
        return reader_fail(&parser->reader, "a constant of %zu bytes is too big for the text",
                           type_bytes(type));
    *data = constant_alloc(parser->fn, type);
    return true;
}

static bool find_payload(struct parser *parser, const char *name, const struct type *type,
                         const void **data)
{
    struct reader *reader = &parser->reader;
    const size_t n = strspn(reader->at, "0123456789abcdef");
    const struct value *found = NULL;
    void *zeros;

    if (n != 8)
        return reader_expected(reader, "a checksum of 8 hexadecimal digits");
    if (parser->payloads) {
        const unsigned long checksum = strtoul(reader->at, NULL, 16);
        struct arena *scratch = parser->by_checksum.arena;

        found = map_get(&parser->by_checksum, payload_key(scratch, checksum, type, name));
        if (!found)
            found = map_get(&parser->by_checksum, payload_key(scratch, checksum, type, ""));
    }
    if (!found && !parser->zero_missing)
        return reader_fail(reader, "no constant with this type and checksum is at hand");
    if (!found && !text_payload(parser, type, &zeros))
        return false;
    *data = found ? found->data : zeros;
    reader->at += n;
    return true;
}

/* "1, 2, 3]" or "0, ...]" */
static bool read_elements(struct parser *parser, const struct type *type, const void **data)
{
    struct reader *reader = &parser->reader;
    const int64_t n = type_elements(type);
    const size_t bytes = dtype_bytes(type->dtype);
    void *elements;
    int64_t i = 0;

    if (!text_payload(parser, type, &elements))
        return false;
    *data = elements;
    for (; i < n; i++) {
        if (i > 0 && !reader_expect(reader, ","))
            return false;
        if (i > 0 && reader_accept(reader, "..."))
            break;
        reader_skip_blanks(reader);
        if (!element_parse(type->dtype, &reader->at, elements, i))
            return reader_expected(reader, arena_printf(&reader->ctx->scratch, "an element of type %s",
                                                        dtype_name(type->dtype)));
    }
    if (i < n && i != 1)
        return reader_fail(reader, "'...' stands behind the first element only");
    for (; i < n; i++)
        memcpy((char *)elements + (size_t)i * bytes, elements, bytes);
    return reader_expect(reader, "]");
}

static bool check_new(struct parser *parser, const char *name)
{
    if (!map_get(&parser->fn->names, name))
        return true;
    return reader_fail(&parser->reader, "'%s' is defined twice",
                       str_safe(&parser->module->ctx->scratch, name, 60));
}

/* "const @name : (2) f32 = [1, 2]", behind "const" */
static bool read_constant(struct parser *parser)
{
    struct reader *reader = &parser->reader;
    const char *name;
    struct type type;
    const void *data = NULL;

    if (!reader_expect(reader, "@") || !reader_name(reader, &name) || !check_new(parser, name) ||
        !reader_expect(reader, ":") || !reader_type(reader, &type) || !reader_expect(reader, "="))
        return false;
    if (reader_accept(reader, "[")) {
        if (!read_elements(parser, &type, &data))
            return false;
    } else if (!reader_expect(reader, "crc32:") || !find_payload(parser, name, &type, &data)) {
        return false;
    }
    constant_new(parser->fn, name, &type, data);
    return reader_end_line(reader);
}

/* --- nodes ----------------------------------------------------------------------------------- */

/* "%x", "@w" or, where an input may be absent, "_" */
static bool read_reference(struct parser *parser, bool optional, struct value **value)
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
        if (!reader_expect(reader, "%") || !reader_name(reader, &name) || !check_new(parser, name))
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
        if (!read_reference(parser, true, &value))
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

static bool parse_section(struct parser *parser, struct section *section);

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
        return reader_fail(reader, "there is no function '%s'",
                           str_safe(&reader->ctx->scratch, name, 60));
    if (section->open)
        return reader_fail(reader, "a function may not call itself");
    if (parser->depth == MAX_CALL_DEPTH)
        return reader_fail(reader, "calls are nested more than %d deep", MAX_CALL_DEPTH);
    ok = section->end || parse_section(parser, section);
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
        const struct type *inferred = &node->outputs[i]->type;
        struct type stated;

        if (i > 0 && !reader_expect(reader, ","))
            return false;
        if (!reader_type(reader, &stated))
            return false;
        if (!type_equal(&stated, inferred))
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
static bool read_tail(struct parser *parser, int n_outputs, const struct origin **origin)
{
    struct type type;

    for (int i = 0; i < n_outputs; i++)
        if (!reader_expect(&parser->reader, i ? "," : ":") || !reader_type(&parser->reader, &type))
            return false;
    return read_origins(parser, origin);
}

/* "%y = nn.relu(%x) : (1,3) f32  from Relu #1" */
static bool read_node(struct parser *parser)
{
    struct reader *reader = &parser->reader;
    struct list names = { NULL, 0, 0 }, inputs = { NULL, 0, 0 };
    struct node_args args = { .op = OP_COUNT };
    const char *types, *end;
    struct node *node;
    union attrs attrs;

    if (!read_outputs(parser, &names) || !read_operator(parser, names.n, &args.op) ||
        (args.op == OP_CALL && !read_callee(parser, &args.callee)) ||
        !read_inputs(parser, &inputs) || !read_attributes(parser, args.op, &attrs))
        return false;
    types = reader->at;
    if (!read_tail(parser, names.n, &args.origin))
        return false;
    if (args.callee &&
        (args.callee->n_params != inputs.n || args.callee->ret->n_inputs != names.n))
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
    end = reader->at;
    reader->at = types;
    if (!reader_expect(reader, ":") || !check_types(parser, node))
        return false;
    reader->at = end;
    return reader_end_line(reader);
}

/* --- functions ------------------------------------------------------------------------------- */

static bool read_params(struct parser *parser)
{
    struct reader *reader = &parser->reader;
    const char *name;
    struct type type;

    if (!reader_expect(reader, "("))
        return false;
    if (reader_accept(reader, ")"))
        return true;
    do {
        if (!reader_expect(reader, "%") || !reader_name(reader, &name) ||
            !check_new(parser, name) || !reader_expect(reader, ":") || !reader_type(reader, &type))
            return false;
        param_new(parser->fn, name, &type);
    } while (reader_accept(reader, ","));
    return reader_accept(reader, ")") || reader_expected(reader, "',' or ')'");
}

/* The results stand in the head, and are known at the end: the first reading, without `resolve`,
 * only checks the form. */
static bool read_results(struct parser *parser, bool resolve)
{
    struct reader *reader = &parser->reader;

    if (!reader_expect(reader, "("))
        return false;
    if (reader_accept(reader, ")"))
        return true;
    do {
        struct value *value = NULL;
        const char *name;

        if (!resolve && !reader_accept(reader, "%") && !reader_expect(reader, "@"))
            return false;
        if (!(resolve ? read_reference(parser, false, &value) : reader_name(reader, &name)))
            return false;
        name = value ? value->name : "";
        if (reader_accept(reader, "as") && !reader_string(reader, &name))
            return false;
        if (resolve)
            result_add(parser->fn, value, name);
    } while (reader_accept(reader, ","));
    return reader_accept(reader, ")") || reader_expected(reader, "',' or ')'");
}

static bool read_body(struct parser *parser)
{
    struct reader *reader = &parser->reader;

    while (!reader_accept(reader, "}")) {
        reader_skip_blanks(reader);
        if (!*reader->at)
            return reader_expected(reader, "'}'");
        if (!(reader_accept(reader, "const") ? read_constant(parser) : read_node(parser)))
            return false;
    }
    return reader_end_line(reader);
}

/* Everything of a function behind its name. */
static bool parse_section(struct parser *parser, struct section *section)
{
    struct reader *reader = &parser->reader;
    struct function *fn = section->fn;
    const char *results;
    bool ok;

    parser->fn = fn;
    parser->depth++;
    section->open = true;
    reader->at = section->at;
    ok = read_params(parser) && reader_expect(reader, "->");
    results = reader->at;
    ok = ok && read_results(parser, false) &&
         (!reader_accept(reader, "compiler") || reader_string(reader, &fn->compiler)) &&
         (!reader_accept(reader, "composite") || reader_string(reader, &fn->composite)) &&
         reader_expect(reader, "{") && reader_end_line(reader) && read_body(parser);
    section->end = reader->at;
    reader->at = results;
    ok = ok && read_results(parser, true);
    reader->at = section->end;
    section->open = false;
    parser->depth--;
    return ok;
}

/* "module opset 13 producer \"pytorch\"", optional */
static bool read_head(struct parser *parser)
{
    struct reader *reader = &parser->reader;
    int64_t opset;

    reader_skip_empty_lines(reader);
    if (!reader_accept(reader, "module"))
        return true;
    if (!reader_expect(reader, "opset") || !reader_number(reader, INT32_MAX, &opset))
        return false;
    parser->module->opset = (int)opset;
    if (reader_accept(reader, "producer") && !reader_string(reader, &parser->module->producer))
        return false;
    return reader_end_line(reader);
}

/* Finds the lines that begin a function, so that one may be called before its text comes. */
static bool find_sections(struct parser *parser)
{
    struct reader *reader = &parser->reader;
    const char *const start = reader->at;
    struct section **end = &parser->first;

    for (; *reader->at; reader->at += *reader->at == '\n') {
        const char *name;

        if (reader_accept(reader, "fn")) {
            struct section *section = arena_new(&reader->ctx->scratch, struct section);

            if (!reader_name(reader, &name))
                return false;
            if (map_get(&parser->sections, name))
                return reader_fail(reader, "function '%s' is defined twice",
                                   str_safe(&reader->ctx->scratch, name, 60));
            section->fn = strcmp(name, "main") == 0 ? parser->module->main
                                                    : function_new(parser->module, name);
            section->at = reader->at;
            map_set(&parser->sections, section->fn->name, section);
            *end = section;
            end = &section->next;
        }
        reader->at += strcspn(reader->at, "\n");
    }
    reader->at = start;
    return map_get(&parser->sections, "main") || reader_fail(reader, "there is no function main");
}

static bool parse_sections(struct parser *parser)
{
    struct reader *reader = &parser->reader;

    for (struct section *section = parser->first; section; section = section->next) {
        if (!reader_expect(reader, "fn"))
            return false;
        if (!section->end && !parse_section(parser, section))
            return false;
        reader->at = section->end;
    }
    reader_skip_empty_lines(reader);
    return !*reader->at || reader_expected(reader, "'fn' or the end of the text");
}

struct module *module_parse(struct ctx *ctx, const char *text, const struct module *payloads,
                            bool zero_missing)
{
    struct parser parser = { .module = module_new(ctx),
                             .payloads = payloads,
                             .zero_missing = zero_missing,
                             .by_checksum = { .arena = &ctx->scratch },
                             .sections = { .arena = &ctx->scratch } };

    parser.reader = (struct reader){ ctx, text, text };
    if (payloads)
        index_payloads(&parser);
    if (read_head(&parser) && find_sections(&parser) && parse_sections(&parser))
        return parser.module;
    module_free(parser.module);
    return NULL;
}
