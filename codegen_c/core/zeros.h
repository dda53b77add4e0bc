/* zeros.h - inputs many of whose numbers are 0, because ReLU, or a clip at 0, made them: half of
 * them and more in trained networks (docs/design/kernels.md, "Sparse inputs").
 *
 * A product of one row reads each weight once, so it can leave out those of inputs that are 0: sums
 * stay the same, bit by bit, as long as the weights are finite. It takes less time then, and how
 * much depends on the data: --skip-zeros off does without. */
#ifndef CODEGEN_C_CORE_ZEROS_H
#define CODEGEN_C_CORE_ZEROS_H

#include "codegen_c/core/kernel.h"

/* Whether this parameter of the region, as main computes it, holds many zeros. */
bool zeros_are_many(const struct region *region, int param);

#endif
