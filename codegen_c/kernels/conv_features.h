/* conv_features.h - what the time of a convolution by register tiles is made of (features.h). */
#ifndef CODEGEN_C_KERNELS_CONV_FEATURES_H
#define CODEGEN_C_KERNELS_CONV_FEATURES_H

#include "codegen_c/kernels/panels.h"
#include "codegen_c/kernels/window.h"

/* Sets the region's features, once its tile and chunk are chosen. */
void conv_tell_features(struct bind *bind, const struct window *window,
                        const struct panels *panels);

#endif
