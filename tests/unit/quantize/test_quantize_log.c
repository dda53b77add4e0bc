/* quantize.log: as people read it, and as JSON. */
#include <check.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "quantize/quantize_log.h"
#include "quantize/spread.h"
#include "tests/support/temp_dir.h"

static struct ctx *ctx;
static struct temp_dir dir;

static void setup(void)
{
    ctx = ctx_new(NULL);
    dir = temp_dir_new();
}

static void teardown(void)
{
    temp_dir_free(&dir);
    ctx_free(ctx);
}

static const char *written(void (*write)(struct writer *, const struct quantize_log_entry *),
                           const struct quantize_log_entry *entry)
{
    struct output_set set = { .ctx = ctx };
    const char *path = temp_path(&dir, "log"), *text;
    struct mapping mapping;

    write(output_open(&set, path), entry);
    ck_assert(output_commit(&set));
    ck_assert(file_map(ctx, path, &mapping));
    text = arena_strndup(&ctx->perm, (const char *)mapping.data, mapping.size);
    file_unmap(&mapping);
    return text;
}

/* Two channels of four numbers; one rule for each of two formats, and AFP. */
static const float weights[] = { 1, -0.5F, 0.25F, 0.125F, 8, -16, 4, 1 };

static struct search_result searched(const char *formats, const char *first, const char *second)
{
    const struct number_format *list;
    struct search_space space = { .loss = LOSS_MSE, .n_rules = 2 };
    struct scale_rule *rules = arena_array(&ctx->perm, struct scale_rule, 2);
    struct search_result result;
    const char *wrong;

    ck_assert(search_formats_parse(&ctx->perm, formats, &list, &space.n_formats, &wrong));
    ck_assert(scale_rule_parse(first, &rules[0]) && scale_rule_parse(second, &rules[1]));
    space.formats = list;
    space.rules = rules;
    search_weights(&ctx->perm, &space, weights, 1, 2, 4, &result);
    return result;
}

START_TEST(the_text_is_a_table)
{
    const struct search_result result = searched("i4,f4e2m1,afp<1,1>", "max", "0.25");
    struct metrics_result metrics;
    struct quantize_log_entry entry = { .what = "weights",
                                        .tensor = "conv1.weight",
                                        .node = "Conv 0",
                                        .loss = LOSS_MSE,
                                        .result = &result,
                                        .metrics = &metrics };

    search_metrics(&ctx->perm, &result, weights, 1, 4, &metrics);
    ck_assert_str_eq(written(quantize_log_text, &entry),
                     "\n"
                     "weights conv1.weight of Conv 0: 8 numbers, 2 channels, by mse\n"
                     "  format       rule                  scale                        mse        "
                     "  mae          snr          kld          cos\n"
                     "  i4           max                   0.142857 .. 2.28571      0.32992      "
                     "0.35491    0.0078012     0.012447    0.0037828\n"
                     "  i4           0.25                  0.25                        30.9       "
                     "2.8594      0.73066        24.08      0.17737\n"
                     "  i4           best of each channel  0.142857 .. 2.28571      0.32992      "
                     "0.35491    0.0078012     0.012447    0.0037828\n"
                     "  f4e2m1       max                   0.166667 .. 2.66667     0.014106     "
                     "0.046875   0.00033354    0.0021178    0.0001659\n"
                     "  f4e2m1       0.25                  0.25                      32.344       "
                     "2.9375      0.76479        25.24      0.20014\n"
                     "* f4e2m1       best of each channel  0.25 .. 2.66667         0.013889     "
                     "0.041667   0.00032841   0.00061942   0.00016336\n"
                     "  afp<1,1,-3>  greatest              1                          2.291      "
                     "0.85938     0.054173       30.762     0.027463\n"
                     "  afp<1,1,-2>  greatest / 2          1                          2.291      "
                     "0.85938     0.054173       34.521     0.011957\n"
                     "  afp<1,1,-1>  greatest / 4          1                         13.291       "
                     "1.8594      0.31428       44.661     0.072723\n"
                     "                    mean          std          min          max     skewness "
                     "    kurtosis\n"
                     "  data          -0.26562       6.4977          -16            8      -1.4803 "
                     "      1.6489\n"
                     "  quantised     -0.22396       6.5068          -16            8      -1.4924 "
                     "      1.6613\n"
                     "  noise         0.041667      0.11024            0      0.33333       2.2678 "
                     "      3.1429\n");
}
END_TEST

