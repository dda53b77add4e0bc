#include "quantize/qtable.h"

#include <string.h>

#include "base/str.h"

enum {
    LEAST_PART = 4, /* of a name in another one: shorter ones are too common */
    WIDEST = 48,    /* column of names: longer ones stand out */
    MAX_ERRORS = 50, /* rows without a node, each of which is compared with all names */
    MOST_GONE = 3    /* rows without effect that a warning names */
};

/* --- writing ---------------------------------------------------------------------------------- */

/* As the file has it. What str_safe shows as \xNN, and blanks, need quotes. */
static const char *name_text(struct arena *arena, const char *name)
{
    struct str text = { .arena = arena };
    bool plain = *name != '\0';

    for (const char *at = name; *at; at++)
        plain = plain && *at != ' ' && *at != '#' && *at != '"';
    if (plain && strcmp(str_safe(arena, name, strlen(name) + 1), name) == 0)
        return name;
    /* It makes \x22 and \x5C of quotes and backslashes, which is as good as \" and \\. */
    str_printf(&text, "\"%s\"", str_safe(arena, name, 4 * strlen(name) + 1));
    return str_text(&text);
}

/* What differs from that which the mode alone says. */
static void write_fields(struct writer *writer, const struct precision *p)
{
    struct ctx *ctx = ctx_new(NULL);
    struct precision plain;
    struct scale_rule max;

    if (!precision_parse(ctx, "", precision_name(p->mode), &plain))
        plain = *p; /* cannot be: it is a mode */
    if (!scale_rule_parse("max", &max))
        max = p->weight_scale;
    if (p->has_weights && strcmp(p->weights.name, plain.weights.name) != 0)
        writer_printf(writer, " weights=%s", p->weights.name);
    if (p->has_data && strcmp(p->data.name, plain.data.name) != 0)
        writer_printf(writer, " data=%s", p->data.name);
    if (p->has_data && p->has_data_scale)
        writer_printf(writer, " scale=%s", p->data_scale.name);
    if (p->has_weights && strcmp(p->weight_scale.name, max.name) != 0)
        writer_printf(writer, " scale-weights=%s", p->weight_scale.name);
    ctx_free(ctx);
}

void qtable_write(struct writer *writer, const struct qtable *qtable)
{
    struct arena arena = { NULL };
    int width = 0;

    for (int i = 0; i < qtable->n; i++) {
        const size_t n = strlen(name_text(&arena, qtable->rows[i].name));

        width = n > (size_t)width && n <= WIDEST ? (int)n : width;
    }
    writer_printf(writer, "# node, mode, what differs from the mode's defaults\n");
    for (int i = 0; i < qtable->n; i++) {
        const struct precision *p = &qtable->rows[i].precision;

        writer_printf(writer, "%-*s %s", width, name_text(&arena, qtable->rows[i].name),
                      precision_name(p->mode));
        write_fields(writer, p);
        writer_text(writer, "\n");
    }
    arena_release(&arena);
}

/* --- nodes ------------------------------------------------------------------------------------ */

const struct qtable_row *qtable_find(const struct qtable *qtable, const struct node *node)
{
    const struct qtable_row *row = NULL;

    for (const struct origin *o = node->origin; o && !row; o = o->next)
        if (o->name && *o->name)
            row = map_get(&qtable->by_name, o->name);
    for (int i = 0; i < node->n_outputs && !row; i++)
        row = map_get(&qtable->by_name, node->outputs[i]->name);
    for (const struct origin *o = node->origin; o && !row; o = o->next)
        if (o->output) /* of a node that has become a part of this one */
            row = map_get(&qtable->by_name, o->output);
    return row;
}

/* Every name that a node answers to, once: name -> the node. */
static struct map names_of(const struct function *fn, struct arena *arena)
{
    struct map names = { .arena = arena };

    for (const struct node *node = fn->first; node; node = node->next) {
        void *value = (void *)(uintptr_t)node;

        for (const struct origin *o = node->origin; o; o = o->next) {
            if (o->name && *o->name)
                map_set(&names, o->name, value);
            if (o->output && !map_get(&names, o->output))
                map_set(&names, o->output, value);
        }
        for (int i = 0; i < node->n_outputs; i++)
            map_set(&names, node->outputs[i]->name, value);
    }
    return names;
}

/* The one that it is probably a misspelling of, or up to three that contain it. */
static void suggest(struct ctx *ctx, const struct map *names, const char *name)
{
    const char **candidates = arena_array(&ctx->scratch, const char *, names->n), *near;
    struct str list = { .arena = &ctx->perm };
    int n = 0;

    for (size_t i = 0; i < names->n; i++)
        candidates[i] = names->entries[i].key;
    near = str_nearest(name, candidates, names->n);
    if (near)
        str_printf(&list, "'%s'", str_safe(&ctx->perm, near, 200));
    for (size_t i = 0; i < names->n && !near && n < 3; i++)
        if (strstr(candidates[i], name) ||
            (strlen(candidates[i]) >= LEAST_PART && strstr(name, candidates[i])))
            str_printf(&list, "%s'%s'", n++ ? " or " : "",
                       str_safe(&ctx->perm, candidates[i], 200));
    if (list.n)
        diag_help(ctx, "did you mean %s?", str_text(&list));
    else
        diag_help(ctx, "names are those of the ONNX nodes, or of their first outputs");
}

