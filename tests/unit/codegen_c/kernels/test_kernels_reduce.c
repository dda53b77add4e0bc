/* Reductions as generated C: the kernels of codegen_c/kernels/norm/ that reduce. */
#include <check.h>
#include <stdlib.h>

#include "codegen_c/machine/machine.h"
#include "tests/support/kernel_case.h"

static const struct kernel_case reductions[] = {
    { "reduce", "sum", "", "f32[3,4,5]" },
    { "reduce", "sum", "axis=[0], keepdims=true", "i32[3,4,5]" },
    { "reduce_columns", "sum", "axis=[1]", "f32[3,4,5]" },
    { "reduce", "sum", "axis=[2], keepdims=true", "f64[3,4,5]" },
    { "reduce", "sum", "axis=[0,2]", "f32[3,4,5]" },
    { "reduce", "sum", "axis=[1,2], keepdims=true", "i8[3,4,5]" },
    { "reduce", "sum", "axis=[0,1]", "u8[3,4,5]" },
    { "reduce", "sum", "axis=[1,3], keepdims=true", "i64[3,4,2,3]" },
    { "reduce", "sum", "axis=[0]", "f32[1,6]" },
    { "reduce", "sum", "axis=[1], keepdims=true", "i16[2,1,3]" },
    { "reduce", "mean", "", "f32[3,4,5]" },
    { "reduce", "mean", "axis=[0], keepdims=true", "i32[3,4,5]" },
    { "reduce_columns", "mean", "axis=[1]", "f32[3,4,5]" },
    { "reduce", "mean", "axis=[2], keepdims=true", "f64[3,4,5]" },
    { "reduce", "mean", "axis=[0,2]", "f32[3,4,5]" },
    { "reduce", "mean", "axis=[1,2], keepdims=true", "i8[3,4,5]" },
    { "reduce", "mean", "axis=[0,1]", "u8[3,4,5]" },
    { "reduce", "mean", "axis=[1,3], keepdims=true", "i64[3,4,2,3]" },
    { "reduce", "mean", "axis=[0]", "f32[1,6]" },
    { "reduce", "mean", "axis=[1], keepdims=true", "i16[2,1,3]" },
    { "reduce", "max", "", "f32[3,4,5]" },
    { "reduce", "max", "axis=[0], keepdims=true", "i32[3,4,5]" },
    { "reduce_columns", "max", "axis=[1]", "f32[3,4,5]" },
    { "reduce", "max", "axis=[2], keepdims=true", "f64[3,4,5]" },
    { "reduce", "max", "axis=[0,2]", "f32[3,4,5]" },
    { "reduce", "max", "axis=[1,2], keepdims=true", "i8[3,4,5]" },
    { "reduce", "max", "axis=[0,1]", "u8[3,4,5]" },
    { "reduce", "max", "axis=[1,3], keepdims=true", "i64[3,4,2,3]" },
    { "reduce", "max", "axis=[0]", "f32[1,6]" },
    { "reduce", "max", "axis=[1], keepdims=true", "i16[2,1,3]" },
    { "reduce", "min", "", "f32[3,4,5]" },
    { "reduce", "min", "axis=[0], keepdims=true", "i32[3,4,5]" },
    { "reduce_columns", "min", "axis=[1]", "f32[3,4,5]" },
    { "reduce", "min", "axis=[2], keepdims=true", "f64[3,4,5]" },
    { "reduce", "min", "axis=[0,2]", "f32[3,4,5]" },
    { "reduce", "min", "axis=[1,2], keepdims=true", "i8[3,4,5]" },
    { "reduce", "min", "axis=[0,1]", "u8[3,4,5]" },
    { "reduce", "min", "axis=[1,3], keepdims=true", "i64[3,4,2,3]" },
    { "reduce", "min", "axis=[0]", "f32[1,6]" },
    { "reduce", "min", "axis=[1], keepdims=true", "i16[2,1,3]" },
    { "reduce", "prod", "", "f32[3,4,5]" },
    { "reduce", "prod", "axis=[0], keepdims=true", "i32[3,4,5]" },
    { "reduce", "prod", "axis=[1]", "f32[3,4,5]" },
    { "reduce", "prod", "axis=[2], keepdims=true", "f64[3,4,5]" },
    { "reduce", "prod", "axis=[0,2]", "f32[3,4,5]" },
    { "reduce", "prod", "axis=[1,2], keepdims=true", "i8[3,4,5]" },
    { "reduce", "prod", "axis=[0,1]", "u8[3,4,5]" },
    { "reduce", "prod", "axis=[1,3], keepdims=true", "i64[3,4,2,3]" },
    { "reduce", "prod", "axis=[0]", "f32[1,6]" },
    { "reduce", "prod", "axis=[1], keepdims=true", "i16[2,1,3]" },
    /* rows: 16 sums, or 32 of which one is best, side by side, and what is left */
    { "reduce", "sum", "axis=[1]", "f32[3,16]" },
    { "reduce", "sum", "axis=[1,2], keepdims=true", "f32[2,5,7]" },
    { "reduce", "sum", "axis=[0,2]", "f32[3,2,37]" },
    { "reduce", "sum", "", "f32[61]" },
    { "reduce", "mean", "axis=[2,3]", "f32[2,3,7,9]" },
    { "reduce", "mean", "axis=[1,3], keepdims=true", "f32[2,3,4,17]" },
    { "reduce", "max", "axis=[1]", "f32[3,17]" },
    { "reduce", "max", "axis=[1]", "f32[3,32]" },
    { "reduce", "max", "axis=[0,2]", "f32[2,3,65]" },
    { "reduce", "min", "axis=[1]", "f32[3,31]" },
    { "reduce", "min", "axis=[1]", "f32[3,100]" },
    { "reduce", "max", "axis=[1]",
      "f32[2,33] 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 nan 17 18 19 20 21 22 23 24 25 26 27 28 29 30 "
      "31 32 "
      "33 -inf -inf -inf -inf -inf -inf -inf -inf -inf -inf -inf -inf -inf -inf -inf -inf -inf "
      "-inf "
      "-inf -inf -inf -inf -inf -inf -inf -inf -inf -inf -inf -inf -inf -inf -inf" },
    { "reduce", "min", "axis=[1]", "f32[2,17] 5 4 3 2 1 nan 7 8 9 -1 -2 -3 -4 -5 -6 -7 -8" },
    /* columns */
    { "reduce_columns", "sum", "axis=[0]", "f32[3,37]" },
    { "reduce_columns", "mean", "axis=[1,2]", "f32[2,5,7,4]" },
    { "reduce_columns", "mean", "axis=[0,2], keepdims=true", "f32[2,3,4,19]" },
    { "reduce_columns", "max", "axis=[0]", "f32[2,4] 1 nan 2 -inf nan 3 -inf -inf" },
    { "reduce_columns", "min", "axis=[0]", "f32[2,4] 1 nan 2 inf nan 3 -1 inf" },
    { "reduce", "max", "axis=[1]", "bool[2,3]" },
    { "reduce", "min", "axis=[1]", "bool[2,3]" },
    { "reduce", "max", "axis=[1]", "f32[2,3] 1 nan 2 -inf -inf -inf" },
    { "reduce", "min", "axis=[1]", "f32[2,3] 1 2 nan inf inf inf" },
    { "reduce", "sum", "axis=[0]", "i32[3] 2147483647 2147483647 5" },
    { "reduce", "prod", "axis=[0]", "i64[3] 9223372036854775807 3 -5" },
    { "reduce", "mean", "axis=[0]", "i32[2] -3 0" },
    { "reduce", "mean", "axis=[0]", "u64[2]" },
    { "reduce", "min", "axis=[0]", "u64[3]" },
    { "reduce", "max", "", "f32[1,1]" },
    { "reduce", "sum", "", "f32[]" },
};

