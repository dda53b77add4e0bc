/* channel_axis.c - where the channels of each value are. Breadth first from the spatial operators, in the
 * order of the graph; the first that says something of a value is believed. */
#include "relay_ir/layout.h"
#include "relay_ir/passes/layout/plan.h"

struct spread {
    struct plan *plan;
    struct value **queue;
    int n, done;
};

bool plan_is_image(const struct plan *plan, const struct node *node, int input)
{
    if (!node->inputs[input])
        return false;
    return plan->roles[node->id].kind == LAYOUT_FIXED || input < layout_n_images(node);
}

/* Values of main are numbered; those of no dims have no place. */
static struct channel_axis *place_of(const struct spread *spread, const struct value *value)
{
    return &spread->plan->axes[value->id];
}

static void settle(struct spread *spread, struct value *value, const struct order order[2])
{
    struct channel_axis *place = place_of(spread, value);

    if (place->known || value->kind == VALUE_CONSTANT)
        return;
    place->known = true;
    place->order[0] = order[0];
    place->order[1] = order[1];
    spread->queue[spread->n++] = value;
}

static void settle_spatial(struct spread *spread, struct node *node)
{
    const int rank = node->inputs[0]->type.rank;
    const char *layouts[] = { node_layout(node), node_out_layout(node) };
    struct value *values[] = { node->inputs[0], node->outputs[0] };

    for (int i = 0; i < 2; i++) {
        const struct order order[] = { order_of_layout(layouts[i], rank, false),
                                       order_of_layout(layouts[i], rank, true) };

        settle(spread, values[i], order);
    }
}

/* All images of a FREE node, and all its outputs, have the same dims. */
static bool shares_order(const struct node *node, const struct value *value)
{
    return value && value->kind != VALUE_CONSTANT &&
           value->type.rank == node->outputs[0]->type.rank;
}

static void spread_free(struct spread *spread, struct node *node)
{
    const struct channel_axis *known = place_of(spread, node->outputs[0]);
    struct role *role = &spread->plan->roles[node->id];
    const int n = role->spread ? 0 : layout_n_images(node);

    for (int i = 0; i < n && !known->known; i++)
        if (shares_order(node, node->inputs[i]))
            known = place_of(spread, node->inputs[i]);
    for (int i = 0; i < node->n_outputs && !known->known; i++)
        known = place_of(spread, node->outputs[i]);
    if (!known->known || role->spread)
        return;
    role->spread = true;
    for (int i = 0; i < n; i++)
        if (shares_order(node, node->inputs[i]))
            settle(spread, node->inputs[i], known->order);
    for (int i = 0; i < node->n_outputs; i++)
        settle(spread, node->outputs[i], known->order);
}

/* Of the output of a reduction, a transpose or a view, from its input; or the other way round. */
static bool orders_through(const struct node *node, bool back, const struct order from[2],
                           struct order to[2])
{
    const struct type *x = &node->inputs[0]->type, *y = &node->outputs[0]->type;
    bool ok = true;

    for (int k = 0; k < 2 && ok; k++)
        switch (layout_kind(node)) {
        case LAYOUT_REDUCE:
            ok = !back || x->rank == y->rank;
            to[k] = from[k];
            if (ok && x->rank != y->rank)
                to[k] = order_without(&from[k], x->rank,
                                      op_row(node->op)->attrs == ATTRS_arg
                                          ? &(struct ints){ 1, { node->attrs.arg.axis } }
                                          : &node->attrs.reduce.axis);
            break;
        case LAYOUT_TRANSPOSE:
            to[k] = back ? order_before_transpose(&node->attrs.axes.axes, &from[k])
                         : order_through_transpose(&node->attrs.axes.axes, &from[k]);
            break;
        default: ok = order_through_reshape(back ? y : x, &from[k], back ? x : y, &to[k]); break;
        }
    return ok;
}

static void spread_one(struct spread *spread, struct node *node)
{
    struct value *x = node->inputs[0], *y = node->outputs[0];
    struct order order[2];

    if (place_of(spread, x)->known &&
        orders_through(node, false, place_of(spread, x)->order, order))
        settle(spread, y, order);
    if (place_of(spread, y)->known && orders_through(node, true, place_of(spread, y)->order, order))
        settle(spread, x, order);
}

static void spread_over(struct spread *spread, struct node *node)
{
    switch (spread->plan->roles[node->id].kind) {
    case LAYOUT_FREE: spread_free(spread, node); break;
    case LAYOUT_REDUCE:
    case LAYOUT_TRANSPOSE:
    case LAYOUT_VIEW: spread_one(spread, node); break;
    case LAYOUT_FIXED:
    case LAYOUT_SPATIAL: break;
    }
}

static bool has_orders(const struct spread *spread, const struct value *value,
                       const struct order order[2])
{
    const struct channel_axis *place = place_of(spread, value);

    return place->known && order_equal(&place->order[0], &order[0], value->type.rank) &&
           order_equal(&place->order[1], &order[1], value->type.rank);
}

/* The same but for dims of 1, which a view can put elsewhere. */
static bool lies_alike(const struct spread *spread, const struct value *value,
                       const struct order order[2])
{
    const struct channel_axis *place = place_of(spread, value);

    return place->known && order_same_memory(&place->type, &place->order[0], &order[0]) &&
           order_same_memory(&place->type, &place->order[1], &order[1]);
}

