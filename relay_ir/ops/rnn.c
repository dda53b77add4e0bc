/* rnn.c - nn.rnn, nn.gru and nn.lstm: shapes, directions and sequences; the equations are in
 * rnn_cell.c.
 *
 * x (steps, batch, input), w (directions, gates * hidden, input), r (directions, gates * hidden,
 * hidden), y (steps, directions, batch, hidden), states (directions, batch, hidden); batch_major:
 * x (batch, steps, input), y (batch, steps, directions, hidden), states (batch, directions,
 * hidden). Behind the end of a sequence y is 0; the last states are those at its end, or the
 * initial ones of an empty sequence. The reverse direction begins at the end of each sequence. */
#include <string.h>

#include "base/str.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/rnn_cell.h"
#include "relay_ir/ops/spatial.h"

enum { X, W, R, B, LENGTHS, H, C, P };

struct sizes {
    int64_t steps, batch, input, hidden, directions;
    bool batch_major;
};

static struct sizes sizes_of(const struct node *node)
{
    const struct type *x = input_type(node, X);
    const bool batch_major = node->attrs.rnn.batch_major;

    return (struct sizes){ .steps = x->dim[batch_major ? 1 : 0],
                           .batch = x->dim[batch_major ? 0 : 1],
                           .input = x->dim[2],
                           .hidden = node->attrs.rnn.hidden_size,
                           .directions = strcmp(node->attrs.rnn.direction, "bidirectional") ? 1 : 2,
                           .batch_major = batch_major };
}

static struct type state_type(const struct sizes *s, enum dtype dtype)
{
    if (s->batch_major)
        return type_make(dtype, 3, (int64_t[]){ s->batch, s->directions, s->hidden });
    return type_make(dtype, 3, (int64_t[]){ s->directions, s->batch, s->hidden });
}

/* --- type inference --------------------------------------------------------------------------- */

/* Names are written out, each with an alpha and a beta. */
static bool check_activations(struct ctx *ctx, struct node *node, const struct sizes *s)
{
    const struct rnn_kind *kind = rnn_kind(node->op);
    const int wanted = (int)s->directions * kind->n_activations;
    struct rnn_attrs *attrs = &node->attrs.rnn;
    int n = 0;

    if (!*attrs->activations)
        attrs->activations = s->directions == 1
                                 ? kind->activations
                                 : arena_printf(&node->fn->module->arena, "%s,%s",
                                                kind->activations, kind->activations);
    for (const char *at = attrs->activations; *at; n++) {
        const size_t length = strcspn(at, ",");

        if (!rnn_activation(at, length))
            return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                              "%s: \"%s\" is no activation function", op_name(node->op),
                              str_safe(&ctx->perm, arena_strndup(&ctx->perm, at, length), 40));
        at += length + (at[length] == ',');
    }
    if (n != wanted)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: there are %d activation functions, wanted are %d", op_name(node->op),
                          n, wanted);
    attrs->activation_alpha.n = attrs->activation_alpha.n ? attrs->activation_alpha.n : n;
    attrs->activation_beta.n = attrs->activation_beta.n ? attrs->activation_beta.n : n;
    if (attrs->activation_alpha.n != n || attrs->activation_beta.n != n)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: there are %d alphas and %d betas for %d activation functions",
                          op_name(node->op), attrs->activation_alpha.n, attrs->activation_beta.n,
                          n);
    return true;
}

static bool check_attrs(struct ctx *ctx, struct node *node)
{
    static const char *const directions[] = { "forward", "reverse", "bidirectional" };
    struct rnn_attrs *attrs = &node->attrs.rnn;

    if (!check_word(ctx, node, "direction", &attrs->direction, directions, 3))
        return false;
    if (attrs->hidden_size < 1 || attrs->hidden_size > SPATIAL_MOST)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: hidden_size is %lld, wanted is 1 to %lld", op_name(node->op),
                          (long long)attrs->hidden_size, (long long)SPATIAL_MOST);
    if (!(attrs->clip >= 0))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: clip is %g, wanted is 0 or more",
                          op_name(node->op), attrs->clip);
    return true;
}

static bool check_shape(struct ctx *ctx, const struct node *node, int input,
                        const struct type *wanted)
{
    static const char *const names[] = { "x",         "w",         "r", "b", "sequence_lens",
                                         "initial_h", "initial_c", "p" };

    if (input >= node->n_inputs || !node->inputs[input] ||
        type_same_storage(input_type(node, input), wanted))
        return true;
    return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: %s is %s, wanted is %s",
                      op_name(node->op), names[input],
                      type_text(&ctx->perm, input_type(node, input)),
                      type_text(&ctx->perm, wanted));
}

static bool check_shapes(struct ctx *ctx, const struct node *node, const struct sizes *s)
{
    const enum dtype dtype = input_type(node, X)->dtype;
    const int64_t rows = rnn_kind(node->op)->gates * s->hidden;
    const struct {
        int input;
        struct type wanted;
    } rows_of_inputs[] = {
        { W, type_make(dtype, 3, (int64_t[]){ s->directions, rows, s->input }) },
        { R, type_make(dtype, 3, (int64_t[]){ s->directions, rows, s->hidden }) },
        { B, type_make(dtype, 2, (int64_t[]){ s->directions, 2 * rows }) },
        { LENGTHS, type_make(DTYPE_I32, 1, (int64_t[]){ s->batch }) },
        { H, state_type(s, dtype) },
        { C, state_type(s, dtype) },
        { P, type_make(dtype, 2, (int64_t[]){ s->directions, 3 * s->hidden }) },
    };
    bool ok = true;

    for (size_t i = 0; i < sizeof rows_of_inputs / sizeof *rows_of_inputs; i++)
        ok = check_shape(ctx, node, rows_of_inputs[i].input, &rows_of_inputs[i].wanted) && ok;
    return ok;
}

