/* exact.h - what kernels of small floats in integers share. */
#ifndef CODEGEN_C_KERNELS_EXACT_H
#define CODEGEN_C_KERNELS_EXACT_H

#include "codegen_c/kernel.h"

/* Sets `key` to the table of what codes of the anchor's input stand for, in steps. */
void bind_steps(struct bind *bind, const char *key, int input);

#endif
