/* The search: what a proposal is judged to be is what a compilation by its qtable gives; nothing
 * depends on threads, processes, memory or interruptions; and no search ends worse than it began.
 */
#define _DEFAULT_SOURCE /* fork */
#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "relay_ir/copy.h"
#include "relay_ir/passes/pipeline.h"
#include "runtime/engine/engine.h"
#include "tests/support/executions.h"
#include "tests/support/search_case.h"

static struct search_case net;

static void calibrate_once(void)
{
    search_case_calibrate(&net);
}

static void free_once(void)
{
    search_case_free(&net);
}

static void set_up(void)
{
    search_case_open(&net);
}

static void tear_down(void)
{
    search_case_close(&net);
}

static const char *in_dir(const char *name)
{
    return temp_path(&net.dir, name);
}

static const struct {
    const char *name;
    strategy_run *run;
} all[] = {
    { "sensitive", search_sensitive },       { "topk", search_topk },     { "mixed", search_mixed },
    { "greedy-pairs", search_greedy_pairs }, { "budget", search_budget }, { "bayes", search_bayes },
};

enum { N_ALL = sizeof all / sizeof *all };

/* 1 - mean cosine of the network by that qtable with f32, by engines of their own. */
static double cosine_by_qtable(const struct search *search, const struct found *found)
{
    const struct proposal proposal = { "", found->settings, found->table };
    struct module *small = search_build(search, &proposal, net.ctx),
                  *f32 = module_copy(net.ctx, net.module);
    struct engine *engines[2];
    double sum = 0;

    ck_assert(pipeline_run_one(small, "unshare_dequantize") && pipeline_run_one(small, "fuse_ops"));
    engine_use_one_core();
    engines[0] = engine_new(net.ctx, f32->main);
    engines[1] = engine_new(net.ctx, small->main);
    for (int s = 0; s < SEARCH_SAMPLES; s++) {
        struct tensor x, y;
        double xy = 0, xx = 0, yy = 0;

        ck_assert(engine_run(engines[0], &net.inputs[s], &x, &net.bulk, NULL));
        ck_assert(engine_run(engines[1], &net.inputs[s], &y, &net.bulk, NULL));
        for (int i = 0; i < 10; i++) {
            xy += tensor_at(&x, i) * tensor_at(&y, i);
            xx += tensor_at(&x, i) * tensor_at(&x, i);
            yy += tensor_at(&y, i) * tensor_at(&y, i);
        }
        sum += xy / sqrt(xx * yy);
    }
    engine_free(engines[0]);
    engine_free(engines[1]);
    module_free(small);
    module_free(f32);
    return sum / SEARCH_SAMPLES;
}

START_TEST(units_are_regions)
{
    static const char *const names[] = { "c0", "c1", "c2", "c3", "g", "h" };
    const struct units units = units_of(net.ctx, net.module);

    ck_assert_int_eq(units.n, 6);
    for (int i = 0; i < units.n; i++)
        ck_assert_str_eq(units.at[i].name, names[i]);
    ck_assert_int_eq(units.at[0].n_next, 1);
    ck_assert_int_eq(units.at[0].next[0], 1); /* c1 adds what c0 gave to its own result */
    ck_assert_int_eq(units.at[1].n_rows, 2);
    ck_assert_int_eq(units.at[1].n_weights, 8 * 8 * 3 * 3);
    ck_assert_int_eq(units.at[4].n_weights, 0);
}
END_TEST

START_TEST(a_score_is_that_of_the_qtable)
{
    struct search search;
    struct found found;

    search_case_run(&net, all[_i].run, &search, &found);
    ck_assert_double_eq_tol(cosine_by_qtable(&search, &found), found.end.cos, 1e-9);
    search_close(&search);
}
END_TEST

START_TEST(no_search_ends_worse_than_it_began)
{
    struct search search;
    struct found found;

    net.strategy.target = 1;
    net.strategy.max_float = 100;
    search_case_run(&net, all[_i].run, &search, &found);
    ck_assert_double_le(found.end.loss, found.start.loss);
    ck_assert(!found.is_start || found.end.loss == found.start.loss);
    search_close(&search);
}
END_TEST

START_TEST(greedy_pairs_is_no_worse_than_topk)
{
    struct search search[2];
    struct found found[2];

    net.strategy.target = 1;
    net.strategy.max_float = _i + 1;
    search_case_run(&net, search_topk, &search[0], &found[0]);
    search_case_run(&net, search_greedy_pairs, &search[1], &found[1]);
    ck_assert_double_le(found[1].end.loss, found[0].end.loss);
    ck_assert_int_le(found[1].n_float, _i + 1);
    search_close(&search[0]);
    search_close(&search[1]);
}
END_TEST

