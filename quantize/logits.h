/* logits.h - the relevant range of a softmax input.
 *
 * Masks add -1e4, -3.4e38 or -infinity to elements that a softmax must ignore. A scale that covers
 * them would leave one level for all others, so they are clamped, as are elements so far below the
 * maximum of their row that their share vanishes. */
#ifndef QUANTIZE_LOGITS_H
#define QUANTIZE_LOGITS_H

#include "relay_ir/ir.h"

/* Depth below the row's maximum at which the share is at most e^-16, 1e-7: 4096 such elements sum
 * to a tenth of an int8 step of the result. */
#define LOGITS_DEPTH 16.0

/* Axis of the softmax that is the only reader of the f32 value (several: one axis for all); -1
 * otherwise. */
int logits_axis(const struct value *value);

/* Copy of the tensor in *arena, with elements more than LOGITS_DEPTH below the maximum along `axis`
 * raised to that depth, -infinity included. NaN, and rows with +infinity or only -infinity, are
 * unchanged. */
struct tensor logits_seen(struct arena *arena, const struct tensor *tensor, int axis);

#endif
