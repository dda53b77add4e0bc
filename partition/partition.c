/* partition.c - the partitioner's state, the table of its steps and their runner. */
#include "partition/partition.h"

#include <assert.h>
#include <string.h>

#include "base/str.h"
#include "partition/explain.h"

static const struct partition_pass passes[] = {
    { "merge_composite", "matches the targets' patterns", partition_merge_composite, false },
    { "annotate_target", "gives every node to a target or to c", partition_annotate_target, false },
    { "merge_regions", "joins neighbouring composites of one target", partition_merge_regions,
      false },
    { "cost", "enforces limits, and returns regions that do not pay to the host", partition_cost,
      false },
    { "partition", "makes each region a function of composites", partition_outline, true },
    { "optimise", "runs the targets' own rewrites of their regions", partition_optimise, true },
};

enum { N_PASSES = sizeof passes / sizeof *passes };

const struct partition_pass *partition_passes(int *n)
{
    *n = N_PASSES;
    return passes;
}

struct partition *partition_new(struct module *module, const struct partition_options *options)
{
    struct arena arena = { NULL };
    struct partition *partition = arena_new(&arena, struct partition);

    partition->module = module;
    partition->fn = module->main;
    partition->options = options;
    partition->host = options->targets->first;
    partition->arena = arena;
    return partition;
}

void partition_free(struct partition *partition)
{
    if (partition) {
        struct arena arena = partition->arena; /* the state itself lies in it */

        arena_release(&arena);
    }
}

void partition_decide(struct partition *partition, const struct target *target,
                      const struct node *node, const char *format, ...)
{
    struct decision *decision = arena_new(&partition->arena, struct decision);
    va_list args;

    va_start(args, format);
    decision->text = arena_vprintf(&partition->arena, format, args);
    va_end(args);
    decision->target = target;
    decision->node = node;
    if (partition->last_decision)
        partition->last_decision->next = decision;
    else
        partition->decisions = decision;
    partition->last_decision = decision;
}

/* --- the runner ------------------------------------------------------------------------------- */

struct step {
    struct partition *partition;
    const struct partition_pass *pass;
};

static bool run_step(struct module *module, void *user)
{
    const struct step *step = user;

    (void)module;
    if (step->pass->run == partition_outline && !step->partition->explanation)
        partition_explain(step->partition); /* afterwards the nodes that it is about are gone */
    return step->pass->run(step->partition);
}

static bool is_asked_for(const char *wanted, const char *name)
{
    return wanted && (strcmp(wanted, "all") == 0 || strcmp(wanted, name) == 0);
}

static bool run_pass(struct partition *partition, const struct partition_pass *pass,
                     const struct pipeline_options *options)
{
    struct pipeline_options chores = *options;
    struct step step = { partition, pass };
    bool ok;

    if (!pass->rewrites)
        chores.dump_after = NULL;
    ok = pipeline_run_step(partition->module, pass->name, PROMISE_BITS, run_step, &step, &chores);
    if (ok && !pass->rewrites && is_asked_for(options->dump_after, pass->name)) {
        struct str text = { .arena = &partition->module->ctx->scratch };

        partition_print(partition, &text);
        fprintf(options->log, "after %s:\n%s", pass->name, str_text(&text));
        arena_release(&partition->module->ctx->scratch);
    }
    return ok;
}

bool partition_run(struct partition *partition, const struct pipeline_options *options)
{
    bool ok = true, stop = false;

    assert(options->log || !(options->dump_after || options->time_passes));
    for (int i = 0; ok && !stop && i < N_PASSES; i++) {
        ok = run_pass(partition, &passes[i], options);
        stop = options->stop_after && strcmp(options->stop_after, passes[i].name) == 0;
    }
    return ok;
}

bool partition_run_one(struct partition *partition, const char *name)
{
    int i = 0;

    while (i < N_PASSES && strcmp(passes[i].name, name) != 0)
        i++;
    assert(i < N_PASSES);
    return run_pass(partition, &passes[i], &(struct pipeline_options){ .dump_after = NULL });
}
