/* Two small networks on 200 real samples each: what f32 answers is known, and what quantised values
 * may cost. make bench-accuracy has all networks and all samples. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/accuracy/measure.h"
#include "tests/support/expect.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

enum { SAMPLES = 200, THREADS = 2 };

static const char *shared;

struct accuracy_case {
    const char *network, *config; /* "" = f32 */
    int right;                    /* f32: exactly */
    int agree;                    /* the others: at least this many answers are those of f32 */
};

static const struct accuracy_case cases[] = {
    { "mnist8", "", 198, 0 },
    { "mnist8", "w f8e4m3, a f8e4m3 max", 0, 198 },
    { "mnist8", "fp8w f8e4m3", 0, 198 },
    { "mnist8", "int8 max", 0, 198 },
    { "kws_dscnn", "", 185, 0 },
    { "kws_dscnn", "w f8e3m4, a f8e3m4 max", 0, 195 },
    { "kws_dscnn", "fp8w f8e4m3", 0, 195 },
    { "kws_dscnn", "int8 percentile", 0, 195 },
    { "kws_dscnn", "mxfp8", 0, 190 },
};

static const struct config *find_config(const char *name)
{
    for (int i = 0; i < n_accuracy_configs; i++)
        if (strcmp(accuracy_configs[i].name, name) == 0)
            return &accuracy_configs[i];
    ck_abort_msg("there is no configuration '%s'", name);
    return NULL;
}

/* As it is simulated, as it is compiled, and the C. */
static void check_config(const struct subject *subject, const struct accuracy_case *row,
                         enum judge judge)
{
    static const char *const names[] = { [JUDGE_GENERATED] = "generated C",
                                         [JUDGE_REALISED] = "realised",
                                         [JUDGE_SIMULATION] = "simulated" };
    struct ctx *ctx = ctx_new(subject->path);
    struct comparison c;
    struct measured m;

    ck_assert_msg(measure(subject, find_config(row->config), judge, ctx, &m), "%s, %s: %s",
                  row->network, row->config, expect_text(ctx));
    c = score_compare(&subject->f32, &m.score);
    ck_assert_msg(c.n_agree >= row->agree, "%s, %s, %s: %d of %d answers are those of f32",
                  row->network, row->config, names[judge], (int)c.n_agree, SAMPLES);
    ck_assert_uint_lt(m.report.weight_bytes_after, subject->weight_bytes / 2);
    ctx_free(ctx);
}

START_TEST(small_numbers_answer_as_f32_does)
{
    const struct accuracy_case *row = &cases[_i];
    struct subject subject;

    ck_assert_msg(subject_open(&subject, shared, network_find(row->network), SAMPLES, THREADS),
                  "%s", expect_text(subject.ctx));
    ck_assert_int_eq(subject.f32.n, SAMPLES);
    if (*row->config) {
        check_config(&subject, row, JUDGE_SIMULATION);
        check_config(&subject, row, JUDGE_REALISED);
        check_config(&subject, row, JUDGE_GENERATED);
    } else {
        ck_assert_int_eq(subject.f32.n_right, row->right);
    }
    subject_close(&subject);
}
END_TEST

/* The rows of the table are all well-formed. */
START_TEST(configurations_can_be_applied)
{
    struct ctx *ctx = ctx_new(NULL);

    for (int i = 0; i < n_accuracy_configs; i++) {
        struct quantize_options options = { .n_threads = 1 };

        ck_assert_msg(config_apply(ctx, &accuracy_configs[i], &options), "%s: %s",
                      accuracy_configs[i].name, expect_text(ctx));
        ck_assert(quantize_wanted(&options));
    }
    ctx_free(ctx);
}
END_TEST

START_TEST(comparisons_count_both_ways)
{
    int was_class[] = { 1, 2, 3, 4, 5 }, is_class[] = { 1, 2, 0, 4, 6 };
    bool was_right[] = { true, true, true, false, false };
    bool is_right[] = { true, true, false, false, true };
    const struct score was = { .n = 5, .class = was_class, .right = was_right };
    const struct score is = { .n = 5, .class = is_class, .right = is_right };
    const struct comparison c = score_compare(&was, &is);

    ck_assert_int_eq(c.n_agree, 3);
    ck_assert_int_eq(c.n_lost, 1);
    ck_assert_int_eq(c.n_won, 1);
    ck_assert_double_eq(c.points, 0);
    ck_assert_double_eq_tol(c.points_error, 28.2843, 1e-3); /* 100 * sqrt(2 / 5 / 5) */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("accuracy");
    TCase *tcase = tcase_create("accuracy");
    SRunner *runner;
    int failed;

    shared = getenv("RELAYC_SHARED");
    if (!shared || !*shared)
        shared = "../shared";
    tcase_set_timeout(tcase, 0);
    tcase_add_test(tcase, configurations_can_be_applied);
    tcase_add_test(tcase, comparisons_count_both_ways);
    if (access(shared, R_OK) == 0)
        tcase_add_loop_test(tcase, small_numbers_answer_as_f32_does, 0, N_ROWS(cases));
    else
        printf("SKIPPED: accuracy on real data: no folder %s (RELAYC_SHARED)\n", shared);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
