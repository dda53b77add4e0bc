#include <check.h>
#include <stdlib.h>

#include "tests/support/op_case.h"

/* Values: 40-digit arithmetic, rounded to double. */
static const struct op_case math[] = {
    { "acos", "", "f64[5] -1 -0.5 0 0.75 1",
      "f64[5] 3.141592653589793 2.0943951023931957 1.5707963267948966 0.7227342478134157 0", NULL },
    { "acosh", "", "f64[3] 1 1.5 3", "f64[3] 0 0.9624236501192069 1.762747174039086", NULL },
    { "asin", "", "f64[5] -1 -0.5 0 0.75 1",
      "f64[5] -1.5707963267948966 -0.5235987755982989 0 0.848062078981481 1.5707963267948966",
      NULL },
    { "asinh", "", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] -1.4436354751788103 -0.48121182505960347 0 0.6931471805599453 1.8184464592320668",
      NULL },
    { "atan", "", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] -1.1071487177940904 -0.4636476090008061 0 0.6435011087932844 1.2490457723982544",
      NULL },
    { "atanh", "", "f64[3] -0.5 0 0.75", "f64[3] -0.5493061443340549 0 0.9729550745276566", NULL },
    { "cos", "", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] -0.4161468365471424 0.8775825618903728 1 0.7316888688738209 -0.9899924966004454",
      NULL },
    { "cosh", "", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] 3.7621956910836314 1.1276259652063807 1 1.2946832846768448 10.067661995777765",
      NULL },
    { "erf", "", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] -0.9953222650189527 -0.5204998778130465 0 0.7111556336535151 0.9999779095030014",
      NULL },
    { "exp", "", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] 0.1353352832366127 0.6065306597126334 1 2.117000016612675 20.085536923187668", NULL },
    { "log", "", "f64[4] 0.25 1 2.5 10",
      "f64[4] -1.3862943611198906 0 0.9162907318741551 2.302585092994046", NULL },
    { "rsqrt", "", "f64[3] 0.25 2 9", "f64[3] 2 0.7071067811865476 0.3333333333333333", NULL },
    { "reciprocal", "", "f64[3] -2 0.5 3", "f64[3] -0.5 2 0.3333333333333333", NULL },
    { "sigmoid", "", "f64[6] -2 -0.5 0 0.75 3 -40",
      "f64[6] 0.11920292202211756 0.37754066879814546 0.5 0.679178699175393 0.9525741268224333 "
      "4.248354255291589e-18",
      NULL },
    { "sin", "", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] -0.9092974268256817 -0.479425538604203 0 0.6816387600233341 0.1411200080598672",
      NULL },
    { "sinh", "", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] -3.6268604078470186 -0.5210953054937474 0 0.82231673193583 10.017874927409903",
      NULL },
    { "sqrt", "", "f64[3] 0 0.25 2", "f64[3] 0 0.5 1.4142135623730951", NULL },
    { "tan", "", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] 2.185039863261519 -0.5463024898437905 0 0.9315964599440725 -0.1425465430742778",
      NULL },
    { "tanh", "", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] -0.9640275800758169 -0.46211715726000974 0 0.6351489523872873 0.9950547536867305",
      NULL },
    { "nn.softplus", "", "f64[7] -2 -0.5 0 0.75 3 -40 800",
      "f64[7] 0.1269280110429725 0.4740769841801067 0.6931471805599453 1.1368710061148999 "
      "3.048587351573742 4.248354255291589e-18 800",
      NULL },
    { "nn.softsign", "", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] -0.6666666666666666 -0.3333333333333333 0 0.42857142857142855 0.75", NULL },
    { "nn.mish", "", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] -0.2525014826957089 -0.22074377465173 0 0.6100183352182934 2.9865350049679575",
      NULL },
    { "nn.silu", "", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] -0.23840584404423512 -0.18877033439907273 0 0.5093840243815447 2.8577223804672998",
      NULL },
    { "nn.gelu", "{approximate=\"none\"}", "f64[6] -2 -0.5 0 0.75 3 -4",
      "f64[6] -0.04550026389635842 -0.15426876936299344 0 0.5800294857173488 2.99595030590511 "
      "-0.0001266849673324797",
      NULL },
    { "nn.gelu", "{approximate=\"tanh\"}", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] -0.04540230591222498 -0.15428599017485609 0 0.5799605551656203 2.996362607918227",
      NULL },
    { "nn.elu", "{alpha=0.5, beta=0}", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] -0.43233235838169365 -0.1967346701436833 0 0.75 3", NULL },
    { "nn.celu", "{alpha=2, beta=0}", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] -1.2642411176571153 -0.44239843385719024 0 0.75 3", NULL },
    { "nn.selu", "{alpha=1.5, beta=2}", "f64[5] -2 -0.5 0 0.75 3",
      "f64[5] -2.593994150290162 -1.1804080208620997 0 1.5 6", NULL },
};

