/* The search against brute force: each trial's losses are those of metrics, the best is the least,
 * and its scales are those that give its losses. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantize/format_search.h"
#include "quantize/points.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static struct arena arena;

static void release(void)
{
    arena_release(&arena);
}

static struct search_space space_of(const char *formats, enum loss loss)
{
    const struct number_format *list;
    const char *wrong = "";
    int n;

    ck_assert_msg(search_formats_parse(&arena, formats, &list, &n, &wrong), "%s", wrong);
    return search_space_of(&arena, list, n, loss);
}

/* Bell-shaped; a channel's width is its number + 1, and some have outliers. */
static void fill(float *x, int64_t outer, int64_t channels, int64_t inner)
{
    uint32_t s = 99;

    for (int64_t i = 0; i < outer * channels * inner; i++) {
        const int64_t channel = i / inner % channels;
        double v = 0;

        for (int k = 0; k < 12; k++) {
            s = s * 1664525u + 1013904223u;
            v += s / 4294967296.0 - 0.5;
        }
        x[i] = (float)(v * (double)(channel + 1) * (channel % 3 == 1 && i % 37 == 0 ? 4 : 1));
    }
}

static void check_close(double a, double b)
{
    ck_assert_msg(fabs(a - b) <= 1e-9 * fmax(1, fabs(b)), "%.17g, wanted %.17g", a, b);
}

/* The losses of numbers stored with these scales; kld, which is a mean, is that of the channels'.
 */
static void losses_of(const struct number_format *format, const float *scales, const float *x,
                      int64_t outer, int64_t channels, int64_t inner, double loss[LOSS_COUNT])
{
    const struct rounder rounder = rounder_of(format);
    const int64_t n = outer * inner;
    float *all = arena_array(&arena, float, n *channels);
    float *one_x = arena_array(&arena, float, n), *one_y = arena_array(&arena, float, n);
    struct metrics_result result;
    double kld = 0, non_zero = 0;

    for (int64_t c = 0; c < channels; c++) {
        double count = 0;

        for (int64_t o = 0; o < outer; o++)
            memcpy(one_x + o * inner, x + (o * channels + c) * inner,
                   (size_t)inner * sizeof *one_x);
        rounder_simulate(&rounder, one_x, (double)scales[c], one_y, (size_t)n);
        for (int64_t o = 0; o < outer; o++)
            memcpy(all + (o * channels + c) * inner, one_y + o * inner,
                   (size_t)inner * sizeof *one_x);
        for (int64_t i = 0; i < n; i++)
            count += isfinite(one_x[i]) && one_x[i] != 0;
        metrics_of(&arena, one_x, one_y, n, &result);
        kld += result.loss[LOSS_KLD] * count;
        non_zero += count;
    }
    metrics_of(&arena, x, all, n * channels, &result);
    memcpy(loss, result.loss, sizeof result.loss);
    loss[LOSS_KLD] = non_zero > 0 ? kld / non_zero : 0;
}

static const struct trial *trial_of(const struct search_result *r, const char *format,
                                    const char *scale)
{
    for (int i = 0; i < r->n; i++)
        if (strcmp(r->trials[i].format.name, format) == 0 && strcmp(r->trials[i].scale, scale) == 0)
            return &r->trials[i];
    ck_abort_msg("%s %s", format, scale);
    return NULL;
}

/* --- weights ---------------------------------------------------------------------------------- */

static const char many_formats[] = "f8e4m3,f8e5m2,f8e3m4,f8e4m3fnuz,f8e5m2fnuz,i8,i4,f4e2m1,f16";

static const struct {
    int64_t outer, channels, inner;
} shapes[] = {
    { 1, 7, 27 },   { 5, 6, 9 },    { 40, 4, 1 },
    { 1, 1, 300 },  { 1, 1, 5000 }, /* more than are sorted */
    { 3, 2, 1000 },
};

