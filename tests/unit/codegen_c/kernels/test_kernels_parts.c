/* Convolutions whose weights come part by part (codegen_c/kernels/conv/conv_parts.c), as generated C. */
#include <check.h>
#include <stdlib.h>

#include "codegen_c/machine/machine.h"
#include "tests/support/graph.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

#define N_ROWS(table) ((int)(sizeof(table) / sizeof *(table)))
#define LAST "groups=1, data_layout=\"NHWC\""

static const struct kernel_case rows[] = {
    /* one part of a panel, several, as many positions as a tile, fewer, and more than whole ones */
    { "conv_parts", "nn.conv2d", LAST, "f32[1,7,7,512]; const f32[512,512,1,1]" },
    { "conv_parts", "nn.conv2d", LAST, "f32[1,2,3,1100]; const f32[256,1100,1,1]" },
    { "conv_parts", "nn.conv2d", LAST, "f32[1,5,11,2048]; const f32[128,2048,1,1]" },
    { "conv_parts", "nn.conv2d", LAST, "f32[1,1,2,4096]; const f32[64,4096,1,1]" },
    /* padding, strides, dilation, other ranks */
    { "conv_parts", "nn.conv2d", LAST ", padding=[1,1,1,1], strides=[2,2]",
      "f32[1,9,8,192]; const f32[192,192,3,3]" },
    { "conv_parts", "nn.conv2d", LAST ", padding=[0,2,1,0], dilation=[2,1]",
      "f32[1,8,7,128]; const f32[256,128,3,3]" },
    { "conv_parts", "nn.conv1d", "groups=1, data_layout=\"NWC\", padding=[2,1]",
      "f32[1,41,320]; const f32[192,320,5]" },
    { "conv_parts", "nn.conv3d", "groups=1, data_layout=\"NDHWC\"",
      "f32[1,3,4,5,256]; const f32[128,256,2,2,2]" },
    /* too many positions, too few weights; channels that fill no panel; inputs without equal parts;
       images; results in planes */
    { "conv", "nn.conv2d", LAST, "f32[1,8,9,512]; const f32[512,512,1,1]" },
    { "conv", "nn.conv2d", LAST, "f32[1,7,7,512]; const f32[448,512,1,1]" },
    { "conv", "nn.conv2d", LAST, "f32[1,7,7,512]; const f32[528,512,1,1]" },
    { "conv", "nn.conv2d", LAST, "f32[1,3,3,1031]; const f32[320,1031,1,1]" },
    { "conv", "nn.conv2d", LAST, "f32[2,3,3,512]; const f32[512,512,1,1]" },
    { "conv", "nn.conv2d", LAST ", out_layout=\"NCHW\"", "f32[1,7,7,512]; const f32[512,512,1,1]" },
};

START_TEST(rows_agree_with_the_reference)
{
    struct ctx *ctx = ctx_new("rows");

    kernel_cases_check_as(&rows[_i], 1, 1e-5, WINOGRAD_OFF, machine_find(ctx, "sapphirerapids"));
    ctx_free(ctx);
}
END_TEST

/* Only where the third cache is far. */
START_TEST(other_machines_have_conv)
{
    static const struct kernel_case row = { "conv", "nn.conv2d", LAST,
                                            "f32[1,7,7,512]; const f32[512,512,1,1]" };
    static const char *const names[] = { "x86-64-v4", "znver5", "aarch64", "rv64gcv" };
    struct ctx *ctx = ctx_new("others");

    kernel_cases_check_as(&row, 1, 1e-5, WINOGRAD_OFF, machine_find(ctx, names[_i]));
    ctx_free(ctx);
}
END_TEST

/* A residual that lies where the result goes, limits, functions, pixels of a wider tensor; whole
 * and divided. */
START_TEST(results_follow_the_last_part)
{
    struct ctx *ctx = ctx_new("results");
    struct generated_case row = {
#define CONV(y, x, w)                                                                              \
    "  " y " = nn.conv2d(" x ", " w ") {groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\"} : "   \
    "(1,5,7,512) f32\n"
        .text = "fn main(%x: (1,5,7,512) f32) -> (%y) {\n"
                "  const @t : (512,512,1,1) f32 = crc32:00000000\n"
                "  const @u : (512,512,1,1) f32 = crc32:00000001\n"
                "  const @b : (512) f32 = crc32:00000002\n"
                "  %a = tanh(%x) : (1,5,7,512) f32\n" CONV(
                    "%c", "%a",
                    "@t") "  %d = nn.bias_add(%c, @b) {axis=3} : (1,5,7,512) f32\n"
                          "  %e = nn.silu(%d) : (1,5,7,512) f32\n" CONV(
                              "%f", "%e",
                              "@u") "  %g = add(%f, %a) : (1,5,7,512) f32\n"
                                    "  %h = nn.relu(%g) : (1,5,7,512) f32\n"
                                    "  %y = concatenate(%h, %e) {axis=3} : (1,5,7,1024) f32\n"
                                    "}\n",
        .tolerance = 1e-5,
        .machine = machine_find(ctx, "sapphirerapids")
    };

    ck_assert_int_eq(generated_count(ctx, &row, "FETCH ="), 2);
    ck_assert_int_gt(generated_count(ctx, &row, "OUT_PIXEL_STRIDE = 1024"), 0);
    generated_check(&row);
    row.parts = 3;
    row.one_build = true;
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* Of weights that conv fetches nc by nc, so that all of the next are there in time: 128
 * channels by 33 x 2 tiles, and what its sums are added to; where strides leave a quarter of x to
 * be read by each nc (401,408 bytes of 1.6 MB), 64 channels by 33 tiles. */
static const struct {
    const char *text, *says[3];
} blocks[] = {
    { "fn main(%x: (1,14,14,256) f32, %r: (1,14,14,512) f32) -> (%y) {\n"
      "  const @t : (512,256,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @t) {groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\"} : "
      "(1,14,14,512) f32\n"
      "  %y = add(%c, %r) : (1,14,14,512) f32\n"
      "}\n",
      { "CHUNK = 128,", "FETCH = 2,", "prefetch(&b_1[b_1_step + LANES], 0, 2)" } },
    { "fn main(%x: (1,28,28,512) f32) -> (%y) {\n"
      "  const @t : (1024,512,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @t) {strides=[2,2], groups=1, data_layout=\"NHWC\", "
      "out_layout=\"NHWC\"} : (1,14,14,1024) f32\n"
      "}\n",
      { "CHUNK = 64,", "FETCH = 2,", " ahead, FETCH," } },
};

START_TEST(conv_fetches_evenly)
{
    struct ctx *ctx = ctx_new("evenly");
    struct generated_case row = { .text = blocks[_i].text,
                                  .tolerance = 1e-5,
                                  .winograd = WINOGRAD_OFF, /* nor AMX */
                                  .machine = machine_find(ctx, "sapphirerapids") };

    for (int k = 0; k < 3; k++)
        ck_assert_int_eq(generated_count(ctx, &row, blocks[_i].says[k]), 1);
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_parts");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    generated_vector_builds();
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, rows_agree_with_the_reference, 0, N_ROWS(rows));
    tcase_add_loop_test(tests, other_machines_have_conv, 0, 4);
    tcase_add_test(tests, results_follow_the_last_part);
    tcase_add_loop_test(tests, conv_fetches_evenly, 0, N_ROWS(blocks));
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
