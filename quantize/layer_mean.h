/* layer_mean.h - what the float model's products give in the mean, remembered by name until the
 * quantised model is there to be compared; for the two ways of correcting biases. */
#ifndef QUANTIZE_LAYER_MEAN_H
#define QUANTIZE_LAYER_MEAN_H

#include "quantize/layer_walk.h"
#include "quantize/linear.h"
#include "quantize/steps.h"

struct layer_mean {
    const char *name; /* of the product's result */
    int64_t in_c, out_c;
    const double *in;    /* [in_c] of its data: NULL = was not asked for */
    const double *out;   /* [out_c] */
    const float *picked; /* [out_c, n_picked], see layer_walk.h */
    int64_t n_picked;
    struct layer_mean *next;
};

/* A copy of the numbers is kept, in ctx->perm. */
void layer_mean_add(struct quantization *q, const struct node *product, const struct linear *linear,
                    const double *in, const struct layer_result *result);
const struct layer_mean *layer_mean_find(const struct quantization *q, const struct node *product);

/* Adds out_c numbers to the product's bias, which is made if there is none. Nothing changes where
 * all are 0. False after an error. */
bool bias_shift(struct quantization *q, struct node *product, const struct linear *linear,
                const double *shift);

/* Takes back all that bias_shift did. */
void bias_restore(struct quantization *q);

/* The mean of each output channel for data of this mean; false when the weights are computed.
 * Padding is neglected: at the border it takes the place of data. */
bool product_mean(struct ctx *ctx, const struct node *product, const struct linear *linear,
                  const double *in, double *out);

/* data_free_bias.c */
bool data_free_observe(struct quantization *q);
bool data_free_correct(struct quantization *q);

#endif
