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
    bool moved; /* to another operator set, or given lengths */
};

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

static void bind(struct shape_binding *binding, const char *name, const struct type *type)
{
    *binding = (struct shape_binding){ .name = name, .rank = type ? type->rank : -1 };
    if (type)
        memcpy(binding->dim, type->dim, sizeof type->dim);
}

static int bind_dims(const struct source *source, const struct data_set *set,
                     struct shape_binding *bindings)
{
    struct arena *arena = &source->ctx->perm;
    int n = 0;

    for (int i = 0; i < source->n_inputs && i < set->n_values && n < MAX_TENSORS; i++) {
        const Onnx__ValueInfoProto *input = source->inputs[i];
        const Onnx__TypeProto *type = input->type;
        const int first = set->first[i], end = set->first[i + 1];

        if (type && type->optional_type && first < end)
            type = type->optional_type->elem_type;
        if (!type || type->tensor_type) {
            if (first < end && (type != input->type || has_open_dim(input)))
                bind(&bindings[n++], input->name, &set->inputs[first].type);
            continue;
        }
        if (first == end)
            bind(&bindings[n++], input->name, NULL);
        for (int k = first; k < end && n < MAX_TENSORS; k++)
            bind(&bindings[n++], arena_printf(arena, "%s.%d", input->name, k - first),
                 &set->inputs[k].type);
    }
    return n;
}

/* Whether the data have another shape than the model declares: a mistake of the test. */
static bool data_contradict(const struct source *source, const struct data_set *set)
{
    for (int i = 0; i < source->n_inputs && i < set->n_values; i++) {
        const Onnx__TypeProto *type = source->inputs[i]->type;
        const Onnx__TensorShapeProto *shape =
            type && type->tensor_type ? type->tensor_type->shape : NULL;
        const struct type *given = &set->inputs[set->first[i]].type;

        if (shape && set->first[i] == set->first[i + 1])
            return true;
        if (shape && shape->n_dim != (size_t)given->rank)
            return true;
        for (size_t k = 0; shape && k < shape->n_dim; k++)
            if (shape->dim[k]->has_dim_value && shape->dim[k]->dim_value != given->dim[k])
                return true;
    }
    return false;
}

/* --- operator sets ---------------------------------------------------------------------------- */

/* Whether a node of operator set 1 to 6 means the same in 7: all do but those that broadcast by
 * attributes, work in place, or take a slope per channel. */
static bool means_the_same(const Onnx__NodeProto *node)
{
    for (size_t i = 0; i < node->n_attribute; i++)
        if (strcmp(node->attribute[i]->name, "broadcast") == 0 ||
            strcmp(node->attribute[i]->name, "consumed_inputs") == 0)
            return false;
    return strcmp(node->op_type, "PRelu") != 0 && strcmp(node->op_type, "Upsample") != 0;
}

static bool move_opset(struct source *source)
{
    const Onnx__GraphProto *graph = source->proto->graph;
    bool moved = false;

    for (size_t i = 0; i < source->proto->n_opset_import; i++) {
        Onnx__OperatorSetIdProto *set = source->proto->opset_import[i];

        if (*set->domain && strcmp(set->domain, "ai.onnx") != 0)
            continue;
        if (set->version >= 7 || set->version < 1)
            continue;
        moved = true;
        for (size_t k = 0; graph && k < graph->n_node; k++)
            moved = moved && means_the_same(graph->node[k]);
        if (moved)
            set->version = 7;
    }
    return moved;
}

/* --- inputs as initialisers ------------------------------------------------------------------- */

/* The declared element type is the one that counts: data may be stored as bare bits. */
static Onnx__TensorProto *initializer_of(struct arena *arena, const Onnx__ValueInfoProto *input,
                                         const struct tensor *tensor)
{
    Onnx__TensorProto *proto = arena_new(arena, Onnx__TensorProto);

    onnx__tensor_proto__init(proto);
    proto->name = arena_strdup(arena, input->name);
    proto->has_data_type = 1;
    proto->data_type = input->type->tensor_type->elem_type;
    proto->n_dims = (size_t)tensor->type.rank;
    proto->dims = arena_memdup(arena, tensor->type.dim, sizeof tensor->type.dim);
    proto->has_raw_data = 1;
    proto->raw_data.len = type_bytes(&tensor->type);
    proto->raw_data.data = tensor->data;
    return proto;
}

/* Makes initialisers of the inputs in `frozen` and encodes the model again. */
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
        if (frozen >> i & 1 && source->inputs[i]->type && source->inputs[i]->type->tensor_type)
            changed.initializer[changed.n_initializer++] =
                initializer_of(arena, source->inputs[i], &set->inputs[set->first[i]]);
    model.graph = &changed;
    *size = onnx__model_proto__get_packed_size(&model);
    bytes = arena_alloc(arena, *size);
    onnx__model_proto__pack(&model, bytes);
    return bytes;
}

static const Onnx__NodeProto *producer(const Onnx__GraphProto *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_output; k++)
            if (strcmp(graph->node[i]->output[k], name) == 0)
                return graph->node[i];
    return NULL;
}