/* Every trial of one rule is what metrics say of the scales of that rule. */
START_TEST(losses_are_those_of_metrics)
{
    const int64_t outer = shapes[_i].outer, channels = shapes[_i].channels,
                  inner = shapes[_i].inner;
    const int64_t n = outer * inner;
    const struct search_space space = space_of(many_formats, LOSS_MSE);
    float *x = arena_array(&arena, float, n *channels), *one = arena_array(&arena, float, n);
    float *scales = arena_array(&arena, float, channels);
    struct search_result result;

    fill(x, outer, channels, inner);
    search_weights(&arena, &space, x, outer, channels, inner, &result);
    ck_assert_int_eq(result.n, 8 * (space.n_rules + (channels > 1)) + 1);
    ck_assert_uint_eq(result.n_numbers, (uint64_t)(n * channels));
    for (int f = 0; f < space.n_formats; f++)
        for (int r = 0; r < (number_format_has_scale(&space.formats[f]) ? space.n_rules : 1); r++) {
            const struct trial *trial =
                trial_of(&result, space.formats[f].name,
                         number_format_has_scale(&space.formats[f]) ? space.rules[r].name : "unit");
            double loss[LOSS_COUNT];

            for (int64_t c = 0; c < channels; c++) {
                for (int64_t o = 0; o < outer; o++)
                    memcpy(one + o * inner, x + (o * channels + c) * inner,
                           (size_t)inner * sizeof *one);
                scales[c] = scale_of_numbers(&space.rules[r], &space.formats[f], one, n);
            }
            losses_of(&space.formats[f], scales, x, outer, channels, inner, loss);
            for (int k = 0; k < LOSS_COUNT; k++)
                check_close(trial->loss[k], loss[k]);
            for (int64_t c = 0; c < channels; c++)
                ck_assert(scales[c] >= trial->least_scale && scales[c] <= trial->greatest_scale);
        }
}
END_TEST

/* For each loss and shape. */
START_TEST(the_best_has_the_least_loss)
{
    const enum loss loss = (enum loss)(_i % LOSS_COUNT);
    const int64_t outer = shapes[_i / LOSS_COUNT].outer, inner = shapes[_i / LOSS_COUNT].inner;
    const int64_t channels = shapes[_i / LOSS_COUNT].channels;
    const struct search_space space = space_of("f8e4m3,f8e5m2,f8e3m4", loss);
    float *x = arena_array(&arena, float, outer *channels *inner);
    struct search_result result;
    const struct trial *best;
    double again[LOSS_COUNT];

    fill(x, outer, channels, inner);
    search_weights(&arena, &space, x, outer, channels, inner, &result);
    best = &result.trials[result.best];
    for (int i = 0; i < result.n; i++) {
        ck_assert_double_ge(result.trials[i].loss[loss], best->loss[loss]);
        if (i < result.best) /* the first among equals */
            ck_assert_double_gt(result.trials[i].loss[loss], best->loss[loss]);
    }
    losses_of(&best->format, result.scales, x, outer, channels, inner, again);
    for (int k = 0; k < LOSS_COUNT; k++)
        check_close(best->loss[k], again[k]);
}
END_TEST

/* Where sums of squares are compared, no rule for all channels is better than each one's best. */
START_TEST(each_channel_may_have_its_own_rule)
{
    const struct search_space space = space_of("f8e4m3,i8", LOSS_SNR);
    float x[6 * 50];
    struct search_result result;

    fill(x, 1, 6, 50);
    search_weights(&arena, &space, x, 1, 6, 50, &result);
    for (int f = 0; f < 2; f++) {
        const struct trial *mixed =
            trial_of(&result, space.formats[f].name, "best of each channel");

        for (int r = 0; r < space.n_rules; r++)
            ck_assert_double_le(
                mixed->loss[LOSS_SNR],
                trial_of(&result, space.formats[f].name, space.rules[r].name)->loss[LOSS_SNR]);
    }
}
END_TEST

/* Numbers that a format has, exactly, with a scale that is tried. */
static const struct {
    float x[6];
    const char *formats, *format, *scale;
} exact[] = {
    { { 448, -1, 0.5F, 3.5F, 0, 416 }, "f8e4m3,f8e5m2,i8", "f8e4m3", "max" },
    { { 448, -1, 0.5F, 3.5F, 0, 416 }, "i8,f8e5m2,f8e4m3", "f8e4m3", "max" },
    { { 127, 126, -3, 1, 0, 77 }, "f8e4m3,i8", "i8", "max" },
    { { 12.5F, 12.25F, -3, 0.25F, 0, 7.75F }, "i8", "i8", "0.25" },
    { { 49152, -2.5F, 0.3125F, 0.00030517578125F, 0, 5 }, "f8e4m3,f8e5m2", "f8e5m2", "1" },
    { { 0, 0, 0, 0, 0, 0 }, "i8,f8e4m3", "i8", "max" },
    { { 1, 1, 1, -1, 1, 1 }, "f8e5m2,i8", "f8e5m2", "max" },
};