/* Values by hand. */
static const struct op_case exact[] = {
    { "abs", "", "f32[4] -1.5 0 2 -inf", "f32[4] 1.5 0 2 inf", NULL },
    { "abs", "", "i8[3] -128 -1 5", "i8[3] -128 1 5", NULL }, /* wraps */
    { "abs", "", "u64[1] 18446744073709551615", "u64[1] 18446744073709551615", NULL },
    { "abs", "", "i64[1] -9007199254740993", "i64[1] 9007199254740993", NULL },
    { "bitwise_not", "", "u8[2] 0 0x0f", "u8[2] 255 0xf0", NULL },
    { "bitwise_not", "", "i64[2] 0 -5", "i64[2] -1 4", NULL },
    { "ceil", "", "f32[4] -1.5 0.2 2 -0.2", "f32[4] -1 1 2 -0", NULL },
    { "clip", "{a_min=-1, a_max=2}", "f32[4] -3 0.5 7 nan", "f32[4] -1 0.5 2 nan", NULL },
    { "clip", "{a_min=-inf, a_max=2}", "f32[3] -inf 0.5 7", "f32[3] -inf 0.5 2", NULL },
    { "clip", "{a_min=3, a_max=2}", "f32[3] 0 2.5 7", "f32[3] 2 2 2", NULL }, /* max wins */
    { "clip", "{a_min=-inf, a_max=inf}", "i64[2] -9223372036854775808 9223372036854775807",
      "i64[2] -9223372036854775808 9223372036854775807", NULL },
    { "clip", "{a_min=-0.5, a_max=2.5}", "i32[4] -7 0 2 3", "i32[4] 0 0 2 2", NULL },
    { "clip", "{a_min=2, a_max=9}", "u64[2] 0 18446744073709551615", "u64[2] 2 9", NULL },
    { "copy", "", "f8e4m3[2] 0x7f 3", "f8e4m3[2] 0x7f 3", NULL },
    { "copy", "", "bool[] 1", "bool[] 1", NULL },
    { "floor", "", "f64[4] -1.5 0.2 2 -0.2", "f64[4] -2 0 2 -1", NULL },
    { "logical_not", "", "bool[2] 0 1", "bool[2] 1 0", NULL },
    { "negative", "", "i8[3] 1 -128 -3", "i8[3] -1 -128 3", NULL },
    { "negative", "", "f32[3] 1 0 inf", "f32[3] -1 -0 -inf", NULL },
    { "nn.hard_sigmoid", "{alpha=0.25, beta=0.5}", "f32[5] -3 -1 0 1 nan",
      "f32[5] 0 0.25 0.5 0.75 nan", NULL },
    { "nn.hard_swish", "", "f32[4] -4 -1.5 3 6", "f32[4] -0 -0.375 3 6", NULL },
    { "nn.leaky_relu", "{alpha=0.25, beta=0}", "f32[3] -4 0 3", "f32[3] -1 0 3", NULL },
    { "nn.relu", "", "f32[5] -1 0 2 nan -inf", "f32[5] 0 0 2 nan 0", NULL },
    { "nn.relu", "", "i16[2] -1 3", "i16[2] 0 3", NULL },
    { "nn.relu", "", "f32[0,3]", "f32[0,3]", NULL },
    { "nn.relu", "", "f16[3] -1 65504 6e-8", "f16[3] 0 65504 6e-8", NULL },
    { "nn.shrink", "{alpha=1.5, beta=0.5}", "f32[5] -2 -1.5 0 1.5 3", "f32[5] -1.5 0 0 0 2.5",
      NULL },
    { "nn.shrink", "{alpha=1, beta=1}", "i32[3] -3 1 3", "i32[3] -2 0 2", NULL },
    { "nn.shrink", "{alpha=1, beta=1}", "f32[1] nan", "f32[1] 0", NULL },
    { "nn.thresholded_relu", "{alpha=1, beta=0}", "f32[3] 1 1.5 -3", "f32[3] 0 1.5 0", NULL },
    { "round", "", "f32[6] 0.5 1.5 2.5 -0.5 -1.5 2.6", "f32[6] 0 2 2 -0 -2 3", NULL },
    { "sign", "", "f32[4] -3 0 5 nan", "f32[4] -1 0 1 nan", NULL },
    { "sign", "", "i64[3] -9223372036854775808 0 4", "i64[3] -1 0 1", NULL },
    { "sign", "", "u64[2] 0 18446744073709551615", "u64[2] 0 1", NULL },
    { "sqrt", "", "f32[2] -1 inf", "f32[2] nan inf", NULL },
    { "log", "", "f32[2] 0 -1", "f32[2] -inf nan", NULL },
    { "exp", "", "f16[2] 20 1", "f16[2] inf 2.71875", NULL },
    { "exp", "", "bf16[2] 1 0", "bf16[2] 2.71875 1", NULL },
    { "isnan", "", "f32[3] 0 nan inf", "bool[3] 0 1 0", NULL },
    { "isfinite", "", "f16[3] 0 nan inf", "bool[3] 1 0 0", NULL },
    { "isinf", "{detect_negative=true, detect_positive=true}", "f32[4] inf -inf 1 nan",
      "bool[4] 1 1 0 0", NULL },
    { "isinf", "{detect_negative=false, detect_positive=true}", "f32[2] inf -inf", "bool[2] 1 0",
      NULL },
    { "isinf", "{detect_negative=true, detect_positive=false}", "f64[2] inf -inf", "bool[2] 0 1",
      NULL },
};

