/* fake_quant_to_exact: each rule on a small graph, and random layers: what it leaves has no floats,
 * and gives what the floats give, up to one code. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minifloat.h"
#include "relay_ir/passes/pipeline.h"
#include "relay_ir/passes/rewrite.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"

#define Z "  const @z : () f8e4m3 = [0x00]\n"
#define S "  const @s : () f32 = [0.05]\n  const @t : () f32 = [0.5]\n  const @u : () f32 = [0.3]\n"
#define DECODE(y, x, scale) "  %" y " = qnn.dequantize(%" x ", @" scale ", @z) {axis=0}\n"
#define ENCODE(y, x, scale)                                                                        \
    "  %" y " = qnn.quantize(%" x ", @" scale ", @z) {axis=0, saturate=true}\n"
#define W                                                                                          \
    "  const @w : (3,2,3,3) f8e4m3 = crc32:00000000\n  const @ws : (3) f32 = [0.01, 0.002, "       \
    "0.05]\n"                                                                                      \
    "  %wf = qnn.dequantize(@w, @ws, @z) {axis=0}\n"
#define SAME                                                                                       \
    "{strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1, data_layout=\"NCHW\", "          \
    "kernel_layout=\"OIHW\"}"
#define POOL(padding, counted)                                                                     \
    "{pool_size=[2,2], strides=[2,2], padding=" padding ", dilation=[1,1], ceil_mode=false, "      \
    "count_include_pad=" counted ", p=0, storage_order=0, layout=\"NCHW\"}"

static const struct exact_case {
    const char *rule; /* that must fire; NULL = nothing may, floats stay */
    const char *graph;
} cases[] = {
    { "exact_product",
      "fn main(%x: (1,2,5,5) f8e4m3) -> (%y) {\n" Z S W DECODE(
          "xf", "x", "s") "  %c = nn.conv2d(%xf, %wf) " SAME "\n" ENCODE("y", "c", "t") "}\n" },
    { "exact_product",
      "fn main(%x: (2,2,5,5) f8e4m3) -> (%y) {\n" Z S W DECODE(
          "xf", "x", "s") "  const @b : (3) f32 = [0.5, -3, 0.001]\n"
                          "  %c = nn.conv2d(%xf, %wf) " SAME
                          "\n  %d = nn.bias_add(%c, @b) {axis=1}\n"
                          "  %e = clip(%d) {a_min=0, a_max=6}\n" ENCODE("y", "e", "s") "}\n" },
    { "exact_product", /* a residual, and casts instead of a scale of 1 */
      "fn main(%x: (1,2,5,5) f8e4m3, %r: (1,3,5,5) f8e4m3) -> (%y) {\n" Z S W
      "  const @b : (3,1,1) f32 = [0.5, -3, 0.001]\n"
      "  %xf = cast(%x) {dtype=f32, saturate=true}\n" DECODE(
          "rf", "r",
          "t") "  %c = nn.conv2d(%xf, %wf) " SAME "\n  %d = add(%c, @b)\n  %e = add(%rf, %d)\n"
               "  %f = nn.relu(%e)\n  %y = cast(%f) {dtype=f8e4m3, saturate=true}\n}\n" },
    { "exact_product",
      "fn main(%x: (4,6) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  const @w : (5,6) f8e3m4 = crc32:00000000\n  const @b : (5) f32 = [1, "
                          "-1, 0.5, 0, 2]\n"
                          "  %wf = cast(@w) {dtype=f32, saturate=true}\n  %c = nn.dense(%xf, %wf)\n"
                          "  %d = nn.bias_add(%c, @b) {axis=1}\n  %e = nn.relu(%d)\n" ENCODE(
                              "y", "e", "t") "}\n" },
    { "exact_product", /* two computed operands */
      "fn main(%x: (2,4,6) f8e4m3, %v: (2,6,3) f8e4m3) -> (%y) {\n" Z S DECODE("xf", "x", "s")
          DECODE("vf", "v", "u") "  %c = nn.matmul(%xf, %vf) {transpose_a=false, "
                                 "transpose_b=false}\n" ENCODE("y", "c", "t") "}\n" },
    { "exact_binary",
      "fn main(%a: (2,3) f8e4m3, %b: (1,3) f8e4m3) -> (%y) {\n" Z S DECODE("af", "a", "s")
          DECODE("bf", "b", "t") "  %c = add(%af, %bf)\n  %d = nn.relu(%c)\n" ENCODE("y", "d",
                                                                                     "u") "}\n" },
    { "exact_binary",
      "fn main(%a: (2,3) f8e4m3, %b: (1,3) f8e4m3) -> (%y) {\n" Z S DECODE("af", "a", "s")
          DECODE("bf", "b", "t") "  %c = multiply(%af, %bf)\n" ENCODE("y", "c", "u") "}\n" },
    { "exact_average",
      "fn main(%x: (2,3,4,5) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  %c = nn.global_avg_pool(%xf)\n" ENCODE("y", "c", "s") "}\n" },
    { "exact_average",
      "fn main(%x: (2,3,4,5) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  %c = mean(%xf) {axis=[2,3], keepdims=false}\n" ENCODE("y", "c",
                                                                                   "s") "}\n" },
    { "exact_average", "fn main(%x: (2,3,6,5) f8e4m3) -> (%y) {\n" Z S
                           DECODE("xf", "x", "s") "  %c = nn.avg_pool2d(%xf) " POOL(
                               "[1,0,1,1]", "true") "\n" ENCODE("y", "c", "s") "}\n" },
    { NULL, "fn main(%x: (2,3,6,5) f8e4m3) -> (%y) {\n" Z S
                DECODE("xf", "x", "s") "  %c = nn.avg_pool2d(%xf) " POOL(
                    "[1,0,1,1]", "false") "\n" ENCODE("y", "c", "s") "}\n" },
    { "encode_of_elements", /* silu, written out: x * sigmoid(x) of two decoders, and a number */
      "fn main(%x: (2,3) f8e4m3) -> (%y) {\n" Z S DECODE("xf", "x", "s") DECODE(
          "xg", "x",
          "s") "  const @two : (1,3) f32 = [2, 2, 2]\n"
               "  %c = sigmoid(%xf)\n  %d = multiply(%c, %xg)\n  %e = multiply(%d, @two)\n" ENCODE(
                   "y", "e", "t") "}\n" },
    { "encode_of_elements", "fn main(%x: (2,3) f8e4m3) -> (%y) {\n" Z S DECODE("xf", "x", "s")
                                ENCODE("y", "xf", "t") "}\n" },
    { NULL, /* another number for each element */
      "fn main(%x: (2,3) f8e4m3) -> (%y) {\n" Z S
          DECODE("xf", "x", "s") "  const @two : (3) f32 = [1, 2, 3]\n  %e = multiply(%xf, "
                                 "@two)\n" ENCODE("y", "e", "t") "}\n" },
    { "encode_of_concatenate",
      "fn main(%a: (2,3) f8e4m3, %b: (2,1) f8e4m3) -> (%y) {\n" Z S DECODE("af", "a", "s") DECODE(
          "bf", "b", "t") "  %c = concatenate(%af, %bf) {axis=1}\n" ENCODE("y", "c", "t") "}\n" },
    { "join_before_decode",
      "fn main(%a: (2,3) f8e4m3, %b: (2,1) f8e4m3) -> (%y) {\n" Z S DECODE("af", "a", "s") DECODE(
          "bf", "b", "s") "  %c = concatenate(%af, %bf) {axis=1}\n" ENCODE("y", "c", "s") "}\n" },
    { "move_before_decode",
      "fn main(%x: (1,2,4,4) f8e4m3) -> (%y) {\n" Z S
          DECODE("xf", "x", "s") "  %c = nn.max_pool2d(%xf) " POOL(
              "[0,0,0,0]", "false") "\n"
                                    "  %d = transpose(%c) {axes=[0,2,3,1]}\n  %e = reshape(%d) "
                                    "{shape=[8]}\n" ENCODE("y", "e", "s") "}\n" },
    { "pad_before_decode",
      "fn main(%x: (2,3) f8e4m3) -> (%y) {\n" Z S DECODE(
          "xf", "x", "s") "  %c = nn.pad(%xf) {pad_before=[1,0], pad_after=[0,2], mode=\"constant\", "
                          "value=0}\n" ENCODE("y", "c", "s") "}\n" },
    { "encode_of_decode", "fn main(%x: (2,3) f8e4m3) -> (%y, %z2) {\n" Z S DECODE("xf", "x", "s")
                              ENCODE("y", "xf", "s") ENCODE("z2", "xf", "s") "}\n" },
    { NULL, "fn main(%x: (1,6) f8e5m2) -> (%y) {\n  const @z5 : () f8e5m2 = [0x00]\n" S
            "  %xf = qnn.dequantize(%x, @s, @z5) {axis=0}\n"
            "  const @w : (5,6) f8e5m2 = crc32:00000000\n"
            "  %wf = cast(@w) {dtype=f32, saturate=true}\n  %c = nn.dense(%xf, %wf)\n"
            "  %y = qnn.quantize(%c, @s, @z5) {axis=0, saturate=true}\n}\n" },
};

