/* qnn_lstm_tables.c - an LSTM of quantised values of 8 or 16 bits, with a cell state of 16 bits, as TensorFlow Lite
 * Micro's reference kernel computes it, bit for bit.
 *
 * Inputs: x (i8, rank 3), w (i8, 4 * hidden x input) and r (i8, 4 * hidden x hidden), whose rows are those of the
 * input, forget, cell and output gate; x_bias (i32, 4 * hidden); factors (f32, 8): of the four sums with x, then with
 * h, to units of 2^-12; h (i8, batch x hidden) and c (i16, likewise): the state before; h_bias (i32, 4 * hidden). The
 * zero points of x and h are in the biases. Outputs: y (i8), the hidden state after each step; c after the last.
 * Where x, h and y are i16, without zero points, x_bias is i64, and there is no h_bias; sums have 64 bits, and are
 * rounded once, by the factors' upper 16 bits.
 *
 * Each gate adds two sums, each brought to 16 bits by itself, to 16 bits, and goes through logistic, or tanh (the
 * cell gate), in units of 2^-15. Products of 15-bit numbers are rounded double (fixed_point.c), sums saturate. */
#include "relay_ir/ops/check.h"
#include "relay_ir/ops/ops.h"
#include "relay_ir/ops/q15.h"
#include "relay_ir/ops/qnn.h"
#include "relay_ir/ops/qnn_lstm_tables.h"
#include "relay_ir/ops/scales.h"

static bool is_shape(const struct type *type, enum dtype dtype, int rank, int64_t a, int64_t b)
{
    return type->dtype == dtype && type->rank == rank && type->dim[0] == a &&
           (rank < 2 || type->dim[1] == b);
}

struct lstm_sizes lstm_sizes_of(const struct node *node)
{
    const struct type *x = &node->inputs[LSTM_X]->type, *r = &node->inputs[LSTM_R]->type;
    const bool time_major = node->attrs.lstm_tables.time_major;

    return (struct lstm_sizes){ .batch = x->dim[time_major],
                                .steps = x->dim[!time_major],
                                .input = x->dim[2],
                                .hidden = r->dim[1] };
}

bool infer_qnn_lstm_tables(struct ctx *ctx, struct node *node)
{
    const struct lstm_tables_attrs *attrs = &node->attrs.lstm_tables;
    const enum dtype dtype = input_type(node, LSTM_X)->dtype == DTYPE_I16 ? DTYPE_I16 : DTYPE_I8;
    const bool is_wide = dtype == DTYPE_I16;
    struct lstm_sizes s;
    struct type y;
    bool ok;

    if (!check_rank(ctx, node, LSTM_X, 3, 3) || !check_rank(ctx, node, LSTM_R, 2, 2))
        return false;
    s = lstm_sizes_of(node);
    ok = input_type(node, LSTM_X)->dtype == dtype &&
         is_shape(input_type(node, LSTM_W), DTYPE_I8, 2, 4 * s.hidden, s.input) &&
         is_shape(input_type(node, LSTM_R), DTYPE_I8, 2, 4 * s.hidden, s.hidden) &&
         is_shape(input_type(node, LSTM_X_BIAS), is_wide ? DTYPE_I64 : DTYPE_I32, 1, 4 * s.hidden,
                  0) &&
         (node->n_inputs > LSTM_H_BIAS && node->inputs[LSTM_H_BIAS]) == !is_wide &&
         (is_wide || is_shape(input_type(node, LSTM_H_BIAS), DTYPE_I32, 1, 4 * s.hidden, 0)) &&
         is_shape(input_type(node, LSTM_FACTORS), DTYPE_F32, 1, 8, 0) &&
         is_shape(input_type(node, LSTM_H), dtype, 2, s.batch, s.hidden) &&
         is_shape(input_type(node, LSTM_C), DTYPE_I16, 2, s.batch, s.hidden);
    if (!ok)
        return diag_error(ctx, DIAG_SHAPE, node_origin(node),
                          "the operands of %s do not fit together", op_name(node->op));
    if (!(attrs->h_scale > 0) || attrs->h_zero < (is_wide ? 0 : -128) ||
        attrs->h_zero > (is_wide ? 0 : 127) || attrs->c_power < -15 || attrs->c_power > 0 ||
        attrs->c_most < 0 || attrs->c_most > 32767)
        return diag_error(ctx, DIAG_UNSUPPORTED_FORM, node_origin(node),
                          "the scales of %s are out of range", op_name(node->op));
    y = *input_type(node, LSTM_X);
    y.dim[2] = s.hidden;
    set_output(node, 0, dtype, &y);
    set_output(node, 1, DTYPE_I16, input_type(node, LSTM_C));
    return true;
}

