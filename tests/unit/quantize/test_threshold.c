/* Thresholds: by hand, by brute force, and (kl) by an implementation in numpy of what TPU-MLIR
 * does, of which the results stand here. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "quantize/threshold.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static struct histogram h;

static void fill(double limit, uint64_t (*count)(uint64_t bin))
{
    h = (struct histogram){ .limit = limit };
    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        h.bins[i] = count((uint64_t)i);
        h.n += h.bins[i];
    }
}

static double find(const char *method)
{
    struct threshold_method m;

    ck_assert(threshold_method_parse(method, &m));
    return threshold_find(&m, &h);
}

static uint64_t hyperbola(uint64_t i)
{
    return 1000000 / (1 + i);
}
static uint64_t ramp_and_outlier(uint64_t i)
{
    return i < 400 ? 5000 - 10 * i : i == 2047 ? 3 : 0;
}
static uint64_t even(uint64_t i)
{
    (void)i;
    return 10;
}
static uint64_t scattered(uint64_t i)
{
    return (uint32_t)(i * 2654435761u) / (1u << 22) / (1 + i / 64);
}
static uint64_t cubic(uint64_t i)
{
    return 100000000 / (1 + i * i * i);
}
static uint64_t square(uint64_t i)
{
    return 1000000 / (1 + i * i / 50);
}

static const struct {
    uint64_t (*count)(uint64_t bin);
    int cut; /* what kl finds */
} shapes[] = { { hyperbola, 2048 }, { ramp_and_outlier, 2048 },
               { even, 2048 },      { scattered, 2048 },
               { cubic, 128 },      { square, 1024 } };

START_TEST(kl_cuts_where_the_other_implementation_does)
{
    fill(3, shapes[_i].count);
    ck_assert_double_eq(find("kl"), 3.0 * shapes[_i].cut / HISTOGRAM_BINS);
}
END_TEST

START_TEST(kl_does_not_see_zeros)
{
    double without;

    fill(3, square);
    without = find("kl");
    h.zeros = 50000000;
    h.bins[0] += h.zeros;
    h.n += h.zeros;
    ck_assert_double_eq(find("kl"), without);
}
END_TEST

START_TEST(percentiles_divide_the_numbers)
{
    fill(2048, even);
    ck_assert_double_eq(find("max"), 2048);
    ck_assert_double_eq_tol(find("percentile:50"), 1024, 1e-9);
    ck_assert_double_eq_tol(find("percentile:25"), 512, 1e-9);
    ck_assert_double_eq(find("percentile:100"), 2048);
    ck_assert_double_eq_tol(find("percentile"), 2048 * 0.9999, 1e-9);
    fill(2048, ramp_and_outlier); /* 3 of 1202003 lie above 400 */
    ck_assert_double_lt(find("percentile:99.999"), 400);
    ck_assert_double_gt(find("percentile:99.9999"), 2047);
}
END_TEST

START_TEST(half_of_the_numbers_zero_leaves_a_percentile_of_zero)
{
    fill(1, even);
    h.zeros = 1000000;
    h.bins[0] += h.zeros;
    h.n += h.zeros;
    ck_assert_double_lt(find("percentile:50"), 1.0 / HISTOGRAM_BINS);
}
END_TEST

static const char *const formats[] = { "int8",       "f8e4m3", "f8e5m2",   "f8e4m3fnuz",
                                       "f8e5m2fnuz", "f8e3m4", "hfp8_143", "f8e2m5",
                                       "u8e2m6",     "u8e3m5", "u8e4m4" };

/* One number as the format stores it: by search for int8, one by one for the others. */
static double stored(const struct threshold_method *m, double x)
{
    double best = 0;

    if (!m->integer)
        return (double)minifloat_decode(&m->minifloat, minifloat_encode(&m->minifloat, x, true));
    for (int code = 0; code <= 127; code++)
        if (fabs(code - x) < fabs(best - x))
            best = code;
    return best;
}

static double brute_error(const struct threshold_method *m, double threshold)
{
    const double scale = threshold / threshold_format_max(m);
    double sum = 0, n = 0;

    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        const double x = (i + 0.5) * h.limit / HISTOGRAM_BINS, count = (double)h.bins[i];

        sum += count * pow(x - scale * stored(m, (double)(float)(x / scale)), 2);
        n += count;
    }
    return sum / n;
}

