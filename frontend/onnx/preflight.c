/* preflight.c - all obstacles of a model in one import (relayc inspect --preflight): results of what
 * is refused are stood in for by parameters of the types that the file declares, so that what reads
 * them is converted too. And the parts that remain without what is refused. */
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/convert_helpers.h"
#include "frontend/onnx/importer.h"

enum {
    MAX_NAMES = 12, /* a part with more inputs or outputs is not suggested */
    MAX_ROUNDS = 64
};

void preflight_begin(struct import *im, const Onnx__GraphProto *graph)
{
    im->refused = arena_array(&im->arena, bool, graph->n_node + 1);
    im->declared.arena = &im->arena;
    for (size_t i = 0; i < graph->n_value_info; i++)
        map_set(&im->declared, graph->value_info[i]->name, graph->value_info[i]);
    for (size_t i = 0; i < graph->n_output; i++)
        map_set(&im->declared, graph->output[i]->name, graph->output[i]);
}

/* --- a node ----------------------------------------------------------------------------------- */

static bool is_computed(const struct import *im, const struct value *value)
{
    return value && value != &im->failed && value != &im->absent && value->kind == VALUE_OUTPUT &&
           !is_static(value);
}

/* "a,b": what the option takes; names that have a comma cannot be given. */
static bool add_name(struct str *list, const char *name)
{
    if (strchr(name, ',') || strstr(name, ".."))
        return false;
    str_printf(list, "%s%s", list->n ? "," : "", name);
    return true;
}

static const char *quoted(struct import *im, const char *names)
{
    bool plain = true;

    for (const char *at = names; *at && plain; at++)
        plain = *at == ',' || import_is_plain((const char[]){ *at, '\0' });
    return plain ? names
                 : arena_printf(&im->ctx->perm, "'%s'", str_safe(&im->ctx->perm, names, 4096));
}

/* The names as the options take them, quoted where a shell asks for it; NULL if there are none, or too
 * many. */
static const char *names_text(struct import *im, const struct map *names)
{
    struct str list = { .arena = &im->ctx->perm };

    if (!names->n || names->n > MAX_NAMES)
        return NULL;
    for (size_t i = 0; i < names->n; i++)
        if (!add_name(&list, names->entries[i].key))
            return NULL;
    return quoted(im, str_text(&list));
}

/* The way out that is there for every node: to end in front of it. */
static void help_cut(struct import *im, const struct scope *scope, const Onnx__NodeProto *proto)
{
    struct map names = { .arena = &im->arena };
    const char *text;

    for (size_t i = 0; i < proto->n_input; i++)
        if (is_computed(im, scope_find(scope, proto->input[i])))
            map_set(&names, proto->input[i], im);
    text = names_text(im, &names);
    if (text)
        diag_help(im->ctx, "--cut %s ends the network in front of it", text);
}

/* A parameter of the declared type in place of a result. */
static void stand_in(struct import *im, struct scope *scope, const char *name)
{
    const Onnx__ValueInfoProto *info = map_get(&im->declared, name);
    const int n_open = im->n_open;
    struct diags saved;
    struct type type;

    if (!info || !info->type)
        return;
    saved = diag_save(im->ctx);
    if (import_declared_type(im, info, &type))
        scope_bind(im, scope, name, param_new(im->module->main, name, &type));
    diag_restore(im->ctx, saved);
    im->n_open = n_open;
}

void preflight_node(struct import *im, struct scope *scope, const Onnx__NodeProto *proto, size_t k,
                    const struct origin *origin, int n_errors)
{
    bool failed = false;

    for (size_t i = 0; i < proto->n_output; i++)
        failed =
            failed || (*proto->output[i] && scope_find(scope, proto->output[i]) == &im->failed);
    if (!failed || im->is_over)
        return;
    /* Not converted, because an operand failed: whether there is such an operator can be said. */
    if (im->ctx->diags.n_errors == n_errors)
        (void)import_is_known(im, scope, proto, origin);
    im->refused[k] = im->ctx->diags.n_errors > n_errors;
    if (im->refused[k])
        help_cut(im, scope, proto);
    for (size_t i = 0; i < proto->n_output; i++)
        if (*proto->output[i] && scope_find(scope, proto->output[i]) == &im->failed)
            stand_in(im, scope, proto->output[i]);
}

