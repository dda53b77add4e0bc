/* qnn.h - what the operators on 8- and 16-bit integers (Relay's QNN dialect) share: numbers with a
 * scale and a zero point, real = scale * (stored - zero), and their fixed-point arithmetic. */
#ifndef RELAY_IR_OPS_QNN_H
#define RELAY_IR_OPS_QNN_H

#include "relay_ir/ir.h"

/* --- fixed point (fixed_point.c says how it rounds) -------------------------------------------
 * The real factor multiplier * 2^(shift - 31). */
struct fixed_point {
    int32_t multiplier; /* 2^30 .. 2^31 - 1, or 0 for factors below 2^-32 */
    int shift;          /* -31 .. 30 */
};

/* The nearest one. Factors of 2^30 and more, infinity among them, become the greatest there is;
 * what is not positive becomes 0. */
struct fixed_point fixed_point_of(double factor);

enum fixed_point_rounding { ROUND_DOUBLE, ROUND_SINGLE };

/* Whether a qnn.requantize is no fixed-point one: rounding "onnx". */
bool rounds_as_onnx(const struct node *requantize);

/* Its factor: the quotient in f32, FLT_MAX where that is infinite. */
float onnx_factor_of(double in_scale, double out_scale);

/* x * factor, rounded and saturated to 32 bits. x is saturated to 32 bits before. */
int32_t fixed_point_apply(struct fixed_point factor, int64_t x, enum fixed_point_rounding rounding);

/* x / 2^n, to nearest, halves up. */
int64_t shifted_to_nearest(int64_t x, int n);

/* Of the attribute `rounding`: "double" (also "") or "single". */
enum fixed_point_rounding fixed_point_rounding_of(const char *word);

/* The factors of qnn.add: each operand, shifted left by `shift`, is brought to a common scale, in
 * which they are added, and the sum to the output's. */
struct qnn_add_factors {
    int shift;
    struct fixed_point a, b, out;
};

struct qnn_add_factors qnn_add_factors_of(enum dtype dtype, double a_scale, double b_scale,
                                          double out_scale);

/* Of two types of operands, the one that qnn_add_factors_of asks for. */
enum dtype qnn_wider(enum dtype a, enum dtype b);

/* The factor of qnn.mul. */
struct fixed_point qnn_mul_factor_of(double a_scale, double b_scale, double out_scale);

enum { QNN_CODES = 256 }; /* of 8 bits */

/* The integers of qnn.div: a divided by the number d of a code of b (8 bits, counted from the
 * least) is a * reciprocals[code] / 2^shift, to nearest, halves up. QNN_BY_ZERO is that of 0: then
 * the result is the greatest number of a's sign, and 0 of 0. */
#define QNN_BY_ZERO INT32_MIN

struct qnn_div {
    int32_t reciprocals[QNN_CODES]; /* at most 2^30 */
    int shift;                      /* 1 .. 46 */
};

struct qnn_div qnn_div_of(enum dtype b, int64_t b_zero, double a_scale, double b_scale,
                          double out_scale);

/* The same by b of 16 bits, with one division of 64 bits: |a| * multiplier * 2^QNN_DIV_BITS / |b|,
 * rounded down, that to nearest by 2^(31 + QNN_DIV_BITS - shift), halves up, and the sign. */
enum { QNN_DIV_BITS = 15 };
struct fixed_point qnn_div_factor_of(double a_scale, double b_scale, double out_scale);
int64_t qnn_quotient(struct fixed_point factor, int64_t a, int64_t b);

/* --- tables (qnn_table.c) ----------------------------------------------------------------------
 */

/* exp(-d * scale) * 2^31, of d = 0 .. 255; then of d = 256 k, k = 0 .. 255. */
enum { QNN_POWERS = 2 * QNN_CODES };

void qnn_powers_of(double scale, uint32_t powers[QNN_POWERS]);

