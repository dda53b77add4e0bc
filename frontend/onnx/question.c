/* question.c - what convert.h offers besides attributes: operands, constants, building. */
#include <stdarg.h>
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/importer.h"

/* A tensor computed from constants, kept because chains of shape arithmetic ask again and again. */
struct computed {
    const struct value *value;
    struct tensor tensor;
};

bool import_known(struct import *im, const struct value *value, struct tensor *out)
{
    const struct computed *known = map_get(&im->computed, value->name);
    struct computed *fresh;

    if (value->kind == VALUE_CONSTANT) {
        *out = value_tensor(value);
        return true;
    }
    if (type_elements(&value->type) == 0 && !import_is_sequence(value)) {
        *out = (struct tensor){ value->type, "" };
        return true;
    }
    if (known && known->value == value) {
        *out = known->tensor;
        return true;
    }
    if (!interpret_within_limits(im->ctx, value, IMPORT_MAX_FOLD, &im->module->bulk, out))
        return false;
    fresh = arena_new(&im->arena, struct computed);
    *fresh = (struct computed){ value, *out };
    map_set(&im->computed, value->name, fresh);
    return true;
}

bool onnx_is_inside(const struct onnx_node *node)
{
    return node->import->depth > 0;
}

bool onnx_unsupported(struct onnx_node *node, const char *format, ...)
{
    const char *message;
    va_list args;

    va_start(args, format);
    message = arena_vprintf(&node->ctx->perm, format, args);
    va_end(args);
    return diag_error(node->ctx, DIAG_UNSUPPORTED_FORM, node->origin, "%s", message);
}

struct value *onnx_input(struct onnx_node *node, int i)
{
    return i < node->n_inputs ? node->inputs[i] : NULL;
}

static const char *input_name(const struct onnx_node *node, int i)
{
    return str_safe(&node->ctx->perm, node->inputs[i]->name, 120);
}

static bool ask_failed(struct onnx_node *node)
{
    node->import->question_failed = true;
    return false;
}

bool onnx_constant(struct onnx_node *node, int i, struct tensor *out)
{
    const struct value *value = onnx_input(node, i);
    const int n_errors = node->ctx->diags.n_errors;

    if (!value) {
        diag_error(node->ctx, DIAG_ONNX_GRAPH, node->origin, "input %d is missing", i);
        return ask_failed(node);
    }
    if (import_known(node->import, value, out))
        return true;
    if (node->ctx->diags.n_errors > n_errors) /* a limit */
        return ask_failed(node);
    diag_error(node->ctx, DIAG_UNSUPPORTED_DYNAMIC, node->origin,
               "input %d (\"%s\") must be known at compile time, but is computed at run time", i,
               input_name(node, i));
    import_help_freeze(node->import, value);
    return ask_failed(node);
}

bool onnx_constant_ints(struct onnx_node *node, int i, struct ints *out)
{
    struct tensor tensor;
    int64_t n;

    *out = (struct ints){ 0 };
    if (!onnx_constant(node, i, &tensor))
        return false;
    n = type_elements(&tensor.type);
    if (!dtype_is_integer(tensor.type.dtype)) {
        diag_error(node->ctx, DIAG_TYPE, node->origin, "input %d (\"%s\") is %s, expected integers",
                   i, input_name(node, i), dtype_name(tensor.type.dtype));
        return ask_failed(node);
    }
    if (tensor.type.rank > 1 || n > MAX_INTS) {
        diag_error(node->ctx, DIAG_SHAPE, node->origin,
                   "input %d (\"%s\") has the shape %s, expected a list of at most %d numbers", i,
                   input_name(node, i), shape_text(&node->ctx->perm, &tensor.type), MAX_INTS);
        return ask_failed(node);
    }
    for (; out->n < n; out->n++)
        out->at[out->n] = tensor_int_at(&tensor, out->n);
    return true;
}

