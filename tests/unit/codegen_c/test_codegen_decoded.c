/* Convolutions and pools of quantised values as C for PCs has them, and codecs by vectors: the bits
 * of the simulation, on every machine that this one can run; and that the kernel meant takes
 * each. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minifloat.h"
#include "base/str.h"
#include "codegen_c/machine/machine.h"
#include "tests/support/bits.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static const char *const formats[] = { "f8e4m3",   "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e3m4",
                                       "hfp8_143", "f8e2m5", "u8e2m6",     "u8e3m5",     "u8e4m4" };

/* --- whole convolutions, with what stands behind them ----------------------------------------- */

/* Weights of each output channel begin at another code; all finite codes of a format. */
static void add_weight(struct str *out, const char *name, const char *shape, const char *format,
                       int n)
{
    struct minifloat row;

    str_printf(out, "  const @%s : (%s) %s = ", name, shape, format);
    ck_assert(minifloat_from_name(format, &row));
    for (int i = 0; i < n; i++) {
        const unsigned code = (unsigned)(i * 37 + i / 7 + 11) % 256;

        str_printf(out, "%s0x%02x", i ? ", " : "[",
                   isfinite(minifloat_decode(&row, code)) ? code : 1u);
    }
    str_add(out, "]\n");
}

static void add_scale(struct str *out, const char *name, int n)
{
    str_printf(out, "  const @%s : (%d) f32 = ", name, n);
    for (int i = 0; i < n; i++)
        str_printf(out, "%s%g", i ? ", " : "[", ldexp(i % 3 + 1, -9 - i % 5));
    str_add(out, "]\n");
}

/* %y = the codes of relu(scale * conv(%x, @w) + ...): `behind` is the last but the cast. */
static void add_conv(struct str *out, const char *y, const char *x, const char *w,
                     const char *attrs, const char *shape, const char *format, const char *residual)
{
    str_printf(out,
               "  %%%s_c = nn.conv2d(%%%s, @%s) {%s, data_layout=\"NHWC\", "
               "kernel_layout=\"OIHW\", out_dtype=f32} : (%s) f32\n"
               "  %%%s_s = multiply(%%%s_c, @%s_s) : (%s) f32\n",
               y, x, w, attrs, shape, y, y, w, shape);
    if (*residual)
        str_printf(out,
                   "  %%%s_n = cast(%%%s) {dtype=f32, saturate=true} : (%s) f32\n"
                   "  %%%s_r = add(%%%s_s, %%%s_n) : (%s) f32\n",
                   y, residual, shape, y, y, y, shape);
    else
        str_printf(out, "  %%%s_r = nn.relu(%%%s_s) : (%s) f32\n", y, y, shape);
    str_printf(out, "  %%%s = cast(%%%s_r) {dtype=%s, saturate=true} : (%s) %s\n", y, y, format,
               shape, format);
}

#define ONE "strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1"
#define TWO "strides=[2,2], padding=[0,0,0,0], dilation=[1,1], groups=1"
#define SAME "strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1"
#define HALF "strides=[2,2], padding=[1,0,0,1], dilation=[1,1], groups=1"
#define TALL "strides=[1,1], padding=[2,1,2,1], dilation=[2,1], groups=1"
#define WIDE "strides=[1,1], padding=[1,2,1,2], dilation=[1,2], groups=1"
#define DEPTH(n) "strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=" n
#define DEPTH_2(n) "strides=[2,2], padding=[1,1,1,1], dilation=[1,1], groups=" n

/* Bands of rows, points with a residual, points of many channels, which are gathered, strides,
 * dilations, depthwise ones in blocks of 16 and of 8 channels, and with a stride. */
