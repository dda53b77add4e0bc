/* merge_composite.c - finds what the targets could take.
 *
 * needs    a simplified graph; composites are looked for among all nodes of main
 * gives    candidates of all targets: those of one target share no node, those of different targets
 *          may; the attempts that failed
 * method   see candidates.c */
#include "partition/candidates.h"

#include <string.h>

/* Ids of nodes are the key of all tables. */
static void number_nodes(struct partition *partition)
{
    struct function *fn = partition->fn;
    int n = 0;

    function_number(fn);
    partition->n_nodes = fn->n_nodes;
    partition->nodes = arena_array(&partition->arena, struct node *, fn->n_nodes);
    for (struct node *node = fn->first; node; node = node->next)
        partition->nodes[n++] = node;
    partition->choice = arena_array(&partition->arena, struct candidate *, fn->n_nodes + 1);
    partition->at_root = arena_array(&partition->arena, struct candidate *, fn->n_nodes + 1);
}

bool partition_merge_composite(struct partition *partition)
{
    struct arena *scratch = &partition->module->ctx->scratch;
    const struct partition_options *options = partition->options;
    struct node **roots;
    bool *blocked;

    partition->texts.arena = &partition->arena;
    number_nodes(partition);
    roots = arena_array(scratch, struct node *, partition->n_nodes);
    blocked = arena_array(scratch, bool, partition->n_nodes + 1);
    for (int i = 0; i < partition->n_nodes; i++)
        roots[i] = partition->nodes[partition->n_nodes - 1 - i];
    for (int i = 0; i < options->n_offload; i++) {
        memset(blocked, 0, (size_t)partition->n_nodes);
        candidates_find(&(struct candidate_search){ .partition = partition,
                                                    .target = options->offload[i],
                                                    .blocked = blocked,
                                                    .n_roots = partition->n_nodes,
                                                    .roots = roots,
                                                    .record = true });
    }
    return true;
}
