#include "codegen_c/print/fold_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/core/state.h"
#include "codegen_c/select/configure.h"

enum { LINE = 84 }; /* columns of members */

const char *fold_field(struct arena *arena, const struct member *member)
{
    char *name = arena_strdup(arena, member->name);

    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return name;
}

bool fold_is_field(const struct fold *fold, int m)
{
    const struct shape_text *text = fold->texts[0];
    const struct member *member = &text->members[m];

    for (int k = member->value; k < member->end; k++)
        if (!isdigit((unsigned char)*text->pieces[k].token.text) &&
            text->pieces[k].token.kind == TOKEN_WORD)
            return false;
    return fold->varies[m] && fold->used[m];
}

static bool same_token(const struct piece *a, const struct piece *b)
{
    return a->token.n == b->token.n &&
           memcmp(a->token.text, b->token.text, (size_t)a->token.n) == 0;
}

/* The first loose number that is as number i in all texts. */
static int first_alike(const struct fold *fold, int i)
{
    for (int k = 0; k < i; k++) {
        bool alike = fold->loose[k];

        for (int t = 0; t < fold->n && alike; t++)
            alike = same_token(&fold->texts[t]->pieces[k], &fold->texts[t]->pieces[i]);
        if (alike)
            return k;
    }
    return i;
}

/* The field of piece i; with i behind the last, how many there are. */
static int loose_index(const struct fold *fold, int i)
{
    const int first = i < fold->texts[0]->n ? first_alike(fold, i) : i;
    int n = 0;

    for (int k = 0; k < first; k++)
        n += fold->loose[k] && first_alike(fold, k) == k;
    return n;
}

int fold_n_loose(const struct fold *fold)
{
    return fold->loose ? loose_index(fold, fold->texts[0]->n) : 0;
}

const char *fold_loose_value(struct arena *arena, const struct fold *fold,
                             const struct shape_text *text, int i)
{
    int k = 0;

    while (!fold->loose[k] || first_alike(fold, k) != k || loose_index(fold, k) != i)
        k++;
    return arena_strndup(arena, text->pieces[k].token.text, (size_t)text->pieces[k].token.n);
}

const char *fold_loose_field(struct arena *arena, int i)
{
    return arena_printf(arena, "number%d", i + 1); /* "n1" is what an N1 of the text becomes */
}

/* In the place of a loose number. */
static void add_loose(struct arena *arena, const struct fold *fold, int i, struct str *out)
{
    const struct piece *piece = &fold->texts[0]->pieces[i];
    const bool sized = token_is(&piece[1].token, "*") && token_is(&piece[2].token, "sizeof");

    str_printf(out, "%sshape->%s", sized ? "(size_t)" : "",
               fold_loose_field(arena, loose_index(fold, i)));
}

const char *fold_value(struct arena *arena, const struct shape_text *text, int m)
{
    struct str out = { .arena = arena };

    for (int k = text->members[m].value; k < text->members[m].end; k++) {
        str_add(&out, k > text->members[m].value && text->pieces[k].token.space ? " " : "");
        str_addn(&out, text->pieces[k].token.text, (size_t)text->pieces[k].token.n);
    }
    return str_text(&out);
}

const char *fold_prose(struct arena *arena, const struct shape_text *text)
{
    static const char blank[] = "\n *\n";
    const struct piece *first = &text->pieces[0];
    const char *gap = arena_strndup(arena, first->gap, (size_t)first->n_gap);
    const char *prose = strstr(gap, blank);

    return prose ? prose + strlen(blank) : " */\n";
}

static int count_regions(const struct fold *fold)
{
    int n = 0;

    for (int i = 0; i < fold->n; i++) {
        const struct codegen *codegen = fold->texts[i]->codegen;

        for (int r = 0; r < codegen->n_regions; r++)
            n += &codegen->regions[r] == fold->texts[i]->region ||
                 codegen->emitted[r].same_as == fold->texts[i]->region;
    }
    return n;
}

bool fold_is_of_several(const struct fold *fold)
{
    return fold->texts[fold->n - 1]->codegen != fold->texts[0]->codegen;
}

static void add_comment(struct codegen *codegen, const struct fold *fold, bool shaped,
                        struct str *out)
{
    const struct region *region = fold->texts[0]->region, *overlaps = NULL;
    int leading = 0;

    for (int i = 0; i < fold->n; i++)
        if (fold->texts[i]->region->place.overlaps) {
            overlaps = fold->texts[i]->region;
            leading++;
        }
    if (codegen->module->variants)
        str_printf(out, "/* %s, for several regions or sizes%s.\n", region->config.kernel->name,
                   shaped ? ": the shape is an argument" : "");
    else
        str_printf(out, "/* %s of %d regions (%s)%s.\n", region->config.kernel->name,
                   count_regions(fold),
                   fold_is_of_several(fold) ? "of several networks" : "see the list at the top",
                   shaped ? ", whose shape is an argument" : "");
    if (leading)
        str_printf(out, " * %s %s %s: each part of that is read before it is overwritten.\n",
                   region->results[0], leading == fold->n ? "overlaps" : "may overlap",
                   region->params[overlaps->config.overlap.param]);
    if (strcmp(fold_prose(&codegen->arena, fold->texts[0]), " */\n") != 0)
        str_add(out, " *\n");
    str_add(out, fold_prose(&codegen->arena, fold->texts[0]));
}

