/* The parts of relayc tune: logs (written, read back, continued, merged, damaged), the search on
 * made-up times, regions as models of their own. tests/golden/cli/tune.t runs the whole. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_c/select/signature.h"
#include "relay_ir/interpret.h"
#include "relay_ir/verify.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/run_generated.h"
#include "tests/support/temp_dir.h"
#include "tune/extract.h"
#include "tune/knob_search.h"
#include "tune/log.h"

static struct ctx *ctx;
static struct temp_dir dir;
static const char *path;

static void begin(void)
{
    ctx = ctx_new(NULL);
    dir = temp_dir_new();
    path = arena_printf(&ctx->perm, "%s/tune.jsonl", dir.path);
}

static void end(void)
{
    remove(path);
    ctx_free(ctx);
    temp_dir_free(&dir);
}

/* --- logs ------------------------------------------------------------------------------------- */

static const struct tune_key key = { .target = "x86-64-v3",
                                     .compiler = "cc 12",
                                     .flags = "-O3 \"-x\"",
                                     .cpu = "a processor",
                                     .runner = "" };

static struct trial trial_of(const char *region, const char *tile, double warm, double cold)
{
    return (struct trial){ .key = key,
                           .region = region,
                           .choice.value[KNOB_TILE] = tile,
                           .kernel = "conv",
                           .confirmed = true,
                           .reason = "",
                           .error = 1e-7,
                           .warm = warm * 1e-6,
                           .usual_warm = 1e-6,
                           .warm_ratio = warm,
                           .cold = cold * 2e-6,
                           .usual_cold = 2e-6,
                           .cold_ratio = cold };
}

static void append(const struct trial *trials, int n)
{
    struct tune_file *file = tune_file_open(ctx, path);

    ck_assert_msg(file != NULL, "%s", expect_text(ctx));
    for (int i = 0; i < n; i++)
        ck_assert(tune_file_append(file, &trials[i]));
    ck_assert(tune_file_close(file));
}

static struct tune_log read_all(void)
{
    struct tune_log log = { .n = 0 };

    ck_assert_msg(tune_log_read(ctx, path, &log), "%s", expect_text(ctx));
    return log;
}

