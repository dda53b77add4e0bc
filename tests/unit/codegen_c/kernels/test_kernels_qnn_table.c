/* Kernels of averages, sums, softmax and tables of quantised numbers against the reference: exactly
 * equal. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/kernel_case.h"

/* x has a scale and a zero point; the result those of the second line. */
#define SAME "; const f32[] 0.5; const i8[] 3; const f32[] 0.5; const i8[] 3"
#define SAME_AT_0 "; const f32[] 0.5; const u8[] 0; const f32[] 0.5; const u8[] 0"
#define OTHER "; const f32[] 0.5; const i8[] 3; const f32[] 0.3; const i8[] -5"
#define TO_16 "; const f32[] 0.5; const u8[] 100; const f32[] 0.0017; const i16[] -500"

static const struct kernel_case averages[] = {
    { "qnn_avg_pool", "qnn.avg_pool2d", "pool_size=[2,2], strides=[2,2]", "i8[2,3,4,6]" SAME },
    { "qnn_avg_pool", "qnn.avg_pool2d", "pool_size=[2,3], strides=[1,2]", "i8[1,3,5,6]" OTHER },
    { "qnn_avg_pool", "qnn.avg_pool2d", "pool_size=[3,3], padding=[1,1,1,1]", "i8[1,2,5,6]" SAME },
    { "qnn_avg_pool", "qnn.avg_pool2d", "pool_size=[3,3], padding=[1,1,1,1]",
      "u8[1,2,5,6]" SAME_AT_0 },
    { "qnn_avg_pool", "qnn.avg_pool2d", "pool_size=[3,3], padding=[1,0,1,2]", "i8[1,2,5,6]" OTHER },
    { "qnn_avg_pool", "qnn.avg_pool2d",
      "pool_size=[3,3], padding=[1,0,1,2], count_include_pad=true", "i8[1,2,5,6]" SAME },
    { "qnn_avg_pool", "qnn.avg_pool2d",
      "pool_size=[3,3], padding=[1,0,1,2], count_include_pad=true", "i8[1,2,5,6]" OTHER },
    { "qnn_avg_pool", "qnn.avg_pool2d",
      "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], ceil_mode=true, count_include_pad=true",
      "i8[1,2,6,6]" SAME },
    { "qnn_avg_pool", "qnn.avg_pool2d",
      "pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], ceil_mode=true, count_include_pad=true",
      "u8[1,2,6,6]" TO_16 },
    { "qnn_avg_pool", "qnn.avg_pool2d",
      "pool_size=[2,2], padding=[2,2,2,2], dilation=[5,5], strides=[1,1]", "i8[1,1,2,2]" SAME },
    { "qnn_avg_pool", "qnn.avg_pool2d",
      "pool_size=[2,2], padding=[2,2,2,2], dilation=[5,5], strides=[1,1]", "i8[1,1,2,2]" OTHER },
    { "qnn_avg_pool", "qnn.avg_pool2d", "pool_size=[1,1]", "i8[1,2,3,3]" SAME },
    { "qnn_avg_pool", "qnn.avg_pool1d", "pool_size=[4], padding=[1,2]", "u8[2,3,9]" TO_16 },
    { "qnn_avg_pool", "qnn.avg_pool1d", "pool_size=[9]", "u8[2,3,9] 255" SAME_AT_0 },
    { "qnn_avg_pool", "qnn.avg_pool3d", "pool_size=[2,2,2], padding=[1,0,1,0,1,1]",
      "i8[1,2,3,4,5]" SAME },
    { "qnn_avg_pool", "qnn.avg_pool3d",
      "pool_size=[2,2,2], padding=[1,0,1,0,1,1], count_include_pad=true", "i8[2,2,3,4,5]" OTHER },
    { "qnn_avg_pool", "qnn.avg_pool3d",
      "pool_size=[3,2,2], strides=[2,2,2], padding=[1,0,1,1,0,1], ceil_mode=true, "
      "count_include_pad=true",
      "i8[2,2,4,4,5]" SAME },
    { "qnn_avg_pool", "qnn.avg_pool2d", "pool_size=[4,4]",
      "i16[1,2,4,4]; const f32[] 0.5; const i16[] 9; const f32[] 0.5; const "
      "i16[] 9" },
};