static bool is_tensor(const Onnx__ValueInfoProto *input)
{
    return input->type && input->type->tensor_type;
}

/* The graph inputs that a tensor is computed from; sequences cannot be frozen. */
static uint64_t sources_of(const struct source *source, const char *name, int depth)
{
    const Onnx__NodeProto *node;
    uint64_t found = 0;

    for (int i = 0; i < source->n_inputs; i++)
        if (strcmp(name, source->inputs[i]->name) == 0)
            return (uint64_t)is_tensor(source->inputs[i]) << i;
    node = depth > 0 && *name ? producer(source->proto->graph, name) : NULL;
    for (size_t k = 0; node && k < node->n_input; k++)
        found |= sources_of(source, node->input[k], depth - 1);
    return found;
}

/* The inputs behind the operands of a node; `data_too` includes input 0, which is what most
 * operators work on. */
static uint64_t inputs_behind(const struct source *source, const struct origin *origin,
                              bool data_too)
{
    const Onnx__GraphProto *graph = source->proto->graph;
    uint64_t found = 0;

    if (origin->index < 0 || (size_t)origin->index >= graph->n_node)
        return 0;
    for (size_t k = data_too ? 0 : 1; k < graph->node[origin->index]->n_input; k++)
        found |= sources_of(source, graph->node[origin->index]->input[k], 8);
    return found;
}

/* The inputs behind the nodes that failed with this code because they must know one of them. */
static uint64_t inputs_to_freeze(const struct source *source, enum diag_code code, bool data_too)
{
    uint64_t frozen = 0;

    for (const struct diag *d = source->ctx->diags.first; d; d = d->next)
        for (const struct origin *o = d->code == code ? d->origin : NULL; o; o = o->next)
            frozen |= inputs_behind(source, o, data_too);
    return frozen;
}

/* Lengths of results that the file leaves open, without a name: they are those of the expected results, as open dims of
 * inputs are those of the data. (What comes of a length that nobody declares: tests/e2e/run_time_numbers.py.) */
static bool declare_lengths(const struct source *source, const struct data_set *set)
{
    const Onnx__GraphProto *graph = source->proto->graph;
    bool any = false;

    for (size_t i = 0; i < graph->n_output && (int)graph->n_output == set->n_outputs; i++) {
        const Onnx__TypeProto *type = graph->output[i]->type;
        Onnx__TensorShapeProto *shape = type && type->tensor_type ? type->tensor_type->shape : NULL;

        for (size_t k = 0; shape && k < shape->n_dim; k++) {
            if (shape->dim[k]->has_dim_value || (int)shape->n_dim != set->outputs[i].type.rank)
                continue;
            shape->dim[k]->has_dim_value = true;
            shape->dim[k]->dim_value = set->outputs[i].type.dim[k];
            any = true;
        }
    }
    return any;
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
    if (frozen || source->moved)
        bytes = encode_frozen(source, set, frozen, &size);
    return onnx_import_bytes(source->ctx, bytes, size, test->dir, &options);
}

static bool read_source(struct ctx *ctx, const struct test_case *test, struct mapping *file,
                        struct source *source)
{
    *source = (struct source){ .ctx = ctx };
    if (!file_map(ctx, arena_printf(&ctx->perm, "%s/model.onnx", test->dir), file))
        return false;
    source->proto = onnx__model_proto__unpack(NULL, file->size, file->data);
    if (!source->proto)
        return diag_error(ctx, DIAG_ONNX_FORMAT, NULL, "the test model cannot be unpacked");
    source->n_inputs = model_inputs(source->proto->graph, source->inputs);
    return true;
}

struct module *model_import(struct ctx *ctx, const struct test_case *test,
                            const struct data_set *set, bool as_is, uint64_t *frozen)
{
    const struct diags before = diag_save(ctx);
    struct module *module = NULL;
    struct source source;
    struct mapping file;

    if (!read_source(ctx, test, &file, &source))
        return NULL;
    if (data_contradict(&source, set)) {
        diag_error(ctx, DIAG_UNSUPPORTED_FORM, NULL, "the test's data contradict its model");
        return NULL;
    }
    source.moved = move_opset(&source);
    source.moved = declare_lengths(&source, set) || source.moved;
    for (int round = 0; round < 8; round++) {
        uint64_t more;

        module = import_frozen(&source, &file, test, set, *frozen);
        more = module ? 0 : inputs_to_freeze(&source, DIAG_UNSUPPORTED_DYNAMIC, false) & ~*frozen;
        if (!module && !more)
            more = inputs_to_freeze(&source, DIAG_UNSUPPORTED_DYNAMIC, true) & ~*frozen;
        if (as_is || !more || set->n_values < source.n_inputs)
            break;
        *frozen |= more;
        diag_restore(ctx, before);
    }
    return module; /* the file stays mapped: constants borrow from it until the child ends */
}

uint64_t model_operands_of_refused(struct ctx *ctx, const struct test_case *test)
{
    struct source source;
    struct mapping file;

    return read_source(ctx, test, &file, &source) ? inputs_to_freeze(&source, DIAG_NO_KERNEL, false)
                                                  : 0;
}
