/* layer_mean.h - mean results of the float model's products, kept by name for comparison with the
 * quantised model; for both bias corrections. */
#ifndef QUANTIZE_LAYER_MEAN_H
#define QUANTIZE_LAYER_MEAN_H

#include "quantize/layer_walk.h"
#include "quantize/linear.h"
#include "quantize/steps.h"

struct layer_mean {
    const char *name; /* name of the product's result */
    int64_t in_c, out_c;
    const double *in;    /* [in_c] means of its data; NULL = not wanted */
    const double *out;   /* [out_c] */
    const float *picked; /* [out_c, n_picked], see layer_walk.h */
    int64_t n_picked;
    struct layer_mean *next;
};

/* Stores a copy, in ctx->perm. */
void layer_mean_add(struct quantization *q, const struct node *product, const struct linear *linear,
                    const double *in, const struct layer_result *result);
const struct layer_mean *layer_mean_find(const struct quantization *q, const struct node *product);

/* Adds out_c values to the product's bias, which is created if missing. All zero: no change. False
 * after an error. */
bool bias_shift(struct quantization *q, struct node *product, const struct linear *linear,
                const double *shift);

/* Undoes all bias_shift calls. */
void bias_restore(struct quantization *q);

/* Mean of each output channel for data with these means; false if weights are computed. Padding is
 * neglected. */
bool product_mean(struct ctx *ctx, const struct node *product, const struct linear *linear,
                  const double *in, double *out);

/* data_free_bias.c */
bool data_free_observe(struct quantization *q);
bool data_free_correct(struct quantization *q);

#endif
