/* target_hooks.c - the rows that a target's hooks add to those of its target.json. */
#include <string.h>

#include "base/str.h"
#include "partition/target_file.h"

static bool hook_error(struct ctx *ctx, const char *path, const char *message)
{
    return source_error(ctx, &(const struct source){ .file = path }, 0, "%s", message);
}

static bool read_conditions(struct ctx *ctx, const struct composite_c_row *from, const char *path,
                            struct composite_row *row)
{
    int n = 0;
    bool ok = true;

    while (from->conditions && from->conditions[n])
        n++;
    row->conditions = arena_array(&ctx->perm, struct condition, n);
    for (int i = 0; i < n; i++) {
        struct condition *condition = &row->conditions[row->n_conditions];

        condition->source = (struct source){ .file = path };
        condition->test = expression_parse(ctx, &condition->source, from->conditions[i]);
        if (condition->test)
            row->n_conditions++;
        else
            ok = false;
    }
    return ok;
}

static bool read_template(struct ctx *ctx, const struct target *target,
                          const struct target_folder *folder, const char *path,
                          struct composite_row *row)
{
    const char *reason = "no such file";

    if (target->format != FORMAT_C)
        return !row->template_file ||
               hook_error(ctx, path,
                          arena_printf(&ctx->perm,
                                       "%s has a template, which only targets of "
                                       "format c have",
                                       row->name));
    if (!row->template_file)
        return hook_error(ctx, path, arena_printf(&ctx->perm, "%s needs a template", row->name));
    row->template_text = folder->read(folder->user, row->template_file, &reason);
    return row->template_text || hook_error(ctx, path,
                                            arena_printf(&ctx->perm, "%s: cannot read '%s': %s",
                                                         row->name, row->template_file, reason));
}

static bool read_row(struct ctx *ctx, const struct target *target,
                     const struct composite_c_row *from, const char *path,
                     const struct target_folder *folder, struct composite_row *row)
{
    bool ok = true;

    row->name = arena_printf(&ctx->perm, "%s.%s", target->name, from->name);
    row->text = from->pattern;
    row->source = (struct source){ .file = path };
    row->check = from->check;
    row->template_file = from->template_file;
    row->target = target;
    if (!is_identifier(from->name))
        ok = hook_error(ctx, path,
                        arena_printf(&ctx->perm, "'%s' is not a name for a composite",
                                     str_safe(&ctx->perm, from->name, 64)));
    for (const struct composite_row *other = target->rows; other < row; other++)
        if (strcmp(other->name, row->name) == 0)
            ok = hook_error(ctx, path,
                            arena_printf(&ctx->perm, "there is another composite %s", row->name));
    row->pattern = pattern_parse(ctx, &row->source, row->text);
    ok = row->pattern && ok;
    ok = read_conditions(ctx, from, path, row) && ok;
    return read_template(ctx, target, folder, path, row) && ok;
}

bool target_add_hooks(struct ctx *ctx, struct target *target, const struct target_hooks *hooks,
                      const char *path, const struct target_folder *folder)
{
    const int first = target->n_rows;
    struct composite_row *rows =
        arena_array(&ctx->perm, struct composite_row, first + hooks->n_rows);
    bool ok = true;

    target->hooks = hooks;
    if (target->format == FORMAT_STREAM && !hooks->assemble)
        ok = hook_error(ctx, path, "format stream needs assemble");
    if (first)
        memcpy(rows, target->rows, (size_t)first * sizeof *rows);
    target->rows = rows;
    for (int i = 0; i < hooks->n_rows; i++)
        ok = read_row(ctx, target, &hooks->rows[i], path, folder, &rows[target->n_rows++]) && ok;
    return target_check_rows(ctx, target, first) && ok;
}
