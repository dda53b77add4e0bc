/* allocators.c - functions of the C library that stand in their places for the whole program:
 * oneDNN constructs its objects in what they return, be it NULL. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"

int posix_memalign(void **out, size_t align, size_t bytes)
{
    const size_t most = SIZE_MAX - align;
    void *block;

    if (align < sizeof(void *) || (align & (align - 1)))
        return EINVAL;
    if (bytes > most)
        out_of_memory(bytes);
    block = aligned_alloc(align, (bytes + align - 1) / align * align);
    if (!block && bytes)
        out_of_memory(bytes);
    *out = block;
    return 0;
}

/* What it compiles at run time stands in such memory. */
void *mmap(void *where, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    static void *(*_Atomic real)(void *, size_t, int, int, int, off_t);
    void *(*function)(void *, size_t, int, int, int, off_t) = atomic_load(&real);
    void *block;

    if (!function) {
        void *const symbol = dlsym(RTLD_NEXT, "mmap");

        memcpy(&function, &symbol, sizeof function);
        atomic_store(&real, function);
    }
    block = function(where, bytes, protection, flags, fd, offset);
    if (block == MAP_FAILED && errno == ENOMEM && fd < 0)
        out_of_memory(bytes);
    return block;
}
