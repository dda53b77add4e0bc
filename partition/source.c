#include "partition/source.h"

#include <stdarg.h>

bool source_error(struct ctx *ctx, const struct source *source, size_t offset, const char *format,
                  ...)
{
    const char *message;
    va_list args;

    va_start(args, format);
    message = arena_vprintf(&ctx->perm, format, args);
    va_end(args);
    if (source->line == 0)
        return diag_error(ctx, DIAG_TARGET_FILE, NULL, "%s: %s", source->file, message);
    return diag_error(ctx, DIAG_TARGET_FILE, NULL, "%s:%d:%zu: %s", source->file, source->line,
                      (size_t)source->column + offset, message);
}
