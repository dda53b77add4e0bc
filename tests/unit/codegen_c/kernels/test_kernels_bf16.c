/* Products of floats of a byte as products of bf16 (codegen_c/kernels/{conv,depthwise}_bf16.c), as
 * generated C: against the reference, whose sums of such products are exact. The bits are those of
 * the simulation: test_codegen_decoded.c. */
#include <check.h>
#include <stdlib.h>

#include "base/str.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/expect.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static const double tolerance = 1e-6;

#define LAST "data_layout=\"NHWC\", out_dtype=f32, "

/* Channels of whole vectors and not, one of them, two, and both; odd numbers of inputs; positions
 * that fill tiles and not; windows in and out of x, strides and dilations; x in planes; several
 * images; weights in NC blocks. */
static const struct kernel_case rows[] = {
    { "conv_bf16", "nn.conv2d", LAST "groups=1", "f8e4m3[1,6,6,64]; const f8e4m3[64,64,1,1]" },
    { "conv_bf16", "nn.conv2d", LAST "groups=1", "f8e4m3[1,5,5,31]; const f8e4m3[8,31,1,1]" },
    { "conv_bf16", "nn.conv2d", LAST "groups=1", "f8e4m3[2,5,7,30]; const f8e5m2[40,30,1,1]" },
    { "conv_bf16", "nn.conv2d", LAST "groups=1", "f8e5m2[1,3,3,16]; const hfp8_143[48,16,1,1]" },
    { "conv_bf16", "nn.conv2d", LAST "groups=1", "u8e2m6[1,5,5,70]; const f8e2m5[40,70,1,1]" },
    { "conv_bf16", "nn.conv2d", LAST "groups=1, padding=[1,1,1,1]",
      "u8e4m4[1,6,6,5]; const f8e4m3[20,5,3,3]" },
    { "conv_bf16", "nn.conv2d", LAST "groups=1, strides=[2,1]",
      "f8e3m4[1,7,4,10]; const f8e4m3[24,10,1,1]" },
    { "conv_bf16", "nn.conv2d", LAST "groups=1, padding=[1,1,1,1]",
      "f8e4m3[1,8,8,16]; const f8e4m3[16,16,3,3]" },
    { "conv_bf16", "nn.conv2d", LAST "groups=1, padding=[1,1,1,1]",
      "f8e4m3[2,7,9,5]; const f8e4m3[20,5,3,3]" },
    { "conv_bf16", "nn.conv2d", LAST "groups=1, padding=[2,0,1,3], strides=[2,3]",
      "f8e4m3[1,11,10,3]; const f8e4m3[33,3,5,4]" },
    { "conv_bf16", "nn.conv2d", LAST "groups=1, padding=[2,1,2,1], dilation=[2,1]",
      "f8e5m2[1,9,8,4]; const f8e4m3[17,4,3,3]" },
    { "conv_bf16", "nn.conv2d", LAST "groups=1, padding=[1,2,1,2], dilation=[1,2]",
      "f8e4m3[1,9,8,4]; const f8e4m3[17,4,3,3]" },
    { "conv_bf16", "nn.conv2d", LAST "groups=1", "f8e4m3[1,4,4,100]; const f8e4m3[500,100,1,1]" },
    { "conv_bf16", "nn.conv2d",
      "groups=1, padding=[1,1,1,1], strides=[2,2], out_layout=\"NHWC\", out_dtype=f32",
      "f8e4m3[1,3,13,12]; const f8e4m3[8,3,3,3]" },
    { "conv_bf16", "nn.conv2d", "groups=1, out_layout=\"NHWC\", out_dtype=f32",
      "f8e4m3[1,3,120,120]; const f8e4m3[8,3,5,5]" },
    { "conv_bf16", "nn.conv2d", "groups=1, strides=[2,2], out_layout=\"NHWC\", out_dtype=f32",
      "f8e4m3[2,1,49,10]; const f8e4m3[64,1,10,4]" },
    { "conv_bf16", "nn.conv1d", "groups=1, padding=[1,1], data_layout=\"NWC\", out_dtype=f32",
      "f8e4m3[1,9,3]; const f8e4m3[6,3,3]" },
    { "conv_bf16", "nn.dense", "out_dtype=f32", "f8e4m3[5,39]; const f8e4m3[10,39]" },
    { "conv_bf16", "nn.matmul", "out_dtype=f32", "f8e4m3[2,5,64]; const f8e5m2[64,96]" },
    { "depthwise_bf16", "nn.conv2d", LAST "groups=64, padding=[1,1,1,1]",
      "f8e4m3[1,9,5,64]; const f8e4m3[64,1,3,3]" },
    { "depthwise_bf16", "nn.conv2d", LAST "groups=8, padding=[1,1,1,1]",
      "f8e4m3[2,9,6,8]; const f8e4m3[8,1,3,3]" },
    { "depthwise_bf16", "nn.conv2d", LAST "groups=8, padding=[0,1,1,0], strides=[2,2]",
      "f8e5m2[1,9,9,8]; const f8e4m3[8,1,3,3]" },
    { "depthwise_bf16", "nn.conv2d", LAST "groups=33, padding=[2,2,2,2]",
      "f8e4m3[2,7,19,33]; const f8e5m2[33,1,5,5]" },
    { "depthwise_bf16", "nn.conv2d",
      LAST "groups=24, strides=[2,1], padding=[2,1,2,1], dilation=[2,1]",
      "f8e3m4[1,12,11,24]; const f8e4m3[24,1,3,3]" },
    { "depthwise_bf16", "nn.conv2d", LAST "groups=24, padding=[1,1,1,1]",
      "u8e2m6[1,6,13,24]; const f8e2m5[24,1,3,3]" },
    { "depthwise_bf16", "nn.conv2d", LAST "groups=8, padding=[1,1,1,1]",
      "u8e3m5[1,6,13,8]; const f8e3m4[8,1,3,3]" },
    { "depthwise_bf16", "nn.conv2d", LAST "groups=16",
      "f8e4m3[1,4,13,16]; const f8e4m3[16,1,2,1]" },
    { "depthwise_bf16", "nn.conv1d", "groups=20, padding=[3,3], data_layout=\"NWC\", out_dtype=f32",
      "f8e4m3[1,30,20]; const f8e4m3[20,1,7]" },
};

