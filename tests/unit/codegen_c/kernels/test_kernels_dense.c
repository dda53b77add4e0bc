/* Matrix products as generated C: the kernels of codegen_c/kernels/dense/dense.c. */
#include <check.h>
#include <stdlib.h>

#include "codegen_c/machine/machine.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

static const struct kernel_case known_weights[] = {
    { "gemv", "nn.dense", "", "f32[1,37]; const f32[11,37]" },
    { "gemv", "nn.dense", "", "f32[1,5]; const f32[1,5]" },
    { "gemv", "nn.dense", "", "f32[1,19]; const f32[32,19]" },
    { "gemv", "nn.dense", "", "f32[1,9]; const f32[63,9]" },
    { "gemv", "nn.dense", "", "f32[1,33]; const f32[128,33]" },
    { "gemv", "nn.dense", "", "f32[1,6]; const f32[331,6]" },
    { "dense_tiles", "nn.dense", "", "f32[5,7]; const f32[8,7]" },
    { "dense_tiles", "nn.dense", "", "f32[17,9]; const f32[71,9]" },
    { "dense_tiles", "nn.dense", "", "f32[3,4]; const f32[1,4]" },
    { "dense_rows", "nn.dense", "", "f64[2,9]; const f64[17,9]" },
    { "dense_tiles", "nn.matmul", "", "f32[4,5,7]; const f32[7,9]" },
    { "dense_tiles", "nn.matmul", "transpose_b=true", "f32[4,5,7]; const f32[9,7]" },
    { "gemv", "nn.matmul", "", "f32[1,7]; const f32[1,7,16]" },
    { "dense_rows", "nn.matmul", "", "f64[2,3]; const f64[3,5]" },
    { "dense", "nn.dense", "", "f64[1,6]; const f64[5,6]" },
    { "gemv", "nn.matmul", "transpose_b=true", "f32[1,1,12]; const f32[4,12]" },
    { "matmul_tiles", "nn.dense", "", "f32[5,7]; f32[9,7]" },
};

static const struct kernel_case operands[] = {
    { "matmul_tiles", "nn.matmul", "", "f32[5,7]; f32[7,9]" },
    { "matmul_tiles", "nn.matmul", "", "f32[19,5]; f32[5,70]" },
    { "matmul_tiles", "nn.matmul", "transpose_a=true", "f32[5,19]; f32[5,33]" },
    { "matmul_tiles", "nn.matmul", "transpose_a=true", "f32[7,5]; f32[7,9]" },
    { "matmul_tiles", "nn.matmul", "transpose_b=true", "f32[5,7]; f32[9,7]" },
    { "matmul_tiles", "nn.matmul", "transpose_a=true, transpose_b=true", "f32[7,5]; f32[9,7]" },
    { "matmul_tiles", "nn.matmul", "", "f32[2,3,5,7]; f32[2,3,7,9]" },
    { "matmul_tiles", "nn.matmul", "", "f32[2,1,5,7]; f32[3,7,9]" },
    { "matmul_tiles", "nn.matmul", "", "f32[1,3,5,7]; f32[2,1,7,9]" },
    { "matmul_tiles", "nn.matmul", "", "f32[2,3,5,7]; f32[3,7,9]" },
    { "matmul", "nn.matmul", "transpose_a=true, transpose_b=true", "f64[2,7,5]; f64[2,9,7]" },
    { "matmul_tiles", "nn.matmul", "", "f32[4,5,7]; const f32[4,7,9]" },
    { "matmul", "nn.matmul", "", "f64[2,1,7]; f64[2,7,1]" },
    { "matmul_column", "nn.matmul", "", "f32[2,1,7]; f32[2,7,1]" },
    { "matmul_column", "nn.matmul", "transpose_b=true", "f32[1,7]; f32[16,7]" },
    { "matmul_column", "nn.matmul", "transpose_b=true", "f32[3,2,1,70]; f32[2,9,70]" },
    { "matmul_column", "nn.matmul", "", "f32[5,33]; f32[33,1]" },
    { "matmul_column", "nn.matmul", "", "f32[3,1,6,16]; f32[2,16,1]" },
    { "matmul_column", "nn.matmul", "", "f32[2,0]; f32[0,1]" },
    { "matmul_column", "nn.matmul", "transpose_a=true, transpose_b=true", "f32[35,1]; f32[2,35]" },
    { "matmul_column", "nn.dense", "", "f32[2,3,37]; f32[1,37]" },
    { "matmul_column", "nn.dense", "", "f32[1,48]; f32[7,48]" },
    { "matmul_row", "nn.matmul", "", "f32[1,7]; f32[7,16]" },
    { "matmul_row", "nn.matmul", "", "f32[1,8]; const f32[2,8,37]" },
    { "matmul_row", "nn.matmul", "transpose_a=true", "f32[2,3,9,1]; f32[3,9,4]" },
    { "matmul_row", "nn.matmul", "", "f32[1,3]; f32[2,2,3,5]" },
    { "matmul_tiles", "nn.matmul", "", "f32[2,1,3,2,4]; f32[3,1,4,8]" },
};

