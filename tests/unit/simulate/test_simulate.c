/* What simulate.h promises: the bits of generated C, of every operator of f32 and on every
 * processor. The forms of each operator are in test_kernels_*, which demand the same of one build.
 */
#include <check.h>
#include <stdlib.h>

#include "tests/support/bits.h"
#include "tests/support/expect.h"
#include "tests/support/run_generated.h"

static const char functions[] =
    "fn main(%x: (9,29) f32, %z: (29) f32) -> (%a, %b, %c, %d, %e, %f, %g, %h, %i, %j, %k, %l, %m, "
    "%n, %o, %p, %q, %r, %s, %t, %u) {\n"
    "  %a = exp(%x)\n"
    "  %b = tanh(%x)\n"
    "  %c = sigmoid(%x)\n"
    "  %d = erf(%x)\n"
    "  %e = nn.gelu(%x) {approximate=\"none\"}\n"
    "  %f = nn.gelu(%x) {approximate=\"tanh\"}\n"
    "  %g = nn.silu(%x)\n"
    "  %h = nn.mish(%x)\n"
    "  %i = nn.softplus(%x)\n"
    "  %j = nn.softsign(%x)\n"
    "  %k = nn.elu(%x) {alpha=0.7}\n"
    "  %l = nn.selu(%x) {alpha=1.6732632, beta=1.0507010}\n"
    "  %m = nn.celu(%x) {alpha=0.7}\n"
    "  %n = nn.hard_sigmoid(%x) {alpha=0.2, beta=0.5}\n"
    "  %o = nn.hard_swish(%x)\n"
    "  %p = nn.leaky_relu(%x) {alpha=0.01}\n"
    "  %q = log(%a)\n"
    "  %r = rsqrt(%a)\n"
    "  %s = nn.thresholded_relu(%x) {alpha=0.3}\n"
    "  %t = nn.shrink(%x) {alpha=0.3, beta=0.1}\n"
    "  %u = floor_mod(%x, %z)\n"
    "}\n";

/* softmax: plain, short, group, rows; the same of what is decoded. */
static const char rows[] =
    "fn main(%p: (3,7) f32, %s: (17,23) f32, %g: (9,40) f32, %r: (2,131) f32, %c: (3,40) f8e4m3) "
    "-> "
    "(%a, %b, %d, %e, %f, %h, %i, %j, %k, %l, %m, %n, %o, %aa, %ab, %q, %t, %u, %v, %w) {\n"
    "  %a = nn.softmax(%p) {axis=1}\n"
    "  %b = nn.softmax(%s) {axis=1}\n"
    "  %d = nn.softmax(%g) {axis=1}\n"
    "  %e = nn.softmax(%r) {axis=1}\n"
    "  %f = nn.softmax(%g) {axis=0}\n"
    "  %h = nn.log_softmax(%p) {axis=1}\n"
    "  %i = nn.log_softmax(%r) {axis=1}\n"
    "  %j = sum(%r) {axis=[1], keepdims=false}\n"
    "  %k = mean(%g) {axis=[0,1], keepdims=true}\n"
    "  %l = mean(%g) {axis=[0], keepdims=false}\n"
    "  %m = prod(%p) {axis=[1], keepdims=false}\n"
    "  %n = cumsum(%r) {axis=1, exclusive=false, reverse=true}\n"
    "  %o = nn.lp_normalize(%r) {axis=1, p=2}\n"
    "  %aa = nn.lp_normalize(%r) {axis=1, p=1}\n"
    "  %ab = nn.lp_normalize(%p) {axis=1, p=2}\n"
    "  %q = nn.lp_normalize(%p) {axis=1, p=1}\n"
    "  %x = cast(%c) {dtype=f32, saturate=true}\n"
    "  %t = nn.softmax(%x) {axis=1}\n"
    "  %y = cast(%c) {dtype=f32, saturate=true}\n"
    "  %u = nn.log_softmax(%y) {axis=1}\n"
    "  %z = cast(%c) {dtype=f32, saturate=true}\n"
    "  %v = mean(%z) {axis=[1], keepdims=false}\n"
    "  %w = sum(%s) {axis=[1], keepdims=false}\n"
    "}\n";

