/* calib_table.h - calibration results and their file formats: JSON (complete,
 * docs/guide/calibration.md) and the text table of TPU-MLIR (name, threshold, min, max). Names are
 * raw text of the model, escaped in files by str_safe. */
#ifndef QUANTIZE_CALIB_TABLE_H
#define QUANTIZE_CALIB_TABLE_H

#include "base/file.h"
#include "quantize/threshold.h"

struct calib_threshold {
    const char *method; /* "percentile:99.99"; "" from a text table, which lacks it */
    double value;
};

struct calib_tensor {
    const char *name;
    const char *shape; /* "1x3x224x224"; "" from a text table */
    double min, max, mean;
    uint64_t non_finite;
    struct histogram *histogram; /* NULL from a text table */
    int n_thresholds;
    struct calib_threshold *thresholds;
};

struct calib_table {
    const char *model; /* "" = unknown */
    int64_t n_samples; /* 0 = unknown */
    int n;
    struct calib_tensor *at; /* in execution order, the model's inputs first */
};

/* Tensor by name; NULL if there is none. */
const struct calib_tensor *calib_find(const struct calib_table *table, const char *name);

/* Threshold of this method ("" = the first); NULL if there is none. */
const struct calib_threshold *calib_threshold(const struct calib_tensor *tensor,
                                              const char *method);

void calib_write_json(struct writer *writer, const struct calib_table *table);

/* Writes thresholds of this method, which every tensor must have. */
void calib_write_text(struct writer *writer, const struct calib_table *table, const char *method);

/* Reads either format: JSON starts with '{'. Errors (CALIB_TABLE) give the position. In ctx->perm.
 * `path` is for messages. */
bool calib_read_bytes(struct ctx *ctx, const char *path, const char *text, size_t n,
                      struct calib_table *out);
bool calib_read(struct ctx *ctx, const char *path, struct calib_table *out);

#endif
