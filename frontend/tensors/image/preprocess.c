#include "frontend/tensors/image/preprocess.h"

#include <math.h>
#include <string.h>

/* The size after resizing, before limits are looked at. */
static void new_size(const struct preprocessing *how, int width, int height, double *new_width,
                     double *new_height)
{
    const double w = width, h = height;
    const double ratio = fmin((double)how->width / width, (double)how->height / height);

    *new_width = w;
    *new_height = h;
    switch (how->resize) {
    case RESIZE_NONE: break;
    case RESIZE_EXACT:
        *new_width = how->width;
        *new_height = how->height;
        break;
    case RESIZE_LETTERBOX: /* the side that fits exactly must not lose a pixel to the rounding of
                              the ratio */
        *new_width = how->round_down ? floor(w * ratio + 1e-6) : rint(w * ratio);
        *new_height = how->round_down ? floor(h * ratio + 1e-6) : rint(h * ratio);
        *new_width = fmax(fmin(*new_width, how->width), 1);
        *new_height = fmax(fmin(*new_height, how->height), 1);
        break;
    case RESIZE_SHORTER:
        *new_width = w < h ? how->size : floor(how->size * w / h);
        *new_height = w < h ? floor(how->size * h / w) : how->size;
        break;
    }
}

/* False after an error when rows of the new width, or the new image, would be too big. */
static bool resize_to(struct ctx *ctx, const char *path, struct arena *arena,
                      const struct preprocessing *how, double width, double height,
                      struct image *image)
{
    const uint64_t w = (uint64_t)fmax(width, 1), h = (uint64_t)fmax(height, 1);
    const uint64_t tall = h > (uint64_t)image->height ? h : (uint64_t)image->height;

    if (!image_check_size(ctx, path, w, tall))
        return false;
    image_resize(arena, image, (int)w, (int)h, how->antialias, image);
    return true;
}

static bool letterbox(struct ctx *ctx, const char *path, struct arena *arena,
                      const struct preprocessing *how, struct image *image)
{
    const uint8_t fill = (uint8_t)lrint(how->fill);
    struct image box = { how->width, how->height, NULL };
    double width, height;
    int left, top;

    new_size(how, image->width, image->height, &width, &height);
    if (!image_check_size(ctx, path, (uint64_t)how->width, (uint64_t)how->height) ||
        !resize_to(ctx, path, arena, how, width, height, image))
        return false;
    left = how->top_left ? 0 : (box.width - image->width) / 2;
    top = how->top_left ? 0 : (box.height - image->height) / 2;
    box.pixels = arena_alloc_array(arena, (size_t)box.height, 3 * (size_t)box.width);
    memset(box.pixels, fill, 3 * (size_t)box.width * (size_t)box.height);
    for (int y = 0; y < image->height; y++)
        memcpy(box.pixels + 3 * ((size_t)(top + y) * (size_t)box.width + (size_t)left),
               image->pixels + 3 * (size_t)y * (size_t)image->width, 3 * (size_t)image->width);
    *image = box;
    return true;
}

static bool resize(struct ctx *ctx, const char *path, struct arena *arena,
                   const struct preprocessing *how, struct image *image)
{
    double width, height;

    if (how->resize == RESIZE_LETTERBOX)
        return letterbox(ctx, path, arena, how, image);
    new_size(how, image->width, image->height, &width, &height);
    return how->resize == RESIZE_NONE || resize_to(ctx, path, arena, how, width, height, image);
}

/* Only the corner moves; rows keep their length in `stride`. */
struct window {
    const uint8_t *pixels;
    int width, height;
    size_t stride;
};

static bool crop(struct ctx *ctx, const char *path, const struct preprocessing *how,
                 const struct image *image, struct window *out)
{
    int left, top;

    *out = (struct window){ image->pixels, image->width, image->height, 3 * (size_t)image->width };
    if (!how->crop_width)
        return true;
    if (how->crop_width > image->width || how->crop_height > image->height) {
        image_error(ctx, path, "it is %d x %d before the crop to %d x %d", image->width,
                    image->height, how->crop_width, how->crop_height);
        diag_help(ctx, "'resize' comes before 'crop'");
        return false;
    }
    left = (image->width - how->crop_width) / 2;
    top = (image->height - how->crop_height) / 2;
    out->pixels += (size_t)top * out->stride + 3 * (size_t)left;
    out->width = how->crop_width;
    out->height = how->crop_height;
    return true;
}

static double channel(const uint8_t *pixel, enum channel_order order, int c)
{
    switch (order) {
    case CHANNELS_RGB: return pixel[c];
    case CHANNELS_BGR: return pixel[2 - c];
    case CHANNELS_GRAY: /* ITU-R BT.601, in the fixed point that Pillow uses */
        return (pixel[0] * 19595 + pixel[1] * 38470 + pixel[2] * 7471 + 0x8000) >> 16;
    }
    return 0;
}

static void fill_tensor(const struct preprocessing *how, const struct window *from, int channels,
                        const struct tensor *out)
{
    const int64_t plane = (int64_t)from->width * from->height;

    for (int c = 0; c < channels; c++)
        for (int y = 0; y < from->height; y++) {
            const uint8_t *row = from->pixels + (size_t)y * from->stride;

            for (int x = 0; x < from->width; x++) {
                const double number = channel(row + 3 * (size_t)x, how->channels, c);
                const int64_t pixel = (int64_t)y * from->width + x;

                dtype_store(out->type.dtype, out->data,
                            how->nhwc ? pixel * channels + c : c * plane + pixel,
                            (number * how->scale - how->mean[c]) / how->std[c]);
            }
        }
}

bool preprocess_image(struct ctx *ctx, const char *path, const struct preprocessing *how,
                      const struct image *image, const struct type *wanted, struct arena *arena,
                      struct bulk *bulk, struct tensor *out)
{
    const int channels = how->channels == CHANNELS_GRAY ? 1 : 3;
    struct image now = *image;
    struct window window;
    struct type type;

    if (!resize(ctx, path, arena, how, &now) || !crop(ctx, path, how, &now, &window))
        return false;
    type = type_make(how->dtype, 4, (int64_t[]){ 1, channels, window.height, window.width });
    if (how->nhwc)
        type = type_make(how->dtype, 4, (int64_t[]){ 1, window.height, window.width, channels });
    if (type.dtype != wanted->dtype || !type_same_shape(&type, wanted)) {
        image_error(ctx, path, "it becomes %s, the model's input is %s",
                    type_text(&ctx->perm, &type), type_text(&ctx->perm, wanted));
        diag_help(ctx, "--preprocess defines resizing, cropping and layout");
        return false;
    }
    *out = tensor_new(bulk, &type);
    fill_tensor(how, &window, channels, out);
    return true;
}

struct placement preprocess_placement(const struct preprocessing *how, int width, int height)
{
    struct placement p = { 0 };
    double w, h;

    new_size(how, width, height, &w, &h);
    p.scale_x = w / width;
    p.scale_y = h / height;
    if (how->resize == RESIZE_LETTERBOX) {
        p.scale_x = p.scale_y = fmin((double)how->width / width, (double)how->height / height);
        p.left = how->top_left ? 0 : floor((how->width - w) / 2);
        p.top = how->top_left ? 0 : floor((how->height - h) / 2);
        w = how->width;
        h = how->height;
    }
    if (how->crop_width) {
        p.left -= floor((w - how->crop_width) / 2);
        p.top -= floor((h - how->crop_height) / 2);
    }
    return p;
}
