/* attribute.c - the attribute questions of convert.h. */
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/importer.h"

/* AttributeProto.AttributeType for messages. */
static const char *const type_names[] = {
    [0] = "nothing",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT] = "a float",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT] = "an int",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING] = "a string",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR] = "a tensor",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH] = "a graph",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS] = "a list of floats",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS] = "a list of ints",
    [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS] = "a list of strings",
};

static const char *type_name(Onnx__AttributeProto__AttributeType type)
{
    return (size_t)type < sizeof type_names / sizeof *type_names ? type_names[type]
                                                                 : "of another kind";
}

const Onnx__AttributeProto *attribute_find(const Onnx__NodeProto *proto, const char *name)
{
    for (size_t i = 0; i < proto->n_attribute; i++)
        if (strcmp(proto->attribute[i]->name, name) == 0)
            return proto->attribute[i];
    return NULL;
}

Onnx__AttributeProto__AttributeType attribute_type(const Onnx__AttributeProto *attr)
{
    /* Files of IR version 1 have no type field. */
    if (attr->type)
        return attr->type;
    return attr->has_f       ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT
           : attr->has_i     ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT
           : attr->has_s     ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING
           : attr->t         ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR
           : attr->g         ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH
           : attr->n_floats  ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS
           : attr->n_ints    ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS
           : attr->n_strings ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS
                             : ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED;
}

bool attributes_check(struct ctx *ctx, const struct origin *origin, const Onnx__NodeProto *proto)
{
    bool ok = true;

    if (proto->n_attribute > IMPORT_MAX_ATTRIBUTES)
        return diag_error(ctx, DIAG_ONNX_ATTRIBUTE, origin, "the node has %zu attributes",
                          proto->n_attribute);
    for (size_t i = 0; i < proto->n_attribute; i++)
        if (attribute_find(proto, proto->attribute[i]->name) != proto->attribute[i])
            ok = diag_error(ctx, DIAG_ONNX_ATTRIBUTE, origin, "attribute %s occurs twice",
                            str_safe(&ctx->perm, proto->attribute[i]->name, 60));
    return ok;
}

bool onnx_has(const struct onnx_node *node, const char *attr)
{
    return attribute_find(node->proto, attr) != NULL;
}

static bool refuse(struct onnx_node *node, const char *attr, const char *problem)
{
    node->import->question_failed = true;
    return diag_error(node->ctx, DIAG_ONNX_ATTRIBUTE, node->origin, "attribute %s %s", attr,
                      problem);
}

/* The attribute when it is there and of the wanted type. */
static const Onnx__AttributeProto *ask(struct onnx_node *node, const char *name,
                                       Onnx__AttributeProto__AttributeType wanted)
{
    const Onnx__AttributeProto *attr = attribute_find(node->proto, name);
    Onnx__AttributeProto__AttributeType found;

    if (!attr)
        return NULL;
    found = attribute_type(attr);
    /* An empty list of a file without types is a list of any kind. */
    if (found == wanted || found == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED)
        return attr;
    refuse(
        node, name,
        arena_printf(&node->ctx->perm, "is %s, expected %s", type_name(found), type_name(wanted)));
    return NULL;
}

int64_t onnx_int(struct onnx_node *node, const char *attr, int64_t missing)
{
    const Onnx__AttributeProto *a = ask(node, attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

    return a ? a->i : missing;
}

double onnx_real(struct onnx_node *node, const char *attr, double missing)
{
    const Onnx__AttributeProto *a = ask(node, attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);

    return a ? (double)a->f : missing;
}

static const char *text_of(struct onnx_node *node, const char *attr,
                           const ProtobufCBinaryData *bytes)
{
    if (!bytes->len)
        return "";
    if (!memchr(bytes->data, 0, bytes->len))
        return arena_strndup(&node->fn->module->arena, (const char *)bytes->data, bytes->len);
    refuse(node, attr, "contains a NUL byte");
    return "";
}

const char *onnx_word(struct onnx_node *node, const char *attr, const char *missing)
{
    const Onnx__AttributeProto *a = ask(node, attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);

    return a ? text_of(node, attr, &a->s) : missing;
}

static bool list_fits(struct onnx_node *node, const char *attr, size_t n)
{
    return n <= MAX_INTS ||
           refuse(node, attr,
                  arena_printf(&node->ctx->perm, "has %zu elements, at most %d are supported", n,
                               MAX_INTS));
}

struct ints onnx_ints(struct onnx_node *node, const char *attr)
{
    const Onnx__AttributeProto *a = ask(node, attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

    return a && list_fits(node, attr, a->n_ints) ? ints_of((int)a->n_ints, a->ints)
                                                 : (struct ints){ 0 };
}

bool onnx_int_list(struct onnx_node *node, const char *attr, const int64_t **at, int64_t *n)
{
    const Onnx__AttributeProto *a = ask(node, attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

    *at = a ? a->ints : NULL;
    *n = a ? (int64_t)a->n_ints : 0;
    return a != NULL;
}

struct reals onnx_reals(struct onnx_node *node, const char *attr)
{
    const Onnx__AttributeProto *a = ask(node, attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
    struct reals reals = { 0 };

    if (!a || !list_fits(node, attr, a->n_floats))
        return reals;
    for (; (size_t)reals.n < a->n_floats; reals.n++)
        reals.at[reals.n] = (double)a->floats[reals.n];
    return reals;
}

const char *onnx_words(struct onnx_node *node, const char *attr)
{
    const Onnx__AttributeProto *a = ask(node, attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);
    struct str words = { .arena = &node->fn->module->arena };

    for (size_t i = 0; a && i < a->n_strings; i++)
        str_printf(&words, "%s%s", i ? "," : "", text_of(node, attr, &a->strings[i]));
    return str_text(&words);
}

bool onnx_tensor(struct onnx_node *node, const char *attr, struct tensor *out)
{
    const Onnx__AttributeProto *a = ask(node, attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR);

    if (!a)
        return false;
    if (!a->t)
        return refuse(node, attr, "has no tensor");
    if (tensor_decode(&node->import->reader, node->origin, a->t, out))
        return true;
    node->import->question_failed = true;
    return false;
}

bool onnx_ok(const struct onnx_node *node)
{
    return !node->import->question_failed;
}
