#include "frontend/tflite/model.h"

#include <string.h>

#include "base/map.h"
#include "base/str.h"

/* What a table has at which place. */
enum { MODEL_VERSION, MODEL_CODES, MODEL_GRAPHS, MODEL_DESCRIPTION, MODEL_BUFFERS };
enum { CODE_OLD, CODE_CUSTOM, CODE_VERSION, CODE_NEW };
enum { GRAPH_TENSORS, GRAPH_INPUTS, GRAPH_OUTPUTS, GRAPH_OPERATORS };
enum {
    TENSOR_SHAPE,
    TENSOR_TYPE,
    TENSOR_BUFFER,
    TENSOR_NAME,
    TENSOR_QUANT,
    TENSOR_VARIABLE,
    TENSOR_SPARSITY,
    TENSOR_EXTERNAL = 10
};
enum { QUANT_SCALE = 2, QUANT_ZERO, QUANT_DETAILS, QUANT_AXIS = 6 };
enum {
    OPERATOR_CODE,
    OPERATOR_INPUTS,
    OPERATOR_OUTPUTS,
    OPERATOR_OPTIONS_TYPE,
    OPERATOR_OPTIONS,
    OPERATOR_CUSTOM_OPTIONS,
    OPERATOR_OPTIONS_2 = 11
};
enum { BUFFER_DATA, BUFFER_OFFSET };

enum { INT4 = 17 }; /* of the schema's types */
enum { SCHEMA_VERSION = 3 };

struct decoder {
    struct ctx *ctx;
    struct flatbuffer *file;
    struct tfl_model *model;
    struct fb_vector buffers;
    struct fb_vector codes;
};

static bool goes_on(const struct decoder *d)
{
    return d->ctx->diags.n_errors < TFL_MAX_ERRORS;
}

/* True if nothing went wrong with `what` since the last call; else an error. */
static bool is_whole(struct decoder *d, const char *what, size_t index)
{
    size_t at;
    const char *problem = flatbuffer_problem(d->file, &at);

    if (!problem)
        return true;
    return diag_error(d->ctx, DIAG_TFLITE_FORMAT, NULL, "%s %zu: %s (byte %zu of %zu)", what, index,
                      problem, at, d->file->n);
}

static const char *text_of(struct ctx *ctx, const struct fb_vector *bytes)
{
    const size_t n = bytes->n < TFL_MAX_NAME ? bytes->n : TFL_MAX_NAME;

    return bytes->data ? arena_strndup(&ctx->perm, (const char *)bytes->data, n) : "";
}

/* --- tensors ---------------------------------------------------------------------------------- */

static enum dtype dtype_of(int64_t code, const char **name)
{
    static const struct {
        const char *name;
        enum dtype dtype;
    } types[] = {
        { "FLOAT32", DTYPE_F32 },      { "FLOAT16", DTYPE_F16 },
        { "INT32", DTYPE_I32 },        { "UINT8", DTYPE_U8 },
        { "INT64", DTYPE_I64 },        { "STRING", DTYPE_NONE },
        { "BOOL", DTYPE_BOOL },        { "INT16", DTYPE_I16 },
        { "COMPLEX64", DTYPE_NONE },   { "INT8", DTYPE_I8 },
        { "FLOAT64", DTYPE_F64 },      { "COMPLEX128", DTYPE_NONE },
        { "UINT64", DTYPE_U64 },       { "RESOURCE", DTYPE_NONE },
        { "VARIANT", DTYPE_NONE },     { "UINT32", DTYPE_U32 },
        { "UINT16", DTYPE_U16 },       { "INT4", DTYPE_I8 },
        { "BFLOAT16", DTYPE_BF16 },    { "INT2", DTYPE_NONE },
        { "UINT4", DTYPE_NONE },       { "FLOAT8_E4M3FN", DTYPE_NONE },
        { "FLOAT8_E5M2", DTYPE_NONE },
    };

