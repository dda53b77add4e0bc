/* keys.c - the keys of a template and their texts. */
#include "codegen_c/text/template.h"

void keys_init(struct keys *keys, struct arena *arena)
{
    *keys = (struct keys){ .arena = arena, .map = { .arena = arena } };
}

static void set(struct keys *keys, const char *name, const char *text, bool is_text, bool used)
{
    struct key *key = map_get(&keys->map, name);

    if (!key) {
        key = arena_new(keys->arena, struct key);
        key->used = used;
        map_set(&keys->map, arena_strdup(keys->arena, name), key);
    }
    key->text = arena_strdup(keys->arena, text);
    key->is_text = is_text;
}

void keys_set(struct keys *keys, const char *key, const char *text)
{
    set(keys, key, text, true, false);
}

void keys_set_int(struct keys *keys, const char *key, long long value)
{
    set(keys, key, arena_printf(keys->arena, "%lld", value), false, false);
}

void keys_set_flag(struct keys *keys, const char *key, bool on)
{
    set(keys, key, on ? "1" : "0", false, false);
}

void keys_offer(struct keys *keys, const char *key, const char *text)
{
    set(keys, key, text, true, true);
}

void keys_offer_flag(struct keys *keys, const char *key, bool on)
{
    set(keys, key, on ? "1" : "0", false, true);
}
