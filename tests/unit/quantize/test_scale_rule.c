/* Scale rules: names, and scales by hand and by brute force. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "quantize/scale_rule.h"
#include "quantize/spread.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static struct arena arena;

static void release(void)
{
    arena_release(&arena);
}

static struct scale_rule rule_of(const char *text)
{
    struct scale_rule rule;

    ck_assert_msg(scale_rule_parse(text, &rule), "%s", text);
    return rule;
}

static struct number_format format_of(const char *text)
{
    struct number_format format;

    ck_assert_msg(number_format_parse(text, &format), "%s", text);
    return format;
}

/* --- names ------------------------------------------------------------------------------------ */

static const struct {
    const char *text, *name; /* "" = no rule */
    enum scale_kind kind;
    double number;
    bool needs_data;
} names[] = {
    { "unit", "unit", SCALE_UNIT, 0, false },
    { "1", "1", SCALE_FIXED, 1, false },
    { "0.25", "0.25", SCALE_FIXED, 0.25, false },
    { "0.333333343", "0.33333334", SCALE_FIXED, 0.333333343, false },
    { ".5", "0.5", SCALE_FIXED, 0.5, false },
    { "2e-3", "0.002", SCALE_FIXED, 2e-3, false },
    { "max", "max", SCALE_MAX, 0, true },
    { "percentile", "percentile:99.99", SCALE_PERCENTILE, 99.99, true },
    { "percentile:99.9", "percentile:99.9", SCALE_PERCENTILE, 99.9, true },
    { "percentile:100", "percentile:100", SCALE_PERCENTILE, 100, true },
    { "paper-percentile", "paper-percentile:99.99", SCALE_PAPER_PERCENTILE, 99.99, true },
    { "paper-percentile:50", "paper-percentile:50", SCALE_PAPER_PERCENTILE, 50, true },
    { "kl", "kl", SCALE_KL, 0, true },
    { "mse", "mse", SCALE_MSE, 0, true },
    { "pow2", "pow2:-5..0", SCALE_POW2, 0, true },
    { "pow2:-3..2", "pow2:-3..2", SCALE_POW2, 0, true },
    { "pow2:-1", "pow2:-1..-1", SCALE_POW2, 0, true },
    { "auto", "auto", SCALE_AUTO, 0, true },
    { "search", "search", SCALE_SEARCH, 0, true },
    { "", "", SCALE_UNIT, 0, false },
    { "Max", "", SCALE_UNIT, 0, false },
    { "max:", "", SCALE_UNIT, 0, false },
    { "max:1", "", SCALE_UNIT, 0, false },
    { "unit:1", "", SCALE_UNIT, 0, false },
    { "mse:f8e4m3", "", SCALE_UNIT, 0, false },
    { "0", "", SCALE_UNIT, 0, false },
    { "-1", "", SCALE_UNIT, 0, false },
    { "1e-39", "", SCALE_UNIT, 0, false }, /* subnormal */
    { "1e39", "", SCALE_UNIT, 0, false },
    { "1e999", "", SCALE_UNIT, 0, false },
    { "0x10", "", SCALE_UNIT, 0, false },
    { "inf", "", SCALE_UNIT, 0, false },
    { "nan", "", SCALE_UNIT, 0, false },
    { "1 ", "", SCALE_UNIT, 0, false },
    { "percentile:0", "", SCALE_UNIT, 0, false },
    { "percentile:101", "", SCALE_UNIT, 0, false },
    { "percentile:nan", "", SCALE_UNIT, 0, false },
    { "percentile:9x", "", SCALE_UNIT, 0, false },
    { "pow2:", "", SCALE_UNIT, 0, false },
    { "pow2:2..1", "", SCALE_UNIT, 0, false },
    { "pow2:1..", "", SCALE_UNIT, 0, false },
    { "pow2:..1", "", SCALE_UNIT, 0, false },
    { "pow2:-127..0", "", SCALE_UNIT, 0, false },
    { "pow2:0..128", "", SCALE_UNIT, 0, false },
    { "pow2:99999999999999999999", "", SCALE_UNIT, 0, false },
    { "pow2:1..2..3", "", SCALE_UNIT, 0, false },
    { "pow2: 1", "", SCALE_UNIT, 0, false },
};

