/* calib_table.h - what calibration found, and its two forms in files: JSON (all of it, see
 * docs/guide/calibration.md) and the text table of TPU-MLIR (name, threshold, min, max). Names are
 * raw text of the model; files hold them as str_safe writes them. */
#ifndef QUANTIZE_CALIB_TABLE_H
#define QUANTIZE_CALIB_TABLE_H

#include "base/file.h"
#include "quantize/threshold.h"

struct calib_threshold {
    const char *method; /* "percentile:99.99"; "" from a text table, which does not say */
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
    const char *model; /* "" = not known */
    int64_t n_samples; /* 0 = not known */
    int n;
    struct calib_tensor *at; /* in execution order, the model's inputs first */
};

/* NULL if there is none. */
const struct calib_tensor *calib_find(const struct calib_table *table, const char *name);

/* The threshold of that method ("" = the first); NULL if the tensor has none. */
const struct calib_threshold *calib_threshold(const struct calib_tensor *tensor,
                                              const char *method);

void calib_write_json(struct writer *writer, const struct calib_table *table);

/* With the thresholds of this method, which all tensors have. */
void calib_write_text(struct writer *writer, const struct calib_table *table, const char *method);

/* Either form: a file whose first character is '{' is JSON. Errors (CALIB_TABLE) say where. All
 * memory is of ctx->perm. `path` is for messages. */
bool calib_read_bytes(struct ctx *ctx, const char *path, const char *text, size_t n,
                      struct calib_table *out);
bool calib_read(struct ctx *ctx, const char *path, struct calib_table *out);

#endif
