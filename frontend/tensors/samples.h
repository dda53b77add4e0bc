/* samples.h - data to run a network on, sample by sample: images or arrays.
 *
 *   a folder of .png and .jpg files   one image each; models with one input
 *   a folder of .npy files            arrays of one sample or a batch; models with one input
 *   a .npy or .npz file               stacked samples; of a .npz, the member named as the input (a
 *                                     lone member needs no name)
 *
 * Files are taken in the order of their names. An array holds samples when its shape is the input's
 * with another first dimension, with one dimension in front, or without a first dimension of 1. */
#ifndef FRONTEND_TENSORS_SAMPLES_H
#define FRONTEND_TENSORS_SAMPLES_H

#include "frontend/tensors/image/preprocess.h"
#include "relay_ir/ir.h"

struct samples; /* opaque */

/* Of files that cannot be used so many are named, the others counted. */
enum { SAMPLES_MOST_NAMED = 20 };

/* For the parameters of fn. `how` (NULL: none was given) is for images only. NULL after an error.
 */
struct samples *samples_open(struct ctx *ctx, const char *path, const struct function *fn,
                             const struct preprocessing *how);

int64_t samples_count(const struct samples *samples);

/* The file that is this sample; NULL where a file holds several, or one file all. */
const char *samples_path(const struct samples *samples, int64_t index);

/* Fills one tensor per parameter: of bulk, or borrowed from the samples. NaN and infinities are an
 * error. Several threads may load at once, each with its own ctx and bulk. */
bool samples_load(struct samples *samples, struct ctx *ctx, struct bulk *bulk, int64_t index,
                  struct tensor *inputs);

void samples_close(struct samples *samples); /* NULL is fine */

#endif
