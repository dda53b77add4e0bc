/* unroll_recurrent.c - recurrent layers of one step are products and gates.
 *
 * needs    types; constant initial states folded
 * gives    no nn.rnn, nn.gru and nn.lstm of one step in one direction with constant weights and the
 *          usual activations: dense, split, sigmoid, tanh ... take its place. Others stay
 * method   the equations of ops/rnn_cell.c. Where the state begins with zeros, what it is
 *          multiplied by is left out
 *
 * So is every streaming network written: its caller keeps the state, and a call is a step. What
 * stands in the graph as products has small weights in every precision, and integers in int8. */
#include <string.h>

#include "base/str.h"
#include "relay_ir/ops/rnn_cell.h"
#include "relay_ir/passes/pipeline.h"
#include "relay_ir/passes/rewrite.h"

enum { X, W, R, B, LENGTHS, H, C, P };

struct step {
    struct rewrite rewrite;
    int64_t batch, hidden;
    struct value *w, *r, *b; /* constants; b may be NULL */
    struct value *x, *h, *c; /* (batch, n); h and c are NULL where they begin with zeros */
    enum op activation[MAX_ACTIVATIONS];
};

/* --- what can be written so ------------------------------------------------------------------- */

static bool find_activations(const struct node *node, struct step *step)
{
    static const struct {
        const char *name;
        enum op op;
    } rows[] = { { "Sigmoid", OP_SIGMOID }, { "Tanh", OP_TANH }, { "Relu", OP_RELU } };
    const char *at = node->attrs.rnn.activations;

    for (int i = 0; i < rnn_kind(node->op)->n_activations; i++) {
        const size_t length = strcspn(at, ",");

        step->activation[i] = OP_COUNT;
        for (size_t j = 0; j < sizeof rows / sizeof *rows; j++)
            if (strlen(rows[j].name) == length && memcmp(rows[j].name, at, length) == 0)
                step->activation[i] = rows[j].op;
        if (step->activation[i] == OP_COUNT)
            return false;
        at += length + (at[length] == ',');
    }
    return true;
}

static struct value *input(const struct node *node, int i)
{
    return i < node->n_inputs ? node->inputs[i] : NULL;
}

static bool is_constant(const struct value *value)
{
    return value->kind == VALUE_CONSTANT;
}

static bool is_one_step(const struct node *node)
{
    const struct rnn_attrs *attrs = &node->attrs.rnn;
    const struct value *lengths = input(node, LENGTHS), *b = input(node, B);

    return node->inputs[X]->type.dim[attrs->batch_major ? 1 : 0] == 1 &&
           strcmp(attrs->direction, "bidirectional") != 0 && attrs->clip == 0 &&
           !attrs->input_forget && (!lengths || is_number(lengths, 1)) && !input(node, P) &&
           is_constant(node->inputs[W]) && is_constant(node->inputs[R]) && (!b || is_constant(b));
}

/* --- pieces ----------------------------------------------------------------------------------- */

static struct value *two_dims(struct step *step, struct value *x, int64_t columns)
{
    const struct type type = type_make(x->type.dtype, 2, (int64_t[]){ step->batch, columns });

    return rule_reshape(&step->rewrite, x, &type);
}

/* A state that is not zero. */
static struct value *state(struct step *step, struct value *initial)
{
    return initial && !is_number(initial, 0) ? two_dims(step, initial, step->hidden) : NULL;
}

/* Rows first .. first + n - 1 of a matrix of the model. */
static struct value *rows_of(struct step *step, struct value *matrix, int64_t first, int64_t n)
{
    const int64_t columns = matrix->type.dim[2];
    const struct type type = type_make(matrix->type.dtype, 2, (int64_t[]){ n, columns });
    const size_t begin = (size_t)(first * columns) * dtype_bytes(type.dtype);

    return rule_constant_like(&step->rewrite, matrix, &type, (const char *)matrix->data + begin);
}

