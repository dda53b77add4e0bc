/* strings.c - strings, which there are only where they name something: constants, and class labels
 * behind a classifier. A tensor of strings is one of their numbers (i64) with a list beside it, and
 * becomes an output or meets a LabelEncoder. Also the lists of ml.h. */
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/importer.h"
#include "frontend/onnx/ml.h"

/* --- lists ------------------------------------------------------------------------------------ */

static const Onnx__AttributeProto *list_of_kind(struct onnx_node *node, const char *name,
                                                Onnx__AttributeProto__AttributeType wanted,
                                                const char *what)
{
    const Onnx__AttributeProto *attr = attribute_find(node->proto, name);

    if (!attr || attribute_type(attr) == wanted || !attribute_type(attr))
        return attr;
    node->import->question_failed = true;
    diag_error(node->ctx, DIAG_ONNX_ATTRIBUTE, node->origin, "attribute %s is no list of %s", name,
               what);
    return NULL;
}

struct ml_reals ml_reals(struct onnx_node *node, const char *attr)
{
    const Onnx__AttributeProto *a =
        list_of_kind(node, attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS, "floats");

    return a ? (struct ml_reals){ a->floats, (int64_t)a->n_floats } : (struct ml_reals){ NULL, 0 };
}

struct ml_ints ml_ints(struct onnx_node *node, const char *attr)
{
    struct ml_ints out;

    onnx_int_list(node, attr, &out.at, &out.n);
    return out;
}

/* Raw text, with a '?' for a NUL. */
static const char *text_of(struct import *im, const uint8_t *bytes, size_t n)
{
    char *text = arena_alloc(&im->module->arena, n + 1);

    for (size_t i = 0; i < n; i++)
        text[i] = bytes[i] ? (char)bytes[i] : '?';
    return text;
}

struct ml_words ml_words(struct onnx_node *node, const char *attr)
{
    const Onnx__AttributeProto *a =
        list_of_kind(node, attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS, "strings");
    const char **words;

    if (!a || !a->n_strings || !limit_spend(node->ctx, node->origin, (double)a->n_strings))
        return (struct ml_words){ NULL, 0 };
    words = arena_array(&node->fn->module->arena, const char *, a->n_strings);
    for (size_t i = 0; i < a->n_strings; i++)
        words[i] = text_of(node->import, a->strings[i].data, a->strings[i].len);
    return (struct ml_words){ words, (int64_t)a->n_strings };
}

/* --- tensors of strings ----------------------------------------------------------------------- */

struct strings {
    const struct value *value;
    struct ml_words words;
};

static void remember(struct import *im, const struct value *value, struct ml_words words)
{
    struct strings *strings = arena_new(&im->arena, struct strings);

    *strings = (struct strings){ value, words };
    im->strings.arena = &im->arena;
    map_set(&im->strings, value->name, strings);
}

static struct ml_words recall(const struct import *im, const struct value *value)
{
    const struct strings *strings = value ? map_get(&im->strings, value->name) : NULL;

    return strings && strings->value == value ? strings->words : (struct ml_words){ NULL, -1 };
}

void ml_set_strings(struct onnx_node *node, const struct value *value, struct ml_words words)
{
    remember(node->import, value, words);
}

struct ml_words ml_strings_of(const struct onnx_node *node, const struct value *value)
{
    return recall(node->import, value);
}

/* The strings of a tensor's payload; false if they are not `n`. */
static bool decode_strings(struct import *im, const Onnx__TensorProto *proto, int64_t n,
                           const char **words)
{
    const struct wire_span *span = &im->reader.image->tensors[proto->payload];
    struct wire_cursor cursor = { im->reader.file + span->offset,
                                  im->reader.file + span->offset + span->size };
    struct wire_field field;
    const char *reason;
    int64_t found = 0;

    while (wire_next(&cursor, &field, &reason)) {
        if (field.number != 6 || field.type != WIRE_BYTES)
            continue;
        if (found < n)
            words[found] = text_of(im, field.bytes, field.size);
        found++;
    }
    return found == n;
}

