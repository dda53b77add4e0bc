/* slots.c - layouts, and where the numbers are. */
#include "runtime/engine/plan.h"

#include <assert.h>
#include <string.h>

static dnnl_data_type_t onednn_type(enum dtype dtype)
{
    static const struct {
        enum dtype dtype;
        dnnl_data_type_t onednn;
    } table[] = {
        { DTYPE_F32, dnnl_f32 }, { DTYPE_I32, dnnl_s32 }, { DTYPE_I8, dnnl_s8 },
        { DTYPE_U8, dnnl_u8 },   { DTYPE_BOOL, dnnl_u8 },
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].dtype == dtype)
            return table[i].onednn;
    return dtype_bytes(dtype) == 1 ? dnnl_u8 : dnnl_data_type_undef; /* only moved around */
}

/* Row-major strides over dims of at least 1. */
static dnnl_memory_desc_t dense(int rank, const int64_t *dims, dnnl_data_type_t type)
{
    dnnl_memory_desc_t layout;
    dnnl_dims_t strides;
    dnnl_status_t status;
    int64_t step = 1;

    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = step;
        step *= dims[i];
    }
    status = dnnl_memory_desc_init_by_strides(&layout, rank, dims, type, strides);
    assert(status == dnnl_success); /* the shape was checked */
    (void)status;
    return layout;
}

bool layout_plain(const struct type *type, dnnl_memory_desc_t *layout)
{
    static const int64_t one = 1;
    dnnl_data_type_t onednn = onednn_type(type->dtype);

    if (onednn == dnnl_data_type_undef || type_elements(type) == 0)
        return false;
    *layout = dense(type->rank ? type->rank : 1, type->rank ? type->dim : &one, onednn);
    return true;
}

dnnl_memory_desc_t layout_dense(int rank, const int64_t *dims)
{
    return dense(rank, dims, dnnl_f32);
}

dnnl_memory_desc_t layout_any(int rank, const int64_t *dims)
{
    dnnl_memory_desc_t layout;
    dnnl_status_t status =
        dnnl_memory_desc_init_by_tag(&layout, rank, dims, dnnl_f32, dnnl_format_tag_any);

    assert(status == dnnl_success);
    (void)status;
    return layout;
}

static struct storage *storage_new(struct plan *plan, enum home home, size_t bytes)
{
    struct storage *storage = arena_new(&plan->arena, struct storage);

    storage->home = home;
    storage->bytes = bytes;
    storage->first = storage->last = plan->n_steps;
    storage->next = plan->storages;
    plan->storages = storage;
    return storage;
}

static struct slot *slot_new(struct plan *plan, const struct type *type,
                             const dnnl_memory_desc_t *layout, struct storage *storage)
{
    struct slot *slot = arena_new(&plan->arena, struct slot);
    dnnl_memory_desc_t plain;

    slot->type = *type;
    slot->storage = storage;
    slot->has_layout = layout_plain(type, &plain);
    if (slot->has_layout)
        slot->layout = layout ? *layout : plain;
    slot->plain = !layout || dnnl_memory_desc_equal(layout, &plain);
    return slot;
}

struct slot *slot_fixed(struct plan *plan, const struct type *type, const void *data)
{
    struct storage *storage = storage_new(plan, HOME_FIXED, type_bytes(type));

    storage->data = data;
    return slot_new(plan, type, NULL, storage);
}

struct slot *slot_input(struct plan *plan, const struct type *type, int input)
{
    struct storage *storage = storage_new(plan, HOME_INPUT, type_bytes(type));

    storage->input = input;
    return slot_new(plan, type, NULL, storage);
}

struct slot *slot_pool(struct plan *plan, const struct type *type, const dnnl_memory_desc_t *layout)
{
    size_t bytes = layout ? dnnl_memory_desc_get_size(layout) : type_bytes(type);

    return slot_new(plan, type, layout, storage_new(plan, HOME_POOL, bytes));
}

struct slot *slot_view(struct plan *plan, struct slot *slot, const struct type *type)
{
    assert(slot->plain);
    return slot_new(plan, type, NULL, slot->storage);
}

void slot_touch(const struct plan *plan, struct slot *slot)
{
    if (slot->storage->last < plan->n_steps)
        slot->storage->last = plan->n_steps;
}

void *slot_data(const struct plan *plan, const struct slot *slot, const struct tensor *inputs)
{
    const struct storage *storage = slot->storage;

    switch (storage->home) {
    case HOME_POOL: return plan->pool + storage->offset;
    case HOME_INPUT: return inputs[storage->input].data;
    case HOME_FIXED:
    case HOME_KEPT: break;
    }
    /* oneDNN's handles and the evaluators' tensors are not const; both only read constants */
    return (void *)(uintptr_t)storage->data;
}

