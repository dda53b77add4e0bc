#include <check.h>
#include <stdlib.h>

#include "tests/support/op_case.h"

/* INT64_MIN is anything. */
#define ANY "-9223372036854775808"

static const struct op_case expects[] = {
    { "expect", "{mode=\"each\"}", "f32[2] 5 6; i64[2] 3 4; i64[2,1] 3 4", "f32[2] 5 6", NULL },
    { "expect", "{}", "i8[2] 5 6; i64[2] 3 1; i64[2,2] 3 3 4 1", "i8[2] 5 6", NULL },
    { "expect", "{}", "f32[2] 5 6; i64[2] 3 99; i64[2,1] 3 " ANY, "f32[2] 5 6", NULL },
    { "expect", "{}", "f32[2] 5 6; i64[] 3; i64[1,1] 3", "f32[2] 5 6", NULL },
    { "expect", "{}", "f32[2] 5 6; i64[2] 3 5; i64[2,1] 3 4", "",
      "the numbers 3, 5 ask for another shape than the file declares" },
    { "expect", "{}", "f32[2] 5 6; i64[2] -1 -1; i64[2,2] 3 -1 4 -1", "f32[2] 5 6", NULL },
    { "expect", "{mode=\"shape\"}", "f32[2] 5 6; i64[2] -1 4; i64[2,2] 3 -1 4 -1", "f32[2] 5 6",
      NULL },
    { "expect", "{mode=\"shape\"}", "f32[2] 5 6; i64[2] -1 -1; i64[2,2] 3 -1 4 -1", "",
      "the numbers -1, -1 ask for another shape" },
    { "expect", "{mode=\"axes\", rank=3}", "f32[2] 5 6; i64[2] 2 0; i64[2] 3 5", "f32[2] 5 6",
      NULL },
    { "expect", "{mode=\"axes\", rank=3}", "f32[2] 5 6; i64[2] -2 -3; i64[2] 3 5", "f32[2] 5 6",
      NULL },
    { "expect", "{mode=\"axes\", rank=3}", "f32[2] 5 6; i64[2] 1 2; i64[2] 3 5", "",
      "the numbers 1, 2 ask for another shape" },
    { "expect", "{mode=\"axes\", rank=3}", "f32[2] 5 6; i64[2] 0 0; i64[2] 1 3", "",
      "the numbers 0, 0 ask for another shape" },
    { "expect", "{mode=\"axes\", rank=3}", "f32[2] 5 6; i64[1] 3; i64[1] 8", "",
      "the numbers 3 ask for another shape" },
    { "expect", "{mode=\"some\"}", "f32[2] 5 6; i64[1] 3; i64[1,1] 3", "", "mode" },
    { "expect", "{}", "f32[2] 5 6; i32[1] 3; i64[1,1] 3", "", "expected lists of i64" },
    { "expect", "{}", "f32[2] 5 6; i64[2] 3; i64[1,1] 3", "", "2 numbers, and what they may be" },
    { "expect", "{mode=\"axes\", rank=9}", "f32[2] 5 6; i64[1] 3; i64[1] 8", "",
      "the rank is 9, wanted 0 to 8" },
};

static const struct op_case axes[] = {
    { "which_axes", "{rank=3}", "i64[1] 2; i64[3] 1 2 4", "i64[1] 2", NULL },
    { "which_axes", "{rank=3}", "i64[1] -3; i64[3] 1 2 4", "i64[1] 0", NULL },
    { "which_axes", "{rank=2}", "i64[] 1; i64[2] 1 2", "i64[1] 1", NULL },
    { "which_axes", "{rank=3}", "i64[2] 2 1; i64[2] 3 6", "i64[1] 1", NULL },
    { "which_axes", "{rank=2}", "i64[1] 2; i64[2] 1 2", "", "the numbers 2 ask for another shape" },
    { "which_axes", "{mode=\"each\"}", "i64[1] 2; i64[1] 1", "",
      "the mode is each, expected axes" },
};

