/* Cross-layer equalisation: the same function, the same greatest weight on both sides of a pair,
 * and no pair where a factor would not pass. */
#include <check.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "quantize/batch_norms.h"
#include "quantize/linear.h"
#include "quantize/steps.h"
#include "relay_ir/verify.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/network.h"
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

static struct quantize_options plain_options(void)
{
    return (struct quantize_options){ .equalize = true, .n_threads = 1 };
}

/* How many pairs were equalised. */
static int equalize(struct module *module, const struct quantize_options *options)
{
    struct quantize_report report = { .n = 0 };
    struct quantization q = {
        .module = module, .ctx = module->ctx, .options = options, .report = &report
    };

    ck_assert_msg(quantize_equalize(&q), "%s", expect_text(module->ctx));
    module_sweep(module);
    ck_assert_msg(module_verify(module, "equalize"), "%s", expect_text(module->ctx));
    return report.n_equalized;
}

/* --- numbers ---------------------------------------------------------------------------------- */

START_TEST(factors_are_roots_of_the_quotients_of_ranges)
{
    static const char before[] = "fn main(%x: (1,1,1,1) f32) -> (%d) {\n"
                                 "  const @w : (2,1,1,1) f32 = [8, -0.5]\n"
                                 "  const @b : (2) f32 = [4, 1]\n"
                                 "  const @v : (1,2,1,1) f32 = [-2, 8]\n"
                                 "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,1,1) f32\n"
                                 "  %a = nn.bias_add(%c, @b) {axis=1} : (1,2,1,1) f32\n"
                                 "  %r = nn.relu(%a) : (1,2,1,1) f32\n"
                                 "  %d = nn.conv2d(%r, @v) " CONV " : (1,1,1,1) f32\n"
                                 "}\n";
    static const char after[] = "fn main(%x: (1,1,1,1) f32) -> (%d) {\n"
                                "  const @w : (2,1,1,1) f32 = [4, -2]\n"
                                "  const @v : (1,2,1,1) f32 = [-4, 2]\n"
                                "  const @b : (2) f32 = [2, 4]\n"
                                "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,1,1) f32\n"
                                "  %a = nn.bias_add(%c, @b) {axis=1} : (1,2,1,1) f32\n"
                                "  %r = nn.relu(%a) : (1,2,1,1) f32\n"
                                "  %d = nn.conv2d(%r, @v) " CONV " : (1,1,1,1) f32\n"
                                "}\n";
    const struct quantize_options options = plain_options();
    struct module *module = graph_parse(ctx, before, 1);
    struct module *wanted = graph_parse(ctx, after, 1);

    ck_assert_int_eq(equalize(module, &options), 1);
    ck_assert_str_eq(graph_text(module, true), graph_text(wanted, true));
    module_free(module);
    module_free(wanted);
}
END_TEST

START_TEST(a_clip_becomes_bounds_per_channel)
{
    static const char before[] = "fn main(%x: (1,1,1,1) f32) -> (%d) {\n"
                                 "  const @w : (2,1,1,1) f32 = [8, 0.5]\n"
                                 "  const @v : (1,2,1,1) f32 = [2, 8]\n"
                                 "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,1,1) f32\n"
                                 "  %r = clip(%c) {a_min=-1, a_max=6} : (1,2,1,1) f32\n"
                                 "  %d = nn.conv2d(%r, @v) " CONV " : (1,1,1,1) f32\n"
                                 "}\n";
    static const char after[] = "fn main(%x: (1,1,1,1) f32) -> (%d) {\n"
                                "  const @w : (2,1,1,1) f32 = [4, 2]\n"
                                "  const @v : (1,2,1,1) f32 = [4, 2]\n"
                                "  const @r.maximum : (2,1,1) f32 = [-0.5, -4]\n"
                                "  const @r.minimum : (2,1,1) f32 = [3, 24]\n"
                                "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,1,1) f32\n"
                                "  %r.maximum_2 = maximum(%c, @r.maximum) : (1,2,1,1) f32\n"
                                "  %r = minimum(%r.maximum_2, @r.minimum) : (1,2,1,1) f32\n"
                                "  %d = nn.conv2d(%r, @v) " CONV " : (1,1,1,1) f32\n"
                                "}\n";
    struct quantize_options options = plain_options();
    struct module *module = graph_parse(ctx, before, 1);
    struct module *wanted = graph_parse(ctx, after, 1);

    options.precision.mode = PRECISION_INT8; /* minimum has no integer form */
    ck_assert_int_eq(equalize(module, &options), 0);
    options.precision.mode = PRECISION_FP8W;
    ck_assert_int_eq(equalize(module, &options), 1);
    ck_assert_str_eq(graph_text(module, true), graph_text(wanted, true));
    module_free(module);
    module_free(wanted);
}
END_TEST

