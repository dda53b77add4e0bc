/* verify_report.c - what verify found: a line for each layer, lines for the whole network, and
 * errors for what differs. */
#include "cli/verify_report.h"

#include <math.h>
#include <stdlib.h>
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

/* Views have no code, and a line only where they differ. */
static void report_layer(struct cli *cli, struct verification *v, const struct value *value,
                         cJSON *list, struct summary *summary)
{
    struct arena *arena = &v->driver->ctx->perm;
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
    if (!is_call(value) && !differs)
        return;
    summary->n_layers += is_call(value);
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
    for (int i = 0; i < N_COLUMNS; i++)
        judge_column(v, summary, (enum column)i);
    if (v->driver->ctx->diags.n_errors == 0)
        judge_whole(v);
    verify_judge_bits(v);
    return v->driver->ctx->diags.n_errors == 0;
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

enum { MOST_SATURATED = 8 }; /* lines */

static double share(const struct saturation *s)
{
    return (double)s->n_beyond / (double)s->n;
}

/* More of it saturates; of equals, it comes first. */
static int compare_shares(const void *a, const void *b)
{
    const struct saturation *x = *(const struct saturation *const *)a;
    const struct saturation *y = *(const struct saturation *const *)b;

    return share(x) != share(y) ? (share(x) < share(y) ? 1 : -1) : strcmp(x->name, y->name);
}

static void add_saturated(struct cli *cli, cJSON *list, const struct saturation *s)
{
    cJSON *row = list ? cJSON_CreateObject() : NULL;

    if (!row)
        return;
    cJSON_AddStringToObject(row, "value", str_safe(&cli->ctx->perm, s->name, 4096));
    cJSON_AddNumberToObject(row, "elements", (double)s->n);
    cJSON_AddNumberToObject(row, "saturated", (double)s->n_beyond);
    cJSON_AddNumberToObject(row, "lost", (double)s->n_lost);
    cJSON_AddNumberToObject(row, "low", s->low);
    cJSON_AddNumberToObject(row, "high", s->high);
    cJSON_AddItemToArray(list, row);
}

/* Values of which nothing is left but zeros. */
static void say_lost(struct cli *cli, const struct verification *v)
{
    int n = 0;

    for (size_t i = 0; i < v->saturated.n; i++) {
        const struct saturation *s = v->saturated.entries[i].value;

        if (s->n_lost == 0 || s->n_lost + s->n_zero < s->n || n++ >= MOST_SATURATED)
            continue;
        if (n == 1)
            say(cli, "too small for their scales, so stored as 0 (accuracy, no difference):\n");
        say(cli, "  %-34s all %lld: %.4g to %.4g, the smallest is %.4g\n",
            str_safe(&cli->ctx->perm, s->name, 33), (long long)s->n, s->least, s->most,
            s->smallest);
    }
    if (n > MOST_SATURATED)
        say(cli, "  and %d more values\n", n - MOST_SATURATED);
}

static void say_saturated(struct cli *cli, const struct verification *v)
{
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "saturated") : NULL;
    const struct saturation **all =
        arena_array(&cli->ctx->perm, const struct saturation *, v->saturated.n + 1);
    int n = 0;

    for (size_t i = 0; i < v->saturated.n; i++) {
        const struct saturation *s = v->saturated.entries[i].value;

        if (s->n_beyond > 0)
            all[n++] = s;
        if (s->n_beyond + s->n_lost > 0)
            add_saturated(cli, list, s);
    }
    qsort(all, (size_t)n, sizeof *all, compare_shares);
    if (n > 0)
        say(cli,
            "beyond their scales, so stored as the ends of the range (accuracy, no difference):\n");
    for (int i = 0; i < n && i < MOST_SATURATED; i++)
        say(cli, "  %-34s %lld of %lld: %.4g to %.4g, range %.4g to %.4g\n",
            str_safe(&cli->ctx->perm, all[i]->name, 33), (long long)all[i]->n_beyond,
            (long long)all[i]->n, all[i]->least, all[i]->most, all[i]->low, all[i]->high);
    if (n > MOST_SATURATED)
        say(cli, "  and of %d more values\n", n - MOST_SATURATED);
    say_lost(cli, v);
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
    say_saturated(cli, v);
    say_what_ran(cli, v);
    if (cli->json)
        add_whole_json(cli, v);
    return judge(v, &summary);
}
