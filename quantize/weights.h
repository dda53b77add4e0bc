/* weights.h - quantises constants. */
#ifndef QUANTIZE_WEIGHTS_H
#define QUANTIZE_WEIGHTS_H

#include "quantize/precision.h"
#include "relay_ir/ir.h"

/* A quantised constant. */
struct quantized_weights {
    struct value *quantized; /* bit patterns, in the format's dtype */
    struct value *scales;    /* vector along `axis`, or scalar; NULL = all 1 */
    int axis;
};

/* Result of a search: a format with scales. */
struct chosen_scales {
    struct number_format format;
    const float *scales; /* [n]: per channel, or one */
    int64_t n;
};

/* Quantises a finite f32 constant of a product: a scale per dim[axis] channel (axis -1: one) by
 * precision->weight_scale, or `chosen` (NULL = none), but at least least[channel] (NULL = no
 * bound); MX: a scale per block of a row (dim 0); afp: none. The result takes over the weight's
 * name. scales is NULL if all are 1. */
void weights_encode(struct value *weight, int axis, const struct precision *precision,
                    const struct chosen_scales *chosen, const float *least,
                    struct quantized_weights *out);

/* Of the formats for weights that `auto` chooses from, the one nearest to the constant: least noise
 * over signal, in the mean over channels. choose_format.c */
struct number_format weights_nearest_format(const struct value *weight, int axis,
                                            const struct scale_rule *rule);

/* Quantised and converted back into rounded[], without changing the graph. */
void weights_round(const struct value *weight, int axis, const struct precision *precision,
                   float *rounded);

/* Index of the first non-finite element; -1 = none. */
int64_t weights_non_finite(const struct value *weight);

/* Bytes of values and scales in generated C. */
size_t weights_bytes(const struct quantized_weights *weights);

#endif
