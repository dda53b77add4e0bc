/* fake_quant_to_exact on random layers, against the same graph in real numbers: the reference evaluator of floats sums
 * in double and rounds to f32 between operators. And integers that are summed in another order. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "relay_ir/passes/pipeline.h"
#include "relay_ir/passes/rewrite.h"
#include "tests/support/codes.h"
#include "tests/support/executions.h"
#include "tests/support/graph.h"

enum { N_LAYERS = 400, BATCH = 20 };

static int pick(unsigned *seed, int n)
{
    *seed = *seed * 1664525U + 1013904223U;
    return (int)((*seed >> 8) % (unsigned)n);
}

/* 0.001 to 0.5, of all mantissas. */
static double random_scale(unsigned *seed)
{
    return 0.001 * pow(2, pick(seed, 900) / 100.0);
}

/* Of data; the first three of weights, too. */
static const char *const formats[] = { "f8e4m3", "f8e3m4", "f8e4m3fnuz",
                                       "u8e4m4", "u8e3m5", "u8e2m6" };

/* A convolution or dense layer with what may stand behind it, in six formats. The result's scale
 * is such that it neither saturates nor vanishes as a rule. */
static const char *random_layer(struct ctx *ctx, unsigned seed)
{
    struct str text = { .arena = &ctx->perm };
    const char *f = formats[pick(&seed, 6)], *g = formats[pick(&seed, 3)];
    const int in_c = 1 + pick(&seed, 6), out_c = 1 + pick(&seed, 5), k = 1 + pick(&seed, 3);
    const bool dense = pick(&seed, 3) == 0, relu = pick(&seed, 2), residual = pick(&seed, 3) == 0;
    const double s = random_scale(&seed), w = random_scale(&seed);
    const double t = s * w * sqrt(in_c * k * k) * (pick(&seed, 2) ? 1 : 40);
    const char *shape = dense ? arena_printf(&ctx->perm, "(3,%d)", out_c)
                              : arena_printf(&ctx->perm, "(1,%d,5,4)", out_c);
    const char *last = "d";

    str_printf(&text, "fn main(%%x: %s %s, %%r: %s %s) -> (%%y) {\n",
               dense ? arena_printf(&ctx->perm, "(3,%d)", in_c * 9)
                     : arena_printf(&ctx->perm, "(1,%d,5,4)", in_c),
               f, shape, f);
    str_printf(&text, "  const @z : () %s = [0x00]\n  const @zw : () %s = [0x00]\n", f, g);
    str_printf(&text, "  const @s : () f32 = [%.9g]\n  const @t : () f32 = [%.9g]\n", s, t);
    str_printf(&text, "  const @ws : (%d) f32 = [", out_c);
    for (int i = 0; i < out_c; i++)
        str_printf(&text, "%s%.9g", i ? ", " : "", w * (1 + pick(&seed, 100) / 50.0));
    str_printf(&text, "]\n  const @w : %s %s = crc32:00000000\n",
               dense ? arena_printf(&ctx->perm, "(%d,%d)", out_c, in_c * 9)
                     : arena_printf(&ctx->perm, "(%d,%d,%d,%d)", out_c, in_c, k, k),
               g);
    str_printf(&text, "  const @b : (%d) f32 = crc32:00000000\n", out_c);
    str_printf(&text, "  %%xf = qnn.dequantize(%%x, @s, @z) {axis=0}\n"
                      "  %%rf = qnn.dequantize(%%r, @t, @z) {axis=0}\n"
                      "  %%wf = qnn.dequantize(@w, @ws, @zw) {axis=0}\n");
    if (dense)
        str_printf(&text, "  %%c = nn.dense(%%xf, %%wf)\n");
    else
        str_printf(&text, "  %%c = nn.conv2d(%%xf, %%wf) {padding=[%d,%d,%d,%d], groups=1}\n",
                   k / 2, k / 2, (k - 1) / 2, (k - 1) / 2);
    str_printf(&text, "  %%d = nn.bias_add(%%c, @b) {axis=1}\n");
    if (residual) {
        str_printf(&text, "  %%e = add(%%%s, %%rf)\n", last);
        last = "e";
    }
    if (relu) {
        str_printf(&text, "  %%g = nn.relu(%%%s)\n", last);
        last = "g";
    }
    str_printf(&text, "  %%y = qnn.quantize(%%%s, @t, @z) {axis=0, saturate=true}\n}\n", last);
    return str_text(&text);
}

START_TEST(random_layers_are_at_most_one_code_off)
{
    long n = 0, n_off = 0;

    for (unsigned i = 0; i < BATCH; i++) {
        const unsigned seed = (unsigned)_i * BATCH + i;
        struct ctx *ctx = ctx_new(NULL);
        const char *text = random_layer(ctx, seed * 2654435761U + 1);
        struct module *before = graph_parse(ctx, text, seed), *after = graph_parse(ctx, text, seed);

        codes_fill(before);
        codes_fill(after);
        ck_assert(pass_fake_quant_to_exact(after) && pipeline_run_one(after, "dead_code"));
        ck_assert_msg(!codes_has_floats(after), "%s", graph_text(after, false));
        ck_assert_msg(codes_compare(ctx, before, after, seed, &n, &n_off) <= 1, "%s", text);
        module_free(after);
        module_free(before);
        ctx_free(ctx);
    }
    if (getenv("RELAYC_TEST_TELL"))
        printf("%ld of %ld codes differ, by one\n", n_off, n);
    ck_assert_msg(n_off * 200 <= n, "%ld of %ld differ", n_off, n);
}
END_TEST

/* Terms in another order, and split in two sums: the same integers. */
START_TEST(order_does_not_matter)
{
    static const char text[] =
        "fn main(%x: (2,64) f8e4m3) -> (%a, %b) {\n"
        "  const @z : () f8e4m3 = [0x00]\n  const @w : (3,64) f8e4m3 = crc32:00000000\n"
        "  %a = qnn.dense(%x, @w, @z, @z)\n"
        "  %u = strided_slice(%x) {begin=[0,63], strides=[1,-1], size=[2,40]}\n"
        "  %v = strided_slice(%x) {begin=[0,23], strides=[1,-1], size=[2,24]}\n"
        "  %wu = strided_slice(@w) {begin=[0,63], strides=[1,-1], size=[3,40]}\n"
        "  %wv = strided_slice(@w) {begin=[0,23], strides=[1,-1], size=[3,24]}\n"
        "  %p = qnn.dense(%u, %wu, @z, @z)\n  %q = qnn.dense(%v, %wv, @z, @z)\n"
        "  %b = add(%q, %p)\n}\n";
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, text, 1);
    struct bulk bulk = { NULL, 0 };
    struct tensor y[2];
    unsigned seed = 9;

    codes_fill(module);
    for (int i = 0; i < 20; i++) {
        const struct tensor *inputs = codes_inputs(ctx, &bulk, module->main, &seed);

        ck_assert(interpret(ctx, module->main, inputs, y, &bulk, NULL));
        ck_assert(tensor_equal(&y[0], &y[1]));
    }
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fake_quant_to_exact, random layers");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, random_layers_are_at_most_one_code_off, 0, N_LAYERS / BATCH);
    tcase_add_test(tests, order_does_not_matter);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
