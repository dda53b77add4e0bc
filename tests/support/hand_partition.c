#include "tests/support/hand_partition.h"

#include <check.h>
#include <string.h>

enum { MOST = 64 }; /* targets, rows of one, regions, candidates of one, nodes of one */

static struct target *new_target(struct ctx *ctx, const char *name)
{
    struct target *target = arena_new(&ctx->perm, struct target);

    target->name = arena_strdup(&ctx->perm, name);
    target->description = "";
    target->rows = arena_array(&ctx->perm, struct composite_row, MOST);
    return target;
}

static struct partition *new_partition(struct module *module)
{
    struct arena *arena = &module->ctx->perm;
    struct partition *partition = arena_new(arena, struct partition);
    struct partition_options *options = arena_new(arena, struct partition_options);

    options->offload = arena_array(arena, const struct target *, MOST);
    partition->module = module;
    partition->fn = module->main;
    partition->options = options;
    partition->host = new_target(module->ctx, "c");
    partition->regions = arena_array(arena, struct region_plan, MOST);
    function_number(module->main);
    partition->n_nodes = module->main->n_nodes;
    partition->nodes = arena_array(arena, struct node *, partition->n_nodes);
    partition->choice = arena_array(arena, struct candidate *, partition->n_nodes);
    for (struct node *n = module->main->first; n; n = n->next)
        partition->nodes[n->id] = n;
    return partition;
}

struct target *hand_target(struct partition *partition, const char *name)
{
    struct partition_options *options = (struct partition_options *)(uintptr_t)partition->options;
    const struct target **offload = (const struct target **)(uintptr_t)options->offload;

    for (int i = 0; i < options->n_offload; i++)
        if (strcmp(options->offload[i]->name, name) == 0)
            return (struct target *)(uintptr_t)options->offload[i];
    ck_assert_int_lt(options->n_offload, MOST);
    offload[options->n_offload] = new_target(partition->module->ctx, name);
    return (struct target *)(uintptr_t)offload[options->n_offload++];
}

struct composite_row *hand_row(struct partition *partition, const char *target_name,
                               const char *name)
{
    struct target *target = hand_target(partition, target_name);
    struct arena *arena = &partition->module->ctx->perm;
    const char *full = arena_printf(arena, "%s.%s", target->name, name);

    for (int i = 0; i < target->n_rows; i++)
        if (strcmp(target->rows[i].name, full) == 0)
            return &target->rows[i];
    ck_assert_int_lt(target->n_rows, MOST);
    target->rows[target->n_rows].name = full;
    target->rows[target->n_rows].text = "";
    target->rows[target->n_rows].pattern = arena_new(arena, struct pattern);
    target->rows[target->n_rows].target = target;
    return &target->rows[target->n_rows++];
}

struct region_plan *hand_region(struct partition *partition, const char *target)
{
    struct region_plan *region = &partition->regions[partition->n_regions];

    ck_assert_int_lt(partition->n_regions, MOST);
    partition->n_regions++;
    region->target = hand_target(partition, target);
    region->candidates = arena_array(&partition->module->ctx->perm, struct candidate *, MOST);
    return region;
}

struct candidate *hand_match(struct partition *partition, const char *target, const char *row,
                             int n_nodes, struct node *const *nodes)
{
    struct arena *arena = &partition->module->ctx->perm;
    struct candidate *made = arena_new(arena, struct candidate);

    made->id = partition->n_candidates++;
    made->row = hand_row(partition, target, row);
    made->region = -1;
    made->match.n_nodes = n_nodes;
    made->match.nodes = arena_memdup(arena, nodes, (size_t)n_nodes * sizeof *nodes);
    made->match.root = nodes[n_nodes - 1];
    *(partition->last ? &partition->last->next : &partition->first) = made;
    partition->last = made;
    return made;
}

struct candidate *hand_candidate(struct partition *partition, int region, const char *row,
                                 int n_nodes, struct node *const *nodes)
{
    struct region_plan *plan = &partition->regions[region];
    struct candidate *made = hand_match(partition, plan->target->name, row, n_nodes, nodes);

    ck_assert_int_lt(plan->n, MOST);
    made->region = region;
    for (int i = 0; i < n_nodes; i++)
        partition->choice[nodes[i]->id] = made;
    plan->candidates[plan->n++] = made;
    plan->n_nodes += n_nodes;
    return made;
}

static struct node *find_node(struct partition *partition, const char *name)
{
    const struct value *value = map_get(&partition->fn->names, name);

    ck_assert_msg(value && value->def, "there is no node '%s'", name);
    return value->def;
}

static const char *word(struct arena *arena, const char **at)
{
    const char *begin = *at + strspn(*at, " ");

    *at = begin + strcspn(begin, " :()\n");
    return arena_strndup(arena, begin, (size_t)(*at - begin));
}

/* "conv2d_act(c r)" */
static void read_candidate(struct partition *partition, const char **at)
{
    struct arena *arena = &partition->module->ctx->perm;
    const char *row = word(arena, at);
    struct node *nodes[MOST];
    int n = 0;

    ck_assert_msg(**at == '(', "'(' wanted: %s", *at);
    for (++*at; **at != ')'; *at += strspn(*at, " ")) {
        ck_assert_msg(**at && **at != '\n' && n < MOST, "')' wanted: %s", *at);
        nodes[n++] = find_node(partition, word(arena, at));
    }
    ++*at;
    hand_candidate(partition, partition->n_regions - 1, row, n, nodes);
}

struct partition *hand_partition(struct module *module, const char *regions)
{
    struct partition *partition = new_partition(module);

    for (const char *at = regions; *at; at += *at == '\n') {
        hand_region(partition, word(&module->ctx->perm, &at));
        ck_assert_msg(*at == ':', "':' wanted: %s", at);
        for (at++; at += strspn(at, " "), *at && *at != '\n';)
            read_candidate(partition, &at);
    }
    return partition;
}