static const struct kernel_case lines[] = {
    { "arg", "argmax", "axis=0", "f32[3,4,5]" },
    { "arg", "argmax", "axis=1", "i8[3,4,5]" },
    { "arg", "argmax", "axis=2", "u8[3,4,5]" },
    { "arg", "argmax", "axis=1, keepdims=true", "f32[2,5] 1 nan 3 nan 3 2 2 1 1 2" },
    { "arg", "argmax", "axis=0", "f64[4]" },
    { "arg", "argmax", "axis=0, select_last_index=true", "f32[3,4,5]" },
    { "arg", "argmax", "axis=1, select_last_index=true", "i8[3,4,5]" },
    { "arg", "argmax", "axis=2, select_last_index=true", "u8[3,4,5]" },
    { "arg", "argmax", "axis=1, keepdims=true, select_last_index=true",
      "f32[2,5] 1 nan 3 nan 3 2 2 1 1 2" },
    { "arg", "argmax", "axis=0, select_last_index=true", "f64[4]" },
    { "arg", "argmin", "axis=0", "f32[3,4,5]" },
    { "arg", "argmin", "axis=1", "i8[3,4,5]" },
    { "arg", "argmin", "axis=2", "u8[3,4,5]" },
    { "arg", "argmin", "axis=1, keepdims=true", "f32[2,5] 1 nan 3 nan 3 2 2 1 1 2" },
    { "arg", "argmin", "axis=0", "f64[4]" },
    { "arg", "argmin", "axis=0, select_last_index=true", "f32[3,4,5]" },
    { "arg", "argmin", "axis=1, select_last_index=true", "i8[3,4,5]" },
    { "arg", "argmin", "axis=2, select_last_index=true", "u8[3,4,5]" },
    { "arg", "argmin", "axis=1, keepdims=true, select_last_index=true",
      "f32[2,5] 1 nan 3 nan 3 2 2 1 1 2" },
    { "arg", "argmin", "axis=0, select_last_index=true", "f64[4]" },
    { "cumsum", "cumsum", "axis=0", "f32[3,4]" },
    { "cumsum", "cumsum", "axis=1", "i32[3,4,5]" },
    { "cumsum", "cumsum", "axis=1", "i8[2,3] 127 127 127" },
    { "cumsum", "cumsum", "axis=0, reverse=true", "f32[3,4]" },
    { "cumsum", "cumsum", "axis=1, reverse=true", "i32[3,4,5]" },
    { "cumsum", "cumsum", "axis=1, reverse=true", "i8[2,3] 127 127 127" },
    { "cumsum", "cumsum", "axis=0, exclusive=true", "f32[3,4]" },
    { "cumsum", "cumsum", "axis=1, exclusive=true", "i32[3,4,5]" },
    { "cumsum", "cumsum", "axis=1, exclusive=true", "i8[2,3] 127 127 127" },
    { "cumsum", "cumsum", "axis=0, exclusive=true, reverse=true", "f32[3,4]" },
    { "cumsum", "cumsum", "axis=1, exclusive=true, reverse=true", "i32[3,4,5]" },
    { "cumsum", "cumsum", "axis=1, exclusive=true, reverse=true", "i8[2,3] 127 127 127" },
    { "cumsum", "cumprod", "axis=0", "f32[3,4]" },
    { "cumsum", "cumprod", "axis=1, reverse=true", "i32[3,4,5]" },
    { "cumsum", "cumprod", "axis=1, exclusive=true", "i8[2,3] 127 127 127" },
    { "cumsum", "cumprod", "axis=1, exclusive=true, reverse=true", "f32[2,5]" },
    { "topk", "topk", "axis=0, k=2", "f32[3,4,5]" },
    { "topk", "topk", "axis=2, k=5", "f32[3,4,5]" },
    { "topk", "topk", "axis=1, k=1", "f32[3,4,5]" },
    { "topk", "topk", "axis=0, k=2", "i8[3,4,5]" },
    { "topk", "topk", "axis=2, k=5", "i8[3,4,5]" },
    { "topk", "topk", "axis=1, k=1", "i8[3,4,5]" },
    { "topk", "topk", "axis=0, k=2", "u8[3,4,5]" },
    { "topk", "topk", "axis=2, k=5", "u8[3,4,5]" },
    { "topk", "topk", "axis=1, k=1", "u8[3,4,5]" },
    { "topk", "topk", "axis=0, k=4", "f32[7] 1 nan 3 3 nan -inf inf" },
    { "topk", "topk", "axis=0, k=3", "f64[5]" },
    { "topk", "topk", "axis=0, k=2, largest=true", "f32[3,4,5]" },
    { "topk", "topk", "axis=2, k=5, largest=true", "f32[3,4,5]" },
    { "topk", "topk", "axis=1, k=1, largest=true", "f32[3,4,5]" },
    { "topk", "topk", "axis=0, k=2, largest=true", "i8[3,4,5]" },
    { "topk", "topk", "axis=2, k=5, largest=true", "i8[3,4,5]" },
    { "topk", "topk", "axis=1, k=1, largest=true", "i8[3,4,5]" },
    { "topk", "topk", "axis=0, k=2, largest=true", "u8[3,4,5]" },
    { "topk", "topk", "axis=2, k=5, largest=true", "u8[3,4,5]" },
    { "topk", "topk", "axis=1, k=1, largest=true", "u8[3,4,5]" },
    { "topk", "topk", "axis=0, k=4, largest=true", "f32[7] 1 nan 3 3 nan -inf inf" },
    { "topk", "topk", "axis=0, k=3, largest=true", "f64[5]" },
    { "true_first", "true_first", "k=7", "bool[7] 0 1 1 0 0 1 0" },
    { "true_first", "true_first", "k=4", "bool[7] 0 1 1 0 0 1 0" },
    { "true_first", "true_first", "k=2", "bool[7] 1" },
    { "true_first", "true_first", "k=5", "bool[5] 0" },
    { "unique", "unique", "sorted=true", "f32[40,1] 3 1 nan 2 -inf 1 0 -0 nan inf 7 5" },
    { "unique", "unique", "sorted=false", "f32[40,1] 3 1 nan 2 -inf 1 0 -0 nan inf 7 5" },
    { "unique", "unique", "sorted=true", "f64[7,3] 2 1 1 2 1 nan" },
    { "unique", "unique", "sorted=true", "u8[9,2] 200 1 3 200" },
    { "unique", "unique", "sorted=true", "i64[30,1] 5 -9 5 4611686018427387904" },
    { "unique", "unique", "sorted=false", "i16[30,2] 5 -9 5" },
    { "unique", "unique", "sorted=true", "i32[1000,1] 5 -9 5 5 7" },
    { "unique", "unique", "sorted=false", "i32[1000,1] 5 -9 5 5 7" },
    { "unique", "unique", "sorted=true", "u8[257,3] 7" },
    { "unique", "unique", "sorted=false", "f32[256,1] nan" },
    { "unique", "unique", "sorted=true", "f32[129,2]" },
    { "unique", "unique", "sorted=false", "f32[130,1]" },
    { "unique", "unique", "sorted=true", "f32[1,2]" },
    { "unique", "unique", "sorted=false", "f64[2,1] 3 1" },
    { "unique", "unique", "sorted=true", "i8[3,1] 3 1 2" },
};

