#include <check.h>
#include <stdlib.h>

#include "tests/support/op_case.h"

static const struct op_case arithmetic[] = {
    { "add", "", "f32[2,3] 1 2 3 4 5 6; f32[3] 10 20 30", "f32[2,3] 11 22 33 14 25 36", NULL },
    { "add", "", "f32[2,1] 1 2; f32[1,3] 10 20 30", "f32[2,3] 11 21 31 12 22 32", NULL },
    { "add", "", "f32[] 1; f32[2,2] 1 2 3 4", "f32[2,2] 2 3 4 5", NULL },
    { "add", "", "f32[] 1; f32[] 2", "f32[] 3", NULL },
    { "add", "", "f32[0,3]; f32[1,3] 1", "f32[0,3]", NULL },
    { "add", "", "f32[1,3] 1; f32[0,1]", "f32[0,3]", NULL },
    { "add", "", "i8[2] 127 -128; i8[2] 1 -1", "i8[2] -128 127", NULL }, /* wraps */
    { "add", "", "i64[1] 9007199254740993; i64[1] 1", "i64[1] 9007199254740994", NULL },
    { "subtract", "", "u8[2] 0 5; u8[2] 1 3", "u8[2] 255 2", NULL },
    { "subtract", "", "f64[1] inf; f64[1] inf", "f64[1] nan", NULL },
    { "multiply", "", "i64[1] 4294967297; i64[1] 4294967296", "i64[1] 4294967296", NULL },
    { "multiply", "", "u64[1] 18446744073709551615; u64[1] 2", "u64[1] 18446744073709551614",
      NULL },
    { "multiply", "", "f16[2] 300 0.1; f16[2] 300 3", "f16[2] inf 0.2999267578125", NULL },
    { "divide", "", "i32[5] 7 -7 7 -7 1; i32[5] 2 2 -2 -2 0", "i32[5] 3 -3 -3 3 0", NULL },
    { "divide", "", "i64[1] -9223372036854775808; i64[1] -1", "i64[1] -9223372036854775808", NULL },
    { "divide", "", "u64[1] 18446744073709551615; u64[1] 2", "u64[1] 9223372036854775807", NULL },
    { "divide", "", "f32[4] 1 -1 0 1; f32[4] 0 0 0 3", "f32[4] inf -inf nan 0.333333343", NULL },
    { "mod", "", "i32[5] 7 -7 7 -7 7; i32[5] 3 3 -3 -3 0", "i32[5] 1 -1 1 -1 0", NULL },
    { "mod", "", "f32[4] 7.5 -7.5 7.5 1; f32[4] 2 2 -2 0", "f32[4] 1.5 -1.5 1.5 nan", NULL },
    { "mod", "", "i64[1] -9223372036854775808; i64[1] -1", "i64[1] 0", NULL },
    { "floor_mod", "", "i32[6] 7 -7 7 -7 7 -6; i32[6] 3 3 -3 -3 0 3", "i32[6] 1 2 -2 -1 0 0",
      NULL },
    { "floor_mod", "", "u64[1] 18446744073709551615; u64[1] 10", "u64[1] 5", NULL },
    { "floor_mod", "", "f32[4] 7.5 -7.5 7.5 -4; f32[4] 2 2 -2 -2", "f32[4] 1.5 0.5 -0.5 -0", NULL },
    { "power", "", "i64[6] 3 2 -2 7 0 10; i64[6] 39 63 63 0 0 18",
      "i64[6] 4052555153018976267 -9223372036854775808 -9223372036854775808 1 1 "
      "1000000000000000000",
      NULL },
    { "power", "", "i32[6] 1 -1 -1 2 0 -3; i32[6] -5 -3 -4 -1 -2 -1", "i32[6] 1 -1 1 0 0 0", NULL },
    { "power", "", "u8[2] 2 3; u8[2] 8 5", "u8[2] 0 243", NULL }, /* modulo 256 */
    { "power", "", "f32[5] 2 -8 0 4 -2; f32[5] 0.5 3 0 -1 0.5", "f32[5] 1.41421354 -512 1 0.25 nan",
      NULL },
    { "maximum", "", "f32[4] 1 nan 3 -inf; f32[4] 2 1 nan 0", "f32[4] 2 nan nan 0", NULL },
    { "minimum", "", "f32[4] 1 nan 3 inf; f32[4] 2 1 nan 0", "f32[4] 1 nan nan 0", NULL },
    { "maximum", "", "u64[1] 18446744073709551615; u64[1] 1", "u64[1] 18446744073709551615", NULL },
    { "minimum", "", "i8[2,1] -5 3; i8[2] 0 -9", "i8[2,2] -5 -9 0 -9", NULL },
    { "nn.prelu", "", "f32[2,2] -1 2 -3 4; f32[2] 0.5 0.25", "f32[2,2] -0.5 2 -1.5 4", NULL },
    { "nn.prelu", "", "i32[3] -2 2 -3; i32[1] 3", "i32[3] -6 2 -9", NULL },
    { "nn.bias_add", "{axis=1}", "f32[1,2,2] 1 2 3 4; f32[2] 10 20", "f32[1,2,2] 11 12 23 24",
      NULL },
    { "nn.bias_add", "{axis=-1}", "i32[2,2] 1 2 3 4; i32[2] 10 20", "i32[2,2] 11 22 13 24", NULL },
};

