/* Times told: statistics by hand, rounds of contenders whose clock we turn, workers written in sh.
 * What object files hold is in test_object_size. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "measure/rounds.h"
#include "tests/support/expect.h"
#include "tests/support/temp_dir.h"

static struct ctx *ctx;
static struct temp_dir dir;

static void begin(void)
{
    ctx = ctx_new(NULL);
    dir = temp_dir_new();
}

static void end(void)
{
    ctx_free(ctx);
    temp_dir_free(&dir);
}

/* --- statistics ------------------------------------------------------------------------------- */

static struct series series_of(int n, const double *numbers)
{
    struct series series = { .arena = &ctx->perm };

    for (int i = 0; i < n; i++)
        series_add(&series, numbers[i]);
    return series;
}

START_TEST(quartiles_lie_between_samples)
{
    const double numbers[] = { 5, 1, 4, 2, 3, 7 }; /* numpy.percentile: 2.25, 3.5, 4.75 */
    const struct series series = series_of(6, numbers);
    const struct summary s = summarise(&series);

    ck_assert_int_eq(s.n, 6);
    ck_assert_double_eq(s.least, 1);
    ck_assert_double_eq_tol(s.low, 2.25, 1e-12);
    ck_assert_double_eq_tol(s.median, 3.5, 1e-12);
    ck_assert_double_eq_tol(s.high, 4.75, 1e-12);
    ck_assert_double_eq(series.at[0], 5); /* in the order of measuring */
}
END_TEST

START_TEST(one_sample_and_none)
{
    const double number = 3;
    const struct series one = series_of(1, &number), none = series_of(0, NULL);

    ck_assert_double_eq(summarise(&one).low, 3);
    ck_assert_double_eq(summarise(&one).high, 3);
    ck_assert_int_eq(summarise(&none).n, 0);
    ck_assert_double_eq(summarise(&none).median, 0);
}
END_TEST

START_TEST(a_ratio_is_taken_round_by_round)
{
    /* A machine that slows down by ten: each round still says one half. */
    const double own[] = { 1, 10, 2 }, peer[] = { 2, 20, 4, 100 };
    const struct series a = series_of(3, own), b = series_of(4, peer);
    const struct summary s = summarise_ratio(&a, &b);

    ck_assert_int_eq(s.n, 3);
    ck_assert_double_eq(s.low, 0.5);
    ck_assert_double_eq(s.high, 0.5);
}
END_TEST

START_TEST(many_samples_are_kept)
{
    struct series series = { .arena = &ctx->perm };

    for (int i = 0; i < 1000; i++)
        series_add(&series, i);
    ck_assert_double_eq(summarise(&series).median, 499.5);
}
END_TEST

/* --- rounds ----------------------------------------------------------------------------------- */

/* Says that a run takes `seconds`; the n-th fails. */
struct fake {
    double seconds;
    int calls, cold_calls, fails_at;
    long runs;
};

static bool fake_run(void *user, long n, double *seconds)
{
    struct fake *fake = user;

    fake->runs += n;
    *seconds = fake->seconds * (double)n;
    return ++fake->calls != fake->fails_at;
}

static bool fake_cold(void *user, size_t flush_bytes, double *seconds)
{
    struct fake *fake = user;

    ck_assert_uint_ge(flush_bytes, (size_t)64 << 20);
    fake->cold_calls++;
    *seconds = 3 * fake->seconds;
    return true;
}

static bool count_calls(void *user, double block_seconds)
{
    ck_assert_double_eq(block_seconds, 0.01);
    ++*(int *)user;
    return true;
}

static struct rounds fake_rounds(struct contender *contenders, struct fake *fakes, int *between)
{
    for (int i = 0; i < 2; i++)
        contenders[i] = (struct contender){ .run = fake_run, .cold = fake_cold, .user = &fakes[i] };
    return (struct rounds){ .contenders = contenders,
                            .n_contenders = 2,
                            .repeat = 7,
                            .block_seconds = 0.01,
                            .between = count_calls,
                            .user = between };
}

START_TEST(a_block_takes_as_long_as_was_asked)
{
    struct fake fakes[2] = { { .seconds = 0.001 }, { .seconds = 0.5 } };
    struct contender contenders[2];
    int between = 0;
    struct rounds rounds = fake_rounds(contenders, fakes, &between);

    ck_assert(rounds_run(ctx, &rounds));
    ck_assert_int_eq(contenders[0].block, 10);
    ck_assert_int_eq(contenders[1].block, 1);
    ck_assert_int_eq(contenders[0].warm.n, 7);
    ck_assert_int_eq(contenders[1].warm.n, 7);
    ck_assert_int_eq(between, 7);
    ck_assert_double_eq_tol(summarise(&contenders[0].warm).median, 0.001, 1e-12);
    ck_assert_double_eq_tol(summarise(&contenders[1].cold_runs).median, 1.5, 1e-12);
    /* Two to settle the block, then one uncounted and ten counted a round, or one: large networks
     * find their weights replaced as well. */
    ck_assert_int_eq(fakes[0].runs, 2 + 7 * 11);
    ck_assert_int_eq(fakes[1].runs, 2 + 7 * 2);
}
END_TEST