static const char norms[] =
    "fn main(%x: (2,6,5,7) f32, %s: (6) f32, %r: (3,45) f32, %t: (45) f32, %c: (3,45) f8e4m3, "
    "%l: (2,5,7,6) f32) -> (%a, %b, %d, %e, %f, %g, %h, %i) {\n"
    "  const @var : (6) f32 = [0.5, 1, 1.5, 2, 0.25, 3]\n"
    "  %a = nn.batch_norm(%x, %s, %s, %s, @var) {axis=1, epsilon=0.001}\n"
    "  %b = nn.instance_norm(%x, %s, %s) {axis=1, epsilon=0.001}\n"
    "  %d = nn.group_norm(%x, %s, %s) {axis=1, groups=2, epsilon=0.001}\n"
    "  %e = nn.instance_norm(%l, %s, %s) {axis=3, epsilon=0.001}\n"
    "  %f = nn.group_norm(%l, %s, %s) {axis=3, groups=3, epsilon=0.001}\n"
    "  %g = nn.layer_norm(%r, %t, %t) {axis=1, epsilon=0.001}\n"
    "  %z = cast(%c) {dtype=f32, saturate=true}\n"
    "  %h = nn.layer_norm(%z, %t) {axis=1, epsilon=0.001}\n"
    "  %i = nn.lrn(%x) {size=3, alpha=0.01, beta=0.75, bias=1}\n"
    "}\n";

#define POOL "pool_size=[3,2], strides=[2,1], padding=[1,0,1,1], dilation=[1,1]"
#define RESIZE "coordinate_transformation_mode=\"half_pixel\", cubic_alpha=-0.75"

static const char windows[] =
    "fn main(%x: (1,3,9,8) f32, %l: (1,9,8,5) f32, %c: (1,9,8,5) f8e4m3, %v: (4,3,3,3) f32, "
    "%g: (1,4,4,2) f32) -> (%a, %b, %d, %e, %f, %h, %h2, %i, %j, %k, %m, %n, %o) {\n"
    "  const @w : (4,5,3,3) f32 = crc32:00000000\n"
    "  %a = nn.avg_pool2d(%x) {" POOL "}\n"
    "  %b = nn.avg_pool2d(%l) {" POOL ", count_include_pad=true, layout=\"NHWC\"}\n"
    "  %z = cast(%c) {dtype=f32, saturate=true}\n"
    "  %d = nn.avg_pool2d(%z) {" POOL ", layout=\"NHWC\"}\n"
    "  %e = nn.lp_pool2d(%x) {" POOL ", p=2}\n"
    "  %f = nn.global_avg_pool(%x)\n"
    "  %h = image.resize(%x) {size=[1,3,13,17], method=\"linear\", " RESIZE "}\n"
    "  %h2 = image.resize(%x) {size=[1,3,5,4], method=\"linear\", " RESIZE "}\n"
    "  %i = image.resize(%x) {size=[1,3,5,11], method=\"cubic\", " RESIZE ", antialias=true}\n"
    "  %y = cast(%c) {dtype=f32, saturate=true}\n"
    "  %j = image.resize(%y) {size=[1,12,8,5], method=\"linear\", " RESIZE "}\n"
    "  %k = image.grid_sample(%x, %g) {method=\"cubic\", padding_mode=\"reflection\"}\n"
    "  %m = nn.conv2d(%x, %v) {padding=[1,1,1,1], groups=1}\n"
    "  %n = nn.conv2d(%l, @w) {padding=[1,1,1,1], groups=1, data_layout=\"NHWC\", "
    "out_layout=\"NHWC\"}\n"
    "  %o = image.grid_sample(%x, %g) {method=\"linear\", padding_mode=\"zeros\"}\n"
    "}\n";

static const char recurrent[] =
    "fn main(%x: (5,2,3) f32) -> (%a, %a1, %b, %b1, %c, %c1, %c2) {\n"
    "  const @wr : (1,7,3) f32 = crc32:00000000\n"
    "  const @rr : (1,7,7) f32 = crc32:00000000\n"
    "  const @wg : (2,21,3) f32 = crc32:00000000\n"
    "  const @rg : (2,21,7) f32 = crc32:00000000\n"
    "  const @bg : (2,42) f32 = crc32:00000000\n"
    "  const @wl : (1,28,3) f32 = crc32:00000000\n"
    "  const @rl : (1,28,7) f32 = crc32:00000000\n"
    "  const @bl : (1,56) f32 = crc32:00000000\n"
    "  %a, %a1 = nn.rnn(%x, @wr, @rr) {hidden_size=7, direction=\"forward\"}\n"
    "  %b, %b1 = nn.gru(%x, @wg, @rg, @bg) {hidden_size=7, direction=\"bidirectional\"}\n"
    "  %c, %c1, %c2 = nn.lstm(%x, @wl, @rl, @bl) {hidden_size=7, direction=\"reverse\"}\n"
    "}\n";

