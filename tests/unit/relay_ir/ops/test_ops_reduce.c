#include <check.h>
#include <stdlib.h>

#include "tests/support/op_case.h"

static const struct op_case reductions[] = {
    { "sum", "{axis=[1], keepdims=false}", "f32[2,3] 1 2 3 4 5 6", "f32[2] 6 15", NULL },
    { "sum", "{axis=[0], keepdims=true}", "f32[2,3] 1 2 3 4 5 6", "f32[1,3] 5 7 9", NULL },
    { "sum", "{axis=[], keepdims=true}", "f32[2,3] 1 2 3 4 5 6", "f32[1,1] 21", NULL },
    { "sum", "{axis=[], keepdims=false}", "f32[2,3] 1 2 3 4 5 6", "f32[] 21", NULL },
    { "sum", "{axis=[-1,0], keepdims=false}", "i64[2,2,2] 1 2 3 4 5 6 7 8", "i64[2] 14 22", NULL },
    { "sum", "{axis=[], keepdims=false}", "f32[] 5", "f32[] 5", NULL },
    { "sum", "{axis=[1], keepdims=false}", "f32[2,0]", "f32[2] 0 0", NULL },
    { "sum", "{axis=[1], keepdims=false}", "f32[0,2]", "f32[0]", NULL },
    { "sum", "{axis=[0], keepdims=false}", "i64[2] 9007199254740993 1", "i64[] 9007199254740994",
      NULL },
    { "sum", "{axis=[0], keepdims=false}", "u8[3] 200 100 1", "u8[] 45", NULL }, /* wraps */
    { "sum", "{axis=[0], keepdims=false}", "f32[4] 16777216 1 1 1", "f32[] 16777220", NULL },
    { "mean", "{axis=[1], keepdims=false}", "f32[2,2] 1 2 3 5", "f32[2] 1.5 4", NULL },
    { "mean", "{axis=[0], keepdims=false}", "i32[2] -3 -4", "i32[] -3", NULL },
    { "mean", "{axis=[0], keepdims=false}", "u64[2] 18446744073709551615 18446744073709551613",
      "u64[] 18446744073709551614", NULL },
    { "mean", "{axis=[0], keepdims=false}", "f32[0]", "f32[] nan", NULL },
    { "mean", "{axis=[0], keepdims=false}", "i32[0]", "i32[] 0", NULL },
    { "prod", "{axis=[0], keepdims=false}", "f32[3] 2 3 -4", "f32[] -24", NULL },
    { "prod", "{axis=[0], keepdims=false}", "i64[3] 4294967296 4294967296 3", "i64[] 0", NULL },
    { "prod", "{axis=[1], keepdims=true}", "f32[1,0]", "f32[1,1] 1", NULL },
    { "max", "{axis=[1], keepdims=false}", "f32[3,2] 1 2 nan 0 -inf -5", "f32[3] 2 nan -5", NULL },
    { "min", "{axis=[1], keepdims=false}", "f32[3,2] 1 2 0 nan inf 5", "f32[3] 1 nan 5", NULL },
    { "max", "{axis=[0], keepdims=false}", "f32[0]", "f32[] -inf", NULL },
    { "min", "{axis=[0], keepdims=false}", "i8[0]", "i8[] 127", NULL },
    { "max", "{axis=[0], keepdims=false}", "i64[0]", "i64[] -9223372036854775808", NULL },
    { "min", "{axis=[0], keepdims=false}", "u64[0]", "u64[] 18446744073709551615", NULL },
    { "max", "{axis=[0], keepdims=false}", "u64[2] 1 18446744073709551615",
      "u64[] 18446744073709551615", NULL },
    { "max", "{axis=[0], keepdims=false}", "bool[2,2] 0 1 0 0", "bool[2] 0 1", NULL },
    { "min", "{axis=[0], keepdims=false}", "bool[0,1]", "bool[1] 1", NULL },
    { "sum", "{axis=[0], keepdims=false}", "bool[2] 1", "", "input 0 of sum is bool" },
    { "max", "{axis=[2], keepdims=false}", "f32[2,2] 1", "", "axis 2 is out of range for rank 2" },
    { "max", "{axis=[0,-2], keepdims=false}", "f32[2,2] 1", "", "axis 0 is given twice" },
    { "mean", "{axis=[0], keepdims=false}", "f32[] 1", "", "axis 0 is out of range for rank 0" },
};

