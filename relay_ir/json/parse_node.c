#include <limits.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/json/parser.h"
#include "base/json/scalar.h"

bool json_reference(struct json_parser *parser, const struct json_path *place, const cJSON *item,
                    int index, struct value **value)
{
    struct arena *scratch = &parser->ctx->scratch;
    const struct declaration *known;
    const char *name;

    *value = NULL;
    if (!cJSON_IsString(item) || !json_to_text(item, scratch, &name))
        return json_wrong(&parser->errors, place, item, "the name of a value");
    *value = map_get(&parser->section->fn->names, name);
    if (*value)
        return true;
    known = map_get(&parser->section->names, name);
    if (!known)
        return json_fail(&parser->errors, place,
                         "found '%s', wanted the name of a value of this function",
                         str_safe(scratch, name, 60));
    if (strcmp(known->list, "nodes") != 0 || known->index < index)
        return false; /* what computes it is wrong */
    json_fail(&parser->errors, place,
              "found '%s', which nodes[%d] computes only then; wanted an earlier one",
              str_safe(scratch, name, 60), known->index);
    diag_help(parser->ctx, "nodes must be in topological order, without cycles");
    return false;
}

static bool read_operator(struct json_parser *parser, const struct json_path *place,
                          const cJSON *object, enum op *op)
{
    const struct json_path at = { .up = place, .key = "op" };
    const char *names[OP_COUNT], *name, *near;

    *op = OP_COUNT;
    if (!json_text_member(&parser->errors, place, object, "op", NULL, &name))
        return false;
    *op = op_from_name(name);
    if (*op != OP_COUNT && *op != OP_RETURN)
        return true;
    *op = OP_COUNT;
    for (int i = 0; i < OP_COUNT; i++)
        names[i] = op_name((enum op)i);
    near = str_nearest(name, names, OP_COUNT);
    json_wrong(&parser->errors, &at, json_get(object, "op"), "an operator");
    if (near && strcmp(near, name) != 0)
        diag_help(parser->ctx, "did you mean %s?", near);
    return false;
}

static bool read_inputs(struct json_parser *parser, const struct json_path *place,
                        const cJSON *object, int index, struct node_args *args)
{
    const struct json_path inputs_at = { .up = place, .key = "inputs" };
    const cJSON *list, *item;
    struct value **inputs;
    int i = 0;
    bool ok = true;

    args->n_inputs = json_list(&parser->errors, place, object, "inputs", &list);
    if (args->n_inputs < 0)
        return false;
    inputs = arena_array(&parser->ctx->scratch, struct value *, args->n_inputs);
    args->inputs = inputs;
    cJSON_ArrayForEach(item, list)
    {
        const struct json_path at = { .up = &inputs_at, .index = i };

        if (!cJSON_IsNull(item))
            ok = json_reference(parser, &at, item, index, &inputs[i]) && ok;
        i++;
    }
    return ok;
}

/* Names; the types that stand there are compared with what inference gives when the node is made.
 */
static bool read_outputs(struct json_parser *parser, const struct json_path *place,
                         const cJSON *object, struct node_args *args)
{
    static const char *const keys[] = { "name", JSON_TYPE_KEYS, NULL };
    const struct json_path outputs_at = { .up = place, .key = "outputs" };
    const cJSON *list, *item;
    const char **names;
    int i = 0;
    bool ok = true;

    args->n_outputs = json_list(&parser->errors, place, object, "outputs", &list);
    if (args->n_outputs < 0)
        return false;
    if (args->n_outputs == 0)
        return json_fail(&parser->errors, &outputs_at, "found no outputs, wanted at least one");
    names = arena_array(&parser->ctx->scratch, const char *, args->n_outputs);
    args->names = names;
    cJSON_ArrayForEach(item, list)
    {
        const struct json_path at = { .up = &outputs_at, .index = i };

        names[i] = json_name(parser, item);
        ok = names[i] && json_object(&parser->errors, &at, item, keys) && ok;
        i++;
    }
    return ok;
}

static bool check_outputs(struct json_parser *parser, const struct json_path *place,
                          const cJSON *object, const struct node *node)
{
    const struct json_path outputs_at = { .up = place, .key = "outputs" };
    const cJSON *item;
    int i = 0;
    bool ok = true;

    cJSON_ArrayForEach(item, json_get(object, "outputs"))
    {
        struct type *inferred = &node->outputs[i]->type, stated;
        const struct json_path at = { .up = &outputs_at, .index = i++ };

        if (!json_get(item, "dtype") && !json_get(item, "shape"))
            continue;
        if (!json_type(parser, &at, item, false, &stated))
            ok = false;
        else if (!type_state(inferred, &stated))
            ok = json_fail(&parser->errors, &at,
                           "found the type %s, wanted %s, which inference gives",
                           type_text(&parser->ctx->scratch, &stated),
                           type_text(&parser->ctx->scratch, inferred));
    }
    return ok;
}

