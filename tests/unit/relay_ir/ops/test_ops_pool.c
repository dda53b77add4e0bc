#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "relay_ir/interpret.h"
#include "tests/support/op_case.h"

#define POOL(size, strides, padding, dilation, more)                                               \
    "{pool_size=" size ", strides=" strides ", padding=" padding ", dilation=" dilation ", " more  \
    "}"
#define PLAIN "ceil_mode=false, count_include_pad=false, p=2, storage_order=0, layout=\"\""
#define CEIL "ceil_mode=true, count_include_pad=false, p=2, storage_order=0, layout=\"\""
#define INCLUDE "ceil_mode=false, count_include_pad=true, p=2, storage_order=0, layout=\"\""
#define CEIL_INCLUDE "ceil_mode=true, count_include_pad=true, p=2, storage_order=0, layout=\"\""
#define COLUMNS "ceil_mode=false, count_include_pad=false, p=2, storage_order=1, layout=\"\""
#define NORM(p) "ceil_mode=false, count_include_pad=false, p=" p ", storage_order=0, layout=\"\""

#define GRID4 "f32[1,1,4,4] 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"
#define GRID5 "f32[1,1,5,5] 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25"

static const struct op_case maxima[] = {
    { "nn.max_pool1d", POOL("[2]", "[]", "[]", "[]", PLAIN), "f32[1,1,4] 1 3 2 -1",
      "f32[1,1,3] 3 3 2", NULL },
    { "nn.max_pool1d", POOL("[2]", "[2]", "[1,1]", "[]", PLAIN), "f32[1,1,4] -1 -3 -2 -4",
      "f32[1,1,3] -1 -2 -4", NULL },
    { "nn.max_pool2d", POOL("[3,3]", "[2,2]", "[]", "[]", CEIL), GRID4, "f32[1,1,2,2] 11 12 15 16",
      NULL },
    { "nn.max_pool2d", POOL("[2,2]", "[1,1]", "[]", "[2,2]", PLAIN), GRID4,
      "f32[1,1,2,2] 11 12 15 16", NULL },
    { "nn.max_pool2d", POOL("[1,1]", "[2,2]", "[]", "[]", CEIL), "f32[1,1,2,2] 1 2 3 4",
      "f32[1,1,1,1] 1", NULL },
    { "nn.max_pool3d", POOL("[2,1,2]", "[]", "[]", "[]", PLAIN), "f64[1,1,2,2,2] 1 2 3 4 5 6 7 8",
      "f64[1,1,1,2,1] 6 8", NULL },
    { "nn.max_pool1d", POOL("[2]", "[]", "[]", "[]", PLAIN), "i8[1,2,2] -7 -8 5 6",
      "i8[1,2,1] -7 6", NULL },
    { "nn.max_pool1d", POOL("[2]", "[]", "[]", "[]", PLAIN), "f32[1,1,4] nan 1 2 nan",
      "f32[1,1,3] nan 2 nan", NULL },
    { "nn.max_pool1d", POOL("[2]", "[]", "[1,1]", "[2]", PLAIN), "f32[1,1,1] 7", "f32[1,1,1] -inf",
      NULL },
    { "nn.max_pool1d", POOL("[2]", "[]", "[1,1]", "[2]", PLAIN), "i8[1,1,1] 7", "i8[1,1,1] -128",
      NULL },
    { "nn.max_pool_indices", POOL("[2,2]", "[2,2]", "[]", "[]", PLAIN), GRID5,
      "f32[1,1,2,2] 7 9 17 19; i64[1,1,2,2] 6 8 16 18", NULL },
    { "nn.max_pool_indices", POOL("[2,2]", "[2,2]", "[]", "[]", COLUMNS), GRID5,
      "f32[1,1,2,2] 7 9 17 19; i64[1,1,2,2] 6 16 8 18", NULL },
    { "nn.max_pool_indices", POOL("[2]", "[]", "[]", "[]", PLAIN),
      "f32[2,2,3] 1 1 0 0 2 2 3 0 3 -inf -inf -inf",
      "f32[2,2,2] 1 1 2 2 3 3 -inf -inf; i64[2,2,2] 0 1 4 4 6 8 9 10", NULL },
    { "nn.max_pool_indices", POOL("[1,1,1]", "[]", "[]", "[]", COLUMNS), "f32[1,1,2,1,2] 5 6 7 8",
      "f32[1,1,2,1,2] 5 6 7 8; i64[1,1,2,1,2] 0 2 1 3", NULL },
    { "nn.global_max_pool", "", "f32[2,2,2,1] 1 2 -3 -4 0 -1 5 5", "f32[2,2,1,1] 2 -3 0 5", NULL },
    { "nn.global_max_pool", "", "f32[1,1,3] 1 nan 2", "f32[1,1,1] nan", NULL },
    { "nn.max_pool1d", POOL("[2]", "[]", "[]", "[]", PLAIN), "f32[0,1,4]", "f32[0,1,3]", NULL },
};

