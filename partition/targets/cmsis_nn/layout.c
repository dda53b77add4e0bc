/* layout.c - see layout.h. */
#include "partition/targets/cmsis_nn/layout.h"

#include <string.h>

#include "relay_ir/outline.h"

static const int64_t nhwc_axes[] = { 0, 2, 3, 1 }, nchw_axes[] = { 0, 3, 1, 2 };

struct layout {
    struct module *module;
    struct function *region;
    struct map nhwc; /* name of a value of the region -> the same in NHWC */
};

static bool is_image(const struct value *value)
{
    return value->kind != VALUE_CONSTANT && value->type.rank == 4 && value->type.dtype == DTYPE_I8;
}

static struct type permuted(const struct type *type, const int64_t *axes)
{
    struct type result = *type;

    for (int i = 0; i < 4; i++)
        result.dim[i] = type->dim[axes[i]];
    return result;
}

/* Whether the elements lie in the same order in both layouts. */
static bool is_only_shape(const struct type *nchw)
{
    return nchw->dim[1] == 1 || nchw->dim[2] * nchw->dim[3] == 1;
}

static const char *unique_function(const struct module *module, const char *wanted)
{
    const char *name = wanted;
    bool taken = true;

    for (int i = 2; taken; i++) {
        taken = false;
        for (const struct function *fn = module->functions; fn; fn = fn->next)
            taken = taken || strcmp(fn->name, name) == 0;
        if (taken)
            name = arena_printf(&((struct module *)(uintptr_t)module)->arena, "%s_%d", wanted, i);
    }
    return name;
}

static struct value *transposed(struct function *fn, struct value *value, const int64_t *axes,
                                const char *name)
{
    union attrs attrs = { .axes = { .axes = ints_of(4, axes) } };

    return build(fn, OP_TRANSPOSE, &attrs, name, NULL, NULL, 1, &value);
}

static struct function *composite_new(struct layout *layout, const char *name,
                                      const char *composite)
{
    struct function *fn = function_new(layout->module, unique_function(layout->module, name));

    fn->compiler = "cmsis_nn";
    fn->composite = composite;
    return fn;
}

/* The value in the other layout, made right before `before`: a reshape, or a call of to_nhwc or
 * to_nchw. */
static struct value *moved(struct layout *layout, struct value *value, bool to_nhwc,
                           const char *name, struct node *before)
{
    const int64_t *axes = to_nhwc ? nhwc_axes : nchw_axes;
    const struct type type = permuted(&value->type, axes);
    struct function *fn;
    struct value *result;
    struct node *call;

    if (is_only_shape(to_nhwc ? &value->type : &type)) {
        union attrs attrs = { .shape = { .shape = ints_of(4, type.dim) } };

        return build(layout->region, OP_RESHAPE, &attrs, name, NULL, before, 1, &value);
    }
    fn = composite_new(layout, name, to_nhwc ? "cmsis_nn.to_nhwc" : "cmsis_nn.to_nchw");
    result = transposed(fn, param_new(fn, "x", &value->type), axes, "y");
    if (!result)
        return NULL;
    result_add(fn, result, "y");
    call = node_new(layout->region, &(struct node_args){ .op = OP_CALL,
                                                         .n_inputs = 1,
                                                         .inputs = &value,
                                                         .n_outputs = 1,
                                                         .names = &name,
                                                         .callee = fn,
                                                         .before = before });
    return call ? call->outputs[0] : NULL;
}

static const char *suffixed(struct layout *layout, const struct value *value, const char *suffix)
{
    return arena_printf(&layout->module->arena, "%s.%s", value->name, suffix);
}

static struct value *in_nhwc(struct layout *layout, struct value *value, struct node *before)
{
    struct value *made = map_get(&layout->nhwc, value->name);

    if (made)
        return made;
    made = moved(layout, value, true, suffixed(layout, value, "nhwc"), before);
    if (made)
        map_set(&layout->nhwc, value->name, made);
    return made;
}

/* Whether the composite reads the parameter through a transpose of the model's already. */
static bool is_transposed_inside(const struct value *param)
{
    for (const struct use *use = param->uses; use; use = use->next)
        if (use->node->op == OP_TRANSPOSE)
            return true;
    return false;
}

static struct value *copied_value(struct map *copies, const struct value *value)
{
    return value ? map_get(copies, value->name) : NULL;
}

/* Whether a constant is added to images, or multiplied with them. */
static bool is_operand(const struct value *constant)
{
    if (constant->type.rank != 4 || constant->type.dtype != DTYPE_I8)
        return false;
    for (const struct use *use = constant->uses; use; use = use->next)
        if (use->node->op == OP_QNN_ADD || use->node->op == OP_QNN_MUL)
            return true;
    return false;
}

/* The constant in NHWC, and what makes NCHW of it for the graph's sake. */
static struct value *copy_operand(struct layout *layout, const struct value *constant,
                                  struct function *to)
{
    const struct type *type = &constant->type;
    const struct type turned = permuted(type, nhwc_axes);
    const int64_t channels = type->dim[1], pixels = type->dim[2] * type->dim[3];
    const int8_t *from = constant->data;
    int8_t *data = constant_alloc(to, &turned);

