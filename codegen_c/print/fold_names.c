/* fold_names.c - what the arrays are called that a shared function is given. */
#include "codegen_c/print/fold_text.h"

#include <ctype.h>
#include <string.h>

#include "codegen_c/core/state.h"

const struct weight *fold_array(const struct emitted *emitted, const struct shape_text *text, int i)
{
    return text->argument[i] == NOTHING ? text->arrays[i] : emitted->arrays[text->argument[i]];
}

/* What the names of two arrays end in, from a "_" on. */
static const char *common_end(const char *a, const char *b)
{
    for (const char *end = a; end; end = strchr(end, '_') ? strchr(end, '_') + 1 : NULL)
        if (str_ends(b, end) && (strlen(b) == strlen(end) || b[strlen(b) - strlen(end) - 1] == '_'))
            return end;
    return "";
}

/* What stands behind the last type: "multiplier" of "i8_multiplier" and of "o_a_i8_multiplier". */
static const char *without_type(const char *name)
{
    static const char *const types[] = { "i8_", "u8_", "i16_", "i32_", "f32_" };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (const char *at = strstr(name, types[i]); at; at = strstr(at + 1, types[i]))
            if (at == name || at[-1] == '_')
                name = at + strlen(types[i]);
    return isalpha((unsigned char)*name) ? name : "";
}

static bool is_taken(struct codegen *codegen, const struct fold *fold, int n, const char *name)
{
    const struct shape_text *text = fold->texts[0];

    for (int i = 0; i < text->n; i++)
        if (token_is(&text->pieces[i].token, name))
            return true;
    for (int i = 0; i < n; i++)
        if (strcmp(fold->array[i], name) == 0)
            return true;
    return strlen(name) < 2 || map_get(&codegen->names.taken, name) ||
           map_get(&codegen->defined, name);
}

static const char *array_role(struct codegen *codegen, const struct fold *fold, int i)
{
    const char *role = NULL;

    for (int k = 0; k < fold->n; k++)
        for (int r = 0; r < codegen->n_regions; r++) {
            const struct emitted *emitted = &codegen->emitted[r];
            const struct region *of = fold->texts[k]->region;

            if (&codegen->regions[r] != of && emitted->same_as != of)
                continue;
            if (role)
                role = common_end(role, fold_array(emitted, fold->texts[k], i)->c_name);
            else
                role = fold_array(emitted, fold->texts[k], i)->c_name;
        }
    return without_type(role);
}

void fold_name_arrays(struct codegen *codegen, struct fold *fold)
{
    struct arena *arena = &codegen->arena;
    const int n = fold->texts[0]->n_arrays;

    fold->array = arena_array(arena, const char *, n);
    for (int i = 0; i < n; i++) {
        const char *name = array_role(codegen, fold, i);

        if (is_taken(codegen, fold, i, name))
            name = arena_printf(arena, "%ss", name);
        if (is_taken(codegen, fold, i, name))
            name = arena_printf(arena, "array%d", i + 1);
        fold->array[i] = name;
    }
}
