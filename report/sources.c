/* sources.c - which regions write what a region reads. A value that is part of another one (an operand
 * of a concatenation) is written for all who read the whole; who reads a part (a result of a split)
 * reads what wrote the whole. */
#include "base/map.h"
#include "report/facts.h"

struct writer_of {
    int region;
    struct writer_of *next;
};

static void add_writer(struct ctx *ctx, struct map *writers, const char *name, int region)
{
    struct writer_of *writer = arena_new(&ctx->perm, struct writer_of);

    *writer = (struct writer_of){ region, map_get(writers, name) };
    map_set(writers, name, writer);
}

static void add_source(struct fact_region *region, const struct writer_of *writer)
{
    for (; writer; writer = writer->next) {
        int k = 0;

        while (k < region->n_sources && region->sources[k] != writer->region)
            k++;
        if (k == region->n_sources)
            region->sources[region->n_sources++] = writer->region;
    }
}

static const struct writer_of *writers_of(const struct map *writers, const struct fact_value *value)
{
    const struct writer_of *writer = value->name ? map_get(writers, value->name) : NULL;

    for (int i = 0; i < value->n_wholes && !writer; i++)
        writer = map_get(writers, value->wholes[i]);
    return writer;
}

void find_sources(struct ctx *ctx, struct facts *facts)
{
    struct map writers = { .arena = &ctx->perm };

    for (int r = 0; r < facts->n_regions; r++) {
        struct fact_region *region = &facts->regions[r];
        int most = 0;

        for (int i = 0; i < region->n_inputs; i++)
            for (const struct writer_of *w = writers_of(&writers, &region->inputs[i]); w;
                 w = w->next)
                most++;
        region->sources = arena_array(&ctx->perm, int, most);
        for (int i = 0; i < region->n_inputs; i++)
            add_source(region, writers_of(&writers, &region->inputs[i]));
        for (int i = 0; i < region->n_results; i++) {
            const struct fact_value *result = &region->results[i];

            if (result->name)
                add_writer(ctx, &writers, result->name, r);
            for (int k = 0; k < result->n_wholes; k++)
                add_writer(ctx, &writers, result->wholes[k], r);
        }
    }
}
