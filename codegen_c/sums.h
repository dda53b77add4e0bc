/* sums.h - the order in which a kernel adds up f32: a column of its record (kernel.h), which
 * simulate/ follows (docs/design/simulation.md). */
#ifndef CODEGEN_C_SUMS_H
#define CODEGEN_C_SUMS_H

enum sum_order {
    SUMS_UNSTATED,     /* a hole in a record, which tests/check_kernels finds */
    SUMS_NONE,         /* adds nothing up, or whole numbers only */
    SUMS_PLAIN,        /* one after the other, as the operator's loops run */
    SUMS_INVERSE,      /* the same; what is divided by the sum is multiplied by its inverse */
    SUMS_CHANNELS,     /* of a convolution: over the input channels, in each over the kernel */
    SUMS_OF_16,        /* 16 sums of every 16th product (runtime/embed/dots_f32.h) */
    SUMS_BLOCKS,       /* of weights that share a scale: each block, times its scale, then these */
    SUMS_COLUMNS,      /* of a window: each column from top to bottom, then the columns */
    SUMS_FOUR_PIXELS,  /* each channel, four positions in a step, then the channels of a group */
    SUMS_ROWS,         /* runs of elements as runtime/embed/row_*_f32.h, where rows are read so
                          (reads_rows); else plain */
    SUMS_NOT_SIMULATED /* another, which simulate/ does not follow: Winograd, AMX */
};

#endif
