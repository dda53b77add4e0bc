/* overlap.h - overlap: results that overwrite input that has been read.
 *
 * A kernel that computes its result in memory order is done with the beginning of its input before
 * it reads the end. So y may lie over x if it begins `overlap` bytes or more in front of it; no
 * byte is then written that is still to be read:
 *
 *     y ----------------
 *     |overlap| x --------------------
 *
 * Such a kernel has the record field `overlaps`: a function that gives the distance for a region
 * (struct overlap), in the kernel's file. The order of its loops is the proof and belongs in its
 * comment. tests/test_overlaps runs every such kernel with exactly this distance. */
#ifndef CODEGEN_C_CORE_OVERLAP_H
#define CODEGEN_C_CORE_OVERLAP_H

#include "codegen_c/core/kernel.h"
#include "codegen_c/core/window.h"

/* As a group: the pixels of one row of y. */
enum { GROUP_OF_ROW = 0 };

/* Bytes of an element of what the anchor's input 0 reads, and of the result. */
size_t x_element_bytes(const struct region *region);
size_t y_element_bytes(const struct region *region);

/* The overlap distance of kernels that compute pixels in row-major order, all channels, at most
 * `group` pixels at a time, reading only the windows of these pixels and later ones meanwhile.
 * Channels last, one image. */
size_t overlap_of_windows(const struct region *region, const struct window *window, int64_t group);

/* The same if everything under the windows of a group of pixels is read before any of these is
 * written, and nothing of it later. Groups are multiples of `step` pixels. */
size_t overlap_of_copies(const struct region *region, const struct window *window, int64_t step);

/* Whether y may begin where x does, for pixels of equal size: row by row, or, `doubling`, as many
 * rows at a time as there are above. */
bool overlap_lies_over(const struct window *window, bool doubling);

#endif
