/* derived.c - sums and words that follow from facts. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "report/facts.h"

double facts_flash(const struct facts *facts)
{
    const struct fact_measured *m = &facts->measured;

    return m->compiler ? m->text + m->rodata + m->data : facts->weight_bytes;
}

double facts_ram(const struct facts *facts)
{
    const struct fact_measured *m = &facts->measured;

    return facts->arena_bytes + (m->compiler ? m->data + m->bss + fmax(0, m->stack) : 0);
}

const char *region_label(struct arena *arena, const struct fact_region *region, int limit)
{
    struct str text = { .arena = arena };

    for (int i = 0; i < region->n_nodes && i < limit; i++)
        str_printf(&text, "%s%s", i ? " + " : "", region->nodes[i].key);
    if (region->n_nodes > limit)
        str_printf(&text, " + %d more", region->n_nodes - limit);
    return text.n ? str_text(&text) : "-";
}

const char *region_operators(struct arena *arena, const struct fact_region *region)
{
    struct str text = { .arena = arena };

    for (int i = 0; i < region->n_nodes; i++) {
        int k = 0;

        while (k < i && strcmp(region->nodes[k].op_type, region->nodes[i].op_type) != 0)
            k++;
        if (k == i)
            str_printf(&text, "%s%s", i ? "+" : "", region->nodes[i].op_type);
    }
    return text.n ? str_text(&text) : "-";
}

const char *region_precision(struct arena *arena, const struct fact_region *region)
{
    const char *data = region->data, *weights = region->weights;

    if (!data || !weights || strcmp(data, weights) == 0)
        return data ? data : weights ? weights : "-";
    return arena_printf(arena, "%s weights, %s data", weights, data);
}
