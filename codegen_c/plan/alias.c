/* alias.c - which values share storage, and of what kind it is.
 *
 * needs    plan_liveness, kernels chosen
 * gives    plan->place (but offsets in the arena), plan->block, region->in_place, over
 * method   results of main are written where the caller wants them; a result goes over an operand
 *          that dies in its region when the kernel reads each element before it writes it */
#include "codegen_c/core/plan.h"

#include <assert.h>

#include "relay_ir/state.h"

static bool is_main_result(const struct plan *plan, const struct value *root, int *index)
{
    if (plan->result[root->id] < 0)
        return false;
    *index = plan->result[root->id];
    return true;
}

/* Whether a result of main is written where the caller wants it. A state is, if what it was has been read before. */
static bool is_outside(const struct plan *plan, const struct value *value, int result)
{
    const struct state *state = state_of_result(plan->main->module, result);

    return state ? plan->last[plan->main->params[state->param]->id] < plan->first[value->id]
                 : !plan->io_inside;
}

/* Whether the anchor reads the parameter, as it is or through its prologue, and whether as anything
 * but its first input. By the parameter's readers: a concatenation may have thousands of inputs. */
static bool anchor_reads(const struct region *region, const struct value *param, bool *elsewhere)
{
    bool reads = false;

    *elsewhere = false;
    for (const struct use *use = param->uses; use && region->anchor; use = use->next) {
        const struct node *decoder = use->node;

        if (decoder == region->anchor) {
            reads = true;
            *elsewhere = *elsewhere || use->input > 0;
            continue;
        }
        for (int i = 0; i < decoder->n_outputs && use->input == 0; i++)
            for (const struct use *read = decoder->outputs[i]->uses; read; read = read->next)
                if (read->node == region->anchor) {
                    reads = true;
                    *elsewhere = *elsewhere || read->input > 0;
                }
    }
    return reads;
}

bool plan_goes_over(const struct region *region, int param)
{
    const struct value *x = region->fn->params[param], *y = region->fn->ret->inputs[0];
    bool elsewhere;

    if (region->config.kernel ==
        &kernel_stripes) /* rows of the result come before others are read */
        return false;
    if (x->type.dtype != y->type.dtype || !type_same_shape(&x->type, &y->type))
        return false;
    if (anchor_reads(region, x, &elsewhere))
        return region->config.kernel->in_place && !elsewhere;
    return region->anchor || region->config.kernel->in_place; /* see bind_epilogue */
}

/* No other argument of the call lives in the same place, and it is all of it. */
static bool is_alone(const struct plan *plan, const struct node *call, int param)
{
    const struct value *whole = plan_whole(plan, call->inputs[param]);

    for (int i = 0; i < call->n_inputs; i++)
        if (i != param && plan_whole(plan, call->inputs[i]) == whole)
            return false;
    return whole == plan->root[call->inputs[param]->id];
}

bool plan_has_place_alone(const struct plan *plan, const struct region *region, int i)
{
    const struct value *root = plan->root[region->call->inputs[i]->id];
    int index;

    return region->call->n_outputs == 1 && !region->external &&
           !is_main_result(plan, root, &index) && /* it is read later, if it is in the arena */
           plan_whole(plan, region->call->outputs[0]) == region->call->outputs[0] &&
           plan->place[region->call->outputs[0]->id].kind == PLACE_ARENA &&
           plan->place[root->id].kind == PLACE_ARENA && plan->block[root->id] >= 0 &&
           is_alone(plan, region->call, i);
}

bool plan_may_go_over(const struct plan *plan, const struct region *region, int i)
{
    /* What takes longer last: concatenations may have thousands of parameters. */
    return !region->external && plan_goes_over(region, i) && plan_has_place_alone(plan, region, i);
}

/* The parameter that the region's only result goes over, -1 if there is none. */
static int find_dying(const struct plan *plan, const struct region *region)
{
    for (int i = 0; i < region->call->n_inputs; i++)
        if (plan->last[plan->root[region->call->inputs[i]->id]->id] == region->index &&
            plan_may_go_over(plan, region, i))
            return i;
    return -1;
}

/* The parameter that lies, as a piece of the same whole, where the result does (overlay.c); -1 if
 * none does. */
static int find_overlaid(const struct plan *plan, const struct region *region,
                         const struct value *result)
{
    const struct part *y = &plan->part[result->id];

    for (int i = 0; i < region->call->n_inputs; i++) {
        const struct part *x = &plan->part[region->call->inputs[i]->id];

        if (x->is_view && x->whole == y->whole && x->at == y->at &&
            x->pixel_stride == y->pixel_stride)
            return i;
    }
    return -1;
}

