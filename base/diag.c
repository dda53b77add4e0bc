#include "base/diag.h"

#include <stdarg.h>
#include <string.h>

#include "base/ctx.h"
#include "base/str.h"

static const struct {
    enum diag_code code;
    const char *title, *explanation;
} codes[] = {
#define DIAG(symbol, number, title, explanation) { DIAG_##symbol, title, explanation },
#include "base/diag.def"
#undef DIAG
};

enum { N_CODES = sizeof codes / sizeof *codes };

const char *diag_title(enum diag_code code)
{
    for (size_t i = 0; i < N_CODES; i++)
        if (codes[i].code == code)
            return codes[i].title;
    return NULL;
}

const char *diag_explanation(enum diag_code code)
{
    for (size_t i = 0; i < N_CODES; i++)
        if (codes[i].code == code)
            return codes[i].explanation;
    return NULL;
}

static void add(struct ctx *ctx, enum diag_severity severity, enum diag_code code,
                const struct origin *origin, const char *message)
{
    struct diags *diags = &ctx->diags;
    const char *key =
        arena_printf(&ctx->perm, "%d %p %s", (int)code, (const void *)origin, message);
    struct diag *diag;

    diags->latest = NULL;
    diags->seen.arena = &ctx->perm;
    if (map_get(&diags->seen, key))
        return;
    diag = arena_new(&ctx->perm, struct diag);
    diag->severity = severity;
    diag->code = code;
    diag->origin = origin;
    /* What is wrong with a file names it itself; it may be another one than the model. */
    diag->file = (int)code < 100 ? NULL : diags->input_name;
    diag->message = message;
    if (diags->last)
        diags->last->next = diag;
    else
        diags->first = diag;
    diags->last = diags->latest = diag;
    map_set(&diags->seen, key, diag);
    if (severity == DIAG_ERROR)
        diags->n_errors++;
    else
        diags->n_warnings++;
}

bool diag_error(struct ctx *ctx, enum diag_code code, const struct origin *origin,
                const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(ctx, DIAG_ERROR, code, origin, arena_vprintf(&ctx->perm, format, args));
    va_end(args);
    return false;
}

void diag_warn(struct ctx *ctx, enum diag_code code, const struct origin *origin,
               const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(ctx, DIAG_WARNING, code, origin, arena_vprintf(&ctx->perm, format, args));
    va_end(args);
}

static void add_line(struct ctx *ctx, const char **text, const char *format, va_list args)
{
    const char *line = arena_vprintf(&ctx->perm, format, args);

    *text = *text ? arena_printf(&ctx->perm, "%s\n%s", *text, line) : line;
}

void diag_note(struct ctx *ctx, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (ctx->diags.latest)
        add_line(ctx, &ctx->diags.latest->note, format, args);
    va_end(args);
}

void diag_help(struct ctx *ctx, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (ctx->diags.latest)
        add_line(ctx, &ctx->diags.latest->help, format, args);
    va_end(args);
}

struct diags diag_save(struct ctx *ctx)
{
    const struct diags saved = ctx->diags;

    ctx->diags = (struct diags){ .input_name = saved.input_name };
    return saved;
}

void diag_restore(struct ctx *ctx, struct diags saved)
{
    ctx->diags = saved;
    if (ctx->diags.last)
        ctx->diags.last->next = NULL;
}

/* One problem of one or several nodes, printed under one message. */
struct group {
    struct member {
        const struct diag *diag;
        struct member *next;
    } * first, *last;
    int n;
    struct group *next;
};

/* Diagnostics that differ only in their node are one problem. One without a node stands alone. */
static const char *problem_key(struct arena *arena, const struct diag *d)
{
    if (!d->origin)
        return arena_printf(arena, "%p", (const void *)d);
    return arena_printf(arena, "%d %d %p\n%s\n%s\n%s", (int)d->severity, (int)d->code,
                        (const void *)d->file, d->message, d->note ? d->note : "",
                        d->help ? d->help : "");
}

/* The groups in the order of their first diagnostics. */
static struct group *group_all(struct arena *arena, const struct diag *first)
{
    struct map by_key = { .arena = arena };
    struct group *groups = NULL, **end = &groups;

    for (const struct diag *d = first; d; d = d->next) {
        const char *key = problem_key(arena, d);
        struct group *group = map_get(&by_key, key);
        struct member *member = arena_new(arena, struct member);

        if (!group) {
            group = *end = arena_new(arena, struct group);
            end = &group->next;
            map_set(&by_key, key, group);
        }
        member->diag = d;
        *(group->last ? &group->last->next : &group->first) = member;
        group->last = member;
        group->n++;
    }
    return groups;
}

/* " --> FILE: node #17 "NAME" (TYPE)", as far as there are such things. */
static void print_place(struct arena *arena, FILE *out, const struct diag *diag)
{
    const struct origin *o = diag->origin;

    if (!diag->file && !o)
        return;
    fputs(" -->", out);
    if (diag->file)
        fprintf(out, " %s%s", str_safe(arena, diag->file, 4096), o ? ":" : "");
    if (o && o->index >= 0)
        fprintf(out, " node #%ld", o->index);
    if (o && o->name[0])
        fprintf(out, " \"%s\"", str_safe(arena, o->name, 120));
    if (o)
        fprintf(out, " (%s)", str_safe(arena, o->op_type, 60));
    fputc('\n', out);
}

static void print_lines(FILE *out, const char *label, const char *text)
{
    const int indent = (int)strlen(label);

    while (text && *text) {
        const size_t n = strcspn(text, "\n");

        fprintf(out, "%*s%.*s\n", indent, label, (int)n, text);
        label = "";
        text += n + (text[n] == '\n');
    }
}

void diag_print(struct ctx *ctx, FILE *out, bool colour, int limit)
{
    const char *const red = colour ? "\033[1;31m" : "", *const yellow = colour ? "\033[1;33m" : "";
    const char *const off = colour ? "\033[0m" : "";
    struct arena arena = { NULL };

    for (const struct group *g = group_all(&arena, ctx->diags.first); g; g = g->next) {
        const struct diag *d = g->first->diag;
        const bool error = d->severity == DIAG_ERROR;
        int n = 0;

        fprintf(out, "%s%s[R%04d]%s: %s\n", error ? red : yellow, error ? "error" : "warning",
                (int)d->code, off, d->message);
        for (const struct member *m = g->first; m && (!limit || n < limit); m = m->next, n++)
            print_place(&arena, out, m->diag);
        if (n < g->n)
            fprintf(out, " ... and %d more node%s\n", g->n - n, g->n - n == 1 ? "" : "s");
        print_lines(out, "note: ", d->note);
        print_lines(out, "help: ", d->help);
    }
    arena_release(&arena);
}

int diag_exit_code(const struct ctx *ctx)
{
    int worst = 0;

    for (const struct diag *d = ctx->diags.first; d; d = d->next) {
        const int number = (int)d->code;
        int code = 1;

        if (d->severity != DIAG_ERROR)
            continue;
        if (number >= 900)
            code = 70;
        else if ((number >= 500 && number < 600) || number == DIAG_TARGET_UNKNOWN)
            code = 2;
        else if (number < 100)
            code = 3;
        worst = code > worst ? code : worst;
    }
    return worst;
}