/* --- what factors pass ------------------------------------------------------------------------ */

#define POOL "{pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], dilation=[1,1]}"
#define GROUPS(n) "{strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=" #n ", " NCHW " "
#define TRANSPOSED(n)                                                                              \
    "{strides=[2,2], padding=[0,0,0,0], dilation=[1,1], output_padding=[0,0], groups=" #n          \
    ", data_layout=\"NCHW\", kernel_layout=\"IOHW\"} "

static const struct {
    const char *name, *text;
    int pairs;
} chains[] = {
    { "depthwise in between",
      "fn main(%x: (2,3,6,6) f32) -> (%e) {\n"
      "  const @w : (8,3,3,3) f32 = crc32:00000000\n"
      "  const @b : (8) f32 = crc32:00000000\n"
      "  const @u : (8,1,3,3) f32 = crc32:00000000\n"
      "  const @v : (4,8,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV_PADDED " : (2,8,6,6) f32\n"
      "  %a = nn.bias_add(%c, @b) {axis=1} : (2,8,6,6) f32\n"
      "  %r = clip(%a) {a_min=0, a_max=0.6} : (2,8,6,6) f32\n"
      "  %d = nn.conv2d(%r, @u) " GROUPS(
          8) " : (2,8,6,6) f32\n"
             "  %s = nn.leaky_relu(%d) {alpha=0.1, beta=0} : (2,8,6,6) f32\n"
             "  %e = nn.conv2d(%s, @v) " CONV " : (2,4,6,6) f32\n"
             "}\n",
      2 },
    { "groups, a pool and prelu",
      "fn main(%x: (1,4,8,8) f32) -> (%d) {\n"
      "  const @w : (6,2,3,3) f32 = crc32:00000000\n"
      "  const @p : (6,1,1) f32 = crc32:00000000\n"
      "  const @v : (9,2,3,3) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " GROUPS(2) " : (1,6,8,8) f32\n"
                                            "  %r = nn.prelu(%c, @p) : (1,6,8,8) f32\n"
                                            "  %m = nn.max_pool2d(%r) " POOL " : (1,6,4,4) f32\n"
                                            "  %n = nn.avg_pool2d(%m) " POOL " : (1,6,2,2) f32\n"
                                            "  %d = nn.conv2d(%n, @v) " GROUPS(
                                                3) " : (1,9,2,2) f32\n"
                                                   "}\n",
      1 },
    { "transposed convolutions, a pad",
      "fn main(%x: (1,4,3,3) f32) -> (%d) {\n"
      "  const @w : (4,3,2,2) f32 = crc32:00000000\n"
      "  const @v : (6,2,2,2) f32 = crc32:00000000\n"
      "  %c = nn.conv2d_transpose(%x, @w) " TRANSPOSED(
          2) " : (1,6,6,6) f32\n"
             "  %r = nn.relu(%c) : (1,6,6,6) f32\n"
             "  %p = nn.pad(%r) {pad_before=[0,0,1,1], pad_after=[0,0,1,1], mode=\"constant\", "
             "value=0} "
             ": (1,6,8,8) f32\n"
             "  %d = nn.conv2d_transpose(%p, @v) " TRANSPOSED(3) " : (1,6,16,16) f32\n"
                                                                 "}\n",
      1 },
    { "a flattened map, dense and matmul",
      "fn main(%x: (2,3,4,4) f32) -> (%g) {\n"
      "  const @w : (5,3,3,3) f32 = crc32:00000000\n"
      "  const @v : (7,20) f32 = crc32:00000000\n"
      "  const @low : (1,7) f32 = [-0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5]\n"
      "  const @u : (7,6) f32 = crc32:00000000\n"
      "  const @t : (3,6) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (2,5,2,2) f32\n"
      "  %r = nn.relu(%c) : (2,5,2,2) f32\n"
      "  %f = reshape(%r) {shape=[2,20]} : (2,20) f32\n"
      "  %d = nn.dense(%f, @v) : (2,7) f32\n"
      "  %e = maximum(%d, @low) : (2,7) f32\n"
      "  %h = nn.matmul(%e, @u) {transpose_a=false, transpose_b=false} : (2,6) f32\n"
      "  %g = nn.matmul(%h, @t) {transpose_a=false, transpose_b=true} : (2,3) f32\n"
      "}\n",
      3 },
    { "global average and squeeze",
      "fn main(%x: (1,3,4,4) f32) -> (%d) {\n"
      "  const @w : (5,3,3,3) f32 = crc32:00000000\n"
      "  const @v : (7,5) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV_PADDED " : (1,5,4,4) f32\n"
      "  %r = nn.relu(%c) : (1,5,4,4) f32\n"
      "  %m = nn.global_avg_pool(%r) : (1,5,1,1) f32\n"
      "  %f = squeeze(%m) {axes=[2,3]} : (1,5) f32\n"
      "  %d = nn.dense(%f, @v) : (1,7) f32\n"
      "}\n",
      1 },
    { "no factor passes a sigmoid",
      "fn main(%x: (1,3,4,4) f32) -> (%d) {\n"
      "  const @w : (5,3,3,3) f32 = crc32:00000000\n"
      "  const @v : (2,5,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV_PADDED " : (1,5,4,4) f32\n"
      "  %r = sigmoid(%c) : (1,5,4,4) f32\n"
      "  %d = nn.conv2d(%r, @v) " CONV " : (1,2,4,4) f32\n"
      "}\n",
      0 },
    { "another reader wants the old numbers",
      "fn main(%x: (1,3,4,4) f32) -> (%d, %r) {\n"
      "  const @w : (5,3,3,3) f32 = crc32:00000000\n"
      "  const @v : (2,5,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV_PADDED " : (1,5,4,4) f32\n"
      "  %r = nn.relu(%c) : (1,5,4,4) f32\n"
      "  %d = nn.conv2d(%r, @v) " CONV " : (1,2,4,4) f32\n"
      "}\n",
      0 },
    { "a weight of two layers",
      "fn main(%x: (1,3,4,4) f32) -> (%d) {\n"
      "  const @w : (3,3,3,3) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV_PADDED " : (1,3,4,4) f32\n"
      "  %r = nn.relu(%c) : (1,3,4,4) f32\n"
      "  %d = nn.conv2d(%r, @w) " CONV_PADDED " : (1,3,4,4) f32\n"
      "}\n",
      0 },
    { "a pad with something else than zeros",
      "fn main(%x: (1,3,4,4) f32) -> (%d) {\n"
      "  const @w : (5,3,3,3) f32 = crc32:00000000\n"
      "  const @v : (2,5,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV_PADDED " : (1,5,4,4) f32\n"
      "  %p = nn.pad(%c) {pad_before=[0,0,1,1], pad_after=[0,0,1,1], mode=\"constant\", value=1} "
      ": (1,5,6,6) f32\n"
      "  %d = nn.conv2d(%p, @v) " CONV " : (1,2,6,6) f32\n"
      "}\n",
      0 },
};

