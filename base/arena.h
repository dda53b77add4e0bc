/* arena.h - memory by lifetime.
 *
 * Two kinds. `struct arena` hands out small zeroed pieces that are freed together. `struct bulk`
 * owns tensor payloads, a block each, so that a sweep can free those that no constant uses any
 * more. Neither ever returns NULL: running out of memory is out_of_memory(). */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena {
    struct arena_block *blocks; /* newest first */
};

/* `bytes` zeroed bytes, aligned to 16. A size of 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t bytes);

/* n * size zeroed bytes; an overflowing product is out of memory, not a short block. */
void *arena_alloc_array(struct arena *arena, size_t n, size_t size);

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define arena_array(arena, type, n) ((type *)arena_alloc_array((arena), (size_t)(n), sizeof(type)))

char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t n);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void *arena_memdup(struct arena *arena, const void *bytes, size_t n);

/* Frees everything; the arena can be used again. */
void arena_release(struct arena *arena);

struct bulk {
    struct bulk_block *blocks; /* newest first */
    size_t bytes;              /* payload bytes now alive */
};

/* `bytes` zeroed bytes aligned to 64, owned by `bulk` until bulk_keep or bulk_release. */
void *bulk_alloc(struct bulk *bulk, size_t bytes);

/* Frees each payload into which none of the n pointers points; other pointers are ignored. Sorts
 * the pointers. */
void bulk_keep(struct bulk *bulk, const void **inside, size_t n);
void bulk_release(struct bulk *bulk);

/* Reports that `bytes` (0: unknown) could not be allocated: unwinds to the boundary of the thread's
 * memory owner (base/memory.h), or, without one, ends the process with a message and exit code 3.
 * For all allocators; those of libraries are hooked (base/memory.h). */
_Noreturn void out_of_memory(size_t bytes);

#endif