static bool same_precision(struct arena *arena, const struct precision *a,
                           const struct precision *b)
{
    return strcmp(precision_text(arena, a), precision_text(arena, b)) == 0 &&
           strcmp(a->weight_scale.name, b->weight_scale.name) == 0 &&
           strcmp(a->data_scale.name, b->data_scale.name) == 0;
}

/* A node may stand for several of the model's. */
static void warn_of_others(struct ctx *ctx, const struct qtable *qtable, const struct node *node)
{
    const struct qtable_row *row = qtable_find(qtable, node);

    for (const struct origin *o = node->origin; o && row; o = o->next) {
        const struct qtable_row *other = o->name ? map_get(&qtable->by_name, o->name) : NULL;

        if (!other || other == row ||
            same_precision(&ctx->scratch, &row->precision, &other->precision))
            continue;
        diag_warn(ctx, DIAG_QTABLE, NULL,
                  "%s:%d: '%s' was merged with '%s', whose row in line %d applies",
                  str_safe(&ctx->perm, qtable->path, 4096), other->line,
                  str_safe(&ctx->perm, other->name, 200), str_safe(&ctx->perm, row->name, 200),
                  row->line);
    }
}

/* A node of the file that none of the graph stands for. */
static bool is_gone(const struct function *fn, const char *name)
{
    return map_get(&fn->module->imported, name) != NULL;
}

/* Rows of nodes that are gone, which have no effect. */
static void warn_of_gone(struct ctx *ctx, const struct qtable *qtable, const struct function *fn,
                         const struct map *names)
{
    struct str list = { .arena = &ctx->perm };
    int n = 0;

    for (int i = 0; i < qtable->n; i++) {
        const struct qtable_row *row = &qtable->rows[i];

        if (!map_get(names, row->name) && is_gone(fn, row->name) && n++ < MOST_GONE)
            str_printf(&list, "%s'%s' (line %d)", n > 1 ? ", " : "",
                       str_safe(&ctx->perm, row->name, 100), row->line);
    }
    if (n)
        diag_warn(ctx, DIAG_QTABLE, NULL,
                  "%s: %d row%s without effect: of nodes that are left out, or computed when "
                  "compiling: %s%s",
                  str_safe(&ctx->perm, qtable->path, 4096), n, str_plural(n), str_text(&list),
                  n > MOST_GONE ? " ..." : "");
}

/* Of those that are not in the file, the first MAX_ERRORS. */
static void check_names(struct ctx *ctx, const struct qtable *qtable, const struct function *fn,
                        const struct map *names, int n, const struct qtable_row *rows,
                        int *n_errors)
{
    for (int i = 0; i < n; i++) {
        if (map_get(names, rows[i].name) || is_gone(fn, rows[i].name))
            continue;
        if ((*n_errors)++ >= MAX_ERRORS)
            continue;
        diag_error(ctx, DIAG_QTABLE, NULL, "%s:%d: no node is called '%s'",
                   str_safe(&ctx->perm, qtable->path, 4096), rows[i].line,
                   str_safe(&ctx->perm, rows[i].name, 200));
        suggest(ctx, names, rows[i].name);
    }
}

/* *first is the first of them, where it is NULL. */
static int count_unknown(const struct function *fn, const struct map *names, int n,
                         const struct qtable_row *rows, const struct qtable_row **first)
{
    int unknown = 0;

    for (int i = 0; i < n; i++)
        if (!map_get(names, rows[i].name) && !is_gone(fn, rows[i].name)) {
            *first = *first ? *first : &rows[i];
            unknown++;
        }
    return unknown;
}

/* Most rows name nothing: one error for one cause. */
static bool is_of_another_model(struct ctx *ctx, const struct qtable *qtable,
                                const struct function *fn, const struct map *names)
{
    const int n = qtable->n + qtable->n_broken;
    const struct qtable_row *first = NULL;
    const int unknown = count_unknown(fn, names, qtable->n, qtable->rows, &first) +
                        count_unknown(fn, names, qtable->n_broken, qtable->broken, &first);

    if (unknown < 5 || unknown * 2 <= n)
        return false;
    diag_error(ctx, DIAG_QTABLE, NULL,
               "%s: %d of %d rows name no node of this model, such as '%s' in line %d",
               str_safe(&ctx->perm, qtable->path, 4096), unknown, n,
               str_safe(&ctx->perm, first->name, 200), first->line);
    diag_help(ctx, "the table was made for another model: relayc search writes one for this one");
    return true;
}

bool qtable_check(struct ctx *ctx, const struct qtable *qtable, const struct function *fn)
{
    struct arena arena = { NULL };
    const struct map names = names_of(fn, &arena);
    int n_errors = 0;

    if (is_of_another_model(ctx, qtable, fn, &names)) {
        arena_release(&arena);
        return false;
    }
    check_names(ctx, qtable, fn, &names, qtable->n_broken, qtable->broken, &n_errors);
    check_names(ctx, qtable, fn, &names, qtable->n, qtable->rows, &n_errors);
    if (n_errors > MAX_ERRORS)
        diag_error(ctx, DIAG_QTABLE, NULL, "%s: %d more row%s without a matching node",
                   str_safe(&ctx->perm, qtable->path, 4096), n_errors - MAX_ERRORS,
                   str_plural(n_errors - MAX_ERRORS));
    warn_of_gone(ctx, qtable, fn, &names);
    for (const struct node *node = fn->first; node; node = node->next)
        warn_of_others(ctx, qtable, node);
    arena_release(&arena);
    return n_errors == 0;
}
