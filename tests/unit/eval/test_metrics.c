/* Metrics: numbers by hand, and a skewed distribution through a coarse rounding with clipping, of
 * which numpy gave the results (formulas of quantize/metrics.h, written independently). */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "quantize/metrics.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static struct arena arena;

static void release(void)
{
    arena_release(&arena);
}

static void check_close(double a, double b)
{
    ck_assert_msg(fabs(a - b) <= 1e-9 * fmax(1, fabs(b)), "%.17g, wanted %.17g", a, b);
}

/* --- against numpy ---------------------------------------------------------------------------- */

enum { N = 5000 };

static float x[N], y[N];

static void make_data(void)
{
    uint32_t s = 12345;

    for (int i = 0; i < N; i++) {
        double v;

        s = s * 1664525u + 1013904223u;
        v = ((int)(s >> 16) - 32768) / 4096.0;
        x[i] = (float)(v * fabs(v) / 4 + (i % 3 == 0 ? 0.5 : 0));
        v = rint((double)x[i] * 4) / 4;
        y[i] = (float)(v > 12 ? 12 : v < -12 ? -12 : v);
    }
}

static const struct moments
    wanted[] = {
        { .mean = 0.10793936190605163,
          .std = 7.080914720946293,
          .min = -15.9970703125,
          .max = 16.486331939697266,
          .skewness = -0.0009476710089954539,
          .kurtosis = -0.1653110461145193,
          .histogram = { 75,  80,  74,  83,  93,  100, 99,  112, 118, 130, 128,
                         157, 184, 202, 269, 700, 582, 249, 182, 195, 145, 131,
                         125, 96,  102, 107, 97,  91,  90,  77,  75,  52 } },
        { .mean = 0.0937,
          .std = 6.578559516337904,
          .min = -12,
          .max = 12,
          .skewness = -0.01437048940640303,
          .kurtosis = -0.5224078716413638,
          .histogram = { 362, 79,  67,  70,  90,  80,  86,  86,  108, 99,  112,
                         128, 140, 164, 196, 336, 716, 294, 192, 138, 139, 136,
                         111, 108, 95,  81,  74,  70,  86,  74,  70,  413 } },
        { .mean = -0.014239361906051635,
          .std = 0.837798820895069,
          .min = -4.486331939697266,
          .max = 3.9970703125,
          .skewness = -0.36892400791785085,
          .kurtosis = 11.31715238128571,
          .histogram = { 7,    9,    23, 16, 24, 23, 15, 23, 19, 22, 16, 20, 20, 21, 31, 27,
                         2621, 1773, 21, 24, 22, 25, 19, 21, 12, 23, 20, 24, 27, 15, 20, 17 } },
    };

static void check_moments(const struct moments *found, const struct moments *want)
{
    ck_assert_uint_eq(found->n, N);
    check_close(found->mean, want->mean);
    check_close(found->std, want->std);
    check_close(found->min, want->min);
    check_close(found->max, want->max);
    check_close(found->skewness, want->skewness);
    check_close(found->kurtosis, want->kurtosis);
    for (int i = 0; i < MOMENT_BINS; i++)
        ck_assert_uint_eq(found->histogram[i], want->histogram[i]);
}

static void check_result(const struct metrics_result *r)
{
    ck_assert_uint_eq(r->n, N);
    ck_assert_uint_eq(r->non_finite, 0);
    check_close(r->loss[LOSS_MSE], 0.7021096237206593);
    check_close(r->loss[LOSS_MAE], 0.30934649746417997);
    check_close(r->loss[LOSS_SNR], 0.013999911567959832);
    check_close(r->loss[LOSS_KLD], 7.7189818530030845);
    check_close(r->loss[LOSS_COS], 0.004824747717665168);
    check_moments(&r->data, &wanted[0]);
    check_moments(&r->quantized, &wanted[1]);
    check_moments(&r->noise, &wanted[2]);
}

START_TEST(all_numbers_are_those_of_numpy)
{
    struct metrics_result r;

    make_data();
    metrics_of(&arena, x, y, N, &r);
    check_result(&r);
}
END_TEST

/* In portions, one of them empty. */
START_TEST(tensors_add_up)
{
    static const int portions[] = { 1, 700, 0, 255, 257, 2000, 1787 };
    struct metrics *metrics = metrics_new(&arena);
    struct metrics_result r;

    make_data();
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0, at = 0; i < N_ROWS(portions); at += portions[i++])
            (pass ? metrics_add : metrics_range)(metrics, x + at, y + at, portions[i]);
    metrics_result(metrics, &r);
    check_result(&r);
}
END_TEST

