/* weights.h - constants as codes. */
#ifndef QUANTIZE_WEIGHTS_H
#define QUANTIZE_WEIGHTS_H

#include "quantize/precision.h"
#include "relay_ir/ir.h"

/* A constant and what it became. */
struct small_weights {
    struct value *codes;  /* of the format's dtype */
    struct value *scales; /* vector along `axis`, or one number; NULL = all are 1 */
    int axis;
};

/* A format and a scale for each channel, found by a search. */
struct chosen_scales {
    struct number_format format;
    const float *scales; /* [n]: of the channels, or one */
    int64_t n;
};

/* Encodes an f32 constant of a product: a scale for each of dim[axis] channels (axis -1: one),
 * found as precision->weight_scale says, or `chosen` (NULL = none), but not below least[channel]
 * (NULL = any); MX: a scale for each block of the rows (dim 0); afp: none. The codes are called as
 * the weight, which is renamed. Numbers must be finite. NULL-scales where all are 1. */
void weights_encode(struct value *weight, int axis, const struct precision *precision,
                    const struct chosen_scales *chosen, const float *least,
                    struct small_weights *out);

/* What the numbers would become, without any change of the graph. rounded: as many as there are. */
void weights_round(const struct value *weight, int axis, const struct precision *precision,
                   float *rounded);

/* Where the first number that is not finite stands; -1 = all are. */
int64_t weights_non_finite(const struct value *weight);

/* What the codes and their scales take in generated C, in bytes. */
size_t weights_bytes(const struct small_weights *weights);

#endif
