#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024, ALIGN = 16, BULK_ALIGN = 64 };

struct arena_block {
    struct arena_block *next;
    size_t used, size; /* bytes behind this header */
};

struct bulk_block {
    struct bulk_block *next;
    unsigned char *data;
    size_t bytes;
    bool marked;
};

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "relayc: out of memory (%zu bytes)\n", bytes);
    exit(3);
}

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
        const size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;

        block = calloc(1, round_up(sizeof *block, ALIGN) + size);
        if (!block)
            out_of_memory(size);
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

        free(arena->blocks);
        arena->blocks = next;
    }
}

void *bulk_alloc(struct bulk *bulk, size_t bytes)
{
    struct bulk_block *block = calloc(1, sizeof *block);
    const size_t size = round_up(bytes ? bytes : 1, BULK_ALIGN);

    if (!block)
        out_of_memory(sizeof *block);
    block->data = aligned_alloc(BULK_ALIGN, size);
    if (!block->data)
        out_of_memory(size);
    memset(block->data, 0, size);
    block->bytes = size;
    block->next = bulk->blocks;
    bulk->blocks = block;
    bulk->bytes += size;
    return block->data;
}

void bulk_unmark(struct bulk *bulk)
{
    for (struct bulk_block *b = bulk->blocks; b; b = b->next)
        b->marked = false;
}

void bulk_mark(struct bulk *bulk, const void *inside)
{
    const uintptr_t at = (uintptr_t)inside;

    for (struct bulk_block *b = bulk->blocks; b; b = b->next)
        if (at >= (uintptr_t)b->data && at < (uintptr_t)b->data + b->bytes) {
            b->marked = true;
            return;
        }
}

void bulk_sweep(struct bulk *bulk)
{
    for (struct bulk_block **at = &bulk->blocks; *at;) {
        struct bulk_block *block = *at;

        if (block->marked) {
            at = &block->next;
            continue;
        }
        *at = block->next;
        bulk->bytes -= block->bytes;
        free(block->data);
        free(block);
    }
}

void bulk_release(struct bulk *bulk)
{
    bulk_unmark(bulk);
    bulk_sweep(bulk);
}