/* --- by hand ---------------------------------------------------------------------------------- */

START_TEST(four_numbers_by_hand)
{
    const float a[] = { 1, -2, 3, 2 }, b[] = { 1, -1, 4, 2 };
    struct metrics_result r;

    metrics_of(&arena, a, b, 4, &r);
    check_close(r.loss[LOSS_MSE], 0.5);
    check_close(r.loss[LOSS_MAE], 0.5);
    check_close(r.loss[LOSS_SNR], 2.0 / 18);
    check_close(r.loss[LOSS_COS], 1 - 19 / sqrt(18.0 * 22));
    check_close(r.noise.mean, 0.5);
    check_close(r.noise.std, 0.5);
    check_close(r.noise.skewness, 0);
    check_close(r.noise.kurtosis, -2);
    ck_assert_uint_eq(r.noise.histogram[0], 2);
    ck_assert_uint_eq(r.noise.histogram[MOMENT_BINS - 1], 2);
}
END_TEST

/* x: one number in each of bins 0, 100, 200, 300, the greatest in the last bin. Cells: 0 .. 50,
 * 51 .. 150, 151 .. 250, 251 .. 1173, 1174 .. 2047. y: two in the bins 0 and 200, one in the last.
 * Cells: 0 .. 100, 101 .. 1123, 1124 .. 2047. */
START_TEST(divergence_by_hand)
{
    const float a[] = { 0.5F, 100.5F, 200.5F, 300.5F, 2048 };
    const float b[] = { 0.5F, 0.5F, 200.5F, 200.5F, 2048 };
    const double p0 = 0.2 / 51, p1 = 0.2 / 100, p3 = 0.2 / 923, p4 = 0.2 / 874;
    const double q0 = 0.4 / 101, q1 = 0.4 / 1023, q2 = 0.2 / 924;
    struct metrics_result r;

    metrics_of(&arena, a, b, 5, &r);
    check_close(r.loss[LOSS_KLD], 51 * p0 * log(p0 / q0) + 50 * p1 * log(p1 / q0) +
                                      50 * p1 * log(p1 / q1) + 100 * p1 * log(p1 / q1) +
                                      873 * p3 * log(p3 / q1) + 50 * p3 * log(p3 / q2) +
                                      874 * p4 * log(p4 / q2));
}
END_TEST

/* A pair that counts three times is three pairs. */
START_TEST(counted_pairs_are_pairs)
{
    const float a[] = { 1, 7, -2, NAN, 0 }, b[] = { 1.5F, 6, -2, 1, 0.5F };
    const double counts[] = { 3, 1, 2, 4, 1 };
    float all_a[11], all_b[11];
    struct metrics_result counted, single;
    int n = 0;

    for (int i = 0; i < 5; i++)
        for (int k = 0; k < (int)counts[i]; k++) {
            all_a[n] = a[i];
            all_b[n++] = b[i];
        }
    metrics_of_counted(&arena, a, b, counts, 5, &counted);
    metrics_of(&arena, all_a, all_b, n, &single);
    ck_assert_uint_eq(counted.n, 7);
    ck_assert_uint_eq(counted.non_finite, 4);
    for (int i = 0; i < LOSS_COUNT; i++)
        check_close(counted.loss[i], single.loss[i]);
    check_close(counted.noise.kurtosis, single.noise.kurtosis);
    check_close(counted.data.skewness, single.data.skewness);
    ck_assert_mem_eq(counted.data.histogram, single.data.histogram, sizeof single.data.histogram);
}
END_TEST

START_TEST(zeros_and_equal_numbers_have_no_divergence)
{
    float a[2148];
    struct metrics_result r;

    for (int i = 0; i < 2148; i++)
        a[i] = i < 2048 ? (float)i + 0.5F : 0;
    a[2047] = 2048;
    metrics_of(&arena, a, a, 2148, &r);
    for (int i = 0; i < LOSS_COUNT; i++)
        ck_assert_double_eq(r.loss[i], 0);
    ck_assert_double_eq(r.noise.std, 0);
    ck_assert_uint_eq(r.noise.histogram[0], 2148);
}
END_TEST

/* What saturates far below its magnitude costs log(1 / KLD_LEAST) and more. */
START_TEST(saturation_is_dear)
{
    const float a[] = { 1, 2, 3, 100 }, b[] = { 1, 2, 3, 3 };
    struct metrics_result r;

    metrics_of(&arena, a, b, 4, &r);
    ck_assert_double_gt(r.loss[LOSS_KLD], 0.25 * log(0.25 / KLD_LEAST));
}
END_TEST

