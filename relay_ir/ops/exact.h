/* exact.h - integer-accumulated FP8 (and other narrow floats): the one definition of the exact
 * arithmetic of the qnn operators on them. No floating point at run time.
 *
 * steps     Every number of a format is a whole number of its least step, 2^unit: E4M3 has the unit
 *           -9 and numbers up to 448 = 229376 steps. Products and sums of steps are integers, so
 *           their order does not matter. NaN counts as 0.
 * sign      Formats without one have steps of 0 and more; what is below 0 becomes 0.
 * limit     Formats whose greatest number has more than 2^30 steps have no such form: E5M2
 *           (2^-16 .. 57344 is 32 bits) and its FNUZ form. Sums are of 64 bits: products of E4M3
 *           are at most 2^35.6, so that 2^27 of them always fit.
 * scaling   The sum times a real factor is multiplier * 2^shift * sum, the multiplier of 31 bits
 *           (relative error 2^-31), the product exact; it is rounded ONCE, to the nearest number
 *           of the format, ties to even, subnormals included. What is beyond the greatest number
 *           becomes it. A result of zero has no sign.
 *
 * runtime/embed/round_to_minifloat.h, scale_to_minifloat.h, scale_to_i64.h and inverse_deviation.h
 * implement it in generated C. */
#ifndef RELAY_IR_OPS_EXACT_H
#define RELAY_IR_OPS_EXACT_H

#include "base/minifloat.h"
#include "relay_ir/ir.h"
#include "relay_ir/ops/qnn.h"

/* Exponent of the least step. */
int exact_unit(const struct minifloat *format);

/* Greatest number in steps; 0 if that is more than 2^30 or there is no format. */
int64_t exact_greatest(const struct minifloat *format);

/* Value of a code in steps; only of formats with exact_greatest. */
int32_t exact_steps(const struct minifloat *format, unsigned code);

/* The factor multiplier * 2^shift. */
struct exact_factor {
    int32_t multiplier; /* 2^30 .. 2^31 - 1, or 0 */
    int shift;          /* -127 .. 31 */
};

/* Nearest representable factor. Beyond 2^62 the greatest one, below 2^-97 (or not positive) 0:
 * times any sum but 0, that lies beyond all formats or rounds to zero. */
struct exact_factor exact_factor_of(double factor);

/* Code of magnitude * 2^exponent steps, rounded as above; exponent in -200 .. 200. */
unsigned exact_round(const struct minifloat *format, uint64_t magnitude, int exponent,
                     bool negative);

/* Code of x * factor, which counts in steps of the format. */
unsigned exact_scale(const struct minifloat *format, int64_t x, struct exact_factor factor);

/* x * factor as an integer, to nearest, ties to even; saturates at 2^62 in magnitude. */
int64_t exact_scale_whole(int64_t x, struct exact_factor factor);

/* Formats of operands and result of qnn.add, subtract, mul and div. */
struct exact_formats {
    const struct minifloat *a, *b, *out;
};

struct exact_formats exact_formats_of(const struct node *node);

/* qnn.add: a * a_multiplier + b * b_multiplier, in units of 2^shift steps of the result. Both
 * multipliers share one exponent, so the smaller one has fewer bits. qnn.subtract negates b's. */
struct exact_add {
    int32_t a_multiplier, b_multiplier;
    int shift;
};

struct exact_add exact_add_of(enum op op, const struct exact_formats *formats, double a_scale,
                              double b_scale, double out_scale);

/* qnn.mul: factor for the product of the operands' steps. */
struct exact_factor exact_mul_of(const struct exact_formats *formats, double a_scale,
                                 double b_scale, double out_scale);

/* qnn.requantize: factor for sums in units of in_scale. to NULL: the result is i64. */
struct exact_factor exact_requantize_of(const struct minifloat *to, double in_scale,
                                        double out_scale);

/* qnn.avg_pool, mean and sum: factor for the sum of x's steps, divided by n (1 for sum; 0 gives
 * 0). */
struct exact_factor exact_average_of(const struct minifloat *from, double in_scale,
                                     const struct minifloat *to, double out_scale, int64_t n);

/* qnn.softmax: exp(value of a code) is mantissa * 2^(exponent - 30); exponents beyond 16000 are
 * clamped. A line's power i is mantissa >> (greatest exponent - exponent), 0 from 32 on; `share` is
 * floor(2^62 / sum of the powers); the result is power * share / 2^62, cut to whole 2^-32 and
 * scaled once. */
struct exact_powers {
    uint32_t mantissa[256]; /* 2^30 .. 2^31 */
    int16_t exponent[256];
};

void exact_powers_of(const struct minifloat *format, double scale, struct exact_powers *powers);

/* Factor for a result in units of 2^-32. */
struct exact_factor exact_softmax_of(const struct minifloat *to, double out_scale);

/* qnn.log_softmax: values of x, and logarithms of the powers' sums, are in units of 2^-16 of the
 * least step of the result. `step` is the least step of x; logs[k] is the logarithm of 1 + k / 256.
 * An element d steps below the greatest of its line becomes d * step + log(sum of the line's
 * powers) - log(power of the greatest) below 0, rounded once. Both logarithms are interpolated
 * linearly: error 2e-6. */
enum { EXACT_LOG_BITS = 16 };
struct exact_log_softmax {
    struct exact_powers powers;
    uint32_t logs[257];
    uint64_t step;
};

void exact_log_softmax_of(const struct minifloat *from, double in_scale, const struct minifloat *to,
                          double out_scale, struct exact_log_softmax *of);

