/* qnn_recurrent.c - the integers of qnn.rnn, qnn.gru and qnn.lstm; see qnn_recurrent.h.
 *
 * The hidden state has 16 bits, of which h_bits stand behind the point. What it can reach is known
 * where the activation functions are bounded (tanh: 1), else four times what the results can say
 * has to do. Where the weights of a row are so many that sums of its products with 16 bits could
 * leave 32 bits, the state has fewer bits; 8 at least. */
#include "relay_ir/ops/qnn_recurrent.h"

#include <math.h>
#include <string.h>

#include "relay_ir/walk.h"

enum { STATE_BITS = 15, LEAST_STATE_BITS = 7, FACTOR_BITS = 30, MOST_SHIFT = 62 };
enum { MOST_EXACT_SHIFT = 127 };

static const double most_sum = 0x1p10; /* of a bias, a state: half of what 32 bits hold */

struct making {
    const struct node *node;
    const struct tensor *const *in;
    struct bulk *bulk;
    struct qnn_recurrent *of;
    const char *why;
};

static const struct tensor *input(const struct making *making, int i)
{
    return i < making->node->n_inputs ? making->in[i] : NULL;
}

static bool refuse(struct making *making, const char *why)
{
    making->why = why;
    return false;
}

/* --- states ----------------------------------------------------------------------------------- */

/* The scale, zero point and type of quantised values that inputs i and i + 1 say; `other` where
 * they are absent. */
static struct qnn_state state_of(const struct making *making, int i, struct qnn_state other)
{
    const struct tensor *scale = input(making, i), *zero = input(making, i + 1);
    struct qnn_state state = other;

    if (!scale)
        return other;
    state = (struct qnn_state){ .dtype = zero->type.dtype,
                                .scale = tensor_at(scale, 0),
                                .format = type_minifloat(&zero->type) };
    if (!state.format)
        state.zero = tensor_int_at(zero, 0);
    return state;
}

/* What one code, or step, stands for. */
static double step_of(const struct qnn_state *state)
{
    return state->format ? ldexp(state->scale, exact_unit(state->format)) : state->scale;
}

/* The greatest magnitude that quantised values stand for. */
static double reach_of(const struct qnn_state *state)
{
    const double zero = (double)state->zero;

    if (state->format)
        return step_of(state) * (double)exact_greatest(state->format);
    return state->scale * fmax((double)dtype_greatest(state->dtype) - zero,
                               zero - (double)dtype_least(state->dtype));
}

static bool is_scale(double scale)
{
    return scale > 0 && isfinite(scale);
}

static bool read_states(struct making *making)
{
    const struct qnn_state none = { .dtype = DTYPE_I8 };
    const struct qnn_state sixteenths = { .dtype = DTYPE_I8, .scale = 0x1p-4 };
    struct qnn_recurrent *of = making->of;

    of->y = state_of(making, QNN_RNN_Y_SCALE, none);
    of->last_h = state_of(making, QNN_RNN_LAST_H_SCALE, of->y);
    of->last_c = state_of(making, QNN_RNN_LAST_C_SCALE, sixteenths);
    of->initial_h = input(making, QNN_RNN_H) ? state_of(making, QNN_RNN_H_SCALE, none) : none;
    of->initial_c = input(making, QNN_RNN_C) ? state_of(making, QNN_RNN_C_SCALE, none) : none;
    if (!is_scale(of->y.scale) || !is_scale(of->last_h.scale) || !is_scale(of->last_c.scale) ||
        (input(making, QNN_RNN_H) && !is_scale(of->initial_h.scale)) ||
        (input(making, QNN_RNN_C) && !is_scale(of->initial_c.scale)))
        return refuse(making, "a scale is not positive, or infinite");
    if (!(reach_of(&of->initial_c) <= most_sum))
        return refuse(making, "the initial cells are beyond 1024");
    return true;
}

