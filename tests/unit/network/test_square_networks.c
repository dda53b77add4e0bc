/* Networks with squares on their way to roots in int8: all of integers, with the bits of the
 * reference in generated C, and as near to the float network as when they are computed in f32. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "quantize/quantize.h"
#include "relay_ir/passes/pipeline.h"
#include "relay_ir/walk.h"
#include "tests/support/bits.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

enum { SEED = 5, N_SAMPLES = 12, MOST_KEPT = 5 };

#define BEGIN                                                                                      \
    "fn main(%x: (1,1,200) f32) -> (%y) {\n"                                                       \
    "  const @w : (32,1,24) f32 = crc32:00000000\n  const @k : (6,16,3) f32 = crc32:00000000\n"    \
    "  const @two : () f32 = [2]\n  const @half : () f32 = [0.5]\n"                                \
    "  const @tiny : () f32 = [0.01]\n"                                                            \
    "  %c = nn.conv1d(%x, @w) {strides=[8], padding=[0,0], groups=1}\n"                            \
    "  %a = strided_slice(%c) {begin=[0,0,0], strides=[1,1,1], size=[1,16,23]}\n"                  \
    "  %b = strided_slice(%c) {begin=[0,16,0], strides=[1,1,1], size=[1,16,23]}\n"
#define END "  %y = nn.conv1d(%m, @k) {padding=[1,1], groups=1}\n}\n"

static const struct {
    const char *text;
    const char *kept[MOST_KEPT]; /* in f32, for comparison */
    int n_kept;
} networks[] = {
    /* magnitudes of a spectrum */
    { BEGIN "  %p = power(%a, @two)\n  %q = power(%b, @two)\n  %s = add(%p, %q)\n"
            "  %m = sqrt(%s)\n" END,
      { "p", "q", "s", "m" },
      4 },
    /* their logarithms */
    { BEGIN "  %p = multiply(%a, %a)\n  %q = multiply(%b, %b)\n  %s = add(%p, %q)\n"
            "  %t = add(%s, @tiny)\n  %m = log(%t)\n" END,
      { "p", "q", "s", "t", "m" },
      5 },
    /* the root of a mean square over time */
    { BEGIN "  %p = multiply(%a, %a)\n"
            "  %s = nn.avg_pool1d(%p) {pool_size=[4], strides=[2]}\n"
            "  %m = power(%s, @half)\n" END,
      { "p", "s", "m" },
      3 },
};

enum { N_NETWORKS = sizeof networks / sizeof *networks };

/* Sound: a few tones, loud and soft. */
static bool load(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    const struct function *fn = user;
    const double loud = exp2(-(double)(index % 6));

    (void)ctx;
    inputs[0] = tensor_new(bulk, &fn->params[0]->type);
    for (int i = 0; i < 200; i++)
        tensor_put(&inputs[0], i,
                   loud * (sin(0.11 * (double)(index + 3) * i) +
                           0.3 * sin(0.37 * i + (double)index) * cos(0.02 * i)));
    return true;
}

static void run_part(struct module *module, enum pipeline_part part)
{
    const struct pipeline_options options = { .part = part };

    ck_assert_msg(pipeline_run(module, &options), "%s", expect_text(module->ctx));
}

static struct module *parsed(struct ctx *ctx, const char *text)
{
    struct module *module = graph_parse(ctx, text, SEED);

    run_part(module, PIPELINE_PREPARE);
    return module;
}

static struct module *quantized(struct ctx *ctx, int network, int n_kept, bool quantized_io)
{
    struct module *module = parsed(ctx, networks[network].text);
    struct module *samples = parsed(ctx, networks[network].text);
    const struct calibration_source source = { N_SAMPLES, load, samples->main };
    struct quantize_options options = { .n_threads = 1,
                                        .samples = &source,
                                        .quantized_io = quantized_io,
                                        .keep = networks[network].kept,
                                        .n_keep = n_kept };
    struct quantize_report report;

    ck_assert(precision_parse(ctx, "", "int8", &options.precision));
    ck_assert_msg(
        quantize_module(module, &options, &(struct pipeline_options){ .part = 0 }, &report), "%s",
        expect_text(ctx));
    module_free(samples);
    return module;
}

START_TEST(all_is_integers_with_the_bits_of_the_reference)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = quantized(ctx, _i, 0, true);
    bool has_segments = false, has_16_bits = false;

    for (const struct node *node = module->main->first; node; node = node->next) {
        if (node->op == OP_RETURN)
            continue;
        ck_assert_msg(!dtype_is_float(node->outputs[0]->type.dtype), "%s",
                      graph_text(module, false));
        has_segments = has_segments || node->op == OP_QNN_PWL;
        has_16_bits = has_16_bits || node->outputs[0]->type.dtype == DTYPE_I16;
    }
    ck_assert(has_segments && has_16_bits);
    run_part(module, PIPELINE_FUSE);
    bits_check_module(module, NULL);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* The mean over what calibration has not seen, relative to the greatest number of a result. */
static double error_of(struct ctx *ctx, struct module *floats, struct module *integers)
{
    double sum = 0;

    for (int k = N_SAMPLES; k < 3 * N_SAMPLES; k++) {
        struct bulk bulk = { NULL, 0 };
        struct tensor input, wanted, got;

        ck_assert(load(floats->main, ctx, &bulk, k, &input));
        ck_assert(interpret(ctx, floats->main, &input, &wanted, &bulk, NULL));
        ck_assert(interpret(ctx, integers->main, &input, &got, &bulk, NULL));
        sum += difference(&got, &wanted) / (2 * N_SAMPLES);
        bulk_release(&bulk);
    }
    return sum;
}

START_TEST(as_near_as_with_squares_in_floats)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *floats = parsed(ctx, networks[_i].text);
    struct module *integers = quantized(ctx, _i, 0, false);
    struct module *kept = quantized(ctx, _i, networks[_i].n_kept, false);
    const double of_integers = error_of(ctx, floats, integers),
                 of_kept = error_of(ctx, floats, kept);

    printf("network %d: %.4f off, with squares and roots in f32 %.4f\n", _i, of_integers, of_kept);
    ck_assert(of_integers < 1.5 * of_kept);
    module_free(kept);
    module_free(integers);
    module_free(floats);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("networks with squares in int8");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, all_is_integers_with_the_bits_of_the_reference, 0, N_NETWORKS);
    tcase_add_loop_test(tests, as_near_as_with_squares_in_floats, 0, N_NETWORKS);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
