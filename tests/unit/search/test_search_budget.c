/* Searches that give up loss for bytes, time or bits: budgets are kept, and what is found is the
 * best of what keeps them. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

    net.strategy.flash = 1300;
    search_case_run(&net, search_budget, &search, &found);
    f32 = arena_array(&net.ctx->perm, int, search.units.n);
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
    const struct proposal f32 = { .what = "f32", .settings = arena_array(&net.ctx->perm, int, 16) };
    struct search search;
    struct found found;
    struct price whole;
    double limit;

    net.strategy.tells_latency = true;
    net.strategy.price = price_times;
    net.strategy.latency_share = shares[_i];
    search_case_run(&net, search_budget, &search, &found);
    ck_assert(price_times(NULL, &search, &f32, &whole, NULL));
    limit = shares[_i] * whole.latency;
    ck_assert_double_le(found.price.latency, limit);
    ck_assert_double_eq(found.end.loss, front_loss(&found, limit)); /* the best that fits */
    check_front(&found);
    search_close(&search);

    net.strategy.latency_share = 0; /* the same as a time */
    net.strategy.latency = limit;
    {
        struct found again;

        search_case_run(&net, search_budget, &search, &again);
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

    net.strategy.tells_latency = true;
    net.strategy.price = price_times;
    net.strategy.latency_share = 0.6;
    net.strategy.flash = 2600;
    search_case_run(&net, search_budget, &search, &found);
    ck_assert_uint_le(found.price.flash, 2600);
    check_front(&found);
    search_close(&search);
    net.strategy.latency_share = 0.01; /* nothing is so fast */
    search_case_run(&net, search_budget, &search, &found);
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

    net.strategy.target = 0.995;
    search_case_run(&net, search_budget, &search, &found);
    all_small = weight_bytes(&search, start_settings(&search, &net.strategy.choices[0], 1));
    ck_assert_double_ge(found.end.cos, 0.995);
    ck_assert_double_le(weight_bytes(&search, found.settings), all_small);
    search_close(&search);
}
END_TEST

static double cosine(const struct tensor *x, const struct tensor *y)
{
    double xy = 0, xx = 0, yy = 0;

    for (int i = 0; i < SEARCH_RESULTS; i++) {
        xy += tensor_at(x, i) * tensor_at(y, i);
        xx += tensor_at(x, i) * tensor_at(x, i);
        yy += tensor_at(y, i) * tensor_at(y, i);
    }
    return xy / sqrt(xx * yy);
}

/* Fewer bits than all alike have, at no greater loss than the target allows. */
START_TEST(bayes_saves_bits)
{
    struct search search;
    struct found found;

    net.strategy.target = 0.97;
    search_case_run(&net, search_bayes, &search, &found);
    ck_assert(!found.is_start);
    ck_assert_double_ge(found.start.cos, found.target);
    ck_assert_double_ge(found.end.cos, found.target);
    ck_assert_double_lt(
        weight_bytes(&search, found.settings),
        0.9 * weight_bytes(&search, start_settings(&search, &net.strategy.precision, 1)));
    search_close(&search);
}
END_TEST

static double bits_per_weight(const struct search *search, const int *settings)
{
    double bits = 0, n = 0;

    for (int i = 0; i < search->units.n; i++) {
        const struct unit *unit = &search->units.at[i];

        n += (double)unit->n_weights;
        if (unit->n_weights > 0)
            bits += (double)unit->n_weights *
                    number_format_bits(&search->settings[settings[i]].precision.weights);
    }
    return bits / n;
}

START_TEST(bayes_needs_no_more_bits_than_the_same_everywhere)
{
    struct search search;
    struct found found;
    int n_good = 0, bits;

    net.strategy.target = 0.5;
    search_case_run(&net, search_bayes, &search, &found);
    for (int i = 0; i < trials_count(search.trials); i++) {
        const struct judged *trial = trials_at(search.trials, i);

        if (sscanf(trial->what, "all alike: %d bits", &bits) != 1 ||
            trial->score.cos < found.target)
            continue;
        n_good++;
        ck_assert_double_le(bits_per_weight(&search, found.settings), bits);
    }
    ck_assert_int_gt(n_good, 0); /* of five bits; what is computed by others has their names */
    search_close(&search);
}
END_TEST

/* A target is a share of what tells samples apart. */
START_TEST(bayes_asks_for_a_share_of_what_tells_samples_apart)
{
    struct tensor y[SEARCH_SAMPLES];
    struct engine *engine;
    struct search search;
    struct found found;
    double spread = 0;

    net.strategy.target = 0.9;
    search_case_run(&net, search_bayes, &search, &found);
    engine_use_one_core();
    engine = engine_new(net.ctx, net.module->main);
    for (int s = 0; s < SEARCH_SAMPLES; s++) {
        ck_assert(engine_run(engine, &net.inputs[s], &y[s], &net.bulk, NULL));
        if (s > 0)
            spread += (1 - cosine(&y[s - 1], &y[s])) / (SEARCH_SAMPLES - 1);
    }
    engine_free(engine);
    ck_assert_double_gt(spread, 1e-3);
    ck_assert_double_lt(spread, 0.9);
    ck_assert_double_eq_tol(found.target, 1 - 0.1 * spread, 1e-6);
    search_close(&search);
}
END_TEST

START_TEST(bayes_loses_nothing_of_the_metric)
{
    struct search search;
    struct found found;
    double less = 0; /* trials in which something of it was lost */

    net.strategy.target = 0.5;
    net.options.measure = MEASURE_TASK;
    net.options.judge = &judge_of_first;
    search_case_run(&net, search_bayes, &search, &found);
    ck_assert(!found.is_start);
    ck_assert_double_ge(found.end.task, found.start.task);
    for (int i = 0; i < trials_count(search.trials); i++)
        less += trials_at(search.trials, i)->score.task < found.start.task;
    ck_assert_double_gt(less, 0);
    search_close(&search);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("search budget");
    TCase *tcase = tcase_create("search budget");
    SRunner *runner;
    int n_failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_unchecked_fixture(tcase, calibrate_once, free_once);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_budget_is_kept);
    tcase_add_loop_test(tcase, a_time_is_kept, 0, 3);
    tcase_add_test(tcase, a_time_and_bytes_are_kept);
    tcase_add_test(tcase, without_a_budget_the_target_is_reached_with_few_bytes);
    tcase_add_test(tcase, bayes_saves_bits);
    tcase_add_test(tcase, bayes_needs_no_more_bits_than_the_same_everywhere);
    tcase_add_test(tcase, bayes_asks_for_a_share_of_what_tells_samples_apart);
    tcase_add_test(tcase, bayes_loses_nothing_of_the_metric);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
