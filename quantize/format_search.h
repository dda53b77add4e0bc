/* format_search.h - PopRT's exhaustive search: tries every format with every scale rule on a tensor and
 * keeps the pair of least loss.
 *
 * Weights have a scale per channel: each rule is tried for all channels, then the best rule of each
 * channel. A tensor has one format. Formats without a scale are tried once; AFP with a free bias is
 * tried with the bias that fits the maximum and with two that clip it. MX formats are excluded:
 * their scales follow from the values.
 *
 * Ties go to the first format, then the first rule. */
#ifndef QUANTIZE_FORMAT_SEARCH_H
#define QUANTIZE_FORMAT_SEARCH_H

#include "quantize/metrics.h"
#include "quantize/precision.h"

/* At least one format and one rule. */
struct search_space {
    int n_formats, n_rules;
    const struct number_format *formats; /* without blocks */
    const struct scale_rule *rules;      /* none is SEARCH */
    enum loss loss;                      /* the criterion */
};

/* The formats with all rules: max, percentiles 99.9, 99.99 and 99.999, kl, mse, the scales 1, 0.5,
 * 0.25, 0.2, 0.1 and powers of two down to 2^-5. */
struct search_space search_space_of(struct arena *arena, const struct number_format *formats, int n,
                                    enum loss loss);

/* Parses "f8e4m3,f8e5m2,i8" or "afp<4,3>,afp8". False, with *wrong, if one is not a format or has
 * blocks. */
bool search_formats_parse(struct arena *arena, const char *text, const struct number_format **out,
                          int *n, const char **wrong);

/* True if compile may choose this format for weights (or data) of a node with this precision. More
 * than the precision's own mode may have: weights of another format are stored in vain nowhere but
 * in int8, data is FP8. */
bool search_takes(const struct precision *precision, const struct number_format *format,
                  bool for_data);

/* All afp<e,m> of this many bits, or (fewer) at most this many: e from 1, m from 0. */
int search_formats_afp(struct arena *arena, int bits, bool fewer, const struct number_format **out);

struct trial {
    struct number_format format;       /* with its bias */
    const char *scale;                 /* "max"; "best of each channel"; AFP: "greatest / 2" */
    float least_scale, greatest_scale; /* over all channels */
    double loss[LOSS_COUNT];           /* kld: mean over channels */
};

struct search_result {
    int n, best;
    const struct trial *trials; /* [n], in the order of trial */
    int64_t n_channels;
    const float *scales; /* [n_channels] of the best */
    uint64_t n_numbers, non_finite;
};

/* Values as [outer, channels, inner]; 1, 1, n for a whole tensor. NaN and infinities are ignored.
 * *out is in the arena. */
void search_weights(struct arena *arena, const struct search_space *space, const float *numbers,
                    int64_t outer, int64_t channels, int64_t inner, struct search_result *out);

/* Search on a distribution: values count at the middle of their bin. */
void search_histogram(struct arena *arena, const struct search_space *space,
                      const struct histogram *histogram, struct search_result *out);

#endif
