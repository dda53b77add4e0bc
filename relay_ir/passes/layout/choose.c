/* choose.c - the cheapest layouts, as a minimal cut.
 *
 * Vertices are the sides of nodes, with the channels last at the source. A value that is read
 * otherwise than it is written costs one copy, its bytes read and written, however many readers
 * want it so; a copy before an element-wise reader costs a little more, since it keeps that reader
 * out of the region before. A convolution that reads or writes planes, where it can, costs a
 * quarter of a copy: its loads and stores are strided, but it moves no byte more; one that has
 * windows over many channels costs more than a copy. Where the elements lie alike in both orders,
 * nothing is moved. */
#include "base/min_cut.h"
#include "relay_ir/passes/layout/plan.h"

enum { NO_MATTER = -1 }; /* instead of a vertex: what is read or written is neither order */

struct choice {
    struct plan *plan;
    struct min_cut *cut;
};

/* Of what reads or writes the dims as they are in the graph. */
static int vertex_as_is(const struct channel_axis *place)
{
    const struct order as_is = order_as_is(place->type.rank);

    if (order_equal(&place->order[1], &as_is, place->type.rank))
        return MIN_CUT_SOURCE;
    return order_equal(&place->order[0], &as_is, place->type.rank) ? MIN_CUT_SINK : NO_MATTER;
}

static int writer_vertex(const struct choice *choice, const struct value *value)
{
    const struct channel_axis *place = &choice->plan->axes[value->id];

    if (!value->def || choice->plan->roles[value->def->id].kind == LAYOUT_FIXED)
        return vertex_as_is(place);
    return choice->plan->roles[value->def->id].out;
}

static int reader_vertex(const struct choice *choice, const struct value *value,
                         const struct use *use)
{
    const struct plan *plan = choice->plan;

    if (use->node->op == OP_RETURN || plan->roles[use->node->id].kind == LAYOUT_FIXED ||
        !plan_is_image(plan, use->node, use->input))
        return vertex_as_is(&plan->axes[value->id]);
    return plan->roles[use->node->id].in;
}

static bool is_free_move(const struct channel_axis *place)
{
    return order_same_memory(&place->type, &place->order[0], &place->order[1]);
}

/* Views read what moves no byte in any order. */
static bool may_be_anyhow(const struct choice *choice, const struct channel_axis *place,
                          const struct use *use)
{
    return use->node->op != OP_RETURN && is_free_move(place) &&
           choice->plan->roles[use->node->id].kind == LAYOUT_VIEW;
}

static int64_t copy_cost(const struct channel_axis *place, const struct value *value)
{
    const int64_t bytes = (int64_t)type_bytes(&place->type);
    bool splits = false;

    if (is_free_move(place))
        return 1; /* a view, but one that stands between two regions */
    for (const struct use *use = value->uses; use && value->def; use = use->next)
        splits = splits || op_is_elementwise(use->node->op);
    return 8 * bytes + (splits ? bytes : 0);
}

/* Windows over many channels, to many: what is fast there (Winograd's tiles, dots of four channels)
 * has the channels last on both sides. MANY is where the stems end, which have colours only. */
static bool wants_channels_last(const struct node *conv)
{
    enum { MANY = 8 };
    const struct type *kernel = &conv->inputs[1]->type; /* OI and the window */

    for (int d = 2; d < kernel->rank; d++)
        if (kernel->dim[d] > 1)
            return kernel->dim[0] >= MANY && kernel->dim[1] >= MANY;
    return false;
}

static int64_t quarter_copy(const struct channel_axis *place)
{
    return is_free_move(place) ? 2 : 2 * (int64_t)type_bytes(&place->type);
}

/* Of a convolution, on one of its sides. */
static int64_t plane_cost(const struct channel_axis *place, const struct node *conv)
{
    const int64_t quarter = quarter_copy(place);

    return is_free_move(place) ? quarter : wants_channels_last(conv) ? 5 * quarter : quarter;
}