/* What the hidden state may be, as far as its functions tell. */
static double bound_of(const struct qnn_recurrent *of, const struct rnn_activation *functions)
{
    const double first = qnn_gate_bound(&functions[0]);

    switch (of->kind->op) {
    case OP_RNN: return first;
    case OP_GRU:
        return qnn_gate_is_share(functions[0].function) ? qnn_gate_bound(&functions[1])
                                                        : (double)INFINITY;
    default: return first * qnn_gate_bound(&functions[2]);
    }
}

static bool read_functions(struct making *making)
{
    struct qnn_recurrent *of = making->of;
    double most = reach_of(&of->initial_h), bound = 0;
    int exponent;

    for (int64_t d = 0; d < of->sizes.directions; d++) {
        struct rnn_activation functions[MAX_ACTIVATIONS];

        rnn_activations_of(making->node, d, functions);
        for (int i = 0; i < of->kind->n_activations; i++)
            if (!qnn_gate_of(&functions[i], &of->gate[d][i]))
                return refuse(making, "a number of an activation function is beyond 1024");
        bound = fmax(bound, bound_of(of, functions));
    }
    if (isinf(bound))
        bound = 4 * fmax(reach_of(&of->y), reach_of(&of->last_h));
    most = fmax(most, bound);
    if (!(most <= most_sum))
        return refuse(making, "the hidden state may be beyond 1024");
    if (frexp(fmax(most, 1), &exponent) == 0.5) /* a power of two */
        exponent--;
    of->h_bits = STATE_BITS - exponent;
    return true;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* The sum of the magnitudes of a row of i8, and of the numbers. */
static int64_t row_reach(const struct tensor *weights, int64_t row, int64_t n, int64_t *sum)
{
    int64_t reach = 0;

    *sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t w = tensor_int_at(weights, row * n + i);

        *sum += w;
        reach += w < 0 ? -w : w;
    }
    return reach;
}

/* Sums of n products of steps with numbers up to `most`. */
static bool fit_64_bits(const struct tensor *weights, int64_t most, int64_t n)
{
    return n <= INT64_MAX / most / exact_greatest(type_minifloat(&weights->type));
}

static bool fit_exact_sums(struct making *making)
{
    struct qnn_recurrent *of = making->of;
    const int64_t most = exact_greatest(type_minifloat(&input(making, QNN_RNN_X)->type));
    const int64_t n = of->sizes.directions * of->sizes.rows;

    of->x_start = bulk_alloc(making->bulk, (size_t)n * sizeof *of->x_start); /* 0 */
    of->h_most = (1 << STATE_BITS) - 1;
    return (fit_64_bits(input(making, QNN_RNN_W), most, of->sizes.input) &&
            fit_64_bits(input(making, QNN_RNN_R), 1 << STATE_BITS, of->sizes.hidden)) ||
           refuse(making, "sums of products may leave 64 bits");
}

static bool read_x_sums(struct making *making)
{
    struct qnn_recurrent *of = making->of;
    const enum dtype dtype = input(making, QNN_RNN_X)->type.dtype;
    const int64_t zero = tensor_int_at(input(making, QNN_RNN_X_ZERO), 0);
    const int64_t most = dtype_greatest(dtype) > -dtype_least(dtype)
                             ? (int64_t)dtype_greatest(dtype)
                             : -(int64_t)dtype_least(dtype);
    const int64_t n = of->sizes.directions * of->sizes.rows;

    of->x_start = bulk_alloc(making->bulk, (size_t)n * sizeof *of->x_start);
    for (int64_t i = 0; i < n; i++) {
        int64_t sum;
        const int64_t reach = row_reach(input(making, QNN_RNN_W), i, of->sizes.input, &sum);

        if (reach * (most + (zero < 0 ? -zero : zero)) > INT32_MAX)
            return refuse(making, "sums of products with x may leave 32 bits");
        of->x_start[i] = (int32_t)(-zero * sum);
    }
    return true;
}

