/* Pictures: PNG and JPEG made here through the libraries, damaged ones, resizing against what
 * Pillow and OpenCV make of the same pixels, and the inputs that come with the shared models, which
 * Pillow prepared. */
#include <check.h>
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "frontend/tensors/image/preprocess.h"
#include "frontend/tensors/tensor_file.h"
#include "tests/support/expect.h"
#include "tests/support/temp_dir.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

enum { WIDTH = 13, HEIGHT = 7 };

static struct ctx *ctx;
static struct bulk bulk;
static struct temp_dir dir;

static void setup(void)
{
    ctx = ctx_new(NULL);
    dir = temp_dir_new();
}

static void teardown(void)
{
    temp_dir_free(&dir);
    bulk_release(&bulk);
    ctx_free(ctx);
}

static struct image new_image(int width, int height)
{
    return (struct image){ width, height,
                           arena_alloc(&ctx->perm, 3 * (size_t)width * (size_t)height) };
}

/* The pixels that the expected numbers below were made from. */
static struct image pattern(void)
{
    struct image image = new_image(WIDTH, HEIGHT);

    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 3; c++)
                image.pixels[(y * WIDTH + x) * 3 + c] =
                    (uint8_t)(x * 37 + y * 59 + c * 83 + x * y * 11);
    return image;
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
    const struct image image = pattern();
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
    const struct image image = pattern();

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
    const struct image image = pattern();
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

/* --- preprocessing ---------------------------------------------------------------------------- */

static struct preprocessing spec(const char *text)
{
    struct preprocessing how;

    ck_assert_msg(preprocessing_parse(ctx, "s.json", text, strlen(text), &how), "%s",
                  expect_text(ctx));
    return how;
}

static struct tensor prepare(const char *text, enum dtype dtype, const int64_t dim[4])
{
    const struct preprocessing how = spec(text);
    const struct image image = pattern();
    const struct type wanted = type_make(dtype, 4, dim);
    struct tensor out;

    ck_assert_msg(preprocess_image(ctx, "pic", &how, &image, &wanted, &ctx->perm, &bulk, &out),
                  "%s", expect_text(ctx));
    return out;
}

static double pixel(int x, int y, int c)
{
    return pattern().pixels[(y * WIDTH + x) * 3 + c];
}

START_TEST(layout_channels_and_numbers)
{
    static const double mean[] = { 0.5, 0.25, 0.125 }, std[] = { 0.5, 2, 4 };
    const struct tensor plain = prepare("{}", DTYPE_F32, (int64_t[]){ 1, 3, HEIGHT, WIDTH });
    const struct tensor nhwc =
        prepare("{\"layout\": \"NHWC\", \"channels\": \"BGR\", \"dtype\": \"u8\"}", DTYPE_U8,
                (int64_t[]){ 1, HEIGHT, WIDTH, 3 });
    const struct tensor scaled = prepare("{\"scale\": 0.00392156862745098, "
                                         "\"mean\": [0.5, 0.25, 0.125], \"std\": [0.5, 2, 4]}",
                                         DTYPE_F32, (int64_t[]){ 1, 3, HEIGHT, WIDTH });
    const struct tensor cropped = prepare("{\"crop\": {\"width\": 4, \"height\": 3}, \"mean\": 1}",
                                          DTYPE_F32, (int64_t[]){ 1, 3, 3, 4 });

    for (int c = 0; c < 3; c++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                const int64_t nchw = (c * HEIGHT + y) * WIDTH + x;

                ck_assert_double_eq(tensor_at(&plain, nchw), pixel(x, y, c));
                ck_assert_double_eq(tensor_at(&nhwc, (y * WIDTH + x) * 3 + c), pixel(x, y, 2 - c));
                ck_assert_double_eq_tol(tensor_at(&scaled, nchw),
                                        (pixel(x, y, c) / 255 - mean[c]) / std[c], 1e-6);
                if (x < 4 && y < 3) /* 13 to 4 leaves 4 on the left, 7 to 3 leaves 2 above */
                    ck_assert_double_eq(tensor_at(&cropped, (c * 3 + y) * 4 + x),
                                        pixel(x + 4, y + 2, c) - 1);
            }
}
END_TEST

START_TEST(grey_is_that_of_pillow)
{
    static const int row_3[] = { 65, 135, 129, 169, 89, 83, 153, 193, 113, 107, 147, 67, 137 };
    const struct tensor got =
        prepare("{\"channels\": \"gray\"}", DTYPE_F32, (int64_t[]){ 1, 1, HEIGHT, WIDTH });

    for (int x = 0; x < WIDTH; x++)
        ck_assert_double_eq(tensor_at(&got, 3 * WIDTH + x), row_3[x]);
}
END_TEST

