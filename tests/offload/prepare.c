/* prepare.c - see trial_prepare: a model through the driver, and what it should compute. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/interpret.h"
#include "relay_ir/text.h"
#include "tests/offload/offload.h"
#include "tests/support/executions.h"

struct oracle {
    struct arena arena;
    struct bulk bulk;
    const char *graph; /* printed, constants with their checksums */
    struct tensor *outputs[MAX_SETS];
    struct oracle *next;
};

void oracles_free(struct oracle *oracles)
{
    for (struct oracle *next; oracles; oracles = next) {
        next = oracles->next;
        bulk_release(&oracles->bulk);
        arena_release(&oracles->arena);
        free(oracles);
    }
}

static struct oracle *oracle_new(const struct network *network, const char *graph)
{
    struct oracle *oracle = calloc(1, sizeof *oracle);
    struct function *fn = network->module->main;

    if (!oracle)
        abort();
    oracle->graph = arena_strdup(&oracle->arena, graph);
    for (int i = 0; i < network->n_sets; i++) {
        oracle->outputs[i] = arena_array(&oracle->arena, struct tensor, fn->ret->n_inputs);
        if (!interpret(network->ctx, fn, network->sets[i].inputs, oracle->outputs[i], &oracle->bulk,
                       NULL)) {
            oracles_free(oracle);
            return NULL;
        }
    }
    return oracle;
}

static struct oracle *find_oracle(struct trial *trial, struct oracle **oracles)
{
    struct network *network = &trial->network;
    struct str graph = { .arena = &network->ctx->perm };
    struct oracle *oracle = *oracles;

    module_print(network->module, &graph);
    while (oracle && strcmp(oracle->graph, str_text(&graph)) != 0)
        oracle = oracle->next;
    if (oracle)
        return oracle;
    oracle = oracle_new(network, str_text(&graph));
    if (!oracle)
        return NULL;
    oracle->next = *oracles;
    *oracles = oracle;
    return oracle;
}

/* How far two precisions of the network are apart. */
static double distance(const struct network *network, const struct oracle *a,
                       const struct oracle *b)
{
    double greatest = 0;

    for (int i = 0; i < network->n_sets; i++)
        for (int k = 0; k < network->module->main->ret->n_inputs; k++)
            greatest = fmax(greatest, difference(&a->outputs[i][k], &b->outputs[i][k]));
    return greatest;
}

/* The network's sets, once more with what the reference evaluator wants; with that only where the
 * model's own outputs are of another precision. */
static void add_sets(struct trial *trial, const struct oracle *oracle)
{
    struct network *network = &trial->network;
    const int n = network->n_sets, first = strcmp(trial->precision, "f32") == 0 ? n : 0;

    for (int i = 0; i < n && first + i < MAX_SETS; i++) {
        struct io_set *set = &network->sets[first + i];

        set->inputs = network->sets[i].inputs;
        set->outputs = oracle->outputs[i];
        set->folder = "";
        network->n_sets = first + i + 1;
    }
}

/* c first, then the targets in their order. */
static bool begin(struct trial *trial)
{
    struct driver_state *driver = &trial->driver;
    const struct partition_options *options = &driver->offload.options;

    *driver = driver_begin(trial->network.ctx, COMMAND_COMPILE);
    driver_give(driver, OPTION_NAME, "net");
    driver_give(driver, OPTION_OFFLOAD, trial->list);
    driver_give(driver, OPTION_CHECK_PASSES, "");
    if (trial->target_dir)
        driver_give(driver, OPTION_TARGET_DIR, trial->target_dir);
    if (trial->everything) {
        driver_give(driver, OPTION_ASSIGN, "priority");
        driver_give(driver, OPTION_NO_COST, "");
    }
    if (strcmp(trial->precision, "f32") != 0) {
        driver_give(driver, OPTION_PRECISION, trial->precision);
        driver_give(driver, OPTION_NO_DATA_FREE, "");
    }
    driver_take(driver, trial->network.module);
    if (!driver_prepare(driver))
        return false;
    trial->shares[trial->n_shares++].target = driver->offload.targets.first;
    for (int i = 0; i < options->n_offload && trial->n_shares <= MAX_TARGETS; i++)
        trial->shares[trial->n_shares++].target = options->offload[i];
    return true;
}

static void count_shares(struct trial *trial, const struct partition *partition)
{
    for (int i = 0; i < partition->n_nodes; i++)
        trial->shares[0].n_nodes += !partition->choice[i];
    for (int i = 0; i < partition->n_regions; i++)
        for (int k = 0; k < trial->n_shares; k++)
            if (trial->shares[k].target == partition->regions[i].target) {
                trial->shares[k].n_regions++;
                trial->shares[k].n_nodes += partition->regions[i].n_nodes;
            }
}

/* What is wanted of the network, and how far that is from f32. */
static bool want(struct trial *trial, const struct oracle *plain, struct oracle **oracles)
{
    const struct oracle *oracle = find_oracle(trial, oracles);

    if (!oracle)
        return false;
    trial->noise = distance(&trial->network, plain, oracle);
    add_sets(trial, oracle);
    return true;
}

bool trial_prepare(struct trial *trial, const char *dir, struct oracle **oracles)
{
    struct network *network = &trial->network;
    struct driver_state *driver = &trial->driver;
    const struct oracle *plain;

    if (!network_load(network, dir) || !begin(trial) || !driver_run(driver, STAGE_SIMPLIFY) ||
        !(plain = find_oracle(trial, oracles)) || !driver_run(driver, STAGE_QUANTIZE) ||
        !want(trial, plain, oracles) || !driver_run(driver, STAGE_PARTITION))
        return false;
    count_shares(trial, driver->offload.partition);
    if (!driver_run(driver, STAGE_FUSE))
        return false;
    for (const struct node *node = network->module->main->first; node; node = node->next)
        trial->shares[0].n_regions +=
            node->op == OP_CALL && strcmp(node->callee->compiler, "c") == 0;
    return true;
}

void trial_free(struct trial *trial)
{
    driver_free(&trial->driver);
    network_free(&trial->network);
}