static const struct op_case bits[] = {
    { "bitwise_and", "", "u8[2] 0x0f 0xff; u8[2] 0x3c 0x80", "u8[2] 0x0c 0x80", NULL },
    { "bitwise_or", "", "i32[2] 1 -2; i32[2] 6 1", "i32[2] 7 -1", NULL },
    { "bitwise_xor", "", "i64[2] 5 -1; i64[2] 3 1", "i64[2] 6 -2", NULL },
    { "left_shift", "", "u8[4] 1 0x81 1 1; u8[4] 3 1 8 255", "u8[4] 8 2 0 0", NULL },
    { "left_shift", "", "u64[2] 1 3; u64[2] 63 64", "u64[2] 9223372036854775808 0", NULL },
    { "left_shift", "", "i32[3] -1 1 1; i32[3] 4 31 -1", "i32[3] -16 -2147483648 0", NULL },
    { "right_shift", "", "u64[2] 18446744073709551615 1; u64[2] 60 99", "u64[2] 15 0", NULL },
    { "right_shift", "", "i32[4] -5 -1 5 -5; i32[4] 1 31 32 32", "i32[4] -3 -1 0 -1", NULL },
    { "right_shift", "", "i64[1] -9223372036854775808; i64[1] 63", "i64[1] -1", NULL },
    { "logical_and", "", "bool[2,1] 0 1; bool[2] 0 1", "bool[2,2] 0 0 0 1", NULL },
    { "logical_or", "", "bool[2,1] 0 1; bool[2] 0 1", "bool[2,2] 0 1 1 1", NULL },
    { "logical_xor", "", "bool[2,1] 0 1; bool[2] 0 1", "bool[2,2] 0 1 1 0", NULL },
};

static const struct op_case choices[] = {
    { "equal", "", "f32[5] 1 2 nan inf 0; f32[5] 1 3 nan inf -0", "bool[5] 1 0 0 1 1", NULL },
    { "not_equal", "", "f32[3] 1 2 nan; f32[3] 1 3 nan", "bool[3] 0 1 1", NULL },
    { "less", "", "f32[4] 1 2 3 nan; f32[1] 2", "bool[4] 1 0 0 0", NULL },
    { "less_equal", "", "f32[4] 1 2 3 nan; f32[1] 2", "bool[4] 1 1 0 0", NULL },
    { "greater", "", "f32[4] 1 2 3 nan; f32[1] 2", "bool[4] 0 0 1 0", NULL },
    { "greater_equal", "", "f32[4] 1 2 3 nan; f32[1] 2", "bool[4] 0 1 1 0", NULL },
    { "equal", "", "i64[1] 9007199254740993; i64[1] 9007199254740992", "bool[1] 0", NULL },
    { "equal", "", "bool[2] 0 1; bool[2] 1", "bool[2] 0 1", NULL },
    { "less", "", "u64[2] 1 18446744073709551615; u64[1] 9223372036854775808", "bool[2] 1 0",
      NULL },
    { "less", "", "i64[1] -1; i64[1] 0", "bool[1] 1", NULL },
    { "where", "", "bool[2] 1 0; f32[2] 1 2; f32[2] 3 4", "f32[2] 1 4", NULL },
    { "where", "", "bool[2,1] 1 0; i64[3] 1 2 3; i64[] 9007199254740993",
      "i64[2,3] 1 2 3 9007199254740993 9007199254740993 9007199254740993", NULL },
    { "where", "", "bool[2,2] 1 0 0 1; f8e4m3[] 0x7f; f8e4m3[] 1", "f8e4m3[2,2] 0x7f 1 1 0x7f",
      NULL },
    { "where", "", "bool[0]; f32[1] 1; f32[] 2", "f32[0]", NULL },
};

