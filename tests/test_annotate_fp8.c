/* annotate_fp8: graphs before and after, scales and codes against a search of the test's own. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tests/support/expect.h"
#include "tests/support/fp8_case.h"
#include "tests/support/graph.h"

/* --- graphs before and after -------------------------------------------------------------------
 */

/* 448: codes 0x7e and 0xfe are +-448, 0x38 is 1. 2/448 = 0.00446428591 as f32. */
static const struct graph_case {
    const char *before, *after;
    const struct target *target;
    enum dtype format;
} graphs[] = {
    /* the cast in front, the scales behind, before the bias; names stay */
    { "fn main(%x: (1,1,2,2) f32) -> (%r) {\n"
      "  const @w : (2,1,1,1) f32 = [2, -4]\n"
      "  const @b : (2) f32 = [1, -1]\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,2,2) f32  from Conv \"c\" #0\n"
      "  %a = nn.bias_add(%c, @b) {axis=1} : (1,2,2,2) f32  from Conv \"c\" #0\n"
      "  %r = nn.relu(%a) : (1,2,2,2) f32  from Relu #1\n"
      "}\n",
      "fn main(%x: (1,1,2,2) f32) -> (%r) {\n"
      "  const @b : (2) f32 = [1, -1]\n"
      "  const @w : (2,1,1,1) f8e4m3 = [0x7e, 0xfe]\n"
      "  const @w.scale : (2,1,1) f32 = [0.00446428591, 0.00892857183]\n"
      "  %x.f8e4m3 = cast(%x) " CAST " : (1,1,2,2) f8e4m3  from Conv \"c\" #0\n"
      "  %c.conv2d = nn.conv2d(%x.f8e4m3, @w) " CONV8 " : (1,2,2,2) f32  from Conv \"c\" #0\n"
      "  %c = multiply(%c.conv2d, @w.scale) : (1,2,2,2) f32  from Conv \"c\" #0\n"
      "  %a = nn.bias_add(%c, @b) {axis=1} : (1,2,2,2) f32  from Conv \"c\" #0\n"
      "  %r = nn.relu(%a) : (1,2,2,2) f32  from Relu #1\n"
      "}\n",
      &fp8_all, DTYPE_F8E4M3 },
    /* no scales in the row: no factor behind, and 0.3 rounds to 0.3125 */
    { "fn main(%x: (1,1,2,2) f32) -> (%c) {\n"
      "  const @w : (2,1,1,1) f32 = [1, 0.3]\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,2,2) f32) -> (%c) {\n"
      "  const @w : (2,1,1,1) f8e4m3 = [0x38, 0x2a]\n"
      "  %x.f8e4m3 = cast(%x) " CAST " : (1,1,2,2) f8e4m3\n"
      "  %c = nn.conv2d(%x.f8e4m3, @w) " CONV8 " : (1,2,2,2) f32\n"
      "}\n",
      &fp8_conv_only, DTYPE_F8E4M3 },
    /* another format: 57344 is the greatest of E5M2, 0x7b */
    { "fn main(%x: (1,1,2,2) f32) -> (%c) {\n"
      "  const @w : (2,1,1,1) f32 = [1, 57344]\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,2,2) f32) -> (%c) {\n"
      "  const @w : (2,1,1,1) f8e5m2 = [0x3c, 0x7b]\n"
      "  %x.f8e5m2 = cast(%x) {dtype=f8e5m2, saturate=true} : (1,1,2,2) f8e5m2\n"
      "  %c = nn.conv2d(%x.f8e5m2, @w) " CONV8 " : (1,2,2,2) f32\n"
      "}\n",
      &fp8_conv_only, DTYPE_F8E5M2 },
    /* one cast and one copy of the weight for two readers; a reader of f32 keeps its own */
    { "fn main(%x: (1,1,2,2) f32) -> (%c, %d, %s) {\n"
      "  const @w : (1,1,1,1) f32 = [448]\n"
      "  %s = sigmoid(%x) : (1,1,2,2) f32\n"
      "  %c = nn.conv2d(%s, @w) " CONV " : (1,1,2,2) f32\n"
      "  %d = nn.conv2d(%s, @w) " CONV " : (1,1,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,2,2) f32) -> (%c, %d, %s) {\n"
      "  const @w : (1,1,1,1) f8e4m3 = [0x7e]\n"
      "  %s = sigmoid(%x) : (1,1,2,2) f32\n"
      "  %s.f8e4m3 = cast(%s) " CAST " : (1,1,2,2) f8e4m3\n"
      "  %c = nn.conv2d(%s.f8e4m3, @w) " CONV8 " : (1,1,2,2) f32\n"
      "  %d = nn.conv2d(%s.f8e4m3, @w) " CONV8 " : (1,1,2,2) f32\n"
      "}\n",
      &fp8_all, DTYPE_F8E4M3 },
    /* a weight that an operator reads as f32 too stays */
    { "fn main(%x: (1,1) f32) -> (%d, %s) {\n"
      "  const @w : (1,1) f32 = [448]\n"
      "  %d = nn.dense(%x, @w) : (1,1) f32\n"
      "  %s = add(%x, @w) : (1,1) f32\n"
      "}\n",
      "fn main(%x: (1,1) f32) -> (%d, %s) {\n"
      "  const @w : (1,1) f32 = [448]\n"
      "  const @w.f8e4m3 : (1,1) f8e4m3 = [0x7e]\n"
      "  %x.f8e4m3 = cast(%x) " CAST " : (1,1) f8e4m3\n"
      "  %d = nn.dense(%x.f8e4m3, @w.f8e4m3) {out_dtype=f32} : (1,1) f32\n"
      "  %s = add(%x, @w) : (1,1) f32\n"
      "}\n",
      &fp8_all, DTYPE_F8E4M3 },
    /* between two of them the cast stands behind the last element-wise node of the first; a row of
     * the target lets pooling work on codes, and channels of zeros have the scale 1 */
    { "fn main(%x: (1,1,4,4) f32) -> (%d) {\n"
      "  const @w : (2,1,1,1) f32 = [448, -0]\n"
      "  const @v : (1,2,1,1) f32 = [448, 1]\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,4,4) f32\n"
      "  %r = nn.relu(%c) : (1,2,4,4) f32\n"
      "  %p = nn.max_pool2d(%r) " POOL " : (1,2,2,2) f32\n"
      "  %d = nn.conv2d(%p, @v) " CONV " : (1,1,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,4,4) f32) -> (%d) {\n"
      "  const @w : (2,1,1,1) f8e4m3 = [0x7e, 0x80]\n"
      "  const @v : (1,2,1,1) f8e4m3 = [0x7e, 0x38]\n"
      "  %x.f8e4m3 = cast(%x) " CAST " : (1,1,4,4) f8e4m3\n"
      "  %c = nn.conv2d(%x.f8e4m3, @w) " CONV8 " : (1,2,4,4) f32\n"
      "  %r = nn.relu(%c) : (1,2,4,4) f32\n"
      "  %r.f8e4m3 = cast(%r) " CAST " : (1,2,4,4) f8e4m3\n"
      "  %p = nn.max_pool2d(%r.f8e4m3) " POOL " : (1,2,2,2) f8e4m3\n"
      "  %d = nn.conv2d(%p, @v) " CONV8 " : (1,1,2,2) f32\n"
      "}\n",
      &fp8_all, DTYPE_F8E4M3 },
    /* without the row it does not */
    { "fn main(%x: (1,1,4,4) f32) -> (%d) {\n"
      "  const @v : (1,1,1,1) f32 = [1]\n"
      "  %p = nn.max_pool2d(%x) " POOL " : (1,1,2,2) f32\n"
      "  %d = nn.conv2d(%p, @v) " CONV " : (1,1,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,4,4) f32) -> (%d) {\n"
      "  const @v : (1,1,1,1) f8e4m3 = [0x38]\n"
      "  %p = nn.max_pool2d(%x) " POOL " : (1,1,2,2) f32\n"
      "  %p.f8e4m3 = cast(%p) " CAST " : (1,1,2,2) f8e4m3\n"
      "  %d = nn.conv2d(%p.f8e4m3, @v) " CONV8 " : (1,1,2,2) f32\n"
      "}\n",
      &fp8_conv_only, DTYPE_F8E4M3 },
    /* past views, transpose, slice, concatenation, padding with zeros, one after the other */
    { "fn main(%x: (2,3) f32, %y: (2,3) f32) -> (%d) {\n"
      "  const @w : (1,3) f32 = [448, 1, 1]\n"
      "  %e = exp(%x) : (2,3) f32\n"
      "  %c = concatenate(%e, %y) {axis=0} : (4,3) f32\n"
      "  %r = reshape(%c) {shape=[3,4]} : (3,4) f32\n"
      "  %t = transpose(%r) {axes=[1,0]} : (4,3) f32\n"
      "  %s = strided_slice(%t) {begin=[0,0], strides=[1,1], size=[2,3]} : (2,3) f32\n"
      "  %p = nn.pad(%s) {pad_before=[1,0], pad_after=[0,0], mode=\"constant\", value=0} : (3,3) "
      "f32\n"
      "  %d = nn.dense(%p, @w) : (3,1) f32\n"
      "}\n",
      "fn main(%x: (2,3) f32, %y: (2,3) f32) -> (%d) {\n"
      "  const @w : (1,3) f8e4m3 = [0x7e, 0x38, 0x38]\n"
      "  %y.f8e4m3 = cast(%y) " CAST " : (2,3) f8e4m3\n"
      "  %e = exp(%x) : (2,3) f32\n"
      "  %e.f8e4m3 = cast(%e) " CAST " : (2,3) f8e4m3\n"
      "  %c = concatenate(%e.f8e4m3, %y.f8e4m3) {axis=0} : (4,3) f8e4m3\n"
      "  %r = reshape(%c) {shape=[3,4]} : (3,4) f8e4m3\n"
      "  %t = transpose(%r) {axes=[1,0]} : (4,3) f8e4m3\n"
      "  %s = strided_slice(%t) {begin=[0,0], strides=[1,1], size=[2,3]} : (2,3) f8e4m3\n"
      "  %p = nn.pad(%s) {pad_before=[1,0], pad_after=[0,0], mode=\"constant\", value=0} : (3,3) "
      "f8e4m3\n"
      "  %d = nn.dense(%p, @w) {out_dtype=f32} : (3,1) f32\n"
      "}\n",
      &fp8_all, DTYPE_F8E4M3 },
    /* not past what somebody else reads, nor past a padding of ones */
    { "fn main(%x: (2,3) f32) -> (%t, %d, %f) {\n"
      "  const @w : (1,2) f32 = [448, 1]\n"
      "  %t = transpose(%x) {axes=[1,0]} : (3,2) f32\n"
      "  %d = nn.dense(%t, @w) : (3,1) f32\n"
      "  %p = nn.pad(%t) {pad_before=[1,0], pad_after=[0,0], mode=\"constant\", value=1} : (4,2) "
      "f32\n"
      "  %f = nn.dense(%p, @w) : (4,1) f32\n"
      "}\n",
      "fn main(%x: (2,3) f32) -> (%t, %d, %f) {\n"
      "  const @w : (1,2) f8e4m3 = [0x7e, 0x38]\n"
      "  %t = transpose(%x) {axes=[1,0]} : (3,2) f32\n"
      "  %t.f8e4m3 = cast(%t) " CAST " : (3,2) f8e4m3\n"
      "  %d = nn.dense(%t.f8e4m3, @w) {out_dtype=f32} : (3,1) f32\n"
      "  %p = nn.pad(%t) {pad_before=[1,0], pad_after=[0,0], mode=\"constant\", value=1} : (4,2) "
      "f32\n"
      "  %p.f8e4m3 = cast(%p) " CAST " : (4,2) f8e4m3\n"
      "  %f = nn.dense(%p.f8e4m3, @w) {out_dtype=f32} : (4,1) f32\n"
      "}\n",
      &fp8_all, DTYPE_F8E4M3 },
    /* matmul: scales along the columns of the constant; two computed operands have none; a vector
     * has one for all */
    { "fn main(%x: (2,2) f32) -> (%a, %b, %c, %d) {\n"
      "  const @w : (2,2) f32 = [2, 1, 1, -4]\n"
      "  const @v : (2) f32 = [2, 1]\n"
      "  %a = nn.matmul(%x, @w) {transpose_a=false, transpose_b=false} : (2,2) f32\n"
      "  %b = nn.matmul(%x, @w) {transpose_a=false, transpose_b=true} : (2,2) f32\n"
      "  %c = nn.matmul(%x, %x) {transpose_a=false, transpose_b=false} : (2,2) f32\n"
      "  %d = nn.matmul(%x, @v) {transpose_a=false, transpose_b=false} : (2) f32\n"
      "}\n",
      "fn main(%x: (2,2) f32) -> (%a, %b, %c, %d) {\n"
      "  const @w.f8e4m3 : (2,2) f8e4m3 = [0x7e, 0x6e, 0x76, 0xfe]\n"
      "  const @w.scale : (2) f32 = [0.00446428591, 0.00892857183]\n"
      "  const @w : (2,2) f8e4m3 = [0x7e, 0x76, 0x6e, 0xfe]\n"
      "  const @w.scale_2 : (2) f32 = [0.00446428591, 0.00892857183]\n"
      "  const @v : (2) f8e4m3 = [0x7e, 0x76]\n"
      "  const @v.scale : () f32 = [0.00446428591]\n"
      "  %x.f8e4m3 = cast(%x) " CAST " : (2,2) f8e4m3\n"
      "  %a.matmul = nn.matmul(%x.f8e4m3, @w.f8e4m3) {transpose_a=false, transpose_b=false, "
      "out_dtype=f32} : (2,2) f32\n"
      "  %a = multiply(%a.matmul, @w.scale) : (2,2) f32\n"
      "  %b.matmul = nn.matmul(%x.f8e4m3, @w) {transpose_a=false, transpose_b=true, "
      "out_dtype=f32} : (2,2) f32\n"
      "  %b = multiply(%b.matmul, @w.scale_2) : (2,2) f32\n"
      "  %c = nn.matmul(%x.f8e4m3, %x.f8e4m3) {transpose_a=false, transpose_b=false, "
      "out_dtype=f32} : (2,2) f32\n"
      "  %d.matmul = nn.matmul(%x.f8e4m3, @v) {transpose_a=false, transpose_b=false, "
      "out_dtype=f32} : (2) f32\n"
      "  %d = multiply(%d.matmul, @v.scale) : (2) f32\n"
      "}\n",
      &fp8_all, DTYPE_F8E4M3 },
    /* a cast of the user's own that is the same is the one, wherever it stood */
    { "fn main(%x: (1,1) f32) -> (%d, %q) {\n"
      "  const @w : (1,1) f32 = [448]\n"
      "  %d = nn.dense(%x, @w) : (1,1) f32\n"
      "  %q = cast(%x) " CAST " : (1,1) f8e4m3\n"
      "}\n",
      "fn main(%x: (1,1) f32) -> (%d, %q) {\n"
      "  const @w : (1,1) f8e4m3 = [0x7e]\n"
      "  %q = cast(%x) " CAST " : (1,1) f8e4m3\n"
      "  %d = nn.dense(%q, @w) {out_dtype=f32} : (1,1) f32\n"
      "}\n",
      &fp8_all, DTYPE_F8E4M3 },
};