/* Of any d below 65536, rounded down: the product of two of them. */
uint32_t qnn_power_at(const uint32_t powers[QNN_POWERS], int64_t d);

/* The integers of qnn.softmax: what stands `d` steps below the greatest of its line has the power
 * above, and the result, with `sum` that of all powers of the line, is (power * (numerator / sum) +
 * half) >> shift, plus the zero point, saturated. */
struct qnn_softmax {
    uint32_t powers[QNN_POWERS];
    uint64_t numerator;
    int shift; /* 31 .. 62 */
};

struct qnn_softmax qnn_softmax_of(double in_scale, double out_scale);

/* The integers of qnn.log_softmax, in 2^-16 of a step of the result: what stands `d` steps below
 * the greatest of its line is d * step + log (of the sum of the line's powers, which are those
 * above, by 2^31) below 0; that is rounded to nearest, halves away from 0, and saturated. logs[k]
 * is the logarithm of 1 + k / 256. */
struct qnn_log_softmax {
    uint32_t powers[QNN_POWERS], logs[QNN_CODES + 1];
    uint64_t step; /* at most 2^46 */
};

struct qnn_log_softmax qnn_log_softmax_of(double in_scale, double out_scale);

/* The logarithm of sum / 2^31, a sum of 2^31 or more, in the unit of the table; linear between two
 * of its entries: 2e-6 off at most. */
uint64_t qnn_log_of(const uint32_t logs[QNN_CODES + 1], uint64_t sum);

/* --- functions of 16 bits (qnn_pwl.c) ----------------------------------------------------------
 *
 * A line gives what is at most this many steps off, before it is rounded to the nearest. */
#define QNN_PWL_ERROR_8 (1.0 / 32)
#define QNN_PWL_ERROR_16 (1.0 / 8)

enum { QNN_WIDE_CODES = 65536, QNN_PWL_MOST = 1024 };

struct qnn_pwl {
    int n;
    uint16_t starts[QNN_PWL_MOST];
    int32_t lines[QNN_PWL_MOST][2]; /* value at the start, slope, in 2^-qnn_pwl_bits steps */
};

/* What the result is stored in. */
struct qnn_pwl_range {
    enum dtype out;
    int64_t zero;
};

int qnn_pwl_bits(enum dtype out);

/* wanted: the result of every code, from the least one on, in steps from its zero point; no NaN.
 * False where more segments are needed than QNN_PWL_MOST. */
bool qnn_pwl_fit(const double wanted[QNN_WIDE_CODES], const struct qnn_pwl_range *range,
                 struct qnn_pwl *out);

/* --- averages and sums (qnn_reduce.c) ----------------------------------------------------------
 */

/* What averages, means and sums have besides x, where all of it is known. */
struct qnn_scales {
    double in_scale, out_scale;
    int64_t in_zero, out_zero;
};

/* Whether input and output of an average have one type, scale and zero point: then it is one of
 * the codes, and no factor is needed. */
bool qnn_average_is_plain(const struct node *node, const struct qnn_scales *scales);

/* The factor of a sum of n numbers that is divided by n; n = 0: 0. */
struct fixed_point qnn_average_factor_of(const struct qnn_scales *scales, int64_t n);

/* The average of n numbers (as wide as they are stored: at most 2^31 / 65536 of 16 bits) whose
 * sum of (stored - zero) is `sum`; not saturated yet. */
int64_t qnn_average_of(const struct node *node, const struct qnn_scales *scales, int64_t sum,
                       int64_t n);

/* For type inference: inputs 1 to 4, as all of these have them: in_scale, in_zero, out_scale,
 * out_zero, which gives the type; and for evaluation. */
bool qnn_check_scales(struct ctx *ctx, const struct node *node);
struct qnn_scales qnn_scales_of(const struct tensor *const *in);

/* --- norms (qnn_norm.c has the formulas) -------------------------------------------------------
 */

