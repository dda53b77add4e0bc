#include "tests/support/expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has(const char *text, const char *part)
{
    return text && strstr(text, part);
}

static bool find(const struct ctx *ctx, enum diag_severity severity, enum diag_code code,
                 const char *part)
{
    for (const struct diag *d = ctx->diags.first; d; d = d->next)
        if (d->severity == severity && d->code == code &&
            (has(d->message, part) || has(d->note, part) || has(d->help, part)))
            return true;
    return false;
}

bool expect_error(const struct ctx *ctx, enum diag_code code, const char *part)
{
    return find(ctx, DIAG_ERROR, code, part);
}

bool expect_warning(const struct ctx *ctx, enum diag_code code, const char *part)
{
    return find(ctx, DIAG_WARNING, code, part);
}

const char *expect_text(struct ctx *ctx)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    const char *copy;

    if (!out)
        abort();
    diag_print(ctx, out, false, 0);
    fclose(out);
    copy = arena_strndup(&ctx->perm, text, n);
    free(text);
    return copy;
}
