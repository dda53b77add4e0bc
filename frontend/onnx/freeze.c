/* freeze.c - inputs that are always the same become constants, before any node is converted: what
 * they decide (the branch of an If, an axis, a length) is decided then. So do inputs whose numbers are sizes of --vary,
 * for each of which the network is compiled. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "frontend/onnx/importer.h"

const struct frozen_input *import_frozen(const struct import_options *options, const char *name)
{
    for (int i = 0; i < options->n_frozen; i++)
        if (strcmp(options->frozen[i].name, name) == 0)
            return &options->frozen[i];
    return NULL;
}

bool import_names_dimension(const Onnx__GraphProto *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_input; i++) {
        const Onnx__TypeProto *type = graph->input[i]->type;
        const Onnx__TensorShapeProto *shape =
            type && type->tensor_type ? type->tensor_type->shape : NULL;

        for (size_t d = 0; shape && d < shape->n_dim; d++)
            if (strcmp(shape->dim[d]->dim_param, name) == 0)
                return true;
    }
    return false;
}

bool import_is_number_of(const struct import *im, const struct shape_binding *size,
                         const char *name, int64_t n, int64_t i)
{
    const size_t length = strlen(name);
    char element[32];

    if (!size->is_size || !str_starts(size->name, name) ||
        import_names_dimension(im->model->graph, size->name))
        return false;
    snprintf(element, sizeof element, ".%lld", (long long)i);
    return (n == 1 && !size->name[length]) || strcmp(size->name + length, element) == 0;
}

/* The number of element i; NULL = none. */
static const struct shape_binding *size_of(const struct import *im, const char *name, int64_t n,
                                           int64_t i)
{
    for (int k = 0; k < im->options->n_shapes; k++)
        if (import_is_number_of(im, &im->options->shapes[k], name, n, i))
            return &im->options->shapes[k];
    return NULL;
}

bool import_given(struct import *im, const char *name, const struct type *type,
                  const struct frozen_input **frozen)
{
    const int64_t n = type_elements(type);
    const struct frozen_input *others = import_frozen(im->options, name);
    struct frozen_input *all;
    double *numbers;
    int n_sizes = 0;

    *frozen = others;
    for (int64_t i = 0; i < n && n <= MAX_INTS; i++)
        n_sizes += size_of(im, name, n, i) != NULL;
    if (!n_sizes || (others && others->n != 1 && others->n != n))
        return true;
    if (!others && n_sizes < n) {
        diag_error(im->ctx, DIAG_USAGE, NULL, "--vary: %d of the %lld numbers of \"%s\" are given",
                   n_sizes, (long long)n, str_safe(&im->ctx->perm, name, 120));
        diag_help(im->ctx,
                  "--freeze %s=NUMBER,NUMBER,... gives those that do not vary, and something for "
                  "the others",
                  str_safe(&im->ctx->perm, name, 120));
        return false;
    }
    numbers = arena_array(&im->ctx->perm, double, n);
    for (int64_t i = 0; i < n; i++) {
        const struct shape_binding *size = size_of(im, name, n, i);

        numbers[i] = size ? (double)size->dim[0] : others->numbers[others->n == 1 ? 0 : i];
    }
    all = arena_new(&im->ctx->perm, struct frozen_input);
    *all = (struct frozen_input){ name, (int)n, numbers };
    *frozen = all;
    return true;
}

static bool refuse(struct import *im, const struct frozen_input *frozen, const char *problem)
{
    return diag_error(im->ctx, DIAG_USAGE, NULL, "--freeze %s: %s",
                      str_safe(&im->ctx->perm, frozen->name, 120), problem);
}

/* Numbers of floats are rounded; an integer or a truth value that is another one would be a
 * surprise. */
static bool store(struct import *im, const struct frozen_input *frozen, enum dtype dtype,
                  void *data, int64_t at, double number)
{
    dtype_store(dtype, data, at, number);
    if (dtype_is_float(dtype) || dtype_load(dtype, data, at) == number)
        return true;
    return refuse(im, frozen,
                  arena_printf(&im->ctx->perm, "%.17g is not representable in the input's type %s",
                               number, dtype_name(dtype)));
}

struct value *import_freeze(struct import *im, const struct frozen_input *frozen,
                            const struct type *type)
{
    const int64_t n = type_elements(type);
    void *data;

    if (frozen->n != 1 && frozen->n != n) {
        refuse(im, frozen,
               arena_printf(
                   &im->ctx->perm,
                   "found %d values, expected one for each element of shape %s, or one for all",
                   frozen->n, shape_text(&im->ctx->perm, type)));
        return NULL;
    }
    data = constant_alloc(im->module->main, type);
    for (int64_t i = 0; i < n; i++)
        if (!store(im, frozen, type->dtype, data, i, frozen->numbers[frozen->n == 1 ? 0 : i]))
            return NULL;
    return constant_new(im->module->main, frozen->name, type, data);
}

/* The input that a value follows from, as far as one is seen by going back over first operands that
 * are no constants; NULL = none. */
static const struct value *deciding_input(const struct value *value)
{
    while (value && value->kind == VALUE_OUTPUT) {
        const struct value *next = NULL;

        for (int i = 0; i < value->def->n_inputs && !next; i++)
            if (value->def->inputs[i] && value->def->inputs[i]->kind != VALUE_CONSTANT)
                next = value->def->inputs[i];
        value = next;
    }
    return value && value->kind == VALUE_PARAM ? value : NULL;
}

void import_help_freeze(struct import *im, const struct value *value)
{
    const struct value *input = deciding_input(value);
    const char *quote = input && !import_is_plain(input->name) ? "'" : "";

    if (input && !import_is_sequence(input))
        diag_help(im->ctx, "--freeze %s%s=NUMBER%s%s, if this input is constant", quote,
                  str_safe(&im->ctx->perm, input->name, 120),
                  type_elements(&input->type) == 1 ? "" : ",NUMBER,...", quote);
    if (input && !import_is_sequence(input) && type_elements(&input->type) <= MAX_INTS)
        diag_help(im->ctx,
                  "--vary %s%s%s=VALUES%s makes it an argument of the C (docs/guide/vary.md)",
                  quote, str_safe(&im->ctx->perm, input->name, 120),
                  type_elements(&input->type) == 1 ? "" : ".0", quote);
}
