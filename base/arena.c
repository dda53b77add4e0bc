#include "base/arena.h"

#include <stdint.h>
#include <stdio.h> /* vsnprintf */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The first block is a small one: many arenas live for one call. */
enum { FIRST_BYTES = 4 * 1024, BLOCK_BYTES = 64 * 1024, ALIGN = 16, BULK_ALIGN = 64 };

struct arena_block {
    struct arena_block *next;
    size_t used, size; /* bytes behind this header */
};

struct bulk_block {
    struct bulk_block *next;
    unsigned char *data;
    size_t bytes;
};

static size_t round_up(size_t n, size_t unit)
{
    if (n > SIZE_MAX - unit)
        out_of_memory(n);
    return (n + unit - 1) / unit * unit;
}

static unsigned char *block_data(struct arena_block *block)
{
    return (unsigned char *)block + round_up(sizeof *block, ALIGN);
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    struct arena_block *block = arena->blocks;

    bytes = round_up(bytes ? bytes : 1, ALIGN);
    if (!block || block->size - block->used < bytes) {
        const size_t least = block ? BLOCK_BYTES : FIRST_BYTES;
        const size_t size = bytes > least ? bytes : least;

        block = block_alloc(round_up(sizeof *block, ALIGN) + size, 0);
        block->size = size;
        /* A big piece goes behind the current block, whose rest stays usable. */
        if (arena->blocks && bytes > BLOCK_BYTES) {
            block->next = arena->blocks->next;
            arena->blocks->next = block;
        } else {
            block->next = arena->blocks;
            arena->blocks = block;
        }
    }
    block->used += bytes;
    return block_data(block) + block->used - bytes;
}

void *arena_alloc_array(struct arena *arena, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        out_of_memory(SIZE_MAX);
    return arena_alloc(arena, n * size);
}

char *arena_strndup(struct arena *arena, const char *text, size_t n)
{
    char *copy = arena_alloc(arena, n + 1);

    memcpy(copy, text, n);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

void *arena_memdup(struct arena *arena, const void *bytes, size_t n)
{
    void *copy = arena_alloc(arena, n);

    if (n)
        memcpy(copy, bytes, n);
    return copy;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    va_list again;
    int n;
    char *text;

    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    text = arena_alloc(arena, (size_t)(n < 0 ? 0 : n) + 1);
    if (n > 0)
        vsnprintf(text, (size_t)n + 1, format, args);
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

void arena_release(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *next = arena->blocks->next;

        block_free(arena->blocks);
        arena->blocks = next;
    }
}

void *bulk_alloc(struct bulk *bulk, size_t bytes)
{
    struct bulk_block *block = block_alloc(sizeof *block, 0);
    const size_t size = round_up(bytes ? bytes : 1, BULK_ALIGN);

    block->data = block_alloc(size, BULK_ALIGN);
    block->bytes = size;
    block->next = bulk->blocks;
    bulk->blocks = block;
    bulk->bytes += size;
    return block->data;
}

static int compare_addresses(const void *a, const void *b)
{
    const uintptr_t left = (uintptr_t) * (const void *const *)a;
    const uintptr_t right = (uintptr_t) * (const void *const *)b;

    return (left > right) - (left < right);
}

/* Whether one of n pointers, sorted by address, points into the block. */
static bool points_into(const struct bulk_block *block, const void *const *inside, size_t n)
{
    const uintptr_t start = (uintptr_t)block->data;
    size_t low = 0, high = n; /* the first pointer that is not below the block is in [low, high] */

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if ((uintptr_t)inside[middle] < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && (uintptr_t)inside[low] - start < block->bytes;
}

void bulk_keep(struct bulk *bulk, const void **inside, size_t n)
{
    if (n)
        qsort(inside, n, sizeof *inside, compare_addresses);
    for (struct bulk_block **at = &bulk->blocks; *at;) {
        struct bulk_block *block = *at;

        if (points_into(block, inside, n)) {
            at = &block->next;
            continue;
        }
        *at = block->next;
        bulk->bytes -= block->bytes;
        block_free(block->data);
        block_free(block);
    }
}

void bulk_release(struct bulk *bulk)
{
    bulk_keep(bulk, NULL, 0);
}
