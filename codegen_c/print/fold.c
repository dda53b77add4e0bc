/* fold.c - one function for regions of one kernel that differ in shape, too (--optimize balanced,
 * size).
 *
 * needs    the printed functions of all regions
 * gives    fewer of them; emitted[i].shape, arrays and same_as, and the names of the functions
 * method   templates have the numbers of a shape in one enum at the top. Of functions whose C
 *          differs in these only, those that differ become variables, read from a struct that the
 *          function is given; what follows from them is computed there. Constant arrays become
 *          arguments. What a C compiler must know stays a number: regions that differ there have
 *          functions of their own. */
#include "codegen_c/print/fold.h"

#include <stdlib.h>
#include <string.h>

#include "codegen_c/core/state.h"
#include "codegen_c/expr/slots.h"
#include "codegen_c/print/fold_text.h"
#include "codegen_c/select/configure.h"

/* Nothing of the user's is called, whose header only NAME.c includes. */
static bool stands_alone(const struct shape_text *text)
{
    for (const struct node *node = text->region->fn->first; node; node = node->next)
        if (node->op == OP_CUSTOM)
            return false;
    return true;
}

static bool join(struct fold *fold, struct shape_text *text)
{
    struct shape_text *first = fold->texts[0];
    struct codegen *codegen = first->codegen;
    bool *varies = arena_array(&codegen->arena, bool, first->n_members);
    bool *loose = codegen->module->variants ? arena_array(&codegen->arena, bool, first->n) : NULL;

    if (first->region->config.kernel != text->region->config.kernel)
        return false;
    if (first->n_members)
        memcpy(varies, fold->varies, (size_t)first->n_members * sizeof *varies);
    if (loose && fold->loose)
        memcpy(loose, fold->loose, (size_t)first->n * sizeof *loose);
    if (!shape_text_compare(first, text, varies, loose) || !shape_text_can_vary(first, varies) ||
        strcmp(fold_prose(&codegen->arena, first), fold_prose(&codegen->arena, text)) != 0 ||
        (text->codegen != codegen && !(stands_alone(first) && stands_alone(text))))
        return false;
    fold->varies = varies;
    fold->loose = loose;
    fold->texts[fold->n++] = text;
    return true;
}

static bool can_fold(const struct emitted *emitted)
{
    return emitted->text && emitted->function && !emitted->function->run &&
           !emitted->function->before;
}

static struct fold *new_fold(struct shape_text *text, int most)
{
    struct arena *arena = &text->codegen->arena;
    struct fold *fold = arena_new(arena, struct fold);

    fold->texts = arena_array(arena, struct shape_text *, most);
    fold->texts[fold->n++] = text;
    fold->varies = arena_array(arena, bool, text->n_members);
    fold->used = arena_array(arena, bool, text->n_members);
    shape_text_find_used(text, fold->used);
    return fold;
}

static struct fold *find_folds(struct codegen *const all[], int n)
{
    struct fold *first = NULL, **end = &first, *fold;
    int most = 0;

    for (int c = 0; c < n; c++)
        most += all[c]->n_regions;
    for (int c = 0; c < n; c++)
        for (int i = 0; i < all[c]->n_regions; i++) {
            struct shape_text *text = can_fold(&all[c]->emitted[i])
                                          ? shape_text_of(all[c], &all[c]->regions[i])
                                          : NULL;

            if (!text)
                continue;
            for (fold = first; fold && !join(fold, text);)
                fold = fold->next;
            if (fold)
                continue;
            *end = new_fold(text, most);
            end = &(*end)->next;
        }
    return first;
}

/* --- the table of shapes ---------------------------------------------------------------------- */

static const char *row_of(struct arena *arena, const struct fold *fold,
                          const struct shape_text *text)
{
    struct str out = { .arena = arena };

    for (int m = 0; m < text->n_members; m++)
        if (fold_is_field(fold, m))
            str_printf(&out, "%s%s", out.n ? ", " : "", fold_value(arena, text, m));
    return str_text(&out);
}

/* A plain number; of another text false. */
static bool is_number(const char *text, long long *number)
{
    char *end;

    *number = strtoll(text, &end, 10);
    return end > text && !*end;
}

