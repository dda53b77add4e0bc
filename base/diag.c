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
    struct diag *diag;

    for (diag = diags->first; diag; diag = diag->next)
        if (diag->code == code && diag->origin == origin && strcmp(diag->message, message) == 0)
            return;
    diag = arena_new(&ctx->perm, struct diag);
    diag->severity = severity;
    diag->code = code;
    diag->origin = origin;
    diag->file = diags->input_name;
    diag->message = message;
    if (diags->last)
        diags->last->next = diag;
    else
        diags->first = diag;
    diags->last = diag;
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

/* Appends a line to *text unless it ends with that very line already (a repeated diagnostic). */
static void add_line(struct ctx *ctx, const char **text, const char *format, va_list args)
{
    const char *line = arena_vprintf(&ctx->perm, format, args);

    if (!*text)
        *text = line;
    else if (!str_ends(*text, line))
        *text = arena_printf(&ctx->perm, "%s\n%s", *text, line);
}

void diag_note(struct ctx *ctx, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (ctx->diags.last)
        add_line(ctx, &ctx->diags.last->note, format, args);
    va_end(args);
}

void diag_help(struct ctx *ctx, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (ctx->diags.last)
        add_line(ctx, &ctx->diags.last->help, format, args);
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

static bool same_problem(const struct diag *a, const struct diag *b)
{
    return a->severity == b->severity && a->code == b->code && a->origin && b->origin &&
           strcmp(a->message, b->message) == 0 && (a->file == b->file) &&
           (a->note == b->note || (a->note && b->note && strcmp(a->note, b->note) == 0)) &&
           (a->help == b->help || (a->help && b->help && strcmp(a->help, b->help) == 0));
}

static void print_place(struct ctx *ctx, FILE *out, const struct diag *diag)
{
    const struct origin *o = diag->origin;

    if (!diag->file && !o)
        return;
    fprintf(out, " --> %s", diag->file ? str_safe(&ctx->scratch, diag->file, 4096) : "");
    if (o) {
        if (o->index >= 0)
            fprintf(out, "%snode #%ld", diag->file ? ": " : "", o->index);
        if (o->name[0])
            fprintf(out, " \"%s\"", str_safe(&ctx->scratch, o->name, 120));
        fprintf(out, " (%s)", str_safe(&ctx->scratch, o->op_type, 60));
    }
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

    for (const struct diag *d = ctx->diags.first; d; d = d->next) {
        const bool error = d->severity == DIAG_ERROR;
        bool shown = false;
        int n = 0;

        for (const struct diag *e = ctx->diags.first; e != d && !shown; e = e->next)
            shown = same_problem(d, e);
        if (shown)
            continue;
        fprintf(out, "%s%s[R%04d]%s: %s\n", error ? red : yellow, error ? "error" : "warning",
                (int)d->code, off, d->message);
        for (const struct diag *e = d; e; e = e->next)
            if (e == d || same_problem(d, e)) {
                if (!limit || n < limit)
                    print_place(ctx, out, e);
                n++;
            }
        if (limit && n > limit)
            fprintf(out, " ... and %d more nodes\n", n - limit);
        print_lines(out, "note: ", d->note);
        print_lines(out, "help: ", d->help);
    }
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
        else if (number >= 500 && number < 600)
            code = 2;
        else if (number < 100)
            code = 3;
        worst = code > worst ? code : worst;
    }
    return worst;
}
