/* mark.h - 128-bit hash of contents, and a table keyed by it.
 *
 * Not cryptographic; equal only on one machine. Chance of a collision among a million contents:
 * 2^-88. */
#ifndef RUNTIME_ENGINE_MARK_H
#define RUNTIME_ENGINE_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct mark {
    uint64_t a, b; /* both 0: unset */
};

bool mark_is_set(struct mark mark);
bool mark_equal(struct mark x, struct mark y);

/* Extends a hash by these bytes; start with { 0 }. Some GB/s. */
struct mark mark_add(struct mark mark, const void *bytes, size_t n);
struct mark mark_add_text(struct mark mark, const char *text); /* the final NUL included */

/* Map from hash to pointer; entries are never removed. Start with { .arena = a }. */
struct mark_table {
    struct arena *arena;
    struct mark *keys;
    void **values;
    size_t n, capacity; /* a power of two, or 0 */
};

void *mark_find(const struct mark_table *table, struct mark mark); /* NULL if there is none */
void mark_set(struct mark_table *table, struct mark mark, void *value);

#endif
