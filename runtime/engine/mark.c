/* mark.c - see mark.h.
 *
 * method   each 16 bytes are mixed in by two 64-bit multiplications whose halves are folded
 *          together, one for each half of the mark; the length comes last */
#include "runtime/engine/mark.h"

#include <string.h>

/* Odd, with about as many ones as zeros: the fractional digits of sqrt(2), sqrt(3), sqrt(5). */
static const uint64_t key_a = 0x6a09e667f3bcc909u, key_b = 0xbb67ae8584caa73bu,
                      key_c = 0x3c6ef372fe94f82bu;

bool mark_is_set(struct mark mark)
{
    return mark.a || mark.b;
}

bool mark_equal(struct mark x, struct mark y)
{
    return x.a == y.a && x.b == y.b;
}

/* The product's upper half folded into its lower one: every bit of both factors counts. */
static uint64_t fold(uint64_t x, uint64_t y)
{
    const uint64_t x0 = x & 0xffffffffu, x1 = x >> 32, y0 = y & 0xffffffffu, y1 = y >> 32;
    const uint64_t low = x0 * y0, m0 = x1 * y0, m1 = x0 * y1;
    const uint64_t middle = (low >> 32) + (m0 & 0xffffffffu) + (m1 & 0xffffffffu);
    const uint64_t high = x1 * y1 + (m0 >> 32) + (m1 >> 32) + (middle >> 32);

    return high ^ (x * y);
}

static struct mark mix(struct mark mark, uint64_t x, uint64_t y)
{
    return (struct mark){ fold(mark.a ^ x, key_a ^ y) + mark.b,
                          fold(mark.b ^ y, key_b ^ x) ^ mark.a };
}

struct mark mark_add(struct mark mark, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint64_t pair[2];

    for (size_t i = 0; i + sizeof pair <= n; i += sizeof pair) {
        memcpy(pair, at + i, sizeof pair);
        mark = mix(mark, pair[0], pair[1]);
    }
    memset(pair, 0, sizeof pair);
    if (n % sizeof pair)
        memcpy(pair, at + n - n % sizeof pair, n % sizeof pair);
    mark = mix(mark, pair[0], pair[1]);
    mark = mix(mark, (uint64_t)n, key_c);
    if (!mark_is_set(mark))
        mark.a = 1;
    return mark;
}

struct mark mark_add_text(struct mark mark, const char *text)
{
    return mark_add(mark, text, strlen(text) + 1);
}

/* --- the table -------------------------------------------------------------------------------- */

static size_t place_of(const struct mark_table *table, struct mark mark)
{
    size_t i = (size_t)mark.a & (table->capacity - 1);

    while (mark_is_set(table->keys[i]) && !mark_equal(table->keys[i], mark))
        i = (i + 1) & (table->capacity - 1);
    return i;
}

void *mark_find(const struct mark_table *table, struct mark mark)
{
    return table->capacity ? table->values[place_of(table, mark)] : NULL;
}

static void grow(struct mark_table *table)
{
    const struct mark_table was = *table;

    table->capacity = was.capacity ? 2 * was.capacity : 64;
    table->keys = arena_array(table->arena, struct mark, table->capacity);
    table->values = arena_array(table->arena, void *, table->capacity);
    for (size_t i = 0; i < was.capacity; i++)
        if (mark_is_set(was.keys[i])) {
            const size_t at = place_of(table, was.keys[i]);

            table->keys[at] = was.keys[i];
            table->values[at] = was.values[i];
        }
}

void mark_set(struct mark_table *table, struct mark mark, void *value)
{
    size_t at;

    if (2 * (table->n + 1) > table->capacity)
        grow(table);
    at = place_of(table, mark);
    table->n += !mark_is_set(table->keys[at]);
    table->keys[at] = mark;
    table->values[at] = value;
}
