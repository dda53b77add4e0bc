/* tensor_error.h - how far two tensors are apart. */
#ifndef CLI_TENSOR_ERROR_H
#define CLI_TENSOR_ERROR_H

#include "relay_ir/ir.h"

/* The greatest finite magnitude; 0 of no elements. */
double largest_magnitude(const struct tensor *tensor);

/* The largest |wanted - found| over the elements, divided by `largest` (as it is when that is 0).
 * NaN agrees with NaN, an infinity with itself; everything else is infinitely far from them. */
double relative_error(const struct tensor *wanted, double largest, const struct tensor *found);

#endif
