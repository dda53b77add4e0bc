/* The target dnnl: every row is taken as meant, and the C that calls oneDNN computes what the
 * reference evaluator does. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/offload_case.h"

#define X "fn main(%x: (1,4,7,6) f32) -> (%y) {\n"

#define QNN_CONSTANTS                                                                              \
    "  const @xz : () i8 = [3]\n  const @wz : () i8 = [0]\n  const @s : () f32 = [0.004]\n"        \
    "  const @s4 : (4) f32 = [0.004, 0.002, 0.011, 0.03]\n  const @sz : () i32 = [0]\n"            \
    "  const @os : () f32 = [0.9]\n  const @oz : () i8 = [-5]\n  const @uz : () u8 = [140]\n"

static const struct offload_case cases[] = {
    { .composites = "dnnl.conv2d_act",
      .all_builds = true,
      .text = X
      "  const @w : (6,4,3,3) f32 = [0, ...]\n"
      "  const @b : (6) f32 = [1,2,3,4,5,6]\n"
      "  %c = nn.conv2d(%x, @w) {strides=[2,1], padding=[1,0,2,1], dilation=[1,2], groups=1}\n"
      "  %d = nn.bias_add(%c, @b) {axis=1}\n"
      "  %y = clip(%d) {a_min=-0.5, a_max=inf}\n}" },
    { .composites = "dnnl.conv2d_act",
      .text = X
      "  const @w : (8,1,3,3) f32 = [0, ...]\n"
      "  %c = nn.conv2d(%x, @w) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=4}\n"
      "  %y = nn.silu(%c)\n}" },
    { .composites = "dnnl.conv2d_act dnnl.conv2d_sum_act",
      .text = X "  const @v : (5,4,1,1) f32 = [0, ...]\n"
                "  const @w : (5,4,3,3) f32 = [0, ...]\n"
                "  %q = nn.conv2d(%x, @v) {groups=1}\n"
                "  %r = nn.relu(%q)\n"
                "  %c = nn.conv2d(%x, @w) {padding=[1,1,1,1], groups=1}\n"
                "  %s = add(%r, %c)\n"
                "  %y = nn.leaky_relu(%s) {alpha=0.125, beta=0}\n}" },
    { .composites = "dnnl.conv2d_act_sum",
      .text = "fn main(%x: (1,4,5,5) f32, %r: (1,3,5,5) f32) -> (%y) {\n"
              "  const @w : (3,4,3,3) f32 = [0, ...]\n"
              "  %c = nn.conv2d(%x, @w) {padding=[1,1,1,1], groups=1}\n"
              "  %s = sigmoid(%c)\n"
              "  %y = add(%s, %r)\n}" },
    { .composites = "dnnl.conv1d_act",
      .text = "fn main(%x: (2,4,9) f32) -> (%y) {\n"
              "  const @w : (6,2,3) f32 = [0, ...]\n"
              "  %c = nn.conv1d(%x, @w) {strides=[2], padding=[0,2], dilation=[2], groups=2}\n"
              "  %y = tanh(%c)\n}" },
    { .composites = "dnnl.conv3d_act",
      .text = "fn main(%x: (1,2,4,5,6) f32) -> (%y) {\n"
              "  const @w : (3,2,2,3,1) f32 = [0, ...]\n"
              "  %c = nn.conv3d(%x, @w) {strides=[1,2,1], padding=[1,1,0,0,1,0], groups=1}\n"
              "  %y = nn.elu(%c) {alpha=0.75, beta=0}\n}" },
    { .composites = "dnnl.conv2d_transpose_act",
      .text = X "  const @w : (4,3,3,2) f32 = [0, ...]\n"
                "  const @b : (6) f32 = [1,2,3,4,5,6]\n"
                "  %c = nn.conv2d_transpose(%x, @w) {strides=[2,1], padding=[1,0,1,1], "
                "output_padding=[1,0], groups=2}\n"
                "  %d = nn.bias_add(%c, @b) {axis=1}\n"
                "  %y = nn.relu(%d)\n}" },
    { .composites = "dnnl.conv1d_transpose_act",
      .text = "fn main(%x: (1,4,7) f32) -> (%y) {\n"
              "  const @w : (4,3,3) f32 = [0, ...]\n"
              "  %y = nn.conv1d_transpose(%x, @w) {strides=[3], groups=1}\n}" },
    { .composites = "dnnl.conv3d_transpose_act",
      .text = "fn main(%x: (1,2,3,4,3) f32) -> (%y) {\n"
              "  const @w : (2,3,2,3,2) f32 = [0, ...]\n"
              "  %c = nn.conv3d_transpose(%x, @w) {strides=[2,1,1], groups=1}\n"
              "  %y = nn.gelu(%c)\n}" },
    { .composites = "dnnl.dense_act",
      .text = "fn main(%x: (2,3,7) f32) -> (%y) {\n"
              "  const @w : (5,7) f32 = [0, ...]\n"
              "  const @b : (5) f32 = [1,2,3,4,5]\n"
              "  %c = nn.dense(%x, @w)\n"
              "  %d = nn.bias_add(%c, @b) {axis=2}\n"
              "  %y = nn.mish(%d)\n}" },
    { .composites = "dnnl.max_pool2d dnnl.dense_act", /* one region */
      .text = X "  const @w : (5,24) f32 = [0, ...]\n"
                "  %p = nn.max_pool2d(%x) {pool_size=[2,2], strides=[3,2]}\n"
                "  %f = reshape(%p) {shape=[1,24]}\n"
                "  %y = nn.dense(%f, @w)\n}" },
    { .composites = "dnnl.dense_sum_act",
      .text = "fn main(%x: (2,7) f32, %r: (2,5) f32) -> (%y) {\n"
              "  const @w : (5,7) f32 = [0, ...]\n"
              "  %c = nn.dense(%x, @w)\n"
              "  %y = add(%c, %r)\n}" },
    { .composites = "dnnl.dense_act_sum",
      .text = "fn main(%x: (2,7) f32, %r: (2,5) f32) -> (%y) {\n"
              "  const @w : (5,7) f32 = [0, ...]\n"
              "  %c = nn.dense(%x, @w)\n"
              "  %s = nn.hard_swish(%c)\n"
              "  %y = add(%r, %s)\n}" },
    { .composites = "dnnl.matmul",
      .text = "fn main(%a: (2,5,3) f32, %b: (1,5,4) f32) -> (%y) {\n"
              "  %y = nn.matmul(%a, %b) {transpose_a=true, transpose_b=false}\n}" },
    { .composites = "dnnl.matmul",
      .text = "fn main(%a: (3,5) f32, %b: (4,5) f32) -> (%y) {\n"
              "  %y = nn.matmul(%a, %b) {transpose_a=false, transpose_b=true}\n}" },
    { .composites = "dnnl.max_pool2d",
      .text = X "  %y = nn.max_pool2d(%x) {pool_size=[3,2], strides=[2,2], padding=[1,0,1,1], "
                "ceil_mode=true}\n}" },
    { .composites = "dnnl.avg_pool2d",
      .text = X "  %y = nn.avg_pool2d(%x) {pool_size=[3,3], strides=[2,2], padding=[1,1,1,1], "
                "count_include_pad=false}\n}" },
    { .composites = "dnnl.avg_pool2d",
      .text = X "  %y = nn.avg_pool2d(%x) {pool_size=[3,2], strides=[1,2], padding=[1,0,1,0], "
                "count_include_pad=true}\n}" },
    { .composites = "dnnl.max_pool1d dnnl.avg_pool1d",
      .text = "fn main(%x: (2,4,9) f32) -> (%y) {\n"
              "  %a = nn.max_pool1d(%x) {pool_size=[3], strides=[1], dilation=[2]}\n"
              "  %y = nn.avg_pool1d(%a) {pool_size=[2], strides=[2]}\n}" },
    { .composites = "dnnl.max_pool3d dnnl.avg_pool3d",
      .text = "fn main(%x: (1,2,5,6,7) f32) -> (%y) {\n"
              "  %a = nn.max_pool3d(%x) {pool_size=[2,3,2], strides=[1,1,1]}\n"
              "  %y = nn.avg_pool3d(%a) {pool_size=[2,2,2], strides=[2,2,2]}\n}" },
    { .composites = "dnnl.global_pool dnnl.global_pool",
      .text = "fn main(%x: (1,4,7,6) f32) -> (%y, %z) {\n"
              "  %y = nn.global_avg_pool(%x)\n"
              "  %z = nn.global_max_pool(%x)\n}" },
    { .composites = "dnnl.softmax dnnl.softmax",
      .text = "fn main(%x: (3,4,5) f32) -> (%y, %z) {\n"
              "  %y = nn.softmax(%x) {axis=2}\n"
              "  %z = nn.log_softmax(%x) {axis=1}\n}" },
    { .composites = "dnnl.layer_norm dnnl.layer_norm",
      .text = "fn main(%x: (3,4,5) f32) -> (%y, %z) {\n"
              "  const @s : (4,5) f32 = [0, ...]\n"
              "  const @h : (4,5) f32 = [0, ...]\n"
              "  const @t : (5) f32 = [1,2,3,4,5]\n"
              "  %y = nn.layer_norm(%x, @s, @h) {axis=1, groups=0, epsilon=1e-05}\n"
              "  %z = nn.layer_norm(%x, @t) {axis=2, groups=0, epsilon=1e-05}\n}" },
    { .composites = "dnnl.lrn",
      .text = X "  %y = nn.lrn(%x) {size=3, alpha=0.5, beta=0.75, bias=2}\n}" },
    { .composites = "dnnl.binary dnnl.binary dnnl.binary dnnl.binary",
      .text = "fn main(%x: (2,3,4) f32, %z: (2,1,4) f32) -> (%y) {\n"
              "  %a = subtract(%x, %z)\n  %b = multiply(%a, %x)\n  %c = maximum(%b, %x)\n"
              "  %y = minimum(%c, %z)\n}" },
    { .composites = "dnnl.eltwise dnnl.eltwise dnnl.eltwise dnnl.eltwise dnnl.eltwise dnnl.eltwise",
      .tolerance = 1e-5,
      .text = "fn main(%x: (2,3,4) f32) -> (%y) {\n"
              "  %a = abs(%x)\n  %b = sqrt(%a)\n  %c = exp(%b)\n  %d = log(%c)\n"
              "  %e = nn.softplus(%d)\n  %y = round(%e)\n}" },
    /* 8-bit integers: exactly the reference's. */
    { .composites = "dnnl.qnn_conv2d dnnl.qnn_conv2d dnnl.qnn_dense",
      .low = -128,
      .high = 128,
      .all_builds = true,
      .text = "fn main(%x: (1,2,7,6) i8) -> (%y) {\n" QNN_CONSTANTS
              "  const @w : (4,2,3,3) i8 = [0, ...]\n  const @wd : (8,1,3,2) i8 = [0, ...]\n"
              "  const @wf : (3,48) i8 = [0, ...]\n  const @b : (4) i32 = [1000,-2000,30,4]\n"
              "  %c = qnn.conv2d(%x, @w, @xz, @wz) {strides=[2,1], padding=[1,1,0,1], groups=1}\n"
              "  %d = nn.bias_add(%c, @b) {axis=1}\n"
              "  %e = qnn.requantize(%d, @s4, @sz, @os, @uz) {axis=1}\n"
              "  %g = qnn.conv2d(%e, @wd, @uz, @wz) {strides=[2,3], padding=[1,1,1,1], groups=4}\n"
              "  %h = qnn.requantize(%g, @s, @sz, @os, @oz) {axis=1}\n"
              "  %f = reshape(%h) {shape=[1,48]}\n"
              "  %k = qnn.dense(%f, @wf, @oz, @wz)\n"
              "  %y = qnn.requantize(%k, @s, @sz, @os, @oz) {axis=1}\n}" },
    { .composites = "dnnl.qnn_conv1d",
      .low = 0,
      .high = 256,
      .text =
          "fn main(%x: (2,4,9) u8) -> (%y) {\n" QNN_CONSTANTS "  const @w : (4,2,3) i8 = [0, ...]\n"
          "  %c = qnn.conv1d(%x, @w, @uz, @wz) {strides=[2], padding=[0,2], dilation=[2], "
          "groups=2}\n"
          "  %y = qnn.requantize(%c, @s4, @sz, @os, @oz) {axis=1}\n}" },
    /* What oneDNN would get wrong, or cannot do, stays here. */
    { .left = "nn.conv2d",
      .text = "fn main(%x: (1,2,1,40) f32) -> (%y) {\n"
              "  const @w : (3,2,1,17) f32 = [0, ...]\n"
              "  %y = nn.conv2d(%x, @w) {groups=1}\n}" },
    { .left = "nn.conv2d",
      .text = "fn main(%x: (1,4,7,6) f32, %w: (6,4,3,3) f32) -> (%y) {\n"
              "  %y = nn.conv2d(%x, %w) {groups=1}\n}" },
    { .left = "add floor",
      .text = "fn main(%x: (2,3) i32, %z: (2,3) f32) -> (%y, %v) {\n"
              "  %y = add(%x, %x)\n  %v = floor(%z)\n}" },
};

START_TEST(computes_what_the_graph_does)
{
    struct offload_case row = cases[_i];

    row.target = "dnnl";
    row.composites = row.composites ? row.composites : "";
    row.tolerance = row.tolerance > 0 ? row.tolerance : 2e-6; /* integers agree exactly anyway */
    offload_check(&row);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("target_dnnl");
    TCase *tcase = tcase_create("rows");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, computes_what_the_graph_does, 0, sizeof cases / sizeof *cases);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
