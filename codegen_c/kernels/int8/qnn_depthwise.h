/* qnn_depthwise.h - what others ask about how depthwise convolutions of bytes are written. */
#ifndef CODEGEN_C_KERNELS_INT8_QNN_DEPTHWISE_H
#define CODEGEN_C_KERNELS_INT8_QNN_DEPTHWISE_H

#include "codegen_c/core/window.h"

/* Whether qnn_depthwise_rows has read all that is under the windows of a row of y before it writes
 * any of that: one vector has all channels. Else they are read block by block. */
bool depthwise_rows_are_copied(const struct region *region, const struct window *window);

#endif
