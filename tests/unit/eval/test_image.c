/* Pictures: PNG and JPEG made here through the libraries, damaged ones, and resizing against what
 * Pillow and OpenCV make of the same pixels. */
#include <check.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "tests/support/expect.h"
#include "tests/support/pattern_image.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

enum { WIDTH = PATTERN_WIDTH, HEIGHT = PATTERN_HEIGHT };

static struct ctx *ctx;

static void setup(void)
{
    ctx = ctx_new(NULL);
}

static void teardown(void)
{
    ctx_free(ctx);
}

static struct image new_image(int width, int height)
{
    return (struct image){ width, height,
                           arena_alloc(&ctx->perm, 3 * (size_t)width * (size_t)height) };
}

/* --- files ------------------------------------------------------------------------------------ */

struct file {
    uint8_t *bytes;
    size_t size;
};

static struct file read_back(FILE *f)
{
    struct file file;

    fseek(f, 0, SEEK_END);
    file.size = (size_t)ftell(f);
    rewind(f);
    file.bytes = arena_alloc(&ctx->perm, file.size);
    ck_assert_uint_eq(fread(file.bytes, 1, file.size, f), file.size);
    fclose(f);
    return file;
}

/* `row_bytes` of each row, as they are. */
static struct file make_png(int width, int height, int type, int depth, bool interlaced,
                            const uint8_t *rows, size_t row_bytes)
{
    FILE *f = tmpfile();
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    const png_color palette[] = { { 1, 2, 3 }, { 250, 100, 50 }, { 9, 8, 7 }, { 0, 255, 0 } };
    png_bytepp pointers = arena_array(&ctx->perm, png_bytep, height);

    ck_assert(setjmp(png_jmpbuf(png)) == 0);
    png_init_io(png, f);
    png_set_IHDR(png, info, (unsigned)width, (unsigned)height, depth, type,
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 4);
    for (int y = 0; y < height; y++)
        pointers[y] = (png_bytep)(uintptr_t)(rows + row_bytes * (size_t)y);
    png_set_rows(png, info, pointers);
    png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    png_destroy_write_struct(&png, &info);
    return read_back(f);
}

static struct file png_of(const struct image *image, bool interlaced)
{
    return make_png(image->width, image->height, PNG_COLOR_TYPE_RGB, 8, interlaced, image->pixels,
                    3 * (size_t)image->width);
}

static struct file jpeg_of(const struct image *image, int components, bool progressive)
{
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr errors;
    FILE *f = tmpfile();

    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_compress(&cinfo);
    jpeg_stdio_dest(&cinfo, f);
    cinfo.image_width = (JDIMENSION)image->width;
    cinfo.image_height = (JDIMENSION)image->height;
    cinfo.input_components = components;
    cinfo.in_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&cinfo);
    jpeg_set_quality(&cinfo, 100, TRUE);
    if (progressive)
        jpeg_simple_progression(&cinfo);
    jpeg_start_compress(&cinfo, TRUE);
    while (cinfo.next_scanline < cinfo.image_height) {
        JSAMPROW row =
            image->pixels + (size_t)cinfo.next_scanline * cinfo.image_width * (size_t)components;

        jpeg_write_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    return read_back(f);
}

static bool decode(const struct file *file, struct image *out)
{
    return image_decode(ctx, "pic", file->bytes, file->size, &ctx->perm, out);
}

/* --- decoding --------------------------------------------------------------------------------- */

START_TEST(rgb_png_is_exact)
{
    const struct image image = pattern_image(&ctx->perm);
    const struct file file = png_of(&image, _i == 1);
    struct image got;

    ck_assert_msg(decode(&file, &got), "%s", expect_text(ctx));
    ck_assert(got.width == WIDTH && got.height == HEIGHT);
    ck_assert_mem_eq(got.pixels, image.pixels, 3 * WIDTH * HEIGHT);
}
END_TEST

static const struct {
    int type, depth;
    uint8_t row[8]; /* of an image of 2 x 1 */
    uint8_t pixels[6];
} kinds[] = {
    { PNG_COLOR_TYPE_GRAY, 8, { 7, 200 }, { 7, 7, 7, 200, 200, 200 } },
    { PNG_COLOR_TYPE_GRAY, 1, { 0x40 }, { 0, 0, 0, 255, 255, 255 } },
    { PNG_COLOR_TYPE_GRAY, 2, { 0x60 }, { 85, 85, 85, 170, 170, 170 } },
    { PNG_COLOR_TYPE_GRAY, 16, { 7, 99, 200, 0 }, { 7, 7, 7, 200, 200, 200 } },
    { PNG_COLOR_TYPE_GRAY_ALPHA, 8, { 7, 0, 200, 128 }, { 7, 7, 7, 200, 200, 200 } },
    { PNG_COLOR_TYPE_RGB_ALPHA, 8, { 1, 2, 3, 0, 4, 5, 6, 255 }, { 1, 2, 3, 4, 5, 6 } },
    { PNG_COLOR_TYPE_PALETTE, 8, { 1, 3 }, { 250, 100, 50, 0, 255, 0 } },
    { PNG_COLOR_TYPE_PALETTE, 2, { 0x80 }, { 9, 8, 7, 1, 2, 3 } },
};

