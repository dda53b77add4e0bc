/* diff_words.h - what the text and the Markdown of a difference share. */
#ifndef REPORT_DIFF_WORDS_H
#define REPORT_DIFF_WORDS_H

#include "report/diff.h"

enum { DIFF_LISTED = 40 }; /* regions, and weights, in text and Markdown; JSON has all */

/* "58624 -> 60000 bytes, +2.3 %", "conv_band -> conv_direct"; of equal ones the value. */
const char *fact_text(struct arena *arena, const struct diff_fact *fact);

/* "+1376 bytes", "+2.3 %", ""; how much the number has grown. */
const char *fact_growth(struct arena *arena, const struct diff_fact *fact);

/* "1 added, 2 changed, 10 equal" */
const char *counts_text(struct arena *arena, const int count[DIFF_STATES]);

/* What a region is: "conv1 + relu1 (Conv+Relu)". */
const char *region_words(struct arena *arena, const struct diff_region *region);

/* How it differs: "kernel conv_band -> conv_direct; scratch 0 -> 64 bytes". */
const char *region_changes(struct arena *arena, const struct diff_region *region);

const char *weight_name(const struct diff_weight *weight);

/* "f32 64x9: largest change 0.031, mean 0.0021 (standard deviation 0.65), 576 of 576" */
const char *weight_changes(struct arena *arena, const struct diff_weight *weight);

/* The order of lists: what was added, removed and changed, without what is equal. */
extern const char diff_signs[DIFF_STATES];

#endif
