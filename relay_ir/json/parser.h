/* parser.h - the state that the files of the parser share: parse.c (the module), parse_function.c,
 * parse_constant.c, parse_node.c (its rows) and reader.c (errors, keys, names, types).
 *
 * Errors carry the path in the JSON: "functions[0].nodes[3].inputs[1]: found 'w', ...". The parser
 * continues after an error, up to MAX_ERRORS, and does not report what follows from an earlier
 * error. */
#ifndef RELAY_IR_JSON_PARSER_H
#define RELAY_IR_JSON_PARSER_H

#include <cjson/cJSON.h>

#include "base/file.h"
#include "relay_ir/ir.h"

enum {
    MAX_ERRORS = 100,
    MAX_CALLS = 8,           /* nesting depth of calls; relayc's own graphs have 3 */
    MAX_JSON_BYTES = 1 << 27 /* cJSON needs up to 32 times as much memory */
};

/* A path in the JSON, as a list on the stack. */
struct place {
    const struct place *up; /* NULL = the root */
    const char *key;        /* NULL = an element of a list */
    int index;
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
    struct module *module;
    int n_errors_before;
    struct mapping *data; /* NULL = there is no data file */
    const char *data_file;
    int n_sections, depth;
    struct section *sections;
    struct map by_name; /* of functions -> struct section */
    struct map symbols; /* global_symbol -> struct section */
    struct section *section;
    struct place functions, place; /* "functions", "functions[i]" of the section */
};

/* --- reader.c --------------------------------------------------------------------------------- */

/* Record "PLACE: message", "PLACE: found ..., wanted WANTED"; item NULL = missing key. Both return
 * false. */
bool json_fail(struct json_parser *parser, const struct place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool json_wrong(struct json_parser *parser, const struct place *place, const cJSON *item,
                const char *wanted);

/* Adds a note with the path to the error that was just reported. */
void json_note(struct json_parser *parser, const struct place *place);

bool json_too_many_errors(const struct json_parser *parser);

/* An object with these keys and no others, each once; keys ends with NULL. */
bool json_object(struct json_parser *parser, const struct place *place, const cJSON *item,
                 const char *const *keys);

const cJSON *json_member(const cJSON *object, const char *key); /* NULL = missing */

/* The list under `key`, in *list. Returns its length, or -1 after an error. */
int json_list(struct json_parser *parser, const struct place *place, const cJSON *object,
              const char *key, const cJSON **list);

/* A text, in ctx->perm. A missing one is an error unless `fallback` is not NULL. */
bool json_text_member(struct json_parser *parser, const struct place *place, const cJSON *object,
                      const char *key, const char *fallback, const char **text);

/* A number of least .. most; a missing one is an error if fallback < least. */
bool json_int_member(struct json_parser *parser, const struct place *place, const cJSON *object,
                     const char *key, int64_t fallback, int64_t least, int64_t most,
                     int64_t *number);

/* The keys of a type, for lists of keys. */
#define JSON_TYPE_KEYS "dtype", "shape", "calibrated", "scaled", "blocks"

/* type.c: parses "dtype", "shape" and the quantisation; constant: the type is of a constant. */
bool json_type(struct json_parser *parser, const struct place *place, const cJSON *object,
               bool constant, struct type *type);

/* Name of a value's object; NULL if it is invalid, which json_declare has reported. */
const char *json_name(struct json_parser *parser, const cJSON *object);

/* Records the value's name in the section; an error if it is invalid or declared twice. */
bool json_declare(struct json_parser *parser, const struct place *place, const cJSON *object,
                  const char *list, int index);

/* --- parse_constant.c, parse_node.c, parse_function.c ----------------------------------------- */

bool json_constant(struct json_parser *parser, const struct place *place, const cJSON *item);
bool json_node(struct json_parser *parser, const struct place *place, const cJSON *item, int index);

/* The value that an input of nodes[index] or a result (index INT_MAX) names. False after an error,
 * or where the value is missing because of one. */
bool json_reference(struct json_parser *parser, const struct place *place, const cJSON *item,
                    int index, struct value **value);

/* Parses the section unless that is done. False if it is broken. */
bool json_section(struct json_parser *parser, struct section *section);

#endif
