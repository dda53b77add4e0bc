/* rnn.c - nn.rnn, nn.gru and nn.lstm: shapes, directions and sequences; the equations are in
 * rnn_cell.c, the shapes in rnn.h. */
#include <string.h>

#include "base/str.h"
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/rnn.h"
#include "relay_ir/ops/spatial.h"

enum { X, W, R, B, LENGTHS, H, C, P };

struct rnn_sizes rnn_sizes_of(const struct node *node)
{
    const struct type *x = input_type(node, X);
    const bool batch_major = node->attrs.rnn.batch_major;
    const int64_t hidden = node->attrs.rnn.hidden_size;

    return (struct rnn_sizes){
        .steps = x->dim[batch_major ? 1 : 0],
        .batch = x->dim[batch_major ? 0 : 1],
        .input = x->dim[2],
        .hidden = hidden,
        .directions = strcmp(node->attrs.rnn.direction, "bidirectional") ? 1 : 2,
        .rows = rnn_kind(node->op)->gates * hidden,
        .batch_major = batch_major,
    };
}

struct type rnn_state_type(const struct rnn_sizes *s, enum dtype dtype)
{
    if (s->batch_major)
        return type_make(dtype, 3, (int64_t[]){ s->batch, s->directions, s->hidden });
    return type_make(dtype, 3, (int64_t[]){ s->directions, s->batch, s->hidden });
}

struct type rnn_result_type(const struct rnn_sizes *s, enum dtype dtype)
{
    if (s->batch_major)
        return type_make(dtype, 4, (int64_t[]){ s->batch, s->steps, s->directions, s->hidden });
    return type_make(dtype, 4, (int64_t[]){ s->steps, s->directions, s->batch, s->hidden });
}

bool rnn_is_reverse(const struct node *node, int64_t direction)
{
    return direction == 1 || strcmp(node->attrs.rnn.direction, "reverse") == 0;
}

int64_t rnn_x_row(const struct rnn_sizes *s, int64_t batch, int64_t step)
{
    return s->batch_major ? batch * s->steps + step : step * s->batch + batch;
}

int64_t rnn_y_row(const struct rnn_sizes *s, int64_t direction, int64_t batch, int64_t step)
{
    return s->batch_major ? (batch * s->steps + step) * s->directions + direction
                          : (step * s->directions + direction) * s->batch + batch;
}

int64_t rnn_state_row(const struct rnn_sizes *s, int64_t direction, int64_t batch)
{
    return s->batch_major ? batch * s->directions + direction : direction * s->batch + batch;
}

/* --- type inference --------------------------------------------------------------------------- */

/* Names are written out, each with an alpha and a beta. */
static bool check_activations(struct ctx *ctx, struct node *node, const struct rnn_sizes *s)
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

        if (rnn_function_of(at, length) == RNN_FUNCTION_COUNT)
            return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                              "%s: \"%s\" is not an activation function", op_name(node->op),
                              str_safe(&ctx->perm, arena_strndup(&ctx->perm, at, length), 40));
        at += length + (at[length] == ',');
    }
    if (n != wanted)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: there are %d activation functions, expected %d", op_name(node->op),
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

bool rnn_check_attrs(struct ctx *ctx, struct node *node)
{
    static const char *const directions[] = { "forward", "reverse", "bidirectional" };
    struct rnn_attrs *attrs = &node->attrs.rnn;
    struct rnn_sizes sizes;

    if (!check_rank(ctx, node, X, 3, 3) ||
        !check_word(ctx, node, "direction", &attrs->direction, directions, 3))
        return false;
    if (attrs->hidden_size < 1 || attrs->hidden_size > SPATIAL_MOST)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "%s: hidden_size is %lld, expected 1 to %lld", op_name(node->op),
                          (long long)attrs->hidden_size, (long long)SPATIAL_MOST);
    if (!(attrs->clip >= 0))
        return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: clip is %g, expected 0 or more",
                          op_name(node->op), attrs->clip);
    sizes = rnn_sizes_of(node);
    return check_activations(ctx, node, &sizes);
}

bool rnn_check_input(struct ctx *ctx, const struct node *node, int input, const char *name,
                     const struct type *wanted)
{
    if (input >= node->n_inputs || !node->inputs[input] ||
        type_same_storage(input_type(node, input), wanted))
        return true;
    return diag_error(ctx, DIAG_SHAPE, node_origin(node), "%s: %s is %s, expected %s",
                      op_name(node->op), name, type_text(&ctx->perm, input_type(node, input)),
                      type_text(&ctx->perm, wanted));
}