static const struct kernel_case sums[] = {
    { "reduce", "qnn.mean", "axis=[2,3], keepdims=true", "i8[2,3,4,5]" SAME },
    { "reduce", "qnn.mean", "axis=[2,3]", "i8[2,3,4,5]" OTHER },
    { "reduce", "qnn.mean", "axis=[1]", "u8[2,3,4]" TO_16 },
    { "reduce", "qnn.mean", "axis=[0,2]", "u8[2,3,4]" SAME_AT_0 },
    { "reduce", "qnn.mean", "axis=[1], keepdims=true", "i8[2,1,4]" SAME },
    { "reduce", "qnn.mean_double", "axis=[2,3], keepdims=true", "i8[2,3,4,5]" SAME },
    { "reduce", "qnn.mean_double", "axis=[2,3]", "i8[2,3,7,7]" OTHER },
    { "reduce", "qnn.mean_double", "axis=[1]", "u8[2,3,4]" TO_16 },
    { "reduce", "qnn.sum", "axis=[2,3]", "i8[2,3,4,5]" OTHER },
    { "reduce", "qnn.sum", "axis=[0]", "u8[7]" TO_16 },
    { "reduce", "qnn.sum", "axis=[1]", "i8[2,3]" SAME },
};

#define TO_256TH "; const f32[] 0.1; const i8[] 3; const f32[] 0.00390625; const i8[] -128"

static const struct kernel_case softmaxes[] = {
    { "qnn_softmax", "qnn.softmax", "axis=1", "i8[3,10]" TO_256TH },
    { "qnn_softmax", "qnn.softmax", "axis=1", "i8[2,3,4]" TO_256TH },
    { "qnn_softmax", "qnn.softmax", "axis=0", "i8[1] 5" TO_256TH },
    { "qnn_softmax", "qnn.softmax", "axis=1", "i8[1,1000] 3" TO_256TH },
    { "qnn_softmax", "qnn.softmax", "axis=0", "i8[2] -128 127" TO_256TH },
    { "qnn_softmax", "qnn.softmax", "axis=1",
      "u8[3,7]; const f32[] 0.02; const u8[] 0; const f32[] 0.004; const u8[] 0" },
    { "qnn_softmax", "qnn.softmax", "axis=1",
      "u8[3,7]; const f32[] 0.02; const u8[] 0; const f32[] 0.0000152587890625; const u16[] 0" },
    { "qnn_softmax", "qnn.softmax", "axis=1",
      "u8[3,7]; const f32[] 0.02; const u8[] 0; const f32[] 3; const i16[] 100" },
    { "qnn_softmax", "qnn.softmax", "axis=1",
      "i16[3,70]; const f32[] 0.0002; const i16[] 5; const f32[] 0.00390625; const i8[] -128" },
    { "qnn_softmax", "qnn.softmax", "axis=1",
      "u16[2,7,3]; const f32[] 0.0001; const u16[] 0; const f32[] 0.0000152587890625; const u16[] "
      "0" },
};

#define OF_EXPONENTS                                                                               \
    "; const i32[256] 2147483647 1900000000 1000000000 77777 0 12; const i32[256] 0 -8000000 "     \
    "-51234567 -690000000 -1342177280 -1300000000; const f32[] 0.0625; const i8[] 127"
#define OF_POWERS                                                                                  \
    "; const i32[256] 2147483647 1500000000 1300000001 900000000 400000123 99999 31 0; "           \
    "const f32[] 0.00390625; const i8[] -128"

#define TO_128TH "; const i8[] -7; const f32[] 0.0078125; const i8[] 0"

