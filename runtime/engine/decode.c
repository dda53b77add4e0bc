/* decode.c - FP8 inputs of convolutions and matrix products, which oneDNN computes in f32.
 *
 * Every FP8 number is an f32, so that only the order of summation differs from the reference. A
 * constant is decoded while planning, any other value once per run, by the reference evaluator of a
 * cast that the graph does not have. */
#include "base/minifloat.h"
#include "runtime/engine/primitive.h"

/* A cast of the value to f32 that belongs to no function: for steps, and for who explains them. */
static struct node *cast_of(struct plan *plan, const struct node *reader, struct value *value)
{
    struct node *cast = arena_new(&plan->arena, struct node);
    struct value *output = arena_new(&plan->arena, struct value);

    *output = (struct value){ .kind = VALUE_OUTPUT, .type = value->type, .name = value->name };
    output->type.dtype = DTYPE_F32;
    output->fn = reader->fn;
    output->def = cast;
    cast->op = OP_CAST;
    cast->attrs.cast = (struct cast_attrs){ .dtype = DTYPE_F32, .saturate = true };
    cast->origin = reader->origin;
    cast->fn = reader->fn;
    cast->n_inputs = cast->n_outputs = 1;
    cast->inputs = arena_array(&plan->arena, struct value *, 1);
    cast->inputs[0] = value;
    cast->outputs = arena_array(&plan->arena, struct value *, 1);
    cast->outputs[0] = output;
    return cast;
}

static struct slot *decode_constant(struct plan *plan, const struct slot *slot,
                                    const struct type *type)
{
    const size_t n = (size_t)type_elements(type);
    float *numbers = bulk_alloc(&plan->fixed, n * sizeof *numbers);

    minifloat_decode_array(dtype_minifloat(slot->type.dtype), slot->storage->data, numbers, n);
    return slot_fixed(plan, type, numbers);
}

static struct slot *decode(struct plan *plan, const struct node *reader, struct value *value,
                           struct slot *slot)
{
    struct type type = slot->type;
    struct slot *pair[2] = { slot, NULL };
    struct step *step;

    if (slot->decoded)
        return slot->decoded;
    type.dtype = DTYPE_F32;
    if (slot->storage->home == HOME_FIXED) {
        slot->decoded = decode_constant(plan, slot, &type);
        return slot->decoded;
    }
    pair[1] = slot_pool(plan, &type, NULL);
    step = plan_step(plan, cast_of(plan, reader, value), NULL, 2, pair);
    step->in = arena_array(&plan->arena, const struct tensor *, 1);
    step->why = "oneDNN 2.6 has no FP8";
    slot->decoded = pair[1];
    return slot->decoded;
}

struct slot **inputs_decode(struct plan *plan, struct frame *frame, const struct node *node)
{
    struct slot **stored = arena_array(&plan->arena, struct slot *, node->n_inputs);

    for (int i = 0; i < node->n_inputs; i++)
        stored[i] = frame->slots[node->inputs[i]->id];
    for (int i = 0; i < node->n_inputs; i++)
        if (dtype_minifloat(node->inputs[i]->type.dtype))
            frame->slots[node->inputs[i]->id] = decode(plan, node, node->inputs[i], stored[i]);
    return stored;
}
