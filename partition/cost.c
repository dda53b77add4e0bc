/* cost.c - keeps the limits of targets, and returns to the host what does not pay.
 *
 * needs    candidates, choices, regions
 * gives    the same; regions within the limits of their target, each estimated to be faster than
 *          the host, hand-over included; reasons for what was excluded
 * method   rounds. A composite beyond a limit alone is excluded; when there is none, regions beyond
 *          a limit are split (split.c) and what does not pay is excluded, all of a round at once.
 *          After a round that excluded something annotate_target and merge_regions run again:
 *          another target may take the nodes, and regions may fall apart or grow together. Each
 *          round excludes a candidate for good, and a match is never found twice, so rounds end;
 *          after MAX_ROUNDS nodes of excluded candidates just go to the host. */
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
        c->excluded = measure_beyond(measure, &partition->arena);
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
static const char *does_not_pay(struct partition *partition, const struct region_plan *region)
{
    const struct target_limits *limits = &region->target->limits;

    if (limits->min_macs != LIMIT_NONE && region->macs < limits->min_macs)
        return arena_printf(&partition->arena, "min_macs: %lld MACs, %lld wanted",
                            (long long)region->macs, (long long)limits->min_macs);
    if (region->target_ns + region->handover_ns < region->host_ns)
        return NULL;
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
        const char *why = does_not_pay(partition, region);

        if (!why)
            continue;
        partition_decide(partition, region->target, region->candidates[0]->match.root,
                         "region of %d node%s at %s returned: %s", region->n_nodes,
                         region->n_nodes == 1 ? "" : "s",
                         name_of(&partition->arena, region->candidates[0]), why);
        for (int j = 0; j < region->n; j++)
            region->candidates[j]->excluded = why;
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

bool partition_cost(struct partition *partition)
{
    struct arena *scratch = &partition->module->ctx->scratch;
    struct measure measure = measure_new(partition, scratch);
    bool changed = true;

    if (partition->options->no_cost)
        return true;
    for (int round = 0; changed; round++) {
        struct splits splits = { .n = 0 };

        changed = exclude_too_big(partition, &measure) > 0;
        if (!changed) {
            split_regions(partition, &measure, &splits);
            changed = exclude_unpaid(partition) > 0;
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
    return true;
}