/* Biases of x (of_x), of h (of_h), or their sums, for rows first .. first + n - 1. NULL = none. */
static struct value *biases(struct step *step, bool of_x, bool of_h, int64_t first, int64_t n)
{
    struct type type;
    int64_t rows;
    void *data;

    if (!step->b)
        return NULL;
    type = type_make(step->b->type.dtype, 1, &n);
    rows = step->b->type.dim[1] / 2;
    data = constant_alloc(step->rewrite.fn, &type);
    for (int64_t i = 0; i < n; i++) {
        const double x = dtype_load(type.dtype, step->b->data, first + i);
        const double h = dtype_load(type.dtype, step->b->data, rows + first + i);

        dtype_store(type.dtype, data, i, (of_x ? x : 0) + (of_h ? h : 0));
    }
    return rule_constant_like(&step->rewrite, step->b, &type, data);
}

static struct value *product(struct step *step, struct value *x, struct value *w, struct value *b)
{
    const union attrs axis = { .axis = { .axis = 1 } };
    struct value *y = rule_build2(&step->rewrite, OP_DENSE, NULL, x, w);

    return b ? rule_build2(&step->rewrite, OP_BIAS_ADD, &axis, y, b) : y;
}

static struct value *op2(struct step *step, enum op op, struct value *a, struct value *b)
{
    return rule_build2(&step->rewrite, op, NULL, a, b);
}

static struct value *activate(struct step *step, int i, struct value *x)
{
    return rule_build1(&step->rewrite, step->activation[i], NULL, x);
}

/* Gates of x: as many pieces as `names` has letters. */
static bool divide(struct step *step, struct value *x, const char *letters, struct value **gates)
{
    const int n = (int)strlen(letters);
    const char *names[MAX_GATES];
    union attrs attrs = { .split = { .axis = 1, .sizes = { .n = n } } };
    struct node *node;

    for (int i = 0; i < n; i++) {
        attrs.split.sizes.at[i] = step->hidden;
        names[i] =
            arena_printf(&step->rewrite.ctx->scratch, "%s.%c", step->rewrite.name, letters[i]);
    }
    node = x ? node_new(step->rewrite.fn, &(struct node_args){ .op = OP_SPLIT,
                                                               .n_inputs = 1,
                                                               .inputs = &x,
                                                               .n_outputs = n,
                                                               .names = names,
                                                               .attrs = &attrs,
                                                               .origin = step->rewrite.origin,
                                                               .before = step->rewrite.root })
             : NULL;
    for (int i = 0; i < n && node; i++)
        gates[i] = node->outputs[i];
    return node != NULL;
}

/* --- the equations: a line a node, so that their order is no compiler's choice ---------------- */

/* W x + R h and all biases, for n rows from first on. */
static struct value *sums(struct step *step, int64_t first, int64_t n)
{
    struct value *w = rows_of(step, step->w, first, n), *b = biases(step, true, true, first, n);
    struct value *y = product(step, step->x, w, b), *from_h;

    if (!step->h)
        return y;
    from_h = product(step, step->h, rows_of(step, step->r, first, n), NULL);
    return op2(step, OP_ADD, from_h, y);
}

static bool step_rnn(struct step *step)
{
    step->h = activate(step, 0, sums(step, 0, step->hidden));
    return step->h != NULL;
}

/* The share of h in the sum of the next state; NULL where there is none, *ok false after an error.
 */
static struct value *next_from_h(struct step *step, struct value *reset, bool *ok)
{
    const int64_t n = step->hidden;
    const bool linear = step->rewrite.root->attrs.rnn.linear_before_reset;
    struct value *b = linear ? biases(step, false, true, 2 * n, n) : NULL, *y = b;

