/* dot.h - weights for dot products of bytes (templates/helpers/dot.c.tmpl).
 *
 * One layout serves every processor: [groups, LEN / 4, width, 4], where width is 32 channels, or
 * what is left of a group, rounded up to 4. Vectors may read up to 32 channels at the last block of
 * all: its array is as much longer. */
#ifndef CODEGEN_C_MICROKERNEL_DOT_H
#define CODEGEN_C_MICROKERNEL_DOT_H

#include "codegen_c/core/window.h"

enum { DOT_BLOCK = 32 };

/* DOT_PIXELS is no more in C for the machine, whatever it is compiled for. */
int dot_most_pixels(const struct machine *machine);

/* How the constant lies: weight k of a channel is element
 * channel * channel_step + k / minor * major_step + k % minor * minor_step. */
struct dot {
    int64_t groups, channels; /* channels: of a group */
    int64_t len;              /* of a sum */
    int64_t channel_step, minor, major_step, minor_step;
    bool quads;     /* of a sum in fours, the last of which is no element, but 0 */
    bool any_zero;  /* the zero point of x may be known at run time only */
    int64_t centre; /* weights less their zero point are less by that; of dense layers, else 0 */
};

/* Sums run over (k_h, k_w, in_c), so that what lies side by side with the channels last is copied
 * as one; of a planar input over (in_c, k_h, k_w), as the weights lie. */
struct dot dot_of_conv(const struct window *window);

/* The same for tiles: where x is in planes, and rows of the kernel are three numbers, they become
 * four on machines with vectors of bytes, which gather four as fast as one. */
struct dot dot_of_conv_tiles(const struct region *region, const struct window *window);

/* For accepts_: whether the anchor's sums of products of inputs 0 and 1, less their zero points
 * (inputs 2 and 3), are such dot products: of bytes, weights that are known, and whose distances
 * from their zero point are bytes. */
bool takes_dot(const struct region *region, const struct dot *dot, const char **why);

/* A weight less its zero point and the centre; the channel counts those of all groups. */
int64_t dot_weight(const struct region *region, const struct dot *dot, int64_t channel, int64_t k);

/* The scratch of such products; and how many numbers of a sum there are on the stack at most, where
 * that is to be spared: a multiple of 4. */
size_t dot_scratch(const struct machine *machine, const struct dot *dot, bool one_row);
int64_t dot_most_part(bool one_row);

/* Packs the weights and sets len and stored (of a sum, and the channels of a group, as they are
 * stored: rounded up to 4), x_zero, x_signed, weight, sums (of each channel's weights), dot (the
 * function for tiles, or for a single row), channels and ragged (how many of a block are real); and
 * the scratch. Of regions that are tight that is an array on the stack (local), for `part`
 * numbers of a sum at a time (parts: fewer than all), a multiple of 4; a second
 * function (dot_more) adds to the tile. */
void bind_dot(struct bind *bind, const struct dot *dot, bool one_row, int64_t part);

/* The element-wise nodes behind the sums `acc`, `lanes` channels at a time (epilogue_lanes; 0 =
 * one). Sets vectors, lanes, vector ("i32x16") and y_type; with position->hoists of_channels. */
bool bind_sums_epilogue(struct bind *bind, const char *acc, struct position *position, int lanes);

#endif