static const char *const texts[] = { functions, rows, norms, windows, recurrent };

static struct module *module_of(struct ctx *ctx, const char *text)
{
    return generated_module(ctx, &(struct generated_case){ .text = text });
}

START_TEST(operators_have_the_bits_of_the_simulation)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = module_of(ctx, texts[_i]);

    bits_check_deterministic(module, NULL);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Convolutions in all their kernels: channels last, depthwise, one pixel, transposed, weights of
 * codes; dense layers of one row and of many, matrices, recurrent gates. */
static const char products[] =
    "fn main(%x: (1,3,9,8) f32, %l: (1,9,8,16) f32, %p: (1,1,1,40) f32, %d: (1,70) f32, %r: (7,70) "
    "f32, "
    "%m: (2,9,11) f32, %n: (2,11,19) f32) -> (%a, %b, %c, %e, %f, %g, %h, %i, %j, %k) {\n"
    "  const @wa : (20,3,3,3) f32 = crc32:00000000\n"
    "  const @wb : (24,16,3,3) f32 = crc32:00000000\n"
    "  const @wc : (16,1,3,3) f32 = crc32:00000000\n"
    "  const @we : (33,40,1,1) f32 = crc32:00000000\n"
    "  const @wf : (16,6,3,3) f32 = crc32:00000000\n"
    "  const @wg : (33,70) f32 = crc32:00000000\n"
    "  const @wk : (5,16,3,3) f32 = crc32:00000000\n"
    "  %a = nn.conv2d(%x, @wa) {padding=[1,1,1,1], groups=1}\n"
    "  %b = nn.conv2d(%l, @wb) {padding=[1,1,1,1], groups=1, data_layout=\"NHWC\", "
    "out_layout=\"NHWC\"}\n"
    "  %c = nn.conv2d(%l, @wc) {padding=[1,1,1,1], groups=16, data_layout=\"NHWC\", "
    "out_layout=\"NHWC\"}\n"
    "  %e = nn.conv2d(%p, @we) {groups=1, data_layout=\"NHWC\", out_layout=\"NHWC\"}\n"
    "  %f = nn.conv2d_transpose(%l, @wf) {groups=1, data_layout=\"NHWC\"}\n"
    "  %g = nn.dense(%d, @wg)\n"
    "  %h = nn.dense(%r, @wg)\n"
    "  %i = nn.matmul(%m, %n)\n"
    "  %j = nn.dense(%d, %r)\n"
    "  %k = nn.conv2d(%l, @wk) {strides=[2,2], groups=1, data_layout=\"NHWC\", "
    "out_layout=\"NHWC\"}\n"
    "}\n";

static const char *const fused_texts[] = { products, recurrent, windows, rows };

START_TEST(products_are_fused_as_in_the_c)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = module_of(ctx, fused_texts[_i]);

    bits_check_fused(module, NULL);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* One bit of one coefficient of the C, or one order of a sum, is another: the comparison above sees
 * it. */
static const struct {
    const char *text;
    const char *from, *to; /* in NAME.c */
} changes[] = {
    { functions, "0x1.fffffcp-2f", "0x1.fffffap-2f" },
    { rows, "(fours[0] + fours[2]) + (fours[1] + fours[3])",
      "(fours[0] + fours[1]) + (fours[2] + fours[3])" },
};

START_TEST(a_changed_coefficient_is_seen)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = module_of(ctx, changes[_i].text);

    ck_assert(bits_differ(module, changes[_i].from, changes[_i].to));
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("simulate");
    TCase *tests = tcase_create("simulate");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tests, operators_have_the_bits_of_the_simulation, 0,
                        (int)(sizeof texts / sizeof *texts));
    tcase_add_loop_test(tests, products_are_fused_as_in_the_c, 0,
                        (int)(sizeof fused_texts / sizeof *fused_texts));
    tcase_add_loop_test(tests, a_changed_coefficient_is_seen, 0,
                        (int)(sizeof changes / sizeof *changes));
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
