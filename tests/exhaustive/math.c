/* math.c - exhaustive: the functions of runtime/embed for all 2^32 f32, against <math.h> in double.
 */
#include <stdio.h>
#include <time.h>

#include "tests/exhaustive/exhaustive.h"
#include "tests/support/math_sweep.h"

int sweep_math(void)
{
    int failed = 0;

    for (int i = 0; i < n_math_functions; i++) {
        const struct math_function *function = &math_functions[i];
        const clock_t start = clock();
        float at = 0;
        const double worst = math_sweep(function, 1, 1, &at);

        printf("%-13s from %-4g 2^32 f32, %.0f s: off by %.4f ulp of %.2f allowed, at %a\n",
               function->name, (double)function->from, (double)(clock() - start) / CLOCKS_PER_SEC,
               worst, function->limit, (double)at);
        fflush(stdout);
        failed += !(worst <= function->limit);
    }
    return failed;
}
