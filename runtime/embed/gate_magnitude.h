#ifndef EMBED_GATE_MAGNITUDE_H
#define EMBED_GATE_MAGNITUDE_H

#include <stdint.h>

static uint32_t gate_magnitude(int32_t x)
{
    return x < 0 ? 0U - (uint32_t)x : (uint32_t)x;
}

#endif
