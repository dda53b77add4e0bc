/* preprocess.h - converts an image to a network's input tensor, configured by a JSON file
 * (docs/guide/calibration.md). An element is (pixel * scale - mean) / std. */
#ifndef FRONTEND_TENSORS_IMAGE_PREPROCESS_H
#define FRONTEND_TENSORS_IMAGE_PREPROCESS_H

#include "frontend/tensors/image/image.h"
#include "relay_ir/type.h"

enum resize_mode {
    RESIZE_NONE,
    RESIZE_SHORTER,  /* the shorter side becomes `size`, keeping the aspect ratio, rounded down */
    RESIZE_EXACT,    /* width x height, ignoring the aspect ratio */
    RESIZE_LETTERBOX /* fits into width x height, keeping the aspect ratio; fills the rest */
};

enum channel_order { CHANNELS_RGB, CHANNELS_BGR, CHANNELS_GRAY };

struct preprocessing {
    enum resize_mode resize;
    int size;          /* shorter */
    int width, height; /* exact, letterbox */
    bool antialias;
    double fill;                 /* letterbox: 0 .. 255 */
    bool top_left;               /* letterbox: image at the top left; else centred */
    bool round_down;             /* letterbox: rounds the new size down; else to nearest */
    int crop_width, crop_height; /* centred; 0 = no crop */
    enum channel_order channels;
    double scale, mean[3], std[3]; /* in the order of the tensor's channels */
    bool nhwc;
    enum dtype dtype;
};

/* Default: RGB, pixels 0 .. 255, NCHW, f32. */
struct preprocessing preprocessing_default(void);

/* Parses and reads a configuration. All errors (PREPROCESSING) are reported, with path and
 * member. */
bool preprocessing_parse(struct ctx *ctx, const char *path, const char *text, size_t n,
                         struct preprocessing *out);
bool preprocessing_read(struct ctx *ctx, const char *path, struct preprocessing *out);

/* Makes the tensor in bulk; `wanted` is the type of the network's input. Temporary data is in the
 * arena. Errors name the image's path. */
bool preprocess_image(struct ctx *ctx, const char *path, const struct preprocessing *how,
                      const struct image *image, const struct type *wanted, struct arena *arena,
                      struct bulk *bulk, struct tensor *out);

/* Position of an image in the tensor: x of the image is at x * scale_x + left. A letterbox scales
 * by the exact ratio of sides, as training labels are scaled, although the resized image has whole
 * pixels. For mapping detections back. */
struct placement {
    double left, top, scale_x, scale_y;
};
struct placement preprocess_placement(const struct preprocessing *how, int width, int height);

#endif