/* No threshold among all i / 128 has less error than the one found. */
START_TEST(mse_finds_the_least_error_of_each_format)
{
    const int format = _i % N_ROWS(formats), shape = _i / N_ROWS(formats);
    struct threshold_method m;
    double least = INFINITY, found;
    char text[40];

    snprintf(text, sizeof text, "mse:%s", formats[format]);
    ck_assert(threshold_method_parse(text, &m));
    fill(7, shapes[shape].count);
    found = threshold_find(&m, &h);
    for (int i = 1; i <= 128; i++) {
        const double error = brute_error(&m, 7.0 * i / 128);

        least = error < least ? error : least;
        if (i % 16 == 0)
            ck_assert_double_eq_tol(threshold_error(&m, &h, 7.0 * i / 128), error,
                                    1e-9 * error + 1e-15);
    }
    ck_assert_double_eq_tol(brute_error(&m, found), least, 1e-9 * least + 1e-15);
}
END_TEST

/* All numbers are 127 steps of one size: int8 has them exactly only when it cuts nothing off. */
START_TEST(mse_by_hand)
{
    h = (struct histogram){ .limit = 1, .n = 3 };
    h.bins[2047] = 3;
    ck_assert_double_eq(find("mse"), 1);
    ck_assert_double_eq(find("mse:int8"), 1);
    /* One far number against very many near: it is cut off. */
    h = (struct histogram){ .limit = 1, .n = 100000001 };
    h.bins[100] = 50000000;
    h.bins[61] = 50000000;
    h.bins[2047] = 1;
    ck_assert_double_lt(find("mse"), 0.2);
}
END_TEST

START_TEST(tensors_of_zeros_and_of_nothing_have_thresholds_of_zero)
{
    static const char *const all[] = { "max", "percentile", "kl", "mse", "mse:f8e4m3" };

    for (int i = 0; i < N_ROWS(all); i++) {
        h = (struct histogram){ .n = 5, .zeros = 5, .bins = { 5 } };
        ck_assert_double_eq(find(all[i]), 0);
        h = (struct histogram){ .limit = 0 };
        ck_assert_double_eq(find(all[i]), 0);
    }
}
END_TEST

static const struct {
    const char *text, *name; /* name NULL: it is refused */
} names[] = {
    { "max", "max" },
    { "kl", "kl" },
    { "percentile", "percentile:99.99" },
    { "percentile:99.9", "percentile:99.9" },
    { "percentile:100", "percentile:100" },
    { "mse", "mse:int8" },
    { "mse:f8e4m3", "mse:f8e4m3" },
    { "mse:afp<4,3,9>", "mse:afp<4,3,9>" },
    { "", NULL },
    { ":", NULL },
    { "maxi", NULL },
    { "max:", NULL },
    { "max:3", NULL },
    { "percentile:", NULL },
    { "percentile:0", NULL },
    { "percentile:-1", NULL },
    { "percentile:100.1", NULL },
    { "percentile:nan", NULL },
    { "percentile:99x", NULL },
    { "mse:f4e2m1", NULL },
    { "mse:int4", NULL },
    { "mse:f8e4m3:", NULL },
    { "mse:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL },
};

START_TEST(names_are_methods)
{
    struct threshold_method m;
    const bool ok = threshold_method_parse(names[_i].text, &m);

    ck_assert_msg(ok == (names[_i].name != NULL), "%s", names[_i].text);
    if (ok)
        ck_assert_str_eq(m.name, names[_i].name);
}
END_TEST

START_TEST(the_list_has_every_format_of_eight_bits)
{
    struct arena arena = { NULL };
    struct threshold_method *list;
    const int n = threshold_methods(&arena, 99.5, &list);

    ck_assert_int_eq(n, 3 + N_ROWS(formats));
    ck_assert_str_eq(list[1].name, "percentile:99.5");
    for (int f = 0; f < N_ROWS(formats); f++) {
        bool found = false;

        for (int i = 0; i < n; i++)
            found |=
                strcmp(list[i].name + (strncmp(list[i].name, "mse:", 4) ? 0 : 4), formats[f]) == 0;
        ck_assert_msg(found, "%s", formats[f]);
    }
    arena_release(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("threshold");
    TCase *tests = tcase_create("threshold");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tests, kl_cuts_where_the_other_implementation_does, 0, N_ROWS(shapes));
    tcase_add_test(tests, kl_does_not_see_zeros);
    tcase_add_test(tests, percentiles_divide_the_numbers);
    tcase_add_test(tests, half_of_the_numbers_zero_leaves_a_percentile_of_zero);
    tcase_add_loop_test(tests, mse_finds_the_least_error_of_each_format, 0,
                        N_ROWS(formats) * N_ROWS(shapes));
    tcase_add_test(tests, mse_by_hand);
    tcase_add_test(tests, tensors_of_zeros_and_of_nothing_have_thresholds_of_zero);
    tcase_add_loop_test(tests, names_are_methods, 0, N_ROWS(names));
    tcase_add_test(tests, the_list_has_every_format_of_eight_bits);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
