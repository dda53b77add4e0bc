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
    int64_t pad[3]; /* in front */
    bool padded;    /* some tap falls outside */
    bool transposed;
    bool channels_last, out_channels_last; /* how x lies, and y: NHWC or NCHW */
};

/* Of a convolution; of the product of rows by a known matrix (nn.dense, nn.matmul), whose rows are
 * pixels in a line. */
struct window window_of_conv(const struct region *region);

/* Whether the anchor is such a product, and which (dense.h). */
struct dense;
bool window_is_dense(const struct region *region, struct dense *dense);

struct window window_of_conv_transpose(const struct region *region);
struct window window_of_pool(const struct region *region);

int64_t window_in_len(const struct window *window); /* positions of a plane */
int64_t window_out_len(const struct window *window);
int64_t window_k_len(const struct window *window);

/* Whether a tap of the first output position, or of the last, falls outside along this dim (not of
 * transposed ones). */
bool window_reaches_out(const struct window *window, int dim);

/* The extent of a dim with all padding that taps fall into. */
int64_t window_padded_extent(const struct window *window, int dim);

/* Sets in_h, in_w, out_h, out_w, k_h, k_w, stride_h, stride_w, dil_h, dil_w, pad_top, pad_left,
 * padded; for rank 3 also in_d, out_d, k_d, stride_d, dil_d, pad_front. */
void bind_window(struct bind *bind, const struct window *window);

/* Whether every window has a tap within the input in this dim. */
bool windows_reach(const struct window *window, int dim);

/* Whether every position and the padded planes can be told by int: strides, dilations and padding
 * are not bounded by the size of any tensor. */
bool takes_window(const struct window *window, const char **why);

/* Whether input and output are laid out channels first. */
bool takes_channels_first(const char *data_layout, const char *out_layout, const char **why);

#endif
