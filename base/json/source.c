#include "base/json/source.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

static bool is_unicode_escape(const char *at)
{
    if (at[0] != '\\' || at[1] != 'u')
        return false;
    for (int i = 2; i < 6; i++)
        if (!isxdigit((unsigned char)at[i]))
            return false;
    return true;
}

/* How many bytes the escape \uXXXX means in UTF-8; *length is how many it takes in the file. */
static size_t unicode_bytes(const char *at, size_t *length)
{
    const unsigned long code = strtoul((char[]){ at[2], at[3], at[4], at[5], '\0' }, NULL, 16);

    *length = 6;
    if (code >= 0xd800 && code < 0xdc00 && is_unicode_escape(at + 6)) {
        *length = 12; /* a surrogate pair */
        return 4;
    }
    return code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
}

/* Where byte `offset` of what the string says stands in the string as it is spelled. */
static size_t raw_offset(const char *raw, size_t offset)
{
    const char *at = raw;

    for (size_t said = 0; said < offset && *at && *at != '"';) {
        size_t length = *at == '\\' && at[1] ? 2 : 1, bytes = 1;

        if (is_unicode_escape(at))
            bytes = unicode_bytes(at, &length);
        at += length;
        said += bytes;
    }
    return (size_t)(at - raw);
}

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
    return diag_error(
        ctx, DIAG_TARGET_FILE, NULL, "%s:%d:%zu: %s", source->file, source->line,
        (size_t)source->column + (source->raw ? raw_offset(source->raw, offset) : offset), message);
}
