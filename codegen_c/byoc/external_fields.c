/* external_fields.c - what templates of targets may ask about a value or an operator, as text:
 * ${x.dtype}, ${x.dim0}, ${conv2d.strides}, ${b.value}. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/byoc/external.h"
#include "codegen_c/text/literal.h"

const char *external_real(struct codegen *codegen, struct external_module *module, double number,
                          enum dtype dtype)
{
    bool needs_math = false;
    const char *text = literal_of_number(&codegen->arena, dtype, number, &needs_math);

    if (needs_math)
        map_set(&module->includes, "math.h", module);
    return text;
}

/* A list of numbers as a field: itself, one element (`index` from 0), or (`count`) how many. */
struct list {
    int n;
    const char *at[MAX_INTS];
};

static struct list list_of_ints(struct arena *arena, int n, const int64_t *at)
{
    struct list list = { .n = n };

    for (int i = 0; i < n; i++)
        list.at[i] = arena_printf(arena, "%" PRId64, at[i]);
    return list;
}

static const char *list_text(struct arena *arena, const struct list *list)
{
    struct str out = { .arena = arena };

    for (int i = 0; i < list->n; i++)
        str_printf(&out, "%s%s", i ? ", " : "", list->at[i]);
    return str_text(&out);
}

/* "strides", "strides1" and "n_strides" of a list called strides; NULL when the field is another.
 */
static const char *list_field(struct arena *arena, const struct list *list, const char *name,
                              const char *field)
{
    const size_t n = strlen(name);
    const char *digits = field + n;

    if (strcmp(field, name) == 0)
        return list_text(arena, list);
    if (str_starts(field, "n_") && strcmp(field + 2, name) == 0)
        return arena_printf(arena, "%d", list->n);
    if (strncmp(field, name, n) != 0 || !*digits || strlen(digits) > 2 ||
        strspn(digits, "0123456789") != strlen(digits) || atoi(digits) >= list->n)
        return NULL;
    return list->at[atoi(digits)];
}

/* --- of a type -------------------------------------------------------------------------------- */

const char *external_type_field(struct arena *arena, const struct type *type, const char *field)
{
    const struct list dims = list_of_ints(arena, type->rank, type->dim);

    if (strcmp(field, "dtype") == 0)
        return dtype_name(type->dtype);
    if (strcmp(field, "ctype") == 0)
        return dtype_c_type(type->dtype);
    if (strcmp(field, "rank") == 0)
        return arena_printf(arena, "%d", type->rank);
    if (strcmp(field, "elements") == 0)
        return arena_printf(arena, "%" PRId64, type_elements(type));
    if (strcmp(field, "bytes") == 0)
        return arena_printf(arena, "%zu", type_bytes(type));
    if (strcmp(field, "shape") == 0)
        return list_text(arena, &dims);
    return strcmp(field, "dim") == 0 ? NULL : list_field(arena, &dims, "dim", field);
}

/* --- of an operator --------------------------------------------------------------------------- */

static const char *attr_text(struct codegen *codegen, struct external_module *module,
                             const struct attr_field *attr, const void *at, const char *field)
{
    struct arena *arena = &codegen->arena;
    struct list list = { .n = 0 };
    const struct ints *ints = at;
    const struct reals *reals = at;

    if (attr->kind == ATTR_INTS) {
        list = list_of_ints(arena, ints->n, ints->at);
        return list_field(arena, &list, attr->name, field);
    }
    if (attr->kind == ATTR_REALS) {
        for (list.n = 0; list.n < reals->n; list.n++)
            list.at[list.n] = external_real(codegen, module, reals->at[list.n], DTYPE_F64);
        return list_field(arena, &list, attr->name, field);
    }
    if (strcmp(field, attr->name) != 0)
        return NULL;
    switch (attr->kind) {
    case ATTR_BOOL: return *(const bool *)at ? "1" : "0";
    case ATTR_DTYPE: return dtype_name(*(const enum dtype *)at);
    case ATTR_INT: return arena_printf(arena, "%" PRId64, *(const int64_t *)at);
    case ATTR_REAL: return external_real(codegen, module, *(const double *)at, DTYPE_F64);
    default: return comment_safe(arena, *(const char *const *)at, 40);
    }
}

const char *external_attr_field(struct codegen *codegen, struct external_module *module,
                                const struct node *node, const char *field)
{
    const struct attr_schema *schema = attrs_schema(op_row(node->op)->attrs);

    for (int i = 0; i < schema->n_fields; i++) {
        const struct attr_field *attr = &schema->fields[i];
        const char *text =
            attr_text(codegen, module, attr, (const char *)&node->attrs + attr->offset, field);

        if (text)
            return text;
    }
    return NULL;
}

/* --- what an expression gives ----------------------------------------------------------------- */

const char *external_term(struct codegen *codegen, struct external_module *module,
                          const struct term *term)
{
    struct list list;

    switch (term->kind) {
    case TERM_INT: return arena_printf(&codegen->arena, "%" PRId64, term->integer);
    case TERM_REAL: return external_real(codegen, module, term->real, DTYPE_F64);
    case TERM_TEXT: return term->text;
    case TERM_INTS:
        list = list_of_ints(&codegen->arena, term->ints.n, term->ints.at);
        return list_text(&codegen->arena, &list);
    default: return "";
    }
}
