/* parser.h - the state that the three files of the parser share: parse.c (module, functions),
 * parse_constant.c and parse_node.c (the lines of a function's body). */
#ifndef RELAY_IR_TEXT_PARSER_H
#define RELAY_IR_TEXT_PARSER_H

#include "relay_ir/ir.h"
#include "relay_ir/text/reader.h"

enum { MAX_CALL_DEPTH = 64 }; /* of functions that call functions */

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
    struct map vectors;     /* scales and zero points of its types */
    struct map sections;    /* by name */
    struct section *first;
    int depth;
};

/* Makes the payloads of parser->payloads known by their checksums. */
void parser_index_payloads(struct parser *parser);

/* "const @name : (2) f32 = [1, 2]", behind "const" */
bool parser_constant(struct parser *parser);

/* "%y = nn.relu(%x) : (1,3) f32  from Relu #1" */
bool parser_node(struct parser *parser);

/* "%x", "@w" or, where it is optional, "_" */
bool parser_reference(struct parser *parser, bool optional, struct value **value);

/* An error if the function has a value of this name already. */
bool parser_check_new(struct parser *parser, const char *name);

/* Everything of a function behind its name. */
bool parser_section(struct parser *parser, struct section *section);

#endif
