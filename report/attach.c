/* attach.c - what other commands measured, added to the facts of regions. */
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "report/analysis.h"
#include "report/read.h"

static bool has_schema(struct reader *reader, const cJSON *root, const char *prefix,
                       const char *command)
{
    const char *schema = root ? read_text(reader, root, "schema") : NULL;

    return !reader->failed && ((schema && str_starts(schema, prefix)) ||
                               read_error(reader, "it is no report of %s", command));
}

/* Regions of the same signature take the same time: the mean of those that were measured. */
struct timed {
    double seconds;
    int n;
};

static void add_time(struct reader *reader, struct map *times, const cJSON *region)
{
    const char *signature = read_text(reader, region, "signature");
    const double ms = read_number(reader, read_object(reader, region, "ms"), "median", (double)NAN);
    struct timed *timed = signature ? map_get(times, signature) : NULL;

    if (!signature || isnan(ms))
        return;
    if (!timed) {
        timed = arena_new(&reader->ctx->perm, struct timed);
        map_set(times, signature, timed);
    }
    timed->seconds += ms / 1000;
    timed->n++;
}

bool analysis_add_times(struct ctx *ctx, struct facts *facts, const char *path)
{
    struct reader reader = { ctx, path, false };
    struct map times = { .arena = &ctx->perm };
    cJSON *root = read_json(&reader);
    const cJSON *region;
    int n = 0;

    if (has_schema(&reader, root, "relayc-bench-", "relayc bench --json"))
        cJSON_ArrayForEach(region, read_list(&reader, root, "regions"))
        {
            add_time(&reader, &times, region);
        }
    for (int i = 0; i < facts->n_regions; i++) {
        const char *signature = facts->regions[i].signature;
        const struct timed *timed = signature ? map_get(&times, signature) : NULL;

        if (timed) {
            facts->regions[i].seconds = timed->seconds / timed->n;
            n++;
        }
    }
    if (!reader.failed && n == 0 && facts->n_regions)
        read_error(&reader,
                   "none of its regions is one of %s: was another model measured, or with "
                   "other options?",
                   facts->path);
    cJSON_Delete(root);
    return !reader.failed;
}

struct lossy {
    double sqnr, cosine;
};

static void add_loss(struct reader *reader, struct map *losses, const cJSON *layer)
{
    const char *name = read_text(reader, layer, "name"), *op = read_text(reader, layer, "op");
    const double snr = read_number(reader, layer, "snr", (double)NAN);
    struct lossy *lossy;

    if (!name || (op && strcmp(op, "weights") == 0))
        return;
    lossy = arena_new(&reader->ctx->perm, struct lossy);
    lossy->sqnr = snr > 0 ? -10 * log10(snr) : snr == 0 ? (double)INFINITY : (double)NAN;
    lossy->cosine = 1 - read_number(reader, layer, "cos", (double)NAN);
    map_set(losses, name, lossy);
}

/* The loss of the region's result: compare knows values by name. */
static const struct lossy *loss_of(const struct map *losses, const struct fact_region *region)
{
    const struct lossy *found = NULL;

    for (int i = 0; i < region->n_results && !found; i++)
        found = region->results[i].name ? map_get(losses, region->results[i].name) : NULL;
    for (int i = region->n_nodes - 1; i >= 0 && !found; i--)
        found = region->nodes[i].output ? map_get(losses, region->nodes[i].output) : NULL;
    return found;
}

bool analysis_add_losses(struct ctx *ctx, struct facts *facts, const char *path)
{
    struct reader reader = { ctx, path, false };
    struct map losses = { .arena = &ctx->perm };
    cJSON *root = read_json(&reader);
    const cJSON *layer;
    int n = 0;

    if (has_schema(&reader, root, "relayc-compare-", "relayc compare"))
        cJSON_ArrayForEach(layer, read_list(&reader, root, "layers"))
        {
            add_loss(&reader, &losses, layer);
        }
    for (int i = 0; i < facts->n_regions; i++) {
        const struct lossy *lossy = loss_of(&losses, &facts->regions[i]);

        if (lossy) {
            facts->regions[i].sqnr = lossy->sqnr;
            facts->regions[i].cosine = lossy->cosine;
            n++;
        }
    }
    if (!reader.failed && n == 0 && facts->n_regions)
        read_error(&reader, "it has no layer of %s", facts->path);
    cJSON_Delete(root);
    return !reader.failed;
}
