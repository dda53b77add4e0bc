#include "relay_ir/text.h"

#include <string.h>

#include "relay_ir/text/parser.h"

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
            !parser_check_new(parser, name) || !reader_expect(reader, ":") ||
            !reader_type(reader, false, &type))
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
        if (!(resolve ? parser_reference(parser, false, &value) : reader_name(reader, &name)))
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
        if (!(reader_accept(reader, "const") ? parser_constant(parser) : parser_node(parser)))
            return false;
    }
    return reader_end_line(reader);
}

bool parser_section(struct parser *parser, struct section *section)
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
         (!reader_accept(reader, "global_symbol") || reader_string(reader, &fn->global_symbol)) &&
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
        if (!section->end && !parser_section(parser, section))
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
                             .vectors = { .arena = &ctx->scratch },
                             .sections = { .arena = &ctx->scratch } };

    parser.reader = (struct reader){ ctx, text, text, &parser.vectors, zero_missing };
    if (payloads)
        parser_index_payloads(&parser);
    if (read_head(&parser) && find_sections(&parser) && parse_sections(&parser))
        return parser.module;
    module_free(parser.module);
    return NULL;
}
