#include "frontend/tensors/samples.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/str.h"
#include "frontend/tensors/formats.h"
#include "frontend/tensors/sample_set.h"
#include "relay_ir/state.h"

enum file_kind { KIND_OTHER, KIND_IMAGE, KIND_ARRAY };

/* --- folders ---------------------------------------------------------------------------------- */

static enum file_kind kind_of(const char *name)
{
    static const char *const images[] = { ".png", ".jpg", ".jpeg" };
    const char *dot = strrchr(name, '.');

    if (!dot || *name == '.')
        return KIND_OTHER;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        if (strcasecmp(dot, images[i]) == 0)
            return KIND_IMAGE;
    return strcasecmp(dot, ".npy") == 0 ? KIND_ARRAY : KIND_OTHER;
}

static int compare_files(const void *a, const void *b)
{
    return strcmp(((const struct sample_file *)a)->path, ((const struct sample_file *)b)->path);
}

static void add_file(struct samples *s, int *capacity, const char *path)
{
    if (s->n_files == *capacity) {
        struct sample_file *files;

        *capacity = *capacity ? 2 * *capacity : 64;
        files = arena_array(&s->arena, struct sample_file, *capacity);
        if (s->n_files)
            memcpy(files, s->files, (size_t)s->n_files * sizeof *files);
        s->files = files;
    }
    s->files[s->n_files++] = (struct sample_file){ path, 0 };
}

static void close_folder(void *dir, size_t size)
{
    (void)size;
    closedir(dir);
}

/* Files of other kinds (labels, say) are passed over. */
static bool list_folder(struct ctx *ctx, struct samples *s, const char *path)
{
    const char *safe = str_safe(&ctx->perm, path, 4096);
    DIR *dir = opendir(path);
    int capacity = 0, n_images = 0;

    if (!dir)
        return diag_error(ctx, DIAG_FILE_READ, NULL, "cannot open the folder %s", safe);
    memory_own(dir, close_folder, 0);
    for (const struct dirent *entry; (entry = readdir(dir));) {
        const enum file_kind kind = kind_of(entry->d_name);

        if (kind == KIND_OTHER)
            continue;
        n_images += kind == KIND_IMAGE;
        add_file(s, &capacity, arena_printf(&s->arena, "%s/%s", path, entry->d_name));
    }
    memory_disown(dir);
    closedir(dir);
    if (s->n_files == 0) {
        diag_error(ctx, DIAG_FILE_READ, NULL, "%s holds no data", safe);
        diag_help(ctx, "expected files that end in .png, .jpg, .jpeg or .npy");
        return false;
    }
    if (n_images && n_images != s->n_files)
        return diag_error(ctx, DIAG_FILE_READ, NULL, "%s holds both images and .npy files", safe);
    qsort(s->files, (size_t)s->n_files, sizeof *s->files, compare_files);
    s->images = n_images > 0;
    return true;
}

/* The samples of a file; 0 after an error. */
static int64_t count_array(struct ctx *ctx, const struct samples *s, const char *path)
{
    struct bulk bulk = { 0 };
    struct mapping mapping;
    struct tensor tensor;
    int64_t n = 0;

    if (sample_array_map(ctx, path, &bulk, &mapping, &tensor)) {
        n = sample_array_check(ctx, path, s->fn->params[s->input], &tensor.type);
        file_unmap(&mapping);
    }
    bulk_release(&bulk);
    return n;
}

/* All files, so that all that cannot be used are named. */
static bool count_arrays(struct ctx *ctx, struct samples *s)
{
    int n_bad = 0;

    for (int i = 0; i < s->n_files; i++) {
        const bool named = n_bad < SAMPLES_MOST_NAMED;
        const struct diags before = named ? ctx->diags : diag_save(ctx);
        const int64_t n = count_array(ctx, s, s->files[i].path);

        if (!named)
            diag_restore(ctx, before);
        n_bad += n == 0;
        s->files[i].end = s->n += n;
    }
    if (n_bad > SAMPLES_MOST_NAMED)
        diag_note(ctx, "and %d more files cannot be used", n_bad - SAMPLES_MOST_NAMED);
    return n_bad == 0;
}

static bool open_folder(struct ctx *ctx, struct samples *s, const char *path)
{
    if (!list_folder(ctx, s, path))
        return false;
    if (s->n_inputs != 1) {
        diag_error(ctx, DIAG_INPUT_MISMATCH, NULL,
                   "a folder is data for one input, the model has %d", s->n_inputs);
        diag_help(ctx, "give a .npz with a member for each input");
        return false;
    }
    if (!s->images)
        return count_arrays(ctx, s);
    s->n = s->n_files;
    return true;
}