/* Takes bits from the state until sums fit. */
static bool fit_h_sums(struct making *making)
{
    struct qnn_recurrent *of = making->of;
    const int64_t n = of->sizes.directions * of->sizes.rows;
    int64_t most = 0;
    int bits = STATE_BITS;

    for (int64_t i = 0; i < n; i++) {
        int64_t sum;
        const int64_t reach = row_reach(input(making, QNN_RNN_R), i, of->sizes.hidden, &sum);

        most = reach > most ? reach : most;
    }
    for (; most << bits > INT32_MAX; bits--)
        of->h_bits--;
    of->h_most = (int32_t)((1 << bits) - 1);
    return bits >= LEAST_STATE_BITS ||
           refuse(making, "sums of products with the hidden state may leave 32 bits");
}

static bool fit_sums(struct making *making)
{
    return making->of->exact ? fit_exact_sums(making) : read_x_sums(making) && fit_h_sums(making);
}

/* The greatest shift with which no factor leaves FACTOR_BITS. */
static bool find_factors(struct making *making, const struct tensor *scales, double unit,
                         int32_t *factors, int64_t n, int *shift)
{
    const int64_t n_scales = type_elements(&scales->type);
    const int most_shift = making->of->exact ? MOST_EXACT_SHIFT : MOST_SHIFT;
    double greatest = 0;
    int exponent;

    for (int64_t i = 0; i < n_scales; i++) {
        const double scale = tensor_at(scales, i);

        if (!is_scale(scale))
            return refuse(making, "a scale is not positive, or infinite");
        greatest = fmax(greatest, scale * unit);
    }
    if (!(greatest < 0x1p29) || greatest < 0x1p-60)
        return refuse(making, "a scale of weights is too great, or too small");
    (void)frexp(greatest, &exponent); /* greatest < 2^exponent */
    *shift = FACTOR_BITS - exponent < most_shift ? FACTOR_BITS - exponent : most_shift;
    for (int64_t i = 0; i < n; i++)
        factors[i] = (int32_t)rint(ldexp(tensor_at(scales, n_scales == 1 ? 0 : i) * unit, *shift));
    return true;
}

/* The exponent of what the numbers of an input are counted in. */
static int unit_of(const struct making *making, int i)
{
    return making->of->exact ? exact_unit(type_minifloat(&input(making, i)->type)) : 0;
}

static bool read_factors(struct making *making)
{
    struct qnn_recurrent *of = making->of;
    const int64_t rows = of->sizes.rows;
    const double x_scale = tensor_at(input(making, QNN_RNN_X_SCALE), 0);
    const int x_unit = unit_of(making, QNN_RNN_X) + unit_of(making, QNN_RNN_W) + QNN_SUM_BITS;
    const int h_unit = unit_of(making, QNN_RNN_R) + QNN_SUM_BITS - of->h_bits;

    of->x_factor = bulk_alloc(making->bulk, (size_t)rows * sizeof *of->x_factor);
    of->h_factor = bulk_alloc(making->bulk, (size_t)rows * sizeof *of->h_factor);
    return find_factors(making, input(making, QNN_RNN_W_SCALE), ldexp(x_scale, x_unit),
                        of->x_factor, rows, &of->x_shift) &&
           find_factors(making, input(making, QNN_RNN_R_SCALE), ldexp(1, h_unit), of->h_factor,
                        rows, &of->h_shift);
}

/* --- biases, peepholes ------------------------------------------------------------------------ */

/* Rows whose bias of R h stands apart: the last gate of such a gru. */
static bool is_apart(const struct making *making, int64_t row)
{
    return making->of->kind->op == OP_GRU && making->node->attrs.rnn.linear_before_reset &&
           row >= 2 * making->of->sizes.hidden;
}