bool onnx_constant_real(struct onnx_node *node, int i, double *out)
{
    struct tensor tensor;

    *out = 0;
    if (!onnx_constant(node, i, &tensor))
        return false;
    if (type_elements(&tensor.type) != 1) {
        diag_error(node->ctx, DIAG_SHAPE, node->origin,
                   "input %d (\"%s\") has the shape %s, expected one number", i,
                   input_name(node, i), shape_text(&node->ctx->perm, &tensor.type));
        return ask_failed(node);
    }
    *out = tensor_at(&tensor, 0);
    return true;
}

bool onnx_granted(struct onnx_node *node, enum dtype dtype, double n)
{
    return constants_fit(node->fn->module, n * (double)dtype_bytes(dtype), node->origin) &&
           limit_spend(node->ctx, node->origin, n);
}

/* --- building --------------------------------------------------------------------------------- */

/* "y" for the value that becomes output 0, "y:suffix" for others; a node without wanted outputs
 * lends its operator's name. */
static const char *name_with(const struct onnx_node *node, const char *suffix)
{
    const char *name =
        node->n_outputs && *node->output_names[0] ? node->output_names[0] : node->op_type;

    return *suffix ? arena_printf(&node->import->arena, "%s:%s", name, suffix) : name;
}

struct value *onnx_build(struct onnx_node *node, enum op op, const union attrs *attrs,
                         const char *suffix, int n_inputs, struct value *const *inputs)
{
    return build(node->fn, op, attrs, name_with(node, suffix), node->origin, NULL, n_inputs,
                 inputs);
}

struct value *onnx_build1(struct onnx_node *node, enum op op, const union attrs *attrs,
                          const char *suffix, struct value *x)
{
    return x ? onnx_build(node, op, attrs, suffix, 1, &x) : NULL;
}

struct value *onnx_build2(struct onnx_node *node, enum op op, const union attrs *attrs,
                          const char *suffix, struct value *a, struct value *b)
{
    struct value *const inputs[] = { a, b };

    return a && b ? onnx_build(node, op, attrs, suffix, 2, inputs) : NULL;
}

struct value *onnx_scalar(struct onnx_node *node, enum dtype dtype, double number,
                          const char *suffix)
{
    const struct type type = type_scalar(dtype);
    void *data = constant_alloc(node->fn, &type);

    dtype_store(dtype, data, 0, number);
    return constant_new(node->fn, name_with(node, suffix), &type, data);
}

static bool is_within(const void *data, const uint8_t *start, size_t size)
{
    return (uintptr_t)data >= (uintptr_t)start && (uintptr_t)data - (uintptr_t)start < size;
}

/* Whether the payload lives as long as the module without our doing. */
static bool is_of_model(const struct import *im, const void *data)
{
    const struct tensor_source *source = im->reader.source;

    if (is_within(data, source->model.data, source->model.size))
        return true;
    for (const struct external_file *file = source->externals; file; file = file->next)
        if (is_within(data, file->mapping.data, file->mapping.size))
            return true;
    return false;
}

struct value *onnx_from_tensor(struct onnx_node *node, const struct tensor *tensor,
                               const char *suffix)
{
    const void *data = tensor->data;

    if (!is_of_model(node->import, data)) {
        void *copy = constant_alloc(node->fn, &tensor->type);

        if (type_bytes(&tensor->type))
            memcpy(copy, tensor->data, type_bytes(&tensor->type));
        data = copy;
    }
    return constant_new(node->fn, name_with(node, suffix), &tensor->type, data);
}

struct value *onnx_from_ints(struct onnx_node *node, const int64_t *at, int64_t n,
                             const char *suffix)
{
    const struct type type = type_make(DTYPE_I64, 1, &n);
    void *data = constant_alloc(node->fn, &type);

    if (n)
        memcpy(data, at, (size_t)n * sizeof *at);
    return constant_new(node->fn, name_with(node, suffix), &type, data);
}

bool onnx_output(struct onnx_node *node, int i, struct value *value)
{
    if (i < node->n_outputs)
        node->outputs[i] = value;
    return value != NULL;
}
