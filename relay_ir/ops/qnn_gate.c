/* qnn_gate.c - see qnn_gate.h. runtime/embed/gate_*.h are the same for generated C.
 *
 *   sigmoid(x)   1/2 + tanh(x / 2) / 2
 *   elu(x)       x, or -alpha * (1 - exp(-|x|)) below 0
 *   softplus(x)  max(x, 0) + log(1 + exp(-|x|))
 *   softsign(x)  1 - 1 / (1 + |x|), with the sign of x: one division of 32 bits */
#include "relay_ir/ops/qnn_gate.h"

#include <math.h>
#include <stdlib.h>

#include "relay_ir/ops/qnn.h"

enum { ONE = 1 << QNN_GATE_BITS, FRACTION_BITS = QNN_SUM_BITS - QNN_STEP_BITS };

/* --- tables ----------------------------------------------------------------------------------- */

int qnn_table_size(enum qnn_table table)
{
    return ((table == QNN_TABLE_TANH ? 8 : 12) << QNN_STEP_BITS) + 1;
}

uint16_t qnn_table_entry(enum qnn_table table, int i)
{
    const double x = ldexp(i, -QNN_STEP_BITS);
    const double y = table == QNN_TABLE_TANH  ? tanh(x)
                     : table == QNN_TABLE_EXP ? -expm1(-x)
                                              : log(2) - log1p(exp(-x));

    return (uint16_t)rint(ldexp(y, QNN_GATE_BITS));
}

/* At x / 2^QNN_SUM_BITS. */
static uint32_t looked_up(enum qnn_table table, uint32_t x)
{
    const uint32_t k = x >> FRACTION_BITS, rest = x & ((1u << FRACTION_BITS) - 1);
    const uint32_t last = (uint32_t)qnn_table_size(table) - 1;
    uint32_t here, next;

    if (k >= last)
        return qnn_table_entry(table, (int)last);
    here = qnn_table_entry(table, (int)k);
    next = qnn_table_entry(table, (int)k + 1);
    return here + (((next - here) * rest + (1u << (FRACTION_BITS - 1))) >> FRACTION_BITS);
}

/* --- functions -------------------------------------------------------------------------------- */

static uint32_t magnitude(int32_t x)
{
    return x < 0 ? 0u - (uint32_t)x : (uint32_t)x;
}

static int32_t limited(int64_t x, int64_t most)
{
    return (int32_t)(x < -most ? -most : x > most ? most : x);
}

static int32_t tanh_of(int32_t x)
{
    const int32_t y = (int32_t)looked_up(QNN_TABLE_TANH, magnitude(x));

    return x < 0 ? -y : y;
}

static int32_t sigmoid_of(int32_t x)
{
    const int32_t y = (int32_t)looked_up(QNN_TABLE_TANH, magnitude(x) >> 1);

    return (x < 0 ? ONE - y + 1 : ONE + y + 1) >> 1;
}

static int32_t softsign_of(int32_t x)
{
    const uint32_t by = ((1u << QNN_SUM_BITS) + magnitude(x) + 8) >> 4;
    const int32_t y = ONE - (int32_t)(((1u << 31) + by / 2) / by);

    return x < 0 ? -y : y;
}

/* In the unit of gates. */
static int64_t as_gate(int32_t x)
{
    return shifted_to_nearest(x, QNN_SUM_BITS - QNN_GATE_BITS);
}

/* x, a sum, times a number, in the unit of gates. */
static int64_t times(int32_t number, int32_t x)
{
    return shifted_to_nearest((int64_t)number * x, QNN_NUMBER_BITS + QNN_SUM_BITS - QNN_GATE_BITS);
}

/* y, a gate, likewise. */
static int64_t times_gate(int32_t number, int32_t y)
{
    return shifted_to_nearest((int64_t)number * y, QNN_NUMBER_BITS);
}