/* --- arithmetic ------------------------------------------------------------------------------- */

bool lstm_fits_32_bits(const struct value *weights)
{
    const int64_t rows = weights->type.dim[0], columns = weights->type.dim[1];
    const int8_t *w = weights->data;

    for (int64_t row = 0; row < rows; row++) {
        int64_t sum = 0;

        for (int64_t k = 0; k < columns; k++)
            sum += w[row * columns + k] < 0 ? -w[row * columns + k] : w[row * columns + k];
        if (sum > UINT16_MAX)
            return false;
    }
    return true;
}

static int32_t within(int32_t v, int32_t least, int32_t most)
{
    return v < least ? least : v > most ? most : v;
}

/* A factor's upper 16 bits, to nearest, and how far their product with a sum is shifted down. */
static struct fixed_point upper_half(struct fixed_point factor)
{
    factor.multiplier =
        factor.multiplier < 0x7FFF0000 ? (factor.multiplier + (1 << 15)) >> 16 : 0x7FFF;
    factor.shift = within(15 - factor.shift, 1, 62);
    return factor;
}

struct lstm_numbers lstm_numbers_of(const struct node *node, const float *factors)
{
    const struct lstm_tables_attrs *attrs = &node->attrs.lstm_tables;
    struct lstm_numbers numbers = { .keep = fixed_point_of(0x1p-15),
                                    .wide = input_type(node, LSTM_X)->dtype == DTYPE_I16 };
    const int up = (int)attrs->c_power + 12;

    for (int i = 0; i < 8; i++) {
        numbers.sum[i] = fixed_point_of((double)factors[i]);
        if (numbers.wide)
            numbers.sum[i] = upper_half(numbers.sum[i]);
    }
    numbers.take = fixed_point_of(0x1p-30 / (double)(1.0f / (float)(1 << -attrs->c_power)));
    numbers.show = fixed_point_of(0x1p-30 / (double)(float)attrs->h_scale);
    numbers.c_factor = up >= 0 ? 3 << up : 3;
    numbers.c_shift = up >= 0 ? 0 : -up;
    numbers.c_most = attrs->c_most ? (int)attrs->c_most : 32767;
    numbers.c_least = attrs->c_most ? -(int)attrs->c_most : -32768;
    return numbers;
}

static int32_t to_16(int32_t v)
{
    return within(v, INT16_MIN, INT16_MAX);
}

static int32_t applied(struct fixed_point factor, int64_t v)
{
    return fixed_point_apply(factor, v, ROUND_DOUBLE);
}

/* n numbers of a tensor. */
struct row {
    const struct tensor *of;
    int64_t at;
};

static int64_t weigh(const struct tensor *weight, int64_t row, struct row x, int64_t n)
{
    const int8_t *w = (const int8_t *)weight->data + row * n;
    int64_t sum = 0;

    if (x.of->type.dtype == DTYPE_I16)
        for (int64_t k = 0; k < n; k++)
            sum += w[k] * ((const int16_t *)x.of->data)[x.at + k];
    else
        for (int64_t k = 0; k < n; k++)
            sum += w[k] * ((const int8_t *)x.of->data)[x.at + k];
    return sum;
}

/* A sum in units of 2^-12, in 16 bits. */
static int32_t scaled_sum(const struct lstm_numbers *numbers, int i, int64_t sum)
{
    const struct fixed_point factor = numbers->sum[i];
    int64_t product;

    if (!numbers->wide)
        return to_16(applied(factor, (int32_t)sum));
    product = sum * factor.multiplier + ((int64_t)1 << (factor.shift - 1));
    return to_16((int32_t)(product < 0 ? ~(~product >> factor.shift) : product >> factor.shift));
}

