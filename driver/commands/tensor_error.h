/* tensor_error.h - error between two tensors. */
#ifndef DRIVER_COMMANDS_TENSOR_ERROR_H
#define DRIVER_COMMANDS_TENSOR_ERROR_H

#include "relay_ir/ir.h"

/* Greatest finite magnitude; 0 if empty. */
double largest_magnitude(const struct tensor *tensor);

/* Largest |wanted - found| divided by `largest` (undivided if that is 0). NaN equals NaN and
 * infinities equal themselves; any other pair with them is infinitely far apart. */
double relative_error(const struct tensor *wanted, double largest, const struct tensor *found);

#endif
