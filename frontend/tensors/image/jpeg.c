/* jpeg.c - JPEG through libjpeg-turbo, decoded exactly (accurate DCT, smooth chroma), as Pillow and
 * OpenCV do. Its errors jump: everything that a jump could lose hangs on struct jpeg.
 *
 * libjpeg makes up what is missing in a damaged file and warns; here that is an error. A
 * progressive file may ask for the whole image again in every scan of a few bytes, so scans are
 * limited. */
#include <stdio.h> /* jpeglib.h wants it */

#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>

#include "base/memory.h"
#include "frontend/tensors/image/image.h"

enum { MAX_SCANS = 100 };

struct jpeg {
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf jump;
    struct ctx *ctx;
    const char *path;
    struct arena *arena;
    struct image *out;
};

static struct jpeg *jpeg_of(j_common_ptr cinfo)
{
    return cinfo->client_data;
}

static _Noreturn void fail(j_common_ptr cinfo)
{
    const struct jpeg *j = jpeg_of(cinfo);
    char what[JMSG_LENGTH_MAX];

    cinfo->err->format_message(cinfo, what);
    image_error(j->ctx, j->path, "%s", what);
    longjmp(jpeg_of(cinfo)->jump, 1);
}

static void on_message(j_common_ptr cinfo, int level)
{
    switch (level < 0 ? cinfo->err->msg_code : 0) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC: fail(cinfo);
    default: break; /* the pixels are all there */
    }
}

static void on_progress(j_common_ptr cinfo)
{
    struct jpeg *j = jpeg_of(cinfo);

    if (j->cinfo.input_scan_number <= MAX_SCANS)
        return;
    image_error(j->ctx, j->path, "it has more than %d scans", MAX_SCANS);
    longjmp(j->jump, 1);
}

static bool decode(struct jpeg *j, const uint8_t *bytes, size_t size)
{
    struct jpeg_decompress_struct *cinfo = &j->cinfo;

    if (setjmp(j->jump))
        return false;
    jpeg_create_decompress(cinfo);
    jpeg_mem_src(cinfo, bytes, (unsigned long)size);
    cinfo->progress = &j->progress;
    jpeg_read_header(cinfo, TRUE);
    if (!image_check_size(j->ctx, j->path, cinfo->image_width, cinfo->image_height))
        return false;
    if (cinfo->num_components != 1 && cinfo->num_components != 3)
        return image_error(j->ctx, j->path, "it has %d colour components (CMYK?), 1 and 3 are read",
                           cinfo->num_components);
    cinfo->out_color_space = JCS_RGB;
    cinfo->dct_method = JDCT_ISLOW;
    jpeg_start_decompress(cinfo);
    j->out->width = (int)cinfo->output_width;
    j->out->height = (int)cinfo->output_height;
    j->out->pixels =
        arena_alloc_array(j->arena, cinfo->output_height, 3 * (size_t)cinfo->output_width);
    while (cinfo->output_scanline < cinfo->output_height) {
        JSAMPROW row = j->out->pixels + 3 * (size_t)cinfo->output_width * cinfo->output_scanline;

        jpeg_read_scanlines(cinfo, &row, 1);
    }
    jpeg_finish_decompress(cinfo);
    return true;
}

static void release(void *user, size_t size)
{
    struct jpeg *j = user;

    (void)size;
    jpeg_destroy_decompress(&j->cinfo);
}

bool image_decode_jpeg(struct ctx *ctx, const char *path, const uint8_t *bytes, size_t size,
                       struct arena *arena, struct image *out)
{
    struct jpeg *j =
        arena_new(arena, struct jpeg); /* in memory, so that its owner can release it */
    bool ok;

    j->ctx = ctx;
    j->path = path;
    j->arena = arena;
    j->out = out;
    j->cinfo.client_data = j;
    j->cinfo.err = jpeg_std_error(&j->errors);
    j->errors.error_exit = fail;
    j->errors.emit_message = on_message;
    j->progress.progress_monitor = on_progress;
    memory_own(j, release, 0);
    ok = decode(j, bytes, size);
    memory_disown(j);
    release(j, 0);
    return ok;
}
