/* scale_rule.h - rules for choosing a scale, by name (real = scale * code):
 *
 *   unit                 1
 *   NUMBER               that: 0.25
 *   max                  threshold max
 *   percentile:P         threshold percentile (default 99.99)
 *   paper-percentile:P   the same, and S = threshold / (2 * greatest code): eq. 5 of the paper that
 *                        relayc's FP8 came from, which cuts off all above half of the threshold
 *   kl                   threshold kl
 *   mse                  threshold mse, of the format that is stored
 *   pow2:A..B            the power of two 2^k, k in A..B (default -5..0), of least squared error
 *   table                the first threshold that a calibration table has of the tensor, whatever
 *                        method found it: relayc search puts its choice there; for weights: max
 *   auto                 max, a percentile, mse or kl, whichever the network's results lose least
 *                        by, on samples: choose_scale.c; for data only
 *   search               of all these, and of all formats that are wanted, the one of least loss
 *
 * Where nothing else is said S = threshold / greatest code, and the thresholds are those of
 * quantize/threshold.h. */
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
    SCALE_TABLE,
    SCALE_AUTO,
    SCALE_SEARCH
};

struct scale_rule {
    char name[48];
    enum scale_kind kind;
    double number; /* FIXED: the scale; percentiles: P */
    int pow2_from, pow2_to;
};

/* False if the text is not a rule. */
bool scale_rule_parse(const char *text, struct scale_rule *out);
const char *scale_rule_list(void); /* for messages */

/* True if the rule depends on the tensor's values. */
bool scale_rule_needs_data(const struct scale_rule *rule);

/* Threshold method that the rule starts from; "" if none. */
const char *scale_rule_threshold(const struct scale_rule *rule, const struct number_format *format,
                                 struct arena *arena);

/* True for integers and narrow floats. Others always have scale 1: f16 and bf16 have enough range,
 * MX has block scales, AFP a bias. */
bool number_format_has_scale(const struct number_format *format);

/* Threshold of max, percentiles and kl, which is independent of the format; false for other
 * rules. */
bool scale_rule_common_threshold(const struct scale_rule *rule, const struct histogram *histogram,
                                 double *out);
float scale_of_threshold(const struct scale_rule *rule, const struct number_format *format,
                         double threshold);

/* Scale for this distribution: a normal f32; 1 for a tensor that is all zeros or empty. Not for
 * SEARCH (quantize/search.h). */
float scale_of_histogram(const struct scale_rule *rule, const struct number_format *format,
                         const struct histogram *histogram);

/* Scale from a calibrated tensor: the table's threshold, else its histogram. An unnamed threshold
 * (text tables) serves all methods but max. False if neither exists, and for SEARCH. */
bool scale_of_calibration(const struct scale_rule *rule, const struct number_format *format,
                          const struct calib_tensor *tensor, float *out);

/* Scale for given values (weights). NaN and infinities are ignored. */
float scale_of_numbers(const struct scale_rule *rule, const struct number_format *format,
                       const float *numbers, int64_t n);

#endif
