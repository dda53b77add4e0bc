/* What is chosen without data: ranges against numbers that the network computes, formats against all
 * formats tried, the estimate against the same by hand. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "quantize/batch_norms.h"
#include "quantize/data_free.h"
#include "relay_ir/interpret.h"
#include "tests/support/executions.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"

static struct ctx *ctx;

static void setup(void)
{
    ctx = ctx_new(NULL);
}

static void teardown(void)
{
    ctx_free(ctx);
}

/* The first batch norm has seen x with a mean square of 4: 4 w^2 behind a filter of one weight. The
 * second product has no batch norm. */
static const char text[] =
    "fn main(%x: (1,1,16,16) f32) -> (%z) {\n"
    "  const @w : (2,1,1,1) f32 = [2, -0.5]\n"
    "  const @b : (2) f32 = [1, 0]\n"
    "  const @v : (2,2,1,1) f32 = [3, 5, -1, 1]\n"
    "  const @gamma : (2) f32 = [1, 2]\n"
    "  const @beta : (2) f32 = [0.5, -1]\n"
    "  const @mean : (2) f32 = [1, 0]\n"
    "  const @variance : (2) f32 = [16, 1]\n"
    "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,16,16) f32\n"
    "  %a = nn.bias_add(%c, @b) {axis=1} : (1,2,16,16) f32\n"
    "  %n = nn.batch_norm(%a, @gamma, @beta, @mean, @variance) {axis=1, epsilon=0} "
    ": (1,2,16,16) f32\n"
    "  %r = nn.relu(%n) : (1,2,16,16) f32\n"
    "  %d = nn.conv2d(%r, @v) " CONV " : (1,2,16,16) f32\n"
    "  %z = nn.relu(%d) : (1,2,16,16) f32\n"
    "}\n";

struct seen {
    const struct calib_table *table;
    int n;
};

static void see(void *user, const struct value *value, const struct tensor *tensor)
{
    struct seen *seen = user;
    const struct calib_tensor *guess = calib_find(seen->table, value->name);
    double most = 0;

    if (!guess)
        return;
    seen->n++;
    for (int64_t i = 0; i < type_elements(&tensor->type); i++)
        most = fmax(most, fabs(tensor_at(tensor, i)));
    ck_assert_msg(most <= guess->histogram->limit && guess->histogram->limit < 20 * most,
                  "%s: %g, guessed %g", value->name, most, guess->histogram->limit);
    ck_assert_double_le(guess->min, 0);
}

/* Behind a relu nothing is below zero; deviations of 0.5 and 1 are ten times within the range. */
START_TEST(ranges_hold_what_is_computed)
{
    struct module *module = graph_parse(ctx, text, 1);
    struct quantize_options options = { .batch_norms = batch_norms_collect(ctx, module) };
    struct quantization q = { .module = module, .ctx = ctx, .options = &options };
    struct seen seen = { .table = data_free_table(&q) };
    const struct observer observer = { .see = see, .user = &seen };
    struct bulk bulk = { 0 };
    struct tensor x = tensor_new(&bulk, &module->main->params[0]->type), z;
    unsigned seed = 3;

    ck_assert_double_eq_tol(batch_norms_input(options.batch_norms, "x"), 2, 1e-6);
    ck_assert_double_eq(batch_norms_input(options.batch_norms, "y"), 0);
    ck_assert_ptr_nonnull(seen.table);
    for (int64_t i = 0; i < 256; i++) {
        seed = seed * 1664525u + 1013904223u;
        ((float *)x.data)[i] = (float)(4 * sqrt(3) * ((double)(seed >> 8) * 0x1p-24 - 0.5));
    }
    ck_assert(interpret(ctx, module->main, &x, &z, &bulk, &observer));
    ck_assert_int_eq(seen.n, 4); /* n, r, d, z: not c and a, in front of the batch norm */
    ck_assert_double_eq(calib_find(seen.table, "r")->min, 0);
    ck_assert_double_eq_tol(calib_find(seen.table, "n")->max, -1 + 10 * 2, 1e-6);
    ck_assert_double_eq_tol(calib_find(seen.table, "x")->max, 8 * 2, 1e-5);
    bulk_release(&bulk);
    module_free(module);
}
END_TEST