START_TEST(data_is_of_magnitudes)
{
    struct histogram h = {
        .limit = 4, .n = 12, .zeros = 2, .bins = { [0] = 2, [1023] = 8, [2047] = 2 }
    };
    const struct number_format *list;
    struct search_result result;
    struct metrics_result metrics;
    const char *wrong, *text;
    int n;
    struct quantize_log_entry entry = { .what = "data",
                                        .tensor = "relu",
                                        .node = "",
                                        .loss = LOSS_COS,
                                        .result = &result,
                                        .metrics = &metrics,
                                        .magnitudes = true };
    struct search_space space;

    ck_assert(search_formats_parse(&ctx->perm, "f8e4m3", &list, &n, &wrong));
    space = search_space_of(&ctx->perm, list, n, LOSS_COS);
    search_histogram(&ctx->perm, &space, &h, &result);
    search_metrics_of_histogram(&ctx->perm, &result, &h, &metrics);
    ck_assert_uint_eq(metrics.n, 12);
    ck_assert_double_eq_tol(metrics.data.mean, (8 * 1.9990234375 + 2 * 3.9990234375) / 12, 1e-9);
    text = written(quantize_log_text, &entry);
    ck_assert_ptr_nonnull(strstr(text, "\ndata relu: 12 numbers, by cos\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n  of |x|  "));
    ck_assert_ptr_nonnull(strstr(text, "\n* f8e4m3"));
}
END_TEST

static double number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    ck_assert_msg(cJSON_IsNumber(item), "%s", key);
    return item->valuedouble;
}

/* Names of any bytes; infinities are null. */
START_TEST(json_says_the_same)
{
    struct search_result result = searched("f8e4m3,i4", "max", "0.25");
    struct trial *trials =
        arena_memdup(&ctx->perm, result.trials, (size_t)result.n * sizeof *trials);
    struct metrics_result metrics;
    struct quantize_log_entry entry = { .what = "weights",
                                        .tensor = "a\"b\\c\x01\xff\xC3\xA9",
                                        .node = "n",
                                        .loss = LOSS_MSE,
                                        .result = &result,
                                        .metrics = &metrics };
    const char *text;
    cJSON *json;
    const cJSON *list, *item;

    trials[1].loss[LOSS_SNR] = INFINITY;
    result.trials = trials;
    search_metrics(&ctx->perm, &result, weights, 1, 4, &metrics);
    text = written(quantize_log_json, &entry);
    ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
    json = cJSON_Parse(text);
    ck_assert_msg(json, "%s", text);
    ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(json, "tensor")->valuestring,
                     "a\\x22b\\x5Cc\\x01\\xFF\xC3\xA9");
    ck_assert_double_eq(number(json, "numbers"), 8);
    ck_assert_double_eq(number(json, "best"), result.best);
    list = cJSON_GetObjectItemCaseSensitive(json, "trials");
    ck_assert_int_eq(cJSON_GetArraySize(list), result.n);
    for (int i = 0; i < result.n; i++) {
        item = cJSON_GetArrayItem(list, i);
        ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(item, "format")->valuestring,
                         result.trials[i].format.name);
        ck_assert_double_eq_tol(number(item, "mse"), result.trials[i].loss[LOSS_MSE], 1e-7);
    }
    item = cJSON_GetArrayItem(list, 1);
    ck_assert(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(item, "snr")));
    item = cJSON_GetObjectItemCaseSensitive(json, "noise");
    ck_assert_double_eq_tol(number(item, "std"), metrics.noise.std, 1e-9);
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(item, "histogram")),
                     MOMENT_BINS);
    cJSON_Delete(json);
}
END_TEST

/* The moments are those of the numbers with the scales of the best. */
START_TEST(metrics_are_of_the_best)
{
    const struct search_result result = searched("i4,f4e2m1", "max", "mse");
    const struct trial *best = &result.trials[result.best];
    struct metrics_result metrics, wanted;
    float y[8];

    for (int i = 0; i < 8; i++)
        y[i] = (float)number_format_round(&best->format, (double)weights[i],
                                          (double)result.scales[i / 4]);
    metrics_of(&ctx->perm, weights, y, 8, &wanted);
    search_metrics(&ctx->perm, &result, weights, 1, 4, &metrics);
    ck_assert_double_eq_tol(metrics.noise.std, wanted.noise.std, 1e-7);
    ck_assert_double_eq_tol(metrics.loss[LOSS_MSE], best->loss[LOSS_MSE], 1e-12);
    ck_assert_double_eq_tol(metrics.quantized.mean, wanted.quantized.mean, 1e-7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quantize.log");
    TCase *tests = tcase_create("quantize.log");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, the_text_is_a_table);
    tcase_add_test(tests, data_is_of_magnitudes);
    tcase_add_test(tests, json_says_the_same);
    tcase_add_test(tests, metrics_are_of_the_best);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