/* Floats keep their fraction, so they are cut; integers wrap. */
static const struct op_case casts[] = {
    { "cast", "{dtype=i32, saturate=true}", "f32[5] 1.9 -1.9 nan 1e10 -inf",
      "i32[5] 1 -1 0 2147483647 -2147483648", NULL },
    { "cast", "{dtype=i64, saturate=true}",
      "f64[4] 1e300 -1e300 9223372036854775808 2251799813685249.5",
      "i64[4] 9223372036854775807 -9223372036854775808 9223372036854775807 2251799813685249",
      NULL },
    { "cast", "{dtype=u64, saturate=true}", "f64[4] -1 1e300 1.8e19 nan",
      "u64[4] 0 18446744073709551615 18000000000000000000 0", NULL },
    { "cast", "{dtype=u8, saturate=true}", "f32[4] -1.5 -0.5 255.9 300", "u8[4] 0 0 255 255",
      NULL },
    { "cast", "{dtype=i8, saturate=true}", "f16[2] -130 127.5", "i8[2] -128 127", NULL },
    { "cast", "{dtype=bool, saturate=true}", "f32[4] 0 -0 0.25 nan", "bool[4] 0 0 1 1", NULL },
    { "cast", "{dtype=bool, saturate=true}", "i64[2] 0 4294967296", "bool[2] 0 1", NULL },
    { "cast", "{dtype=u8, saturate=true}", "i32[3] 256 -1 511", "u8[3] 0 255 255", NULL },
    { "cast", "{dtype=i64, saturate=true}", "u64[1] 18446744073709551615", "i64[1] -1", NULL },
    { "cast", "{dtype=u64, saturate=true}", "i8[1] -1", "u64[1] 18446744073709551615", NULL },
    { "cast", "{dtype=f32, saturate=true}", "bool[2] 0 1", "f32[2] 0 1", NULL },
    { "cast", "{dtype=f64, saturate=true}", "u64[1] 18446744073709551615",
      "f64[1] 18446744073709551616", NULL },
    /* half way between two floats with one bit more, which a detour over double would lose */
    { "cast", "{dtype=f32, saturate=true}", "i64[1] 9007199791611905", "f32[1] 9007200328482816",
      NULL },
    { "cast", "{dtype=f32, saturate=true}", "i64[1] -9007199791611905", "f32[1] -9007200328482816",
      NULL },
    { "cast", "{dtype=f32, saturate=true}", "i64[1] 9007199791611904", "f32[1] 9007199254740992",
      NULL },
    { "cast", "{dtype=bf16, saturate=true}", "i32[3] 257 259 16842753", "bf16[3] 256 260 16908288",
      NULL },
    { "cast", "{dtype=bf16, saturate=true}", "f64[1] 1.003906250000001", "bf16[1] 1.0078125",
      NULL },
    { "cast", "{dtype=f16, saturate=true}", "f32[5] 2049 2051 65519 65520 3e-8",
      "f16[5] 2048 2052 65504 inf 6e-8", NULL },
    { "cast", "{dtype=f16, saturate=true}", "i64[1] 65520", "f16[1] inf", NULL },
    { "cast", "{dtype=f32, saturate=true}", "f64[1] 1e300", "f32[1] inf", NULL },
    { "cast", "{dtype=f32, saturate=true}", "f32[2,0]", "f32[2,0]", NULL },
    /* FP8, by its codes: ties, the greatest number, beyond, and what integers and doubles lose */
    { "cast", "{dtype=f8e4m3, saturate=true}", "f32[8] 1 -0.0 1.0625 1.1875 448 464 465 -inf",
      "f8e4m3[8] 0x38 0x80 0x38 0x3a 0x7e 0x7e 0x7e 0xfe", NULL },
    { "cast", "{dtype=f8e4m3, saturate=false}", "f32[4] 464 465 -inf nan",
      "f8e4m3[4] 0x7e 0x7f 0xff 0x7f", NULL },
    { "cast", "{dtype=f8e5m2, saturate=true}", "f32[3] inf nan 1e9", "f8e5m2[3] 0x7b 0x7f 0x7b",
      NULL },
    { "cast", "{dtype=f8e5m2, saturate=false}", "f32[3] inf nan -1e9", "f8e5m2[3] 0x7c 0x7f 0xfc",
      NULL },
    { "cast", "{dtype=f8e4m3fnuz, saturate=true}", "f32[4] -0.0 -1e-9 nan 1e9",
      "f8e4m3fnuz[4] 0 0 0x80 0x7f", NULL },
    { "cast", "{dtype=f8e5m2fnuz, saturate=false}", "f32[2] 1 -1e9", "f8e5m2fnuz[2] 0x40 0x80",
      NULL },
    { "cast", "{dtype=f8e4m3, saturate=true}", "f64[2] 1.0625 1.06250000000001",
      "f8e4m3[2] 0x38 0x39", NULL },
    { "cast", "{dtype=f8e5m2, saturate=true}", "i64[3] 36 37 -9223372036854775807",
      "f8e5m2[3] 0x50 0x51 0xfb", NULL },
    { "cast", "{dtype=f8e5m2, saturate=true}", "bool[2] 1 0", "f8e5m2[2] 0x3c 0", NULL },
    { "cast", "{dtype=f32, saturate=true}", "f8e4m3[5] 0x38 0x01 0xfe 0x7f 0x80",
      "f32[5] 1 0.001953125 -448 nan -0.0", NULL },
    { "cast", "{dtype=f16, saturate=true}", "f8e5m2[3] 0x7c 0x01 0xfb", "f16[3] inf 0x1p-16 -57344",
      NULL },
    { "cast", "{dtype=i8, saturate=true}", "f8e4m3[5] 0x3e 0xbe 0x7e 0xfe 0x7f",
      "i8[5] 1 -1 127 -128 0", NULL },
    { "cast", "{dtype=bool, saturate=true}", "f8e4m3[4] 0 0x80 0x01 0x7f", "bool[4] 0 0 1 1",
      NULL },
    { "cast", "{dtype=f8e5m2, saturate=true}", "f8e4m3[3] 0x39 0x7f 0x7e",
      "f8e5m2[3] 0x3c 0x7f 0x5f", NULL },
};

