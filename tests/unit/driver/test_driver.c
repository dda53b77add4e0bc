/* driver/: the stages in their order, options by the table, what is told and what is not. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "driver/precision.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

static const char text[] = "fn main(%x: (1,8,4,4) f32) -> (%d) {\n"
                           "  const @w : (4,8) f32 = crc32:00000000\n"
                           "  %p = nn.global_avg_pool(%x) : (1,8,1,1) f32\n"
                           "  %f = reshape(%p) {shape=[1,8]} : (1,8) f32\n"
                           "  %d = nn.dense(%f, @w) : (1,4) f32\n"
                           "}\n";

struct compilation {
    struct ctx *ctx;
    struct module *module;
    struct driver_state driver;
    struct output_set set;
};

static struct compilation *begin(void)
{
    struct ctx *ctx = ctx_new(NULL);
    struct compilation *a = arena_new(&ctx->perm, struct compilation);

    a->ctx = ctx;
    a->module = graph_parse(ctx, text, 1);
    a->set.ctx = ctx;
    a->driver = driver_begin(ctx, COMMAND_COMPILE);
    a->driver.outputs = &a->set;
    driver_give(&a->driver, OPTION_NAME, "net");
    driver_take(&a->driver, a->module);
    return a;
}

static bool run(struct compilation *a, enum driver_stage last)
{
    if (!driver_prepare(&a->driver))
        return false;
    return driver_run(&a->driver, last);
}

static void end(struct compilation *a)
{
    output_abort(&a->set);
    driver_free(&a->driver);
    module_free(a->module);
    ctx_free(a->ctx);
}

static bool has_region(const struct module *module)
{
    return module->main->first && module->main->first->op == OP_CALL;
}

START_TEST(stages_have_names_of_their_own)
{
    for (int i = 0; i < STAGE_COUNT; i++)
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(stage_name((enum driver_stage)i), stage_name((enum driver_stage)k));
    ck_assert_str_eq(stage_name(STAGE_LOAD), "load");
    ck_assert_str_eq(stage_name(STAGE_PRINT), "print");
}
END_TEST

START_TEST(stages_run_up_to_the_one_that_is_asked_for)
{
    struct compilation *a = begin();

    ck_assert_msg(run(a, STAGE_LAYOUT), "%s", expect_text(a->ctx));
    ck_assert(!has_region(a->module));
    ck_assert_int_eq(a->driver.next, STAGE_FUSE);
    ck_assert(driver_run(&a->driver, STAGE_SIMPLIFY)); /* done already */
    ck_assert(driver_run(&a->driver, STAGE_FUSE));
    ck_assert(has_region(a->module));
    ck_assert_int_eq(a->driver.result.n_regions, 0);
    ck_assert(driver_run(&a->driver, STAGE_PRINT));
    ck_assert_int_eq(a->driver.result.n_regions, 2);
    ck_assert_uint_gt(a->driver.result.weight_bytes, 100);
    ck_assert_int_eq(a->ctx->diags.n_errors, 0);
    ck_assert(!a->driver.precision->done && !a->driver.offload.partition &&
              !a->driver.budget.is_judged);
    end(a);
}
END_TEST

START_TEST(an_option_makes_its_stage_run)
{
    struct compilation *a = begin();

    driver_give(&a->driver, OPTION_PRECISION, "fp8w");
    driver_give(&a->driver, OPTION_OFFLOAD, "sim_npu");
    driver_give(&a->driver, OPTION_RAM, "64K");
    ck_assert_msg(run(a, STAGE_PRINT), "%s", expect_text(a->ctx));
    ck_assert(a->driver.precision->done && a->driver.offload.partition);
    ck_assert(a->driver.budget.is_judged && a->driver.budget.fits);
    ck_assert_uint_gt(a->driver.budget.ram_needed, 0);
    ck_assert_str_eq(a->driver.codegen.numbers, "weights f8e4m3, data f32: 1 product");
    end(a);
}
END_TEST

START_TEST(all_errors_of_options_come_in_one_go)
{
    struct compilation *a = begin();

    driver_give(&a->driver, OPTION_RAM, "much");
    driver_give(&a->driver, OPTION_TARGET, "abacus");
    driver_give(&a->driver, OPTION_PRECISION, "fp9");
    driver_give(&a->driver, OPTION_WEIGHTS, "light");
    ck_assert(!driver_prepare(&a->driver));
    ck_assert_int_eq(a->ctx->diags.n_errors, 4);
    ck_assert_int_eq(diag_exit_code(a->ctx), 2);
    end(a);
}
END_TEST

START_TEST(what_does_not_fit_is_judged_before_any_file)
{
    struct compilation *a = begin();

    driver_give(&a->driver, OPTION_RAM, "1");
    ck_assert(!run(a, STAGE_PRINT));
    ck_assert(expect_error(a->ctx, DIAG_RAM, "more than --ram allows"));
    ck_assert(a->driver.budget.is_judged && !a->driver.budget.fits);
    ck_assert_int_eq(a->driver.budget.n_changes, 0); /* there is nothing to read again */
    ck_assert_int_eq(a->driver.next, STAGE_BUDGET + 1);
    ck_assert_ptr_null(a->driver.code); /* the module may go first */
    end(a);
}
END_TEST

/* --- events ----------------------------------------------------------------------------------- */

struct heard {
    int n_notes, n_lines;
};

static void hear_note(void *user, const char *note)
{
    struct heard *heard = user;

    heard->n_notes += strstr(note, "cmsis_nn took no node") != NULL;
}

static void hear_text(void *user, const char *line)
{
    struct heard *heard = user;

    heard->n_lines += strstr(line, "steps keep what the network computes\n") != NULL;
}

START_TEST(what_is_worth_a_word_is_told)
{
    struct heard heard = { 0, 0 };
    const struct driver_events events = { .note = hear_note, .say = hear_text, .user = &heard };
    struct compilation *a = begin();

    a->driver.events = &events;
    driver_give(&a->driver, OPTION_OFFLOAD, "cmsis_nn"); /* which takes no floats */
    driver_give(&a->driver, OPTION_CHECK_PASSES, "");
    ck_assert_msg(run(a, STAGE_FUSE), "%s", expect_text(a->ctx));
    ck_assert_int_eq(heard.n_notes, 1);
    ck_assert_int_eq(heard.n_lines, 1);
    ck_assert_ptr_null(a->driver.validation);
    end(a);
}
END_TEST

/* --- options ---------------------------------------------------------------------------------- */

START_TEST(options_are_found_by_name)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        ck_assert_int_eq(option_find(option_rows[i].name), i);
        ck_assert_int_ne(option_rows[i].commands, 0);
        ck_assert_msg(!option_rows[i].argument || *option_rows[i].argument, "%s",
                      option_rows[i].name);
    }
    ck_assert_int_eq(option_find("nothing"), OPTION_COUNT);
    ck_assert_int_eq(option_rows[OPTION_PRECISION].reader, READ_BY_DRIVER);
    ck_assert_int_eq(option_rows[OPTION_JSON].reader, READ_BY_CLI);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("driver");
    TCase *tcase = tcase_create("driver");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tcase, stages_have_names_of_their_own);
    tcase_add_test(tcase, stages_run_up_to_the_one_that_is_asked_for);
    tcase_add_test(tcase, an_option_makes_its_stage_run);
    tcase_add_test(tcase, all_errors_of_options_come_in_one_go);
    tcase_add_test(tcase, what_does_not_fit_is_judged_before_any_file);
    tcase_add_test(tcase, what_is_worth_a_word_is_told);
    tcase_add_test(tcase, options_are_found_by_name);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