START_TEST(exact_numbers_are_found)
{
    for (int loss = 0; loss < LOSS_COUNT; loss++) {
        const struct search_space space = space_of(exact[_i].formats, (enum loss)loss);
        struct search_result result;
        const struct trial *best;

        search_weights(&arena, &space, exact[_i].x, 1, 1, 6, &result);
        best = &result.trials[result.best];
        ck_assert_double_eq(best->loss[LOSS_MSE], loss == LOSS_KLD ? best->loss[LOSS_MSE] : 0);
        if (loss == LOSS_KLD) /* the same histogram is enough */
            continue;
        ck_assert_str_eq(best->format.name, exact[_i].format);
        if (strcmp(exact[_i].scale, "1") != 0)
            ck_assert_str_eq(best->scale, exact[_i].scale);
    }
}
END_TEST

static void check_defined(const struct search_result *r)
{
    for (int i = 0; i < r->n; i++)
        for (int k = 0; k < LOSS_COUNT; k++)
            ck_assert_msg(isfinite(r->trials[i].loss[k]), "%s %s %s", r->trials[i].format.name,
                          r->trials[i].scale, loss_name((enum loss)k));
    for (int64_t c = 0; c < r->n_channels; c++)
        ck_assert(isfinite(r->scales[c]) && r->scales[c] > 0);
}

START_TEST(bad_numbers_do_not_count)
{
    static const float with[2][5] = { { 1, NAN, 0.5F, INFINITY, 3 }, { NAN, NAN, NAN, NAN, NAN } };
    static const float without[] = { 1, 0.5F, 3 };
    const struct search_space space = space_of("f8e4m3,afp<4,3>,i8", LOSS_MSE);
    struct search_result a, b;

    search_weights(&arena, &space, with[0], 1, 2, 5, &a);
    search_weights(&arena, &space, without, 1, 1, 3, &b);
    ck_assert_uint_eq(a.non_finite, 7);
    ck_assert_uint_eq(a.n_numbers, 3);
    check_close(a.trials[a.best].loss[LOSS_MSE], b.trials[b.best].loss[LOSS_MSE]);
    ck_assert_double_eq((double)a.scales[0], (double)b.scales[0]);
    check_defined(&a);
}
END_TEST

START_TEST(extremes_are_defined)
{
    static const float x[][4] = {
        { 0, 0, 0, 0 },         { 1e-45F, 0, 1e-45F, 0 }, { 3e38F, -3e38F, 1, 0 }, { 5, 5, 5, 5 },
        { NAN, NAN, NAN, NAN }, { 1e-38F, 3e38F, 0, 1 },  { -0.0F, 0, -0.0F, 0 },
    };
    const struct search_space space =
        space_of("f16,bf16,f8e4m3,f8e5m2fnuz,i8,i4,afp8,afp3,afp<7,0>,hfp8_143,f6e2m3", LOSS_COS);
    struct search_result result;

    for (int i = 0; i < N_ROWS(x); i++) {
        search_weights(&arena, &space, x[i], 1, 1, 4, &result);
        check_defined(&result);
        search_weights(&arena, &space, x[i], 1, 4, 1, &result);
        check_defined(&result);
        search_weights(&arena, &space, x[i], 2, 2, 1, &result);
        check_defined(&result);
        search_weights(&arena, &space, x[i], 1, 3, 0, &result); /* channels of nothing */
        check_defined(&result);
        ck_assert_uint_eq(result.n_numbers, 0);
    }
}
END_TEST

START_TEST(the_same_numbers_give_the_same_result)
{
    const struct search_space space = space_of(many_formats, LOSS_KLD);
    float x[4000];
    struct search_result a, b;

    fill(x, 2, 4, 500);
    search_weights(&arena, &space, x, 2, 4, 500, &a);
    search_weights(&arena, &space, x, 2, 4, 500, &b);
    ck_assert_int_eq(a.best, b.best);
    ck_assert_mem_eq(a.scales, b.scales, 4 * sizeof *a.scales);
    for (int i = 0; i < a.n; i++)
        ck_assert_mem_eq(a.trials[i].loss, b.trials[i].loss, sizeof a.trials[i].loss);
}
END_TEST