static const struct op_case averages[] = {
    { "nn.avg_pool1d", POOL("[3]", "[]", "[1,1]", "[]", PLAIN), "f32[1,1,3] 1 2 6",
      "f32[1,1,3] 1.5 3 4", NULL },
    { "nn.avg_pool1d", POOL("[3]", "[]", "[1,1]", "[]", INCLUDE), "f32[1,1,3] 1 2 6",
      "f32[1,1,3] 1 3 2.6666667", NULL },
    /* The last window hangs over: what is beyond the padding does not count. */
    { "nn.avg_pool1d", POOL("[3]", "[2]", "[0,1]", "[]", CEIL_INCLUDE), "f32[1,1,5] 1 2 3 4 5",
      "f32[1,1,3] 2 4 2.5", NULL },
    { "nn.avg_pool1d", POOL("[3]", "[2]", "[0,0]", "[]", CEIL_INCLUDE), "f32[1,1,4] 1 2 3 5",
      "f32[1,1,2] 2 4", NULL },
    { "nn.avg_pool2d", POOL("[3,3]", "[2,2]", "[]", "[]", CEIL), GRID4,
      "f32[1,1,2,2] 6 7.5 12 13.5", NULL },
    /* One window, longer than the input by less than a stride (ONNX Runtime has it so). */
    { "nn.max_pool1d", POOL("[5]", "[3]", "[]", "[]", PLAIN), "f32[1,1,3] 1 3 2", "f32[1,1,1] 3",
      NULL },
    { "nn.max_pool1d", POOL("[7]", "[3]", "[]", "[]", CEIL), "f32[1,1,5] 1 3 2 5 4", "f32[1,1,1] 5",
      NULL },
    { "nn.avg_pool1d", POOL("[5]", "[3]", "[0,1]", "[]", CEIL_INCLUDE), "f32[1,1,3] 1 3 2",
      "f32[1,1,1] 1.5", NULL },
    { "nn.lp_pool1d", POOL("[2]", "[3]", "[]", "[4]", NORM("2")), "f32[1,1,3] -3 4 0",
      "f32[1,1,1] 3", NULL },
    /* A fourth window would start in the padding behind. */
    { "nn.avg_pool1d", POOL("[3]", "[3]", "[0,2]", "[]", CEIL), "f32[1,1,3] 1 2 3", "f32[1,1,1] 2",
      NULL },
    { "nn.avg_pool2d", POOL("[2,2]", "[1,1]", "[]", "[2,2]", PLAIN), GRID4,
      "f32[1,1,2,2] 6 7 10 11", NULL },
    { "nn.avg_pool1d", POOL("[2]", "[]", "[1,1]", "[2]", PLAIN), "f32[1,1,1] 7", "f32[1,1,1] 0",
      NULL },
    { "nn.avg_pool3d", POOL("[2,2,2]", "[]", "[]", "[]", PLAIN), "f64[1,1,2,2,2] 1 2 3 4 5 6 7 8",
      "f64[1,1,1,1,1] 4.5", NULL },
    { "nn.lp_pool1d", POOL("[2]", "[]", "[1,0]", "[]", NORM("2")), "f32[1,1,3] -3 4 0",
      "f32[1,1,3] 3 5 4", NULL },
    { "nn.lp_pool1d", POOL("[2]", "[]", "[]", "[]", NORM("1")), "f32[1,1,3] -3 4 0",
      "f32[1,1,2] 7 4", NULL },
    { "nn.lp_pool2d", POOL("[2,2]", "[]", "[]", "[]", NORM("3")), "f32[1,1,2,2] -3 4 5 0",
      "f32[1,1,1,1] 6", NULL },
    { "nn.lp_pool3d", POOL("[1,1,2]", "[]", "[]", "[]", NORM("2")), "f32[1,1,1,1,2] 5 12",
      "f32[1,1,1,1,1] 13", NULL },
    { "nn.global_avg_pool", "", "f32[1,2,2,2] 1 2 3 6 -1 1 -1 1", "f32[1,2,1,1] 3 0", NULL },
    { "nn.global_avg_pool", "", "f16[1,1,2] 1 2", "f16[1,1,1] 1.5", NULL },
};