/* Makes the channels of every weight of very different size, and one channel dead. */
static void spread_weights(struct module *module)
{
    for (struct node *node = module->main->first; node; node = node->next) {
        struct linear linear;
        float *data;

        if (!linear_of(node, &linear) || node->inputs[1]->uses->next)
            continue;
        data = constant_alloc(module->main, &node->inputs[1]->type);
        for (int64_t i = 0; i < type_elements(&node->inputs[1]->type); i++) {
            int64_t in, out;

            linear_channels(&linear, i / linear.taps, &in, &out);
            data[i] = ((const float *)node->inputs[1]->data)[i] *
                      (out == 2 ? 0 : powf(3, (float)(out % 5 - in % 3)));
        }
        constant_exchange(node, 1, &node->inputs[1]->type, data);
    }
}

/* The greatest weight of a product's output channel. */
static double range_of(const struct node *node, bool of_outputs, int64_t channel, int64_t repeat)
{
    struct linear linear;
    double greatest = 0;

    ck_assert(linear_of(node, &linear));
    for (int64_t i = 0; i < type_elements(&node->inputs[1]->type); i++) {
        int64_t in, out;

        linear_channels(&linear, i / linear.taps, &in, &out);
        if ((of_outputs ? out : in / repeat) == channel)
            greatest =
                fmax(greatest,
                     fabs(tensor_at(&(struct tensor){ node->inputs[1]->type,
                                                      (void *)(uintptr_t)node->inputs[1]->data },
                                    i)));
    }
    return greatest;
}

