/* Kernels whose tests elsewhere are whole graphs, or of another operator that they take: a row here
 * for each operator of each kernel that no other table names (tests/check_kernels). */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

/* clang-format off */
static const struct kernel_case products[] = {
    { "dense_rows", "nn.conv1d", "groups=1", "f32[2,3,5]; const f32[8,3,5]" },
    { "conv_small", "nn.conv1d", "groups=1, out_dtype=f32", "f8e4m3[1,3,9]; const f8e4m3[6,3,3]" },
    { "gemv", "nn.conv3d", "groups=1", "f32[1,3,2,2,2]; const f32[8,3,2,2,2]" },
    { "dense_rows", "nn.conv3d", "groups=1", "f32[2,3,2,2,2]; const f32[8,3,2,2,2]" },
    { "matmul", "nn.dense", "", "f64[1,7]; f64[5,7]" },
    { "dense", "nn.matmul", "", "f64[1,6]; const f64[6,5]" },
};

static const struct kernel_case pools[] = {
    { "pool_tiles", "nn.avg_pool1d", "pool_size=[3], strides=[2], layout=\"NWC\"", "f32[2,9,5]" },
    { "pool", "nn.avg_pool1d", "pool_size=[3], layout=\"NWC\"", "f64[2,9,5]" },
    { "pool", "nn.avg_pool2d", "pool_size=[2,3], layout=\"NHWC\"", "f64[1,5,6,4]" },
    { "pool", "nn.avg_pool3d", "pool_size=[2,2,2], layout=\"NDHWC\"", "f32[1,4,5,6,3]" },
    { "pool", "nn.lp_pool1d", "pool_size=[3], p=2, layout=\"NWC\"", "f32[2,9,5]" },
    { "pool", "nn.lp_pool2d", "pool_size=[2,3], p=2, layout=\"NHWC\"", "f32[1,5,6,4]" },
    { "pool", "nn.lp_pool3d", "pool_size=[2,2,2], p=1, layout=\"NDHWC\"", "f32[1,4,5,6,3]" },
    { "pool_tiles", "nn.max_pool1d", "pool_size=[3], layout=\"NWC\"", "f32[2,9,5]" },
    { "global_pool", "nn.global_max_pool", "layout=\"NHWC\"", "f32[2,4,5,6]" },
};

static const struct kernel_case moves[] = {
    { "copy", "broadcast_to", "shape=[2,3,4]", "f32[3,1]" },
    { "copy", "concatenate", "axis=1", "f32[2,3]; f32[2,4]" },
    { "copy", "nn.depth_to_space", "block_size=[2,2]", "f32[1,8,2,3]" },
    { "copy", "nn.space_to_depth", "block_size=[2,2]", "f32[1,2,4,6]" },
    { "copy", "strided_slice", "begin=[1,4], strides=[1,-2], size=[2,3]", "f32[3,6]" },
    { "copy", "tile", "shape=[2,2]", "f32[2,3]" },
    { "copy", "transpose", "axes=[2,0,1]", "f32[2,3,4]" },
    { "pad", "nn.pad", "pad_before=[1,0], pad_after=[0,2], mode=\"constant\", value=1", "f32[3,4]" },
    { "pad_repeat", "nn.pad", "pad_before=[0,2], pad_after=[0,1], mode=\"reflect\"", "f32[2,5]" },
    { "pad_repeat", "nn.pad", "pad_before=[0,0,2,1], pad_after=[0,0,1,2], mode=\"reflect\"",
      "f32[2,3,4,5]" },
    { "pad_repeat", "nn.pad", "pad_before=[0,2,-1,0], pad_after=[0,1,2,0], mode=\"edge\"",
      "f32[2,3,4,5]" },
    { "pad_repeat", "nn.pad", "pad_before=[1,0,0,-1], pad_after=[1,0,0,4], mode=\"wrap\"",
      "i8[2,3,4,5]" },
    { "pad_repeat", "nn.pad", "pad_before=[7], pad_after=[9], mode=\"wrap\"", "i64[3]" },
    { "pad_repeat", "nn.pad", "pad_before=[2,0,0], pad_after=[2,0,0], mode=\"edge\"", "f32[1,3,4]" },
    { "pad_repeat", "nn.pad", "pad_before=[3], pad_after=[-2], mode=\"edge\"", "f32[4]" },
    { "reverse_sequence", "reverse_sequence", "batch_axis=1, time_axis=0", "f32[3,2,2]; const i64[2] 3 1" },
    { "branch", "if", "", "bool[1]; f32[3,4]; f32[3,4]" },
    { "trilu", "trilu", "upper=true, k=1", "f32[3,4]" },
    { "reinterpret", "reinterpret", "from=f32, dtype=u32", "f32[3,5]" },
    { "reinterpret", "reinterpret", "from=i64, dtype=f64", "i64[7]" },
    { "dyn_window", "dyn.strided_slice", "shape=[3,3]",
      "f32[3,7]; i64[2] -1 2; i64[2] 0 -99; i64[2] 1 0; i64[2] -2 -1" },
    { "dyn_window", "dyn.strided_slice", "shape=[3,2]", "i8[3,7]; i64[1] 5; i64[1] 99; const i64[1] 1; const i64[1] 1" },
    { "dyn_window", "dyn.nn.pad", "mode=\"constant\", shape=[6,4]",
      "f32[3,4]; i64[2] 1 2; const i64[1] 0; f32[]" },
    { "dyn_window", "dyn.nn.pad", "mode=\"constant\", shape=[4,3]",
      "u8[3,4]; i64[4] 1 -2 0 1; const i64[2] 0 1; const u8[] 0" },
    { "dyn_window", "dyn.nn.pad", "mode=\"reflect\", shape=[3,11]", "f32[3,4]; i64[2] 4 3; i64[1] -1; const f32[] 0" },
    { "dyn_window", "dyn.nn.pad", "mode=\"edge\", shape=[3,5]", "f64[3,4]; i64[2] -2 3; i64[1] 1; const f64[] 0" },
    { "dyn_window", "dyn.nn.pad", "mode=\"wrap\", shape=[7,4]", "i64[3,4]; i64[2] 2 2; i64[1] 0; const i64[] 0" },
    { "expect", "expect", "mode=\"each\"", "f32[3,4]; i64[2] 3 4; const i64[2,2] 3 1 9 4" },
    { "expect", "expect", "mode=\"shape\"", "i8[3,4]; i64[2] -1 4; const i64[2,2] 3 -1 4 -1" },
    { "expect", "expect", "mode=\"axes\", rank=3", "f32[3,4]; i64[2] -1 0; const i64[2] 3 5" },
    { "which_axes", "which_axes", "rank=3", "i64[2] 2 1; const i64[3] 3 5 6" },
};

