/* Calibration tables: what is written is read again; what others wrote, and what nobody should. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "quantize/calib_table.h"
#include "tests/support/expect.h"
#include "tests/support/temp_dir.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

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

static struct calib_threshold thresholds[2][2] = { { { "max", 3.5 }, { "kl", 1.0 / 3 } },
                                                   { { "max", 0 }, { "kl", 0 } } };
static struct histogram histogram = { .limit = 3.5, .n = 9, .zeros = 4, .bins = { 5, 0, 3, 1 } };
static struct calib_tensor tensors[2] = {
    { "a b/\"c\"\\\n\xff\xc3\xa9 1", "1x3x2", -1.25, 3.5, 0.1, 2, &histogram, 2, thresholds[0] },
    { "zeros", "4", 0, 0, 0, 0, &histogram, 2, thresholds[1] },
};
static const struct calib_table table = { "net.onnx", 17, 2, tensors };

static const char *written(bool json)
{
    struct output_set set = { .ctx = ctx };
    const char *path = temp_path(&dir, "table");
    struct writer *writer = output_open(&set, path);

    if (json)
        calib_write_json(writer, &table);
    else
        calib_write_text(writer, &table, "kl");
    ck_assert(output_commit(&set));
    return path;
}

START_TEST(json_is_read_as_it_was_written)
{
    struct calib_table back;

    ck_assert_msg(calib_read(ctx, written(true), &back), "%s", expect_text(ctx));
    ck_assert_str_eq(back.model, table.model);
    ck_assert_int_eq(back.n_samples, 17);
    ck_assert_int_eq(back.n, 2);
    for (int i = 0; i < 2; i++) {
        const struct calib_tensor *got = &back.at[i], *wanted = &tensors[i];

        ck_assert_str_eq(got->name, wanted->name);
        ck_assert_str_eq(got->shape, wanted->shape);
        ck_assert(got->min == wanted->min && got->max == wanted->max && got->mean == wanted->mean);
        ck_assert_uint_eq(got->non_finite, wanted->non_finite);
        ck_assert_mem_eq(got->histogram, wanted->histogram, sizeof histogram);
        ck_assert_int_eq(got->n_thresholds, 2);
        ck_assert_double_eq_tol(calib_threshold(got, "kl")->value, thresholds[i][1].value, 1e-9);
    }
    ck_assert_ptr_null(calib_threshold(&back.at[0], "mse:int8"));
    ck_assert_ptr_eq(calib_find(&back, "zeros"), &back.at[1]);
    ck_assert_ptr_null(calib_find(&back, "one"));
}
END_TEST

START_TEST(text_is_read_as_it_was_written)
{
    struct calib_table back;

    ck_assert_msg(calib_read(ctx, written(false), &back), "%s", expect_text(ctx));
    ck_assert_int_eq(back.n, 2);
    ck_assert_int_eq(back.n_samples, 17);
    ck_assert_str_eq(back.at[0].name, tensors[0].name);
    ck_assert(back.at[0].min == -1.25 && back.at[0].max == 3.5);
    ck_assert_double_eq_tol(calib_threshold(&back.at[0], "")->value, 1.0 / 3, 1e-9);
    ck_assert_ptr_null(back.at[0].histogram);
}
END_TEST

static bool read_text(const char *text, size_t n, struct calib_table *out)
{
    return calib_read_bytes(ctx, "t", text, n, out);
}

/* Any blanks, any line ends, sections that are not of thresholds. */
START_TEST(tables_of_others_are_read)
{
    static const char text[] =
        "# genetated time: 2023-01-01 10:00:00.000000\n# histogram number: 2048\n"
        "# sample number: 100\n# tune number: 5\n###\n# op_name    threshold    min    max\n"
        "images 1.0000080 0.0000000 1.0000080\r\n"
        "\tconv 1 \t 2.5e+1  -3 \t 4.25  \n\n"
        "  last 0 0 0\n"
        "#int4_th\nconv 1 9 9 9\n";
    struct calib_table got;

    ck_assert_msg(read_text(text, strlen(text), &got), "%s", expect_text(ctx));
    ck_assert_int_eq(got.n, 3);
    ck_assert_int_eq(got.n_samples, 100);
    ck_assert_str_eq(got.at[0].name, "images");
    ck_assert_double_eq(got.at[0].thresholds[0].value, 1.000008);
    ck_assert_str_eq(got.at[1].name, "conv 1");
    ck_assert(got.at[1].thresholds[0].value == 25 && got.at[1].min == -3 && got.at[1].max == 4.25);
    ck_assert_str_eq(got.at[2].name, "last");
}
END_TEST

#define HEAD                                                                                       \
    "{\"schema\":\"relayc-calibration-1\",\"model\":\"m\",\"samples\":1,\"histogram_bins\":2048,"
#define TENSOR(more)                                                                               \
    HEAD "\"tensors\":[{\"name\":\"a\",\"shape\":\"1\",\"min\":0,\"max\":1,\"mean\":0.5," more "}" \
         "]"                                                                                       \
         "}"

