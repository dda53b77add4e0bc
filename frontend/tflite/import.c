#include "frontend/tflite/import.h"

#include <assert.h>
#include <string.h>

#include "base/str.h"
#include "frontend/tflite/importer.h"

static const struct row {
    int code, version, options, fields;
    tfl_converter *convert;
    int arg;
} rows[] = {
#define TFLITE(name, version, options, fields, converter, arg)                                     \
    { TFL_##name, version, options, fields, converter, (int)(arg) },
#include "frontend/tflite/convert.def"
#undef TFLITE
};

/* Custom operators, whose code and options are no union's. */
static const struct custom_row {
    const char *name;
    struct row row;
} custom_rows[] = {
#define TFLITE_CUSTOM(name, converter) { name, { TFL_CUSTOM, 1, 0, 0, converter, 0 } },
#include "frontend/tflite/custom.def"
#undef TFLITE_CUSTOM
};

static const struct tflite_operator names[] = {
#define TFLITE(name, version, options, fields, converter, arg) { #name, version },
#include "frontend/tflite/convert.def"
#undef TFLITE
};

enum {
    N_ROWS = sizeof rows / sizeof *rows,
    N_CUSTOM_ROWS = sizeof custom_rows / sizeof *custom_rows
};

bool tflite_is_model(const uint8_t *bytes, size_t n)
{
    return tfl_is_model(bytes, n);
}

const struct tflite_operator *tflite_operators(int *n)
{
    *n = N_ROWS;
    return names;
}

/* --- operators -------------------------------------------------------------------------------- */

static const struct row *find_row(const struct tfl_operator *op)
{
    for (int i = 0; op->custom && i < N_CUSTOM_ROWS; i++)
        if (strcmp(op->custom, custom_rows[i].name) == 0)
            return &custom_rows[i].row;
    for (const struct row *row = rows; row < rows + N_ROWS; row++)
        if (row->code == op->code)
            return row;
    return NULL;
}

/* The user's function for a custom operator; NULL = none. */
static struct custom_op *find_custom(const struct import *im, const struct tfl_operator *op)
{
    for (int i = 0; op->custom && i < im->n_custom; i++)
        if (!*im->custom[i].domain && strcmp(im->custom[i].op, op->custom) == 0)
            return &im->custom[i];
    return NULL;
}

static bool customs_are_used(const struct import *im)
{
    bool ok = true;

    for (int i = 0; i < im->n_custom; i++)
        if (im->custom[i].n_uses == 0)
            ok = diag_error(im->ctx, DIAG_USAGE, NULL,
                            "--custom-op %s: the model has no custom operator of this name",
                            im->custom[i].given);
    return ok;
}

static bool is_known(struct import *im, const struct tfl_operator *op, const struct row *row,
                     const struct origin *origin)
{
    struct ctx *ctx = im->ctx;

    if (!row) {
        diag_error(ctx, DIAG_UNSUPPORTED_OP, origin, "%s %s is not supported",
                   op->custom ? "custom operator" : "operator",
                   str_safe(&ctx->perm, origin->op_type, 60));
        diag_help(ctx,
                  op->custom
                      ? "--custom-op %s=my_op.h:my_op calls a C function of yours in its place"
                      : "docs/guide/tflite.md lists what is; tf2onnx --tflite converts the model to "
                        "ONNX, of which relayc takes more",
                  origin->op_type);
        return false;
    }
    if (op->version > row->version || op->version < 1) {
        diag_error(ctx, DIAG_UNSUPPORTED_OP, origin,
                   "operator %s is of version %lld, versions 1 to %d are supported",
                   origin->op_type, (long long)op->version, row->version);
        diag_help(ctx, "convert the model with an older TensorFlow");
        return false;
    }
    if (op->options_type != 0 && op->options_type != row->options)
        return diag_error(ctx, DIAG_TFLITE_GRAPH, origin,
                          "its options are of kind %lld, expected %d", (long long)op->options_type,
                          row->options);
    for (int field = row->fields; field < op->options.n_fields; field++)
        if (fb_has(&op->options, field))
            return diag_error(ctx, DIAG_UNSUPPORTED_FORM, origin,
                              "option field %d of %s is newer than relayc", field, origin->op_type);
    if (op->has_more_options)
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, origin,
                          "%s has options of a kind that is newer than relayc", origin->op_type);
    return true;
}

