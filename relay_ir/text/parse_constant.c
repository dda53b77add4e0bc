#include <stdlib.h>
#include <string.h>

#include "relay_ir/text/parser.h"
#include "relay_ir/text/words.h"

enum { MAX_TEXT_PAYLOAD = 1 << 26 }; /* bytes of a constant that the text alone asks for */

static const char *payload_key(struct arena *arena, unsigned long checksum, const struct type *type,
                               const char *name)
{
    return arena_printf(arena, "%08lx %s %s", checksum, type_text(arena, type), name);
}

/* Payloads are found by checksum, type and name, or else by checksum and type. */
void parser_index_payloads(struct parser *parser)
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
    void *elements = NULL;
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
            return reader_expected(reader,
                                   arena_printf(&reader->ctx->scratch, "an element of type %s",
                                                dtype_name(type->dtype)));
    }
    if (i < n && i != 1)
        return reader_fail(reader, "'...' stands behind the first element only");
    for (; i < n; i++)
        memcpy((char *)elements + (size_t)i * bytes, elements, bytes);
    return reader_expect(reader, "]");
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
        !reader_type(reader, &type) || !reader_expect(reader, "="))
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
