/* convert_rnn_steps.c - LSTM, GRU and RNN whose weights are computed at run time: written out step by step as products
 * and element-wise operators. The equations are those of relay_ir/ops/rnn_cell.c.
 *
 * Where a sequence is over, the states stay as they are and y is 0; the reverse direction goes through the steps from
 * behind, so that states stay the initial ones until a sequence begins. */
#include "frontend/onnx/convert_rnn.h"

#include <string.h>

#include "relay_ir/ops/rnn_cell.h"

enum { X, W, R, B, LENGTHS, H, C, P, N_INPUTS };

struct layer {
    struct onnx_node *node;
    enum op op;
    const struct rnn_attrs *attrs;
    struct value *in[N_INPUTS]; /* x with steps first; states [directions, batch, hidden] */
    int64_t steps, batch, input, hidden, directions;
    int gates, n_activations;
};

/* One direction, and its states. */
struct direction {
    const struct layer *l;
    int index;
    struct value *
        from_x; /* W x and the biases that nothing else is done to: [steps, batch, gates * hidden] */
    struct value *r, *r_new; /* [gates * hidden, hidden]; of the last gate of GRU */
    struct value *b_new;     /* of GRU with linear_before_reset: Rb of the last gate, [hidden] */
    struct value *peephole;  /* [3 * hidden] */
    struct value *h, *c;     /* [batch, hidden] */
};

static struct value *view(struct onnx_node *node, struct value *x, const char *suffix, int n,
                          const int64_t *dims)
{
    const struct ints shape = ints_of(n, dims);

    return x ? reshape_to(node, x, &shape, suffix) : NULL;
}

static struct value *add(struct onnx_node *node, struct value *a, struct value *b)
{
    return apply2(node, OP_ADD, "sum", a, b);
}

static struct value *times(struct onnx_node *node, struct value *a, struct value *b)
{
    return apply2(node, OP_MULTIPLY, "product", a, b);
}

static struct value *one_less(struct onnx_node *node, struct value *x)
{
    return x ? apply2(node, OP_SUBTRACT, "rest", scalar_like(node, x, 1, "one"), x) : NULL;
}

static struct value *product(struct onnx_node *node, struct value *x, struct value *w)
{
    const union attrs attrs = { .matmul = { .transpose_b = true } };

    return x && w ? onnx_build2(node, OP_MATMUL, &attrs, "products", x, w) : NULL;
}

/* Gates from .. from + n of [batch, gates * hidden]. */
static struct value *gates_of(const struct layer *l, struct value *x, int from, int n)
{
    return slice_to(l->node, x, 1, from * l->hidden, n * l->hidden, "gates");
}

/* --- activations ------------------------------------------------------------------------------ */

static struct value *scaled(struct onnx_node *node, struct value *x, double scale)
{
    return x ? times(node, x, scalar_like(node, x, scale, "scale")) : NULL;
}

/* Function i of the direction. */
static struct value *activate(const struct direction *d, int i, struct value *x)
{
    const struct rnn_attrs *attrs = d->l->attrs;
    const int at = d->index * d->l->n_activations + i;
    const double alpha = attrs->activation_alpha.at[at], beta = attrs->activation_beta.at[at];
    const union attrs bounds = { .clip = { .a_min = -attrs->clip, .a_max = attrs->clip } };
    const union attrs both = { .alpha_beta = { .alpha = alpha, .beta = beta } };
    struct onnx_node *node = d->l->node;
    const char *name = attrs->activations;