    *name = "an unknown type";
    if (code < 0 || code >= (int64_t)(sizeof types / sizeof *types))
        return DTYPE_NONE;
    *name = types[code].name;
    return types[code].dtype;
}

static bool read_shape(struct decoder *d, const struct fb_table *table, size_t index,
                       struct type *type)
{
    const struct fb_vector shape = fb_vector(table, TENSOR_SHAPE, 4);

    if (shape.n > MAX_RANK)
        return diag_error(d->ctx, DIAG_TFLITE_FORMAT, NULL,
                          "tensor #%zu has %zu dimensions, at most %d are supported", index,
                          shape.n, MAX_RANK);
    type->rank = (int)shape.n;
    for (size_t i = 0; i < shape.n; i++)
        type->dim[i] = fb_int_at(&shape, i, 4);
    for (size_t i = 0; i < shape.n; i++)
        if (type->dim[i] < 0)
            return diag_error(d->ctx, DIAG_TFLITE_FORMAT, NULL,
                              "tensor #%zu: dimension %zu is %lld, expected 0 or more", index, i,
                              (long long)type->dim[i]);
    return type->dtype == DTYPE_NONE || type_check_size(d->ctx, NULL, type);
}

/* The bytes of buffer `index`; buffer 0 is the empty one. */
static struct fb_vector read_buffer(struct decoder *d, int64_t index, const char **refused)
{
    struct fb_vector none = { .file = d->file };
    struct fb_table buffer;

    if (index == 0)
        return none;
    if (index < 0 || (uint64_t)index >= d->buffers.n) {
        *refused = "its buffer is not in the file";
        return none;
    }
    buffer = fb_element(&d->buffers, (size_t)index);
    if (fb_int(&buffer, BUFFER_OFFSET, 8, 0) > 1)
        *refused = "its data lie behind the flatbuffer, as in files of 2 GB";
    return fb_vector(&buffer, BUFFER_DATA, 1);
}

static bool read_tensor(struct decoder *d, const struct fb_vector *tables, size_t index,
                        struct tfl_tensor *tensor)
{
    const struct fb_table table = fb_element(tables, index);
    const struct fb_vector name = fb_vector(&table, TENSOR_NAME, 1);
    const struct fb_table quant = fb_table(&table, TENSOR_QUANT);
    bool ok;

    tensor->name = text_of(d->ctx, &name);
    tensor->type.dtype = dtype_of(fb_int(&table, TENSOR_TYPE, 1, 0), &tensor->dtype_name);
    ok = read_shape(d, &table, index, &tensor->type);
    tensor->data =
        read_buffer(d, fb_int(&table, TENSOR_BUFFER, 4, 0) & UINT32_MAX, &tensor->refused);
    tensor->is_resource =
        tensor->type.dtype == DTYPE_NONE && strcmp(tensor->dtype_name, "RESOURCE") == 0;
    tensor->is_variable = fb_int(&table, TENSOR_VARIABLE, 1, 0) != 0;
    tensor->scales = fb_vector(&quant, QUANT_SCALE, 4);
    tensor->zeros = fb_vector(&quant, QUANT_ZERO, 8);
    tensor->axis = fb_int(&quant, QUANT_AXIS, 4, 0);
    if (fb_int(&quant, QUANT_DETAILS, 1, 0) != 0)
        tensor->refused = "it has scales of blocks, or of another kind of their own";
    if (fb_has(&table, TENSOR_SPARSITY))
        tensor->sparsity = fb_table(&table, TENSOR_SPARSITY);
    tensor->is_unsigned = tensor->type.dtype == DTYPE_U8 && tensor->scales.n > 0;
    tensor->is_packed = fb_int(&table, TENSOR_TYPE, 1, 0) == INT4;
    if (tensor->is_unsigned)
        tensor->type.dtype = DTYPE_I8;
    if (fb_int(&table, TENSOR_EXTERNAL, 4, 0) != 0)
        tensor->refused = "its data are in another file";
    return is_whole(d, "tensor", index) && ok;
}

