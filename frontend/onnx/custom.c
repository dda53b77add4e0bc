/* custom.c - operators that are C functions of the user (--custom-op). */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/importer.h"
#include "relay_ir/ops/custom.h"

struct custom_op *import_custom(const struct import *im, const Onnx__NodeProto *proto)
{
    for (int i = 0; i < im->options->n_custom; i++) {
        struct custom_op *custom = &im->options->custom[i];

        if (strcmp(domain_canonical(custom->domain), domain_canonical(proto->domain)) == 0 &&
            strcmp(custom->op, proto->op_type) == 0)
            return custom;
    }
    return NULL;
}

/* --- attributes ------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    const Onnx__AttributeProto *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

static bool add_attribute(struct import *im, const struct origin *origin, struct str *out,
                          const Onnx__AttributeProto *attr)
{
    str_add(out, out->n ? ";" : "");
    switch (attribute_type(attr)) {
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT:
        str_printf(out, "i%lld", (long long)attr->i);
        return true;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT:
        str_printf(out, "f%.9g", (double)attr->f);
        return true;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
        for (size_t i = 0; i < attr->n_ints; i++)
            str_printf(out, "%s%lld", i ? "," : "I", (long long)attr->ints[i]);
        str_add(out, attr->n_ints ? "" : "I");
        return true;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
        for (size_t i = 0; i < attr->n_floats; i++)
            str_printf(out, "%s%.9g", i ? "," : "F", (double)attr->floats[i]);
        str_add(out, attr->n_floats ? "" : "F");
        return true;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING:
        if (custom_is_text((const char *)attr->s.data, attr->s.len)) {
            str_add(out, "s");
            str_addn(out, (const char *)attr->s.data, attr->s.len);
            return true;
        }
        return diag_error(im->ctx, DIAG_ONNX_ATTRIBUTE, origin,
                          "attribute %s is text that a custom operator cannot pass on: letters, "
                          "digits, blanks and _ . : / + - were expected",
                          str_safe(&im->ctx->perm, attr->name, 60));
    default:
        return diag_error(im->ctx, DIAG_ONNX_ATTRIBUTE, origin,
                          "attribute %s is of a kind that a custom operator cannot pass on: a "
                          "number, text, or a list of numbers was expected",
                          str_safe(&im->ctx->perm, attr->name, 60));
    }
}

static const char *attributes_text(struct import *im, const Onnx__NodeProto *proto,
                                   const struct origin *origin)
{
    Onnx__AttributeProto **sorted =
        arena_array(&im->arena, Onnx__AttributeProto *, proto->n_attribute + 1);
    struct str out = { .arena = &im->module->arena };

    for (size_t i = 0; i < proto->n_attribute; i++)
        sorted[i] = proto->attribute[i];
    qsort(sorted, proto->n_attribute, sizeof *sorted, compare_names);
    for (size_t i = 0; i < proto->n_attribute; i++)
        if (!add_attribute(im, origin, &out, sorted[i]))
            return NULL;
    return out.n ? str_text(&out) : "";
}

/* --- types of the results --------------------------------------------------------------------- */

/* A number, or I.D: dim D of input I. Moves *at behind it. */
static bool read_term(const char **at, struct value *const *inputs, size_t n, int64_t *out)
{
    char *end;
    long long dim;

    if (**at < '0' || **at > '9')
        return false;
    *out = strtoll(*at, &end, 10);
    *at = end;
    if (*end != '.')
        return true;
    *at = end + 1;
    if (**at < '0' || **at > '9' || *out >= (int64_t)n || !inputs[*out])
        return false;
    dim = strtoll(*at, &end, 10);
    *at = end;
    if (dim >= inputs[*out]->type.rank)
        return false;
    *out = inputs[*out]->type.dim[dim];
    return true;
}

/* "0.1*2": from left to right. */
static bool read_dim(const char **at, struct value *const *inputs, size_t n, int64_t *out)
{
    int64_t more;

    if (!read_term(at, inputs, n, out))
        return false;
    while (**at && strchr("*/+-", **at)) {
        const char op = *(*at)++;

        if (!read_term(at, inputs, n, &more) || *out > INT32_MAX || more > INT32_MAX ||
            (op == '/' && more == 0))
            return false;
        *out = op == '*'   ? *out * more
               : op == '/' ? *out / more
               : op == '+' ? *out + more
                           : *out - more;
    }
    return *out >= 0;
}

/* "0.0,0.1*2=f32" */
static bool read_shape(const char *text, struct value *const *inputs, size_t n, struct type *type)
{
    while (*text && *text != '=') {
        if (type->rank == MAX_RANK || !read_dim(&text, inputs, n, &type->dim[type->rank++]))
            return false;
        if (*text == ',')
            text++;
        else if (*text && *text != '=')
            return false;
    }
    if (*text == '=')
        type->dtype = dtype_from_name(text + 1);
    return type->dtype != DTYPE_NONE;
}

