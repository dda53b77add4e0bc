/* Kernels of the QNN operators against the reference: exactly equal, and what follows a product
 * stands in its loop nest. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/kernel_case.h"
#include "tests/support/op_case.h"
#include "tests/support/run_generated.h"

static const struct kernel_case products[] = {
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1",
      "i8[1,2,5,6]; const i8[3,2,3,2]; const i8[] 0; const i8[] 0" },
    { "qnn_conv_tiles", "qnn.conv2d", "groups=1, padding=[1,0,2,1], strides=[2,1]",
      "u8[1,2,5,6]; const i8[3,2,3,2]; const u8[] 128; const i8[] 0" },
    { "qnn_conv", "qnn.conv2d", "groups=2, padding=[1,1,1,1], dilation=[1,2]",
      "u8[2,4,5,6]; const u8[6,2,2,2]; const u8[] 3; const u8[6] 1 2 3 4 5 250" },
    { "qnn_conv", "qnn.conv2d", "groups=4", "i8[1,4,4,4]; i8[4,1,3,3]; i8[]; i8[4]" },
    { "qnn_conv", "qnn.conv2d", "groups=1, padding=[1,1,1,1]",
      "i16[1,2,4,4] 32767 -32768; const i8[2,2,3,3] -128 127; const i16[] 0; const i8[1] 7" },
    { "qnn_conv", "qnn.conv1d", "groups=1, padding=[1,1]",
      "u16[3,2,9] 65535; u8[4,2,3] 255; u16[] 0; u8[1] 0" },
    { "qnn_conv", "qnn.conv3d", "groups=2, padding=[1,0,1,0,1,1], strides=[1,2,1]",
      "i8[1,2,3,4,4]; const i8[4,1,2,2,3]; const i8[] -1; const i8[] 1" },
    { "qnn_conv", "qnn.conv2d", "groups=1",
      "i8[1,9,1,1] -128; const i8[5,9,1,1] -128; const i8[] 127; const i8[] 127" },
    { "qnn_dense_tiles", "qnn.dense", "", "i8[1,7]; const i8[5,7]; const i8[] 2; const i8[] 0" },
    { "qnn_dense_tiles", "qnn.dense", "", "u8[2,3,7]; const i8[5,7]; const u8[] 128; const i8[5]" },
    { "qnn_matmul", "qnn.dense", "", "i16[4,3]; i8[2,3]; i16[]; i8[2]" },
    { "qnn_matmul", "qnn.matmul", "", "u8[4,3]; u8[3,5]; const u8[] 0; const u8[] 0" },
    { "qnn_matmul", "qnn.matmul", "transpose_a=true", "i8[2,3,4]; u8[3,5]; i8[]; u8[5]" },
    { "qnn_matmul", "qnn.matmul", "transpose_b=true", "i8[4,3]; i8[2,2,5,3]; i8[] 5; i8[1] -3" },
    { "nothing", "qnn.matmul", "", "i8[0,3]; i8[3,2]; i8[]; i8[]" },
    { "qnn_matmul", "qnn.dense", "", "i8[3,0]; i8[2,0]; i8[]; i8[]" },
};

static const struct kernel_case elements[] = {
    { "elementwise", "qnn.quantize", "axis=0", "f32[3,4]; const f32[] 0.03; const i8[] -5" },
    { "elementwise", "qnn.quantize", "axis=0",
      "f32[9] 0.5 1.5 2.5 -0.5 nan inf -inf 300 -300; const f32[] 1; const i8[] 3" },
    { "elementwise", "qnn.quantize", "axis=0",
      "f32[9] 0.5 1.5 2.5 -0.5 nan inf -inf 3e9 -3e9; const f32[] 1; const u16[] 0" },
    { "elementwise", "qnn.quantize", "axis=1",
      "f32[2,3,4]; const f32[3] 0.1 0.02 0.003; const u8[3] 1 128 255" },
    { "elementwise", "qnn.quantize", "axis=1",
      "f32[2,3,4]; const f32[] 0.1; const i16[3] 1 -128 255" },
    { "elementwise", "qnn.quantize", "axis=2", "f32[2,3,4]; f32[4] 0.5 0.1 0.2 3; i8[4]" },
    { "elementwise", "qnn.quantize", "axis=0", "f32[2,3,4]; f32[] 0.07; u8[]" },
    { "elementwise", "qnn.quantize", "axis=0", "f32[3] 1; f32[1] 0; i8[1] 5" },
    { "elementwise", "qnn.quantize", "axis=0, saturate=true",
      "f32[5] 0.3 1000 -7 nan -0.001; const f32[] 0.5; const f8e4m3[] 0" },
    { "elementwise", "qnn.quantize", "axis=0, saturate=false",
      "f32[5] 0.3 1e9 -7 nan -1e9; const f32[] 0.5; const f8e5m2[] 0" },
    { "elementwise", "qnn.dequantize", "axis=0",
      "i8[3,4] -128 127 5; const f32[] 0.03; const i8[] -5" },
    { "elementwise", "qnn.dequantize", "axis=0",
      "u16[3,4] 65535 0 5; const f32[] 0.03; const u16[] 65535" },
    { "elementwise", "qnn.dequantize", "axis=1",
      "u8[2,3,4]; const f32[3] 1 2 3; const u8[3] 1 128 255" },
    { "elementwise", "qnn.dequantize", "axis=0",
      "i32[4] 2147483647 -2147483648 16777217 3; const f32[] 0.5; const i32[] 0" },
    { "elementwise", "qnn.dequantize", "axis=0",
      "i32[4] 2147483647 -2147483648 16777217 3; const f32[] 0.5; i32[] 9" },
    { "elementwise", "qnn.dequantize", "axis=0", "i16[2,3]; f32[2]; i16[2]" },
    { "elementwise", "qnn.dequantize", "axis=0", "f8e4m3[4]; const f32[] 3; const f8e4m3[] 0" },
    { "elementwise", "qnn.requantize", "axis=0",
      "i32[6] 2147483647 -2147483648 1000 -999 3 0; const f32[] 0.03; const i32[] 0; const f32[] "
      "0.5; const i8[] 4" },
    { "elementwise", "qnn.requantize", "axis=0, rounding=\"single\"",
      "i32[6] 2147483647 -2147483648 1000 -999 3 0; const f32[] 0.03; const i32[] -77; const f32[] "
      "0.5; const u8[] 0" },
    { "elementwise", "qnn.requantize", "axis=0, rounding=\"onnx\"",
      "i32[8] 2147483647 -2147483648 1000 -999 3 5 -5 0; const f32[] 0.25; const i32[] 0; const "
      "f32[] 0.5; const u8[] 7" },
    { "elementwise", "qnn.requantize", "axis=1, rounding=\"onnx\"",
      "i32[2,3,2] 101 -103 77 9; const f32[3] 0.5 0.011 7; const i32[] 0; const f32[] 1; const "
      "i16[] -300" },
    { "elementwise", "qnn.requantize", "axis=0",
      "i32[6] 2147483647 -2147483648 1000 -999 3 0; const f32[] 8; const i32[] 1; const f32[] 0.5; "
      "const i32[] -9" },
    { "elementwise", "qnn.requantize", "axis=0",
      "i32[6] 2147483647 -2147483648 1000 -999 3 0; const f32[] 8; const i32[] 0; const f32[] 0.5; "
      "const i32[] 0" },
    { "elementwise", "qnn.requantize", "axis=1",
      "i32[2,3,2] 100 -100 77 8; const f32[3] 0.5 0.011 7; const i32[] 0; const f32[] 0.5; const "
      "i8[] 4" },
    { "elementwise", "qnn.requantize", "axis=1",
      "i32[2,3,2] 100 -100 77 8; const f32[3] 0.5; const i32[] 0; const f32[] 0.5; const u16[] "
      "400" },
    { "elementwise", "qnn.add", "",
      "i8[2,3]; i8[2,3]; const f32[] 0.1; const i8[] 3; const f32[] 0.2; const i8[] -4; const "
      "f32[] 0.05; const i8[] 5" },
    { "elementwise", "qnn.add", "",
      "u8[2,3] 255 0 128; u8[3] 255 0 3; const f32[] 0.1; const u8[] 3; const f32[] 7; const u8[] "
      "200; const f32[] 3; const u8[] 0" },
    { "elementwise", "qnn.add", "",
      "u16[2,3] 65535 0 3; const u16[] 65535; const f32[] 1; const u16[] 0; const f32[] 1; const "
      "u16[] 0; const f32[] 2; const u16[] 0" },
    { "elementwise", "qnn.mul", "",
      "i8[2,3] 127 -128 5; i8[2,1] -128 127; const f32[] 0.1; const i8[] 3; const f32[] 0.2; const "
      "i8[] -4; const f32[] 0.9; const i8[] 5" },
    { "elementwise", "qnn.mul", "",
      "i16[2,3] 32767 -32768; i16[2,1] -32768 32767; const f32[] 0.1; const i16[] 3; const f32[] "
      "0.2; const i16[] -4; const f32[] 900; const i16[] 5" },
};

START_TEST(products_agree_exactly)
{
    KERNEL_CASES_CHECK(products, 0);
}
END_TEST

START_TEST(elements_agree_exactly)
{
    KERNEL_CASES_CHECK(elements, 0);
}
END_TEST

/* --- in one loop nest ------------------------------------------------------------------------- */

