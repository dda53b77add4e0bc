/* overlap.h - windows that are added up where they lie over one another: ONNX's Col2Im. */
#ifndef RELAY_IR_OVERLAP_H
#define RELAY_IR_OVERLAP_H

#include "relay_ir/ir.h"

/* Whether a transposed convolution of one or two dims only does that: f32, and each input channel
 * of a group is an element of the windows of its only output channel, by a weight of 1. */
bool adds_windows(const struct node *node);

#endif
