/* read.c - what NAME.json says of a model, for a package. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "package/package.h"

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *text_of(struct ctx *ctx, const cJSON *object, const char *name)
{
    const cJSON *found = member(object, name);

    return cJSON_IsString(found) ? arena_strdup(&ctx->perm, found->valuestring) : NULL;
}

static size_t number_of(const cJSON *object, const char *name)
{
    const cJSON *found = member(object, name);

    return cJSON_IsNumber(found) && found->valuedouble > 0 ? (size_t)found->valuedouble : 0;
}

static struct package_tensor *read_tensors(struct ctx *ctx, const cJSON *list, int *n)
{
    struct package_tensor *tensors =
        arena_array(&ctx->perm, struct package_tensor, cJSON_GetArraySize(list) + 1);
    const cJSON *row, *dim;

    *n = 0;
    cJSON_ArrayForEach(row, list)
    {
        struct package_tensor *t = &tensors[(*n)++];
        const char *dtype = text_of(ctx, row, "dtype");

        *t = (struct package_tensor){ .parameter = text_of(ctx, row, "parameter"),
                                      .function = text_of(ctx, row, "function"),
                                      .pool = text_of(ctx, row, "arena"),
                                      .dtype = dtype ? dtype_from_name(dtype) : DTYPE_NONE,
                                      .elements = 1 };
        if (!t->parameter || t->dtype == DTYPE_NONE)
            return NULL;
        for (dim = member(row, "shape") ? member(row, "shape")->child : NULL; dim; dim = dim->next)
            t->elements *= (int64_t)dim->valuedouble;
    }
    return tensors;
}

static void read_pools(struct ctx *ctx, const cJSON *arena, struct package_model *model)
{
    const cJSON *pools = member(arena, "pools"), *row;

    model->pools = arena_array(&ctx->perm, struct package_pool, cJSON_GetArraySize(pools) + 1);
    for (row = pools ? pools->child : NULL; row; row = row->next)
        if (cJSON_IsTrue(member(row, "has_arena")))
            model->pools[model->n_pools++] =
                (struct package_pool){ arena_printf(&ctx->perm, "arena_%s",
                                                    text_of(ctx, row, "name")),
                                       number_of(row, "bytes") };
    if (!model->n_pools)
        model->pools[model->n_pools++] = (struct package_pool){ "arena", model->arena_bytes };
}

const char *package_upper(struct arena *arena, const char *name)
{
    char *upper = arena_strdup(arena, name);

    for (char *c = upper; *c; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    return upper;
}

static bool read_model(struct ctx *ctx, const cJSON *json, struct package_model *out)
{
    const cJSON *arena = member(json, "arena"), *files = member(json, "files"), *row;

    *out = (struct package_model){
        .name = text_of(ctx, json, "name"),
        .options = text_of(ctx, json, "options"),
        .source = text_of(ctx, member(json, "model"), "file"),
        .sha256 = text_of(ctx, member(json, "model"), "sha256"),
        .weight_bytes = number_of(json, "weight_bytes"),
        .state_bytes = number_of(member(json, "state"), "bytes"),
        .arena_bytes = number_of(arena, "bytes"),
        .align = number_of(arena, "align"),
        .stack_bytes = number_of(member(json, "measured"), "stack"),
        .shares_kernels = cJSON_IsArray(member(json, "shared_files")),
    };
    if (!out->name || !cJSON_IsArray(files))
        return false;
    out->upper = package_upper(&ctx->perm, out->name);
    out->inputs = read_tensors(ctx, member(json, "inputs"), &out->n_inputs);
    out->outputs = read_tensors(ctx, member(json, "outputs"), &out->n_outputs);
    read_pools(ctx, arena, out);
    out->files = arena_array(&ctx->perm, const char *, cJSON_GetArraySize(files) + 1);
    cJSON_ArrayForEach(row, files)
    {
        const char *name = text_of(ctx, row, "name");

        if (!name || strchr(name, '/'))
            return false;
        out->files[out->n_files++] = name;
    }
    return out->inputs && out->outputs && out->n_files;
}

static bool read_file(struct package *package, const char *name)
{
    struct ctx *ctx = package->ctx;
    const char *path = arena_printf(&ctx->perm, "%s/%s", package->from, name);
    struct mapping file;
    cJSON *json;
    const char *schema;
    bool ok = true;

    if (!file_map(ctx, path, &file))
        return false;
    json = cJSON_ParseWithLength((const char *)file.data, file.size);
    file_unmap(&file);
    schema = json ? text_of(ctx, json, "schema") : NULL;
    if (schema && strcmp(schema, "relayc-model") == 0 && member(json, "sizes")) {
        cJSON_Delete(json);
        diag_error(ctx, DIAG_USAGE, NULL,
                   "%s is of a network whose sizes are known at run time (--vary)", path);
        diag_help(ctx, "add the files of %s to the firmware as they are, or compile for --shape",
                  package->from);
        return false;
    }
    if (schema && strcmp(schema, "relayc-model") == 0) {
        ok = read_model(ctx, json, &package->models[package->n_models]);
        package->n_models += ok;
    }
    cJSON_Delete(json);
    if (!ok) {
        diag_error(ctx, DIAG_FILE_READ, NULL,
                   "%s: not as `relayc compile` of this version writes it", path);
        diag_help(ctx, "compile the model again");
    }
    return ok;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

bool package_read(struct package *package)
{
    struct ctx *ctx = package->ctx;
    struct dirent **entries = NULL;
    const int n = scandir(package->from, &entries, NULL, by_name);
    bool ok = true;

    if (n < 0)
        return diag_error(ctx, DIAG_FILE_READ, NULL, "cannot read the folder %s: %s", package->from,
                          strerror(errno));
    package->models = arena_array(&ctx->perm, struct package_model, n + 1);
    for (int i = 0; i < n; i++) {
        if (ok && str_ends(entries[i]->d_name, ".json") &&
            !str_ends(entries[i]->d_name, ".graph.json"))
            ok = read_file(package, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    for (int i = 0; i < package->n_models; i++)
        package->shares_kernels = package->shares_kernels || package->models[i].shares_kernels;
    package->shares_arena =
        access(arena_printf(&ctx->perm, "%s/shared_arena.h", package->from), R_OK) == 0;
    if (ok && !package->n_models) {
        diag_error(ctx, DIAG_FILE_READ, NULL, "%s has no NAME.json of a compiled model",
                   package->from);
        diag_help(ctx, "relayc compile MODEL.onnx -o %s", package->from);
        return false;
    }
    return ok;
}