static const struct op_case errors[] = {
    { "add", "", "f32[2] 1; f32[3] 1", "", "add: shapes 2 and 3 do not broadcast" },
    { "add", "", "f32[0]; f32[3] 1", "", "add: shapes 0 and 3 do not broadcast" },
    { "add", "", "f32[2] 1; f64[2] 1", "", "inputs 0 and 1 of add are f32 and f64" },
    { "add", "", "bool[2] 1; bool[2] 1", "", "input 0 of add is bool" },
    { "add", "", "f32[2] 1", "", "add has 1 inputs, expected 2" },
    { "add", "", "f32[2] 1; _", "", "input 1 of add is missing" },
    { "bitwise_and", "", "f32[2] 1; f32[2] 1", "", "expected an integer type" },
    { "left_shift", "", "f32[2] 1; f32[2] 1", "", "expected an integer type" },
    { "logical_and", "", "i32[2] 1; i32[2] 1", "", "input 0 of logical_and is i32, expected bool" },
    { "less", "", "bool[2] 1; bool[2] 1", "", "expected a floating-point or integer type" },
    { "equal", "", "f8e4m3[2] 1; f8e4m3[2] 1", "", "input 0 of equal is f8e4m3" },
    { "where", "", "f32[2] 1; f32[2] 1; f32[2] 1", "", "input 0 of where is f32, expected bool" },
    { "where", "", "bool[2] 1; f32[2] 1; i32[2] 1", "", "inputs 1 and 2 of where are f32 and i32" },
    { "where", "", "bool[3] 1; f32[2] 1; f32[1] 1", "", "where: shapes 3 and 2 do not broadcast" },
    { "nn.prelu", "", "f32[2] 1; f32[3,2] 1", "", "slope of shape 3x2 does not broadcast to x" },
    { "nn.bias_add", "{axis=2}", "f32[2,2] 1; f32[2] 1", "",
      "axis 2 is out of range for shape 2x2" },
    { "nn.bias_add", "{axis=1}", "f32[2,3] 1; f32[2] 1", "", "bias has 2 elements" },
    { "nn.bias_add", "{axis=0}", "f32[] 1; f32[1] 1", "",
      "axis 0 is out of range for shape scalar" },
    { "nn.bias_add", "{axis=0}", "f32[2] 1; f32[1,2] 1", "",
      "input 1 of nn.bias_add has shape 1x2" },
    { "add", "", "f32[1,1048576,0]; f32[1048576,1,1] 0", "",
      "a tensor of shape 1048576x1048576x0 is too big" },
};

START_TEST(arithmetic_broadcasts_wraps_and_survives_zero)
{
    op_case_check(&arithmetic[_i]);
}
END_TEST

START_TEST(bit_operations_and_shifts_of_any_count_are_defined)
{
    op_case_check(&bits[_i]);
}
END_TEST

START_TEST(comparisons_and_choices_are_exact)
{
    op_case_check(&choices[_i]);
}
END_TEST

START_TEST(operands_that_do_not_fit_are_errors)
{
    op_case_check(&errors[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops_binary");
    TCase *tcase = tcase_create("ops_binary");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, arithmetic_broadcasts_wraps_and_survives_zero, 0,
                        N_ROWS(arithmetic));
    tcase_add_loop_test(tcase, bit_operations_and_shifts_of_any_count_are_defined, 0, N_ROWS(bits));
    tcase_add_loop_test(tcase, comparisons_and_choices_are_exact, 0, N_ROWS(choices));
    tcase_add_loop_test(tcase, operands_that_do_not_fit_are_errors, 0, N_ROWS(errors));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
