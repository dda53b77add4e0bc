/* parser.h - the state that the files of the parser share: parse.c (the module), parse_function.c,
 * parse_constant.c, parse_node.c (its rows), type.c, and reader.c (names of values).
 *
 * Errors carry the path in the JSON: "functions[0].nodes[3].inputs[1]: found 'w', ...". The parser
 * continues after an error, up to JSON_MAX_ERRORS, and does not report what follows from an earlier
 * error. */
#ifndef RELAY_IR_JSON_PARSER_H
#define RELAY_IR_JSON_PARSER_H

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/json/path.h"
#include "base/json/read.h"
#include "relay_ir/ir.h"

enum {
    MAX_CALLS = 8,           /* nesting depth of calls; relayc's own graphs have 3 */
    MAX_JSON_BYTES = 1 << 27 /* cJSON needs up to 32 times as much memory */
};

/* A function's object; parsed in order, or earlier when it is called. */
struct section {
    const cJSON *item;
    struct function *fn;
    int index;
    bool open;         /* being read: a call of it would be recursive */
    bool done, broken; /* broken: errors were reported */
    struct map names;  /* all values of the function -> struct declaration */
};

/* Where a value is declared: "nodes", 7. */
struct declaration {
    const char *list;
    int index;
};

struct json_parser {
    struct ctx *ctx;
    struct json_errors errors;
    struct module *module;
    struct mapping *data; /* NULL = there is no data file */
    const char *data_file;
    int n_sections, depth;
    struct section *sections;
    struct map by_name; /* of functions -> struct section */
    struct map symbols; /* global_symbol -> struct section */
    struct section *section;
    struct json_path functions, place; /* "functions", "functions[i]" of the section */
};

/* --- type.c, reader.c ------------------------------------------------------------------------- */

/* The keys of a type, for lists of keys. */
#define JSON_TYPE_KEYS "dtype", "shape", "calibrated", "scaled", "blocks"

/* type.c: parses "dtype", "shape" and the quantisation; constant: the type is of a constant. */
bool json_type(struct json_parser *parser, const struct json_path *place, const cJSON *object,
               bool constant, struct type *type);

/* Name of a value's object; NULL if it is invalid, which json_declare has reported. */
const char *json_name(struct json_parser *parser, const cJSON *object);

/* Records the value's name in the section; an error if it is invalid or declared twice. */
bool json_declare(struct json_parser *parser, const struct json_path *place, const cJSON *object,
                  const char *list, int index);

/* --- parse_constant.c, parse_node.c, parse_function.c ----------------------------------------- */

bool json_constant(struct json_parser *parser, const struct json_path *place, const cJSON *item);
bool json_node(struct json_parser *parser, const struct json_path *place, const cJSON *item,
               int index);

/* The value that an input of nodes[index] or a result (index INT_MAX) names. False after an error,
 * or where the value is missing because of one. */
bool json_reference(struct json_parser *parser, const struct json_path *place, const cJSON *item,
                    int index, struct value **value);

/* Parses the section unless that is done. False if it is broken. */
bool json_section(struct json_parser *parser, struct section *section);

#endif
