#include <string.h>

/* Copies the same `bytes` bytes of each plane, from offset `from` of the first on, one after the other. */
static void gather_rows(void *restrict to, const void *restrict from, int planes, size_t plane_bytes,
                        size_t bytes)
{
    unsigned char *const out = to;
    const unsigned char *const in = from;

    for (int i = 0; i < planes; i++)
        (void)memcpy(out + (size_t)i * bytes, in + (size_t)i * plane_bytes, bytes);
}
