/* Convolutions and matrix products of FP8 inputs (attribute out_dtype): the reference against
 * numbers and against a decoder of its own, the engine against the reference. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minifloat.h"
#include "relay_ir/passes/pipeline.h"
#include "relay_ir/text.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/op_case.h"

#define CONV(out_dtype)                                                                            \
    "{strides=[], padding=[], dilation=[], groups=1, data_layout=\"\", "                           \
    "kernel_layout=\"\"" out_dtype "}"
#define PADDED                                                                                     \
    "{strides=[], padding=[1,1], dilation=[], groups=1, data_layout=\"\", "                        \
    "kernel_layout=\"\", out_dtype=f32}"
#define POOL(padding, dilation)                                                                    \
    "{pool_size=[2], strides=[2], padding=" padding ", dilation=" dilation ", ceil_mode=false, "   \
    "count_include_pad=false, p=0, storage_order=0, layout=\"\"}"
#define F32 ", out_dtype=f32"

/* E4M3: 0x38 1, 0x40 2, 0x44 3, 0xb8 -1, 0x30 0.5, 0x7e 448, 0x01 2^-9, 0x7f NaN.
 * E5M2: 0x3c 1, 0x40 2, 0xc2 -3, 0x01 2^-16, 0x7c infinity.
 * E4M3FNUZ: 0x40 1, 0x48 2, 0x01 2^-10, 0x80 NaN. E5M2FNUZ: 0x40 1, 0x44 2, 0x01 2^-17. */
