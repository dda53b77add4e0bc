/* plan.c - building a plan, and running it. */
#include "runtime/engine/plan.h"

#include <oneapi/dnnl/dnnl_debug.h>

#include <string.h>

#include "base/memory.h"
#include "runtime/engine/native.h"

enum { MAX_CALL_DEPTH = 16 };

bool plan_check(struct plan *plan, const struct node *node, dnnl_status_t status, const char *doing)
{
    if (status == dnnl_success)
        return true;
    if (status == dnnl_out_of_memory)
        out_of_memory(0);
    return diag_error(plan->ctx, DIAG_ENGINE, node ? node_origin(node) : NULL,
                      "oneDNN could not %s: %s", doing, dnnl_status2str(status));
}

struct step *plan_step(struct plan *plan, const struct node *node, dnnl_primitive_t primitive,
                       int n, struct slot *const *slots)
{
    struct step *step;

    plan->held.primitive = primitive; /* should the next lines fail */
    step = arena_new(&plan->arena, struct step);
    step->node = node;
    step->primitive = primitive;
    step->n_slots = n;
    step->n_args = primitive ? n : 0;
    step->slots = arena_array(&plan->arena, struct slot *, n);
    if (primitive)
        step->args = arena_array(&plan->arena, dnnl_exec_arg_t, n + 1);
    else
        step->tensors = arena_array(&plan->arena, struct tensor, n);
    for (int i = 0; i < n; i++) {
        step->slots[i] = slots[i];
        if (slots[i])
            slot_touch(plan, slots[i]);
    }
    if (plan->last)
        plan->last->next = step;
    else
        plan->first = step;
    plan->last = step;
    plan->n_steps++;
    plan->held.primitive = NULL;
    return step;
}

/* --- building --------------------------------------------------------------------------------- */

static bool build_function(struct plan *plan, struct frame *frame);

static void add_sight(struct plan *plan, const struct frame *frame, const struct value *value)
{
    struct sight *sight = arena_new(&plan->arena, struct sight);

    sight->value = value;
    sight->slot = frame->slots[value->id];
    sight->at = plan->n_steps;
    sight->inside = frame->depth > 0;
    slot_touch(plan, sight->slot);
    if (plan->last_sight)
        plan->last_sight->next = sight;
    else
        plan->sights = sight;
    plan->last_sight = sight;
}

/* A frame with room for fn's values, its constants filled in; params are the caller's. */
static bool frame_open(struct plan *plan, struct frame *frame, struct function *fn, int depth)
{
    if (depth > MAX_CALL_DEPTH)
        return diag_error(plan->ctx, DIAG_INTERNAL, NULL, "calls are nested more than %d deep",
                          MAX_CALL_DEPTH);
    function_number(fn);
    frame->fn = fn;
    frame->depth = depth;
    frame->slots = arena_array(&plan->arena, struct slot *, fn->n_values);
    frame->done = arena_array(&plan->arena, bool, fn->n_nodes);
    for (const struct value *v = fn->constants; v; v = v->next)
        frame->slots[v->id] = slot_fixed(plan, &v->type, v->data);
    return true;
}

static bool build_call(struct plan *plan, struct frame *frame, const struct node *call)
{
    struct frame inner;

    if (!frame_open(plan, &inner, call->callee, frame->depth + 1))
        return false;
    for (int i = 0; i < call->n_inputs; i++)
        inner.slots[call->callee->params[i]->id] = frame->slots[call->inputs[i]->id];
    if (!build_function(plan, &inner))
        return false;
    for (int i = 0; i < call->n_outputs; i++)
        frame->slots[call->outputs[i]->id] = inner.slots[call->callee->ret->inputs[i]->id];
    return true;
}

static bool build_view(struct plan *plan, struct frame *frame, const struct node *node)
{
    struct slot *plain = slot_plain(plan, frame->slots[node->inputs[0]->id]);

    if (!plain)
        return false;
    frame->slots[node->outputs[0]->id] = slot_view(plan, plain, &node->outputs[0]->type);
    return true;
}

static bool build_reference(struct plan *plan, struct frame *frame, const struct node *node,
                            const char *why)
{
    int n = node->n_inputs + node->n_outputs;
    struct slot **slots = arena_array(&plan->arena, struct slot *, n);
    struct step *step;

    for (int i = 0; i < node->n_inputs; i++) {
        if (!node->inputs[i])
            continue;
        slots[i] = slot_plain(plan, frame->slots[node->inputs[i]->id]);
        if (!slots[i])
            return false;
    }
    for (int i = 0; i < node->n_outputs; i++) {
        slots[node->n_inputs + i] = slot_pool(plan, &node->outputs[i]->type, NULL);
        frame->slots[node->outputs[i]->id] = slots[node->n_inputs + i];
    }
    step = plan_step(plan, node, NULL, n, slots);
    step->in = arena_array(&plan->arena, const struct tensor *, node->n_inputs);
    step->why = why;
    plan->n_reference++;
    return true;
}

