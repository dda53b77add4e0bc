#ifndef EMBED_SATURATE_INT_H
#define EMBED_SATURATE_INT_H

#include <stdint.h>

/* v clamped to least .. greatest. */
static int32_t saturate_int(int64_t v, int32_t least, int32_t greatest)
{
    return v < least ? least : v > greatest ? greatest : (int32_t)v;
}

#endif