static int32_t elu_of(const struct qnn_gate *gate, int32_t x)
{
    return limited(x < 0 ? -times_gate(gate->alpha, (int32_t)looked_up(QNN_TABLE_EXP, magnitude(x)))
                         : as_gate(x),
                   QNN_GATE_MOST);
}

static int32_t scaled_tanh_of(const struct qnn_gate *gate, int32_t x)
{
    const int64_t scaled = shifted_to_nearest((int64_t)gate->beta * x, QNN_NUMBER_BITS);

    return limited(times_gate(gate->alpha, tanh_of(limited(scaled, INT32_MAX))), QNN_GATE_MOST);
}

static int32_t softplus_of(int32_t x)
{
    const int32_t log_2 = 22713; /* log(2) */

    return limited((x < 0 ? 0 : as_gate(x)) + log_2 -
                       (int32_t)looked_up(QNN_TABLE_SOFTPLUS, magnitude(x)),
                   QNN_GATE_MOST);
}

int32_t qnn_gate_apply(const struct qnn_gate *gate, int32_t x)
{
    /* beta, in the unit of gates */
    const int64_t beta = shifted_to_nearest(gate->beta, QNN_NUMBER_BITS - QNN_GATE_BITS);
    int64_t y;

    switch (gate->function) {
    case RNN_AFFINE: return limited(times(gate->alpha, x) + beta, QNN_GATE_MOST);
    case RNN_ELU: return elu_of(gate, x);
    case RNN_HARD_SIGMOID:
        y = times(gate->alpha, x) + beta;
        return (int32_t)(y < 0 ? 0 : y > ONE ? ONE : y);
    case RNN_LEAKY_RELU: return limited(x < 0 ? times(gate->alpha, x) : as_gate(x), QNN_GATE_MOST);
    case RNN_RELU: return limited(x < 0 ? 0 : as_gate(x), QNN_GATE_MOST);
    case RNN_SCALED_TANH: return scaled_tanh_of(gate, x);
    case RNN_SIGMOID: return sigmoid_of(x);
    case RNN_SOFTPLUS: return softplus_of(x);
    case RNN_SOFTSIGN: return softsign_of(x);
    case RNN_TANH: return tanh_of(x);
    case RNN_THRESHOLDED_RELU: return limited(x >= gate->alpha ? as_gate(x) : 0, QNN_GATE_MOST);
    case RNN_FUNCTION_COUNT: break;
    }
    abort();
}

/* --- what is known of them -------------------------------------------------------------------- */

bool qnn_gate_of(const struct rnn_activation *activation, struct qnn_gate *gate)
{
    const double most = 0x1p10, unit = 0x1p16;

    if (!(fabs(activation->alpha) <= most) || !(fabs(activation->beta) <= most))
        return false;
    *gate = (struct qnn_gate){ .function = activation->function,
                               .alpha = (int32_t)rint(activation->alpha * unit),
                               .beta = (int32_t)rint(activation->beta * unit) };
    if (activation->function == RNN_THRESHOLDED_RELU)
        gate->alpha = (int32_t)rint(activation->alpha * 0x1p20);
    return true;
}

enum qnn_table qnn_gate_table(enum rnn_function function)
{
    switch (function) {
    case RNN_SCALED_TANH:
    case RNN_SIGMOID:
    case RNN_TANH: return QNN_TABLE_TANH;
    case RNN_ELU: return QNN_TABLE_EXP;
    case RNN_SOFTPLUS: return QNN_TABLE_SOFTPLUS;
    default: return QNN_TABLE_NONE;
    }
}

double qnn_gate_bound(const struct rnn_activation *activation)
{
    switch (activation->function) {
    case RNN_HARD_SIGMOID:
    case RNN_SIGMOID:
    case RNN_SOFTSIGN:
    case RNN_TANH: return 1;
    case RNN_SCALED_TANH: return fabs(activation->alpha);
    default: return (double)INFINITY;
    }
}

bool qnn_gate_is_share(enum rnn_function function)
{
    return function == RNN_HARD_SIGMOID || function == RNN_SIGMOID;
}
