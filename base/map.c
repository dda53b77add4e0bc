#include "base/map.h"

#include <stdint.h>
#include <string.h>

static uint64_t hash_text(const char *text) /* FNV-1a */
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static size_t *find_slot(const struct map *map, const char *key)
{
    size_t i = (size_t)hash_text(key) & (map->n_slots - 1);

    while (map->slots[i] && strcmp(map->entries[map->slots[i] - 1].key, key) != 0)
        i = (i + 1) & (map->n_slots - 1);
    return &map->slots[i];
}

static void grow(struct map *map)
{
    struct map_entry *entries;

    map->capacity = map->capacity ? map->capacity * 2 : 16;
    entries = arena_array(map->arena, struct map_entry, map->capacity);
    if (map->n)
        memcpy(entries, map->entries, map->n * sizeof *entries);
    map->entries = entries;
    map->n_slots = map->capacity * 2;
    map->slots = arena_array(map->arena, size_t, map->n_slots);
    for (size_t i = 0; i < map->n; i++)
        *find_slot(map, entries[i].key) = i + 1;
}

void *map_get(const struct map *map, const char *key)
{
    const size_t *slot = map->n_slots ? find_slot(map, key) : NULL;

    return slot && *slot ? map->entries[*slot - 1].value : NULL;
}

void map_set(struct map *map, const char *key, void *value)
{
    size_t *slot;

    if (map->n == map->capacity)
        grow(map);
    slot = find_slot(map, key);
    if (!*slot) {
        map->entries[map->n].key = key;
        *slot = ++map->n;
    }
    map->entries[*slot - 1].value = value;
}