static bool check_shapes(struct ctx *ctx, const struct node *node, const struct rnn_sizes *s)
{
    const enum dtype dtype = input_type(node, X)->dtype;
    const struct {
        int input;
        const char *name;
        struct type wanted;
    } inputs[] = {
        { W, "w", type_make(dtype, 3, (int64_t[]){ s->directions, s->rows, s->input }) },
        { R, "r", type_make(dtype, 3, (int64_t[]){ s->directions, s->rows, s->hidden }) },
        { B, "b", type_make(dtype, 2, (int64_t[]){ s->directions, 2 * s->rows }) },
        { LENGTHS, "sequence_lens", type_make(DTYPE_I32, 1, (int64_t[]){ s->batch }) },
        { H, "initial_h", rnn_state_type(s, dtype) },
        { C, "initial_c", rnn_state_type(s, dtype) },
        { P, "p", type_make(dtype, 2, (int64_t[]){ s->directions, 3 * s->hidden }) },
    };
    bool ok = true;

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        ok = rnn_check_input(ctx, node, inputs[i].input, inputs[i].name, &inputs[i].wanted) && ok;
    return ok;
}

bool infer_rnn(struct ctx *ctx, struct node *node)
{
    const enum dtype dtype = input_type(node, X)->dtype;
    struct rnn_sizes s;
    struct type y, state;

    if (!check_kinds(ctx, node, X, KINDS_FLOAT) || !rnn_check_attrs(ctx, node))
        return false;
    s = rnn_sizes_of(node);
    if (!check_shapes(ctx, node, &s))
        return false;
    y = rnn_result_type(&s, dtype);
    state = rnn_state_type(&s, dtype);
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

void rnn_activations_of(const struct node *node, int64_t direction, struct rnn_activation *of)
{
    const int n = rnn_kind(node->op)->n_activations, first = (int)direction * n;
    const char *name = node->attrs.rnn.activations;

    for (int i = 0; *name; i++) {
        const size_t length = strcspn(name, ",");

        if (i >= first && i < first + n)
            of[i - first] = (struct rnn_activation){ rnn_function_of(name, length),
                                                     node->attrs.rnn.activation_alpha.at[i],
                                                     node->attrs.rnn.activation_beta.at[i] };
        name += length + (name[length] == ',');
    }
}

static struct rnn_cell cell_of(const struct node *node, const struct rnn_sizes *s,
                               struct operands *operands, int64_t direction)
{
    const double *b = operands->at[B], *p = operands->at[P];
    struct rnn_cell cell = { .kind = rnn_kind(node->op),
                             .attrs = &node->attrs.rnn,
                             .input = s->input,
                             .hidden = s->hidden,
                             .w = operands->at[W] + direction * s->rows * s->input,
                             .r = operands->at[R] + direction * s->rows * s->hidden,
                             .b = b ? b + direction * 2 * s->rows : NULL,
                             .peephole = p ? p + direction * 3 * s->hidden : NULL };

    cell.gates = bulk_alloc(&operands->bulk, (size_t)(2 * s->rows) * sizeof(double));
    cell.h = bulk_alloc(&operands->bulk, (size_t)s->hidden * sizeof(double));
    cell.c = bulk_alloc(&operands->bulk, (size_t)s->hidden * sizeof(double));
    rnn_activations_of(node, direction, cell.activation);
    return cell;
}

/* One sequence in one direction. */
static void run_sequence(const struct rnn_sizes *s, const struct operands *operands,
                         struct rnn_cell *cell, int64_t direction, bool reverse, int64_t batch,
                         int64_t length, struct tensor *out)
{
    const int64_t n = s->hidden, state = n * rnn_state_row(s, direction, batch);

    for (int64_t i = 0; i < n; i++) {
        cell->h[i] = operands->at[H] ? operands->at[H][state + i] : 0;
        cell->c[i] = operands->at[C] ? operands->at[C][state + i] : 0;
    }
    for (int64_t i = 0; i < length; i++) {
        const int64_t step = reverse ? length - 1 - i : i;

        rnn_cell_step(cell, operands->at[X] + rnn_x_row(s, batch, step) * s->input);
        doubles_store(&out[0], rnn_y_row(s, direction, batch, step) * n, cell->h, n);
    }
    doubles_store(&out[1], state, cell->h, n);
    if (cell->kind->op == OP_LSTM)
        doubles_store(&out[2], state, cell->c, n);
}

bool rnn_check_lengths(struct ctx *ctx, const struct node *node, const struct tensor *lengths)
{
    const struct rnn_sizes s = rnn_sizes_of(node);

    for (int64_t i = 0; i < s.batch && lengths; i++) {
        const int64_t length = tensor_int_at(lengths, i);

        if (length < 0 || length > s.steps)
            return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                              "%s: the length of sequence %lld is %lld, expected 0 to %lld",
                              op_name(node->op), (long long)i, (long long)length,
                              (long long)s.steps);
    }
    return true;
}

bool eval_rnn(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
              struct tensor *out)
{
    const struct rnn_sizes s = rnn_sizes_of(node);
    struct operands operands = { .lengths = NULL };
    bool ok;

    read_operands(node, in, &operands);
    ok = rnn_check_lengths(ctx, node, operands.lengths);
    for (int64_t d = 0; d < s.directions && ok; d++) {
        struct rnn_cell cell = cell_of(node, &s, &operands, d);

        for (int64_t b = 0; b < s.batch; b++)
            run_sequence(&s, &operands, &cell, d, rnn_is_reverse(node, d), b,
                         operands.lengths ? tensor_int_at(operands.lengths, b) : s.steps, out);
    }
    bulk_release(&operands.bulk);
    return ok;
}
