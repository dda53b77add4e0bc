#include <check.h>
#include <stdlib.h>

#include "tests/support/op_case.h"

#define NORM(axis, groups, epsilon) "{axis=" axis ", groups=" groups ", epsilon=" epsilon "}"
#define LRN(size, alpha, beta, bias)                                                               \
    "{size=" size ", alpha=" alpha ", beta=" beta ", bias=" bias "}"

static const struct op_case norms[] = {
    { "nn.batch_norm", "{axis=1, epsilon=0}",
      "f32[1,2,1,2] 1 2 3 4; f32[2] 2 1; f32[2] 0.5 0; f32[2] 1 3; f32[2] 4 1",
      "f32[1,2,1,2] 0.5 1.5 0 1", NULL },
    { "nn.batch_norm", "{axis=-1, epsilon=3}",
      "f64[2,2] 1 2 3 4; f64[2] 1 2; f64[2] 0; f64[2] 0; f64[2] 1 6",
      "f64[2,2] 0.5 1.3333333333333333 "
      "1.5 2.6666666666666667",
      NULL },
    { "nn.batch_norm", "{axis=0, epsilon=0}", "f16[1] 3; f16[1] 1; f16[1] 0; f16[1] 1; f16[1] 1",
      "f16[1] 2", NULL },
    { "nn.instance_norm", NORM("1", "0", "0"), "f32[1,2,2] 1 3 10 30; f32[2] 2 1; f32[2] 1 0",
      "f32[1,2,2] -1 3 -1 1", NULL },
    { "nn.instance_norm", NORM("1", "0", "1"), "f32[2,1,2] 5 5 0 4; f32[1] 1; f32[1] 0",
      "f32[2,1,2] 0 0 -0.89442719 0.89442719", NULL },
    { "nn.group_norm", NORM("1", "2", "0"), "f32[1,4,1] 1 3 5 9; f32[4] 1 2 3 4; f32[4] 0 0 0 1",
      "f32[1,4,1] -1 2 -3 5", NULL },
    { "nn.group_norm", NORM("1", "1", "0"), "f32[2,2,1,2] 0 0 4 4 1 1 5 5; f32[2] 1; f32[2] 0",
      "f32[2,2,1,2] -1 -1 1 1 -1 -1 1 1", NULL },
    { "nn.group_norm", NORM("1", "2", "0"), "f64[1,4] 1 3 5 9; f64[4] 1; f64[4] 0",
      "f64[1,4] -1 1 -1 1", NULL },
    { "nn.layer_norm", NORM("1", "0", "0"), "f32[2,2] 1 3 5 9; f32[2] 1 2; f32[2] 10 20",
      "f32[2,2] 9 22 9 22", NULL },
    { "nn.layer_norm", NORM("-1", "0", "0"), "f32[2,2] 1 3 5 9; f32[2] 1 2", "f32[2,2] -1 2 -1 2",
      NULL },
    { "nn.layer_norm", NORM("0", "0", "0"), "f32[2,2] 0 0 4 4; f32[2,2] 1 2 3 4; _",
      "f32[2,2] -1 -2 3 4", NULL },
    { "nn.layer_norm", NORM("1", "0", "0"), "f32[2,0]; f32[0]", "f32[2,0]", NULL },
    { "nn.batch_norm", "{axis=1, epsilon=0}", "f32[0,2]; f32[2] 1; f32[2] 1; f32[2] 1; f32[2] 1",
      "f32[0,2]", NULL },
    /* f32 sums of squares would see no variance here. */
    { "nn.layer_norm", NORM("0", "0", "0"), "f32[2] 16777216 16777218; f32[2] 1", "f32[2] -1 1",
      NULL },
};

