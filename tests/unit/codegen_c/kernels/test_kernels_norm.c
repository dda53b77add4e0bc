/* Softmax and normalisations as generated C: the kernels of codegen_c/kernels/norm/. */
#include <check.h>
#include <stdlib.h>

#include "codegen_c/machine/machine.h"
#include "tests/support/graph.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

#define N_ROWS(table) ((int)(sizeof(table) / sizeof *(table)))

static const struct kernel_case softmaxes[] = {
    { "softmax", "nn.softmax", "axis=0", "f32[3,4,5]" },
    { "log_softmax", "nn.log_softmax", "axis=0", "f32[3,4,5]" },
    { "hardmax", "nn.hardmax", "axis=0", "f32[3,4,5]" },
    { "softmax", "nn.softmax", "axis=1", "f32[3,4,5]" },
    { "log_softmax", "nn.log_softmax", "axis=1", "f32[3,4,5]" },
    { "hardmax", "nn.hardmax", "axis=1", "f32[3,4,5]" },
    { "softmax", "nn.softmax", "axis=2", "f32[3,4,5]" },
    { "log_softmax", "nn.log_softmax", "axis=2", "f32[3,4,5]" },
    { "hardmax", "nn.hardmax", "axis=2", "f32[3,4,5]" },
    { "softmax_rows", "nn.softmax", "axis=1", "f32[3,16]" },
    { "softmax_rows", "nn.softmax", "axis=1", "f32[2,21,1]" },
    { "softmax_rows", "nn.softmax", "axis=2", "f32[2,2,77]" },
    { "softmax_rows", "nn.softmax", "axis=1", "f32[2,16] 1000 1001 -1000 0 1 -inf -inf 3" },
    { "softmax_rows", "nn.softmax", "axis=0", "f32[18]" },
    { "softmax_rows", "nn.softmax", "axis=1", "f32[7,24]" },
    { "softmax_group", "nn.softmax", "axis=1", "f32[15,24]" },
    { "softmax_short", "nn.softmax", "axis=1", "f32[16,2]" },
    { "softmax_short", "nn.softmax", "axis=2", "f32[3,7,5]" },
    { "softmax_short", "nn.softmax", "axis=1", "f32[37,24,1]" },
    { "softmax_short", "nn.softmax", "axis=1", "f32[16,7]" },
    { "softmax_short", "nn.softmax", "axis=1", "f32[16,8]" },
    { "softmax_short", "nn.softmax", "axis=1", "f32[33,8]" },
    { "softmax_short", "nn.softmax", "axis=2", "f32[5,9,9,1]" },
    { "softmax_short", "nn.softmax", "axis=1", "f32[31,13]" },
    { "softmax_short", "nn.softmax", "axis=1", "f32[48,15]" },
    { "softmax_short", "nn.softmax", "axis=3", "f32[2,2,6,16]" },
    { "softmax_short", "nn.softmax", "axis=1", "f32[20,17]" },
    { "softmax_short", "nn.softmax", "axis=1", "f32[36,21]" },
    { "softmax_short", "nn.softmax", "axis=1", "f32[16,23]" },
    { "softmax_short", "nn.softmax", "axis=1",
      "f32[19,9] 1000 1001 -1000 0 1 -inf -inf 3 -inf -inf nan 1 1 nan inf 0 0 88 -88" },
    { "softmax_short", "nn.softmax", "axis=1", "f32[17,16] nan 1 2 3 inf -inf 0 1 2 3 4 5 6" },
    { "softmax_short", "nn.softmax", "axis=1", "f32[18,8] -inf -inf 5 -100 -1000" },
    { "softmax_group", "nn.softmax", "axis=1", "f32[37,25]" },
    { "softmax_group", "nn.softmax", "axis=2", "f32[2,4,128,1]" },
    { "softmax_group", "nn.softmax", "axis=1", "f32[8,129]" },
    { "softmax_group", "nn.softmax", "axis=1", "f32[9,512]" },
    { "softmax_rows", "nn.softmax", "axis=1", "f32[8,513]" },
    { "softmax_rows", "nn.softmax", "axis=1", "f32[2,640]" },
    { "softmax_group", "nn.softmax", "axis=1", "f32[9,16] 1000 1001 -1000 0 1 -inf -inf 3" },
    { "softmax_short", "nn.softmax", "axis=1",
      "f32[17,2] 1000 1001 -1000 0 1 -inf -inf 3 -inf -inf nan 1 1 nan inf 0 0 inf 88 -88 "
      "0 0 1 1 2 2 3 3 4 4 5 5 6 7" },
    { "softmax", "nn.softmax", "axis=1", "f64[2,19]" },
    { "softmax", "nn.softmax", "axis=1", "f32[2,19,3]" },
    { "log_softmax_rows", "nn.log_softmax", "axis=1", "f32[3,16]" },
    { "log_softmax_rows", "nn.log_softmax", "axis=1", "f32[2,37]" },
    { "log_softmax_rows", "nn.log_softmax", "axis=1", "f32[19,29]" },
    { "log_softmax_rows", "nn.log_softmax", "axis=1", "f32[9,16]" },
    { "log_softmax_rows", "nn.log_softmax", "axis=2", "f32[2,2,100]" },
    { "log_softmax_rows", "nn.log_softmax", "axis=1", "f32[2,519]" },
    { "log_softmax_rows", "nn.log_softmax", "axis=1", "f32[2,16] 1000 1001 -1000 0 1 -inf -inf 3" },
    { "softmax", "nn.softmax", "axis=1", "f64[2,7]" },
    { "softmax", "nn.softmax", "axis=0", "f32[5] 1000 1001 -1000 0 1" },
    { "hardmax", "nn.hardmax", "axis=0", "f32[4] 1 3 3 2" },
    { "hardmax", "nn.hardmax", "axis=1", "f64[3,40]" },
    { "hardmax_rows", "nn.hardmax", "axis=1", "f32[3,16] 1 3 3 2 3" },
    { "hardmax_rows", "nn.hardmax", "axis=1", "f32[5,33,1]" },
    { "hardmax_rows", "nn.hardmax", "axis=2", "f32[2,3,100]" },
    { "hardmax_rows", "nn.hardmax", "axis=1", "f32[2,40] 0 -0 -1" },
    { "hardmax_rows", "nn.hardmax", "axis=0", "f32[20] -inf" },
    { "hardmax_rows", "nn.hardmax", "axis=1", "f32[4,17] nan 1 2 3 2 -nan 5 inf inf" },
    { "hardmax_rows", "nn.hardmax", "axis=1", "f32[3,70] 1 2 nan 3" },
    { "hardmax_rows", "nn.hardmax", "axis=0", "f32[33] nan" },
    { "hardmax_rows", "nn.hardmax", "axis=0", "f32[33] -nan" },
    { "softmax", "nn.softmax", "axis=0", "f32[1]" },
};

