/* analysis_json.c - one compilation as members of a JSON object (docs/guide/report.md). The page of
 * relayc report is drawn from it. */
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "report/analysis.h"

static void add_text(cJSON *to, const char *key, const char *text)
{
    if (text)
        cJSON_AddStringToObject(to, key, text);
}

/* Unknown numbers are left out. */
static void add_number(cJSON *to, const char *key, double number)
{
    if (isfinite(number))
        cJSON_AddNumberToObject(to, key, number);
}

static void add_if(cJSON *to, const char *key, double number)
{
    if (number > 0)
        add_number(to, key, number);
}

static void add_need(cJSON *json, const char *key, double needed, double allowed,
                     const char *source)
{
    cJSON *need = cJSON_AddObjectToObject(json, key);

    add_number(need, "needed", needed);
    if (allowed <= 0)
        return;
    add_number(need, "allowed", allowed);
    add_text(need, "source", source);
    cJSON_AddBoolToObject(need, "fits", needed <= allowed);
}

static void add_verdict(struct arena *arena, const struct analysis *a, cJSON *json)
{
    cJSON *verdict = cJSON_AddObjectToObject(json, "verdict");

    add_text(verdict, "text", analysis_verdict(arena, a));
    if (a->limits.ram > 0 || a->limits.flash > 0)
        cJSON_AddBoolToObject(verdict, "fits", analysis_fits(a));
    add_text(verdict, "board", a->limits.board);
    add_text(verdict, "chip", a->limits.chip);
    add_if(verdict, "clock_mhz", a->limits.clock_mhz);
    add_need(verdict, "ram", facts_ram(a->facts), a->limits.ram, a->limits.ram_source);
    add_need(verdict, "flash", facts_flash(a->facts), a->limits.flash, a->limits.flash_source);
}

static void add_summary(const struct facts *facts, cJSON *json)
{
    const struct fact_measured *m = &facts->measured;
    cJSON *measured;

    add_text(json, "name", facts->name);
    add_text(json, "model", facts->model_file);
    add_text(json, "sha256", facts->model_sha256);
    add_text(json, "relayc", facts->relayc);
    add_text(json, "target", facts->target);
    add_text(json, "options", facts->options);
    add_number(json, "onnx_nodes", facts->onnx_nodes);
    add_number(json, "macs", facts->macs);
    add_number(json, "weight_bytes", facts->weight_bytes);
    add_number(json, "io_bytes", facts->io_bytes);
    if (!m->compiler)
        return;
    measured = cJSON_AddObjectToObject(json, "measured");
    add_text(measured, "compiler", m->compiler);
    add_number(measured, "text", m->text);
    add_number(measured, "rodata", m->rodata);
    add_number(measured, "data", m->data);
    add_number(measured, "bss", m->bss);
    if (m->stack >= 0)
        add_number(measured, "stack", m->stack);
}

static cJSON *value_json(const struct fact_value *value)
{
    cJSON *json = cJSON_CreateObject();

    add_text(json, "name", value->name);
    add_text(json, "dtype", value->dtype);
    add_text(json, "shape", value->shape);
    return json;
}

static void add_values(cJSON *to, const char *key, const struct fact_value *values, int n)
{
    cJSON *list = cJSON_AddArrayToObject(to, key);

    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(list, value_json(&values[i]));
}

static void add_spread(cJSON *to, const char *key, const struct fact_spread *spread)
{
    cJSON *json, *bins;

    if (spread->n_bins == 0)
        return;
    json = cJSON_AddObjectToObject(to, key);
    add_number(json, "min", spread->min);
    add_number(json, "max", spread->max);
    add_number(json, "mean", spread->mean);
    add_number(json, "std", spread->std);
    bins = cJSON_AddArrayToObject(json, "histogram");
    for (int i = 0; i < spread->n_bins; i++)
        cJSON_AddItemToArray(bins, cJSON_CreateNumber(spread->bins[i]));
}

