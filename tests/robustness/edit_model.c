/* edit_model.c - models that are well-formed as a file and wrong as a network: one field replaced
 * by a telling value, an operator by another, an edge led elsewhere. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/import.h"
#include "frontend/onnx/onnx.pb-c.h"
#include "tests/robustness/edit.h"

static int64_t number(uint64_t *state)
{
    static const int64_t telling[] = { 0,         1,         2,         3,
                                       -1,        -2,        7,         64,
                                       65535,     1 << 20,   INT32_MAX, INT32_MIN,
                                       1LL << 32, INT64_MAX, INT64_MIN, INT64_MAX / 2 };

    return telling[random_below(state, sizeof telling / sizeof *telling)];
}

static float real(uint64_t *state)
{
    static const float telling[] = { 0, 1, -1, 0.5f, 1e30f, INFINITY, -INFINITY, NAN };

    return telling[random_below(state, sizeof telling / sizeof *telling)];
}

static char *copy_text(const char *text)
{
    char *copy = strdup(text);

    if (!copy)
        out_of_memory(strlen(text));
    return copy;
}

/* One element less, one changed, or the last one twice in place of the first. */
static void edit_numbers(int64_t *at, size_t *n, uint64_t *state)
{
    if (*n == 0)
        return;
    switch (random_below(state, 4)) {
    case 0: (*n)--; break;
    case 1: at[0] = at[*n - 1]; break;
    default: at[random_below(state, *n)] = number(state); break;
    }
}

static Onnx__NodeProto *some_node(Onnx__GraphProto *graph, uint64_t *state)
{
    return graph->n_node ? graph->node[random_below(state, graph->n_node)] : NULL;
}

/* --- edits: each may find nothing to do ------------------------------------------------------- */

static void edit_operator(Onnx__ModelProto *model, uint64_t *state)
{
    int n;
    const struct onnx_operator *operators = onnx_operators(&n);
    Onnx__NodeProto *node = some_node(model->graph, state);

    if (!node)
        return;
    if (node->op_type != onnx__node_proto__op_type__default_value)
        free(node->op_type);
    node->op_type = copy_text(operators[random_below(state, (size_t)n)].name);
}

static void edit_edge(Onnx__ModelProto *model, uint64_t *state)
{
    Onnx__NodeProto *node = some_node(model->graph, state);
    Onnx__NodeProto *from = some_node(model->graph, state);
    const char *other = "";
    char **edge, *copy;

    if (!node || node->n_input == 0)
        return;
    if (from->n_input && random_below(state, 2))
        other = from->input[random_below(state, from->n_input)];
    else if (from->n_output && random_below(state, 4))
        other = from->output[random_below(state, from->n_output)];
    edge = &node->input[random_below(state, node->n_input)];
    copy = copy_text(other);
    free(*edge);
    *edge = copy;
}

static void drop_edge(Onnx__ModelProto *model, uint64_t *state)
{
    Onnx__NodeProto *node = some_node(model->graph, state);

    if (!node)
        return;
    if (node->n_input && random_below(state, 3))
        free(node->input[--node->n_input]);
    else if (node->n_output)
        free(node->output[--node->n_output]);
}

static void *allocate(size_t n, size_t size)
{
    void *made = calloc(n, size);

    if (!made)
        out_of_memory(n * size);
    return made;
}

static Onnx__AttributeProto *make_int(const char *name, int64_t number)
{
    Onnx__AttributeProto *made = allocate(1, sizeof *made);

    onnx__attribute_proto__init(made);
    made->name = copy_text(name);
    made->has_type = made->has_i = 1;
    made->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
    made->i = number;
    return made;
}

/* Another element type on the way into a node: a Cast takes the place of the first of its inputs.
 */