/* 1 / sqrt(x) = significand / 2^shift, relative error below 2^-30; x is not 0. */
struct inverse_root {
    uint32_t significand; /* 2^30 .. 2^31 */
    int shift;            /* 31 .. 62 */
};

struct inverse_root inverse_root_of(uint64_t x);

/* The integers of qnn.layer_norm, instance_norm and group_norm: the variance, times the square of
 * the number of elements, in units of 2^-(2 * fraction); scale and bias in 2^-shift steps of the
 * result. */
struct qnn_norm {
    int fraction; /* 0 .. 24 */
    uint64_t epsilon;
    int shift; /* 0 .. 30 */
};

enum { QNN_NORM_BITS = 16 }; /* behind the point of what has the mean 0 and the variance 1 */

/* Of blocks of n elements of the dtype; scale and bias (NULL = none) are known. */
struct qnn_norm qnn_norm_of(const struct qnn_scales *scales, double epsilon, enum dtype dtype,
                            int64_t n, const struct tensor *scale, const struct tensor *bias);

/* The greatest magnitude of a scale and a bias; NULL = none. */
double qnn_norm_greatest(const struct tensor *scale, const struct tensor *bias);

/* A scale or bias in 2^-shift steps of the result, at most 2^30. */
int32_t qnn_norm_steps(double number, double out_scale, int shift);

/* The longest block whose sums fit into 64 bits. */
int64_t qnn_norm_longest(enum dtype dtype);

/* The integers of qnn.lp_normalize: the factor of what has 30 bits behind the point. */
enum { QNN_SHARE_BITS = 30 };
struct fixed_point qnn_share_factor_of(double out_scale);

/* The integers of qnn.lrn: (1 + alpha * squares / (size * bias))^-beta, in 2^-31. In it,
 * 2^unit + step * (sum of squared codes) is a mantissa, 1 + k / 256, k = 0 .. 256, with the power
 * powers[k], times 2^e with the power exponents[e]. What is multiplied by it is rounded to 2^-14
 * steps of x, and multiplied by the factor. */
enum { QNN_LRN_EXPONENTS = 64, QNN_LRN_BITS = 14 };
struct qnn_lrn_powers {
    uint32_t powers[QNN_CODES + 1], exponents[QNN_LRN_EXPONENTS];
    int unit; /* 0 .. 61 */
    uint64_t step;
};

/* greatest: the distance from the zero point that the windows' `size` numbers may have; of integers
 * of this type at most qnn_lrn_reach. */
double qnn_lrn_reach(enum dtype dtype);
struct qnn_lrn_powers qnn_lrn_powers_of(const struct lrn_attrs *attrs, double in_scale,
                                        double greatest);
int64_t qnn_lrn_power(const struct qnn_lrn_powers *lrn, uint64_t squares);
struct fixed_point qnn_lrn_factor_of(const struct lrn_attrs *attrs,
                                     const struct qnn_scales *scales);

/* --- types ------------------------------------------------------------------------------------ */

bool is_quantized(enum dtype dtype); /* i8, u8, i16, u16 */

/* Stores a number, or the nearest that the integer type has. */
void qnn_put_saturated(struct tensor *out, int64_t i, int64_t number);

/* The axis of input 0 along which an input is a vector; -1 when it is one number, or no scale or
 * zero point at all, or the operator is none of these. */
int qnn_vector_axis(const struct node *node, int input);

/* For type inference. Input `input` is one number, or `n` of them in a vector; n = 1: one number.
 */
bool qnn_check_vector(struct ctx *ctx, const struct node *node, int input, int64_t n);
bool qnn_check_scale(struct ctx *ctx, const struct node *node, int input, int64_t n);
bool qnn_check_zero(struct ctx *ctx, const struct node *node, int input, enum dtype dtype,
                    int64_t n);
bool qnn_check_quantized(struct ctx *ctx, const struct node *node, int input);

#endif
