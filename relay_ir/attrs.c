#include "relay_ir/attrs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATTR_ROW(owner, kind, field) { #field, ATTR_##kind, offsetof(struct owner##_attrs, field) },
#define ATTRS(name, FIELDS)                                                                        \
    static const struct attr_field name##_fields[] = { FIELDS(ATTR_ROW, name) };
#include "relay_ir/attrs.def"
#undef ATTRS

static const struct attr_schema schemas[ATTRS_COUNT] = {
    [ATTRS_none] = { "none", NULL, 0 },
#define ATTRS(name, FIELDS)                                                                        \
    [ATTRS_##name] = { #name, name##_fields, (int)(sizeof name##_fields / sizeof *name##_fields) },
#include "relay_ir/attrs.def"
#undef ATTRS
};

const struct attr_schema *attrs_schema(enum attrs_id id)
{
    return &schemas[id];
}

struct ints ints_of(int n, const int64_t *at)
{
    struct ints ints = { .n = n };

    if (n)
        memcpy(ints.at, at, (size_t)n * sizeof *at);
    return ints;
}

struct ints ints_fill(int n, int64_t value)
{
    struct ints ints = { .n = n };

    for (int i = 0; i < n; i++)
        ints.at[i] = value;
    return ints;
}

bool ints_equal(const struct ints *a, const struct ints *b)
{
    return a->n == b->n && memcmp(a->at, b->at, (size_t)a->n * sizeof *a->at) == 0;
}

bool ints_has(const struct ints *ints, int64_t value)
{
    for (int i = 0; i < ints->n; i++)
        if (ints->at[i] == value)
            return true;
    return false;
}

/* The shortest of %.9g and %.17g that reads back as the same double. */
static void print_real(struct str *out, double real)
{
    char text[40];

    snprintf(text, sizeof text, "%.9g", real);
    if (strtod(text, NULL) != real)
        snprintf(text, sizeof text, "%.17g", real);
    str_add(out, text);
}

static void print_field(struct str *out, enum attr_kind kind, const void *at)
{
    switch (kind) {
    case ATTR_BOOL: str_add(out, *(const bool *)at ? "true" : "false"); break;
    case ATTR_DTYPE: str_add(out, dtype_name(*(const enum dtype *)at)); break;
    case ATTR_INT: str_printf(out, "%lld", (long long)*(const int64_t *)at); break;
    case ATTR_REAL: print_real(out, *(const double *)at); break;
    case ATTR_WORD:
        str_printf(out, "\"%s\"", str_safe(out->arena, *(const char *const *)at, SIZE_MAX));
        break;
    case ATTR_INTS:
        str_add(out, "[");
        for (int i = 0; i < ((const struct ints *)at)->n; i++)
            str_printf(out, "%s%lld", i ? "," : "", (long long)((const struct ints *)at)->at[i]);
        str_add(out, "]");
        break;
    case ATTR_REALS:
        str_add(out, "[");
        for (int i = 0; i < ((const struct reals *)at)->n; i++) {
            str_add(out, i ? "," : "");
            print_real(out, ((const struct reals *)at)->at[i]);
        }
        str_add(out, "]");
        break;
    }
}

void attrs_print(struct str *out, enum attrs_id id, const union attrs *attrs)
{
    const struct attr_schema *schema = &schemas[id];

    int n = 0;

    for (int i = 0; i < schema->n_fields; i++) {
        const void *at = (const char *)attrs + schema->fields[i].offset;

        if (schema->fields[i].kind == ATTR_DTYPE && *(const enum dtype *)at == DTYPE_NONE)
            continue;
        str_printf(out, "%s%s=", n++ ? ", " : " {", schema->fields[i].name);
        print_field(out, schema->fields[i].kind, at);
    }
    if (n)
        str_add(out, "}");
}

static void skip_space(const char **text)
{
    *text += strspn(*text, " \t");
}

static bool accept(const char **text, const char *token)
{
    skip_space(text);
    if (strncmp(*text, token, strlen(token)) != 0)
        return false;
    *text += strlen(token);
    return true;
}

static bool parse_number(const char **text, bool real, void *out)
{
    char *end;

    skip_space(text);
    if (real)
        *(double *)out = strtod(*text, &end);
    else
        *(int64_t *)out = strtoll(*text, &end, 10);
    if (end == *text)
        return false;
    *text = end;
    return true;
}

static bool parse_list(const char **text, bool real, int *n, void *at)
{
    *n = 0;
    if (!accept(text, "["))
        return false;
    while (!accept(text, "]")) {
        if (*n == MAX_INTS || (*n && !accept(text, ",")) ||
            !parse_number(text, real, (char *)at + (size_t)*n * 8))
            return false;
        ++*n;
    }
    return true;
}

static bool parse_field(struct arena *arena, enum attr_kind kind, const char **text, void *at)
{
    size_t n;

    skip_space(text);
    n = strspn(*text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    switch (kind) {
    case ATTR_BOOL: *(bool *)at = accept(text, "true"); return *(bool *)at || accept(text, "false");
    case ATTR_DTYPE:
        *(enum dtype *)at = dtype_from_name(arena_strndup(arena, *text, n));
        *text += n;
        return *(enum dtype *)at != DTYPE_NONE;
    case ATTR_INT: return parse_number(text, false, at);
    case ATTR_REAL: return parse_number(text, true, at);
    case ATTR_INTS:
        return parse_list(text, false, &((struct ints *)at)->n, ((struct ints *)at)->at);
    case ATTR_REALS:
        return parse_list(text, true, &((struct reals *)at)->n, ((struct reals *)at)->at);
    case ATTR_WORD:
        if (!accept(text, "\""))
            return false;
        n = strcspn(*text, "\"\n");
        *(const char **)at = str_unescape(arena, *text, n);
        *text += n;
        return accept(text, "\"") && *(const char **)at;
    }
    return false;
}

static bool accept_name(const char **text, const char *before, const char *name)
{
    return accept(text, before) && accept(text, name) && accept(text, "=");
}

bool attrs_parse(struct arena *arena, enum attrs_id id, const char **text, union attrs *attrs,
                 const char **reason)
{
    const struct attr_schema *schema = &schemas[id];
    int n = 0;

    memset(attrs, 0, sizeof *attrs);
    for (int i = 0; i < schema->n_fields; i++) {
        const struct attr_field *field = &schema->fields[i];
        const char *const before = *text;

        if (!accept_name(text, n ? "," : "{", field->name)) {
            *text = before; /* left out: 0, "", [] */
            continue;
        }
        n++;
        if (!parse_field(arena, field->kind, text, (char *)attrs + field->offset)) {
            *reason =
                arena_printf(arena, "attribute '%s' of %s is malformed", field->name, schema->name);
            return false;
        }
    }
    if (n && !accept(text, "}")) {
        *reason =
            arena_printf(arena, "expected '}', or the next of %s in this order", schema->name);
        return false;
    }
    return true;
}
