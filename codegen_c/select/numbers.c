/* numbers.c - see numbers.h.
 *
 * method   one array for each kind of number and region: integers, scales (f32), and factors of 64
 *          bits. Equal numbers of different tokens stay two elements, as they may differ in the
 *          next training */
#include "codegen_c/select/numbers.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/embedded.h"
#include "codegen_c/core/number.h"
#include "codegen_c/core/state.h"

struct settling {
    struct bind *bind;
    struct map by_token; /* role and owner -> struct slot */
    struct names names;  /* of variables */
    struct map replaced; /* key -> its new text */
    struct str roles[NUMBER_KINDS];
    struct slot *first, *last;
    int n, of_kind[NUMBER_KINDS];
};

struct slot {
    struct number number;
    const char *name;
    int index; /* in the array of its kind */
    struct slot *next;
};

static const struct {
    const char *array, *type;
    enum dtype dtype;
} kinds[NUMBER_KINDS] = {
    [NUMBER_I32] = { "numbers", "int32_t", DTYPE_I32 },
    [NUMBER_F32] = { "scales", "float", DTYPE_F32 },
    [NUMBER_U64] = { "factors", "uint64_t", DTYPE_U64 },
};

static struct slot *slot_of(struct settling *s, const struct number *number)
{
    struct arena *arena = s->bind->arena;
    const char *role = arena_strndup(arena, number->role, (size_t)number->n_role);
    const char *key = arena_printf(arena, "%d %s %016" PRIx64, (int)number->kind, role, number->of);
    struct slot *slot = map_get(&s->by_token, key);

    if (slot) {
        assert(slot->number.bits == number->bits); /* else the role needs another name */
        return slot;
    }
    slot = arena_new(arena, struct slot);
    *slot = (struct slot){ .number = *number,
                           .name = names_unique(&s->names, role),
                           .index = s->of_kind[number->kind]++ };
    str_printf(&s->roles[number->kind], "%s%s", slot->index ? ", " : "", slot->name);
    if (s->last)
        s->last->next = slot;
    else
        s->first = slot;
    s->last = slot;
    s->n++;
    map_set(&s->by_token, key, slot);
    return slot;
}

static const char *with_names(struct settling *s, const char *text)
{
    struct str out = { .arena = s->bind->arena };
    struct number number;
    const char *at;
    int length;

    while ((at = number_find(text, &number, &length)) != NULL) {
        str_addn(&out, text, (size_t)(at - text));
        str_add(&out, slot_of(s, &number)->name);
        text = at + length;
    }
    str_add(&out, text);
    return str_text(&out);
}

/* The array of a kind, its elements in order. */
static const char *make_array(struct settling *s, enum number_kind kind)
{
    const int64_t n = s->of_kind[kind];
    const struct type type = type_make(kinds[kind].dtype, 1, &n);
    const struct region *region = s->bind->region;
    const char *of = region->own_name;
    char *data = constant_alloc(region->fn, &type);

    for (const struct slot *slot = s->first; slot; slot = slot->next) {
        const uint32_t word = (uint32_t)slot->number.bits;

        if (slot->number.kind != kind)
            continue;
        if (kind == NUMBER_U64)
            memcpy(data + 8 * slot->index, &slot->number.bits, 8);
        else
            memcpy(data + 4 * slot->index, &word, 4);
    }
    if (str_starts(of, "region_"))
        of += strlen("region_");
    return bind_own_array(s->bind, arena_printf(s->bind->arena, "%s.%s", of, kinds[kind].array),
                          &type, data, str_text(&s->roles[kind]));
}

static bool is_part_of_word(char c)
{
    return c == '_' || isalnum((unsigned char)c);
}

/* All identifiers of a template or of a key's text, but for comments, directives and keys: a variable
 * must not hide one of them, nor be hidden in an inner block. */