static const char *network(struct arena *arena, const char *f)
{
    struct str s = { .arena = arena };

    str_printf(
        &s,
        "fn main(%%x: (1,11,13,16) %s, %%p: (1,8,9,200) %s) -> (%%a, %%c, %%d, %%e, %%g, %%h, "
        "%%i, %%j, %%k, %%l) {\n",
        f, f);
    add_weight(&s, "wa", "24,16,3,3", f, 24 * 144);
    add_weight(&s, "wb", "40,24,1,1", f, 960);
    add_weight(&s, "wc", "24,40,1,1", f, 960);
    add_weight(&s, "wd", "33,40,1,1", f, 1320);
    add_weight(&s, "we", "7,16,3,3", f, 1008);
    add_weight(&s, "wg", "260,200,1,1", f, 52000);
    add_weight(&s, "wh", "24,1,3,3", f, 216);
    add_weight(&s, "wi", "16,1,3,3", f, 144);
    for (const char *name = "abcdeghi"; *name; name++) {
        static const int n[] = { 24, 40, 24, 33, 7, 0, 260, 24, 16 };

        add_scale(&s, arena_printf(arena, "w%c_s", *name), n[*name - 'a']);
    }
    add_conv(&s, "a", "x", "wa", SAME, "1,11,13,24", f, "");
    add_conv(&s, "b", "a", "wb", ONE, "1,11,13,40", f, "");
    add_conv(&s, "c", "b", "wc", ONE, "1,11,13,24", f, "a");
    add_conv(&s, "d", "b", "wd", TWO, "1,6,7,33", f, "");
    add_conv(&s, "e", "x", "we", HALF, "1,5,6,7", f, "");
    add_conv(&s, "g", "p", "wg", ONE, "1,8,9,260", f, "");
    add_conv(&s, "h", "c", "wh", DEPTH("24"), "1,11,13,24", f, "a");
    add_conv(&s, "i", "x", "wi", DEPTH("16"), "1,11,13,16", f, "");
    add_conv(&s, "j", "x", "wi", DEPTH_2("16"), "1,6,7,16", f, "");
    add_conv(&s, "k", "x", "we", TALL, "1,11,13,7", f, "");
    add_conv(&s, "l", "x", "we", WIDE, "1,11,13,7", f, "");
    str_add(&s, "}\n");
    return str_text(&s);
}

START_TEST(convolutions_have_the_bits_of_the_simulation)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module =
        generated_module(ctx, &(struct generated_case){ .text = network(&ctx->perm, formats[_i]) });

    bits_check_targets(module, NULL);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- codecs ----------------------------------------------------------------------------------- */

enum { CODES = 256, SIDE = 80, NUMBERS = SIDE * SIDE };

/* Every code, times 1, encoded again; and numbers of f32. (Convolutions of one input.) The greatest
 * of codes. */
static const char *codec_network(struct arena *arena, const char *f)
{
    struct str s = { .arena = arena };

    str_printf(
        &s,
        "fn main(%%x: (1,16,16,1) %s, %%n: (1,%d,%d,1) f32, %%q: (1,8,8,40) %s) -> (%%a, %%b, "
        "%%c, %%d, %%m) {\n"
        "  %%m = nn.max_pool2d(%%q) {pool_size=[3,2], strides=[1,2], padding=[1,1,1,1], "
        "dilation=[2,1], ceil_mode=false, count_include_pad=false, p=0, storage_order=0, "
        "layout=\"NHWC\"} : (1,6,5,40) %s\n"
        "  const @w : (16,1,1,1) %s = [",
        f, SIDE, SIDE, f, f, f);
    for (int i = 0; i < 16; i++) {
        struct minifloat row;

        ck_assert(minifloat_from_name(f, &row));
        str_printf(&s, "%s0x%02x", i ? ", " : "",
                   minifloat_encode(&row, i % 2 ? -1.0f : 1.0f, true));
    }
    str_add(&s, "]\n");
    for (int i = 0; i < 4; i++) {
        const char *shape = i % 2 ? arena_printf(arena, "1,%d,%d,16", SIDE, SIDE) : "1,16,16,16";

        str_printf(&s,
                   "  %%k%d = nn.conv2d(%%%s, @w) {" ONE ", data_layout=\"NHWC\", "
                   "kernel_layout=\"OIHW\", out_dtype=f32} : (%s) f32\n"
                   "  %%%c = cast(%%k%d) {dtype=%s, saturate=%s} : (%s) %s\n",
                   i, i % 2 ? "n" : "x", shape, "abcd"[i], i, f, i < 2 ? "true" : "false", shape,
                   f);
    }
    str_add(&s, "}\n");
    return str_text(&s);
}

/* All exponents; numbers of the format, the middles between them and their neighbours. */
static void fill_in(float *numbers, const char *format)
{
    struct minifloat row;
    uint32_t seed = 7;

    ck_assert(minifloat_from_name(format, &row));
    for (int i = 0; i < NUMBERS; i++) {
        union {
            uint32_t bits;
            float number;
        } v;
        const float a = minifloat_decode(&row, (unsigned)i % CODES);
        const float b = minifloat_decode(&row, (unsigned)(i + 1) % CODES);

        seed = seed * 1664525 + 1013904223;
        v.bits = seed;
        if (i < 4 * CODES)
            v.number = (a + b) / 2;
        if (i >= CODES && i < 4 * CODES && isfinite(v.number))
            v.bits += (uint32_t)(i / CODES - 2);
        numbers[i] = v.number;
    }
}

