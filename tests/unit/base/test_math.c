/* test_math.c - runtime/embed/exp_f32.h and its kin: how exact they are, and what they make of the
 * numbers at the edges. tests/exhaustive/math.c looks at every f32. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/embed/acos_f32.h"
#include "runtime/embed/asin_f32.h"
#include "runtime/embed/atan_f32.h"
#include "runtime/embed/cos_f32.h"
#include "runtime/embed/elu_f32.h"
#include "runtime/embed/erf_f32.h"
#include "runtime/embed/exp_f32.h"
#include "runtime/embed/exp_negative_f32.h"
#include "runtime/embed/f32_to_i32.h"
#include "runtime/embed/fmod_f32.h"
#include "runtime/embed/gelu_f32.h"
#include "runtime/embed/gelu_tanh_f32.h"
#include "runtime/embed/log_f32.h"
#include "runtime/embed/mish_f32.h"
#include "runtime/embed/sigmoid_f32.h"
#include "runtime/embed/silu_f32.h"
#include "runtime/embed/sin_f32.h"
#include "runtime/embed/softplus_f32.h"
#include "runtime/embed/sqrt_f32.h"
#include "runtime/embed/tanh_f32.h"
#include "tests/support/math_sweep.h"

/* A prime: every exponent's 2^23 numbers are met at other places. */
enum { STEP = 8191 };

START_TEST(no_result_is_further_off_than_the_header_says)
{
    const struct math_function *function = &math_functions[_i];
    float at = 0;
    const double worst = math_sweep(function, STEP, 0, &at);

    ck_assert_msg(worst <= function->limit, "%s(%a) is off by %g ulp", function->name, (double)at,
                  worst);
}
END_TEST

static float elu(float v)
{
    return elu_f32(v, 0.5f);
}

static float to_i32(float v)
{
    return (float)f32_to_i32(v);
}

