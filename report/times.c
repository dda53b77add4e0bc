/* times.c - measured times, from relayc bench, added to the facts of regions. */
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "report/analysis.h"
#include "report/read.h"

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

    if (read_schema(&reader, root, "relayc-bench-", "relayc bench --json"))
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
