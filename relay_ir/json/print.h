/* print.h - nodes and functions as JSON objects: building blocks of module_write_json and
 * function_json, and of partition/plugin.c for a match that is not outlined yet. */
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

/* type.c: adds "dtype", "shape" and the quantisation. */
void json_add_type(cJSON *item, const struct type *type);

/* Data file for payloads that are too large for the JSON. */
struct json_data {
    struct writer *writer;
    struct map written; /* (address, size) -> offset: constants may share a payload */
};

/* Appends an object of "functions". Large constants have "bytes", "crc32" if `checksums`, and
 * "offset" if data is not NULL. */
void json_part_print(struct str *out, const struct json_part *part, bool checksums,
                     struct json_data *data);

/* fn and all functions that it calls, in order of the first call, in the arena; *n is their
 * number. */
struct function **functions_called(const struct function *fn, struct arena *arena, int *n);

#endif