static const struct {
    const char *name;
    float (*own)(float v);
    float of, want;
} edges[] = {
    { "to_i32", to_i32, -0.75f, 0 },
    { "to_i32", to_i32, 1.75f, 1 },
    { "to_i32", to_i32, -1.75f, -1 },
    { "to_i32", to_i32, 2147483520.0f, 2147483520.0f },
    { "to_i32", to_i32, 2147483648.0f, 2147483648.0f }, /* INT32_MAX, as f32 */
    { "to_i32", to_i32, -2147483648.0f, -2147483648.0f },
    { "to_i32", to_i32, -3e9f, -2147483648.0f },
    { "to_i32", to_i32, INFINITY, 2147483648.0f },
    { "to_i32", to_i32, NAN, 0 },
    { "acos", acos_f32, -1, 0x1.921fb6p+1f },
    { "acos", acos_f32, -0.0f, 0x1.921fb6p+0f },
    { "acos", acos_f32, 1, 0 },
    { "acos", acos_f32, 0x1.000002p+0f, NAN },
    { "acos", acos_f32, -INFINITY, NAN },
    { "acos", acos_f32, NAN, NAN },
    { "asin", asin_f32, -1, -0x1.921fb6p+0f },
    { "asin", asin_f32, -0.0f, -0.0f },
    { "asin", asin_f32, 1e-45f, 1e-45f },
    { "asin", asin_f32, 0x1.000002p+0f, NAN },
    { "asin", asin_f32, INFINITY, NAN },
    { "asin", asin_f32, NAN, NAN },
    { "atan", atan_f32, -INFINITY, -0x1.921fb6p+0f },
    { "atan", atan_f32, -0.0f, -0.0f },
    { "atan", atan_f32, 1e-45f, 1e-45f },
    { "atan", atan_f32, 3e38f, 0x1.921fb6p+0f },
    { "atan", atan_f32, NAN, NAN },
    { "cos", cos_f32, -0.0f, 1 },
    { "cos", cos_f32, 1e-45f, 1 },
    { "cos", cos_f32, -INFINITY, NAN },
    { "cos", cos_f32, NAN, NAN },
    { "elu", elu, -INFINITY, -0.5f },
    { "elu", elu, -0.0f, -0.0f },
    { "elu", elu, 3e38f, 3e38f },
    { "elu", elu, INFINITY, INFINITY },
    { "elu", elu, NAN, NAN },
    { "erf", erf_f32, -INFINITY, -1 },
    { "erf", erf_f32, -0.0f, -0.0f },
    { "erf", erf_f32, 0, 0 },
    { "erf", erf_f32, INFINITY, 1 },
    { "erf", erf_f32, NAN, NAN },
    { "exp", exp_f32, -INFINITY, 0 },
    { "exp", exp_f32, -3e38f, 0 },
    { "exp", exp_f32, -104, 0 },
    { "exp", exp_f32, -0x1.9d1da0p+6f, 0x1p-149f },
    { "exp", exp_f32, -0.0f, 1 },
    { "exp", exp_f32, 1e-45f, 1 },
    { "exp", exp_f32, 0x1.62e42ep+6f, 0x1.ffff08p+127f },
    { "exp", exp_f32, 0x1.62e430p+6f, INFINITY },
    { "exp", exp_f32, 3e38f, INFINITY },
    { "exp", exp_f32, INFINITY, INFINITY },
    { "exp", exp_f32, NAN, NAN },
    { "exp_negative", exp_negative_f32, 0, 1 },
    { "exp_negative", exp_negative_f32, -0.0f, 1 },
    { "exp_negative", exp_negative_f32, -1e-45f, 1 },
    { "exp_negative", exp_negative_f32, -88, 0 },
    { "exp_negative", exp_negative_f32, -3e38f, 0 },
    { "exp_negative", exp_negative_f32, -INFINITY, 0 },
    { "exp_negative", exp_negative_f32, NAN, NAN },
    { "exp_negative", exp_negative_f32, -NAN, NAN },
    { "gelu", gelu_f32, -0.0f, -0.0f },
    { "gelu", gelu_f32, -1e30f, -0.0f },
    { "gelu", gelu_f32, 3e38f, 3e38f },
    { "gelu", gelu_f32, INFINITY, INFINITY },
    { "gelu", gelu_f32, -INFINITY, -0.0f },
    { "gelu", gelu_f32, NAN, NAN },
    { "gelu_tanh", gelu_tanh_f32, -0.0f, -0.0f },
    { "gelu_tanh", gelu_tanh_f32, -3e38f, -0.0f },
    { "gelu_tanh", gelu_tanh_f32, 3e38f, 3e38f },
    { "gelu_tanh", gelu_tanh_f32, INFINITY, INFINITY },
    { "gelu_tanh", gelu_tanh_f32, NAN, NAN },
    { "log", log_f32, -INFINITY, NAN },
    { "log", log_f32, -1e-45f, NAN },
    { "log", log_f32, -0.0f, -INFINITY },
    { "log", log_f32, 0, -INFINITY },
    { "log", log_f32, 0x1p-149f, -0x1.9d1da0p+6f },
    { "log", log_f32, 1, 0 },
    { "log", log_f32, INFINITY, INFINITY },
    { "log", log_f32, NAN, NAN },
    { "mish", mish_f32, -0.0f, -0.0f },
    { "mish", mish_f32, 3e38f, 3e38f },
    { "mish", mish_f32, INFINITY, INFINITY },
    { "mish", mish_f32, -INFINITY, -0.0f },
    { "mish", mish_f32, NAN, NAN },
    { "sigmoid", sigmoid_f32, -INFINITY, 0 },
    { "sigmoid", sigmoid_f32, -0.0f, 0.5f },
    { "sigmoid", sigmoid_f32, INFINITY, 1 },
    { "sigmoid", sigmoid_f32, NAN, NAN },
    { "silu", silu_f32, -0.0f, -0.0f },
    { "silu", silu_f32, 3e38f, 3e38f },
    { "silu", silu_f32, INFINITY, INFINITY },
    { "silu", silu_f32, -INFINITY, 0 },
    { "silu", silu_f32, NAN, NAN },
    { "sin", sin_f32, -0.0f, -0.0f },
    { "sin", sin_f32, -1e-45f, -1e-45f },
    { "sin", sin_f32, 0x1.fffffep+127f, -0x1.0b3366p-1f },
    { "sin", sin_f32, INFINITY, NAN },
    { "sin", sin_f32, NAN, NAN },
    { "softplus", softplus_f32, -INFINITY, 0 },
    { "softplus", softplus_f32, 3e38f, 3e38f },
    { "softplus", softplus_f32, INFINITY, INFINITY },
    { "softplus", softplus_f32, NAN, NAN },
    { "sqrt", sqrt_f32, -0.0f, -0.0f },
    { "sqrt", sqrt_f32, 1e-45f, 0x1.6a09e6p-75f },
    { "sqrt", sqrt_f32, -1e-45f, NAN },
    { "sqrt", sqrt_f32, INFINITY, INFINITY },
    { "tanh", tanh_f32, -INFINITY, -1 },
    { "tanh", tanh_f32, -0.0f, -0.0f },
    { "tanh", tanh_f32, 1e-45f, 1e-45f },
    { "tanh", tanh_f32, INFINITY, 1 },
    { "tanh", tanh_f32, NAN, NAN },
};