/* --- the interface ---------------------------------------------------------------------------- */

static void add_line(struct import *im, struct str *text, const char *label,
                     const Onnx__ValueInfoProto *info)
{
    const Onnx__TypeProto__Tensor *tensor = info->type ? info->type->tensor_type : NULL;
    const Onnx__TensorShapeProto *shape = tensor ? tensor->shape : NULL;

    str_printf(text, "  %-7s %-28s ", label, str_safe(&im->ctx->perm, info->name, 200));
    str_add(text, shape ? "(" : tensor ? "(any shape" : "(no tensor");
    for (size_t i = 0; shape && i < shape->n_dim; i++) {
        const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];

        if (dim->has_dim_value && dim->dim_value >= 0)
            str_printf(text, "%s%lld", i ? "," : "", (long long)dim->dim_value);
        else
            str_printf(text, "%s%s", i ? "," : "",
                       *dim->dim_param ? str_safe(&im->ctx->perm, dim->dim_param, 60) : "?");
    }
    str_printf(text, ") %s\n",
               tensor && dtype_from_onnx(tensor->elem_type) != DTYPE_NONE
                   ? dtype_name(dtype_from_onnx(tensor->elem_type))
                   : "of a type that is not supported");
}

static const char *interface_text(struct import *im, const struct scope *scope,
                                  const Onnx__GraphProto *graph)
{
    struct str text = { .arena = &im->ctx->perm };

    for (size_t i = 0; i < graph->n_input; i++) {
        const struct value *value = scope_find(scope, graph->input[i]->name);

        if (!value || value->kind != VALUE_CONSTANT)
            add_line(im, &text, "input", graph->input[i]);
    }
    for (size_t i = 0; i < graph->n_output; i++)
        add_line(im, &text, "output", graph->output[i]);
    return str_text(&text);
}

/* --- parts ------------------------------------------------------------------------------------ */

struct parts {
    struct import *im;
    const struct scope *scope;
    const Onnx__GraphProto *graph;
    struct map makers; /* tensor -> element of `index` */
    size_t *index;
    bool *bad;          /* [n_node] nodes that a part leaves out */
    bool *behind;       /* [n_node] refused nodes and all that reads what they make */
    bool reads_bad;     /* of the node that is being visited */
    struct map *border; /* tensors between both */
};

static void see_bad(void *user, const char *name)
{
    struct parts *parts = user;
    const size_t *maker = map_get(&parts->makers, name);

    parts->reads_bad = parts->reads_bad || (maker && parts->bad[*maker]);
}

/* All that reads what a bad node makes is bad. A file whose nodes are sorted takes two rounds; false
 * if MAX_ROUNDS are not enough. */
static bool spread_forward(struct parts *parts)
{
    bool changed = true;

    for (int round = 0; changed && round < MAX_ROUNDS; round++) {
        changed = false;
        for (size_t i = 0; i < parts->graph->n_node; i++) {
            if (parts->bad[i])
                continue;
            parts->reads_bad = false;
            import_visit_reads(parts->graph->node[i], see_bad, parts);
            changed = changed || parts->reads_bad;
            parts->bad[i] = parts->reads_bad;
        }
    }
    return !changed;
}

static void mark_maker(void *user, const char *name)
{
    struct parts *parts = user;
    const size_t *maker = map_get(&parts->makers, name);

    if (maker && !parts->bad[*maker]) {
        parts->bad[*maker] = true;
        parts->reads_bad = true;
    }
}

/* All that bad nodes need is bad; likewise. */
static bool spread_backward(struct parts *parts)
{
    parts->reads_bad = true;
    for (int round = 0; parts->reads_bad && round < MAX_ROUNDS; round++) {
        parts->reads_bad = false;
        for (size_t i = parts->graph->n_node; i-- > 0;)
            if (parts->bad[i])
                import_visit_reads(parts->graph->node[i], mark_maker, parts);
    }
    return !parts->reads_bad;
}

