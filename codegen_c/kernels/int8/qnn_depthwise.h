/* qnn_depthwise.h - int8 depthwise convolutions: for the overlap rules. */
#ifndef CODEGEN_C_KERNELS_INT8_QNN_DEPTHWISE_H
#define CODEGEN_C_KERNELS_INT8_QNN_DEPTHWISE_H

#include "codegen_c/core/window.h"

/* Whether qnn_depthwise_rows reads everything under the windows of a row of y before it writes that
 * row: one vector holds all channels. Otherwise rows are read block of channels by block. */
bool depthwise_rows_are_copied(const struct region *region, const struct window *window);

#endif
