#include "relay_ir/validate/noise.h"

#include <math.h>

#include "relay_ir/interpret.h"
#include "relay_ir/region.h"
#include "relay_ir/validate/inputs.h"
#include "relay_ir/walk.h"

struct noise {
    struct ctx *ctx;
    uint64_t state;
    struct noise_level level;
};

/* Four units in the last place of a number just above a power of two. */
static double unit_of(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F64: return 0x1p-50;
    case DTYPE_F32: return 0x1p-21;
    case DTYPE_F16: return 0x1p-8;
    case DTYPE_BF16: return 0x1p-5;
    default: return 0;
    }
}

/* Whether the node rounds to a quantised value, and does not only move one. */
static bool rounds_to_steps(const struct node *node, const struct type *type)
{
    const enum op_pattern pattern = op_row(node->op)->pattern;

    if (type->dtype == DTYPE_BOOL || dtype_bytes(type->dtype) > 2 || unit_of(type->dtype) > 0)
        return false;
    return pattern != PATTERN_VIEW && pattern != PATTERN_INJECTIVE;
}

static double scale_of(const struct value *value)
{
    const struct qtype *quant = value ? value->type.quant : NULL;

    return quant && quant->kind == QTYPE_SCALED && quant->n == 1 ? (double)quant->scale[0] : 0;
}

/* How many steps of its own an output moves by: one. But recurrent layers hand their last states from step to step in
 * the type of all states, whose steps may be wider. */
static double steps_of(const struct node *node, int output)
{
    const double own = scale_of(node->outputs[output]);
    double widest = own;

    if (own <= 0 || !op_leaves_results(node->op))
        return 1;
    for (int i = 0; i < node->n_outputs; i++)
        widest = fmax(widest, scale_of(node->outputs[i]));
    return widest / own;
}

/* By up to `steps`, at least one: up is -1 .. 1, times `share`. */
static void move_by_steps(struct tensor *tensor, int64_t i, double up, double share, double steps)
{
    const struct minifloat *format = type_minifloat(&tensor->type);

    if (format) { /* a bit more than a step at any magnitude, rounded to one */
        tensor_put(tensor, i, tensor_at(tensor, i) * (1 + up * 0x1p-2));
    } else {
        const enum dtype dtype = tensor->type.dtype;
        const double n = fmax(1, nearbyint(steps * fabs(up) / share));
        const wide moved = tensor_wide_at(tensor, i) + (wide)(up > 0 ? n : -n);

        if (moved >= dtype_least(dtype) && moved <= dtype_greatest(dtype))
            tensor_put_wide(tensor, i, moved);
    }
}

static void disturb(struct noise *noise, const struct node *node, int output, struct tensor *tensor)
{
    const enum dtype dtype = tensor->type.dtype;
    const double unit = unit_of(dtype == DTYPE_F32 ? noise->level.coarsest : dtype);
    const bool steps = rounds_to_steps(node, &tensor->type);
    const enum op_pattern pattern = op_row(node->op)->pattern;
    const int64_t n = type_elements(&tensor->type);

    if (pattern == PATTERN_VIEW || pattern == PATTERN_INJECTIVE || (unit == 0 && !steps))
        return;
    for (int64_t i = 0; i < n; i++) {
        const double random = 2 * random_unit(&noise->state) - 1;

        if (unit > 0)
            tensor_put(tensor, i, tensor_at(tensor, i) * (1 + unit * random));
        else if (random < noise->level.step_probability && random > -noise->level.step_probability)
            move_by_steps(tensor, i, random, noise->level.step_probability, steps_of(node, output));
    }
}

static bool evaluate(void *user, const struct node *node, const struct tensor *const *inputs,
                     struct tensor *outputs)
{
    struct noise *noise = user;

    if (!op_row(node->op)->evaluate(noise->ctx, node, inputs, outputs))
        return false;
    for (int i = 0; i < node->n_outputs; i++)
        disturb(noise, node, i, &outputs[i]);
    return true;
}

enum dtype noise_coarsest(const struct function *fn)
{
    enum dtype coarsest = DTYPE_F32;

    for (const struct node *node = fn->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            if (unit_of(node->outputs[i]->type.dtype) > unit_of(coarsest))
                coarsest = node->outputs[i]->type.dtype;
    return coarsest;
}

/* Inputs move, too: an operator that stands for many (a norm that reads the model's input) rounds in
 * between as if what it reads were another number. */
static const struct tensor *disturbed_inputs(struct noise *noise, const struct function *fn,
                                             const struct tensor *inputs, struct arena *arena,
                                             struct bulk *bulk)
{
    struct tensor *moved = arena_array(arena, struct tensor, fn->n_params);

    for (int k = 0; k < fn->n_params; k++) {
        const enum dtype dtype = inputs[k].type.dtype;
        const double unit = unit_of(dtype == DTYPE_F32 ? noise->level.coarsest : dtype);

        moved[k] = inputs[k];
        if (unit == 0)
            continue;
        moved[k] = tensor_new(bulk, &inputs[k].type);
        for (int64_t i = 0; i < type_elements(&inputs[k].type); i++)
            tensor_put(&moved[k], i,
                       tensor_at(&inputs[k], i) *
                           (1 + unit * (2 * random_unit(&noise->state) - 1)));
    }
    return moved;
}

bool noise_run(struct module *module, const struct tensor *inputs, uint64_t seed,
               const struct noise_level *level, struct tensor *results, struct bulk *bulk)
{
    struct noise noise = { module->ctx, seed, *level };
    const struct other_evaluator other = { evaluate, &noise };
    struct arena arena = { NULL };
    const struct tensor *moved = disturbed_inputs(&noise, module->main, inputs, &arena, bulk);
    const bool ok = interpret_by(module->ctx, module->main, moved, results, bulk, NULL, &other);

    arena_release(&arena);
    return ok;
}