/* --- operators -------------------------------------------------------------------------------- */

static bool read_operator(struct decoder *d, const struct fb_vector *tables, size_t index,
                          struct tfl_operator *op)
{
    const struct fb_table table = fb_element(tables, index);
    const int64_t row = fb_int(&table, OPERATOR_CODE, 4, 0) & UINT32_MAX;
    struct fb_table code = { .file = d->file };
    struct fb_vector custom;
    int64_t old, new;

    if ((uint64_t)row < d->codes.n)
        code = fb_element(&d->codes, (size_t)row);
    else
        diag_error(d->ctx, DIAG_TFLITE_FORMAT, NULL,
                   "operator #%zu has the code %lld, and the file lists %zu", index, (long long)row,
                   d->codes.n);
    custom = fb_vector(&code, CODE_CUSTOM, 1);
    old = fb_int(&code, CODE_OLD, 1, 0);
    new = fb_int(&code, CODE_NEW, 4, 0);
    op->code = old > new ? old : new;
    op->version = fb_int(&code, CODE_VERSION, 4, 1);
    op->custom = op->code == TFL_CUSTOM ? text_of(d->ctx, &custom) : NULL;
    op->inputs = fb_vector(&table, OPERATOR_INPUTS, 4);
    op->outputs = fb_vector(&table, OPERATOR_OUTPUTS, 4);
    op->custom_options = fb_vector(&table, OPERATOR_CUSTOM_OPTIONS, 1);
    op->options_type = fb_int(&table, OPERATOR_OPTIONS_TYPE, 1, 0) & 255;
    op->options = fb_table(&table, OPERATOR_OPTIONS);
    op->has_more_options = fb_int(&table, OPERATOR_OPTIONS_2, 1, 0) != 0;
    return is_whole(d, "operator", index) && (uint64_t)row < d->codes.n;
}

/* --- the file --------------------------------------------------------------------------------- */

/* Objects may be one and the same in the file, so that a small one can list many. */
static bool is_granted(struct decoder *d, const char *what, size_t n)
{
    return limit_check(d->ctx, LIMIT_NODES, NULL, (double)n) ||
           (diag_note(d->ctx, "these are the %s that the file lists", what), false);
}

/* Converters join the names of all operators that they fold into one, "a/Relu;a/batch_norm;a/conv".
 * The first, whose result it is, names a computed tensor, and "a/Relu.constant" a bias or weights,
 * unless another tensor has that name. */
static void shorten_names(struct decoder *d, struct tfl_graph *graph, bool constants)
{
    struct arena *arena = &d->ctx->perm;
    struct map taken = { .arena = arena };

    for (int i = 0; i < graph->n_tensors; i++)
        map_set(&taken, graph->tensors[i].name, graph);
    for (int i = 0; i < graph->n_tensors; i++) {
        struct tfl_tensor *tensor = &graph->tensors[i];
        const int n = (int)strcspn(tensor->name, ";");
        const char *name =
            arena_printf(arena, "%.*s%s", n, tensor->name, constants ? ".constant" : "");

        if (n == 0 || !tensor->name[n] || (tensor->data.n > 0) != constants ||
            map_get(&taken, name))
            continue;
        tensor->name = name;
        map_set(&taken, name, graph);
    }
}

static bool read_graph(struct decoder *d, const struct fb_table *table, size_t index,
                       struct tfl_graph *graph)
{
    const struct fb_vector tensors = fb_vector(table, GRAPH_TENSORS, 4);
    const struct fb_vector operators = fb_vector(table, GRAPH_OPERATORS, 4);
    bool ok;