#define CONV(groups)                                                                               \
    "{strides=[], padding=[1,1,1,1], dilation=[], groups=" groups                                  \
    ", data_layout=\"\", kernel_layout=\"\"}"

static const char per_channel[] =
    "fn main(%x: (1,3,6,6) i8) -> (%y) {\n"
    "  const @w : (5,3,3,3) i8 = crc32:00000000\n  const @b : (5) i32 = [100, -200, 3, 4, 5]\n"
    "  const @s : (5) f32 = [0.003, 0.01, 0.002, 0.5, 0.0001]\n  const @t : () f32 = [0.02]\n"
    "  const @zx : () i8 = [-3]\n  const @zw : () i8 = [0]\n  const @z : () i32 = [0]\n"
    "  const @zy : () i8 = [7]\n"
    "  %c = qnn.conv2d(%x, @w, @zx, @zw) " CONV(
        "1") " : (1,5,6,6) i32\n"
             "  %d = nn.bias_add(%c, @b) {axis=1} : (1,5,6,6) i32\n"
             "  %r = qnn.requantize(%d, @s, @z, @t, @zy) {axis=1, rounding=\"\"} : (1,5,6,6) i8\n"
             "  %y = clip(%r) {a_min=7, a_max=100} : (1,5,6,6) i8\n}\n";