static const struct op_case rows[] = {
    { "nn.conv1d", CONV(F32), "f8e4m3[1,1,4] 0x38 0x40 0x44 0xb8; f8e4m3[1,1,2] 0x40 0x30",
      "f32[1,1,3] 3 5.5 5.5", NULL },
    { "nn.conv1d", PADDED, "f8e4m3[1,1,2] 0x38 0x40; f8e4m3[1,1,2] 0x40 0x30", "f32[1,1,3] 0.5 3 4",
      NULL },
    { "nn.conv2d", CONV(F32), "f8e4m3[1,2,1,1] 0x38 0x40; f8e5m2[1,2,1,1] 0x3c 0xc2",
      "f32[1,1,1,1] -5", NULL },
    { "nn.conv2d", CONV(F32), "f8e4m3fnuz[1,2,1,1] 0x40 0x48; f8e5m2fnuz[1,2,1,1] 0x44 0x40",
      "f32[1,1,1,1] 4", NULL },
    { "nn.conv3d", CONV(", out_dtype=f16"), "f8e4m3[1,1,1,1,1] 0x44; f8e4m3[1,1,1,1,1] 0x44",
      "f16[1,1,1,1,1] 9", NULL },
    { "nn.dense", "{out_dtype=f32}",
      "f8e4m3[1,3] 0x38 0x40 0x44; f8e4m3[2,3] 0x38 0x38 0x38 0xb8 0xb8 0xb8", "f32[1,2] 6 -6",
      NULL },
    { "nn.dense", "{out_dtype=bf16}", "f8e5m2[1,1] 0x40; f8e4m3[1,1] 0x44", "bf16[1,1] 6", NULL },
    { "nn.matmul", "{transpose_a=false, transpose_b=true, out_dtype=f32}",
      "f8e4m3[1,2] 0x38 0x40; f8e4m3[1,2] 0x44 0xb8", "f32[1,1] 1", NULL },
    { "nn.matmul", "{transpose_a=true, transpose_b=false, out_dtype=f32}",
      "f8e5m2[2] 0x3c 0x40; f8e4m3fnuz[2] 0x40 0x48", "f32[] 5", NULL },
    /* the smallest product survives between the greatest: 448 448 + 2^-18 - 448 448 */
    { "nn.dense", "{out_dtype=f32}", "f8e4m3[1,3] 0x7e 0x01 0x7e; f8e4m3[1,3] 0x7e 0x01 0xfe",
      "f32[1,1] 3.814697265625e-06", NULL },
    { "nn.dense", "{out_dtype=f32}", "f8e4m3fnuz[1,1] 0x01; f8e5m2fnuz[1,1] 0x01",
      "f32[1,1] 7.450580596923828e-09", NULL },
    { "nn.dense", "{out_dtype=f32}", "f8e4m3[1,1] 0x7f; f8e4m3[1,1] 0x38", "f32[1,1] nan", NULL },
    { "nn.dense", "{out_dtype=f32}", "f8e4m3fnuz[1,1] 0x80; f8e4m3[1,1] 0x38", "f32[1,1] nan",
      NULL },
    { "nn.dense", "{out_dtype=f32}", "f8e5m2[1,2] 0x7c 0x3c; f8e4m3[1,2] 0xb8 0x38",
      "f32[1,1] -inf", NULL },
    /* the greatest code, -3 before -448; NaN and infinity as they are; a window beside the data */
    { "nn.max_pool1d", POOL("[0,0]", "[1]"), "f8e4m3[1,1,4] 0xc4 0xfe 0x01 0x80",
      "f8e4m3[1,1,2] 0xc4 0x01", NULL },
    { "nn.max_pool1d", POOL("[0,0]", "[1]"), "f8e5m2[1,1,4] 0x7c 0x3c 0x3c 0x7f",
      "f8e5m2[1,1,2] 0x7c 0x7f", NULL },
    { "nn.max_pool1d", POOL("[2,2]", "[3]"), "f8e4m3[1,1,1] 0x38", "f8e4m3[1,1,1] 0xfe", NULL },
    { "nn.max_pool1d", POOL("[2,2]", "[3]"), "f8e5m2[1,1,1] 0x38", "f8e5m2[1,1,1] 0xfc", NULL },
    /* f32 with weights of less */
    { "nn.dense", "{out_dtype=f32}", "f32[1,2] 3 0.5; f16[1,2] 0.25 2", "f32[1,1] 1.75", NULL },
    { "nn.dense", "{out_dtype=f32}", "f32[1,2] 3 0.5; bf16[1,2] 0.25 2", "f32[1,1] 1.75", NULL },
    { "nn.dense", "{out_dtype=f32}", "f32[1,2] 3 0.5; i8[1,2] -128 2", "f32[1,1] -383", NULL },
    { "nn.dense", "{out_dtype=f32}", "f32[1,2] 3 0.5; i4[1,2] -8 7", "f32[1,1] -20.5", NULL },
    { "nn.dense", "{out_dtype=f32}", "f32[1,2] 3 0.5; f8e4m3[1,2] 0x7e 1",
      "f32[1,1] 1344.0009765625", NULL },
    { "nn.dense", "{out_dtype=f32}", "f32[1,2] 3 0.5; f8e3m4[1,2] 0xfe 1", "f32[1,1] -89.9921875",
      NULL },
    { "nn.dense", "{out_dtype=f32}", "f32[1,2] 3 0.5; hfp8_143[1,2] 0x7f 0x40", "f32[1,1] 90.0625",
      NULL },
    { "nn.dense", "{out_dtype=f32}", "f32[1,2] 3 0.5; f6e3m2[1,2] 0x1f 0x21", "f32[1,1] 83.96875",
      NULL },
    { "nn.dense", "{out_dtype=f32}", "f32[1,2] 3 0.5; f6e2m3[1,2] 0x1f 0x21", "f32[1,1] 22.4375",
      NULL },
    { "nn.dense", "{out_dtype=f32}", "f32[1,2] 3 0.5; f4e2m1[1,2] 0x07 0x09", "f32[1,1] 17.75",
      NULL },
    { "nn.matmul", "{transpose_a=false, transpose_b=false, out_dtype=f32}",
      "f32[1,2] 3 0.5; i4[2,2] -8 7 2 -2", "f32[1,2] -23 20", NULL },
    { "nn.conv1d", CONV(", out_dtype=f32"), "f32[1,1,2] 3 0.5; i4[2,1,1] -8 7",
      "f32[1,2,2] -24 -4 21 3.5", NULL },
    /* without FP8 the attribute may say what holds anyway */
    { "nn.dense", "{out_dtype=f32}", "f32[1,1] 2; f32[1,1] 3", "f32[1,1] 6", NULL },
    { "nn.conv1d", CONV(", out_dtype=f64"), "f64[1,1,1] 2; f64[1,1,1] 3", "f64[1,1,1] 6", NULL },
};