static const struct op_case errors[] = {
    { "nn.max_pool1d", POOL("[2]", "[]", "[]", "[]", PLAIN), "f32[1,4] 1", "",
      "input 0 of nn.max_pool1d has shape 1x4, expected rank 3" },
    { "nn.max_pool_indices", POOL("[2]", "[]", "[]", "[]", PLAIN), "f32[1,4] 1", ";",
      "expected rank 3 to 5" },
    { "nn.max_pool2d", POOL("[2]", "[]", "[]", "[]", PLAIN), GRID4, "",
      "pool_size has 1 entries, expected 2" },
    { "nn.max_pool2d", POOL("[]", "[]", "[]", "[]", PLAIN), GRID4, "",
      "pool_size has 0 entries, expected 2" },
    { "nn.max_pool2d", POOL("[2,0]", "[]", "[]", "[]", PLAIN), GRID4, "",
      "pool_size has the entry 0, expected 1 to" },
    { "nn.max_pool2d", POOL("[2,2]", "[1,-1]", "[]", "[]", PLAIN), GRID4, "",
      "strides has the entry -1" },
    { "nn.max_pool2d", POOL("[2,2]", "[]", "[2,0,0,0]", "[]", PLAIN), GRID4, "",
      "padding of 2 and 0 in spatial dimension 0, expected less than the 2 elements" },
    { "nn.max_pool2d", POOL("[5,2]", "[]", "[]", "[]", PLAIN), GRID4, "",
      "the kernel covers 5 elements, the padded input has 4" },
    { "nn.max_pool1d", POOL("[5]", "[2]", "[]", "[]", CEIL), "f32[1,1,3] 1 2 3", "",
      "the kernel covers 5 elements, the padded input has 3" },
    { "nn.max_pool1d", POOL("[2]", "[]", "[1,1]", "[]", PLAIN), "f32[1,1,0]", "",
      "x of shape 1x1x0 is empty" },
    { "nn.max_pool1d", POOL("[2]", "[]", "[]", "[]", PLAIN), "i64[1,1,4] 1", "",
      "nn.max_pool1d of i64 is not supported" },
    { "nn.max_pool1d", POOL("[2]", "[]", "[]", "[]", PLAIN), "bool[1,1,4] 1", "",
      "is bool, expected" },
    { "nn.avg_pool1d", POOL("[2]", "[]", "[]", "[]", PLAIN), "i8[1,1,4] 1", "", "is i8, expected" },
    { "nn.lp_pool1d", POOL("[2]", "[]", "[]", "[]", NORM("0")), "f32[1,1,4] 1", "",
      "p is 0, expected 1 or more" },
    { "nn.max_pool_indices",
      POOL("[2]", "[]", "[]", "[]",
           "ceil_mode=false, count_include_pad=false, p=0, storage_order=2, layout=\"\""),
      "f32[1,1,4] 1", ";", "storage_order is 2" },
    { "nn.max_pool1d",
      POOL("[2]", "[]", "[]", "[]",
           "ceil_mode=false, count_include_pad=false, p=0, storage_order=0, layout=\"WNC\""),
      "f32[1,1,4] 1", "", "layout is \"WNC\", expected one of \"NCW\", \"NWC\"" },
    { "nn.max_pool_indices",
      POOL("[2]", "[]", "[]", "[]",
           "ceil_mode=false, count_include_pad=false, p=0, storage_order=0, layout=\"NWC\""),
      "f32[1,4,1] 1", ";", "expected one with the channels first" },
    { "nn.global_avg_pool", "", "f32[1,2,0]", "", "x of shape 1x2x0 is empty" },
    { "nn.global_avg_pool", "", "f32[1,2] 1", "", "expected rank 3 or more" },
};