static bool read_numbers(struct json_parser *parser, const struct json_path *place,
                         const cJSON *list, bool real, int *n, void *at)
{
    const cJSON *item;

    if (!cJSON_IsArray(list))
        return json_wrong(&parser->errors, place, list, "a list of numbers");
    if (cJSON_GetArraySize(list) > MAX_INTS)
        return json_fail(&parser->errors, place, "found %d numbers, wanted at most %d",
                         cJSON_GetArraySize(list), MAX_INTS);
    *n = 0;
    cJSON_ArrayForEach(item, list)
    {
        const struct json_path element = { .up = place, .index = *n };

        if (!(real ? json_to_real(item, (double *)at + *n) : json_to_int(item, (int64_t *)at + *n)))
            return json_wrong(&parser->errors, &element, item,
                              real ? "a number" : "a whole number");
        ++*n;
    }
    return true;
}

static bool read_attribute(struct json_parser *parser, const struct json_path *place,
                           const cJSON *item, enum attr_kind kind, void *at)
{
    const char *text = NULL;

    switch (kind) {
    case ATTR_BOOL:
        *(bool *)at = cJSON_IsTrue(item);
        return cJSON_IsBool(item) || json_wrong(&parser->errors, place, item, "true or false");
    case ATTR_DTYPE:
        if (!item)
            return true;
        if (json_to_text(item, &parser->ctx->scratch, &text))
            *(enum dtype *)at = dtype_from_name(text);
        return *(enum dtype *)at != DTYPE_NONE ||
               json_wrong(&parser->errors, place, item, "an element type such as f32");
    case ATTR_INT:
        return json_to_int(item, at) ||
               json_wrong(&parser->errors, place, item, "a whole number (from 2^53 on, as text)");
    case ATTR_REAL:
        return json_to_real(item, at) ||
               json_wrong(&parser->errors, place, item, "a number, \"inf\", \"-inf\" or \"nan\"");
    case ATTR_INTS:
        return read_numbers(parser, place, item, false, &((struct ints *)at)->n,
                            ((struct ints *)at)->at);
    case ATTR_REALS:
        return read_numbers(parser, place, item, true, &((struct reals *)at)->n,
                            ((struct reals *)at)->at);
    case ATTR_WORD: break;
    }
    if (item && json_to_text(item, &parser->ctx->perm, &text))
        *(const char **)at = text;
    return text || json_wrong(&parser->errors, place, item, "a text");
}

static bool read_attributes(struct json_parser *parser, const struct json_path *place,
                            const cJSON *object, enum op op, union attrs *attrs)
{
    const struct attr_schema *schema = attrs_schema(op_row(op)->attrs);
    const struct json_path attributes_at = { .up = place, .key = "attributes" };
    const cJSON *attributes = json_get(object, "attributes");
    const char **keys = arena_array(&parser->ctx->scratch, const char *, schema->n_fields + 1);
    bool ok;

    if (!attributes && schema->n_fields == 0)
        return true;
    for (int i = 0; i < schema->n_fields; i++)
        keys[i] = schema->fields[i].name;
    ok = json_object(&parser->errors, &attributes_at, attributes, keys);
    for (int i = 0; cJSON_IsObject(attributes) && i < schema->n_fields; i++) {
        const struct attr_field *field = &schema->fields[i];
        const struct json_path at = { .up = &attributes_at, .key = field->name };

        ok = read_attribute(parser, &at, json_get(attributes, field->name), field->kind,
                            (char *)attrs + field->offset) &&
             ok;
    }
    return ok;
}

