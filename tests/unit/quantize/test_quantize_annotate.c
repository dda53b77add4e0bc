/* quantize_module: in which form values and weights are quantised, operator by operator. */
#include <check.h>
#include <stdlib.h>

#include "quantize/quantize.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/quantized_case.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static const char residual[] = X W "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                   "  %s = add(%c, %x)\n"
                                   "  %r = nn.relu(%s)\n"
                                   "  %y = nn.conv2d(%r, @w) " CONV "\n"
                                   "}\n";
static const char recurrent[] =
    "fn main(%x: (3,1,4) f32)" RESULT "  const @w : (1,20,4) f32 = crc32:00000000\n"
    "  const @r : (1,20,5) f32 = crc32:00000000\n  const @b : (1,40) f32 = crc32:00000000\n"
    "  const @v : (2,5) f32 = crc32:00000000\n"
    "  %o, %h, %c = nn.lstm(%x, @w, @r, @b) {hidden_size=5, activations=\"Affine,Affine,Affine\", "
    "activation_alpha=[0.1,1,1], activation_beta=[1,0,0]}\n"
    "  %f = reshape(%o) {shape=[3,5]}\n  %y = nn.dense(%f, @v)\n}\n";
static const char gated[] = X W "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                "  %s = sigmoid(%c)\n"
                                "  %y = nn.hard_swish(%s)\n"
                                "}\n";
static const char resized[] =
    X W "  %c = nn.conv2d(%x, @w) " CONV "\n"
        "  %s = image.resize(%c) {size=[1,2,8,8], method=\"linear\", "
        "coordinate_transformation_mode=\"half_pixel\", rounding_method=\"\"}\n"
        "  %low = nn.relu(%s)\n"
        "  %y = nn.conv2d(%low, @w) " CONV "\n"
        "}\n";
static const char chosen[] = X W "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                 "  %low, %i = topk(%c) {axis=3, k=2, largest=true, sorted=true}\n"
                                 "  %y = nn.relu(%low)\n"
                                 "}\n";
static const char squared[] = X W "  const @two : () f32 = [2]\n"
                                  "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                  "  %p = multiply(%c, %c)\n"
                                  "  %q = power(%x, @two)\n"
                                  "  %s = add(%p, %q)\n"
                                  "  %y = sqrt(%s)\n"
                                  "}\n";
/* Somebody else reads the sum, too. */
static const char squared_for_others[] = X W "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                             "  %p = multiply(%c, %c)\n"
                                             "  %r = sqrt(%p)\n"
                                             "  %d = nn.conv2d(%p, @w) " CONV "\n"
                                             "  %y = add(%r, %d)\n"
                                             "}\n";
static const char viewed[] =
    "fn main(%x: (1,2,2,2) f32)" RESULT "  const @w : (3,8) f32 = crc32:00000000\n"
    "  %a = abs(%x)\n"
    "  %f = reshape(%a) {shape=[1,8]}\n"
    "  %y = nn.dense(%f, @w)\n"
    "}\n";

/* Scaled by a number that the network computes. */
static const char scaled[] =
    "fn main(%x: (2,4) f32)" RESULT "  %m = max(%x) {axis=[0,1], keepdims=false}\n"
    "  %r = divide(%x, %m)\n"
    "  %y = sigmoid(%r)\n"
    "}\n";

/* Both views of %low, of which only one is joined. */
static const char joined[] = X W "  %c = nn.conv2d(%x, @w) " CONV "\n"
                                 "  %low = nn.relu(%c)\n"
                                 "  %v = reshape(%low) {shape=[1,32]}\n"
                                 "  %u = reshape(%low) {shape=[1,32]}\n"
                                 "  %s = sigmoid(%u)\n"
                                 "  %y = concatenate(%v, %s) {axis=1}\n"
                                 "}\n";