START_TEST(codecs_have_the_bits_of_the_simulation)
{
    static float numbers[NUMBERS];
    static uint8_t codes[CODES], pixels[8 * 8 * 40];
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(
        ctx, &(struct generated_case){ .text = codec_network(&ctx->perm, formats[_i]) });
    struct tensor inputs[3];
    void *const data[3] = { codes, numbers, pixels };
    struct minifloat row;

    ck_assert(minifloat_from_name(formats[_i], &row));

    for (int i = 0; i < CODES; i++)
        codes[i] = (uint8_t)i;
    fill_in(numbers, formats[_i]);
    for (size_t i = 0; i < sizeof pixels; i++) { /* one of the codes of NaN, if there are any */
        pixels[i] = (uint8_t)(i * i / 3 + i / 256);
        if (isnan(minifloat_decode(&row, pixels[i])))
            pixels[i] = (uint8_t)minifloat_nan(&row);
    }
    for (int i = 0; i < 3; i++)
        inputs[i] = (struct tensor){ module->main->params[i]->type, data[i] };
    bits_check_targets(module, inputs);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- which kernel ----------------------------------------------------------------------------- */

#define LAST "data_layout=\"NHWC\", out_dtype=f32, "

static const struct kernel_case cases[] = {
    { "conv_decoded", "nn.conv1d", "groups=1, padding=[1,1], data_layout=\"NWC\", out_dtype=f32",
      "f8e4m3[1,9,3]; const f8e4m3[6,3,3]" },
    { "conv_decoded", "nn.conv2d", LAST "groups=1, padding=[1,1,1,1]",
      "f8e4m3[2,7,9,5]; const f8e4m3[20,5,3,3]" },
    { "conv_decoded", "nn.conv2d", LAST "groups=1, padding=[1,1,1,1]",
      "f32[1,7,9,5]; const f8e5m2[20,5,3,3]" },
    { "conv_decoded", "nn.conv2d", LAST "groups=1, padding=[1,1,1,1]",
      "f32[1,7,9,5]; const i8[20,5,3,3]" },
    { "conv_decoded", "nn.conv2d", LAST "groups=1", "f32[1,7,9,70]; const f16[20,70,1,1]" },
    { "conv_decoded", "nn.conv2d", LAST "groups=1", "f32[1,7,9,5]; const f4e2m1[20,5,1,1]" },
    { "conv_decoded", "nn.conv2d", LAST "groups=1, strides=[3,3], padding=[1,1,1,1]",
      "f8e3m4[2,7,9,70]; const f8e4m3[5,70,1,1]" },
    { "conv_decoded", "nn.conv2d",
      "groups=1, padding=[1,1,1,1], strides=[2,2], out_layout=\"NHWC\", out_dtype=f32",
      "f8e4m3[1,3,13,12]; const f8e4m3[8,3,3,3]" },
    { "conv_small", "nn.conv2d", LAST "groups=2", "f8e4m3[1,7,9,6]; const f8e4m3[20,3,1,1]" },
    { "conv_small", "nn.conv2d", "groups=1, out_dtype=f32",
      "f8e4m3[1,6,7,9]; const f8e4m3[20,6,3,3]" },
    { "conv_decoded", "nn.conv3d",
      "groups=1, padding=[1,1,0,0,1,1], data_layout=\"NDHWC\", out_dtype=f32",
      "f8e3m4[1,4,4,5,6]; const f8e4m3[4,6,2,3,3]" },
    { "max_pool_lanes", "nn.max_pool1d", "pool_size=[3], strides=[2], layout=\"NWC\"",
      "f8e4m3[2,9,21]" },
    { "max_pool_lanes", "nn.max_pool2d", "pool_size=[2,3], padding=[1,1,0,1], layout=\"NHWC\"",
      "f8e5m2[1,5,6,70]" },
    { "max_pool_lanes", "nn.max_pool2d", "pool_size=[2,3], padding=[1,1,0,1], layout=\"NHWC\"",
      "u8e2m6[1,5,6,32]" },
    { "max_pool_lanes", "nn.max_pool3d", "pool_size=[2,1,2], layout=\"NDHWC\"",
      "hfp8_143[1,3,5,6,32]" },
    { "conv_decoded", "nn.dense", "out_dtype=f32", "f8e4m3[5,39]; const f8e4m3[10,39]" },
    { "conv_decoded", "nn.matmul", "transpose_b=true, out_dtype=f32",
      "f32[2,3,7]; const f8e4m3[9,7]" },
};

/* Compilers warn of longer vectors that are passed by value, where they were not told of them. */
static const char *const targets[] = { "x86-64", "aarch64" };

START_TEST(the_kernel_takes_them)
{
    struct ctx *ctx = ctx_new("net.onnx");

    kernel_cases_check_as(cases, N_ROWS(cases), 1e-5, WINOGRAD_AUTO,
                          machine_find(ctx, targets[_i]));
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codegen_decoded");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, the_kernel_takes_them, 0, N_ROWS(targets));
    tcase_add_loop_test(tests, codecs_have_the_bits_of_the_simulation, 0, N_ROWS(formats));
    tcase_add_loop_test(tests, convolutions_have_the_bits_of_the_simulation, 0, N_ROWS(formats));
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