/* --- one file of stacked arrays --------------------------------------------------------------- */

static bool stack(struct ctx *ctx, struct samples *s, const char *path, int param,
                  const struct tensor *tensor)
{
    const int64_t n = sample_array_check(ctx, path, s->fn->params[param], &tensor->type);

    if (n == 0)
        return false;
    if (s->n && n != s->n)
        return diag_error(ctx, DIAG_INPUT_MISMATCH, NULL,
                          "%s has %lld samples for '%s', and %lld for earlier inputs",
                          str_safe(&ctx->perm, path, 4096), (long long)n,
                          str_safe(&ctx->perm, s->fn->params[param]->name, 200), (long long)s->n);
    s->n = n;
    s->stacked[param] = *tensor;
    return true;
}

static bool open_npz(struct ctx *ctx, struct samples *s, const char *path)
{
    struct named_tensors all;
    bool ok = tensor_file_read(ctx, path, &s->bulk, &all);

    for (int i = 0; i < s->fn->n_params && ok; i++) {
        if (state_of_param(s->fn->module, i))
            continue;
        const struct tensor *found = all.n == 1 && s->n_inputs == 1 ? &all.at[0].tensor : NULL;

        for (int k = 0; k < all.n && !found; k++)
            if (strcmp(all.at[k].name, s->fn->params[i]->name) == 0)
                found = &all.at[k].tensor;
        ok = found ? stack(ctx, s, path, i, found)
                   : diag_error(ctx, DIAG_INPUT_MISMATCH, NULL, "%s has no member '%s'",
                                str_safe(&ctx->perm, path, 4096),
                                str_safe(&ctx->perm, s->fn->params[i]->name, 200));
    }
    return ok;
}

static bool open_file(struct ctx *ctx, struct samples *s, const char *path)
{
    struct tensor tensor;

    s->stacked = arena_array(&s->arena, struct tensor, s->fn->n_params);
    if (kind_of(path) != KIND_ARRAY)
        return open_npz(ctx, s, path);
    if (s->n_inputs != 1)
        return diag_error(ctx, DIAG_INPUT_MISMATCH, NULL,
                          "a .npy is data for one input, the model has %d", s->n_inputs);
    return sample_array_map(ctx, path, &s->bulk, &s->mapping, &tensor) &&
           stack(ctx, s, path, s->input, &tensor);
}

struct samples *samples_open(struct ctx *ctx, const char *path, const struct function *fn,
                             const struct preprocessing *how)
{
    struct arena arena = { NULL };
    struct samples *s = arena_new(&arena, struct samples);
    struct stat st;
    bool ok;

    s->arena = arena; /* it lives in its own arena */
    s->fn = fn;
    s->path = arena_strdup(&s->arena, path);
    s->how = how ? *how : preprocessing_default();
    s->n_inputs = count_inputs(fn->module);
    while (state_of_param(fn->module, s->input))
        s->input++;
    ok = s->n_inputs > 0 ||
         diag_error(ctx, DIAG_INPUT_MISMATCH, NULL, "the model has no inputs to feed");
    if (ok && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        ok = open_folder(ctx, s, path);
    else if (ok)
        ok = open_file(ctx, s, path);
    if (ok && how && !s->images)
        ok = diag_error(ctx, DIAG_USAGE, NULL,
                        "--preprocess is for images; arrays are used unchanged");
    if (ok)
        return s;
    samples_close(s);
    return NULL;
}

int64_t samples_count(const struct samples *samples)
{
    return samples->kept ? samples->n_kept : samples->n;
}

void samples_keep(struct samples *samples, const int64_t *at, int64_t n)
{
    samples->kept = at;
    samples->n_kept = n;
}

int64_t samples_kept_index(const struct samples *samples, int64_t index)
{
    return samples->kept ? samples->kept[index] : index;
}

const char *samples_path(const struct samples *samples, int64_t index)
{
    return samples->n_files && samples->n == samples->n_files
               ? samples->files[samples_kept_index(samples, index)].path
               : NULL;
}

void samples_close(struct samples *s)
{
    struct arena arena;

    if (!s)
        return;
    bulk_release(&s->bulk);
    if (s->mapping.data)
        file_unmap(&s->mapping);
    arena = s->arena;
    arena_release(&arena);
}