static const struct {
    const char *text, *precision;
    bool calibrated;
    const char *simulated, *realised;
} forms[] = {
    { scaled, "fp8", true, "qnn.quantize qnn.dequantize max qnn.dequantize divide sigmoid",
      "qnn.quantize qnn.dequantize max qnn.dequantize divide sigmoid" },
    { quantized_two_convs, "f32", false, "conv2d bias_add relu conv2d",
      "conv2d bias_add relu conv2d" },
    { quantized_two_convs, "fp8w", false,
      "qnn.dequantize conv2d bias_add relu qnn.dequantize conv2d",
      "conv2d multiply bias_add relu conv2d multiply" },
    { quantized_two_convs, "f16w", false, "cast conv2d bias_add relu cast conv2d",
      "conv2d bias_add relu conv2d" },
    { quantized_two_convs, "mxfp4", false, "cast conv2d bias_add relu cast conv2d",
      "conv2d bias_add relu conv2d" },
    /* scale 1: casts */
    { quantized_two_convs, "fp8", false,
      "cast qnn.dequantize cast conv2d bias_add relu cast qnn.dequantize cast conv2d",
      "cast conv2d multiply bias_add relu cast conv2d multiply" },
    { quantized_two_convs, "fp8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d bias_add relu qnn.quantize "
      "qnn.dequantize qnn.dequantize conv2d",
      "qnn.quantize conv2d multiply bias_add relu qnn.quantize conv2d multiply" },
    { quantized_two_convs, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d bias_add relu qnn.quantize "
      "qnn.dequantize qnn.dequantize conv2d qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.conv2d bias_add qnn.requantize clip qnn.conv2d qnn.requantize "
      "qnn.dequantize" },
    /* FP8: what is inside a region is not rounded, so the sum is one of f32 */
    { residual, "fp8", false, "cast qnn.dequantize cast conv2d cast add relu cast cast conv2d",
      "cast conv2d multiply cast add relu cast conv2d multiply" },
    /* integers round between any two operators */
    { residual, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d qnn.quantize qnn.dequantize "
      "qnn.dequantize add relu qnn.quantize qnn.dequantize conv2d qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.conv2d qnn.requantize qnn.add clip qnn.conv2d qnn.requantize "
      "qnn.dequantize" },
    /* what bounds interpolated numbers has their scale, which an integer resize keeps */
    { resized, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d qnn.quantize qnn.dequantize image.resize "
      "relu qnn.quantize qnn.dequantize conv2d qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.conv2d qnn.requantize qnn.resize clip qnn.conv2d qnn.requantize "
      "qnn.dequantize" },
    /* what topk chooses has the scale of what it chooses from */
    { chosen, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d qnn.quantize qnn.dequantize topk "
      "qnn.quantize qnn.dequantize relu qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.conv2d qnn.requantize topk clip qnn.dequantize" },
    /* a value has one scale, though a view of it is part of something with another one */
    { joined, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d relu qnn.quantize reshape reshape "
      "qnn.dequantize sigmoid qnn.quantize qnn.dequantize qnn.dequantize concatenate qnn.quantize "
      "qnn.dequantize",
      "qnn.quantize qnn.conv2d qnn.requantize reshape reshape qnn.lut cast qnn.requantize "
      "concatenate qnn.dequantize" },
    /* a chain of functions is one table */
    { gated, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d qnn.quantize qnn.dequantize sigmoid "
      "hard_swish qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.conv2d qnn.requantize qnn.lut qnn.dequantize" },
    /* recurrent layers keep floats but in int8; whose last state nobody reads, is not one */
    { recurrent, "fp8", true, "lstm qnn.quantize reshape qnn.dequantize qnn.dequantize dense",
      "lstm qnn.quantize reshape dense multiply" },
    { recurrent, "fp8w", false, "lstm reshape qnn.dequantize dense",
      "lstm reshape dense multiply" },
    { recurrent, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize qnn.dequantize lstm qnn.quantize reshape "
      "qnn.dequantize qnn.dequantize dense qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.lstm reshape qnn.dense qnn.requantize qnn.dequantize" },
    /* states that come and go have 16 bits; what computes with one reads 8 of them */
    { quantized_streaming, "int8", true,
      "qnn.quantize qnn.quantize qnn.dequantize take qnn.quantize qnn.dequantize take qnn.quantize "
      "qnn.dequantize qnn.dequantize qnn.dequantize qnn.dequantize qnn.dequantize lstm "
      "qnn.quantize "
      "qnn.quantize qnn.dequantize qnn.dequantize concatenate qnn.quantize reshape qnn.dequantize "
      "qnn.dequantize qnn.quantize qnn.dequantize dense qnn.quantize qnn.dequantize qnn.dequantize",
      "qnn.quantize qnn.quantize take take qnn.lstm concatenate reshape cast qnn.requantize "
      "qnn.dense qnn.requantize qnn.dequantize qnn.dequantize" },
    /* squares are added in 16 bits, on their way to a root; and in 8 where others read them */
    { squared, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d qnn.quantize qnn.dequantize multiply "
      "qnn.quantize qnn.dequantize power qnn.quantize qnn.dequantize qnn.dequantize add "
      "qnn.quantize qnn.dequantize sqrt qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.conv2d qnn.requantize qnn.mul qnn.lut qnn.add qnn.pwl qnn.dequantize" },
    { squared_for_others, "int8", true,
      "qnn.quantize qnn.dequantize qnn.dequantize conv2d qnn.quantize qnn.dequantize multiply "
      "qnn.quantize qnn.dequantize sqrt qnn.quantize qnn.dequantize conv2d qnn.quantize "
      "qnn.dequantize qnn.dequantize add qnn.quantize qnn.dequantize",
      "qnn.quantize qnn.conv2d qnn.requantize qnn.mul qnn.lut qnn.conv2d qnn.requantize qnn.add "
      "qnn.dequantize" },
    /* views are views of codes */
    { viewed, "fp8", false, "cast cast abs cast reshape qnn.dequantize cast dense",
      "cast cast abs cast reshape dense multiply" },
};

