/* direct.h - what the kernels share that read a convolution's weights as they lie. */
#ifndef CODEGEN_C_KERNELS_DIRECT_H
#define CODEGEN_C_KERNELS_DIRECT_H

#include "codegen_c/kernels/window.h"

/* Binds everything in conv_direct.c.tmpl but the element types and the epilogue, whose position it
 * gives. oc counts the output channels of all groups of all images. */
void bind_direct(struct bind *bind, const struct window *window, struct position *position);

#endif