/* One copy for all readers that want the other order: a vertex stands for "somebody wants it". */
static void join_readers(struct choice *choice, const struct value *value, int64_t cost)
{
    const struct channel_axis *place = &choice->plan->axes[value->id];
    const int writer = writer_vertex(choice, value);
    const bool several = value_n_uses(value) > 1;
    int last = NO_MATTER, first = NO_MATTER;

    if (writer == NO_MATTER)
        return;
    for (const struct use *use = value->uses; use; use = use->next) {
        const int reader =
            may_be_anyhow(choice, place, use) ? NO_MATTER : reader_vertex(choice, value, use);

        if (reader == NO_MATTER || reader == writer)
            continue;
        if (!several) {
            min_cut_edge(choice->cut, writer, reader, cost, cost);
            continue;
        }
        if (last == NO_MATTER) {
            last = min_cut_vertex(choice->cut);
            first = min_cut_vertex(choice->cut);
            min_cut_edge(choice->cut, last, writer, cost, 0);
            min_cut_edge(choice->cut, writer, first, cost, 0);
        }
        min_cut_edge(choice->cut, reader, last, MIN_CUT_NEVER, 0);
        min_cut_edge(choice->cut, first, reader, MIN_CUT_NEVER, 0);
    }
}

/* Of a role whose output has to be copied in one of the orders, whoever reads it. */
static void add_copies(struct choice *choice, const struct role *role,
                       const struct channel_axis *made)
{
    const int64_t cost = 8 * (int64_t)type_bytes(&made->type);

    if (role->copies[0])
        min_cut_edge(choice->cut, MIN_CUT_SOURCE, role->in, cost, 0);
    if (role->copies[1])
        min_cut_edge(choice->cut, role->in, MIN_CUT_SINK, cost, 0);
}

/* What a role may be, and what it costs to be so. */
static void add_role(struct choice *choice, const struct node *node)
{
    struct plan *plan = choice->plan;
    struct role *role = &plan->roles[node->id];

    role->in = role->out = NO_MATTER;
    switch (role->kind) {
    case LAYOUT_FIXED: return;
    case LAYOUT_SPATIAL:
        role->in = role->out = MIN_CUT_SOURCE;
        if (layout_takes_channels_first(node)) {
            role->in = role->out = min_cut_vertex(choice->cut);
            min_cut_edge(choice->cut, MIN_CUT_SOURCE, role->in,
                         quarter_copy(&plan->axes[node->inputs[0]->id]), 0);
        }
        if (layout_mixes(node)) {
            role->in = min_cut_vertex(choice->cut);
            role->out = min_cut_vertex(choice->cut);
            min_cut_edge(choice->cut, MIN_CUT_SOURCE, role->in,
                         plane_cost(&plan->axes[node->inputs[0]->id], node), 0);
            min_cut_edge(choice->cut, MIN_CUT_SOURCE, role->out,
                         plane_cost(&plan->axes[node->outputs[0]->id], node), 0);
        }
        return;
    case LAYOUT_VIEW:
        role->in = min_cut_vertex(choice->cut);
        if (!role->flattens) {
            role->out = min_cut_vertex(choice->cut);
            if (!is_free_move(&plan->axes[node->outputs[0]->id]))
                min_cut_edge(choice->cut, role->in, role->out, MIN_CUT_NEVER, MIN_CUT_NEVER);
        }
        break;
    default: role->in = role->out = min_cut_vertex(choice->cut);
    }
    add_copies(choice, role, &plan->axes[node->outputs[0]->id]);
}

static bool is_last(const struct choice *choice, int vertex)
{
    return vertex != NO_MATTER && min_cut_at_source(choice->cut, vertex);
}

void plan_choose(struct plan *plan)
{
    struct choice choice = { .plan = plan, .cut = min_cut_new(plan->scratch) };

    for (struct node *n = plan->fn->first; n; n = n->next)
        add_role(&choice, n);
    for (int i = 0; i < plan->fn->n_params; i++) {
        const struct value *value = plan->fn->params[i];

        if (plan->axes[value->id].known)
            join_readers(&choice, value, copy_cost(&plan->axes[value->id], value));
    }
    for (struct node *n = plan->fn->first; n; n = n->next)
        for (int i = 0; i < n->n_outputs; i++)
            if (plan->axes[n->outputs[i]->id].known)
                join_readers(&choice, n->outputs[i],
                             copy_cost(&plan->axes[n->outputs[i]->id], n->outputs[i]));
    min_cut_solve(choice.cut);
    for (struct node *n = plan->fn->first; n; n = n->next) {
        struct role *role = &plan->roles[n->id];

        role->in_last = is_last(&choice, role->in);
        role->out_last = is_last(&choice, role->out);
    }
}
