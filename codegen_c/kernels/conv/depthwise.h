/* depthwise.h - what others ask about how depthwise convolutions are written. */
#ifndef CODEGEN_C_KERNELS_CONV_DEPTHWISE_H
#define CODEGEN_C_KERNELS_CONV_DEPTHWISE_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"

/* The convolution's window as the kernel goes by it: 1-D is a row, or a column (height and width
 * turned) where a row has no tiles. */
struct window depthwise_window(const struct region *region);

/* Whether what has to be decoded is decoded a strip of a few columns at a time, onto the stack: the
 * first row of y, then strips of as many rows as there are above (1, 2, 4 ...). Else the rows of x
 * under a row of y are decoded into scratch, each once, which is faster by a tenth: strips decode
 * rows and columns between them twice. So it is done where scratch beside x may be what the arena
 * depends on. Windows of stride 1 are never far enough behind the rows above. */
bool depthwise_goes_down_strips(const struct region *region, const struct window *window);

/* Fields of records (codegen_c/core/kernel.h). */
bool accepts_depthwise(const struct region *region, const char **why);

#endif
