#include <check.h>
#include <stdlib.h>

#include "tests/support/pass_case.h"

static const struct pass_case rows[] = {
    /* of each commutative operator */
    { "constant_to_right",
      "fn main(%x: (2) f32) -> (%r) {\n"
      "  const @c : (2) f32 = [2, 3]\n"
      "  %a = add(@c, %x) : (2) f32\n"
      "  %m = multiply(@c, %a) : (2) f32\n"
      "  %h = maximum(@c, %m) : (2) f32\n"
      "  %r = minimum(@c, %h) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%r) {\n"
      "  const @c : (2) f32 = crc32:00000000\n"
      "  %a = add(%x, @c) : (2) f32\n"
      "  %m = multiply(%a, @c) : (2) f32\n"
      "  %h = maximum(%m, @c) : (2) f32\n"
      "  %r = minimum(%h, @c) : (2) f32\n"
      "}\n" },

    /* not of subtract */
    { "constant_to_right",
      "fn main(%x: (2) f32) -> (%a) {\n"
      "  const @c : (2) f32 = [2, 3]\n"
      "  %a = subtract(@c, %x) : (2) f32\n"
      "}\n",
      NULL },

    /* of a float constant */
    { "subtract_to_add",
      "fn main(%x: (2) f32) -> (%a) {\n"
      "  const @c : (2) f32 = [2, -3]\n"
      "  %a = subtract(%x, @c) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%a) {\n"
      "  const @c : (2) f32 = crc32:00000000\n"
      "  %a = add(%x, @c) : (2) f32\n"
      "}\n" },

    /* unsigned integers have no negative */
    { "subtract_to_add",
      "fn main(%x: (2) u8) -> (%a) {\n"
      "  const @c : (2) u8 = [2, 3]\n"
      "  %a = subtract(%x, @c) : (2) u8\n"
      "}\n",
      NULL },

    /* of integers, where nothing is to be repeated */
    { "multiply_zero",
      "fn main(%x: () i64) -> (%a, %b) {\n"
      "  const @c : () i64 = [0]\n"
      "  %b = abs(%x) : () i64\n"
      "  %m = multiply(@c, %x) : () i64\n"
      "  %a = add(%m, %b) : () i64\n"
      "}\n",
      "fn main(%x: () i64) -> (%a, %b) {\n"
      "  const @c : () i64 = [0]\n"
      "  %b = abs(%x) : () i64\n"
      "  %a = add(%b, @c) : () i64\n"
      "}\n" },
    { "multiply_zero",
      "fn main(%x: () f32) -> (%a) {\n"
      "  const @c : () f32 = [0]\n"
      "  %a = multiply(%x, @c) : () f32\n"
      "}\n",
      NULL },
    { "multiply_zero",
      "fn main(%x: (2) i64) -> (%a) {\n"
      "  const @c : () i64 = [0]\n"
      "  %a = multiply(%x, @c) : (2) i64\n"
      "}\n",
      NULL },

    /* by powers of two */
    { "divide_to_multiply",
      "fn main(%x: (2) f32) -> (%a) {\n"
      "  const @c : (2) f32 = [8, -0.25]\n"
      "  %a = divide(%x, @c) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%a) {\n"
      "  const @c : (2) f32 = crc32:00000000\n"
      "  %a = multiply(%x, @c) : (2) f32\n"
      "}\n" },

    /* 1/3 is rounded */
    { "divide_to_multiply",
      "fn main(%x: (2) f32) -> (%a) {\n"
      "  const @c : (2) f32 = [8, 3]\n"
      "  %a = divide(%x, @c) : (2) f32\n"
      "}\n",
      NULL },

    /* the inverse would be subnormal */
    { "divide_to_multiply",
      "fn main(%x: (1) f32) -> (%a) {\n"
      "  const @c : (1) f32 = [1.7014118e38]\n"
      "  %a = divide(%x, @c) : (1) f32\n"
      "}\n",
      NULL },

    /* no upper bound */
    { "clip_to_relu",
      "fn main(%x: (2) f32) -> (%y) {\n"
      "  %y = clip(%x) {a_min=0, a_max=inf} : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%y) {\n"
      "  %y = nn.relu(%x) : (2) f32\n"
      "}\n" },

    /* no bound at all */
    { "clip_to_relu",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %y = clip(%x) {a_min=-inf, a_max=inf} : (2) f32\n"
      "  %z = exp(%y) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %z = exp(%x) : (2) f32\n"
      "}\n" },

    /* another lower bound */
    { "clip_to_relu",
      "fn main(%x: (2) f32) -> (%y) {\n"
      "  %y = clip(%x) {a_min=-1, a_max=inf} : (2) f32\n"
      "}\n",
      NULL },

    /* relu and clip */
    { "merge_clips",
      "fn main(%x: (20) f32) -> (%z) {\n"
      "  %y = nn.relu(%x) : (20) f32 from Relu \"r\" #0\n"
      "  %z = clip(%y) {a_min=-1, a_max=1} : (20) f32 from Clip \"c\" #1\n"
      "}\n",
      "fn main(%x: (20) f32) -> (%z) {\n"
      "  %z = clip(%x) {a_min=0, a_max=1} : (20) f32  from Relu \"r\" #0 + Clip \"c\" #1\n"
      "}\n" },

    /* bounds that exclude each other */
    { "merge_clips",
      "fn main(%x: (20) f32) -> (%z) {\n"
      "  %y = clip(%x) {a_min=-1, a_max=-0.5} : (20) f32\n"
      "  %z = nn.relu(%y) : (20) f32\n"
      "}\n",
      "fn main(%x: (20) f32) -> (%z) {\n"
      "  %z = clip(%x) {a_min=0, a_max=0} : (20) f32\n"
      "}\n" },

    /* one number */
    { "maximum_to_clip",
      "fn main(%x: (20) f32) -> (%y) {\n"
      "  const @c : () f32 = [0.5]\n"
      "  %y = maximum(%x, @c) : (20) f32\n"
      "}\n",
      "fn main(%x: (20) f32) -> (%y) {\n"
      "  %y = clip(%x) {a_min=0.5, a_max=inf} : (20) f32\n"
      "}\n" },

    /* several numbers */
    { "maximum_to_clip",
      "fn main(%x: (2) f32) -> (%y) {\n"
      "  const @c : (2) f32 = [0.5, 1]\n"
      "  %y = maximum(%x, @c) : (2) f32\n"
      "}\n",
      NULL },

    /* the constant has the shape */
    { "maximum_to_clip",
      "fn main(%x: (1) f32) -> (%y) {\n"
      "  const @c : (2) f32 = [0.5, 0.5]\n"
      "  %y = maximum(%x, @c) : (2) f32\n"
      "}\n",
      NULL },

    /* relu6 in two nodes */
    { "minimum_to_clip",
      "fn main(%x: (20) f32) -> (%z) {\n"
      "  const @zero : () f32 = [0]\n"
      "  const @six : (1) f32 = [1.5]\n"
      "  %y = maximum(%x, @zero) : (20) f32\n"
      "  %z = minimum(%y, @six) : (20) f32\n"
      "}\n",
      "fn main(%x: (20) f32) -> (%z) {\n"
      "  %z = clip(%x) {a_min=0, a_max=1.5} : (20) f32\n"
      "}\n" },

    /* NaN is no bound */
    { "minimum_to_clip",
      "fn main(%x: (2) f32) -> (%y) {\n"
      "  const @c : () f32 = [nan]\n"
      "  %y = minimum(%x, @c) : (2) f32\n"
      "}\n",
      NULL },

    /* a matrix */
    { "matmul_to_dense",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (3,4) f32 = crc32:00000000\n"
      "  %y = nn.matmul(%x, @w) {transpose_a=false, transpose_b=false} : (2,4) f32 from MatMul "
      "\"m\" #0\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  %y = nn.dense(%x, @w) : (2,4) f32  from MatMul \"m\" #0\n"
      "}\n" },

    /* batch dims become rows, and a turned weight is shared */
    { "matmul_to_dense",
      "fn main(%x: (2,5,3) f32) -> (%y) {\n"
      "  const @w : (1,4,3) f32 = crc32:00000000\n"
      "  %y = nn.matmul(%x, @w) {transpose_a=false, transpose_b=true} : (2,5,4) f32\n"
      "}\n",
      "fn main(%x: (2,5,3) f32) -> (%y) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  %y.reshape = reshape(%x) {shape=[10,3]} : (10,3) f32\n"
      "  %y.dense = nn.dense(%y.reshape, @w) : (10,4) f32\n"
      "  %y = reshape(%y.dense) {shape=[2,5,4]} : (2,5,4) f32\n"
      "}\n" },

    /* a batch of weights */
    { "matmul_to_dense",
      "fn main(%x: (2,5,3) f32) -> (%y) {\n"
      "  const @w : (2,3,4) f32 = crc32:00000000\n"
      "  %y = nn.matmul(%x, @w) {transpose_a=false, transpose_b=false} : (2,5,4) f32\n"
      "}\n",
      NULL },

    /* x is turned */
    { "matmul_to_dense",
      "fn main(%x: (3,2) f32) -> (%y) {\n"
      "  const @w : (3,4) f32 = crc32:00000000\n"
      "  %y = nn.matmul(%x, @w) {transpose_a=true, transpose_b=false} : (2,4) f32\n"
      "}\n",
      NULL },

    /* bias, activation and residual of a transformer's layer */
    { "sink_unflatten",
      "fn main(%x: (2,5,3) f32, %r: (2,5,4) f32) -> (%y) {\n"
      "  const @w : (3,4) f32 = crc32:00000000\n"
      "  const @b : (1,1,4) f32 = crc32:00000000\n"
      "  %m = nn.matmul(%x, @w) {transpose_a=false, transpose_b=false} : (2,5,4) f32\n"
      "  %a = add(@b, %m) : (2,5,4) f32\n"
      "  %g = tanh(%a) : (2,5,4) f32\n"
      "  %y = add(%g, %r) : (2,5,4) f32\n"
      "}\n",
      "fn main(%x: (2,5,3) f32, %r: (2,5,4) f32) -> (%y) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  %m.reshape = reshape(%x) {shape=[10,3]} : (10,3) f32\n"
      "  %m.dense = nn.dense(%m.reshape, @w) : (10,4) f32\n"
      "  %a.add = nn.bias_add(%m.dense, @b) {axis=1} : (10,4) f32\n"
      "  %g.tanh = tanh(%a.add) : (10,4) f32\n"
      "  %y.reshape = reshape(%r) {shape=[10,4]} : (10,4) f32\n"
      "  %y.add = add(%g.tanh, %y.reshape) : (10,4) f32\n"
      "  %y = reshape(%y.add) {shape=[2,5,4]} : (2,5,4) f32\n"
      "}\n" },

    /* the last dim is another */
    { "sink_unflatten",
      "fn main(%x: (2,3) f32) -> (%y) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  %d = nn.dense(%x, @w) : (2,4) f32\n"
      "  %v = reshape(%d) {shape=[2,2,2]} : (2,2,2) f32\n"
      "  %y = tanh(%v) : (2,2,2) f32\n"
      "}\n",
      NULL },

    /* one number per row */
    { "sink_unflatten",
      "fn main(%x: (1,2,3) f32, %s: (1,2,1) f32) -> (%y) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  %f = reshape(%x) {shape=[2,3]} : (2,3) f32\n"
      "  %d = nn.dense(%f, @w) : (2,4) f32\n"
      "  %v = reshape(%d) {shape=[1,2,4]} : (1,2,4) f32\n"
      "  %y = multiply(%v, %s) : (1,2,4) f32\n"
      "}\n",
      NULL },

    /* bias, scale and activation of a convolution over time, written as one over an image of a row
     */
    { "squeeze_behind_elementwise",
      "fn main(%x: (1,2,1,5) f32) -> (%y) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @k : (4,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,4,1,5) f32\n"
      "  %s = squeeze(%c) {axes=[2]} : (1,4,5) f32\n"
      "  %m = multiply(%s, @k) : (1,4,5) f32\n"
      "  %y = nn.relu(%m) : (1,4,5) f32\n"
      "}\n",
      "fn main(%x: (1,2,1,5) f32) -> (%y) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @k : (1,4,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,4,1,5) f32\n"
      "  %m.multiply = multiply(%c, @k) : (1,4,1,5) f32\n"
      "  %y.relu = nn.relu(%m.multiply) : (1,4,1,5) f32\n"
      "  %y = reshape(%y.relu) {shape=[1,4,5]} : (1,4,5) f32\n"
      "}\n" },

    /* the view joins two dims: sink_views does it, when layouts are chosen */
    { "squeeze_behind_elementwise",
      "fn main(%x: (1,2,3,5) f32) -> (%y) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,4,3,5) f32\n"
      "  %s = reshape(%c) {shape=[1,4,15]} : (1,4,15) f32\n"
      "  %y = nn.relu(%s) : (1,4,15) f32\n"
      "}\n",
      NULL },

    /* behind a bias, in both forms */
    { "merge_biases",
      "fn main(%x: (1,2,3,3) f32) -> (%d) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  const @c : (4) f32 = crc32:00000000\n"
      "  const @s : () f32 = [0.25]\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32\n"
      "  %a = nn.bias_add(%y, @b) {axis=1} : (1,4,3,3) f32\n"
      "  %e = nn.bias_add(%a, @c) {axis=1} : (1,4,3,3) f32\n"
      "  %d = add(%e, @s) : (1,4,3,3) f32\n"
      "}\n",
      "fn main(%x: (1,2,3,3) f32) -> (%d) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32\n"
      "  %d = nn.bias_add(%y, @b) {axis=1} : (1,4,3,3) f32\n"
      "}\n" },

    /* along different axes */
    { "merge_biases",
      "fn main(%x: (4,4) f32) -> (%e) {\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  const @c : (4) f32 = crc32:00000000\n"
      "  %a = nn.bias_add(%x, @b) {axis=1} : (4,4) f32\n"
      "  %e = nn.bias_add(%a, @c) {axis=0} : (4,4) f32\n"
      "}\n",
      NULL },

    /* the sum has a second reader */
    { "merge_biases",
      "fn main(%x: (4,4) f32) -> (%e, %a) {\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  %a = nn.bias_add(%x, @b) {axis=1} : (4,4) f32\n"
      "  %e = nn.bias_add(%a, @b) {axis=1} : (4,4) f32\n"
      "}\n",
      NULL },

    /* per channel */
    { "add_to_bias",
      "fn main(%x: (1,2,3,3) f32) -> (%a) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @b : (1,4,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32\n"
      "  %a = add(@b, %y) : (1,4,3,3) f32\n"
      "}\n",
      "fn main(%x: (1,2,3,3) f32) -> (%a) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32\n"
      "  %a = nn.bias_add(%y, @b) {axis=1} : (1,4,3,3) f32\n"
      "}\n" },

    /* one number for all */
    { "add_to_bias",
      "fn main(%x: (2,3) f32) -> (%a) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  const @b : () f32 = [0.5]\n"
      "  %y = nn.dense(%x, @w) : (2,4) f32\n"
      "  %a = add(%y, @b) : (2,4) f32\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%a) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  %y = nn.dense(%x, @w) : (2,4) f32\n"
      "  %a = nn.bias_add(%y, @b) {axis=1} : (2,4) f32\n"
      "}\n" },

    /* per column of the image */
    { "add_to_bias",
      "fn main(%x: (1,2,3,4) f32) -> (%a) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,4,3,4) f32\n"
      "  %a = add(%y, @b) : (1,4,3,4) f32\n"
      "}\n",
      NULL },

    /* a constant that enlarges the result */
    { "add_to_bias",
      "fn main(%x: (1,2,3,3) f32) -> (%a) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @b : (2,4,1,1) f32 = crc32:00000000\n"
      "  %y = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32\n"
      "  %a = add(%y, @b) : (2,4,3,3) f32\n"
      "}\n",
      NULL },

    { "drop_zero_bias",
      "fn main(%x: (2,3) f32) -> (%a) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = [0, -0, 0, 0]\n"
      "  %y = nn.dense(%x, @w) : (2,4) f32\n"
      "  %z = nn.bias_add(%y, @b) {axis=1} : (2,4) f32\n"
      "  %a = nn.relu(%z) : (2,4) f32\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%a) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  %y = nn.dense(%x, @w) : (2,4) f32\n"
      "  %a = nn.relu(%y) : (2,4) f32\n"
      "}\n" },

    /* one channel has a bias */
    { "drop_zero_bias",
      "fn main(%x: (2,3) f32) -> (%a) {\n"
      "  const @w : (4,3) f32 = crc32:00000000\n"
      "  const @b : (4) f32 = [0, 0, 1, 0]\n"
      "  %y = nn.dense(%x, @w) : (2,4) f32\n"
      "  %a = nn.bias_add(%y, @b) {axis=1} : (2,4) f32\n"
      "}\n",
      NULL },

    /* x may be -0, and -0 + 0 is 0 */
    { "drop_zero_bias",
      "fn main(%x: (2,4) f32) -> (%a) {\n"
      "  const @b : (4) f32 = [0, 0, 0, 0]\n"
      "  %a = nn.bias_add(%x, @b) {axis=1} : (2,4) f32\n"
      "}\n",
      NULL },
};

START_TEST(equivalent_forms_become_one_form)
{
    pass_case_check("canonicalize", &rows[_i]);
}
END_TEST

START_TEST(every_rule_has_a_row)
{
    int n;
    const struct rule *rules = canonicalize_rules(&n);

    pass_case_coverage(rules, n, "constant_to_right", "drop_zero_bias", rows, N_ROWS(rows));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("canonicalize");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, equivalent_forms_become_one_form, 0, N_ROWS(rows));
    tcase_add_test(tests, every_rule_has_a_row);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