static const struct op_case errors[] = {
    { "nn.conv1d", CONV(""), "f8e4m3[1,1,1] 1; f8e4m3[1,1,1] 1", "",
      "nn.conv1d of FP8 inputs has no out_dtype, expected f32, f16 or bf16" },
    { "nn.dense", "{out_dtype=f8e4m3}", "f8e4m3[1,1] 1; f8e4m3[1,1] 1", "",
      "has the out_dtype f8e4m3, expected f32, f16 or bf16" },
    { "nn.dense", "{out_dtype=i32}", "f8e4m3[1,1] 1; f8e4m3[1,1] 1", "", "has the out_dtype i32" },
    { "nn.dense", "{out_dtype=f32}", "f8e4m3[1,1] 1; f32[1,1] 1", "",
      "input 1 of nn.dense is f32, expected FP8, as the other input is" },
    { "nn.matmul", "{transpose_a=false, transpose_b=false}", "f32[1,1] 1; f8e5m2[1,1] 1", "",
      "nn.matmul of f32 with weights of f8e5m2 has no out_dtype, expected f32" },
    { "nn.dense", "{out_dtype=f16}", "f32[1,1] 1; i8[1,1] 1", "",
      "inputs 0 and 1 of nn.dense are f32 and i8" },
    { "nn.dense", "{out_dtype=f16}", "f32[1,1] 1; f4e2m1[1,1] 1", "",
      "nn.dense of f32 with weights of f4e2m1 has the out_dtype f16, expected f32" },
    { "nn.dense", "{out_dtype=f64}", "f32[1,1] 1; f32[1,1] 1", "",
      "the inputs of nn.dense are f32 and its out_dtype is f64, expected f32 for both" },
    { "nn.avg_pool1d", POOL("[0,0]", "[1]"), "f8e4m3[1,1,2] 1", "", "expected a floating" },
    { "nn.conv1d", CONV(", out_dtype=i32"), "i8[1,1,1] 1; i8[1,1,1] 1", "", "expected a floating" },
};

START_TEST(product_of_fp8_is)
{
    op_case_check(&rows[_i]);
}
END_TEST

START_TEST(product_of_fp8_is_refused)
{
    op_case_check(&errors[_i]);
}
END_TEST

/* --- against another decoder ------------------------------------------------------------------ */

static const struct own_format {
    enum dtype dtype;
    int mantissa_bits, bias;
} formats[] = {
    { DTYPE_F8E4M3, 3, 7 },
    { DTYPE_F8E5M2, 2, 15 },
    { DTYPE_F8E4M3FNUZ, 3, 8 },
    { DTYPE_F8E5M2FNUZ, 2, 16 },
};

/* What the exponent and mantissa say; the codes below are chosen so that all are numbers. */
static double own_decode(const struct own_format *format, unsigned code)
{
    const int m = format->mantissa_bits, mantissa = (int)code & ((1 << m) - 1);
    const int exponent = (int)(code & 127) >> m;
    const double magnitude = exponent ? ldexp((1 << m) + mantissa, exponent - format->bias - m)
                                      : ldexp(mantissa, 1 - format->bias - m);

    return code & 128 ? -magnitude : magnitude;
}

static struct tensor random_codes(struct bulk *bulk, enum dtype dtype, int rank, const int64_t *dim,
                                  uint32_t *seed)
{
    const struct type type = type_make(dtype, rank, dim);
    struct tensor tensor = tensor_new(bulk, &type);
    uint8_t *codes = tensor.data;

    for (int64_t i = 0; i < type_elements(&type); i++) {
        *seed = *seed * 1664525 + 1013904223;
        codes[i] = (uint8_t)(*seed >> 24);
        if (codes[i] == 128 || (codes[i] & 127) >= 0x7b) /* specials of one format or another */
            codes[i] = 0x31;
    }
    return tensor;
}

/* A 2-D convolution with padding 1, written down once more. */
static double own_conv(const struct own_format *fx, const uint8_t *x, const struct own_format *fw,
                       const uint8_t *w, int oc, int oh, int ow)
{
    double sum = 0;

    for (int ic = 0; ic < 3; ic++)
        for (int kh = 0; kh < 3; kh++)
            for (int kw = 0; kw < 3; kw++) {
                const int ih = oh + kh - 1, iw = ow + kw - 1;

                if (ih >= 0 && ih < 5 && iw >= 0 && iw < 6)
                    sum += own_decode(fx, x[(ic * 5 + ih) * 6 + iw]) *
                           own_decode(fw, w[((oc * 3 + ic) * 3 + kh) * 3 + kw]);
            }
    return sum;
}

START_TEST(reference_agrees_with_a_decoder_of_the_test)
{
    const struct own_format *fx = &formats[_i / 4], *fw = &formats[_i % 4];
    struct ctx *ctx = ctx_new(NULL);
    struct bulk bulk = { NULL, 0 };
    uint32_t seed = (uint32_t)_i;
    const struct tensor in[2] = {
        random_codes(&bulk, fx->dtype, 4, (int64_t[]){ 1, 3, 5, 6 }, &seed),
        random_codes(&bulk, fw->dtype, 4, (int64_t[]){ 4, 3, 3, 3 }, &seed),
    };
    const struct tensor y = op_apply(ctx, &bulk, "nn.conv2d",
                                     "{strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1, "
                                     "data_layout=\"\", kernel_layout=\"\", out_dtype=f32}",
                                     2, in);

    ck_assert_int_eq(type_elements(&y.type), 4 * 5 * 6);
    for (int i = 0; i < 4 * 5 * 6; i++) {
        const double want = own_conv(fx, in[0].data, fw, in[1].data, i / 30, i / 6 % 5, i % 6);

        /* the same terms in the same order, so even E5M2 must agree to the bit */
        ck_assert_msg(((const float *)y.data)[i] == (float)want, "%s x %s: y[%d] is %a, wanted %a",
                      dtype_name(fx->dtype), dtype_name(fw->dtype), i,
                      (double)((const float *)y.data)[i], want);
    }
    bulk_release(&bulk);
    ctx_free(ctx);
}
END_TEST

