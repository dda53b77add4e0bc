/* winograd.h - convolutions of 3 x 3 with fewer multiplications: F(2 x 2, 3 x 3) and
 * F(4 x 4, 3 x 3) (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015).
 *
 * A tile of m x m outputs takes (m + 2)^2 products per pair of channels in place of 9 m^2: 2.25
 * times fewer for m = 2, 4 times for m = 4; and the weights take 1.78 or 4 times the memory.
 *
 * With strides of 2 (Yepez and Ko, Stride 2 1-D, 2-D, and 3-D Winograd for Convolutional Neural
 * Networks, 2020) an output is that of F(m, 2) on the inputs of even places, whose taps are the
 * outer two, and the middle tap's of the odd ones, in each direction: (2 m + 1)^2 products, 1.44
 * and 1.78 times fewer. The products of odd places have one weight, so that these are (m + 2)^2
 * as well.
 * Figures and errors: docs/design/kernels.md. */
#ifndef CODEGEN_C_KERNELS_CONV_WINOGRAD_H
#define CODEGEN_C_KERNELS_CONV_WINOGRAD_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/expr/vector.h"

enum { WINOGRAD_GAP = 16 /* floats between matrices whose rows would meet in a set of a cache */ };

struct winograd_shape {
    int m;         /* outputs of a tile in each direction: 2 or 4; 0 = the products are direct */
    int stride;    /* in each direction: 1 or 2 */
    int n;         /* inputs under a tile, and products, in each direction */
    int64_t tiles; /* of an image */
    int64_t group; /* tiles at a time */
    bool pairs;    /* products are taken in pairs (pairs.h) */
    int64_t depth; /* inputs whose weights are transformed at a time, when they are needed; 0 = all
                      of them are, at compile time */
};

/* What pays, or what --winograd says, for a convolution that can be computed so. */
struct winograd_shape winograd_shape(const struct region *region, const struct window *window);

/* That of tiles of m x m outputs, with products in pairs or without, and weights transformed
 * `depth` inputs at a time, or 0. */
struct winograd_shape winograd_shape_of(const struct region *region, const struct window *window,
                                        int m, bool pairs, int64_t depth);

/* What winograd_shape says, or what is chosen: where --winograd does not tell the size, it, whether
 * products are taken in pairs, and where weights are transformed; and how many tiles are done at a
 * time. */
struct winograd_shape winograd_chosen_shape(struct bind *bind, const struct window *window);

/* Whether the weights of tiles of m x m outputs can be transformed so many inputs at a time when
 * they are needed, be it faster or not. */
bool winograd_takes_depth(const struct region *region, const struct window *window, int m,
                          int64_t depth);

/* Whether `parts` that run at the same time (parallel.h) are done sooner if each has some of the
 * output channels, `channels` at a time, and transforms all inputs, than if each has some of the
 * groups of tiles. */
bool winograd_is_best_by_channels(const struct window *window, const struct winograd_shape *shape,
                                  int channels, int parts);

/* Whether products can be taken in pairs, be it faster or not. */
bool winograd_takes_pairs(const struct region *region, const struct window *window);

/* The mean square of row i, i < m + 2, of transformed inputs, where that of inputs is 1 and they do
 * not depend on each other; of a row and a column the product. With a stride of 2 the last row
 * stands for all that are of odd places. */
double winograd_usual_square(int m, int stride, int i);

/* The (m + 2)^2 numbers that stand for a kernel of 3 x 3, row by row: G w G^T. With a stride of 2
 * the last row and the last column are those of the products of odd places. */
void winograd_transform(int m, int stride, const float *kernel, double *to);

/* The weights, transformed in double: each row of the panels has in_c numbers for each of the
 * (m + 2)^2 matrices, one after the other. *type gets the shape. */
float *winograd_weights(struct bind *bind, const struct winograd_shape *shape,
                        const struct value *weights, const struct panels *panels,
                        struct type *type);

/* Divides what winograd_weights gave by scales[matrix * step + oc], and sets these, powers of two,
 * and sums[matrix * step + oc], the sums of products of neighbours that are left (pairs.h). */
void winograd_scale_weights(const struct winograd_shape *shape, float *weights,
                            const struct panels *panels, int64_t step, float *scales, float *sums);

/* Asks for the function that transforms six or eight vectors of inputs for F(m, points + 1 - m) at
 * the points 0, 1, -1, 2, -2, of eight 1/2 and -1/2, and infinity. */
const char *bind_winograd_input(struct bind *bind, int points, const struct row_vector *vector);

/* Fields of records (codegen_c/core/kernel.h). */
bool accepts_winograd(const struct region *region, const char **why);

#endif