static const char per_channel_onnx[] =
    "fn main(%x: (1,3,6,6) i8) -> (%y) {\n"
    "  const @w : (5,3,3,3) i8 = crc32:00000000\n  const @b : (5) i32 = [100, -200, 3, 4, 5]\n"
    "  const @s : (5) f32 = [0.003, 0.01, 0.002, 0.5, 0.0001]\n  const @t : () f32 = [0.02]\n"
    "  const @zx : () i8 = [-3]\n  const @zw : () i8 = [0]\n  const @z : () i32 = [0]\n"
    "  const @zy : () i8 = [7]\n"
    "  %c = qnn.conv2d(%x, @w, @zx, @zw) " CONV(
        "1") " : (1,5,6,6) i32\n"
             "  %d = nn.bias_add(%c, @b) {axis=1} : (1,5,6,6) i32\n"
             "  %y = qnn.requantize(%d, @s, @z, @t, @zy) {axis=1, rounding=\"onnx\"} : (1,5,6,6) "
             "i8\n}\n";

/* As exporters write it: float operators between quantize and dequantize. */
static const char around_floats[] =
    "fn main(%x: (2,4) u8) -> (%y) {\n"
    "  const @s : () f32 = [0.1]\n  const @t : () f32 = [0.05]\n  const @z : () u8 = [128]\n"
    "  %d = qnn.dequantize(%x, @s, @z) {axis=0} : (2,4) f32\n  %e = tanh(%d) : (2,4) f32\n"
    "  %y = qnn.quantize(%e, @t, @z) {axis=0, saturate=true} : (2,4) u8\n}\n";

