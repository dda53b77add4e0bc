#include <string.h>

#include "base/str.h"
#include "frontend/tensors/image/image.h"

bool image_error(struct ctx *ctx, const char *path, const char *format, ...)
{
    const char *what;
    va_list args;

    va_start(args, format);
    what = arena_vprintf(&ctx->perm, format, args);
    va_end(args);
    return diag_error(ctx, DIAG_IMAGE_FILE, NULL, "cannot read %s: %s",
                      str_safe(&ctx->perm, path, 4096), str_safe(&ctx->perm, what, 300));
}

bool image_check_size(struct ctx *ctx, const char *path, uint64_t width, uint64_t height)
{
    if (width == 0 || height == 0)
        return image_error(ctx, path, "it has no pixels");
    if (width > MAX_IMAGE_SIDE || height > MAX_IMAGE_SIDE || width * height > MAX_IMAGE_PIXELS)
        return image_error(ctx, path, "it has %llu x %llu pixels, at most %d are read",
                           (unsigned long long)width, (unsigned long long)height, MAX_IMAGE_PIXELS);
    return true;
}

bool image_decode(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
                  struct arena *arena, struct image *out)
{
    if (size >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0)
        return image_decode_png(ctx, path, bytes, size, arena, out);
    if (size >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0)
        return image_decode_jpeg(ctx, path, bytes, size, arena, out);
    return image_error(ctx, path, size ? "it is neither a PNG nor a JPEG file" : "it is empty");
}