struct value *import_strings(struct import *im, const Onnx__TensorProto *proto)
{
    struct type type = { .dtype = DTYPE_I64, .rank = (int)proto->n_dims };
    struct value *value;
    const char **words;
    double n = 1;
    int64_t *numbers;

    for (size_t i = 0; i < proto->n_dims; i++)
        n *= (double)proto->dims[i];
    if (proto->n_dims > MAX_RANK || n < 0 || !limit_spend(im->ctx, NULL, n) ||
        !constants_fit(im->module, 16 * n, NULL))
        return NULL;
    for (size_t i = 0; i < proto->n_dims; i++)
        type.dim[i] = proto->dims[i];
    if (!type_check_size(im->ctx, NULL, &type))
        return NULL;
    words = arena_array(&im->module->arena, const char *, n);
    if (!decode_strings(im, proto, type_elements(&type), words)) {
        diag_error(im->ctx, DIAG_ONNX_TENSOR, NULL,
                   "tensor \"%s\" has not as many strings as its shape",
                   str_safe(&im->ctx->perm, proto->name, 120));
        return NULL;
    }
    numbers = constant_alloc(im->module->main, &type);
    for (int64_t i = 0; i < type_elements(&type); i++)
        numbers[i] = i;
    value = constant_new(im->module->main, proto->name, &type, numbers);
    remember(im, value, (struct ml_words){ words, type_elements(&type) });
    return value;
}

/* --- nodes that read them --------------------------------------------------------------------- */

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

bool import_reads_strings(const struct import *im, const struct onnx_node *node)
{
    for (int i = 0; i < node->n_inputs; i++)
        if (recall(im, node->inputs[i]).n >= 0)
            return true;
    return false;
}

bool import_take_strings(struct onnx_node *node, bool *done)
{
    static const char *const movers[] = {
        "Flatten", "Gather",    "Identity",  "Reshape", "Slice",
        "Squeeze", "Transpose", "Unsqueeze", "ZipMap",  "ArrayFeatureExtractor"
    };
    static const char *const readers[] = { "LabelEncoder" };

    *done = false;
    if (is_one_of(node->op_type, readers, sizeof readers / sizeof *readers))
        return true;
    if (strcmp(node->op_type, "Cast") == 0 && onnx_int(node, "to", 0) == 8) {
        *done = true;
        return onnx_output(node, 0, node->inputs[0]);
    }
    if (recall(node->import, node->inputs[0]).n >= 0 &&
        is_one_of(node->op_type, movers, sizeof movers / sizeof *movers))
        return true;
    onnx_unsupported(node, "%s reads strings", node->op_type);
    diag_help(node->ctx, "strings are taken as constants, as class labels that are outputs, and by "
                         "LabelEncoder behind these");
    return false;
}

void import_pass_strings(struct onnx_node *node)
{
    const struct ml_words words = recall(node->import, node->inputs[0]);

    for (int i = 0; words.n >= 0 && i < node->n_outputs; i++)
        if (node->outputs[i] && node->outputs[i]->type.dtype == DTYPE_I64 &&
            recall(node->import, node->outputs[i]).n < 0 &&
            strcmp(node->op_type, "LabelEncoder") != 0)
            remember(node->import, node->outputs[i], words);
}

bool import_is_strings(const struct import *im, const struct value *value)
{
    return recall(im, value).n >= 0;
}

void import_name_classes(struct import *im, const struct value *value, const char *output)
{
    const struct ml_words words = recall(im, value);
    struct class_names *names, **end = &im->module->class_names;

    if (words.n < 0 || words.n > INT32_MAX)
        return;
    names = arena_new(&im->module->arena, struct class_names);
    *names = (struct class_names){ .output = arena_strdup(&im->module->arena, output),
                                   .n = (int)words.n,
                                   .names = words.at };
    while (*end)
        end = &(*end)->next;
    *end = names;
}
