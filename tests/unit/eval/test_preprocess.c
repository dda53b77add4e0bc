/* Preprocessing: specifications, and what becomes of a picture; the inputs that come with the
 * shared models were prepared by Pillow. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "frontend/tensors/image/preprocess.h"
#include "frontend/tensors/tensor_file.h"
#include "tests/support/expect.h"
#include "tests/support/pattern_image.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

enum { WIDTH = PATTERN_WIDTH, HEIGHT = PATTERN_HEIGHT };

static struct ctx *ctx;
static struct bulk bulk;

static void setup(void)
{
    ctx = ctx_new(NULL);
}

static void teardown(void)
{
    bulk_release(&bulk);
    ctx_free(ctx);
}

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
    const struct image image = pattern_image(&ctx->perm);
    const struct type wanted = type_make(dtype, 4, dim);
    struct tensor out;

    ck_assert_msg(preprocess_image(ctx, "pic", &how, &image, &wanted, &ctx->perm, &bulk, &out),
                  "%s", expect_text(ctx));
    return out;
}

static double pixel(int x, int y, int c)
{
    return (uint8_t)(x * 37 + y * 59 + c * 83 + x * y * 11);
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
    const struct image image = pattern_image(&ctx->perm);
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
    const struct image image = pattern_image(&ctx->perm);
    struct tensor out;

    ck_assert(!preprocess_image(ctx, "pic", &how, &image, &wanted, &ctx->perm, &bulk, &out));
    ck_assert(expect_error(ctx, DIAG_IMAGE_FILE, "it is 13 x 7 before the crop to 20"));
    ck_assert(!preprocess_image(ctx, "pic", &plain, &image, &wanted, &ctx->perm, &bulk, &out));
    ck_assert(expect_error(ctx, DIAG_IMAGE_FILE,
                           "it becomes (1,3,7,13) f32, the model's input is (1,3,8,8) f32"));
}
END_TEST

START_TEST(resizing_cannot_be_made_to_take_all_memory)
{
    const struct preprocessing how = spec("{\"resize\": {\"mode\": \"shorter\", \"size\": 60000}}");
    const struct type wanted = type_make(DTYPE_F32, 4, (int64_t[]){ 1, 3, 8, 8 });
    struct image image = { 1, 2000, arena_alloc(&ctx->perm, 3 * 2000) };
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
    Suite *suite = suite_create("preprocess");
    TCase *tests = tcase_create("preprocess");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tests, setup, teardown);
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