#define ARG(axis, keep, last) "{axis=" axis ", keepdims=" keep ", select_last_index=" last "}"

static const struct op_case args[] = {
    { "argmax", ARG("1", "false", "false"), "f32[2,3] 1 3 3 9 2 1", "i64[2] 1 0", NULL },
    { "argmax", ARG("1", "true", "true"), "f32[2,3] 1 3 3 9 2 1", "i64[2,1] 2 0", NULL },
    { "argmin", ARG("0", "false", "false"), "i8[3,2] 1 0 0 0 1 -1", "i64[2] 1 2", NULL },
    { "argmin", ARG("-2", "true", "true"), "i8[3,2] 1 0 1 0 1 0", "i64[1,2] 2 2", NULL },
    { "argmax", ARG("0", "false", "false"), "f32[4] 1 nan 5 nan", "i64[] 1", NULL },
    { "argmin", ARG("0", "false", "true"), "f32[4] 1 nan 5 nan", "i64[] 3", NULL },
    { "argmax", ARG("0", "false", "false"), "i64[2] 9007199254740992 9007199254740993", "i64[] 1",
      NULL },
    { "argmax", ARG("0", "false", "false"), "u64[2] 1 18446744073709551615", "i64[] 1", NULL },
    { "argmax", ARG("1", "false", "false"), "f32[0,2]", "i64[0]", NULL },
    { "argmax", ARG("1", "false", "false"), "f32[2,0]", "", "axis 1 of shape 2x0 has no elements" },
    { "argmax", ARG("0", "false", "false"), "bool[2] 1", "", "input 0 of argmax is bool" },
    { "argmax", ARG("0", "false", "false"), "f32[] 1", "",
      "axis 0 is out of range for shape scalar" },
};

/* softmax of 0, ln 2, ln 5 is 1/8, 2/8, 5/8. */
static const struct op_case along_axis[] = {
    { "nn.softmax", "{axis=-1}", "f64[3] 0 0.6931471805599453 1.6094379124341003",
      "f64[3] 0.125 0.25 0.625", NULL },
    { "nn.softmax", "{axis=0}", "f64[2,2] 0 5 1.0986122886681098 5", "f64[2,2] 0.25 0.5 0.75 0.5",
      NULL },
    { "nn.softmax", "{axis=0}", "f32[2] 1e30 1e30", "f32[2] 0.5 0.5", NULL },
    { "nn.softmax", "{axis=0}", "f32[2] -inf 3", "f32[2] 0 1", NULL },
    { "nn.softmax", "{axis=0}", "f32[2] nan 3", "f32[2] nan nan", NULL },
    { "nn.softmax", "{axis=0}", "f32[2] 3 nan", "f32[2] nan nan", NULL },
    { "nn.softmax", "{axis=1}", "f32[2,0]", "f32[2,0]", NULL },
    { "nn.softmax", "{axis=1}", "f32[0,2]", "f32[0,2]", NULL },
    { "nn.log_softmax", "{axis=0}", "f64[2] 0 1.0986122886681098",
      "f64[2] -1.3862943611198906 -0.2876820724517809", NULL },
    { "nn.log_softmax", "{axis=0}", "f32[2] 0 1000", "f32[2] -1000 0", NULL },
    { "nn.hardmax", "{axis=1}", "f32[2,3] 1 3 3 5 2 5", "f32[2,3] 0 1 0 1 0 0", NULL },
    { "nn.hardmax", "{axis=0}", "f16[2,2] 1 3 3 2", "f16[2,2] 0 1 1 0", NULL },
    { "cumsum", "{axis=1, exclusive=false, reverse=false}", "f32[2,3] 1 2 3 4 5 6",
      "f32[2,3] 1 3 6 4 9 15", NULL },
    { "cumsum", "{axis=0, exclusive=false, reverse=false}", "f32[2,3] 1 2 3 4 5 6",
      "f32[2,3] 1 2 3 5 7 9", NULL },
    { "cumsum", "{axis=0, exclusive=true, reverse=false}", "i32[3] 1 2 3", "i32[3] 0 1 3", NULL },
    { "cumsum", "{axis=0, exclusive=false, reverse=true}", "i32[3] 1 2 3", "i32[3] 6 5 3", NULL },
    { "cumsum", "{axis=-1, exclusive=true, reverse=true}", "i32[3] 1 2 3", "i32[3] 5 3 0", NULL },
    { "cumsum", "{axis=0, exclusive=false, reverse=false}", "i64[2] 9007199254740993 1",
      "i64[2] 9007199254740993 9007199254740994", NULL },
    { "cumsum", "{axis=0, exclusive=false, reverse=false}", "f32[0]", "f32[0]", NULL },
    { "cumprod", "{axis=1, exclusive=false, reverse=false}", "f32[2,3] 1 2 3 4 5 6",
      "f32[2,3] 1 2 6 4 20 120", NULL },
    { "cumprod", "{axis=0, exclusive=true, reverse=false}", "i32[3] 4 2 3", "i32[3] 1 4 8", NULL },
    { "cumprod", "{axis=-1, exclusive=true, reverse=true}", "i32[3] 4 2 3", "i32[3] 6 3 1", NULL },
    { "cumprod", "{axis=0, exclusive=false, reverse=false}", "i64[2] 4294967297 4294967297",
      "i64[2] 4294967297 8589934593", NULL }, /* modulo 2^64 */
    { "nn.softmax", "{axis=2}", "f32[2,2] 1", "", "axis 2 is out of range for shape 2x2" },
    { "nn.softmax", "{axis=0}", "f32[] 1", "", "axis 0 is out of range for shape scalar" },
    { "nn.softmax", "{axis=0}", "i32[2] 1", "", "expected a floating-point type" },
    { "cumsum", "{axis=0, exclusive=false, reverse=false}", "bool[2] 1", "",
      "input 0 of cumsum is" },
    { "nn.lp_normalize", "{axis=0, p=3}", "f32[2] 1", "", "p is 3, expected 1 or 2" },
};

