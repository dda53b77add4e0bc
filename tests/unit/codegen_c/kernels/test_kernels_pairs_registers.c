/* Sums by pairs of products on machines that read inputs into registers (znver5), as generated C:
 * one pointer for all pixels of a tile, copies where they lie no constant step apart. What all
 * machines share is tested in test_kernels_pairs.c, on a znver4. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/machine/machine.h"
#include "tests/support/expect.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

enum { COUNT_SIZES = 4 };

/* As those of test_kernels_pairs.c. */
static const double tolerance = 2e-6, most_tolerance = 4e-6;
static const double tolerance_two = 2e-6, tolerance_four = 2e-5;

#define N_ROWS(table) ((int)(sizeof(table) / sizeof *(table)))
#define LAST "groups=1, data_layout=\"NHWC\""

static const struct kernel_case rows[] = {
#define PAIRS(shape, in_c, out_c)                                                                  \
    {                                                                                              \
        "conv_pairs", "nn.conv2d", LAST,                                                           \
            "f32[" shape "," #in_c "]; const f32[" #out_c "," #in_c ",1,1]"                        \
    }
    /* whole tiles, a last one of 1 to 9 pixels; halves of channels, parts of them */
    PAIRS("1,4,5", 48, 128),
    PAIRS("1,7,3", 64, 64),
    PAIRS("1,1,27", 65, 96),
    PAIRS("1,13,3", 96, 80),
    PAIRS("1,5,5", 100, 70),
    PAIRS("3,2,3", 128, 100),
    PAIRS("1,7,7", 320, 1280),
    PAIRS("1,19,21", 64, 80), /* several strips, the last one shorter, its last tile not whole */
    PAIRS("1,19,21", 32, 64),
    /* pixels that would share a set of the first cache; images, groups, every second place: copied
     */
    PAIRS("1,3,7", 1024, 64),
    { "conv_pairs", "nn.conv2d", LAST ", strides=[2,2]", "f32[1,9,8,64]; const f32[96,64,1,1]" },
    { "conv_pairs", "nn.conv2d", LAST ", strides=[2,1]", "f32[2,9,5,512]; const f32[64,512,1,1]" },
    { "conv_pairs", "nn.conv2d", "groups=2, data_layout=\"NHWC\"",
      "f32[1,5,5,128]; const f32[192,64,1,1]" },
    { "conv_pairs", "nn.conv2d", "groups=3, strides=[1,2], data_layout=\"NHWC\"",
      "f32[2,3,5,144]; const f32[288,48,1,1]" },
    { "conv_pairs", "nn.conv2d", "groups=2, data_layout=\"NHWC\"",
      "f32[1,2,7,2048]; const f32[384,1024,1,1]" },
    /* weights that are fetched ahead; y in planes, where sums go over an array, the last tile not
       whole */
    { "conv_pairs", "nn.conv2d", LAST ", out_layout=\"NCHW\"",
      "f32[1,5,5,1200]; const f32[112,1200,1,1]" },
    { "conv_pairs", "nn.conv2d", LAST ", out_layout=\"NCHW\"",
      "f32[1,5,7,96]; const f32[72,96,1,1]" },
    /* rows by a known matrix */
    { "conv_pairs", "nn.dense", "", "f32[13,96]; const f32[128,96]" },
    { "conv_pairs", "nn.matmul", "transpose_b=true", "f32[13,100]; const f32[64,100]" },
    /* weights that are decoded */
    { "conv_pairs", "nn.conv2d", LAST ", out_dtype=f32", "f32[1,5,5,96]; const f8e4m3[96,96,1,1]" },
    /* not where one vector is loaded for as often as it is added to, or sums take longer than they
       save */
    { "conv", "nn.conv2d", LAST, "f32[1,5,7,300]; const f32[16,300,1,1]" },
    { "conv", "nn.conv2d", LAST, "f32[1,9,9,32]; const f32[32,32,1,1]" },
};