static cJSON *region_json(struct arena *arena, const struct fact_region *region)
{
    cJSON *json = cJSON_CreateObject(), *nodes = cJSON_AddArrayToObject(json, "nodes"), *sources;

    for (int i = 0; i < region->n_nodes; i++)
        cJSON_AddItemToArray(nodes, cJSON_CreateString(region->nodes[i].key));
    add_text(json, "function", region->function);
    add_text(json, "operators", region_operators(arena, region));
    add_text(json, "kernel", region->kernel);
    add_text(json, "backend", region->compiler ? region->compiler : "c");
    add_text(json, "precision", region_precision(arena, region));
    add_text(json, "output", region->output);
    sources = cJSON_AddArrayToObject(json, "sources");
    for (int i = 0; i < region->n_sources; i++)
        cJSON_AddItemToArray(sources, cJSON_CreateNumber(region->sources[i]));
    add_number(json, "macs", region->macs);
    add_number(json, "weight_bytes", region->weight_bytes);
    add_number(json, "scratch_bytes", region->scratch_bytes);
    add_number(json, "arena_bytes", region->arena_bytes);
    add_if(json, "measured_seconds", region->seconds);
    add_if(json, "estimated_cycles", region->cycles);
    add_if(json, "estimated_seconds", region->estimate);
    add_number(json, "sqnr_db", region->sqnr);
    add_number(json, "cosine", region->cosine);
    add_spread(json, "values", &region->values);
    add_spread(json, "quantised", &region->quantised);
    add_spread(json, "noise", &region->noise);
    return json;
}

static void add_arena(const struct facts *facts, cJSON *to)
{
    cJSON *json = cJSON_AddObjectToObject(to, "arena"), *map;

    add_number(json, "bytes", facts->arena_bytes);
    add_number(json, "lower_bound", facts->arena_lower_bound);
    add_number(json, "order_lower_bound", facts->arena_order_bound);
    add_number(json, "without_sharing", facts->arena_without_sharing);
    cJSON_AddBoolToObject(json, "optimal", facts->arena_is_optimal);
    map = cJSON_AddArrayToObject(json, "blocks");
    for (int i = 0; i < facts->n_blocks; i++) {
        const struct fact_block *block = &facts->blocks[i];
        cJSON *item = cJSON_CreateObject();

        cJSON_AddItemToArray(map, item);
        add_text(item, "what", block->what);
        cJSON_AddBoolToObject(item, "scratch", block->is_scratch);
        add_number(item, "offset", block->offset);
        add_number(item, "bytes", block->bytes);
        add_number(item, "written", block->written);
        add_number(item, "last_read", block->last_read);
    }
}

static void add_scores(const struct scores *scores, cJSON *json)
{
    cJSON *list = cJSON_AddArrayToObject(json, "scores");

    for (int i = 0; i < scores->n; i++) {
        cJSON *item = cJSON_CreateObject();

        cJSON_AddItemToArray(list, item);
        add_text(item, "name", scores->at[i].name);
        add_number(item, "value", scores->at[i].value);
        add_number(item, "f32", scores->at[i].f32);
    }
    add_if(json, "samples", scores->samples);
}

static void add_tried(cJSON *to, const char *key, const struct tried_list *tried)
{
    cJSON *json, *list;

    if (!tried->from)
        return;
    json = cJSON_AddObjectToObject(to, key);
    add_text(json, "from", tried->from);
    add_text(json, "metric", tried->metric);
    list = cJSON_AddArrayToObject(json, "tried");
    for (int i = 0; i < tried->n; i++) {
        const struct tried *at = &tried->at[i];
        cJSON *row = cJSON_CreateObject();

        cJSON_AddItemToArray(list, row);
        add_text(row, "what", at->what);
        add_text(row, "state", at->state);
        add_number(row, "loss", at->loss);
        add_number(row, "cosine", at->cosine);
        add_number(row, "value", at->value);
        add_number(row, "flash", at->flash);
        add_number(row, "ram", at->ram);
        add_number(row, "seconds", at->seconds);
    }
}

void analysis_add_json(struct arena *arena, const struct analysis *a, cJSON *json)
{
    const struct facts *facts = a->facts;
    const struct estimate sum = facts_estimate(facts);
    cJSON *list;

    add_summary(facts, json);
    add_if(json, "estimated_cycles", sum.cycles);
    add_if(json, "estimated_seconds", sum.seconds);
    add_if(json, "estimated_regions", sum.n);
    add_verdict(arena, a, json);
    add_arena(facts, json);
    add_values(json, "inputs", facts->inputs, facts->n_inputs);
    add_values(json, "outputs", facts->outputs, facts->n_outputs);
    list = cJSON_AddArrayToObject(json, "regions");
    for (int i = 0; i < facts->n_regions; i++)
        cJSON_AddItemToArray(list, region_json(arena, &facts->regions[i]));
    add_text(json, "times_from", a->times_from);
    add_text(json, "losses_from", a->losses_from);
    add_scores(&a->scores, json);
    add_tried(json, "trials", &a->trials);
    add_tried(json, "points", &a->points);
}
