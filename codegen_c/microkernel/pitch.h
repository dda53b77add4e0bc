/* pitch.h - pixels that are parts of greater ones: the plan stores a value that is concatenated
 * with others along the channels in its slot of the result, so that `pitch` elements lie from the
 * begin of one of its pixels to that of the next. Kernels that can read or write so say it in
 * their records (kernel.reads_pitched, kernel.writes_pitched). */
#ifndef CODEGEN_C_MICROKERNEL_PITCH_H
#define CODEGEN_C_MICROKERNEL_PITCH_H

#include "codegen_c/core/kernel.h"

/* Whether pixels of any parameter or of the result lie apart. */
bool pixels_are_apart(const struct region *region);

/* Sets "pitches": a line for the enum which names the pitches of x and y that are not the usual
 * ones, or nothing. */
void bind_pitches(struct bind *bind);

/* "IN_PITCH" (OUT_PITCH), or `channels` where pixels of input 0 (of y) lie side by side. */
const char *pitch_of_x(const struct region *region, const char *channels);
const char *pitch_of_y(const struct region *region, const char *channels);

/* Sets "at" to the index of an element in y, and fills in `position` with what an epilogue needs,
 * coordinates by division. `pixel` and `channel` have no operators around; `channels` is how many
 * a pixel has. */
void bind_at(struct bind *bind, const char *pixel, const char *channels, const char *channel,
             struct position *position);

/* Of rows of channels (bind_row_epilogue), which begin at channel `first` of the pixel of
 * `position`, as bind_at filled it in: sets "start" to the index of a row's first element in y, and
 * *start to its position. */
void bind_start(struct bind *bind, const char *channels, const char *first,
                const struct position *position, struct position *start);

/* Fields of records (codegen_c/core/kernel.h). */
bool reads_conv_pixels(const struct region *region, int input);
bool reads_pixels(const struct region *region, int input);
bool reads_side_by_side(const struct region *region, int input);
bool writes_conv_pixels(const struct region *region);
bool writes_pixels(const struct region *region);
bool writes_side_by_side(const struct region *region);

#endif
