/* PopRT's --fp8-params. */
#include <check.h>
#include <string.h>

#include "quantize/fp8_params.h"
#include "tests/support/expect.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static struct ctx *ctx;

static void setup(void)
{
    ctx = ctx_new(NULL);
}

static void teardown(void)
{
    ctx_free(ctx);
}

static const struct {
    const char *text, *data, *weights;
    double data_scale, weight_scale;
} good[] = {
    { "F143,F143,-1,-1", "f8e4m3fnuz", "f8e4m3fnuz", 0.5, 0.5 },
    { "f143,F152,0,-3", "f8e4m3fnuz", "f8e5m2fnuz", 1, 0.125 },
    { "F152", "f8e5m2fnuz", "f8e4m3fnuz", 0.5, 0.5 },
    { "F143,F143,2", "f8e4m3fnuz", "f8e4m3fnuz", 4, 0.5 },
    { "f8e4m3,f8e3m4,+1,-126", "f8e4m3", "f8e3m4", 2, 0x1p-126 },
    { "HFP8_143,F8E5M2,127,0", "hfp8_143", "f8e5m2", 0x1p127, 1 },
};

START_TEST(fields_are_a_precision)
{
    struct precision p;

    ck_assert_msg(fp8_params_parse(ctx, "--fp8-params", good[_i].text, &p), "%s", expect_text(ctx));
    ck_assert_int_eq(p.mode, PRECISION_FP8);
    ck_assert(p.has_data && p.has_weights && p.has_data_scale);
    ck_assert_str_eq(p.data.name, good[_i].data);
    ck_assert_str_eq(p.weights.name, good[_i].weights);
    ck_assert_int_eq(p.data_scale.kind, SCALE_FIXED);
    ck_assert_int_eq(p.weight_scale.kind, SCALE_FIXED);
    ck_assert_float_eq(scale_of_numbers(&p.data_scale, &p.data, NULL, 0),
                       (float)good[_i].data_scale);
    ck_assert_float_eq(scale_of_numbers(&p.weight_scale, &p.weights, NULL, 0),
                       (float)good[_i].weight_scale);
}
END_TEST

static const struct {
    const char *text;
    int n_errors;
    const char *message;
} bad[] = {
    { "", 1, "--fp8-params: '' is not a valid input_format" },
    { "F144", 1, "'F144' is not a valid input_format" },
    { "F143,", 1, "'' is not a valid weight_format" },
    { "F143,i8", 1, "'i8' is not a valid weight_format" },
    { "F143,f6e3m2", 1, "'f6e3m2' is not a valid weight_format" },
    { "F143,F143,x", 1, "'x' is not a valid input_scale" },
    { "F143,F143,128", 1, "'128' is not a valid input_scale" },
    { "F143,F143,-1,-127", 1, "'-127' is not a valid weight_scale" },
    { "F143,F143,-1,0.5", 1, "'0.5' is not a valid weight_scale" },
    { "F143,F143,-1,99999999999999999999", 1, "is not a valid weight_scale" },
    { "F143,F143,-,--1", 2, "'--1' is not a valid weight_scale" },
    { "F143,F143,-1,-1,", 1, "there are more than four fields: ''" },
    { "a,b,c,d,e", 5, "there are more than four fields: 'e'" },
    { "mxfp8,afp8,1,1", 2, "'afp8' is not a valid weight_format" },
    { "F1433333333333333333333333333333333333333333", 1, "is not a valid input_format" },
};

START_TEST(wrong_fields_are_errors_all_at_once)
{
    struct precision p;

    ck_assert(!fp8_params_parse(ctx, "--fp8-params", bad[_i].text, &p));
    ck_assert_int_eq(ctx->diags.n_errors, bad[_i].n_errors);
    ck_assert_msg(expect_error(ctx, DIAG_USAGE, bad[_i].message), "%s", expect_text(ctx));
    ck_assert(expect_error(ctx, DIAG_USAGE, "F143,F143,-1,-1"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fp8-params");
    TCase *tests = tcase_create("fp8-params");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, fields_are_a_precision, 0, N_ROWS(good));
    tcase_add_loop_test(tests, wrong_fields_are_errors_all_at_once, 0, N_ROWS(bad));
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
