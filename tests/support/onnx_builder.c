#include "tests/support/onnx_builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Appends to one of protobuf-c's pointer arrays. */
#define APPEND(b, message, list, item)                                                             \
    ((message)->list = grow((b), (message)->list, (message)->n_##list, sizeof *(message)->list),   \
     (message)->list[(message)->n_##list++] = (item))

static void *new_message(struct onnx_builder *b, const ProtobufCMessageDescriptor *type)
{
    void *message = arena_alloc(&b->arena, type->sizeof_message);

    protobuf_c_message_init(type, message);
    return message;
}

/* The list with room for one more; doubled at powers of two, so that appending stays linear. */
static void *grow(struct onnx_builder *b, void *list, size_t n, size_t size)
{
    void *copy;

    if (n & (n - 1))
        return list;
    copy = arena_alloc_array(&b->arena, n ? 2 * n : 1, size);
    if (n)
        memcpy(copy, list, n * size);
    return copy;
}

static _Noreturn void refuse(const char *what, const char *text)
{
    fprintf(stderr, "onnx_builder: %s: %s\n", what, text);
    abort();
}

static char *copy_text(struct onnx_builder *b, const char *text)
{
    return arena_strdup(&b->arena, text);
}

static int32_t onnx_code(enum dtype dtype)
{
    for (int32_t code = 1; code < 64; code++)
        if (dtype_from_onnx(code) == dtype)
            return code;
    refuse("a dtype without a code", dtype_name(dtype));
}

struct onnx_builder *builder_new(int opset)
{
    struct arena arena = { NULL };
    struct onnx_builder *b = arena_new(&arena, struct onnx_builder);

    b->arena = arena;
    b->random = 0x9e3779b97f4a7c15u;
    b->model = new_message(b, &onnx__model_proto__descriptor);
    b->model->has_ir_version = 1;
    b->model->ir_version = 8;
    b->model->producer_name = copy_text(b, "onnx_builder");
    b->model->graph = b->graph = new_message(b, &onnx__graph_proto__descriptor);
    b->graph->name = copy_text(b, "main");
    builder_domain(b, "", opset);
    return b;
}

void builder_free(struct onnx_builder *b)
{
    struct arena arena = b->arena;

    arena_release(&arena);
}

void builder_domain(struct onnx_builder *b, const char *domain, int version)
{
    Onnx__OperatorSetIdProto *id = new_message(b, &onnx__operator_set_id_proto__descriptor);

    id->domain = copy_text(b, domain);
    id->has_version = 1;
    id->version = version;
    APPEND(b, b->model, opset_import, id);
}

/* --- types ------------------------------------------------------------------------------------ */

static Onnx__TensorShapeProto *shape_from_text(struct onnx_builder *b, const char *text)
{
    Onnx__TensorShapeProto *shape = new_message(b, &onnx__tensor_shape_proto__descriptor);

    for (char *rest = copy_text(b, text), *word; (word = strtok_r(rest, ",", &rest));) {
        Onnx__TensorShapeProto__Dimension *dim =
            new_message(b, &onnx__tensor_shape_proto__dimension__descriptor);

        if (word[0] == '-' || (word[0] >= '0' && word[0] <= '9')) {
            dim->has_dim_value = 1;
            dim->dim_value = strtoll(word, NULL, 10);
        } else if (strcmp(word, "?") != 0) {
            dim->dim_param = word;
        }
        APPEND(b, shape, dim, dim);
    }
    return shape;
}

static Onnx__ValueInfoProto *value_info(struct onnx_builder *b, const char *name, enum dtype dtype,
                                        const char *shape)
{
    Onnx__ValueInfoProto *info = new_message(b, &onnx__value_info_proto__descriptor);
    Onnx__TypeProto__Tensor *tensor = new_message(b, &onnx__type_proto__tensor__descriptor);

    info->name = copy_text(b, name);
    info->type = new_message(b, &onnx__type_proto__descriptor);
    info->type->tensor_type = tensor;
    tensor->has_elem_type = 1;
    tensor->elem_type = onnx_code(dtype);
    if (shape)
        tensor->shape = shape_from_text(b, shape);
    return info;
}

void builder_input(struct onnx_builder *b, const char *name, enum dtype dtype, const char *shape)
{
    APPEND(b, b->graph, input, value_info(b, name, dtype, shape));
}

void builder_output(struct onnx_builder *b, const char *name, enum dtype dtype, const char *shape)
{
    APPEND(b, b->graph, output, value_info(b, name, dtype, shape));
}

/* --- tensors ---------------------------------------------------------------------------------- */

static void tensor_dim(struct onnx_builder *b, Onnx__TensorProto *tensor, int64_t dim)
{
    APPEND(b, tensor, dims, dim);
}

static int64_t tensor_dims_from_text(struct onnx_builder *b, Onnx__TensorProto *tensor,
                                     const char *shape)
{
    int64_t n = 1;

    for (char *rest = copy_text(b, shape), *word; (word = strtok_r(rest, ",", &rest));) {
        tensor_dim(b, tensor, strtoll(word, NULL, 10));
        n *= tensor->dims[tensor->n_dims - 1];
    }
    return n;
}

Onnx__TensorProto *builder_tensor_proto(struct onnx_builder *b, const char *name, enum dtype dtype,
                                        const char *shape, const void *data)
{
    Onnx__TensorProto *tensor = new_message(b, &onnx__tensor_proto__descriptor);
    const int64_t n = tensor_dims_from_text(b, tensor, shape);

    tensor->name = copy_text(b, name);
    tensor->has_data_type = 1;
    tensor->data_type = onnx_code(dtype);
    tensor->has_raw_data = 1;
    tensor->raw_data.len = ((size_t)n * (size_t)dtype_packed_bits(dtype) + 7) / 8;
    tensor->raw_data.data = data ? arena_memdup(&b->arena, data, tensor->raw_data.len)
                                 : arena_alloc(&b->arena, tensor->raw_data.len);
    return tensor;
}

Onnx__TensorProto *builder_tensor(struct onnx_builder *b, const char *name, enum dtype dtype,
                                  const char *shape, const void *data)
{
    return APPEND(b, b->graph, initializer, builder_tensor_proto(b, name, dtype, shape, data));
}

void builder_floats(struct onnx_builder *b, const char *name, const char *shape, const float *data)
{
    builder_tensor(b, name, DTYPE_F32, shape, data);
}

void builder_ints(struct onnx_builder *b, const char *name, const char *shape, const int64_t *data)
{
    builder_tensor(b, name, DTYPE_I64, shape, data);
}

void builder_fill(struct onnx_builder *b, const char *name, const char *shape, float number)
{
    const Onnx__TensorProto *tensor = builder_tensor(b, name, DTYPE_F32, shape, NULL);
    float *data = (float *)(void *)tensor->raw_data.data;

    for (size_t i = 0; i < tensor->raw_data.len / sizeof *data; i++)
        data[i] = number;
}

/* xorshift64* (Vigna 2016): enough for weights, and the same everywhere. */
double builder_next_random(struct onnx_builder *b)
{
    b->random ^= b->random >> 12;
    b->random ^= b->random << 25;
    b->random ^= b->random >> 27;
    return (double)(int64_t)((b->random * 0x2545f4914f6cdd1du) >> 11) / 4503599627370496.0 - 1.0;
}

void builder_random(struct onnx_builder *b, const char *name, const char *shape, double bound)
{
    const Onnx__TensorProto *tensor = builder_tensor(b, name, DTYPE_F32, shape, NULL);
    float *data = (float *)(void *)tensor->raw_data.data;

    for (size_t i = 0; i < tensor->raw_data.len / sizeof *data; i++)
        data[i] = (float)(bound * builder_next_random(b));
}

/* --- nodes ------------------------------------------------------------------------------------ */

static char *name_from_word(struct onnx_builder *b, const char *word)
{
    return copy_text(b, strcmp(word, "_") == 0 ? "" : word);
}

Onnx__NodeProto *builder_node(struct onnx_builder *b, const char *op, const char *inputs,
                              const char *outputs)
{
    Onnx__NodeProto *node = new_message(b, &onnx__node_proto__descriptor);
    const char *colon = strrchr(op, ':');

    node->op_type = copy_text(b, colon ? colon + 1 : op);
    if (colon)
        node->domain = arena_strndup(&b->arena, op, (size_t)(colon - op));
    node->name = arena_printf(&b->arena, "%s_%zu", node->op_type, b->graph->n_node);
    for (char *rest = copy_text(b, inputs), *word; (word = strtok_r(rest, " ", &rest));)
        APPEND(b, node, input, name_from_word(b, word));
    for (char *rest = copy_text(b, outputs), *word; (word = strtok_r(rest, " ", &rest));)
        APPEND(b, node, output, name_from_word(b, word));
    APPEND(b, b->graph, node, node);
    return b->last = node;
}

void builder_name(struct onnx_builder *b, const char *name)
{
    b->last->name = copy_text(b, name);
}

Onnx__AttributeProto *builder_attr(struct onnx_builder *b, const char *name,
                                   Onnx__AttributeProto__AttributeType type)
{
    Onnx__AttributeProto *attr = new_message(b, &onnx__attribute_proto__descriptor);

    attr->name = copy_text(b, name);
    attr->has_type = 1;
    attr->type = type;
    return APPEND(b, b->last, attribute, attr);
}

void builder_attr_tensor(struct onnx_builder *b, const char *name, enum dtype dtype,
                         const char *shape, const void *data)
{
    Onnx__AttributeProto *attr =
        builder_attr(b, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR);

    attr->t = builder_tensor_proto(b, "", dtype, shape, data);
}

/* "[1,2]", "[1.5,2]", "[]" and "[]f", without the opening bracket. */
static void attr_list(struct onnx_builder *b, const char *name, char *text)
{
    char *const end = strchr(text, ']');
    Onnx__AttributeProto *attr;
    bool floats;

    if (!end)
        refuse("a list without an end", text);
    floats = end[1] == 'f' || (strpbrk(text, ".eE") && strpbrk(text, ".eE") < end);
    *end = '\0';
    attr = builder_attr(b, name,
                        floats ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS
                               : ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
    for (char *rest = text, *word; (word = strtok_r(rest, ",", &rest));) {
        if (floats)
            APPEND(b, attr, floats, strtof(word, NULL));
        else
            APPEND(b, attr, ints, strtoll(word, NULL, 10));
    }
}

static void attr_text(struct onnx_builder *b, const char *name, const char *text)
{
    Onnx__AttributeProto *attr =
        builder_attr(b, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);

    attr->has_s = 1;
    attr->s.len = strcspn(text, "'");
    attr->s.data = arena_memdup(&b->arena, text, attr->s.len);
}

static void attr_number(struct onnx_builder *b, const char *name, const char *text)
{
    const bool is_float = strpbrk(text, ".eEn") != NULL;
    Onnx__AttributeProto *attr =
        builder_attr(b, name,
                     is_float ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT
                              : ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

    attr->has_f = is_float;
    attr->f = is_float ? strtof(text, NULL) : 0;
    attr->has_i = !is_float;
    attr->i = is_float ? 0 : strtoll(text, NULL, 10);
}

void builder_attrs(struct onnx_builder *b, const char *format, ...)
{
    va_list args;
    char *rest;

    va_start(args, format);
    rest = arena_vprintf(&b->arena, format, args);
    va_end(args);
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *value = strchr(word, '=');

        if (!value)
            refuse("an attribute without a value", word);
        *value++ = '\0';
        if (*value == '[')
            attr_list(b, word, value + 1);
        else if (*value == '\'')
            attr_text(b, word, value + 1);
        else
            attr_number(b, word, value);
    }
}

struct builder_outer builder_begin_graph(struct onnx_builder *b, const char *attr)
{
    const struct builder_outer outer = { b->graph, b->last };
    Onnx__AttributeProto *a = builder_attr(b, attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH);

    a->g = b->graph = new_message(b, &onnx__graph_proto__descriptor);
    a->g->name = copy_text(b, attr);
    return outer;
}

void builder_end_graph(struct onnx_builder *b, struct builder_outer outer)
{
    b->graph = outer.graph;
    b->last = outer.last;
}

const char *builder_fresh(struct onnx_builder *b, const char *stem)
{
    return arena_printf(&b->arena, "%s_%d", stem, ++b->n_names);
}

/* --- encoding --------------------------------------------------------------------------------- */

static const uint8_t *pack(struct onnx_builder *b, const ProtobufCMessage *message, size_t *n)
{
    uint8_t *bytes;

    *n = protobuf_c_message_get_packed_size(message);
    bytes = arena_alloc(&b->arena, *n);
    if (protobuf_c_message_pack(message, bytes) != *n)
        refuse("packing", "the size differs from the prediction");
    return bytes;
}

const uint8_t *builder_bytes(struct onnx_builder *b, size_t *n)
{
    return pack(b, &b->model->base, n);
}

const uint8_t *builder_tensor_bytes(struct onnx_builder *b, const Onnx__TensorProto *tensor,
                                    size_t *n)
{
    return pack(b, &tensor->base, n);
}

/* Whole or not at all: another process may have the file that was there before in its memory. */
void builder_write(struct onnx_builder *b, const char *path)
{
    size_t n;
    const uint8_t *bytes = builder_bytes(b, &n);
    const char *fresh = arena_printf(&b->arena, "%s.%ld", path, (long)getpid());
    FILE *out = fopen(fresh, "wb");

    if (!out || fwrite(bytes, 1, n, out) != n || fclose(out) != 0 || rename(fresh, path) != 0)
        refuse("cannot write", path);
}
