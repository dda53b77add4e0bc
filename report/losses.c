/* losses.c - losses of results and their distributions, from relayc compare. */
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "report/analysis.h"
#include "report/read.h"

struct lossy {
    double sqnr, cosine;
    double numbers; /* of all samples; 0 = unknown */
    struct fact_spread data, quantised, noise;
};

static struct fact_spread read_spread(struct reader *reader, const cJSON *json)
{
    const cJSON *list = read_list(reader, json, "histogram"), *bin;
    struct fact_spread spread = {
        .min = read_number(reader, json, "min", (double)NAN),
        .max = read_number(reader, json, "max", (double)NAN),
        .mean = read_number(reader, json, "mean", (double)NAN),
        .std = read_number(reader, json, "std", (double)NAN),
        .bins = arena_array(&reader->ctx->perm, double, list ? cJSON_GetArraySize(list) : 0),
    };

    cJSON_ArrayForEach(bin, list)
    {
        spread.bins[spread.n_bins++] = cJSON_IsNumber(bin) ? bin->valuedouble : 0;
    }
    return spread;
}

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
    lossy->numbers = read_number(reader, layer, "numbers", 0);
    lossy->data = read_spread(reader, read_object(reader, layer, "data"));
    lossy->quantised = read_spread(reader, read_object(reader, layer, "quantised"));
    lossy->noise = read_spread(reader, read_object(reader, layer, "noise"));
    map_set(losses, name, lossy);
}

/* What encodes an input is named after the node that reads it, and has another size than its
 * result. */
static bool is_of(const struct lossy *lossy, const struct fact_region *region)
{
    const double n = region->n_results ? region->results[0].elements : 0;

    return !(lossy->numbers > 0 && n > 0) || fmod(lossy->numbers, n) == 0;
}

/* The loss of the region's result: compare knows values by name. */
static const struct lossy *loss_of(const struct map *losses, const struct fact_region *region)
{
    const struct lossy *found = NULL;

    for (int i = 0; i < region->n_results && !found; i++)
        found = region->results[i].name ? map_get(losses, region->results[i].name) : NULL;
    for (int i = region->n_nodes - 1; i >= 0 && !found; i--)
        found = region->nodes[i].output ? map_get(losses, region->nodes[i].output) : NULL;
    return found && is_of(found, region) ? found : NULL;
}

bool analysis_add_losses(struct ctx *ctx, struct facts *facts, const char *path)
{
    struct reader reader = { ctx, path, false };
    struct map losses = { .arena = &ctx->perm };
    cJSON *root = read_json(&reader);
    const cJSON *layer;
    int n = 0;

    if (read_schema(&reader, root, "relayc-compare-", "relayc compare"))
        cJSON_ArrayForEach(layer, read_list(&reader, root, "layers"))
        {
            add_loss(&reader, &losses, layer);
        }
    for (int i = 0; i < facts->n_regions; i++) {
        const struct lossy *lossy = loss_of(&losses, &facts->regions[i]);

        if (lossy) {
            facts->regions[i].sqnr = lossy->sqnr;
            facts->regions[i].cosine = lossy->cosine;
            facts->regions[i].values = lossy->data;
            facts->regions[i].quantised = lossy->quantised;
            facts->regions[i].noise = lossy->noise;
            n++;
        }
    }
    if (!reader.failed && n == 0 && facts->n_regions)
        read_error(&reader, "it has no layer of %s", facts->path);
    cJSON_Delete(root);
    return !reader.failed;
}
