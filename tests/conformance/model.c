/* model.c - the import of a case: with open dims bound, and with inputs turned into initialisers
 * where relayc must know them at compile time (the backend tests give shapes and axes at run time).
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/conformance/conformance.h"

/* A model as protobuf-c sees it; inputs are those without an initialiser. */
struct source {
    struct ctx *ctx;
    Onnx__ModelProto *proto;
    int n_inputs;
    Onnx__ValueInfoProto *inputs[MAX_TENSORS];
};

static bool has_initializer(const Onnx__GraphProto *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_initializer; i++)
        if (strcmp(graph->initializer[i]->name, name) == 0)
            return true;
    return false;
}

static void find_inputs(struct source *source)
{
    const Onnx__GraphProto *graph = source->proto->graph;

    for (size_t i = 0; graph && i < graph->n_input && source->n_inputs < MAX_TENSORS; i++)
        if (!has_initializer(graph, graph->input[i]->name))
            source->inputs[source->n_inputs++] = graph->input[i];
}

static bool has_open_dim(const Onnx__ValueInfoProto *input)
{
    const Onnx__TypeProto__Tensor *type = input->type ? input->type->tensor_type : NULL;

    if (!type)
        return false;
    for (size_t i = 0; type->shape && i < type->shape->n_dim; i++)
        if (!type->shape->dim[i]->has_dim_value)
            return true;
    return !type->shape;
}

static int bind_dims(const struct source *source, const struct data_set *set,
                     struct shape_binding *bindings)
{
    int n = 0;

    for (int i = 0; i < source->n_inputs && i < set->n_inputs; i++) {
        const struct type *type = &set->inputs[i].type;

        if (!has_open_dim(source->inputs[i]))
            continue;
        bindings[n] = (struct shape_binding){ .name = source->inputs[i]->name, .rank = type->rank };
        memcpy(bindings[n++].dim, type->dim, sizeof type->dim);
    }
    return n;
}

/* The code of the data type in TensorProto. */
static int32_t onnx_code(enum dtype dtype)
{
    int32_t code = 1;

    while (code < 32 && dtype_from_onnx(code) != dtype)
        code++;
    return code;
}

static Onnx__TensorProto *initializer_of(struct arena *arena, const char *name,
                                         const struct tensor *tensor)
{
    Onnx__TensorProto *proto = arena_new(arena, Onnx__TensorProto);

    onnx__tensor_proto__init(proto);
    proto->name = arena_strdup(arena, name);
    proto->has_data_type = 1;
    proto->data_type = onnx_code(tensor->type.dtype);
    proto->n_dims = (size_t)tensor->type.rank;
    proto->dims = arena_memdup(arena, tensor->type.dim, sizeof tensor->type.dim);
    proto->has_raw_data = 1;
    proto->raw_data.len = type_bytes(&tensor->type);
    proto->raw_data.data = tensor->data;
    return proto;
}

/* Makes initialisers of the inputs in `frozen` and encodes the model anew. */
static const uint8_t *encode_frozen(struct source *source, const struct data_set *set,
                                    uint64_t frozen, size_t *size)
{
    struct arena *arena = &source->ctx->perm;
    Onnx__GraphProto *graph = source->proto->graph, changed = *graph;
    Onnx__ModelProto model = *source->proto;
    uint8_t *bytes;

    changed.initializer =
        arena_array(arena, Onnx__TensorProto *, graph->n_initializer + MAX_TENSORS);
    if (graph->n_initializer)
        memcpy(changed.initializer, graph->initializer,
               graph->n_initializer * sizeof *graph->initializer);
    for (int i = 0; i < source->n_inputs; i++)
        if (frozen >> i & 1)
            changed.initializer[changed.n_initializer++] =
                initializer_of(arena, source->inputs[i]->name, &set->inputs[i]);
    model.graph = &changed;
    *size = onnx__model_proto__get_packed_size(&model);
    bytes = arena_alloc(arena, *size);
    onnx__model_proto__pack(&model, bytes);
    return bytes;
}

/* The inputs of the nodes that failed because they must know one of them; `data_too` includes input
 * 0, which is what most operators work on. */
static uint64_t inputs_to_freeze(const struct source *source, bool data_too)
{
    const Onnx__GraphProto *graph = source->proto->graph;
    uint64_t frozen = 0;

    for (const struct diag *d = source->ctx->diags.first; d; d = d->next) {
        const long index = d->origin ? d->origin->index : -1;

        if (d->code != DIAG_UNSUPPORTED_DYNAMIC || index < 0 || (size_t)index >= graph->n_node)
            continue;
        for (size_t k = data_too ? 0 : 1; k < graph->node[index]->n_input; k++)
            for (int i = 0; i < source->n_inputs; i++)
                if (strcmp(graph->node[index]->input[k], source->inputs[i]->name) == 0)
                    frozen |= (uint64_t)1 << i;
    }
    return frozen;
}

static struct module *import_frozen(struct source *source, const struct mapping *file,
                                    const struct test_case *test, const struct data_set *set,
                                    uint64_t frozen)
{
    struct shape_binding bindings[MAX_TENSORS];
    struct import_options options = { .shapes = bindings };
    const uint8_t *bytes = file->data;
    size_t size = file->size;

    options.n_shapes = bind_dims(source, set, bindings);
    if (frozen)
        bytes = encode_frozen(source, set, frozen, &size);
    return onnx_import_bytes(source->ctx, bytes, size, test->dir, &options);
}

struct module *model_import(struct ctx *ctx, const struct test_case *test,
                            const struct data_set *set, uint64_t *frozen)
{
    struct source source = { .ctx = ctx };
    const struct diags before = diag_save(ctx);
    struct module *module = NULL;
    struct mapping file;

    if (!file_map(ctx, arena_printf(&ctx->perm, "%s/model.onnx", test->dir), &file))
        return NULL;
    source.proto = onnx__model_proto__unpack(NULL, file.size, file.data);
    if (!source.proto) {
        diag_error(ctx, DIAG_ONNX_FORMAT, NULL, "the test model cannot be unpacked");
        return NULL;
    }
    find_inputs(&source);
    for (int round = 0; round < 8; round++) {
        uint64_t more;

        module = import_frozen(&source, &file, test, set, *frozen);
        more = module ? 0 : inputs_to_freeze(&source, false) & ~*frozen;
        if (!module && !more)
            more = inputs_to_freeze(&source, true) & ~*frozen;
        if (!more || set->n_inputs < source.n_inputs)
            break;
        *frozen |= more;
        diag_restore(ctx, before);
    }
    return module; /* the file stays mapped: constants borrow from it until the child ends */
}
