/* winograd.h - Winograd convolutions: F(2 x 2, 3 x 3) and F(4 x 4, 3 x 3) (Lavin and Gray, Fast
 * Algorithms for Convolutional Neural Networks, 2015).
 *
 * A tile of m x m outputs takes (m + 2)^2 products per pair of channels instead of 9 m^2: 2.25
 * times fewer for m = 2, 4 times for m = 4. The weights take 1.78 or 4 times the memory.
 *
 * Stride 2 (Yepez and Ko, Stride 2 1-D, 2-D, and 3-D Winograd for Convolutional Neural Networks,
 * 2020): in each direction an output is F(m, 2) of the outer two taps on the even inputs, plus the
 * middle tap on the odd inputs: (2 m + 1)^2 products, 1.44 and 1.78 times fewer. The products of
 * odd inputs share one weight, so that there are (m + 2)^2 weights as well. Figures and errors:
 * docs/design/kernels.md. */
#ifndef CODEGEN_C_KERNELS_CONV_WINOGRAD_H
#define CODEGEN_C_KERNELS_CONV_WINOGRAD_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"
#include "codegen_c/expr/panels.h"
#include "codegen_c/expr/vector.h"

enum { WINOGRAD_GAP = 16 /* floats between matrices whose rows would share a cache set */ };

struct winograd_shape {
    int m;         /* outputs of a tile in each direction: 2 or 4; 0 = not Winograd */
    int stride;    /* in each direction: 1 or 2 */
    int n;         /* inputs of a tile, and products, in each direction */
    int64_t tiles; /* tiles of an image */
    int64_t group; /* tiles that are transformed together */
    bool pairs;    /* Winograd inner products (pairs.h) */
    int64_t depth; /* inputs whose weights are transformed together at run time; 0 = all at
                      compile time */
};

/* The shape that the model of time prefers, or that --winograd fixes, for a convolution that
 * Winograd can compute. */
struct winograd_shape winograd_shape(const struct region *region, const struct window *window);

/* The shape of m x m outputs per tile, with or without inner products, weights transformed `depth`
 * inputs at a time or at compile time (0). */
struct winograd_shape winograd_shape_of(const struct region *region, const struct window *window,
                                        int m, bool pairs, int64_t depth);

/* The shape after tuning: size (unless --winograd fixes it), inner products, where weights are
 * transformed, and the tiles per group. */
struct winograd_shape winograd_chosen_shape(struct bind *bind, const struct window *window);

/* Whether the weights of m x m tiles can be transformed `depth` inputs at a time at run time, be it
 * faster or not. */
bool winograd_takes_depth(const struct region *region, const struct window *window, int m,
                          int64_t depth);

/* Whether `parts` workers (parallel.h) finish sooner if each computes some output channels,
 * `channels` at a time, and transforms all inputs, than if each computes some groups of tiles. */
bool winograd_is_best_by_channels(const struct window *window, const struct winograd_shape *shape,
                                  int channels, int parts);

/* Whether Winograd inner products are possible, be it faster or not. */
bool winograd_takes_pairs(const struct region *region, const struct window *window);

/* The mean square of row i < m + 2 of transformed inputs, for independent inputs of mean square 1;
 * that of an element is the product of its row's and its column's. With stride 2 the last row
 * stands for all odd inputs. */
double winograd_usual_square(int m, int stride, int i);

/* The transformed 3 x 3 kernel, G w G^T: (m + 2)^2 numbers, row by row. With stride 2 the last row
 * and column belong to the odd inputs. */
void winograd_transform(int m, int stride, const float *kernel, double *to);

/* The transformed weights, computed in double: for each row of the panels in_c numbers for each of
 * the (m + 2)^2 matrices. *type gets the shape. */
float *winograd_weights(struct bind *bind, const struct winograd_shape *shape,
                        const struct value *weights, const struct panels *panels,
                        struct type *type);

/* For inner products: divides the transformed weights by powers of two, which become scales[matrix
 * * step + oc], and sets sums[matrix * step + oc], the correction sums (pairs.h). */
void winograd_scale_weights(const struct winograd_shape *shape, float *weights,
                            const struct panels *panels, int64_t step, float *scales, float *sums);

/* Requests the function that transforms six or eight vectors of inputs for F(m, points + 1 - m), at
 * the points 0, 1, -1, 2, -2, with eight also 1/2 and -1/2, and infinity. */
const char *bind_winograd_input(struct bind *bind, int points, const struct row_vector *vector);

/* Fields of records (codegen_c/core/kernel.h). */
bool accepts_winograd(const struct region *region, const char **why);

#endif
