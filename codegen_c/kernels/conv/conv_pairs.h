/* conv_pairs.h - convolutions of extent 1 by pairs of products: see conv_pairs.c. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_PAIRS_H
#define CODEGEN_C_KERNELS_CONV_CONV_PAIRS_H

#include "codegen_c/core/kernel.h"

/* Whether the region's weights, if they have to be decoded, are so few that all are at a time,
 * usually. */
bool pairs_are_decoded_at_once(const struct region *region);

#endif