    for (int k = 0; k < at; k++)
        name = strchr(name, ',') + 1;
    if (x && attrs->clip > 0)
        x = onnx_build1(node, OP_CLIP, &bounds, "bounded", x);
    if (!x)
        return NULL;
    switch (rnn_function_of(name, strcspn(name, ","))) {
    case RNN_RELU: return apply1(node, OP_RELU, "gate", x);
    case RNN_SIGMOID: return apply1(node, OP_SIGMOID, "gate", x);
    case RNN_SOFTPLUS: return apply1(node, OP_SOFTPLUS, "gate", x);
    case RNN_SOFTSIGN: return apply1(node, OP_SOFTSIGN, "gate", x);
    case RNN_TANH: return apply1(node, OP_TANH, "gate", x);
    case RNN_ELU: return onnx_build1(node, OP_ELU, &both, "gate", x);
    case RNN_HARD_SIGMOID: return onnx_build1(node, OP_HARD_SIGMOID, &both, "gate", x);
    case RNN_LEAKY_RELU: return onnx_build1(node, OP_LEAKY_RELU, &both, "gate", x);
    case RNN_AFFINE: return add(node, scaled(node, x, alpha), scalar_like(node, x, beta, "offset"));
    case RNN_SCALED_TANH:
        return scaled(node, apply1(node, OP_TANH, "tanh", scaled(node, x, beta)), alpha);
    default:
        onnx_unsupported(
            node, "the activation ThresholdedRelu, with weights that are computed at run time");
        return NULL;
    }
}

/* --- one step --------------------------------------------------------------------------------- */

static struct value *step_rnn(struct direction *d, struct value *x)
{
    return activate(d, 0, add(d->l->node, x, product(d->l->node, d->h, d->r)));
}

static struct value *step_gru(struct direction *d, struct value *x)
{
    const struct layer *l = d->l;
    struct onnx_node *node = l->node;
    struct value *both = activate(d, 0, add(node, gates_of(l, x, 0, 2), product(node, d->h, d->r)));
    struct value *z = gates_of(l, both, 0, 1), *reset = gates_of(l, both, 1, 1), *next;

    if (l->attrs->linear_before_reset) {
        next = product(node, d->h, d->r_new);
        next = times(node, reset, d->b_new ? add(node, next, d->b_new) : next);
    } else {
        next = product(node, times(node, reset, d->h), d->r_new);
    }
    next = activate(d, 1, add(node, gates_of(l, x, 2, 1), next));
    return add(node, times(node, one_less(node, z), next), times(node, z, d->h));
}

/* Gate k with its peephole to the state c. */
static struct value *lstm_gate(const struct direction *d, struct value *x, int k, struct value *c)
{
    struct onnx_node *node = d->l->node;

    x = gates_of(d->l, x, k, 1);
    if (d->peephole)
        x = add(node, x,
                times(node,
                      slice_to(node, d->peephole, 0, k * d->l->hidden, d->l->hidden, "peephole"),
                      c));
    return activate(d, 0, x);
}

/* *c becomes the next one. */
static struct value *step_lstm(struct direction *d, struct value *x, struct value **c)
{
    struct onnx_node *node = d->l->node;
    struct value *in, *forget, *new, *now;

    x = add(node, x, product(node, d->h, d->r));
    if (!x)
        return NULL;
    in = lstm_gate(d, x, 0, d->c);
    forget = d->l->attrs->input_forget ? one_less(node, in) : lstm_gate(d, x, 2, d->c);
    new = activate(d, 1, gates_of(d->l, x, 3, 1));
    now = add(node, times(node, forget, d->c), times(node, in, new));
    *c = now;
    return now ? times(node, lstm_gate(d, x, 1, now), activate(d, 2, now)) : NULL;
}

/* a where the sequence is not over at this step, else b. */
static struct value *unless_over(const struct layer *l, int64_t step, struct value *a,
                                 struct value *b)
{
    struct onnx_node *node = l->node;
    struct value *inputs[3] = { NULL, a, b }, *lengths = l->in[LENGTHS];

    if (!lengths || !a || !b)
        return a;
    lengths = view(node, lengths, "lengths", 2, (int64_t[]){ l->batch, 1 });
    inputs[0] = lengths ? apply2(node, OP_GREATER, "goes_on", lengths,
                                 scalar_like(node, lengths, (double)step, "step"))
                        : NULL;
    return inputs[0] ? onnx_build(node, OP_WHERE, NULL, "kept", 3, inputs) : NULL;
}

