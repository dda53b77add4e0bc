/* Convolutions and dense layers of bytes by dot products, against the reference: exactly equal. */
#include <check.h>
#include <stdlib.h>

#include "codegen_c/machine/machine.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

/* clang-format off */
static const struct kernel_case convolutions[] = {
    /* channels: fewer than a vector, one block, a block and some, many; LEN no multiple of 4 */
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1",
      "i8[1,4,1,1]; const i8[1,4,1,1]; const i8[] -7; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1",
      "u8[1,3,4,5]; const i8[32,3,2,2]; const u8[] 200; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, padding=[1,1,1,1]",
      "i8[1,5,9,7] -128 127 3; const i8[37,5,3,3]; const i8[] 127; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, padding=[1,1,1,1]",
      "u8[1,16,6,6] 255 0 7; const i8[96,16,3,3] -128 127 -1; const u8[] 0; const i8[] 0" },
    /* channels last */
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "u8[1,7,7,64]; const i8[64,64,1,1]; const u8[] 3; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "i8[1,8,9,12]; const i8[20,12,3,3]; const i8[] -128; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d",
      "groups=1, padding=[3,3,3,3], strides=[2,2], data_layout=\"NHWC\"",
      "u8[1,17,15,3]; const i8[24,3,7,7]; const u8[] 128; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d",
      "groups=1, padding=[2,0,1,4], strides=[1,3], dilation=[2,3], data_layout=\"NHWC\"",
      "i8[2,9,11,6]; const u8[5,6,2,3] 100 227 0 1; const i8[] 5; const u8[] 100" },
    { "qnn_conv_tiles", "qnn.conv2d",
      "groups=3, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "u8[2,5,5,12]; const i8[15,4,3,3]; const u8[] 9; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=4, padding=[0,1,0,1]",
      "i8[2,8,4,4]; const u8[40,2,3,3] 130 7; const i8[] -1; const u8[40] 7 8" },
    { "qnn_conv_tiles", "qnn.conv2d",
      "groups=1, padding=[1,1,1,1], data_layout=\"NCHW\", out_layout=\"NHWC\"",
      "u8[2,3,6,5]; const i8[33,3,3,3]; const u8[] 128; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d",
      "groups=2, padding=[1,1,1,1], data_layout=\"NHWC\", out_layout=\"NCHW\"",
      "i8[2,6,5,10]; const i8[12,5,3,3]; const i8[] 6; const i8[] 0" },
    /* one position; padding alone */
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "u8[1,3,3,8]; const i8[70,8,3,3]; const u8[] 3; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, padding=[4,4,4,4], data_layout=\"NHWC\"",
      "u8[1,2,1,4]; const i8[8,4,2,2]; const u8[] 77; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv1d", "groups=1, padding=[2,1], strides=[2], data_layout=\"NWC\"",
      "u8[3,11,5]; const i8[9,5,4]; const u8[] 100; const i8[9] 0" },
    { "qnn_conv_tiles", "qnn.conv1d", "groups=1, padding=[2,2], dilation=[2]",
      "i8[1,6,20]; const i8[33,6,3]; const i8[] 100; const i8[] 0" },
};

