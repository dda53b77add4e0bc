#ifndef EMBED_GATE_LIMITED_H
#define EMBED_GATE_LIMITED_H

#include <stdint.h>

/* A gate in 2^-15, clamped to a magnitude of 1024. */
static int32_t gate_limited(int64_t v)
{
    const int32_t most = INT32_C(1) << 25;

    return v < -most ? -most : v > most ? most : (int32_t)v;
}

#endif
