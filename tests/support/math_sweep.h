/* math_sweep.h - the f32 functions of runtime/embed against those of <math.h> in double, which are
 * right to less than 2^-50: errors in units of the last place of the f32 result. */
#ifndef TESTS_SUPPORT_MATH_SWEEP_H
#define TESTS_SUPPORT_MATH_SWEEP_H

#include <stdint.h>

struct math_function {
    const char *name;
    float (*own)(float v);
    double (*exact)(double v);

    double limit; /* ulp: what the function's header says */
    double least; /* of smaller results, the error is counted in the last places of this number */

    double at_zero, slope; /* what it is around 0: at_zero + slope * v; NAN: it has no such form */
    float from, to;        /* arguments to which the limit applies */
};

extern const struct math_function math_functions[];
extern const int n_math_functions;

/* The worst of every `step`th bit pattern from 0 on; INFINITY where a NaN or an infinity is wrong.
 * *at: of which argument. quick: the linear form stands for <math.h> below 2^-30. */
double math_sweep(const struct math_function *function, uint32_t step, int quick, float *at);

#endif