/* Ties at the level, zeros of either sign, more than k NaN, all of a row. */
static const struct kernel_case many[] = {
    { "topk_rows", "topk", "axis=1, k=64, largest=true", "f32[3,200]" },
    { "topk_rows", "topk", "axis=1, k=100, largest=true", "f32[2,100]" },
    { "topk_rows", "topk", "axis=1, k=99, largest=true", "f32[1,100]" },
    { "topk_rows", "topk", "axis=0, k=300, largest=true", "f32[2057,1]" },
    { "topk_rows", "topk", "axis=0, k=65, largest=true", "f32[301] 5" },
    { "topk_rows", "topk", "axis=0, k=65, largest=true", "f32[301] nan" },
    { "topk_rows", "topk", "axis=0, k=65, largest=true", "f32[301] -inf" },
    { "topk_rows", "topk", "axis=0, k=65, largest=true", "f32[301] inf nan" },
    { "topk_rows", "topk", "axis=0, k=64, largest=true", "f32[301] 0 -0 -1 -2 -3 -4" },
    { "topk_rows", "topk", "axis=0, k=290, largest=true", "f32[301] -inf 1e-45 -1e-45 3e38 -3e38" },
    { "topk_rows", "topk", "axis=0, k=64, largest=true", "f32[200] 1 nan 3 3 nan -inf inf 2 -1" },
    { "topk", "topk", "axis=0, k=63, largest=true", "f32[200]" },
    { "topk", "topk", "axis=0, k=64", "f32[200]" },
    { "topk", "topk", "axis=0, k=64, largest=true", "f32[200,2]" },
};

START_TEST(any_axes_are_reduced)
{
    KERNEL_CASES_CHECK(reductions, 1e-5);
}
END_TEST

START_TEST(lines_are_searched_summed_and_sorted)
{
    KERNEL_CASES_CHECK(lines, 1e-5);
}
END_TEST

START_TEST(many_are_sorted_behind_a_level)
{
    struct ctx *ctx = ctx_new("net");

    kernel_cases_check_as(many, (int)(sizeof many / sizeof *many), 0, WINOGRAD_OFF,
                          machine_find(ctx, "x86-64-v4"));
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_reduce");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, any_axes_are_reduced);
    tcase_add_test(tests, lines_are_searched_summed_and_sorted);
    tcase_add_test(tests, many_are_sorted_behind_a_level);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
