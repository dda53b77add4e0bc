/* extract.c - a part of the main graph, for --cut and --extract. What its outputs do not need is
 * left out before anything is converted, and so may hold what is not supported. */
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/importer.h"

struct part {
    struct import *im;
    const Onnx__GraphProto *graph;
    struct map makers; /* tensor -> the element of `index` of the node that makes it */
    struct map
        infos; /* tensor -> declared type: inputs, outputs and others; Onnx__ValueInfoProto */
    struct map given; /* tensor -> what gives it a value before the nodes: input, initialiser */
    struct map from;  /* tensors that become inputs */
    struct map read;  /* tensors that needed nodes and the outputs read */
    size_t *index;    /* [n_node] 0, 1, 2 ... */
    bool *needed;     /* [n_node] */
    size_t *stack, n_stack;
};

static const char *safe(struct import *im, const char *name)
{
    return str_safe(&im->ctx->perm, name, 120);
}

/* --- names ------------------------------------------------------------------------------------ */

static void add_info(struct part *part, Onnx__ValueInfoProto *info)
{
    if (!map_get(&part->infos, info->name))
        map_set(&part->infos, info->name, info);
}

static void part_begin(struct part *part, struct import *im, const Onnx__GraphProto *graph)
{
    struct map empty = { .arena = &im->arena };

    *part = (struct part){ im, graph, empty, empty, empty, empty, empty, NULL, NULL, NULL, 0 };
    part->index = arena_array(&im->arena, size_t, graph->n_node + 1);
    part->needed = arena_array(&im->arena, bool, graph->n_node + 1);
    part->stack = arena_array(&im->arena, size_t, graph->n_node + 1);
    for (size_t i = 0; i < graph->n_initializer; i++)
        map_set(&part->given, graph->initializer[i]->name, graph->initializer[i]);
    for (size_t i = 0; i < graph->n_input; i++)
        map_set(&part->given, graph->input[i]->name, graph->input[i]);
    for (size_t i = 0; i < graph->n_input; i++)
        add_info(part, graph->input[i]);
    for (size_t i = 0; i < graph->n_output; i++)
        add_info(part, graph->output[i]);
    for (size_t i = 0; i < graph->n_value_info; i++)
        add_info(part, graph->value_info[i]);
    for (size_t i = 0; i < graph->n_node; i++) {
        part->index[i] = i;
        for (size_t k = 0; k < graph->node[i]->n_output; k++)
            if (*graph->node[i]->output[k])
                map_set(&part->makers, graph->node[i]->output[k], &part->index[i]);
    }
}

/* All names that may be meant. */
static const char *nearest(const struct part *part, const char *name)
{
    const size_t n = part->makers.n + part->given.n + part->graph->n_node;
    const char **names = arena_array(&part->im->arena, const char *, n);
    size_t used = 0;

    for (size_t i = 0; i < part->makers.n; i++)
        names[used++] = part->makers.entries[i].key;
    for (size_t i = 0; i < part->given.n; i++)
        names[used++] = part->given.entries[i].key;
    for (size_t i = 0; i < part->graph->n_node; i++)
        names[used++] = part->graph->node[i]->name;
    return str_nearest(name, names, n);
}

/* Adds the tensor of this name, else the outputs of the node of this name, to `found`. */
static bool find_tensors(const struct part *part, const char *option, const char *name,
                         struct map *found)
{
    struct ctx *ctx = part->im->ctx;
    const char *near;
    bool known = false;

    if (map_get(&part->makers, name) || map_get(&part->given, name)) {
        map_set(found, name, part->im);
        return true;
    }
    for (size_t i = 0; i < part->graph->n_node && *name; i++) {
        const Onnx__NodeProto *node = part->graph->node[i];

        if (strcmp(node->name, name) != 0)
            continue;
        for (size_t k = 0; k < node->n_output; k++)
            if (*node->output[k]) {
                map_set(found, node->output[k], part->im);
                known = true;
            }
    }
    if (known)
        return true;
    diag_error(ctx, DIAG_USAGE, NULL, "--%s %s: the model has no tensor and no node of this name",
               option, safe(part->im, name));
    near = nearest(part, name);
    if (near)
        diag_help(ctx, "there is \"%s\"", safe(part->im, near));
    else
        diag_help(ctx,
                  "names are those of the ONNX file: of tensors, or of nodes for their outputs; "
                  "Netron shows them");
    return false;
}

/* --- what is needed --------------------------------------------------------------------------- */

static void read_name(void *user, const char *name)
{
    struct part *part = user;
    const size_t *maker = map_get(&part->makers, name);

    if (*name)
        map_set(&part->read, name, part->im);
    if (!maker || map_get(&part->from, name) || part->needed[*maker])
        return;
    part->needed[*maker] = true;
    part->stack[part->n_stack++] = *maker;
}

