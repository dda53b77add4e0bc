#ifndef EMBED_FUSE_FLOAT_H
#define EMBED_FUSE_FLOAT_H

#include "runtime/embed/fuse_lanes.h"

/* sum += x * w, rounded once. */
#if defined __FP_FAST_FMAF || defined __FMA__ || defined __ARM_FEATURE_FMA || defined __riscv_flen
#define FUSE_FLOAT(sum, x, w) sum = __builtin_fmaf(x, w, sum)
#else
#define FUSE_FLOAT(sum, x, w) { const float fused_w = w, fused_x = x; fuse_lanes(&sum, &fused_x, &fused_w, 1); }
#endif

#endif
