/* Extents of 0 in generated C: codegen_c/kernels/move/nothing.c, and sums of nothing. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/kernel_case.h"

static const struct kernel_case results[] = {
    { "nothing", "nn.conv2d", "groups=1", "f32[0,3,5,5]; const f32[4,3,3,3]" },
    { "nothing", "nn.conv2d", "groups=3", "f32[0,3,5,5]; const f32[3,1,3,3]" },
    { "nothing", "nn.dense", "", "f32[0,3]; const f32[3,3]" },
    { "nothing", "nn.matmul", "", "f32[0,2]; f32[2,3]" },
    { "nothing", "sum", "axis=[1]", "f32[0,3]" },
    { "nothing", "nn.softmax", "axis=1", "f32[0,3]" },
    { "nothing", "nn.softmax", "axis=1", "f32[3,0]" },
    { "nothing", "argmax", "axis=1", "f32[0,3]" },
    { "nothing", "topk", "axis=1, k=0", "f32[2,3]" },
    { "nothing", "take", "axis=0", "f32[4]; i64[0]" },
    { "nothing", "gather", "axis=0", "f32[4]; i64[0]" },
    { "nothing", "gather_nd", "", "f32[4,2]; i64[0,1]" },
    { "nothing", "one_hot", "axis=0, depth=0", "i64[2]; f32[2]" },
    { "nothing", "cumsum", "axis=0", "f32[0]" },
    { "nothing", "nn.max_pool2d", "pool_size=[2,2]", "f32[0,3,4,4]" },
    { "nothing", "nn.global_avg_pool", "", "f32[0,3,4,4]" },
    { "nothing", "nn.layer_norm", "axis=1, epsilon=1", "f32[0,3]; f32[3]" },
    { "nothing", "nn.instance_norm", "axis=1, epsilon=1", "f32[0,3,4]; f32[3]; f32[3]" },
    { "nothing", "nn.lrn", "size=3, alpha=1, beta=1, bias=1", "f32[0,3,4]" },
    { "nothing", "image.resize", "size=[0,4], method=\"nearest_neighbor\"", "f32[0,2]" },
    { "nothing", "nn.conv2d_transpose", "groups=1", "f32[0,2,3,3]; const f32[2,3,2,2]" },
    { "nothing", "nn.lstm", "hidden_size=3", "f32[2,0,2]; const f32[1,12,2]; const f32[1,12,3]" },
};

static const struct kernel_case sums[] = {
    { "conv_direct", "nn.conv2d", "groups=1", "f32[1,0,5,5]; const f32[4,0,3,3]" },
    { "dense_tiles", "nn.dense", "", "f32[2,0]; const f32[3,0]" },
    { "gemv", "nn.dense", "", "f32[1,0]; const f32[3,0]" },
    { "matmul_tiles", "nn.matmul", "", "f32[2,0]; f32[0,3]" },
    { "matmul_int", "nn.matmul", "", "i32[2,0]; i32[0,3]" },
    { "reduce", "sum", "axis=[1]", "f32[2,0]" },
    { "reduce", "mean", "axis=[1]", "f32[2,0]" },
    { "reduce", "mean", "axis=[1]", "i32[2,0]" },
    { "reduce", "max", "axis=[1]", "f32[2,0]" },
    { "reduce", "max", "axis=[1]", "i8[2,0]" },
    { "scatter_elements", "scatter_elements", "axis=0", "f32[4]; i64[0]; f32[0]" },
    { "scatter_nd", "scatter_nd", "", "f32[4]; i64[0,1]; f32[0]" },
    { "unique", "unique", "sorted=true", "f32[2,0]" },
    { "unique", "unique", "sorted=false", "f32[0,2]" },
    { "lstm", "nn.lstm", "hidden_size=3", "f32[0,1,2]; const f32[1,12,2]; const f32[1,12,3]" },
};

START_TEST(results_without_elements_are_not_computed)
{
    KERNEL_CASES_CHECK(results, 0);
}
END_TEST

START_TEST(sums_of_nothing_are_what_the_reference_says)
{
    KERNEL_CASES_CHECK(sums, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_empty");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, results_without_elements_are_not_computed);
    tcase_add_test(tests, sums_of_nothing_are_what_the_reference_says);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
