/* Integers several channels at a time, as C for machines with vectors has them: with the compilers
 * of this machine, against the reference, exactly. tests/run networks and tests/e2e/run_deterministic
 * run such C on Arm, with NEON and Helium, in QEMU. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/machine/machine.h"
#include "tests/support/expect.h"
#include "tests/support/run_generated.h"

#define SCALES                                                                                     \
    "  const @z : () i8 = [-5]\n  const @n : () i8 = [0]\n  const @u : () u8 = [130]\n"            \
    "  const @i : () i32 = [0]\n  const @one : () f32 = [0.0004]\n  const @t : () f32 = [0.05]\n"  \
    "  const @s : (8) f32 = [0.0003, 0.001, 0.0002, 0.00005, 0.00031, 0.02, 0.00004, 0.0007]\n"    \
    "  const @b : (8) i32 = [1000, -2000, 3, 40000, -50000, 6, 0, 9]\n"
#define CONV(groups, out)                                                                          \
    "{strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=" groups                            \
    ", data_layout=\"NHWC\", out_layout=\"" out "\", kernel_layout=\"OIHW\"}"

static const struct row {
    const char *text;
    enum takes { NONE, X86, ALL } takes; /* which machines do */
} rows[] = {
    /* a scale for each channel, a bias, a residual that shares the result's place or not */
    { "fn main(%x: (1,5,6,3) i8, %r: (1,5,6,8) i8) -> (%y) {\n" SCALES
      "  const @w : (8,3,3,3) i8 = crc32:00000000\n"
      "  %c = qnn.conv2d(%x, @w, @z, @n) " CONV(
          "1", "") " : (1,5,6,8) i32\n"
                   "  %d = nn.bias_add(%c, @b) {axis=3} : (1,5,6,8) i32\n"
                   "  %q = qnn.requantize(%d, @s, @i, @t, @z) {axis=3, rounding=\"double\"} : "
                   "(1,5,6,8) i8\n"
                   "  %y = qnn.add(%q, %r, @t, @z, @one, @n, @t, @z) : (1,5,6,8) i8\n}\n",
      ALL },
    /* one scale, bytes without a sign */
    { "fn main(%x: (1,5,6,8) u8) -> (%y) {\n" SCALES "  const @w : (8,1,3,3) i8 = crc32:00000000\n"
      "  %c = qnn.conv2d(%x, @w, @u, @n) " CONV("8",
                                                "") " : (1,5,6,8) i32\n"
                                                    "  %y = qnn.requantize(%c, @one, @i, @t, @u) "
                                                    "{axis=3, rounding=\"double\"} : (1,5,6,8) u8\n"
                                                    "}\n",
      ALL },
    { "fn main(%x: (3,33) i8) -> (%y) {\n" SCALES "  const @w : (8,33) i8 = crc32:00000000\n"
      "  %c = qnn.dense(%x, @w, @z, @n) : (3,8) i32\n"
      "  %d = nn.bias_add(%c, @b) {axis=1} : (3,8) i32\n"
      "  %y = qnn.requantize(%d, @s, @i, @t, @z) {axis=1, rounding=\"double\"} : (3,8) i8\n}\n",
      ALL },
    /* rounded as ONNX has it: a factor for each channel, one for all of them */
    { "fn main(%x: (1,5,6,3) i8) -> (%y) {\n" SCALES "  const @w : (8,3,3,3) i8 = crc32:00000000\n"
      "  %c = qnn.conv2d(%x, @w, @z, @n) " CONV(
          "1", "") " : (1,5,6,8) i32\n"
                   "  %d = nn.bias_add(%c, @b) {axis=3} : (1,5,6,8) i32\n"
                   "  %y = qnn.requantize(%d, @s, @i, @t, @z) {axis=3, rounding=\"onnx\"} : "
                   "(1,5,6,8) i8\n}\n",
      ALL },
    { "fn main(%x: (1,5,6,8) u8) -> (%y) {\n" SCALES "  const @w : (8,1,3,3) i8 = crc32:00000000\n"
      "  %c = qnn.conv2d(%x, @w, @u, @n) " CONV("8",
                                                "") " : (1,5,6,8) i32\n"
                                                    "  %y = qnn.requantize(%c, @one, @i, @t, @u) "
                                                    "{axis=3, rounding=\"onnx\"} : (1,5,6,8) u8\n"
                                                    "}\n",
      ALL },
    { "fn main(%x: (1,70) i8) -> (%y) {\n" SCALES "  const @w : (8,70) i8 = crc32:00000000\n"
      "  %c = qnn.dense(%x, @w, @z, @n) : (1,8) i32\n"
      "  %y = qnn.requantize(%c, @s, @i, @t, @z) {axis=1, rounding=\"onnx\"} : (1,8) i8\n}\n",
      ALL },
    { "fn main(%x: (1,70) i8) -> (%y) {\n" SCALES "  const @w : (8,70) i8 = crc32:00000000\n"
      "  %c = qnn.dense(%x, @w, @z, @n) : (1,8) i32\n"
      "  %y = qnn.requantize(%c, @s, @i, @t, @z) {axis=1, rounding=\"double\"} : (1,8) i8\n}\n",
      ALL },
    /* planes, channels left over, what is no such arithmetic: one by one; factors of 1/2 and more
     * (of 1 .. 2^9, in the last row beside small ones, where sums are beyond 8 bits in all channels
     * but one) are for the vectors of x86 */
    { "fn main(%x: (1,5,6,3) i8) -> (%y) {\n" SCALES "  const @w : (8,3,3,3) i8 = crc32:00000000\n"
      "  %c = qnn.conv2d(%x, @w, @z, @n) " CONV(
          "1", "NCHW") " : (1,8,5,6) i32\n"
                       "  %y = qnn.requantize(%c, @s, @i, @t, @z) {axis=1, rounding=\"double\"} : "
                       "(1,8,5,6) i8\n"
                       "}\n",
      NONE },
    { "fn main(%x: (3,33) i8) -> (%y) {\n" SCALES "  const @w : (6,33) i8 = crc32:00000000\n"
      "  %c = qnn.dense(%x, @w, @z, @n) : (3,6) i32\n"
      "  %y = qnn.requantize(%c, @one, @i, @t, @z) {axis=1, rounding=\"double\"} : (3,6) i8\n}\n",
      NONE },
    { "fn main(%x: (3,33) i8) -> (%y) {\n" SCALES "  const @w : (8,33) i8 = crc32:00000000\n"
      "  %c = qnn.dense(%x, @w, @z, @n) : (3,8) i32\n"
      "  %y = qnn.requantize(%c, @t, @i, @t, @z) {axis=1, rounding=\"double\"} : (3,8) i8\n}\n",
      X86 },
    { "fn main(%x: (3,33) i8) -> (%y) {\n" SCALES "  const @w : (8,33) i8 = crc32:00000000\n"
      "  %c = qnn.dense(%x, @w, @z, @n) : (3,8) i32\n"
      "  %q = qnn.requantize(%c, @s, @i, @t, @n) {axis=1, rounding=\"double\"} : (3,8) i8\n"
      "  %y = qnn.mul(%q, %q, @t, @n, @t, @n, @t, @z) : (3,8) i8\n}\n",
      NONE },
    { "fn main(%x: (3,5,7,8) u8) -> (%y) {\n" SCALES "  const @w : (8,1,3,3) i8 = crc32:00000000\n"
      "  const @m : (8) f32 = [0.05, 0.0004, 0.1, 25, 0.02, 0.024, 0.0000001, 0.03]\n"
      "  %c = qnn.conv2d(%x, @w, @u, @n) " CONV(
          "8", "") " : (3,5,7,8) i32\n"
                   "  %d = qnn.requantize(%c, @m, @i, @t, @z) {axis=3, rounding=\"double\"} : "
                   "(3,5,7,8) i8\n"
                   "  %y = qnn.add(%d, %d, @t, @z, @t, @z, @t, @z) : (3,5,7,8) i8\n}\n",
      X86 },
    /* all below 0 is the least number: one rounding */
    { "fn main(%x: (1,5,6,8) u8) -> (%y) {\n" SCALES "  const @w : (8,1,3,3) i8 = crc32:00000000\n"
      "  const @0 : () u8 = [0]\n"
      "  %c = qnn.conv2d(%x, @w, @u, @n) " CONV(
          "8", "") " : (1,5,6,8) i32\n"
                   "  %d = nn.bias_add(%c, @b) {axis=3} : (1,5,6,8) i32\n"
                   "  %y = qnn.requantize(%d, @s, @i, @t, @0) {axis=3, rounding=\"double\"} : "
                   "(1,5,6,8) u8\n}\n",
      ALL },
    { "fn main(%x: (9,33) i8) -> (%y) {\n" SCALES "  const @w : (8,33) i8 = crc32:00000000\n"
      "  const @l : () i8 = [-128]\n"
      "  %c = qnn.dense(%x, @w, @z, @n) : (9,8) i32\n"
      "  %d = nn.bias_add(%c, @b) {axis=1} : (9,8) i32\n"
      "  %y = qnn.requantize(%d, @s, @i, @t, @l) {axis=1, rounding=\"double\"} : (9,8) i8\n}\n",
      ALL },
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static const struct {
    const char *name, *store; /* of vectors for 8 channels */
} machines_with[] = { { "cortex-m55", "i32x4_store_" },
                      { "aarch64", "i32x4_store_" },
                      { "x86-64-v3", "i32x8_store_" },
                      { "x86-64-v4", "i32x8_store_" } };

enum { N_MACHINES = sizeof machines_with / sizeof *machines_with, FIRST_X86 = 2 };

START_TEST(numbers_agree_exactly)
{
    struct ctx *ctx = ctx_new("net.onnx");

    for (int i = 0; i < N_MACHINES; i++)
        generated_check(
            &(struct generated_case){ .text = rows[_i].text,
                                      .low = -128,
                                      .high = 255,
                                      .machine = machine_find(ctx, machines_with[i].name) });
    ctx_free(ctx);
}
END_TEST

START_TEST(vectors_are_where_channels_lie_side_by_side)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct generated_case one = { .text = rows[_i].text };
    const char *text;

    for (int i = 0; i < N_MACHINES; i++) {
        one.machine = machine_find(ctx, machines_with[i].name);
        text = strstr(generated_text(ctx, &one, ".c"), "void region_");
        ck_assert_ptr_nonnull(text);
        ck_assert_msg(!strstr(text, machines_with[i].store) ==
                          !(rows[_i].takes == ALL || (rows[_i].takes == X86 && i >= FIRST_X86)),
                      "%s: %s", machines_with[i].name, text);
    }
    one.machine = machine_find(ctx, "cortex-m4");
    ck_assert_ptr_null(strstr(generated_text(ctx, &one, ".c"), "_store_"));
    ctx_free(ctx);
}
END_TEST

/* 48 channels: as many at a time as the machine takes. */
START_TEST(greatest_vectors)
{
    static const char text[] = "fn main(%x: (1,5,6,48) u8) -> (%y) {\n" SCALES
                               "  const @w : (48,1,3,3) i8 = crc32:00000000\n"
                               "  %c = qnn.conv2d(%x, @w, @u, @n) " CONV(
                                   "48", "") " : (1,5,6,48) i32\n"
                                             "  %y = qnn.requantize(%c, @one, @i, @t, @u) {axis=3, "
                                             "rounding=\"double\"} : (1,5,6,48) u8\n"
                                             "}\n";
    struct ctx *ctx = ctx_new("net.onnx");
    const struct generated_case one = {
        .text = text, .low = 0, .high = 255, .machine = machine_find(ctx, "x86-64-v4")
    };

    ck_assert_ptr_nonnull(strstr(generated_text(ctx, &one, ".c"), "i32x16_store_u8(&"));
    generated_check(&one);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_lanes");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    generated_vector_builds();
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, numbers_agree_exactly, 0, N_ROWS);
    tcase_add_loop_test(tests, vectors_are_where_channels_lie_side_by_side, 0, N_ROWS);
    tcase_add_test(tests, greatest_vectors);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