/* That of a function for one shape, which calls its arrays array1, array2 ... */
static void add_own_comment(const struct fold *fold, struct str *out)
{
    static const char stem[] = "array";
    const struct shape_text *text = fold->texts[0];
    const char *at = text->pieces[0].gap, *end = at + text->pieces[0].n_gap;

    while (at < end) {
        char *behind = NULL;
        const long n = str_starts(at, stem) && isdigit((unsigned char)at[strlen(stem)])
                           ? strtol(at + strlen(stem), &behind, 10)
                           : 0;
        int i = 0;

        while (n > 0 && i < text->n_arrays && text->argument[i] != n - 1)
            i++;
        if (n > 0 && i < text->n_arrays) {
            str_add(out, fold->array[i]);
            at = behind;
        } else {
            str_addn(out, at++, 1);
        }
    }
}

/* A comment that is not of all regions is left out. */
static void add_gap(const struct fold *fold, int i, struct str *out)
{
    const struct piece *piece = &fold->texts[0]->pieces[i];
    bool differs = false;

    for (int k = 1; k < fold->n; k++)
        differs = differs || fold->texts[k]->pieces[i].n_gap != piece->n_gap ||
                  memcmp(fold->texts[k]->pieces[i].gap, piece->gap, (size_t)piece->n_gap) != 0;
    if (!differs)
        str_addn(out, piece->gap, (size_t)piece->n_gap);
    else if (piece->token.newlines)
        str_printf(out, "%.*s%*s", piece->token.newlines, "\n\n", piece->token.column, "");
    else if (!i || !token_is(&piece[-1].token, "*"))
        str_add(out, " ");
}

static void add_array_parameters(struct arena *arena, const struct fold *fold, bool shaped,
                                 struct str *out)
{
    const struct shape_text *text = fold->texts[0];

    for (int i = 0; i < text->n_arrays; i++) {
        const struct parameter parameter = {
            .type = arena_printf(arena, "const %s *", dtype_c_type(text->arrays[i]->stored.dtype)),
            .alone = true,
            .name = fold->array[i]
        };

        str_printf(out, "%s%s", text->opened + 1 < text->params || shaped || i ? ", " : "",
                   parameter_text(arena, &parameter));
    }
}

/* The members of an enum that vary, behind it. */
static void add_variables(struct arena *arena, const struct fold *fold, int close, struct str *out)
{
    const struct shape_text *text = fold->texts[0];

    for (int m = 0; m < text->n_members; m++) {
        if (text->members[m].close != close || !fold->varies[m] || !fold->used[m])
            continue;
        str_printf(out, "\n    const int %s = ", text->members[m].name);
        if (fold_is_field(fold, m))
            str_printf(out, "shape->%s;", fold_field(arena, &text->members[m]));
        else
            str_printf(out, "%s;", fold_value(arena, text, m));
    }
}

/* The enum, which ends at `close`, with the members that do not vary. */
static void add_enum(struct arena *arena, const struct fold *fold, int close, struct str *out)
{
    const struct shape_text *text = fold->texts[0];
    struct str line = { .arena = arena };
    int n = 0;

    for (int m = 0; m < text->n_members; m++) {
        const char *item =
            arena_printf(arena, "%s = %s", text->members[m].name, fold_value(arena, text, m));

        if (text->members[m].close != close || fold->varies[m])
            continue;
        if (line.n + strlen(item) > LINE) {
            str_printf(out, ",\n        %s", item);
            line.n = strlen(item);
            continue;
        }
        str_printf(out, "%s%s", n++ ? ", " : "enum {\n        ", item);
        str_printf(&line, ", %s", item);
    }
    str_add(out, n ? "\n    };" : "");
    add_variables(arena, fold, close, out);
}

static int close_of(const struct shape_text *text, int i)
{
    while (!token_is(&text->pieces[i].token, "}"))
        i++;
    return i;
}

/* Whether members of the enum at i vary. */
static bool some_vary(const struct fold *fold, int i)
{
    const struct shape_text *text = fold->texts[0];
    bool any = false;

    if (!token_is(&text->pieces[i].token, "enum"))
        return false;
    for (int m = 0; m < text->n_members; m++)
        any = any || (fold->varies[m] && text->members[m].close == close_of(text, i));
    return any;
}

const char *fold_function(struct codegen *codegen, const struct fold *fold, const char *type,
                          const char *name)
{
    struct arena *arena = &codegen->arena;
    const struct shape_text *text = fold->texts[0];
    struct str out = { .arena = arena };

    if (fold->n > 1)
        add_comment(codegen, fold, type != NULL, &out);
    else
        add_own_comment(fold, &out);
    for (int i = 0; i < text->n; i++) {
        const struct piece *piece = &text->pieces[i];

        if (i > 0)
            add_gap(fold, i, &out);
        if (some_vary(fold, i)) {
            add_enum(arena, fold, close_of(text, i), &out);
            i = close_of(text, i) + 1;
            continue;
        }
        if (i == text->params)
            add_array_parameters(arena, fold, type != NULL, &out);
        if (piece->function)
            str_add(&out, name);
        else if (piece->array != NOTHING)
            str_add(&out, fold->array[piece->array]);
        else if (fold->loose && fold->loose[i])
            add_loose(arena, fold, i, &out);
        else
            str_addn(&out, piece->token.text, (size_t)piece->token.n);
        if (i == text->opened && type)
            str_printf(&out, "const struct %s *shape%s", type, i + 1 < text->params ? ", " : "");
    }
    str_add(&out, text->rest);
    return str_text(&out);
}
