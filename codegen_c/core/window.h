/* window.h - the geometry of convolutions and pools. */
#ifndef CODEGEN_C_CORE_WINDOW_H
#define CODEGEN_C_CORE_WINDOW_H

#include "codegen_c/core/kernel.h"

/* Tap k of output position o reads input position o * stride + k * dil - pad (of a transposed
 * convolution: tap k of input position i adds to output position i * stride + k * dil - pad).
 * The dims are depth, height and width; those that the operator lacks are of extent 1. */
struct window {
    int rank; /* of the operator: 1, 2 or 3 */
    int64_t batch, groups, in_c, out_c;
    int64_t in[3], out[3], k[3], stride[3], dil[3];
    int64_t pad[3]; /* at the beginning of each dim */
    bool padded;    /* some tap falls outside the input */
    bool transposed;
    bool channels_last, out_channels_last; /* layout of x and of y: NHWC or NCHW */
};

/* The window of a convolution; of rows times a constant matrix (nn.dense, nn.matmul), whose rows
 * count as pixels. */
struct window window_of_conv(const struct region *region);

/* Whether the anchor is such a product; fills *dense (dense.h). */
struct dense;
bool window_is_dense(const struct region *region, struct dense *dense);

struct window window_of_conv_transpose(const struct region *region);
struct window window_of_pool(const struct region *region);

int64_t window_in_len(const struct window *window); /* pixels of a plane of the input */
int64_t window_out_len(const struct window *window);
int64_t window_k_len(const struct window *window);

/* Whether a tap of the first or last output position falls outside along this dim (not for
 * transposed convolutions). */
bool window_reaches_out(const struct window *window, int dim);

/* The extent of a dim including all padding that taps reach. */
int64_t window_padded_extent(const struct window *window, int dim);

/* Sets in_h, in_w, out_h, out_w, k_h, k_w, stride_h, stride_w, dil_h, dil_w, pad_top, pad_left,
 * padded; for rank 3 also in_d, out_d, k_d, stride_d, dil_d, pad_front. */
void bind_window(struct bind *bind, const struct window *window);
void offer_padded(struct bind *bind, const struct window *window); /* padded alone */

/* Whether every window overlaps the input along this dim. */
bool windows_reach(const struct window *window, int dim);

/* Whether int holds every coordinate and the padded planes: strides, dilations and padding are not
 * bounded by the size of any tensor. */
bool takes_window(const struct window *window, const char **why);

/* Whether x and y are one image with the channels last. */
bool window_is_last(const struct window *window);

/* Whether input and output are channels first. */
bool takes_channels_first(const char *data_layout, const char *out_layout, const char **why);

#endif