static void write_text(const char *text, const char *mode)
{
    FILE *file = fopen(path, mode);

    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

START_TEST(what_is_written_is_read_back)
{
    struct trial trials[3] = { trial_of("conv(\"a\"); relu", "2x6", 0.75, 0.875) };
    struct tune_log log;
    const struct trial *t;

    trials[1] = trials[0];
    trials[1].verdict = VERDICT_WRONG;
    trials[1].error = 0.5;
    trials[1].confirmed = false;
    trials[2] = trials[1];
    trials[2].verdict = VERDICT_FAILED;
    trials[2].reason = "the C compiler 'cc' failed";
    append(trials, 3);
    log = read_all();
    ck_assert_int_eq(log.n, 3);
    t = &log.at[0];
    ck_assert(trial_same_key(t, &key));
    ck_assert_str_eq(t->region, "conv(\"a\"); relu");
    ck_assert_str_eq(t->choice.value[KNOB_TILE], "2x6");
    ck_assert_ptr_null(t->choice.value[KNOB_KERNEL]);
    ck_assert(t->confirmed && t->verdict == VERDICT_OK);
    ck_assert_double_eq_tol(t->warm, 0.75e-6, 1e-15);
    ck_assert_double_eq_tol(t->usual_cold, 2e-6, 1e-15);
    ck_assert_double_eq(t->warm_ratio, 0.75);
    ck_assert_double_eq(t->cold_ratio, 0.875);
    ck_assert_double_eq_tol(trial_score(t), cbrt(0.75 * 0.75 * 0.875), 1e-12);
    ck_assert_int_eq(log.at[1].verdict, VERDICT_WRONG);
    ck_assert_double_eq(log.at[1].error, 0.5);
    ck_assert(!log.at[1].confirmed);
    ck_assert_int_eq(log.at[2].verdict, VERDICT_FAILED);
    ck_assert_str_eq(log.at[2].reason, "the C compiler 'cc' failed");
}
END_TEST

START_TEST(a_log_is_continued)
{
    const struct trial first = trial_of("r", "2x6", 0.9, 0), second = trial_of("r", "2x4", 0.8, 0);
    struct choice choice = { .value = { [KNOB_TILE] = "2x4" } };
    struct tune_log log;

    append(&first, 1);
    append(&second, 1);
    log = read_all();
    ck_assert_int_eq(log.n, 2);
    ck_assert_ptr_eq(tune_log_find(&log, &key, "r", &choice, true), &log.at[1]);
    ck_assert_ptr_null(tune_log_find(&log, &key, "r", &choice, false));
    ck_assert_ptr_null(tune_log_find(&log, &key, "s", &choice, true));
    choice.value[KNOB_NC] = "32";
    ck_assert_ptr_null(tune_log_find(&log, &key, "r", &choice, true));
}
END_TEST

/* Measurements of another compiler, processor ... do not spare a trial here. */
START_TEST(a_trial_belongs_to_its_key)
{
    const struct trial trial = trial_of("r", "2x6", 0.9, 0);
    const struct choice choice = trial.choice;
    struct tune_log log = { .n = 0 };
    struct tune_key other[5] = { key, key, key, key, key };

    tune_log_add(ctx, &log, &trial);
    other[0].target = other[1].compiler = other[2].flags = other[3].cpu = other[4].runner = "?";
    ck_assert_ptr_nonnull(tune_log_find(&log, &key, "r", &choice, true));
    for (int i = 0; i < 5; i++)
        ck_assert_ptr_null(tune_log_find(&log, &other[i], "r", &choice, true));
}
END_TEST

/* A run that was killed while it wrote. */
START_TEST(a_line_that_was_not_finished_is_passed_over_and_cut_off)
{
    const struct trial first = trial_of("r", "2x6", 0.9, 0), second = trial_of("r", "2x4", 0.8, 0);

    append(&first, 1);
    write_text("{\"relayc_tune\":1,\"reg", "a");
    ck_assert_int_eq(read_all().n, 1);
    append(&second, 1);
    ck_assert_int_eq(read_all().n, 2);
}
END_TEST

START_TEST(an_empty_log_and_one_torn_line_alone)
{
    write_text("", "w");
    ck_assert_int_eq(read_all().n, 0);
    write_text("{\"relayc", "w");
    append(NULL, 0);
    ck_assert_int_eq(read_all().n, 0);
}
END_TEST

#define HEAD                                                                                       \
    "{\"relayc_tune\":1,\"region\":\"r\",\"target\":\"t\",\"compiler\":\"c\",\"flags\":\"f\","     \
    "\"cpu\":\"\",\"runner\":\"\",\"kernel\":\"\","

START_TEST(damaged_lines_are_told_by_number)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        { "nonsense", "is no JSON object" },
        { "[1]", "is no JSON object" },
        { "{}", "relayc_tune is not 1" },
        { "{\"relayc_tune\":2}", "relayc_tune is not 1" },
        { "{\"relayc_tune\":1}", "there is no text region" },
        { HEAD "\"verdict\":\"ok\"}", "missing object knobs" },
        { HEAD "\"knobs\":{\"tile\":3},\"verdict\":\"ok\",\"warm_us\":1,\"usual_warm_us\":1,"
               "\"warm_ratio\":1}",
          "expected a text as the value of the knob tile" },
        { HEAD "\"knobs\":{},\"verdict\":\"fine\"}", "verdict is ok, wrong or failed, not fine" },
        { HEAD "\"knobs\":{},\"verdict\":\"ok\",\"usual_warm_us\":1,\"warm_ratio\":1}",
          "missing number >= 0: warm_us" },
        { HEAD
          "\"knobs\":{},\"verdict\":\"ok\",\"warm_us\":1,\"usual_warm_us\":1,\"warm_ratio\":-1}",
          "missing number >= 0: warm_ratio" },
        { HEAD "\"knobs\":{},\"verdict\":\"failed\"}", "there is no text reason" },
    };
    const struct trial good = trial_of("r", "2x6", 0.9, 0);
    struct tune_log log = { .n = 0 };

    append(&good, 1);
    write_text("\n", "a"); /* empty lines are fine */
    write_text(cases[_i].line, "a");
    write_text("\n", "a");
    append(&good, 1);
    ck_assert(!tune_log_read(ctx, path, &log));
    ck_assert_int_eq(log.n, 2);
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    ck_assert_msg(strstr(ctx->diags.first->message, "tune.jsonl:3: "), "%s", expect_text(ctx));
    ck_assert_msg(strstr(ctx->diags.first->message, cases[_i].message), "%s", expect_text(ctx));
}
END_TEST

