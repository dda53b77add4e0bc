/* What a product loses by being quantised, and which stay f32 with --topk. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantize/layer_loss.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

static struct ctx *ctx;

static void setup(void)
{
    ctx = ctx_new(NULL);
}

static void teardown(void)
{
    ctx_free(ctx);
}

/* The first layer's weights are powers of two, which f4e2m1 holds; the second's lose a little; the
 * third's lose most, and nobody hears of it: what it reads is next to nothing. */
static const char three[] = "fn main(%x: (1,2) f32) -> (%c) {\n"
                            "  const @u : (2,2) f32 = [1, 2, 4, 1]\n"
                            "  const @v : (2,2) f32 = [6, 5.2, 6, 5.2]\n"
                            "  const @s : () f32 = [0.001]\n"
                            "  const @w : (2,2) f32 = [600, 250, 600, 250]\n"
                            "  %a = nn.dense(%x, @u)\n"
                            "  %b = nn.dense(%a, @v)\n"
                            "  %m = multiply(%b, @s)\n"
                            "  %c = nn.dense(%m, @w)\n"
                            "}\n";

static const float samples[] = { 1, 1, 2, 1, -1, 3, 0.5f, 2, 1, -4 };

static bool load(void *user, struct ctx *own, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    const struct function *fn = user;

    if (index == 5)
        return diag_error(own, DIAG_FILE_READ, NULL, "sample 5 is not there");
    inputs[0] = tensor_new(bulk, &fn->params[0]->type);
    memcpy(inputs[0].data, samples + 2 * index, 2 * sizeof *samples);
    return true;
}

struct job {
    struct module *module;
    struct calibration_source source;
    struct quantize_options options;
    struct quantize_report report;
    struct quantization q;
    const struct node *products[3];
    double losses[3];
};

static void begin(struct job *job, const char *text, const char *precision, int64_t n_samples)
{
    int n = 0;

    *job = (struct job){ .module = graph_parse(ctx, text, 1) };
    job->source = (struct calibration_source){ n_samples, load, job->module->main };
    ck_assert(precision_parse(ctx, "test", precision, &job->options.precision));
    job->options.samples = n_samples ? &job->source : NULL;
    job->options.n_threads = 1;
    job->q = (struct quantization){ .module = job->module,
                                    .ctx = ctx,
                                    .options = &job->options,
                                    .report = &job->report,
                                    .kept = { .arena = &ctx->perm },
                                    .logged = { .arena = &ctx->perm } };
    for (struct node *node = job->module->main->first; node; node = node->next)
        if (is_product(node->op))
            job->products[n++] = node;
    ck_assert_int_eq(n, 3);
}

static void measure(struct job *job)
{
    ck_assert_msg(layer_losses(&job->q, 3, job->products, job->losses), "%s", expect_text(ctx));
}

static void end(struct job *job)
{
    module_free(job->module);
}

/* f4e2m1 with the scale 1 (of 6 / 6) has 5.2 as 6, and with 100 has 250 as 2 or 3 hundreds. */
START_TEST(without_samples_weights_count)
{
    struct job job;

    begin(&job, three, "fp8w=f4e2m1", 0);
    measure(&job);
    ck_assert_double_eq(job.losses[0], 0);
    ck_assert_double_eq_tol(job.losses[1], 0.8 * 0.8 / 2, 1e-6);
    ck_assert_double_eq_tol(job.losses[2], 50.0 * 50 / 2, 1e-3);
    end(&job);
}
END_TEST

/* What the layers give for (1, 1): a = (3, 5); b = 6 * 3 + 5.2 * 5, with 4 more of the rounding; c
 * = 0.001 * 44 * (600 + 250), where 50 are missing. */
START_TEST(with_samples_results_count)
{
    struct job job;

    begin(&job, three, "fp8w=f4e2m1", 1);
    measure(&job);
    ck_assert_double_eq(job.losses[0], 0);
    ck_assert_double_eq_tol(job.losses[1], 4.0 * 4, 1e-3);
    ck_assert_double_eq_tol(job.losses[2], 0.044 * 50 * 0.044 * 50, 1e-3);
    job.options.loss = LOSS_SNR;
    measure(&job);
    ck_assert_double_eq_tol(job.losses[1], 4.0 * 4 / (44 * 44), 1e-6);
    ck_assert_double_eq_tol(job.losses[2], 50.0 * 50 / (850 * 850), 1e-6);
    end(&job);
}
END_TEST

