/* watch.c - see watch_arena. The arena is a block of one allocation, in which no sanitizer sees a
 * region that writes into its neighbours; so the bytes are compared before and after each. */
#include <string.h>

#include "runtime/engine/generated.h"
#include "tests/offload/offload.h"

struct watch {
    struct ctx *ctx;
    const struct codegen_result *result;
    const cJSON *map;              /* "arena": "map" of NAME.json */
    unsigned char *before, *after; /* [arena_bytes] */
    struct generated *generated;
};

static size_t number(const cJSON *object, const char *key)
{
    return (size_t)cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

/* What the region may write is made the same in both copies. */
static void allow(const struct watch *watch, size_t offset, size_t bytes)
{
    memcpy(watch->before + offset, watch->after + offset, bytes);
}

/* Pixels that are a pixel stride apart have others' between them. */
static void allow_result(const struct watch *watch, const struct codegen_place *place,
                         const struct type *type)
{
    const size_t whole = type_bytes(type);
    const size_t pixel = place->pixel_stride ? (size_t)type->dim[type->rank - 1] : 1;
    const size_t width = type_bytes(type) / (size_t)type_elements(type);
    const size_t bytes = place->pixel_stride ? pixel * width : whole;
    const size_t step = place->pixel_stride ? (size_t)place->pixel_stride * width : whole;

    for (size_t i = 0; i * bytes < whole; i++)
        allow(watch, place->offset + i * step, bytes);
}

static void allow_region(const struct watch *watch, int region)
{
    const struct codegen_region *r = &watch->result->regions[region];
    const cJSON *entry;

    for (int i = 0; i < r->call->n_outputs; i++)
        if (r->results[i].kind == PLACE_ARENA)
            allow_result(watch, &r->results[i], &r->call->outputs[i]->type);
    cJSON_ArrayForEach(entry, watch->map)
    {
        if (cJSON_HasObjectItem(entry, "scratch_of") && number(entry, "written") == (size_t)region)
            allow(watch, number(entry, "offset"), number(entry, "bytes"));
    }
}

static bool step(const struct watch *watch, int region, const char **reason)
{
    const size_t n = watch->result->arena_bytes;
    size_t at = 0;

    memcpy(watch->before, generated_arena(watch->generated), n);
    if (!generated_step(watch->generated, region))
        return false;
    memcpy(watch->after, generated_arena(watch->generated), n);
    allow_region(watch, region);
    while (at < n && watch->before[at] == watch->after[at])
        at++;
    if (at == n)
        return true;
    *reason = arena_printf(&watch->ctx->perm,
                           "region %d (%s) changed byte %zu of the arena, which is not its own",
                           region, watch->result->regions[region].c_name, at);
    return false;
}

static struct generated *build_steps(struct trial *trial, const char *work,
                                     const struct codegen_result *result)
{
    struct ctx *ctx = trial->network.ctx;
    const struct generated_options options = { .name = "net",
                                               .dir = work,
                                               .files = network_files(&ctx->perm, work, result),
                                               .n_files = result->n_files + result->n_host_files,
                                               .libs = result->host_flags,
                                               .step = true };

    return generated_build(ctx, trial->network.module->main, &options);
}

bool watch_arena(struct trial *trial, const char *work, const struct codegen_result *result,
                 const char **reason)
{
    struct network *network = &trial->network;
    struct arena *arena = &network->ctx->perm;
    cJSON *json = network_json(network->ctx, arena_printf(arena, "%s/net.json", work));
    struct watch watch = { .ctx = network->ctx,
                           .result = result,
                           .map = cJSON_GetObjectItemCaseSensitive(
                               cJSON_GetObjectItemCaseSensitive(json, "arena"), "map"),
                           .before = arena_alloc(arena, result->arena_bytes + 1),
                           .after = arena_alloc(arena, result->arena_bytes + 1),
                           .generated = build_steps(trial, work, result) };
    struct tensor *outputs =
        arena_array(arena, struct tensor, network->module->main->ret->n_inputs);
    bool ok = watch.map && watch.generated &&
              generated_begin(watch.generated, network->sets[0].inputs, outputs, &network->bulk);

    for (int i = 0; i < result->n_regions && ok; i++)
        ok = step(&watch, i, reason);
    if (!ok && !*reason)
        *reason = "it did not run region by region";
    generated_free(watch.generated);
    cJSON_Delete(json);
    return ok;
}
