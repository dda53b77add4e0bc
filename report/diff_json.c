/* diff_json.c - a difference as members of the object that `relayc diff --json` prints
 * (docs/guide/diff.md). */
#include <cjson/cJSON.h>
#include <math.h>

#include "report/diff_words.h"

static void add_number(cJSON *to, const char *key, double number)
{
    if (isfinite(number))
        cJSON_AddNumberToObject(to, key, number);
    else
        cJSON_AddNullToObject(to, key);
}

static cJSON *fact_json(const struct diff_fact *fact)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "what", fact->what);
    if (fact->unit) {
        add_number(json, "old", fact->old_number);
        add_number(json, "new", fact->new_number);
    } else {
        cJSON_AddStringToObject(json, "old", fact->old_text);
        cJSON_AddStringToObject(json, "new", fact->new_text);
    }
    cJSON_AddBoolToObject(json, "differs", fact->differs);
    return json;
}

static void add_facts(cJSON *to, const char *key, const struct diff_fact *facts, int n)
{
    cJSON *list = cJSON_AddArrayToObject(to, key);

    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(list, fact_json(&facts[i]));
}

static void add_counts(cJSON *to, const char *key, const int count[DIFF_STATES])
{
    cJSON *json = cJSON_AddObjectToObject(to, key);

    for (int i = 0; i < DIFF_STATES; i++)
        cJSON_AddNumberToObject(json, diff_state_name((enum diff_state)i), count[i]);
}

static cJSON *region_json(const struct diff_region *region)
{
    const struct fact_region *named = region->new ? region->new : region->old;
    cJSON *json = cJSON_CreateObject(), *nodes;

    cJSON_AddStringToObject(json, "state", diff_state_name(region->state));
    if (region->old)
        cJSON_AddStringToObject(json, "old", region->old->function);
    if (region->new)
        cJSON_AddStringToObject(json, "new", region->new->function);
    nodes = cJSON_AddArrayToObject(json, "nodes");
    for (int i = 0; i < named->n_nodes; i++)
        cJSON_AddItemToArray(nodes, cJSON_CreateString(named->nodes[i].key));
    cJSON_AddBoolToObject(json, "renamed", region->is_renamed);
    add_facts(json, "changes", region->facts, region->n_facts);
    return json;
}

static cJSON *weight_json(const struct diff_weight *weight)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "state", diff_state_name(weight->state));
    cJSON_AddStringToObject(json, "name", weight_name(weight));
    if (weight->old)
        cJSON_AddStringToObject(json, "old_format", weight->old->dtype);
    if (weight->new)
        cJSON_AddStringToObject(json, "new_format", weight->new->dtype);
    cJSON_AddBoolToObject(json, "retrained", weight->is_retrained);
    if (weight->has_numbers) {
        add_number(json, "largest_change", weight->largest);
        add_number(json, "mean_change", weight->mean);
        add_number(json, "changed_elements", weight->n_changed);
    }
    return json;
}

/* Equal regions and weights are counted only. */
void diff_add_json(const struct diff *diff, cJSON *json)
{
    cJSON *list;

    cJSON_AddStringToObject(json, "old", diff->old->path);
    cJSON_AddStringToObject(json, "new", diff->new->path);
    cJSON_AddBoolToObject(json, "differs", diff->differs);
    add_facts(json, "totals", diff->totals, diff->n_totals);
    add_facts(json, "scores", diff->scores, diff->n_scores);
    add_counts(json, "region_counts", diff->region_count);
    cJSON_AddNumberToObject(json, "renamed_regions", diff->n_renamed);
    list = cJSON_AddArrayToObject(json, "regions");
    for (int i = 0; i < diff->n_regions; i++)
        if (diff->regions[i].state != DIFF_EQUAL)
            cJSON_AddItemToArray(list, region_json(&diff->regions[i]));
    add_counts(json, "weight_counts", diff->weight_count);
    cJSON_AddNumberToObject(json, "retrained", diff->n_retrained);
    list = cJSON_AddArrayToObject(json, "weights");
    for (int i = 0; i < diff->n_weights; i++)
        if (diff->weights[i].state != DIFF_EQUAL)
            cJSON_AddItemToArray(list, weight_json(&diff->weights[i]));
}
