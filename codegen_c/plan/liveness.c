/* liveness.c - which region writes a value first and which reads it last.
 *
 * needs    main of calls and views, numbered; regions in execution order
 * gives    plan->root, first, last */
#include "codegen_c/core/plan.h"

static bool is_view(const struct node *node)
{
    return op_row(node->op)->pattern == PATTERN_VIEW;
}

const struct value *plan_whole(const struct plan *plan, const struct value *value)
{
    const struct value *root = plan->root[value->id], *whole = plan->part[root->id].whole;

    return whole ? whole : root;
}

size_t plan_part_bytes(const struct plan *plan, const struct value *value)
{
    return (size_t)plan->part[value->id].at * dtype_bytes(value->type.dtype);
}

static void read_by(struct plan *plan, const struct value *value, int region)
{
    int *last = &plan->last[plan_whole(plan, value)->id];

    if (*last < region)
        *last = region;
}

/* Inputs that nobody reads must not hurt others when they are written: they stay all the time. */
static void keep_io(struct plan *plan)
{
    const struct function *main = plan->main;

    for (int i = 0; i < main->n_params; i++) {
        plan->first[main->params[i]->id] = 0;
        if (plan->last[main->params[i]->id] < 0)
            plan->last[main->params[i]->id] = plan->n_regions - 1;
    }
    for (int i = 0; i < main->ret->n_inputs; i++)
        read_by(plan, main->ret->inputs[i], plan->n_regions - 1);
}

/* A state that is not written where it is kept is copied there after the last region. */
static void keep_states(struct plan *plan)
{
    const struct module *module = plan->main->module;

    for (int i = 0; i < module->n_states; i++)
        read_by(plan, plan->main->ret->inputs[module->states[i].result], plan->n_regions - 1);
}

void plan_liveness(struct plan *plan, struct arena *arena, const struct function *main,
                   struct part *part, const struct region *regions, int n_regions, bool io_inside)
{
    const int n = main->n_values;

    *plan = (struct plan){ .main = main,
                           .n_regions = n_regions,
                           .io_inside = io_inside && n_regions > 0,
                           .part = part,
                           .root = arena_array(arena, const struct value *, n),
                           .result = arena_array(arena, int, n),
                           .first = arena_array(arena, int, n),
                           .last = arena_array(arena, int, n),
                           .place = arena_array(arena, struct codegen_place, n),
                           .block = arena_array(arena, int, n) };
    for (int i = 0; i < n; i++)
        plan->first[i] = plan->last[i] = plan->block[i] = plan->result[i] = -1;
    for (int i = 0; i < main->n_params; i++)
        plan->root[main->params[i]->id] = main->params[i];
    for (const struct value *v = main->constants; v; v = v->next)
        plan->root[v->id] = v;
    for (const struct node *node = main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++) {
            const struct value *out = node->outputs[i];

            plan->root[out->id] = is_view(node) ? plan->root[node->inputs[0]->id] : out;
        }
    for (int i = main->ret->n_inputs - 1; i >= 0; i--)
        plan->result[plan->root[main->ret->inputs[i]->id]->id] = i;
    for (int r = 0; r < n_regions; r++) {
        const struct node *call = regions[r].call;

        for (int i = 0; i < call->n_inputs; i++)
            read_by(plan, call->inputs[i], r);
        for (int i = 0; i < regions[r].guards.n; i++)
            read_by(plan, regions[r].guards.at[i].condition, r);
        for (int i = 0; i < call->n_outputs; i++) {
            int *first = &plan->first[plan_whole(plan, call->outputs[i])->id];

            if (*first < 0)
                *first = r;
            read_by(plan, call->outputs[i], r); /* results that nobody reads are written, too */
        }
    }
    if (plan->io_inside)
        keep_io(plan);
    keep_states(plan);
}