/* --- adaptive floating point ------------------------------------------------------------------ */

START_TEST(afp_chooses_its_bias)
{
    const struct search_space space = space_of("afp<4,3>", LOSS_MSE);
    const float exact_ones[] = { 30, -0.5F, 1, 26, 0, 0.0625F }; /* 1.875 * 2^4 is the greatest */
    float outlier[1001];
    struct search_result result;

    search_weights(&arena, &space, exact_ones, 1, 1, 6, &result);
    ck_assert_int_eq(result.n, 3);
    ck_assert_str_eq(result.trials[result.best].format.name, "afp<4,3,11>");
    ck_assert_str_eq(result.trials[result.best].scale, "greatest");
    ck_assert_double_eq(result.trials[result.best].loss[LOSS_MSE], 0);
    ck_assert_double_eq((double)result.scales[0], 1);
    ck_assert_str_eq(result.trials[1].format.name, "afp<4,3,12>");
    ck_assert_str_eq(result.trials[2].format.name, "afp<4,3,13>");

    /* Three bits, and numbers at 1 with one above: cutting that off pays. */
    for (int i = 0; i < 1001; i++)
        outlier[i] = i ? 1.0F / 8 : 1.5F;
    {
        const struct search_space small = space_of("afp<1,1>", LOSS_MSE);

        search_weights(&arena, &small, outlier, 1, 1, 1001, &result);
        ck_assert_str_ne(result.trials[result.best].scale, "greatest");
    }
}
END_TEST

START_TEST(afp_formats_of_a_size)
{
    const struct number_format *list;
    int n = search_formats_afp(&arena, 8, false, &list);

    ck_assert_int_eq(n, 7); /* e = 1 .. 7 */
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(number_format_bits(&list[i]), 8);
    n = search_formats_afp(&arena, 5, true, &list);
    ck_assert_int_eq(n, 4 + 3 + 2 + 1);
    ck_assert_int_eq(search_formats_afp(&arena, 2, false, &list), 1);
    ck_assert_int_eq(search_formats_afp(&arena, 1, true, &list), 0);
    ck_assert_int_eq(search_formats_afp(&arena, 9, true, &list), 0);
}
END_TEST

/* Bell-shaped numbers want more mantissa than a wide exponent, by every loss. */
START_TEST(afp_finds_the_better_split)
{
    const struct number_format *list;
    const int n = search_formats_afp(&arena, 8, false, &list);
    float x[3000];

    fill(x, 1, 1, 3000);
    for (int loss = 0; loss < LOSS_COUNT; loss++) {
        const struct search_space space = search_space_of(&arena, list, n, (enum loss)loss);
        struct search_result result;
        const struct minifloat *codec;

        search_weights(&arena, &space, x, 1, 1, 3000, &result);
        codec = &result.trials[result.best].format.codec;
        ck_assert_int_le(codec->exponent_bits, 3);
        ck_assert_int_ge(codec->mantissa_bits, 4);
    }
}
END_TEST

/* --- histograms ------------------------------------------------------------------------------- */

/* The greatest number, which metrics cannot know, is the histogram's limit. */
static double histogram_kld(const struct histogram *h, const float *x, const float *y,
                            const double *count, size_t n)
{
    uint64_t x_bins[KLD_BINS] = { 0 }, y_bins[KLD_BINS] = { 0 };

    for (size_t i = 0; i < n; i++)
        if (x[i] > 0) {
            x_bins[kld_bin((double)x[i], kld_scale(h->limit))] += (uint64_t)count[i];
            y_bins[kld_bin((double)y[i], kld_scale(h->limit))] += (uint64_t)count[i];
        }
    return kld_of_counts(x_bins, y_bins, h->n - h->zeros);
}