START_TEST(zeros_infinities_and_nan_are_what_they_should_be)
{
    const float got = edges[_i].own(edges[_i].of), want = edges[_i].want;

    if (isnan(want))
        ck_assert_msg(isnan(got), "%s(%g) is %g", edges[_i].name, (double)edges[_i].of,
                      (double)got);
    else
        ck_assert_msg(got == want && signbit(got) == signbit(want), "%s(%a) is %a, not %a",
                      edges[_i].name, (double)edges[_i].of, (double)got, (double)want);
}
END_TEST

/* Of numbers of all sizes that b is set beside: quotients of any size, just below and above whole
 * ones, zeros, infinity and NaN. */
START_TEST(remainders_are_those_of_the_c_library)
{
    enum { PAIRS = 2000000, KINDS = 4 };
    static const float special[] = { 0.0f, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-149f, 0x1p127f };
    const uint32_t n_special = sizeof special / sizeof *special;
    uint32_t state = 1;

    for (int i = 0; i < PAIRS; i++) {
        uint32_t word[2];
        float a, b, own, theirs;

        for (int k = 0; k < 2; k++)
            word[k] = state = state * 1664525u + 1013904223u;
        a = f32_of_bits(word[0]);
        b = f32_of_bits(word[1] ^ word[0] >> 16);
        if (i % KINDS == 1 && isnormal(a) && isnormal(b)) /* 2^0 to 2^31 times as great */
            b = ldexpf(b, ilogbf(a) - ilogbf(b) - (int)(word[1] >> 27));
        if (i % KINDS == 2) /* nearly this multiple of b */
            a = nextafterf(b * (float)(word[0] >> 7), word[0] & 1 ? INFINITY : 0);
        if (i % KINDS == 3)
            *(word[0] >> 31 ? &a : &b) = special[word[1] % n_special];
        own = fmod_f32(a, b);
        theirs = fmodf(a, b);
        ck_assert_msg(f32_bits(own) == f32_bits(theirs) || (own != own && theirs != theirs),
                      "fmod(%a, %a) = %a, not %a", (double)a, (double)b, (double)own,
                      (double)theirs);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("math");
    TCase *tcase = tcase_create("math");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, no_result_is_further_off_than_the_header_says, 0, n_math_functions);
    tcase_add_loop_test(tcase, zeros_infinities_and_nan_are_what_they_should_be, 0,
                        (int)(sizeof edges / sizeof *edges));
    tcase_add_test(tcase, remainders_are_those_of_the_c_library);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
