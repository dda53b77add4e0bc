/* resize.c - bilinear resizing in fixed point, bit for bit what Pillow's BILINEAR makes of 8-bit
 * images: along each axis a pixel is the weighted sum of those under a triangle around its centre.
 */
#include <math.h>
#include <string.h>

#include "frontend/tensors/image/image.h"

enum { WEIGHT_BITS = 22 };

/* How the pixels along one axis are made. */
struct taps {
    int most;     /* weights of one pixel */
    int *first;   /* [n] the first pixel that counts */
    int *count;   /* [n] how many do */
    int *weights; /* [n][most]; 1.0 is 1 << WEIGHT_BITS */
};

static struct taps make_taps(struct arena *arena, int from, int to, bool antialias)
{
    const double scale = (double)from / to;
    const double reach = antialias && scale > 1 ? scale : 1;
    struct taps taps = { .most = (int)ceil(reach) * 2 + 1 };
    double *exact = arena_array(arena, double, taps.most);

    taps.first = arena_array(arena, int, to);
    taps.count = arena_array(arena, int, to);
    taps.weights = arena_alloc_array(arena, (size_t)to, (size_t)taps.most * sizeof(int));
    for (int i = 0; i < to; i++) {
        const double centre = (i + 0.5) * scale;
        const int first = (int)fmax(centre - reach + 0.5, 0);
        const int end = (int)fmin(centre + reach + 0.5, from);
        double sum = 0;

        for (int k = 0; k < end - first; k++) {
            exact[k] = fmax(1 - fabs((k + first - centre + 0.5) / reach), 0);
            sum += exact[k];
        }
        taps.first[i] = first;
        taps.count[i] = end - first;
        for (int k = 0; k < end - first; k++)
            taps.weights[(size_t)i * (size_t)taps.most + (size_t)k] =
                (int)(exact[k] / sum * (1 << WEIGHT_BITS) + 0.5);
    }
    return taps;
}

/* The sum for one number of a pixel; `step` lies between neighbours. */
static uint8_t weigh(const struct taps *taps, int i, const uint8_t *from, size_t step)
{
    const int *weights = taps->weights + (size_t)i * (size_t)taps->most;
    int64_t sum = 1 << (WEIGHT_BITS - 1);

    from += (size_t)taps->first[i] * step;
    for (int k = 0; k < taps->count[i]; k++)
        sum += (int64_t)from[(size_t)k * step] * weights[k];
    sum >>= WEIGHT_BITS;
    return (uint8_t)(sum > 255 ? 255 : sum);
}

static void resize_rows(struct arena *arena, const struct image *from, int width, bool antialias,
                        struct image *out)
{
    const struct taps taps = make_taps(arena, from->width, width, antialias);

    for (int y = 0; y < from->height; y++) {
        const uint8_t *row = from->pixels + 3 * (size_t)from->width * (size_t)y;
        uint8_t *to = out->pixels + 3 * (size_t)width * (size_t)y;

        for (int x = 0; x < width; x++)
            for (size_t c = 0; c < 3; c++)
                *to++ = weigh(&taps, x, row + c, 3);
    }
}

static void resize_columns(struct arena *arena, const struct image *from, int height,
                           bool antialias, struct image *out)
{
    const struct taps taps = make_taps(arena, from->height, height, antialias);
    const size_t row = 3 * (size_t)from->width;

    for (int y = 0; y < height; y++)
        for (size_t x = 0; x < row; x++)
            out->pixels[row * (size_t)y + x] = weigh(&taps, y, from->pixels + x, row);
}

static struct image new_image(struct arena *arena, int width, int height)
{
    return (struct image){ width, height,
                           arena_alloc_array(arena, (size_t)height, 3 * (size_t)width) };
}

void image_resize(struct arena *arena, const struct image *from, int width, int height,
                  bool antialias, struct image *out)
{
    struct image now = *from;

    if (width != now.width) {
        struct image next = new_image(arena, width, now.height);

        resize_rows(arena, &now, width, antialias, &next);
        now = next;
    }
    if (height != now.height) {
        struct image next = new_image(arena, now.width, height);

        resize_columns(arena, &now, height, antialias, &next);
        now = next;
    }
    *out = now;
}
