/* annotate_fp8.h - small floats where a target takes them.
 *
 * For an operator (convolution, dense, matmul) that a target of the list takes in the wanted format
 * (fp8_row of target.h):
 *
 *   x f32            cast(x) {dtype=f8e4m3, saturate=true}; two casts of one value are one
 *   w f32, constant  a constant of that format, divided by a scale per output channel
 *                    (max|w_c| / greatest number of the format, numerics.md 2) where the row allows
 *                    it, else by 1; converted here, never at run time
 *   the operator     gets out_dtype=f32
 *   its result       is multiplied by the scales (a constant vector along the channel axis)
 *
 * A cast stands directly behind what computes the value, and moves in front of what commutes with
 * it, so that what lies in memory between two regions is 8 bits wide.
 *
 * What a target has a row for may still end on c, because the conditions of the target's patterns
 * refuse it, or for its cost: `legalize` then computes it in f32, of the FP8 numbers. */
#ifndef PARTITION_ANNOTATE_FP8_H
#define PARTITION_ANNOTATE_FP8_H

#include <cjson/cJSON.h>

#include "partition/partition.h"

struct fp8_line {
    const char *node; /* name of its output, raw */
    enum op op;
    const struct target *target; /* that takes it; NULL = stays float */
    enum dtype data, weights;    /* formats; DTYPE_NONE = not FP8 */
    const char *why;             /* not taken: why ("no target takes nn.softmax in f8e4m3") */
    size_t weight_bytes_before, weight_bytes_after;
    const char *product; /* name of what the FP8 node computes, before its scales; NULL = none */
    bool on_host;        /* taken, but it ended on c, where legalize made f32 of it */
};

struct fp8_report {
    enum dtype format; /* the wanted one */
    int n;
    struct fp8_line *lines;   /* every node of main, in order */
    int n_annotated, n_casts; /* casts to the format that run, shared ones counted once */
    size_t weight_bytes_before, weight_bytes_after; /* of all constants of main */
};

/* A line with the sums, then one for every node, or only for those whose loss is worth a thought:
 * products that stay float, and what is annotated but ends on c. */
void fp8_report_print(const struct fp8_report *report, bool every_node, struct arena *arena,
                      struct str *out);
cJSON *fp8_report_json(const struct fp8_report *report);

#endif
