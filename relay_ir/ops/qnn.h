/* qnn.h - shared by the operators on 8- and 16-bit integers (Relay's QNN dialect), real = scale *
 * (q - zero): fixed-point arithmetic, tables and type checks. */
#ifndef RELAY_IR_OPS_QNN_H
#define RELAY_IR_OPS_QNN_H

#include "relay_ir/ir.h"

/* --- fixed point (fixed_point.c says how it rounds) -------------------------------------------
 * The real factor multiplier * 2^(shift - 31). */
struct fixed_point {
    int32_t multiplier; /* 2^30 .. 2^31 - 1, or 0 for factors below 2^-32 */
    int shift;          /* -31 .. 30 */
};

/* Nearest representable factor. 2^30 and more, infinity included, saturate; what is not positive
 * becomes 0. */
struct fixed_point fixed_point_of(double factor);

enum fixed_point_rounding { ROUND_DOUBLE, ROUND_SINGLE };

/* True if a qnn.requantize has rounding "onnx": f32 arithmetic, not fixed point. */
bool rounds_as_onnx(const struct node *requantize);

/* Its factor: in_scale / out_scale in f32, FLT_MAX if infinite. */
float onnx_factor_of(double in_scale, double out_scale);

/* x * factor, rounded and saturated to 32 bits; x is saturated to 32 bits first. */
int32_t fixed_point_apply(struct fixed_point factor, int64_t x, enum fixed_point_rounding rounding);

/* x / 2^n to nearest, ties up. */
int64_t shifted_to_nearest(int64_t x, int n);

/* Meaning of the attribute `rounding`: "double" (also "") or "single". */
enum fixed_point_rounding fixed_point_rounding_of(const char *word);

/* qnn.add: each operand, shifted left by `shift`, is rescaled to a common scale; the sum is
 * rescaled to the output's. */
struct qnn_add_factors {
    int shift;
    struct fixed_point a, b, out;
};

struct qnn_add_factors qnn_add_factors_of(enum dtype dtype, double a_scale, double b_scale,
                                          double out_scale);

/* The wider operand type, for qnn_add_factors_of. */
enum dtype qnn_wider(enum dtype a, enum dtype b);

/* qnn.mul: factor for the product. */
struct fixed_point qnn_mul_factor_of(double a_scale, double b_scale, double out_scale);

enum { QNN_VALUES = 256 }; /* values of an 8-bit type */

/* qnn.div by 8-bit b: the quotient is a * reciprocals[i] / 2^shift to nearest, ties up, where i
 * counts b's values from the least one. QNN_BY_ZERO marks a division by 0: the result saturates
 * with a's sign, and is 0 for a = 0. */
#define QNN_BY_ZERO INT32_MIN

struct qnn_div {
    int32_t reciprocals[QNN_VALUES]; /* at most 2^30 */
    int shift;                       /* 1 .. 46 */
};

struct qnn_div qnn_div_of(enum dtype b, int64_t b_zero, double a_scale, double b_scale,
                          double out_scale);

/* qnn.div by 16-bit b, with one 64-bit division: |a| * multiplier * 2^QNN_DIV_BITS / |b| rounded
 * down, then by 2^(31 + QNN_DIV_BITS - shift) to nearest, ties up; then the sign. */
enum { QNN_DIV_BITS = 15 };
struct fixed_point qnn_div_factor_of(double a_scale, double b_scale, double out_scale);
int64_t qnn_quotient(struct fixed_point factor, int64_t a, int64_t b);

/* --- tables (qnn_table.c) --------------------------------------------------------------------- */

/* exp(-d * scale) * 2^31 for d = 0 .. 255, then for d = 256 k, k = 0 .. 255. */
enum { QNN_POWERS = 2 * QNN_VALUES };

void qnn_powers_of(double scale, uint32_t powers[QNN_POWERS]);

/* The power for any d < 65536: product of two entries, rounded down. */
uint32_t qnn_power_at(const uint32_t powers[QNN_POWERS], int64_t d);

