/* layer_loss.h - what a product (convolution, dense, matmul) alone loses by being quantised; for
 * topk.
 *
 * With samples: of its results, when nothing else is quantised: it reads the float model's numbers,
 * rounded as the node would read them, with its weights as they would be stored. The mean over the
 * first samples, at most 16.
 * Without: the loss of its weights, and where a calibration table has histograms of what it reads,
 * the loss of these numbers added: errors of both sides of a product add up. */
#ifndef QUANTIZE_LAYER_LOSS_H
#define QUANTIZE_LAYER_LOSS_H

#include "quantize/steps.h"

/* losses[i] of products[i], by options->loss. The graph is only read. False after an error: a
 * sample that cannot be loaded or run. */
bool layer_losses(struct quantization *q, int n, const struct node *const *products,
                  double *losses);

#endif
