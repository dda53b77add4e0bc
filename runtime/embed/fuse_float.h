#ifndef EMBED_FUSE_FLOAT_H
#define EMBED_FUSE_FLOAT_H

#include "runtime/embed/fuse_lanes.h"

/* sum + x * w, rounded once. */
static inline float fuse_float(float sum, float x, float w)
{
#if defined __FP_FAST_FMAF || defined __FMA__ || defined __ARM_FEATURE_FMA || defined __riscv_flen
    return __builtin_fmaf(x, w, sum);
#else
    fuse_lanes(&sum, &x, &w, 1);
    return sum;
#endif
}

#endif