/* ".in_w = 200, .out_w = 100", with slots: NAME_run has these numbers from its sizes. */
static const char *initialiser_of(struct codegen *codegen, const struct fold *fold,
                                  const struct shape_text *text)
{
    struct str out = { .arena = &codegen->arena };
    long long number;

    for (int m = 0; m < text->n_members; m++)
        if (fold_is_field(fold, m)) {
            const char *value = fold_value(&codegen->arena, text, m);

            str_printf(&out, "%s.%s = %s", out.n ? ", " : "",
                       fold_field(&codegen->arena, &fold->texts[0]->members[m]),
                       is_number(value, &number) ? slot_text(codegen, SLOT_WHOLE, number) : value);
        }
    for (int i = 0; i < fold_n_loose(fold); i++)
        str_printf(&out, "%s.%s = %s", out.n ? ", " : "", fold_loose_field(&codegen->arena, i),
                   slot_text(codegen, SLOT_WHOLE,
                             strtoll(fold_loose_value(&codegen->arena, fold, text, i), NULL, 10)));
    return str_text(&out);
}

static const char *title_of(const struct region *region)
{
    static const char stem[] = "region_";

    return region->own_name + (str_starts(region->own_name, stem) ? strlen(stem) : 0);
}

static bool has_fields(const struct fold *fold)
{
    bool any = false;

    for (int m = 0; m < fold->texts[0]->n_members; m++)
        any = any || fold_is_field(fold, m);
    return any || fold_n_loose(fold) > 0;
}

/* A name for the fold's own network, or that none of all n has: each includes what several share. */
static const char *unique_name(struct codegen *const all[], int n, const struct fold *fold,
                               const char *wanted)
{
    const bool several = fold_is_of_several(fold);
    const char *name = NULL;

    for (bool taken = true; taken;) {
        name = names_unique(&fold->texts[0]->codegen->names, wanted);
        taken = false;
        for (int i = 0; i < n && several; i++)
            taken = taken || (all[i] != fold->texts[0]->codegen && map_get(&all[i]->names.taken, name));
    }
    for (int i = 0; i < n && several; i++)
        names_reserve(&all[i]->names, name);
    return name;
}

static const char *fields_of(struct arena *arena, const struct fold *fold)
{
    const struct shape_text *first = fold->texts[0];
    struct str out = { .arena = arena };

    for (int m = 0; m < first->n_members; m++)
        if (fold_is_field(fold, m))
            str_printf(&out, "    int %s;\n", fold_field(arena, &first->members[m]));
    for (int i = 0; i < fold_n_loose(fold); i++)
        str_printf(&out, "    int %s;\n", fold_loose_field(arena, i));
    return str_text(&out);
}

/* The networks that have regions of the fold, of several; "a b". */
static const char *owners_of(struct arena *arena, const struct fold *fold)
{
    struct str out = { .arena = arena };
    const struct codegen *last = NULL;

    for (int i = 0; i < fold->n; i++) {
        if (fold->texts[i]->codegen != last)
            str_printf(&out, "%s ", fold->texts[i]->codegen->options->name);
        last = fold->texts[i]->codegen;
    }
    return str_text(&out);
}

/* The struct of the numbers in which the shapes differ; its name. Functions of one kernel and of the same networks whose
 * shapes differ in the same numbers have one, which `types` holds. */
static const char *add_struct(struct codegen *const all[], int n, const struct fold *fold,
                              struct map *types, struct str *out)
{
    struct arena *arena = out->arena;
    const struct shape_text *first = fold->texts[0];
    const char *kernel = first->region->config.kernel->name;
    const char *fields = fields_of(arena, fold);
    const char *key = arena_printf(arena, "%s%s\n%s", owners_of(arena, fold), kernel, fields);
    const char *type = map_get(types, key);

    if (type)
        return type;
    type = unique_name(all, n, fold, arena_printf(arena, "%s_shape", kernel));
    map_set(types, key, (void *)type);
    str_printf(out, "/* The numbers in which the regions of one function differ. */\nstruct %s {\n%s};\n\n", type,
               fields);
    return type;
}

/* A constant for each shape of one network; names[i] of texts[i]. */
static void add_rows(struct codegen *codegen, const struct fold *fold, const char *type,
                     struct str *out, const char **names)
{
    struct arena *arena = &codegen->arena;
    struct map rows = { .arena = arena };

    for (int i = 0; i < fold->n && codegen->module->variants; i++)
        names[i] = initialiser_of(codegen, fold, fold->texts[i]);
    for (int i = 0; i < fold->n && !codegen->module->variants; i++) {
        const char *row;

        if (fold->texts[i]->codegen != codegen)
            continue;
        row = row_of(arena, fold, fold->texts[i]);
        names[i] = map_get(&rows, row);
        if (names[i])
            continue;
        names[i] = names_unique(&codegen->names,
                                arena_printf(arena, "%s_shape", title_of(fold->texts[i]->region)));
        map_set(&rows, row, (void *)names[i]);
        str_printf(out, "static const struct %s %s = { %s };\n", type, names[i], row);
    }
    str_add(out, codegen->module->variants ? "" : "\n");
}

