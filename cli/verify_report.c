/* verify_report.c - what verify found: a line for each layer, lines for the whole network, and
 * errors for what differs. */
#include "cli/verify_report.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/machine/machine.h"

static const char *const column_name[N_COLUMNS] = { "graph after the passes", "oneDNN engine",
                                                    "generated C" };
static const char *const compared_with[N_COLUMNS] = { "imported graph", "reference", "reference" };

/* What the layers' lines add up to. */
struct summary {
    int n_layers;
    double limit; /* the greatest of a layer, of engine and C */
    double worst[N_COLUMNS];
    bool compared[N_COLUMNS];
    const struct value *first[N_COLUMNS]; /* beyond its limit */
};

static bool is_call(const struct value *value)
{
    return value->def->op == OP_CALL;
}

/* The target that a layer was given to; "" = c. */
static const char *layer_target(const struct value *value)
{
    const char *compiler = is_call(value) ? value->def->callee->compiler : NULL;

    return compiler && strcmp(compiler, "c") != 0 ? compiler : "";
}

static const char *error_text(struct arena *arena, double error)
{
    return isnan(error) ? "-" : arena_printf(arena, "%.1e", error);
}

static void add_json(struct cli *cli, cJSON *list, const struct value *value,
                     const struct layer *layer)
{
    static const char *const names[N_COLUMNS] = { "imported_error", "engine_error",
                                                  "generated_error" };
    cJSON *row = cJSON_CreateObject();

    cJSON_AddStringToObject(row, "value", str_safe(&cli->ctx->perm, value->name, 4096));
    if (*layer_target(value))
        cJSON_AddStringToObject(row, "target", layer_target(value));
    cJSON_AddNumberToObject(row, "largest", layer->largest);
    for (int i = 0; i < N_COLUMNS; i++)
        if (!isnan(layer->column[i].error))
            cJSON_AddNumberToObject(row, names[i], layer->column[i].error);
    cJSON_AddItemToArray(list, row);
}

/* True if it differs. */
static bool note_layer(const struct verification *v, const struct value *value,
                       struct summary *summary)
{
    const struct layer *layer = layer_of(v, value);
    bool differs = false;

    for (int i = 0; i < N_COLUMNS; i++) {
        const struct column_error *c = &layer->column[i];

        if (isnan(c->error))
            continue;
        summary->compared[i] = true;
        summary->worst[i] = fmax(summary->worst[i], c->error);
        if (i != IMPORTED)
            summary->limit = fmax(summary->limit, c->limit);
        if (c->error > c->limit && !summary->first[i])
            summary->first[i] = value;
        differs |= c->error > c->limit;
    }
    summary->n_layers += is_call(value);
    return differs;
}

/* Views have no code, and a line only where they differ. */
static void report_layer(struct cli *cli, struct verification *v, const struct value *value,
                         cJSON *list, struct summary *summary)
{
    struct arena *arena = &v->driver->ctx->perm;
    const struct layer *layer = layer_of(v, value);

    if (!note_layer(v, value, summary) && !is_call(value))
        return;
    say(cli, "%-36s %-18s %10.3g %10s %10s %10s%s%s\n", str_safe(arena, value->name, 33),
        shape_text(arena, &value->type), layer->largest,
        error_text(arena, layer->column[IMPORTED].error),
        error_text(arena, layer->column[ENGINE].error),
        error_text(arena, layer->column[GENERATED].error), *layer_target(value) ? "  " : "",
        layer_target(value));
    if (list)
        add_json(cli, list, value, layer);
}

/* --- errors ----------------------------------------------------------------------------------- */

enum { MOST_NOTED = 16 }; /* composites of a region */

/* The diagnostic's origin is the first node of the layer; a region of another target has more. */
static void note_composites(struct ctx *ctx, const struct value *value)
{
    struct arena *arena = &ctx->perm;
    int n = 0;

    if (!*layer_target(value))
        return;
    for (const struct node *node = value->def->callee->first; node; node = node->next) {
        struct str nodes = { .arena = arena };

        if (node->op != OP_CALL || !node->callee->composite || n++ >= MOST_NOTED)
            continue;
        for (const struct origin *o = node->origin; o; o = o->next)
            str_printf(&nodes, "%s%s (%s)", nodes.n ? " + " : "", str_safe(arena, o->name, 120),
                       str_safe(arena, o->op_type, 60));
        diag_note(ctx, "%s: %s", str_safe(arena, node->callee->composite, 120),
                  nodes.n ? str_text(&nodes) : str_safe(arena, node->outputs[0]->name, 120));
    }
    if (n > MOST_NOTED)
        diag_note(ctx, "and %d more composites of the region", n - MOST_NOTED);
}