static const struct op_case norm_errors[] = {
    { "nn.batch_norm", "{axis=1, epsilon=0}", "f32[1,2] 1; f32[3] 1; f32[2] 1; f32[2] 1; f32[2] 1",
      "", "nn.batch_norm: scale has 3 elements, x has 2 channels" },
    { "nn.batch_norm", "{axis=1, epsilon=0}", "f32[1,2] 1; f32[2] 1; f32[2] 1; f32[2] 1; f32[1] 1",
      "", "variance has 1 elements" },
    { "nn.batch_norm", "{axis=1, epsilon=0}",
      "f32[1,2] 1; f32[2] 1; f32[2] 1; f32[2,1] 1; f32[2] 1", "",
      "input 3 of nn.batch_norm has shape" },
    { "nn.batch_norm", "{axis=1, epsilon=0}", "f32[1,2] 1; f32[2] 1; f64[2] 1; f32[2] 1; f32[2] 1",
      "", "expected one type for both" },
    { "nn.batch_norm", "{axis=2, epsilon=0}", "f32[1,2] 1; f32[2] 1; f32[2] 1; f32[2] 1; f32[2] 1",
      "", "axis 2 is out of range" },
    { "nn.batch_norm", "{axis=1, epsilon=0}", "i32[1,2] 1; i32[2] 1; i32[2] 1; i32[2] 1; i32[2] 1",
      "", "is i32, expected" },
    { "nn.instance_norm", NORM("2", "0", "0"), "f32[1,2,2,2] 1; f32[2] 1; f32[2] 1", "",
      "the channels are axis 2, expected axis 1 or the last" },
    { "nn.instance_norm", NORM("1", "0", "0"), "f32[1,2,2] 1; f32[2] 1; f32[3] 1", "",
      "bias has 3 elements, x has 2 channels" },
    { "nn.instance_norm", NORM("0", "0", "0"), "f32[2] 1; f32[2] 1; f32[2] 1", "",
      "expected rank 2 or more" },
    { "nn.group_norm", NORM("1", "3", "0"), "f32[1,4,1] 1; f32[4] 1; f32[4] 1", "",
      "3 groups do not divide 4 channels" },
    { "nn.group_norm", NORM("1", "0", "0"), "f32[1,4,1] 1; f32[4] 1; f32[4] 1", "",
      "0 groups do not divide 4 channels" },
    { "nn.layer_norm", NORM("1", "0", "0"), "f32[2,3] 1; f32[1] 1", "",
      "scale has shape 1, expected 3, the dimensions of x from axis 1 on" },
    { "nn.layer_norm", NORM("0", "0", "0"), "f32[2,3] 1; f32[2,3] 1; f32[3] 1", "",
      "bias has shape 3, expected 2x3" },
    { "nn.layer_norm", NORM("-3", "0", "0"), "f32[2,3] 1; f32[3] 1", "",
      "axis -3 is out of range" },
};

static const struct op_case neighbours[] = {
    { "nn.lrn", LRN("3", "3", "1", "1"), "f64[1,3,1] 1 2 3",
      "f64[1,3,1] 0.16666666666666667 0.13333333333333333 0.21428571428571429", NULL },
    { "nn.lrn", LRN("2", "2", "1", "1"), "f32[1,3] 1 2 3", "f32[1,3] 0.16666667 0.14285714 0.3",
      NULL },
    { "nn.lrn", LRN("1", "1", "0.5", "0"), "f32[2,1,2] 3 -4 5 6", "f32[2,1,2] 1 -1 1 1", NULL },
    { "nn.lrn", LRN("99", "99", "1", "0"), "f32[1,2,2] 1 2 3 4", "f32[1,2,2] 0.1 0.1 0.3 0.2",
      NULL },
    { "nn.lrn", LRN("0", "1", "1", "1"), "f32[1,2] 1", "", "size is 0, expected 1 to" },
    { "nn.lrn", LRN("1", "1", "1", "1"), "f32[2] 1", "", "expected rank 2 or more" },
    { "nn.lrn", LRN("1", "1", "1", "1"), "i8[2,2] 1", "", "is i8, expected" },
    { "nn.lp_normalize", "{axis=-1, p=2}", "f32[2,2] 3 4 0 0", "f32[2,2] 0.6 0.8 0 0", NULL },
    { "nn.lp_normalize", "{axis=0, p=1}", "f64[2,2] 1 -2 3 6", "f64[2,2] 0.25 -0.25 0.75 0.75",
      NULL },
    { "nn.lp_normalize", "{axis=1, p=2}", "f32[1,2,2] 3 5 4 12",
      "f32[1,2,2] 0.6 0.38461538 0.8 "
      "0.92307692",
      NULL },
    { "nn.lp_normalize", "{axis=0, p=3}", "f32[2] 1", "", "p is 3, expected 1 or 2" },
    { "nn.lp_normalize", "{axis=1, p=2}", "f32[2] 1", "", "axis 1 is out of range" },
};

START_TEST(norms_by_hand)
{
    op_case_check(&norms[_i]);
}
END_TEST

START_TEST(parameters_that_do_not_fit_are_reported)
{
    op_case_check(&norm_errors[_i]);
}
END_TEST

START_TEST(elements_are_divided_by_their_neighbours)
{
    op_case_check(&neighbours[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops_norm");
    TCase *tcase = tcase_create("ops_norm");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, norms_by_hand, 0, N_ROWS(norms));
    tcase_add_loop_test(tcase, parameters_that_do_not_fit_are_reported, 0, N_ROWS(norm_errors));
    tcase_add_loop_test(tcase, elements_are_divided_by_their_neighbours, 0, N_ROWS(neighbours));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
