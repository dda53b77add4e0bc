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

#include "quantize/calibrate.h"
#include "relay_ir/copy.h"
#include "relay_ir/passes/pipeline.h"
#include "runtime/engine/engine.h"
#include "search/strategies.h"
#include "tests/support/executions.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"
#include "tests/support/temp_dir.h"

enum { N_SAMPLES = 6 };

static const char network[] =
    "fn main(%x: (1,3,12,12) f32) -> (%h) {\n"
    "  const @w0 : (8,3,3,3) f32 = crc32:00000000\n"
    "  const @w1 : (8,8,3,3) f32 = crc32:00000000\n"
    "  const @w2 : (12,8,1,1) f32 = crc32:00000000\n"
    "  const @w3 : (12,1,3,3) f32 = crc32:00000000\n"
    "  const @w4 : (10,12) f32 = crc32:00000000\n"
    "  %c0 = nn.conv2d(%x, @w0) " CONV_PADDED "\n"
    "  %a = nn.relu(%c0)\n"
    "  %c1 = nn.conv2d(%a, @w1) " CONV_PADDED "\n"
    "  %e = add(%c1, %a)\n"
    "  %c2 = nn.conv2d(%e, @w2) " CONV "\n"
    "  %b = nn.relu(%c2)\n"
    "  %c3 = nn.conv2d(%b, @w3) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=12, " NCHW
    "\n"
    "  %g = nn.global_avg_pool(%c3)\n"
    "  %v = reshape(%g) {shape=[1,12]}\n"
    "  %h = nn.dense(%v, @w4)\n"
    "}\n";

static struct ctx *ctx;
static struct bulk bulk;
static struct module *module;
static struct tensor inputs[N_SAMPLES];
static struct calib_table table;
static struct search_options options;
static struct strategy_options strategy;
static struct temp_dir dir;

static bool load(void *user, struct ctx *own, struct bulk *own_bulk, int64_t index,
                 struct tensor *out)
{
    (void)user;
    (void)own;
    (void)own_bulk;
    *out = inputs[index];
    return true;
}

static void calibrate_it(void)
{
    const struct calibration_source source = { N_SAMPLES, load, NULL };
    struct calibration_options how = { .n_threads = 1 };
    struct threshold_method *methods;

    how.n_methods = threshold_methods(&ctx->perm, 99.99, &methods);
    how.methods = methods;
    ck_assert(calibrate(ctx, module->main, &source, &how, &table));
}

static void set_up(void)
{
    static struct scale_rule rules[3];
    static struct precision choices[3];
    unsigned seed = 11;

    ctx = ctx_new(NULL);
    bulk = (struct bulk){ 0 };
    module = graph_parse(ctx, network, 5);
    for (int i = 0; i < N_SAMPLES; i++) {
        inputs[i] = tensor_new(&bulk, &module->main->params[0]->type);
        fill_random(&inputs[i], -1, 1, &seed);
    }
    calibrate_it();
    dir = temp_dir_new();
    options = (struct search_options){ .calib = &table,
                                       .n_samples = N_SAMPLES,
                                       .inputs = inputs,
                                       .mem = (size_t)1 << 24,
                                       .n_threads = 2 };
    ck_assert(scale_rule_parse("max", &rules[0]));
    ck_assert(scale_rule_parse("percentile:99", &rules[1]));
    ck_assert(scale_rule_parse("kl", &rules[2]));
    strategy =
        (struct strategy_options){ .n_rules = 3, .rules = rules, .target = 1, .max_float = 2 };
    ck_assert(precision_parse(ctx, "", "int8", &strategy.precision));
    ck_assert(precision_parse(ctx, "", "int8", &choices[0]));
    ck_assert(precision_parse(ctx, "", "int8w", &choices[1]));
    ck_assert(precision_parse(ctx, "", "int8w=i4", &choices[2]));
    strategy.choices = choices;
    strategy.n_choices = 3;
    strategy.n_trials = 12;
}

static void tear_down(void)
{
    temp_dir_free(&dir);
    module_free(module);
    bulk_release(&bulk);
    ctx_free(ctx);
}

static const char *in_dir(const char *name)
{
    return temp_path(&dir, name);
}

typedef bool strategy_run(struct search *search, const struct strategy_options *how,
                          struct found *out);

