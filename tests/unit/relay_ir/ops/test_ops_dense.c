#include <check.h>
#include <stdlib.h>

#include "tests/support/op_case.h"

#define MATMUL(a, b) "{transpose_a=" a ", transpose_b=" b "}"
#define PLAIN MATMUL("false", "false")

static const struct op_case products[] = {
    { "nn.dense", "", "f32[2,3] 1 2 3 4 5 6; f32[2,3] 1 10 100 0 0 1", "f32[2,2] 321 3 654 6",
      NULL },
    { "nn.dense", "", "f32[3] 1 2 3; f32[1,3] 1 10 100", "f32[1] 321", NULL },
    { "nn.dense", "", "f32[2,1,2] 1 2 3 4; f32[1,2] 1 10", "f32[2,1,1] 21 43", NULL },
    { "nn.dense", "", "f64[1,6] 1 2 3 4 5 6; f64[1,6] 1", "f64[1,1] 21", NULL },
    { "nn.dense", "", "i32[1,2] 2147483647 1; i32[1,2] 2 4", "i32[1,1] 2", NULL },
    { "nn.dense", "", "f32[1,0]; f32[2,0]", "f32[1,2] 0 0", NULL },
    { "nn.dense", "", "f32[0,2]; f32[3,2] 1", "f32[0,3]", NULL },
    { "nn.matmul", PLAIN, "f32[2,2] 1 2 3 4; f32[2,3] 1 0 2 0 1 3", "f32[2,3] 1 2 8 3 4 18", NULL },
    { "nn.matmul", MATMUL("true", "false"), "f32[2,2] 1 3 2 4; f32[2,3] 1 0 2 0 1 3",
      "f32[2,3] 1 2 8 3 4 18", NULL },
    { "nn.matmul", MATMUL("false", "true"), "f32[2,2] 1 2 3 4; f32[3,2] 1 0 0 1 2 3",
      "f32[2,3] 1 2 8 3 4 18", NULL },
    { "nn.matmul", MATMUL("true", "true"), "f64[3,2] 1 2 3 4 5 6; f64[2,3] 1 10 100 2 20 200",
      "f64[2,2] 531 1062 642 1284", NULL },
    { "nn.matmul", PLAIN, "f32[2] 1 2; f32[2] 3 4", "f32[] 11", NULL },
    { "nn.matmul", PLAIN, "f32[2] 1 10; f32[2,2] 1 2 3 4", "f32[2] 31 42", NULL },
    { "nn.matmul", PLAIN, "f32[2,2] 1 2 3 4; f32[2] 1 10", "f32[2] 21 43", NULL },
    { "nn.matmul", MATMUL("true", "true"), "f32[2] 1 2; f32[2] 3 4", "f32[] 11", NULL },
    { "nn.matmul", PLAIN, "f32[2] 1 10; f32[2,2,1] 1 2 3 4", "f32[2,1] 21 43", NULL },
    { "nn.matmul", PLAIN, "f32[2,1,2] 1 2 3 4; f32[2] 1 10", "f32[2,1] 21 43", NULL },
    { "nn.matmul", PLAIN, "f32[2,1,1] 2 3; f32[1,1] 5", "f32[2,1,1] 10 15", NULL },
    { "nn.matmul", PLAIN, "f32[2,1,1,2] 1 2 3 4; f32[3,2,1] 1 0 0 1 1 1",
      "f32[2,3,1,1] 1 2 3 3 4 7", NULL },
    { "nn.matmul", PLAIN, "f32[1,1,1] 2; f32[2,2,1,1] 1 2 3 4", "f32[2,2,1,1] 2 4 6 8", NULL },
    { "nn.matmul", PLAIN, "i64[1,2] 4611686018427387904 3; i64[2,1] 2 5",
      "i64[1,1] -9223372036854775793", NULL },
    { "nn.matmul", PLAIN, "u8[1,2] 200 1; u8[2,1] 2 1", "u8[1,1] 145", NULL },
    { "nn.matmul", PLAIN, "f32[2,0]; f32[0,1]", "f32[2,1] 0 0", NULL },
    { "nn.matmul", PLAIN, "f32[0,2,2]; f32[2,2] 1", "f32[0,2,2]", NULL },
    /* f32 sums would lose the 1. */
    { "nn.matmul", PLAIN, "f32[1,3] 16777216 1 -16777216; f32[3,1] 1", "f32[1,1] 1", NULL },
};

static const struct op_case errors[] = {
    { "nn.dense", "", "f32[2,3] 1; f32[2,4] 1", "",
      "weight of shape 2x4 expects 4 inputs, x of shape 2x3 has 3" },
    { "nn.dense", "", "f32[2,3] 1; f32[3] 1", "",
      "input 1 of nn.dense has shape 3, expected rank 2" },
    { "nn.dense", "", "f32[] 1; f32[1,1] 1", "", "expected rank 1 or more" },
    { "nn.dense", "", "f32[1] 1; f64[1,1] 1", "", "expected one type for both" },
    { "nn.dense", "", "bool[1] 1; bool[1,1] 1", "",
      "is bool, expected a floating-point or integer" },
    { "nn.matmul", PLAIN, "f32[2,3] 1; f32[2,3] 1", "",
      "a of shape 2x3 has 3 columns, b of shape 2x3 has 2 rows" },
    { "nn.matmul", MATMUL("true", "true"), "f32[2,3] 1; f32[2,3] 1", "",
      "a of shape 2x3 (transposed) has 2 columns, b of shape 2x3 (transposed) has 3 rows" },
    { "nn.matmul", PLAIN, "f32[2,1,1] 1; f32[3,1,1] 1", "",
      "shapes 2x1x1 and 3x1x1 do not broadcast before their last two dimensions" },
    { "nn.matmul", PLAIN, "f32[] 1; f32[1] 1", "", "expected rank 1 or more" },
    { "nn.matmul", PLAIN, "f32[131072,1] 0; f32[1,262144] 0", "", "is too big" },
};

START_TEST(products_are_those_of_linear_algebra)
{
    op_case_check(&products[_i]);
}
END_TEST

START_TEST(operands_that_do_not_fit_are_reported)
{
    op_case_check(&errors[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops_dense");
    TCase *tcase = tcase_create("ops_dense");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, products_are_those_of_linear_algebra, 0, N_ROWS(products));
    tcase_add_loop_test(tcase, operands_that_do_not_fit_are_reported, 0, N_ROWS(errors));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