/* y of this step: [1, 1, batch, hidden]. */
static struct value *run_step(struct direction *d, int64_t step)
{
    const struct layer *l = d->l;
    struct onnx_node *node = l->node;
    struct value *x = slice_to(node, d->from_x, 0, step, 1, "of_step"), *c = d->c, *h;

    x = view(node, x, "of_step", 2, (int64_t[]){ l->batch, l->gates * l->hidden });
    if (!x)
        return NULL;
    h = l->op == OP_LSTM ? step_lstm(d, x, &c) : l->op == OP_GRU ? step_gru(d, x) : step_rnn(d, x);
    if (!h)
        return NULL;
    x = unless_over(l, step, h, scalar_like(node, h, 0, "nothing"));
    d->h = unless_over(l, step, h, d->h);
    d->c = unless_over(l, step, c, d->c);
    return d->h ? view(node, x, "row", 4, (int64_t[]){ 1, 1, l->batch, l->hidden }) : NULL;
}

/* --- one direction ---------------------------------------------------------------------------- */

static struct value *of_direction(const struct layer *l, int input, int index, int n,
                                  const int64_t *dims)
{
    return l->in[input] ? view(l->node, slice_to(l->node, l->in[input], 0, index, 1, "direction"),
                               "direction", n, dims)
                        : NULL;
}

static struct value *first_state(const struct layer *l, int input, int index)
{
    const struct ints shape = { 2, { l->batch, l->hidden } };

    return l->in[input] ? of_direction(l, input, index, 2, shape.at)
                        : full_of(l->node, l->in[X]->type.dtype, 0, &shape, "state");
}

static bool begin_direction(const struct layer *l, int index, struct direction *d)
{
    const int64_t rows = l->gates * l->hidden, kept = l->op == OP_GRU ? 2 * l->hidden : rows;
    struct onnx_node *node = l->node;
    struct value *b = of_direction(l, B, index, 1, (int64_t[]){ 2 * rows }), *wb, *rb;
    struct value *w = of_direction(l, W, index, 2, (int64_t[]){ rows, l->input });

    *d = (struct direction){ .l = l, .index = index };
    d->r = of_direction(l, R, index, 2, (int64_t[]){ rows, l->hidden });
    d->peephole = of_direction(l, P, index, 1, (int64_t[]){ 3 * l->hidden });
    d->h = first_state(l, H, index);
    d->c = first_state(l, C, index);
    d->from_x = product(
        node, view(node, l->in[X], "rows", 2, (int64_t[]){ l->steps * l->batch, l->input }), w);
    d->from_x = view(node, d->from_x, "from_x", 3, (int64_t[]){ l->steps, l->batch, rows });
    if (b) {
        wb = slice_to(node, b, 0, 0, rows, "wb");
        rb = slice_to(node, b, 0, rows, rows, "rb");
        d->from_x = add(node, d->from_x, wb);
        if (l->op != OP_GRU || !l->attrs->linear_before_reset) {
            d->from_x = add(node, d->from_x, rb);
        } else {
            d->b_new = slice_to(node, rb, 0, kept, l->hidden, "rb_new");
            d->from_x = add(node, d->from_x,
                            concat_with(node, 0, slice_to(node, rb, 0, 0, kept, "rb_gates"),
                                        full_of(node, b->type.dtype, 0,
                                                &(struct ints){ 1, { l->hidden } }, "none"),
                                        "rb"));
        }
    }
    if (d->r && l->op == OP_GRU) {
        d->r_new = slice_to(node, d->r, 0, kept, l->hidden, "r_new");
        d->r = slice_to(node, d->r, 0, 0, kept, "r_gates");
    }
    return d->from_x && d->r && d->h && d->c && (l->op != OP_GRU || d->r_new);
}

/* y of the direction: [steps, 1, batch, hidden]. */
static struct value *run_direction(struct direction *d, bool reverse)
{
    const union attrs along = { .axis = { .axis = 0 } };
    const struct layer *l = d->l;
    struct value **rows = arena_array(&l->node->ctx->perm, struct value *, (size_t)l->steps);