/* False after an error; *done: the node has its slot. */
static bool build_native(struct plan *plan, struct frame *frame, const struct node *node,
                         struct slot *(*build_slot)(struct plan *plan, const struct node *node,
                                                    struct slot *const *inputs, bool *failed),
                         bool *done)
{
    struct slot **inputs = arena_array(&plan->arena, struct slot *, node->n_inputs), *slot;
    bool failed;

    for (int i = 0; i < node->n_inputs; i++)
        inputs[i] = node->inputs[i] ? frame->slots[node->inputs[i]->id] : NULL;
    slot = build_slot(plan, node, inputs, &failed);
    *done = slot != NULL;
    if (slot)
        frame->slots[node->outputs[0]->id] = slot;
    return !failed;
}

/* *result_of: the node whose outputs now have slots; a later one when more was fused to `node`. */
static bool build_node(struct plan *plan, struct frame *frame, const struct node *node,
                       const struct node **result_of)
{
    const char *why = NULL;
    bool done;

    *result_of = node;
    if (node->op == OP_CALL)
        return build_call(plan, frame, node);
    if (node->op == OP_CUSTOM)
        return diag_error(plan->ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "%s is a C function of yours (--custom-op): only the generated C calls it",
                          str_safe(&plan->ctx->perm, node->attrs.custom.op, 60));
    if (op_row(node->op)->pattern == PATTERN_VIEW || node->op == OP_COPY)
        return build_view(plan, frame, node);
    if (!build_native(plan, frame, node, native_fold, &done))
        return false;
    if (done)
        return true;
    switch (primitive_build(plan, frame, node, &why, result_of)) {
    case BUILT: return true;
    case NOT_BUILT:
        if (!build_native(plan, frame, node, native_build, &done))
            return false;
        return done || build_reference(plan, frame, node, why);
    case BUILD_FAILED: break;
    }
    return false;
}

static bool build_function(struct plan *plan, struct frame *frame)
{
    for (const struct node *node = frame->fn->first; node; node = node->next) {
        const struct node *result_of;

        if (frame->done[node->id])
            continue;
        if (!build_node(plan, frame, node, &result_of))
            return false;
        for (int i = 0; i < result_of->n_outputs; i++)
            add_sight(plan, frame, result_of->outputs[i]);
    }
    return true;
}

static bool build_main(struct plan *plan, struct function *fn)
{
    struct frame frame;

    if (!frame_open(plan, &frame, fn, 0))
        return false;
    plan->n_params = fn->n_params;
    plan->params = arena_array(&plan->arena, struct slot *, fn->n_params);
    for (int i = 0; i < fn->n_params; i++) {
        plan->params[i] = slot_input(plan, &fn->params[i]->type, i);
        frame.slots[fn->params[i]->id] = plan->params[i];
    }
    if (!build_function(plan, &frame))
        return false;
    plan->n_results = fn->ret->n_inputs;
    plan->results = arena_array(&plan->arena, struct slot *, plan->n_results);
    for (int i = 0; i < plan->n_results; i++) {
        plan->results[i] = slot_plain(plan, frame.slots[fn->ret->inputs[i]->id]);
        if (!plan->results[i])
            return false;
    }
    for (int i = 0; i < plan->n_results; i++)
        slot_touch(plan, plan->results[i]);
    return true;
}

/* Pool and constants stay where they are; the callers' inputs are set before each run. */
bool plan_bind(struct plan *plan, const struct tensor *inputs)
{
    for (struct step *step = plan->first; step; step = step->next) {
        for (int i = 0; step->primitive && i < step->n_slots; i++) {
            const struct slot *slot = step->slots[i];

            const enum home home = slot->storage->home;

            if ((home == HOME_INPUT || home == HOME_KEPT) != (inputs != NULL))
                continue;
            if (!plan_check(plan, step->node,
                            dnnl_memory_set_data_handle(step->args[i].memory,
                                                        slot_data(plan, slot, inputs)),
                            "take a tensor"))
                return false;
        }
    }
    return true;
}

/* What oneDNN holds of it. */
static void release(void *user, size_t size)
{
    const struct plan *plan = user;

    (void)size;
    for (struct step *step = plan->first; step; step = step->next) {
        for (int i = 0; i < step->n_args; i++)
            dnnl_memory_destroy(step->args[i].memory);
        dnnl_primitive_destroy(step->primitive);
    }
    dnnl_primitive_destroy(plan->held.primitive);
    dnnl_primitive_desc_destroy(plan->held.desc);
    dnnl_post_ops_destroy(plan->held.post_ops);
}

