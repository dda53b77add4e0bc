/* --parallel: regions of every kernel that is divided, in 5 parts one after the other: the same
 * results as the reference, and the text is that of parts. Threads: tests/e2e/run_parallel. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/run_generated.h"

#define CONV(strides, padding)                                                                     \
    "{strides=[" strides "], padding=[" padding "], dilation=[1,1], groups=1, "                    \
    "data_layout=\"NHWC\", kernel_layout=\"OIHW\"} "
#define POOL                                                                                       \
    "{pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], dilation=[1,1], ceil_mode=false, "        \
    "count_include_pad=true, p=0, storage_order=0, layout=\"NHWC\"} "

/* Large enough to be worth it, and with a rest in every dimension. */
static const struct {
    const char *kernel, *inputs, *constants, *line, *output;
} cases[] = {
    { "elementwise", "%x: (40001) f32", "", "nn.relu(%x)", "(40001)" },
    { "elementwise", "%x: (301,111) f32, %v: (301,1) f32", "", "add(%x, %v)", "(301,111)" },
    { "conv", "%x: (1,31,29,16) f32", "w : (24,16,3,3)",
      "nn.conv2d(%x, @w) " CONV("2,2", "1,1,1,1"), "(1,16,15,24)" },
    { "conv", "%x: (1,31,29,16) f32, %w: (24,16,3,3) f32", "",
      "nn.conv2d(%x, %w) " CONV("2,2", "1,1,1,1"), "(1,16,15,24)" },
    { "gemv", "%x: (1,600) f32", "w : (501,600)", "nn.dense(%x, @w)", "(1,501)" },
    { "dense_tiles", "%x: (37,100) f32", "w : (101,100)", "nn.dense(%x, @w)", "(37,101)" },
    { "matmul_tiles", "%x: (37,100) f32, %w: (101,100) f32", "", "nn.dense(%x, %w)", "(37,101)" },
    { "pool_tiles", "%x: (1,131,66,16) f32", "", "nn.max_pool2d(%x) " POOL, "(1,65,33,16)" },
    { "softmax_short", "%x: (3001,13) f32", "", "nn.softmax(%x) {axis=1}", "(3001,13)" },
    { "softmax_group", "%x: (333,112) f32", "", "nn.softmax(%x) {axis=1}", "(333,112)" },
    { "softmax_rows", "%x: (133,532) f32", "", "nn.softmax(%x) {axis=1}", "(133,532)" },
    { "lp_normalize_rows", "%x: (333,101) f32", "", "nn.lp_normalize(%x) {axis=1, p=2}",
      "(333,101)" },
    { "layer_norm", "%x: (333,101) f32", "s : (101)",
      "nn.layer_norm(%x, @s, @s) {axis=1, epsilon=0.001}", "(333,101)" },
};

START_TEST(parts_make_the_whole)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct str text = { .arena = &ctx->perm };
    struct generated_case row = { .tolerance = 1e-5, .parts = 5 };
    const char *c;

    str_printf(&text, "fn main(%s) -> (%%y) {\n", cases[_i].inputs);
    if (*cases[_i].constants)
        str_printf(&text, "  const @%s f32 = crc32:00000000\n", cases[_i].constants);
    str_printf(&text, "  %%y = %s : %s f32\n}\n", cases[_i].line, cases[_i].output);
    row.text = str_text(&text);
    c = generated_text(ctx, &row, ".c");
    ck_assert_msg(strstr(c, "part_begin(this_part + 1, "), "%s: no parts", cases[_i].kernel);
    ck_assert_msg(strstr(c, arena_printf(&ctx->perm, "  %s  ", cases[_i].kernel)),
                  "another kernel than %s: %.600s", cases[_i].kernel, c);
    ck_assert_ptr_nonnull(strstr(generated_text(ctx, &row, ".h"), "#define NET_PARTS 5\n"));
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* Winograd: groups of tiles are divided; or channels, where there are fewer groups than parts, also
 * of images, of sums of pairs, and of weights that are transformed where they are needed. */
START_TEST(winograd_is_divided_by_groups_or_channels)
{
#define WINOGRAD(image, in_c, out_c)                                                               \
    "fn main(%x: (" image "," in_c ") f32) -> (%y) {\n"                                            \
    "  const @w : (" out_c "," in_c ",3,3) f32 = crc32:00000000\n"                                 \
    "  %y = nn.conv2d(%x, @w) " CONV("1,1", "1,1,1,1") ": (" image "," out_c ") f32\n"             \
                                                       "}\n"
    static const struct {
        const char *text, *machine, *divided, *has;
        enum winograd winograd;
    } rows[] = {
        { WINOGRAD("1,60,59", "16", "40"), "x86-64-v3", "first", "GROUP =", WINOGRAD_F4 },
        { WINOGRAD("1,7,7", "64", "150"), "x86-64-v3", "block", "GROUP =", WINOGRAD_F4 },
        { WINOGRAD("2,7,8", "40", "100"), "generic", "block", "BATCH =", WINOGRAD_F2 },
        { WINOGRAD("1,7,7", "64", "160"), "znver4", "block", "block == part_begin", WINOGRAD_F4 },
        { WINOGRAD("1,7,7", "512", "256"), "sapphirerapids", "block", "DEPTH =", WINOGRAD_AUTO },
    };
    struct ctx *ctx = ctx_new("net.onnx");
    struct generated_case row = { .text = rows[_i].text,
                                  .tolerance = 2e-5,
                                  .parts = 5,
                                  .winograd = rows[_i].winograd,
                                  .machine = machine_find(ctx, rows[_i].machine) };
    const char *loop = arena_printf(&ctx->perm, "for (int %s = part_begin(", rows[_i].divided);

    ck_assert_int_eq(generated_count(ctx, &row, loop), 1);
    ck_assert_int_eq(generated_count(ctx, &row, rows[_i].has), 1);
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

/* What is too small to be worth it has the text that it has without. */
/* NC blocks of weights around the loop that is divided, each with a last block of its own. */
START_TEST(nc_blocks_of_weights_have_their_own_end)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const struct generated_case row = {
        .text = "fn main(%x: (1,17,19,100) f8e4m3) -> (%y) {\n"
                "  const @w : (500,100,1,1) f8e4m3 = crc32:00000000\n"
                "  %y = nn.conv2d(%x, @w) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], "
                "groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\", kernel_layout=\"OIHW\", "
                "out_dtype=f32} : (1,17,19,500) f32\n"
                "}\n",
        .tolerance = 1e-5,
        .parts = 5,
        .one_build = true,
        .machine = machine_find(ctx, "znver4")
    };

    ck_assert_int_eq(generated_count(ctx, &row, "chunk += CHUNK"), 1);
    ck_assert_int_eq(generated_count(ctx, &row, "< this_end) && "), 1);
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

START_TEST(small_regions_stay_whole)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct generated_case row = { .text = "fn main(%x: (100) f32) -> (%y) {\n"
                                          "  %y = nn.relu(%x) : (100) f32\n}\n" };
    const char *alone = generated_text(ctx, &row, ".c");

    row.parts = 5;
    ck_assert_str_eq(generated_text(ctx, &row, ".c"), alone);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parallel");
    TCase *tests = tcase_create("parallel");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, parts_make_the_whole, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_loop_test(tests, winograd_is_divided_by_groups_or_channels, 0, 5);
    tcase_add_test(tests, nc_blocks_of_weights_have_their_own_end);
    tcase_add_test(tests, small_regions_stay_whole);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