static const struct kernel_case norms[] = {
    { "layer_norm", "nn.layer_norm", "axis=2, epsilon=0.001",
      "f32[3,4,5]; const f32[5]; const f32[5]" },
    { "layer_norm", "nn.layer_norm", "axis=1, epsilon=0.001", "f32[3,4,5]; f32[4,5]" },
    { "layer_norm", "nn.layer_norm", "axis=0, epsilon=0.001", "f64[6]; f64[6]; f64[6]" },
    { "layer_norm", "nn.layer_norm", "axis=1, epsilon=1e-05",
      "f32[2,9]; const f32[9]; const f32[9]" },
    { "layer_norm", "nn.layer_norm", "axis=1, epsilon=1e-05",
      "f32[3,45]; const f32[45]; const f32[45]" },
    { "layer_norm", "nn.layer_norm", "axis=1, epsilon=1e-05", "f32[2,64]; f32[64]" },
    { "group_norm", "nn.instance_norm", "axis=1, epsilon=0.001", "f32[2,3,4,5]; f32[3]; f32[3]" },
    { "group_norm", "nn.group_norm", "axis=1, groups=2, epsilon=0.001",
      "f32[2,8,3]; f32[8]; f32[8]" },
    { "group_norm", "nn.instance_norm", "axis=1, epsilon=0.001",
      "f64[1,3,4]; const f64[3]; const f64[3]" },
    { "group_norm", "nn.group_norm", "axis=1, groups=3, epsilon=0.001",
      "f32[2,6,4,5]; f32[6]; f32[6]" },
    { "group_norm", "nn.group_norm", "axis=1, groups=1, epsilon=0.001",
      "f32[1,6,4]; f32[6]; f32[6]" },
    { "group_norm", "nn.group_norm", "axis=1, groups=2, epsilon=0.001",
      "f32[3,4]; f32[4]; f32[4]" },
    { "group_norm_last", "nn.instance_norm", "axis=3, epsilon=0.001",
      "f32[2,3,5,18]; f32[18]; f32[18]" },
    { "group_norm_last", "nn.group_norm", "axis=2, groups=2, epsilon=0.001",
      "f32[1,3,160]; const f32[160]; const f32[160]" },
    { "group_norm_last", "nn.group_norm", "axis=4, groups=3, epsilon=0.001",
      "f64[2,2,3,2,6]; f64[6]; f64[6]" },
    { "batch_norm", "nn.batch_norm", "axis=1, epsilon=0.001",
      "f32[2,3,4]; f32[3]; f32[3]; f32[3]; const f32[3] 0.5 1 2" },
    { "batch_norm", "nn.batch_norm", "axis=2, epsilon=0.001",
      "f64[2,3,4]; f64[4]; f64[4]; f64[4]; f64[4] 0.5 1 2 3" },
    { "batch_norm", "nn.batch_norm", "axis=0, epsilon=0.001",
      "f32[3]; f32[3]; f32[3]; f32[3]; f32[3] 0.5 1 2" },
    { "lp_normalize", "nn.lp_normalize", "axis=0, p=1", "f32[2,3,4]" },
    { "lp_normalize", "nn.lp_normalize", "axis=1, p=1", "f32[2,3,4]" },
    { "lp_normalize", "nn.lp_normalize", "axis=2, p=1", "f32[2,3,4]" },
    { "lp_normalize", "nn.lp_normalize", "axis=0, p=2", "f32[2,3,4]" },
    { "lp_normalize", "nn.lp_normalize", "axis=1, p=2", "f32[2,3,4]" },
    { "lp_normalize", "nn.lp_normalize", "axis=2, p=2", "f32[2,3,4]" },
    { "lp_normalize", "nn.lp_normalize", "axis=1, p=2", "f32[2,3] 0 0 0 3 4 0" },
    { "lp_normalize", "nn.lp_normalize", "axis=1, p=2", "f64[2,3,40]" },
    { "lp_normalize", "nn.lp_normalize", "axis=1, p=1", "f32[7,15]" },
    { "lp_normalize_rows", "nn.lp_normalize", "axis=1, p=1", "f32[7,16]" },
    { "lp_normalize_rows", "nn.lp_normalize", "axis=1, p=2", "f32[7,16]" },
    { "lp_normalize_rows", "nn.lp_normalize", "axis=0, p=2", "f32[31]" },
    { "lp_normalize_rows", "nn.lp_normalize", "axis=1, p=1", "f32[1,100]" },
    { "lp_normalize_rows", "nn.lp_normalize", "axis=2, p=2", "f32[2,3,33,1]" },
    { "lp_normalize_rows", "nn.lp_normalize", "axis=3, p=2", "f32[2,2,3,47]" },
    { "lp_normalize_rows", "nn.lp_normalize", "axis=3, p=1", "f32[2,2,3,65]" },
    { "lp_normalize_rows", "nn.lp_normalize", "axis=1, p=2", "f32[3,17] 0 0 0" },
    { "lp_normalize_rows", "nn.lp_normalize", "axis=1, p=1", "f32[3,17] 0 -0" },
    { "lp_normalize_rows", "nn.lp_normalize", "axis=1, p=1", "f32[2,18] 1e-39 -1e-40 0" },
    { "lp_normalize_rows", "nn.lp_normalize", "axis=1, p=1", "f32[2,18] 1e37 -1e37 3" },
    { "lp_normalize_rows", "nn.lp_normalize", "axis=1, p=2", "f32[2,18] 1e-18 -3e-19 0" },
    { "lp_normalize_rows", "nn.lp_normalize", "axis=1, p=2", "f32[2,18] 1e18 -3e18 3" },
    { "lp_normalize_rows", "nn.lp_normalize", "axis=1, p=2", "f32[5,19] nan 1 2 inf 0 3 -inf" },
    { "lp_normalize_rows", "nn.lp_normalize", "axis=1, p=1", "f32[5,19] 1 2 3 nan 4 5 inf 7" },
    { "lp_normalize_columns", "nn.lp_normalize", "axis=1, p=2", "f32[2,5,16]" },
    { "lp_normalize_columns", "nn.lp_normalize", "axis=0, p=1", "f32[7,3,23]" },
    { "lp_normalize_columns", "nn.lp_normalize", "axis=1, p=2", "f32[3,4,10,13]" },
    { "lp_normalize_columns", "nn.lp_normalize", "axis=1, p=1", "f32[1,9,128]" },
    { "lp_normalize_columns", "nn.lp_normalize", "axis=0, p=2", "f32[2,17] 0 0 0 3 4 0 0" },
    { "lrn", "nn.lrn", "size=5, alpha=0.1, beta=0.75, bias=1", "f32[2,7,4]" },
    { "lrn", "nn.lrn", "size=4, alpha=0.1, beta=0.75, bias=2", "f32[1,7,4,2]" },
    { "lrn", "nn.lrn", "size=3, alpha=0.1, beta=0.5, bias=2", "f64[1,2,3]" },
    { "lrn", "nn.lrn", "size=5, alpha=0.1, beta=0.75, bias=1", "f32[1,3,9,15]" },
    { "lrn", "nn.lrn", "size=7, alpha=2, beta=1.5, bias=0.5", "f32[3,131]" },
};

