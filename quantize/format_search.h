/* format_search.h - PopRT's exhaustive search: every format with every scale rule is tried on a tensor,
 * and the pair of least loss is kept.
 *
 * Weights have a scale for each channel; each rule is tried for all channels, and then the rule
 * that is best for each of them. A tensor has one format. Formats without a scale are tried once;
 * AFP that chooses its bias, with the bias that the greatest number needs and two that cut it off.
 * MX formats are not for a search: their scales follow from the numbers.
 *
 * Among equals the first is kept, in the order of the formats, then of the rules. */
#ifndef QUANTIZE_FORMAT_SEARCH_H
#define QUANTIZE_FORMAT_SEARCH_H

#include "quantize/metrics.h"
#include "quantize/scale_rule.h"

/* At least one format and one rule. */
struct search_space {
    int n_formats, n_rules;
    const struct number_format *formats; /* without blocks */
    const struct scale_rule *rules;      /* none is SEARCH */
    enum loss loss;                      /* that decides */
};

/* These formats with all rules: max, percentiles 99.9, 99.99 and 99.999, kl, mse, the numbers 1,
 * 0.5, 0.25, 0.2, 0.1 and the powers of two down to 2^-5. */
struct search_space search_space_of(struct arena *arena, const struct number_format *formats, int n,
                                    enum loss loss);

/* "f8e4m3,f8e5m2,i8"; "afp<4,3>,afp8". False when one is no format, or one of blocks; *wrong then
 * tells which. */
bool search_formats_parse(struct arena *arena, const char *text, const struct number_format **out,
                          int *n, const char **wrong);

/* All afp<e,m> of that many bits, or of no more: e from 1, m from 0. */
int search_formats_afp(struct arena *arena, int bits, bool fewer, const struct number_format **out);

struct trial {
    struct number_format format;       /* with its bias chosen */
    const char *scale;                 /* "max"; "best of each channel"; "greatest / 2" of AFP */
    float least_scale, greatest_scale; /* of all channels */
    double loss[LOSS_COUNT];           /* kld: the mean of the channels' */
};

struct search_result {
    int n, best;
    const struct trial *trials; /* [n], in the order in which they were tried */
    int64_t n_channels;
    const float *scales; /* [n_channels], of the best */
    uint64_t n_numbers, non_finite;
};

/* Numbers as [outer, channels, inner]; 1, 1, n: a whole tensor, such as recorded samples. NaN and
 * infinities do not count. Everything in *out is of the arena. */
void search_weights(struct arena *arena, const struct search_space *space, const float *numbers,
                    int64_t outer, int64_t channels, int64_t inner, struct search_result *out);

/* Numbers of which only the distribution is known: each is taken for the middle of its bin. */
void search_histogram(struct arena *arena, const struct search_space *space,
                      const struct histogram *histogram, struct search_result *out);

#endif
