/* Networks with recurrent layers in int8, and in FP8 in integers: all of integers, with the bits of
 * the reference in generated C, and near to the float network. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quantize/quantize.h"
#include "relay_ir/macs.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/bits.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

enum { SEED = 11, N_SAMPLES = 8 };

/* A convolution over time, LSTM in both directions, GRU that begins with a given state, a dense
 * layer. */
#define LAYERS                                                                                     \
    "  const @k : (8,6,3) f32 = crc32:00000000\n"                                                  \
    "  const @w1 : (2,48,8) f32 = crc32:00000000\n  const @r1 : (2,48,12) f32 = crc32:00000000\n"  \
    "  const @b1 : (2,96) f32 = crc32:00000000\n"                                                  \
    "  const @w2 : (1,30,24) f32 = crc32:00000000\n"                                               \
    "  const @r2 : (1,30,10) f32 = crc32:00000000\n"                                               \
    "  const @b2 : (1,60) f32 = crc32:00000000\n"                                                  \
    "  const @d : (4,10) f32 = crc32:00000000\n"                                                   \
    "  %c = nn.conv1d(%x, @k) {padding=[1,1], groups=1}\n"                                         \
    "  %cr = nn.relu(%c)\n"                                                                        \
    "  %ct = transpose(%cr) {axes=[2,0,1]}\n"                                                      \
    "  %l, %lh, %lc = nn.lstm(%ct, @w1, @r1, @b1) {hidden_size=12, direction=\"bidirectional\"}\n" \
    "  %lt = transpose(%l) {axes=[0,2,1,3]}\n"                                                     \
    "  %lf = reshape(%lt) {shape=[20,1,24]}\n"
#define END                                                                                        \
    "  %gf = reshape(%gh) {shape=[1,10]}\n"                                                        \
    "  %y = nn.dense(%gf, @d)\n"                                                                   \
    "}\n"

static const char *const texts[] = {
    "fn main(%x: (1,6,20) f32, %s: (1,1,10) f32) -> (%y, %gh) {\n" LAYERS
    "  %g, %gh = nn.gru(%lf, @w2, @r2, @b2, _, %s) {hidden_size=10, "
    "linear_before_reset=true}\n" END,
    "fn main(%x: (1,6,20) f32) -> (%y) {\n" LAYERS
    "  %g, %gh = nn.gru(%lf, @w2, @r2, @b2) {hidden_size=10, direction=\"reverse\"}\n" END,
};

/* A step of a network that listens: its states are an input and an output. */
static const char streaming[] =
    "fn main(%x: (1,1,8) f32, %s: (2,1,1,24) f32) -> (%y, %n) {\n"
    "  const @w : (1,96,8) f32 = crc32:00000000\n  const @r : (1,96,24) f32 = crc32:00000000\n"
    "  const @b : (1,192) f32 = crc32:00000000\n  const @d : (4,24) f32 = crc32:00000000\n"
    "  const @zero : () i64 = [0]\n  const @one : () i64 = [1]\n"
    "  %h = take(%s, @zero) {axis=0}\n  %c = take(%s, @one) {axis=0}\n"
    "  %o, %nh, %nc = nn.lstm(%x, @w, @r, @b, _, %h, %c) {hidden_size=24}\n"
    "  %nhu = reshape(%nh) {shape=[1,1,1,24]}\n  %ncu = reshape(%nc) {shape=[1,1,1,24]}\n"
    "  %n = concatenate(%nhu, %ncu) {axis=0}\n"
    "  %f = reshape(%o) {shape=[1,24]}\n  %y = nn.dense(%f, @d)\n}\n";

/* Sample `index`: random numbers, those of parameters in order. */
static bool load(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                 struct tensor *inputs)
{
    const struct function *fn = user;
    unsigned seed = (unsigned)index * 7 + 1;

    (void)ctx;
    for (int i = 0; i < fn->n_params; i++) {
        const struct type *type = &fn->params[i]->type;
        const double most = type->rank == 4 ? 6 : 1; /* of states with cells in them */

        inputs[i] = tensor_new(bulk, type);
        fill_random(&inputs[i], -most, most, &seed);
    }
    return true;
}

static void run_part(struct module *module, enum pipeline_part part, bool keep)
{
    const struct pipeline_options options = { .part = part, .keep_recurrent = keep };

    ck_assert_msg(pipeline_run(module, &options), "%s", expect_text(module->ctx));
}