START_TEST(names_are_rules)
{
    struct scale_rule rule, again;

    ck_assert_int_eq(scale_rule_parse(names[_i].text, &rule), *names[_i].name != 0);
    if (!*names[_i].name)
        return;
    ck_assert_str_eq(rule.name, names[_i].name);
    ck_assert_int_eq(rule.kind, names[_i].kind);
    ck_assert_double_eq(rule.number, names[_i].number);
    ck_assert_int_eq(scale_rule_needs_data(&rule), names[_i].needs_data);
    /* What it is called is what it is. */
    ck_assert(scale_rule_parse(rule.name, &again));
    ck_assert_str_eq(again.name, rule.name);
    ck_assert_int_eq(again.pow2_from, rule.pow2_from);
    ck_assert_int_eq(again.pow2_to, rule.pow2_to);
}
END_TEST

START_TEST(long_texts_are_no_rules)
{
    char text[400];
    struct scale_rule rule;

    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    ck_assert(!scale_rule_parse(text, &rule));
    memcpy(text, "percentile:", 11);
    ck_assert(!scale_rule_parse(text, &rule));
    memcpy(text, "percentile:99.99", 16);
    memset(text + 16, '9', 40);
    text[47] = '\0'; /* fits; the name has 10 digits */
    ck_assert(scale_rule_parse(text, &rule));
    ck_assert_str_eq(rule.name, "percentile:100");
}
END_TEST

/* rule, format, threshold method */
static const char *const thresholds[][3] = {
    { "unit", "f8e4m3", "" },
    { "0.5", "f8e4m3", "" },
    { "max", "i8", "max" },
    { "percentile", "i8", "percentile:99.99" },
    { "paper-percentile:99", "f8e5m2", "percentile:99" },
    { "kl", "i8", "kl" },
    { "mse", "i8", "mse:int8" },
    { "mse", "f8e4m3fnuz", "mse:f8e4m3fnuz" },
    { "mse", "i4", "" },
    { "mse", "f6e3m2", "" },
    { "pow2", "i8", "" },
    { "search", "i8", "" },
};

START_TEST(thresholds_are_methods)
{
    const struct scale_rule rule = rule_of(thresholds[_i][0]);
    const struct number_format format = format_of(thresholds[_i][1]);
    const char *name = scale_rule_threshold(&rule, &format, &arena);
    struct threshold_method method;

    ck_assert_str_eq(name, thresholds[_i][2]);
    if (*name) {
        ck_assert(threshold_method_parse(name, &method));
        ck_assert_str_eq(method.name, name);
    }
}
END_TEST

/* --- by hand ---------------------------------------------------------------------------------- */

static float of_numbers(const char *rule, const char *format, const float *numbers, int64_t n)
{
    const struct scale_rule r = rule_of(rule);
    const struct number_format f = format_of(format);

    return scale_of_numbers(&r, &f, numbers, n);
}

