/* quantize_module to FP8 without data: the graphs it leaves, codes and scales against a search of
 * the test's own, any graph, and what targets and regions get. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minifloat.h"
#include "partition/partition.h"
#include "quantize/quantize.h"
#include "relay_ir/products.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/random_graph.h"
#include "tests/support/run_generated.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))
#define FORM                                                                                       \
    "strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, data_layout=\"NCHW\", "           \
    "kernel_layout=\"OIHW\""
#define CONV "{" FORM "}"
#define CONV8 "{" FORM ", out_dtype=f32}"
#define CAST "{dtype=f8e4m3, saturate=true}"
#define F32 "{dtype=f32, saturate=true}"
#define POOL                                                                                       \
    "{pool_size=[2,2], strides=[2,2], padding=[0,0,0,0], dilation=[1,1], ceil_mode=false, "        \
    "count_include_pad=false, p=0, storage_order=0, layout=\"NCHW\"}"

static void to_fp8(struct module *module, const char *precision)
{
    const struct pipeline_options pipeline = { .dump_after = NULL };
    struct quantize_options options = { .n_threads = 1 };
    struct quantize_report report;

    ck_assert(precision_parse(module->ctx, "test", precision, &options.precision));
    ck_assert_msg(quantize_module(module, &options, &pipeline, &report), "%s",
                  expect_text(module->ctx));
}

/* --- graphs before and after ------------------------------------------------------------------ */

