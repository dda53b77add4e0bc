/* spatial.h - sliding windows over 1 to 3 spatial dimensions, for convolutions and pools, and
 * tensors as doubles. */
#ifndef RELAY_IR_OPS_SPATIAL_H
#define RELAY_IR_OPS_SPATIAL_H

#include "relay_ir/ir.h"

enum { MAX_SPATIAL = 3 };

/* Bound of every extent, step and padding, so that products and sums fit into int64. */
#define SPATIAL_MOST ((int64_t)1 << 30)

/* Bound of the samples per dimension of a region of interest. */
enum { ROI_MOST_SAMPLES = 1 << 14 };

/* One spatial dimension: output position o reads input o * stride - pad_before + k * dilation for
 * k < kernel (a transposed convolution: input position i adds to output i * stride - ...). */
struct slide {
    int64_t in, out, kernel, stride, dilation, pad_before, pad_after;
};

/* Always three dimensions; missing ones come first with extent 1. */
struct spatial {
    struct slide dim[MAX_SPATIAL]; /* depth, height, width */
};

/* Extent of the dilated window. */
int64_t slide_covers(const struct slide *slide);

/* Checks the lists; empty ones are stored as defaults first: strides and dilation 1, padding 0.
 * `rank` is the number of spatial dimensions. */
bool spatial_check(struct ctx *ctx, const struct node *node, int rank, struct ints *strides,
                   struct ints *padding, struct ints *dilation);

/* Checks a list with one entry per spatial dimension in least .. SPATIAL_MOST; an empty one is
 * filled with `missing`. */
bool spatial_check_list(struct ctx *ctx, const struct node *node, const char *what, int n,
                        int64_t least, int64_t missing, struct ints *list);

/* Makes the windows from checked lists. x and kernel are arrays of `rank` extents; .out is left
 * 0. */
struct spatial spatial_make(int rank, const int64_t *x, const int64_t *kernel,
                            const struct ints *strides, const struct ints *padding,
                            const struct ints *dilation);

/* Reports extents beyond SPATIAL_MOST and windows that do not fit into the padded input. hangs_over:
 * a window may be longer by less than a stride, as ONNX Runtime counts pools: its one position
 * hangs over the end. */
bool spatial_check_fit(struct ctx *ctx, const struct node *node, int rank,
                       const struct spatial *spatial, bool hangs_over);

/* Narrows *from .. *to - 1 to positions whose tap k reads inside the input. */
void slide_range(const struct slide *slide, int64_t k, int64_t *from, int64_t *to);

/* Checks the layout word of data with `rank` spatial dimensions, "NCHW" or "NHWC"; "" becomes the
 * former. */
bool spatial_check_layout(struct ctx *ctx, const struct node *node, const char *what, int rank,
                          const char **word);

/* Checks the layout word of a kernel whose channels come first: "OIHW" if `first` is "OI"; ""
 * becomes it. */
bool spatial_check_kernel_layout(struct ctx *ctx, const struct node *node, int rank,
                                 const char *first, const char **word);

/* Elements of a tensor as doubles. */
double *doubles_of(struct bulk *bulk, const struct tensor *tensor);

/* Stores n doubles, rounded once, from element `at` on. */
void doubles_store(struct tensor *tensor, int64_t at, const double *from, int64_t n);

#endif