/* A row of a qtable is read by precision_parse. */
START_TEST(bayes_takes_formats_that_a_qtable_may_have)
{
    static const char *const texts[] = {
        "afp",   "fp8",   "fp8=f8e3m4", "fp8w",       "int8w",
        "mxfp8", "mxfp6", "fp8=auto",   "fp8=u8e2m6", "fp8w=auto"
    };
    struct search search;
    struct found found;

    ck_assert(precision_parse(net.ctx, "", texts[_i], &net.strategy.precision));
    net.strategy.n_trials = 6;
    net.strategy.target = 0.5;
    ck_assert(search_open(&search, net.ctx, net.module, &net.options));
    ck_assert(search_bayes(&search, &net.strategy, &found));
    ck_assert_int_gt(search.n_settings, 2);
    for (int i = 0; i < search.n_settings; i++) {
        struct precision again;

        ck_assert_msg(precision_parse(net.ctx, "",
                                      precision_text(&net.ctx->perm, &search.settings[i].precision),
                                      &again),
                      "%s", search.settings[i].text);
    }
    search_close(&search);
}
END_TEST

START_TEST(a_search_ends_at_its_target)
{
    struct search search;
    struct found found;

    net.strategy.target = 0.5;
    search_case_run(&net, all[_i].run, &search, &found);
    if (_i < 4 && all[_i].run != search_topk) {
        ck_assert(found.is_start);
        ck_assert_int_eq(trials_count(search.trials), 1);
    }
    search_close(&search);
}
END_TEST

static void check_same(const struct found *a, const struct found *b, int n_units)
{
    ck_assert_mem_eq(a->settings, b->settings, (size_t)n_units * sizeof *a->settings);
    ck_assert_double_eq(a->end.loss, b->end.loss);
    ck_assert_double_eq(a->end.snr, b->end.snr);
    ck_assert_int_eq(a->n_stages, b->n_stages);
    ck_assert(!a->table == !b->table);
    for (int i = 0; a->table && i < a->table->n; i++)
        ck_assert_double_eq(a->table->at[i].thresholds[0].value,
                            b->table->at[i].thresholds[0].value);
}

START_TEST(threads_and_memory_change_nothing)
{
    struct search search[2];
    struct found found[2];

    search_case_run(&net, all[_i].run, &search[0], &found[0]);
    net.options.n_threads = 5;
    net.options.mem = 0;
    search_case_run(&net, all[_i].run, &search[1], &found[1]);
    check_same(&found[0], &found[1], search[0].units.n);
    search_close(&search[0]);
    search_close(&search[1]);
}
END_TEST

static int count_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    int n = 0, c;

    while (file && (c = fgetc(file)) != EOF)
        n += c == '\n';
    if (file)
        fclose(file);
    return n;
}

/* The same search in a process of its own. */
static pid_t start_process(strategy_run *how)
{
    const pid_t child = fork();

    if (child == 0) {
        struct search search;
        struct found found;
        const bool ok = search_open(&search, net.ctx, net.module, &net.options) &&
                        how(&search, &net.strategy, &found);

        search_close(&search);
        _exit(ok ? 0 : 1);
    }
    ck_assert_int_gt(child, 0);
    return child;
}

START_TEST(a_killed_search_goes_on_where_it_was)
{
    struct search search[2];
    struct found found[2];
    FILE *file;
    pid_t child;
    int n_lines;

    search_case_run(&net, all[_i].run, &search[0], &found[0]);
    net.options.log = in_dir("killed.jsonl");
    net.options.n_threads = 1;
    child = start_process(all[_i].run);
    while (count_lines(net.options.log) < 4)
        usleep(500);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    n_lines = count_lines(net.options.log);
    file = fopen(net.options.log, "a"); /* as if it had been killed while writing */
    fputs("{\"key\": \"0123", file);
    fclose(file);

    search_case_run(&net, all[_i].run, &search[1], &found[1]);
    check_same(&found[0], &found[1], search[0].units.n);
    ck_assert_int_eq(trials_count(search[0].trials), trials_count(search[1].trials));
    ck_assert_int_eq(count_lines(net.options.log), 1 + trials_count(search[1].trials));
    ck_assert_int_ge(n_lines, 4);
    for (int i = 0; i < n_lines - 1; i++) /* what was finished is still there, and in front */
        ck_assert_int_eq(trials_at(search[1].trials, i)->line, i + 2);
    search_close(&search[0]);
    search_close(&search[1]);
}
END_TEST

