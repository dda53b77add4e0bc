/* spatial.h - what convolutions and pools have in common: windows that slide over 1 to 3 spatial
 * dimensions, and their operands as doubles. */
#ifndef RELAY_IR_OPS_SPATIAL_H
#define RELAY_IR_OPS_SPATIAL_H

#include "relay_ir/ir.h"

enum { MAX_SPATIAL = 3 };

/* Bound of every extent, step and padding here, so that their products and sums fit into int64. */
#define SPATIAL_MOST ((int64_t)1 << 30)

/* No region of interest is sampled more finely than this: it has no business being bigger than any
 * image. */
enum { ROI_MOST_SAMPLES = 1 << 14 };

/* One spatial dimension: output position o reads input o * stride - pad_before + k * dilation for
 * k < kernel (a transposed convolution: input position i adds to output i * stride - ...). */
struct slide {
    int64_t in, out, kernel, stride, dilation, pad_before, pad_after;
};

/* Always three dimensions; the missing ones come first and have extent 1. */
struct spatial {
    struct slide dim[MAX_SPATIAL]; /* depth, height, width */
};

/* The extent that a window covers. */
int64_t slide_covers(const struct slide *slide);

/* Checks the lists, after writing out the ones that are left empty: strides and dilation 1, padding
 * 0. `rank` is the number of spatial dimensions. */
bool spatial_check(struct ctx *ctx, const struct node *node, int rank, struct ints *strides,
                   struct ints *padding, struct ints *dilation);

/* One entry per spatial dimension, least .. SPATIAL_MOST; all `missing` when the list is empty. */
bool spatial_check_list(struct ctx *ctx, const struct node *node, const char *what, int n,
                        int64_t least, int64_t missing, struct ints *list);

/* From checked lists. x and kernel are arrays of `rank` extents; .out is left 0. */
struct spatial spatial_make(int rank, const int64_t *x, const int64_t *kernel,
                            const struct ints *strides, const struct ints *padding,
                            const struct ints *dilation);

/* Reports extents beyond SPATIAL_MOST and windows that do not fit into the padded input. */
bool spatial_check_fit(struct ctx *ctx, const struct node *node, int rank,
                       const struct spatial *spatial);

/* The positions o in *from .. *to - 1 whose tap k reads inside the input. */
void slide_range(const struct slide *slide, int64_t k, int64_t *from, int64_t *to);

/* The layout word of data with `rank` spatial dimensions: "NCHW" or "NHWC"; "" becomes the former.
 */
bool spatial_check_layout(struct ctx *ctx, const struct node *node, const char *what, int rank,
                          const char **word);

/* That of a kernel, whose channels come first: "OIHW" where first is "OI"; "" becomes it. */
bool spatial_check_kernel_layout(struct ctx *ctx, const struct node *node, int rank,
                                 const char *first, const char **word);

/* The elements of a tensor as doubles. */
double *doubles_of(struct bulk *bulk, const struct tensor *tensor);

/* n doubles, rounded once, into a tensor from element `at` on. */
void doubles_store(struct tensor *tensor, int64_t at, const double *from, int64_t n);

#endif
