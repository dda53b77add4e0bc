/* cost.c - keeps the limits of targets, and returns to the host what does not pay.
 *
 * needs    candidates, choices, regions
 * gives    the same; regions within the limits of their target, each (but not with no_cost)
 *          estimated to be faster than the host, hand-over included; reasons for what was excluded
 * method   rounds. A composite beyond a limit alone is excluded; when there is none, regions beyond
 *          a limit are split (split.c) and what does not pay is excluded, all of a round at once.
 *          After a round that excluded something annotate_target and merge_regions run again:
 *          another target may take the nodes, and regions may fall apart or grow together. Each
 *          round excludes a candidate for good, and a match is never found twice, so rounds end;
 *          after MAX_ROUNDS nodes of excluded candidates just go to the host. Where targets compete
 *          by cost, that is done once per target that may choose first, and the best one stands. */
#include "partition/partition.h"

#include "base/str.h"
#include "partition/measure.h"
#include "partition/split.h"

enum { MAX_ROUNDS = 24 };

/* The name of a candidate's result, for decisions. */
static const char *name_of(struct arena *arena, const struct candidate *candidate)
{
    return str_safe(arena, candidate->match.root->outputs[0]->name, 60);
}

static int exclude_too_big(struct partition *partition, struct measure *measure)
{
    int n = 0;

    for (struct candidate *c = partition->first; c; c = c->next) {
        const struct target *target = c->row->target;

        if (c->region < 0)
            continue;
        measure_begin(measure, target);
        measure_add(measure, c);
        c->excluded = measure_beyond(measure, &partition->arena, &c->excluded_by);
        if (!c->excluded)
            continue;
        c->too_big = true;
        partition_decide(partition, target, c->match.root, "%s#%d at %s excluded: %s", c->row->name,
                         c->id, name_of(&partition->arena, c), c->excluded);
        n++;
    }
    return n;
}

/* Why a region goes back to the host, NULL = it pays. */
static const char *does_not_pay(struct partition *partition, const struct region_plan *region,
                                const char **reason)
{
    const struct target_limits *limits = &region->target->limits;

    *reason = "min_macs";
    if (limits->min_macs != LIMIT_NONE && region->macs < limits->min_macs)
        return arena_printf(&partition->arena, "min_macs: %lld MACs, %lld wanted",
                            (long long)region->macs, (long long)limits->min_macs);
    if (region->target_ns + region->handover_ns < region->host_ns)
        return NULL;
    *reason = "hand-over";
    return arena_printf(&partition->arena,
                        "hand-over: %.0f ns for the work and %.0f ns for launch and %lld bytes, "
                        "%s needs %.0f ns",
                        region->target_ns, region->handover_ns,
                        (long long)(region->input_bytes + region->output_bytes),
                        partition->host->name, region->host_ns);
}

static int exclude_unpaid(struct partition *partition)
{
    int n = 0;

    for (int i = 0; i < partition->n_regions; i++) {
        const struct region_plan *region = &partition->regions[i];
        const char *reason, *why = does_not_pay(partition, region, &reason);

        if (!why)
            continue;
        partition_decide(partition, region->target, region->candidates[0]->match.root,
                         "region of %d node%s at %s returned: %s", region->n_nodes,
                         region->n_nodes == 1 ? "" : "s",
                         name_of(&partition->arena, region->candidates[0]), why);
        for (int j = 0; j < region->n; j++) {
            region->candidates[j]->excluded = why;
            region->candidates[j]->excluded_by = reason;
        }
        n += region->n;
    }
    return n;
}

/* Without annotate_target: nothing new is chosen, so the rounds that are left only take away. */
static void drop_excluded(struct partition *partition)
{
    for (int id = 0; id < partition->n_nodes; id++) {
        struct candidate *choice = partition->choice[id];

        if (choice && choice->excluded) {
            choice->region = -1;
            partition->choice[id] = NULL;
        }
    }
}

static void tell_splits(struct partition *partition, const struct splits *splits)
{
    for (int i = 0; i < splits->n; i++) {
        const struct split *split = &splits->at[i];
        struct str cuts = { .arena = &partition->arena };

        for (int j = 0; j + 1 < split->n; j++)
            str_printf(&cuts, "%s%s", j ? ", " : "",
                       name_of(&partition->arena, split->last_before[j]));
        partition_decide(partition, split->target, split->first->match.root,
                         "region of %d nodes split into %d after %s: %s", split->n_nodes, split->n,
                         str_text(&cuts), split->why);
    }
}