static const struct op_case errors[] = {
    { "exp", "", "i32[2] 1", "", "input 0 of exp is i32, expected a floating-point type" },
    { "bitwise_not", "", "f32[2] 1", "", "expected an integer type" },
    { "logical_not", "", "i8[2] 1", "", "input 0 of logical_not is i8, expected bool" },
    { "nn.relu", "", "bool[2] 1", "", "expected a floating-point or integer type" },
    { "negative", "", "u8[2] 1", "", "expected a floating-point or signed integer type" },
    { "nn.gelu", "{approximate=\"erf\"}", "f32[2] 1", "",
      "approximate is \"erf\", expected one of \"none\", \"tanh\"" },
    { "isnan", "", "i32[2] 1", "", "expected a floating-point type" },
    { "abs", "", "f8e5m2[2] 1", "", "input 0 of abs is f8e5m2" },
    { "abs", "", "f32[2] 1; f32[2] 1", "", "abs has 2 inputs" },
    { "abs", "", "_", "", "input 0 of abs is missing" },
};

START_TEST(math_functions_are_right_to_the_last_places)
{
    op_case_check(&math[_i]);
}
END_TEST

START_TEST(values_known_exactly_come_out_exactly)
{
    op_case_check(&exact[_i]);
}
END_TEST

START_TEST(casts_truncate_saturate_wrap_and_round_once)
{
    op_case_check(&casts[_i]);
}
END_TEST

START_TEST(wrong_types_and_attributes_are_errors)
{
    op_case_check(&errors[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops_unary");
    TCase *tcase = tcase_create("ops_unary");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, math_functions_are_right_to_the_last_places, 0, N_ROWS(math));
    tcase_add_loop_test(tcase, values_known_exactly_come_out_exactly, 0, N_ROWS(exact));
    tcase_add_loop_test(tcase, casts_truncate_saturate_wrap_and_round_once, 0, N_ROWS(casts));
    tcase_add_loop_test(tcase, wrong_types_and_attributes_are_errors, 0, N_ROWS(errors));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
