/* decode.c - inputs of convolutions and matrix products that are stored as less than f32 (narrow
 * floats, blocks of them, f16, bf16, i8, i4), which oneDNN computes in f32.
 *
 * Every number of these types is an f32, so that only the order of summation differs from the
 * reference. A constant is decoded while planning, any other value once per run, by the reference
 * evaluator of a cast that the graph does not have. */
#include "base/minifloat.h"
#include "runtime/engine/native.h"

/* A cast of the value to f32 that belongs to no function: for steps, and for who explains them. */
static struct node *cast_of(struct plan *plan, const struct node *reader, struct value *value)
{
    struct node *cast = arena_new(&plan->arena, struct node);
    struct value *output = arena_new(&plan->arena, struct value);

    *output = (struct value){ .kind = VALUE_OUTPUT, .type = value->type, .name = value->name };
    output->type.dtype = DTYPE_F32;
    output->type.quant = NULL;
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
    const struct tensor stored = { slot->type, (void *)(uintptr_t)slot->storage->data };
    const int64_t n = type_elements(type);
    float *numbers = bulk_alloc(&plan->fixed, (size_t)n * sizeof *numbers);

    if (type_minifloat(&stored.type) && !type_has_blocks(&stored.type))
        minifloat_decode_array(type_minifloat(&stored.type), stored.data, numbers, (size_t)n);
    else
        for (int64_t i = 0; i < n; i++)
            numbers[i] = (float)tensor_at(&stored, i);
    return slot_fixed(plan, type, numbers);
}

static struct slot *decode(struct plan *plan, const struct node *reader, struct value *value,
                           struct slot *slot)
{
    struct node *cast = cast_of(plan, reader, value);
    struct type type = slot->type;
    struct slot *pair[2] = { slot, NULL };
    struct step *step;
    bool failed;

    if (slot->decoded)
        return slot->decoded;
    type.dtype = DTYPE_F32;
    type.quant = NULL;
    if (slot->storage->home == HOME_FIXED) {
        slot->decoded = decode_constant(plan, slot, &type);
        return slot->decoded;
    }
    slot->decoded = native_build(plan, cast, &slot, &failed);
    if (slot->decoded)
        return slot->decoded;
    pair[1] = slot_pool(plan, &type, NULL);
    step = plan_step(plan, cast, NULL, 2, pair);
    step->in = arena_array(&plan->arena, const struct tensor *, 1);
    step->why = "oneDNN 2.6 computes in f32";
    slot->decoded = pair[1];
    return slot->decoded;
}

struct slot **inputs_decode(struct plan *plan, struct frame *frame, const struct node *node)
{
    struct slot **stored = arena_array(&plan->arena, struct slot *, node->n_inputs);

    for (int i = 0; i < node->n_inputs; i++)
        stored[i] = frame->slots[node->inputs[i]->id];
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i]->type.dtype != DTYPE_F32)
            frame->slots[node->inputs[i]->id] = decode(plan, node, node->inputs[i], stored[i]);
    return stored;
}