START_TEST(graph_becomes)
{
    const struct graph_case *row = &graphs[_i];
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, row->before, 1);
    struct fp8_run run;

    fp8_run_open(&run, module, row->format, row->target, NULL);
    fp8_expect_graph(module, row->after);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(nothing_happens_without_a_format)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, graphs[0].before, 1);
    struct fp8_run run;

    fp8_run_open(&run, module, DTYPE_NONE, &fp8_all, NULL);
    ck_assert_ptr_null(run.partition->fp8);
    fp8_expect_graph(module, graphs[0].before);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- scales and codes against a search -------------------------------------------------------- */

/* E4M3 by its definition; the codes 0x7f and 0xff are no numbers. */
static double own_e4m3(int code)
{
    const int exponent = code >> 3 & 15, mantissa = code & 7;
    const double magnitude = exponent ? ldexp(8 + mantissa, exponent - 10) : ldexp(mantissa, -9);

    return code & 128 ? -magnitude : magnitude;
}

/* The code nearest to a number of at most 448; of two the even one. */
static int own_nearest(double number)
{
    const int sign = signbit(number) ? 128 : 0;
    int best = 0;

    for (int code = 1; code < 0x7f; code++) {
        const double was = fabs(own_e4m3(best) - fabs(number));
        const double is = fabs(own_e4m3(code) - fabs(number));

        if (is < was || (is == was && code % 2 == 0))
            best = code;
    }
    return sign | best;
}

