/* winograd.h - convolutions of 3 x 3 with fewer multiplications: F(2 x 2, 3 x 3) and
 * F(4 x 4, 3 x 3) (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015).
 *
 * A tile of m x m outputs takes (m + 2)^2 products per pair of channels in place of 9 m^2: 2.25
 * times fewer for m = 2, 4 times for m = 4; and the weights take 1.78 or 4 times the memory.
 * Figures and errors: docs/kernels.md. */
#ifndef CODEGEN_C_KERNELS_WINOGRAD_H
#define CODEGEN_C_KERNELS_WINOGRAD_H

#include "codegen_c/kernels/panels.h"
#include "codegen_c/kernels/window.h"

enum { WINOGRAD_GAP = 16 /* floats between matrices whose rows would meet in a set of a cache */ };

struct winograd_shape {
    int m;         /* outputs of a tile in each direction: 2 or 4; 0 = the products are direct */
    int64_t tiles; /* of an image */
    int64_t group; /* tiles at a time */
};

/* What pays, or what --winograd says, for a convolution that can be computed so. */
struct winograd_shape winograd_shape(const struct region *region, const struct window *window);

/* That of tiles of m x m outputs. */
struct winograd_shape winograd_shape_of(const struct region *region, const struct window *window,
                                        int m);

/* The (m + 2)^2 numbers that stand for a kernel of 3 x 3, row by row: G w G^T. */
void winograd_transform(int m, const float *kernel, double *to);

/* The weights, transformed in double: each row of the panels has in_c numbers for each of the
 * (m + 2)^2 products, one product after the other. *type gets the shape. */
void *winograd_weights(struct bind *bind, int m, const struct value *weights,
                       const struct panels *panels, struct type *type);

#endif