START_TEST(histograms_are_their_middles)
{
    const struct search_space space = space_of("f8e4m3,f8e5m2,i8,afp<3,4>", LOSS_MSE);
    struct histogram h = { .limit = 20.48, .zeros = 1000 };
    float at[POINTS_SORTED], y[POINTS_SORTED];
    double count[POINTS_SORTED];
    struct spread spread;
    struct search_result result;

    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        h.bins[i] = (uint64_t)(100000 / (i + 1) * (i % 3)) + (i == 0 ? h.zeros : 0);
        h.n += h.bins[i];
    }
    spread = spread_of_histogram(&h, at, count);
    search_histogram(&arena, &space, &h, &result);
    ck_assert_uint_eq(result.n_numbers, h.n);
    ck_assert_int_eq(result.n, 3 * space.n_rules + 3);
    for (int t = 0; t < result.n; t++) {
        const struct trial *trial = &result.trials[t];
        const struct rounder rounder = rounder_of(&trial->format);
        struct metrics_result metrics;

        ck_assert_float_eq(trial->least_scale, trial->greatest_scale);
        rounder_simulate(&rounder, at, (double)trial->least_scale, y, spread.n);
        metrics_of_counted(&arena, at, y, count, (int64_t)spread.n, &metrics);
        metrics.loss[LOSS_KLD] = histogram_kld(&h, at, y, count, spread.n);
        for (int k = 0; k < LOSS_COUNT; k++)
            check_close(trial->loss[k], metrics.loss[k]);
        if (trial->format.dtype != DTYPE_AFP)
            ck_assert_float_eq(
                trial->least_scale,
                scale_of_histogram(&space.rules[t % space.n_rules], &trial->format, &h));
    }
    ck_assert_float_eq(result.scales[0], result.trials[result.best].least_scale);
}
END_TEST

START_TEST(empty_histograms_are_defined)
{
    const struct search_space space = space_of("i8,f8e4m3,afp8", LOSS_SNR);
    const struct histogram h[2] = { { .limit = 0 }, { .n = 3, .zeros = 3, .bins = { 3 } } };
    struct search_result result;

    for (int i = 0; i < 2; i++) {
        search_histogram(&arena, &space, &h[i], &result);
        check_defined(&result);
        ck_assert_str_eq(result.trials[result.best].format.name, "i8");
        ck_assert_double_eq((double)result.scales[0], 1);
        ck_assert_uint_eq(result.n_numbers, h[i].n);
    }
}
END_TEST

/* --- formats ---------------------------------------------------------------------------------- */

START_TEST(formats_are_read)
{
    static const char *const bad[] = { "",          ",",     "f8e4m3,",   "f8e4m3,,i8",
                                       "f9",        "mxfp8", "i8, i4",    "afp<4",
                                       "afp< 4,3>", "afp 8", "afp<+4,3>", "afp<99999999999,1>",
                                       "f32" };
    const struct number_format *list;
    const char *wrong = NULL;
    int n;

    ck_assert(search_formats_parse(&arena, "f8e4m3,afp<4,3>,i8,afp<2,1,5>", &list, &n, &wrong));
    ck_assert_int_eq(n, 4);
    ck_assert_str_eq(list[1].name, "afp<4,3>");
    ck_assert_str_eq(list[3].name, "afp<2,1,5>");
    for (int i = 0; i < N_ROWS(bad); i++)
        ck_assert_msg(!search_formats_parse(&arena, bad[i], &list, &n, &wrong), "%s", bad[i]);
    ck_assert_str_eq(wrong, "f32");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("search");
    TCase *tests = tcase_create("search");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tests, NULL, release);
    tcase_add_loop_test(tests, losses_are_those_of_metrics, 0, N_ROWS(shapes));
    tcase_add_loop_test(tests, the_best_has_the_least_loss, 0, N_ROWS(shapes) * LOSS_COUNT);
    tcase_add_test(tests, each_channel_may_have_its_own_rule);
    tcase_add_loop_test(tests, exact_numbers_are_found, 0, N_ROWS(exact));
    tcase_add_test(tests, bad_numbers_do_not_count);
    tcase_add_test(tests, extremes_are_defined);
    tcase_add_test(tests, the_same_numbers_give_the_same_result);
    tcase_add_test(tests, afp_chooses_its_bias);
    tcase_add_test(tests, afp_formats_of_a_size);
    tcase_add_test(tests, afp_finds_the_better_split);
    tcase_add_test(tests, histograms_are_their_middles);
    tcase_add_test(tests, empty_histograms_are_defined);
    tcase_add_test(tests, formats_are_read);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
