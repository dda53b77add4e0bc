/* samples_load.c - one sample after the other: arrays of samples, images. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "frontend/tensors/formats.h"
#include "frontend/tensors/sample_set.h"
#include "relay_ir/state.h"

/* --- arrays ----------------------------------------------------------------------------------- */

/* How many samples of this type are in an array of that one; 0 = the shape is no such. */
static int64_t samples_in(const struct type *stacked, const struct type *one)
{
    const int64_t *dim = stacked->dim;
    const int rank = one->rank;

    if (type_elements(stacked) == 0 || type_elements(one) == 0)
        return 0;
    if (rank && stacked->rank == rank && dim[0] % one->dim[0] == 0 &&
        memcmp(dim + 1, one->dim + 1, (size_t)(rank - 1) * sizeof *dim) == 0)
        return dim[0] / one->dim[0];
    if (stacked->rank == rank + 1 && memcmp(dim + 1, one->dim, (size_t)rank * sizeof *dim) == 0)
        return dim[0];
    if (rank && stacked->rank == rank - 1 && one->dim[0] == 1 &&
        memcmp(dim, one->dim + 1, (size_t)(rank - 1) * sizeof *dim) == 0)
        return 1;
    return 0;
}

int64_t sample_array_check(struct ctx *ctx, const char *path, const struct value *param,
                           const struct type *type)
{
    const int64_t n = samples_in(type, &param->type);

    if (n == 0)
        diag_error(ctx, DIAG_INPUT_MISMATCH, NULL, "%s holds %s, no samples of the input '%s' %s",
                   str_safe(&ctx->perm, path, 4096), type_text(&ctx->perm, type),
                   str_safe(&ctx->perm, param->name, 200), type_text(&ctx->perm, &param->type));
    return n;
}

struct tensor sample_array_take(const struct tensor *stacked, const struct type *one, int64_t index,
                                struct bulk *bulk)
{
    const int64_t n = type_elements(one);
    struct tensor out = { .type = *one };

    if (stacked->type.dtype == one->dtype) {
        out.data = (char *)stacked->data + (size_t)index * type_bytes(one);
        return out;
    }
    out = tensor_new(bulk, one);
    for (int64_t i = 0; i < n; i++)
        dtype_store(one->dtype, out.data, i, tensor_at(stacked, index * n + i));
    return out;
}

bool sample_array_map(struct ctx *ctx, const char *path, struct bulk *bulk, struct mapping *mapping,
                      struct tensor *out)
{
    if (!file_map(ctx, path, mapping))
        return false;
    if (npy_read(ctx, path, NULL, mapping->data, mapping->size, true, bulk, out))
        return true;
    file_unmap(mapping);
    return false;
}

/* --- loading ---------------------------------------------------------------------------------- */

static bool load_image(const struct samples *s, struct ctx *ctx, struct bulk *bulk,
                       const char *path, struct tensor *out)
{
    struct arena arena = { NULL };
    struct mapping mapping;
    struct image image = { 0 };
    bool ok;

    if (!file_map(ctx, path, &mapping))
        return false;
    ok = image_decode(ctx, path, mapping.data, mapping.size, &arena, &image) &&
         preprocess_image(ctx, path, &s->how, &image, &s->fn->params[s->input]->type, &arena, bulk,
                          out);
    file_unmap(&mapping);
    arena_release(&arena);
    return ok;
}

/* The file that sample `index` is in. */
static int find_file(const struct samples *s, int64_t index)
{
    int low = 0, high = s->n_files - 1;

    while (low < high) {
        const int middle = low + (high - low) / 2;

        if (s->files[middle].end > index)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool load_array(const struct samples *s, struct ctx *ctx, struct bulk *bulk, int64_t index,
                       struct tensor *out)
{
    const struct value *param = s->fn->params[s->input];
    const int file = find_file(s, index);
    const int64_t start = file ? s->files[file - 1].end : 0;
    struct mapping mapping;
    struct tensor tensor, sample;
    bool ok;

    if (!sample_array_map(ctx, s->files[file].path, bulk, &mapping, &tensor))
        return false;
    /* It may have changed since it was counted. */
    ok = sample_array_check(ctx, s->files[file].path, param, &tensor.type) ==
             s->files[file].end - start ||
         diag_error(ctx, DIAG_FILE_READ, NULL, "%s has changed",
                    str_safe(&ctx->perm, s->files[file].path, 4096));
    if (ok) {
        sample = sample_array_take(&tensor, &param->type, index - start, bulk);
        *out = tensor_new(bulk, &param->type);
        memcpy(out->data, sample.data, type_bytes(&param->type));
    }
    file_unmap(&mapping);
    return ok;
}

/* "FILE", or "sample 3 of FILE" where it holds several. */
static const char *sample_text(const struct samples *s, struct arena *arena, int64_t index)
{
    const int file = s->n_files ? find_file(s, index) : 0;
    const int64_t start = s->n_files && !s->images && file ? s->files[file - 1].end : 0;
    const int64_t end = s->images ? 1 : s->n_files ? s->files[file].end : s->n;
    const char *path =
        str_safe(arena, s->n_files ? s->files[s->images ? (int)index : file].path : s->path, 4096);

    return s->images || end - start == 1
               ? path
               : arena_printf(arena, "sample %" PRId64 " of %s", index - start, path);
}

/* No range holds them, and whatever they meet becomes one of them. */
static bool check_finite(const struct samples *s, struct ctx *ctx, int64_t index,
                         const struct tensor *inputs)
{
    for (int i = 0; i < s->fn->n_params; i++) {
        const int64_t n = dtype_is_float(inputs[i].type.dtype) ? type_elements(&inputs[i].type) : 0;

        for (int64_t k = 0; k < n; k++) {
            const double number = tensor_at(&inputs[i], k);

            if (isfinite(number))
                continue;
            return diag_error(ctx, DIAG_TENSOR_FILE, NULL,
                              "%s: element %" PRId64 " of the input '%s' is %s",
                              sample_text(s, &ctx->perm, index), k,
                              str_safe(&ctx->perm, s->fn->params[i]->name, 200),
                              isnan(number) ? "NaN" : "infinite");
        }
    }
    return true;
}

static bool load_inputs(struct samples *s, struct ctx *ctx, struct bulk *bulk, int64_t index,
                        struct tensor *inputs)
{
    const struct module *module = s->fn->module;

    for (int i = 0; i < module->n_states; i++)
        inputs[module->states[i].param] = state_initial_tensor(module, &module->states[i], bulk);
    if (s->images)
        return load_image(s, ctx, bulk, s->files[index].path, &inputs[s->input]);
    if (s->n_files)
        return load_array(s, ctx, bulk, index, &inputs[s->input]);
    for (int i = 0; i < s->fn->n_params; i++)
        if (!state_of_param(module, i))
            inputs[i] = sample_array_take(&s->stacked[i], &s->fn->params[i]->type, index, bulk);
    return true;
}

bool samples_load(struct samples *s, struct ctx *ctx, struct bulk *bulk, int64_t index,
                  struct tensor *inputs)
{
    const int64_t at = samples_kept_index(s, index);

    return load_inputs(s, ctx, bulk, at, inputs) && check_finite(s, ctx, at, inputs);
}
