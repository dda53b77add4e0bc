/* q31.h - functions in 32-bit fixed point as TensorFlow Lite's reference kernels compute them:
 * numbers of -1 .. 1 in units of 2^-31, products rounded to nearest, ties up. Every step is part of
 * the definition: whoever must give the same bits (qnn.softmax_powers, and tables of 8-bit logistic
 * and tanh) goes through these. */
#ifndef RELAY_IR_OPS_Q31_H
#define RELAY_IR_OPS_Q31_H

#include <stdint.h>

/* a * b / 2^31; both -2^31: 2^31 - 1. */
int32_t q31_multiply(int32_t a, int32_t b);

/* x / 2^n to nearest, ties away from zero; n 0 .. 31. */
int32_t q31_shift_down(int32_t x, int n);

/* exp(a) for a <= 0 in units of 2^-(31 - integer_bits); integer_bits 0 .. 5. */
int32_t q31_exp(int32_t a, int integer_bits);

/* 1 / (1 + x) and (1 - x) / (1 + x) for x of 0 .. 1, by three steps of Newton's method. */
int32_t q31_inverse(int32_t x);
int32_t q31_difference(int32_t x);

/* ln(x) for x of 1 .. 4096 in units of 2^-19: in units of 2^-26. A quotient of polynomials about the fourth root of
 * 1/2. */
int32_t q31_log(int32_t x);

/* logistic and tanh of a in units of 2^-27. */
int32_t q31_logistic(int32_t a);
int32_t q31_tanh(int32_t a);

/* 1 / x for x > 0 in units of 2^-19: result / 2^31 / 2^*shift; x at least 2^12. */
int32_t q31_reciprocal(uint32_t x, int *shift);

/* 1 / sqrt(x): result * 2^*shift / 2^31, of 0 and 1: 1; x not negative. By five steps of Newton's method. */
int32_t q31_inverse_root(int32_t x, int *shift);

#endif