enum { N_DAMAGED = 11 };

START_TEST(the_best_confirmed_choice_wins)
{
    struct trial trials[7] = {
        trial_of("a", "2x6", 0.9, 0.9), trial_of("a", "2x4", 0.8, 0.9),
        trial_of("a", "2x5", 0.1, 0),   trial_of("a", "2x3", 0.1, 0),
        trial_of("b", "2x6", 0.99, 0),  trial_of("c", "2x6", 0.7, 0),
        trial_of("d", "2x6", 0.7, 3.0),
    };
    struct tune_log log;
    struct choices best;

    trials[2].confirmed = false; /* was not measured again */
    trials[3].verdict = VERDICT_WRONG;
    trials[5].key.target = "x86-64-v4"; /* another machine */
    append(trials, 7);
    log = read_all();
    best = tune_log_best(ctx, &log, "x86-64-v3");
    ck_assert_uint_eq(best.by_signature.n, 1); /* b gains too little, d is slow when cold */
    ck_assert_str_eq(((const struct choice *)map_get(&best.by_signature, "a"))->value[KNOB_TILE],
                     "2x4");
    best = tune_log_best(ctx, &log, "x86-64-v4");
    ck_assert_uint_eq(best.by_signature.n, 1);
    ck_assert_ptr_nonnull(map_get(&best.by_signature, "c"));
    ck_assert_uint_eq(tune_log_best(ctx, &log, "cortex-m4").by_signature.n, 0);
}
END_TEST

/* Two logs, as one file or read one after the other. */
START_TEST(logs_are_merged)
{
    const struct trial one = trial_of("a", "2x6", 0.9, 0), two = trial_of("a", "2x4", 0.8, 0);
    struct tune_log log;
    struct choices best;

    append(&one, 1);
    log = read_all();
    remove(path);
    append(&two, 1);
    ck_assert(tune_log_read(ctx, path, &log));
    ck_assert_int_eq(log.n, 2);
    best = tune_log_best(ctx, &log, key.target);
    ck_assert_str_eq(((const struct choice *)map_get(&best.by_signature, "a"))->value[KNOB_TILE],
                     "2x4");
}
END_TEST

START_TEST(knobs_that_there_are_not_are_told)
{
    struct tune_log log;

    write_text("{\"relayc_tune\":1,\"region\":\"r\",\"target\":\"t\",\"compiler\":\"c\",\"flags\":"
               "\"f\",\"cpu\":\"\",\"runner\":\"\",\"kernel\":\"\",\"knobs\":{\"colour\":\"red\"},"
               "\"confirmed\":"
               "true,\"verdict\":\"ok\",\"warm_us\":1,\"usual_warm_us\":2,\"warm_ratio\":0.5}\n",
               "w");
    log = read_all();
    ck_assert_uint_eq(tune_log_best(ctx, &log, "t").by_signature.n, 0);
    ck_assert_int_eq(ctx->diags.n_warnings, 1);
    ck_assert_str_eq(ctx->diags.first->message, "the tuning log has an unknown knob: 'colour'");
}
END_TEST

/* --- the search ------------------------------------------------------------------------------- */

/* Two kernels: "a" has tiles and NC blocks, "b" tiles only. Made-up scores: a sum of what each value
 * costs. */
struct made_up {
    int n_tries, most_tries; /* then there is no time left; 0 = never */
    bool many;               /* too many values, so that not all combinations are tried */
    double b;                /* what kernel b costs */
};

