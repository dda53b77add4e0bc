/* quantized.h - what hooks of targets with int8 rows share: captured scales and zero points, and
 * the factors of qnn.requantize as arrays. */
#ifndef PARTITION_TARGETS_QUANTIZED_H
#define PARTITION_TARGETS_QUANTIZED_H

#include "partition/target.h"
#include "relay_ir/ops/qnn.h"

/* The captured constant; one number stands for all i. */
double captured_scale(const struct match *match, const char *name, int64_t i);
int64_t captured_zero(const struct match *match, const char *name); /* its first number */

/* Arrays ${multiplier} and ${shift}, an entry per channel, and their first entries ${multiplier0}
 * and
 * ${shift0}: the factors of captures `s` over `os`. */
void lower_requantize(const struct match *match, int64_t channels, struct lowering *lowering);

#endif
