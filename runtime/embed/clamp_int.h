#include <stdint.h>

/* v clamped to least .. greatest. */
static int32_t clamp_int(int32_t v, int32_t least, int32_t greatest)
{
    return v < least ? least : v > greatest ? greatest : v;
}
