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

static bool is_taken(const struct fold *fold, int n, const char *name)
{
    const struct shape_text *text = fold->texts[0];

    for (int i = 0; i < text->n; i++)
        if (token_is(&text->pieces[i].token, name))
            return true;
    for (int i = 0; i < n; i++)
        if (strcmp(fold->array[i], name) == 0)
            return true;
    for (int i = 0; i < fold->n; i++)
        if (map_get(&fold->texts[i]->codegen->names.taken, name))
            return true;
    return strlen(name) < 2 || map_get(&text->codegen->defined, name);
}

static const char *array_role(const struct fold *fold, int i)
{
    const char *role = NULL;

    for (int k = 0; k < fold->n; k++)
        for (int r = 0; r < fold->texts[k]->codegen->n_regions; r++) {
            const struct codegen *codegen = fold->texts[k]->codegen;
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

/* ONNX exporters that call weights "w" or "W" and biases "b" or "B". */
static const char *whole_word(const char *role)
{
    if (strcmp(role, "w") == 0 || strcmp(role, "W") == 0)
        return "weight";
    if (strcmp(role, "b") == 0 || strcmp(role, "B") == 0)
        return "bias";
    return role;
}

void fold_name_arrays(struct fold *fold)
{
    struct arena *arena = &fold->texts[0]->codegen->arena;
    const int n = fold->texts[0]->n_arrays;

    fold->array = arena_array(arena, const char *, n);
    for (int i = 0; i < n; i++) {
        const char *name = whole_word(array_role(fold, i));

        if (is_taken(fold, i, name))
            name = arena_printf(arena, "%s%s", name, str_ends(name, "s") ? "es" : "s");
        if (is_taken(fold, i, name))
            name = arena_printf(arena, "array%d", i + 1);
        fold->array[i] = name;
    }
}