/* Of 1000 numbers 0.001, 0.002 ... 1 and their negatives. */
static const struct {
    const char *rule, *format;
    double scale;
    double tolerance;
} rows[] = {
    { "unit", "f8e4m3", 1, 0 },
    { "0.25", "f8e5m2", 0.25, 0 },
    { "max", "f8e4m3", 1.0 / 448, 0 },
    { "max", "f8e5m2", 1.0 / 57344, 0 },
    { "max", "f8e4m3fnuz", 1.0 / 240, 0 },
    { "max", "f4e2m1", 1.0 / 6, 0 },
    { "max", "i8", 1.0 / 127, 0 },
    { "max", "i4", 1.0 / 7, 0 },
    { "percentile:50", "i8", 0.5 / 127, 1e-3 / 127 },
    { "paper-percentile:50", "f8e4m3", 0.5 / 896, 1e-3 / 896 },
    { "pow2:-3..0", "i8", 0.125, 0 },
    { "pow2:-20..0", "i8", 0.0078125, 0 }, /* half of 2^-6 clips nothing but 1 itself */
    { "max", "f16", 1, 0 },
    { "0.5", "bf16", 1, 0 },
    { "max", "mxfp8", 1, 0 },
    { "max", "afp8", 1, 0 },
    { "kl", "afp<4,3,7>", 1, 0 },
};

static void fill(float numbers[2000])
{
    for (int i = 0; i < 2000; i++)
        numbers[i] = (float)((i % 2 ? -1 : 1) * (i / 2 + 1) / 1000.0);
}

START_TEST(scales_by_hand)
{
    float numbers[2000], again[4000];
    const float found = (fill(numbers), of_numbers(rows[_i].rule, rows[_i].format, numbers, 2000));

    ck_assert_msg(fabs((double)(float)rows[_i].scale - (double)found) <= rows[_i].tolerance,
                  "%.9g, wanted %.9g", (double)found, rows[_i].scale);
    /* More than fit a spread: through the histogram. */
    memcpy(again, numbers, sizeof numbers);
    memcpy(again + 2000, numbers, sizeof numbers);
    ck_assert_double_eq((double)of_numbers(rows[_i].rule, rows[_i].format, again, 4000),
                        (double)found);
}
END_TEST

static const char *const all_rules[] = { "unit", "0.25", "max",  "percentile", "paper-percentile",
                                         "kl",   "mse",  "pow2", "search" };
static const char *const all_formats[] = { "f16",        "bf16",     "i8",         "i4",
                                           "f8e4m3",     "f8e5m2",   "f8e3m4",     "f8e4m3fnuz",
                                           "f8e5m2fnuz", "hfp8_143", "f6e2m3",     "f6e3m2",
                                           "f4e2m1",     "afp8",     "afp<4,3,7>", "mxfp8",
                                           "f8e2m5",     "u8e2m6",   "u8e4m4" };

static void each_combination(void (*check)(const struct scale_rule *, const struct number_format *))
{
    for (int r = 0; r < N_ROWS(all_rules); r++)
        for (int f = 0; f < N_ROWS(all_formats); f++) {
            const struct scale_rule rule = rule_of(all_rules[r]);
            const struct number_format format = format_of(all_formats[f]);

            check(&rule, &format);
        }
}

static void check_zeros(const struct scale_rule *rule, const struct number_format *format)
{
    const float zeros[5] = { 0, -0.0F, 0, 0, 0 };
    const float bad[3] = { NAN, INFINITY, -INFINITY };
    const struct histogram empty = { .limit = 0 }, zero = { .n = 5, .zeros = 5, .bins = { 5 } };
    const double wanted =
        rule->kind == SCALE_FIXED && number_format_has_scale(format) ? rule->number : 1;

    if (rule->kind == SCALE_SEARCH)
        return;
    ck_assert_double_eq((double)scale_of_numbers(rule, format, zeros, 5), wanted);
    ck_assert_double_eq((double)scale_of_numbers(rule, format, zeros, 0), wanted);
    ck_assert_double_eq((double)scale_of_numbers(rule, format, bad, 3), wanted);
    ck_assert_double_eq((double)scale_of_histogram(rule, format, &empty), wanted);
    ck_assert_double_eq((double)scale_of_histogram(rule, format, &zero), wanted);
}

START_TEST(zeros_and_nothing_have_the_scale_1)
{
    each_combination(check_zeros);
}
END_TEST

