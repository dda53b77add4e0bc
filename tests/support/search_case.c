#include "tests/support/search_case.h"

#include <check.h>
#include <stdlib.h>

#include "driver/trial.h"
#include "quantize/calibrate.h"
#include "tests/support/executions.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"

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

static bool load(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index, struct tensor *out)
{
    const struct search_case *net = user;

    (void)ctx;
    (void)bulk;
    *out = net->inputs[index];
    return true;
}

static void calibrate_it(struct search_case *net)
{
    const struct calibration_source source = { SEARCH_SAMPLES, load, net };
    struct calibration_options how = { .n_threads = 1 };
    struct threshold_method *methods;

    how.n_methods = threshold_methods(&net->ctx->perm, 99.99, &methods);
    how.methods = methods;
    ck_assert(calibrate(net->ctx, net->module->main, &source, &how, &net->table));
}

void search_case_calibrate(struct search_case *net)
{
    unsigned seed = 11;

    *net = (struct search_case){ .ctx = ctx_new(NULL) };
    net->module = graph_parse(net->ctx, network, 5);
    for (int i = 0; i < SEARCH_SAMPLES; i++) {
        net->inputs[i] = tensor_new(&net->bulk, &net->module->main->params[0]->type);
        fill_random(&net->inputs[i], -1, 1, &seed);
    }
    calibrate_it(net);
}

void search_case_open(struct search_case *net)
{
    static const char *const rules[] = { "max", "percentile:99", "kl" };
    static const char *const choices[] = { "int8", "int8w", "int8w=i4" };

    net->dir = temp_dir_new();
    net->options = (struct search_options){ .stages = &trial_stages,
                                            .calib = &net->table,
                                            .n_samples = SEARCH_SAMPLES,
                                            .inputs = net->inputs,
                                            .mem = (size_t)1 << 24,
                                            .n_threads = 2 };
    net->strategy = (struct strategy_options){ .n_rules = 3,
                                               .rules = net->rules,
                                               .target = 1,
                                               .max_float = 2,
                                               .n_choices = 3,
                                               .choices = net->choices,
                                               .n_trials = 12 };
    for (int i = 0; i < 3; i++) {
        ck_assert(scale_rule_parse(rules[i], &net->rules[i]));
        ck_assert(precision_parse(net->ctx, "", choices[i], &net->choices[i]));
    }
    net->strategy.precision = net->choices[0];
}

void search_case_close(struct search_case *net)
{
    temp_dir_free(&net->dir);
}

void search_case_free(struct search_case *net)
{
    module_free(net->module);
    bulk_release(&net->bulk);
    ctx_free(net->ctx);
}

void search_case_run(struct search_case *net, strategy_run *how, struct search *search,
                     struct found *found)
{
    if (how == search_bayes)
        ck_assert(precision_parse(net->ctx, "", "afp", &net->strategy.precision));
    ck_assert(search_open(search, net->ctx, net->module, &net->options));
    ck_assert(how(search, &net->strategy, found));
}

/* --- the judge -------------------------------------------------------------------------------- */

static void *begin(void *user)
{
    (void)user;
    return calloc(SEARCH_SAMPLES, sizeof(double));
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
    for (int i = 0; i < SEARCH_SAMPLES; i++)
        *value += ((double *)trial)[i] / SEARCH_SAMPLES;
    free(trial);
    return true;
}

const struct judge judge_of_first = { "first", begin, see, end, NULL };
