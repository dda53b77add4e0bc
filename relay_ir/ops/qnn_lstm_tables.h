/* qnn_lstm_tables.h - the integers of qnn.lstm_tables, for its evaluator and its kernel. */
#ifndef RELAY_IR_OPS_QNN_LSTM_TABLES_H
#define RELAY_IR_OPS_QNN_LSTM_TABLES_H

#include "relay_ir/ops/qnn.h"

enum { LSTM_X, LSTM_W, LSTM_R, LSTM_X_BIAS, LSTM_FACTORS, LSTM_H, LSTM_C, LSTM_H_BIAS };

struct lstm_sizes {
    int64_t batch, steps, input, hidden;
};

struct lstm_sizes lstm_sizes_of(const struct node *node);

struct lstm_numbers {
    struct fixed_point sum[8]; /* of x in each gate, then of h; wide: 16 bits, and a shift down */
    bool wide;                 /* quantised values of 16 bits, sums of 64 */
    struct fixed_point keep, take,
        show;              /* of the products that make the cell and the hidden state */
    int c_factor, c_shift; /* (c * factor + half) >> shift is what q15_tanh takes */
    int c_least, c_most;
};

/* Whether sums of 16-bit quantised values with any of these rows fit 32 bits. */
bool lstm_fits_32_bits(const struct value *weights);

/* factors: the input of this name. */
struct lstm_numbers lstm_numbers_of(const struct node *node, const float *factors);

#endif
