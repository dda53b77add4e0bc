/* fake_quant_to_integer of modules that are rounded as ONNX has it: what becomes integers gives
 * what the float form gives, to the bit, and all else stays in floats. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/passes/pipeline.h"
#include "relay_ir/passes/rules.h"
#include "tests/support/expect.h"
#include "tests/support/fake_quant.h"
#include "tests/support/graph.h"

#define NOTHING ""

static const struct onnx_row {
    const char *rule; /* "" = none must fire */
    const char *before;
    const char *has, *has_not; /* operators of what comes out; NULL = no matter */
    bool exact;                /* all of it: the sums of products are not, in floats */
} rows[] = {
    { "product_to_integer",
      FN_X IN OUT W_SCALE W DX DW "  %c = nn.conv2d(%xf, %wf) " CONV "\n" QUANTIZE("c") "}\n",
      "rounding=\"onnx\"", "dequantize", true },
    { "quantize_of_clip",
      FN_X IN OUT W_SCALE W DX DW "  %c = nn.conv2d(%xf, %wf) " CONV
                                  "\n  %r = nn.relu(%c)\n" QUANTIZE("r") "}\n",
      "clip(", "dequantize", true },
    { "chain_to_table", FN_AB IN OUT DA QUANTIZE("af") "}\n", "qnn.lut(", "requantize", true },
    { "chain_to_table", FN_AB IN OUT DA "  %t = tanh(%af)\n" QUANTIZE("t") "}\n", "qnn.lut(",
      "tanh", true },
    { "quantize_of_concatenate",
      FN_AB IN OUT B DA DB "  %c = concatenate(%af, %bf) {axis=0}\n" QUANTIZE("c") "}\n",
      "qnn.lut(", "requantize", true },
    { "binary_as_onnx", FN_AB IN OUT B "  %y = qnn.add(%a, %b, @xs, @xz, @bs, @bz, @ys, @yz)\n}\n",
      " add(", "qnn.add", false },
    { "binary_as_onnx",
      FN_AB IN OUT B "  %y = qnn.subtract(%a, %b, @xs, @xz, @bs, @bz, @ys, @yz)\n}\n", " subtract(",
      "qnn.subtract", false },
    { "binary_as_onnx", FN_AB IN OUT B "  %y = qnn.mul(%a, %b, @xs, @xz, @bs, @bz, @ys, @yz)\n}\n",
      " multiply(", "qnn.mul", false },
    { "requantize_as_onnx",
      "fn main(%x: (2,3) i32) -> (%y) {\n" IN OUT "  const @i : () i32 = [0]\n"
      "  %y = qnn.requantize(%x, @xs, @i, @ys, @yz) {axis=0, rounding=\"double\"}\n}\n",
      "rounding=\"onnx\"", "double", false },
    { "global_average_as_onnx",
      FN_X IN OUT DX "  %p = nn.global_avg_pool(%xf) {layout=\"\"}\n" QUANTIZE("p") "}\n",
      "qnn.dense(", "avg_pool", true },
    /* what stays: sums, what has a constant along an axis, tables of segments, averages of windows
     */
    { NOTHING, FN_AB IN OUT B DA DB "  %s = add(%af, %bf)\n" QUANTIZE("s") "}\n", " add(",
      "qnn.add", true },
    { NOTHING,
      FN_AB IN OUT "  const @c : (3) f32 = [1, 2, 4]\n" DA
                   "  %s = add(%af, @c)\n" QUANTIZE("s") "}\n",
      " add(", "qnn.lut", true },
    { NOTHING,
      "fn main(%a: (2,3) i16) -> (%y) {\n"
      "  const @xs : () f32 = [0.001]\n  const @xz : () i16 = [0]\n" OUT DA
      "  %t = tanh(%af)\n" QUANTIZE("t") "}\n",
      " tanh(", "pwl", true },
    { NOTHING,
      FN_X IN OUT DX
      "  %p = nn.avg_pool2d(%xf) {pool_size=[2,2], strides=[1,1], padding=[0,0,0,0], "
      "dilation=[1,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
      "layout=\"NCHW\"}\n" QUANTIZE("p") "}\n",
      "nn.avg_pool2d(", "qnn.avg", true },
    { NOTHING, FN_AB IN OUT DA "  %p = nn.softmax(%af) {axis=1}\n" QUANTIZE("p") "}\n",
      "nn.softmax(", "qnn.softmax", true },
};

static void check_exact(struct module *got, struct module *wanted)
{
    for (unsigned seed = 1; seed <= 20; seed++)
        fake_quant_compare_exactly(got, wanted, seed);
}

START_TEST(bits_stay_what_they_are)
{
    const struct onnx_row *row = &rows[_i];
    struct ctx *ctx = ctx_new(NULL);
    struct module *before = graph_parse(ctx, row->before, 1);
    struct module *after = graph_parse(ctx, row->before, 1);
    const char *text;
    const long *fired;

    after->rounds_as_onnx = true;
    ck_assert_msg(pipeline_run_one(after, "fake_quant_to_integer"), "%s", expect_text(ctx));
    text = graph_text(after, true);
    fired = map_get(&after->fired, row->rule);
    ck_assert_msg(*row->rule ? fired && *fired > 0 : after->fired.n == 0, "%s: %s\n%s", row->rule,
                  row->before, text);
    ck_assert_msg(!row->has || strstr(text, row->has), "no %s in\n%s", row->has, text);
    ck_assert_msg(!row->has_not || !strstr(text, row->has_not), "%s in\n%s", row->has_not, text);
    if (row->exact)
        check_exact(after, before);
    else
        fake_quant_compare(after, before, 2);
    module_free(after);
    module_free(before);
    ctx_free(ctx);
}
END_TEST

/* The rules are of this rounding only, and every one has a row. */
START_TEST(rules_fire)
{
    int n;
    const struct rule *rules = fake_quant_to_integer_rules(&n);

    for (int i = 0, inside = 0; i < n; i++) {
        bool found = false;

        inside += strcmp(rules[i].name, "requantize_as_onnx") == 0;
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
            found = found || strcmp(rows[k].rule, rules[i].name) == 0;
        ck_assert_msg(!inside || found, "%s", rules[i].name);
        if (strcmp(rules[i].name, "global_average_as_onnx") == 0)
            return;
    }
    ck_abort_msg("no such rules");
}
END_TEST

START_TEST(fixed_point_is_left_alone)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ctx *ctx = ctx_new(NULL);
        struct module *module = graph_parse(ctx, rows[i].before, 1);

        ck_assert(pipeline_run_one(module, "fake_quant_to_integer"));
        ck_assert_ptr_null(strstr(graph_text(module, true), "\"onnx\""));
        ck_assert_ptr_null(map_get(&module->fired, "binary_as_onnx"));
        module_free(module);
        ctx_free(ctx);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fake_quant_to_integer, as ONNX rounds");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_add_loop_test(tests, bits_stay_what_they_are, 0, N_ROWS(rows));
    tcase_add_test(tests, rules_fire);
    tcase_add_test(tests, fixed_point_is_left_alone);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
