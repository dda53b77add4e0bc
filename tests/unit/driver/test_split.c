/* Parts of the data: each sample is in one, a file stays in its own when others come, lists. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "driver/split.h"
#include "frontend/tensors/formats.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/temp_dir.h"

static const char text[] = "fn main(%x: (1,2) f32) -> (%r) {\n"
                           "  %r = nn.relu(%x) : (1,2) f32\n"
                           "}\n";

static struct ctx *ctx;
static struct temp_dir dir;
static struct module *module;

static void setup(void)
{
    ctx = ctx_new(NULL);
    dir = temp_dir_new();
    module = graph_parse(ctx, text, 1);
}

static void teardown(void)
{
    module_free(module);
    temp_dir_free(&dir);
    ctx_free(ctx);
}

static void write_array(const char *name, int64_t n)
{
    struct output_set set = { .ctx = ctx };
    struct bulk bulk = { 0 };
    const struct type type = type_make(DTYPE_F32, 2, (int64_t[]){ n, 2 });
    const struct tensor tensor = tensor_new(&bulk, &type);

    for (int64_t i = 0; i < 2 * n; i++)
        dtype_store(DTYPE_F32, tensor.data, i, (double)(i / 2));
    npy_write(output_open(&set, temp_path(&dir, name)), &tensor);
    ck_assert(output_commit(&set));
    bulk_release(&bulk);
}

static struct samples *open_array(int64_t n)
{
    struct samples *samples;

    write_array("all.npy", n);
    samples = samples_open(ctx, temp_path(&dir, "all.npy"), module->main, NULL);
    ck_assert(samples != NULL);
    return samples;
}

static int64_t count_part(const struct samples *samples, enum split_part part, bool others,
                          int *times)
{
    const struct split split = { part, NULL, others };
    int64_t n;
    const int64_t *at = split_samples(ctx, &split, samples, &n);

    ck_assert(at != NULL);
    for (int64_t i = 0; i < n; i++)
        times[at[i]]++;
    return n;
}

START_TEST(each_sample_is_in_one_part)
{
    struct samples *samples = open_array(2000);
    int times[2000] = { 0 };
    const int64_t calibration = count_part(samples, SPLIT_CALIBRATION, false, times);
    const int64_t selection = count_part(samples, SPLIT_SELECTION, false, times);
    const int64_t report = count_part(samples, SPLIT_REPORT, false, times);

    for (int i = 0; i < 2000; i++)
        ck_assert_int_eq(times[i], 1);
    ck_assert(calibration > 430 && calibration < 570); /* 500 and 3.6 standard deviations */
    ck_assert(selection > 430 && selection < 570);
    ck_assert_int_eq(calibration + selection + report, 2000);
    memset(times, 0, sizeof times);
    ck_assert_int_eq(count_part(samples, SPLIT_SELECTION, true, times), calibration + selection);
    ck_assert_int_eq(count_part(samples, SPLIT_REPORT, true, times), report);
    samples_close(samples);
}
END_TEST

/* Classes that follow each other, or take turns, are in every part alike. */
START_TEST(the_first_of_a_part_are_from_everywhere)
{
    struct samples *samples = open_array(2000);
    const struct split split = { SPLIT_CALIBRATION, NULL, false };
    int64_t n, halves = 0, odd = 0;
    const int64_t *at = split_samples(ctx, &split, samples, &n);

    for (int i = 0; i < 200; i++) {
        halves += at[i] < 1000;
        odd += at[i] % 2;
    }
    ck_assert(halves > 70 && halves < 130);
    ck_assert(odd > 70 && odd < 130);
    samples_close(samples);
}
END_TEST

static bool is_in(const char *path, const struct samples *samples, const int64_t *at, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (strcmp(samples_path(samples, at[i]), path) == 0)
            return true;
    return false;
}

START_TEST(a_file_stays_in_its_part)
{
    const struct split split = { SPLIT_CALIBRATION, NULL, false };
    struct samples *few, *many;
    const int64_t *was, *now;
    int64_t n_was, n_now;

    for (int i = 0; i < 30; i++)
        write_array(arena_printf(&ctx->perm, "m%02d.npy", i), 1);
    few = samples_open(ctx, dir.path, module->main, NULL);
    was = split_samples(ctx, &split, few, &n_was);
    for (int i = 0; i < 30; i++)
        write_array(arena_printf(&ctx->perm, "a%02d.npy", i), 1);
    many = samples_open(ctx, dir.path, module->main, NULL);
    now = split_samples(ctx, &split, many, &n_now);
    ck_assert_int_eq(samples_count(many), 60);
    for (int64_t i = 0; i < n_was; i++)
        ck_assert(is_in(samples_path(few, was[i]), many, now, n_now));
    for (int64_t i = 0; i < n_now; i++)
        if (strrchr(samples_path(many, now[i]), '/')[1] == 'm')
            ck_assert(is_in(samples_path(many, now[i]), few, was, n_was));
    samples_close(few);
    samples_close(many);
}
END_TEST

START_TEST(a_list_names_files_and_numbers)
{
    static const char lines[] = "# ours\ncalibration b.npy\r\n\ncalibration 3 0\nreport 1\n";
    struct samples *samples;
    struct split split = { .part = SPLIT_CALIBRATION };
    struct tensor input;
    struct bulk bulk = { 0 };

    for (int i = 0; i < 4; i++)
        write_array(arena_printf(&ctx->perm, "%c.npy", "dbac"[i]), 1);
    split.list = temp_file(&dir, "list", lines, sizeof lines - 1);
    /* of a.npy, b.npy, c.npy, d.npy: 1, 3, 0; and 1 is b.npy once more */
    samples = split_open(ctx, &split, dir.path, module->main, NULL);
    ck_assert(samples == NULL);
    ck_assert(expect_error(ctx, DIAG_SPLIT, "list:5: here for the second time: sample '1'"));
    split.list = temp_file(&dir, "good", lines, sizeof lines - 1 - strlen("report 1\n"));
    samples = split_open(ctx, &split, dir.path, module->main, NULL);
    ck_assert(samples != NULL);
    ck_assert_int_eq(samples_count(samples), 3);
    ck_assert(strstr(samples_path(samples, 0), "/b.npy") != NULL);
    ck_assert(strstr(samples_path(samples, 1), "/d.npy") != NULL);
    ck_assert(strstr(samples_path(samples, 2), "/a.npy") != NULL);
    ck_assert(samples_load(samples, ctx, &bulk, 2, &input));
    bulk_release(&bulk);
    samples_close(samples);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("split");
    TCase *tests = tcase_create("split");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, each_sample_is_in_one_part);
    tcase_add_test(tests, the_first_of_a_part_are_from_everywhere);
    tcase_add_test(tests, a_file_stays_in_its_part);
    tcase_add_test(tests, a_list_names_files_and_numbers);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
