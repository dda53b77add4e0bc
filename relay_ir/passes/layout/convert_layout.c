/* convert_layout.c - what convolutions and pools read and write has the channels last.
 *
 * needs    types; quantisation and partitioning are done: regions of other targets, parameters and
 *          results keep their layout
 * gives    spatial operators with data_layout, out_layout, layout "NHWC" (docs/design/layout.md),
 *          as few transposes as possible, in front of whom they serve; constants in the order that
 *          is read
 * method   1. layout/channel_axis.c: which dim of each value is the channels, followed from the spatial
 *             operators over everything that takes its dims in any order;
 *          2. layout/choose.c: a minimal cut says who computes how;
 *          3. here: in the order of the graph, each node takes its inputs in its order, its
 *             attributes are turned, its types inferred again. Transposes and views of the model
 *             vanish where what they make is there. Values keep their names. */
#include "relay_ir/passes/pipeline.h"

#include <assert.h>
#include <string.h>

#include "relay_ir/ops/ops.h"
#include "relay_ir/passes/layout/plan.h"
#include "relay_ir/walk.h"

/* A value as it lies now. */
struct lies {
    struct value *value;
    struct order order; /* of the dims in the graph as it was */
};

/* A value in another order, made for some reader. */
struct copy {
    const struct value *of;
    struct order order;
    struct value *value;
    struct copy *next;
};

struct conversion {
    struct plan plan;
    struct function *fn;
    struct lies *lies;    /* by the id of the value as it was */
    struct copy **copies; /* by the id of the value as it was */
};

/* --- values ----------------------------------------------------------------------------------- */

static struct value *transposed(struct conversion *c, struct value *x, const struct ints *axes,
                                const char *name, struct node *before)
{
    const struct origin *origin = x->def ? x->def->origin : NULL;
    union attrs attrs = { .axes = { .axes = *axes } };

    return build(c->fn, OP_TRANSPOSE, &attrs, name, origin, before, 1, &x);
}

/* What a view is seen in: views of views are views of that, as canonicalize would have them. */
static struct value *behind_views(struct value *value)
{
    while (value->def && value->def->op == OP_RESHAPE)
        value = value->def->inputs[0];
    return value;
}

static struct value *reshaped(struct conversion *c, struct value *x, const struct type *type,
                              const char *name, struct node *before)
{
    const struct origin *origin = x->def ? x->def->origin : NULL;
    union attrs attrs = { .shape = { .shape = ints_of(type->rank, type->dim) } };

    x = behind_views(x);
    return build(c->fn, OP_RESHAPE, &attrs, name, origin, before, 1, &x);
}

/* "conv1.nhwc": what does not lie as the model says is called after the way it lies. */
static const char *turned_name(const struct conversion *c, const struct value *value,
                               const struct order *order)
{
    const struct channel_axis *place = &c->plan.axes[value->id];
    const struct order as_is = order_as_is(place->type.rank);
    const bool turned = !order_equal(order, &as_is, place->type.rank);
    const struct order *other = turned ? order : &c->lies[value->id].order;

    return arena_printf(&c->fn->module->arena, "%s.%s", place->name,
                        order_equal(other, &place->order[1], place->type.rank) ? "nhwc" : "nchw");
}

/* The copy that lies as the model says bears the model's name. What the value lies in may be
 * another one of the model's, behind a transpose that moves nothing: that keeps its own. */
static void give_name(struct conversion *c, struct value *value, struct value *copy)
{
    struct value *const lies = c->lies[value->id].value;

    if (strcmp(lies->name, c->plan.axes[value->id].name) == 0)
        value_swap_names(copy, lies);
    else if (strcmp(value->name, c->plan.axes[value->id].name) == 0)
        value_take_name(copy, value);
}

/* The value in an order of its dims: as it lies, or a copy before `before`. */
static struct value *in_order(struct conversion *c, struct value *value, const struct order *order,
                              struct node *before)
{
    const struct channel_axis *place = &c->plan.axes[value->id];
    const struct lies *lies = &c->lies[value->id];
    const struct type type = order_type(&place->type, order);
    const struct order as_is = order_as_is(type.rank);
    struct copy *copy;

