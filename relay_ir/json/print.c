/* print.c - the graph as JSON: a line per parameter, constant, node and result, so that two
 * versions of a graph can be compared line by line. */
#include "relay_ir/json/print.h"

#include <inttypes.h>
#include <string.h>

#include "relay_ir/json.h"
#include "relay_ir/text/words.h"
#include "relay_ir/json/element.h"
#include "base/json/scalar.h"

enum { ALIGNMENT = 64 }; /* of payloads in the data file */

static void add(cJSON *object, const char *key, cJSON *item)
{
    cJSON_AddItemToObject(object, key, item);
}

static cJSON *value_item(const struct value *value)
{
    cJSON *item = cJSON_CreateObject();

    add(item, "name", json_text(value->name));
    json_add_type(item, &value->type);
    return item;
}

/* Where the payload stands in the data file; it is appended unless another constant has it. */
static int64_t write_payload(struct json_data *data, const struct value *value, size_t bytes)
{
    static const char zeros[ALIGNMENT];
    struct arena *arena = data->written.arena;
    const char *key = arena_printf(arena, "%p %zu", value->data, bytes);
    int64_t *at = map_get(&data->written, key);

    if (!at) {
        at = arena_new(arena, int64_t);
        writer_write(data->writer, zeros, (size_t)(-writer_size(data->writer) % ALIGNMENT));
        *at = (int64_t)writer_size(data->writer);
        writer_write(data->writer, value->data, bytes);
        map_set(&data->written, key, at);
    }
    return *at;
}

static bool is_big(const struct value *constant)
{
    return type_elements(&constant->type) > MAX_WRITTEN_OUT;
}

static cJSON *constant_item(const struct value *value, bool checksums, struct json_data *data)
{
    cJSON *item = value_item(value), *values;

    if (is_big(value)) {
        const size_t bytes = type_bytes(&value->type);
        char checksum[9];

        if (data)
            add(item, "offset", json_int(write_payload(data, value, bytes)));
        add(item, "bytes", json_int((int64_t)bytes));
        if (checksums) {
            snprintf(checksum, sizeof checksum, "%08lx", payload_checksum(value));
            add(item, "crc32", json_text(checksum));
        }
        return item;
    }
    values = cJSON_CreateArray();
    for (int64_t i = 0; i < type_elements(&value->type); i++)
        cJSON_AddItemToArray(values, json_element(value->type.dtype, value->data, i));
    add(item, "values", values);
    return item;
}

static cJSON *origins_item(const struct origin *origin)
{
    cJSON *list = cJSON_CreateArray();

    for (; origin; origin = origin->next) {
        cJSON *item = cJSON_CreateObject();

        add(item, "op_type", json_text(origin->op_type));
        if (*origin->name)
            add(item, "name", json_text(origin->name));
        if (origin->index >= 0)
            add(item, "index", json_int(origin->index));
        cJSON_AddItemToArray(list, item);
    }
    return list;
}

static cJSON *node_item(const struct node *node)
{
    const struct attr_schema *schema = attrs_schema(op_row(node->op)->attrs);
    cJSON *item = cJSON_CreateObject(), *list = cJSON_CreateArray();

    add(item, "op", json_text(op_name(node->op)));
    if (node->callee)
        add(item, "callee", json_text(node->callee->name));
    add(item, "inputs", list);
    for (int i = 0; i < node->n_inputs; i++)
        cJSON_AddItemToArray(list, node->inputs[i] ? json_text(node->inputs[i]->name)
                                                   : cJSON_CreateNull());
    list = cJSON_AddArrayToObject(item, "outputs");
    for (int i = 0; i < node->n_outputs; i++)
        cJSON_AddItemToArray(list, value_item(node->outputs[i]));
    if (schema->n_fields)
        add(item, "attributes", list = cJSON_CreateObject());
    for (int i = 0; i < schema->n_fields; i++) {
        const struct attr_field *field = &schema->fields[i];
        const void *at = (const char *)&node->attrs + field->offset;

        if (field->kind != ATTR_DTYPE || *(const enum dtype *)at != DTYPE_NONE)
            add(list, field->name, json_attribute(field->kind, at));
    }
    if (node->origin)
        add(item, "origins", origins_item(node->origin));
    return item;
}

/* "  KEY: ITEM,\n"; an item of NULL is left out. */
static void print_member(struct str *out, const char *indent, const char *key, cJSON *item)
{
    if (!item)
        return;
    str_printf(out, "%s\"%s\": ", indent, key);
    json_line(out, item);
    str_add(out, ",\n");
}

static void begin_list(struct str *out, const char *key)
{
    str_printf(out, "      \"%s\": [", key);
}

static void print_row(struct str *out, int i, cJSON *item)
{
    str_add(out, i ? ",\n        " : "\n        ");
    json_line(out, item);
}

static void end_list(struct str *out, int n, const char *behind)
{
    str_printf(out, "%s]%s\n", n ? "\n      " : "", behind);
}

static cJSON *optional_text(const char *text)
{
    return text ? json_text(text) : NULL;
}

static cJSON *captures_item(const struct json_part *part)
{
    cJSON *item = cJSON_CreateObject();

    for (int i = 0; i < part->n_captures; i++)
        add(item, part->capture_names[i], json_text(part->captured[i]->name));
    return item;
}

static cJSON *result_item(const struct json_part *part, int i)
{
    cJSON *item = cJSON_CreateObject();

    add(item, "value", json_text(part->results[i]->name));
    if (strcmp(part->result_names[i], part->results[i]->name) != 0)
        add(item, "name", json_text(part->result_names[i]));
    return item;
}