START_TEST(processes_share_the_trials_and_the_death_of_one_changes_nothing)
{
    struct search search[2];
    struct found found[2];
    pid_t children[3];
    int status;

    search_case_run(&net, all[_i].run, &search[0], &found[0]);
    net.options.log = in_dir("shared.jsonl");
    net.options.n_threads = 1;
    for (int i = 0; i < 3; i++)
        children[i] = start_process(all[_i].run);
    kill(children[1], SIGKILL); /* whatever it has claimed goes to the others */
    search_case_run(&net, all[_i].run, &search[1], &found[1]);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert(i == 1 || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
    check_same(&found[0], &found[1], search[0].units.n);
    /* no trial was done twice */
    ck_assert_int_eq(count_lines(net.options.log), 1 + trials_count(search[1].trials));
    ck_assert_int_eq(trials_count(search[0].trials), trials_count(search[1].trials));
    search_close(&search[0]);
    search_close(&search[1]);
}
END_TEST

START_TEST(a_log_of_something_else_is_refused)
{
    struct search search;
    struct found found;
    struct ctx *other = ctx_new(NULL);

    net.options.log = in_dir("log.jsonl");
    search_case_run(&net, search_topk, &search, &found);
    search_close(&search);
    *(float *)net.inputs[0].data += 1;
    ck_assert(!search_open(&search, other, net.module, &net.options));
    ck_assert_int_eq(other->diags.first->code, DIAG_SEARCH_LOG);
    search_close(&search);
    ctx_free(other);
}
END_TEST

START_TEST(tensors_can_be_compared_instead_of_results)
{
    static const char *const names[] = { "e" };
    struct search search;
    struct found found;
    double by_result;

    search_case_run(&net, search_topk, &search, &found);
    by_result = found.start.cos;
    search_close(&search);
    net.options.tensors = names;
    net.options.n_tensors = 1;
    search_case_run(&net, search_topk, &search, &found);
    ck_assert_double_ne(found.start.cos, by_result);
    ck_assert_double_gt(found.start.cos, 0.9);
    search_close(&search);
}
END_TEST

START_TEST(a_judge_decides)
{
    struct search search;
    struct found found;

    net.options.measure = MEASURE_TASK;
    net.options.judge = &judge_of_first;
    search_case_run(&net, search_sensitive, &search, &found);
    ck_assert_double_ge(found.end.task, found.start.task);
    ck_assert_double_eq(found.end.loss, 1 - found.end.task);
    for (int i = 0; i < found.n_stages; i++)
        ck_assert_double_le(found.stages[i].score.task, found.end.task);
    search_close(&search);
}
END_TEST

START_TEST(the_new_table_has_the_chosen_threshold_in_front)
{
    struct search search;
    struct found found;
    int n_changed = 0;

    net.strategy.max_float = 0;
    search_case_run(&net, search_sensitive, &search, &found);
    for (int i = 0; found.table && i < net.table.n; i++) {
        const struct calib_tensor *was = &net.table.at[i], *now = &found.table->at[i];
        const struct calib_threshold *same = calib_threshold(was, now->thresholds[0].method);

        n_changed += strcmp(was->thresholds[0].method, now->thresholds[0].method) != 0;
        ck_assert(!same || same->value == now->thresholds[0].value);
        ck_assert_double_eq(was->min, now->min);
    }
    ck_assert(!found.table || n_changed > 0);
    search_close(&search);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("search");
    TCase *tcase = tcase_create("search");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_unchecked_fixture(tcase, calibrate_once, free_once);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, units_are_regions);
    tcase_add_loop_test(tcase, a_score_is_that_of_the_qtable, 0, N_ALL);
    tcase_add_loop_test(tcase, no_search_ends_worse_than_it_began, 0, N_ALL);
    tcase_add_loop_test(tcase, greedy_pairs_is_no_worse_than_topk, 0, 4);
    tcase_add_loop_test(tcase, bayes_takes_formats_that_a_qtable_may_have, 0, 10);
    tcase_add_loop_test(tcase, a_search_ends_at_its_target, 0, N_ALL);
    tcase_add_loop_test(tcase, threads_and_memory_change_nothing, 0, N_ALL);
    tcase_add_loop_test(tcase, a_killed_search_goes_on_where_it_was, 0, N_ALL);
    tcase_add_loop_test(tcase, processes_share_the_trials_and_the_death_of_one_changes_nothing, 0,
                        N_ALL);
    tcase_add_test(tcase, a_log_of_something_else_is_refused);
    tcase_add_test(tcase, tensors_can_be_compared_instead_of_results);
    tcase_add_test(tcase, a_judge_decides);
    tcase_add_test(tcase, the_new_table_has_the_chosen_threshold_in_front);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