/* Names that a branch defines itself are visited too, which at worst keeps a node more than is
 * needed. */
void import_visit_reads(const Onnx__NodeProto *node, void (*visit)(void *user, const char *name),
                        void *user)
{
    for (size_t i = 0; i < node->n_input; i++)
        visit(user, node->input[i]);
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Onnx__GraphProto *graph = node->attribute[i]->g;

        for (size_t k = 0; graph && k < graph->n_node; k++)
            import_visit_reads(graph->node[k], visit, user);
        for (size_t k = 0; graph && k < graph->n_output; k++)
            visit(user, graph->output[k]->name);
    }
}

static void read_backwards(struct part *part)
{
    while (part->n_stack)
        import_visit_reads(part->graph->node[part->stack[--part->n_stack]], read_name, part);
}

int import_part_size(struct import *im, const Onnx__GraphProto *graph, const struct map *from,
                     const struct map *to)
{
    struct part part;
    int n = 0;

    part_begin(&part, im, graph);
    part.from = *from;
    for (size_t i = 0; i < to->n; i++)
        read_name(&part, to->entries[i].key);
    read_backwards(&part);
    for (size_t i = 0; i < graph->n_node; i++)
        n += part.needed[i];
    return n;
}

/* --- the graph of the part -------------------------------------------------------------------- */

/* The node without the outputs that are inputs of the part: they have another source there. */
static Onnx__NodeProto *without_inputs(struct part *part, Onnx__NodeProto *node)
{
    Onnx__NodeProto *copy = NULL;

    for (size_t i = 0; i < node->n_output; i++) {
        if (!map_get(&part->from, node->output[i]))
            continue;
        if (!copy) {
            copy = arena_new(&part->im->arena, Onnx__NodeProto);
            *copy = *node;
            copy->output = arena_array(&part->im->arena, char *, node->n_output);
            memcpy(copy->output, node->output, node->n_output * sizeof *node->output);
        }
        copy->output[i] = arena_strdup(&part->im->arena, "");
    }
    return copy ? copy : node;
}

/* The declaration of a tensor, or one without a type. */
static Onnx__ValueInfoProto *info_of(struct part *part, const char *name)
{
    Onnx__ValueInfoProto *info = map_get(&part->infos, name);

    if (!info) {
        info = arena_new(&part->im->arena, Onnx__ValueInfoProto);
        onnx__value_info_proto__init(info);
        info->name = arena_strdup(&part->im->arena, name);
    }
    return info;
}

static Onnx__ValueInfoProto **infos_of(struct part *part, const struct map *names)
{
    Onnx__ValueInfoProto **list = arena_array(&part->im->arena, Onnx__ValueInfoProto *, names->n);

    for (size_t i = 0; i < names->n; i++)
        list[i] = info_of(part, names->entries[i].key);
    return list;
}

/* Inputs of the graph that are read, in its order, then those that were tensors. */
static void collect_inputs(struct part *part, Onnx__GraphProto *out)
{
    struct map names = { .arena = &part->im->arena };

    for (size_t i = 0; i < part->graph->n_input; i++)
        if (map_get(&part->read, part->graph->input[i]->name))
            map_set(&names, part->graph->input[i]->name, part->im);
    for (size_t i = 0; i < part->from.n; i++)
        map_set(&names, part->from.entries[i].key, part->im);
    out->n_input = names.n;
    out->input = infos_of(part, &names);
}

static Onnx__GraphProto *graph_of(struct part *part, const struct map *outputs)
{
    const Onnx__GraphProto *graph = part->graph;
    struct arena *arena = &part->im->arena;
    Onnx__GraphProto *out = arena_new(arena, Onnx__GraphProto);

    *out = *graph;
    out->n_node = out->n_initializer = 0;
    out->node = arena_array(arena, Onnx__NodeProto *, graph->n_node);
    out->initializer = arena_array(arena, Onnx__TensorProto *, graph->n_initializer);
    for (size_t i = 0; i < graph->n_node; i++)
        if (part->needed[i])
            out->node[out->n_node++] = without_inputs(part, graph->node[i]);
    for (size_t i = 0; i < graph->n_initializer; i++)
        if (map_get(&part->read, graph->initializer[i]->name) &&
            !map_get(&part->from, graph->initializer[i]->name))
            out->initializer[out->n_initializer++] = graph->initializer[i];
    collect_inputs(part, out);
    out->n_output = outputs->n;
    out->output = infos_of(part, outputs);
    return out;
}

