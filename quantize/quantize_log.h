/* quantize_log.h - what a search tried for each tensor, and what it lost: quantize.log.
 *
 * As text in columns, or as JSON lines: one object per tensor. Numbers only, in the order in which
 * they are given, so that the same model gives the same file. */
#ifndef QUANTIZE_QUANTIZE_LOG_H
#define QUANTIZE_QUANTIZE_LOG_H

#include "base/file.h"
#include "quantize/format_search.h"

struct quantize_log_entry {
    const char *what;                     /* "weights", "data" */
    const char *tensor, *node;            /* raw names; node: who reads it, "" = not said */
    enum loss loss;                       /* that decided */
    const struct search_result *result;   /* what was tried */
    const struct metrics_result *metrics; /* of the best; NULL = not known */
    bool magnitudes;                      /* metrics are those of |x|: all that a histogram knows */
};

/* The moments of the best of a search: of the numbers themselves, or of the magnitudes of a
 * histogram, each taken for the middle of its bin. In *out. */
void search_metrics(struct arena *arena, const struct search_result *result, const float *numbers,
                    int64_t outer, int64_t inner, struct metrics_result *out);
void search_metrics_of_histogram(struct arena *arena, const struct search_result *result,
                                 const struct histogram *histogram, struct metrics_result *out);

/* What the columns mean; once, at the top of a text log. */
void quantize_log_head(struct writer *writer);
void quantize_log_text(struct writer *writer, const struct quantize_log_entry *entry);
void quantize_log_json(struct writer *writer, const struct quantize_log_entry *entry);

#endif
