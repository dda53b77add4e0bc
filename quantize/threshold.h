/* threshold.h - clipping threshold of a tensor: greater magnitudes saturate. Each method is a table
 * row and reads only a histogram, so a calibration file suffices to try others.
 *
 *   max              the greatest magnitude
 *   percentile:P     at most 100 - P percent of the numbers lie above; "percentile" is 99.99
 *   kl               least information lost by 128 levels, as TPU-MLIR decides it
 *   mse:FORMAT       least squared error in int8 or a minifloat of 8 bits; "mse" is mse:int8 */
#ifndef QUANTIZE_THRESHOLD_H
#define QUANTIZE_THRESHOLD_H

#include "base/minifloat.h"
#include "quantize/histogram.h"

struct threshold_row; /* opaque */

struct threshold_method {
    char name[48]; /* in full: "percentile:99.99" */
    const struct threshold_row *row;
    double percent;             /* percentile */
    bool integer;               /* mse: int8 */
    struct minifloat minifloat; /* mse, unless integer */
};

/* False if the text is not a method. */
bool threshold_method_parse(const char *text, struct threshold_method *out);

/* All methods without a parameter, and percentile:percent. */
int threshold_methods(struct arena *arena, double percent, struct threshold_method **out);

/* Threshold in 0 .. histogram->limit; 0 for a tensor of zeros. */
double threshold_find(const struct threshold_method *method, const struct histogram *histogram);

/* Greatest magnitude of an mse method's format; its scale is threshold / this. */
double threshold_format_max(const struct threshold_method *method);

/* Mean squared error of the non-zero values, at the middle of their bins, with scale threshold /
 * threshold_format_max. For mse methods; threshold > 0. */
double threshold_error(const struct threshold_method *method, const struct histogram *histogram,
                       double threshold);

#endif
