/* quantized.h - shared by hooks of backends with int8 rows: captured scales and zero points, and
 * qnn.requantize factors as arrays. */
#ifndef PARTITION_TARGETS_QUANTIZED_H
#define PARTITION_TARGETS_QUANTIZED_H

#include "partition/target.h"
#include "relay_ir/ops/qnn.h"

/* Element i of the captured constant; a scalar serves all i. */
double captured_scale(const struct match *match, const char *name, int64_t i);
int64_t captured_zero(const struct match *match, const char *name); /* first element */

/* Arrays ${multiplier} and ${shift} with an entry per channel, and their first entries
 * ${multiplier0} and ${shift0}: the factors s / os of captures `s` and `os`. */
void lower_requantize(const struct match *match, int64_t channels, struct lowering *lowering);

#endif