static bool read_biases(struct making *making)
{
    struct qnn_recurrent *of = making->of;
    const struct tensor *b = input(making, QNN_RNN_B);
    const int64_t rows = of->sizes.rows, hidden = of->sizes.hidden;
    const double one = 0x1p20;

    of->bias = bulk_alloc(making->bulk, (size_t)(of->sizes.directions * rows) * sizeof *of->bias);
    of->h_bias =
        bulk_alloc(making->bulk, (size_t)(of->sizes.directions * hidden) * sizeof *of->h_bias);
    for (int64_t i = 0; b && i < of->sizes.directions * rows; i++) {
        const int64_t d = i / rows, row = i % rows;
        const double x = tensor_at(b, 2 * d * rows + row),
                     h = tensor_at(b, (2 * d + 1) * rows + row);

        if (!(fabs(x) <= most_sum / 2) || !(fabs(h) <= most_sum / 2))
            return refuse(making, "a bias is beyond 512");
        of->bias[i] = (int32_t)rint((is_apart(making, row) ? x : x + h) * one);
        if (is_apart(making, row))
            of->h_bias[d * hidden + row - 2 * hidden] = (int32_t)rint(h * one);
    }
    return true;
}

static bool read_peepholes(struct making *making)
{
    struct qnn_recurrent *of = making->of;
    const struct tensor *p = input(making, QNN_RNN_P);
    const int64_t n = 3 * of->sizes.directions * of->sizes.hidden;
    double greatest = 1;
    int exponent;

    if (!p)
        return true;
    for (int64_t i = 0; i < n; i++)
        greatest = fmax(greatest, fabs(tensor_at(p, i)));
    if (!(greatest <= most_sum))
        return refuse(making, "a peephole is beyond 1024");
    (void)frexp(greatest, &exponent);
    of->p_shift = FACTOR_BITS - exponent;
    of->peephole = bulk_alloc(making->bulk, (size_t)n * sizeof *of->peephole);
    for (int64_t i = 0; i < n; i++)
        of->peephole[i] = (int32_t)rint(ldexp(tensor_at(p, i), of->p_shift));
    return true;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void set_factor(struct qnn_state *state, double factor)
{
    state->factor = fixed_point_of(factor);
    state->exact = exact_factor_of(factor);
}

static void set_state_factors(struct qnn_recurrent *of)
{
    const double h = ldexp(1, -of->h_bits), c = ldexp(1, -QNN_SUM_BITS);

    set_factor(&of->y, h / step_of(&of->y));
    set_factor(&of->last_h, h / step_of(&of->last_h));
    set_factor(&of->last_c, c / step_of(&of->last_c));
    set_factor(&of->initial_h, step_of(&of->initial_h) / h);
    set_factor(&of->initial_c, step_of(&of->initial_c) / c);
}

int64_t qnn_recurrent_scaled(const struct qnn_recurrent *of, int64_t sum, int32_t factor, int shift)
{
    int64_t scaled;

    if (!of->exact)
        return shifted_to_nearest(sum * factor, shift);
    scaled = exact_scale_whole(sum, (struct exact_factor){ factor, -shift });
    return scaled < INT32_MIN ? INT32_MIN : scaled > INT32_MAX ? INT32_MAX : scaled;
}

bool qnn_recurrent_of(const struct node *node, const struct tensor *const *in, struct bulk *bulk,
                      struct qnn_recurrent *of, const char **why)
{
    struct making making = { node, in, bulk, of, NULL };
    const double clip = node->attrs.rnn.clip;
    bool ok;

    *of = (struct qnn_recurrent){ .kind = rnn_kind(node->op), .sizes = rnn_sizes_of(node) };
    of->clip = clip > 0 && clip < 2 * most_sum ? (int32_t)fmax(rint(clip * 0x1p20), 1) : 0;
    of->exact = type_minifloat(&in[QNN_RNN_X]->type) != NULL;
    ok = read_states(&making) && read_functions(&making) && fit_sums(&making) &&
         read_factors(&making) && read_biases(&making) && read_peepholes(&making);
    if (ok)
        set_state_factors(of);
    *why = making.why;
    return ok;
}
