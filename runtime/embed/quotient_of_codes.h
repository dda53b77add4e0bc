#include <stdint.h>

#include "runtime/embed/shift_to_nearest.h"

/* a * reciprocal / 2^shift, rounded to nearest; INT32_MIN is the reciprocal of 0. */
static int64_t quotient_of_codes(int32_t a, int32_t reciprocal, int shift)
{
    if (reciprocal == INT32_MIN)
        return a > 0 ? INT32_MAX : a < 0 ? INT32_MIN : 0;
    return shift_to_nearest((int64_t)a * reciprocal, shift);
}
