/* data.c - the inputs and expected outputs of a case, and what "as expected" means. */
#include <dirent.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "frontend/tensors/tensor_file.h"
#include "tests/conformance/conformance.h"

static const double relative_tolerance = 1e-3, absolute_tolerance = 1e-7;
static const double engine_absolute_tolerance = 2e-6;

/* The generator of the data cuts bfloat16 off instead of rounding: one unit in the last place. */
static const double bf16_tolerance = 1.0 / 128;

/* Reads input_0.pb, input_1.pb ... ; false when one of them is no tensor. */
static bool read_all(struct ctx *ctx, const char *dir, const char *stem, struct bulk *bulk,
                     struct tensor *tensors, int *n)
{
    for (*n = 0; *n < MAX_TENSORS; ++*n) {
        const char *path = arena_printf(&ctx->perm, "%s/%s_%d.pb", dir, stem, *n);

        if (access(path, R_OK) != 0)
            return true;
        if (!tensor_file_read_one(ctx, path, bulk, &tensors[*n]))
            return false;
    }
    return true;
}

bool data_set_read(struct ctx *ctx, const struct test_case *test, int index, struct bulk *bulk,
                   struct data_set *set, bool *broken)
{
    const char *dir = arena_printf(&ctx->perm, "%s/test_data_set_%d", test->dir, index);

    *broken = false;
    memset(set, 0, sizeof *set);
    if (access(dir, R_OK) != 0)
        return false;
    *broken = !read_all(ctx, dir, "input", bulk, set->inputs, &set->n_inputs) ||
              !read_all(ctx, dir, "output", bulk, set->outputs, &set->n_outputs);
    return true;
}

void data_set_freeze(struct data_set *set, uint64_t frozen)
{
    int n = 0;

    for (int i = 0; i < set->n_inputs; i++)
        if (!(frozen >> i & 1))
            set->inputs[n++] = set->inputs[i];
    set->n_inputs = n;
}

struct tolerance {
    double relative, absolute;
};

static bool number_agrees(struct tolerance tolerance, double expected, double found)
{
    if (isnan(expected) || isnan(found))
        return isnan(expected) && isnan(found);
    if (isinf(expected) || isinf(found))
        return expected == found;
    return fabs(found - expected) <= tolerance.absolute + tolerance.relative * fabs(expected);
}

/* Older releases store bfloat16 data as the bits. */
static void read_bits_as(enum dtype dtype, struct tensor *tensor)
{
    if (dtype == DTYPE_BF16 && tensor->type.dtype == DTYPE_U16)
        tensor->type.dtype = DTYPE_BF16;
}

void data_set_adapt(struct data_set *set, const struct function *fn)
{
    for (int i = 0; i < set->n_inputs && i < fn->n_params; i++)
        read_bits_as(fn->params[i]->type.dtype, &set->inputs[i]);
    for (int i = 0; i < set->n_outputs && i < fn->ret->n_inputs; i++)
        read_bits_as(fn->ret->inputs[i]->type.dtype, &set->outputs[i]);
}

bool tensor_agrees(struct ctx *ctx, enum stage stage, const struct tensor *expected,
                   const struct tensor *found, const char **reason)
{
    const enum dtype dtype = expected->type.dtype;
    const bool is_fp8 = dtype_kind(dtype) == KIND_MINIFLOAT;
    const struct tolerance tolerance = {
        .relative = dtype == DTYPE_BF16 ? bf16_tolerance
                    : is_fp8            ? 0
                                        : relative_tolerance,
        .absolute = is_fp8                  ? 0
                    : stage == STAGE_ENGINE ? engine_absolute_tolerance
                                            : absolute_tolerance,
    };
    const bool real = dtype_is_float(dtype) || is_fp8;
    const int64_t n = type_elements(&expected->type);
    int64_t wrong = 0, first = 0;

    if (expected->type.dtype != found->type.dtype ||
        !type_same_shape(&expected->type, &found->type)) {
        *reason = arena_printf(&ctx->perm, "has type %s, expected %s",
                               type_text(&ctx->perm, &found->type),
                               type_text(&ctx->perm, &expected->type));
        return false;
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        if (real ? number_agrees(tolerance, tensor_at(expected, i), tensor_at(found, i))
                 : tensor_int_at(expected, i) == tensor_int_at(found, i))
            continue;
        wrong++;
        first = i;
    }
    if (wrong)
        *reason = arena_printf(&ctx->perm,
                               "%lld of %lld elements differ; element %lld is %.9g, "
                               "expected %.9g",
                               (long long)wrong, (long long)n, (long long)first,
                               tensor_at(found, first), tensor_at(expected, first));
    return wrong == 0;
}
