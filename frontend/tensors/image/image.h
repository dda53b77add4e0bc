/* image.h - pictures: decoding PNG and JPEG, resizing. Pixels are RGB, 8 bits each. */
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
 * (IMAGE_FILE) name the path. May be called by several threads, each with its own ctx. */
bool image_decode(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
                  struct arena *arena, struct image *out);

/* Bilinear, first along rows, then along columns, rounded to 8 bits after each, as Pillow does:
 * with `antialias` the triangle is as wide as the pixels it replaces, so that shrinking averages;
 * without it is two pixels wide always, as OpenCV's INTER_LINEAR is. Pixel centres lie at one half.
 */
void image_resize(struct arena *arena, const struct image *from, int width, int height,
                  bool antialias, struct image *out);

/* --- for decode.c ----------------------------------------------------------------------------- */

/* Returns false. */
bool image_error(struct ctx *ctx, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* False after an error when an image of this size is not taken on. */
bool image_check_size(struct ctx *ctx, const char *path, uint64_t width, uint64_t height);

bool image_decode_png(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
                      struct arena *arena, struct image *out);
bool image_decode_jpeg(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
                       struct arena *arena, struct image *out);

#endif