/* Of each two products that follow each other in a chain without branches. */
static void check_ranges(const struct module *module)
{
    const struct node *last = NULL;

    for (const struct node *node = module->main->first; node; node = node->next) {
        struct linear first, second;
        int n_equal = 0;

        if (!linear_of(node, &second))
            continue;
        if (last && linear_of(last, &first))
            for (int64_t c = 0; c < first.out_c; c++) {
                const double a = range_of(last, true, c, 1);
                const double b = range_of(node, false, c, second.in_c / first.out_c);

                ck_assert_msg(fabs(a - b) < 0.01 * a || a == 0 || b == 0,
                              "%s -> %s, channel %d: %g, %g", last->outputs[0]->name,
                              node->outputs[0]->name, (int)c, a, b);
                n_equal += a > 0 && b > 0;
            }
        ck_assert(!last || n_equal > 0);
        last = node;
    }
}

START_TEST(ranges_become_equal_and_results_stay)
{
    const struct quantize_options options = plain_options();
    struct module *module = graph_parse(ctx, chains[_i].text, 7);
    struct bulk bulk = { 0 };
    struct tensor *before, *after;

    spread_weights(module);
    module_sweep(module);
    before = graph_run(module, 3, &bulk);
    ck_assert_msg(equalize(module, &options) == chains[_i].pairs, "%s", chains[_i].name);
    after = graph_run(module, 3, &bulk);
    ck_assert(before && after);
    for (int i = 0; i < module->main->ret->n_inputs; i++)
        ck_assert_msg(difference(&after[i], &before[i]) < 2e-6, "%s: %g", chains[_i].name,
                      difference(&after[i], &before[i]));
    if (chains[_i].pairs)
        check_ranges(module);
    ck_assert_int_eq(equalize(module, &options), 0); /* nothing is left to do */
    bulk_release(&bulk);
    module_free(module);
}
END_TEST

/* --- beside the graph ------------------------------------------------------------------------- */

static const char norms[] =
    "fn main(%x: (1,1,1,1) f32) -> (%d) {\n"
    "  const @w : (2,1,1,1) f32 = [8, -0.5]\n"
    "  const @one : (2) f32 = [1, 3]\n"
    "  const @beta : (2) f32 = [4, 1]\n"
    "  const @zero : (2) f32 = [1e-20, 1e-20]\n"
    "  const @v : (1,2,1,1) f32 = [-2, 24]\n"
    "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,1,1) f32\n"
    "  %n = nn.batch_norm(%c, @one, @beta, @zero, @one) {axis=1, epsilon=0} : (1,2,1,1) f32\n"
    "  %r = nn.relu(%n) : (1,2,1,1) f32\n"
    "  %d = nn.conv2d(%r, @v) " CONV " : (1,1,1,1) f32\n"
    "}\n";

/* scale = gamma / sqrt(variance) = 1, sqrt(3): w becomes 8, -sqrt(3) / 2; factors 2, (sqrt(3) / 48)
 * to the half */
START_TEST(what_batch_norms_said_is_scaled_too)
{
    const struct pipeline_options prepare = { .part = PIPELINE_PREPARE, .log = stderr };
    struct module *module = graph_parse(ctx, norms, 1);
    struct quantize_options options = plain_options();
    struct quantize_report report = { .n = 0 };
    struct quantization q = {
        .module = module, .ctx = ctx, .options = &options, .report = &report
    };
    const double second = sqrt(sqrt(3) / 2 / 24);
    const struct batch_norm *norm;

    options.batch_norms = batch_norms_collect(ctx, module);
    ck_assert_int_eq(batch_norms_count(options.batch_norms), 1);
    ck_assert(pipeline_run(module, &prepare));
    ck_assert(quantize_equalize(&q));
    ck_assert_int_eq(report.n_equalized, 1);
    norm = batch_norms_find(q.statistics, "n");
    ck_assert_double_eq_tol(norm->mean[0], 4 / 2.0, 1e-6);
    ck_assert_double_eq_tol(norm->mean[1], 1 / second, 1e-5);
    ck_assert_double_eq_tol(norm->deviation[0], 1 / 2.0, 1e-6);
    ck_assert_double_eq_tol(norm->deviation[1], 3 / second, 1e-5);
    norm = batch_norms_find(options.batch_norms, "n"); /* the user's are what they were */
    ck_assert_double_eq(norm->mean[0], 4);
    module_free(module);
}
END_TEST

