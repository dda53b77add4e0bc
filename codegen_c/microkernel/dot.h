/* dot.h - packed weights for int8 dot products (templates/helpers/dot.c.tmpl).
 *
 * One layout serves every CPU: [groups, LEN / 4, width, 4]. A panel's width is 32 channels; the
 * last of a group has what is left, rounded up to 4. Vector loads may read up to 32 channels of the
 * last panel, so the array is padded to that. */
#ifndef CODEGEN_C_MICROKERNEL_DOT_H
#define CODEGEN_C_MICROKERNEL_DOT_H

#include "codegen_c/core/window.h"

enum { DOT_BLOCK = 32 };

/* Upper bound of DOT_PIXELS in the C for this CPU, whatever the compiler's flags. */
int dot_most_pixels(const struct machine *machine);

/* Whether patches are of 16 bits in the C for this CPU, whatever the compiler's flags: then no byte is offset, and the
 * bytes of any pixel are gathered in one place before they are converted. */
bool dot_is_plain(const struct machine *machine);

/* How to index the constant: weight k of a channel is element channel * channel_step + k / minor *
 * major_step + k % minor * minor_step. */
struct dot {
    int64_t groups, channels; /* channels: per group */
    int64_t len;              /* length of a sum */
    int64_t channel_step, minor, major_step, minor_step;
    bool quads;     /* sums advance by 4 of which the last is padding: 3 taps and a 0 */
    bool any_zero;  /* the zero point of x may be unknown until run time */
    int64_t centre; /* subtracted from weights as well as their zero point, so that they fit a
                       byte; dense layers only, else 0 */
};

/* Channels last, sums run over (k_h, k_w, in_c), so that whole rows of a window are copied at once.
 * Channels first, they run over (in_c, k_h, k_w), the order of the weights. */
struct dot dot_of_conv(const struct window *window);

/* The same for register tiles. Where x is channels first and kernel rows have 3 taps, rows are
 * padded to 4 on CPUs with vectors of bytes, which gather 4 as fast as 1. */
struct dot dot_of_conv_tiles(const struct region *region, const struct window *window);

/* For accepts_: whether the anchor's sums of products of inputs 0 and 1, less their zero points
 * (inputs 2 and 3), are int8 dot products: 8-bit operands, constant weights, and weights less their
 * zero point that fit 8 bits. */
bool takes_dot(const struct region *region, const struct dot *dot, const char **why);

/* A weight less its zero point and the centre; `channel` counts through all groups. */
int64_t dot_weight(const struct region *region, const struct dot *dot, int64_t channel, int64_t k);

/* Scratch bytes of the gathered inputs. dot_most_part: elements of a sum that the low-scratch form
 * keeps on the stack at a time; a multiple of 4. */
size_t dot_scratch(const struct machine *machine, const struct dot *dot, bool one_row);
int64_t dot_most_part(bool one_row);

/* Packs the weights, claims scratch and sets
 *   len, stored         length of a sum, channels of a group, both as stored: rounded up to 4
 *   weight, sums        the packed weights; the sum of each channel's weights
 *   x_zero, x_signed    the zero point of x; whether x is int8
 *   dot                 the microkernel: of a tile, or of one row
 *   channels, ragged    channels of a panel; how many of the last are real
 *   plain, copy, copy_end, bytes, local_size, tail, patches   how the bytes of a patch are gathered
 *   local, parts, dot_more   the low-scratch form only: the gathered inputs are an array on the stack
 *                       of `part` elements of a sum, a multiple of 4; if that is not all of them,
 *                       dot_more adds to the tile's sums */
void bind_dot(struct bind *bind, const struct dot *dot, bool one_row, int64_t part);

/* The epilogue of the sums `acc`, `lanes` channels at a time (epilogue_lanes; 0 = one). Sets
 * vectors, lanes, vector ("i32x16") and y_type; with position->hoists also of_channels. */
bool bind_sums_epilogue(struct bind *bind, const char *acc, struct position *position, int lanes);

#endif
