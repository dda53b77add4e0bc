/* lowering.c - what a target's hook says about a composite or region: keys and arrays.
 *
 * The newest of two with the same name counts. */
#include "partition/target.h"

static void add_key(struct lowering *lowering, const char *name, const char *text, bool is_array)
{
    struct lowering_key *key = arena_new(lowering->arena, struct lowering_key);

    *key = (struct lowering_key){ .name = arena_strdup(lowering->arena, name),
                                  .text = text,
                                  .is_array = is_array,
                                  .next = lowering->keys };
    lowering->keys = key;
}

void lowering_text(struct lowering *lowering, const char *key, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_key(lowering, key, arena_vprintf(lowering->arena, format, args), false);
    va_end(args);
}

void lowering_int(struct lowering *lowering, const char *key, int64_t value)
{
    lowering_text(lowering, key, "%lld", (long long)value);
}

void lowering_array(struct lowering *lowering, const char *key, const struct type *type,
                    const void *data, const char *layout)
{
    struct lowering_array *array = arena_new(lowering->arena, struct lowering_array);

    *array = (struct lowering_array){ .name = arena_strdup(lowering->arena, key),
                                      .type = *type,
                                      .data = data,
                                      .layout = arena_strdup(lowering->arena, layout),
                                      .next = lowering->arrays };
    lowering->arrays = array;
    add_key(lowering, key, array->name, true);
}
