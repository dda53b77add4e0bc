/* emit_variants.c - functions that run the network for the sizes that NAME_run is given (--vary).
 *
 * needs    the plan of all variants, and their regions' functions, which take shapes as arguments (print/fold.c)
 * gives    C in which numbers that differ are formulas of the sizes
 * method   each variant's pointers and calls are written with marked numbers (slots.h); variants whose text is the
 *          same without them are one function. A formula is taken if it gives the number of each variant. */
#include "codegen_c/emit/emit_variants.h"

#include <ctype.h>
#include <string.h>

#include "codegen_c/core/comments.h"
#include "codegen_c/emit/emit_calls.h"
#include "codegen_c/emit/emit_entry.h"
#include "codegen_c/expr/slots.h"
#include "relay_ir/variants.h"

/* Variants with one text. */
struct variant_group {
    const char *text; /* of the first, with slots */
    int n, *of;       /* variants, the largest first */
    struct slots *slots;
    const char *body, *name;
    bool fails; /* it tells whether numbers of run time were as expected */
    int n_arguments;
    const char **parameters, **arguments; /* [n_arguments] what the body reads */
    struct variant_group *next;
};

static struct variant_group *find_groups(struct codegen *codegen)
{
    struct arena *arena = &codegen->arena;
    const int n = codegen->module->variants->n;
    struct variant_group *first = NULL, **end = &first;
    struct map by_skeleton = { .arena = arena };

    for (int v = 0; v < n; v++) {
        struct str text = { .arena = arena };
        struct variant_group *group;
        struct slots slots;

        add_pointers(codegen, &text, v, false);
        add_calls(codegen, &text, v);
        slots = slots_of(arena, str_text(&text));
        group = map_get(&by_skeleton, slots.skeleton);
        if (!group) {
            group = *end = arena_new(arena, struct variant_group);
            end = &group->next;
            group->text = str_text(&text);
            group->of = arena_array(arena, int, n);
            group->slots = arena_array(arena, struct slots, n);
            map_set(&by_skeleton, slots.skeleton, group);
        }
        group->of[group->n] = v;
        group->slots[group->n++] = slots;
    }
    return first;
}

static const char *without_comments(struct arena *arena, const char *text)
{
    struct str out = { .arena = arena };

    for (const char *open = strstr(text, "/*"); open; open = strstr(text, "/*")) {
        str_addn(&out, text, (size_t)(open - text));
        text = strstr(open, "*/") + 2;
    }
    str_add(&out, text);
    return str_text(&out);
}

static bool is_part_of_word(char c)
{
    return c == '_' || isalnum((unsigned char)c);
}

/* As a variable, not as a member. */
static bool reads(const char *body, const char *name)
{
    const size_t n = strlen(name);

    for (const char *at = strstr(body, name); at; at = strstr(at + n, name))
        if ((at == body || (!is_part_of_word(at[-1]) && at[-1] != '.')) && !is_part_of_word(at[n]))
            return true;
    return false;
}

static void add_argument(struct variant_group *group, const char *parameter, const char *argument)
{
    group->parameters[group->n_arguments] = parameter;
    group->arguments[group->n_arguments++] = argument;
}

/* Inputs, sizes, outputs, the arena, the row: those that the body reads. */
static void find_arguments(struct codegen *codegen, struct variant_group *group)
{
    const struct variants *variants = codegen->module->variants;
    struct arena *arena = &codegen->arena;
    const int n_arrays = entry_arrays(codegen), n_inputs = interface_params(codegen->module);
    const char *base = pool_base(codegen, 0), *body = without_comments(arena, group->body);

    group->parameters = arena_array(arena, const char *, n_arrays + variants->n_symbols + 2);
    group->arguments = arena_array(arena, const char *, n_arrays + variants->n_symbols + 2);
    for (int i = 0; i <= n_arrays; i++) {
        const char *name;
        const struct value *value;

        for (int s = 0; i == n_inputs && s < variants->n_symbols; s++)
            if (reads(body, variants->symbols[s].c_name))
                add_argument(group, arena_printf(arena, "int32_t %s", variants->symbols[s].c_name),
                             variants->symbols[s].c_name);
        if (i == n_arrays)
            break;
        value = entry_array(codegen, i, &name);
        if (reads(body, name))
            add_argument(group,
                         arena_printf(arena, "%s%s *%s", i < n_inputs ? "const " : "",
                                      dtype_c_type(value->type.dtype), name),
                         name);
    }
    if (reads(body, base))
        add_argument(group, arena_printf(arena, "unsigned char *%s", base), pool_arena(codegen, 0));
    if (reads(body, "row"))
        add_argument(group, "int row", "row");
}

