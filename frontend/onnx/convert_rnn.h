/* convert_rnn.h - between convert_rnn.c and convert_rnn_steps.c. */
#ifndef FRONTEND_ONNX_CONVERT_RNN_H
#define FRONTEND_ONNX_CONVERT_RNN_H

#include "frontend/onnx/convert_helpers.h"

/* The layer as products and element-wise operators, for weights that are computed at run time. The inputs are checked;
 * attrs has every default written out. */
bool rnn_in_steps(struct onnx_node *node, enum op op, const struct rnn_attrs *attrs);

#endif