static const struct kernel_case normalized[] = {
    { "qnn_l2_normalize", "qnn.l2_normalize_double", "axis=1", "i8[5,10]" TO_128TH },
    { "qnn_l2_normalize", "qnn.l2_normalize_double", "axis=1", "i8[2,3,4]" TO_128TH },
    { "qnn_l2_normalize", "qnn.l2_normalize_double", "axis=1", "i8[2,32768]" TO_128TH },
    { "qnn_l2_normalize", "qnn.l2_normalize_double", "axis=1", "i8[4,1] -7 -6 127 -128" TO_128TH },
    { "qnn_l2_normalize", "qnn.l2_normalize_double", "axis=1",
      "i8[3,2] -7 -6 -5 -7 -128 127; const i8[] -7; const f32[] 0.0078125; const i8[] 0" },
};

static const struct kernel_case softmaxes_of_powers[] = {
    { "qnn_log_softmax_powers", "qnn.log_softmax_powers", "axis=1", "i8[3,10]" OF_EXPONENTS },
    { "qnn_log_softmax_powers", "qnn.log_softmax_powers", "axis=1", "i8[2,3,4]" OF_EXPONENTS },
    { "qnn_log_softmax_powers", "qnn.log_softmax_powers", "axis=0", "i8[1] 5" OF_EXPONENTS },
    { "qnn_log_softmax_powers", "qnn.log_softmax_powers", "axis=1", "i8[1,4095] 3" OF_EXPONENTS },
    { "qnn_log_softmax_powers", "qnn.log_softmax_powers", "axis=0", "i8[2] -128 127" OF_EXPONENTS },
    { "qnn_softmax_powers", "qnn.softmax_powers", "axis=1", "i8[3,10]" OF_POWERS },
    { "qnn_softmax_powers", "qnn.softmax_powers", "axis=1", "i8[2,3,4]" OF_POWERS },
    { "qnn_softmax_powers", "qnn.softmax_powers", "axis=0", "i8[1] 5" OF_POWERS },
    { "qnn_softmax_powers", "qnn.softmax_powers", "axis=1", "i8[1,511] 3" OF_POWERS },
    { "qnn_softmax_powers", "qnn.softmax_powers", "axis=1", "i8[1,4095] 3" OF_POWERS },
    { "qnn_softmax_powers", "qnn.softmax_powers", "axis=0", "i8[2] -128 127" OF_POWERS },
    { "qnn_softmax_powers", "qnn.softmax_powers", "axis=1",
      "u8[3,7]; const i32[256] 2147483647 1073741824; const f32[] 0.00390625; const u8[] 0" },
};

#define TO_20TH "; const f32[] 0.1; const i8[] 3; const f32[] 0.05; const i8[] 127"

static const struct kernel_case log_softmaxes[] = {
    { "qnn_log_softmax", "qnn.log_softmax", "axis=1", "i8[3,10]" TO_20TH },
    { "qnn_log_softmax", "qnn.log_softmax", "axis=1", "i8[2,3,4]" TO_20TH },
    { "qnn_log_softmax", "qnn.log_softmax", "axis=0", "i8[1] 5" TO_20TH },
    { "qnn_log_softmax", "qnn.log_softmax", "axis=1", "i8[1,1000] 3" TO_20TH },
    { "qnn_log_softmax", "qnn.log_softmax", "axis=0", "i8[2] -128 127" TO_20TH },
    { "qnn_log_softmax", "qnn.log_softmax", "axis=1",
      "u8[3,7]; const f32[] 0.02; const u8[] 0; const f32[] 0.0001; const u16[] 65535" },
    { "qnn_log_softmax", "qnn.log_softmax", "axis=1",
      "i16[3,70]; const f32[] 0.0002; const i16[] 5; const f32[] 0.0002; const i16[] 32767" },
    { "qnn_log_softmax", "qnn.log_softmax", "axis=0",
      "u16[9,5] 0 65535 1; const f32[] 0.01; const u16[] 0; const f32[] 0.05; const i8[] 127" },
};

