/* png.c - PNG through libpng. Its errors jump: everything that a jump could lose hangs on struct
 * png, which lives outside of the function that jumps. */
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "base/memory.h"
#include "frontend/tensors/image/image.h"

enum { PNG_MAX_CHUNK_BYTES = 8 << 20, PNG_MAX_CHUNKS = 1000 };

struct png {
    struct ctx *ctx;
    const char *path;
    const uint8_t *at;
    size_t left;
    struct arena *arena;
    struct image *out;
    png_structp png;
    png_infop info;
};

static _Noreturn void on_error(png_structp png, png_const_charp what)
{
    const struct png *p = png_get_error_ptr(png);

    image_error(p->ctx, p->path, "%s", what);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp what)
{
    (void)png;
    (void)what; /* such as an odd colour profile: pixels do not depend on it */
}

static void read_bytes(png_structp png, png_bytep to, size_t n)
{
    struct png *p = png_get_io_ptr(png);

    if (n > p->left)
        png_error(png, "the file is cut off");
    memcpy(to, p->at, n);
    p->at += n;
    p->left -= n;
}

/* What makes 8-bit RGB of every kind of PNG. */
static void set_transformations(struct png *p)
{
    const int type = png_get_color_type(p->png, p->info);

    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(p->png);
    if (type == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(p->png, p->info) < 8)
        png_set_expand_gray_1_2_4_to_8(p->png);
    if (png_get_bit_depth(p->png, p->info) == 16)
        png_set_strip_16(p->png);
    if (!(type & PNG_COLOR_MASK_COLOR))
        png_set_gray_to_rgb(p->png);
    png_set_strip_alpha(p->png);
    png_set_interlace_handling(p->png);
    png_read_update_info(p->png, p->info);
}

static bool decode(struct png *p)
{
    uint8_t **rows;

    if (setjmp(png_jmpbuf(p->png)))
        return false;
    png_set_user_limits(p->png, MAX_IMAGE_SIDE, MAX_IMAGE_SIDE);
    png_set_chunk_malloc_max(p->png, PNG_MAX_CHUNK_BYTES);
    png_set_chunk_cache_max(p->png, PNG_MAX_CHUNKS);
    png_set_read_fn(p->png, p, read_bytes);
    png_read_info(p->png, p->info);
    if (!image_check_size(p->ctx, p->path, png_get_image_width(p->png, p->info),
                          png_get_image_height(p->png, p->info)))
        return false;
    set_transformations(p);
    p->out->width = (int)png_get_image_width(p->png, p->info);
    p->out->height = (int)png_get_image_height(p->png, p->info);
    if (png_get_rowbytes(p->png, p->info) != 3 * (size_t)p->out->width)
        png_error(p->png, "an unknown kind of pixels");
    p->out->pixels = arena_alloc_array(p->arena, (size_t)p->out->height, 3 * (size_t)p->out->width);
    rows = arena_array(p->arena, uint8_t *, p->out->height);
    for (int y = 0; y < p->out->height; y++)
        rows[y] = p->out->pixels + 3 * (size_t)p->out->width * (size_t)y;
    png_read_image(p->png, rows);
    png_read_end(p->png, NULL);
    return true;
}

static void release(void *user, size_t size)
{
    struct png *p = user;

    (void)size;
    png_destroy_read_struct(p->png ? &p->png : NULL, p->info ? &p->info : NULL, NULL);
}

bool image_decode_png(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
                      struct arena *arena, struct image *out)
{
    struct png *p = arena_new(arena, struct png); /* in memory, so that its owner can release it */
    bool ok;

    *p = (struct png){ ctx, path, bytes, size, arena, out, NULL, NULL };
    memory_own(p, release, 0);
    p->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, p, on_error, on_warning);
    p->info = p->png ? png_create_info_struct(p->png) : NULL;
    ok = p->info ? decode(p) : image_error(ctx, path, "libpng does not start");
    memory_disown(p);
    release(p, 0);
    return ok;
}
