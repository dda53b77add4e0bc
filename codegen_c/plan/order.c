/* order.c - the order of the regions in which least memory is alive at once.
 *
 * needs    a plan with aliases, regions with their scratch
 * gives    main in a better order, or as it was; plan->order_bound
 * method   schedule.h; what is in the arena is a buffer, a region a task. The plan itself is not
 *          changed: which results go over what follows from the order, and with it the text of the
 *          regions, so that the caller begins again */
#include "codegen_c/plan/plan.h"
#include "codegen_c/plan/schedule.h"

struct lists {
    int *at, n;
};

static bool in_arena(const struct plan *plan, const struct value *root)
{
    return plan->first[root->id] >= 0 && plan->block[root->id] >= 0;
}

/* Values that a call reads, by their roots, each once; NULL: not the first place where it is read.
 */
static const struct value *read_first_at(const struct plan *plan, const struct node *call, int i)
{
    const struct value *root = plan->root[call->inputs[i]->id];

    for (int k = 0; k < i; k++)
        if (plan->root[call->inputs[k]->id] == root)
            return NULL;
    return root;
}

static void find_tasks(const struct plan *plan, struct arena *arena, const struct region *regions,
                       const int *buffer, struct schedule_task *tasks)
{
    for (int r = 0; r < plan->n_regions; r++) {
        const struct node *call = regions[r].call;
        int *after = arena_array(arena, int, call->n_inputs);
        int *over = arena_array(arena, int, call->n_inputs);

        tasks[r] = (struct schedule_task){ .after = after, .over = over };
        if (regions[r].scratch_bytes > 0)
            tasks[r].scratch = plan_round(regions[r].scratch_bytes);
        for (int i = 0; i < call->n_inputs; i++) {
            const struct value *root = read_first_at(plan, call, i);

            if (root && plan->first[root->id] >= 0)
                after[tasks[r].n_after++] = plan->first[root->id];
            if (root && plan_may_go_over(plan, &regions[r], i))
                over[tasks[r].n_over++] = buffer[root->id];
        }
    }
}

static int find_buffers(const struct plan *plan, struct arena *arena, const struct region *regions,
                        int *buffer, struct schedule_buffer *buffers)
{
    struct lists *readers;
    int n = 0;

    for (int r = 0; r < plan->n_regions; r++)
        for (int i = 0; i < regions[r].call->n_outputs; i++) {
            const struct value *value = regions[r].call->outputs[i];
            int *writer = arena_new(arena, int);

            if (!in_arena(plan, value))
                continue;
            *writer = r;
            buffer[value->id] = n;
            buffers[n++] = (struct schedule_buffer){ .bytes = plan_round(type_bytes(&value->type)),
                                                     .writers = writer,
                                                     .n_writers = 1 };
        }
    readers = arena_array(arena, struct lists, n);
    for (int pass = 0; pass < 2; pass++) { /* counts, then lists */
        for (int r = 0; r < plan->n_regions; r++)
            for (int i = 0; i < regions[r].call->n_inputs; i++) {
                const struct value *root = read_first_at(plan, regions[r].call, i);

                if (!root || !in_arena(plan, root))
                    continue;
                if (pass == 1)
                    readers[buffer[root->id]].at[readers[buffer[root->id]].n] = r;
                readers[buffer[root->id]].n++;
            }
        for (int i = 0; i < n; i++) {
            buffers[i].n_readers = readers[i].n;
            if (pass == 0)
                readers[i] = (struct lists){ arena_array(arena, int, readers[i].n), 0 };
            buffers[i].readers = readers[i].at;
        }
    }
    return n;
}

static bool is_view(const struct node *node)
{
    return op_row(node->op)->pattern == PATTERN_VIEW;
}

/* Calls in this order; each view right after what it is a view of. */
static void reorder_main(struct function *main, const struct region *regions, const int *order,
                         int n_regions)
{
    struct node *next;

    for (int i = 0; i < n_regions; i++)
        node_move_before(regions[order[i]].call, NULL);
    /* Now the views are in front, in an order in which each comes after what it is a view of. */
    for (struct node *view = main->first; view && is_view(view); view = next) {
        struct node *const of = view->inputs[0]->def;

        next = view->next;
        if (of && of->next != view)
            node_move_before(view, of->next);
    }
}

bool plan_order(struct plan *plan, struct arena *arena, struct function *main,
                const struct region *regions)
{
    int n_values = 0;
    struct schedule_problem problem = { .n_tasks = plan->n_regions };
    struct schedule_task *tasks = arena_array(arena, struct schedule_task, plan->n_regions);
    struct schedule_buffer *buffers;
    int *buffer = arena_array(arena, int, plan->main->n_values);
    struct schedule schedule;

    for (int r = 0; r < plan->n_regions; r++)
        n_values += regions[r].call->n_outputs;
    buffers = arena_array(arena, struct schedule_buffer, n_values);
    problem.n_buffers = find_buffers(plan, arena, regions, buffer, buffers);
    find_tasks(plan, arena, regions, buffer, tasks);
    problem.tasks = tasks;
    problem.buffers = buffers;
    schedule = schedule_tasks(arena, &problem, SCHEDULE_WORK);
    plan->order_peak = schedule.given_peak;
    plan->order_bound = schedule.lower_bound;
    if (!main || schedule.peak == schedule.given_peak)
        return false;
    reorder_main(main, regions, schedule.order, plan->n_regions);
    return true;
}