/* Not without the instruction, nor where a number is no bf16, or something else is decoded. */
static const struct kernel_case others[] = {
    { "conv_decoded", "nn.conv2d", LAST "groups=1", "f8e4m3fnuz[1,5,5,8]; const f8e4m3[8,8,1,1]" },
    { "conv_decoded", "nn.conv2d", LAST "groups=1", "f8e4m3[1,5,5,8]; const f6e3m2[8,8,1,1]" },
    { "conv_decoded", "nn.conv2d", LAST "groups=1", "f32[1,5,5,8]; const f8e4m3[8,8,1,1]" },
    { "conv_decoded", "nn.conv2d", LAST "groups=1",
      "f8e4m3[1,3,3,1400]; const f8e4m3[8,1400,1,1]" },
};

START_TEST(rows_agree_with_the_reference)
{
    struct ctx *ctx = ctx_new("rows");

    kernel_cases_check_as(rows, N_ROWS(rows), tolerance, WINOGRAD_AUTO,
                          machine_find(ctx, _i ? "znver5" : "znver4"));
    ctx_free(ctx);
}
END_TEST

/* const @w : (32,32,1,1) f8e4m3, in numbers of one size. */
static void add_weight(struct str *out)
{
    str_add(out, "  const @w : (32,32,1,1) f8e4m3 = [");
    for (int i = 0; i < 32 * 32; i++)
        str_printf(out, "%s0x%02x", i ? ", " : "", 0x28 + i * 7 % 24);
    str_add(out, "]\n");
}

#define WHOLE                                                                                      \
    "strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, data_layout=\"NHWC\", "           \
    "kernel_layout=\"OIHW\", out_dtype=f32"

/* Tiles of words and tiles of floats are in one file, each with macros of its own. */
START_TEST(layers_of_floats_stand_beside)
{
    struct ctx *ctx = ctx_new("beside");
    struct str text = { .arena = &ctx->perm };

    str_add(&text, "fn main(%x: (1,8,8,32) f8e4m3, %v: (1,8,8,32) f32) -> (%y, %z) {\n");
    add_weight(&text);
    str_add(&text, "  %z = nn.conv2d(%v, @w) {" WHOLE "} : (1,8,8,32) f32\n"
                   "  %y = nn.conv2d(%x, @w) {" WHOLE "} : (1,8,8,32) f32\n"
                   "}\n");
    generated_check(&(struct generated_case){
        .text = str_text(&text), .tolerance = 1e-5, .machine = machine_find(ctx, "znver5") });
    ctx_free(ctx);
}
END_TEST

START_TEST(others_go_without)
{
    static const struct kernel_case plain = { "conv_decoded", "nn.conv2d", LAST "groups=1",
                                              "f8e4m3[1,5,5,8]; const f8e4m3[8,8,1,1]" };
    struct ctx *ctx = ctx_new("others");

    kernel_cases_check_as(others, N_ROWS(others), 1e-5, WINOGRAD_AUTO, machine_find(ctx, "znver5"));
    kernel_cases_check_as(&plain, 1, 1e-5, WINOGRAD_AUTO, machine_find(ctx, "x86-64-v4"));
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_bf16");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    generated_vector_builds();
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, rows_agree_with_the_reference, 0, 2);
    tcase_add_test(tests, layers_of_floats_stand_beside);
    tcase_add_test(tests, others_go_without);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