/* The region is NULL where nothing is left of it but parts of its result. */
static void place_result(struct plan *plan, struct region *region, const struct value *value)
{
    const size_t bytes = type_bytes(&value->type);
    struct codegen_place *place = &plan->place[value->id];
    const int id = value->id;
    int over = -1;

    if (plan_whole(plan, value) != value) {
        plan->naive_bytes += plan_round(bytes);
        if (region && (over = find_overlaid(plan, region, value)) >= 0) {
            region->place.in_place = true;
            region->place.over = over;
        }
        return;
    }
    if (is_main_result(plan, value, &place->index) && is_outside(plan, value, place->index)) {
        place->kind = PLACE_OUTPUT;
        return;
    }
    plan->copies_states = plan->copies_states || (plan->result[id] >= 0 && !plan->io_inside);
    place->kind = PLACE_ARENA;
    plan->naive_bytes += plan_round(bytes);
    if (region)
        over = find_dying(plan, region);
    if (over >= 0) {
        region->place.in_place = true;
        region->place.over = over;
        plan->block[id] = plan->block[plan->root[region->call->inputs[over]->id]->id];
        plan->blocks[plan->block[id]].last = plan->last[id];
        return;
    }
    plan->block[id] = plan->n_blocks;
    plan->blocks[plan->n_blocks++] = (struct block){
        .value = value, .bytes = bytes, .first = plan->first[id], .last = plan->last[id]
    };
}

static void place_inputs(struct plan *plan)
{
    for (int i = 0; i < plan->main->n_params; i++) {
        const struct value *param = plan->main->params[i];
        const size_t bytes = type_bytes(&param->type);

        plan->place[param->id] = (struct codegen_place){ PLACE_INPUT, i, 0, 0 };
        if (!plan->io_inside || state_of_param(plan->main->module, i))
            continue;
        plan->place[param->id].kind = PLACE_ARENA;
        plan->naive_bytes += plan_round(bytes);
        plan->block[param->id] = plan->n_blocks;
        plan->blocks[plan->n_blocks++] = (struct block){ .value = param,
                                                         .bytes = bytes,
                                                         .first = plan->first[param->id],
                                                         .last = plan->last[param->id] };
    }
}

static void place_results(struct plan *plan, struct region *regions)
{
    int r = 0;

    for (const struct node *node = plan->main->first; node; node = node->next) {
        struct region *region =
            r < plan->n_regions && regions[r].call == node ? &regions[r++] : NULL;

        if (region)
            region->place.in_place = false;
        for (int i = 0; i < node->n_outputs && node->op == OP_CALL; i++)
            place_result(plan, region, node->outputs[i]);
    }
}

void plan_alias(struct plan *plan, struct arena *arena, struct region *regions)
{
    const struct function *main = plan->main;

    plan->capacity = plan->n_regions + main->n_params; /* scratch, and inputs */
    for (const struct node *node = main->first; node; node = node->next)
        plan->capacity += node->n_outputs;
    plan->blocks = arena_array(arena, struct block, plan->capacity);
    place_inputs(plan);
    for (const struct value *v = main->constants; v; v = v->next)
        plan->place[v->id] = (struct codegen_place){ PLACE_CONSTANT, 0, 0, 0 };
    place_results(plan, regions);
    for (const struct node *node = main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++) {
            const struct value *value = node->outputs[i];
            const int whole = plan_whole(plan, value)->id;

            plan->place[value->id] = plan->place[whole];
            plan->place[value->id].offset = plan_part_bytes(plan, value);
            plan->place[value->id].pixel_stride = plan->part[value->id].pixel_stride;
            plan->block[value->id] = plan->block[whole];
        }
}

/* A call's arguments have the shapes of the function's parameters. */
void plan_operands(const struct plan *plan, struct arena *arena, struct region *regions)
{
    for (int r = 0; r < plan->n_regions; r++) {
        const struct node *call = regions[r].call;
        struct operand *params = arena_array(arena, struct operand, call->n_inputs);
        struct operand *results = arena_array(arena, struct operand, call->n_outputs);

        for (int i = 0; i < call->n_inputs; i++)
            params[i] =
                operand_make(&call->inputs[i]->type, plan->part[call->inputs[i]->id].pixel_stride);
        for (int i = 0; i < call->n_outputs; i++)
            results[i] = operand_make(&call->outputs[i]->type,
                                      plan->part[call->outputs[i]->id].pixel_stride);
        /* What is written over an operand is written where that was read: element by element. */
        assert(!regions[r].place.in_place ||
               operand_is_same_map(&params[regions[r].place.over], &results[0]));
        regions[r].place.operands = params;
        regions[r].place.result_operands = results;
    }
}