static bool reorder_new(struct plan *plan, const dnnl_memory_desc_t *from,
                        const dnnl_memory_desc_t *to, dnnl_primitive_t *reorder)
{
    dnnl_primitive_desc_t desc = NULL;
    dnnl_status_t status =
        dnnl_reorder_primitive_desc_create(&desc, from, plan->engine, to, plan->engine, NULL);

    if (status == dnnl_success)
        status = dnnl_primitive_create(reorder, desc);
    dnnl_primitive_desc_destroy(desc);
    plan->held.primitive = *reorder;
    return plan_check(plan, NULL, status, "reorder a tensor");
}

/* Reorders now, from memory to memory. */
static bool reorder_now(struct plan *plan, const dnnl_memory_desc_t *from, void *from_data,
                        const dnnl_memory_desc_t *to, void *to_data)
{
    dnnl_primitive_t reorder = NULL;
    dnnl_memory_t source = NULL, target = NULL;
    dnnl_status_t status;
    bool ok = false;

    if (!reorder_new(plan, from, to, &reorder))
        return false;
    status = dnnl_memory_create(&source, from, plan->engine, from_data);
    if (status == dnnl_success)
        status = dnnl_memory_create(&target, to, plan->engine, to_data);
    if (status == dnnl_success) {
        dnnl_exec_arg_t args[] = { { DNNL_ARG_FROM, source }, { DNNL_ARG_TO, target } };

        status = dnnl_primitive_execute(reorder, plan->stream, 2, args);
    }
    if (status == dnnl_success)
        status = dnnl_stream_wait(plan->stream);
    ok = plan_check(plan, NULL, status, "reorder a tensor");
    dnnl_memory_destroy(source);
    dnnl_memory_destroy(target);
    plan->held.primitive = NULL;
    dnnl_primitive_destroy(reorder);
    return ok;
}

static struct slot *reorder_constant(struct plan *plan, struct slot *slot,
                                     const dnnl_memory_desc_t *as, const dnnl_memory_desc_t *wanted)
{
    size_t bytes = dnnl_memory_desc_get_size(wanted);
    const struct mark mark = mark_of_reorder(plan, slot, as, wanted);
    const void *known = plan->shared ? shared_constant(plan->shared, mark) : NULL;
    struct storage *storage = storage_new(plan, HOME_FIXED, bytes);

    storage->mark = mark;
    storage->data = known;
    if (!known) {
        void *data = bulk_alloc(&plan->fixed, bytes);

        if (!reorder_now(plan, as, slot_data(plan, slot, NULL), wanted, data))
            return NULL;
        storage->data = data;
    }
    return slot_new(plan, &slot->type, wanted, storage);
}

static struct slot *reorder_step(struct plan *plan, struct slot *slot, const dnnl_memory_desc_t *as,
                                 const dnnl_memory_desc_t *wanted)
{
    dnnl_primitive_t reorder = NULL;
    struct slot *pair[2] = { slot, NULL };
    struct step *step;

    if (!reorder_new(plan, as, wanted, &reorder))
        return NULL;
    pair[1] = slot_pool(plan, &slot->type, wanted);
    step = plan_step(plan, NULL, reorder, 2, pair);
    step->args[0].arg = DNNL_ARG_FROM;
    step->args[1].arg = DNNL_ARG_TO;
    if (!plan_check(plan, NULL,
                    dnnl_memory_create(&step->args[0].memory, as, plan->engine, DNNL_MEMORY_NONE),
                    "describe a tensor") ||
        !plan_check(
            plan, NULL,
            dnnl_memory_create(&step->args[1].memory, wanted, plan->engine, DNNL_MEMORY_NONE),
            "describe a tensor"))
        return NULL;
    return pair[1];
}

struct slot *slot_in_layout(struct plan *plan, struct slot *slot, const dnnl_memory_desc_t *as,
                            const dnnl_memory_desc_t *wanted)
{
    struct copy *copy;
    struct slot *made;

    if (dnnl_memory_desc_equal(as, wanted))
        return slot;
    for (copy = slot->copies; copy; copy = copy->next)
        if (dnnl_memory_desc_equal(&copy->as, as) && dnnl_memory_desc_equal(&copy->wanted, wanted))
            return copy->slot;
    made = slot->storage->home == HOME_FIXED ? reorder_constant(plan, slot, as, wanted)
                                             : reorder_step(plan, slot, as, wanted);
    if (!made)
        return NULL;
    copy = arena_new(&plan->arena, struct copy);
    *copy = (struct copy){ .as = *as, .wanted = *wanted, .slot = made, .next = slot->copies };
    slot->copies = copy;
    return made;
}

struct slot *slot_plain(struct plan *plan, struct slot *slot)
{
    dnnl_memory_desc_t plain;

    if (slot->plain)
        return slot;
    layout_plain(&slot->type, &plain); /* a slot that is not plain has a layout */
    return slot_in_layout(plan, slot, &slot->layout, &plain);
}

bool slot_export(struct plan *plan, const struct slot *slot, void *from, void *to)
{
    dnnl_memory_desc_t plain;

    if (slot->plain) {
        if (type_bytes(&slot->type) > 0)
            memcpy(to, from, type_bytes(&slot->type));
        return true;
    }
    layout_plain(&slot->type, &plain);
    return reorder_now(plan, &slot->layout, from, &plain, to);
}
