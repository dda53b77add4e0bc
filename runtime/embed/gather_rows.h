#include <string.h>

/* The same `bytes` of each plane, which begin at `from` in the first, one behind the other. */
static void gather_rows(void *restrict to, const void *restrict from, int planes, size_t plane_bytes,
                        size_t bytes)
{
    unsigned char *const out = to;
    const unsigned char *const in = from;

    for (int i = 0; i < planes; i++)
        memcpy(out + (size_t)i * bytes, in + (size_t)i * plane_bytes, bytes);
}