static const struct origin *origin_of(struct import *im, const struct tfl_operator *op, int index)
{
    struct origin *origin = arena_new(&im->ctx->perm, struct origin);
    const struct tfl_graph *graph = im->graph;
    const int64_t output = op->outputs.n ? fb_int_at(&op->outputs, 0, 4) : -1;

    origin->name = "";
    origin->op_type = tfl_operator_name(im->ctx, op);
    origin->index = index;
    if (output >= 0 && output < graph->n_tensors)
        origin->name = origin->output = graph->tensors[output].name;
    origin_imported(im->module, origin);
    return origin;
}

/* Inputs that something defines; false if one is not there (reported) or failed (silent). */
static bool read_inputs(struct import *im, struct tfl_node *node)
{
    bool ok = true;

    for (int i = 0; i < node->n_inputs; i++) {
        struct tfl_tensor *tensor = tfl_import_tensor(
            im, node->origin, "input", (size_t)i, fb_int_at(&node->op->inputs, (size_t)i, 4), &ok);

        node->inputs[i] = tensor;
        if (!tensor)
            continue;
        if (tfl_takes_kept(node->op, tensor))
            continue;
        if (!tfl_import_readable(im, node->origin, tensor))
            ok = false;
        else if (!tensor->value && !tensor->first && !tensor->data.data && !tensor->is_failed)
            ok = diag_error(im->ctx, DIAG_TFLITE_GRAPH, node->origin,
                            "input %d reads %s, which nothing defines before", i,
                            tfl_tensor_text(im->ctx, node->graph, tensor));
        ok = ok && !tensor->is_failed;
    }
    return ok;
}

/* Each tensor is written once. */
static bool read_outputs(struct import *im, struct tfl_node *node)
{
    bool ok = true;

    for (int i = 0; i < node->n_outputs; i++) {
        struct tfl_tensor *tensor =
            tfl_import_tensor(im, node->origin, "output", (size_t)i,
                              fb_int_at(&node->op->outputs, (size_t)i, 4), &ok);

        if (!tensor) {
            ok = ok &&
                 diag_error(im->ctx, DIAG_TFLITE_GRAPH, node->origin, "output %d is absent", i);
            continue;
        }
        node->outputs[i] = tensor;
        if (tensor->value || tensor->first || tensor->is_failed || tensor->data.data || tensor->kept)
            ok = diag_error(im->ctx, DIAG_TFLITE_GRAPH, node->origin,
                            "output %d writes %s, which is defined already", i,
                            tfl_tensor_text(im->ctx, node->graph, tensor));
        else if (!tfl_takes_kept(node->op, tensor))
            ok = tfl_import_readable(im, node->origin, tensor) && ok;
    }
    return ok;
}

static bool within_limits(struct import *im, const struct origin *origin)
{
    const struct module *module = im->module;

    im->is_over =
        im->is_over || !limit_check(im->ctx, LIMIT_NODES, origin, (double)module->n_made) ||
        !limit_check(im->ctx, LIMIT_OPERANDS, origin, (double)module->n_made_operands) ||
        !constants_fit(im->module, 0, origin) || im->ctx->diags.n_errors >= TFL_MAX_ERRORS;
    return !im->is_over;
}

