/* flexbuffer.c - the end of the bytes has the root: its value, its type, and how many bytes the value takes. A map is
 * offsets back to a vector of keys and one of values; behind the values stand their types. */
#include "frontend/tflite/flexbuffer.h"

#include <string.h>

enum {
    FLEX_INT = 1,
    FLEX_UINT,
    FLEX_FLOAT,
    FLEX_INT_BEHIND = 6,
    FLEX_UINT_BEHIND,
    FLEX_FLOAT_BEHIND,
    FLEX_MAP,
    FLEX_BOOL = 26
};

static bool holds(const struct flex_map *map, size_t at, size_t n)
{
    return at <= map->n && n <= map->n - at;
}

/* Little-endian, of 1, 2, 4 or 8 bytes. */
static bool read_bits(const struct flex_map *map, size_t at, int size, uint64_t *bits)
{
    if (!holds(map, at, (size_t)size))
        return false;
    *bits = 0;
    for (int i = 0; i < size; i++)
        *bits |= (uint64_t)map->bytes[at + (size_t)i] << (8 * i);
    return true;
}

/* Where the offset at `at` points: back from where it lies. */
static bool follow(const struct flex_map *map, size_t at, int size, size_t *to)
{
    uint64_t back;

    if (!read_bits(map, at, size, &back) || back > at)
        return false;
    *to = at - (size_t)back;
    return true;
}

bool flex_map_of(const uint8_t *bytes, size_t n, struct flex_map *map)
{
    uint64_t root_size, count, key_size;
    size_t size;

    *map = (struct flex_map){ .bytes = bytes, .n = n };
    if (n < 3 || bytes[n - 2] >> 2 != FLEX_MAP)
        return false;
    root_size = bytes[n - 1];
    map->size = 1 << (bytes[n - 2] & 3);
    size = (size_t)map->size;
    if ((root_size != 1 && root_size != 2 && root_size != 4 && root_size != 8) ||
        root_size > n - 2 ||
        !follow(map, n - 2 - (size_t)root_size, (int)root_size, &map->values) ||
        map->values < 3 * size || !read_bits(map, map->values - size, map->size, &count) ||
        !read_bits(map, map->values - 2 * size, map->size, &key_size) ||
        !follow(map, map->values - 3 * size, map->size, &map->keys) ||
        (key_size != 1 && key_size != 2 && key_size != 4 && key_size != 8))
        return false;
    map->key_size = (int)key_size;
    map->count = (size_t)count;
    /* values and their types, and offsets of keys */
    return count <= n && holds(map, map->values, map->count * (size + 1)) &&
           holds(map, map->keys, map->count * (size_t)key_size);
}

static const char *key_at(const struct flex_map *map, size_t i)
{
    size_t at;

    if (!follow(map, map->keys + i * (size_t)map->key_size, map->key_size, &at) ||
        !memchr(map->bytes + at, 0, map->n - at))
        return NULL;
    return (const char *)map->bytes + at;
}

static bool real_of(uint64_t bits, int size, double *number)
{
    const uint32_t half = (uint32_t)bits;
    float single;

    if (size == 8)
        memcpy(number, &bits, sizeof *number);
    if (size == 4) {
        memcpy(&single, &half, sizeof single);
        *number = (double)single;
    }
    return size >= 4; /* no file seems to have floats of 16 bits */
}

static bool value_at(const struct flex_map *map, size_t i, struct flex_value *value)
{
    int type = map->bytes[map->values + map->count * (size_t)map->size + i], size = map->size;
    size_t at = map->values + i * (size_t)map->size;
    uint64_t bits, sign;

    *value = (struct flex_value){ 0 };
    if (type >> 2 >= FLEX_INT_BEHIND && type >> 2 <= FLEX_FLOAT_BEHIND) {
        if (!follow(map, at, map->size, &at))
            return false;
        size = 1 << (type & 3);
        type -= (FLEX_INT_BEHIND - FLEX_INT) << 2;
    }
    if (!read_bits(map, at, size, &bits))
        return false;
    sign = (uint64_t)1 << (8 * size - 1);
    switch (type >> 2) {
    case FLEX_INT: value->whole = (int64_t)((bits ^ sign) - sign); break;
    case FLEX_UINT:
    case FLEX_BOOL: value->whole = (int64_t)bits; break;
    case FLEX_FLOAT: value->is_real = true; return real_of(bits, size, &value->real);
    default: return false;
    }
    value->real = (double)value->whole;
    return true;
}

bool flex_entry(const struct flex_map *map, size_t i, const char **key, struct flex_value *value)
{
    *key = key_at(map, i);
    return value_at(map, i, value);
}

bool flex_number(const struct flex_map *map, const char *key, double *number)
{
    for (size_t i = 0; i < map->count; i++) {
        const char *found = key_at(map, i);
        struct flex_value value;

        if (!found || strcmp(found, key) != 0)
            continue;
        if (!value_at(map, i, &value))
            return false;
        *number = value.real;
        return true;
    }
    return false;
}