/* --- text ------------------------------------------------------------------------------------- */

START_TEST(absent_element_types_are_not_written)
{
    const char *text = "module opset 0\n\n"
                       "fn main(%x: (1,2) f32, %q: (1,2) f8e4m3) -> (%a, %b, %c) {\n"
                       "  const @w : (1,2) f32 = [1, 2]\n"
                       "  const @v : (1,2) f8e5m2 = [0x01, 0x02]\n"
                       "  %a = nn.dense(%x, @w) : (1,1) f32\n"
                       "  %b = nn.dense(%q, @v) {out_dtype=f32} : (1,1) f32\n"
                       "  %c = nn.matmul(%q, %q) {transpose_a=false, transpose_b=true, "
                       "out_dtype=bf16} : (1,1) bf16\n"
                       "}\n";
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, text, 1);

    ck_assert_str_eq(graph_text(module, true), text);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

static const struct {
    const char *attrs, *error;
} malformed[] = {
    { "{out_dtype=f33}", "attribute 'out_dtype' of dense is malformed" },
    { "{out_dtype=}", "attribute 'out_dtype' of dense is malformed" },
    { "{out_dtype=f32", "expected '}'" },
    { "{out_dtype=f32, out_dtype=f32}", "expected '}'" },
    { "{}", "expected" },
    { "{in_dtype=f32}", "expected" },
};

START_TEST(malformed_attributes_are_refused)
{
    struct ctx *ctx = ctx_new(NULL);
    const char *text = arena_printf(&ctx->perm,
                                    "fn main(%%x: (1,2) f32) -> (%%y) {\n"
                                    "  %%y = nn.dense(%%x, %%x) %s : (1,1) f32\n}\n",
                                    malformed[_i].attrs);

    ck_assert_ptr_null(module_parse(ctx, text, NULL, true));
    ck_assert_msg(expect_error(ctx, DIAG_IR_TEXT, malformed[_i].error), "%s", expect_text(ctx));
    ctx_free(ctx);
}
END_TEST

/* --- the engine ------------------------------------------------------------------------------- */

#define FORM                                                                                       \
    "{strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1, data_layout=\"NCHW\", "          \
    "kernel_layout=\"OIHW\", out_dtype=f32}"
#define CAST "{dtype=f8e4m3, saturate=true}"

