/* data_free.h - what is chosen where no data is given: formats from the numbers of weights, ranges
 * and formats of data from the statistics of batch norms, and what is lost by all that. Everything
 * is computed in double, by formula or by the reference evaluators: the same on every machine. */
#ifndef QUANTIZE_DATA_FREE_H
#define QUANTIZE_DATA_FREE_H

#include "quantize/steps.h"

/* The precision with the format for weights that loses less of this weight: f8e4m3, f8e3m4 or
 * f8e2m5. As it is unless the mode is fp8 or fp8w and it chooses_formats. */
struct precision precision_for_weight(const struct precision *precision, const struct value *weight,
                                      int axis);

/* Ranges and histograms of the values about which batch norms say something; others are not in the
 * table. NULL = there is no such value. In ctx->perm. */
const struct calib_table *data_free_table(struct quantization *q);

/* The format of data with this source: without a sign where it cannot be negative, and the one that
 * loses less of the tensor (NULL = unknown: that with the widest range), by the scale of its
 * greatest number. The precision's own unless it chooses_formats. */
struct number_format data_free_format(const struct quantization *q,
                                      const struct precision *precision, const struct value *source,
                                      const struct calib_tensor *tensor);

/* Records results of the float graph for synthetic inputs; later those of the simulated graph are
 * compared: report->noise. Networks that take long, or whose inputs are not floats, are passed
 * over. estimate_end frees what begin recorded, and compares unless a step in between failed. */
void estimate_begin(struct quantization *q);
void estimate_end(struct quantization *q, bool is_whole);

#endif