static struct module *parsed(struct ctx *ctx, const char *text, bool keep)
{
    struct module *module = graph_parse(ctx, text, SEED);

    run_part(module, PIPELINE_PREPARE, keep);
    return module;
}

/* keep: layers of one step. In int8, or FP8 in integers. */
static struct module *quantized_as(struct ctx *ctx, const char *text, const char *precision,
                                   bool keep, bool quantized_io, bool simulate)
{
    struct module *module = parsed(ctx, text, keep), *samples = parsed(ctx, text, keep);
    const struct calibration_source source = { N_SAMPLES, load, samples->main };
    struct quantize_options options = { .n_threads = 1,
                                        .samples = &source,
                                        .quantized_io = quantized_io,
                                        .simulate_only = simulate,
                                        .exact = strcmp(precision, "int8") != 0 };
    struct quantize_report report;

    ck_assert(precision_parse(ctx, "", precision, &options.precision));
    ck_assert_msg(
        quantize_module(module, &options, &(struct pipeline_options){ .part = 0 }, &report), "%s",
        expect_text(ctx));
    module_free(samples);
    return module;
}

static struct module *quantized(struct ctx *ctx, const char *text, bool keep, bool quantized_io,
                                bool simulate)
{
    return quantized_as(ctx, text, "int8", keep, quantized_io, simulate);
}

static int count(const struct module *module, enum op op)
{
    int n = 0;

    for (const struct node *node = module->main->first; node; node = node->next)
        n += node->op == op;
    return n;
}

/* Of both networks in each of these. */
static const char *const precisions[] = { "int8", "fp8", "fp8=f8e3m4,f8e4m3" };

enum {
    N_TEXTS = sizeof texts / sizeof *texts,
    N_PRECISIONS = sizeof precisions / sizeof *precisions
};

START_TEST(all_is_integers)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module =
        quantized_as(ctx, texts[_i % N_TEXTS], precisions[_i / N_TEXTS], true, true, false);

    ck_assert_int_eq(count(module, OP_QNN_LSTM), 1);
    ck_assert_int_eq(count(module, OP_QNN_GRU), 1);
    for (const struct node *node = module->main->first; node; node = node->next)
        for (int i = 0; i < node->n_outputs; i++)
            ck_assert_msg(!dtype_is_float(node->outputs[i]->type.dtype), "%s",
                          graph_text(module, false));
    module_free(module);
    ctx_free(ctx);
}
END_TEST

static int64_t sum_of_macs(const struct module *module)
{
    int64_t sum = 0;

    for (const struct node *node = module->main->first; node; node = node->next)
        sum += node_macs(node);
    return sum;
}

START_TEST(multiplications_are_counted)
{
    const int64_t conv = 8 * 20 * 6 * 3, lstm = 20 * 2 * 48 * (8 + 12), gru = 20 * 30 * (24 + 10),
                  dense = 4 * 10;
    struct ctx *ctx = ctx_new(NULL);
    struct module *floats = parsed(ctx, texts[_i], true),
                  *integers = quantized(ctx, texts[_i], true, true, false);

    ck_assert_int_eq(sum_of_macs(floats), conv + lstm + gru + dense);
    ck_assert_int_eq(sum_of_macs(integers), conv + lstm + gru + dense);
    module_free(floats);
    module_free(integers);
    ctx_free(ctx);
}
END_TEST

START_TEST(generated_c_has_the_bits_of_the_reference)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = quantized_as(ctx, texts[_i % N_TEXTS], precisions[_i / N_TEXTS], true,
                                         _i % N_TEXTS == 0, false);

    run_part(module, PIPELINE_FUSE, true);
    bits_check_module(module, NULL);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* On samples that calibration has not seen, relative to the greatest number of the results: near to
 * the float network (whose random weights amplify what its inputs are rounded by), and at most a
 * step from the simulation, which rounds as much and computes in f32. */
