/* Reading and writing at computed places as generated C: codegen_c/kernels/move/index.c. */
#include <check.h>
#include <stdlib.h>

#include "codegen_c/codegen.h"
#include "tests/support/expect.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

static const struct kernel_case reads[] = {
    { "take", "take", "axis=1", "f32[3,4,5]; i64[2,2] 0 -1 1 2" },
    { "gather", "gather", "axis=1", "f32[3,4,5]; i64[2,2,5] 0 -1 1 2 3" },
    { "gather_nd", "gather_nd", "", "f32[3,4,5]; i64[3,2] 0 -1 1 2 2 3" },
    { "take", "take", "axis=1", "bool[3,4,5]; i64[2,2] 0 -1 1 2" },
    { "gather", "gather", "axis=1", "bool[3,4,5]; i64[2,2,5] 0 -1 1 2 3" },
    { "gather_nd", "gather_nd", "", "bool[3,4,5]; i64[3,2] 0 -1 1 2 2 3" },
    { "take", "take", "axis=1", "i64[3,4,5]; i64[2,2] 0 -1 1 2" },
    { "gather", "gather", "axis=1", "i64[3,4,5]; i64[2,2,5] 0 -1 1 2 3" },
    { "gather_nd", "gather_nd", "", "i64[3,4,5]; i64[3,2] 0 -1 1 2 2 3" },
    { "take", "take", "axis=1", "u8[3,4,5]; i64[2,2] 0 -1 1 2" },
    { "gather", "gather", "axis=1", "u8[3,4,5]; i64[2,2,5] 0 -1 1 2 3" },
    { "gather_nd", "gather_nd", "", "u8[3,4,5]; i64[3,2] 0 -1 1 2 2 3" },
    { "take", "take", "axis=0", "f32[4]; i32[] 2" },
    { "take", "take", "axis=0", "const f32[9,3]; i64[4] 8 0 -9 3" },
    { "take", "take", "axis=0", "const i4[9,3]; i64[4] 8 0 -9 3" },
    { "take", "take", "axis=1", "const u4[3,5,3]; i64[2,2] 0 -1 1 2" },
    { "take", "take", "axis=0", "const f4e2m1[7,4]; i64[2] 6 1" },
    { "take", "take", "axis=0", "i4[9,3]; i64[4] 8 0 -9 3" },
    { "gather", "gather", "axis=0", "f32[3]; i32[5] 0 2 -3 1 1" },
    /* known ones, which need no limits; one of which counts from the end */
    { "gather", "gather", "axis=1", "f32[3,4,5]; const i64[2,2,5] 0 3 1 2 3" },
    { "gather", "gather", "axis=2", "u8[2,3,33]; const i32[2,3,17] 32 0 7 31" },
    { "gather", "gather", "axis=0", "f32[3]; const i64[5] 0 2 -3 1 1" },
    { "gather_nd", "gather_nd", "batch_dims=1", "f32[3,4,5]; i64[3,2,1] 0 -1 1 2 2 3" },
    { "gather_nd", "gather_nd", "batch_dims=1", "f32[3,4,5]; i32[3,2] 0 -1 1 2 2 3" },
    { "gather_nd", "gather_nd", "batch_dims=2", "f64[2,3,4,2]; const i64[2,3,2] 0 1 -1 0" },
    { "one_hot", "one_hot", "axis=1, depth=5", "i64[2,3]; f32[2]" },
    { "one_hot", "one_hot", "axis=1, depth=5", "i32[2,3]; f32[2]" },
    { "one_hot", "one_hot", "axis=1, depth=5", "u8[2,3]; f32[2]" },
    { "one_hot", "one_hot", "axis=1, depth=5", "f32[2,3]; f32[2]" },
    { "one_hot", "one_hot", "axis=1, depth=5", "u64[2,3]; f32[2]" },
    { "one_hot", "one_hot", "axis=2, depth=5", "i64[2,3] 0 4 5 -1 -5 -6; const i8[2] 3 7" },
    { "one_hot", "one_hot", "axis=0, depth=3", "f32[4] 1.5 -1 7 -3.5; bool[2] 0 1" },
};

