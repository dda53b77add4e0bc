/* graph.c - names, initialisers and operator nodes of one graph. Every output of every node is
 * bound to im->failed before anything is converted, so that a failure is reported once and what
 * hangs on it stays silent. */
#include <assert.h>
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/importer.h"

#define ONNX(domain, name, first, last, converter, arg) onnx_converter converter;
#include "frontend/onnx/convert.def"
#undef ONNX

static const struct row {
    const char *domain, *name;
    int first, last; /* operator set versions */
    onnx_converter *convert;
    int arg;
} rows[] = {
#define ONNX(domain, name, first, last, converter, arg)                                            \
    { domain, name, first, last, converter, (int)(arg) },
#include "frontend/onnx/convert.def"
#undef ONNX
};

enum { N_ROWS = sizeof rows / sizeof *rows };

/* --- names ------------------------------------------------------------------------------------ */

struct value *scope_find(const struct scope *scope, const char *name)
{
    struct value *value = NULL;

    for (; scope && !value; scope = scope->parent)
        value = map_get(&scope->names, name);
    return value;
}

void scope_bind(struct import *im, struct scope *scope, const char *name, struct value *value)
{
    scope->names.arena = &im->arena;
    map_set(&scope->names, name, value);
}

const char *domain_canonical(const char *domain)
{
    return strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

int64_t scope_opset(const struct scope *scope, const char *domain)
{
    int64_t version = -1;

    for (size_t i = 0; i < scope->n_opsets; i++)
        if (strcmp(domain_canonical(scope->opsets[i]->domain), domain) == 0 &&
            scope->opsets[i]->version > version)
            version = scope->opsets[i]->version;
    return version;
}

/* --- initialisers ----------------------------------------------------------------------------- */

static void import_initializer(struct import *im, struct scope *scope,
                               const Onnx__TensorProto *proto)
{
    struct tensor tensor;
    struct value *strings;

    if (map_get(&scope->names, proto->name)) {
        diag_error(im->ctx, DIAG_ONNX_GRAPH, NULL, "two initialisers are called \"%s\"",
                   str_safe(&im->ctx->perm, proto->name, 120));
        return;
    }
    scope_bind(im, scope, proto->name, &im->failed);
    if (proto->data_type == ONNX_STRING) {
        strings = import_strings(im, proto);
        if (strings)
            scope_bind(im, scope, proto->name, strings);
        return;
    }
    if (tensor_decode(&im->reader, NULL, proto, &tensor))
        scope_bind(im, scope, proto->name,
                   constant_new(im->module->main, proto->name, &tensor.type, tensor.data));
}

void import_initializers(struct import *im, struct scope *scope, const Onnx__GraphProto *graph)
{
    for (size_t i = 0; i < graph->n_initializer && import_goes_on(im); i++)
        import_initializer(im, scope, graph->initializer[i]);
    for (size_t i = 0; i < graph->n_sparse_initializer && import_goes_on(im); i++) {
        const Onnx__TensorProto *values = graph->sparse_initializer[i]->values;
        const char *name = values ? values->name : "";

        scope_bind(im, scope, name, &im->failed);
        diag_error(im->ctx, DIAG_UNSUPPORTED_TYPE, NULL, "initialiser \"%s\" is a sparse tensor",
                   str_safe(&im->ctx->perm, name, 120));
    }
}

/* --- one node --------------------------------------------------------------------------------- */

/* The converter for the node, or an error that says which versions there are. */
static const struct row *find_row(struct import *im, const Onnx__NodeProto *proto,
                                  const struct origin *origin, const char *domain, int64_t opset)
{
    const struct row *other = NULL;

    for (const struct row *row = rows; row < rows + N_ROWS; row++) {
        if (strcmp(row->name, proto->op_type) != 0 || strcmp(row->domain, domain) != 0)
            continue;
        if (row->first <= opset && opset <= row->last)
            return row;
        other = row;
    }
    if (other)
        diag_error(im->ctx, DIAG_UNSUPPORTED_OP, origin,
                   "operator %s is not supported in version %lld of its operator set", other->name,
                   (long long)opset);
    else
        diag_error(im->ctx, DIAG_UNSUPPORTED_OP, origin, "operator %s%s%s is not supported",
                   str_safe(&im->ctx->perm, domain, 60), *domain ? "." : "",
                   str_safe(&im->ctx->perm, proto->op_type, 60));
    if (strcmp(domain, "com.microsoft.nchwc") == 0)
        diag_help(im->ctx,
                  "ONNX Runtime wrote this file for its own layout on one CPU: compile the "
                  "model it was made of, or save it with ORT_ENABLE_EXTENDED");
    else
        diag_help(im->ctx,
                  "docs/guide/operators.md says what to do about it; 'relayc inspect "
                  "--operators' lists those that are supported, 'compile --custom-op' calls "
                  "a C function of yours");
    return NULL;
}

bool import_operands(struct import *im, const struct scope *scope, const Onnx__NodeProto *proto,
                     const struct origin *origin, struct value **inputs)
{
    bool ok = true;

    for (size_t i = 0; i < proto->n_input; i++) {
        const char *name = proto->input[i];

        if (!*name)
            continue;
        inputs[i] = scope_find(scope, name);
        if (!inputs[i])
            diag_error(im->ctx, DIAG_ONNX_GRAPH, origin,
                       "input %zu reads \"%s\", which nothing defines", i,
                       str_safe(&im->ctx->perm, name, 120));
        ok = ok && inputs[i] && inputs[i] != &im->failed;
        if (inputs[i] == &im->absent)
            inputs[i] = NULL;
    }
    return ok;
}

static bool bind_outputs(struct import *im, struct scope *scope, const struct onnx_node *node)
{
    bool ok = true;

    for (int i = 0; i < node->n_outputs; i++) {
        if (!*node->output_names[i])
            continue;
        if (node->outputs[i])
            scope_bind(im, scope, node->output_names[i], node->outputs[i]);
        else
            ok = diag_error(im->ctx, DIAG_UNSUPPORTED_FORM, node->origin,
                            "output %d (\"%s\") is not supported", i,
                            str_safe(&im->ctx->perm, node->output_names[i], 120));
    }
    return ok;
}

static bool convert(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                    const struct origin *origin, const struct row *row, int64_t opset)
{
    struct onnx_node node = { .import = im,
                              .ctx = im->ctx,
                              .fn = im->module->main,
                              .origin = origin,
                              .op_type = origin->op_type,
                              .opset = opset,
                              .arg = row->arg,
                              .n_inputs = (int)proto->n_input,
                              .n_outputs = (int)proto->n_output,
                              .proto = proto };
    const int n_errors = im->ctx->diags.n_errors;
    bool reads_strings, done = false;

    node.inputs = arena_array(&im->arena, struct value *, proto->n_input);
    node.outputs = arena_array(&im->arena, struct value *, proto->n_output);
    node.output_names = (const char **)proto->output;
    if (!import_operands(im, scope, proto, origin, node.inputs))
        return false;
    while (node.n_inputs && !node.inputs[node.n_inputs - 1])
        node.n_inputs--;
    im->question_failed = false;
    if (!import_take_sequences(&node, &done))
        return false;
    reads_strings = import_reads_strings(im, &node);
    if (reads_strings && !import_take_strings(&node, &done))
        return false;
    if (!done && !import_take_open(&node, row->convert, row->domain, &done))
        return false;
    if (!done && !import_take_numbers(&node, row->domain, row->convert, &done))
        return false;
    if ((done || row->convert(&node)) && onnx_ok(&node) && import_close_declared(&node)) {
        if (reads_strings)
            import_pass_strings(&node);
        return bind_outputs(im, scope, &node);
    }
    if (im->ctx->diags.n_errors == 0)
        diag_error(im->ctx, DIAG_INTERNAL, origin,
                   "the conversion of %s failed without a diagnostic", row->name);
    assert(im->ctx->diags.n_errors >= n_errors);
    (void)n_errors;
    return false;
}

bool import_within_limits(struct import *im, const struct origin *origin)
{
    const struct module *module = im->module;
    const int64_t nodes = im->n_nodes > module->n_made ? im->n_nodes : module->n_made;
    const int64_t operands =
        im->n_operands > module->n_made_operands ? im->n_operands : module->n_made_operands;

    im->is_over = im->is_over || !limit_check(im->ctx, LIMIT_NODES, origin, (double)nodes) ||
                  !limit_check(im->ctx, LIMIT_OPERANDS, origin, (double)operands) ||
                  !constants_fit(im->module, 0, origin);
    return !im->is_over;
}

/* Exporters forget to declare the domains of contributed operators, of which there is one
 * version. */
static int64_t opset_of(const struct scope *scope, const Onnx__NodeProto *proto)
{
    const int64_t declared = scope_opset(scope, domain_canonical(proto->domain));

    return declared < 0 ? 1 : declared;
}

bool import_is_known(struct import *im, const struct scope *scope, const Onnx__NodeProto *proto,
                     const struct origin *origin)
{
    return import_custom(im, proto) || import_is_special(im, proto) ||
           find_row(im, proto, origin, domain_canonical(proto->domain), opset_of(scope, proto));
}

static void import_node(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                        const struct origin *origin)
{
    const char *domain = domain_canonical(proto->domain);
    const int64_t opset = opset_of(scope, proto);
    struct custom_op *custom;
    const struct row *row;
    bool done;

    if (im->is_over)
        return;
    im->n_nodes++;
    im->n_operands += (int64_t)(proto->n_input + proto->n_output);
    if (!import_within_limits(im, origin))
        return;
    if (!attributes_check(im->ctx, origin, proto))
        return;
    custom = import_custom(im, proto);
    if ((custom || import_is_special(im, proto)) && import_reads_open(im, scope, proto))
        return;
    if (custom) {
        (void)import_custom_node(im, scope, custom, proto, origin);
        return;
    }
    import_special(im, scope, proto, origin, &done);
    if (done)
        return;
    row = find_row(im, proto, origin, domain, opset);
    if (row)
        (void)convert(im, scope, proto, origin, row, opset);
}

/* --- all nodes -------------------------------------------------------------------------------- */

static const struct origin *make_origin(struct import *im, const struct scope *scope, size_t index,
                                        const Onnx__NodeProto *proto)
{
    struct origin *origin = arena_new(&im->ctx->perm, struct origin);

    origin->name = arena_strdup(&im->ctx->perm, proto->name);
    origin->op_type = arena_strdup(&im->ctx->perm, proto->op_type);
    if (proto->n_output > 0 && *proto->output[0])
        origin->output = arena_strdup(&im->ctx->perm, proto->output[0]);
    origin->index = scope->node_index >= 0 ? scope->node_index : (long)index;
    origin_imported(im->module, origin);
    return origin;
}

static void announce_outputs(struct import *im, struct scope *scope, const Onnx__NodeProto *proto,
                             const struct origin *origin)
{
    for (size_t i = 0; i < proto->n_output; i++) {
        const char *name = proto->output[i];

        if (!*name)
            continue;
        if (map_get(&scope->names, name))
            diag_error(im->ctx, DIAG_ONNX_GRAPH, origin,
                       "output %zu is called \"%s\", which is defined already", i,
                       str_safe(&im->ctx->perm, name, 120));
        scope_bind(im, scope, name, &im->failed);
    }
}

void import_nodes(struct import *im, struct scope *scope, size_t n, Onnx__NodeProto *const *nodes)
{
    const struct origin **origins = arena_array(&im->arena, const struct origin *, n);
    const long outer_index = scope->node_index;
    const size_t *order;

    for (size_t i = 0; i < n; i++)
        origins[i] = make_origin(im, scope, i, nodes[i]);
    order = sort_nodes(im, scope, n, nodes, origins);
    for (size_t i = 0; i < n && import_goes_on(im); i++)
        announce_outputs(im, scope, nodes[i], origins[i]);
    for (size_t i = 0; i < n && import_goes_on(im); i++) {
        const size_t k = order[i];
        const int n_errors = im->ctx->diags.n_errors;

        scope->node_index = origins[k]->index;
        import_node(im, scope, resolve_attributes(im, scope, nodes[k]), origins[k]);
        if (im->refused && !scope->parent && !scope->call)
            preflight_node(im, scope, nodes[k], k, origins[k], n_errors);
    }
    scope->node_index = outer_index;
}
