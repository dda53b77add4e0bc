/* image.h - images: PNG and JPEG decoding, resizing. Pixels are RGB, 8 bits each. */
#ifndef FRONTEND_TENSORS_IMAGE_IMAGE_H
#define FRONTEND_TENSORS_IMAGE_IMAGE_H

#include <stdint.h>

#include "base/ctx.h"

enum { MAX_IMAGE_SIDE = 65500, MAX_IMAGE_PIXELS = 64 << 20 };

struct image {
    int width, height;
    uint8_t *pixels; /* [height][width][3] */
};

/* Recognises the format by its first bytes. Grey becomes RGB, 16 bits become the upper 8, alpha is
 * dropped; orientation (EXIF) and colour profiles are ignored. The pixels live in the arena. Errors
 * (IMAGE_FILE) name the path. Thread-safe with one ctx per thread. */
bool image_decode(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
                  struct arena *arena, struct image *out);

/* Bilinear resize, rows first, then columns, rounded to 8 bits after each, as in Pillow: with
 * `antialias` the triangle filter covers the replaced pixels, so that shrinking averages; without,
 * it is two pixels wide, as OpenCV's INTER_LINEAR. Pixel centres are at 0.5. */
void image_resize(struct arena *arena, const struct image *from, int width, int height,
                  bool antialias, struct image *out);

/* --- for decode.c ----------------------------------------------------------------------------- */

/* Returns false. */
bool image_error(struct ctx *ctx, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* False after an error if an image of this size is too large. */
bool image_check_size(struct ctx *ctx, const char *path, uint64_t width, uint64_t height);

bool image_decode_png(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
                      struct arena *arena, struct image *out);
bool image_decode_jpeg(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
                       struct arena *arena, struct image *out);

#endif
