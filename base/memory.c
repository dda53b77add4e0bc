#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "base/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cjson/cJSON.h>

#include "base/arena.h"

void *checked_malloc(size_t bytes)
{
    void *block = malloc(bytes ? bytes : 1);

    if (!block)
        out_of_memory(bytes);
    return block;
}

/* The C library's, in whose place this one stands for the whole program: oneDNN allocates with it
 * and constructs its objects in what comes, be it NULL. */
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

/* Likewise: what it compiles at run time stands in such memory. */
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

static void no_memory(void)
{
    out_of_memory(0);
}

/* std::set_new_handler, by its name in the C++ ABI; a program without C++ has none. */
static void check_new(void)
{
    void *const symbol = dlsym(RTLD_DEFAULT, "_ZSt15set_new_handlerPFvvE");
    void (*(*set_new_handler)(void (*)(void)))(void);

    if (!symbol)
        return;
    memcpy(&set_new_handler, &symbol, sizeof set_new_handler);
    set_new_handler(no_memory);
}

static void check_all(void)
{
    cJSON_Hooks hooks = { .malloc_fn = checked_malloc, .free_fn = free };

    cJSON_InitHooks(&hooks);
    check_new();
}

void memory_check_libraries(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, check_all);
}