#define TOPK(axis, k, largest) "{axis=" axis ", k=" k ", largest=" largest ", sorted=true}"

static const struct op_case topks[] = {
    { "topk", TOPK("1", "2", "true"), "f32[2,4] 1 4 2 4 0 -1 5 3",
      "f32[2,2] 4 4 5 3; i64[2,2] 1 3 2 3", NULL },
    { "topk", TOPK("1", "2", "false"), "f32[2,4] 1 4 1 4 0 -1 5 3",
      "f32[2,2] 1 1 -1 0; i64[2,2] 0 2 1 0", NULL },
    { "topk", TOPK("0", "1", "true"), "f32[2,3] 1 5 3 4 2 3", "f32[1,3] 4 5 3; i64[1,3] 1 0 0",
      NULL },
    { "topk", TOPK("-1", "3", "true"), "f32[3] 1 nan inf", "f32[3] nan inf 1; i64[3] 1 2 0", NULL },
    { "topk", TOPK("-1", "3", "false"), "f32[3] nan 2 -inf", "f32[3] -inf 2 nan; i64[3] 2 1 0",
      NULL },
    { "topk", TOPK("0", "2", "true"), "i64[3] 9007199254740992 9007199254740993 1",
      "i64[2] 9007199254740993 9007199254740992; i64[2] 1 0", NULL },
    { "topk", TOPK("0", "1", "false"), "u64[2] 18446744073709551615 7", "u64[1] 7; i64[1] 1",
      NULL },
    { "topk", TOPK("0", "0", "true"), "f32[3] 1", "f32[0]; i64[0]", NULL },
    { "topk", TOPK("1", "0", "true"), "f32[2,0]", "f32[2,0]; i64[2,0]", NULL },
    { "topk", TOPK("1", "1", "true"), "f32[0,2]", "f32[0,1]; i64[0,1]", NULL },
    { "topk", TOPK("0", "4", "true"), "f32[3] 1", ";", "k is 4, axis 0 of shape 3 has 3" },
    { "topk", TOPK("0", "-1", "true"), "f32[3] 1", ";", "k is -1" },
    { "topk", TOPK("1", "1", "true"), "f32[3] 1", ";", "axis 1 is out of range for shape 3" },
    { "topk", TOPK("0", "1", "true"), "bool[3] 1", ";", "input 0 of topk is bool" },
};

