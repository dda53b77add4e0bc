/* qnn_lstm_tables.h - the integers of qnn.lstm_tables, for its evaluator and its kernel. */
#ifndef RELAY_IR_OPS_QNN_LSTM_TABLES_H
#define RELAY_IR_OPS_QNN_LSTM_TABLES_H

#include "relay_ir/ops/qnn.h"

enum { LSTM_X, LSTM_W, LSTM_R, LSTM_X_BIAS, LSTM_H_BIAS, LSTM_FACTORS, LSTM_H, LSTM_C };

struct lstm_sizes {
    int64_t batch, steps, input, hidden;
};

struct lstm_sizes lstm_sizes_of(const struct node *node);

struct lstm_numbers {
    struct fixed_point sum[8]; /* of x in each gate, then of h */
    struct fixed_point keep, take,
        show;              /* of the products that make the cell and the hidden state */
    int c_factor, c_shift; /* (c * factor + half) >> shift is what q15_tanh takes */
    int c_least, c_most;
};

/* factors: the input of this name. */
struct lstm_numbers lstm_numbers_of(const struct node *node, const float *factors);

#endif
