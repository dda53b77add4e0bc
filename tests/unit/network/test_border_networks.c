/* Networks whose numbers meet constants that no table has: heads of detectors (grids and anchors),
 * masks, transforms on the left; and channels of next to nothing. In int8 and exact FP8 all of
 * integers, with the bits of the reference in generated C, and near to the float network. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "quantize/quantize.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/bits.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

enum { SEED = 5, N_SAMPLES = 8 };

#define GRID "  const @grid : (1,4,6) f32 = crc32:00000000\n"

static const struct {
    const char *text;
    double most[2]; /* off, of the greatest number: int8, FP8; 0 = it has floats there */
} networks[] = {
    /* grid and anchors of a detector, which are joined with numbers of another range */
    { "fn main(%x: (1,4,6) f32) -> (%y) {\n" GRID "  const @anchor : (1,4,6) f32 = crc32:00000000\n"
      "  const @two : () f32 = [2]\n  const @half : () f32 = [0.5]\n  const @big : () f32 = [40]\n"
      "  %s = sigmoid(%x)\n  %t = multiply(%s, @two)\n"
      "  %o = subtract(%t, @half)\n  %p = add(%o, @grid)\n  %a = multiply(%p, @big)\n"
      "  %q = power(%t, @two)\n  %b = multiply(%q, @anchor)\n  %c = multiply(%b, @big)\n"
      "  %y = concatenate(%a, %c) {axis=2}\n}\n",
      { 0.01, 0.08 } },
    /* boxes as of SSD: exponentials between products with what differs from element to element */
    { "fn main(%x: (1,4,6) f32) -> (%y) {\n" GRID "  const @size : (1,4,6) f32 = crc32:00000000\n"
      "  const @part : () f32 = [0.2]\n"
      "  %a = multiply(%x, @part)\n  %b = multiply(%a, @size)\n  %c = exp(%b)\n"
      "  %d = multiply(%c, @size)\n  %e = add(%d, @grid)\n  %y = tanh(%e)\n}\n",
      { 0.02, 0.1 } },
    /* attention with a mask */
    { "fn main(%x: (1,4,6) f32) -> (%y) {\n"
      "  const @mask : (4,4) f32 = [0, -inf, -inf, -inf, 0, 0, -inf, -inf, 0, 0, 0, -3.4e38, 0, 0, "
      "0, 0]\n"
      "  %t = transpose(%x) {axes=[0,2,1]}\n  %a = nn.matmul(%x, %t)\n  %m = add(%a, @mask)\n"
      "  %s = nn.softmax(%m) {axis=2}\n  %y = nn.matmul(%s, %x)\n}\n",
      { 0.03, 0.12 } },
    /* a transform on the left */
    { "fn main(%x: (1,4,6) f32) -> (%y) {\n  const @dct : (5,4) f32 = crc32:00000000\n"
      "  %y = nn.matmul(@dct, %x)\n}\n",
      { 0.04, 0.08 } },
    /* an image that is turned by what is seen in it; places have too many bits for FP8 */
    { "fn main(%x: (1,4,6) f32) -> (%y) {\n  const @w : (6,24) f32 = crc32:00000000\n"
      "  const @base : (12,3) f32 = crc32:00000000\n"
      "  %f = reshape(%x) {shape=[1,24]}\n  %t = nn.dense(%f, @w)\n  %a = tanh(%t)\n"
      "  %b = reshape(%a) {shape=[1,2,3]}\n"
      "  %p = nn.matmul(@base, %b) {transpose_b=true}\n  %g = reshape(%p) {shape=[1,3,4,2]}\n"
      "  %i = reshape(%x) {shape=[1,1,4,6]}\n"
      "  %s = image.grid_sample(%i, %g) {method=\"linear\", padding_mode=\"border\", "
      "align_corners=false}\n  %y = sigmoid(%s)\n}\n",
      { 0.04, 0 } },
};

