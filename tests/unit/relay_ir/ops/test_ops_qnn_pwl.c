/* qnn.pwl: functions of every code of 16 bits against doubles, numbers by hand, generated C at the
 * ends of its range, and what is refused. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/ops/qnn.h"
#include "relay_ir/walk.h"
#include "runtime/embed/on_segment.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

/* --- functions -------------------------------------------------------------------------------- */

static double square(double x)
{
    return x * x;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double reciprocal(double x)
{
    return 1 / x;
}

static double hard_swish(double x)
{
    return x * fmin(fmax(x + 3, 0), 6) / 6;
}

static double sign(double x)
{
    return x > 0.1 ? 1 : x < 0.1 ? -1 : 0;
}

static double gelu(double x)
{
    return x / 2 * (1 + erf(x / sqrt(2)));
}

static double of_root(double x)
{
    return 1 / sqrt(x + 1e-3);
}

static double line(double x)
{
    return 0.7 * x - 0.1;
}

static const struct {
    double (*of)(double x);
    double least, most; /* of x */
    double low, high;   /* of the result */
    int most_segments;  /* with results of 16 bits */
} functions[] = {
    { sqrt, 0, 9, 0, 3, 325 },           { log, 0, 20, -8, 3, 400 },
    { square, -8, 8, 0, 64, 520 },       { sigmoid, -9, 9, 0, 1, 430 },
    { tanh, -5, 5, -1, 1, 440 },         { reciprocal, -6, 6, -900, 900, 900 },
    { hard_swish, -5, 5, -0.5, 5, 280 }, { sign, -1, 1, -1, 1, 4 },
    { gelu, -6, 6, -0.2, 6, 220 },       { of_root, 0, 4, 0, 32, 340 },
    { exp, -7, 0, 0, 1, 360 },           { line, -1, 1, -1, 1, 80 },
    { fabs, -3, 4, 0, 4, 80 },           { floor, -3, 4, -3, 4, 9 },
};

enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

/* The code of 0 that the range asks for. */
static int64_t zero_of(enum dtype dtype, double low, double scale)
{
    return (int64_t)fmax((double)dtype_least(dtype),
                         rint((double)dtype_least(dtype) - low / scale));
}

/* With every code of x: never more than half a step, and the error that qnn.h states, off; what is
 * infinite, or no number, as the code that stands for it. The line of runtime/embed has the same
 * bits. */
START_TEST(every_code_is_near)
{
    static const enum dtype outs[] = { DTYPE_I8, DTYPE_U8, DTYPE_I16, DTYPE_U16 };
    static double wanted[QNN_WIDE_VALUES];
    static struct qnn_pwl pwl;

    for (int o = 0; o < 4; o++) {
        const enum dtype out = outs[o];
        const bool is_small = dtype_bytes(out) == 1;
        const double step =
            (functions[_i].high - functions[_i].low) / ldexp(1, 8 * (int)dtype_bytes(out));
        const struct qnn_pwl_range range = { out, zero_of(out, functions[_i].low, step) };
        const double bound = 0.5 + (is_small ? QNN_PWL_ERROR_8 : QNN_PWL_ERROR_16) + 1e-3;
        double worst = 0;

        for (int code = 0; code < QNN_WIDE_VALUES; code++) {
            const double x =
                functions[_i].least + (functions[_i].most - functions[_i].least) * code / 65535;
            const double y = functions[_i].of(x) / step;

            wanted[code] = isnan(y) ? 0 : fmax(fmin(y, 1e9), -1e9);
        }
        ck_assert(qnn_pwl_fit(wanted, &range, &pwl));
        ck_assert_msg(pwl.n <= functions[_i].most_segments, "%d segments", pwl.n);
        for (int code = 0; code < QNN_WIDE_VALUES; code++) {
            const int64_t y =
                on_segment(code, pwl.starts, &pwl.lines[0][0], pwl.n, qnn_pwl_bits(out)) +
                range.zero;
            const double least = (double)dtype_least(out), most = (double)dtype_greatest(out);
            const double found = fmax(fmin((double)y, most), least);
            const double exact = fmax(fmin(wanted[code] + (double)range.zero, most), least);

            worst = fmax(worst, fabs(found - exact));
        }
        printf("function %d to %s: %d segments, %.3f steps\n", _i, dtype_name(out), pwl.n, worst);
        ck_assert_msg(worst <= bound, "function %d to %s: %g steps", _i, dtype_name(out), worst);
    }
}
END_TEST

/* What bends up and down everywhere: refused, and not cut short. */
START_TEST(noise_is_refused)
{
    static double wanted[QNN_WIDE_VALUES];
    static struct qnn_pwl pwl;
    const struct qnn_pwl_range range = { DTYPE_I16, 0 };

    for (int code = 0; code < QNN_WIDE_VALUES; code++)
        wanted[code] = (double)((unsigned)code * 2654435761U >> 20);
    ck_assert(!qnn_pwl_fit(wanted, &range, &pwl));
}
END_TEST

/* --- the operator ----------------------------------------------------------------------------- */

/* One of `x`, with these segments. NULL: refused. */
static struct value *pwl_of(struct module *module, enum dtype dtype, int n, const uint16_t *starts,
                            const int32_t (*lines)[2], bool known)
{
    struct function *fn = module->main;
    const struct type of_x = type_make(dtype, 1, (int64_t[]){ 4 });
    const struct type of_starts = type_make(DTYPE_U16, 1, (int64_t[]){ n });
    const struct type of_lines = type_make(DTYPE_I32, 2, (int64_t[]){ n, 2 });
    const struct type of_scale = type_scalar(DTYPE_F32), of_zero = type_scalar(DTYPE_I8);
    float *scale = constant_alloc(fn, &of_scale);
    void *zero = constant_alloc(fn, &of_zero), *s = constant_alloc(fn, &of_starts);
    void *l = constant_alloc(fn, &of_lines);

    *scale = 1;
    dtype_store_int(DTYPE_I8, zero, 0, -3);
    memcpy(s, starts, (size_t)n * sizeof *starts);
    memcpy(l, lines, (size_t)n * sizeof *lines);
    return build(fn, OP_QNN_PWL, NULL, "y", NULL, NULL, 5,
                 (struct value *[]){ param_new(fn, "x", &of_x),
                                     known ? constant_new(fn, "starts", &of_starts, s)
                                           : param_new(fn, "starts", &of_starts),
                                     constant_new(fn, "lines", &of_lines, l),
                                     constant_new(fn, "scale", &of_scale, scale),
                                     constant_new(fn, "zero", &of_zero, zero) });
}

enum { STEP = 1 << 21 }; /* one, of results of 8 bits */

START_TEST(numbers_by_hand)
{
    static const uint16_t starts[] = { 0, 100, 200 };
    static const int32_t lines[][2] = { { 5 * STEP, 0 }, { 0, STEP / 2 }, { -512 * STEP, 0 } };
    static const int x[] = { 0, 103, 102, 65535 }, y[] = { 2, -1, -2, -128 };
    const int16_t codes[] = { (int16_t)(x[0] - 32768), (int16_t)(x[1] - 32768),
                              (int16_t)(x[2] - 32768), (int16_t)(x[3] - 32768) };
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = module_new(ctx);
    struct bulk bulk = { NULL, 0 };
    struct value *value = pwl_of(module, DTYPE_I16, 3, starts, lines, true);
    struct tensor in[5], out;

    ck_assert_ptr_nonnull(value);
    ck_assert_int_eq(value->type.dtype, DTYPE_I8);
    in[0] = (struct tensor){ value->def->inputs[0]->type, (void *)(uintptr_t)codes };
    for (int i = 1; i < 5; i++)
        in[i] = value_tensor(value->def->inputs[i]);
    out = tensor_new(&bulk, &value->type);
    ck_assert(op_row(OP_QNN_PWL)
                  ->evaluate(ctx, value->def,
                             (const struct tensor *[]){ &in[0], &in[1], &in[2], &in[3], &in[4] },
                             &out));
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(tensor_int_at(&out, i), y[i]);
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

static const struct {
    enum dtype dtype;
    uint16_t starts[2];
    int32_t lines[2][2];
    bool known;
    const char *error;
} refused[] = {
    { DTYPE_I8, { 0, 5 }, { { 0, 0 }, { 0, 0 } }, true, "input 0 of qnn.pwl is i8" },
    { DTYPE_I16, { 1, 5 }, { { 0, 0 }, { 0, 0 } }, true, "ascending starts from 0" },
    { DTYPE_U16, { 0, 0 }, { { 0, 0 }, { 0, 0 } }, true, "ascending starts from 0" },
    { DTYPE_I16, { 0, 5 }, { { 0, 1 << 29 }, { 0, 0 } }, true, "lines within 2^30" },
    { DTYPE_I16, { 0, 5 }, { { 0, 0 }, { INT32_MIN, 0 } }, true, "lines within 2^30" },
    { DTYPE_I16, { 0, 5 }, { { 0, 0 }, { 0, 20000 } }, true, "lines within 2^30" },
    { DTYPE_I16, { 0, 5 }, { { 0, 0 }, { 0, 0 } }, false, "the segments are not constants" },
};

START_TEST(malformed_segments_are_refused)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = module_new(ctx);

    ck_assert_ptr_null(pwl_of(module, refused[_i].dtype, 2, refused[_i].starts, refused[_i].lines,
                              refused[_i].known));
    ck_assert_msg(strstr(expect_text(ctx), refused[_i].error), "%s", expect_text(ctx));
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops: functions of 16 bits");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, every_code_is_near, 0, N_FUNCTIONS);
    tcase_add_test(tests, noise_is_refused);
    tcase_add_test(tests, numbers_by_hand);
    tcase_add_loop_test(tests, malformed_segments_are_refused, 0, sizeof refused / sizeof *refused);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