static void cast_edge(Onnx__ModelProto *model, uint64_t *state)
{
    Onnx__GraphProto *graph = model->graph;
    Onnx__NodeProto *reader = some_node(graph, state), *cast;

    if (!reader || reader->n_input == 0)
        return;
    cast = allocate(1, sizeof *cast);
    onnx__node_proto__init(cast);
    cast->op_type = copy_text("Cast");
    cast->n_input = cast->n_output = cast->n_attribute = 1;
    cast->input = allocate(1, sizeof *cast->input);
    cast->output = allocate(1, sizeof *cast->output);
    cast->attribute = allocate(1, sizeof *cast->attribute);
    cast->input[0] = reader->input[0];
    cast->output[0] = copy_text("another type");
    reader->input[0] = copy_text("another type");
    cast->attribute[0] = make_int("to", (int64_t)random_below(state, 24));
    graph->node = realloc(graph->node, (graph->n_node + 1) * sizeof *graph->node);
    if (!graph->node)
        out_of_memory(graph->n_node);
    graph->node[graph->n_node++] = cast;
}

static void edit_attribute(Onnx__ModelProto *model, uint64_t *state)
{
    Onnx__NodeProto *node = some_node(model->graph, state);
    Onnx__AttributeProto *attribute;

    if (!node || node->n_attribute == 0)
        return;
    attribute = node->attribute[random_below(state, node->n_attribute)];
    switch (random_below(state, 8)) {
    case 0: attribute->type = (Onnx__AttributeProto__AttributeType)random_below(state, 15); break;
    case 1: /* the last one is gone */
        onnx__attribute_proto__free_unpacked(node->attribute[--node->n_attribute], NULL);
        break;
    default:
        attribute->i = number(state);
        attribute->f = real(state);
        edit_numbers(attribute->ints, &attribute->n_ints, state);
        break;
    }
}

static void edit_constant(Onnx__ModelProto *model, uint64_t *state)
{
    Onnx__GraphProto *graph = model->graph;
    Onnx__TensorProto *tensor;

    if (graph->n_initializer == 0)
        return;
    tensor = graph->initializer[random_below(state, graph->n_initializer)];
    switch (random_below(state, 4)) {
    case 0: tensor->data_type = (int32_t)random_below(state, 24); break;
    case 1:
        if (tensor->raw_data.len)
            tensor->raw_data.len -= 1 + random_below(state, tensor->raw_data.len);
        break;
    default: edit_numbers(tensor->dims, &tensor->n_dims, state); break;
    }
}

static void edit_interface(Onnx__ModelProto *model, uint64_t *state)
{
    Onnx__GraphProto *graph = model->graph;
    const size_t n = graph->n_input + graph->n_output, i = random_below(state, n);
    Onnx__ValueInfoProto *value;
    Onnx__TypeProto__Tensor *type;

    if (n == 0)
        return;
    value = i < graph->n_input ? graph->input[i] : graph->output[i - graph->n_input];
    type = value->type ? value->type->tensor_type : NULL;
    if (!type)
        return;
    if (random_below(state, 3) == 0)
        type->elem_type = (int32_t)random_below(state, 24);
    else if (type->shape && type->shape->n_dim)
        type->shape->dim[random_below(state, type->shape->n_dim)]->dim_value = number(state);
}

static void edit_opset(Onnx__ModelProto *model, uint64_t *state)
{
    if (model->n_opset_import)
        model->opset_import[0]->version = (int64_t)random_below(state, 26);
}

uint8_t *edit_model(const uint8_t *bytes, size_t *size, uint64_t *state)
{
    static void (*const edits[])(Onnx__ModelProto *, uint64_t *) = {
        edit_operator,  edit_operator,  edit_edge,      edit_edge,     drop_edge,
        edit_attribute, edit_attribute, edit_attribute, edit_constant, edit_interface,
        edit_opset,     cast_edge,      cast_edge,
    };
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, *size, bytes);
    uint8_t *out;

    if (!model || !model->graph)
        return NULL;
    for (size_t n = 1 + random_below(state, 3); n; n--)
        edits[random_below(state, sizeof edits / sizeof *edits)](model, state);
    *size = onnx__model_proto__get_packed_size(model);
    out = malloc(*size ? *size : 1);
    if (!out)
        out_of_memory(*size);
    onnx__model_proto__pack(model, out);
    onnx__model_proto__free_unpacked(model, NULL);
    return out;
}