    for (int64_t n = 0; n < type->dim[0]; n++)
        for (int64_t c = 0; c < channels; c++)
            for (int64_t i = 0; i < pixels; i++)
                data[(n * pixels + i) * channels + c] = from[(n * channels + c) * pixels + i];
    return transposed(to, constant_new(to, constant->name, &turned, data), nchw_axes,
                      arena_printf(&layout->module->arena, "%s.nchw", constant->name));
}

static bool copy_nodes(struct layout *layout, const struct function *from, struct function *to,
                       struct map *copies)
{
    struct arena *arena = &layout->module->ctx->scratch;

    for (const struct value *v = from->constants; v; v = v->next) {
        struct value *copy = is_operand(v) ? copy_operand(layout, v, to)
                                           : constant_new(to, v->name, &v->type, v->data);

        if (!copy)
            return false;
        map_set(copies, v->name, copy);
    }
    for (const struct node *n = from->first; n; n = n->next) {
        struct value **inputs = arena_array(arena, struct value *, n->n_inputs);
        struct node *copy;

        for (int i = 0; i < n->n_inputs; i++)
            inputs[i] = copied_value(copies, n->inputs[i]);
        copy = node_copy(to, n, inputs, NULL);
        if (!copy)
            return false;
        for (int i = 0; i < n->n_outputs; i++)
            map_set(copies, n->outputs[i]->name, copy->outputs[i]);
    }
    return true;
}

/* Whether the parameter of the composite is to be handed over in NHWC. */
static bool turns(const struct value *param)
{
    return is_image(param) && !is_transposed_inside(param);
}

static bool ends_transposed(const struct function *composite)
{
    const struct value *result = composite->ret->inputs[0];

    return result->def && result->def->op == OP_TRANSPOSE;
}

/* A composite like `old` on NHWC. */
static struct function *turned_composite(struct layout *layout, const struct function *old)
{
    struct function *fn = composite_new(
        layout, arena_printf(&layout->module->arena, "%s.nhwc", old->name), old->composite);
    struct map copies = { .arena = &layout->module->ctx->scratch };
    struct value *result;

    for (int i = 0; i < old->n_params; i++) {
        const struct value *param = old->params[i];
        const struct type type = turns(param) ? permuted(&param->type, nhwc_axes) : param->type;
        struct value *value = param_new(fn, param->name, &type);

        if (turns(param))
            value = transposed(fn, value, nchw_axes,
                               arena_printf(&layout->module->arena, "%s.nchw", param->name));
        if (!value)
            return NULL;
        map_set(&copies, param->name, value);
    }
    if (!copy_nodes(layout, old, fn, &copies))
        return NULL;
    result = copied_value(&copies, old->ret->inputs[0]);
    if (is_image(result) && !ends_transposed(old))
        result = transposed(fn, result, nhwc_axes,
                            arena_printf(&layout->module->arena, "%s.nhwc", result->name));
    if (!result)
        return NULL;
    result_add(fn, result, result->name);
    return fn;
}

static bool turn_call(struct layout *layout, struct node *call)
{
    struct function *old = call->callee, *fn;
    struct value *was = call->outputs[0], *now;
    struct value **inputs =
        arena_array(&layout->module->ctx->scratch, struct value *, call->n_inputs);
    const bool turns_result = is_image(was) && !ends_transposed(old);
    const char *name = suffixed(layout, was, "nhwc");
    struct node *turned;

    for (int i = 0; i < call->n_inputs; i++) {
        inputs[i] = call->inputs[i];
        if (turns(old->params[i]))
            inputs[i] = in_nhwc(layout, call->inputs[i], call);
        if (!inputs[i])
            return false;
    }
    fn = turned_composite(layout, old);
    if (!fn)
        return false;
    turned = node_new(layout->region, &(struct node_args){ .op = OP_CALL,
                                                           .n_inputs = call->n_inputs,
                                                           .inputs = inputs,
                                                           .n_outputs = 1,
                                                           .names = &name,
                                                           .origin = call->origin,
                                                           .callee = fn,
                                                           .before = call });
    if (!turned)
        return false;
    now = turned->outputs[0];
    if (turns_result) {
        now = moved(layout, now, false, suffixed(layout, was, "nchw"), call);
        if (!now)
            return false;
    }
    value_supplant(was, now);
    if (turns_result)
        map_set(&layout->nhwc, now->name, turned->outputs[0]);
    node_remove(call);
    return true;
}

/* Composites that are moves themselves stay as they are. */
static bool needs_turning(const struct node *call)
{
    bool needed = is_image(call->outputs[0]) && !ends_transposed(call->callee);

    if (call->callee->first && call->callee->first->op == OP_TRANSPOSE &&
        call->callee->first == call->callee->last)
        return false;
    for (int i = 0; i < call->callee->n_params; i++)
        needed = needed || turns(call->callee->params[i]);
    return needed && call->n_outputs == 1;
}

/* Conversions that nobody reads. */
static void remove_unread(struct function *region)
{
    for (struct node *n = region->last, *before; n; n = before) {
        before = n->prev;
        if (n->n_outputs == 1 && !n->outputs[0]->uses)
            node_remove(n);
    }
}

bool cmsis_nn_to_nhwc(struct ctx *ctx, struct function *region)
{
    struct layout layout = { .module = region->module,
                             .region = region,
                             .nhwc = { .arena = &ctx->scratch } };

    for (struct node *n = region->first, *next; n; n = next) {
        next = n->next;
        if (n->op == OP_CALL && needs_turning(n) && !turn_call(&layout, n))
            return false;
    }
    remove_unread(region);
    return true;
}