START_TEST(results_are_near)
{
    struct ctx *ctx = ctx_new(NULL);
    const char *text = texts[_i % N_TEXTS], *precision = precisions[_i / N_TEXTS];
    const bool is_int8 = strcmp(precision, "int8") == 0;
    struct module *floats = parsed(ctx, text, true),
                  *integers = quantized_as(ctx, text, precision, true, false, false),
                  *simulation = quantized_as(ctx, text, precision, true, false, true);
    double from_floats = 0, from_simulation = 0, sum = 0;

    for (int k = N_SAMPLES; k < 3 * N_SAMPLES; k++) {
        struct bulk bulk = { NULL, 0 };
        struct tensor inputs[2], wanted[2], simulated[2], got[2];

        ck_assert(load(floats->main, ctx, &bulk, k, inputs));
        ck_assert(interpret(ctx, floats->main, inputs, wanted, &bulk, NULL));
        ck_assert(interpret(ctx, simulation->main, inputs, simulated, &bulk, NULL));
        ck_assert(interpret(ctx, integers->main, inputs, got, &bulk, NULL));
        for (int i = 0; i < floats->main->ret->n_inputs; i++) {
            from_floats = fmax(from_floats, difference(&got[i], &wanted[i]));
            from_simulation = fmax(from_simulation, difference(&got[i], &simulated[i]));
            sum += difference(&got[i], &wanted[i]) / (2 * N_SAMPLES);
        }
        bulk_release(&bulk);
    }
    printf("network %d in %s: %.4f of the greatest number, %.4f from the simulation\n",
           _i % N_TEXTS, precision, from_floats, from_simulation);
    ck_assert(from_floats < (is_int8 ? 0.1 : 0.2) && sum < (is_int8 ? 0.05 : 0.15) &&
              from_simulation < (is_int8 ? 0.02 : 0.005));
    module_free(floats);
    module_free(integers);
    module_free(simulation);
    ctx_free(ctx);
}
END_TEST

/* Twice as many steps as the states need to forget. */
static double error_of_stream(struct ctx *ctx, struct module *floats, struct module *integers)
{
    const struct type *of_state = &floats->main->params[1]->type;
    struct bulk bulk = { NULL, 0 };
    struct tensor inputs[2], got[2], wanted[2];
    struct tensor states[2] = { tensor_new(&bulk, of_state), tensor_new(&bulk, of_state) };
    double sum = 0;
    const int n_steps = 60;

    for (int k = 0; k < n_steps; k++) {
        ck_assert(load(floats->main, ctx, &bulk, k + N_SAMPLES, inputs));
        ck_assert(interpret(ctx, floats->main, (struct tensor[]){ inputs[0], states[0] }, wanted,
                            &bulk, NULL));
        ck_assert(interpret(ctx, integers->main, (struct tensor[]){ inputs[0], states[1] }, got,
                            &bulk, NULL));
        sum += difference(&got[0], &wanted[0]) / n_steps;
        states[0] = wanted[1];
        states[1] = got[1];
    }
    bulk_release(&bulk);
    return sum;
}

/* The same network with products and gates of 8 bits has such states, too. */
START_TEST(states_between_calls_have_16_bits)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *floats = parsed(ctx, streaming, true),
                  *kept = quantized(ctx, streaming, true, false, false),
                  *unrolled = quantized(ctx, streaming, false, false, false);
    const double of_kept = error_of_stream(ctx, floats, kept),
                 of_unrolled = error_of_stream(ctx, floats, unrolled);

    ck_assert(count(kept, OP_QNN_LSTM) == 1 && count(unrolled, OP_QNN_LSTM) == 0);
    printf("states of 16 bits: %.4f off on average, of 8 bits %.4f\n", of_kept, of_unrolled);
    ck_assert(of_kept < 0.5 * of_unrolled);
    module_free(kept);
    kept = quantized(ctx, streaming, true, true, false);
    ck_assert_int_eq(kept->main->params[1]->type.dtype, DTYPE_I16);
    ck_assert_int_eq(kept->main->ret->inputs[1]->type.dtype, DTYPE_I16);
    ck_assert_int_eq(kept->main->ret->inputs[0]->type.dtype, DTYPE_I8);
    run_part(kept, PIPELINE_FUSE, true);
    bits_check_module(kept, NULL);
    module_free(kept);
    module_free(unrolled);
    module_free(floats);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("networks with recurrent layers in int8");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, all_is_integers, 0, N_TEXTS * N_PRECISIONS);
    tcase_add_loop_test(tests, multiplications_are_counted, 0, N_TEXTS);
    tcase_add_loop_test(tests, generated_c_has_the_bits_of_the_reference, 0,
                        N_TEXTS * N_PRECISIONS);
    tcase_add_loop_test(tests, results_are_near, 0, N_TEXTS * N_PRECISIONS);
    tcase_add_test(tests, states_between_calls_have_16_bits);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