START_TEST(a_table_of_the_model_as_it_was_is_refused)
{
    const struct calib_table table = { .n = 0 };
    struct quantize_options options = plain_options();
    struct quantize_report report = { .n = 0 };
    struct module *module = graph_parse(ctx, chains[0].text, 7);
    struct quantization q = {
        .module = module, .ctx = ctx, .options = &options, .report = &report
    };

    options.calib = &table;
    ck_assert(precision_parse(ctx, "test", "fp8", &options.precision));
    spread_weights(module);
    ck_assert(!quantize_equalize(&q));
    ck_assert(expect_error(ctx, DIAG_CALIB_TABLE, "changed the ranges after 2 layers"));
    ck_assert(precision_parse(ctx, "test", "fp8w", &options.precision)); /* which reads no ranges */
    report.n_equalized = 0;
    ck_assert(quantize_equalize(&q));
    module_free(module);
}
END_TEST

START_TEST(weights_that_are_no_numbers_are_left_alone)
{
    const struct quantize_options options = plain_options();
    struct module *module = graph_parse(ctx, chains[0].text, 7);
    struct node *first = module->main->first;
    float *data = constant_alloc(module->main, &first->inputs[1]->type);

    data[3] = NAN;
    constant_exchange(first, 1, &first->inputs[1]->type, data);
    ck_assert_int_eq(equalize(module, &options), 1); /* the second pair */
    module_free(module);
}
END_TEST

/* --- real models ------------------------------------------------------------------------------ */

static struct tensor *run_engine(struct network *network, struct bulk *bulk)
{
    struct function *fn = network->module->main;
    struct engine *engine = engine_new(network->ctx, fn);
    struct tensor *outputs = arena_array(&network->ctx->perm, struct tensor, fn->ret->n_inputs);

    ck_assert_msg(engine != NULL, "%s", expect_text(network->ctx));
    ck_assert_msg(engine_run(engine, network->sets[0].inputs, outputs, bulk, NULL), "%s",
                  expect_text(network->ctx));
    engine_free(engine);
    return outputs;
}

static int check_network(const char *path)
{
    const struct pipeline_options prepare = { .part = PIPELINE_PREPARE, .log = stderr };
    const struct quantize_options options = plain_options();
    struct network network;
    struct bulk bulk = { 0 };
    struct tensor *before, *after;
    int n;

    ck_assert_msg(network_load(&network, path), "%s", expect_text(network.ctx));
    ck_assert(pipeline_run(network.module, &prepare));
    before = run_engine(&network, &bulk);
    n = equalize(network.module, &options);
    after = run_engine(&network, &bulk);
    for (int i = 0; i < network.module->main->ret->n_inputs; i++)
        ck_assert_msg(difference(&after[i], &before[i]) < 1e-5, "%s: %g", path,
                      difference(&after[i], &before[i]));
    bulk_release(&bulk);
    network_free(&network);
    return n;
}

START_TEST(real_models_stay_what_they_are)
{
    static const struct {
        const char *name;
        int pairs;
    } models[] = {
        { "ad_autoencoder", 9 },       { "cct_transformer", 1 },
        { "ic_resnet8", 3 },           { "kws_dscnn", 9 },
        { "micro_kws_fp32", 4 },       { "mnist8", 2 },
        { "mobilenetv1_025_128", 27 }, { "mobilenetv2", 37 },
        { "resnet20_cifar10", 9 },     { "silero_vad_16k_op15", 4 },
        { "squeezenet11", 1 },         { "tinyvit_demo", 0 },
        { "ultraface_rfb320", 35 },    { "vww_mobilenetv1", 27 },
    };
    const char *shared = getenv("RELAYC_SHARED");
    const char *folder = arena_printf(&ctx->perm, "%s/models", shared ? shared : "");
    DIR *dir = shared ? opendir(folder) : NULL;

    if (!dir) {
        printf("SKIPPED: no models (set RELAYC_SHARED): equalisation was NOT tested on them\n");
        return;
    }
    closedir(dir);
    for (int i = 0; i < N_ROWS(models); i++) {
        const int n = check_network(arena_printf(&ctx->perm, "%s/%s", folder, models[i].name));

        ck_assert_msg(n == models[i].pairs, "%s: %d pairs", models[i].name, n);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("equalize");
    TCase *cases = tcase_create("equalize");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_set_timeout(cases, 0);
    tcase_add_test(cases, factors_are_roots_of_the_quotients_of_ranges);
    tcase_add_test(cases, a_clip_becomes_bounds_per_channel);
    tcase_add_loop_test(cases, ranges_become_equal_and_results_stay, 0, N_ROWS(chains));
    tcase_add_test(cases, what_batch_norms_said_is_scaled_too);
    tcase_add_test(cases, a_table_of_the_model_as_it_was_is_refused);
    tcase_add_test(cases, weights_that_are_no_numbers_are_left_alone);
    tcase_add_test(cases, real_models_stay_what_they_are);
    suite_add_tcase(suite, cases);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