/* Known weights of few results: in sums side by side, if vectors are long enough for so many. */
static const struct {
    const char *machine;
    struct kernel_case at[5];
} few[] = {
    { "x86-64",
      { { "matmul_column", "nn.dense", "", "f32[1,70]; const f32[2,70]" },
        { "matmul_column", "nn.dense", "", "f32[1,64]; const f32[1,64]" },
        { "gemv", "nn.dense", "", "f32[1,64]; const f32[3,64]" },
        { "gemv", "nn.dense", "", "f32[1,63]; const f32[2,63]" },
        { "gemv", "nn.dense", "out_dtype=f32", "f32[1,70]; const f8e4m3[2,70]" } } },
    { "x86-64-v3",
      { { "matmul_column", "nn.dense", "", "f32[1,77]; const f32[4,77]" },
        { "matmul_column", "nn.dense", "", "f32[1,260]; const f32[3,260]" },
        { "gemv", "nn.dense", "", "f32[1,77]; const f32[5,77]" },
        { "gemv", "nn.dense", "", "f32[1,63]; const f32[4,63]" },
        { "gemv", "nn.dense", "out_dtype=f32", "f32[1,70]; const bf16[2,70]" } } },
    { "x86-64-v4",
      { { "matmul_column", "nn.dense", "", "f32[1,3]; const f32[16,3]" },
        { "matmul_column", "nn.dense", "", "f32[1,33]; const f32[10,33]" },
        { "matmul_column", "nn.dense", "", "f32[1,256]; const f32[2,256]" },
        { "gemv", "nn.dense", "", "f32[1,70]; const f32[17,70]" },
        { "dense_tiles", "nn.dense", "", "f32[2,70]; const f32[8,70]" } } },
};

/* Columns that are whole vectors, or half a tile at the end, or neither, behind the end of a panel
 * or not; with every end by turns (kernel_case.h). */
static const struct kernel_case ends[] = {
    { "matmul_tiles", "nn.matmul", "", "f32[9,5]; f32[5,64]" },
    { "matmul_tiles", "nn.matmul", "", "f32[2,9,5]; f32[2,5,64]" },
    { "matmul_tiles", "nn.matmul", "", "f32[2,9,5]; f32[5,64]" },
    { "matmul_tiles", "nn.matmul", "", "f32[2,3,9,5]; f32[3,5,64]" },
    { "matmul_tiles", "nn.matmul", "", "f32[2,9,5]; f32[2,5,48]" },
    { "matmul_tiles", "nn.matmul", "", "f32[2,9,5]; f32[2,5,48]" },
    { "matmul_tiles", "nn.matmul", "transpose_b=true", "f32[9,21]; f32[48,21]" },
    { "matmul_tiles", "nn.matmul", "transpose_a=true", "f32[5,9]; f32[5,48]" },
    { "matmul_tiles", "nn.matmul", "", "f32[2,7,5]; f32[2,5,49]" },
    { "matmul_tiles", "nn.matmul", "", "f32[2,7,5]; f32[2,5,49]" },
    { "matmul_tiles", "nn.matmul", "", "f32[7,5]; f32[5,70]" },
    { "matmul_tiles", "nn.matmul", "transpose_b=true", "f32[2,3,7,37]; f32[2,3,70,37]" },
    { "matmul_tiles", "nn.matmul", "transpose_b=true", "f32[2,9,37]; f32[2,19,37]" },
    { "matmul_tiles", "nn.matmul", "", "f32[2,9,37]; f32[37,19]" },
    { "matmul_tiles", "nn.matmul", "transpose_a=true, transpose_b=true", "f32[5,9]; f32[53,5]" },
    { "matmul_tiles", "nn.dense", "", "f32[9,35]; f32[37,35]" },
};

/* With less scratch: parts of sums, in y meanwhile; each fourth from the third on has a result of
 * bool, which cannot take them, and little scratch. */
static const struct kernel_case spared[] = {
    { "matmul_tiles", "nn.matmul", "out_dtype=f32", "f8e4m3[19,200]; f8e4m3[200,70]" },
    { "matmul_tiles", "nn.matmul", "transpose_a=true, out_dtype=f32",
      "f8e5m2[201,9]; f8e4m3[201,33]" },
    { "matmul_tiles", "nn.matmul", "out_dtype=f32", "f8e4m3[5,7]; f8e4m3[7,9]" },
    { "matmul_tiles", "nn.matmul", "transpose_b=true, out_dtype=f32",
      "f8e4m3[2,3,5,203]; f8e4m3[3,9,203]" },
    { "matmul_tiles", "nn.matmul", "out_dtype=f32", "f8e4m3[2,64,192]; f8e4m3[2,192,64]" },
    { "matmul_tiles", "nn.matmul", "out_dtype=f32", "f8e4m3fnuz[2,3,230]; f8e4m3[230,32]" },
    { "matmul_tiles", "nn.matmul", "out_dtype=f32", "f8e4m3[5,7]; f8e4m3[7,9]" },
    { "matmul_tiles", "nn.matmul", "transpose_a=true, transpose_b=true, out_dtype=f32",
      "f8e3m4[2,300,7]; f8e4m3[2,39,300]" },
    { "matmul_tiles", "nn.dense", "out_dtype=f32", "f8e4m3[5,211]; f8e4m3[9,211]" },
};

