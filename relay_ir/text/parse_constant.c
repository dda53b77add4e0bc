#include "relay_ir/text/parser.h"
#include "relay_ir/text/words.h"

static const char *payload_key(struct arena *arena, unsigned long checksum, const struct type *type,
                               const char *name)
{
    return arena_printf(arena, "%08lx %s %s", checksum, type_text(arena, type), name);
}

static void index_types(struct parser *parser, const struct function *fn)
{
    for (int i = 0; i < fn->n_params; i++)
        reader_index_type(&parser->vectors, &fn->params[i]->type);
    for (const struct value *v = fn->constants; v; v = v->next)
        reader_index_type(&parser->vectors, &v->type);
    for (const struct node *n = fn->first; n; n = n->next)
        for (int i = 0; i < n->n_outputs; i++)
            reader_index_type(&parser->vectors, &n->outputs[i]->type);
}

/* Payloads are found by checksum, type and name, or else by checksum and type. */
void parser_index_payloads(struct parser *parser)
{
    struct arena *scratch = parser->by_checksum.arena;

    for (const struct function *fn = parser->payloads->functions; fn; fn = fn->next) {
        index_types(parser, fn);
        for (struct value *v = fn->constants; v; v = v->next) {
            const unsigned long checksum = payload_checksum(v);
            const char *any = payload_key(scratch, checksum, &v->type, "");

            map_set(&parser->by_checksum, payload_key(scratch, checksum, &v->type, v->name), v);
            if (!map_get(&parser->by_checksum, any))
                map_set(&parser->by_checksum, any, v);
        }
    }
}

static bool text_payload(struct parser *parser, const struct type *type, void **data)
{
    if (type_bytes(type) > MAX_TEXT_BYTES)
        return reader_fail(&parser->reader, "a constant of %zu bytes is too big for the text",
                           type_bytes(type));
    *data = constant_alloc(parser->fn, type);
    return true;
}

static bool find_payload(struct parser *parser, const char *name, const struct type *type,
                         const void **data)
{
    struct reader *reader = &parser->reader;
    const char *const start = reader->at;
    const struct value *found = NULL;
    unsigned long checksum = 0;
    void *zeros = NULL;

    if (!reader_checksum(reader, &checksum))
        return false;
    if (parser->payloads) {
        struct arena *scratch = parser->by_checksum.arena;

        found = map_get(&parser->by_checksum, payload_key(scratch, checksum, type, name));
        if (!found)
            found = map_get(&parser->by_checksum, payload_key(scratch, checksum, type, ""));
    }
    if (!found && !parser->zero_missing) {
        reader->at = start;
        return reader_fail(reader, "no payload with this type and checksum");
    }
    if (!found && !text_payload(parser, type, &zeros))
        return false;
    *data = found ? found->data : zeros;
    return true;
}

static bool read_elements(struct parser *parser, const struct type *type, const void **data)
{
    void *elements = NULL;

    if (!text_payload(parser, type, &elements))
        return false;
    *data = elements;
    return reader_elements(&parser->reader, type->dtype, type_elements(type), elements);
}

bool parser_check_new(struct parser *parser, const char *name)
{
    if (!map_get(&parser->fn->names, name))
        return true;
    return reader_fail(&parser->reader, "'%s' is defined twice",
                       str_safe(&parser->module->ctx->scratch, name, 60));
}

bool parser_constant(struct parser *parser)
{
    struct reader *reader = &parser->reader;
    const char *name;
    struct type type;
    const void *data = NULL;

    if (!reader_expect(reader, "@") || !reader_name(reader, &name) ||
        !parser_check_new(parser, name) || !reader_expect(reader, ":") ||
        !reader_type(reader, true, &type) || !reader_expect(reader, "="))
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
