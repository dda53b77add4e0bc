#include "partition/plugin_call.h"

#include <string.h>

#include "base/str.h"

/* --- what the plug-in asks and gives ---------------------------------------------------------- */

static struct plugin_call *host_of(const struct relayc_call *call)
{
    return call->host;
}

static int refuse(const struct relayc_call *call, const char *found, const char *wanted)
{
    struct plugin_call *host = host_of(call);

    if (!host->found) {
        host->found = arena_strdup(host->arena, found ? found : "");
        host->wanted = arena_strdup(host->arena, wanted ? wanted : "");
    }
    return 0;
}

static int fail(const struct relayc_call *call, const char *message)
{
    struct plugin_call *host = host_of(call);

    if (!host->failure)
        host->failure = arena_strdup(host->arena, message && *message ? message : "no reason");
    return 0;
}

static const struct json_part *find_part(const struct plugin_call *host, const char *function)
{
    for (int i = 0; i < host->n_parts; i++)
        if (!function ||
            strcmp(str_safe(host->arena, host->parts[i].name, SIZE_MAX), function) == 0)
            return &host->parts[i];
    return NULL;
}

static struct relayc_tensor tensor_of(const struct value *value)
{
    struct relayc_tensor tensor = { .dtype = dtype_name(value->type.dtype),
                                    .rank = value->type.rank,
                                    .data = value->kind == VALUE_CONSTANT ? value->data : NULL,
                                    .bytes = type_bytes(&value->type) };

    for (int i = 0; i < value->type.rank; i++)
        tensor.dim[i] = value->type.dim[i];
    return tensor;
}

static int constant(const struct relayc_call *call, const char *function, const char *name,
                    struct relayc_tensor *tensor)
{
    const struct plugin_call *host = host_of(call);
    const struct json_part *part = find_part(host, function);

    for (int i = 0; part && name && i < part->n_constants; i++)
        if (strcmp(str_safe(host->arena, part->constants[i]->name, SIZE_MAX), name) == 0) {
            *tensor = tensor_of(part->constants[i]);
            return 1;
        }
    return 0;
}

static int capture(const struct relayc_call *call, const char *function, const char *name,
                   struct relayc_tensor *tensor)
{
    const struct json_part *part = find_part(host_of(call), function);

    for (int i = 0; part && name && i < part->n_captures; i++)
        if (strcmp(part->capture_names[i], name) == 0) {
            *tensor = tensor_of(part->captured[i]);
            return 1;
        }
    return 0;
}

/* Whether `what` makes sense now, and with this key. */
static bool may_add(const struct relayc_call *call, const char *what, const char *key)
{
    struct plugin_call *host = host_of(call);

    if (host->lowering && key && *key &&
        strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.") ==
            strlen(key))
        return true;
    if (!host->lowering)
        fail(call, arena_printf(host->arena, "%s outside of lower and assemble", what));
    else
        fail(call, arena_printf(host->arena,
                                "%s with the key '%s', which has characters outside [A-Za-z0-9_.]",
                                what, key ? str_safe(host->arena, key, 60) : "NULL"));
    return false;
}

static void add_text(const struct relayc_call *call, const char *key, const char *text)
{
    if (may_add(call, "add_text", key))
        lowering_text(host_of(call)->lowering, key, "%s", text ? text : "");
}

static void add_int(const struct relayc_call *call, const char *key, int64_t number)
{
    if (may_add(call, "add_int", key))
        lowering_int(host_of(call)->lowering, key, number);
}

/* The tensor's type; NULL, or why there is none. */
static const char *tensor_type(const struct relayc_tensor *tensor, struct type *type)
{
    const enum dtype dtype = tensor && tensor->dtype ? dtype_from_name(tensor->dtype) : DTYPE_NONE;
    struct ctx *ctx = ctx_new(NULL); /* its diagnostics are dropped: the caller says more */
    bool fits;

    *type = (struct type){ .dtype = dtype };
    if (dtype != DTYPE_NONE && tensor->rank >= 0 && tensor->rank <= MAX_RANK)
        *type = type_make(dtype, tensor->rank, tensor->dim);
    fits = type_check_size(ctx, NULL, type);
    ctx_free(ctx);
    if (dtype == DTYPE_NONE)
        return "an element type that docs/design/ir.md does not list";
    if (tensor->rank < 0 || tensor->rank > MAX_RANK)
        return "a rank that is not 0 to 8";
    if (!fits)
        return "extents that are negative or too big";
    if (tensor->bytes != type_bytes(type) || !tensor->data)
        return "a size that does not match its type";
    return NULL;
}