enum { N_NETWORKS = sizeof networks / sizeof *networks };

static bool load(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    const struct function *fn = user;
    unsigned seed = (unsigned)index + 1;

    (void)ctx;
    inputs[0] = tensor_new(bulk, &fn->params[0]->type);
    fill_random(&inputs[0], -2, 2, &seed);
    return true;
}

static struct module *parsed(struct ctx *ctx, const char *text)
{
    const struct pipeline_options options = { .part = PIPELINE_PREPARE };
    struct module *module = graph_parse(ctx, text, SEED);

    ck_assert_msg(pipeline_run(module, &options), "%s", expect_text(ctx));
    return module;
}

static struct module *quantized(struct ctx *ctx, const char *text, bool int8, bool quantized_io)
{
    struct module *module = parsed(ctx, text), *samples = parsed(ctx, text);
    const struct calibration_source source = { N_SAMPLES, load, samples->main };
    struct quantize_options options = {
        .n_threads = 1, .samples = &source, .quantized_io = quantized_io, .exact = !int8
    };
    struct quantize_report report;

    ck_assert(precision_parse(ctx, "", int8 ? "int8" : "fp8", &options.precision));
    ck_assert_msg(
        quantize_module(module, &options, &(struct pipeline_options){ .part = 0 }, &report), "%s",
        expect_text(ctx));
    module_free(samples);
    return module;
}

static bool has_floats(const struct module *module)
{
    for (const struct node *node = module->main->first; node; node = node->next)
        if (node->op != OP_RETURN && dtype_is_float(node->outputs[0]->type.dtype))
            return true;
    return false;
}

START_TEST(all_is_integers_with_the_bits_of_the_reference)
{
    const struct pipeline_options fuse = { .part = PIPELINE_FUSE };
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = quantized(ctx, networks[_i / 2].text, _i % 2 == 0, true);

    ck_assert_msg(has_floats(module) == (networks[_i / 2].most[_i % 2] == 0), "%s",
                  graph_text(module, false));
    ck_assert_msg(pipeline_run(module, &fuse), "%s", expect_text(ctx));
    bits_check_module(module, NULL);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* The mean over what calibration has not seen, relative to the greatest number of a result. */
START_TEST(near_to_the_float_network)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *floats = parsed(ctx, networks[_i / 2].text);
    struct module *integers = quantized(ctx, networks[_i / 2].text, _i % 2 == 0, false);
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
    printf("network %d, %s: %.4f off\n", _i / 2, _i % 2 ? "FP8" : "int8", sum);
    fflush(stdout);
    ck_assert(networks[_i / 2].most[_i % 2] == 0 || sum < networks[_i / 2].most[_i % 2]);
    module_free(integers);
    module_free(floats);
    ctx_free(ctx);
}
END_TEST

/* A channel of next to nothing, but a bias, as batch norms leave them: its scale is not so fine
 * that 64 bits could not hold the bias. */
START_TEST(a_dead_channel_with_a_bias_is_exact)
{
    static const char text[] =
        "fn main(%x: (1,2,4,4) f32) -> (%y) {\n"
        "  const @w : (2,2,1,1) f32 = [0.5, -0.25, 1e-24, 2e-25]\n  const @b : (2) f32 = [0.5, 2]\n"
        "  %c = nn.conv2d(%x, @w) {strides=[1,1], padding=[0,0,0,0], groups=1}\n"
        "  %d = nn.bias_add(%c, @b) {axis=1}\n  %y = nn.relu(%d)\n}\n";
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = quantized(ctx, text, false, true);

    ck_assert_msg(!has_floats(module), "%s", graph_text(module, false));
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("borders between what integers do at once");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, all_is_integers_with_the_bits_of_the_reference, 0, 2 * N_NETWORKS);
    tcase_add_loop_test(tests, near_to_the_float_network, 0, 2 * N_NETWORKS);
    tcase_add_test(tests, a_dead_channel_with_a_bias_is_exact);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
