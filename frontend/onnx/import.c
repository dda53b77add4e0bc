#include "frontend/onnx/import.h"

#include <string.h>

#include "base/str.h"
#include "frontend/onnx/importer.h"

/* --- files that are something else ------------------------------------------------------------ */

/* The first field of a ModelProto, whichever it is; writers put ir_version, 8, first. */
static bool begins_as_model(const uint8_t *bytes, size_t n)
{
    static const uint8_t tags[] = {
        0x08, 0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42, 0x72, 0xa2, 0xca
    };

    return n > 0 && memchr(tags, bytes[0], sizeof tags);
}

/* People hand over what their framework saved. */
static void explain_format(struct ctx *ctx, const uint8_t *bytes, size_t n)
{
    static const struct {
        size_t offset;
        const char *magic, *help;
    } formats[] = {
        { 0, "PK\3\4",
          "this is a zip archive, as PyTorch saves models; torch.onnx.export makes ONNX" },
        { 0, "\x89HDF", "this is an HDF5 file, as Keras saves models; tf2onnx converts it" },
        { 0, "version https://git-lfs",
          "this is a Git LFS pointer; git lfs pull fetches the model" },
        { 0, "\x1f\x8b", "this file is compressed; gunzip unpacks it" },
        { 0, "ORTM",
          "this is a model in ONNX Runtime's own format; use the .onnx it was made from" },
    };

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const size_t length = strlen(formats[i].magic);

        if (n >= formats[i].offset + length &&
            memcmp(bytes + formats[i].offset, formats[i].magic, length) == 0) {
            diag_help(ctx, "%s", formats[i].help);
            return;
        }
    }
    if (n && !begins_as_model(bytes, n))
        diag_help(ctx, "is this an ONNX file? It does not begin as one; 'relayc help models' says "
                       "which files are read");
}

/* --- the model -------------------------------------------------------------------------------- */

/* A model whose nodes are all of other domains declares no set of the default one. */
static bool uses_default_domain(const Onnx__GraphProto *graph)
{
    for (size_t i = 0; graph && i < graph->n_node; i++)
        if (*domain_canonical(graph->node[i]->domain) == '\0')
            return true;
    return !graph || graph->n_node == 0;
}

static bool check_opset(struct import *im)
{
    const struct scope scope = { .n_opsets = im->model->n_opset_import,
                                 .opsets = im->model->opset_import };
    const int64_t opset = scope_opset(&scope, "");

    if (opset >= IMPORT_FIRST_OPSET && opset <= IMPORT_LAST_OPSET) {
        im->module->opset = (int)opset;
        return true;
    }
    if (opset < 0 && !uses_default_domain(im->model->graph))
        return true;
    if (opset < 0)
        diag_error(im->ctx, DIAG_ONNX_FORMAT, NULL, "the model declares no operator set");
    else
        diag_error(im->ctx, DIAG_UNSUPPORTED_FORM, NULL,
                   "the model uses operator set %lld, %d to %d are supported", (long long)opset,
                   IMPORT_FIRST_OPSET, IMPORT_LAST_OPSET);
    diag_help(im->ctx, "export again with opset_version=17, or use onnx.version_converter");
    return false;
}

bool import_goes_on(const struct import *im)
{
    return im->ctx->diags.n_errors < IMPORT_MAX_ERRORS;
}

void import_graph(struct import *im, const Onnx__GraphProto *graph)
{
    struct scope scope = { .n_opsets = im->model->n_opset_import,
                           .opsets = im->model->opset_import,
                           .node_index = -1 };

    if (im->options->obstacles)
        preflight_begin(im, graph);
    import_functions(im);
    import_initializers(im, &scope, graph);
    import_inputs(im, &scope, graph);
    import_nodes(im, &scope, graph->n_node, graph->node);
    if (!import_within_limits(im, NULL)) /* what the last node became */
        return;
    (void)import_custom_used(im);
    import_outputs(im, &scope, graph);
    if (im->refused)
        preflight_parts(im, &scope, graph);
}

static bool import_model(struct import *im, const uint8_t *bytes, size_t n)
{
    const ProtobufCMessageDescriptor *type = &onnx__model_proto__descriptor;
    const Onnx__GraphProto *part;
    struct wire_image image;

    im->reader.image = &image;
    if (wire_scan(im->ctx, type, bytes, n, &im->arena, &image))
        im->model = (const Onnx__ModelProto *)wire_unpack(im->ctx, type, &image, &im->arena);
    if (im->model && !im->model->graph)
        diag_error(im->ctx, DIAG_ONNX_FORMAT, NULL,
                   n ? "the file contains no graph" : "the file is empty");
    if (!im->model || !im->model->graph) {
        explain_format(im->ctx, bytes, n);
        return false;
    }
    im->module->producer =
        arena_printf(&im->module->arena, "%s%s%s", im->model->producer_name,
                     *im->model->producer_version ? " " : "", im->model->producer_version);
    part = check_opset(im) ? import_part(im, im->model->graph) : NULL;
    im->module->n_onnx_nodes = (int)(part ? part : im->model->graph)->n_node;
    if (part)
        import_graph(im, part);
    return true;
}

/* Takes over the source's model mapping (size 0 = the caller keeps the bytes). */
static struct module *import_mapped(struct ctx *ctx, const uint8_t *bytes, size_t n,
                                    struct mapping model, const char *dir,
                                    const struct import_options *options)
{
    static const struct import_options no_options;
    const int n_errors = ctx->diags.n_errors;
    struct module *module = module_new(ctx);
    struct tensor_source *source = arena_new(&module->arena, struct tensor_source);
    struct import im = { .ctx = ctx, .module = module, .options = options ? options : &no_options };
    bool ok;

    source->model = model;
    module->source = source;
    module->free_source = tensor_source_free;
    im.reader = (struct tensor_reader){ .ctx = ctx,
                                        .arena = &module->arena,
                                        .bulk = &module->bulk,
                                        .file = bytes,
                                        .external_dir = dir,
                                        .source = source };
    ctx->limits.model_bytes = (int64_t)n;
    ctx->limits.work = 0;
    im.computed.arena = &im.arena;
    im.part_types.arena = &im.arena;
    im.reader.external_files.arena = &im.arena;
    ok = import_model(&im, bytes, n);
    arena_release(&im.arena);
    if (ok && ctx->diags.n_errors - im.n_open == n_errors)
        return module;
    module_free(module);
    return NULL;
}

static const char *folder_of(struct ctx *ctx, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return ".";
    return slash == path ? "/" : arena_strndup(&ctx->perm, path, (size_t)(slash - path));
}

struct module *onnx_import_mapping(struct ctx *ctx, const struct mapping *file, const char *dir,
                                   const struct import_options *options)
{
    const char *external = options ? options->external_data_dir : NULL;

    return import_mapped(ctx, file->data, file->size, *file, external ? external : dir, options);
}

struct module *onnx_import_mapped(struct ctx *ctx, const struct mapping *file, const char *path,
                                  const struct import_options *options)
{
    return onnx_import_mapping(ctx, file, folder_of(ctx, path), options);
}

struct module *onnx_import(struct ctx *ctx, const char *path, const struct import_options *options)
{
    struct mapping mapping;

    return file_map(ctx, path, &mapping) ? onnx_import_mapped(ctx, &mapping, path, options) : NULL;
}

struct module *onnx_import_bytes(struct ctx *ctx, const uint8_t *bytes, size_t n, const char *dir,
                                 const struct import_options *options)
{
    return import_mapped(ctx, bytes, n, (struct mapping){ NULL, 0 }, dir, options);
}