/* 448: codes 0x7e and 0xfe are +-448, 0x38 is 1. 2/448 = 0.00446428591 as f32. */
static const struct {
    const char *before, *after, *precision;
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
      "  const @c.float_scale : (2,1,1) f32 = [0.004464286, 0.008928572]\n"
      "  %x.f8e4m3 = cast(%x) " CAST " : (1,1,2,2) f8e4m3  from Conv \"c\" #0\n"
      "  %c.conv2d = nn.conv2d(%x.f8e4m3, @w) " CONV8 " : (1,2,2,2) f32  from Conv \"c\" #0\n"
      "  %c = multiply(%c.conv2d, @c.float_scale) : (1,2,2,2) f32  from Conv \"c\" #0\n"
      "  %a = nn.bias_add(%c, @b) {axis=1} : (1,2,2,2) f32  from Conv \"c\" #0\n"
      "  %r = nn.relu(%a) : (1,2,2,2) f32  from Relu #1\n"
      "}\n",
      "fp8" },
    /* another format: 57344 is the greatest of E5M2, 0x7b */
    { "fn main(%x: (1,1,2,2) f32) -> (%c) {\n"
      "  const @w : (2,1,1,1) f32 = [1, 57344]\n"
      "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,2,2) f32) -> (%c) {\n"
      "  const @w : (2,1,1,1) f8e5m2 = [0x7b, ...]\n"
      "  const @c.float_scale : (2,1,1) f32 = [1.7438617e-05, 1]\n"
      "  %x.f8e5m2 = cast(%x) {dtype=f8e5m2, saturate=true} : (1,1,2,2) f8e5m2\n"
      "  %c.conv2d = nn.conv2d(%x.f8e5m2, @w) " CONV8 " : (1,2,2,2) f32\n"
      "  %c = multiply(%c.conv2d, @c.float_scale) : (1,2,2,2) f32\n"
      "}\n",
      "fp8=f8e5m2" },
    /* one cast and one copy of the weight for two readers */
    { "fn main(%x: (1,1,2,2) f32) -> (%c, %d, %s) {\n"
      "  const @w : (1,1,1,1) f32 = [448]\n"
      "  %s = sigmoid(%x) : (1,1,2,2) f32\n"
      "  %c = nn.conv2d(%s, @w) " CONV " : (1,1,2,2) f32\n"
      "  %d = nn.conv2d(%s, @w) " CONV " : (1,1,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,2,2) f32) -> (%c, %d, %s) {\n"
      "  const @w : (1,1,1,1) f8e4m3 = [0x7e]\n"
      "  %x.f8e4m3 = cast(%x) " CAST " : (1,1,2,2) f8e4m3\n"
      "  %x.f32 = cast(%x.f8e4m3) " F32 " : (1,1,2,2) f32\n"
      "  %s = sigmoid(%x.f32) : (1,1,2,2) f32\n"
      "  %s.f8e4m3 = cast(%s) " CAST " : (1,1,2,2) f8e4m3\n"
      "  %c = nn.conv2d(%s.f8e4m3, @w) " CONV8 " : (1,1,2,2) f32\n"
      "  %d = nn.conv2d(%s.f8e4m3, @w) " CONV8 " : (1,1,2,2) f32\n"
      "}\n",
      "fp8" },
    /* a weight that an operator reads as f32 too stays */
    { "fn main(%x: (1,1) f32) -> (%d, %s) {\n"
      "  const @w : (1,1) f32 = [448]\n"
      "  %d = nn.dense(%x, @w) : (1,1) f32\n"
      "  %s = add(%x, @w) : (1,1) f32\n"
      "}\n",
      "fn main(%x: (1,1) f32) -> (%d, %s) {\n"
      "  const @w_2 : (1,1) f32 = [448]\n"
      "  const @w : (1,1) f8e4m3 = [0x7e]\n"
      "  %x.f8e4m3 = cast(%x) " CAST " : (1,1) f8e4m3\n"
      "  %d = nn.dense(%x.f8e4m3, @w) {out_dtype=f32} : (1,1) f32\n"
      "  %x.f32_2 = cast(%x.f8e4m3) " F32 " : (1,1) f32\n"
      "  %s = add(%x.f32_2, @w_2) : (1,1) f32\n"
      "}\n",
      "fp8" },
    /* between two of them the cast stands behind the last element-wise node of the first; pools
     * work on codes, and channels of zeros have the scale 1 */
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
      "  %p.max_pool2d = nn.max_pool2d(%r.f8e4m3) " POOL " : (1,2,2,2) f8e4m3\n"
      "  %d = nn.conv2d(%p.max_pool2d, @v) " CONV8 " : (1,1,2,2) f32\n"
      "}\n",
      "fp8" },
    /* views, transpose, slice, concatenation and padding with zeros move codes */
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
      "  %x.f8e4m3 = cast(%x) " CAST " : (2,3) f8e4m3\n"
      "  %x.f32 = cast(%x.f8e4m3) " F32 " : (2,3) f32\n"
      "  %e = exp(%x.f32) : (2,3) f32\n"
      "  %e.f8e4m3 = cast(%e) " CAST " : (2,3) f8e4m3\n"
      "  %c.concatenate = concatenate(%e.f8e4m3, %y.f8e4m3) {axis=0} : (4,3) f8e4m3\n"
      "  %r.f8e4m3 = reshape(%c.concatenate) {shape=[3,4]} : (3,4) f8e4m3\n"
      "  %t.transpose = transpose(%r.f8e4m3) {axes=[1,0]} : (4,3) f8e4m3\n"
      "  %s.strided_slice = strided_slice(%t.transpose) {begin=[0,0], strides=[1,1], size=[2,3]} : "
      "(2,3) f8e4m3\n"
      "  %p.pad = nn.pad(%s.strided_slice) {pad_before=[1,0], pad_after=[0,0], mode=\"constant\", "
      "value=0} : (3,3) f8e4m3\n"
      "  %d = nn.dense(%p.pad, @w) {out_dtype=f32} : (3,1) f32\n"
      "}\n",
      "fp8" },
    /* padding with ones does not; a result of the model is f32 */
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
      "  %x.f8e4m3 = cast(%x) " CAST " : (2,3) f8e4m3\n"
      "  %t.transpose = transpose(%x.f8e4m3) {axes=[1,0]} : (3,2) f8e4m3\n"
      "  %t = cast(%t.transpose) " F32 " : (3,2) f32\n"
      "  %d = nn.dense(%t.transpose, @w) {out_dtype=f32} : (3,1) f32\n"
      "  %t.f32_2 = cast(%t.transpose) " F32 " : (3,2) f32\n"
      "  %p = nn.pad(%t.f32_2) {pad_before=[1,0], pad_after=[0,0], mode=\"constant\", value=1} : "
      "(4,2) f32\n"
      "  %p.f8e4m3 = cast(%p) " CAST " : (4,2) f8e4m3\n"
      "  %f = nn.dense(%p.f8e4m3, @w) {out_dtype=f32} : (4,1) f32\n"
      "}\n",
      "fp8" },
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
      "  const @w : (2,2) f8e4m3 = [0x7e, 0x6e, 0x76, 0xfe]\n"
      "  const @w_2 : (2,2) f8e4m3 = [0x7e, 0x76, 0x6e, 0xfe]\n"
      "  const @v : (2) f8e4m3 = [0x7e, 0x76]\n"
      "  const @a.float_scale : (2) f32 = [0.004464286, 0.008928572]\n"
      "  const @b.float_scale : (2) f32 = [0.004464286, 0.008928572]\n"
      "  const @d.float_scale : () f32 = [0.004464286]\n"
      "  %x.f8e4m3 = cast(%x) " CAST " : (2,2) f8e4m3\n"
      "  %a.matmul = nn.matmul(%x.f8e4m3, @w) {transpose_a=false, transpose_b=false, "
      "out_dtype=f32} : (2,2) f32\n"
      "  %a = multiply(%a.matmul, @a.float_scale) : (2,2) f32\n"
      "  %b.matmul = nn.matmul(%x.f8e4m3, @w_2) {transpose_a=false, transpose_b=true, "
      "out_dtype=f32} : (2,2) f32\n"
      "  %b = multiply(%b.matmul, @b.float_scale) : (2,2) f32\n"
      "  %c = nn.matmul(%x.f8e4m3, %x.f8e4m3) {transpose_a=false, transpose_b=false, "
      "out_dtype=f32} : (2,2) f32\n"
      "  %d.matmul = nn.matmul(%x.f8e4m3, @v) {transpose_a=false, transpose_b=false, "
      "out_dtype=f32} : (2) f32\n"
      "  %d = multiply(%d.matmul, @d.float_scale) : (2) f32\n"
      "}\n",
      "fp8" },
};

