/* explain_json.c - the explanation as data; the schema is in docs/guide/backends.md. */
#include "base/str.h"
#include "partition/explain.h"

enum { TEXT_BYTES = 4096 };

/* Text of the model. */
static void add_raw(cJSON *object, const char *key, struct arena *arena, const char *text)
{
    cJSON_AddStringToObject(object, key, str_safe(arena, text, TEXT_BYTES));
}

/* Text of ours, which has names made safe; NULL = left out. */
static void add_text(cJSON *object, const char *key, const char *text)
{
    if (text)
        cJSON_AddStringToObject(object, key, text);
}

static void add_number(cJSON *object, const char *key, double number)
{
    cJSON_AddNumberToObject(object, key, number);
}

static cJSON *add_row(cJSON *array)
{
    cJSON *row = cJSON_CreateObject();

    cJSON_AddItemToArray(array, row);
    return row;
}

static const char *result_of(const struct verdict *verdict)
{
    if (!verdict->tried)
        return "untried";
    return verdict->chosen ? "chosen" : (verdict->matched ? "matched" : "failed");
}

static void add_verdict(cJSON *row, const struct verdict *verdict)
{
    cJSON_AddStringToObject(row, "row", verdict->row->name);
    cJSON_AddStringToObject(row, "result", result_of(verdict));
    if (verdict->matched) {
        add_number(row, "candidate", verdict->candidate);
        add_number(row, "nodes", verdict->n_nodes);
        add_number(row, "target_ns", verdict->target_ns);
        add_number(row, "host_ns", verdict->host_ns);
        add_text(row, "why_not", verdict->excluded);
        add_text(row, "reason", verdict->reason);
        add_text(row, "cost_problem", verdict->cost_problem);
        return;
    }
    add_text(row, "found", verdict->found);
    add_text(row, "wanted", verdict->wanted);
    if (verdict->column > 0)
        add_number(row, "column", verdict->column);
}

static void add_origins(cJSON *row, const struct origin *origin, struct arena *arena)
{
    cJSON *list = cJSON_AddArrayToObject(row, "onnx");

    for (; origin; origin = origin->next) {
        cJSON *one = add_row(list);

        add_raw(one, "name", arena, origin->name);
        add_raw(one, "op_type", arena, origin->op_type);
        add_number(one, "node", (double)origin->index);
    }
}

static void add_node(cJSON *row, const struct explained_node *node, struct arena *arena)
{
    cJSON *rows;

    add_raw(row, "name", arena, node->name);
    cJSON_AddStringToObject(row, "op", op_name(node->op));
    cJSON_AddStringToObject(row, "type", node->type);
    add_origins(row, node->origin, arena);
    cJSON_AddStringToObject(row, "target", node->target ? node->target->name : "c");
    if (node->region >= 0)
        add_number(row, "region", node->region);
    add_number(row, "host_ns", node->host_ns);
    rows = cJSON_AddArrayToObject(row, "rows");
    for (int i = 0; i < node->n; i++)
        add_verdict(add_row(rows), &node->verdicts[i]);
}

static void add_region(cJSON *row, const struct region_plan *region)
{
    cJSON *composites;

    cJSON_AddStringToObject(row, "target", region->target->name);
    if (region->fn)
        cJSON_AddStringToObject(row, "function", region->fn->name);
    composites = cJSON_AddArrayToObject(row, "composites");
    for (int i = 0; i < region->n; i++)
        cJSON_AddItemToArray(composites, cJSON_CreateString(region->candidates[i]->row->name));
    add_number(row, "nodes", region->n_nodes);
    add_number(row, "macs", (double)region->macs);
    add_number(row, "weight_bytes", (double)region->weight_bytes);
    add_number(row, "input_bytes", (double)region->input_bytes);
    add_number(row, "output_bytes", (double)region->output_bytes);
    add_number(row, "onchip_bytes", (double)region->onchip_bytes);
    add_number(row, "target_ns", region->target_ns);
    add_number(row, "handover_ns", region->handover_ns);
    add_number(row, "host_ns", region->host_ns);
}

cJSON *explanation_json(const struct explanation *explanation, struct arena *arena)
{
    cJSON *made = cJSON_CreateObject();
    cJSON *nodes = cJSON_AddArrayToObject(made, "nodes");
    cJSON *regions = cJSON_AddArrayToObject(made, "regions");
    cJSON *decisions = cJSON_AddArrayToObject(made, "decisions");

    for (int i = 0; i < explanation->n_nodes; i++)
        add_node(add_row(nodes), &explanation->nodes[i], arena);
    for (int i = 0; i < explanation->n_regions; i++)
        add_region(add_row(regions), &explanation->regions[i]);
    for (const struct decision *d = explanation->decisions; d; d = d->next) {
        cJSON *row = add_row(decisions);

        if (d->target)
            cJSON_AddStringToObject(row, "target", d->target->name);
        add_text(row, "text", d->text);
    }
    add_number(made, "host_only_ns", explanation->host_only_ns);
    add_number(made, "chosen_ns", explanation->chosen_ns);
    return made;
}