    if (order_equal(&lies->order, order, type.rank))
        return lies->value;
    for (copy = c->copies[value->id]; copy; copy = copy->next)
        if (order_equal(&copy->order, order, type.rank))
            return copy->value;
    copy = arena_new(c->plan.scratch, struct copy);
    *copy = (struct copy){ .of = value, .order = *order, .next = c->copies[value->id] };
    if (order_same_memory(&place->type, &lies->order, order)) {
        copy->value = reshaped(c, lies->value, &type, turned_name(c, value, order), before);
    } else {
        const struct ints axes = order_axes(&lies->order, order, type.rank);

        copy->value = transposed(c, lies->value, &axes, turned_name(c, value, order), before);
    }
    c->copies[value->id] = copy;
    if (copy->value && order_equal(order, &as_is, type.rank))
        give_name(c, value, copy->value);
    return copy->value;
}

/* The scales of a quantised axis follow it. */
static const struct qtype *turned_quant(struct function *fn, const struct qtype *quant,
                                        const struct order *order, int rank, int added)
{
    struct qtype *turned;

    if (!quant || quant->axis < 0)
        return quant;
    turned = arena_new(&fn->module->arena, struct qtype);
    *turned = *quant;
    for (int i = 0; i < rank; i++)
        if (order->at[i] == quant->axis + added)
            turned->axis = i;
    return turned;
}

/* A constant with the dims of `full` (its elements under another shape) in another order, and then
 * the shape of `type`. */
static struct value *rearranged(struct function *fn, const struct value *constant,
                                const struct type *full, const struct order *order,
                                const struct type *type)
{
    const struct order as_is = order_as_is(full->rank);
    const struct type turned = order_type(full, order);
    int64_t step[MAX_RANK], from[MAX_RANK], to[MAX_RANK];
    void *data;

    if (order_same_memory(full, &as_is, order))
        return constant_new(fn, constant->name, type, constant->data);
    data = constant_alloc(fn, type);
    shape_strides(full, step);
    shape_strides(&turned, to);
    for (int i = 0; i < full->rank; i++)
        from[i] = step[order->at[i]];
    copy_steps(full->rank, turned.dim, dtype_bytes(turned.dtype), data, to, constant->data, from);
    return constant_new(fn, constant->name, type, data);
}

/* A constant whose dims, aligned to the right of `rank`, are in another order. */
static struct value *turned_constant(struct function *fn, struct value *constant,
                                     const struct order *order, int rank)
{
    const struct order as_is = order_as_is(rank);
    const int added = rank - constant->type.rank;
    struct type full = constant->type, type;

    if (order_equal(order, &as_is, rank))
        return constant;
    full.rank = rank;
    for (int i = 0; i < rank; i++)
        full.dim[i] = i < added ? 1 : constant->type.dim[i - added];
    type = order_type(&full, order);
    type.quant = turned_quant(fn, constant->type.quant, order, rank, added);
    return rearranged(fn, constant, &full, order, &type);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static const struct role *role_of(const struct conversion *c, const struct node *node)
{
    return &c->plan.roles[node->id];
}

/* As it was in the graph: for who knows nothing of layouts. */
static struct value *as_it_was(struct conversion *c, struct value *value, struct node *before)
{
    const struct order as_is = order_as_is(value->type.rank);

    if (value->kind == VALUE_CONSTANT)
        return value;
    return c->plan.axes[value->id].known ? in_order(c, value, &as_is, before)
                                         : c->lies[value->id].value;
}

/* What a FREE or SPATIAL node reads, in its order. */
static struct value *wanted_image(struct conversion *c, struct node *node, int input,
                                  const struct order *order, int rank)
{
    struct value *value = node->inputs[input];
    const bool is_number = type_elements(&value->type) == 1 && value->type.rank < rank;

    if (is_number || value->type.rank > rank)
        return as_it_was(c, value, node);
    if (value->kind == VALUE_CONSTANT)
        return turned_constant(c->fn, value, order, rank);
    return in_order(c, value, order, node);
}

/* A constant that nobody reads any more leaves its name behind. */
static bool set_input(struct node *node, int input, struct value *value)
{
    struct value *const was = node->inputs[input];

    if (!value || value == was)
        return value != NULL;
    node_set_input(node, input, value);
    if (was->kind == VALUE_CONSTANT && !was->uses)
        value_take_name(value, was);
    return true;
}

/* SPATIAL, FREE, REDUCE: the node stays, and computes in its order. */
static bool turn_node(struct conversion *c, struct node *node)
{
    const struct role *role = role_of(c, node);
    const struct value *first = role->kind == LAYOUT_FREE ? node->outputs[0] : node->inputs[0];
    const struct order order = c->plan.axes[first->id].order[role->in_last];
    const int rank = c->plan.axes[first->id].type.rank, n = layout_n_images(node);

    for (int i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] && !set_input(node, i,
                                          i < n ? wanted_image(c, node, i, &order, rank)
                                                : as_it_was(c, node->inputs[i], node)))
            return false;
    layout_permute_attrs(node, &order, role->in_last, role->out_last, &node->attrs);
    for (int i = 0; i < node->n_outputs; i++)
        c->lies[node->outputs[i]->id].order =
            role->kind == LAYOUT_FREE ? order
                                      : c->plan.axes[node->outputs[i]->id].order[role->out_last];
    return node_infer(c->fn->module->ctx, node);
}