/* One dimension, all the ways in which windows meet edges: the definition, tap by tap. */
struct sweep {
    int64_t in, kernel, stride, dilation, before, after;
};

static struct sweep sweep_of(int i)
{
    return (struct sweep){ .in = 1 + i % 7,
                           .kernel = 1 + i / 7 % 4,
                           .stride = 1 + i / 28 % 3,
                           .dilation = 1 + i / 84 % 2,
                           .before = i / 168 % 3,
                           .after = i / 504 % 3 };
}

enum { N_SWEEPS = 7 * 4 * 3 * 2 * 3 * 3 };

static void check_windows(const struct sweep *s, bool ceil_mode, bool include, const double *x,
                          const struct tensor *y)
{
    int64_t n = 0;

    for (int64_t start = -s->before;; start += s->stride, n++) {
        double sum = 0, count = 0;

        if (start + (s->kernel - 1) * s->dilation >= s->in + s->after &&
            (!ceil_mode || start >= s->in ||
             start - s->stride + (s->kernel - 1) * s->dilation >= s->in + s->after - 1))
            break;
        for (int64_t k = 0; k < s->kernel; k++) {
            const int64_t i = start + k * s->dilation;

            sum += i >= 0 && i < s->in ? x[i] : 0;
            count += i < s->in + (include ? s->after : 0) && (include || i >= 0) ? 1 : 0;
        }
        ck_assert_int_lt(n, type_elements(&y->type));
        ck_assert_double_eq_tol(tensor_at(y, n), count > 0 ? sum / count : 0, 1e-12);
    }
    ck_assert_int_eq(n, type_elements(&y->type));
}

START_TEST(average_counts_what_the_mode_says)
{
    struct ctx *ctx = ctx_new(NULL);
    struct bulk bulk = { NULL, 0 };
    int n_checked = 0;

    for (int i = 0; i < N_SWEEPS; i++) {
        const struct sweep s = sweep_of(i);
        const int64_t covers = (s.kernel - 1) * s.dilation + 1;
        const bool ceil_mode = _i & 1, include = _i & 2;
        const struct type type = type_make(DTYPE_F64, 3, (int64_t[]){ 1, 1, s.in });
        const struct tensor x = tensor_new(&bulk, &type);
        struct tensor y;

        if (s.before >= covers || s.after >= covers || s.before + s.in + s.after < covers)
            continue;
        for (int k = 0; k < s.in; k++)
            ((double *)x.data)[k] = k * k + 1;
        y = op_apply(ctx, &bulk, "nn.avg_pool1d",
                     arena_printf(&ctx->perm,
                                  "{pool_size=[%lld], strides=[%lld], padding=[%lld,%lld], "
                                  "dilation=[%lld], ceil_mode=%s, count_include_pad=%s, p=0, "
                                  "storage_order=0, layout=\"\"}",
                                  (long long)s.kernel, (long long)s.stride, (long long)s.before,
                                  (long long)s.after, (long long)s.dilation,
                                  ceil_mode ? "true" : "false", include ? "true" : "false"),
                     1, &x);
        check_windows(&s, ceil_mode, include, x.data, &y);
        n_checked++;
    }
    ck_assert_int_gt(n_checked, 500);
    bulk_release(&bulk);
    ctx_free(ctx);
}
END_TEST

START_TEST(maxima_and_their_places)
{
    op_case_check(&maxima[_i]);
}
END_TEST

START_TEST(averages_and_norms_of_windows)
{
    op_case_check(&averages[_i]);
}
END_TEST

START_TEST(impossible_pools_are_reported)
{
    op_case_check(&errors[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops_pool");
    TCase *tcase = tcase_create("ops_pool");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, maxima_and_their_places, 0, N_ROWS(maxima));
    tcase_add_loop_test(tcase, averages_and_norms_of_windows, 0, N_ROWS(averages));
    tcase_add_loop_test(tcase, impossible_pools_are_reported, 0, N_ROWS(errors));
    tcase_add_loop_test(tcase, average_counts_what_the_mode_says, 0, 4);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