START_TEST(every_kind_of_png_becomes_rgb)
{
    const struct file file =
        make_png(2, 1, kinds[_i].type, kinds[_i].depth, false, kinds[_i].row, 8);
    struct image got;

    ck_assert_msg(decode(&file, &got), "%s", expect_text(ctx));
    ck_assert_mem_eq(got.pixels, kinds[_i].pixels, 6);
}
END_TEST

/* JPEG at its best quality keeps slow changes to a few steps. */
START_TEST(jpeg_is_near_and_grey_stays_grey)
{
    const int components = _i & 1 ? 1 : 3;
    struct image image = new_image(24, 18), got;
    struct file file;

    for (int y = 0; y < 18; y++)
        for (int x = 0; x < 24; x++)
            for (int c = 0; c < components; c++)
                image.pixels[(y * 24 + x) * components + c] = (uint8_t)(40 + 5 * x + 4 * y);
    file = jpeg_of(&image, components, _i & 2);
    ck_assert_msg(decode(&file, &got), "%s", expect_text(ctx));
    ck_assert(got.width == 24 && got.height == 18);
    for (int i = 0; i < 24 * 18 * 3; i++) {
        const int wanted = 40 + 5 * (i / 3 % 24) + 4 * (i / 72);

        ck_assert_int_le(abs(got.pixels[i] - wanted), 4);
    }
}
END_TEST

START_TEST(cmyk_and_other_files_are_refused)
{
    struct image image = new_image(16, 16), got;
    struct file file = jpeg_of(&image, 3, false);

    image.width = 12;
    file = jpeg_of(&image, 4, false);
    ck_assert(!decode(&file, &got));
    ck_assert_msg(expect_error(ctx, DIAG_IMAGE_FILE, "cannot read pic: it has 4 colour components"),
                  "%s", expect_text(ctx));
    file = (struct file){ (uint8_t *)(uintptr_t) "GIF89a", 6 };
    ck_assert(!decode(&file, &got));
    ck_assert(expect_error(ctx, DIAG_IMAGE_FILE, "it is neither a PNG nor a JPEG file"));
    file.size = 0;
    ck_assert(!decode(&file, &got));
    ck_assert(expect_error(ctx, DIAG_IMAGE_FILE, "it is empty"));
}
END_TEST

static struct file sample_file(int kind)
{
    const struct image image = pattern_image(&ctx->perm);

    return kind < 2 ? png_of(&image, kind == 1) : jpeg_of(&image, 3, kind == 3);
}

/* Of a PNG, the last 12 bytes are the empty chunk IEND; of a JPEG, the last 2 end the image. */
START_TEST(truncated_files_are_errors)
{
    const struct file file = sample_file(_i);

    for (size_t n = 0; n < file.size; n++) {
        struct ctx *own = ctx_new(NULL);
        const uint8_t *part = arena_memdup(&own->perm, file.bytes, n);
        struct image got;

        ck_assert_msg(!image_decode(own, "p", part, n, &own->perm, &got), "%zu of %zu", n,
                      file.size);
        ck_assert(expect_error(own, DIAG_IMAGE_FILE, "cannot read p: "));
        ctx_free(own);
    }
}
END_TEST

/* An image or an error, never a crash, and nothing left behind (sanitizers). */
START_TEST(damaged_files_do_no_harm)
{
    const struct file file = sample_file(_i);

    for (size_t i = 0; i < file.size * 4; i++) {
        struct ctx *own = ctx_new(NULL);
        uint8_t *damaged = arena_memdup(&own->perm, file.bytes, file.size);
        struct image got;

        damaged[i / 4] = (uint8_t)(damaged[i / 4] ^ (i % 4 == 3 ? 0xff : 1 << (i % 4 * 2)));
        if (image_decode(own, "p", damaged, file.size, &own->perm, &got))
            ck_assert(got.width > 0 && got.height > 0 && got.pixels);
        else
            ck_assert_int_gt(own->diags.n_errors, 0);
        ctx_free(own);
    }
}
END_TEST

