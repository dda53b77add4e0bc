/* scale_rule.h - how a scale is found, by name (numerics: r = S * q):
 *
 *   unit                 1
 *   NUMBER               that: 0.25
 *   max                  threshold max, see below
 *   percentile:P         threshold percentile P (default 99.99)
 *   paper-percentile:P   the percentile, S = threshold / (2 * greatest): the rule of eq. 5 of the
 * paper that relayc's FP8 came from. It cuts off all above half of the threshold kl threshold kl
 *   mse                  threshold mse:FORMAT, of the format that is stored
 *   pow2:A..B            the power of two 2^k, k in A..B (default -5..0), of least squared error
 *   search               of all these, and of all formats that are wanted, the one of least loss
 *
 * Where nothing else is said S = threshold / the format's greatest number, and the thresholds are
 * those of quantize/threshold.h. */
#ifndef QUANTIZE_SCALE_RULE_H
#define QUANTIZE_SCALE_RULE_H

#include "quantize/calib_table.h"
#include "quantize/number_format.h"

enum scale_kind {
    SCALE_UNIT,
    SCALE_FIXED,
    SCALE_MAX,
    SCALE_PERCENTILE,
    SCALE_PAPER_PERCENTILE,
    SCALE_KL,
    SCALE_MSE,
    SCALE_POW2,
    SCALE_SEARCH
};

struct scale_rule {
    char name[48];
    enum scale_kind kind;
    double number; /* FIXED: the scale; percentiles: P */
    int pow2_from, pow2_to;
};

/* False when the text is no rule. */
bool scale_rule_parse(const char *text, struct scale_rule *out);
const char *scale_rule_list(void); /* for messages */

/* Whether the rule needs to know what the tensor holds. */
bool scale_rule_needs_data(const struct scale_rule *rule);

/* The threshold method whose number the rule starts from; "" for rules without. */
const char *scale_rule_threshold(const struct scale_rule *rule, const struct number_format *format,
                                 struct arena *arena);

/* The scale for numbers with this distribution. 1 for a tensor of zeros. Never subnormal. Not for
 * SEARCH (quantize/search.h). */
float scale_of_histogram(const struct scale_rule *rule, const struct number_format *format,
                         const struct histogram *histogram);

/* The same from a calibrated tensor; tables without histograms have thresholds only: false when the
 * one that is needed is not there. */
bool scale_of_calibration(const struct scale_rule *rule, const struct number_format *format,
                          const struct calib_tensor *tensor, float *out);

/* The same for numbers themselves (weights): n of them, `step` apart. */
float scale_of_numbers(const struct scale_rule *rule, const struct number_format *format,
                       const float *numbers, int64_t n);

#endif