/* qnn.softmax: an element d steps below the greatest of its line has the power above; with `sum`
 * over the line, the result is (power * (numerator / sum) + half) >> shift, plus the zero point,
 * saturated. */
struct qnn_softmax {
    uint32_t powers[QNN_POWERS];
    uint64_t numerator;
    int shift; /* 31 .. 62 */
};

struct qnn_softmax qnn_softmax_of(double in_scale, double out_scale);

/* qnn.log_softmax, in units of 2^-16 steps of the result: an element d steps below the greatest of
 * its line is -(d * step + log(sum of the line's powers / 2^31)), rounded to nearest, ties away
 * from 0, saturated. logs[k] is log(1 + k / 256). */
struct qnn_log_softmax {
    uint32_t powers[QNN_POWERS], logs[QNN_VALUES + 1];
    uint64_t step; /* at most 2^46 */
};

struct qnn_log_softmax qnn_log_softmax_of(double in_scale, double out_scale);

/* log(sum / 2^31) for sum >= 2^31, in the table's unit; linear between entries, error at most
 * 2e-6. */
uint64_t qnn_log_of(const uint32_t logs[QNN_VALUES + 1], uint64_t sum);

/* --- piecewise linear functions of 16 bits (qnn_pwl.c) ----------------------------------------
 * Greatest error of a segment before rounding, in steps of the result. */
#define QNN_PWL_ERROR_8 (1.0 / 32)
#define QNN_PWL_ERROR_16 (1.0 / 8)

enum { QNN_WIDE_VALUES = 65536, QNN_PWL_MOST = 1024 };

struct qnn_pwl {
    int n;
    uint16_t starts[QNN_PWL_MOST];
    int32_t lines[QNN_PWL_MOST][2]; /* value at the start, slope, in 2^-qnn_pwl_bits steps */
};

/* Type and zero point of the result. */
struct qnn_pwl_range {
    enum dtype out;
    int64_t zero;
};

int qnn_pwl_bits(enum dtype out);

/* Fits segments to wanted[]: the result for each 16-bit value from the least on, in steps from its
 * zero point, without NaN. False if that takes more than QNN_PWL_MOST segments. */
bool qnn_pwl_fit(const double wanted[QNN_WIDE_VALUES], const struct qnn_pwl_range *range,
                 struct qnn_pwl *out);

/* --- averages and sums (qnn_reduce.c) --------------------------------------------------------- */

/* Scales and zero points of averages, means and sums, all constant. */
struct qnn_scales {
    double in_scale, out_scale;
    int64_t in_zero, out_zero;
};

/* True if input and output of an average have one type, scale and zero point: no factor is
 * needed. */
bool qnn_average_is_plain(const struct node *node, const struct qnn_scales *scales);

/* Factor for a sum of n elements divided by n; 0 for n = 0. */
struct fixed_point qnn_average_factor_of(const struct qnn_scales *scales, int64_t n);

/* qnn.mean_double: the factor of the sum of n elements. */
struct fixed_point qnn_mean_double_of(const struct qnn_scales *scales, int64_t n);

/* Average of n elements (2^31 / 65536 at most for 16 bits) whose (q - zero) add up to `sum`; not
 * saturated. */
int64_t qnn_average_of(const struct node *node, const struct qnn_scales *scales, int64_t sum,
                       int64_t n);

/* Type inference and values of inputs 1 to 4: in_scale, in_zero, out_scale, out_zero (which gives
 * the result's type). */
bool qnn_check_scales(struct ctx *ctx, const struct node *node);
struct qnn_scales qnn_scales_of(const struct tensor *const *in);

/* --- norms (formulas in qnn_norm.c) ----------------------------------------------------------- */

/* 1 / sqrt(x) = significand / 2^shift, relative error below 2^-30; x is not 0. */
struct inverse_root {
    uint32_t significand; /* 2^30 .. 2^31 */
    int shift;            /* 31 .. 62 */
};

