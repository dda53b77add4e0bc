/* samples.h - sample data for calibration and evaluation: images or arrays.
 *
 *   a folder of .png and .jpg files   one image each; models with one input
 *   a folder of .npy files            arrays of one sample or a batch; models with one input
 *   a .npy or .npz file               stacked samples; of a .npz, the member named as the input (a
 *                                     lone member needs no name)
 *
 * Files are ordered by name. The shape of an array of samples is the input's with another first
 * dimension, with one more dimension in front, or without a first dimension of 1. */
#ifndef FRONTEND_TENSORS_SAMPLES_H
#define FRONTEND_TENSORS_SAMPLES_H

#include "frontend/tensors/image/preprocess.h"
#include "relay_ir/ir.h"

struct samples; /* opaque */

/* Number of unusable files that errors name; the others are counted. */
enum { SAMPLES_MOST_NAMED = 20 };

/* Opens samples for the parameters of fn. `how` (NULL: none) applies to images only. NULL after an
 * error. */
struct samples *samples_open(struct ctx *ctx, const char *path, const struct function *fn,
                             const struct preprocessing *how);

int64_t samples_count(const struct samples *samples);

/* From now on the samples are those of these n numbers, in this order. `at` must outlive them. */
void samples_keep(struct samples *samples, const int64_t *at, int64_t n);

/* File of this sample; NULL if a file holds several samples. */
const char *samples_path(const struct samples *samples, int64_t index);

/* Fills one tensor per parameter, in bulk or borrowed from the samples. NaN and infinities are an
 * error. Thread-safe with one ctx and bulk per thread. */
bool samples_load(struct samples *samples, struct ctx *ctx, struct bulk *bulk, int64_t index,
                  struct tensor *inputs);

void samples_close(struct samples *samples); /* NULL is fine */

#endif
