/* layer_loss.h - loss of quantising one product (convolution, dense, matmul) alone; for topk.
 *
 * With samples: loss of its results with nothing else quantised: inputs are the float model's
 * values, rounded as the node would read them, and weights as stored. Mean over the first 16
 * samples at most. Without: loss of its weights, plus loss of its data if a calibration table has a
 * histogram of it: errors of both operands add up. */
#ifndef QUANTIZE_LAYER_LOSS_H
#define QUANTIZE_LAYER_LOSS_H

#include "quantize/steps.h"

/* Fills losses[i] for products[i], by options->loss; the graph is not changed. False after an
 * error: a sample that cannot be loaded or run. */
bool layer_losses(struct quantization *q, int n, const struct node *const *products,
                  double *losses);

#endif
