/* flush_tiny_weights: what becomes 0, and what must not. */
#include <check.h>
#include <stdlib.h>

#include "relay_ir/passes/pipeline.h"
#include "relay_ir/verify.h"
#include "tests/support/graph.h"

/* 2^-64 is 5.421e-20. */
static const struct {
    const char *before, *after; /* NULL: as before; new constants come last */
} rows[] = {
    /* below 2^-64 and below 2^-64 of the largest, subnormal or not, of both signs; a bias as well
     */
    { "fn main(%x: (2,4) f32) -> (%y) {\n"
      "  const @w : (2,4) f32 = [0.5, 1e-20, -1e-40, 5.5e-20, 2.6e-20, -2.8e-20, 0, -1e-30]\n"
      "  const @b : (2) f32 = [1, 1e-39]\n"
      "  %d = nn.dense(%x, @w) : (2,2) f32\n"
      "  %y = add(%d, @b) : (2,2) f32\n"
      "}\n",
      "fn main(%x: (2,4) f32) -> (%y) {\n"
      "  const @w : (2,4) f32 = [0.5, 0, 0, 5.5e-20, 0, -2.8e-20, 0, 0]\n"
      "  const @b : (2) f32 = [1, 0]\n"
      "  %d = nn.dense(%x, @w) : (2,2) f32\n"
      "  %y = add(%d, @b) : (2,2) f32\n"
      "}\n" },

    /* of large weights no more than of those of size 1; small ones among themselves are seen */
    { "fn main(%x: (1,3) f32) -> (%y, %z) {\n"
      "  const @l : (1,3) f32 = [1e+10, 1e-10, 6e-20]\n"
      "  const @s : (1,3) f32 = [1e-30, 1e-38, 1e-45]\n"
      "  %y = nn.dense(%x, @l) : (1,1) f32\n"
      "  %z = nn.dense(%x, @s) : (1,1) f32\n"
      "}\n",
      NULL },

    /* the first operand of a matmul; convolutions, whose groups are channels; biases by channel */
    { "fn main(%x: (2,3) f32, %i: (1,2,1,1) f32) -> (%y, %z) {\n"
      "  const @a : (1,2) f32 = [1, 1e-25]\n"
      "  const @w : (2,1,1,1) f32 = [1, 1e-41]\n"
      "  const @b : (2) f32 = [1e-41, 3]\n"
      "  %y = nn.matmul(@a, %x) : (1,3) f32\n"
      "  %c = nn.conv2d(%i, @w) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=2, "
      "data_layout=\"NCHW\", kernel_layout=\"OIHW\"} : (1,2,1,1) f32\n"
      "  %z = nn.bias_add(%c, @b) {axis=1} : (1,2,1,1) f32\n"
      "}\n",
      "fn main(%x: (2,3) f32, %i: (1,2,1,1) f32) -> (%y, %z) {\n"
      "  const @a : (1,2) f32 = [1, 0]\n"
      "  const @w : (2,1,1,1) f32 = [1, 0]\n"
      "  const @b : (2) f32 = [0, 3]\n"
      "  %y = nn.matmul(@a, %x) : (1,3) f32\n"
      "  %c = nn.conv2d(%i, @w) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=2, "
      "data_layout=\"NCHW\", kernel_layout=\"OIHW\"} : (1,2,1,1) f32\n"
      "  %z = nn.bias_add(%c, @b) {axis=1} : (1,2,1,1) f32\n"
      "}\n" },

    /* weights and biases of recurrent layers, but not their first state */
    { "fn main(%x: (2,1,2) f32) -> (%y) {\n"
      "  const @w : (1,1,2) f32 = [1, 1e-40]\n"
      "  const @r : (1,1,1) f32 = [0.5]\n"
      "  const @b : (1,2) f32 = [1e-40, 0.25]\n"
      "  const @h : (1,1,1) f32 = [1e-40]\n"
      "  %y, %last = nn.rnn(%x, @w, @r, @b, _, @h) {hidden_size=1} : (2,1,1,1) f32, (1,1,1) f32\n"
      "}\n",
      "fn main(%x: (2,1,2) f32) -> (%y) {\n"
      "  const @r : (1,1,1) f32 = [0.5]\n"
      "  const @h : (1,1,1) f32 = [1e-40]\n"
      "  const @w : (1,1,2) f32 = [1, 0]\n"
      "  const @b : (1,2) f32 = [0, 0.25]\n"
      "  %y, %last = nn.rnn(%x, @w, @r, @b, _, @h) {hidden_size=1} : (2,1,1,1) f32, (1,1,1) f32\n"
      "}\n" },

    /* what is not of a product: factors, sums with what is none; what others read as well; f64 */
    { "fn main(%x: (1,2) f32, %i: (1) i64, %d: (1,2) f64) -> (%m, %a, %y, %t, %z) {\n"
      "  const @k : (2) f32 = [1, 1e-40]\n"
      "  const @b : (2) f32 = [1, 1e-39]\n"
      "  const @w : (2,2) f32 = [1, 1e-40, 1, 1]\n"
      "  const @v : (1,2) f64 = [1, 1e-40]\n"
      "  %m = multiply(%x, @k) : (1,2) f32\n"
      "  %a = add(%x, @b) : (1,2) f32\n"
      "  %y = nn.dense(%x, @w) : (1,2) f32\n"
      "  %t = take(@w, %i) {axis=0} : (1,2) f32\n"
      "  %z = nn.dense(%d, @v) : (1,1) f64\n"
      "}\n",
      NULL },

    /* one that two products read; what is not finite */
    { "fn main(%x: (1,2) f32) -> (%y, %z, %i) {\n"
      "  const @w : (2,2) f32 = [1, 1e-40, 1, 1]\n"
      "  const @e : (1,2) f32 = [inf, 1e-30]\n"
      "  %y = nn.dense(%x, @w) : (1,2) f32\n"
      "  %z = nn.dense(%y, @w) : (1,2) f32\n"
      "  %i = nn.dense(%z, @e) : (1,1) f32\n"
      "}\n",
      "fn main(%x: (1,2) f32) -> (%y, %z, %i) {\n"
      "  const @e : (1,2) f32 = [inf, 1e-30]\n"
      "  const @w : (2,2) f32 = [1, 0, 1, 1]\n"
      "  %y = nn.dense(%x, @w) : (1,2) f32\n"
      "  %z = nn.dense(%y, @w) : (1,2) f32\n"
      "  %i = nn.dense(%z, @e) : (1,1) f32\n"
      "}\n" },
};

