/* fp8_report.c - what annotate_fp8 did, as text and as JSON. */
#include "base/str.h"
#include "partition/annotate_fp8.h"
#include "partition/fp8.h"

enum { NAME_BYTES = 60 };

static void print_line(const struct fp8_line *line, struct arena *arena, struct str *out)
{
    str_printf(out, "  %-28s %-18s ", str_safe(arena, line->node, NAME_BYTES), op_name(line->op));
    if (line->target)
        str_printf(out, "%s, %s", line->target->name, dtype_name(line->data));
    else
        str_printf(out, "%s: %s", line->data == DTYPE_NONE ? "float" : dtype_name(line->data),
                   line->why);
    if (line->weight_bytes_before != line->weight_bytes_after)
        str_printf(out, ", weights %zu -> %zu bytes", line->weight_bytes_before,
                   line->weight_bytes_after);
    str_add(out, line->on_host ? ", ends on c: computed in f32\n" : "\n");
}

/* Operators that multiply by weights; transposed convolutions have no FP8 form. */
static bool is_product(enum op op)
{
    return fp8_is_product(op) || op == OP_CONV1D_TRANSPOSE || op == OP_CONV2D_TRANSPOSE ||
           op == OP_CONV3D_TRANSPOSE;
}

void fp8_report_print(const struct fp8_report *report, bool every_node, struct arena *arena,
                      struct str *out)
{
    str_printf(out, "%s: %d of %d nodes, %d casts, weights %zu -> %zu bytes\n",
               dtype_name(report->format), report->n_annotated, report->n, report->n_casts,
               report->weight_bytes_before, report->weight_bytes_after);
    for (int i = 0; i < report->n; i++)
        if (every_node || report->lines[i].on_host ||
            (!report->lines[i].target && is_product(report->lines[i].op)))
            print_line(&report->lines[i], arena, out);
}

static void add_dtype(cJSON *object, const char *key, enum dtype dtype)
{
    if (dtype != DTYPE_NONE)
        cJSON_AddStringToObject(object, key, dtype_name(dtype));
}

static cJSON *line_json(const struct fp8_line *line, struct arena *arena)
{
    cJSON *object = cJSON_CreateObject();

    cJSON_AddStringToObject(object, "node", str_safe(arena, line->node, SIZE_MAX));
    cJSON_AddStringToObject(object, "op", op_name(line->op));
    if (line->target)
        cJSON_AddStringToObject(object, "target", line->target->name);
    add_dtype(object, "data", line->data);
    add_dtype(object, "weights", line->weights);
    if (line->why)
        cJSON_AddStringToObject(object, "why", line->why);
    if (line->target)
        cJSON_AddBoolToObject(object, "on_host", line->on_host);
    cJSON_AddNumberToObject(object, "weight_bytes_before", (double)line->weight_bytes_before);
    cJSON_AddNumberToObject(object, "weight_bytes_after", (double)line->weight_bytes_after);
    return object;
}

cJSON *fp8_report_json(const struct fp8_report *report)
{
    struct arena arena = { NULL };
    cJSON *object = cJSON_CreateObject(), *nodes;

    add_dtype(object, "format", report->format);
    cJSON_AddNumberToObject(object, "annotated", report->n_annotated);
    cJSON_AddNumberToObject(object, "casts", report->n_casts);
    cJSON_AddNumberToObject(object, "weight_bytes_before", (double)report->weight_bytes_before);
    cJSON_AddNumberToObject(object, "weight_bytes_after", (double)report->weight_bytes_after);
    nodes = cJSON_AddArrayToObject(object, "nodes");
    for (int i = 0; i < report->n; i++)
        cJSON_AddItemToArray(nodes, line_json(&report->lines[i], &arena));
    arena_release(&arena);
    return object;
}