bool infer_rnn(struct ctx *ctx, struct node *node)
{
    const enum dtype dtype = input_type(node, X)->dtype;
    struct sizes s;
    struct type y, state;

    if (!check_kinds(ctx, node, X, KINDS_FLOAT) || !check_rank(ctx, node, X, 3, 3) ||
        !check_attrs(ctx, node))
        return false;
    s = sizes_of(node);
    if (!check_activations(ctx, node, &s) || !check_shapes(ctx, node, &s))
        return false;
    state = state_type(&s, dtype);
    y = s.batch_major
            ? type_make(dtype, 4, (int64_t[]){ s.batch, s.steps, s.directions, s.hidden })
            : type_make(dtype, 4, (int64_t[]){ s.steps, s.directions, s.batch, s.hidden });
    set_output(node, 0, dtype, &y);
    for (int i = 1; i < node->n_outputs; i++)
        set_output(node, i, dtype, &state);
    return true;
}

/* --- evaluation ------------------------------------------------------------------------------- */

/* Operands as doubles; NULL = absent. */
struct operands {
    struct bulk bulk;
    const double *at[P + 1];
    const struct tensor *lengths;
};

static void read_operands(const struct node *node, const struct tensor *const *in,
                          struct operands *operands)
{
    for (int i = 0; i < node->n_inputs; i++)
        if (in[i] && i != LENGTHS)
            operands->at[i] = doubles_of(&operands->bulk, in[i]);
    operands->lengths = node->n_inputs > LENGTHS ? in[LENGTHS] : NULL;
}

static struct rnn_cell cell_of(const struct node *node, const struct sizes *s,
                               struct operands *operands, int64_t direction)
{
    const struct rnn_kind *kind = rnn_kind(node->op);
    const int64_t rows = kind->gates * s->hidden;
    const double *b = operands->at[B], *p = operands->at[P];
    const char *name = node->attrs.rnn.activations;
    struct rnn_cell cell = { .kind = kind,
                             .attrs = &node->attrs.rnn,
                             .input = s->input,
                             .hidden = s->hidden,
                             .w = operands->at[W] + direction * rows * s->input,
                             .r = operands->at[R] + direction * rows * s->hidden,
                             .b = b ? b + direction * 2 * rows : NULL,
                             .peephole = p ? p + direction * 3 * s->hidden : NULL };

    cell.gates = bulk_alloc(&operands->bulk, (size_t)(2 * rows) * sizeof(double));
    cell.h = bulk_alloc(&operands->bulk, (size_t)s->hidden * sizeof(double));
    cell.c = bulk_alloc(&operands->bulk, (size_t)s->hidden * sizeof(double));
    for (int i = 0; *name; i++) {
        const size_t length = strcspn(name, ",");
        const int own = i - (int)direction * kind->n_activations;

        if (own >= 0 && own < kind->n_activations)
            cell.activation[own] = (struct rnn_activation){ rnn_activation(name, length),
                                                            node->attrs.rnn.activation_alpha.at[i],
                                                            node->attrs.rnn.activation_beta.at[i] };
        name += length + (name[length] == ',');
    }
    return cell;
}

/* One sequence in one direction. */
static void run_sequence(const struct sizes *s, const struct operands *operands,
                         struct rnn_cell *cell, int64_t direction, bool reverse, int64_t batch,
                         int64_t length, struct tensor *out)
{
    const int64_t n = s->hidden;
    const int64_t state =
        n * (s->batch_major ? batch * s->directions + direction : direction * s->batch + batch);

    for (int64_t i = 0; i < n; i++) {
        cell->h[i] = operands->at[H] ? operands->at[H][state + i] : 0;
        cell->c[i] = operands->at[C] ? operands->at[C][state + i] : 0;
    }
    for (int64_t i = 0; i < length; i++) {
        const int64_t step = reverse ? length - 1 - i : i;
        const int64_t x = s->batch_major ? batch * s->steps + step : step * s->batch + batch;
        const int64_t y = s->batch_major ? x * s->directions + direction
                                         : (step * s->directions + direction) * s->batch + batch;

        rnn_cell_step(cell, operands->at[X] + x * s->input);
        doubles_store(&out[0], y * n, cell->h, n);
    }
    doubles_store(&out[1], state, cell->h, n);
    if (cell->kind->op == OP_LSTM)
        doubles_store(&out[2], state, cell->c, n);
}

static bool check_lengths(struct ctx *ctx, const struct node *node, const struct sizes *s,
                          const struct tensor *lengths)
{
    for (int64_t i = 0; i < s->batch && lengths; i++) {
        const int64_t length = tensor_int_at(lengths, i);

        if (length < 0 || length > s->steps)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: the length of sequence %lld is %lld, wanted is 0 to %lld",
                              op_name(node->op), (long long)i, (long long)length,
                              (long long)s->steps);
    }
    return true;
}

bool eval_rnn(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
              struct tensor *out)
{
    const struct sizes s = sizes_of(node);
    const bool only_reverse = strcmp(node->attrs.rnn.direction, "reverse") == 0;
    struct operands operands = { .lengths = NULL };
    bool ok;

    read_operands(node, in, &operands);
    ok = check_lengths(ctx, node, &s, operands.lengths);
    for (int64_t d = 0; d < s.directions && ok; d++) {
        struct rnn_cell cell = cell_of(node, &s, &operands, d);

        for (int64_t b = 0; b < s.batch; b++)
            run_sequence(&s, &operands, &cell, d, only_reverse || d == 1, b,
                         operands.lengths ? tensor_int_at(operands.lengths, b) : s.steps, out);
    }
    bulk_release(&operands.bulk);
    return ok;
}