/* --- norms ------------------------------------------------------------------------------------
 * Sums of steps and of their squares are exact: block and window sizes keep the latter within 63
 * bits. */

/* Largest number of elements, at most 2^27, whose sum of squares stays below 2^63. */
int64_t exact_most_squares(const struct minifloat *format);

/* 1 / sqrt(x) or 1 / x as significand / 2^shift, relative error 2^-29. significand is 2^29 .. 2^31
 * - 1, or 0 for x = 0; shift may be negative. */
struct exact_inverse {
    int32_t significand;
    int shift;
};

struct exact_inverse exact_inverse_of(uint64_t x);
struct exact_inverse exact_inverse_root_of(uint64_t x);

/* qnn.layer_norm, instance_norm and group_norm of blocks of n numbers, whose steps have the sum S,
 * and their squares the sum Q:
 *
 * V         n * Q - S^2, which is n^2 times the variance, below 2^90: exact
 * W         V + epsilon, in 60 bits, what is below cut off; epsilon is that of the operator times
 *           n^2 / (x's least step)^2
 * z         (n * x - S) / sqrt(W), by exact_inverse_root_of, to the nearest multiple of
 *           2^-fraction, ties to even
 * result    z * scale + bias, exact, rounded once; scale and bias in 2^-shift least steps of the
 *           result, at most 2^30 of them
 *
 * So before the rounding a result is 2^-29 of itself off, and by 2^-fraction of the scale and
 * 2^-shift steps. */
struct exact_norm {
    uint64_t epsilon; /* 2^60 .. 2^62, or 0 */
    int exponent;     /* of epsilon: times 2^exponent; even */
    int fraction;     /* 17 .. 30 */
    int shift;        /* 0 .. 30 */
};

/* scale and bias (NULL = none) are constants. */
struct exact_norm exact_norm_of(const struct minifloat *from, double in_scale,
                                const struct minifloat *to, double out_scale, double epsilon,
                                int64_t n, const struct tensor *scale, const struct tensor *bias);

/* A scale or bias in units of 2^-shift least steps of the result, at most 2^30. */
int32_t exact_norm_steps(const struct minifloat *to, double number, double out_scale, int shift);

/* 1 / sqrt(W). */
struct exact_inverse exact_inverse_deviation(const struct exact_norm *norm, int64_t n, int64_t sum,
                                             uint64_t squares);

/* qnn.lp_normalize: factor of x / sum or x / root, for the inverse of that divisor; times x's steps
 * it gives steps of the result. Relative error 2^-28. */
struct exact_factor exact_share_of(const struct minifloat *to, double out_scale);
struct exact_factor exact_share_factor(struct exact_inverse inverse, struct exact_factor share);

/* qnn.lrn: as for integers (qnn.h), with squares of steps. x's steps times the power, in units of
 * 2^-31, times the factor is rounded once. */
struct qnn_lrn_powers exact_lrn_of(const struct lrn_attrs *attrs, const struct minifloat *from,
                                   double in_scale);
struct exact_factor exact_lrn_factor(const struct lrn_attrs *attrs, const struct minifloat *from,
                                     double in_scale, const struct minifloat *to, double out_scale);

/* qnn.div: factor from a's steps to steps of the quotient, for each code of b; its sign is the
 * multiplier's. For b = 0 it is the greatest factor: all values but 0 saturate. */
struct exact_div {
    int32_t multiplier[256];
    int8_t shift[256];
};

void exact_div_of(const struct exact_formats *formats, double a_scale, double b_scale,
                  double out_scale, struct exact_div *div);

/* --- the qnn operators on narrow floats -------------------------------------------------------
 * Called by qnn.c and qnn_product.c if the input is a narrow float, or for requantize if the result
 * is one or i64. All zero points are the constant 0. */

#define EXACT_OPERATOR(name)                                                                       \
    bool infer_exact_##name(struct ctx *ctx, struct node *node);                                   \
    bool eval_exact_##name(struct ctx *ctx, const struct node *node,                               \
                           const struct tensor *const *in, struct tensor *out);
EXACT_OPERATOR(binary)
EXACT_OPERATOR(conv)
EXACT_OPERATOR(dense)
EXACT_OPERATOR(log_softmax)
EXACT_OPERATOR(matmul)
EXACT_OPERATOR(requantize)
EXACT_OPERATOR(softmax)
#undef EXACT_OPERATOR

/* Their types, and those of averages and sums (pool.c, qnn_reduce.c), are inferred as for integers
 * (qnn_norm.c, qnn_normalize.c). */
bool eval_exact_norm(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                     struct tensor *out);
bool eval_exact_lp_normalize(struct ctx *ctx, const struct node *node,
                             const struct tensor *const *in, struct tensor *out);
bool eval_exact_lrn(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                    struct tensor *out);

/* Stores element i of qnn.avg_pool, mean (n elements) or sum (n = 1); `sum` is the sum of steps. */
void exact_put_average(const struct node *node, const struct qnn_scales *scales, int64_t sum,
                       int64_t n, struct tensor *out, int64_t i);

/* A tensor converted to steps, i64, in `bulk`. */
struct tensor exact_steps_of(struct bulk *bulk, const struct tensor *quantized);

/* Type inference: input `input` has a format with exact_greatest; input `input` is the constant 0,
 * one element or n. */
bool exact_check_quantized(struct ctx *ctx, const struct node *node, int input);
bool exact_check_zero(struct ctx *ctx, const struct node *node, int input, int64_t n);

/* Type inference of inputs 0 to 4 of softmax, norms and others: x, in_scale, in_zero, out_scale,
 * out_zero. */
bool exact_check_scales(struct ctx *ctx, const struct node *node);

#endif