static const struct engine_case {
    const char *text;
    int n_onednn, n_reference, n_steps; /* the engine's own loops count as oneDNN; steps that are no
                                           reorders, decoding included */
    bool fuse;
} engine_cases[] = {
    /* a constant weight is decoded while planning, the data at each run */
    { "fn main(%x: (1,3,8,8) f32) -> (%y) {\n"
      "  const @w : (5,3,3,3) f8e4m3 = crc32:00000000\n"
      "  %q = cast(%x) " CAST " : (1,3,8,8) f8e4m3\n"
      "  %y = nn.conv2d(%q, @w) " FORM " : (1,5,8,8) f32\n"
      "}\n",
      3, 0, 3, false },
    /* two readers, one decoding */
    { "fn main(%x: (1,3,8,8) f32) -> (%y, %z) {\n"
      "  const @w : (5,3,3,3) f8e4m3 = crc32:00000000\n"
      "  const @v : (2,3,3,3) f8e5m2 = crc32:00000000\n"
      "  %q = cast(%x) " CAST " : (1,3,8,8) f8e4m3\n"
      "  %y = nn.conv2d(%q, @w) " FORM " : (1,5,8,8) f32\n"
      "  %z = nn.conv2d(%q, @v) " FORM " : (1,2,8,8) f32\n"
      "}\n",
      4, 0, 4, false },
    /* the user's own FP8, read and returned as it is as well */
    { "fn main(%q: (4,6) f8e5m2) -> (%y, %q) {\n"
      "  const @w : (3,6) f8e4m3fnuz = crc32:00000000\n"
      "  %y = nn.dense(%q, @w) {out_dtype=f32} : (4,3) f32\n"
      "}\n",
      2, 0, 2, false },
    /* bias and relu are fused to it */
    { "fn main(%x: (1,3,8,8) f32) -> (%r) {\n"
      "  const @w : (5,3,3,3) f8e4m3 = crc32:00000000\n"
      "  const @b : (5) f32 = [1, 2, -3, 4, 5]\n"
      "  %q = cast(%x) " CAST " : (1,3,8,8) f8e4m3\n"
      "  %y = nn.conv2d(%q, @w) " FORM " : (1,5,8,8) f32\n"
      "  %c = nn.bias_add(%y, @b) {axis=1} : (1,5,8,8) f32\n"
      "  %r = nn.relu(%c) : (1,5,8,8) f32\n"
      "}\n",
      5, 0, 3, true },
    /* both computed at run time */
    { "fn main(%x: (2,4,6) f32, %v: (2,6,3) f32) -> (%y) {\n"
      "  %q = cast(%x) " CAST " : (2,4,6) f8e4m3\n"
      "  %p = cast(%v) {dtype=f8e5m2, saturate=true} : (2,6,3) f8e5m2\n"
      "  %y = nn.matmul(%q, %p) {transpose_a=false, transpose_b=false, out_dtype=f32} : (2,4,3) "
      "f32\n"
      "}\n",
      5, 0, 5, false },
    /* one value on both sides */
    { "fn main(%x: (4,6) f32) -> (%y) {\n"
      "  %q = cast(%x) " CAST " : (4,6) f8e4m3\n"
      "  %y = nn.matmul(%q, %q) {transpose_a=false, transpose_b=true, out_dtype=f32} : (4,4) f32\n"
      "}\n",
      3, 0, 3, false },
    /* f16 is left to the reference, and FP8 with what oneDNN has no form for */
    { "fn main(%x: (2,4) f32) -> (%y) {\n"
      "  %q = cast(%x) " CAST " : (2,4) f8e4m3\n"
      "  %y = nn.dense(%q, %q) {out_dtype=f16} : (2,2) f16\n"
      "}\n",
      1, 1, 2, false },
    { "fn main(%x: (2,3,4) f32) -> (%y) {\n"
      "  const @w : (2,4) f8e4m3 = [0x38, 0x30, 0xb8, 0x40, 0x01, 0x02, 0x03, 0x04]\n"
      "  %q = cast(%x) " CAST " : (2,3,4) f8e4m3\n"
      "  %y = nn.dense(%q, @w) {out_dtype=f32} : (2,3,2) f32\n"
      "}\n",
      1, 1, 2, false },
};

START_TEST(engine_agrees_with_the_reference)
{
    const struct engine_case *c = &engine_cases[_i];
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, c->text, 7);
    struct bulk bulk = { NULL, 0 };
    unsigned seed = 3;
    struct tensor *inputs = random_inputs(&ctx->perm, &bulk, module->main, -2, 2, &seed);
    struct engine *engine;
    int n_onednn, n_reference, n_steps, n_reorders;

    if (c->fuse)
        ck_assert(pipeline_run_one(module, "fuse_ops"));
    engine = engine_new(ctx, module->main);
    ck_assert_ptr_nonnull(engine);
    ck_assert_double_le(engine_difference(ctx, module->main, engine, inputs, 2), 1e-6);
    engine_count(engine, &n_onednn, &n_reference);
    engine_steps(engine, &n_steps, &n_reorders);
    ck_assert_msg(n_onednn == c->n_onednn && n_reference == c->n_reference && n_steps == c->n_steps,
                  "%d, %d, %d, wanted %d, %d, %d", n_onednn, n_reference, n_steps, c->n_onednn,
                  c->n_reference, c->n_steps);
    engine_free(engine);
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

static void add_tests(TCase *tcase)
{
    tcase_add_loop_test(tcase, product_of_fp8_is, 0, N_ROWS(rows));
    tcase_add_loop_test(tcase, product_of_fp8_is_refused, 0, N_ROWS(errors));
    tcase_add_loop_test(tcase, reference_agrees_with_a_decoder_of_the_test, 0, 16);
    tcase_add_test(tcase, absent_element_types_are_not_written);
    tcase_add_loop_test(tcase, malformed_attributes_are_refused, 0, N_ROWS(malformed));
    tcase_add_loop_test(tcase, engine_agrees_with_the_reference, 0, N_ROWS(engine_cases));
}

int main(void)
{
    Suite *suite = suite_create("ops_fp8");
    TCase *tcase = tcase_create("products of FP8");
    SRunner *runner;
    int n_failed;

    add_tests(tcase);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