START_TEST(what_is_not_finite_is_counted_and_left_out)
{
    const float a[] = { 1, NAN, 3, INFINITY, -INFINITY, 2, 5 };
    const float b[] = { 1, 1, NAN, INFINITY, 0, 3, -INFINITY };
    struct metrics_result r;

    metrics_of(&arena, a, b, 7, &r);
    ck_assert_uint_eq(r.n, 2);
    ck_assert_uint_eq(r.non_finite, 5);
    ck_assert_double_eq(r.loss[LOSS_MSE], 0.5);
    ck_assert_double_eq(r.data.max, 2);
    ck_assert_double_eq(r.quantized.max, 3);
}
END_TEST

START_TEST(nothing_has_no_loss)
{
    const float nan = NAN;
    struct metrics_result r;

    for (int n = 0; n < 2; n++) {
        metrics_of(&arena, &nan, &nan, n, &r);
        ck_assert_uint_eq(r.n, 0);
        for (int i = 0; i < LOSS_COUNT; i++)
            ck_assert_double_eq(r.loss[i], 0);
        ck_assert_double_eq(r.data.mean, 0);
        ck_assert_double_eq(r.data.max, 0);
    }
}
END_TEST

/* x, y, snr, cos */
static const struct {
    float x[2], y[2];
    double snr, cosine;
} extremes[] = {
    { { 0, 0 }, { 0, 0 }, 0, 0 },
    { { 0, 0 }, { 1, 0 }, (double)INFINITY, 1 },
    { { 1, 1 }, { 0, 0 }, 1, 1 },
    { { 3, 3 }, { 5, 5 }, 4.0 / 9, 0 },
    { { 1, 1 }, { -1, -1 }, 4, 2 },
    { { 3e38F, 3e38F }, { -3e38F, 3e38F }, 2, 1 },
    { { 1e-45F, 1e-45F }, { 1e-45F, 1e-45F }, 0, 0 },
};

START_TEST(extremes_are_defined)
{
    struct metrics_result r;

    metrics_of(&arena, extremes[_i].x, extremes[_i].y, 2, &r);
    if (isinf(extremes[_i].snr))
        ck_assert(isinf(r.loss[LOSS_SNR]));
    else
        check_close(r.loss[LOSS_SNR], extremes[_i].snr);
    check_close(r.loss[LOSS_COS], extremes[_i].cosine);
    ck_assert(isfinite(r.loss[LOSS_KLD]) && r.loss[LOSS_KLD] >= 0);
    ck_assert(isfinite(r.data.skewness) && isfinite(r.noise.kurtosis));
}
END_TEST

/* A mean far from 0 costs no digits: the moments are about the mean. */
START_TEST(an_offset_leaves_the_shape)
{
    float a[1000];
    struct metrics_result near, far;

    for (int i = 0; i < 1000; i++)
        a[i] = (float)(i * i % 97) / 64;
    metrics_of(&arena, a, a, 1000, &near);
    for (int i = 0; i < 1000; i++)
        a[i] += 131072; /* exact: 97 / 64 has 6 bits behind the point */
    metrics_of(&arena, a, a, 1000, &far);
    check_close(far.data.mean - 131072, near.data.mean);
    check_close(far.data.std, near.data.std);
    check_close(far.data.skewness, near.data.skewness);
    check_close(far.data.kurtosis, near.data.kurtosis);
}
END_TEST

START_TEST(losses_have_names)
{
    enum loss loss;

    for (int i = 0; i < LOSS_COUNT; i++) {
        ck_assert(loss_parse(loss_name((enum loss)i), &loss));
        ck_assert_int_eq(loss, i);
    }
    ck_assert(!loss_parse("", &loss));
    ck_assert(!loss_parse("ms", &loss));
    ck_assert(!loss_parse("MSE", &loss));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("metrics");
    TCase *tests = tcase_create("metrics");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tests, NULL, release);
    tcase_add_test(tests, all_numbers_are_those_of_numpy);
    tcase_add_test(tests, tensors_add_up);
    tcase_add_test(tests, four_numbers_by_hand);
    tcase_add_test(tests, divergence_by_hand);
    tcase_add_test(tests, counted_pairs_are_pairs);
    tcase_add_test(tests, zeros_and_equal_numbers_have_no_divergence);
    tcase_add_test(tests, saturation_is_dear);
    tcase_add_test(tests, what_is_not_finite_is_counted_and_left_out);
    tcase_add_test(tests, nothing_has_no_loss);
    tcase_add_loop_test(tests, extremes_are_defined, 0, N_ROWS(extremes));
    tcase_add_test(tests, an_offset_leaves_the_shape);
    tcase_add_test(tests, losses_have_names);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
