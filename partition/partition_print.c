/* partition_print.c - the state as text: what could go where, what went where, and why. */
#include "partition/partition.h"

#include "base/str.h"

/* The candidates that a node is in, in order of id. */
struct membership {
    const struct candidate *candidate;
    struct membership *next;
};

static struct membership **collect(const struct partition *partition, struct arena *arena)
{
    struct membership **first = arena_array(arena, struct membership *, partition->n_nodes);
    struct membership **last = arena_array(arena, struct membership *, partition->n_nodes);

    for (const struct candidate *c = partition->first; c; c = c->next)
        for (int i = 0; i < c->match.n_nodes; i++) {
            const int id = c->match.nodes[i]->id;
            struct membership *made = arena_new(arena, struct membership);

            made->candidate = c;
            if (last[id])
                last[id]->next = made;
            else
                first[id] = made;
            last[id] = made;
        }
    return first;
}

static void print_node(const struct partition *partition, const struct node *node,
                       const struct membership *in, struct str *out)
{
    const struct candidate *choice = partition->choice[node->id];

    for (int i = 0; i < node->n_outputs; i++)
        str_printf(out, "%s%%%s", i ? ", " : "",
                   str_safe(out->arena, node->outputs[i]->name, SIZE_MAX));
    str_printf(out, " = %s%s", op_name(node->op), in ? " " : "");
    for (; in; in = in->next)
        str_printf(out, in->candidate->excluded ? " (%s#%d)" : " %s#%d", in->candidate->row->name,
                   in->candidate->id);
    if (choice)
        str_printf(out, "  -> %s#%d", choice->row->name, choice->id);
    else
        str_printf(out, "  -> %s", partition->host->name);
    if (choice && choice->region >= 0)
        str_printf(out, " in region %d", choice->region);
    str_add(out, "\n");
}

static void print_region(int index, const struct region_plan *region, struct str *out)
{
    str_printf(out,
               "region %d: %s, %d node%s, %lld MACs, %lld bytes in, %lld out, %lld of weights, "
               "%lld on chip\n",
               index, region->target->name, region->n_nodes, region->n_nodes == 1 ? "" : "s",
               (long long)region->macs, (long long)region->input_bytes,
               (long long)region->output_bytes, (long long)region->weight_bytes,
               (long long)region->onchip_bytes);
}

void partition_print(const struct partition *partition, struct str *out)
{
    struct membership **in = collect(partition, out->arena);

    for (int i = 0; i < partition->n_nodes; i++)
        print_node(partition, partition->nodes[i], in[i], out);
    for (int i = 0; i < partition->n_regions; i++)
        print_region(i, &partition->regions[i], out);
    for (const struct decision *d = partition->decisions; d; d = d->next)
        str_printf(out, "%s: %s\n", d->target->name, d->text);
}