    if (step->h) {
        struct value *r = rows_of(step, step->r, 2 * n, n);

        y = linear ? product(step, step->h, r, b) : op2(step, OP_MULTIPLY, reset, step->h);
        y = linear ? op2(step, OP_MULTIPLY, reset, y) : product(step, y, r, NULL);
    } else if (b) {
        y = op2(step, OP_MULTIPLY, reset, b);
    } else {
        return NULL;
    }
    *ok = y != NULL;
    return y;
}

static bool step_gru(struct step *step)
{
    const int64_t n = step->hidden;
    const bool linear = step->rewrite.root->attrs.rnn.linear_before_reset;
    struct value *gates[2], *w, *b, *next, *from_h, *change; /* z, r */
    bool ok = true;

    if (!divide(step, activate(step, 0, sums(step, 0, 2 * n)), "zr", gates))
        return false;
    w = rows_of(step, step->w, 2 * n, n);
    b = biases(step, true, !linear, 2 * n, n);
    next = product(step, step->x, w, b);
    from_h = next_from_h(step, gates[1], &ok);
    if (!ok)
        return false;
    next = activate(step, 1, from_h ? op2(step, OP_ADD, next, from_h) : next);
    /* (1 - z) (.) next + z (.) h */
    change = step->h ? op2(step, OP_SUBTRACT, step->h, next) : next;
    change = op2(step, OP_MULTIPLY, gates[0], change);
    step->h = op2(step, step->h ? OP_ADD : OP_SUBTRACT, next, change);
    return step->h != NULL;
}

static bool step_lstm(struct step *step)
{
    struct value *gates[4], *in, *forget, *out, *now; /* i, o, f, c */

    if (!divide(step, sums(step, 0, 4 * step->hidden), "iofc", gates))
        return false;
    in = activate(step, 0, gates[0]);
    now = activate(step, 1, gates[3]);
    now = op2(step, OP_MULTIPLY, in, now);
    if (step->c) {
        forget = activate(step, 0, gates[2]);
        forget = op2(step, OP_MULTIPLY, forget, step->c);
        now = op2(step, OP_ADD, forget, now);
    }
    step->c = now;
    out = activate(step, 0, gates[1]);
    now = activate(step, 2, now);
    step->h = op2(step, OP_MULTIPLY, out, now);
    return step->h != NULL;
}

/* False after an error. */
static bool unroll(struct step *step, struct node *node)
{
    struct value *results[3];

    step->batch = node->inputs[X]->type.dim[node->attrs.rnn.batch_major ? 0 : 1];
    step->hidden = node->attrs.rnn.hidden_size;
    step->w = node->inputs[W];
    step->r = node->inputs[R];
    step->b = input(node, B);
    step->x = two_dims(step, node->inputs[X], node->inputs[X]->type.dim[2]);
    step->h = state(step, input(node, H));
    step->c = state(step, input(node, C));
    if (!step->x || !(node->op == OP_RNN   ? step_rnn(step)
                      : node->op == OP_GRU ? step_gru(step)
                                           : step_lstm(step)))
        return false;
    results[0] = results[1] = step->h;
    results[2] = step->c;
    for (int i = 0; i < node->n_outputs; i++) {
        struct value *y = rule_reshape(&step->rewrite, results[i], &node->outputs[i]->type);

        if (!y)
            return false;
        value_supplant(node->outputs[i], y);
    }
    remove_dead(node);
    return true;
}

bool pass_unroll_recurrent(struct module *module)
{
    for (struct function *fn = module->functions; fn; fn = fn->next)
        for (struct node *node = fn->first, *next; node && !function_is_region(fn); node = next) {
            struct step step = { .rewrite = { .ctx = module->ctx,
                                              .fn = fn,
                                              .root = node,
                                              .name = node->outputs[0]->name,
                                              .origin = node->origin } };

            next = node->next;
            if ((node->op == OP_RNN || node->op == OP_GRU || node->op == OP_LSTM) &&
                is_one_step(node) && find_activations(node, &step) && !unroll(&step, node))
                return false;
        }
    return true;
}
