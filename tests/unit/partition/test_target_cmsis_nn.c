/* The target cmsis_nn, against the double of the library: exactly what the reference evaluator
 * gives (average pools and softmax: at most one step apart, the library rounds otherwise), and
 * nothing is moved between two calls.
 *
 *   test_target_cmsis_nn --write DIR
 *
 * writes them as programs, DIR/0 ...: tests/e2e/run_cmsis_nn builds those with the real library. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "tests/support/offload_case.h"

#define QNN_CONSTANTS                                                                              \
    "  const @xz : () i8 = [3]\n  const @wz : () i8 = [0]\n  const @s : () f32 = [0.004]\n"        \
    "  const @s4 : (4) f32 = [0.004, 0.002, 0.011, 0.03]\n  const @sz : () i32 = [0]\n"            \
    "  const @os : () f32 = [0.9]\n  const @oz : () i8 = [-5]\n"                                   \
    "  const @unit : () f32 = [0.00390625]\n  const @low : () i8 = [-128]\n"

#define CONVOLUTION(kind, x, w, attrs)                                                             \
    {                                                                                              \
        .composites = kind, .text = "fn main(%x: " x " i8) -> (%y) {\n" QNN_CONSTANTS              \
                                    "  const @w : " w                                              \
                                    " i8 = [0, ...]\n  const @b : (4) i32 = [1000,-2000,30,4]\n"   \
                                    "  %c = qnn.conv2d(%x, @w, @xz, @wz) {" attrs "}\n"            \
                                    "  %d = nn.bias_add(%c, @b) {axis=1}\n"                        \
                                    "  %y = qnn.requantize(%d, @s4, @sz, @os, @oz) {axis=1}\n}"    \
    }
#define CONV(x, w, attrs) CONVOLUTION("cmsis_nn.conv2d", x, w, attrs)
#define DEPTHWISE(x, w, attrs) CONVOLUTION("cmsis_nn.depthwise_conv2d", x, w, attrs)

static const struct offload_case cases[] = {
    { .composites = "cmsis_nn.conv2d cmsis_nn.max_pool2d cmsis_nn.depthwise_conv2d",
      .all_builds = true,
      .text = "fn main(%x: (1,2,7,6) i8) -> (%y) {\n" QNN_CONSTANTS
              "  const @w : (4,2,3,3) i8 = [0, ...]\n  const @wd : (8,1,3,3) i8 = [0, ...]\n"
              "  const @b : (4) i32 = [1000,-2000,30,4]\n"
              "  %c = qnn.conv2d(%x, @w, @xz, @wz) {strides=[1,2], padding=[1,1,1,1], groups=1}\n"
              "  %d = nn.bias_add(%c, @b) {axis=1}\n"
              "  %e = qnn.requantize(%d, @s4, @sz, @os, @oz) {axis=1}\n"
              "  %f = nn.max_pool2d(%e) {pool_size=[2,2], strides=[1,1], padding=[1,0,0,1]}\n"
              "  %g = qnn.conv2d(%f, @wd, @oz, @wz) {padding=[1,1,1,1], dilation=[2,1], groups=4}\n"
              "  %y = qnn.requantize(%g, @s, @sz, @os, @oz) {axis=1}\n}" },
    { .composites = "cmsis_nn.depthwise_conv2d", /* where the library wants working memory */
      .text = "fn main(%x: (1,4,7,6) i8) -> (%y) {\n" QNN_CONSTANTS
              "  const @w : (4,1,5,3) i8 = [0, ...]\n"
              "  %c = qnn.conv2d(%x, @w, @xz, @wz) {padding=[2,1,2,1], groups=4}\n"
              "  %y = qnn.requantize(%c, @s4, @sz, @os, @oz) {axis=1}\n}" },
    { .composites = "cmsis_nn.fully_connected cmsis_nn.add cmsis_nn.mul",
      .text = "fn main(%x: (3,7) i8, %z: (3,4) i8) -> (%y) {\n" QNN_CONSTANTS
              "  const @w : (4,7) i8 = [0, ...]\n  const @b : (4) i32 = [100,-200,3,4]\n"
              "  %c = qnn.dense(%x, @w, @xz, @wz)\n  %d = nn.bias_add(%c, @b) {axis=1}\n"
              "  %e = qnn.requantize(%d, @s, @sz, @os, @oz) {axis=1}\n"
              "  %f = qnn.add(%e, %z, @os, @oz, @s, @xz, @os, @oz)\n"
              "  %y = qnn.mul(%f, %z, @s, @oz, @s, @xz, @s, @oz)\n}" },
    /* Images are turned once; what comes as NHWC from the model is not turned at all. */
    { .composites = "cmsis_nn.conv2d cmsis_nn.add",
      .text = "fn main(%x: (1,5,6,2) i8) -> (%y) {\n" QNN_CONSTANTS
              "  const @w : (2,2,1,1) i8 = [0, ...]\n"
              "  %t = transpose(%x) {axes=[0,3,1,2]}\n"
              "  %c = qnn.conv2d(%t, @w, @xz, @wz) {groups=1}\n"
              "  %d = qnn.requantize(%c, @s, @sz, @os, @oz) {axis=1}\n"
              "  %e = transpose(%d) {axes=[0,2,3,1]}\n"
              "  %y = qnn.add(%e, %x, @os, @oz, @s, @xz, @os, @oz)\n}" },
    { .composites = "cmsis_nn.avg_pool2d cmsis_nn.softmax",
      .text = "fn main(%x: (1,3,4,6) i8, %z: (2,5) i8) -> (%y, %p) {\n" QNN_CONSTANTS
              "  %y = qnn.avg_pool2d(%x, @s, @oz, @s, @oz) {pool_size=[1,3], strides=[2,1]}\n"
              "  %p = qnn.softmax(%z, @s, @oz, @unit, @low) {axis=1}\n}" },
    { .composites = "cmsis_nn.avg_pool2d", /* of a whole image */
      .text = "fn main(%x: (1,3,5,5) i8) -> (%y) {\n" QNN_CONSTANTS
              "  %y = qnn.avg_pool2d(%x, @s, @oz, @s, @oz) {pool_size=[5,5]}\n}" },
    /* Padding that differs between the sides, strides, dilation, two images. */
    CONV("(2,3,9,8)", "(4,3,3,2)", "strides=[2,1], padding=[2,0,1,1], dilation=[1,2], groups=1"),
    CONV("(1,5,7,7)", "(4,5,3,3)", "strides=[1,1], padding=[1,2,0,3], dilation=[2,2], groups=1"),
    CONV("(2,17,4,3)", "(4,17,1,1)", "strides=[1,1], padding=[0,0,0,0], groups=1"),
    CONV("(2,6,5,6)", "(4,6,1,1)", "strides=[2,3], padding=[0,0,0,0], groups=1"),
    CONV("(1,6,5,6)", "(4,6,1,1)", "strides=[2,1], padding=[1,0,1,1], groups=1"),
    /* One row: the library has a kernel of its own, which wants certain paddings. */
    CONV("(2,4,1,9)", "(4,4,1,3)", "strides=[1,1], padding=[0,1,0,1], groups=1"),
    CONV("(1,8,1,11)", "(4,8,1,5)", "strides=[1,1], padding=[0,2,0,2], groups=1"),
    CONV("(1,4,1,6)", "(4,4,1,3)", "strides=[1,2], padding=[0,1,0,1], groups=1"),
    CONV("(1,4,1,6)", "(4,4,1,2)", "strides=[1,3], padding=[0,0,0,0], groups=1"),
    CONV("(2,4,1,9)", "(4,4,1,5)", "strides=[1,2], padding=[0,2,0,2], groups=1"),
    CONV("(1,4,1,8)", "(4,4,1,2)", "strides=[1,1], padding=[0,0,0,1], groups=1"),
    CONV("(1,4,1,8)", "(4,4,1,3)", "strides=[1,1], padding=[0,2,0,0], groups=1"),
    CONV("(1,16,1,8)", "(4,16,1,2)", "strides=[1,1], padding=[0,9,0,9], groups=1"),
    CONV("(1,2,1,3)", "(4,2,1,5)", "strides=[1,2], padding=[0,2,0,2], groups=1"),
    DEPTHWISE("(1,4,6,5)", "(4,1,3,3)", "strides=[1,1], padding=[1,1,1,1], groups=4"),
    DEPTHWISE("(1,4,6,5)", "(4,1,3,3)", "strides=[2,2], padding=[0,0,1,1], groups=4"),
    DEPTHWISE("(1,4,6,5)", "(4,1,3,3)", "strides=[1,1], padding=[2,1,2,1], groups=4"),
    DEPTHWISE("(2,4,6,5)", "(4,1,3,3)", "strides=[2,1], padding=[1,0,1,2], groups=4"),
    DEPTHWISE("(1,4,7,6)", "(4,1,2,5)", "strides=[3,2], padding=[1,3,1,2], groups=4"),
    DEPTHWISE("(1,4,7,6)", "(4,1,3,3)", "padding=[2,3,2,3], dilation=[2,3], groups=4"),
    DEPTHWISE("(1,2,7,6)", "(4,1,3,3)", "strides=[1,2], padding=[1,0,1,1], groups=2"),
    DEPTHWISE("(2,2,7,6)", "(4,1,3,1)", "padding=[1,0,0,0], dilation=[2,1], groups=2"),
    { .composites = "cmsis_nn.depthwise_conv2d", /* more channels than a block of the library */
      .text = "fn main(%x: (1,130,5,4) i8) -> (%y) {\n" QNN_CONSTANTS
              "  const @w : (130,1,3,3) i8 = [0, ...]\n  const @b : (130) i32 = [0, ...]\n"
              "  %c = qnn.conv2d(%x, @w, @xz, @wz) {padding=[1,1,1,1], groups=130}\n"
              "  %d = nn.bias_add(%c, @b) {axis=1}\n"
              "  %y = qnn.requantize(%d, @s, @sz, @os, @oz) {axis=1}\n}" },
    { .composites = "cmsis_nn.depthwise_conv2d", /* four channels of each */
      .text = "fn main(%x: (1,2,5,4) i8) -> (%y) {\n" QNN_CONSTANTS
              "  const @w : (8,1,3,3) i8 = [0, ...]\n"
              "  %c = qnn.conv2d(%x, @w, @xz, @wz) {padding=[1,1,1,1], groups=2}\n"
              "  %y = qnn.requantize(%c, @s, @sz, @os, @oz) {axis=1}\n}" },
    { .composites = "cmsis_nn.max_pool2d",
      .text = "fn main(%x: (2,5,7,6) i8) -> (%y) {\n"
              "  %y = nn.max_pool2d(%x) {pool_size=[3,2], strides=[2,3], padding=[2,0,1,1]}\n}" },
    { .composites = "cmsis_nn.avg_pool2d", /* halves go away from the zero point here */
      .left = "qnn.dequantize",
      .tolerance = 0.02,
      .text = "fn main(%x: (2,17,7,6) i8) -> (%y) {\n" QNN_CONSTANTS
              "  %q = qnn.avg_pool2d(%x, @s, @oz, @s, @oz) {pool_size=[3,3], strides=[2,3], "
              "padding=[1,0,1,2]}\n"
              "  %y = qnn.dequantize(%q, @s, @oz) {axis=0}\n}" },
    { .composites = "cmsis_nn.fully_connected", /* weights with a zero point */
      .text =
          "fn main(%x: (2,37) i8) -> (%y) {\n" QNN_CONSTANTS "  const @w : (13,37) i8 = [0, ...]\n"
          "  %c = qnn.dense(%x, @w, @xz, @oz)\n"
          "  %y = qnn.requantize(%c, @s, @sz, @os, @oz) {axis=1}\n}" },
    /* Images and constants beside each other. */
    { .composites = "cmsis_nn.mul cmsis_nn.add",
      .text = "fn main(%x: (1,3,2,5) i8, %z: (1,3,2,5) i8) -> (%y) {\n" QNN_CONSTANTS
              "  %f = qnn.mul(%x, %z, @s, @oz, @s, @xz, @s, @oz)\n"
              "  %y = qnn.add(%f, %x, @os, @oz, @s, @xz, @os, @oz)\n}" },
    { .composites = "cmsis_nn.max_pool2d cmsis_nn.add",
      .text = "fn main(%x: (1,3,3,3) i8) -> (%y) {\n" QNN_CONSTANTS
              "  const @w : (1,3,3,3) i8 = [0, ...]\n"
              "  %p = nn.max_pool2d(%x) {pool_size=[3,3], strides=[1,1], padding=[1,1,1,1]}\n"
              "  %y = qnn.add(%p, @w, @os, @oz, @s, @xz, @os, @oz)\n}" },
    { .composites = "cmsis_nn.add",
      .text = "fn main(%x: (1,7) i8) -> (%y) {\n" QNN_CONSTANTS "  const @w : (7) i8 = [0, ...]\n"
              "  %y = qnn.add(%x, @w, @os, @oz, @s, @xz, @os, @oz)\n}" },
    /* Results that grow: the library shifts numbers of 32 bits to the left. */
    { .left = "qnn.dense qnn.requantize qnn.mul",
      .composites = "",
      .text = "fn main(%x: (1,7) i8) -> (%y) {\n" QNN_CONSTANTS "  const @w : (4,7) i8 = [0, ...]\n"
              "  const @large : () f32 = [1000]\n"
              "  %c = qnn.dense(%x, @w, @xz, @wz)\n"
              "  %e = qnn.requantize(%c, @s, @sz, @s, @oz) {axis=1}\n"
              "  %y = qnn.mul(%e, %e, @large, @oz, @large, @oz, @os, @oz)\n}" },
    /* Weights with a zero point, a rescaling pool: the library has no such thing; windows of one
     * element with padding behind only: it takes them for pointwise. */
    { .left = "qnn.conv2d qnn.requantize",
      .composites = "",
      .text = "fn main(%x: (1,2,4,4) i8) -> (%y) {\n" QNN_CONSTANTS
              "  const @w : (4,2,1,1) i8 = [0, ...]\n"
              "  %c = qnn.conv2d(%x, @w, @xz, @wz) {padding=[0,0,1,1], groups=1}\n"
              "  %y = qnn.requantize(%c, @s, @sz, @os, @oz) {axis=1}\n}" },
    { .left = "qnn.conv2d qnn.requantize",
      .composites = "",
      .text = "fn main(%x: (1,2,4,4) i8) -> (%y) {\n" QNN_CONSTANTS
              "  const @w : (4,2,3,3) i8 = [0, ...]\n"
              "  %c = qnn.conv2d(%x, @w, @xz, @xz) {groups=1}\n"
              "  %y = qnn.requantize(%c, @s, @sz, @os, @oz) {axis=1}\n}" },
    { .left = "qnn.avg_pool2d",
      .composites = "",
      .text = "fn main(%x: (1,3,4,6) i8) -> (%y) {\n" QNN_CONSTANTS
              "  %y = qnn.avg_pool2d(%x, @s, @oz, @os, @oz) {pool_size=[2,2], strides=[1,1]}\n}" },
};

enum { N_CASES = sizeof cases / sizeof *cases };

static struct offload_case case_of(int i)
{
    struct offload_case row = cases[i];

    row.target = "cmsis_nn";
    row.low = -128;
    row.high = 128;
    return row;
}

START_TEST(computes_what_the_graph_does)
{
    const struct offload_case row = case_of(_i);

    offload_check(&row);
}
END_TEST

static const char *folder; /* of --write */

/* Cases that leave everything on c have nothing to show. */
START_TEST(is_written)
{
    const struct offload_case row = case_of(_i);
    struct arena arena = { NULL };

    if (*row.composites)
        offload_write(&row, arena_printf(&arena, "%s/%d", folder, _i));
    arena_release(&arena);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("target_cmsis_nn");
    TCase *tcase = tcase_create("rows");
    SRunner *runner = srunner_create(suite);
    int failed;

    if (argc == 3 && strcmp(argv[1], "--write") == 0)
        folder = argv[2];
    tcase_add_loop_test(tcase, folder ? is_written : computes_what_the_graph_does, 0, N_CASES);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