/* 13 x 7 into 26 x 26: doubled, with 6 rows above and below, or all below. */
START_TEST(letterboxes_fill_around_the_image)
{
    const bool top_left = _i == 1;
    const struct tensor got = prepare(
        top_left
            ? "{\"resize\": {\"mode\": \"letterbox\", \"width\": 26, \"height\": 26, \"fill\": "
              "114, \"place\": \"top-left\", \"round\": \"down\"}}"
            : "{\"resize\": {\"mode\": \"letterbox\", \"width\": 26, \"height\": 26, \"fill\": "
              "114}}",
        DTYPE_F32, (int64_t[]){ 1, 3, 26, 26 });
    const struct image image = pattern();
    struct image twice;

    image_resize(&ctx->perm, &image, 26, 14, true, &twice);
    for (int y = 0; y < 26; y++)
        for (int x = 0; x < 26; x++) {
            const int row = y - (top_left ? 0 : 6);
            const bool inside = row >= 0 && row < 14;

            ck_assert_double_eq(tensor_at(&got, y * 26 + x),
                                inside ? twice.pixels[(row * 26 + x) * 3] : 114);
        }
}
END_TEST

START_TEST(the_shorter_side_decides)
{
    /* 7 becomes 9, 13 becomes floor(9 * 13 / 7) = 16 */
    prepare("{\"resize\": {\"mode\": \"shorter\", \"size\": 9}}", DTYPE_F32,
            (int64_t[]){ 1, 3, 9, 16 });
    prepare("{\"resize\": {\"mode\": \"exact\", \"width\": 3, \"height\": 11}}", DTYPE_F32,
            (int64_t[]){ 1, 3, 11, 3 });
}
END_TEST

START_TEST(results_that_do_not_fit_the_input_are_errors)
{
    const struct preprocessing how = spec("{\"crop\": {\"width\": 20, \"height\": 3}}");
    const struct preprocessing plain = preprocessing_default();
    const struct type wanted = type_make(DTYPE_F32, 4, (int64_t[]){ 1, 3, 8, 8 });
    const struct image image = pattern();
    struct tensor out;

    ck_assert(!preprocess_image(ctx, "pic", &how, &image, &wanted, &ctx->perm, &bulk, &out));
    ck_assert(expect_error(ctx, DIAG_IMAGE_FILE, "it is 13 x 7 when it should be cropped to 20"));
    ck_assert(!preprocess_image(ctx, "pic", &plain, &image, &wanted, &ctx->perm, &bulk, &out));
    ck_assert(expect_error(ctx, DIAG_IMAGE_FILE,
                           "it becomes (1,3,7,13) f32, the model's input is (1,3,8,8) f32"));
}
END_TEST

START_TEST(resizing_cannot_be_made_to_take_all_memory)
{
    const struct preprocessing how = spec("{\"resize\": {\"mode\": \"shorter\", \"size\": 60000}}");
    const struct type wanted = type_make(DTYPE_F32, 4, (int64_t[]){ 1, 3, 8, 8 });
    struct image image = new_image(1, 2000);
    struct tensor out;

    ck_assert(!preprocess_image(ctx, "pic", &how, &image, &wanted, &ctx->perm, &bulk, &out));
    ck_assert_msg(expect_error(ctx, DIAG_IMAGE_FILE, "pixels, at most"), "%s", expect_text(ctx));
}
END_TEST

static const struct {
    const char *text, *reason;
} refused[] = {
    { "", "this is not JSON" },
    { "{\n\n\"scale\" 1}", "line 3: this is not JSON" },
    { "[]", "it is not a JSON object" },
    { "{\"meen\": 1}", "the file has no member 'meen'" },
    { "{\"meen\": 1}", "did you mean 'mean'?" },
    { "{\"scale\": \"1\"}", "'scale' is not a finite number" },
    { "{\"scale\": 1e999}", "'scale' is not a finite number" },
    { "{\"mean\": [1, 2]}", "'mean' is neither a number nor an array of 3" },
    { "{\"mean\": [1, 2, \"x\"]}", "'mean': element 2 is not a finite number" },
    { "{\"channels\": \"gray\", \"mean\": [1, 2, 3]}", "nor an array of 1" },
    { "{\"std\": 0}", "'std' is 0" },
    { "{\"channels\": \"rgb\"}", "'channels' is not \"RGB\", \"BGR\" or \"gray\"" },
    { "{\"layout\": 3}", "'layout' is not \"NCHW\" or \"NHWC\"" },
    { "{\"dtype\": \"float\"}", "'dtype' is not an element type" },
    { "{\"dtype\": \"bool\"}", "'dtype' is not an element type" },
    { "{\"resize\": 3}", "'resize' is not an object with a 'mode'" },
    { "{\"resize\": {\"mode\": \"longer\", \"size\": 3}}", "'mode' is not \"shorter\"" },
    { "{\"resize\": {\"mode\": \"shorter\", \"size\": 0}}", "'size' is not a whole number from 1" },
    { "{\"resize\": {\"mode\": \"shorter\", \"size\": 1e9}}", "'size' is not a whole number" },
    { "{\"resize\": {\"mode\": \"exact\", \"width\": 3}}", "'height' is not a whole number" },
    { "{\"resize\": {\"mode\": \"letterbox\", \"width\": 3, \"height\": 3, \"fill\": 300}}",
      "'fill' is not in 0 .. 255" },
    { "{\"resize\": {\"mode\": \"shorter\", \"size\": 3, \"antialias\": 1}}",
      "'antialias' is not" },
    { "{\"crop\": [1, 2]}", "'crop' is not an object" },
    { "{\"crop\": {\"width\": 2.5, \"height\": 2}}", "'crop': 'width' is not a whole number" },
};