/* "time 1 .. 7, 9": rows that follow on each other are a range. */
static const char *sizes_of(struct codegen *codegen, const struct variant_group *group)
{
    const struct variants *variants = codegen->module->variants;
    struct str out = { .arena = &codegen->arena };
    int shown = 0;

    for (int i = group->n; i-- > 0;) {
        int k = i;

        while (k > 0 &&
               variant_row(codegen, group->of[k - 1]) == variant_row(codegen, group->of[k]) + 1)
            k--;
        if (++shown > 6) {
            str_add(&out, " and others");
            break;
        }
        str_printf(&out, "%s%s", out.n ? ", " : "", variants->at[group->of[i]].label);
        if (k < i)
            str_printf(&out, "%s%s", k + 1 < i ? " .. " : ", ", variants->at[group->of[k]].label);
        i = k;
    }
    return str_text(&out);
}

static bool variant_fails(const struct codegen *codegen, int variant)
{
    for (int r = 0; r < codegen->n_regions; r++)
        if (codegen->regions[r].variant == variant && kernel_fails(&codegen->regions[r]))
            return true;
    return false;
}

/* A function without anything to do is left out. */
static bool is_empty(const struct variant_group *group)
{
    return group->body[strspn(group->body, " \n")] == '\0';
}

static void add_group(struct codegen *codegen, struct variant_group *group, struct str *out)
{
    const struct variants *variants = codegen->module->variants;
    struct arena *arena = &codegen->arena;
    struct str tables = { .arena = arena };
    const char *head;

    group->body = slots_resolve(codegen, group->text, group->n, group->of, group->slots, &tables);
    if (is_empty(group))
        return;
    group->name = names_unique(
        &codegen->names,
        arena_printf(arena, "run_%s%s",
                     group->n == variants->n ? "all" : variants->at[group->of[0]].label,
                     group->n > 1 && group->n < variants->n ? "_and_less" : ""));
    group->fails = variant_fails(codegen, group->of[0]);
    find_arguments(codegen, group);
    str_printf(out, "/* For %s. */\n", sizes_of(codegen, group));
    head = arena_printf(arena, "static %s %s(", group->fails ? "int" : "void", group->name);
    add_list(out, head, group->n_arguments, group->parameters, ")\n{\n", (int)strlen(head));
    str_printf(out, "%s%s", str_text(&tables), group->body);
    if (group->fails)
        str_printf(out, "    return %s_OK;\n", codegen->upper);
    str_add(out, "}\n\n");
}

void add_variants(struct codegen *codegen, struct str *out)
{
    codegen->variant_groups = find_groups(codegen);
    for (struct variant_group *group = codegen->variant_groups; group; group = group->next)
        add_group(codegen, group, out);
}

/* --- NAME_run --------------------------------------------------------------------------------- */

static void add_group_call(struct codegen *codegen, const struct variant_group *group, int indent,
                           struct str *out)
{
    const char *head, *tail;

    if (!group->name)
        return;
    head = arena_printf(&codegen->arena, "%*s%s%s(", indent, "", group->fails ? "if (" : "",
                        group->name);
    tail = group->fails ? arena_printf(&codegen->arena, ") != %s_OK)\n%*sreturn %s_WRONG_NUMBER;\n",
                                       codegen->upper, indent + 4, "", codegen->upper)
                        : ");\n";
    add_list(out, head, group->n_arguments, group->arguments, tail, (int)strlen(head));
}

static void add_cases(struct codegen *codegen, const struct variant_group *group, struct str *out)
{
    for (int i = group->n, k = 0; i-- > 0; k++)
        str_printf(out, "%scase %d:",
                   k == 0  ? "    "
                   : k % 8 ? " "
                           : "\n    ",
                   variant_row(codegen, group->of[i]));
    str_add(out, "\n");
    add_group_call(codegen, group, 8, out);
    str_add(out, "        break;\n");
}

void add_variant_choice(struct codegen *codegen, struct str *out)
{
    const struct variant_group *largest = codegen->variant_groups;

    for (const struct variant_group *group = largest; group; group = group->next)
        largest = group->n > largest->n ? group : largest;
    str_printf(out, "    if (row < 0)\n        return %s_WRONG_SIZE;\n", codegen->upper);
    if (!codegen->variant_groups->next) {
        add_group_call(codegen, largest, 4, out);
        return;
    }
    str_add(out, "    switch (row) {\n");
    for (const struct variant_group *group = codegen->variant_groups; group; group = group->next)
        if (group != largest)
            add_cases(codegen, group, out);
    str_add(out, "    default:\n");
    add_group_call(codegen, largest, 8, out);
    str_add(out, "        break;\n    }\n");
}
