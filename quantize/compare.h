/* compare.h - compares a float model with its quantised form, layer by layer, on data.
 *
 * Values are matched by name: the result of each node. The quantised network's values include the
 * errors of all earlier layers. Weights are compared with the values that their quantised form
 * stands for. */
#ifndef QUANTIZE_COMPARE_H
#define QUANTIZE_COMPARE_H

#include "base/file.h"
#include "quantize/calibrate.h"
#include "quantize/metrics.h"

struct compared_layer {
    const char *name; /* name of the value, raw */
    enum op op;       /* operator that computes it; OP_COUNT = a weight */
    bool is_result;   /* a result of the model */
    struct metrics_result metrics;
};

struct comparison {
    int64_t n_samples;
    bool random; /* no data was given; set by the caller, for the log */
    int n;
    struct compared_layer *layers; /* weights first, then values in execution order */
};

/* Compares two modules of one model: simplified, and fake-quantised (quantize_module with
 * simulate_only). Runs both on all samples, twice, since histograms need the range first. *out is
 * in ctx->perm. False after an error. */
bool compare_modules(struct ctx *ctx, struct module *reference, struct module *quantized,
                     const struct calibration_source *source, struct comparison *out);

/* precision_compare.log: a table of all losses, then moments and histograms of data, quantised data
 * and noise per layer. */
void compare_write_text(struct writer *writer, const struct comparison *comparison);
void compare_write_json(struct writer *writer, const struct comparison *comparison);

#endif