static void reserve_words(struct names *names, const char *text)
{
    while (*text) {
        size_t n = 1;

        if (strncmp(text, "/*", 2) == 0 && strstr(text, "*/"))
            n = (size_t)(strstr(text, "*/") + 2 - text);
        else if (strncmp(text, "//", 2) == 0)
            n = strcspn(text, "\n");
        else if (strncmp(text, "${", 2) == 0)
            n = strcspn(text, "}");
        else if (is_part_of_word(*text)) {
            while (is_part_of_word(text[n]))
                n++;
            names_reserve(names, arena_strndup(names->arena, text, n));
        }
        text += n;
    }
}

static bool has_number(const struct key *key)
{
    struct number number;
    int length;

    return number_find(key->text, &number, &length) != NULL;
}

/* Marks the keys that the template writes; the others are in branches that it does not take. */
static bool ask_template(struct bind *bind, const struct embedded_file *template)
{
    const struct map *keys = &bind->keys->map;
    bool any = false;

    for (size_t k = 0; k < keys->n; k++)
        any = any || has_number(keys->entries[k].value);
    if (!any)
        return true;
    keys_offer(bind->keys, "shapes", "");
    keys_offer(bind->keys, "params", "");
    return template_ask(bind->ctx, template->path, template->text, bind->keys);
}

struct number_variables numbers_settle(struct bind *bind, const struct embedded_file *template)
{
    struct settling s = { .bind = bind, .by_token = { .arena = bind->arena } };
    const struct map *keys = &bind->keys->map;
    const char *arrays[NUMBER_KINDS] = { NULL };
    struct number_variable *list;
    int i = 0;

    if (!ask_template(bind, template))
        return (struct number_variables){ NULL, 0 };
    names_init(&s.names, bind->arena);
    for (int k = 0; k < NUMBER_KINDS; k++)
        s.roles[k].arena = bind->arena;
    reserve_words(&s.names, template->text);
    for (size_t k = 0; k < keys->n; k++)
        reserve_words(&s.names, ((const struct key *)keys->entries[k].value)->text);
    for (size_t k = 0; k < keys->n; k++) {
        struct key *key = keys->entries[k].value;

        if (has_number(key))
            key->text = key->written ? with_names(&s, key->text)
                                     : numbers_as_literals(bind->arena, key->text);
    }
    for (enum number_kind k = 0; k < NUMBER_KINDS; k++)
        if (s.of_kind[k])
            arrays[k] = make_array(&s, k);
    list = arena_array(bind->arena, struct number_variable, s.n);
    for (const struct slot *slot = s.first; slot; slot = slot->next)
        list[i++] = (struct number_variable){ slot->name, kinds[slot->number.kind].type,
                                              arrays[slot->number.kind], slot->index };
    return (struct number_variables){ list, i };
}

static bool has_word(const char *text, const char *word)
{
    const size_t n = strlen(word);

    for (const char *at = strstr(text, word); at; at = strstr(at + n, word))
        if ((at == text || !is_part_of_word(at[-1])) && !is_part_of_word(at[n]))
            return true;
    return false;
}

/* Behind the brace that opens the body of the function; NULL = it is not there. */
static const char *body_of(const char *text, const char *function)
{
    static const char open[] = "\n{\n";
    const size_t n = strlen(function);
    const char *at = strstr(text, function);

    while (at && (at == text || is_part_of_word(at[-1]) || at[n] != '('))
        at = strstr(at + n, function);
    at = at ? strstr(at, open) : NULL;
    return at ? at + strlen(open) : NULL;
}

const char *numbers_declare(struct arena *arena, const char *text, const char *function,
                            const struct number_variables *variables)
{
    const char *body = variables->n ? body_of(text, function) : NULL;
    struct str out = { .arena = arena };

    if (!body)
        return text;
    str_addn(&out, text, (size_t)(body - text));
    for (int i = 0; i < variables->n; i++) {
        const struct number_variable *v = &variables->list[i];

        if (has_word(body, v->name))
            str_printf(&out, "    const %s %s = %s[%d];\n", v->type, v->name, v->array, v->index);
    }
    str_add(&out, body);
    return str_text(&out);
}
