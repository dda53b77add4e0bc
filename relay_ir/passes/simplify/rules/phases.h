/* phases.h - a transposed convolution as a convolution.
 *
 * Positions of y as far apart as the strides are reached through the same taps of the kernel: they
 * are a *phase*, and of each phase y is a convolution of x without strides. All phases together are
 * one convolution with a channel for each channel of y and phase, whose kernel spans the taps of
 * all phases (zeros where a phase has none), and depth_to_space puts its places in between one
 * another. With position o of y and stride s, o + shift = s * q + phase: tap k, d = k * dilation,
 * reads x at q + (phase - shift + pad - d) / s where that is whole. The shift makes the kernel as
 * short as can be, 0 where it makes no difference; what it adds in front is cut off, as is what is
 * too long behind. */
#ifndef RELAY_IR_PASSES_SIMPLIFY_RULES_PHASES_H
#define RELAY_IR_PASSES_SIMPLIFY_RULES_PHASES_H

#include "relay_ir/ir.h"
#include "relay_ir/ops/spatial.h"

/* One spatial dim of both forms. */
struct phase_dim {
    int64_t k, stride, dil, pad, in, out;  /* transposed */
    int64_t shift, first, taps, positions; /* convolution: tap 0 reads x at q + first */
};

struct phases {
    int rank;
    struct phase_dim dims[MAX_SPATIAL];
    int64_t n;                   /* phases */
    int64_t groups, in_c, out_c; /* in_c and out_c of a group */
};

/* Of a transposed convolution whose types are known. False for what is empty, has the channels
 * last, or would have too many weights: strides far beyond the kernel. */
bool phases_of(const struct node *node, struct phases *p);

/* The padding of the convolution. */
struct ints phases_padding(const struct phases *p);

/* Channels of the convolution. Those of a group lie side by side, as groups want it: of one group
 * the phases come first, so that depth_to_space moves whole pixels (DCR); of several the channels
 * do (CRD). */
int64_t phases_channels(const struct phases *p);
/* ... the channel of y of one of them, and its phase. */
int64_t phases_old_channel(const struct phases *p, int64_t channel);
int64_t phases_phase(const struct phases *p, int64_t channel);

/* Where the tap of a phase at this place of the new kernel is in the old one; -1: nowhere. */
int64_t phases_old_place(const struct phases *p, int64_t phase, int64_t place);

#endif
