#include "codegen_c/byoc/external_check.h"

#include <ctype.h>
#include <string.h>

#include "codegen_c/text/template.h"
#include "relay_ir/attrs.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *const composite_keys[] = {
    "name", "upper", "fn",           "composite",   "origin",       "scratch", "scratch_bytes",
    "out",  "macs",  "weight_bytes", "input_bytes", "output_bytes", "nodes",
};
static const char *const value_fields[] = { "dtype", "ctype", "rank",  "shape", "dim0", "elements",
                                            "bytes", "const", "value", "min",   "max" };

struct row_keys {
    struct arena *arena;
    const struct composite_row *row;
    const char **captures;
    int n_captures;
};

static bool is_among(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

static size_t without_digits(const char *text)
{
    size_t n = strlen(text);

    while (n && isdigit((unsigned char)text[n - 1]))
        n--;
    return n;
}

/* "strides0", "n_strides" and "dim1" besides what expressions know. */
static bool field_known(const struct row_keys *keys, const char *name, const char *field)
{
    const struct pattern *pattern = keys->row->pattern;

    return is_among(field, value_fields, COUNT(value_fields)) ||
           pattern_knows(pattern, name, field) ||
           (str_starts(field, "n_") && pattern_knows(pattern, name, field + 2)) ||
           pattern_knows(pattern, name, arena_strndup(keys->arena, field, without_digits(field)));
}

static bool row_knows(void *user, const char *key)
{
    const struct row_keys *keys = user;
    const char *dot = strchr(key, '.');
    const char *name = dot ? arena_strndup(keys->arena, key, (size_t)(dot - key)) : key;
    const bool is_out = without_digits(name) == 3 && strncmp(name, "out", 3) == 0;

    for (int i = 0; i < keys->row->n_lets && !dot; i++)
        if (strcmp(keys->row->lets[i].name, key) == 0)
            return true;
    if (!is_out && !is_among(name, keys->captures, (size_t)keys->n_captures))
        return !dot && is_among(key, composite_keys, COUNT(composite_keys));
    return !dot || field_known(keys, is_out ? "out" : name, dot + 1);
}

/* The names that may stand where the key stands: fields of its capture, or whole keys. */
static const char *row_nearest(void *user, const char *key)
{
    const struct row_keys *keys = user;
    const char *dot = strchr(key, '.'), **list, *nearest;
    const char *name = dot ? arena_strndup(keys->arena, key, (size_t)(dot - key)) : key;
    size_t n = 0, most = COUNT(value_fields) + COUNT(composite_keys) + (size_t)keys->n_captures +
                         (size_t)keys->row->n_lets;

    for (int id = 0; id < ATTRS_COUNT; id++)
        most += (size_t)attrs_schema((enum attrs_id)id)->n_fields;
    list = arena_array(keys->arena, const char *, most);
    if (dot && row_knows(user, name)) {
        for (size_t i = 0; i < COUNT(value_fields); i++)
            list[n++] = value_fields[i];
        for (int id = 0; id < ATTRS_COUNT; id++)
            for (int i = 0; i < attrs_schema((enum attrs_id)id)->n_fields; i++)
                if (pattern_knows(keys->row->pattern, name,
                                  attrs_schema((enum attrs_id)id)->fields[i].name))
                    list[n++] = attrs_schema((enum attrs_id)id)->fields[i].name;
        nearest = str_nearest(dot + 1, list, n);
        return nearest ? arena_printf(keys->arena, "%s.%s", name, nearest) : NULL;
    }
    for (size_t i = 0; i < COUNT(composite_keys); i++)
        list[n++] = composite_keys[i];
    for (int i = 0; i < keys->n_captures; i++)
        list[n++] = keys->captures[i];
    for (int i = 0; i < keys->row->n_lets; i++)
        list[n++] = keys->row->lets[i].name;
    return str_nearest(name, list, n);
}

static bool prologue_knows(void *user, const char *key)
{
    (void)user;
    return strcmp(key, "name") == 0 || strcmp(key, "upper") == 0;
}

static const char *prologue_nearest(void *user, const char *key)
{
    static const char *const names[] = { "name", "upper" };

    (void)user;
    return str_nearest(key, names, COUNT(names));
}

static const char *path(struct ctx *ctx, const struct target *target, const char *file)
{
    return target->folder ? arena_printf(&ctx->perm, "%s/%s", target->folder, file)
                          : arena_printf(&ctx->perm, "partition/targets/%s/%s", target->name, file);
}

bool external_check_templates(struct ctx *ctx, const struct target *target)
{
    const struct template_names prologue = { prologue_knows, prologue_nearest, NULL };
    bool ok = true;

    for (int i = 0; i < target->n_rows; i++) {
        const struct composite_row *row = &target->rows[i];
        struct row_keys keys = { .arena = &ctx->perm, .row = row };
        const struct template_names names = { row_knows, row_nearest, &keys };

        if (!row->template_text)
            continue;
        keys.captures = pattern_captures(row->pattern, &ctx->perm, &keys.n_captures);
        ok = template_check(ctx, path(ctx, target, row->template_file), row->template_text,
                            target->hooks ? NULL : &names) &&
             ok;
    }
    if (target->prologue)
        ok = template_check(ctx, path(ctx, target, target->prologue_file), target->prologue,
                            &prologue) &&
             ok;
    if (target->region_template)
        ok = template_check(ctx, path(ctx, target, target->region_file), target->region_template,
                            NULL) &&
             ok;
    return ok;
}
