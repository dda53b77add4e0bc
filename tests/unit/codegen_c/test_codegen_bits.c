/* Generated C of quantised values gives the bits of the simulation on every processor. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minifloat.h"
#include "base/str.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/bits.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

/* As IR text spells types and codes: f16, bf16 and integers by number, minifloats by code. */
static const struct format {
    const char *name;
    bool data;  /* the inputs of the products are of this format as well */
    int block;  /* so many weights share a scale; 0 = none do */
    bool reals; /* and that is no power of two, */
    bool zeros; /* and they have a zero point */
} formats[] = {
    { .name = "f32" },
    { .name = "f16" },
    { .name = "bf16" },
    { .name = "i8" },
    { .name = "i4" },
    { .name = "f8e4m3", .data = true },
    { .name = "f8e5m2", .data = true },
    { .name = "f8e4m3fnuz", .data = true },
    { .name = "f8e5m2fnuz", .data = true },
    { .name = "f8e3m4", .data = true },
    { .name = "hfp8_143", .data = true },
    { .name = "f8e2m5", .data = true },
    { .name = "u8e2m6", .data = true },
    { .name = "u8e3m5", .data = true },
    { .name = "u8e4m4", .data = true },
    { .name = "f6e3m2" },
    { .name = "f6e2m3" },
    { .name = "f4e2m1" },
    { .name = "afp<4,3,8>" },
    { .name = "afp<3,1,-2>" },
    { .name = "afp<6,1,125>" },
    { .name = "f4e2m1", .block = 32 },
    { .name = "f6e2m3", .block = 8 },
    { .name = "f8e4m3", .block = 32 },

    { .name = "i4", .block = 32, .reals = true },
    { .name = "i4", .block = 16, .reals = true, .zeros = true },
    { .name = "i8", .block = 32, .zeros = true },
    { .name = "f8e5m2", .block = 4, .reals = true },
};

/* n numbers; of a minifloat all its finite codes in turn. */
static void add_numbers(struct str *out, const char *format, int n)
{
    const enum dtype dtype = dtype_from_name(format);
    struct minifloat row;
    const struct minifloat *codec = minifloat_from_name(format, &row) ? &row : NULL;
    const int n_codes = codec ? 1 << minifloat_bits(codec) : dtype == DTYPE_I4 ? 16 : 256;

    for (int i = 0; i < n; i++) {
        const int code = (i * 37 + 11) % n_codes;

        str_add(out, i ? ", " : "[");
        if (codec && isfinite(minifloat_decode(codec, (unsigned)code)))
            str_printf(out, "0x%02x", (unsigned)code);
        else if (codec)
            str_add(out, "0x01");
        else if (dtype == DTYPE_I8 || dtype == DTYPE_I4)
            str_printf(out, "%d", code - n_codes / 2);
        else
            str_printf(out, "%g", code % 7 ? (code - 128) * 0.0078125 : code * 0x1p-24);
    }
    str_add(out, "]\n");
}

/* shape: "10,3,3,3", of n elements. */
static void add_weight(struct str *out, const char *name, const char *shape,
                       const struct format *format, int n)
{
    const int rows = atoi(shape), row = n / rows;
    const int blocks = format->block ? rows * ((row + format->block - 1) / format->block) : 0;

    str_printf(out, "  const @%s : (%s) %s", name, shape, format->name);
    if (format->block) {
        str_printf(out, " blocks(%d, scale=", format->block);
        for (int i = 0; i < blocks; i++)
            str_printf(out, "%s%g", i ? ", " : "[",
                       ldexp(format->reals ? 1 + i % 5 * 0.3 : 1, i % 9 - 4));
        for (int i = 0; i < blocks && format->zeros; i++)
            str_printf(out, "%s%d", i ? ", " : "], zero=[", i * 5 % 16 - 8);
        str_add(out, "])");
    }
    str_add(out, " = ");
    add_numbers(out, format->name, n);
}

/* A convolution: its input and weight, padding and groups, its result's shape. */
static void add_conv(struct str *out, const char *head, const char *padding, int groups,
                     const char *layout, const char *end, const char *shape)
{
    str_printf(out,
               "  %s {strides=[1,1], padding=[%s], dilation=[1,1], groups=%d, "
               "data_layout=\"%s\", kernel_layout=\"OIHW\"%s} : (%s) f32\n",
               head, padding, groups, layout, end, shape);
}

#define POOL                                                                                       \
    "{pool_size=[2,2], strides=[2,2], padding=[0,1,1,0], dilation=[1,1], ceil_mode=false, "        \
    "count_include_pad=true, p=0, storage_order=0, layout=\"NCHW\"}"

/* A convolution of odd sizes in groups, a pointwise, a depthwise and a transposed one, an average,
 * dense with one row and with several. Where the data are small, each product reads them so. */