static const char *const kernels[] = { "a", "b" };
static const char *const tiles[] = { "1", "2", "3", "4", "5", "6" };
static const char *const blocks[] = { "10", "20", "30", "40", "50", "60" };

static const struct knob_range *knobs_made_up(void *user, const struct choice *choice)
{
    const struct made_up *m = user;
    struct knob_range *ranges = arena_array(&ctx->perm, struct knob_range, KNOB_COUNT);
    const bool b = choice->value[KNOB_KERNEL] && strcmp(choice->value[KNOB_KERNEL], "b") == 0;
    const int n = m->many ? 6 : 3;

    ranges[KNOB_KERNEL] = (struct knob_range){ 2, kernels, kernels[0], kernels[b] };
    ranges[KNOB_TILE] = (struct knob_range){ n, tiles, tiles[0], tiles[0] };
    if (!b)
        ranges[KNOB_NC] = (struct knob_range){ n, blocks, blocks[0], blocks[0] };
    return ranges;
}

/* Tile 3 gains 0.2, nc 20 gains 0.1, whatever the other is. */
static bool try_made_up(void *user, const struct choice *choice, double *score)
{
    struct made_up *m = user;
    const char *tile = choice->value[KNOB_TILE], *nc = choice->value[KNOB_NC];

    if (m->most_tries && m->n_tries == m->most_tries)
        return false;
    m->n_tries++;
    *score = choice->value[KNOB_KERNEL] ? m->b : 1;
    *score += !tile ? 0 : strcmp(tile, "3") == 0 ? -0.2 : 0.1;
    *score += !nc ? 0 : strcmp(nc, "20") == 0 ? -0.1 : 0.1;
    return true;
}

static struct tune_search search_of(struct made_up *m)
{
    return (struct tune_search){
        .ctx = ctx, .user = m, .knobs = knobs_made_up, .try_choice = try_made_up
    };
}

START_TEST(few_combinations_are_all_tried)
{
    struct made_up m = { .b = 1.05 };
    struct tune_search search = search_of(&m);

    ck_assert_int_eq(tune_search_size(&search), 8 + 1 + 2);
    tune_search_run(&search);
    ck_assert_int_eq(m.n_tries, 8 + 1 + 2);
    ck_assert_str_eq(choice_text(&ctx->perm, &search.best), "tile=3 nc=20");
    ck_assert_double_eq_tol(search.best_score, 0.7, 1e-12);
}
END_TEST

START_TEST(many_are_tried_knob_by_knob)
{
    struct made_up m = { .b = 9, .many = true };
    struct tune_search search = search_of(&m);

    tune_search_run(&search);
    ck_assert_str_eq(choice_text(&ctx->perm, &search.best), "tile=3 nc=20");
    ck_assert_int_lt(m.n_tries, 36);
    ck_assert_int_le(m.n_tries, tune_search_size(&search));
}
END_TEST

/* What is far behind is not looked into, what is near may win by its knobs. */
START_TEST(kernels_are_compared)
{
    struct made_up far = { .b = 9 }, near = { .b = 0.95 };
    struct tune_search search = search_of(&far);

    tune_search_run(&search);
    ck_assert_int_eq(far.n_tries, 8 + 1);
    search = search_of(&near);
    tune_search_run(&search);
    ck_assert_int_eq(near.n_tries, 8 + 1 + 2);
    ck_assert_str_eq(choice_text(&ctx->perm, &search.best), "tile=3 nc=20");
    near = (struct made_up){ .b = 0.8 };
    search = search_of(&near);
    tune_search_run(&search);
    ck_assert_str_eq(choice_text(&ctx->perm, &search.best), "kernel=b tile=3");
}
END_TEST

START_TEST(the_search_ends_with_the_time_and_the_trials)
{
    struct made_up m = { .b = 0.9, .most_tries = 1 };
    struct tune_search search = search_of(&m);

    tune_search_run(&search);
    ck_assert_str_eq(choice_text(&ctx->perm, &search.best), "kernel=b");
    m = (struct made_up){ .b = 2 };
    search = search_of(&m);
    search.most_trials = 4;
    ck_assert_int_eq(tune_search_size(&search), 4);
    tune_search_run(&search);
    ck_assert_int_eq(m.n_tries, 4);
}
END_TEST