void json_part_print(struct str *out, const struct json_part *part, bool checksums,
                     struct json_data *data)
{
    str_add(out, "    {\n");
    print_member(out, "      ", "name", json_text(part->name));
    print_member(out, "      ", "compiler", optional_text(part->compiler));
    print_member(out, "      ", "composite", optional_text(part->composite));
    print_member(out, "      ", "global_symbol", optional_text(part->global_symbol));
    print_member(out, "      ", "captures", part->n_captures ? captures_item(part) : NULL);
    begin_list(out, "params");
    for (int i = 0; i < part->n_params; i++)
        print_row(out, i, value_item(part->params[i]));
    end_list(out, part->n_params, ",");
    begin_list(out, "constants");
    for (int i = 0; i < part->n_constants; i++)
        print_row(out, i, constant_item(part->constants[i], checksums, data));
    end_list(out, part->n_constants, ",");
    begin_list(out, "nodes");
    for (int i = 0; i < part->n_nodes; i++)
        print_row(out, i, node_item(part->nodes[i]));
    end_list(out, part->n_nodes, ",");
    begin_list(out, "results");
    for (int i = 0; i < part->n_results; i++)
        print_row(out, i, result_item(part, i));
    end_list(out, part->n_results, "");
    str_add(out, "    }");
}

struct json_part json_part_of(const struct function *fn, struct arena *arena)
{
    struct json_part part = { .name = fn->name,
                              .compiler = fn->compiler,
                              .composite = fn->composite,
                              .global_symbol = fn->global_symbol,
                              .n_params = fn->n_params,
                              .params = fn->params,
                              .n_results = fn->ret->n_inputs,
                              .results = fn->ret->inputs,
                              .result_names = fn->result_names };
    struct value **constants;
    struct node **nodes;

    for (const struct value *v = fn->constants; v; v = v->next)
        part.n_constants++;
    for (const struct node *n = fn->first; n; n = n->next)
        part.n_nodes++;
    constants = arena_array(arena, struct value *, part.n_constants);
    nodes = arena_array(arena, struct node *, part.n_nodes);
    part.constants = constants;
    part.nodes = nodes;
    for (struct value *v = fn->constants; v; v = v->next)
        *constants++ = v;
    for (struct node *n = fn->first; n; n = n->next)
        *nodes++ = n;
    return part;
}

struct function **functions_called(const struct function *fn, struct arena *arena, int *n)
{
    struct map seen = { .arena = arena };
    struct function **all;

    map_set(&seen, fn->name, (void *)(uintptr_t)fn);
    for (size_t i = 0; i < seen.n; i++) {
        const struct function *caller = seen.entries[i].value;

        for (const struct node *node = caller->first; node; node = node->next)
            if (node->callee && !map_get(&seen, node->callee->name))
                map_set(&seen, node->callee->name, node->callee);
    }
    *n = (int)seen.n;
    all = arena_array(arena, struct function *, *n);
    for (int i = 0; i < *n; i++)
        all[i] = seen.entries[i].value;
    return all;
}

const char *function_json(const struct function *fn, struct arena *arena)
{
    struct str out = { .arena = arena };
    int n;
    struct function **all = functions_called(fn, arena, &n);

    str_add(&out, "{\n  \"functions\": [\n");
    for (int i = 0; i < n; i++) {
        const struct json_part part = json_part_of(all[i], arena);

        json_part_print(&out, &part, true, NULL);
        str_add(&out, i + 1 < n ? ",\n" : "\n");
    }
    str_add(&out, "  ]\n}\n");
    return str_text(&out);
}

bool module_json_has_data(const struct module *module)
{
    for (const struct function *fn = module->functions; fn; fn = fn->next)
        for (const struct value *v = fn->constants; v; v = v->next)
            if (is_big(v))
                return true;
    return false;
}

static cJSON *data_item(const struct json_data *data, const char *path)
{
    const char *slash = strrchr(path, '/');
    cJSON *item = cJSON_CreateObject();

    add(item, "file", json_text(slash ? slash + 1 : path));
    add(item, "bytes", json_int((int64_t)writer_size(data->writer)));
    return item;
}

bool module_write_json(const struct module *module, struct output_set *set, const char *path,
                       const char *data_path)
{
    struct arena arena = { NULL };
    struct str out = { .arena = &arena }, functions = { .arena = &arena };
    struct writer *json = output_open(set, path);
    struct json_data data = { .written = { .arena = &arena } };

    if (module_json_has_data(module))
        data.writer = output_open(set, data_path);
    for (const struct function *fn = module->functions; fn; fn = fn->next) {
        const struct json_part part = json_part_of(fn, &arena);

        json_part_print(&functions, &part, true, data.writer ? &data : NULL);
        str_add(&functions, fn->next ? ",\n" : "\n");
    }
    str_add(&out, "{\n");
    print_member(&out, "  ", "format", json_text("relayc-graph"));
    print_member(&out, "  ", "version", json_int(1));
    print_member(&out, "  ", "opset", json_int(module->opset));
    print_member(&out, "  ", "onnx_nodes", json_int(module->n_onnx_nodes));
    print_member(&out, "  ", "producer", json_text(module->producer));
    print_member(&out, "  ", "data", data.writer ? data_item(&data, data_path) : NULL);
    str_add(&out, "  \"functions\": [\n");
    writer_text(json, str_text(&out));
    writer_text(json, str_text(&functions));
    writer_text(json, "  ]\n}\n");
    arena_release(&arena);
    return true;
}