/* A header that promises more than anybody wants to hold. */
START_TEST(huge_images_are_refused)
{
    struct file png = sample_file(0), jpeg = sample_file(2);
    struct image got;

    memcpy(png.bytes + 16, "\0\0\xff\0\0\0\xff\0", 8); /* 65280 x 65280; the CRC follows */
    memcpy(png.bytes + 29, "\x70\x2a\x7b\x2a", 4);
    ck_assert(!decode(&png, &got));
    for (size_t i = 0; i + 9 < jpeg.size; i++)
        if (jpeg.bytes[i] == 0xff && jpeg.bytes[i + 1] == 0xc0)
            memcpy(jpeg.bytes + i + 5, "\xff\0\xff\0", 4);
    ck_assert(!decode(&jpeg, &got));
    ck_assert_msg(expect_error(ctx, DIAG_IMAGE_FILE, "it has 65280 x 65280 pixels"), "%s",
                  expect_text(ctx));
}
END_TEST

/* --- resizing --------------------------------------------------------------------------------- */

/* Pillow 13.0.0, Image.resize(..., BILINEAR). */
static const uint8_t pillow_5x4[] = { 75,  143, 144, 148, 139, 108, 129, 108, 110, 109, 119, 153,
                                      124, 152, 116, 156, 102, 107, 131, 129, 117, 123, 135, 130,
                                      129, 127, 134, 157, 102, 144, 147, 119, 147, 135, 133, 130,
                                      125, 134, 143, 115, 120, 110, 128, 100, 94,  127, 126, 113,
                                      152, 149, 127, 141, 133, 136, 89,  143, 104, 112, 111, 118 };
static const uint8_t pillow_3x20_rows_9_10[] = { 148, 102, 131, 117, 137, 147, 152, 106, 116,
                                                 148, 107, 138, 118, 134, 146, 145, 104, 107 };
static const uint8_t pillow_17x9_row_4[] = { 177, 4,   87,  222, 49,  132, 170, 103, 186, 73,  156,
                                             194, 127, 210, 52,  180, 83,  90,  113, 61,  144, 31,
                                             114, 197, 85,  168, 251, 139, 222, 109, 192, 140, 102,
                                             170, 73,  156, 43,  126, 194, 97,  180, 52,  150, 83,
                                             60,  204, 31,  114, 249, 76,  159 };
/* OpenCV 5.0.0, resize(..., INTER_LINEAR). */
static const uint8_t opencv_5x4[] = { 55,  138, 144, 162, 149, 72,  173, 96,  83,  120, 107, 190,
                                      131, 182, 118, 174, 45,  84,  75,  145, 119, 200, 59,  142,
                                      113, 184, 132, 213, 85,  167, 113, 119, 202, 154, 89,  153,
                                      194, 53,  136, 158, 94,  87,  128, 135, 38,  155, 110, 84,
                                      156, 175, 124, 157, 80,  163, 62,  145, 106, 127, 82,  146 };

static const struct {
    int width, height;
    bool antialias;
    int first_row; /* of the result, that is wanted */
    const uint8_t *wanted;
    int n, tolerance; /* OpenCV rounds its weights to 11 bits */
} resizes[] = {
    { 5, 4, true, 0, pillow_5x4, sizeof pillow_5x4, 0 },
    { 3, 20, true, 9, pillow_3x20_rows_9_10, sizeof pillow_3x20_rows_9_10, 0 },
    { 17, 9, true, 4, pillow_17x9_row_4, sizeof pillow_17x9_row_4, 0 },
    { 5, 4, false, 0, opencv_5x4, sizeof opencv_5x4, 1 },
};

START_TEST(resizing_is_that_of_pillow_and_opencv)
{
    const struct image image = pattern_image(&ctx->perm);
    const int width = resizes[_i].width;
    struct image got;

    image_resize(&ctx->perm, &image, width, resizes[_i].height, resizes[_i].antialias, &got);
    ck_assert(got.width == width && got.height == resizes[_i].height);
    for (int i = 0; i < resizes[_i].n; i++)
        ck_assert_msg(abs(got.pixels[resizes[_i].first_row * width * 3 + i] -
                          resizes[_i].wanted[i]) <= resizes[_i].tolerance,
                      "number %d: %d, wanted %d", i,
                      got.pixels[resizes[_i].first_row * width * 3 + i], resizes[_i].wanted[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("image");
    TCase *tests = tcase_create("image");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, rgb_png_is_exact, 0, 2);
    tcase_add_loop_test(tests, every_kind_of_png_becomes_rgb, 0, N_ROWS(kinds));
    tcase_add_loop_test(tests, jpeg_is_near_and_grey_stays_grey, 0, 4);
    tcase_add_test(tests, cmyk_and_other_files_are_refused);
    tcase_add_loop_test(tests, truncated_files_are_errors, 0, 4);
    tcase_add_loop_test(tests, damaged_files_do_no_harm, 0, 4);
    tcase_add_test(tests, huge_images_are_refused);
    tcase_add_loop_test(tests, resizing_is_that_of_pillow_and_opencv, 0, N_ROWS(resizes));
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
