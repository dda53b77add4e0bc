/* logits.h - what a softmax sees of the numbers it reads.
 *
 * A mask adds -1e4, -3.4e38 or -infinity to what a softmax shall not see. Such numbers are no part
 * of what is to be stored in few bits: a scale that reached them would leave one code for all
 * others. Nor is any number so far below the greatest of its row that its share is lost beside it.
 */
#ifndef QUANTIZE_LOGITS_H
#define QUANTIZE_LOGITS_H

#include "relay_ir/ir.h"

/* So far below the greatest of its row a number's share is at most e^-16, 1e-7: of 4096 such
 * numbers together a tenth of a code of an int8 result. */
#define LOGITS_DEPTH 16.0

/* The axis of the softmax that alone reads the value (several: of all of them), which is f32; -1:
 * there is none, or something else reads it. */
int logits_axis(const struct value *value);

/* The same tensor with numbers lower than LOGITS_DEPTH below the greatest along `axis` raised to
 * there, -infinity among them; NaN, and rows with +infinity or nothing but -infinity, are left. The
 * payload lives in *arena. */
struct tensor logits_seen(struct arena *arena, const struct tensor *tensor, int axis);

#endif