START_TEST(wrong_specifications_are_refused_with_a_reason)
{
    struct preprocessing how;

    ck_assert(
        !preprocessing_parse(ctx, "s.json", refused[_i].text, strlen(refused[_i].text), &how));
    ck_assert_msg(expect_error(ctx, DIAG_PREPROCESSING, refused[_i].reason), "%s",
                  expect_text(ctx));
}
END_TEST

START_TEST(all_mistakes_are_found_at_once)
{
    static const char text[] = "{\"std\": \"1\", \"layout\": 1, \"crop\": 1, \"size\": 1}";
    struct preprocessing how;

    ck_assert(!preprocessing_parse(ctx, "s.json", text, strlen(text), &how));
    ck_assert_int_eq(ctx->diags.n_errors, 4);
}
END_TEST

/* --- what Pillow prepared --------------------------------------------------------------------- */

static const struct {
    const char *model, *image, *spec;
} prepared[] = {
    { "mobilenetv1_025_128", "imagenet_val500/ILSVRC2012_val_00000347.JPEG",
      "{\"resize\": {\"mode\": \"shorter\", \"size\": 146}, \"crop\": {\"width\": 128, \"height\": "
      "128}, \"mean\": 127.5, \"std\": 127.5}" },
    { "mobilenetv2", "imagenet_val500/ILSVRC2012_val_00000347.JPEG",
      "{\"resize\": {\"mode\": \"shorter\", \"size\": 256}, \"crop\": {\"width\": 224, \"height\": "
      "224}, \"scale\": 0.00392156862745098, \"mean\": [0.485, 0.456, 0.406], "
      "\"std\": [0.229, 0.224, 0.225]}" },
    { "ic_resnet8", "cifar10_jpg2000/airplane_0000.jpg", "{}" },
    { "vww_mobilenetv1", "coco_val128/images/000000000139.jpg",
      "{\"resize\": {\"mode\": \"exact\", \"width\": 96, \"height\": 96}, "
      "\"scale\": 0.00392156862745098}" },
    { "yolox_nano_416", "coco_val128/images/000000000139.jpg",
      "{\"resize\": {\"mode\": \"letterbox\", \"width\": 416, \"height\": 416, \"fill\": 114, "
      "\"place\": \"top-left\", \"round\": \"down\"}, \"channels\": \"BGR\"}" },
    { "ultraface_rfb320", "coco_val128/images/000000008532.jpg",
      "{\"resize\": {\"mode\": \"exact\", \"width\": 320, \"height\": 240}, "
      "\"mean\": 127, \"std\": 128}" },
};

START_TEST(inputs_of_the_shared_models_come_out)
{
    const char *shared = getenv("RELAYC_SHARED");
    const char *path =
        arena_printf(&ctx->perm, "%s/data/%s", shared ? shared : "", prepared[_i].image);
    const char *npy = arena_printf(&ctx->perm, "%s/models/%s/io/input_0.npy", shared ? shared : "",
                                   prepared[_i].model);
    FILE *there = shared ? fopen(npy, "rb") : NULL;
    const struct preprocessing how = spec(prepared[_i].spec);
    struct mapping mapping;
    struct tensor wanted, got;
    struct image image;
    double greatest = 0;

    if (!there)
        return; /* without the shared folder */
    fclose(there);
    ck_assert(tensor_file_read_one(ctx, npy, &bulk, &wanted));
    ck_assert(file_map(ctx, path, &mapping));
    ck_assert(image_decode(ctx, path, mapping.data, mapping.size, &ctx->perm, &image));
    file_unmap(&mapping);
    ck_assert_msg(preprocess_image(ctx, path, &how, &image, &wanted.type, &ctx->perm, &bulk, &got),
                  "%s", expect_text(ctx));
    for (int64_t i = 0; i < type_elements(&wanted.type); i++)
        greatest = fmax(greatest, fabs(tensor_at(&got, i) - tensor_at(&wanted, i)));
    ck_assert_double_lt(greatest, 1e-5);
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
    tcase_add_test(tests, layout_channels_and_numbers);
    tcase_add_test(tests, grey_is_that_of_pillow);
    tcase_add_loop_test(tests, letterboxes_fill_around_the_image, 0, 2);
    tcase_add_test(tests, the_shorter_side_decides);
    tcase_add_test(tests, results_that_do_not_fit_the_input_are_errors);
    tcase_add_test(tests, resizing_cannot_be_made_to_take_all_memory);
    tcase_add_loop_test(tests, wrong_specifications_are_refused_with_a_reason, 0, N_ROWS(refused));
    tcase_add_test(tests, all_mistakes_are_found_at_once);
    tcase_add_loop_test(tests, inputs_of_the_shared_models_come_out, 0, N_ROWS(prepared));
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
