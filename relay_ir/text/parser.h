/* parser.h - state shared by parse.c (module, functions), parse_constant.c and parse_node.c (lines
 * of a function's body). */
#ifndef RELAY_IR_TEXT_PARSER_H
#define RELAY_IR_TEXT_PARSER_H

#include "relay_ir/ir.h"
#include "relay_ir/text/reader.h"

enum { MAX_CALL_DEPTH = 64 }; /* nesting depth of calls */

/* A function whose head has been seen; its body is parsed in order, or earlier when it is
 * called. */
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
    struct map vectors;     /* scales and zero points of its types */
    struct map sections;    /* by name */
    struct section *first;
    int depth;
};

/* Indexes the constants of parser->payloads by checksum. */
void parser_index_payloads(struct parser *parser);

/* "const @name : (2) f32 = [1, 2]", behind "const" */
bool parser_constant(struct parser *parser);

/* "%y = nn.relu(%x) : (1,3) f32  from Relu #1" */
bool parser_node(struct parser *parser);

/* "%x", "@w" or, where it is optional, "_" */
bool parser_reference(struct parser *parser, bool optional, struct value **value);

/* False after an error if the function already has a value of this name. */
bool parser_check_new(struct parser *parser, const char *name);

/* Parses a function after its name. */
bool parser_section(struct parser *parser, struct section *section);

#endif
