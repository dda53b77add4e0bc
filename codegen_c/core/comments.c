/* comments.c - see comments.h. */
#include "codegen_c/core/comments.h"

#include <inttypes.h>
#include <string.h>

#include "codegen_c/core/state.h"

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

/* Whether a node of the model only says how numbers are stored. */
static bool is_storage(const struct origin *origin)
{
    static const char *const types[] = { "QuantizeLinear", "DequantizeLinear", "Cast", "CastLike" };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(origin->op_type, types[i]) == 0)
            return true;
    return false;
}

/* What says most of a region: the nodes that compute something, or else all. */
static const struct origin *next_telling(const struct origin *origin, bool all)
{
    while (origin && !all && is_storage(origin))
        origin = origin->next;
    return origin;
}

static const struct origin *first_telling(const struct origin *origin, bool *all)
{
    const struct origin *found = next_telling(origin, false);

    *all = !found;
    return found ? found : origin;
}

const char *origin_short(struct arena *arena, const struct region *region)
{
    struct str out = { .arena = arena };
    bool all;

    for (const struct origin *o = first_telling(region_origin(region), &all); o;
         o = next_telling(o->next, all))
        str_printf(&out, "%s%s", out.n ? " + " : "", origin_name(arena, o));
    if (!out.n)
        str_add(&out, made_of(region));
    return comment_safe(arena, str_text(&out), SHORT_COLUMNS);
}

/* Whether a region that stands for a node which computes something does not: relayc put it in front
 * of that node, or behind it. */
static bool only_stores(const struct region *region, const struct origin *origin)
{
    bool stores = false;

    if (is_storage(origin))
        return false;
    for (const struct node *node = region->fn->first; node; node = node->next)
        if (node->op == OP_CAST || node->op == OP_QNN_QUANTIZE || node->op == OP_QNN_DEQUANTIZE)
            stores = true;
        else if (node->op != OP_MULTIPLY) /* by a scale */
            return false;
    return stores;
}

const char *region_title(const struct region *region)
{
    bool all;
    const struct origin *origin = first_telling(
        region->anchor && region->anchor->origin ? region->anchor->origin : region->call->origin,
        &all);

    if (!origin || !*origin->name)
        return region->fn->name;
    return only_stores(region, origin) ? region->call->outputs[0]->name : origin->name;
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

void add_section_of_file(struct str *out, const char *path)
{
    const char *end = strchr(path, '/');

    end += 1 + strcspn(end + 1, "/");
    add_section(out, arena_printf(out->arena, "from %.*s", (int)(end - path), path));
}

const char *sections_joined(struct arena *arena, const char *text)
{
    static const char section[] = "/* --- ";
    struct str out = { .arena = arena };
    const char *last = NULL;

    for (const char *line = text; *line;) {
        const size_t end = strcspn(line, "\n"), n = end + (line[end] == '\n');
        const bool begins = str_starts(line, section),
                   goes_on = begins && last && strncmp(line, last, n) == 0;

        if (begins)
            last = line;
        if (goes_on)
            line += n; /* and the blank line behind it */
        else
            str_addn(&out, line, n);
        line += goes_on ? *line == '\n' : n;
    }
    return str_text(&out);
}
