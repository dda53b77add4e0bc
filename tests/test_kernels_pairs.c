/* Convolutions by pairs of products (codegen_c/kernels/conv_pairs.c), as generated C. */
#include <check.h>
#include <stdlib.h>

#include "codegen_c/machine.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

/* Errors relative to the largest output: of inputs of the size that weights are scaled for, and at
 * most, where inputs are as small or as great as may be. */
static const double tolerance = 2e-6, most_tolerance = 4e-6;

static const struct kernel_case rows[] = {
/* Lengths of every remainder by 3, and of PAIRED(len) by 16 lanes; whole tiles, halves, parts. */
#define PAIRS(shape, in_c, out_c)                                                                  \
    {                                                                                              \
        "conv_pairs", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",                               \
            "f32[" shape "," #in_c "]; const f32[" #out_c "," #in_c ",1,1]"                        \
    }
    PAIRS("1,5,7", 16, 160),
    PAIRS("1,4,3", 17, 200),
    PAIRS("1,9,9", 24, 64),
    PAIRS("1,1,25", 25, 70),
    PAIRS("1,6,6", 32, 48),
    PAIRS("1,7,7", 35, 33),
    PAIRS("1,3,5", 48, 128),
    PAIRS("2,5,5", 64, 37),
    PAIRS("1,14,3", 70, 96),
    PAIRS("3,2,3", 96, 100),
    PAIRS("1,2,3", 200, 80),
    PAIRS("1,7,7", 320, 1280),
    /* every second place, groups */
    { "conv_pairs", "nn.conv2d", "groups=1, strides=[2,2], data_layout=\"NHWC\"",
      "f32[1,9,8,64]; const f32[96,64,1,1]" },
    { "conv_pairs", "nn.conv2d", "groups=2, data_layout=\"NHWC\"",
      "f32[1,5,5,128]; const f32[96,64,1,1]" },
    { "conv_pairs", "nn.conv2d", "groups=3, strides=[1,2], data_layout=\"NHWC\"",
      "f32[2,3,5,144]; const f32[198,48,1,1]" },
    /* y in planes; other ranks */
    { "conv_pairs", "nn.conv2d", "groups=1, data_layout=\"NHWC\", out_layout=\"NCHW\"",
      "f32[1,5,7,48]; const f32[72,48,1,1]" },
    { "conv_pairs", "nn.conv1d", "groups=1, data_layout=\"NWC\"",
      "f32[1,50,80]; const f32[64,80,1]" },
    /* rows by a known matrix, which lies either way round */
    { "conv_pairs", "nn.dense", "", "f32[9,48]; const f32[70,48]" },
    { "conv_pairs", "nn.matmul", "", "f32[2,5,64]; const f32[64,96]" },
    { "conv_pairs", "nn.matmul", "transpose_b=true", "f32[13,100]; const f32[64,100]" },
    { "dense_tiles", "nn.dense", "", "f32[4,48]; const f32[70,48]" },
    { "conv_pairs", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "f32[1,5,7,300]; const f32[9,300,1,1]" },
    /* not where it would take longer, or cannot be */
    { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "f32[1,5,7,300]; const f32[8,300,1,1]" },
    { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "f32[1,5,7,32]; const f32[16,32,1,1]" },
    { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "f32[1,5,7,15]; const f32[256,15,1,1]" },
    { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "f32[1,5,7,64]; const f32[96,64,1,1] 1 2 inf 3 5" },
    { "conv", "nn.conv2d", "groups=1, padding=[1,0,0,0], data_layout=\"NHWC\"",
      "f32[1,5,7,64]; const f32[96,64,1,1]" },
};

static const struct machine *znver4(struct ctx *ctx)
{
    return machine_find(ctx, "znver4");
}

START_TEST(rows_agree_with_the_reference)
{
    struct ctx *ctx = ctx_new("rows");

    kernel_cases_check_as(rows, (int)(sizeof rows / sizeof *rows), tolerance, WINOGRAD_AUTO,
                          znver4(ctx));
    ctx_free(ctx);
}
END_TEST

START_TEST(winograd_off_and_other_machines_go_without)
{
    static const struct kernel_case plain = { "conv", "nn.conv2d", "groups=1, data_layout=\"NHWC\"",
                                              "f32[1,5,7,48]; const f32[96,48,1,1]" };
    struct ctx *ctx = ctx_new("plain");

    kernel_cases_check_as(&plain, 1, tolerance, WINOGRAD_OFF, znver4(ctx));
    kernel_cases_check_as(&plain, 1, tolerance, WINOGRAD_AUTO, machine_find(ctx, "x86-64-v4"));
    ctx_free(ctx);
}
END_TEST

/* Inputs of 2^-12 to 2^12: those of tiles that are too small or too great are multiplied one by
 * one. At the edges of what is taken in pairs the errors are greatest. */
START_TEST(inputs_of_every_size)
{
    static const double sizes[] = { 1.0 / 4096, 1.0 / 64, 1.0 / 20, 0.25, 1, 4, 13, 40, 4096 };
    struct ctx *ctx = ctx_new("sizes");
    struct generated_case row = {
        .text = "fn main(%x: (1,9,9,96) f32) -> (%y) {\n"
                "  const @w : (64,96,1,1) f32 = crc32:00000000\n"
                "  %y = nn.conv2d(%x, @w) {groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\"} : "
                "(1,9,9,64) f32\n"
                "}\n",
        .tolerance = most_tolerance,
        .machine = znver4(ctx),
    };

    row.low = -sizes[_i];
    row.high = sizes[_i];
    generated_check(&row);
    row.low = 0; /* products of pairs have one sign, as behind a relu: their sum is great */
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_pairs");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    generated_vector_builds();
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, rows_agree_with_the_reference);
    tcase_add_test(tests, winograd_off_and_other_machines_go_without);
    tcase_add_loop_test(tests, inputs_of_every_size, 0, 9);
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
