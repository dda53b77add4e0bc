/* Pools as generated C: the kernels of codegen_c/kernels/pool.c. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/kernel_case.h"

static const struct kernel_case pools[] = {
    { "max_pool2d", "nn.max_pool2d", "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1]",
      "f32[1,3,7,9]" },
    { "max_pool2d", "nn.max_pool2d", "pool_size=[2,2], strides=[2,2]", "f64[2,2,8,8]" },
    { "max_pool2d", "nn.max_pool2d",
      "pool_size=[3,2], strides=[2,1], padding=[0,1,2,0], dilation=[2,3], ceil_mode=true",
      "f32[1,1,8,7]" },
    { "max_pool2d", "nn.max_pool1d", "pool_size=[3], strides=[2], padding=[1,0]", "f32[2,3,11]" },
    { "max_pool3d", "nn.max_pool3d",
      "pool_size=[2,3,2], strides=[1,2,2], padding=[1,0,1,0,1,0], dilation=[1,1,2]",
      "f32[2,2,4,5,6]" },
    { "max_pool3d", "nn.max_pool3d", "pool_size=[2,2,2], strides=[2,2,2]", "f32[1,2,4,4,6]" },
    { "max_pool2d", "nn.max_pool2d", "pool_size=[2,2], padding=[1,1,1,1], dilation=[3,3]",
      "f32[1,2,2,5]" },
    { "avg_pool2d", "nn.avg_pool2d", "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1]",
      "f32[1,3,7,9]" },
    { "avg_pool2d", "nn.avg_pool2d", "pool_size=[2,2], strides=[2,2]", "f64[2,2,8,8]" },
    { "avg_pool2d", "nn.avg_pool2d",
      "pool_size=[3,2], strides=[2,1], padding=[0,1,2,0], dilation=[2,3], ceil_mode=true",
      "f32[1,1,8,7]" },
    { "avg_pool2d", "nn.avg_pool1d", "pool_size=[3], strides=[2], padding=[1,0]", "f32[2,3,11]" },
    { "avg_pool3d", "nn.avg_pool3d",
      "pool_size=[2,3,2], strides=[1,2,2], padding=[1,0,1,0,1,0], dilation=[1,1,2]",
      "f32[2,2,4,5,6]" },
    { "avg_pool3d", "nn.avg_pool3d", "pool_size=[2,2,2], strides=[2,2,2]", "f32[1,2,4,4,6]" },
    { "avg_pool2d", "nn.avg_pool2d", "pool_size=[2,2], padding=[1,1,1,1], dilation=[3,3]",
      "f32[1,2,2,5]" },
    { "lp_pool2d", "nn.lp_pool2d", "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], p=2",
      "f32[1,3,7,9]" },
    { "lp_pool2d", "nn.lp_pool2d", "pool_size=[2,2], strides=[2,2], p=2", "f64[2,2,8,8]" },
    { "lp_pool2d", "nn.lp_pool2d",
      "pool_size=[3,2], strides=[2,1], padding=[0,1,2,0], dilation=[2,3], ceil_mode=true, "
      "p=2",
      "f32[1,1,8,7]" },
    { "lp_pool2d", "nn.lp_pool1d", "pool_size=[3], strides=[2], padding=[1,0], p=2",
      "f32[2,3,11]" },
    { "lp_pool3d", "nn.lp_pool3d",
      "pool_size=[2,3,2], strides=[1,2,2], padding=[1,0,1,0,1,0], dilation=[1,1,2], p=2",
      "f32[2,2,4,5,6]" },
    { "lp_pool3d", "nn.lp_pool3d", "pool_size=[2,2,2], strides=[2,2,2], p=2", "f32[1,2,4,4,6]" },
    { "lp_pool2d", "nn.lp_pool2d", "pool_size=[2,2], padding=[1,1,1,1], dilation=[3,3], p=2",
      "f32[1,2,2,5]" },
    /* counting the padding, and not what ceil_mode adds to it */
    { "avg_pool2d", "nn.avg_pool2d",
      "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], count_include_pad=true", "f32[1,3,7,9]" },
    { "avg_pool2d", "nn.avg_pool2d",
      "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], count_include_pad=true, "
      "ceil_mode=true",
      "f32[1,3,7,8]" },
    { "avg_pool3d", "nn.avg_pool3d",
      "pool_size=[3,3,2], strides=[2,2,2], padding=[1,1,1,1,1,1], count_include_pad=true, "
      "ceil_mode=true",
      "f32[1,3,7,8,4]" },
    { "avg_pool2d", "nn.avg_pool1d",
      "pool_size=[3], strides=[2], padding=[1,1], count_include_pad=true, ceil_mode=true",
      "f32[1,3,8]" },
    /* other norms and types */
    { "lp_pool2d", "nn.lp_pool2d", "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], p=1",
      "f32[1,3,7,9]" },
    { "lp_pool2d", "nn.lp_pool2d", "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], p=3",
      "f64[1,3,7,9]" },
    { "max_pool2d", "nn.max_pool2d", "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1]",
      "i8[1,3,7,9]" },
    { "max_pool2d", "nn.max_pool2d", "pool_size=[2,2]", "u8[1,3,7,9]" },
    { "max_pool3d", "nn.max_pool3d", "pool_size=[2,2,2], padding=[1,1,1,1,1,1]", "i32[1,2,3,4,3]" },
    /* NaN wins wherever it stands */
    { "max_pool2d", "nn.max_pool1d", "pool_size=[3], padding=[1,1]",
      "f32[1,1,9] 1 2 nan 3 4 5 6 inf nan" },
    { "global_max_pool", "nn.global_max_pool", "", "f32[1,3,4] 1 nan 2 3 nan 1 5 -1 -1 -2 -3 nan" },
    { "global_max_pool", "nn.global_max_pool", "", "f64[2,3,4,5]" },
    { "global_avg_pool", "nn.global_avg_pool", "", "f32[2,3,4,5]" },
    { "global_avg_pool", "nn.global_avg_pool", "", "f64[1,5,3]" },
    { "global_avg_pool", "nn.global_avg_pool", "", "f32[1,3,2,2,3]" },
};

static const struct kernel_case indices[] = {
    { "max_pool_indices", "nn.max_pool_indices",
      "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1]", "f32[2,3,7,9]" },
    { "max_pool_indices", "nn.max_pool_indices", "pool_size=[3], strides=[2], padding=[1,1]",
      "f64[2,3,9]" },
    { "max_pool_indices", "nn.max_pool_indices",
      "pool_size=[2,3,2], strides=[1,2,2], padding=[1,0,1,0,1,0], dilation=[1,1,2]",
      "i8[2,2,4,5,6]" },
    { "max_pool_indices", "nn.max_pool_indices",
      "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], storage_order=1", "f32[2,3,7,9]" },
    { "max_pool_indices", "nn.max_pool_indices",
      "pool_size=[3], strides=[2], padding=[1,1], storage_order=1", "f64[2,3,9]" },
    { "max_pool_indices", "nn.max_pool_indices",
      "pool_size=[2,3,2], strides=[1,2,2], padding=[1,0,1,0,1,0], dilation=[1,1,2], "
      "storage_order=1",
      "i8[2,2,4,5,6]" },
};

START_TEST(windows_are_reduced_as_the_reference_does)
{
    KERNEL_CASES_CHECK(pools, 1e-5);
}
END_TEST

START_TEST(maxima_come_with_their_places)
{
    KERNEL_CASES_CHECK(indices, 1e-5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_pool");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, windows_are_reduced_as_the_reference_does);
    tcase_add_test(tests, maxima_come_with_their_places);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