START_TEST(graphs_take_their_forms)
{
    struct quantized_case q =
        quantized_case(forms[_i].text, forms[_i].precision, forms[_i].calibrated);

    q.options.simulate_only = true;
    quantized_run(&q);
    ck_assert_msg(q.ok, "%s", expect_text(q.ctx));
    ck_assert_str_eq(quantized_operators(&q), forms[_i].simulated);
    quantized_end(&q);
    q = quantized_case(forms[_i].text, forms[_i].precision, forms[_i].calibrated);
    quantized_run(&q);
    ck_assert_msg(q.ok, "%s", expect_text(q.ctx));
    ck_assert_str_eq(quantized_operators(&q), forms[_i].realised);
    quantized_end(&q);
}
END_TEST

/* The realised graph computes what the simulated one does: up to where scales are multiplied, and
 * for integers up to a step. */
START_TEST(realised_graphs_compute_what_is_simulated)
{
    struct quantized_case a =
        quantized_case(forms[_i].text, forms[_i].precision, forms[_i].calibrated);
    struct quantized_case b =
        quantized_case(forms[_i].text, forms[_i].precision, forms[_i].calibrated);
    struct bulk bulk = { 0 };
    struct tensor *simulated, *realised;
    double step = a.options.precision.mode == PRECISION_INT8 ? 8.0 / 255 * 1.001 : 1e-5;

    /* where FP8 rounds, a difference of one rounding may become one of a step of 1/16 */
    if (a.options.precision.mode == PRECISION_FP8)
        step = 0.3;
    a.options.simulate_only = true;
    quantized_run(&a);
    quantized_run(&b);
    simulated = graph_run(a.module, QUANTIZED_SEED, &bulk);
    realised = graph_run(b.module, QUANTIZED_SEED, &bulk);
    ck_assert(simulated && realised);
    ck_assert_double_le(graph_difference(simulated, realised, 1), step);
    bulk_release(&bulk);
    quantized_end(&a);
    quantized_end(&b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quantize_annotate");
    TCase *tcase = tcase_create("quantize_annotate");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, graphs_take_their_forms, 0, N_ROWS(forms));
    tcase_add_loop_test(tcase, realised_graphs_compute_what_is_simulated, 0, N_ROWS(forms));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
