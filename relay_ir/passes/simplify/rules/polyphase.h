/* polyphase.h - polyphase decomposition of a transposed convolution.
 *
 * Output positions that are a stride apart use the same taps of the kernel and form a *phase*;
 * within a phase, y is a convolution of x without strides. All phases become one convolution with a
 * channel per channel of y and phase; its kernel spans the taps of all phases (zeros where a phase
 * has none), and depth_to_space interleaves the phases. With output position o and stride s, o +
 * shift = s * q + phase: tap k, d = k * dilation, reads x at q + (phase - shift + pad - d) / s if
 * that is an integer. `shift` minimises the kernel, and is 0 if it makes no difference; surplus
 * positions in front and behind are cut off. */
#ifndef RELAY_IR_PASSES_SIMPLIFY_RULES_POLYPHASE_H
#define RELAY_IR_PASSES_SIMPLIFY_RULES_POLYPHASE_H

#include "relay_ir/ir.h"
#include "relay_ir/ops/spatial.h"

/* One spatial dim of both forms. */
struct polyphase_dim {
    int64_t k, stride, dil, pad, in, out;  /* transposed convolution */
    int64_t shift, first, taps, positions; /* convolution without strides: tap 0 reads x at q +
                                              first */
};

struct polyphase {
    int rank;
    struct polyphase_dim dims[MAX_SPATIAL];
    int64_t n;                   /* number of phases */
    int64_t groups, in_c, out_c; /* in_c and out_c are per group */
};

/* Decomposes a transposed convolution with inferred types. False if it is empty, channels-last, or
 * would get too many weights (strides far larger than the kernel). */
bool polyphase_of(const struct node *node, struct polyphase *p);

/* Padding of the convolution. */
struct ints polyphase_padding(const struct polyphase *p);

/* Number of output channels of the convolution. Channels of a group are adjacent. One group:
 * phase-major, so that depth_to_space moves whole pixels (DCR); several groups: channel-major
 * (CRD). */
int64_t polyphase_channels(const struct polyphase *p);
/* Channel of y, and phase, of a channel of the convolution. */
int64_t polyphase_old_channel(const struct polyphase *p, int64_t channel);
int64_t polyphase_phase(const struct polyphase *p, int64_t channel);

/* Position in the old kernel of the tap at position `place` of the new one, for a phase; -1:
 * none. */
int64_t polyphase_old_place(const struct polyphase *p, int64_t phase, int64_t place);

#endif
