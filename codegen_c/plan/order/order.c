/* order.c - the order of the regions in which least memory is alive at once.
 *
 * needs    a plan with aliases, regions with their scratch
 * gives    main in a better order, or as it was; plan->order_bound
 * method   schedule.h; what is in the arena is a buffer, a region a task. The plan itself is not
 *          changed: which results go over what follows from the order, and with it the text of the
 *          regions, so that the caller begins again */
#include "codegen_c/core/plan.h"
#include "codegen_c/plan/order/schedule.h"

struct lists {
    int *at, n; /* regions; at NULL = only counted */
    int seen;   /* the last one, and one more */
};

static bool in_arena(const struct plan *plan, const struct value *whole)
{
    return plan->first[whole->id] >= 0 && plan->block[whole->id] >= 0;
}

/* Whether there is something to do before and behind the regions. */
static bool has_ends(const struct plan *plan)
{
    return plan->io_inside || plan->copies_states;
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

struct writers {
    const struct plan *plan;
    int *region_of;            /* by node id; -1 = none */
    const struct value **left; /* to be looked at: as many as there are values at most, as each is
                                  part of one concatenation */
};

/* Counts the regions that make a root, and lists them where `list` is not NULL: the one whose
 * result it is, or, of a concatenation without a region, those of the operands. No recursion:
 * concatenations may be nested as deeply as a model likes. */
static int add_writers(const struct writers *writers, const struct value *root, int *list, int n)
{
    int n_left = 0;

    writers->left[n_left++] = root;
    while (n_left > 0) {
        const struct node *def = writers->left[--n_left]->def;

        if (!def)
            continue;
        if (writers->region_of[def->id] >= 0) {
            if (list)
                list[n] = writers->region_of[def->id];
            n++;
            continue;
        }
        for (int i = def->n_inputs - 1; i >= 0; i--)
            writers->left[n_left++] = writers->plan->root[def->inputs[i]->id];
    }
    return n;
}

/* With inputs and outputs in the arena there is a task before all regions, which writes the former,
 * and one behind, which reads the latter; likewise where states are copied after the last region. */
static void find_tasks(const struct plan *plan, struct arena *arena, const struct region *regions,
                       const int *buffer, struct schedule_task *tasks)
{
    const int shift = has_ends(plan);
    const struct writers writers = { plan, arena_array(arena, int, plan->main->n_nodes + 1),
                                     arena_array(arena, const struct value *,
                                                 plan->main->n_values + 1) };

    for (int i = 0; i <= plan->main->n_nodes; i++)
        writers.region_of[i] = -1;
    for (int r = 0; r < plan->n_regions; r++)
        writers.region_of[regions[r].call->id] = r + shift;
    for (int r = 0; r < plan->n_regions; r++) {
        const struct node *call = regions[r].call;
        struct schedule_task *task = &tasks[r + shift];
        int *after, *over = arena_array(arena, int, call->n_inputs), n = shift;

        for (int i = 0; i < call->n_inputs; i++)
            n = add_writers(&writers, plan->root[call->inputs[i]->id], NULL, n);
        for (int i = 0; i < regions[r].guards.n; i++)
            n = add_writers(&writers, plan->root[regions[r].guards.at[i].condition->id], NULL, n);
        after = arena_array(arena, int, n);
        *task = (struct schedule_task){ .after = after, .n_after = shift, .over = over };
        if (regions[r].config.scratch_bytes > 0)
            task->scratch = plan_round(regions[r].config.scratch_bytes);
        for (int i = 0; i < call->n_inputs; i++) {
            const struct value *root = read_first_at(plan, call, i);

            if (root)
                task->n_after = add_writers(&writers, root, after, task->n_after);
            if (root && plan_may_go_over(plan, &regions[r], i))
                over[task->n_over++] = buffer[root->id];
        }
        for (int i = 0; i < regions[r].guards.n; i++)
            task->n_after = add_writers(&writers, plan->root[regions[r].guards.at[i].condition->id],
                                        after, task->n_after);
        task->lap_bytes = plan_overlap_bytes(plan, &regions[r]);
        if (task->lap_bytes)
            task->lap = buffer[plan->root[call->inputs[regions[r].config.overlap.param]->id]->id];
    }
    if (shift) {
        const int last = plan->n_regions + 1;
        int *after = arena_array(arena, int, last);

        for (int i = 0; i < last; i++)
            after[i] = i;
        tasks[0] = (struct schedule_task){ 0 };
        tasks[last] = (struct schedule_task){ .after = after, .n_after = last };
    }
}

/* Regions come in their order. */
static void touch(struct lists *list, int region)
{
    if (list->seen > region)
        return;
    list->seen = region + 1;
    if (list->at)
        list->at[list->n] = region;
    list->n++;
}

static void touch_all(const struct plan *plan, const int *buffer, struct value *const *values,
                      int n_values, int region, struct lists *lists)
{
    for (int i = 0; i < n_values; i++) {
        const struct value *whole = plan_whole(plan, values[i]);

        if (in_arena(plan, whole))
            touch(&lists[buffer[whole->id]], region);
    }
}

static void touch_guards(const struct plan *plan, const int *buffer, const struct guards *guards,
                         int region, struct lists *lists)
{
    for (int i = 0; i < guards->n; i++) {
        const struct value *whole = plan_whole(plan, guards->at[i].condition);

        if (in_arena(plan, whole))
            touch(&lists[buffer[whole->id]], region);
    }
}

/* What is there to the end: see plan_liveness. */
static void touch_kept(const struct plan *plan, const int *buffer, struct lists *readers)
{
    const struct function *main = plan->main;

    touch_all(plan, buffer, main->ret->inputs, main->ret->n_inputs, plan->n_regions + 1, readers);
    for (int i = 0; i < main->n_params; i++)
        if (in_arena(plan, main->params[i]) &&
            readers[buffer[main->params[i]->id]].n == 0) /* nobody reads it */
            touch(&readers[buffer[main->params[i]->id]], plan->n_regions + 1);
}

/* Who writes and who reads each buffer: counts first, then lists. */
static void find_users(const struct plan *plan, struct arena *arena, const struct region *regions,
                       const int *buffer, struct schedule_buffer *buffers, int n)
{
    const int shift = has_ends(plan);
    struct lists *writers = arena_array(arena, struct lists, n);
    struct lists *readers = arena_array(arena, struct lists, n);

    for (int pass = 0; pass < 2; pass++) {
        if (shift)
            touch_all(plan, buffer, plan->main->params, plan->main->n_params, 0, writers);
        for (int r = 0; r < plan->n_regions; r++) {
            const struct node *call = regions[r].call;

            touch_all(plan, buffer, call->outputs, call->n_outputs, r + shift, writers);
            touch_all(plan, buffer, call->inputs, call->n_inputs, r + shift, readers);
            touch_guards(plan, buffer, &regions[r].guards, r + shift, readers);
        }
        if (shift)
            touch_kept(plan, buffer, readers);
        for (int i = 0; i < n && pass == 0; i++) {
            writers[i] = (struct lists){ .at = arena_array(arena, int, writers[i].n) };
            readers[i] = (struct lists){ .at = arena_array(arena, int, readers[i].n) };
        }
    }
    for (int i = 0; i < n; i++) {
        buffers[i].writers = writers[i].at;
        buffers[i].n_writers = writers[i].n;
        buffers[i].readers = readers[i].at;
        buffers[i].n_readers = readers[i].n;
    }
}

/* One for each whole, in the order of writing. */
static int find_buffers(const struct plan *plan, struct arena *arena, const struct region *regions,
                        int *buffer, struct schedule_buffer *buffers)
{
    bool *known = arena_array(arena, bool, plan->main->n_values);
    int n = 0;

    for (int i = 0; i < plan->main->n_params; i++) {
        const struct value *param = plan->main->params[i];

        if (!in_arena(plan, param))
            continue;
        buffer[param->id] = n;
        buffers[n++] = (struct schedule_buffer){ .bytes = plan_round(type_bytes(&param->type)) };
    }

    for (int r = 0; r < plan->n_regions; r++)
        for (int i = 0; i < regions[r].call->n_outputs; i++) {
            const struct value *whole = plan_whole(plan, regions[r].call->outputs[i]);

            if (!in_arena(plan, whole) || known[whole->id])
                continue;
            known[whole->id] = true;
            buffer[whole->id] = n;
            buffers[n++] =
                (struct schedule_buffer){ .bytes = plan_round(type_bytes(&whole->type)) };
        }
    find_users(plan, arena, regions, buffer, buffers, n);
    return n;
}

static bool is_view(const struct node *node)
{
    return op_row(node->op)->pattern == PATTERN_VIEW;
}

/* The last node that computes an input of this one; NULL = none does. */
static struct node *last_operand(struct function *main, const struct node *node)
{
    for (struct node *before = main->last; before; before = before->prev)
        for (int i = 0; i < node->n_inputs; i++)
            if (node->inputs[i]->def == before)
                return before;
    return NULL;
}

/* Calls in this order; views, and concatenations without a region, right after their operands. */
static void reorder_main(struct function *main, struct arena *arena, const struct region *regions,
                         const int *order, int n_regions)
{
    bool *is_region = arena_array(arena, bool, main->n_nodes + 1);
    struct node *next;

    for (int i = 0; i < n_regions; i++) {
        is_region[regions[order[i]].call->id] = true;
        node_move_before(regions[order[i]].call, NULL);
    }
    /* Now the others are in front, in an order in which each comes after its operands. */
    for (struct node *node = main->first; node && !is_region[node->id]; node = next) {
        struct node *const after = is_view(node) ? node->inputs[0]->def : last_operand(main, node);

        next = node->next;
        if (after && after->next != node)
            node_move_before(node, after->next);
    }
}

bool plan_order(struct plan *plan, struct arena *arena, struct function *main,
                const struct region *regions)
{
    int n_values = plan->main->n_params;
    const int shift = has_ends(plan), n_tasks = plan->n_regions + 2 * shift;
    struct schedule_problem problem = { .n_tasks = n_tasks };
    struct schedule_task *tasks = arena_array(arena, struct schedule_task, n_tasks);
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
    for (int i = 0; i < plan->n_regions && shift; i++)
        schedule.order[i] = schedule.order[i + 1] - 1;
    reorder_main(main, arena, regions, schedule.order, plan->n_regions);
    return true;
}