START_TEST(rows_agree_with_the_reference)
{
    struct ctx *ctx = ctx_new("rows");

    kernel_cases_check_as(rows, N_ROWS(rows), tolerance, WINOGRAD_AUTO,
                          machine_find(ctx, "znver5"));
    ctx_free(ctx);
}
END_TEST

static const struct kernel_case tiles[] = {
#define TILES(attrs, shape, in_c, out_c)                                                           \
    {                                                                                              \
        "winograd", "nn.conv2d", LAST ", " attrs,                                                  \
            "f32[" shape "," #in_c "]; const f32[" #out_c "," #in_c ",3,3]"                        \
    }
#define PADDED "padding=[1,1,1,1]"
    TILES(PADDED, "1,28,28", 64, 64),
    TILES(PADDED, "1,20,21", 48, 96),
    TILES(PADDED, "2,12,5", 65, 70),
    TILES("padding=[0,2,1,0]", "1,6,7", 130, 40), /* of F(2,3), or one by one */
    TILES(PADDED, "1,14,14", 128, 128),           /* one by one: weights do not stay in the cache */
};

static const enum winograd sizes[] = { WINOGRAD_AUTO, WINOGRAD_F2, WINOGRAD_F4 };

START_TEST(tiles_agree_with_the_reference)
{
    struct ctx *ctx = ctx_new("tiles");

    kernel_cases_check_as(tiles, N_ROWS(tiles),
                          sizes[_i] == WINOGRAD_F2 ? tolerance_two : tolerance_four, sizes[_i],
                          machine_find(ctx, "znver5"));
    ctx_free(ctx);
}
END_TEST

/* Of what is copied in any case, and of what is copied only if its size asks for it; each has a
 * last tile that is not whole. `name` is a part of the text. */
static const struct {
    const char *name, *text;
} texts[] = {
#define CONV(x, w, y, attrs)                                                                       \
    "fn main(%x: " x " f32) -> (%y) {\n  const @w : " w " f32 = crc32:00000000\n"                  \
    "  %y = nn.conv2d(%x, @w) {" attrs ", data_layout=\"NHWC\", out_layout=\"NHWC\"} : " y         \
    " f32\n}\n"
    { "_pairs_stores_by_96(nearest", CONV("(1,9,9,96)", "(64,96,1,1)", "(1,9,9,64)", "groups=1") },
    { "_pairs_stores_by_64(nearest",
      CONV("(1,9,9,64)", "(96,64,1,1)", "(1,5,5,96)", "strides=[2,2], groups=1") },
    { "_pairs_stores_by_64(nearest",
      CONV("(1,5,5,128)", "(192,64,1,1)", "(1,5,5,192)", "groups=2") },
    { "_pair_rows_by_64(rows, IN_C, w",
      CONV("(1,16,16,64)", "(64,64,3,3)", "(1,16,16,64)", "padding=[1,1,1,1], groups=1") },
};

START_TEST(inputs_of_every_size)
{
    static const double most[COUNT_SIZES] = { 0x1p-60, 0.1, 13, 0x1p40 };
    struct generated_range ranges[2 * COUNT_SIZES];
    struct ctx *ctx = ctx_new("sizes");
    const struct generated_case row = { .text = texts[_i].text,
                                        .tolerance = _i == 3 ? tolerance_four : most_tolerance,
                                        .machine = machine_find(ctx, "znver5") };

    ck_assert_msg(strstr(generated_text(ctx, &row, ".c"), texts[_i].name), "no %s", texts[_i].name);
    for (int i = 0; i < COUNT_SIZES; i++) {
        ranges[2 * i] = (struct generated_range){ -most[i], most[i] };
        ranges[2 * i + 1] = (struct generated_range){ 0, most[i] };
    }
    generated_check_ranges(&row, 2 * COUNT_SIZES, ranges);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_pairs_registers");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    generated_vector_builds();
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, rows_agree_with_the_reference);
    tcase_add_loop_test(tests, tiles_agree_with_the_reference, 0, 3);
    tcase_add_loop_test(tests, inputs_of_every_size, 0, N_ROWS(texts));
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
