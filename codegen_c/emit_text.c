/* emit_text.c - pieces of text that several of the generated files have. */
#include <inttypes.h>
#include <string.h>

#include "codegen_c/emit.h"

enum { COLUMNS = 100, NAME_COLUMNS = 48, SHORT_COLUMNS = 40, SHOWN_ORIGINS = 12 };

void add_list(struct str *out, const char *head, int n, const char *const *items, const char *tail,
              int indent)
{
    size_t column = strlen(head);

    str_add(out, head);
    for (int i = 0; i < n; i++) {
        const bool is_last = i == n - 1;
        const size_t width = strlen(items[i]) + (is_last ? strlen(tail) : 1);

        if (i > 0 && column + 1 + width > COLUMNS) {
            str_printf(out, "\n%*s", indent, "");
            column = (size_t)indent;
        } else if (i > 0) {
            str_add(out, " ");
            column++;
        }
        str_printf(out, "%s%s", items[i], is_last ? "" : ",");
        column += width;
    }
    str_add(out, tail);
}

/* The node's name, or its operator when the model gives it none. */
static const char *origin_name(struct arena *arena, const struct origin *origin)
{
    return comment_safe(arena, *origin->name ? origin->name : origin->op_type, NAME_COLUMNS);
}

static const struct origin *region_origin(const struct region *region)
{
    return region->call->origin;
}

/* For regions that stand for no node of a model. */
static const char *made_of(const struct region *region)
{
    return region->fn->composite ? region->fn->composite : region->fn->name;
}

const char *origin_comment(struct arena *arena, const struct region *region, const char *line_start)
{
    const struct origin *origin = region_origin(region);
    struct str out = { .arena = arena };
    size_t column = strlen(line_start);
    int n = 0;

    if (!origin)
        return comment_safe(arena, made_of(region), 90);
    for (; origin && n < SHOWN_ORIGINS; origin = origin->next, n++) {
        const char *name = origin_name(arena, origin);
        const char *text = *origin->name
                               ? arena_printf(arena, "%s (%s)", name,
                                              comment_safe(arena, origin->op_type, NAME_COLUMNS))
                               : name;

        if (n > 0 && column + 3 + strlen(text) > COLUMNS - 4) {
            str_printf(&out, " +\n%s", line_start);
            column = strlen(line_start);
        } else if (n > 0) {
            str_add(&out, " + ");
            column += 3;
        }
        str_add(&out, text);
        column += strlen(text);
    }
    for (n = 0; origin; origin = origin->next)
        n++;
    if (n > 0)
        str_printf(&out, " +\n%sand %d more", line_start, n);
    return str_text(&out);
}

const char *origin_short(struct arena *arena, const struct region *region)
{
    struct str out = { .arena = arena };

    for (const struct origin *o = region_origin(region); o; o = o->next)
        str_printf(&out, "%s%s", out.n ? " + " : "", origin_name(arena, o));
    if (!out.n)
        str_add(&out, made_of(region));
    return comment_safe(arena, str_text(&out), SHORT_COLUMNS);
}

const char *shape_brackets(struct arena *arena, const struct type *type)
{
    struct str out = { .arena = arena };

    str_add(&out, "[");
    for (int i = 0; i < type->rank; i++)
        str_printf(&out, "%s%" PRId64, i ? "," : "", type->dim[i]);
    str_add(&out, "]");
    return str_text(&out);
}

const char *shape_comment(struct arena *arena, const struct type *type)
{
    const struct minifloat *format = type_minifloat(type); /* afp<4,3,8>: which one */

    return arena_printf(arena, "%s %s", format ? format->name : dtype_name(type->dtype),
                        shape_brackets(arena, type));
}

const char *array_parameter(struct arena *arena, const struct type *type, const char *name,
                            bool is_const)
{
    struct str out = { .arena = arena };
    bool any = false;

    str_printf(&out, "%s%s %s[", is_const ? "const " : "", dtype_c_type(type->dtype), name);
    if (type_elements(type) > 0)
        for (int i = 0; i < type->rank; i++)
            if (type->dim[i] != 1) {
                str_printf(&out, "%s%" PRId64, any ? " * " : "", type->dim[i]);
                any = true;
            }
    str_add(&out, any ? "]" : "1]"); /* C has no arrays of 0 */
    return str_text(&out);
}

void add_section(struct str *out, const char *title)
{
    const size_t n = strlen(title) + 8;

    str_printf(out, "/* --- %s ", title);
    for (size_t i = n; i < COLUMNS - 3; i++)
        str_add(out, "-");
    str_add(out, " */\n\n");
}
