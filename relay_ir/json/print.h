/* print.h - parts of a graph as JSON functions: what module_write_json and function_json put
 * together, and what partition/plugin.c shows of a match that is no function yet. */
#ifndef RELAY_IR_JSON_PRINT_H
#define RELAY_IR_JSON_PRINT_H

#include <cjson/cJSON.h>

#include "base/file.h"
#include "relay_ir/ir.h"

/* A function, or nodes that could be one. */
struct json_part {
    const char *name;
    const char *compiler, *composite, *global_symbol; /* NULL = left out */
    int n_params, n_constants, n_nodes, n_results;
    struct value *const *params, *const *constants;
    struct node *const *nodes; /* in topological order */
    struct value *const *results;
    const char *const *result_names;
    int n_captures; /* "captures": {"w": "conv1.weight"}, for plug-ins; 0 = left out */
    const char *const *capture_names;
    const struct value *const *captured;
};

struct json_part json_part_of(const struct function *fn, struct arena *arena);

/* type.c: adds "dtype", "shape" and what is known of the numbers. */
void json_add_type(cJSON *item, const struct type *type);

/* Where the payloads of constants with more elements than stand in the JSON go. */
struct json_data {
    struct writer *writer;
    struct map written; /* address and size -> where: payloads that several constants share */
};

/* Appends an object of "functions". Big constants have "bytes", and "crc32" if `checksums`, and
 * "offset" if there is a data file (NULL = there is none). */
void json_part_print(struct str *out, const struct json_part *part, bool checksums,
                     struct json_data *data);

/* fn and all functions that it calls, in order of the first call; *n of them. In the arena. */
struct function **functions_called(const struct function *fn, struct arena *arena, int *n);

#endif