static const struct {
    const char *text, *reason;
} refused[] = {
    { "", "it is empty" },
    { " \n\t", "it is empty" },
    { "# only comments\n", "it has no rows" },
    { "a 1 0 1\nb 1 0\n", "line 2: it has less than four fields" },
    { "a 1 0 1\n 1 0 1\n", "line 2: it has less than four fields" },
    { "\na x 0 1\n", "line 2: 'x' is not a finite number" },
    { "a 1 0 nan\n", "line 1: 'nan' is not a finite number" },
    { "a 1e999 0 1\n", "is not a finite number" },
    { "a -1 0 1\n", "the threshold of 'a' is negative" },
    { "a 1 2 1\n", "the min of 'a' is greater than its max" },
    { "a 1 0 1\na 2 0 2\n", "line 2: a second row for 'a'" },
    { "a\\q 1 0 1\n", "has an escape other than" },
    { "{", "this is not JSON" },
    { "{\n\"schema\": 1,\n}", "line 3: this is not JSON" },
    { "{}", "its 'schema' is not relayc-calibration-1" },
    { "{\"schema\":\"relayc-calibration-2\"}", "its 'schema' is not" },
    { HEAD "\"tensors\":3}", "'tensors' is not an array" },
    { HEAD "\"tensors\":[3]}", "tensor 0 is not an object" },
    { HEAD "\"tensors\":[{}]}", "tensor 0: 'name' is not a text" },
    { TENSOR("\"thresholds\":3"), "'thresholds' is not an object" },
    { TENSOR("\"thresholds\":{\"max\":-1}"), "'max' is not a threshold of at least 0" },
    { TENSOR("\"thresholds\":{\"max\":\"1\"}"), "'max' is not a threshold of at least 0" },
    { TENSOR("\"thresholds\":{},\"histogram\":3"), "'histogram' is not an array" },
    { TENSOR("\"thresholds\":{},\"histogram\":[1]"), "'count' is not a whole number" },
    { TENSOR("\"thresholds\":{},\"count\":2,\"zeros\":0,\"limit\":1,\"histogram\":[1]"),
      "in accord with" },
    { TENSOR("\"thresholds\":{},\"count\":1,\"zeros\":2,\"limit\":1,\"histogram\":[1]"),
      "in accord with" },
    { TENSOR("\"thresholds\":{},\"count\":1,\"zeros\":0,\"limit\":1,\"histogram\":[1.5]"),
      "whole numbers" },
    { TENSOR("\"thresholds\":{},\"count\":1,\"zeros\":0,\"limit\":-1,\"histogram\":[1]"),
      "'limit' is not" },
    { HEAD "\"tensors\":[{\"name\":\"a\",\"shape\":\"1\",\"min\":3,\"max\":1,\"mean\":0,"
           "\"thresholds\":{}}]}",
      "'min' is not smaller" },
};

START_TEST(malformed_tables_are_refused_with_a_reason)
{
    struct calib_table got;

    ck_assert_msg(!read_text(refused[_i].text, strlen(refused[_i].text), &got), "%s",
                  refused[_i].text);
    ck_assert_msg(expect_error(ctx, DIAG_CALIB_TABLE, refused[_i].reason), "%s", expect_text(ctx));
}
END_TEST

/* Every truncation and many single-byte changes: an answer, and never a crash. */
START_TEST(damaged_tables_do_no_harm)
{
    struct mapping mapping;
    char *copy;

    ck_assert(file_map(ctx, written(_i), &mapping));
    copy = arena_memdup(&ctx->perm, mapping.data, mapping.size);
    for (size_t n = 0; n < mapping.size; n++) {
        struct ctx *own = ctx_new(NULL);
        struct calib_table got;
        char *part = arena_memdup(&own->perm, copy, n);

        calib_read_bytes(own, "t", part, n, &got);
        part = arena_memdup(&own->perm, copy, mapping.size);
        part[n] = (char)(part[n] ^ (1 << n % 8));
        calib_read_bytes(own, "t", part, mapping.size, &got);
        ctx_free(own);
    }
    file_unmap(&mapping);
}
END_TEST

START_TEST(too_many_bins_and_deep_nesting_are_refused)
{
    struct str text = { .arena = &ctx->perm };
    struct calib_table got;

    str_add(&text,
            TENSOR("\"thresholds\":{},\"count\":0,\"zeros\":0,\"limit\":1,\"histogram\":[0"));
    text.n -= strlen("}]}");
    for (int i = 0; i < HISTOGRAM_BINS; i++)
        str_add(&text, ",0");
    str_add(&text, "]}]}");
    ck_assert(!read_text(text.text, text.n, &got));
    ck_assert_msg(expect_error(ctx, DIAG_CALIB_TABLE, "at most 2048"), "%s", expect_text(ctx));
    text = (struct str){ .arena = &ctx->perm };
    str_add(&text, "{\"a\":");
    for (int i = 0; i < 100000; i++)
        str_add(&text, "[");
    ck_assert(!read_text(text.text, text.n, &got));
    ck_assert_msg(expect_error(ctx, DIAG_CALIB_TABLE, "not JSON"), "%s", expect_text(ctx));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("calib_table");
    TCase *tests = tcase_create("calib_table");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, json_is_read_as_it_was_written);
    tcase_add_test(tests, text_is_read_as_it_was_written);
    tcase_add_test(tests, tables_of_others_are_read);
    tcase_add_loop_test(tests, malformed_tables_are_refused_with_a_reason, 0, N_ROWS(refused));
    tcase_add_loop_test(tests, damaged_tables_do_no_harm, 0, 2);
    tcase_add_test(tests, too_many_bins_and_deep_nesting_are_refused);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