/* The rounds. */
static void settle(struct partition *partition, struct measure *measure)
{
    bool changed = true;

    for (int round = 0; changed; round++) {
        struct splits splits = { .n = 0 };

        changed = exclude_too_big(partition, measure) > 0;
        if (!changed) {
            split_regions(partition, measure, &splits);
            changed = !partition->options->no_cost && exclude_unpaid(partition) > 0;
        }
        if (!changed)
            tell_splits(partition, &splits);
        else if (round < MAX_ROUNDS)
            partition_annotate_target(partition);
        else
            drop_excluded(partition);
        if (changed)
            partition_merge_regions(partition);
    }
}

/* --- trials ----------------------------------------------------------------------------------- */

/* A finished assignment. */
struct trial {
    const struct target *favourite;
    double ns; /* of the network */
    struct candidate **choice;
    int n_candidates;
    struct candidate *states; /* copies, for what is said about them */
    struct region_plan *regions;
    int n_regions;
    struct decision *decisions, *last_decision; /* those of this step */
};

/* Takes back what a trial has decided; `before` is the last decision of the steps before. */
static void forget(struct partition *partition, struct decision *before)
{
    for (struct candidate *c = partition->first; c; c = c->next) {
        c->excluded = c->excluded_by = c->passed_over = NULL;
        c->too_big = false;
        c->region = -1;
    }
    partition->last_decision = before;
    if (before)
        before->next = NULL;
    else
        partition->decisions = NULL;
}

static struct trial remember(const struct partition *partition, struct arena *scratch,
                             const struct decision *before)
{
    struct trial trial = { .favourite = partition->favourite,
                           .ns = measure_chosen_ns(partition),
                           .n_candidates = partition->n_candidates,
                           .regions = partition->regions,
                           .n_regions = partition->n_regions,
                           .decisions = before ? before->next : partition->decisions,
                           .last_decision = partition->last_decision };
    int n = 0;

    trial.choice = arena_memdup(scratch, partition->choice,
                                (size_t)partition->n_nodes * sizeof(struct candidate *));
    trial.states = arena_array(scratch, struct candidate, partition->n_candidates);
    for (const struct candidate *c = partition->first; c; c = c->next)
        trial.states[n++] = *c;
    return trial;
}

static void restore(struct partition *partition, const struct trial *trial, struct decision *before)
{
    int n = 0;

    forget(partition, before);
    for (struct candidate *c = partition->first; c; c = c->next) {
        if (n == trial->n_candidates) { /* this one and those behind it came later */
            c->passed_over = "was part of an assignment that saves less";
            continue;
        }
        c->excluded = trial->states[n].excluded;
        c->excluded_by = trial->states[n].excluded_by;
        c->too_big = trial->states[n].too_big;
        c->passed_over = trial->states[n].passed_over;
        c->region = trial->states[n++].region;
    }
    for (int i = 0; i < partition->n_nodes; i++)
        partition->choice[i] = trial->choice[i];
    partition->regions = trial->regions;
    partition->n_regions = trial->n_regions;
    partition->favourite = trial->favourite;
    if (trial->decisions) {
        *(before ? &before->next : &partition->decisions) = trial->decisions;
        partition->last_decision = trial->last_decision;
    }
}

/* When every composite goes where it is cheapest, regions may be too small to pay for their
 * hand-over, and all is returned. So each target in turn chooses first, and the assignment with the
 * least estimate in all stands; the cheapest composites among equals. */
static void try_favourites(struct partition *partition, struct measure *measure)
{
    const struct partition_options *options = partition->options;
    struct arena *scratch = &partition->module->ctx->scratch;
    struct decision *const before = partition->last_decision;
    const double host_only = measure_host_only_ns(partition);
    struct trial best;
    double cheapest;

    settle(partition, measure);
    best = remember(partition, scratch, before);
    cheapest = best.ns;
    for (int i = 0; i < options->n_offload; i++) {
        struct trial trial;

        forget(partition, before);
        partition->favourite = options->offload[i];
        partition_annotate_target(partition);
        partition_merge_regions(partition);
        settle(partition, measure);
        trial = remember(partition, scratch, before);
        if (trial.ns < best.ns)
            best = trial;
    }
    restore(partition, &best, before);
    if (best.favourite)
        partition_decide(partition, best.favourite, partition->nodes[0],
                         "chooses first: %.0f ns saved in all, %.0f ns when each composite goes "
                         "where it is cheapest",
                         host_only - best.ns, host_only - cheapest);
}

bool partition_cost(struct partition *partition)
{
    const struct partition_options *options = partition->options;
    struct measure measure = measure_new(partition, &partition->module->ctx->scratch);

    if (options->assign == ASSIGN_COST && options->n_offload > 1 && !options->no_cost)
        try_favourites(partition, &measure);
    else
        settle(partition, &measure);
    return true;
}
