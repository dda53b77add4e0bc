/* marks.c - what each storage of a plan will hold, known by how it is computed.
 *
 * method   the mark of a storage is that of the step that writes it; the mark of a step is made of
 *          the operators that it computes with their attributes, of the constants that these read,
 *          of the implementation with all layouts, and of the marks of what it reads. So equal
 *          marks mean equal bits, also in plans of different functions. */
#include "runtime/engine/native.h"

static struct mark add_layout(struct mark mark, const dnnl_memory_desc_t *layout)
{
    return mark_add(mark, layout, sizeof *layout);
}

static struct mark add_type(struct mark mark, const struct type *type)
{
    const struct minifloat *codec = type_minifloat(type);

    mark = mark_add(mark, &type->dtype, sizeof type->dtype);
    mark = mark_add(mark, type->dim, (size_t)type->rank * sizeof *type->dim);
    if (codec) {
        const int fields[] = { codec->exponent_bits, codec->mantissa_bits, codec->bias,
                               (int)codec->specials, (int)codec->sign };

        mark = mark_add(mark, fields, sizeof fields);
    }
    if (type_has_blocks(type))
        mark =
            mark_add(mark, type->quant->scale, (size_t)type->quant->n * sizeof *type->quant->scale);
    return mark;
}

static struct mark add_bytes(struct plan *plan, struct mark mark, const struct type *type,
                             const void *data)
{
    struct mark known = shared_mark(plan->shared, data);

    mark = add_type(mark, type);
    if (!mark_is_set(known))
        known = mark_add(known, data, type_bytes(type));
    return mark_add(mark, &known, sizeof known);
}

struct mark mark_of_fixed(struct plan *plan, struct storage *storage)
{
    struct mark mark = storage->mark;

    if (!mark_is_set(mark))
        mark = shared_mark(plan->shared, storage->data);
    if (!mark_is_set(mark))
        mark = mark_add(mark, storage->data, storage->bytes);
    storage->mark = mark;
    return mark;
}

struct mark mark_of_reorder(struct plan *plan, struct slot *slot, const dnnl_memory_desc_t *as,
                            const dnnl_memory_desc_t *wanted)
{
    struct mark mark = { 0 };

    if (!plan->shared)
        return mark;
    mark = mark_of_fixed(plan, slot->storage);
    return add_layout(add_layout(mark, as), wanted);
}

/* The operator, and the constants that it reads: an evaluator or a primitive may have taken numbers
 * out of them. */
static struct mark add_node(struct plan *plan, struct mark mark, const struct node *node)
{
    struct str attrs = { .arena = &plan->arena };

    attrs_print(&attrs, op_row(node->op)->attrs, &node->attrs);
    mark = mark_add_text(mark, op_name(node->op));
    mark = mark_add_text(mark, str_text(&attrs));
    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] && node->inputs[i]->kind == VALUE_CONSTANT)
            mark = add_bytes(plan, mark, &node->inputs[i]->type, node->inputs[i]->data);
    for (int i = 0; i < node->n_outputs; i++)
        mark = add_type(mark, &node->outputs[i]->type);
    return mark;
}

static bool is_output(const struct step *step, int i)
{
    const struct storage *storage = step->slots[i]->storage;

    return (storage->home == HOME_POOL || storage->home == HOME_KEPT) &&
           !mark_is_set(storage->mark);
}

static struct mark add_slot(struct plan *plan, struct mark mark, const struct step *step, int i)
{
    struct slot *slot = step->slots[i];
    struct mark read;

    if (!slot)
        return mark_add_text(mark, "absent");
    mark = add_type(mark, &slot->type);
    if (slot->has_layout)
        mark = add_layout(mark, &slot->layout);
    if (step->primitive) {
        const dnnl_memory_desc_t *layout;

        mark = mark_add(mark, &step->args[i].arg, sizeof step->args[i].arg);
        if (dnnl_memory_get_memory_desc(step->args[i].memory, &layout) == dnnl_success)
            mark = add_layout(mark, layout);
    }
    if (is_output(step, i))
        return mark_add_text(mark, "written");
    read = slot->storage->home == HOME_FIXED ? mark_of_fixed(plan, slot->storage)
                                             : slot->storage->mark;
    return mark_add(mark, &read, sizeof read);
}

static struct mark mark_of_step(struct plan *plan, const struct step *step)
{
    struct mark mark = { 0 };

    mark = mark_add_text(mark, step->impl ? step->impl : "reference");
    mark = mark_add_text(mark, step->primitive ? "primitive" : step->native ? "native" : "");
    if (step->node)
        mark = add_node(plan, mark, step->node);
    for (int i = 0; i < step->n_fused; i++)
        mark = add_node(plan, mark, step->fused[i]);
    if (step->native)
        mark = native_mark(step->native, mark);
    for (int i = 0; i < step->n_slots; i++)
        mark = add_slot(plan, mark, step, i);
    return mark;
}

void marks_of_plan(struct plan *plan)
{
    for (struct storage *s = plan->storages; s; s = s->next)
        if (s->home == HOME_INPUT) {
            s->mark = mark_add_text((struct mark){ 0 }, "input");
            s->mark = mark_add(s->mark, &s->input, sizeof s->input);
        }
    for (struct step *step = plan->first; step; step = step->next) {
        const struct mark mark = mark_of_step(plan, step);
        bool *written = arena_array(&plan->arena, bool, step->n_slots);

        for (int i = 0; i < step->n_slots; i++)
            written[i] = step->slots[i] && is_output(step, i);
        for (int i = 0; i < step->n_slots; i++)
            if (written[i])
                step->slots[i]->storage->mark = mark_add(mark, &i, sizeof i);
    }
}