START_TEST(weights_that_no_sum_shows_become_zero)
{
    const char *const wanted = rows[_i].after ? rows[_i].after : rows[_i].before;
    struct ctx *ctx = ctx_new("flush");
    struct module *module = graph_parse(ctx, rows[_i].before, 1);
    struct module *after = graph_parse(ctx, wanted, 1);

    ck_assert(pipeline_run_one(module, "flush_tiny_weights"));
    ck_assert_str_eq(graph_text(module, true), graph_text(after, true));
    module_free(after);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* It comes behind what folds scales into weights: those that are large behind them stay, and those
 * that become small go. */
START_TEST(scales_come_first)
{
    static const char text[] =
        "fn main(%x: (1,2,1,1) f32) -> (%y) {\n"
        "  const @w : (2,2,1,1) f32 = [1e-30, 1e-30, 1, 1]\n"
        "  const @s : (2,1,1) f32 = [1e+30, 1e-30]\n"
        "  %c = nn.conv2d(%x, @w) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, "
        "data_layout=\"NCHW\", kernel_layout=\"OIHW\"} : (1,2,1,1) f32\n"
        "  %y = multiply(%c, @s) : (1,2,1,1) f32\n"
        "}\n";
    struct ctx *ctx = ctx_new("flush");
    struct module *module = graph_parse(ctx, text, 1);
    const struct value *weights;
    const float *numbers;

    ck_assert(pipeline_run(module, &(struct pipeline_options){ .part = PIPELINE_PREPARE }));
    ck_assert_int_eq(module->main->n_nodes, 1);
    weights = module->main->first->inputs[1];
    numbers = weights->data;
    ck_assert(numbers[0] > 0.9F && numbers[0] < 1.1F && numbers[1] == numbers[0]);
    ck_assert(numbers[2] == 0 && numbers[3] == 0);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flush_tiny_weights");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tests, weights_that_no_sum_shows_become_zero, 0,
                        (int)(sizeof rows / sizeof *rows));
    tcase_add_test(tests, scales_come_first);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
