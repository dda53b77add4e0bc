#include "codegen_c/core/packed.h"

#include <inttypes.h>
#include <zlib.h>

#include "codegen_c/core/state.h"

static bool is_constant_of(const struct function *fn, const struct value *value)
{
    const struct value *c = fn->constants;

    while (c && c != value)
        c = c->next;
    return c != NULL;
}

uint32_t packed_checksum(const struct value *constant)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), constant->data, type_bytes(&constant->type));
}

/* A payload that a plan has made is gone after it, and another may come to lie there: hence the
 * checksum. */
static const char *key_of(struct arena *arena, const struct value *constant,
                          const struct type *type, const char *how)
{
    return arena_printf(arena, "%p %zu %08" PRIx32 " %zu %s", constant->data,
                        type_bytes(&constant->type), packed_checksum(constant), type_bytes(type),
                        how);
}

void *packed_memory(struct bind *bind, const struct value *constant, const struct type *type,
                    const char *how, bool *made)
{
    struct packed *packed = bind->codegen->packed;
    const char *key;
    void *memory;

    *made = false;
    if (!is_constant_of(bind->region->fn, constant))
        return constant_alloc(bind->region->fn, type);
    key = key_of(bind->arena, constant, type, how);
    memory = map_get(&packed->by_key, key);
    *made = memory != NULL;
    if (memory)
        return memory;
    bind->codegen->result->n_packed++;
    memory = bulk_alloc(&packed->memory, type_bytes(type));
    map_set(&packed->by_key, arena_strdup(&packed->arena, key), memory);
    return memory;
}

void packed_release(struct packed *packed)
{
    bulk_release(&packed->memory);
    arena_release(&packed->arena);
}