static const struct kernel_case integers[] = {
    { "matmul_int", "nn.matmul", "", "i32[2,3,5,7]; i32[7,9]" },
    { "matmul_int", "nn.matmul", "transpose_b=true", "u8[2,5,7]; u8[2,9,7]" },
    { "matmul_int", "nn.matmul", "transpose_a=true, transpose_b=true",
      "i64[2,7,5]; const i64[9,7]" },
    { "matmul_int", "nn.dense", "", "i8[5,7] -128 127 -100 5 7; i8[9,7] 127 126 -128" },
    { "matmul_int", "nn.matmul", "", "i32[2,2] 2147483647 -2147483648; i32[2,2] 2 3 5 7" },
    { "matmul_int", "nn.matmul", "", "u16[2,2] 65535 65534; u16[2,2] 65533 3" },
    { "matmul_int", "nn.matmul", "", "u64[1,2]; u64[2,3]" },
};

START_TEST(known_weights_are_packed)
{
    KERNEL_CASES_CHECK(known_weights, 1e-5);
}
END_TEST

START_TEST(few_results_are_summed_side_by_side)
{
    struct ctx *ctx = ctx_new("machine");

    kernel_cases_check_as(few[_i].at, (int)(sizeof few[_i].at / sizeof *few[_i].at), 1e-5,
                          WINOGRAD_OFF, machine_find(ctx, few[_i].machine));
    ctx_free(ctx);
}
END_TEST

/* Where the third cache is far, rows are pixels of the kernel conv, if they are more than a tile:
 * rows around multiples of its tiles, outputs around panels and vectors, both orders of the
 * constant; not where all weights are one nc. */
static const struct kernel_case far_weights[] = {
    { "dense_tiles", "nn.dense", "", "f32[8,600]; const f32[200,600]" },
    { "conv", "nn.dense", "", "f32[9,600]; const f32[200,600]" },
    { "conv", "nn.dense", "", "f32[3,7,2049]; const f32[67,2049]" },
    { "conv", "nn.dense", "", "f32[25,200]; const f32[260,200]" },
    { "conv", "nn.matmul", "", "f32[19,311]; const f32[311,130]" },
    { "conv", "nn.matmul", "", "f32[3,4,121]; const f32[121,321]" },
    { "conv", "nn.matmul", "transpose_b=true", "f32[13,300]; const f32[256,300]" },
    { "conv", "nn.matmul", "", "f32[17,520]; const f32[520,192]" },
    { "dense_tiles", "nn.matmul", "", "f32[31,512]; const f32[512,64]" },
    { "dense_tiles", "nn.dense", "", "f32[197,768]; const f32[10,768]" },
};

START_TEST(rows_share_kc_blocks_of_weights)
{
    struct ctx *ctx = ctx_new("machine");

    kernel_cases_check_as(far_weights, (int)(sizeof far_weights / sizeof *far_weights), 1e-5,
                          WINOGRAD_OFF, machine_find(ctx, "sapphirerapids"));
    ctx_free(ctx);
}
END_TEST

START_TEST(two_operands_multiply_in_every_form)
{
    KERNEL_CASES_CHECK(operands, 1e-5);
}
END_TEST

START_TEST(products_end_straight_in_y)
{
    static const char *const names[] = { "generic", "x86-64", "x86-64-v3", "x86-64-v4" };
    struct ctx *ctx = ctx_new("machine");

    kernel_cases_check_as(ends, (int)(sizeof ends / sizeof *ends), 1e-5, WINOGRAD_OFF,
                          machine_find(ctx, names[_i]));
    ctx_free(ctx);
}
END_TEST

START_TEST(with_less_scratch_parts_add_up)
{
    struct ctx *ctx = ctx_new("machine");

    kernel_cases_check_low_scratch(spared, (int)(sizeof spared / sizeof *spared), 1e-5, 2816, NULL);
    kernel_cases_check_low_scratch(spared, (int)(sizeof spared / sizeof *spared), 1e-5, 2816,
                                   machine_find(ctx, "cortex-m4"));
    ctx_free(ctx);
}
END_TEST

START_TEST(integer_products_wrap_as_the_reference_does)
{
    KERNEL_CASES_CHECK(integers, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_dense");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, known_weights_are_packed);
    tcase_add_loop_test(tests, few_results_are_summed_side_by_side, 0,
                        (int)(sizeof few / sizeof *few));
    tcase_add_test(tests, rows_share_kc_blocks_of_weights);
    tcase_add_test(tests, two_operands_multiply_in_every_form);
    tcase_add_loop_test(tests, products_end_straight_in_y, 0, 4);
    tcase_add_test(tests, with_less_scratch_parts_add_up);
    tcase_add_test(tests, integer_products_wrap_as_the_reference_does);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