static const char dense[] =
    "fn main(%x: (3,8) u8) -> (%y) {\n"
    "  const @w : (4,8) i8 = crc32:00000000\n  const @b : (4) i32 = [100, -200, 3, 4]\n"
    "  const @s : (4) f32 = [0.003, 0.01, 0.002, 0.5]\n  const @t : () f32 = [0.02]\n"
    "  const @zx : () u8 = [128]\n  const @zw : () i8 = [0]\n  const @z : () i32 = [0]\n"
    "  %c = qnn.dense(%x, @w, @zx, @zw) : (3,4) i32\n"
    "  %d = nn.bias_add(%c, @b) {axis=1} : (3,4) i32\n"
    "  %r = qnn.requantize(%d, @s, @z, @t, @zx) {axis=1, rounding=\"\"} : (3,4) u8\n"
    "  %y = qnn.dequantize(%r, @t, @zx) {axis=0} : (3,4) f32\n}\n";

static const char *const fused[] = { per_channel, per_channel_onnx, around_floats, dense };

START_TEST(one_region_for_all)
{
    const struct generated_case row = { .text = fused[_i], .low = -128, .high = 256 };
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &row);

    ck_assert_ptr_null(module->functions->next->next); /* main and one region */
    generated_check_module(module, &row, NULL);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(accumulators_are_not_stored)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const char *text = generated_text(ctx, &(struct generated_case){ .text = per_channel }, ".c");

    ck_assert_msg(generated_says(ctx, text, "requantize(bias_add_1, "), "%.3000s", text);
    ck_assert_msg(generated_says(ctx, text, "_multiplier[oc], "), "%.3000s", text);
    ck_assert_ptr_null(strstr(text, "fp-contract"));
    text = generated_text(ctx, &(struct generated_case){ .text = per_channel_onnx }, ".c");
    ck_assert_msg(generated_says(ctx, text, "requantize_even(bias_add_1, "), "%.3000s", text);
    ck_assert_msg(generated_says(ctx, text, "_factor[oc], "), "%.3000s", text);
    ck_assert_msg(generated_says(ctx, text, "optimize(\"fp-contract=off\")"), "%.3000s", text);
    ctx_free(ctx);
}
END_TEST

/* oneDNN computes f32: the engine leaves all this to the reference. */
START_TEST(engine_agrees)
{
    const struct generated_case row = { .text = fused[_i] };
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &row);
    struct bulk bulk = { NULL, 0 };
    unsigned seed = 3;
    struct tensor *inputs = random_inputs(&ctx->perm, &bulk, module->main, -128, 256, &seed);
    struct engine *engine = engine_new(ctx, module->main);

    ck_assert_msg(engine != NULL, "%s", expect_text(ctx));
    ck_assert_double_eq(engine_difference(ctx, module->main, engine, inputs, 2), 0);
    engine_free(engine);
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_qnn");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, products_agree_exactly);
    tcase_add_test(tests, elements_agree_exactly);
    tcase_add_loop_test(tests, one_region_for_all, 0, N_ROWS(fused));
    tcase_add_test(tests, accumulators_are_not_stored);
    tcase_add_loop_test(tests, engine_agrees, 0, N_ROWS(fused));
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