static void check_extremes(const struct scale_rule *rule, const struct number_format *format)
{
    static const float tiny[] = { 1e-45F, 2e-45F, -3e-45F };
    static const float huge[] = { FLT_MAX, -FLT_MAX, 1, NAN };
    static const float lone[] = { 0.3F };
    const float found[] = { scale_of_numbers(rule, format, tiny, 3),
                            scale_of_numbers(rule, format, huge, 4),
                            scale_of_numbers(rule, format, lone, 1) };

    for (int i = 0; i < 3 && rule->kind != SCALE_SEARCH; i++)
        ck_assert_msg(found[i] >= FLT_MIN && found[i] <= FLT_MAX, "%s %s: %g", rule->name,
                      format->name, (double)found[i]);
}

START_TEST(scales_are_normal_numbers)
{
    each_combination(check_extremes);
}
END_TEST

START_TEST(numbers_that_are_not_finite_do_not_count)
{
    const float with[] = { 0.5F, NAN, -2, INFINITY, 0.25F }, without[] = { 0.5F, -2, 0.25F };

    for (int r = 0; r < N_ROWS(all_rules) - 1; r++)
        ck_assert_double_eq((double)of_numbers(all_rules[r], "f8e4m3", with, 5),
                            (double)of_numbers(all_rules[r], "f8e4m3", without, 3));
}
END_TEST

/* --- by brute force --------------------------------------------------------------------------- */

static double error_of(const struct number_format *format, const float *x, int n, double scale)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += pow((double)x[i] - number_format_round(format, (double)x[i], scale), 2);
    return sum;
}

/* Bell-shaped, with a tail; the same at every run. */
static void fill_bell(float *x, int n)
{
    uint32_t s = 7;

    for (int i = 0; i < n; i++) {
        double v = 0;

        for (int k = 0; k < 12; k++) {
            s = s * 1664525u + 1013904223u;
            v += s / 4294967296.0 - 0.5;
        }
        x[i] = (float)(v * (i % 50 == 0 ? 3 : 1));
    }
}

/* No candidate has less error than what is found. */
START_TEST(mse_and_pow2_have_the_least_error)
{
    const struct number_format format = format_of(all_formats[2 + _i]); /* those with a scale */
    float x[1500];
    double least = INFINITY, limit = 0, found;

    fill_bell(x, 1500);
    for (int i = 0; i < 1500; i++)
        limit = fmax(limit, fabs((double)x[i]));
    for (int i = 1; i <= 128; i++)
        least =
            fmin(least, error_of(&format, x, 1500,
                                 (double)(float)(limit * i / 128 / number_format_max(&format))));
    found = error_of(&format, x, 1500, (double)of_numbers("mse", all_formats[2 + _i], x, 1500));
    ck_assert_double_le(found, least * (1 + 1e-6));

    least = INFINITY;
    for (int k = -9; k <= 2; k++)
        least = fmin(least, error_of(&format, x, 1500, ldexp(1, k)));
    found =
        error_of(&format, x, 1500, (double)of_numbers("pow2:-9..2", all_formats[2 + _i], x, 1500));
    ck_assert_double_le(found, least * (1 + 1e-9));
}
END_TEST

/* Rounding of arrays is that of number_format_round of the f32 quotient. */
START_TEST(arrays_are_rounded_as_single_numbers)
{
    const struct number_format format = format_of(all_formats[_i % N_ROWS(all_formats)]);
    const struct rounder rounder = rounder_of(&format);
    float x[600], y[600];

    fill_bell(x, 600);
    x[0] = 0;
    x[1] = 2.5F; /* ties */
    x[2] = 3.5F;
    x[3] = -2.5F;
    x[4] = 1e6F;
    x[5] = -1e6F;
    for (double scale = 0.0625; scale < 10; scale *= 4) {
        rounder_simulate(&rounder, x, scale, y, 600);
        for (int i = 0; i < 600; i++)
            ck_assert_float_eq(y[i], (float)number_format_round(&format, (double)x[i], scale));
    }
}
END_TEST

