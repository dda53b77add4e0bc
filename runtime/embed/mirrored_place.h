#ifndef EMBED_MIRRORED_PLACE_H
#define EMBED_MIRRORED_PLACE_H

#include <stdint.h>

/* A coordinate, reflected at first and last until it lies between them; all three are below 2^29. */
static inline int32_t mirrored_place(int32_t place, int32_t first, int32_t last)
{
    const int32_t range = last - first;
    int32_t beyond = place < first ? first - place : place - first;

    if (range <= 0)
        return first;
    beyond %= 2 * range;
    return first + (beyond > range ? 2 * range - beyond : beyond);
}

#endif
