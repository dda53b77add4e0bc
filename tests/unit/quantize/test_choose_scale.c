/* The rule `auto`: on data whose great numbers decide the results, and on data where they do not.
 */
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "quantize/steps.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"

enum { N_SAMPLES = 32 };

static struct ctx *ctx;

static void setup(void)
{
    ctx = ctx_new(NULL);
}

static void teardown(void)
{
    ctx_free(ctx);
}

/* Numbers in [-1, 1]; in the first sample two greater ones, one number of 65,536 each. */
static bool load(void *user, struct ctx *own, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    const struct function *fn = user;
    unsigned seed = (unsigned)index + 1;
    float *data;

    (void)own;
    inputs[0] = tensor_new(bulk, &fn->params[0]->type);
    fill_random(&inputs[0], -1, 2, &seed);
    data = inputs[0].data;
    if (index == 0) {
        data[7] = 100;
        data[type_elements(&inputs[0].type) - 3] = 40;
    }
    return true;
}

struct job {
    struct calibration_source source;
    struct quantize_options options;
    struct quantize_report report;
};

static struct job job_of(struct module *module, const char *precision, const char *rule)
{
    struct job job = { .source = { N_SAMPLES, load, module->main } };
    struct precision *p = &job.options.precision;

    job.options.n_threads = 1;
    job.options.simulate_only = true;
    ck_assert(precision_parse(ctx, "", precision, p));
    if (rule) {
        ck_assert(scale_rule_parse(rule, &p->data_scale));
        p->has_data_scale = true;
    }
    return job;
}

static bool quantize(struct job *job, struct module *module)
{
    const struct pipeline_options pipeline = { .log = stderr };

    job->source.user = module->main;
    job->options.samples = job->source.n ? &job->source : NULL;
    return quantize_module(module, &job->options, &pipeline, &job->report);
}

/* What lies beyond 1 is cut off anyway: 1 wants all the codes. */
static const char cut[] = "fn main(%x: (1,2,64,64) f32) -> (%y) {\n"
                          "  const @w : (2,2,1,1) f32 = [1, 0.5, -0.25, 1]\n"
                          "  %c = clip(%x) {a_min=-1, a_max=1} : (1,2,64,64) f32\n"
                          "  %y = nn.conv2d(%c, @w) " CONV " : (1,2,64,64) f32\n"
                          "}\n";

/* The greatest numbers are the result, of the sample that has them: 100 and 40. */
static const char greatest[] = "fn main(%x: (1,2,64,64) f32) -> (%y) {\n"
                               "  const @w : (2,2,1,1) f32 = [1, 0, 0, 1]\n"
                               "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,64,64) f32\n"
                               "  %y = nn.global_max_pool(%c) : (1,2,1,1) f32\n"
                               "}\n";

static void check_choice(const struct job *job, bool is_max)
{
    const struct quantize_report *report = &job->report;

    ck_assert_int_eq(report->n_rules, 5);
    ck_assert_str_eq(report->rules[0].name, "max");
    for (int i = 0; i < report->n_rules; i++)
        ck_assert_double_ge(report->rules[i].loss, report->rules[report->chosen_rule].loss);
    ck_assert_int_eq(report->chosen_rule == 0, is_max);
}

/* Under the names of the rules that lose least, the graph is the one that this rule makes. */
static void check_graph(const char *text, const char *precision, const char *name,
                        const struct module *made)
{
    struct module *plain = graph_parse(ctx, text, 1);
    struct job job = job_of(plain, precision, name);

    ck_assert_msg(quantize(&job, plain), "%s", expect_text(ctx));
    ck_assert_int_eq(job.report.n_rules, 0);
    ck_assert_str_eq(graph_text(plain, true), graph_text(made, true));
    module_free(plain);
}

static const struct {
    const char *text, *precision;
    bool is_max;
} rows[] = {
    { cut, "int8", false },
    { greatest, "int8", true },
    { cut, "fp8=f8e3m4", false },
};

START_TEST(the_rule_is_that_by_which_results_lose_least)
{
    struct module *module = graph_parse(ctx, rows[_i].text, 1);
    struct job job = job_of(module, rows[_i].precision, "auto");

    ck_assert_msg(quantize(&job, module), "%s", expect_text(ctx));
    check_choice(&job, rows[_i].is_max);
    check_graph(rows[_i].text, rows[_i].precision, job.report.rules[job.report.chosen_rule].name,
                module);
    module_free(module);
}
END_TEST

START_TEST(it_may_be_what_is_meant_where_nothing_is_said)
{
    struct module *module = graph_parse(ctx, cut, 1);
    struct job job = job_of(module, "int8", NULL);

    job.options.choose_data_scale = true;
    ck_assert_msg(quantize(&job, module), "%s", expect_text(ctx));
    check_choice(&job, false);
    module_free(module);
}
END_TEST

START_TEST(a_row_of_a_qtable_may_ask_for_it)
{
    static const char table[] = "y int8 scale=auto\n";
    struct module *module = graph_parse(ctx, cut, 1);
    struct job job = job_of(module, "f32", NULL);
    struct qtable qtable;

    ck_assert(qtable_read_bytes(ctx, "q", table, sizeof table - 1, &qtable));
    job.options.qtable = &qtable;
    ck_assert_msg(quantize(&job, module), "%s", expect_text(ctx));
    ck_assert_int_eq(job.report.n_rules, 5);
    module_free(module);
}
END_TEST

START_TEST(the_number_of_threads_changes_no_bit)
{
    struct module *one = graph_parse(ctx, cut, 1), *three = graph_parse(ctx, cut, 1);
    struct job a = job_of(one, "int8", "auto"), b = job_of(three, "int8", "auto");

    b.options.n_threads = 3;
    ck_assert(quantize(&a, one) && quantize(&b, three));
    for (int i = 0; i < a.report.n_rules; i++)
        ck_assert_double_eq(a.report.rules[i].loss, b.report.rules[i].loss);
    ck_assert_str_eq(graph_text(one, true), graph_text(three, true));
    module_free(one);
    module_free(three);
}
END_TEST

START_TEST(it_needs_samples)
{
    struct module *module = graph_parse(ctx, cut, 1);
    struct job job = job_of(module, "int8", "auto");

    job.source.n = 0;
    ck_assert(!quantize(&job, module));
    ck_assert(expect_error(ctx, DIAG_USAGE, "auto for scales of data needs samples"));
    module_free(module);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("choose scale");
    TCase *tests = tcase_create("choose scale");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, the_rule_is_that_by_which_results_lose_least, 0, N_ROWS(rows));
    tcase_add_test(tests, it_may_be_what_is_meant_where_nothing_is_said);
    tcase_add_test(tests, a_row_of_a_qtable_may_ask_for_it);
    tcase_add_test(tests, the_number_of_threads_changes_no_bit);
    tcase_add_test(tests, it_needs_samples);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