static void import_operator(struct import *im, int index)
{
    const struct tfl_graph *graph = im->graph;
    const struct tfl_operator *op = &graph->operators[index];
    const struct row *row = find_row(op);
    struct arena *arena = &im->ctx->perm;
    struct tfl_node node = { .ctx = im->ctx,
                             .fn = im->module->main,
                             .origin = origin_of(im, op, index),
                             .graph = graph,
                             .op = op,
                             .keeping = &im->keeping,
                             .import = im,
                             .arg = row ? row->arg : 0 };
    const int n_errors = im->ctx->diags.n_errors;
    struct custom_op *custom = find_custom(im, op);
    bool ok = custom || is_known(im, op, row, node.origin);

    /* Lists may be shared by many operators. */
    if (!limit_check(im->ctx, LIMIT_OPERANDS, node.origin,
                     (double)im->module->n_made_operands + (double)op->inputs.n +
                         (double)op->outputs.n)) {
        im->is_over = true;
        return;
    }
    im->module->n_made_operands += (int64_t)(op->inputs.n + op->outputs.n);
    node.n_inputs = (int)op->inputs.n;
    node.n_outputs = (int)op->outputs.n;
    node.inputs = arena_array(arena, struct tfl_tensor *, node.n_inputs);
    node.outputs = arena_array(arena, struct tfl_tensor *, node.n_outputs);
    if (ok) {
        ok = read_inputs(im, &node);
        ok = read_outputs(im, &node) && ok;
        while (node.n_inputs && !node.inputs[node.n_inputs - 1])
            node.n_inputs--;
        ok = ok && (custom ? tfl_convert_custom(&node, custom)
                           : tfl_takes_unsigned(&node) && row->convert(&node));
    } else { /* what it would have written is no error of its readers */
        bool quiet = true;

        for (int i = 0; i < node.n_outputs; i++)
            node.outputs[i] = tfl_import_tensor(im, node.origin, "output", (size_t)i,
                                                fb_int_at(&op->outputs, (size_t)i, 4), &quiet);
    }
    for (int i = 0; i < node.n_outputs; i++)
        if (node.outputs[i] && !node.outputs[i]->value && !node.outputs[i]->first &&
            !node.outputs[i]->kept)
            node.outputs[i]->is_failed = true;
    if (!ok && im->ctx->diags.n_errors == 0)
        diag_error(im->ctx, DIAG_INTERNAL, node.origin,
                   "the conversion of %s failed without a diagnostic", node.origin->op_type);
    assert(ok || im->ctx->diags.n_errors > 0);
    (void)n_errors;
}

bool tfl_import_operators(struct import *im)
{
    for (int i = 0; i < im->graph->n_operators && within_limits(im, NULL); i++)
        import_operator(im, i);
    return within_limits(im, NULL);
}

/* --- the model -------------------------------------------------------------------------------- */

static bool import_model(struct import *im, struct flatbuffer *file)
{
    const struct tfl_graph *graph = &im->model.main;

    if (!tfl_model_read(im->ctx, file, &im->model))
        return false;
    im->graph = &im->model.main;
    im->module->producer = arena_printf(&im->module->arena, "TensorFlow Lite%s%s",
                                        *im->model.description ? ": " : "", im->model.description);
    im->module->format = "TensorFlow Lite";
    im->module->n_onnx_nodes = graph->n_operators;
    im->keeping.model = &im->model;
    tfl_import_inputs(im);
    if (tfl_import_operators(im)) {
        tfl_import_outputs(im);
        tfl_import_states(im->module->main, &im->keeping);
        (void)customs_are_used(im);
    }
    return true;
}

static void unmap(void *source)
{
    file_unmap(source);
}

static struct module *import_from(struct ctx *ctx, const uint8_t *bytes, size_t n,
                                  const struct mapping *mapping, int n_custom,
                                  struct custom_op *custom, bool floats)
{
    const int n_errors = ctx->diags.n_errors;
    struct module *module = module_new(ctx);
    struct import im = { .ctx = ctx, .module = module, .n_custom = n_custom, .custom = custom };
    struct flatbuffer file = { .bytes = bytes, .n = n };
    bool ok;

    im.model.floats = floats ? module : NULL;
    if (mapping) {
        struct mapping *source = arena_new(&module->arena, struct mapping);

        *source = *mapping;
        module->source = source;
        module->free_source = unmap;
    }
    ctx->limits.model_bytes = (int64_t)n;
    ctx->limits.work = 0;
    module->rounds_as_written = true;
    ok = import_model(&im, &file);
    if (ok && ctx->diags.n_errors == n_errors)
        return module;
    module_free(module);
    return NULL;
}

struct module *tflite_import_mapping(struct ctx *ctx, const struct mapping *file, int n_custom,
                                     struct custom_op *custom, bool floats)
{
    return import_from(ctx, file->data, file->size, file, n_custom, custom, floats);
}

struct module *tflite_import_bytes(struct ctx *ctx, const uint8_t *bytes, size_t n)
{
    return import_from(ctx, bytes, n, NULL, 0, NULL, false);
}