static int add_array(const struct relayc_call *call, const char *key,
                     const struct relayc_tensor *tensor, const char *layout)
{
    struct plugin_call *host = host_of(call);
    struct type type;
    const char *reason = tensor_type(tensor, &type);

    if (!may_add(call, "add_array", key))
        return 0;
    if (reason)
        return fail(call, arena_printf(host->arena, "add_array '%s' with %s", key, reason));
    lowering_array(host->lowering, arena_strdup(host->lowering->arena, key), &type,
                   arena_memdup(host->lowering->arena, tensor->data, tensor->bytes),
                   arena_strdup(host->lowering->arena, layout ? layout : ""));
    return 1;
}

static void add_scratch(const struct relayc_call *call, size_t bytes)
{
    struct plugin_call *host = host_of(call);

    if (!may_add(call, "add_scratch", "scratch"))
        return;
    if (bytes > (size_t)TYPE_MAX_BYTES || host->lowering->scratch_bytes > (size_t)TYPE_MAX_BYTES)
        fail(call, arena_printf(host->arena, "add_scratch of %zu bytes", bytes));
    else
        host->lowering->scratch_bytes += bytes;
}

static void add_stream(const struct relayc_call *call, const void *bytes, size_t n)
{
    struct plugin_call *host = host_of(call);

    if (!may_add(call, "add_stream", "stream") || n == 0)
        return;
    if (n > (size_t)TYPE_MAX_BYTES || host->n_stream > (size_t)TYPE_MAX_BYTES || !bytes) {
        fail(call, arena_printf(host->arena, "add_stream of %zu bytes", n));
        return;
    }
    if (host->n_stream + n > host->stream_capacity) {
        uint8_t *grown;

        host->stream_capacity = 2 * (host->n_stream + n);
        grown = arena_array(host->lowering->arena, uint8_t, host->stream_capacity);
        if (host->n_stream)
            memcpy(grown, host->stream, host->n_stream);
        host->stream = grown;
    }
    memcpy(host->stream + host->n_stream, bytes, n);
    host->n_stream += n;
}

/* --- what it is shown ------------------------------------------------------------------------- */

static struct plugin_call *call_new(struct arena *arena, const char *target, const char *composite,
                                    int n_parts)
{
    struct plugin_call *host = arena_new(arena, struct plugin_call);

    host->arena = arena;
    host->n_parts = n_parts;
    host->parts = arena_array(arena, struct json_part, n_parts);
    host->call = (struct relayc_call){ .version = RELAYC_PLUGIN_VERSION,
                                       .target = target,
                                       .composite = composite,
                                       .constant = constant,
                                       .capture = capture,
                                       .refuse = refuse,
                                       .fail = fail,
                                       .add_text = add_text,
                                       .add_int = add_int,
                                       .add_array = add_array,
                                       .add_scratch = add_scratch,
                                       .add_stream = add_stream,
                                       .host = host };
    return host;
}

/* Checksums are left out: check is asked for every match of every row. */
static void print_graph(struct plugin_call *host)
{
    struct str out = { .arena = host->arena };

    str_add(&out, "{\n  \"functions\": [\n");
    for (int i = 0; i < host->n_parts; i++) {
        json_part_print(&out, &host->parts[i], false, NULL);
        str_add(&out, i + 1 < host->n_parts ? ",\n" : "\n");
    }
    str_add(&out, "  ]\n}\n");
    host->call.graph = str_text(&out);
}

static void add_captures(struct arena *arena, struct json_part *part, const struct match *match)
{
    const char **names = arena_array(arena, const char *, match->n_captures);
    const struct value **values = arena_array(arena, const struct value *, match->n_captures);

    for (int i = 0; i < match->n_captures; i++) {
        if (!match->captures[i].value)
            continue;
        names[part->n_captures] = match->captures[i].name;
        values[part->n_captures++] = match->captures[i].value;
    }
    part->capture_names = names;
    part->captured = values;
}

static bool has_value(struct value *const *values, int n, const struct value *wanted)
{
    for (int i = 0; i < n; i++)
        if (values[i] == wanted)
            return true;
    return false;
}

static bool computes(const struct match *match, const struct value *value)
{
    for (int i = 0; i < match->n_nodes; i++)
        if (match->nodes[i] == value->def)
            return true;
    return false;
}