static void judge_column(struct verification *v, const struct summary *summary, enum column i)
{
    struct ctx *ctx = v->driver->ctx;
    const struct value *first = summary->first[i];
    const bool noise = i == IMPORTED && v->rounds;

    if (!first)
        return;
    diag_error(ctx, DIAG_MISMATCH, node_origin(first->def),
               "the %s differs from the %s in layer '%s'; largest %s %.2e, tolerance %.2e",
               column_name[i], compared_with[i], str_safe(&ctx->perm, first->name, 120),
               noise ? "noise" : "error", layer_of(v, first)->column[i].error,
               layer_of(v, first)->column[i].limit);
    if (i == IMPORTED)
        diag_help(ctx, "a pass changes what the model computes: this is a bug in relayc; compile "
                       "--dump-after all shows the graph after each pass");
    else
        note_composites(ctx, first);
}

static bool disagrees(const struct agreement *a)
{
    return !((a->loose ? a->distance : a->error) <= a->limit);
}

static void judge_whole(struct verification *v)
{
    struct ctx *ctx = v->driver->ctx;

    for (int i = 0; i < v->n_agreements; i++) {
        const struct agreement *a = &v->agreements[i];

        if (!disagrees(a))
            continue;
        if (a->only_warn)
            diag_warn(ctx, DIAG_MISMATCH, NULL,
                      "quantisation costs accuracy: over the whole network %s differ by 1 - cosine "
                      "= %.2e, %d of %d results have equal argmax",
                      a->name, a->distance, a->n_argmax, a->n);
        else if (a->loose)
            diag_error(ctx, DIAG_MISMATCH, NULL,
                       "%s differ over the whole network by 1 - cosine = %.2e, tolerance %.2e",
                       a->name, a->distance, a->limit);
        else
            diag_error(ctx, DIAG_MISMATCH, NULL,
                       "%s differ over the whole network by %.2e, tolerance %.2e", a->name,
                       a->error, a->limit);
    }
}

/* Layers first: a network differs where one of them does. */
static bool judge(struct verification *v, const struct summary *summary)
{
    const struct diags *diags = &v->driver->ctx->diags;
    const int before = diags->n_errors; /* of other sizes */

    for (int i = 0; i < N_COLUMNS; i++)
        judge_column(v, summary, (enum column)i);
    if (diags->n_errors == before)
        judge_whole(v);
    verify_judge_bits(v);
    return diags->n_errors == before;
}

/* --- the lines below the layers --------------------------------------------------------------- */

static const char *worst_text(struct arena *arena, const struct summary *summary, enum column i)
{
    return summary->compared[i] ? arena_printf(arena, "%.1e", summary->worst[i]) : "-";
}

static void say_whole(struct cli *cli, struct verification *v, const struct summary *summary)
{
    struct arena *arena = &cli->ctx->perm;

    say(cli, "%-66s %10s %10s %10s\n",
        arena_printf(arena, "worst of %d layers (tolerance %.0e%s)", summary->n_layers,
                     v->tolerance,
                     summary->limit > v->tolerance ? ", or a step where a layer quantises" : ""),
        worst_text(arena, summary, IMPORTED), worst_text(arena, summary, ENGINE),
        worst_text(arena, summary, GENERATED));
    say(cli, "%-66s %10s %10s\n", "the whole network", "error", "1 - cosine");
    for (int i = 0; i < v->n_agreements; i++) {
        const struct agreement *a = &v->agreements[i];

        say(cli, "%-66s %10.1e %10.1e%s\n", a->name, a->error, a->distance,
            v->rounds ? arena_printf(arena, "  argmax %d of %d", a->n_argmax, a->n) : "");
    }
}

/* Whether C for another machine ran here. */
static bool is_portable(const struct verification *v)
{
    const struct machine *machine = v->driver->machine;

    return !v->on_target && *machine->flags && !*machine_flags_here(machine);
}

static void say_what_ran(struct cli *cli, struct verification *v)
{
    const char *runner = option_text(&cli->driver->args, OPTION_RUNNER, NULL);

    say(cli, "%d set%s of inputs:", v->n_sets, str_plural(v->n_sets));
    for (int k = 0; k < v->n_sets; k++)
        say(cli, "%s %s", k ? "," : "", v->sets[k].what);
    say(cli, "\nthe imported graph has %d of the %d values after the passes by name\n",
        v->n_matched, v->n_values);
    say(cli, "oneDNN ran %d operators, the reference evaluator %d\n", v->n_onednn, v->n_reference);
    if (v->peer)
        verify_say_peer(cli, v);
    if (v->on_target)
        say(cli, "the generated C for %s was built by '%s' and run%s%s%s\n",
            cli->driver->machine->name, option_text(&cli->driver->args, OPTION_CC, ""),
            runner ? " by '" : " here", runner ? runner : "", runner ? "'" : "");
    if (v->whole_only)
        say(cli,
            "the target's memory is too small for a comparison by layers: whole network only\n");
    if (is_portable(v))
        say(cli,
            "the generated C for %s ran on this host, on its portable branch: --cc and --runner "
            "run the shipped code\n",
            cli->driver->machine->name);
    if (v->bits)
        say(cli, "--deterministic: %s\n", v->bits);
}