static const struct kernel_case writes[] = {
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"none\"",
      "f32[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; f32[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"none\"",
      "f32[3,4,5]; i64[3,2] 0 -1 1 2 0 3; f32[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"none\"",
      "i8[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; i8[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"none\"",
      "i8[3,4,5]; i64[3,2] 0 -1 1 2 0 3; i8[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"none\"",
      "i64[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; i64[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"none\"",
      "i64[3,4,5]; i64[3,2] 0 -1 1 2 0 3; i64[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"none\"",
      "u8[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; u8[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"none\"",
      "u8[3,4,5]; i64[3,2] 0 -1 1 2 0 3; u8[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"add\"",
      "f32[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; f32[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"add\"",
      "f32[3,4,5]; i64[3,2] 0 -1 1 2 0 3; f32[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"add\"",
      "i8[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; i8[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"add\"",
      "i8[3,4,5]; i64[3,2] 0 -1 1 2 0 3; i8[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"add\"",
      "i64[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; i64[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"add\"",
      "i64[3,4,5]; i64[3,2] 0 -1 1 2 0 3; i64[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"add\"",
      "u8[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; u8[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"add\"",
      "u8[3,4,5]; i64[3,2] 0 -1 1 2 0 3; u8[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"mul\"",
      "f32[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; f32[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"mul\"",
      "f32[3,4,5]; i64[3,2] 0 -1 1 2 0 3; f32[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"mul\"",
      "i8[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; i8[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"mul\"",
      "i8[3,4,5]; i64[3,2] 0 -1 1 2 0 3; i8[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"mul\"",
      "i64[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; i64[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"mul\"",
      "i64[3,4,5]; i64[3,2] 0 -1 1 2 0 3; i64[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"mul\"",
      "u8[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; u8[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"mul\"",
      "u8[3,4,5]; i64[3,2] 0 -1 1 2 0 3; u8[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"max\"",
      "f32[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; f32[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"max\"",
      "f32[3,4,5]; i64[3,2] 0 -1 1 2 0 3; f32[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"max\"",
      "i8[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; i8[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"max\"",
      "i8[3,4,5]; i64[3,2] 0 -1 1 2 0 3; i8[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"max\"",
      "i64[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; i64[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"max\"",
      "i64[3,4,5]; i64[3,2] 0 -1 1 2 0 3; i64[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"max\"",
      "u8[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; u8[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"max\"",
      "u8[3,4,5]; i64[3,2] 0 -1 1 2 0 3; u8[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"min\"",
      "f32[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; f32[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"min\"",
      "f32[3,4,5]; i64[3,2] 0 -1 1 2 0 3; f32[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"min\"",
      "i8[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; i8[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"min\"",
      "i8[3,4,5]; i64[3,2] 0 -1 1 2 0 3; i8[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"min\"",
      "i64[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; i64[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"min\"",
      "i64[3,4,5]; i64[3,2] 0 -1 1 2 0 3; i64[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=1, reduction=\"min\"",
      "u8[3,4,5]; i64[2,3,5] 0 -1 1 2 3 3 3 3 1 0; u8[2,3,5]" },
    { "scatter_nd", "scatter_nd", "reduction=\"min\"",
      "u8[3,4,5]; i64[3,2] 0 -1 1 2 0 3; u8[3,5]" },
    { "scatter_elements", "scatter_elements", "axis=0, reduction=\"max\"",
      "f32[3] 1 nan 3; i32[4] 0 1 2 2; f32[4] nan 2 1 5" },
    { "scatter_nd", "scatter_nd", "", "bool[4]; i32[2,1] 3 -4; bool[2]" },
    { "scatter_elements", "scatter_elements", "axis=0, reduction=\"add\"",
      "bool[4]; i32[3] 3 -4 1; bool[3]" },
};

START_TEST(elements_are_read_where_indices_say)
{
    KERNEL_CASES_CHECK(reads, 0);
}
END_TEST

START_TEST(updates_come_in_order)
{
    KERNEL_CASES_CHECK(writes, 1e-6);
}
END_TEST

/* 27 codes: 14 bytes. Tables that are read by rows are as small as the format says. */
START_TEST(codes_of_four_bits_lie_two_in_a_byte)
{
    static const char text[] = "fn main(%i: (4) i64) -> (%y) {\n"
                               "  const @w : (9,3) i4 = crc32:00000000\n"
                               "  %y = take(@w, %i) {axis=0} : (4,3) i4\n"
                               "}\n";
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &(struct generated_case){ .text = text });
    const struct codegen_options options = {
        .name = "net", .dir = ".", .model_file = "net.onnx", .model_sha256 = "", .command = ""
    };
    struct codegen_result result;

    ck_assert_msg(codegen_sizes(module, &options, &result), "%s", expect_text(ctx));
    ck_assert_uint_eq(result.weight_bytes, 14);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_index");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, elements_are_read_where_indices_say);
    tcase_add_test(tests, updates_come_in_order);
    tcase_add_test(tests, codes_of_four_bits_lie_two_in_a_byte);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