static bool read_origins(struct json_parser *parser, const struct json_path *place,
                         const cJSON *object, const struct origin **first)
{
    static const char *const keys[] = { "op_type", "name", "index", NULL };
    const struct json_path origins_at = { .up = place, .key = "origins" };
    const struct origin **end = first;
    const cJSON *list, *item;
    int i = 0;

    if (!json_get(object, "origins"))
        return true;
    if (json_list(&parser->errors, place, object, "origins", &list) < 0)
        return false;
    cJSON_ArrayForEach(item, list)
    {
        const struct json_path at = { .up = &origins_at, .index = i++ };
        struct origin *origin = arena_new(&parser->ctx->perm, struct origin);
        int64_t index;

        if (!json_object(&parser->errors, &at, item, keys) ||
            !json_text_member(&parser->errors, &at, item, "op_type", NULL, &origin->op_type) ||
            !json_text_member(&parser->errors, &at, item, "name", "", &origin->name) ||
            !json_int_member(&parser->errors, &at, item, "index", -1, -1, INT_MAX, &index))
            return false;
        origin->index = (long)index;
        *end = origin;
        end = &origin->next;
    }
    return true;
}

static bool read_callee(struct json_parser *parser, const struct json_path *place,
                        const cJSON *object, struct function **callee)
{
    const struct json_path at = { .up = place, .key = "callee" };
    struct section *section;
    const char *name;

    if (!json_text_member(&parser->errors, place, object, "callee", NULL, &name))
        return false;
    section = map_get(&parser->by_name, name);
    if (!section)
        return json_wrong(&parser->errors, &at, json_get(object, "callee"),
                          "the name of a function");
    if (section->open)
        return json_wrong(&parser->errors, &at, json_get(object, "callee"),
                          "a function that does not call this one");
    if (parser->depth == MAX_CALLS)
        return json_fail(&parser->errors, &at, "calls are nested more than %d deep", MAX_CALLS);
    *callee = section->fn;
    return json_section(parser, section);
}

/* Type inference takes it for granted that calls fit. */
static bool check_call(struct json_parser *parser, const struct json_path *place,
                       const struct node_args *args)
{
    const struct function *callee = args->callee;
    struct arena *scratch = &parser->ctx->scratch;
    bool ok = true;

    if (callee->n_params != args->n_inputs || callee->ret->n_inputs != args->n_outputs)
        return json_fail(&parser->errors, place,
                         "found %d inputs and %d outputs, wanted %d and %d, as '%s' has them",
                         args->n_inputs, args->n_outputs, callee->n_params, callee->ret->n_inputs,
                         str_safe(scratch, callee->name, 60));
    for (int i = 0; i < args->n_inputs; i++) {
        const struct json_path inputs_at = { .up = place, .key = "inputs" };
        const struct json_path at = { .up = &inputs_at, .index = i };

        if (!args->inputs[i])
            ok = json_fail(&parser->errors, &at, "found null, wanted a value");
        else if (!type_same_storage(&args->inputs[i]->type, &callee->params[i]->type))
            ok = json_fail(&parser->errors, &at, "found the type %s, wanted %s",
                           type_text(scratch, &args->inputs[i]->type),
                           type_text(scratch, &callee->params[i]->type));
    }
    return ok;
}

static bool make_node(struct json_parser *parser, const struct json_path *place, const cJSON *item,
                      const struct node_args *args)
{
    const int wanted = op_row(args->op)->n_outputs;
    struct node *node;

    if (wanted >= 0 && args->n_outputs != wanted)
        return json_fail(&parser->errors, place, "found %d outputs, wanted %d", args->n_outputs,
                         wanted);
    if (args->callee && !check_call(parser, place, args))
        return false;
    node = node_new(parser->section->fn, args);
    if (node)
        return check_outputs(parser, place, item, node);
    json_note(&parser->errors, place);
    return false;
}

bool json_node(struct json_parser *parser, const struct json_path *place, const cJSON *item,
               int index)
{
    static const char *const keys[] = { "op",         "callee",  "inputs", "outputs",
                                        "attributes", "origins", NULL };
    struct node_args args = { .op = OP_COUNT };
    union attrs attrs;
    bool ok;

    memset(&attrs, 0, sizeof attrs);
    args.attrs = &attrs;
    if (!json_object(&parser->errors, place, item, keys))
        return false;
    ok = read_operator(parser, place, item, &args.op);
    if (args.op == OP_CALL)
        ok = read_callee(parser, place, item, &args.callee) && ok;
    else if (json_get(item, "callee"))
        ok = json_fail(&parser->errors, place,
                       "found \"callee\", wanted it with the operator call only");
    ok = read_inputs(parser, place, item, index, &args) && ok;
    ok = read_outputs(parser, place, item, &args) && ok;
    if (args.op != OP_COUNT)
        ok = read_attributes(parser, place, item, args.op, &attrs) && ok;
    ok = read_origins(parser, place, item, &args.origin) && ok;
    return ok && make_node(parser, place, item, &args);
}