static bool result_type(struct import *im, const struct custom_op *custom,
                        const Onnx__NodeProto *proto, const struct origin *origin, size_t i,
                        struct value *const *inputs, struct type *type)
{
    const Onnx__TypeProto__Tensor *tensor = import_declared(im, proto->output[i]);
    bool known = tensor && tensor->shape && tensor->shape->n_dim <= MAX_RANK;

    *type = (struct type){ .dtype = DTYPE_F32 };
    if (proto->n_input && inputs[0])
        type->dtype = inputs[0]->type.dtype;
    if ((int)i < custom->n_shapes)
        return read_shape(custom->shapes[i], inputs, proto->n_input, type) ||
               diag_error(
                   im->ctx, DIAG_USAGE, origin,
                   "--custom-op %s: '%s' is not a shape of result %zu: dims were expected such "
                   "as 1,0.2*2=f32, where 0.2 is dim 2 of input 0",
                   custom->given, str_safe(&im->ctx->perm, custom->shapes[i], 80), i);
    for (size_t d = 0; known && d < tensor->shape->n_dim; d++) {
        known = tensor->shape->dim[d]->dim_value > 0;
        type->dim[type->rank++] = tensor->shape->dim[d]->dim_value;
    }
    if (known) {
        type->dtype = onnx_dtype(im->ctx, origin, "output", proto->output[i], tensor->elem_type);
        return type->dtype != DTYPE_NONE;
    }
    diag_error(im->ctx, DIAG_UNSUPPORTED_DYNAMIC, origin,
               "the shape of result %zu \"%s\" of a custom operator is unknown: the file declares "
               "none in numbers",
               i, str_safe(&im->ctx->perm, proto->output[i], 120));
    diag_help(im->ctx,
              "give it behind the function: --custom-op %s:1,0.2*2, where 0.2 is dim 2 of "
              "input 0",
              custom->given);
    return false;
}

static bool check_halves(struct import *im, const struct origin *origin, enum dtype dtype)
{
    return (dtype != DTYPE_F16 && dtype != DTYPE_BF16) ||
           diag_error(im->ctx, DIAG_UNSUPPORTED_TYPE, origin,
                      "a custom operator cannot have tensors of %s: C has no such type",
                      dtype_name(dtype));
}

static const char *results_text(struct import *im, const struct custom_op *custom,
                                const Onnx__NodeProto *proto, const struct origin *origin,
                                struct value *const *inputs)
{
    struct str out = { .arena = &im->module->arena };

    for (size_t i = 0; i < proto->n_output; i++) {
        struct type type;

        if (!result_type(im, custom, proto, origin, i, inputs, &type) ||
            !check_halves(im, origin, type.dtype))
            return NULL;
        str_printf(&out, "%s%s[", i ? ";" : "", dtype_name(type.dtype));
        for (int d = 0; d < type.rank; d++)
            str_printf(&out, "%s%lld", d ? "," : "", (long long)type.dim[d]);
        str_add(&out, "]");
    }
    return out.n ? str_text(&out) : "";
}

bool import_custom_node(struct import *im, struct scope *scope, struct custom_op *custom,
                        const Onnx__NodeProto *proto, const struct origin *origin)
{
    struct value **inputs = arena_array(&im->arena, struct value *, proto->n_input + 1);
    union attrs attrs = {
        .custom = { .op = custom->given, .header = custom->header, .function = custom->function }
    };
    struct node_args args = { .op = OP_CUSTOM,
                              .n_inputs = (int)proto->n_input,
                              .inputs = inputs,
                              .n_outputs = (int)proto->n_output,
                              .names = (const char *const *)proto->output,
                              .attrs = &attrs,
                              .origin = origin };
    struct node *node;

    custom->n_uses++;
    if (!import_operands(im, scope, proto, origin, inputs))
        return false;
    for (size_t i = 0; i < proto->n_input; i++)
        if (import_is_sequence(inputs[i]))
            return diag_error(im->ctx, DIAG_TYPE, origin,
                              "input %zu is a sequence, which a custom operator does not take", i);
    for (size_t i = 0; i < proto->n_input; i++)
        if (inputs[i] && !check_halves(im, origin, inputs[i]->type.dtype))
            return false;
    attrs.custom.arguments = attributes_text(im, proto, origin);
    attrs.custom.results =
        attrs.custom.arguments ? results_text(im, custom, proto, origin, inputs) : NULL;
    node = attrs.custom.results ? node_new(im->module->main, &args) : NULL;
    for (int i = 0; node && i < node->n_outputs; i++)
        scope_bind(im, scope, proto->output[i], node->outputs[i]);
    return node != NULL;
}

bool import_custom_used(const struct import *im)
{
    bool ok = true;

    for (int i = 0; i < im->options->n_custom; i++)
        if (im->options->custom[i].n_uses == 0)
            ok = diag_error(im->ctx, DIAG_USAGE, NULL,
                            "--custom-op %s: the model has no operator of this name",
                            im->options->custom[i].given);
    return ok;
}