START_TEST(graph_becomes)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, graphs[_i].before, 1);
    struct module *wanted = graph_parse(ctx, graphs[_i].after, 1);

    to_fp8(module, graphs[_i].precision);
    ck_assert_str_eq(graph_text(module, true), graph_text(wanted, true));
    module_free(wanted);
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

    for (int i = 0; i < CHANNELS * SIZE; i++)
        copy[i] = w[i] *= sizes[i / SIZE];
    to_fp8(module, "fp8");
    node = module->main->last;
    ck_assert_int_eq(node->op, OP_MULTIPLY);
    scales = node->inputs[1]->data;
    for (int c = 0; c < CHANNELS; c++)
        check_channel(copy + c * SIZE,
                      (const uint8_t *)node->inputs[0]->def->inputs[1]->data + c * SIZE, scales[c],
                      SIZE);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Numbers so small that the scale would be subnormal: no division by zero, no infinity. */
START_TEST(tiny_weights_do_no_harm)
{
    static const char text[] = "fn main(%x: (1,2) f32) -> (%d) {\n"
                               "  const @w : (1,2) f32 = [1e-45, -1e-44]\n"
                               "  %d = nn.dense(%x, @w) : (1,1) f32\n"
                               "}\n";
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, text, 1);
    struct bulk bulk = { NULL, 0 };
    struct tensor *y;

    to_fp8(module, "fp8");
    y = graph_run(module, 1, &bulk);
    ck_assert_ptr_nonnull(y);
    ck_assert_double_le(fabs(tensor_at(&y[0], 0)), 1e-40);
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- any graph -------------------------------------------------------------------------------- */

static void check_invariants(const struct function *fn)
{
    for (const struct node *node = fn->first; node; node = node->next) {
        ck_assert_msg(node->op != OP_CAST || node->inputs[0]->kind != VALUE_CONSTANT,
                      "a constant is cast at run time");
        for (const struct node *other = node->next; other && node->op == OP_CAST;
             other = other->next)
            ck_assert_msg(other->op != OP_CAST || other->inputs[0] != node->inputs[0] ||
                              other->attrs.cast.dtype != node->attrs.cast.dtype ||
                              node->attrs.cast.dtype == DTYPE_F32,
                          "a value is cast twice");
    }
}

/* Whatever the graph: it becomes small, stays whole, and the C that is made of it compiles and
 * gives what the reference evaluator does. */
