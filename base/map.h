/* map.h - a map from string to pointer, in an arena. Iteration order is insertion order. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct map_entry {
    const char *key; /* borrowed: must live as long as the map */
    void *value;
};

/* Start with { .arena = a }. Entries are never removed; set an entry's value to NULL instead. */
struct map {
    struct arena *arena;
    struct map_entry *entries; /* n of them, in the order of insertion */
    size_t n, capacity;
    size_t *slots; /* open addressing: index into entries + 1, 0 = empty */
    size_t n_slots;
};

/* The value stored under key, NULL if there is none. */
void *map_get(const struct map *map, const char *key);

/* Stores, or replaces, the value under key. */
void map_set(struct map *map, const char *key, void *value);

#endif