START_TEST(nothing_better_is_the_usual_code)
{
    struct made_up m = { .b = 2, .most_tries = 1 };
    struct tune_search search = search_of(&m);

    tune_search_run(&search);
    ck_assert_str_eq(choice_text(&ctx->perm, &search.best), "usual");
    ck_assert_double_eq(search.best_score, 1);
}
END_TEST

/* --- regions ---------------------------------------------------------------------------------- */

/* A residual that is read before the data, a constant, two results of another region. */
static const char net[] = "fn main(%r: (4,8) f32, %x: (4,8) f32) -> (%y, %a, %b) {\n"
                          "  const @w : (8,8) f32 = crc32:00000001\n"
                          "  const @s : (8) f32 = crc32:00000002\n"
                          "  %d = nn.dense(%x, @w) : (4,8) f32\n"
                          "  %e = subtract(%r, %d) : (4,8) f32\n"
                          "  %y = add(%e, @s) : (4,8) f32\n"
                          "  %a, %b = split(%x) {axis=1, sizes=[3,5]} : (4,3) f32, (4,5) f32\n"
                          "}\n";

START_TEST(a_region_is_a_model_of_its_own)
{
    const struct generated_case row = { .text = net };
    struct module *module = generated_module(ctx, &row);
    struct bulk bulk = { NULL, 0 };
    int n = 0;

    for (const struct node *call = module->main->first; call; call = call->next, n++) {
        struct function *region = call->callee;
        struct module *own = region_extract(ctx, region);
        struct tensor wanted[2], found[2], *inputs;
        unsigned seed = 3;

        ck_assert_msg(own != NULL, "%s", expect_text(ctx));
        ck_assert_msg(module_verify(own, "extract"), "%s", expect_text(ctx));
        ck_assert_str_eq(region_signature(&ctx->perm, own->main->first->callee),
                         region_signature(&ctx->perm, region));
        inputs = random_inputs(&ctx->perm, &bulk, region, -1, 1, &seed);
        ck_assert(interpret(ctx, region, inputs, wanted, &bulk, NULL));
        ck_assert(interpret(ctx, own->main, inputs, found, &bulk, NULL));
        for (int i = 0; i < region->ret->n_inputs; i++)
            ck_assert(tensor_equal(&wanted[i], &found[i]));
        module_free(own);
    }
    ck_assert_int_eq(n, 2);
    bulk_release(&bulk);
    module_free(module);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tune");
    TCase *logs = tcase_create("logs"), *searches = tcase_create("searches"),
          *regions = tcase_create("regions");
    SRunner *runner;
    int n_failed;

    tcase_add_checked_fixture(logs, begin, end);
    tcase_add_test(logs, what_is_written_is_read_back);
    tcase_add_test(logs, a_log_is_continued);
    tcase_add_test(logs, a_trial_belongs_to_its_key);
    tcase_add_test(logs, a_line_that_was_not_finished_is_passed_over_and_cut_off);
    tcase_add_test(logs, an_empty_log_and_one_torn_line_alone);
    tcase_add_loop_test(logs, damaged_lines_are_told_by_number, 0, N_DAMAGED);
    tcase_add_test(logs, the_best_confirmed_choice_wins);
    tcase_add_test(logs, logs_are_merged);
    tcase_add_test(logs, knobs_that_there_are_not_are_told);
    suite_add_tcase(suite, logs);
    tcase_add_checked_fixture(searches, begin, end);
    tcase_add_test(searches, few_combinations_are_all_tried);
    tcase_add_test(searches, many_are_tried_knob_by_knob);
    tcase_add_test(searches, kernels_are_compared);
    tcase_add_test(searches, the_search_ends_with_the_time_and_the_trials);
    tcase_add_test(searches, nothing_better_is_the_usual_code);
    suite_add_tcase(suite, searches);
    tcase_add_checked_fixture(regions, begin, end);
    tcase_add_test(regions, a_region_is_a_model_of_its_own);
    suite_add_tcase(suite, regions);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
