/* in_place_only.c - see in_place_only.h. */
#include "codegen_c/plan/in_place_only.h"

struct buffers {
    const struct plan *plan;
    int *uses;       /* by the id of a root: operands and results that are it, or a view of it */
    bool *is_result; /* of main, likewise */
    int *block;      /* likewise; -1 = not in the arena */
    struct block *blocks;
    int n, time; /* the calls before the one that is looked at */
};

static void count_uses(struct buffers *buffers, const struct node *node)
{
    for (int i = 0; i < node->n_inputs; i++)
        buffers->uses[buffers->plan->root[node->inputs[i]->id]->id]++;
}

static void add_buffer(struct buffers *buffers, const struct value *value, size_t bytes)
{
    if (value)
        buffers->block[value->id] = buffers->n;
    buffers->blocks[buffers->n++] = (struct block){
        .value = value, .bytes = bytes, .first = buffers->time, .last = buffers->time
    };
}

/* The buffer that the result goes over, -1 if there is none. */
static int find_over(const struct buffers *buffers, const struct region *region)
{
    const struct node *call = region->call;
    int over = -1;

    if (region->external || region->anchor || call->n_outputs != 1) /* not only element-wise */
        return -1;
    for (int i = 0; i < call->n_inputs; i++) {
        const struct value *root = buffers->plan->root[call->inputs[i]->id];
        const int block = buffers->block[root->id];

        if (block >= 0 && buffers->uses[root->id] == 1 &&
            (over < 0 || buffers->blocks[block].bytes > buffers->blocks[over].bytes))
            over = block;
    }
    return over;
}

/* The region is NULL where the plan has none: of a concatenation. */
static void add_result(struct buffers *buffers, const struct region *region, const struct value *y)
{
    const size_t bytes = type_bytes(&y->type);
    const int over = region ? find_over(buffers, region) : -1;

    if (buffers->is_result[y->id] && !buffers->plan->io_inside)
        return;
    if (over >= 0 && bytes <= buffers->blocks[over].bytes)
        buffers->block[y->id] = over;
    else
        add_buffer(buffers, y, bytes);
}

static void read_all(struct buffers *buffers, const struct node *node)
{
    for (int i = 0; i < node->n_inputs; i++) {
        const int block = buffers->block[buffers->plan->root[node->inputs[i]->id]->id];

        if (block >= 0)
            buffers->blocks[block].last = buffers->time;
    }
}

static void add_calls(struct buffers *buffers, const struct region *regions)
{
    const struct plan *plan = buffers->plan;
    int r = 0;

    for (const struct node *node = plan->main->first; node; node = node->next) {
        const struct region *region =
            r < plan->n_regions && regions[r].call == node ? &regions[r++] : NULL;

        if (node->op != OP_CALL)
            continue;
        read_all(buffers, node);
        for (int i = 0; i < node->n_outputs; i++)
            add_result(buffers, region, node->outputs[i]);
        for (int i = 0; i < node->n_outputs; i++)
            if (buffers->block[node->outputs[i]->id] >= 0)
                buffers->blocks[buffers->block[node->outputs[i]->id]].last = buffers->time;
        if (region && region->config.scratch_bytes)
            add_buffer(buffers, NULL,
                       region->config.scratch_naive ? region->config.scratch_naive
                                                    : region->config.scratch_bytes);
        buffers->time++;
    }
    read_all(buffers, plan->main->ret);
}

struct in_place_only plan_in_place_only(const struct plan *plan, struct arena *arena,
                                        const struct region *regions)
{
    const struct function *main = plan->main;
    const int n = main->n_values;
    struct buffers buffers = { .plan = plan,
                               .uses = arena_array(arena, int, n),
                               .is_result = arena_array(arena, bool, n),
                               .block = arena_array(arena, int, n),
                               .blocks = arena_array(arena, struct block, n + plan->n_regions) };
    struct in_place_only needed = { 0 };

    for (int i = 0; i < n; i++)
        buffers.block[i] = -1;
    for (const struct node *node = main->first; node; node = node->next)
        if (node->op == OP_CALL)
            count_uses(&buffers, node);
    count_uses(&buffers, main->ret);
    for (int i = 0; i < main->ret->n_inputs; i++)
        buffers.is_result[plan->root[main->ret->inputs[i]->id]->id] = true;
    for (int i = 0; i < main->n_params && plan->io_inside; i++)
        add_buffer(&buffers, main->params[i], type_bytes(&main->params[i]->type));
    add_calls(&buffers, regions);
    for (int i = 0; i < buffers.n; i++)
        needed.bytes += plan_round(buffers.blocks[i].bytes);
    needed.alive = pack_lower_bound(arena, buffers.blocks, buffers.n);
    return needed;
}