#define FLAT                                                                                       \
    "method=\"linear\", coordinate_transformation_mode=\"half_pixel\", "                           \
    "rounding_method=\"round_prefer_floor\""
#define CORNERS                                                                                    \
    "method=\"linear\", coordinate_transformation_mode=\"align_corners\", "                        \
    "rounding_method=\"round_prefer_floor\""

#define CUBIC                                                                                      \
    "method=\"cubic\", cubic_alpha=-0.75, coordinate_transformation_mode=\"half_pixel\", "         \
    "rounding_method=\"round_prefer_floor\""

static const struct kernel_case resizes[] = {
    { "qnn_resize", "qnn.resize", "size=[1,3,8,10], " FLAT, "i8[1,3,4,5]" },
    { "qnn_resize", "qnn.resize", "size=[2,7,9,3], " CORNERS, "u8[2,4,5,3]" },
    { "qnn_resize", "qnn.resize", "size=[2,7], " CORNERS, "i8[2,16] -128 127 -128 127" },
    { "qnn_resize", "qnn.resize", "size=[2,3,1], " FLAT, "u8[2,7,1] 255 0" },
    { "qnn_resize_wide", "qnn.resize", "size=[1,3,8,10], " CUBIC, "i8[1,3,4,5]" },
    { "qnn_resize_wide", "qnn.resize", "size=[13], " CUBIC ", exclude_outside=true",
      "u8[4] 0 255 0 255" },
    { "qnn_resize_wide", "qnn.resize", "size=[1,2,5,6,7], " FLAT, "i8[1,2,3,4,5]" },
    { "qnn_resize_wide", "qnn.resize", "size=[1,2,3,6,7], " CUBIC, "u8[1,2,4,4,5]" },
    { "qnn_resize_wide", "qnn.resize", "size=[3,3,5,6], " FLAT, "i8[2,2,4,4] -128 127" },
    { "qnn_resize_wide", "qnn.resize", "size=[1,3,8,10], " FLAT, "f8e4m3[1,3,4,5]" },
    { "qnn_resize_wide", "qnn.resize", "size=[3,3,5,6], " CUBIC, "f8e4m3[2,2,4,4] 126 254" },
    { "qnn_resize_wide", "qnn.resize", "size=[1,3,3,5,6], " FLAT, "f8e3m4[1,2,2,4,4]" },
    { "qnn_resize_wide", "qnn.resize", "size=[2,7,9,3], " CUBIC, "f8e3m4[2,4,5,3]" },
};