static const struct {
    const char *name;
    strategy_run *run;
} all[] = {
    { "sensitive", search_sensitive },       { "topk", search_topk },     { "mixed", search_mixed },
    { "greedy-pairs", search_greedy_pairs }, { "budget", search_budget }, { "bayes", search_bayes },
};

enum { N_ALL = sizeof all / sizeof *all };

static void run(struct search *search, strategy_run *how, struct found *found)
{
    if (how == search_bayes) /* which chooses formats of weights */
        ck_assert(precision_parse(ctx, "", "afp", &strategy.precision));
    ck_assert(search_open(search, ctx, module, &options));
    ck_assert(how(search, &strategy, found));
}

/* 1 - mean cosine of the network by that qtable with f32, by engines of their own. */
static double cosine_by_qtable(const struct search *search, const struct found *found)
{
    const struct proposal proposal = { "", found->settings, found->table };
    struct module *small = search_build(search, &proposal, ctx), *f32 = module_copy(ctx, module);
    struct engine *engines[2];
    double sum = 0;

    ck_assert(pipeline_run_one(small, "unshare_dequantize") && pipeline_run_one(small, "fuse_ops"));
    engine_use_one_core();
    engines[0] = engine_new(ctx, f32->main);
    engines[1] = engine_new(ctx, small->main);
    for (int s = 0; s < N_SAMPLES; s++) {
        struct tensor x, y;
        double xy = 0, xx = 0, yy = 0;

        ck_assert(engine_run(engines[0], &inputs[s], &x, &bulk, NULL));
        ck_assert(engine_run(engines[1], &inputs[s], &y, &bulk, NULL));
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
    return sum / N_SAMPLES;
}

START_TEST(units_are_regions)
{
    static const char *const names[] = { "c0", "c1", "c2", "c3", "g", "h" };
    const struct units units = units_of(ctx, module);

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

    run(&search, all[_i].run, &found);
    ck_assert_double_eq_tol(cosine_by_qtable(&search, &found), found.end.cos, 1e-9);
    search_close(&search);
}
END_TEST

START_TEST(no_search_ends_worse_than_it_began)
{
    struct search search;
    struct found found;

    strategy.target = 1;
    strategy.max_float = 100;
    run(&search, all[_i].run, &found);
    if (all[_i].run == search_bayes) /* loss and bits are weighed: see its own test */
        ck_assert(found.is_start || found.n_stages > 0);
    else
        ck_assert_double_le(found.end.loss, found.start.loss);
    ck_assert(!found.is_start || found.end.loss == found.start.loss);
    search_close(&search);
}
END_TEST

START_TEST(a_search_ends_at_its_target)
{
    struct search search;
    struct found found;

    strategy.target = 0.5;
    run(&search, all[_i].run, &found);
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

    run(&search[0], all[_i].run, &found[0]);
    options.n_threads = 5;
    options.mem = 0;
    run(&search[1], all[_i].run, &found[1]);
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
        const bool ok =
            search_open(&search, ctx, module, &options) && how(&search, &strategy, &found);

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

    run(&search[0], all[_i].run, &found[0]);
    options.log = in_dir("killed.jsonl");
    options.n_threads = 1;
    child = start_process(all[_i].run);
    while (count_lines(options.log) < 4)
        usleep(500);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    n_lines = count_lines(options.log);
    file = fopen(options.log, "a"); /* as if it had been killed while writing */
    fputs("{\"key\": \"0123", file);
    fclose(file);

    run(&search[1], all[_i].run, &found[1]);
    check_same(&found[0], &found[1], search[0].units.n);
    ck_assert_int_eq(trials_count(search[0].trials), trials_count(search[1].trials));
    ck_assert_int_eq(count_lines(options.log), 1 + trials_count(search[1].trials));
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

    run(&search[0], all[_i].run, &found[0]);
    options.log = in_dir("shared.jsonl");
    options.n_threads = 1;
    for (int i = 0; i < 3; i++)
        children[i] = start_process(all[_i].run);
    kill(children[1], SIGKILL); /* whatever it has claimed goes to the others */
    run(&search[1], all[_i].run, &found[1]);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert(i == 1 || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
    check_same(&found[0], &found[1], search[0].units.n);
    /* no trial was done twice */
    ck_assert_int_eq(count_lines(options.log), 1 + trials_count(search[1].trials));
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

    options.log = in_dir("log.jsonl");
    run(&search, search_topk, &found);
    search_close(&search);
    *(float *)inputs[0].data += 1;
    ck_assert(!search_open(&search, other, module, &options));
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

    run(&search, search_topk, &found);
    by_result = found.start.cos;
    search_close(&search);
    options.tensors = names;
    options.n_tensors = 1;
    run(&search, search_topk, &found);
    ck_assert_double_ne(found.start.cos, by_result);
    ck_assert_double_gt(found.start.cos, 0.9);
    search_close(&search);
}
END_TEST

/* A judge to whom a network is the better, the greater its first result. */
static void *begin(void *user)
{
    (void)user;
    return calloc(N_SAMPLES, sizeof(double));
}

static bool see(void *user, void *trial, struct ctx *own, int64_t sample, const struct tensor *in,
                const struct tensor *outputs)
{
    (void)user;
    (void)own;
    (void)in;
    ((double *)trial)[sample] = tensor_at(&outputs[0], 0);
    return true;
}

static bool end(void *user, void *trial, struct ctx *own, double *value)
{
    (void)user;
    (void)own;
    *value = 0;
    for (int i = 0; i < N_SAMPLES; i++)
        *value += ((double *)trial)[i] / N_SAMPLES;
    free(trial);
    return true;
}

START_TEST(a_judge_decides)
{
    const struct judge judge = { "first", begin, see, end, NULL };
    struct search search;
    struct found found;

    options.measure = MEASURE_TASK;
    options.judge = &judge;
    run(&search, search_sensitive, &found);
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

    strategy.max_float = 0;
    run(&search, search_sensitive, &found);
    for (int i = 0; found.table && i < table.n; i++) {
        const struct calib_tensor *was = &table.at[i], *now = &found.table->at[i];
        const struct calib_threshold *same = calib_threshold(was, now->thresholds[0].method);

        n_changed += strcmp(was->thresholds[0].method, now->thresholds[0].method) != 0;
        ck_assert(!same || same->value == now->thresholds[0].value);
        ck_assert_double_eq(was->min, now->min);
    }
    ck_assert(!found.table || n_changed > 0);
    search_close(&search);
}
END_TEST

static double weight_bytes(const struct search *search, const int *settings)
{
    double bytes = 0;

    for (int i = 0; i < search->units.n; i++)
        bytes += unit_bytes(&search->units.at[i], &search->settings[settings[i]].precision);
    return bytes;
}

START_TEST(a_budget_is_kept)
{
    struct search search;
    struct found found;
    int *f32;

    strategy.flash = 1300;
    run(&search, search_budget, &found);
    f32 = arena_array(&ctx->perm, int, search.units.n);
    ck_assert_double_gt(weight_bytes(&search, f32), 1300);
    ck_assert_double_le(weight_bytes(&search, found.settings), 1300);
    ck_assert_uint_le(found.price.flash, 1300);
    search_close(&search);
}
END_TEST

/* A unit's time is its multiplications, fewer in integers, and more by half where only weights are
 * small. */
static double time_of(const struct unit *unit, const struct precision *precision)
{
    const double factor = precision->mode == PRECISION_INT8    ? 0.25
                          : precision->mode == PRECISION_INT8W ? 1.5
                                                               : 1;

    return (double)(unit->macs + 1) * factor * 1e-6;
}

static bool price_times(void *user, struct search *search, const struct proposal *proposal,
                        struct price *out, double *seconds)
{
    (void)user;
    *out = (struct price){ .flash = 0 };
    for (int i = 0; i < search->units.n; i++) {
        const struct unit *unit = &search->units.at[i];
        const struct precision *p = &search->settings[proposal->settings[i]].precision;

        out->flash += (size_t)unit_bytes(unit, p);
        out->latency += time_of(unit, p);
        if (seconds)
            seconds[i] += time_of(unit, p);
    }
    return true;
}

static double front_loss(const struct found *found, double latency)
{
    double least = INFINITY;

    for (int i = 0; i < found->n_front; i++)
        if (found->front[i].price.latency <= latency)
            least = fmin(least, found->front[i].score.loss);
    return least;
}

static void check_front(const struct found *found)
{
    ck_assert_int_gt(found->n_front, 0);
    for (int i = 0; i < found->n_front; i++)
        for (int k = 0; k < found->n_front; k++) {
            const struct priced *a = &found->front[i], *b = &found->front[k];

            ck_assert(i == k || a->price.flash < b->price.flash || a->price.ram < b->price.ram ||
                      a->price.latency < b->price.latency || a->score.loss < b->score.loss);
        }
}

START_TEST(a_time_is_kept)
{
    static const double shares[] = { 0.3, 0.5, 0.9 };
    const struct proposal f32 = { .what = "f32", .settings = arena_array(&ctx->perm, int, 16) };
    struct search search;
    struct found found;
    struct price whole;
    double limit;

    strategy.tells_latency = true;
    strategy.price = price_times;
    strategy.latency_share = shares[_i];
    run(&search, search_budget, &found);
    ck_assert(price_times(NULL, &search, &f32, &whole, NULL));
    limit = shares[_i] * whole.latency;
    ck_assert_double_le(found.price.latency, limit);
    ck_assert_double_eq(found.end.loss, front_loss(&found, limit)); /* the best that fits */
    check_front(&found);
    search_close(&search);

    strategy.latency_share = 0; /* the same as a time */
    strategy.latency = limit;
    {
        struct found again;

        run(&search, search_budget, &again);
        ck_assert_double_eq(again.end.loss, found.end.loss);
        search_close(&search);
    }
}
END_TEST

/* Bytes and a time at once: what fits both, or else what exceeds them least. */
START_TEST(a_time_and_bytes_are_kept)
{
    struct search search;
    struct found found;

    strategy.tells_latency = true;
    strategy.price = price_times;
    strategy.latency_share = 0.6;
    strategy.flash = 2600;
    run(&search, search_budget, &found);
    ck_assert_uint_le(found.price.flash, 2600);
    check_front(&found);
    search_close(&search);
    strategy.latency_share = 0.01; /* nothing is so fast */
    run(&search, search_budget, &found);
    for (int i = 0; i < found.n_front; i++)
        ck_assert_double_ge(found.front[i].price.latency, found.price.latency);
    search_close(&search);
}
END_TEST

START_TEST(without_a_budget_the_target_is_reached_with_few_bytes)
{
    struct search search;
    struct found found;
    double all_small;

    strategy.target = 0.995;
    run(&search, search_budget, &found);
    all_small = weight_bytes(&search, start_settings(&search, &strategy.choices[0], 1));
    ck_assert_double_ge(found.end.cos, 0.995);
    ck_assert_double_le(weight_bytes(&search, found.settings), all_small);
    search_close(&search);
}
END_TEST

/* Fewer bits than all alike have, at no greater loss than the target allows. */
START_TEST(bayes_saves_bits)
{
    struct search search;
    struct found found;

    strategy.target = 0.97;
    run(&search, search_bayes, &found);
    ck_assert(!found.is_start);
    ck_assert_double_ge(found.end.cos, 0.97);
    ck_assert_double_lt(weight_bytes(&search, found.settings),
                        0.9 *
                            weight_bytes(&search, start_settings(&search, &strategy.precision, 1)));
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
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, units_are_regions);
    tcase_add_loop_test(tcase, a_score_is_that_of_the_qtable, 0, N_ALL);
    tcase_add_loop_test(tcase, no_search_ends_worse_than_it_began, 0, N_ALL);
    tcase_add_loop_test(tcase, a_search_ends_at_its_target, 0, N_ALL);
    tcase_add_loop_test(tcase, threads_and_memory_change_nothing, 0, N_ALL);
    tcase_add_loop_test(tcase, a_killed_search_goes_on_where_it_was, 0, N_ALL);
    tcase_add_loop_test(tcase, processes_share_the_trials_and_the_death_of_one_changes_nothing, 0,
                        N_ALL);
    tcase_add_test(tcase, a_log_of_something_else_is_refused);
    tcase_add_test(tcase, tensors_can_be_compared_instead_of_results);
    tcase_add_test(tcase, a_judge_decides);
    tcase_add_test(tcase, a_budget_is_kept);
    tcase_add_loop_test(tcase, a_time_is_kept, 0, 3);
    tcase_add_test(tcase, a_time_and_bytes_are_kept);
    tcase_add_test(tcase, without_a_budget_the_target_is_reached_with_few_bytes);
    tcase_add_test(tcase, bayes_saves_bits);
    tcase_add_test(tcase, the_new_table_has_the_chosen_threshold_in_front);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