static const struct kernel_case samples[] = {
    { "grid_sample", "image.grid_sample", "", "f32[1,2,4,5]; f32[1,3,3,2]" },
    { "roi_align", "vision.roi_align", "pooled_size=[2,2], spatial_scale=1, sample_ratio=2",
      "f32[1,2,6,6]; const f32[1,4] 0 0 3 3; const i64[1] 0" },
};
/* One position of weights whose blocks share scales; several results. */
static const struct { const char *kernel, *op, *text; } graphs[] = {
    { "gemv_blocks", "nn.conv1d",
      "fn main(%x: (1,3,4) f32) -> (%y) {\n"
      "  const @w : (2,3,4) f4e2m1 blocks(4, scale=[0.5, 1, 2, 0.25, 1, 3]) = crc32:00000000\n"
      "  %y = nn.conv1d(%x, @w) {groups=1, out_dtype=f32} : (1,2,1) f32\n}\n" },
    { "gemv_blocks", "nn.conv2d",
      "fn main(%x: (1,3,2,2) f32) -> (%y) {\n"
      "  const @w : (2,3,2,2) f4e2m1 blocks(4, scale=[0.5, 1, 2, 0.25, 1, 3]) = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) {groups=1, out_dtype=f32} : (1,2,1,1) f32\n}\n" },
    { "gemv_blocks", "nn.conv3d",
      "fn main(%x: (1,3,1,2,2) f32) -> (%y) {\n"
      "  const @w : (2,3,1,2,2) f4e2m1 blocks(4, scale=[0.5, 1, 2, 0.25, 1, 3]) = crc32:00000000\n"
      "  %y = nn.conv3d(%x, @w) {groups=1, out_dtype=f32} : (1,2,1,1,1) f32\n}\n" },
    { "gemv_blocks", "nn.dense",
      "fn main(%x: (1,6) f32) -> (%y) {\n"
      "  const @w : (3,6) i8 blocks(4, scale=[0.5, 1, 2, 0.25, 1, 3], zero=[1, 2, -3, 0, 5, 6]) = crc32:00000000\n"
      "  %y = nn.dense(%x, @w) {out_dtype=f32} : (1,3) f32\n}\n" },
    { "gemv_blocks", "nn.matmul",
      "fn main(%x: (1,6) f32) -> (%y) {\n"
      "  const @w : (3,6) i4 blocks(4, scale=[0.5, 1, 2, 0.25, 1, 3]) = crc32:00000000\n"
      "  %y = nn.matmul(%x, @w) {transpose_b=true, out_dtype=f32} : (1,3) f32\n}\n" },
    { "copy", "split",
      "fn main(%x: (2,3) f32) -> (%a, %b) {\n"
      "  %a, %b = split(%x) {axis=1, sizes=[1,2]} : (2,1) f32, (2,2) f32\n}\n" },
};
/* clang-format on */

START_TEST(graphs_agree)
{
    const struct generated_case row = { .text = graphs[_i].text, .tolerance = 1e-6 };
    struct ctx *ctx = ctx_new("net.onnx");
    const char *wanted = arena_printf(&ctx->perm, "\"kernel\":\t\"%s\"", graphs[_i].kernel);
    const char *json = generated_text(ctx, &row, ".json");

    ck_assert_msg(strstr(json, wanted) != NULL, "%s", json);
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

START_TEST(products_agree)
{
    KERNEL_CASES_CHECK(products, 1e-5);
}
END_TEST

START_TEST(pools_agree)
{
    KERNEL_CASES_CHECK(pools, 1e-6);
}
END_TEST

START_TEST(moves_agree_exactly)
{
    KERNEL_CASES_CHECK(moves, 0);
}
END_TEST

START_TEST(samples_agree)
{
    KERNEL_CASES_CHECK(samples, 1e-5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_rows");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, graphs_agree, 0, (int)(sizeof graphs / sizeof *graphs));
    tcase_add_test(tests, products_agree);
    tcase_add_test(tests, pools_agree);
    tcase_add_test(tests, moves_agree_exactly);
    tcase_add_test(tests, samples_agree);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