/* --- comparing ----------------------------------------------------------------------------------
 */

/* Place of a code among all numbers of its format, zero in the middle. */
static int rank_of(unsigned code)
{
    return code & 128 ? -(int)(code & 127) : (int)code;
}

/* The greatest distance of two results, in codes; *n and *n_off count all, and those that differ.
 */
static int distance(const struct tensor *a, const struct tensor *b, int n_results, long *n,
                    long *n_off)
{
    int most = 0;

    for (int r = 0; r < n_results; r++)
        for (int64_t i = 0; i < type_elements(&a[r].type); i++) {
            const int d = abs(rank_of(((const uint8_t *)a[r].data)[i]) -
                              rank_of(((const uint8_t *)b[r].data)[i]));

            most = d > most ? d : most;
            *n_off += d != 0;
            ++*n;
        }
    return most;
}

static bool has_floats(const struct module *module)
{
    for (const struct node *n = module->main->first; n; n = n->next)
        if (dtype_is_float(n->outputs[0]->type.dtype))
            return true;
    return false;
}

/* Codes of all finite numbers of E4M3, as parameters. */
static struct tensor *code_inputs(struct ctx *ctx, struct bulk *bulk, const struct function *fn,
                                  unsigned *seed)
{
    struct tensor *inputs = arena_array(&ctx->perm, struct tensor, fn->n_params);

    for (int i = 0; i < fn->n_params; i++) {
        inputs[i] = tensor_new(bulk, &fn->params[i]->type);
        for (int64_t k = 0; k < type_elements(&inputs[i].type); k++) {
            *seed = *seed * 1664525U + 1013904223U;
            ((uint8_t *)inputs[i].data)[k] =
                (uint8_t)((*seed >> 24 & 128) | (*seed >> 16) % (*seed >> 31 ? 127 : 96));
        }
    }
    return inputs;
}