static void add_whole_json(struct cli *cli, struct verification *v)
{
    cJSON *list = cJSON_AddArrayToObject(cli->json, "whole");

    for (int i = 0; i < v->n_agreements; i++) {
        const struct agreement *a = &v->agreements[i];
        cJSON *row = cJSON_CreateObject();

        cJSON_AddStringToObject(row, "compared", a->name);
        cJSON_AddNumberToObject(row, "results", a->n);
        cJSON_AddNumberToObject(row, "error", a->error);
        cJSON_AddNumberToObject(row, "distance", a->distance);
        cJSON_AddNumberToObject(row, "same_argmax", a->n_argmax);
        cJSON_AddItemToArray(list, row);
    }
    cJSON_AddStringToObject(cli->json, "graph_sha256", v->graph);
    cJSON_AddNumberToObject(cli->json, "sets", v->n_sets);
    cJSON_AddNumberToObject(cli->json, "values", v->n_values);
    cJSON_AddNumberToObject(cli->json, "matched", v->n_matched);
    cJSON_AddStringToObject(cli->json, "ran",
                            v->on_target     ? "target"
                            : is_portable(v) ? "portable"
                                             : "host");
    cJSON_AddBoolToObject(cli->json, "layers_on_target", v->on_target && !v->whole_only);
    if (v->peer)
        verify_peer_json(cli, v);
    if (v->bits)
        cJSON_AddStringToObject(cli->json, "bits", v->bits);
}

bool verify_report(struct cli *cli, struct verification *v)
{
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "layers") : NULL;
    struct summary summary = { 0 };

    say(cli,
        "errors relative to a layer's largest output, layer by layer%s\n%-36s %-18s %10s %10s %10s "
        "%10s\n",
        v->rounds ? "; passes: noise power by signal power" : "", "layer", "shape", "largest",
        "passes", "oneDNN", "generated");
    for (const struct node *node = v->module->main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            report_layer(cli, v, node->outputs[i], list, &summary);
    say_whole(cli, v, &summary);
    verify_say_saturated(cli, v);
    say_what_ran(cli, v);
    if (cli->json)
        add_whole_json(cli, v);
    return judge(v, &summary);
}

/* --- with --vary ------------------------------------------------------------------------------ */

static void add_size_json(struct cli *cli, const char *at, const struct agreement *whole, bool ok)
{
    cJSON *list = cJSON_GetObjectItemCaseSensitive(cli->json, "sizes"), *row = cJSON_CreateObject();

    if (!list)
        list = cJSON_AddArrayToObject(cli->json, "sizes");
    cJSON_AddStringToObject(row, "at", at);
    cJSON_AddNumberToObject(row, "error", whole->error);
    cJSON_AddNumberToObject(row, "distance", whole->distance);
    cJSON_AddBoolToObject(row, "ok", ok);
    cJSON_AddItemToArray(list, row);
}

bool verify_report_size(struct cli *cli, const char *at, bool is_first, struct verification *v)
{
    struct arena *arena = &cli->ctx->perm;
    struct agreement whole = { 0 }; /* the C with all that it must be like */
    struct summary summary = { 0 };
    bool ok;

    for (const struct node *node = v->module->main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            (void)note_layer(v, node->outputs[i], &summary);
    for (int i = 0; i < v->n_agreements; i++)
        if (str_starts(v->agreements[i].name, "the generated C") && !v->agreements[i].only_warn) {
            whole.error = fmax(whole.error, v->agreements[i].error);
            whole.distance = fmax(whole.distance, v->agreements[i].distance);
        }
    ok = judge(v, &summary);
    if (is_first)
        say(cli, "%-40s %10s %10s %10s %10s\n", "errors: worst layer, whole network", "passes",
            "oneDNN", "generated", "1 - cosine");
    say(cli, "%-40s %10s %10s %10.1e %10.1e%s\n", at, worst_text(arena, &summary, IMPORTED),
        worst_text(arena, &summary, ENGINE), whole.error, whole.distance, ok ? "" : "  DIFFERS");
    if (cli->json)
        add_size_json(cli, at, &whole, ok);
    return ok;
}
