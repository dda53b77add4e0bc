/* cmd_targets.c - which targets there are, what one takes, and why a model's nodes go where they
 * go.
 */
#include "base/str.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "driver/commands/explain.h"
#include "partition/explain.h"

static const char *const format_names[] = {
    [FORMAT_C] = "c", [FORMAT_EXTERN] = "extern", [FORMAT_STREAM] = "stream", [FORMAT_JSON] = "json"
};

static void add_text(cJSON *object, const char *key, const char *text)
{
    if (object)
        cJSON_AddStringToObject(object, key, text);
}

static void add_number(cJSON *object, const char *key, double number)
{
    if (object)
        cJSON_AddNumberToObject(object, key, number);
}

static cJSON *add_object(cJSON *object, const char *key)
{
    return object ? cJSON_AddObjectToObject(object, key) : NULL;
}

static cJSON *add_array(cJSON *object, const char *key)
{
    return object ? cJSON_AddArrayToObject(object, key) : NULL;
}

static cJSON *add_item(cJSON *array, cJSON *item)
{
    if (array)
        cJSON_AddItemToArray(array, item);
    else
        cJSON_Delete(item);
    return array ? item : NULL;
}

/* --- the list --------------------------------------------------------------------------------- */

static void list_targets(struct cli *cli)
{
    cJSON *list = add_array(cli->json, "targets");

    for (const struct target *t = cli->driver->offload.targets.first; t; t = t->next) {
        cJSON *row = add_item(list, cJSON_CreateObject());

        say(cli, "%-12s %-7s %3d composite%s%s\n", t->name, format_names[t->format], t->n_rows,
            t->n_rows == 1 ? "" : "s",
            *t->description ? arena_printf(&cli->ctx->perm, "%s %s", t->n_rows == 1 ? ", " : ",",
                                           t->description)
                            : "");
        add_text(row, "name", t->name);
        add_text(row, "description", t->description);
        add_text(row, "format", format_names[t->format]);
        add_text(row, "file", t->file);
        add_number(row, "composites", t->n_rows);
    }
}

/* --- one target ------------------------------------------------------------------------------- */

static void show_limits(struct cli *cli, const struct target_limits *limits, cJSON *json)
{
    const struct {
        const char *name;
        int64_t value;
    } all[] = { { "max_nodes", limits->max_nodes },
                { "max_macs", limits->max_macs },
                { "max_weight_bytes", limits->max_weight_bytes },
                { "max_onchip_bytes", limits->max_onchip_bytes },
                { "min_macs", limits->min_macs } };
    const char *before = "";

    say(cli, "  limits     ");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value != LIMIT_NONE) {
            say(cli, "%s%s %lld", before, all[i].name, (long long)all[i].value);
            add_number(json, all[i].name, (double)all[i].value);
            before = ", ";
        }
    say(cli, "%s%s\n", *before ? "" : "none", limits->weights_onchip ? ", weights on chip" : "");
    if (json)
        cJSON_AddBoolToObject(json, "weights_onchip", limits->weights_onchip);
}

static void show_rates(struct cli *cli, const struct target_rates *rates, cJSON *json)
{
    cJSON *per_mac = add_object(json, "ns_per_mac");

    say(cli, "  rates      launch %g ns, hand-over %g ns/byte, call %g ns, %g ns/byte",
        rates->launch_ns, rates->transfer_ns_per_byte, rates->call_ns, rates->ns_per_byte);
    add_number(json, "launch_ns", rates->launch_ns);
    add_number(json, "transfer_ns_per_byte", rates->transfer_ns_per_byte);
    add_number(json, "call_ns", rates->call_ns);
    add_number(json, "ns_per_byte", rates->ns_per_byte);
    for (int i = 0; i < rates->n_macs; i++) {
        const enum dtype dtype = rates->per_mac[i].dtype;
        const char *name = dtype == DTYPE_NONE ? "other" : dtype_name(dtype);

        say(cli, ", %s %g ns/MAC", name, rates->per_mac[i].ns);
        add_number(per_mac, name, rates->per_mac[i].ns);
    }
    say(cli, "\n");
}

static void show_kept(struct cli *cli, const struct target *target, cJSON *json)
{
    const char *before = "  on c       ";

    for (int op = 0; op < OP_COUNT; op++)
        if (target->keep_on_host[op]) {
            say(cli, "%s%s", before, op_name((enum op)op));
            add_item(json, cJSON_CreateString(op_name((enum op)op)));
            before = ", ";
        }
    if (*before == ',')
        say(cli, "\n");
}

static void show_file(struct cli *cli, const char *what, const char *name, cJSON *json)
{
    if (!name)
        return;
    say(cli, "  %-10s %s\n", what, name);
    add_text(json, what, name);
}