    graph->inputs = fb_vector(table, GRAPH_INPUTS, 4);
    graph->outputs = fb_vector(table, GRAPH_OUTPUTS, 4);
    if (!is_whole(d, "subgraph", index) || !is_granted(d, "tensors", tensors.n) ||
        !is_granted(d, "operators", operators.n))
        return false;
    graph->n_tensors = (int)tensors.n;
    graph->n_operators = (int)operators.n;
    graph->tensors = arena_array(&d->ctx->perm, struct tfl_tensor, tensors.n);
    graph->operators = arena_array(&d->ctx->perm, struct tfl_operator, operators.n);
    ok = true;
    for (size_t i = 0; i < tensors.n && goes_on(d); i++)
        ok = read_tensor(d, &tensors, i, &graph->tensors[i]) && ok;
    if (ok) {
        shorten_names(d, graph, false);
        shorten_names(d, graph, true);
    }
    for (size_t i = 0; i < operators.n && goes_on(d); i++)
        ok = read_operator(d, &operators, i, &graph->operators[i]) && ok;
    return ok && goes_on(d);
}

bool tfl_is_model(const uint8_t *bytes, size_t n)
{
    return n >= 8 && memcmp(bytes + 4, "TFL3", 4) == 0;
}

bool tfl_model_read(struct ctx *ctx, struct flatbuffer *file, struct tfl_model *model)
{
    struct decoder d = { .ctx = ctx, .file = file, .model = model };
    const struct fb_table root = fb_root(file);
    const int64_t version = fb_int(&root, MODEL_VERSION, 4, 0);
    const struct fb_vector graphs = fb_vector(&root, MODEL_GRAPHS, 4);
    const struct fb_vector description = fb_vector(&root, MODEL_DESCRIPTION, 1);
    struct fb_table main = { .file = file };

    d.codes = fb_vector(&root, MODEL_CODES, 4);
    d.buffers = fb_vector(&root, MODEL_BUFFERS, 4);
    if (graphs.n > 0)
        main = fb_element(&graphs, 0);
    if (!is_whole(&d, "model", 0))
        return false;
    model->description = text_of(ctx, &description);
    model->n_graphs = graphs.n < INT32_MAX ? (int)graphs.n : INT32_MAX;
    if (version != SCHEMA_VERSION) {
        diag_error(ctx, DIAG_TFLITE_FORMAT, NULL,
                   "the file has version %lld of the format, relayc reads version %d",
                   (long long)version, SCHEMA_VERSION);
        diag_help(ctx, "convert the model again with a TensorFlow of 2018 or later");
        return false;
    }
    if (graphs.n == 0)
        return diag_error(ctx, DIAG_TFLITE_FORMAT, NULL, "the file contains no graph");
    model->graphs = graphs;
    model->codes = d.codes;
    model->buffers = d.buffers;
    return read_graph(&d, &main, 0, &model->main) &&
           (!model->floats || tfl_floats(model->floats, &model->main));
}

bool tfl_graph_read(struct ctx *ctx, const struct tfl_model *model, int index,
                    struct tfl_graph *graph)
{
    struct decoder d = { .ctx = ctx,
                         .file = model->graphs.file,
                         .buffers = model->buffers,
                         .codes = model->codes };
    const struct fb_table table = fb_element(&model->graphs, (size_t)index);

    return read_graph(&d, &table, (size_t)index, graph) &&
           (!model->floats || tfl_floats(model->floats, graph));
}

/* --- texts ------------------------------------------------------------------------------------ */

const char *tfl_operator_name(struct ctx *ctx, const struct tfl_operator *op)
{
    static const char *const names[TFL_CODES] = {
#define BUILTIN(code, name) [code] = #name,
#include "frontend/tflite/builtins.def"
#undef BUILTIN
    };

    if (op->custom)
        return op->custom;
    return op->code >= 0 && op->code < TFL_CODES && names[op->code]
               ? names[op->code]
               : arena_printf(&ctx->perm, "operator %lld", (long long)op->code);
}

const char *tfl_tensor_text(struct ctx *ctx, const struct tfl_graph *graph,
                            const struct tfl_tensor *tensor)
{
    return arena_printf(&ctx->perm, "tensor #%d \"%s\"", (int)(tensor - graph->tensors),
                        str_safe(&ctx->perm, tensor->name, 120));
}
