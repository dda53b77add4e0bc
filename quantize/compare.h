/* compare.h - layer by layer: the float model against its quantised form, on data.
 *
 * What is compared has one name in both: the result of each node. It is what the quantised network
 * really holds there, with the errors of all layers before it. Weights are compared as well: the
 * numbers of the model with those that its codes stand for. */
#ifndef QUANTIZE_COMPARE_H
#define QUANTIZE_COMPARE_H

#include "base/file.h"
#include "quantize/calibrate.h"
#include "quantize/metrics.h"

struct compared_layer {
    const char *name; /* of the value, raw */
    enum op op;       /* that computes it; OP_COUNT = a weight */
    bool is_result;   /* of the model */
    struct metrics_result metrics;
};

struct comparison {
    int64_t n_samples;
    bool random; /* no data was given: set by the caller, for the log */
    int n;
    struct compared_layer *layers; /* weights first, then values in the order of execution */
};

/* Two modules of one model: simplified, and simplified and simulated (quantize_module with
 * simulate_only). Runs both on all samples, twice, since histograms need the range first. All of
 * *out is in ctx->perm. False after an error. */
bool compare_modules(struct ctx *ctx, struct module *reference, struct module *quantized,
                     const struct calibration_source *source, struct comparison *out);

/* precision_compare.log: a table of all losses, then for each layer the moments and histograms of
 * data, quantised data and noise. */
void compare_write_text(struct writer *writer, const struct comparison *comparison);
void compare_write_json(struct writer *writer, const struct comparison *comparison);

#endif