    for (int64_t i = 0; i < l->steps; i++) {
        const int64_t step = reverse ? l->steps - 1 - i : i;

        rows[step] = run_step(d, step);
        if (!rows[step])
            return NULL;
    }
    return l->steps == 1
               ? rows[0]
               : onnx_build(l->node, OP_CONCATENATE, &along, "steps", (int)l->steps, rows);
}

/* --- the layer -------------------------------------------------------------------------------- */

/* States, [directions, batch, hidden], in ONNX's order: with batches first there is one more transpose. */
static struct value *turned(const struct layer *l, struct value *x)
{
    const struct ints states = { 3, { 1, 0, 2 } }, all = { 4, { 2, 0, 1, 3 } };

    return x && l->attrs->batch_major
               ? transpose_to(l->node, x, x->type.rank == 3 ? &states : &all, "turned")
               : x;
}

static bool read_layer(struct layer *l)
{
    const struct ints states = { 3, { 1, 0, 2 } };
    struct onnx_node *node = l->node;
    const enum dtype dtype = onnx_input(node, X)->type.dtype;

    for (int i = X; i < N_INPUTS; i++) {
        struct value *x = onnx_input(node, i);

        if (x && i != LENGTHS)
            x = cast_to(node, x, dtype_is_half(dtype) ? DTYPE_F32 : dtype, "wide");
        if (x && l->attrs->batch_major && (i == X || i == H || i == C))
            x = transpose_to(node, x, &states, "turned");
        if (onnx_input(node, i) && !x)
            return false;
        l->in[i] = x;
    }
    l->steps = l->in[X]->type.dim[0], l->batch = l->in[X]->type.dim[1],
    l->input = l->in[X]->type.dim[2];
    l->directions = l->in[R]->type.dim[0];
    l->hidden = l->attrs->hidden_size;
    l->gates = rnn_kind(l->op)->gates;
    l->n_activations = rnn_kind(l->op)->n_activations;
    return limit_check(node->ctx, LIMIT_NODES, node->origin,
                       30.0 * (double)(l->steps * l->directions)) &&
           (l->steps > 0 || onnx_unsupported(node, "a sequence of no steps"));
}

bool rnn_in_steps(struct onnx_node *node, enum op op, const struct rnn_attrs *attrs)
{
    struct layer l = { .node = node, .op = op, .attrs = attrs };
    const enum dtype dtype = onnx_input(node, X)->type.dtype;
    struct value *y = NULL, *h = NULL, *c = NULL;

    if (!read_layer(&l))
        return false;
    for (int i = 0; i < l.directions; i++) {
        struct direction d;
        struct value *rows, *state, *cell;

        rows = begin_direction(&l, i, &d)
                   ? run_direction(&d, i == 1 || strcmp(attrs->direction, "reverse") == 0)
                   : NULL;
        state = rows ? view(node, d.h, "state", 3, (int64_t[]){ 1, l.batch, l.hidden }) : NULL;
        cell = rows ? view(node, d.c, "cell", 3, (int64_t[]){ 1, l.batch, l.hidden }) : NULL;
        y = y && rows ? concat_with(node, 1, y, rows, "directions") : rows;
        h = h && state ? concat_with(node, 0, h, state, "states") : state;
        c = c && cell ? concat_with(node, 0, c, cell, "cells") : cell;
        if (!y || !h || !c)
            return false;
    }
    y = turned(&l, y), h = turned(&l, h), c = turned(&l, c);
    return y && h && c &&
           (!wants_output(node, 0) || onnx_output(node, 0, cast_to(node, y, dtype, "y"))) &&
           (!wants_output(node, 1) || onnx_output(node, 1, cast_to(node, h, dtype, "y_h"))) &&
           (!wants_output(node, 2) || onnx_output(node, 2, cast_to(node, c, dtype, "y_c")));
}
