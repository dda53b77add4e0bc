#include <stdint.h>

/* The number in low .. high that is nearest. */
static int64_t within(int64_t number, int64_t low, int64_t high)
{
    return number < low ? low : number < high ? number : high;
}