static bool keep_node(struct conversion *c, struct node *node, struct node *before)
{
    bool changed = false;

    for (int i = 0; i < node->n_inputs; i++) {
        struct value *const was = node->inputs[i];

        if (was && !set_input(node, i, as_it_was(c, was, before)))
            return false;
        if (node->op == OP_RESHAPE)
            node_set_input(node, i, behind_views(node->inputs[i]));
        changed = changed || node->inputs[i] != was;
    }
    return !changed || !before || node_infer(c->fn->module->ctx, node);
}

/* What it makes is what it reads, in some order; a copy that had to be made bears its name. */
static bool drop_transpose(struct conversion *c, struct node *node)
{
    struct value *x = node->inputs[0], *y = node->outputs[0];
    const struct order *order = &c->plan.axes[y->id].order[role_of(c, node)->in_last];
    const struct order wanted = order_before_transpose(&node->attrs.axes.axes, order);
    const struct copy *newest = c->copies[x->id];
    struct value *value = in_order(c, x, &wanted, node);

    if (!value)
        return false;
    if (c->copies[x->id] != newest) {
        value_take_name(value, y);
        value->def->origin = node->origin;
    }
    c->lies[y->id] = (struct lies){ value, *order };
    return true;
}

/* What a view reads so that its elements are those of y in the order `made`: its input as that lies
 * now, where the elements follow one another alike, else in the order `wanted`, which does it. Only
 * the order in which x lies counts: agreement of its two candidates proves nothing. */
static struct value *viewed(struct conversion *c, struct value *x, const struct order *wanted,
                            const struct channel_axis *to, const struct order *made,
                            struct node *before)
{
    const struct channel_axis *from = &c->plan.axes[x->id];

    if (to->known && order_same_elements(&from->type, &c->lies[x->id].order, &to->type, made))
        return c->lies[x->id].value;
    assert(!to->known || order_same_elements(&from->type, wanted, &to->type, made));
    return in_order(c, x, wanted, before);
}

/* A view of its input as that lies, or in the order that is wanted; where the two orders do not go
 * together the input is copied so that they do, or else whoever reads the view will copy it. */
static bool turn_view(struct conversion *c, struct node *node)
{
    const struct role *role = role_of(c, node);
    struct value *x = node->inputs[0], *y = node->outputs[0], *view;
    const struct channel_axis *from = &c->plan.axes[x->id], *to = &c->plan.axes[y->id];
    struct order order = from->order[role->in_last], made = to->order[role->out_last];
    struct lies *lies = &c->lies[y->id];
    union attrs attrs = { .shape = { .shape = { 0 } } };
    struct type type = to->type;

    if (role->copies[role->in_last] &&
        !order_through_reshape(&to->type, &made, &from->type, &order))
        order_through_reshape(&from->type, &order, &to->type, &made);
    x = viewed(c, x, &order, to, &made, node);
    if (!x)
        return false;
    if (to->known) {
        lies->order = made;
        type = order_type(&to->type, &lies->order);
    }
    attrs.shape.shape = ints_of(type.rank, type.dim);
    x = behind_views(x);
    if (type_same_shape(&x->type, &type)) {
        lies->value = x;
        return true;
    }
    view = build(c->fn, OP_RESHAPE, &attrs, y->name, node->origin, node, 1, &x);
    if (!view)
        return false;
    value_take_name(view, y);
    lies->value = view;
    return true;
}