/* Nodes of main as the function that they would become. */
static struct json_part part_of_match(struct arena *arena, const struct composite_row *row,
                                      const struct match *match)
{
    struct json_part part = { .name = row->name,
                              .compiler = row->target->name,
                              .composite = row->name,
                              .n_nodes = match->n_nodes,
                              .nodes = match->nodes,
                              .n_results = match->root->n_outputs,
                              .results = match->root->outputs };
    const char **result_names = arena_array(arena, const char *, part.n_results);
    struct value **params, **constants;
    int n_inputs = 0;

    for (int i = 0; i < match->n_nodes; i++)
        n_inputs += match->nodes[i]->n_inputs;
    params = arena_array(arena, struct value *, n_inputs);
    constants = arena_array(arena, struct value *, n_inputs);
    for (int i = 0; i < match->n_nodes; i++)
        for (int j = 0; j < match->nodes[i]->n_inputs; j++) {
            struct value *value = match->nodes[i]->inputs[j];
            struct value **list = value && value->kind == VALUE_CONSTANT ? constants : params;
            int *n = list == constants ? &part.n_constants : &part.n_params;

            if (value && !computes(match, value) && !has_value(list, *n, value))
                list[(*n)++] = value;
        }
    part.params = params;
    part.constants = constants;
    for (int i = 0; i < part.n_results; i++)
        result_names[i] = part.results[i]->name;
    part.result_names = result_names;
    return part;
}

struct plugin_call *plugin_call_match(struct arena *arena, const struct composite_row *row,
                                      const struct match *match)
{
    const struct function *fn = match->root->fn;
    struct plugin_call *host = call_new(arena, row->target->name, row->name, 1);

    host->parts[0] = fn->composite && strcmp(fn->composite, row->name) == 0
                         ? json_part_of(fn, arena)
                         : part_of_match(arena, row, match);
    add_captures(arena, &host->parts[0], match);
    print_graph(host);
    return host;
}

static const struct composite_row *find_row(const struct target *target, const char *composite)
{
    for (int i = 0; composite && i < target->n_rows; i++)
        if (strcmp(target->rows[i].name, composite) == 0)
            return &target->rows[i];
    return NULL;
}

static void set_place(struct plugin_call *host, const struct region_view *region,
                      struct relayc_place *places, const struct value *value)
{
    static const enum relayc_place_kind kinds[] = { [REGION_INPUT] = RELAYC_INPUT,
                                                    [REGION_OUTPUT] = RELAYC_OUTPUT,
                                                    [REGION_SCRATCH] = RELAYC_SCRATCH,
                                                    [REGION_CONSTANT] = RELAYC_CONSTANT };
    const struct region_place *at = &region->places[value->id];

    places[value->id] =
        (struct relayc_place){ str_safe(host->arena, value->name, SIZE_MAX), kinds[at->kind],
                               at->index, at->offset, type_bytes(&value->type) };
}

static void list_places(struct plugin_call *host, const struct region_view *region)
{
    const struct json_part *part = &host->parts[0];
    struct relayc_place *places =
        arena_array(host->arena, struct relayc_place, region->fn->n_values);

    for (int i = 0; i < part->n_params; i++)
        set_place(host, region, places, part->params[i]);
    for (int i = 0; i < part->n_constants; i++)
        set_place(host, region, places, part->constants[i]);
    for (int i = 0; i < part->n_nodes; i++)
        for (int j = 0; j < part->nodes[i]->n_outputs; j++)
            set_place(host, region, places, part->nodes[i]->outputs[j]);
    host->call.places = places;
    host->call.n_places = (size_t)region->fn->n_values;
    host->call.scratch_bytes = region->scratch_bytes;
    host->call.call_scratch = region->call_scratch;
    host->call.n_call_scratch = region->call_scratch ? (size_t)part->n_nodes : 0;
}

struct plugin_call *plugin_call_region(struct lowering *lowering, const struct target *target,
                                       const struct region_view *region)
{
    int n;
    struct function **all = functions_called(region->fn, lowering->arena, &n);
    struct plugin_call *host = call_new(lowering->arena, target->name, "", n);

    host->lowering = lowering;
    for (int i = 0; i < n; i++) {
        const struct composite_row *row = find_row(target, all[i]->composite);
        const struct match *match = row ? composite_rematch(lowering->ctx, row, all[i]) : NULL;

        if (row && !match)
            return NULL;
        host->parts[i] = json_part_of(all[i], lowering->arena);
        if (match)
            add_captures(lowering->arena, &host->parts[i], match);
    }
    list_places(host, region);
    print_graph(host);
    return host;
}