/* Behind a relu without a sign, whether or not a batch norm says what the range is. */
START_TEST(data_has_a_sign_where_it_may_be_negative)
{
    struct module *module = graph_parse(ctx, text, 1);
    struct quantize_options options = { .batch_norms = batch_norms_collect(ctx, module),
                                        .choose_formats = true };
    struct quantization q = { .module = module, .ctx = ctx, .options = &options };
    const struct calib_table *table = data_free_table(&q);
    struct precision own, named;

    ck_assert(precision_parse(ctx, "", "fp8", &own) && precision_parse(ctx, "", "fp8", &named));
    own.chooses_formats = true;
    for (const struct node *node = module->main->first; node; node = node->next) {
        const struct value *value = node->outputs[0];
        const struct calib_tensor *tensor = calib_find(table, value->name);
        const bool is_unsigned = node->op == OP_RELU;
        const struct number_format known = data_free_format(&q, &own, value, tensor);
        const struct number_format unknown = data_free_format(&q, &own, value, NULL);
        const struct number_format as_named = data_free_format(&q, &named, value, tensor);

        ck_assert_str_eq(as_named.name, "f8e4m3");
        ck_assert_int_eq(number_format_is_unsigned(&known), is_unsigned);
        ck_assert_str_eq(unknown.name, is_unsigned ? "u8e4m4" : "f8e4m3");
    }
    module_free(module);
}
END_TEST

/* Alike in size: E3M4, whose steps are finer. Far apart: E4M3, which reaches further down. */
START_TEST(weights_have_the_format_that_loses_less)
{
    static const struct {
        const char *numbers, *format;
    } cases[] = { { "1, 0.9, 0.83, 0.77", "f8e3m4" },
                  { "448, 0.0117, 0.0137, 0.0157", "f8e4m3" },
                  { "1, 0.61, -0.43, 0.35", "f8e2m5" } };
    const char *graph = arena_printf(&ctx->perm,
                                     "fn main(%%x: (1,4,1,1) f32) -> (%%z) {\n"
                                     "  const @w : (1,4,1,1) f32 = [%s]\n"
                                     "  %%z = nn.conv2d(%%x, @w) " CONV " : (1,1,1,1) f32\n}\n",
                                     cases[_i].numbers);
    struct module *module = graph_parse(ctx, graph, 1);
    const struct value *w = ((struct node *)module->main->first)->inputs[1];
    struct precision fp8w, int8w;

    ck_assert(precision_parse(ctx, "", "fp8w", &fp8w) && precision_parse(ctx, "", "int8w", &int8w));
    ck_assert_str_eq(precision_for_weight(&fp8w, w, 0).weights.name, "f8e4m3");
    fp8w.chooses_formats = int8w.chooses_formats = true;
    ck_assert_str_eq(precision_for_weight(&fp8w, w, 0).weights.name, cases[_i].format);
    ck_assert_str_eq(precision_for_weight(&int8w, w, 0).weights.name, "i8");
    module_free(module);
}
END_TEST

/* One weight, 1.0625 of 1 in the coarse format: whatever the inputs, noise is the square of what the
 * weight is off by. */
START_TEST(noise_is_that_of_the_results)
{
    static const char one[] = "fn main(%x: (1,1,4,4) f32) -> (%z) {\n"
                              "  const @w : (1,1,1,1) f32 = [1.1]\n"
                              "  %z = nn.conv2d(%x, @w) " CONV " : (1,1,4,4) f32\n}\n";
    struct module *module = graph_parse(ctx, one, 1);
    const struct pipeline_options pipeline = { .part = PIPELINE_PREPARE };
    struct quantize_options options = { .data_free = true, .n_threads = 1 };
    struct quantize_report report;
    const double off = (1.125 - (double)1.1f) / (double)1.1f;

    ck_assert(precision_parse(ctx, "", "fp8w=f8e4m3", &options.precision));
    ck_assert(scale_rule_parse("unit", &options.precision.weight_scale));
    ck_assert(quantize_module(module, &options, &pipeline, &report));
    ck_assert_double_eq_tol(report.noise, off * off, 1e-6);
    ck_assert(!report.is_classifier);
    module_free(module);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("data free");
    TCase *tests = tcase_create("data free");
    SRunner *runner;
    int n_failed;

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, ranges_hold_what_is_computed);
    tcase_add_loop_test(tests, weights_have_the_format_that_loses_less, 0, 3);
    tcase_add_test(tests, data_has_a_sign_where_it_may_be_negative);
    tcase_add_test(tests, noise_is_that_of_the_results);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed != 0;
}