static void check_channel(const float *w, const uint8_t *codes, float scale, int n)
{
    float greatest = 0;

    for (int i = 0; i < n; i++)
        greatest = fmaxf(greatest, fabsf(w[i]));
    ck_assert(scale == (greatest == 0 ? 1 : (float)((double)greatest / 448)));
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(codes[i], own_nearest((double)w[i] / (double)scale));
}

START_TEST(scales_and_codes_are_the_nearest)
{
    enum { CHANNELS = 6, SIZE = 3 * 5 * 5 };
    static const float sizes[CHANNELS] = { 1, 0.001f, 3000, 1e-30f, 0, 7 };
    const char *text = "fn main(%x: (1,3,5,5) f32) -> (%c) {\n"
                       "  const @w : (6,3,5,5) f32 = crc32:00000000\n"
                       "  %c = nn.conv2d(%x, @w) " CONV " : (1,6,1,1) f32\n"
                       "}\n";
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, text, 5);
    float *w = (float *)(uintptr_t)module->main->constants->data, copy[CHANNELS * SIZE];
    const struct node *node;
    const float *scales;
    struct fp8_run run;

    for (int i = 0; i < CHANNELS * SIZE; i++)
        copy[i] = w[i] *= sizes[i / SIZE];
    fp8_run_open(&run, module, DTYPE_F8E4M3, &fp8_all, NULL);
    node = module->main->last;
    ck_assert_int_eq(node->op, OP_MULTIPLY);
    scales = node->inputs[1]->data;
    for (int c = 0; c < CHANNELS; c++)
        check_channel(copy + c * SIZE,
                      (const uint8_t *)node->inputs[0]->def->inputs[1]->data + c * SIZE, scales[c],
                      SIZE);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Numbers so small that the scale would be subnormal: no division by zero, no infinity. */
START_TEST(tiny_weights_do_no_harm)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, DENSE_OF("[1e-45, -1e-44]"), 1);
    struct bulk bulk = { NULL, 0 };
    struct tensor *y;
    struct fp8_run run;

    fp8_run_open(&run, module, DTYPE_F8E4M3, &fp8_all, NULL);
    y = graph_run(module, 1, &bulk);
    ck_assert_ptr_nonnull(y);
    ck_assert_double_eq(tensor_at(&y[0], 0), 0);
    bulk_release(&bulk);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("annotate_fp8");
    TCase *tcase = tcase_create("annotate_fp8");
    SRunner *runner;
    int n_failed;

    tcase_add_checked_fixture(tcase, fp8_set_up, NULL);
    tcase_add_loop_test(tcase, graph_becomes, 0, N_ROWS(graphs));
    tcase_add_test(tcase, nothing_happens_without_a_format);
    tcase_add_test(tcase, scales_and_codes_are_the_nearest);
    tcase_add_test(tcase, tiny_weights_do_no_harm);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
