/* conv_pairs.h - 1x1 convolutions by Winograd inner products: see conv_pairs.c. */
#ifndef CODEGEN_C_KERNELS_CONV_CONV_PAIRS_H
#define CODEGEN_C_KERNELS_CONV_CONV_PAIRS_H

#include "codegen_c/core/kernel.h"

/* Whether the weights, if quantised, are so few that all of them are dequantised at once by
 * default. */
bool pairs_are_decoded_at_once(const struct region *region);

#endif