static const char *network(struct arena *arena, const struct format *format)
{
    const char *f = format->name, *x = format->data ? f : "f32";
    const bool is_f32 = strcmp(f, "f32") == 0;
    const char *end = is_f32 ? "" : ", out_dtype=f32", *alone = is_f32 ? "" : " {out_dtype=f32}";
    struct str s = { .arena = arena };

    str_printf(&s,
               "fn main(%%x: (1,6,9,7) %s, %%p: (2,5,4,3) %s, %%l: (2,4,3,5) %s, %%d: (1,147) %s, "
               "%%r: (5,39) %s) "
               "-> (%%conv, %%point, %%depth, %%last, %%back, %%one, %%many, %%mat, %%pool) {\n",
               x, x, x, x, x);
    add_weight(&s, "wc", "10,3,3,3", format, 270);
    add_weight(&s, "wp", "7,5,1,1", format, 35);
    add_weight(&s, "wd", "5,1,3,3", format, 45);
    add_weight(&s, "wt", "5,3,2,3", format, 90);
    add_weight(&s, "w1", "139,147", format, 20433);
    add_weight(&s, "wn", "10,39", format, 390);
    add_weight(&s, "wm", "39,10", format, 390);
    add_weight(&s, "s", "10,1,1", &formats[0], 10);
    add_conv(&s, "%c = nn.conv2d(%x, @wc)", "1,1,1,1", 2, "NCHW", end, "1,10,9,7");
    str_add(&s, "  %conv = multiply(%c, @s) : (1,10,9,7) f32\n");
    add_conv(&s, "%point = nn.conv2d(%p, @wp)", "0,0,0,0", 1, "NCHW", end, "2,7,4,3");
    add_conv(&s, "%depth = nn.conv2d(%p, @wd)", "1,1,1,1", 5, "NCHW", end, "2,5,4,3");
    add_conv(&s, "%last = nn.conv2d(%l, @wd)", "1,1,1,1", 5, "NHWC", end, "2,4,3,5");
    str_printf(&s,
               "  %%back = nn.conv2d_transpose(%%p, @wt) {strides=[2,1], padding=[0,0,0,0], "
               "dilation=[1,1], output_padding=[0,0], groups=1, data_layout=\"NCHW\", "
               "kernel_layout=\"IOHW\"%s} : (2,3,8,5) f32\n",
               end);
    str_printf(&s, "  %%one = nn.dense(%%d, @w1)%s : (1,139) f32\n", alone);
    str_printf(&s, "  %%many = nn.dense(%%r, @wn)%s : (5,10) f32\n", alone);
    str_printf(
        &s, "  %%mat = nn.matmul(%%r, @wm) {transpose_a=false, transpose_b=false%s} : (5,10) f32\n",
        end);
    str_add(&s, "  %pool = nn.avg_pool2d(%conv) " POOL " : (1,10,5,4) f32\n}\n");
    return str_text(&s);
}

START_TEST(small_numbers_give_the_same_bits_everywhere)
{
    struct arena arena = { NULL };

    bits_check(network(&arena, &formats[_i]));
    arena_release(&arena);
}
END_TEST

/* Depthwise rows shorter than a vector, of plain floats, within limits: on processors whose vectors
 * are limited by masks, too. */
static const char *const limits =
    "fn main(%one: (1,7,5,1) f32, %three: (1,7,5,3) f32) -> (%a, %b, %c) {\n"
    "  const @w1 : (1,1,3,3) f32 = [0.5, ...]\n"
    "  const @w3 : (3,1,3,3) f32 = [-0.25, ...]\n"
    "  const @bias : (1) f32 = [0.75]\n"
    "  %d = nn.conv2d(%one, @w1) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=1, "
    "data_layout=\"NHWC\", kernel_layout=\"OIHW\"} : (1,7,5,1) f32\n"
    "  %e = nn.bias_add(%d, @bias) {axis=3} : (1,7,5,1) f32\n"
    "  %a = clip(%e) {a_min=0, a_max=1.5} : (1,7,5,1) f32\n"
    "  %f = nn.conv2d(%three, @w3) {strides=[2,2], padding=[1,1,1,1], dilation=[1,1], groups=3, "
    "data_layout=\"NHWC\", kernel_layout=\"OIHW\"} : (1,4,3,3) f32\n"
    "  %b = nn.relu(%f) : (1,4,3,3) f32\n"
    "  %g = nn.conv2d(%three, @w3) {strides=[1,1], padding=[1,1,1,1], dilation=[1,1], groups=3, "
    "data_layout=\"NHWC\", kernel_layout=\"OIHW\"} : (1,7,5,3) f32\n"
    "  %c = clip(%g) {a_min=-inf, a_max=0.125} : (1,7,5,3) f32\n"
    "}\n";

START_TEST(limits_of_few_channels_hold_everywhere)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, limits, 1);

    ck_assert_msg(pipeline_run_one(module, "fuse_ops"), "%s", expect_text(ctx));
    bits_check_module(module, NULL);
    bits_check_targets(module, NULL);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codegen_bits");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, limits_of_few_channels_hold_everywhere);
    tcase_add_loop_test(tests, small_numbers_give_the_same_bits_everywhere, 0, N_ROWS(formats));
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