struct plan *plan_build(struct ctx *ctx, dnnl_engine_t engine, dnnl_stream_t stream,
                        struct function *fn, bool fuse, struct shared *shared)
{
    struct arena arena = { NULL };
    struct plan *plan = arena_new(&arena, struct plan);

    plan->arena = arena; /* the plan lives in its own arena */
    memory_own(plan, release, 0);
    plan->ctx = ctx;
    plan->engine = engine;
    plan->stream = stream;
    plan->fuse = fuse;
    plan->shared = shared;
    if (build_main(plan, fn))
        return plan;
    plan_free(plan);
    return NULL;
}

struct plan *plan_new(struct ctx *ctx, dnnl_engine_t engine, dnnl_stream_t stream,
                      struct function *fn, bool fuse)
{
    struct plan *plan = plan_build(ctx, engine, stream, fn, fuse, NULL);

    if (!plan)
        return NULL;
    plan_place(plan);
    if (plan_bind(plan, NULL))
        return plan;
    plan_free(plan);
    return NULL;
}

void plan_free(struct plan *plan)
{
    struct arena arena;

    if (!plan)
        return;
    memory_disown(plan);
    release(plan, 0);
    bulk_release(&plan->fixed);
    bulk_release(&plan->pool_memory);
    arena = plan->arena;
    arena_release(&arena);
}

/* --- running ---------------------------------------------------------------------------------- */

static bool run_reference(struct plan *plan, const struct step *step, const struct tensor *inputs)
{
    const struct node *node = step->node;

    for (int i = 0; i < step->n_slots; i++) {
        struct tensor *tensor = &step->tensors[i];

        if (!step->slots[i])
            continue;
        tensor->type = step->slots[i]->type;
        tensor->data = slot_data(plan, step->slots[i], inputs);
        if (i < node->n_inputs)
            step->in[i] = tensor;
        else
            memset(tensor->data, 0, type_bytes(&tensor->type));
    }
    return op_row(node->op)->evaluate(plan->ctx, node, step->in, step->tensors + node->n_inputs);
}

static bool run_primitive(struct plan *plan, const struct step *step)
{
    dnnl_status_t status =
        dnnl_primitive_execute(step->primitive, plan->stream, step->n_args, step->args);

    if (status == dnnl_success)
        status = dnnl_stream_wait(plan->stream);
    return plan_check(plan, step->node, status, "run a primitive");
}

bool plan_run_step(struct plan *plan, const struct step *step, const struct tensor *inputs)
{
    if (step->primitive)
        return run_primitive(plan, step);
    if (!step->native)
        return run_reference(plan, step, inputs);
    native_run(step->native, slot_data(plan, step->slots[0], inputs),
               slot_data(plan, step->slots[1], inputs));
    return true;
}

/* Shows what there is to see before the step numbered `at`; returns the first sight after it. */
static const struct sight *show(struct plan *plan, const struct sight *sight, int at,
                                const struct tensor *inputs, const struct observer *observer,
                                bool *ok)
{
    for (; sight && sight->at <= at && *ok; sight = sight->next) {
        struct bulk bulk = { 0 };
        struct tensor tensor;

        if (sight->inside && !observer->inside_regions)
            continue;
        tensor = tensor_new(&bulk, &sight->slot->type);
        tensor.type = sight->value->type;
        *ok = slot_export(plan, sight->slot, slot_data(plan, sight->slot, inputs), tensor.data);
        if (*ok)
            observer->see(observer->user, sight->value, &tensor);
        bulk_release(&bulk);
    }
    return sight;
}

bool plan_take_results(struct plan *plan, const struct tensor *inputs, struct tensor *outputs,
                       struct bulk *bulk)
{
    bool ok = true;

    for (int i = 0; i < plan->n_results && ok; i++) {
        outputs[i] = tensor_new(bulk, &plan->results[i]->type);
        ok = slot_export(plan, plan->results[i], slot_data(plan, plan->results[i], inputs),
                         outputs[i].data);
    }
    return ok;
}

bool plan_run(struct plan *plan, const struct tensor *inputs, struct tensor *outputs,
              struct bulk *bulk, const struct observer *observer)
{
    const struct sight *sight = observer ? plan->sights : NULL;
    bool ok = plan->n_params == 0 || plan_bind(plan, inputs);
    int at = 0;

    for (const struct step *step = plan->first; step && ok; step = step->next, at++) {
        sight = show(plan, sight, at, inputs, observer, &ok);
        if (ok)
            ok = plan_run_step(plan, step, inputs);
    }
    if (ok)
        show(plan, sight, at, inputs, observer, &ok);
    return ok && plan_take_results(plan, inputs, outputs, bulk);
}