/* A feature map that is flattened, in an order: [0] stays the first dim. */
struct flattened {
    struct function *fn;
    struct type map;
    struct order order;
};

/* Weight column k (of matmul: row k) belongs to element k of the map as it lies. */
static bool turn_weight(void *user, struct node *dense)
{
    const struct flattened *flat = user;
    const struct value *w = dense->inputs[1];
    const bool of_rows =
        (dense->op == OP_MATMUL || dense->op == OP_QNN_MATMUL) && !dense->attrs.matmul.transpose_b;
    const int rank = flat->map.rank;
    struct type full = w->type;
    struct order order = { { 0 } };

    full.rank = rank;
    for (int i = 1; i < rank; i++) {
        full.dim[of_rows ? i - 1 : i] = flat->map.dim[i];
        order.at[of_rows ? i - 1 : i] = flat->order.at[i] - of_rows;
    }
    full.dim[of_rows ? rank - 1 : 0] = w->type.dim[of_rows];
    order.at[of_rows ? rank - 1 : 0] = of_rows ? rank - 1 : 0;
    return set_input(dense, 1, rearranged(flat->fn, w, &full, &order, &w->type));
}

static bool turn_flattening(struct conversion *c, struct node *node)
{
    const struct channel_axis *from = &c->plan.axes[node->inputs[0]->id];
    struct flattened flat = { c->fn, from->type, from->order[role_of(c, node)->in_last] };

    return plan_dense_readers(node->outputs[0], turn_weight, &flat) && turn_view(c, node);
}

static bool convert_node(struct conversion *c, struct node *node)
{
    const struct role *role = role_of(c, node);

    switch (role->kind) {
    case LAYOUT_FIXED: return keep_node(c, node, node);
    case LAYOUT_TRANSPOSE: return drop_transpose(c, node);
    case LAYOUT_VIEW: return role->flattens ? turn_flattening(c, node) : turn_view(c, node);
    default: return turn_node(c, node);
    }
}

static bool convert_all(struct conversion *c)
{
    struct function *fn = c->fn;

    for (struct node *n = fn->first; n; n = n->next)
        if (!convert_node(c, n))
            return false;
    if (!keep_node(c, fn->ret, NULL))
        return false;
    for (struct node *n = fn->last, *before; n; n = before) { /* what stood for others now */
        const enum op op = n->op;

        before = n->prev;
        if ((op == OP_TRANSPOSE || op_row(op)->pattern == PATTERN_VIEW) && !n->outputs[0]->uses)
            node_remove(n);
    }
    return true;
}

bool pass_convert_layout(struct module *module)
{
    struct arena *scratch = &module->ctx->scratch;
    struct function *fn = module->main;
    struct conversion c = { .plan = { .fn = fn, .scratch = scratch }, .fn = fn };
    int n_values;

    function_number(fn);
    n_values = fn->n_values;
    c.plan.axes = arena_array(scratch, struct channel_axis, n_values);
    c.plan.roles = arena_array(scratch, struct role, fn->n_nodes);
    c.lies = arena_array(scratch, struct lies, n_values);
    c.copies = arena_array(scratch, struct copy *, n_values);
    plan_channel_axes(&c.plan);
    if (!c.plan.any)
        return true;
    plan_choose(&c.plan);
    for (int i = 0; i < fn->n_params; i++)
        c.lies[fn->params[i]->id] =
            (struct lies){ fn->params[i], order_as_is(fn->params[i]->type.rank) };
    for (struct node *n = fn->first; n; n = n->next)
        for (int i = 0; i < n->n_outputs; i++)
            c.lies[n->outputs[i]->id] =
                (struct lies){ n->outputs[i], order_as_is(n->outputs[i]->type.rank) };
    return convert_all(&c);
}