/* Tensors that good nodes make and bad ones read, in the order in which they are read. */
static void end_at(void *user, const char *name)
{
    struct parts *parts = user;
    const size_t *maker = map_get(&parts->makers, name);

    if (maker && !parts->bad[*maker] && is_computed(parts->im, scope_find(parts->scope, name)))
        map_set(parts->border, name, parts->im);
}

/* Tensors that bad nodes make and good ones read. */
static void begin_at(void *user, const char *name)
{
    struct parts *parts = user;
    const size_t *maker = map_get(&parts->makers, name);

    if (maker && parts->bad[*maker])
        map_set(parts->border, name, parts->im);
}

static void begin_parts(struct parts *parts)
{
    memcpy(parts->bad, parts->im->refused, parts->graph->n_node * sizeof *parts->bad);
}

/* In front of all that is refused. */
static void find_cut(struct parts *parts, struct import_obstacles *found)
{
    const struct map none = { .arena = &parts->im->arena };
    struct map to = none;

    begin_parts(parts);
    if (!spread_forward(parts))
        return;
    memcpy(parts->behind, parts->bad, parts->graph->n_node * sizeof *parts->bad);
    parts->border = &to;
    for (size_t i = 0; i < parts->graph->n_node; i++)
        if (parts->bad[i])
            import_visit_reads(parts->graph->node[i], end_at, parts);
    for (size_t i = 0; i < parts->graph->n_output; i++)
        end_at(parts, parts->graph->output[i]->name);
    found->cut = names_text(parts->im, &to);
    if (found->cut)
        found->n_cut = import_part_size(parts->im, parts->graph, &none, &to);
}

/* Behind all that is refused: outputs that depend on it, from what it makes. */
static void find_rest(struct parts *parts, struct import_obstacles *found)
{
    const struct map none = { .arena = &parts->im->arena };
    struct map from = none, to = none;
    const char *first, *last = "";

    begin_parts(parts);
    if (!spread_backward(parts))
        return;
    parts->border = &from;
    for (size_t i = 0; i < parts->graph->n_node; i++)
        if (!parts->bad[i] && parts->behind[i])
            import_visit_reads(parts->graph->node[i], begin_at, parts);
    for (size_t i = 0; i < parts->graph->n_output; i++) {
        const size_t *maker = map_get(&parts->makers, parts->graph->output[i]->name);

        if (maker && !parts->bad[*maker] && parts->behind[*maker])
            map_set(&to, parts->graph->output[i]->name, parts->im);
    }
    first = names_text(parts->im, &from);
    if (to.n < parts->graph->n_output)
        last = names_text(parts->im, &to);
    if (!first || !last || !to.n)
        return;
    found->n_extract = import_part_size(parts->im, parts->graph, &from, &to);
    found->extract = arena_printf(&parts->im->ctx->perm, "%s..%s", first, last);
}

void preflight_parts(struct import *im, const struct scope *scope, const Onnx__GraphProto *graph)
{
    struct import_obstacles *found = im->options->obstacles;
    struct parts parts = { .im = im, .scope = scope, .graph = graph };

    found->n_nodes = (int)graph->n_node;
    found->n_open = im->n_open;
    found->interface = interface_text(im, scope, graph);
    found->n_refused = 0;
    parts.makers.arena = &im->arena;
    parts.index = arena_array(&im->arena, size_t, graph->n_node + 1);
    parts.bad = arena_array(&im->arena, bool, graph->n_node + 1);
    parts.behind = arena_array(&im->arena, bool, graph->n_node + 1);
    for (size_t i = 0; i < graph->n_node; i++) {
        found->n_refused += im->refused[i];
        parts.index[i] = i;
        for (size_t k = 0; k < graph->node[i]->n_output; k++)
            if (*graph->node[i]->output[k])
                map_set(&parts.makers, graph->node[i]->output[k], &parts.index[i]);
    }
    if (!found->n_refused)
        return;
    find_cut(&parts, found);
    find_rest(&parts, found);
}