/* Unit k of gate g, before its function. */
static int32_t gate_of(const struct tensor *const *in, const struct lstm_numbers *numbers,
                       const struct lstm_sizes *s, int g, int64_t k, struct row x, struct row h)
{
    const int64_t row = g * s->hidden + k;
    const int64_t of_x = weigh(in[LSTM_W], row, x, s->input) + tensor_int_at(in[LSTM_X_BIAS], row);
    const int64_t of_h = weigh(in[LSTM_R], row, h, s->hidden) +
                         (numbers->wide ? 0 : tensor_int_at(in[LSTM_H_BIAS], row));

    return to_16(scaled_sum(numbers, g, of_x) + scaled_sum(numbers, 4 + g, of_h));
}

static int32_t scaled_cell(const struct lstm_numbers *numbers, int32_t c)
{
    const int32_t half = numbers->c_shift ? 1 << (numbers->c_shift - 1) : 0;
    const int32_t v = c * numbers->c_factor + half;

    return v < 0 ? ~(~v >> numbers->c_shift) : v >> numbers->c_shift;
}

/* One time step of one sequence; y is a place in out. */
static void step(const struct tensor *const *in, const struct lstm_numbers *numbers,
                 const uint16_t *table, const struct node *node, struct row x, struct row h,
                 int16_t *c, struct tensor *out, int64_t y)
{
    const struct lstm_sizes s = lstm_sizes_of(node);
    const int32_t least = numbers->wide ? INT16_MIN : INT8_MIN;
    const int32_t most = numbers->wide ? INT16_MAX : INT8_MAX;

    for (int64_t k = 0; k < s.hidden; k++) {
        const int32_t take = q15_logistic(table, 3 * gate_of(in, numbers, &s, 0, k, x, h));
        const int32_t keep = q15_logistic(table, 3 * gate_of(in, numbers, &s, 1, k, x, h));
        const int32_t change = q15_tanh(table, 3 * gate_of(in, numbers, &s, 2, k, x, h));
        const int32_t show = q15_logistic(table, 3 * gate_of(in, numbers, &s, 3, k, x, h));
        const int32_t kept = to_16(applied(numbers->keep, keep * c[k]));
        const int32_t taken = to_16(applied(numbers->take, take * change));
        int32_t shown;

        c[k] = (int16_t)within(to_16(kept + taken), numbers->c_least, numbers->c_most);
        shown = applied(numbers->show, q15_tanh(table, scaled_cell(numbers, c[k])) * show) +
                (int32_t)node->attrs.lstm_tables.h_zero;
        dtype_store_int(out->type.dtype, out->data, y + k, within(shown, least, most));
    }
}

bool eval_qnn_lstm_tables(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                          struct tensor *out)
{
    const struct lstm_sizes s = lstm_sizes_of(node);
    const struct lstm_numbers numbers = lstm_numbers_of(node, in[LSTM_FACTORS]->data);
    const bool time_major = node->attrs.lstm_tables.time_major;
    int16_t *c = out[1].data;
    uint16_t table[Q15_ENTRIES];

    (void)ctx;
    for (int i = 0; i < Q15_ENTRIES; i++)
        table[i] = q15_entry(i);
    for (int64_t i = 0; i < s.batch * s.hidden; i++)
        c[i] = ((const int16_t *)in[LSTM_C]->data)[i];
    for (int64_t b = 0; b < s.batch; b++) {
        struct row h = { in[LSTM_H], b * s.hidden };

        for (int64_t t = 0; t < s.steps; t++) {
            const int64_t at = time_major ? t * s.batch + b : b * s.steps + t;

            step(in, &numbers, table, node, (struct row){ in[LSTM_X], at * s.input }, h,
                 c + b * s.hidden, out, at * s.hidden);
            h = (struct row){ out, at * s.hidden };
        }
    }
    return true;
}