/* Other kernels with the channels last: what has no constant weights or three dimensions, pools. */
#define SAME "; const f32[] 0.1; const i8[] 3; const f32[] 0.1; const i8[] 3"
#define OTHER "; const f32[] 0.1; const i8[] -128; const f32[] 0.05; const i8[] 7"
static const struct kernel_case last[] = {
    { "qnn_conv", "qnn.conv2d", "groups=2, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "i8[2,5,4,4]; i8[6,2,3,3]; i8[]; i8[6]" },
    { "qnn_depthwise", "qnn.conv2d",
      "groups=40, padding=[1,1,1,1], strides=[2,1], data_layout=\"NHWC\"",
      "u8[2,7,6,40] 255 0 3; const i8[40,1,3,3] -128 127; const u8[] 255; const i8[] 0" },
    { "qnn_depthwise", "qnn.conv2d",
      "groups=3, padding=[2,3,2,3], dilation=[1,2], data_layout=\"NHWC\"",
      "i8[1,9,8,3]; const u8[3,1,5,6] 100 120; const i8[] -128; const u8[3] 110" },
    { "qnn_depthwise", "qnn.conv1d", "groups=16, padding=[1,1], data_layout=\"NWC\"",
      "i8[1,12,16]; const i8[16,1,3]; const i8[] 5; const i8[] 0" },
    { "qnn_conv", "qnn.conv2d", "groups=1, data_layout=\"NHWC\", out_layout=\"NCHW\"",
      "i16[1,5,4,3]; const i8[4,3,2,2]; const i16[] 9; const i8[] 0" },
    { "qnn_conv", "qnn.conv3d", "groups=1, padding=[1,0,1,0,1,1], data_layout=\"NDHWC\"",
      "i8[2,3,4,5,2]; const i8[4,2,2,2,3]; const i8[] -1; const i8[] 1" },
    { "qnn_conv", "qnn.conv3d", "groups=2, data_layout=\"NCDHW\", out_layout=\"NDHWC\"",
      "i8[1,2,3,4,5]; const i8[4,1,2,2,3]; const i8[] -1; const i8[] 1" },
    { "exact_conv", "qnn.conv2d", "groups=2, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "f8e4m3[2,4,3,4]; const f8e4m3[6,2,3,3]; const f8e4m3[] 0; const f8e4m3[] 0" },
    { "qnn_avg_pool", "qnn.avg_pool2d", "pool_size=[2,2], strides=[2,2], layout=\"NHWC\"",
      "i8[2,4,6,3]" SAME },
    { "qnn_avg_pool", "qnn.avg_pool2d", "pool_size=[3,2], padding=[1,0,1,1], layout=\"NHWC\"",
      "i8[1,4,6,20]" OTHER },
    { "qnn_avg_pool", "qnn.avg_pool3d", "pool_size=[2,2,2], padding=[1,1,1,0,0,0], layout=\"NDHWC\"",
      "i8[2,3,4,5,3]" SAME },
    { "max_pool_codes", "nn.max_pool2d", "pool_size=[2,3], padding=[1,1,0,1], layout=\"NHWC\"",
      "f8e4m3[2,5,6,7]" },
    { "pool", "nn.max_pool2d",
      "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], layout=\"NHWC\"", "u8[1,9,9,64]" },
    { "pool", "nn.max_pool2d", "pool_size=[2,2], dilation=[2,1], layout=\"NHWC\"",
      "i8[2,5,6,70] -128 127 4" },
    { "pool", "nn.max_pool1d", "pool_size=[3], padding=[1,1], layout=\"NWC\"",
      "i8[2,7,5]" },
    { "pool", "nn.max_pool3d", "pool_size=[2,2,2], layout=\"NDHWC\"",
      "f32[2,3,4,5,3] nan 1 -2 inf -inf 7 3 2" },
};

/* Depthwise, along rows of y: strides, dilations, paddings beyond x and beyond the kernel, kernels of
 * one, two and eight rows; a column of y; bytes with and without a sign, zero points at their ends;
 * padding that is too much. */
static const struct kernel_case by_rows[] = {
    { "qnn_depthwise_rows", "qnn.conv2d", "groups=16, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "u8[1,5,6,16] 255 0 3 254; const i8[16,1,3,3] -128 127 1; const u8[] 0; const i8[] 0" },
    { "qnn_depthwise_rows", "qnn.conv2d",
      "groups=40, padding=[1,1,1,1], strides=[2,1], data_layout=\"NHWC\"",
      "u8[2,7,6,40] 255 0 3; const i8[40,1,3,3] -128 127; const u8[] 255; const i8[] 0" },
    { "qnn_depthwise_rows", "qnn.conv2d",
      "groups=24, padding=[0,0,1,1], strides=[2,2], data_layout=\"NHWC\"",
      "i8[1,8,10,24] -128 127 0; const i8[24,1,3,3] -128 127; const i8[] -128; const i8[] 0" },
    { "qnn_depthwise_rows", "qnn.conv2d",
      "groups=48, padding=[2,3,2,3], dilation=[1,2], data_layout=\"NHWC\"",
      "i8[1,9,8,48]; const u8[48,1,5,6] 100 120; const i8[] 127; const u8[48] 110" },
    { "qnn_depthwise_rows", "qnn.conv2d",
      "groups=8, padding=[6,5,1,9], dilation=[3,1], data_layout=\"NHWC\"",
      "i8[2,4,3,8]; const i8[8,1,2,8]; const i8[] 5; const i8[] 0" },
    { "qnn_depthwise_rows", "qnn.conv2d",
      "groups=32, padding=[4,0,4,0], strides=[3,5], data_layout=\"NHWC\"",
      "u8[1,9,7,32]; const i8[32,1,8,1]; const u8[] 128; const i8[] 0" },
    { "qnn_depthwise_rows", "qnn.conv2d", "groups=16, padding=[5,5,5,5], data_layout=\"NHWC\"",
      "u8[1,2,2,16]; const i8[16,1,4,4]; const u8[] 7; const i8[] 0" },
    { "qnn_depthwise_rows", "qnn.conv2d", "groups=16, strides=[1,2], data_layout=\"NHWC\"",
      "u8[1,6,4,16]; const i8[16,1,3,3]; const u8[] 7; const i8[] 0" },
    { "qnn_depthwise", "qnn.conv2d",
      "groups=16, padding=[1,16380,1,16380], strides=[1,20000], data_layout=\"NHWC\"",
      "u8[1,6,4,16]; const i8[16,1,3,3]; const u8[] 7; const i8[] 0" },
};

static const struct kernel_case products[] = {
    { "qnn_dense_tiles", "qnn.dense", "", "i8[1,7]; const i8[5,7]; const i8[] 2; const i8[] 0" },
    { "qnn_dense_tiles", "qnn.dense", "", "u8[2,3,7]; const i8[5,7]; const u8[] 128; const i8[5] 0" },
    { "qnn_dense_tiles", "qnn.dense", "", "u8[1,64]; const i8[100,64]; const u8[] 0; const i8[] 0" },
    { "qnn_dense_tiles", "qnn.dense", "", "i8[16,20]; const i8[64,20]; const i8[] -5; const i8[] 0" },
    { "qnn_dense_tiles", "qnn.matmul", "", "u8[2,4,3]; const i8[3,5]; const u8[] 9; const i8[] 0" },
    { "qnn_dense_tiles", "qnn.matmul", "transpose_b=true",
      "i8[1,30]; const u8[1,41,30] 101 99; const i8[] 5; const u8[41] 100" },
    { "qnn_dense_tiles", "qnn.matmul", "", "u8[3,1]; const i8[1,1]; const u8[] 9; const i8[] 0" },
};

/* Where vectors are wide, zero points of x that come at run time, and weights that differ by no more
 * than a byte does but are no bytes of one sign; both; rows and outputs around multiples of tiles;
 * those that differ by more. */
static const struct kernel_case unknown[] = {
    { "qnn_dense_tiles", "qnn.dense", "", "u8[1,7]; const u8[5,7] 0 255 3; u8[]; const u8[] 0" },
    { "qnn_dense_tiles", "qnn.dense", "", "i8[1,64]; const i8[100,64]; i8[1]; const i8[] 0" },
    { "qnn_dense_tiles", "qnn.dense", "",
      "i8[9,30] -128 127 0; const u8[33,30] 255 0 7; i8[]; const u8[] 0" },
    { "qnn_dense_tiles", "qnn.matmul", "",
      "u8[16,40] 255; const u8[40,64] 255 0; const u8[] 0; const u8[] 1" },
    { "qnn_dense_tiles", "qnn.matmul", "",
      "u8[2,5,129]; const u8[129,71]; u8[]; const u8[] 255" },
    { "qnn_dense_tiles", "qnn.matmul", "transpose_b=true",
      "i8[3,21]; const i8[40,21] -128 127; i8[] -128; const i8[] 100" },
    { "qnn_matmul", "qnn.matmul", "",
      "u8[4,3]; const u8[3,2] 0 255; const u8[] 7; const u8[2] 255 0" },
    { "qnn_matmul", "qnn.matmul", "", "u8[4,3]; u8[3,5]; u8[]; const u8[] 0" },
};

/* Without scratch: whole patches on the stack (planes, channels last, groups, one position), and in
 * parts: rows of the kernel; taps, where a row is too long, or for groups or dilations; pieces of
 * the channels; a last part that is no multiple of 4. */
static const struct kernel_case spared[] = {
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, padding=[1,1,1,1], strides=[2,2]",
      "u8[1,3,9,10]; const i8[24,3,3,3]; const u8[] 128; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "i8[1,9,8,16]; const i8[20,16,3,3] -128 127 5; const i8[] -128; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=3, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "u8[2,5,5,12]; const i8[15,4,3,3]; const u8[] 9; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "u8[1,7,9,20] 255 0 7; const i8[40,20,3,3] -128 127 -1; const u8[] 3; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d",
      "groups=1, padding=[3,3,3,3], strides=[2,1], data_layout=\"NHWC\"",
      "i8[2,11,8,3]; const i8[70,3,7,7]; const i8[] 5; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d",
      "groups=1, padding=[2,2,2,2], data_layout=\"NHWC\", out_layout=\"NCHW\"",
      "u8[1,6,7,33]; const i8[12,33,5,5] -128 127 3; const u8[] 77; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d",
      "groups=1, padding=[1,2,1,2], dilation=[1,2], data_layout=\"NHWC\"",
      "i8[1,8,9,22]; const u8[9,22,3,3] 100 227 0; const i8[] 5; const u8[] 100" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=2, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "u8[2,5,6,72]; const i8[24,36,3,3]; const u8[] 9; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "i8[1,4,5,320]; const i8[36,320,3,3] -128 127 -1 0; const i8[] 127; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, padding=[0,1,0,1], data_layout=\"NHWC\"",
      "i8[1,2,6,129]; const i8[66,129,1,3] -128 127 3; const i8[] -7; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "u8[1,5,5,640]; const i8[64,640,1,1]; const u8[] 3; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "u8[1,3,3,96]; const i8[70,96,3,3]; const u8[] 3; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv1d", "groups=1, padding=[2,1], strides=[2], data_layout=\"NWC\"",
      "u8[3,11,50]; const i8[9,50,4]; const u8[] 100; const i8[9] 0" },
    { "qnn_dense_tiles", "qnn.dense", "", "i8[1,7]; const i8[5,7]; const i8[] 2; const i8[] 0" },
    { "qnn_dense_tiles", "qnn.dense", "",
      "u8[1,1003]; const i8[100,1003] -128 127; const u8[] 200; const i8[] 0" },
    { "qnn_dense_tiles", "qnn.dense", "",
      "i8[16,333]; const i8[64,333] -128 127 3 1; const i8[] -5; const i8[] 0" },
    { "qnn_dense_tiles", "qnn.matmul", "",
      "u8[2,4,30]; const i8[30,5]; const u8[] 9; const i8[] 0" },
};
/* For the registers of AMX, which take 64 numbers of 28 patches, from 128 on: lengths that leave 4 to
 * 60 over, or none; less than 28 positions, so many, and more; blocks that are not whole; groups; both signs. */
static const struct kernel_case registers[] = {
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "u8[1,4,7,128] 255 0 7; const i8[32,128,1,1] -128 127 -1; const u8[] 3; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "i8[1,5,7,132] -128 127 3; const i8[72,132,1,1] -128 127 5; const i8[] -128; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "u8[1,8,8,16]; const i8[40,16,3,3] -128 127 -1; const u8[] 128; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d",
      "groups=1, padding=[1,1,1,1], strides=[2,2], data_layout=\"NHWC\"",
      "i8[1,13,9,28]; const i8[64,28,3,3]; const i8[] 5; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=2, padding=[1,1,1,1], data_layout=\"NHWC\"",
      "u8[2,5,6,64]; const i8[64,32,3,3]; const u8[] 9; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, data_layout=\"NHWC\"",
      "u8[1,3,3,256]; const i8[32,256,1,1]; const u8[] 3; const i8[] 0" },
    { "qnn_dense_tiles", "qnn.dense", "",
      "u8[61,188] 255 0 7; const i8[96,188] -128 127 3; const u8[] 200; const i8[] 0" },
    { "qnn_dense_tiles", "qnn.matmul", "",
      "i8[2,30,131]; const i8[131,70]; const i8[] -5; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, padding=[1,1,1,1]",
      "i8[1,16,6,6]; const i8[33,16,3,3]; const i8[] -3; const i8[] 0" },
};
/* clang-format on */

START_TEST(convolutions_agree_exactly)
{
    KERNEL_CASES_CHECK(convolutions, 0);
}
END_TEST

START_TEST(channels_last_agree_exactly)
{
    KERNEL_CASES_CHECK(last, 0);
}
END_TEST

START_TEST(what_is_not_known_agrees_exactly)
{
    static const char *const names[] = { "x86-64-v3", "x86-64-v4", "sapphirerapids", "znver5" };
    const int n = (int)(sizeof unknown / sizeof *unknown);
    struct ctx *ctx = ctx_new("machine");

    kernel_cases_check_as(unknown, n, 0, WINOGRAD_AUTO, machine_find(ctx, names[_i]));
    kernel_cases_check_low_scratch(unknown, n, 0, 0, machine_find(ctx, names[_i]));
    ctx_free(ctx);
}
END_TEST

/* For scalars sums start with what the zero point adds. */
START_TEST(scalars_agree_exactly)
{
    struct ctx *ctx = ctx_new("machine");

    kernel_cases_check_as(last, (int)(sizeof last / sizeof *last), 0, WINOGRAD_AUTO,
                          machine_find(ctx, "cortex-m4"));
    kernel_cases_check_as(last, (int)(sizeof last / sizeof *last), 0, WINOGRAD_AUTO,
                          machine_find(ctx, "cortex-m55"));
    ctx_free(ctx);
}
END_TEST

START_TEST(rows_agree_exactly)
{
    static const char *const names[] = { "x86-64-v3", "x86-64-v4", "aarch64" };
    struct ctx *ctx = ctx_new("machine");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        kernel_cases_check_as(by_rows, (int)(sizeof by_rows / sizeof *by_rows), 0, WINOGRAD_AUTO,
                              machine_find(ctx, names[i]));
    ctx_free(ctx);
}
END_TEST

START_TEST(products_agree_exactly)
{
    KERNEL_CASES_CHECK(products, 0);
}
END_TEST

START_TEST(without_scratch_they_agree_exactly)
{
    struct ctx *ctx = ctx_new("machine");

    kernel_cases_check_low_scratch(spared, (int)(sizeof spared / sizeof *spared), 0, 0, NULL);
    kernel_cases_check_low_scratch(spared, (int)(sizeof spared / sizeof *spared), 0, 0,
                                   machine_find(ctx, "cortex-m4"));
    kernel_cases_check_low_scratch(
        by_rows, (int)(sizeof by_rows / sizeof *by_rows) - 1, 0, 0,
        machine_find(ctx, "x86-64-v3")); /* the last one goes another way */
    ctx_free(ctx);
}
END_TEST

START_TEST(registers_agree_exactly)
{
    struct ctx *ctx = ctx_new("machine");
    const struct machine *machine = machine_find(ctx, "sapphirerapids");

    kernel_cases_check_as(registers, (int)(sizeof registers / sizeof *registers), 0, WINOGRAD_AUTO,
                          machine);
    kernel_cases_check_low_scratch(registers, (int)(sizeof registers / sizeof *registers) - 1, 0, 0,
                                   machine); /* of planes, the last, patches are not cut */
    kernel_cases_check_low_scratch(spared, (int)(sizeof spared / sizeof *spared), 0, 0, machine);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_qnn_tiles");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    generated_vector_builds();
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, convolutions_agree_exactly);
    tcase_add_test(tests, products_agree_exactly);
    tcase_add_test(tests, channels_last_agree_exactly);
    tcase_add_test(tests, rows_agree_exactly);
    tcase_add_loop_test(tests, what_is_not_known_agrees_exactly, 0, 4);
    tcase_add_test(tests, scalars_agree_exactly);
    tcase_add_test(tests, without_scratch_they_agree_exactly);
    tcase_add_test(tests, registers_agree_exactly);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
