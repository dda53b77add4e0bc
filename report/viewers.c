/* viewers.c - numbers of regions as files that viewers of networks lay over the model: attachments of Netron, node data
 * of Model Explorer. */
#include <cjson/cJSON.h>
#include <math.h>

#include "base/ctx.h"
#include "report/analysis.h"

static void write_object(struct writer *out, cJSON *json)
{
    char *text = cJSON_Print(json);

    if (!text)
        out_of_memory(0);
    writer_text(out, text);
    writer_text(out, "\n");
    cJSON_free(text);
    cJSON_Delete(json);
}

/* A node by its name; one without by its first result, whose value shows it. */
static cJSON *about(cJSON *list, const struct fact_node *node, const char *name)
{
    const bool named = node->name && *node->name;
    cJSON *entry = cJSON_CreateObject();

    cJSON_AddStringToObject(entry, "kind", named ? "node" : "value");
    cJSON_AddStringToObject(entry, "target", named ? node->name : node->output);
    cJSON_AddStringToObject(entry, "name", name);
    cJSON_AddItemToArray(list, entry);
    return entry;
}

static void add_word(cJSON *list, const struct fact_node *node, const char *name, const char *word)
{
    cJSON *entry = word ? about(list, node, name) : NULL;

    if (entry)
        cJSON_AddStringToObject(entry, "value", word);
}

static void add_number(cJSON *list, const struct fact_node *node, const char *name, double number)
{
    cJSON *entry = isfinite(number) && number != 0 ? about(list, node, name) : NULL;

    if (entry)
        cJSON_AddNumberToObject(entry, "value", number);
}

/* Words about a region stand at each of its nodes, its numbers at the first. */
void analysis_write_netron(struct ctx *ctx, struct writer *out, const struct analysis *analysis)
{
    const struct facts *facts = analysis->facts;
    cJSON *root = cJSON_CreateObject(), *words, *numbers;

    cJSON_AddStringToObject(root, "signature", "netron:attachment");
    words = cJSON_AddArrayToObject(root, "metadata");
    numbers = cJSON_AddArrayToObject(root, "metrics");
    for (int i = 0; i < facts->n_regions; i++) {
        const struct fact_region *region = &facts->regions[i];

        for (int k = 0; k < region->n_nodes; k++) {
            add_word(words, &region->nodes[k], "function", region->function);
            add_word(words, &region->nodes[k], "kernel", region->kernel);
            add_word(words, &region->nodes[k], "backend", region->compiler);
            add_word(words, &region->nodes[k], "precision", region_precision(&ctx->perm, region));
        }
        if (region->n_nodes == 0)
            continue;
        add_number(numbers, region->nodes, "macs", region->macs);
        add_number(numbers, region->nodes, "weight bytes", region->weight_bytes);
        add_number(numbers, region->nodes, "arena bytes", region->arena_bytes);
        add_number(numbers, region->nodes, "scratch bytes", region->scratch_bytes);
        add_number(numbers, region->nodes, "measured us", region->seconds * 1e6);
        add_number(numbers, region->nodes, "estimated us", region->estimate * 1e6);
        add_number(numbers, region->nodes, "SQNR dB", region->sqnr);
    }
    write_object(out, root);
}

/* What a node's colour says: measured time where it is known, else MACs. */
void analysis_write_model_explorer(struct writer *out, const struct analysis *analysis)
{
    static const char *const colours[] = { "#ffffff", "#d95f02" };
    const struct facts *facts = analysis->facts;
    cJSON *root = cJSON_CreateObject(), *results, *gradient;

    cJSON_AddStringToObject(root, "name",
                            analysis->times_from ? "relayc: measured us" : "relayc: MACs");
    results = cJSON_AddObjectToObject(root, "results");
    for (int i = 0; i < facts->n_regions; i++) {
        const struct fact_region *region = &facts->regions[i];
        const double number = analysis->times_from ? region->seconds * 1e6 : region->macs;
        cJSON *result;

        if (region->n_nodes == 0 || !region->nodes[0].output || number == 0 ||
            cJSON_GetObjectItemCaseSensitive(results, region->nodes[0].output))
            continue;
        result = cJSON_AddObjectToObject(results, region->nodes[0].output);
        cJSON_AddNumberToObject(result, "value", number);
    }
    gradient = cJSON_AddArrayToObject(root, "gradient");
    for (int i = 0; i < 2; i++) {
        cJSON *stop = cJSON_CreateObject();

        cJSON_AddNumberToObject(stop, "stop", i);
        cJSON_AddStringToObject(stop, "bgColor", colours[i]);
        cJSON_AddItemToArray(gradient, stop);
    }
    write_object(out, root);
}
