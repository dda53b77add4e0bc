/* flexbuffer.h - reads a map of numbers from a FlexBuffer, as options of custom operators are written. Every offset and
 * count is checked against the bytes, and nothing recurses. */
#ifndef FRONTEND_TFLITE_FLEXBUFFER_H
#define FRONTEND_TFLITE_FLEXBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A map whose parts lie within the bytes. */
struct flex_map {
    const uint8_t *bytes;
    size_t n;            /* bytes */
    size_t keys, values; /* their first elements */
    int key_size, size;  /* bytes of a key's offset, and of a value */
    size_t count;
};

/* The root, which must be a map. */
bool flex_map_of(const uint8_t *bytes, size_t n, struct flex_map *map);

/* A number of a map: whole is 0 where it is a float. */
struct flex_value {
    bool is_real;
    int64_t whole;
    double real; /* of an integer, too */
};

/* Entry i of a map: *key is the text in the bytes, NULL if it is not within them. False where the value is no number
 * (integer, float or bool). */
bool flex_entry(const struct flex_map *map, size_t i, const char **key, struct flex_value *value);

/* The number of this key; false if it is absent or something else. */
bool flex_number(const struct flex_map *map, const char *key, double *number);

#endif
