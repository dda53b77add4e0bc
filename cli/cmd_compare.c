/* cmd_compare.c - relayc compare: the worst layers, and the results of the generated C. */
#include "base/str.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "codegen_c/machine/machine.h"
#include "driver/commands/compare.h"

enum { SHOWN = 10 }; /* layers on standard output */

static void show_layer(struct cli *cli, const struct compared_layer *layer, cJSON *list)
{
    const double *loss = layer->metrics.loss;
    cJSON *row = list ? cJSON_CreateObject() : NULL;

    say(cli, "%-44s %-16s %10.3g %10.3g%s\n", str_safe(&cli->ctx->perm, layer->name, 44),
        op_name(layer->op), loss[LOSS_COS], loss[LOSS_SNR], layer->is_result ? "  result" : "");
    if (!list)
        return;
    cJSON_AddItemToArray(list, row);
    cJSON_AddStringToObject(row, "name", str_safe(&cli->ctx->perm, layer->name, 4096));
    for (int k = 0; k < LOSS_COUNT; k++)
        cJSON_AddNumberToObject(row, loss_name((enum loss)k), loss[k]);
}

/* The layers of greatest cosine distance, and all results. */
static void show(struct cli *cli, const struct comparison *c)
{
    bool *shown = arena_array(&cli->ctx->perm, bool, c->n);
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "worst") : NULL;

    report_precision(cli);
    if (c->random)
        say(cli, "inputs were random; use --data or -i for meaningful results\n");
    say(cli, "%-44s %-16s %10s %10s\n", "the worst layers", "operator", "1 - cosine", "noise");
    for (int n = 0; n < SHOWN; n++) {
        int worst = -1;

        for (int i = 0; i < c->n; i++)
            if (!shown[i] && c->layers[i].op != OP_COUNT &&
                (worst < 0 ||
                 c->layers[i].metrics.loss[LOSS_COS] > c->layers[worst].metrics.loss[LOSS_COS]))
                worst = i;
        if (worst < 0)
            break;
        shown[worst] = true;
        show_layer(cli, &c->layers[worst], list);
    }
    for (int i = 0; i < c->n; i++)
        if (c->layers[i].is_result && !shown[i])
            show_layer(cli, &c->layers[i], list);
}

/* The whole network, as it ships. */
static void show_realised(struct cli *cli, const struct realised *r)
{
    cJSON *list = cli->json ? cJSON_AddArrayToObject(cli->json, "generated") : NULL;

    say(cli, "%-61s %10s %10s %8s\n",
        arena_printf(&cli->ctx->perm, "results of the generated C (%s); above: simulated on oneDNN",
                     cli->driver->machine->name),
        "1 - cosine", "noise", "argmax");
    for (int i = 0; i < r->n; i++) {
        const char *name = str_safe(&cli->ctx->perm, r->module->main->result_names[i], 60);
        double loss[LOSS_COUNT];
        cJSON *row = list ? cJSON_CreateObject() : NULL;

        loss_of_sums(&r->sums[i], loss);
        say(cli, "%-61s %10.3g %10.3g %4lld/%lld\n", name, loss[LOSS_COS], loss[LOSS_SNR],
            (long long)r->same[i], (long long)r->n_samples);
        if (!row)
            continue;
        cJSON_AddItemToArray(list, row);
        cJSON_AddStringToObject(row, "name", name);
        cJSON_AddNumberToObject(row, loss_name(LOSS_COS), loss[LOSS_COS]);
        cJSON_AddNumberToObject(row, loss_name(LOSS_SNR), loss[LOSS_SNR]);
        cJSON_AddNumberToObject(row, "same_argmax", (double)r->same[i]);
    }
}

bool command_compare(struct cli *cli)
{
    struct precision_cost cost;
    bool ok;

    if (show_machines_wanted(cli))
        return true;
    ok = driver_compare(cli->driver, &cost);
    if (ok) {
        say(cli, "wrote %s, %s\n", cost.log, cost.json);
        show(cli, &cost.comparison);
    }
    if (ok && cost.with_code)
        show_realised(cli, &cost.realised);
    driver_compare_free(&cost);
    return ok;
}