START_TEST(without_a_number_there_are_five_rounds_at_least)
{
    struct fake fakes[2] = { { .seconds = 1 }, { .seconds = 1 } };
    struct contender contenders[2];
    int between = 0;
    struct rounds rounds = fake_rounds(contenders, fakes, &between);

    rounds.repeat = 0;
    rounds.seconds = 0;
    ck_assert(rounds_run(ctx, &rounds));
    ck_assert_int_eq(contenders[0].warm.n, 5);
    ck_assert_int_eq(contenders[0].cold_runs.n, 5);
    ck_assert_int_eq(fakes[0].cold_calls, 6); /* the first is not counted */
}
END_TEST

START_TEST(a_contender_that_fails_ends_the_rounds)
{
    struct fake fakes[2] = { { .seconds = 1 }, { .seconds = 1, .fails_at = 6 } };
    struct contender contenders[2];
    int between = 0;
    struct rounds rounds = fake_rounds(contenders, fakes, &between);

    ck_assert(!rounds_run(ctx, &rounds));
    ck_assert_int_eq(between, 1);
}
END_TEST

START_TEST(cpu_time_goes_on_while_we_compute)
{
    const double start = thread_seconds(), wall = wall_seconds();
    volatile double x = 1;

    while (thread_seconds() - start < 0.01)
        x = x * 1.0000001;
    ck_assert(wall_seconds() > wall);
}
END_TEST

/* --- workers ---------------------------------------------------------------------------------- */

static struct worker *start(const char *script)
{
    const char *const words[] = { "sh", "-c", script, NULL };

    return worker_start(ctx, "the worker", words, temp_path(&dir, "messages"));
}

START_TEST(a_worker_answers_line_by_line)
{
    struct worker *worker = start("echo ok hello; while read x; do echo \"ok <$x>\"; done");

    ck_assert_str_eq(worker_ask(worker, NULL), "hello");
    ck_assert_str_eq(worker_ask(worker, "run %d", 3), "<run 3>");
    ck_assert_str_eq(worker_ask(worker, "more"), "<more>");
    worker_stop(worker);
}
END_TEST

START_TEST(answers_may_be_long_and_come_in_pieces)
{
    struct worker *worker = start(
        "read x; printf ok; i=0; while [ $i -lt 3000 ]; do printf ' 0.5'; i=$((i+1)); done; echo");
    double *numbers = arena_array(&ctx->perm, double, 3000);

    ck_assert(worker_ask_numbers(worker, 3000, numbers, "go"));
    ck_assert_double_eq(numbers[0] + numbers[2999], 1);
    worker_stop(worker);
}
END_TEST

START_TEST(an_error_is_told_and_the_worker_lives_on)
{
    struct worker *worker = start("read x; echo error no such input; read x; echo ok 7");
    double number;

    ck_assert_ptr_null(worker_ask(worker, "input x"));
    ck_assert(expect_error(ctx, DIAG_BENCH, "the worker: no such input"));
    ck_assert(worker_ask_numbers(worker, 1, &number, "run 1"));
    ck_assert_double_eq(number, 7);
    worker_stop(worker);
}
END_TEST

START_TEST(too_few_numbers_are_an_error)
{
    struct worker *worker = start("read x; echo ok 1.5 two");
    double numbers[2];

    ck_assert(!worker_ask_numbers(worker, 2, numbers, "run 1"));
    ck_assert(expect_error(ctx, DIAG_BENCH, "'1.5 two', expected 2 numbers"));
    worker_stop(worker);
}
END_TEST

static const struct {
    const char *script, *how;
} deaths[] = {
    { "read x; echo it broke >&2; exit 3", "ended with exit code 3" },
    { "read x; echo it broke >&2; kill -SEGV $$", "was ended by signal 11" },
    { "echo it broke >&2", "ended without an answer" },
};

START_TEST(how_a_worker_died_is_told)
{
    struct worker *worker = start(deaths[_i].script);

    ck_assert_ptr_null(worker_ask(worker, "run 1"));
    ck_assert_msg(expect_error(ctx, DIAG_BENCH, deaths[_i].how), "%s", expect_text(ctx));
    ck_assert(expect_error(ctx, DIAG_BENCH, "it broke"));
    ck_assert_ptr_null(worker_ask(worker, "run 1")); /* told once */
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    worker_stop(worker);
}
END_TEST

START_TEST(a_program_that_is_not_there)
{
    const char *const words[] = { "/no/such/program", NULL };

    ck_assert_ptr_null(worker_start(ctx, "the worker", words, temp_path(&dir, "messages")));
    ck_assert(expect_error(ctx, DIAG_BENCH, "cannot start the worker: /no/such/program"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("measure");
    TCase *tcase = tcase_create("measure");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, quartiles_lie_between_samples);
    tcase_add_test(tcase, one_sample_and_none);
    tcase_add_test(tcase, a_ratio_is_taken_round_by_round);
    tcase_add_test(tcase, many_samples_are_kept);
    tcase_add_test(tcase, a_block_takes_as_long_as_was_asked);
    tcase_add_test(tcase, without_a_number_there_are_five_rounds_at_least);
    tcase_add_test(tcase, a_contender_that_fails_ends_the_rounds);
    tcase_add_test(tcase, cpu_time_goes_on_while_we_compute);
    tcase_add_test(tcase, a_worker_answers_line_by_line);
    tcase_add_test(tcase, answers_may_be_long_and_come_in_pieces);
    tcase_add_test(tcase, an_error_is_told_and_the_worker_lives_on);
    tcase_add_test(tcase, too_few_numbers_are_an_error);
    tcase_add_loop_test(tcase, how_a_worker_died_is_told, 0, sizeof deaths / sizeof *deaths);
    tcase_add_test(tcase, a_program_that_is_not_there);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
