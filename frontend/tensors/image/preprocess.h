/* preprocess.h - from a picture to the tensor that a network wants, as a JSON file says it
 * (docs/guide/calibration.md). An element is (pixel * scale - mean) / std. */
#ifndef FRONTEND_TENSORS_IMAGE_PREPROCESS_H
#define FRONTEND_TENSORS_IMAGE_PREPROCESS_H

#include "frontend/tensors/image/image.h"
#include "relay_ir/type.h"

enum resize_mode {
    RESIZE_NONE,
    RESIZE_SHORTER,  /* the shorter side becomes `size`, the other keeps the ratio, rounded down */
    RESIZE_EXACT,    /* width x height, whatever the ratio was */
    RESIZE_LETTERBOX /* into width x height with the ratio kept; the rest is filled */
};

enum channel_order { CHANNELS_RGB, CHANNELS_BGR, CHANNELS_GRAY };

struct preprocessing {
    enum resize_mode resize;
    int size;          /* shorter */
    int width, height; /* exact, letterbox */
    bool antialias;
    double fill;                 /* letterbox: 0 .. 255 */
    bool top_left;               /* letterbox: where the image stands; else in the middle */
    bool round_down;             /* letterbox: of the new size; else to the nearest */
    int crop_width, crop_height; /* from the middle; 0 = no crop */
    enum channel_order channels;
    double scale, mean[3], std[3]; /* in the order of the tensor's channels */
    bool nhwc;
    enum dtype dtype;
};

/* What is done when no file says anything: RGB, pixels 0..255, NCHW, f32. */
struct preprocessing preprocessing_default(void);

/* Errors (PREPROCESSING), all at once, name the path and the member. */
bool preprocessing_parse(struct ctx *ctx, const char *path, const char *text, size_t n,
                         struct preprocessing *out);
bool preprocessing_read(struct ctx *ctx, const char *path, struct preprocessing *out);

/* Makes the tensor; `wanted` is the type that the network's input has. Works in the arena, the
 * result is of bulk. Errors name the path of the image. */
bool preprocess_image(struct ctx *ctx, const char *path, const struct preprocessing *how,
                      const struct image *image, const struct type *wanted, struct arena *arena,
                      struct bulk *bulk, struct tensor *out);

/* Where an image of this size comes to lie in the tensor: position x of the image at x * scale_x +
 * left. A letterbox scales by the ratio of the sides, as labels are scaled for training, though the
 * picture itself is as wide as whole pixels allow. For those who bring positions back to the image.
 */
struct placement {
    double left, top, scale_x, scale_y;
};
struct placement preprocess_placement(const struct preprocessing *how, int width, int height);

#endif
