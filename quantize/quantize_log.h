/* quantize_log.h - quantize.log: trials of a search per tensor, with losses.
 *
 * Text columns, or JSON lines with one object per tensor. Deterministic: a model always gives one
 * file. */
#ifndef QUANTIZE_QUANTIZE_LOG_H
#define QUANTIZE_QUANTIZE_LOG_H

#include "base/file.h"
#include "quantize/format_search.h"

struct quantize_log_entry {
    const char *what;                     /* "weights", "data" */
    const char *tensor, *node;            /* raw names; node: the reader, "" = unknown */
    enum loss loss;                       /* the criterion */
    const struct search_result *result;   /* the trials */
    const struct metrics_result *metrics; /* of the best trial; NULL = unknown */
    bool magnitudes;                      /* metrics of |x|, from a histogram */
};

/* Metrics of the best trial, of values or of a histogram's magnitudes at the middle of their
 * bins. */
void search_metrics(struct arena *arena, const struct search_result *result, const float *numbers,
                    int64_t outer, int64_t inner, struct metrics_result *out);
void search_metrics_of_histogram(struct arena *arena, const struct search_result *result,
                                 const struct histogram *histogram, struct metrics_result *out);

/* Column headings, once per text log. */
void quantize_log_head(struct writer *writer);
void quantize_log_text(struct writer *writer, const struct quantize_log_entry *entry);
void quantize_log_json(struct writer *writer, const struct quantize_log_entry *entry);

#endif