/* Each reads the float model's numbers, rounded: 3 and 5 are numbers of f8e4m3, 5.2 and 0.044 are
 * not. */
START_TEST(data_counts_as_it_is_read)
{
    struct job job;

    begin(&job, three, "fp8=f8e4m3", 1);
    measure(&job);
    ck_assert_double_eq(job.losses[0], 0);
    ck_assert_double_gt(job.losses[1], 0);
    ck_assert_double_gt(job.losses[2], 0);
    end(&job);
}
END_TEST

/* A table without samples: what its histograms would lose is added. */
START_TEST(tables_count_as_well)
{
    static const char measured[] = "x";
    struct calib_tensor tensor = { .name = measured, .shape = "1x2", .min = -3, .max = 3 };
    struct calib_table table = { .model = "", .n_samples = 1, .n = 1, .at = &tensor };
    struct qtype quant = { .kind = QTYPE_CALIBRATED, .min = -3, .max = 3, .threshold = 3 };
    struct histogram histogram = { .limit = 3, .n = HISTOGRAM_BINS };
    struct job job;

    for (int i = 0; i < HISTOGRAM_BINS; i++)
        histogram.bins[i] = 1;
    tensor.histogram = &histogram;
    begin(&job, three, "fp8=f8e4m3", 0);
    job.options.precision.has_data_scale = true;
    ck_assert(scale_rule_parse("unit", &job.options.precision.data_scale));
    job.module->main->params[0]->type.quant = &quant;
    job.q.calibration = &table;
    measure(&job);
    ck_assert_double_gt(job.losses[0], 0); /* of the data alone: the weights lose nothing */
    ck_assert_double_lt(job.losses[0], 0.01);
    end(&job);
}
END_TEST

START_TEST(threads_change_no_bit)
{
    struct job one, some;

    begin(&one, three, "fp8=f8e5m2", 5);
    measure(&one);
    begin(&some, three, "fp8=f8e5m2", 5);
    some.options.n_threads = 3;
    measure(&some);
    ck_assert_mem_eq(one.losses, some.losses, sizeof one.losses);
    end(&one);
    end(&some);
}
END_TEST

START_TEST(the_graph_is_as_it_was)
{
    struct job job;
    const char *before;

    begin(&job, three, "int8w", 2);
    before = graph_text(job.module, true);
    measure(&job);
    ck_assert_str_eq(graph_text(job.module, true), before);
    end(&job);
}
END_TEST

START_TEST(a_sample_that_is_missing_is_an_error)
{
    struct job job;

    begin(&job, three, "fp8", 7);
    ck_assert(!layer_losses(&job.q, 3, job.products, job.losses));
    ck_assert(expect_error(ctx, DIAG_FILE_READ, "topk: sample 5 is not there"));
    end(&job);
}
END_TEST

static int worst(int64_t n_samples)
{
    struct job job;
    int kept = -1;

    begin(&job, three, "fp8w=f4e2m1", n_samples);
    job.options.topk = 1;
    ck_assert(choose_begin(&job.q));
    for (int i = 0; i < 3; i++)
        if (precision_of_node(&job.q, job.products[i], NULL)->mode == PRECISION_F32)
            kept = i;
    end(&job);
    return kept;
}

START_TEST(samples_tell_which_layer_matters)
{
    ck_assert_int_eq(worst(0), 2);
    ck_assert_int_eq(worst(2), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layer_loss");
    TCase *tcase = tcase_create("layer_loss");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, without_samples_weights_count);
    tcase_add_test(tcase, with_samples_results_count);
    tcase_add_test(tcase, data_counts_as_it_is_read);
    tcase_add_test(tcase, tables_count_as_well);
    tcase_add_test(tcase, threads_change_no_bit);
    tcase_add_test(tcase, the_graph_is_as_it_was);
    tcase_add_test(tcase, a_sample_that_is_missing_is_an_error);
    tcase_add_test(tcase, samples_tell_which_layer_matters);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