static void show_names(struct cli *cli, const char *what, int n, const char *const *names,
                       cJSON *json)
{
    cJSON *list = n ? add_array(json, what) : NULL;

    for (int i = 0; i < n; i++) {
        say(cli, "%s%s%s", i ? ", " : arena_printf(&cli->ctx->perm, "  %-10s ", what), names[i],
            i + 1 == n ? "\n" : "");
        add_item(list, cJSON_CreateString(names[i]));
    }
}

/* What target.json names besides the templates of the rows. */
static void show_files(struct cli *cli, const struct target *target, cJSON *json)
{
    show_file(cli, "plugin", target->plugin, json);
    show_file(cli, "prologue", target->prologue ? target->prologue_file : NULL, json);
    show_file(cli, "region", target->region_template ? target->region_file : NULL, json);
    show_names(cli, "headers", target->n_headers, target->header_names, json);
    show_names(cli, "host", target->n_host_files, target->host_names, json);
    show_file(cli, "flags", target->host_flags && *target->host_flags ? target->host_flags : NULL,
              json);
}

static void show_row(struct cli *cli, const struct composite_row *row, cJSON *list)
{
    cJSON *json = add_item(list, cJSON_CreateObject()), *where, *lets;

    say(cli, "\n  %s\n      %s\n", row->name, row->text);
    add_text(json, "name", row->name);
    add_text(json, "pattern", row->text);
    where = add_array(json, "where");
    for (int i = 0; i < row->n_conditions; i++) {
        const char *text = expression_text(row->conditions[i].test);

        say(cli, "      %s %s\n", i ? "and  " : "where", text);
        add_item(where, cJSON_CreateString(text));
    }
    if (row->check)
        say(cli, "      %s a check in C\n", row->n_conditions ? "and  " : "where");
    lets = add_object(json, "let");
    for (int i = 0; i < row->n_lets; i++) {
        const char *text = expression_text(row->lets[i].value);

        say(cli, "      let %s = %s\n", row->lets[i].name, text);
        add_text(lets, row->lets[i].name, text);
    }
    if (row->cost_ns) {
        say(cli, "      cost %s ns\n", expression_text(row->cost_ns));
        add_text(json, "cost_ns", expression_text(row->cost_ns));
    }
    if (row->scratch) {
        say(cli, "      scratch %s bytes\n", expression_text(row->scratch));
        add_text(json, "scratch", expression_text(row->scratch));
    }
    if (row->template_file) {
        say(cli, "      template %s\n", row->template_file);
        add_text(json, "template", row->template_file);
    }
}

static void show_target(struct cli *cli, const struct target *target)
{
    cJSON *json = cli->json, *list;

    say(cli, "%s%s%s\n", target->name, *target->description ? ": " : "", target->description);
    say(cli, "  file       %s%s\n", target->file, target->folder ? "" : " (in the binary)");
    say(cli, "  format     %s\n", format_names[target->format]);
    add_text(json, "name", target->name);
    add_text(json, "description", target->description);
    add_text(json, "file", target->file);
    add_text(json, "format", format_names[target->format]);
    show_files(cli, target, add_object(json, "files"));
    show_limits(cli, &target->limits, add_object(json, "limits"));
    show_rates(cli, &target->rates, add_object(json, "rates"));
    show_kept(cli, target, add_array(json, "keep_on_host"));
    list = add_array(json, "composites");
    for (int i = 0; i < target->n_rows; i++)
        show_row(cli, &target->rows[i], list);
}

/* --- --explain -------------------------------------------------------------------------------- */

static void show_explanation(struct cli *cli)
{
    const struct explanation *explanation = cli->driver->offload.partition->explanation;
    struct str text = { .arena = &cli->ctx->perm };

    report_precision(cli);
    explanation_print(explanation, option_text(&cli->driver->args, OPTION_NODE, NULL),
                      &cli->ctx->perm, &text);
    say(cli, "%s", str_text(&text));
    if (cli->json)
        cJSON_AddItemToObject(cli->json, "explanation",
                              explanation_json(explanation, &cli->ctx->perm));
}

static bool explain(struct cli *cli)
{
    const bool ok = driver_explain(cli->driver);

    if (ok)
        show_explanation(cli);
    module_free(cli->driver->module);
    return ok;
}

bool command_targets(struct cli *cli)
{
    const struct target *target;

    if (has_option(&cli->driver->args, OPTION_NODE) &&
        !has_option(&cli->driver->args, OPTION_EXPLAIN))
        return diag_error(cli->ctx, DIAG_USAGE, NULL, "--node has no effect without --explain");
    if (!prepare_offload(cli->driver))
        return false;
    if (has_option(&cli->driver->args, OPTION_EXPLAIN))
        return explain(cli);
    if (cli->driver->args.n_operands == 0) {
        list_targets(cli);
        say(cli, "\n");
        list_machines(cli);
        return true;
    }
    target = find_target(cli->driver, cli->driver->args.operands[0]);
    if (target)
        show_target(cli, target);
    return target != NULL;
}