static const struct kernel_case elements[] = {
    { "elementwise", "qnn.lut", "axis=0", "i8[3,50]; const i8[256]; const f32[] 1; const i8[] 0" },
    { "elementwise", "qnn.lut", "axis=0", "u8[3,50]; const u8[256]; const f32[] 1; const u8[] 0" },
    { "elementwise", "qnn.lut", "axis=0", "i8[256]; const i16[256]; const f32[] 1; const i16[] 0" },
    { "elementwise", "qnn.lut", "axis=1",
      "i8[2,3,40]; const i8[3,256]; const f32[] 1; const i8[] 0" },
    { "elementwise", "qnn.lut", "axis=3",
      "u8[1,2,30,3]; const u8[3,256]; const f32[] 1; const u8[] 0" },
    { "elementwise", "qnn.lut", "axis=1",
      "u8[2,1,9]; const u8[1,256]; const f32[] 1; const u8[] 0" },
    { "elementwise", "qnn.lut", "axis=0", "i8[3,5]; i8[256]; const f32[] 1; const i8[] 0" },
    { "elementwise", "qnn.lut", "axis=0", "i8[9]; const i8[256] 7; const f32[] 1; const i8[] 0" },
    { "elementwise", "qnn.subtract", "",
      "i8[2,3]; i8[2,3]; const f32[] 0.1; const i8[] 3; const f32[] 0.2; const i8[] -4; const "
      "f32[] 0.05; const i8[] 5" },
    { "elementwise", "qnn.subtract", "",
      "u16[2,3] 65535 0 3; u8[3]; const f32[] 1; const u16[] 0; const f32[] 1; const u8[] 7; "
      "const f32[] 2; const i16[] 0" },
    { "elementwise", "qnn.add", "",
      "u8[2,3]; i16[2,3]; const f32[] 0.1; const u8[] 3; const f32[] 0.0002; const i16[] -4; const "
      "f32[] 0.05; const i8[] 5" },
    { "elementwise", "qnn.pwl", "",
      "i16[3,50]; const u16[3] 0 30000 40000; const i32[3,2] 1000000 -3000 500 7000 9 0; const "
      "f32[] 1; const i16[] 0" },
    { "elementwise", "qnn.pwl", "",
      "u16[2,3,7] 0 65535 39999 40000; const u16[3] 0 30000 40000; const i32[3,2] 1000000 -3000 "
      "500 7000 9 42000; const f32[] 1; const u8[] 100" },
    { "elementwise", "qnn.pwl", "",
      "u16[9]; const u16[1] 0; const i32[1,2] 0 16000; const f32[] 1; const i8[] -128" },
    { "elementwise", "qnn.div", "",
      "i16[2,30]; u16[2,30]; const f32[] 0.1; const i16[] 3; const f32[] 0.02; const u16[] 40; "
      "const "
      "f32[] 0.5; const i8[] 5" },
    { "elementwise", "qnn.div", "",
      "u8[2,3] 200 0 7; i16[3] 0 -5 5; const f32[] 1; const u8[] 7; const f32[] 1; const i16[] 0; "
      "const f32[] 0.01; const i16[] -9" },
    { "elementwise", "qnn.div", "",
      "i8[9]; i16[9]; const f32[] 1e-9; const i8[] 7; const f32[] 1; const i16[] 0; const f32[] "
      "1000; const i16[] -9" },
    { "elementwise", "qnn.mul", "",
      "u8[2,3]; i16[2,3]; const f32[] 0.1; const u8[] 3; const f32[] 0.0002; const i16[] -4; const "
      "f32[] 0.05; const i8[] 5" },
};

START_TEST(averages_agree_exactly)
{
    KERNEL_CASES_CHECK(averages, 0);
}
END_TEST

START_TEST(sums_agree_exactly)
{
    KERNEL_CASES_CHECK(sums, 0);
}
END_TEST

START_TEST(softmax_agrees_exactly)
{
    KERNEL_CASES_CHECK(softmaxes, 0);
}
END_TEST

START_TEST(normalized_lines_agree_exactly)
{
    KERNEL_CASES_CHECK(normalized, 0);
}
END_TEST

START_TEST(softmax_of_powers_agrees_exactly)
{
    KERNEL_CASES_CHECK(softmaxes_of_powers, 0);
}
END_TEST

START_TEST(log_softmax_agrees_exactly)
{
    KERNEL_CASES_CHECK(log_softmaxes, 0);
}
END_TEST

START_TEST(resize_agrees_exactly)
{
    KERNEL_CASES_CHECK(resizes, 0);
}
END_TEST

START_TEST(elements_agree_exactly)
{
    KERNEL_CASES_CHECK(elements, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels: tables and averages of quantised numbers");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, averages_agree_exactly);
    tcase_add_test(tests, sums_agree_exactly);
    tcase_add_test(tests, softmax_agrees_exactly);
    tcase_add_test(tests, normalized_lines_agree_exactly);
    tcase_add_test(tests, softmax_of_powers_agrees_exactly);
    tcase_add_test(tests, log_softmax_agrees_exactly);
    tcase_add_test(tests, resize_agrees_exactly);
    tcase_add_test(tests, elements_agree_exactly);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