/* --- the regions ------------------------------------------------------------------------------ */

/* Region r calls the common function, as the one of `text`; `first` of its network has its text. */
static void hand_over(const struct region *first, const struct shape_text *text, int r,
                      const char *name, const char *shape, const char *type)
{
    struct codegen *codegen = text->codegen;
    struct emitted *emitted = &codegen->emitted[r];
    const struct weight **arrays =
        arena_array(&codegen->arena, const struct weight *, text->n_arrays);

    for (int i = 0; i < text->n_arrays; i++)
        arrays[i] = fold_array(emitted, text, i);
    emitted->arrays = arrays;
    emitted->n_arrays = text->n_arrays;
    emitted->takes_arrays = true;
    emitted->shape = shape;
    emitted->shape_type = codegen->module->variants ? type : NULL;
    if (&codegen->regions[r] != first) {
        emitted->text = NULL;
        emitted->same_as = first;
    }
    codegen->regions[r].c_name = name;
}

/* The regions of one network, whose first gets the text. */
static void hand_over_all(struct codegen *codegen, const struct fold *fold, const char *text,
                          const char *name, const char *const shapes[], const char *type)
{
    bool *done = arena_array(&codegen->arena, bool, codegen->n_regions);
    const struct region *first = NULL;

    for (int i = 0; i < fold->n && !first; i++)
        if (fold->texts[i]->codegen == codegen)
            first = fold->texts[i]->region;
    codegen->emitted[first->index].text = text;
    for (int i = fold->n; i-- > 0;) {
        const struct region *of = fold->texts[i]->region;

        if (fold->texts[i]->codegen != codegen)
            continue;
        for (int r = 0; r < codegen->n_regions; r++)
            if (&codegen->regions[r] == of || (codegen->emitted[r].same_as == of && !done[r])) {
                hand_over(first, fold->texts[i], r, name, shapes[i], type);
                done[r] = true;
            }
    }
}

static void print_fold(struct codegen *const all[], int n, struct fold *fold, struct map *types)
{
    struct codegen *owner = fold->texts[0]->codegen;
    struct arena *arena = &owner->arena;
    struct region *first = fold->texts[0]->region;
    const char **shapes = arena_array(arena, const char *, fold->n);
    const bool several = fold_is_of_several(fold);
    struct str table = { .arena = arena };
    const char *type = has_fields(fold) ? add_struct(all, n, fold, types, &table) : NULL;
    const char *name = first->c_name, *text;

    if (fold->n > 1)
        name = unique_name(all, n, fold,
                           arena_printf(arena, "shared_%s", first->config.kernel->name));
    fold_name_arrays(fold);
    text = fold_function(owner, fold, type, name);
    for (int c = 0; c < n; c++) {
        struct str own = { .arena = &all[c]->arena };
        bool any = false;

        for (int i = 0; i < fold->n; i++)
            any = any || fold->texts[i]->codegen == all[c];
        if (!any)
            continue;
        if (several) {
            if (table.n)
                map_set(&all[c]->functions, str_text(&table), all[c]);
            map_set(&all[c]->functions, arena_printf(arena, "%s\n", text), all[c]);
        } else {
            str_add(&own, str_text(&table));
        }
        if (type)
            add_rows(all[c], fold, type, &own, shapes);
        if (!several)
            str_add(&own, text);
        hand_over_all(all[c], fold, own.n ? str_text(&own) : NULL, name, shapes, type);
    }
}

void fold_rename_results(struct codegen *codegen)
{
    struct codegen_result *result = codegen->result;
    struct arena *arena = &codegen->ctx->perm;
    struct codegen_region *regions =
        arena_memdup(arena, result->regions, (size_t)result->n_regions * sizeof *result->regions);
    const char *peak = result->peak.region;

    for (int r = 0; r < result->n_regions; r++) {
        if (peak && strcmp(peak, regions[r].c_name) == 0)
            result->peak.region = arena_strdup(arena, codegen->regions[r].c_name);
        regions[r].c_name = arena_strdup(arena, codegen->regions[r].c_name);
    }
    result->regions = regions;
}

void fold_shapes(struct codegen *const all[], int n)
{
    struct map types = { .arena = &all[0]->arena };

    for (struct fold *fold = find_folds(all, n); fold; fold = fold->next) {
        const struct shape_text *text = fold->texts[0];

        if (fold->n > 1 || text->codegen->emitted[text->region->index].n_arrays)
            print_fold(all, n, fold, &types);
    }
    for (int i = 0; i < n; i++)
        fold_rename_results(all[i]);
}
