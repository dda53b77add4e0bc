/* overlap.h - overlap-add of windows: ONNX's Col2Im as a transposed convolution. */
#ifndef RELAY_IR_OVERLAP_H
#define RELAY_IR_OVERLAP_H

#include "relay_ir/ir.h"

/* True if a 1-D or 2-D transposed convolution is an overlap-add: f32, and each input channel of a
 * group contributes one window element to the only output channel, with weight 1. */
bool adds_windows(const struct node *node);

#endif