static const struct op_case slices[] = {
    { "dyn.strided_slice", "{shape=[2]}",
      "f32[5] 1 2 3 4 5; i64[1] 1; i64[1] 3; i64[1] 0; i64[1] 1", "f32[2] 2 3", NULL },
    { "dyn.strided_slice", "{shape=[2]}",
      "f32[5] 1 2 3 4 5; i64[1] -2; i64[1] 99; i64[1] -1; i64[1] 1", "f32[2] 4 5", NULL },
    { "dyn.strided_slice", "{shape=[3]}",
      "i8[5] 1 2 3 4 5; i64[1] 99; i64[1] -99; i64[1] 0; i64[1] -2", "i8[3] 5 3 1", NULL },
    { "dyn.strided_slice", "{shape=[1]}",
      "f32[5] 1 2 3 4 5; i64[1] -99; i64[1] -99; i64[1] 0; i64[1] -1", "f32[1] 1", NULL },
    { "dyn.strided_slice", "{shape=[1]}",
      "f32[5] 1 2 3 4 5; i64[1] 3; i64[1] 5; i64[1] 0; i64[1] 9223372036854775807", "f32[1] 4",
      NULL },
    { "dyn.strided_slice", "{shape=[0]}",
      "f32[5] 1 2 3 4 5; i64[1] 3; i64[1] 2; i64[1] 0; i64[1] 1", "f32[0]", NULL },
    { "dyn.strided_slice", "{shape=[2,2]}",
      "f32[2,3] 1 2 3 4 5 6; i64[1] 1; i64[1] 3; i64[1] 1; i64[1] 1", "f32[2,2] 2 3 5 6", NULL },
    { "dyn.strided_slice", "{shape=[1,2]}",
      "f32[2,3] 1 2 3 4 5 6; i64[2] 0 1; i64[2] 3 2; i64[2] 1 0; i64[2] 2 1", "f32[1,2] 4 6",
      NULL },
    { "dyn.strided_slice", "{shape=[2]}",
      "f32[5] 1 2 3 4 5; i64[1] 1; i64[1] 4; i64[1] 0; i64[1] 1", "",
      "the numbers of dyn.strided_slice ask for another shape than 2" },
    { "dyn.strided_slice", "{shape=[2]}",
      "f32[5] 1 2 3 4 5; i64[1] 1; i64[1] 3; i64[1] 1; i64[1] 1", "", "ask for another shape" },
    { "dyn.strided_slice", "{shape=[2]}",
      "f32[5] 1 2 3 4 5; i64[1] 1; i64[1] 3; i64[1] 0; i64[1] 0", "", "ask for another shape" },
    { "dyn.strided_slice", "{shape=[2,2]}",
      "f32[2,3] 1 2 3 4 5 6; i64[2] 0 1; i64[2] 2 3; i64[2] 1 1; i64[2] 1 1", "",
      "ask for another shape" },
    { "dyn.strided_slice", "{shape=[2]}",
      "f32[5] 1 2 3 4 5; i64[1] 1; i64[2] 3; i64[1] 0; i64[1] 1", "",
      "input 2 is (2) i64, expected a list of 1 i64" },
    { "dyn.strided_slice", "{shape=[2,2]}",
      "f32[5] 1 2 3 4 5; i64[1] 1; i64[1] 3; i64[1] 0; i64[1] 1", "",
      "the result has 2 dims, the input the shape 5" },
};

static const struct op_case pads[] = {
    { "dyn.nn.pad", "{mode=\"constant\", shape=[5]}", "f32[2] 1 2; i64[2] 1 2; i64[1] 0; f32[] 9",
      "f32[5] 9 1 2 9 9", NULL },
    { "dyn.nn.pad", "{shape=[2]}", "i8[3] 1 2 3; i64[2] -2 1; i64[1] -1; i8[1] 7", "i8[2] 3 7",
      NULL },
    { "dyn.nn.pad", "{mode=\"reflect\", shape=[6]}", "f32[3] 1 2 3; i64[2] 1 2; i64[1] 0; f32[] 0",
      "f32[6] 2 1 2 3 2 1", NULL },
    { "dyn.nn.pad", "{mode=\"edge\", shape=[6]}", "f32[3] 1 2 3; i64[2] 1 2; i64[1] 0; f32[] 0",
      "f32[6] 1 1 2 3 3 3", NULL },
    { "dyn.nn.pad", "{mode=\"wrap\", shape=[6]}", "f32[3] 1 2 3; i64[2] 1 2; i64[1] 0; f32[] 0",
      "f32[6] 3 1 2 3 1 2", NULL },
    { "dyn.nn.pad", "{mode=\"wrap\", shape=[2,2]}", "f32[2,1] 1 2; i64[2] 1 0; i64[1] 1; f32[] 0",
      "f32[2,2] 1 1 2 2", NULL },
    { "dyn.nn.pad", "{shape=[5]}", "f32[2] 1 2; i64[2] 1 1; i64[1] 0; f32[] 9", "",
      "the numbers of dyn.nn.pad ask for another shape than 5" },
    { "dyn.nn.pad", "{shape=[5]}", "f32[2] 1 2; i64[2] 1 2; i64[1] 1; f32[] 9", "",
      "ask for another shape" },
    { "dyn.nn.pad", "{shape=[0]}", "f32[2] 1 2; i64[2] -9223372036854775808 1; i64[1] 0; f32[] 9",
      "", "ask for another shape" },
    { "dyn.nn.pad", "{mode=\"edge\", shape=[1]}", "f32[2] 1 2; i64[2] -2 1; i64[1] 0; f32[] 9", "",
      "ask for another shape" },
    { "dyn.nn.pad", "{shape=[5]}", "f32[2] 1 2; i64[2] 1 2; i64[1] 0; f32[2] 9", "",
      "expected one element" },
    { "dyn.nn.pad", "{shape=[5]}", "f32[2] 1 2; i64[3] 1 2; i64[1] 0; f32[] 9", "",
      "expected a list of 2 i64" },
    { "dyn.nn.pad", "{mode=\"mirror\", shape=[5]}", "f32[2] 1 2; i64[2] 1 2; i64[1] 0; f32[] 9", "",
      "mode" },
};

START_TEST(numbers_are_expected)
{
    op_case_check(&expects[_i]);
}
END_TEST

START_TEST(axes_are_found)
{
    op_case_check(&axes[_i]);
}
END_TEST

START_TEST(numbers_say_what_is_cut_out)
{
    op_case_check(&slices[_i]);
}
END_TEST

START_TEST(numbers_say_what_is_padded)
{
    op_case_check(&pads[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops_run_time");
    TCase *tcase = tcase_create("ops_run_time");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, numbers_are_expected, 0, N_ROWS(expects));
    tcase_add_loop_test(tcase, axes_are_found, 0, N_ROWS(axes));
    tcase_add_loop_test(tcase, numbers_say_what_is_cut_out, 0, N_ROWS(slices));
    tcase_add_loop_test(tcase, numbers_say_what_is_padded, 0, N_ROWS(pads));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