START_TEST(softmaxes_run_along_any_axis)
{
    KERNEL_CASES_CHECK(softmaxes, 1e-6);
}
END_TEST

START_TEST(norms_take_their_statistics_from_x)
{
    KERNEL_CASES_CHECK(norms, 1e-5);
}
END_TEST

/* The machines whose C differs: lanes laid side by side by blocks, or number by number. */
START_TEST(softmaxes_of_machines)
{
    static const char *const named[] = { "sapphirerapids", "x86-64-v3", "x86-64", "rv64gc" };
    struct ctx *ctx = ctx_new("machines");

    kernel_cases_check_as(softmaxes, N_ROWS(softmaxes), 1e-6, WINOGRAD_AUTO,
                          machine_find(ctx, named[_i]));
    ctx_free(ctx);
}
END_TEST

/* Where the third cache is far, the next rows are fetched if not all of x and y is in the second.
 */
START_TEST(rows_from_afar_are_fetched)
{
#define SOFTMAX(n, m)                                                                              \
    "fn main(%x: (" n "," m ") f32) -> (%y) {\n"                                                   \
    "  %y = nn.softmax(%x) {axis=1} : (" n "," m ") f32\n"                                         \
    "}\n"
    static const struct {
        const char *text, *machine;
        int n_fetched;
    } far[] = {
        { SOFTMAX("5403", "50"), "sapphirerapids", 2 },
        { SOFTMAX("1031", "256"), "sapphirerapids", 2 },
        { SOFTMAX("516", "511"), "sapphirerapids", 2 },
        { SOFTMAX("1024", "256"), "sapphirerapids", 0 },
        { SOFTMAX("300", "1024"), "sapphirerapids", 2 },
        { SOFTMAX("256", "1024"), "sapphirerapids", 0 },
        { SOFTMAX("300", "1000"), "sapphirerapids", 0 },
        { SOFTMAX("5403", "50"), "znver5", 0 },
        { SOFTMAX("300", "1024"), "znver5", 0 },
    };
    struct ctx *ctx = ctx_new("afar");
    struct generated_case row = {
        .text = far[_i].text,
        .tolerance = 1e-6,
        .machine = machine_find(ctx, far[_i].machine),
        .one_build = true,
    };

    ck_assert_int_eq(generated_count(ctx, &row, "__builtin_prefetch("), far[_i].n_fetched);
    generated_check(&row);
    row.parts = 3;
    generated_check(&row);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_norm");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, softmaxes_run_along_any_axis);
    tcase_add_test(tests, norms_take_their_statistics_from_x);
    tcase_add_loop_test(tests, softmaxes_of_machines, 0, 4);
    tcase_add_loop_test(tests, rows_from_afar_are_fetched, 0, 9);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