/* --- types of new inputs ---------------------------------------------------------------------- */

static bool is_declared(const struct part *part, const char *name)
{
    const Onnx__ValueInfoProto *info = map_get(&part->infos, name);
    const Onnx__TypeProto__Tensor *tensor = info && info->type ? info->type->tensor_type : NULL;
    bool known = tensor && tensor->shape;

    for (size_t i = 0; known && i < tensor->shape->n_dim; i++)
        known = tensor->shape->dim[i]->has_dim_value && tensor->shape->dim[i]->dim_value >= 0;
    return known;
}

/* What `probe` has found, for the import. */
static void note_types(struct import *im, const struct import *probe, const struct scope *scope,
                       const struct map *names)
{
    for (size_t i = 0; i < names->n; i++) {
        const struct value *value = scope_find(scope, names->entries[i].key);
        struct type *type;

        if (!value || value == &probe->failed)
            continue;
        type = arena_new(&im->arena, struct type);
        *type = value->type;
        map_set(&im->part_types, names->entries[i].key, type);
    }
}

/* Converts what is in front of the tensors, quietly and in a module of its own, to see their
 * types. */
static void infer_types(struct import *im, const struct map *names)
{
    const struct diags saved = diag_save(im->ctx);
    struct part head;
    struct import probe = *im;
    struct import_options options = *im->options;
    const Onnx__GraphProto *graph;
    struct scope scope = { .n_opsets = im->model->n_opset_import,
                           .opsets = im->model->opset_import,
                           .node_index = -1 };

    part_begin(&head, im, im->model->graph);
    for (size_t i = 0; i < names->n; i++)
        read_name(&head, names->entries[i].key);
    read_backwards(&head);
    graph = graph_of(&head, names);
    options.n_from = options.n_to = 0;
    options.obstacles = NULL;
    probe.refused = NULL;
    probe.arena = (struct arena){ 0 };
    probe.options = &options;
    probe.module = module_new(im->ctx);
    probe.reader.bulk = &probe.module->bulk;
    probe.functions = probe.computed = (struct map){ .arena = &probe.arena };
    import_functions(&probe);
    import_initializers(&probe, &scope, graph);
    import_inputs(&probe, &scope, graph);
    import_nodes(&probe, &scope, graph->n_node, graph->node);
    note_types(im, &probe, &scope, names);
    arena_release(&probe.arena);
    module_free(probe.module);
    diag_restore(im->ctx, saved);
}

static void find_types(struct part *part)
{
    struct map unknown = { .arena = &part->im->arena };

    for (size_t i = 0; i < part->from.n; i++)
        if (!is_declared(part, part->from.entries[i].key))
            map_set(&unknown, part->from.entries[i].key, part->im);
    if (unknown.n)
        infer_types(part->im, &unknown);
}

/* --- the part --------------------------------------------------------------------------------- */

static bool find_outputs(struct part *part, struct map *outputs)
{
    const struct import_options *options = part->im->options;
    bool ok = true;

    for (int i = 0; i < options->n_to; i++)
        ok = find_tensors(part, options->n_from ? "extract" : "cut", options->to[i], outputs) && ok;
    for (size_t i = 0; i < part->graph->n_output && !options->n_to; i++)
        map_set(outputs, part->graph->output[i]->name, part->im);
    return ok;
}

static bool check_inputs(struct part *part)
{
    bool ok = true;

    for (size_t i = 0; i < part->from.n; i++)
        if (!map_get(&part->read, part->from.entries[i].key)) {
            ok = diag_error(part->im->ctx, DIAG_USAGE, NULL,
                            "--extract: no output of the part depends on \"%s\"",
                            safe(part->im, part->from.entries[i].key));
            diag_help(part->im->ctx,
                      "the part goes from A to B in --extract A..B: check the order, and "
                      "whether another input of the part comes first");
        }
    return ok;
}

const Onnx__GraphProto *import_part(struct import *im, const Onnx__GraphProto *graph)
{
    const struct import_options *options = im->options;
    struct map outputs = { .arena = &im->arena };
    struct part part;
    bool ok = true;

    if (!options->n_to && !options->n_from)
        return graph;
    part_begin(&part, im, graph);
    for (int i = 0; i < options->n_from; i++)
        ok = find_tensors(&part, "extract", options->from[i], &part.from) && ok;
    ok = find_outputs(&part, &outputs) && ok;
    if (!ok)
        return NULL;
    for (size_t i = 0; i < outputs.n; i++)
        read_name(&part, outputs.entries[i].key);
    read_backwards(&part);
    if (!check_inputs(&part))
        return NULL;
    find_types(&part);
    return graph_of(&part, &outputs);
}
