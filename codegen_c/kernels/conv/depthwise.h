/* depthwise.h - depthwise convolutions: for the plan, and for other kernels. */
#ifndef CODEGEN_C_KERNELS_CONV_DEPTHWISE_H
#define CODEGEN_C_KERNELS_CONV_DEPTHWISE_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"

/* The convolution's window as the kernel sees it. A 1-D convolution is a row, or, if a row has no
 * tiles, a column (height and width exchanged). */
struct window depthwise_window(const struct region *region);

/* Whether quantised x is dequantised onto the stack, a strip of a few columns at a time: the first
 * row of y, then strips of as many rows as there are above (1, 2, 4 ...). Otherwise the rows of x
 * under a row of y are dequantised into scratch, each once, which is a tenth faster: strips
 * dequantise their borders twice. Strips are for regions whose scratch beside x may set the size of
 * the arena. Windows of stride 1 never have enough distance from the rows above. */
bool depthwise_goes_down_strips(const struct region *region, const struct window *window);

/* Fields of records (codegen_c/core/kernel.h). */
bool accepts_depthwise(const struct region *region, const char **why);

#endif
