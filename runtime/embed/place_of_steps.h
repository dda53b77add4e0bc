#ifndef EMBED_PLACE_OF_STEPS_H
#define EMBED_PLACE_OF_STEPS_H

#include <stdint.h>

/* A grid's coordinate, in 2^-16 elements, rounded to nearest: `steps` steps from the middle of a dimension whose
 * last element is `last`. A step is factor / 2^32 elements. */
static int32_t place_of_steps(int32_t steps, int64_t factor, int32_t last)
{
    const int64_t place = steps * factor + last * ((int64_t)1 << 31) + 32768;

    return (int32_t)(place < 0 ? ~(~place >> 16) : place >> 16);
}

#endif
