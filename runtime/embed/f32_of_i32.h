#ifndef EMBED_F32_OF_I32_H
#define EMBED_F32_OF_I32_H

#include <stdint.h>

/* The float nearest to v. */
static inline float f32_of_i32(int32_t v)
{
    return (float)v;
}

#endif