struct inverse_root inverse_root_of(uint64_t x);

/* qnn.layer_norm, instance_norm and group_norm: the variance times the squared block size, in units
 * of 2^-(2 * fraction); scale and bias in units of 2^-shift steps of the result. */
struct qnn_norm {
    int fraction; /* 0 .. 24 */
    uint64_t epsilon;
    int shift; /* 0 .. 30 */
};

enum { QNN_NORM_BITS = 16 }; /* fractional bits of the normalised value */

/* For blocks of n elements of `dtype`; scale and bias (NULL = none) are constants. */
struct qnn_norm qnn_norm_of(const struct qnn_scales *scales, double epsilon, enum dtype dtype,
                            int64_t n, const struct tensor *scale, const struct tensor *bias);

/* Greatest magnitude in scale and bias (NULL = none). */
double qnn_norm_greatest(const struct tensor *scale, const struct tensor *bias);

/* A scale or bias in units of 2^-shift steps of the result, at most 2^30. */
int32_t qnn_norm_steps(double number, double out_scale, int shift);

/* Longest block whose sums fit into 64 bits. */
int64_t qnn_norm_longest(enum dtype dtype);

/* qnn.lp_normalize: factor for a quotient with 30 fractional bits. */
enum { QNN_SHARE_BITS = 30 };
struct fixed_point qnn_share_factor_of(double out_scale);

/* qnn.lrn: (1 + alpha * squares / (size * bias))^-beta in units of 2^-31. The base is 2^unit + step
 * * (sum of squares), split into a mantissa 1 + k / 256 with the power powers[k] and an exponent e
 * with the power exponents[e]. The product with x is rounded to 2^-14 steps of x, and multiplied by
 * the factor. */
enum { QNN_LRN_EXPONENTS = 64, QNN_LRN_BITS = 14 };
struct qnn_lrn_powers {
    uint32_t powers[QNN_VALUES + 1], exponents[QNN_LRN_EXPONENTS];
    int unit; /* 0 .. 61 */
    uint64_t step;
};

/* `greatest` bounds the distance from the zero point of the window's `size` elements; qnn_lrn_reach
 * is that bound for an integer type. */
double qnn_lrn_reach(enum dtype dtype);
struct qnn_lrn_powers qnn_lrn_powers_of(const struct lrn_attrs *attrs, double in_scale,
                                        double greatest);
int64_t qnn_lrn_power(const struct qnn_lrn_powers *lrn, uint64_t squares);
struct fixed_point qnn_lrn_factor_of(const struct lrn_attrs *attrs,
                                     const struct qnn_scales *scales);

/* --- types ------------------------------------------------------------------------------------ */

bool is_quantized(enum dtype dtype); /* i8, u8, i16, u16 */

/* Stores a number, saturated to the tensor's integer type. */
void qnn_put_saturated(struct tensor *out, int64_t i, int64_t number);

/* Axis of input 0 along which input `input` (a scale or zero point) is a vector; -1 if it is a
 * scalar, no scale or zero point, or the operator has none. */
int qnn_vector_axis(const struct node *node, int input);

/* Type inference of softmax by tables: input `input` is (256) i32; a line of x along the axis has fewer than 4096
 * elements, whose powers, in units of 2^-19, add up within 31 bits. */
bool qnn_check_powers(struct ctx *ctx, const struct node *node, int input);
bool qnn_check_line(struct ctx *ctx, const struct node *node, const struct type *x);

/* Type inference: input `input` is a vector of n elements or a scalar; n = 1: a scalar. */
bool qnn_check_vector(struct ctx *ctx, const struct node *node, int input, int64_t n);
bool qnn_check_scale(struct ctx *ctx, const struct node *node, int input, int64_t n);
bool qnn_check_zero(struct ctx *ctx, const struct node *node, int input, enum dtype dtype,
                    int64_t n);
bool qnn_check_quantized(struct ctx *ctx, const struct node *node, int input);

#endif