static void fill_codes(struct module *module)
{
    unsigned seed = 77;

    for (const struct value *c = module->main->constants; c; c = c->next)
        if (type_elements(&c->type) > 4 && dtype_kind(c->type.dtype) == KIND_MINIFLOAT)
            for (int64_t i = 0; i < type_elements(&c->type); i++) {
                seed = seed * 1664525U + 1013904223U;
                ((uint8_t *)(uintptr_t)c->data)[i] =
                    (uint8_t)((seed >> 24 & 128) | (seed >> 16) % 120);
            }
}

static int compare(struct ctx *ctx, struct module *before, struct module *after, unsigned seed,
                   long *n, long *n_off)
{
    const int n_results = before->main->ret->n_inputs;
    struct tensor *a = arena_array(&ctx->perm, struct tensor, n_results);
    struct tensor *b = arena_array(&ctx->perm, struct tensor, n_results);
    struct bulk bulk = { NULL, 0 };
    const struct tensor *inputs = code_inputs(ctx, &bulk, before->main, &seed);
    int most;

    ck_assert(interpret(ctx, before->main, inputs, a, &bulk, NULL));
    ck_assert_msg(interpret(ctx, after->main, inputs, b, &bulk, NULL), "%s", expect_text(ctx));
    most = distance(a, b, n_results, n, n_off);
    bulk_release(&bulk);
    return most;
}

START_TEST(rules_leave_no_floats)
{
    const struct exact_case *row = &cases[_i];
    struct ctx *ctx = ctx_new(NULL);
    struct module *before = graph_parse(ctx, row->graph, 1),
                  *after = graph_parse(ctx, row->graph, 1);
    long n = 0, n_off = 0;

    fill_codes(before);
    fill_codes(after);
    ck_assert_msg(pass_fake_quant_to_exact(after) && pipeline_run_one(after, "dead_code"), "%s",
                  expect_text(ctx));
    ck_assert_msg(has_floats(after) == !row->rule, "%s", graph_text(after, false));
    ck_assert_msg(!row->rule || map_get(&after->fired, row->rule), "%s did not fire:\n%s",
                  row->rule, graph_text(after, false));
    for (unsigned seed = 0; seed < 8; seed++)
        ck_assert_msg(compare(ctx, before, after, seed, &n, &n_off) <= 1, "%s",
                      graph_text(after, false));
    module_free(after);
    module_free(before);
    ctx_free(ctx);
}
END_TEST

START_TEST(every_rule_has_a_case)
{
    int n_rules;
    const struct rule *rules = fake_quant_to_exact_rules(&n_rules);

    for (int r = 0; r < n_rules; r++) {
        bool found = false;

        for (int i = 0; i < N_ROWS(cases); i++)
            found = found || (cases[i].rule && strcmp(cases[i].rule, rules[r].name) == 0);
        ck_assert_msg(found, "%s", rules[r].name);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fake_quant_to_exact");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, rules_leave_no_floats, 0, N_ROWS(cases));
    tcase_add_test(tests, every_rule_has_a_case);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