/* --- calibration tables ----------------------------------------------------------------------- */

START_TEST(tables_give_thresholds)
{
    struct calib_threshold list[] = { { "max", 9 }, { "percentile:99.99", 4 }, { "mse:int8", 2 } };
    struct histogram h = { .limit = 8, .n = 10, .bins = { [2047] = 10 } };
    struct calib_tensor tensor = {
        .min = -8, .max = 1, .n_thresholds = 3, .thresholds = list, .histogram = &h
    };
    /* rule, format, scale with and without histogram; 0: false */
    static const struct {
        const char *rule, *format;
        double with, without;
    } cases[] = {
        { "unit", "i8", 1, 1 },
        { "0.5", "i8", 0.5, 0.5 },
        { "max", "i8", 9 / 127.0, 9 / 127.0 },
        { "percentile", "i8", 4 / 127.0, 4 / 127.0 },
        { "paper-percentile", "f8e4m3", 4 / 896.0, 4 / 896.0 },
        { "percentile:100", "i8", 8 / 127.0, 0 },
        { "mse", "i8", 2 / 127.0, 2 / 127.0 },
        { "kl", "i8", 8 / 127.0, 0 },
        { "pow2:-3..3", "i8", 8, 0 }, /* 1 as good as 64: the greatest scale */
        { "pow2:-3..3", "f16", 1, 1 },
        { "search", "i8", 0, 0 },
    };
    float scale;

    for (int i = 0; i < N_ROWS(cases); i++) {
        const struct scale_rule rule = rule_of(cases[i].rule);
        const struct number_format format = format_of(cases[i].format);

        for (int k = 0; k < 2; k++) {
            const double wanted = k ? cases[i].without : cases[i].with;

            tensor.histogram = k ? NULL : &h;
            ck_assert_int_eq(scale_of_calibration(&rule, &format, &tensor, &scale), wanted > 0);
            if (wanted > 0)
                ck_assert_float_eq(scale, (float)wanted);
        }
    }
}
END_TEST

/* A text table does not say which method its threshold is of. */
START_TEST(text_tables_give_their_only_threshold)
{
    struct calib_threshold only = { "", 4 };
    const struct calib_tensor tensor = {
        .min = -8, .max = 1, .n_thresholds = 1, .thresholds = &only
    };
    const struct number_format format = format_of("i8");
    const struct scale_rule kl = rule_of("kl"), max = rule_of("max"), pow2 = rule_of("pow2");
    float scale;

    ck_assert(scale_of_calibration(&kl, &format, &tensor, &scale));
    ck_assert_float_eq(scale, (float)(4 / 127.0));
    ck_assert(scale_of_calibration(&max, &format, &tensor, &scale));
    ck_assert_float_eq(scale, (float)(8 / 127.0));
    ck_assert(!scale_of_calibration(&pow2, &format, &tensor, &scale));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scale rules");
    TCase *tests = tcase_create("scale rules");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tests, NULL, release);
    tcase_add_loop_test(tests, names_are_rules, 0, N_ROWS(names));
    tcase_add_test(tests, long_texts_are_no_rules);
    tcase_add_loop_test(tests, thresholds_are_methods, 0, N_ROWS(thresholds));
    tcase_add_loop_test(tests, scales_by_hand, 0, N_ROWS(rows));
    tcase_add_test(tests, zeros_and_nothing_have_the_scale_1);
    tcase_add_test(tests, scales_are_normal_numbers);
    tcase_add_test(tests, numbers_that_are_not_finite_do_not_count);
    tcase_add_loop_test(tests, mse_and_pow2_have_the_least_error, 0, 11);
    tcase_add_loop_test(tests, arrays_are_rounded_as_single_numbers, 0, N_ROWS(all_formats));
    tcase_add_test(tests, tables_give_thresholds);
    tcase_add_test(tests, text_tables_give_their_only_threshold);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
