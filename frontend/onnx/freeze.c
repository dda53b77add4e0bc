/* freeze.c - inputs that are always the same become constants, before any node is converted: what
 * they decide (the branch of an If, an axis, a length) is decided then. */
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
}
