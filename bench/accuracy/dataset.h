/* dataset.h - a network's samples with their labels, preprocessed, in memory. */
#ifndef BENCH_ACCURACY_DATASET_H
#define BENCH_ACCURACY_DATASET_H

#include "bench/accuracy/networks.h"
#include "quantize/calibrate.h"

struct dataset {
    struct type type; /* of a sample */
    int64_t n; /* samples; the first n_tested are tested, the last n_calibration are for that */
    int64_t n_tested, n_calibration;
    int64_t n_reference;  /* the first so many are those of the figures in INDEX.md; 0 = fewer are
                             here (limit) */
    const float *samples; /* [n][elements] */
    const int *labels;    /* [n]; -1 = none, as of calibration images */
    struct bulk bulk;
};

/* Reads what `shared` (the folder with data/) has for the network, whose input has this type.
 * limit: at most so many are tested; 0 = all. False after an error; to be freed either way. */
bool dataset_load(struct ctx *ctx, const char *shared, const struct network *network,
                  const struct type *type, int64_t limit, int n_threads, struct dataset *out);

void dataset_free(struct dataset *dataset);

/* The samples that are not tested, for calibration. Borrows from the dataset. */
struct calibration_source dataset_calibration(const struct dataset *dataset);

#endif
