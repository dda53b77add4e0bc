/* round_weights.h - the step `round`: see round_weights.c. */
#ifndef QUANTIZE_ROUND_WEIGHTS_H
#define QUANTIZE_ROUND_WEIGHTS_H

#include "quantize/steps.h"

/* For annotate: the numbers of a weight whose codes go through `decode`. */
void round_remember(struct quantization *q, const struct value *weight, struct node *decode);

#endif
