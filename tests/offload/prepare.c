/* prepare.c - see offload_prepare: a model through the partitioner, and what it should compute. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "quantize/quantize.h"
#include "relay_ir/interpret.h"
#include "relay_ir/text.h"
#include "relay_ir/verify.h"
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

static struct oracle *find_oracle(struct offload *offload, struct oracle **oracles)
{
    struct network *network = &offload->network;
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
static void add_sets(struct offload *offload, const struct oracle *oracle)
{
    struct network *network = &offload->network;
    const int n = network->n_sets, first = strcmp(offload->precision, "f32") == 0 ? n : 0;

    for (int i = 0; i < n && first + i < MAX_SETS; i++) {
        struct io_set *set = &network->sets[first + i];

        set->inputs = network->sets[i].inputs;
        set->outputs = oracle->outputs[i];
        set->folder = "";
        network->n_sets = first + i + 1;
    }
}

static bool add_share(struct offload *offload, const char *name)
{
    const struct target *target = targets_find(&offload->targets, name);

    if (!target || offload->n_shares > MAX_TARGETS)
        return diag_error(offload->network.ctx, DIAG_TARGET_UNKNOWN, NULL, "there is no target %s",
                          name);
    offload->shares[offload->n_shares++].target = target;
    return true;
}

static bool load_targets(struct offload *offload)
{
    struct ctx *ctx = offload->network.ctx;
    bool ok =
        targets_load(ctx, offload->target_dir ? 1 : 0, &offload->target_dir, &offload->targets) &&
        add_share(offload, "c");

    for (const char *at = offload->list; *at && ok;) {
        const size_t n = strcspn(at, ",");

        const char *name = arena_strndup(&ctx->perm, at, n);

        ok = strcmp(name, "c") == 0 || add_share(offload, name);
        at += n + (at[n] == ',');
    }
    return ok;
}

static void count_shares(struct offload *offload, const struct partition *partition)
{
    for (int i = 0; i < partition->n_nodes; i++)
        offload->shares[0].n_nodes += !partition->choice[i];
    for (int i = 0; i < partition->n_regions; i++)
        for (int k = 0; k < offload->n_shares; k++)
            if (offload->shares[k].target == partition->regions[i].target) {
                offload->shares[k].n_regions++;
                offload->shares[k].n_nodes += partition->regions[i].n_nodes;
            }
}

/* To the precision, without data: scales are 1, biases as they are. */
static bool quantize_network(struct offload *offload)
{
    struct network *network = &offload->network;
    const struct pipeline_options pipeline = { .log = stderr };
    struct quantize_options options = { .n_threads = 1 };
    struct quantize_report report;

    return precision_parse(network->ctx, "--precision", offload->precision, &options.precision) &&
           (!quantize_wanted(&options) ||
            quantize_module(network->module, &options, &pipeline, &report));
}

static bool partition_network(struct offload *offload)
{
    struct module *module = offload->network.module;
    const struct target *list[MAX_TARGETS];
    const struct partition_options options = { .targets = &offload->targets,
                                               .n_offload = offload->n_shares - 1,
                                               .offload = list,
                                               .assign = offload->everything ? ASSIGN_PRIORITY
                                                                             : ASSIGN_COST,
                                               .no_cost = offload->everything };
    struct partition *partition;
    int n;
    const struct partition_pass *passes = partition_passes(&n);
    bool ok = true;

    for (int i = 1; i < offload->n_shares; i++)
        list[i - 1] = offload->shares[i].target;
    partition = partition_new(module, &options);
    for (int i = 0; i < n && ok; i++) {
        if (strcmp(passes[i].name, "partition") == 0)
            count_shares(offload, partition);
        ok = partition_run_one(partition, passes[i].name) && module_verify(module, passes[i].name);
    }
    partition_free(partition);
    return ok;
}

/* What is wanted of the network, and how far that is from f32. */
static bool want(struct offload *offload, const struct oracle *plain, struct oracle **oracles)
{
    const struct oracle *oracle = find_oracle(offload, oracles);

    if (!oracle)
        return false;
    offload->noise = distance(&offload->network, plain, oracle);
    add_sets(offload, oracle);
    return true;
}

bool offload_prepare(struct offload *offload, const char *dir, struct oracle **oracles)
{
    struct network *network = &offload->network;
    struct pipeline_options options = { .part = PIPELINE_PREPARE, .log = stderr };

    const struct oracle *plain;

    if (!network_load(network, dir) || !load_targets(offload) ||
        !pipeline_run(network->module, &options) || !(plain = find_oracle(offload, oracles)) ||
        !quantize_network(offload) || !want(offload, plain, oracles) || !partition_network(offload))
        return false;
    options.part = PIPELINE_FUSE;
    if (!pipeline_run(network->module, &options) || !module_verify(network->module, "fuse_ops"))
        return false;
    for (const struct node *node = network->module->main->first; node; node = node->next)
        offload->shares[0].n_regions +=
            node->op == OP_CALL && strcmp(node->callee->compiler, "c") == 0;
    return true;
}

void offload_free(struct offload *offload)
{
    network_free(&offload->network);
}