static const struct op_case true_firsts[] = {
    { "true_first", "{k=7}", "bool[7] 0 1 1 0 0 1 0", "i64[7] 1 2 5 0 3 4 6", NULL },
    { "true_first", "{k=4}", "bool[7] 0 1 1 0 0 1 0", "i64[4] 1 2 5 0", NULL },
    { "true_first", "{k=2}", "bool[7] 0 1 1 0 0 1 0", "i64[2] 1 2", NULL },
    { "true_first", "{k=0}", "bool[2] 1", "i64[0]", NULL },
    { "true_first", "{k=4}", "bool[3] 1", "", "true_first: the first 4 of 3 elements" },
    { "true_first", "{k=1}", "i8[3] 1", "", "input 0 of true_first is i8" },
    { "true_first", "{k=1}", "bool[3,1] 1", "", "expected" },
};

static const struct op_case uniques[] = {
    { "unique", "{sorted=true}", "f32[5,1] 3 1 3 nan 1",
      "i64[5] 1 0 3 0 0; i64[5] 1 0 1 2 0; i64[5] 2 2 1 0 0; i64[1] 3", NULL },
    { "unique", "{sorted=false}", "f32[5,1] 3 1 3 nan nan",
      "i64[5] 0 1 3 0 0; i64[5] 0 1 0 2 2; i64[5] 2 1 2 0 0; i64[1] 3", NULL },
    { "unique", "{sorted=true}", "i8[4,2] 1 5 -1 9 1 2 -1 9",
      "i64[4] 1 2 0 0; i64[4] 2 0 1 0; i64[4] 2 1 1 0; i64[1] 3", NULL },
    { "unique", "{sorted=true}", "u64[2,1] 18446744073709551615 18446744073709551614",
      "i64[2] 1 0; i64[2] 1 0; i64[2] 1 1; i64[1] 2", NULL },
    { "unique", "{sorted=true}", "f64[2,1] 0 -0", "i64[2] 0 0; i64[2] 0 0; i64[2] 2 0; i64[1] 1",
      NULL },
    { "unique", "{sorted=true}", "f32[2,0]", "i64[2] 0 0; i64[2] 0 0; i64[2] 2 0; i64[1] 1", NULL },
    { "unique", "{sorted=false}", "f32[0,3]", "i64[0]; i64[0]; i64[0]; i64[1] 0", NULL },
    { "unique", "{sorted=true}", "f32[3] 1", ";;;", "expected" },
    { "unique", "{sorted=true}", "bool[3,1] 1", ";;;", "input 0 of unique is bool" },
};

START_TEST(reductions_are_exact_for_integers_and_defined_for_nothing)
{
    op_case_check(&reductions[_i]);
}
END_TEST

START_TEST(the_first_or_last_best_element_is_found)
{
    op_case_check(&args[_i]);
}
END_TEST

START_TEST(operators_along_an_axis_do_not_overflow)
{
    op_case_check(&along_axis[_i]);
}
END_TEST

START_TEST(true_elements_stand_in_front)
{
    op_case_check(&true_firsts[_i]);
}
END_TEST

START_TEST(kinds_of_rows_are_counted)
{
    op_case_check(&uniques[_i]);
}
END_TEST

START_TEST(equal_elements_rank_by_index)
{
    op_case_check(&topks[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops_reduce");
    TCase *tcase = tcase_create("ops_reduce");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, reductions_are_exact_for_integers_and_defined_for_nothing, 0,
                        N_ROWS(reductions));
    tcase_add_loop_test(tcase, the_first_or_last_best_element_is_found, 0, N_ROWS(args));
    tcase_add_loop_test(tcase, operators_along_an_axis_do_not_overflow, 0, N_ROWS(along_axis));
    tcase_add_loop_test(tcase, equal_elements_rank_by_index, 0, N_ROWS(topks));
    tcase_add_loop_test(tcase, true_elements_stand_in_front, 0, N_ROWS(true_firsts));
    tcase_add_loop_test(tcase, kinds_of_rows_are_counted, 0, N_ROWS(uniques));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
