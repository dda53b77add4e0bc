/* convert_quant.h - what convolutions and dense layers share: sums of products, a bias, the scale
 * of the result, a fused activation. */
#ifndef FRONTEND_TFLITE_CONVERT_QUANT_H
#define FRONTEND_TFLITE_CONVERT_QUANT_H

#include "frontend/tflite/convert.h"

struct tfl_product {
    enum op integer, real;    /* the operator on quantised values, and on floats */
    const union attrs *attrs; /* of both */
    struct value *x, *w;
    int64_t n;     /* channels of the result */
    int64_t times; /* how often they stand in it one behind the other; 0 = once */
    struct {
        int x, w, bias;
    } inputs;          /* which inputs these are; all 0: 0, 1 and 2 */
    int w_axis, axis;  /* of the channels: in the file's weights, and in the result */
    bool never_narrow; /* sums of 16-bit quantised values have 64 bits, whatever the bias */
    int activation;    /* the option's field */
};

/* The result, in its type and scale. */
struct value *tfl_product(struct tfl_node *node, const struct tfl_product *product);

/* Weights as numbers that may be multiplied: of f16, f32. */
struct value *tfl_weights(struct tfl_node *node, struct value *w);

/* --- for the forms that products have ---------------------------------------------------------- */

/* The scale of the sums of channel i: that of x times that of the weights, in double. */
double tfl_scale_of_sums(const struct tfl_node *node, const struct tfl_product *product, int64_t i);

/* The sums of products of quantised values x, which have this zero point, with the weights. */
struct value *tfl_sums(struct tfl_node *node, const struct tfl_product *product, struct value *x,
                       int64_t zero);

/* Quantised values of 16 bits: sums of 64 bits; input `bias` may be there. */
struct value *tfl_wide_product(struct tfl_node *node, const struct tfl_product *product, int bias);

#endif