/* Whether the channel axes of what the node reads and writes are those that it can take. */
static bool free_fits(const struct spread *spread, const struct node *node)
{
    const struct order *order = place_of(spread, node->outputs[0])->order;
    bool fits = place_of(spread, node->outputs[0])->known;

    for (int i = 0; i < layout_n_images(node) && fits; i++)
        fits = !shares_order(node, node->inputs[i]) || lies_alike(spread, node->inputs[i], order);
    for (int i = 0; i < node->n_outputs && fits; i++)
        fits = lies_alike(spread, node->outputs[i], order);
    return fits;
}

static bool spatial_fits(const struct spread *spread, const struct node *node)
{
    const int rank = node->inputs[0]->type.rank;
    const char *in = node_layout(node), *out = node_out_layout(node);

    return has_orders(spread, node->inputs[0],
                      (struct order[]){ order_of_layout(in, rank, false),
                                        order_of_layout(in, rank, true) }) &&
           has_orders(spread, node->outputs[0],
                      (struct order[]){ order_of_layout(out, rank, false),
                                        order_of_layout(out, rank, true) });
}

static bool reduce_fits(const struct spread *spread, const struct node *node)
{
    const struct channel_axis *x = place_of(spread, node->inputs[0]);
    struct order order[2];

    return x->known && orders_through(node, false, x->order, order) &&
           has_orders(spread, node->outputs[0], order);
}

/* A transpose can make any order of any other, by a copy. */
static bool transpose_fits(const struct spread *spread, const struct node *node, bool copies[2])
{
    const struct channel_axis *x = place_of(spread, node->inputs[0]);
    const struct channel_axis *y = place_of(spread, node->outputs[0]);

    if (!x->known || !y->known)
        return false;
    for (int k = 0; k < 2; k++) {
        const struct order wanted = order_before_transpose(&node->attrs.axes.axes, &y->order[k]);

        copies[k] = !order_same_memory(&x->type, &x->order[k], &wanted);
    }
    return true;
}

/* A view where the elements lie in the same order; else a copy either of its input before it, or of
 * its output behind it, if one of the two can be seen as the other. */
static bool view_fits(const struct spread *spread, const struct node *node, bool copies[2])
{
    const struct channel_axis *x = place_of(spread, node->inputs[0]);
    const struct channel_axis *y = place_of(spread, node->outputs[0]);
    struct order order;
    bool fits = x->known && y->known;

    for (int k = 0; k < 2 && fits; k++) {
        copies[k] = !order_same_elements(&x->type, &x->order[k], &y->type, &y->order[k]);
        fits = !copies[k] || order_through_reshape(&x->type, &x->order[k], &y->type, &order) ||
               order_through_reshape(&y->type, &y->order[k], &x->type, &order);
    }
    return fits;
}

/* The batch stays the first dim, and the elements behind it belong to weights. */
static bool flattens(const struct spread *spread, const struct node *node)
{
    const struct channel_axis *x = place_of(spread, node->inputs[0]);

    return x->known && x->order[0].at[0] == 0 && x->order[1].at[0] == 0 &&
           !place_of(spread, node->outputs[0])->known && plan_is_flattening(node);
}

static void check_role(struct spread *spread, const struct node *node)
{
    struct role *role = &spread->plan->roles[node->id];
    bool fits = true;

    switch (role->kind) {
    case LAYOUT_FIXED: return;
    case LAYOUT_FREE: fits = free_fits(spread, node); break;
    case LAYOUT_SPATIAL: fits = spatial_fits(spread, node); break;
    case LAYOUT_VIEW:
        fits = view_fits(spread, node, role->copies);
        role->flattens = !fits && flattens(spread, node);
        break;
    case LAYOUT_TRANSPOSE: fits = transpose_fits(spread, node, role->copies); break;
    case LAYOUT_REDUCE: fits = reduce_fits(spread, node); break;
    }
    if (!fits) {
        role->kind = role->flattens ? LAYOUT_VIEW : LAYOUT_FIXED;
        role->copies[0] = role->copies[1] = false;
    }
}

static void begin_place(struct plan *plan, const struct value *value)
{
    plan->axes[value->id].type = value->type;
    plan->axes[value->id].name = value->name;
}

void plan_channel_axes(struct plan *plan)
{
    struct function *fn = plan->fn;
    struct spread spread = { .plan = plan };

    spread.queue = arena_array(plan->scratch, struct value *, fn->n_values);
    for (int i = 0; i < fn->n_params; i++)
        begin_place(plan, fn->params[i]);
    for (struct node *n = fn->first; n; n = n->next) {
        plan->roles[n->id].kind = layout_kind(n);
        for (int i = 0; i < n->n_outputs; i++)
            begin_place(plan, n->outputs[i]);
    }
    for (struct node *n = fn->first; n; n = n->next)
        if (plan->roles[n->id].kind == LAYOUT_SPATIAL)
            settle_spatial(&spread, n);
    while (spread.done < spread.n) {
        struct value *value = spread.queue[spread.done++];

        if (value->def)
            spread_over(&spread, value->def);
        for (struct use *use = value->uses; use; use = use->next)
            if (use->node->op != OP_RETURN)
                spread_over(&spread, use->node);
    }
    plan->any = spread.n > 0;
    for (struct node *n = fn->first; n; n = n->next)
        check_role(&spread, n);
}
