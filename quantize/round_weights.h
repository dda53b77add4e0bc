/* round_weights.h - the step `round` (round_weights.c). */
#ifndef QUANTIZE_ROUND_WEIGHTS_H
#define QUANTIZE_ROUND_WEIGHTS_H

#include "quantize/steps.h"

/* Called by annotate: records a weight that is stored quantised and converted back by `decode`. */
void round_remember(struct quantization *q, const struct value *weight, struct node *decode);

#endif