START_TEST(random_graph_becomes_small)
{
    static const struct generated_case row = { .tolerance = 0.13, .one_build = true };
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = random_graph(ctx, 60, (unsigned)_i);
    int n_products = 0, n_small = 0;

    to_fp8(module, "fp8");
    check_invariants(module->main);
    for (const struct node *node = module->main->first; node; node = node->next) {
        n_products += is_product(node->op);
        n_small += is_product(node->op) && dtype_minifloat(node->inputs[0]->type.dtype);
    }
    ck_assert_int_eq(n_small, n_products);
    if (_i < 4) {
        ck_assert(pipeline_run_one(module, "unshare_dequantize") &&
                  pipeline_run_one(module, "fuse_ops"));
        generated_check_module(module, &row, NULL);
    }
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- with regions ----------------------------------------------------------------------------- */

static const char npu_json[] =
    "{ \"name\": \"npu\", \"description\": \"for tests\", \"format\": \"extern\",\n"
    "  \"composites\": [ { \"name\": \"conv2d\", \"pattern\": \"conv2d(x, w:const) -> "
    "multiply(_, s:const)? -> bias_add(_, b:const)? -> relu? -> cast?\",\n"
    "    \"where\": [\"x.dtype == f8e4m3\", \"x.dim[1] <= 2\"] } ],\n"
    "  \"limits\": { \"max_nodes\": 4 } }\n";

/* The third convolution has too many channels for the target's pattern. */
static const char three_convs[] =
    "fn main(%x: (1,1,4,4) f32) -> (%e) {\n"
    "  const @w : (2,1,1,1) f32 = [2, -4]\n"
    "  const @v : (3,2,1,1) f32 = [1, 2, 3, -4, 5, -6]\n"
    "  const @u : (1,3,1,1) f32 = [1, 2, 3]\n"
    "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,4,4) f32  from Conv \"first\" #0\n"
    "  %r = nn.relu(%c) : (1,2,4,4) f32\n"
    "  %d = nn.conv2d(%r, @v) " CONV " : (1,3,4,4) f32  from Conv \"second\" #1\n"
    "  %e = nn.conv2d(%d, @u) " CONV " : (1,1,4,4) f32  from Conv \"third\" #2\n"
    "}\n";

static const struct node *call_of(const struct function *fn, int index)
{
    const struct node *node = fn->first;

    while (node && (node->op != OP_CALL || index-- > 0))
        node = node->next;
    return node;
}

/* A target's patterns match what quantize_module left; the rest stays FP8 on c. */
START_TEST(what_lies_between_regions_is_fp8)
{
    static const struct target host = { .name = "c", .rates = { .call_ns = 1000 } };
    const struct pipeline_options pipeline = { .part = PIPELINE_WHOLE };
    struct ctx *ctx = ctx_new(NULL);
    struct target *npu = target_parse(ctx, "target.json", npu_json, NULL, NULL);
    const struct target *list[] = { npu };
    const struct targets targets = { .first = (struct target *)(uintptr_t)&host };
    const struct partition_options options = { .targets = &targets,
                                               .n_offload = 1,
                                               .offload = list };
    struct module *module = graph_parse(ctx, three_convs, 1);
    struct partition *partition;
    struct bulk bulk = { NULL, 0 };
    struct tensor *before, *after;

    ck_assert_msg(npu != NULL, "%s", expect_text(ctx));
    to_fp8(module, "fp8");
    before = graph_run(module, 3, &bulk);
    partition = partition_new(module, &options);
    ck_assert_msg(partition_run(partition, &pipeline), "%s", expect_text(ctx));
    ck_assert_ptr_nonnull(call_of(module->main, 1));
    ck_assert_ptr_null(call_of(module->main, 2));
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(call_of(module->main, i)->inputs[0]->type.dtype, DTYPE_F8E4M3);
    /* no cast on the host */
    ck_assert_int_eq(call_of(module->main, 1)->inputs[0]->def->op, OP_CALL);
    ck_assert_int_eq(module->main->last->prev->inputs[0]->type.dtype, DTYPE_F8E4M3);
    after = graph_run(module, 3, &bulk);
    ck_assert(before && after);
    ck_assert_double_eq(graph_difference(after, before, 1), 0);
    bulk_release(&bulk);
    partition_free(partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quantize_fp8");
    TCase *tcase = tcase_create("quantize_fp8");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, graph_becomes, 0, N_ROWS(graphs));
    tcase_add_test(tcase, scales_and_codes_are_the_nearest);
    tcase_add_test(tcase, tiny_weights_do_no_harm);
    tcase_add_loop_test(tcase, random_graph_becomes_small, 0, 40);
    tcase_add_test(tcase, what_lies_between_regions_is_fp8);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
