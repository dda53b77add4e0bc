/* Kernels of products, sums and tables of narrow floats against the reference: bit for bit, with
 * gcc and clang. The numbers are codes. */
#include <check.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/codes.h"
#include "tests/support/expect.h"
#include "tests/support/kernel_case.h"
#include "tests/support/op_case.h"
#include "tests/support/run_generated.h"

#define ZERO "const f8e4m3[] 0"
#define GREATEST "126" /* the code of 448 */

static const struct kernel_case products[] = {
    { "exact_conv", "qnn.conv2d", "groups=1",
      "f8e4m3[1,2,5,6]; const f8e4m3[3,2,3,2]; " ZERO "; " ZERO },
    { "exact_conv", "qnn.conv2d", "groups=1, padding=[1,0,2,1], strides=[2,1]",
      "f8e4m3[1,2,5,6] 126 254 127 1 0 128; const f8e4m3[3,2,3,2] 126 254 3 129; " ZERO "; " ZERO },
    { "exact_conv", "qnn.conv2d", "groups=2, padding=[1,1,1,1], dilation=[1,2]",
      "f8e4m3[2,4,5,6]; const f8e4m3[6,2,2,2]; " ZERO "; const f8e4m3[6] 0" },
    { "exact_conv", "qnn.conv2d", "groups=4", "f8e4m3[1,4,4,4]; f8e4m3[4,1,3,3]; " ZERO "; " ZERO },
    { "exact_conv", "qnn.conv1d", "groups=1, padding=[1,1]",
      "f8e3m4[3,2,9] 126 254 16; f8e4m3[4,2,3] 126; const f8e3m4[] 0; " ZERO },
    { "exact_conv", "qnn.conv3d", "groups=2, padding=[1,0,1,0,1,1], strides=[1,2,1]",
      "f8e4m3fnuz[1,2,3,4,4]; const f8e3m4[4,1,2,2,3]; const f8e4m3fnuz[] 0; const f8e3m4[] "
      "0" },
    { "exact_conv", "qnn.conv2d", "groups=1",
      "f8e4m3[1,400,1,1] " GREATEST "; const f8e4m3[5,400,1,1] " GREATEST " 254 254 126; " ZERO
      "; " ZERO },
    { "exact_matmul", "qnn.dense", "", "f8e4m3[1,7]; const f8e4m3[5,7]; " ZERO "; " ZERO },
    { "exact_matmul", "qnn.dense", "",
      "f8e4m3[1,3000] " GREATEST "; const f8e4m3[2,3000] " GREATEST "; " ZERO "; " ZERO },
    { "exact_matmul", "qnn.dense", "",
      "f8e4m3[2,3,7] 126 200 1 127 255 3 66; const f8e4m3[5,7] 1 254 77 128 2; " ZERO "; " ZERO },
    { "exact_matmul", "qnn.dense", "",
      "f8e4m3[2,150] 126 200 1 127 255 3; const f8e4m3[70,150] 1 254 77 128 2; " ZERO "; " ZERO },
    { "exact_matmul", "qnn.matmul", "", "f8e4m3[4,3]; f8e4m3[3,5]; " ZERO "; " ZERO },
    { "exact_matmul", "qnn.matmul", "transpose_a=true",
      "f8e4m3[2,3,4]; f8e4m3[3,5]; " ZERO "; " ZERO },
    { "exact_matmul", "qnn.matmul", "transpose_b=true",
      "f8e4m3[4,3]; f8e4m3[2,2,5,3]; " ZERO "; " ZERO },
    { "nothing", "qnn.matmul", "", "f8e4m3[0,3]; f8e4m3[3,2]; " ZERO "; " ZERO },
    { "exact_matmul", "qnn.dense", "", "f8e4m3[3,0]; f8e4m3[2,0]; " ZERO "; " ZERO },
};

#define ALL_CODES                                                                                  \
    "127 1 255 0 128 200 3 254 126 129 64 190 5 133 77 99 120 248 124 252 125 253 123 251 122 "    \
    "250 "                                                                                         \
    "17 145 40 168"

static const struct kernel_case elements[] = {
    { "elementwise", "qnn.lut", "axis=0",
      "f8e4m3[4] 0 255 128 7; const f8e4m3[256] 5 250 3 255; const f32[] 1; " ZERO },
    { "elementwise", "qnn.lut", "axis=1",
      "f8e4m3[2,2,3] 0 255 128 7; const i8[2,256] 5 -128 3 127; const f32[] 1; const i8[] 0" },
    { "elementwise", "qnn.requantize", "axis=0",
      "i64[8] 9223372036854775807 -9223372036854775808 1000 -999 3 0 262144 17; const f32[] 0.03; "
      "" ZERO "; const f32[] 0.5; " ZERO },
    { "elementwise", "qnn.requantize", "axis=1, rounding=\"single\"",
      "i64[2,3,2] 9223372036854775807 -123456789 77 8; const f32[3] 0.5 1.1e-7 1e-15; " ZERO
      "; const f32[] 0.5; " ZERO },
    { "elementwise", "qnn.requantize", "axis=0",
      "i64[6] 100 -9000 77 8 0 -1; const f32[] 1e20; " ZERO "; const f32[] 1e-18; "
      "const f8e4m3fnuz[] 0" },
    { "elementwise", "qnn.requantize", "axis=0",
      "i64[6] 100 -9000 77 8 0 -1; const f32[] 0.01; " ZERO "; const f32[] 1; const f4e2m1[] 0" },
    { "elementwise", "qnn.requantize", "axis=1",
      "i64[2,3,2] 9223372036854775807 -123456789 77 8 5 -5; const f32[3] 0.5 1.1e-7 1e5; " ZERO
      "; const f32[] 2; const i64[] 0" },
    { "elementwise", "qnn.lut", "axis=0",
      "f8e4m3[4] 0 255 128 7; const i32[256] 5 -2147483648 3 2147483647; const f32[] 1; const "
      "i32[] "
      "0" },
    { "elementwise", "qnn.add", "",
      "f8e4m3[2,5] 126 254 127 1 129 0 128 56 184 90; f8e4m3[5] 126 254 3 129 57; const f32[] "
      "0.1; " ZERO "; const f32[] 0.2; " ZERO "; const f32[] 0.05; " ZERO },
    { "elementwise", "qnn.add", "",
      "f8e3m4[2,5] 126 254 127 1 129; const f8e3m4[] 126; const f32[] 0.1; const f8e3m4[] "
      "0; "
      "const f32[] 20; const f8e3m4[] 0; const f32[] 7; const f8e3m4[] 0" },
    { "elementwise", "qnn.add", "",
      "f8e4m3[2,70]; f8e3m4[2,70]; const f32[] 0.1; const f8e4m3[] 0; const f32[] 0.7; const "
      "f8e3m4[] 0; const f32[] 0.3; const f8e4m3fnuz[] 0" },
    { "elementwise", "qnn.subtract", "",
      "f8e3m4[2,70]; f8e4m3[70]; const f32[] 0.1; const f8e3m4[] 0; const f32[] 0.7; const "
      "f8e4m3[] 0; const f32[] 0.3; const f8e3m4[] 0" },
    { "elementwise", "qnn.mul", "",
      "f8e4m3[2,70]; hfp8_143[2,70]; const f32[] 0.1; const f8e4m3[] 0; const f32[] 0.7; const "
      "hfp8_143[] 0; const f32[] 0.3; const f8e3m4[] 0" },
    { "elementwise", "qnn.div", "",
      "f8e4m3[2,70]; f8e3m4[2,70]; const f32[] 0.1; const f8e4m3[] 0; const f32[] 0.7; const "
      "f8e3m4[] 0; const f32[] 0.3; const f8e4m3[] 0" },
    { "elementwise", "qnn.mul", "",
      "f8e4m3fnuz[2,5] 127 255 127 1 129 0 128 56 184 90; f8e4m3fnuz[5] 127 255 3 129 57; const "
      "f32[] "
      "0.1; const f8e4m3fnuz[] 0; const f32[] 0.2; const f8e4m3fnuz[] 0; const f32[] 0.05; const "
      "f8e4m3fnuz[] 0" },
    { "elementwise", "qnn.subtract", "",
      "f8e4m3[5,30]; f8e4m3[30] " ALL_CODES "; const f32[] 0.1; " ZERO "; const f32[] 0.2; " ZERO
      "; const f32[] 0.05; " ZERO },
    { "elementwise", "where", "", "bool[2,1] 1 0; f8e4m3[2,30] " ALL_CODES "; f8e4m3[30] 1 2 3" },
    { "elementwise", "qnn.div", "",
      "f8e4m3[30] " ALL_CODES "; f8e4m3[5,30]; const f32[] 0.1; " ZERO "; const f32[] 0.2; " ZERO
      "; const f32[] 0.05; " ZERO },
    { "elementwise", "qnn.div", "",
      "f8e4m3[5,1] 0 1 254 126 56; f8e4m3[30] " ALL_CODES "; const f32[] 1; " ZERO
      "; const f32[] 1; " ZERO "; const f32[] 1; " ZERO },
    { "elementwise", "qnn.div", "",
      "f8e3m4[2,5]; f8e3m4[5] 127 255 3 129 0; const f32[] 0.1; const f8e3m4[] 0; const f32[] 0.2; "
      "const f8e3m4[] 0; const f32[] 0.001; const f8e3m4[] 0" },
};
static const struct kernel_case pools[] = {
    { "max_pool_codes", "nn.max_pool2d", "pool_size=[2,2], strides=[2,2]",
      "f8e4m3[1,2,3,5] " ALL_CODES },
    { "max_pool_codes", "nn.max_pool2d", "pool_size=[2,3], padding=[1,1,0,1], strides=[1,1]",
      "f8e4m3fnuz[1,2,3,5] " ALL_CODES },
    { "max_pool_codes", "nn.max_pool2d", "pool_size=[2,3], padding=[1,1,0,1], strides=[1,1]",
      "u8e3m5[1,2,3,7] " ALL_CODES },
    { "max_pool_codes", "nn.max_pool1d", "pool_size=[2], strides=[1], padding=[1,1]",
      "f8e5m2[1,2,15] 127 1 255 0 128 200 3 64 190 124 252 7 133 77 99" },
    { "max_pool_codes", "nn.max_pool3d", "pool_size=[2,1,2], dilation=[1,1,2]",
      "f8e3m4[1,1,2,3,5] " ALL_CODES },
};

#define FROM "; const f32[] 0.05; " ZERO "; const f32[] 0.03; " ZERO
#define OVER                                                                                       \
    "pool_size=[3,2], strides=[2,1], padding=[1,1,1,1], dilation=[1,1], ceil_mode=true, "          \
    "count_include_pad="

static const struct kernel_case averages[] = {
    { "qnn_avg_pool", "qnn.avg_pool2d", "pool_size=[2,2], strides=[2,2]", "f8e4m3[2,3,6,5]" FROM },
    { "qnn_avg_pool", "qnn.avg_pool2d", OVER "false", "f8e4m3[1,2,6,5] " ALL_CODES FROM },
    { "qnn_avg_pool", "qnn.avg_pool2d", OVER "true", "f8e4m3[2,3,6,5]" FROM },
    { "qnn_avg_pool", "qnn.avg_pool2d", OVER "false, layout=\"NHWC\"", "f8e4m3[2,6,5,3]" FROM },
    { "qnn_avg_pool", "qnn.avg_pool1d", "pool_size=[3], strides=[1], padding=[2,2], dilation=[2]",
      "f8e3m4[2,3,1]; const f32[] 0.5; const f8e3m4[] 0; const f32[] 0.25; " ZERO },
    { "qnn_avg_pool", "qnn.avg_pool3d",
      "pool_size=[2,2,2], padding=[1,0,1,0,1,1], dilation=[1,1,2], ceil_mode=true",
      "f8e4m3fnuz[1,2,3,4,5]; const f32[] 0.1; const f8e4m3fnuz[] 0; const f32[] 0.1; " ZERO },
    /* sums of 64 bits */
    { "qnn_avg_pool", "qnn.avg_pool2d", "pool_size=[100,100]",
      "f8e4m3[1,1,100,100] 126 126 254 126" FROM },
    { "reduce", "qnn.mean", "axis=[2,3], keepdims=true", "f8e4m3[2,3,4,5]" FROM },
    { "reduce", "qnn.mean", "axis=[0,2], keepdims=false", "f8e4m3[1,2,15] " ALL_CODES FROM },
    { "reduce", "qnn.mean", "axis=[0,1], keepdims=false", "f8e4m3[200,100] 126 126 254 126" FROM },
    { "reduce", "qnn.sum", "axis=[1], keepdims=false",
      "f8e3m4[2,3,4,5]; const f32[] 0.5; const f8e3m4[] 0; const f32[] 0.25; " ZERO },
};

static const struct kernel_case softmaxes[] = {
    { "exact_log_softmax", "qnn.log_softmax", "axis=1",
      "f8e4m3[2,9,3]; const f32[] 0.05; " ZERO "; const f32[] 0.03; " ZERO },
    { "exact_log_softmax", "qnn.log_softmax", "axis=2",
      "f8e4m3[1,2,15] " ALL_CODES "; const f32[] 1; " ZERO "; const f32[] 1; const f8e3m4[] 0" },
    { "exact_log_softmax", "qnn.log_softmax", "axis=0",
      "f8e4m3fnuz[5] 127 255 127 1 0; const f32[] 0.01; const f8e4m3fnuz[] 0; const f32[] 0.004; "
      "const f8e4m3fnuz[] 0" },
    { "exact_softmax", "qnn.softmax", "axis=1",
      "f8e4m3[2,9,3]; const f32[] 0.7; " ZERO "; const f32[] 0.00223; " ZERO },
    { "exact_softmax", "qnn.softmax", "axis=2",
      "f8e4m3[1,2,15] " ALL_CODES "; const f32[] 1; " ZERO "; const f32[] 1; const f8e3m4[] 0" },
    { "exact_softmax", "qnn.softmax", "axis=0",
      "f8e4m3fnuz[5] 127 255 127 1 0; const f32[] 0.01; const f8e4m3fnuz[] 0; const f32[] 0.004; "
      "const "
      "f8e4m3fnuz[] 0" },
};

#define SCALES "; const f32[] 0.05; " ZERO "; const f32[] 0.03; " ZERO
#define TO_E3M4 "; const f32[] 0.05; " ZERO "; const f32[] 0.5; const f8e3m4[] 0"

static const struct kernel_case norms[] = {
    { "exact_norm", "qnn.layer_norm", "axis=2, epsilon=1e-5",
      "f8e4m3[2,3,40]" SCALES "; const f32[40]; const f32[40]" },
    { "exact_norm", "qnn.layer_norm", "axis=1, epsilon=0.001",
      "f8e4m3[1,2,15] " ALL_CODES TO_E3M4 "; const f32[2,15]" },
    /* no spread; the least there is; the greatest; sums of 64 bits */
    { "exact_norm", "qnn.layer_norm", "axis=1, epsilon=0",
      "f8e4m3[2,9] 70" SCALES "; const f32[9]; const f32[9]" },
    { "exact_norm", "qnn.layer_norm", "axis=0, epsilon=0",
      "f8e4m3[1] 5" SCALES "; const f32[1]; const f32[1]" },
    { "exact_norm", "qnn.layer_norm", "axis=1, epsilon=0",
      "f8e4m3[1,33] 1 0 0 0 0 0 0 0 0 0 0" SCALES "; const f32[33]; const f32[33]" },
    { "exact_norm", "qnn.layer_norm", "axis=1, epsilon=1e30",
      "f8e4m3[1,33] 1 126 254" SCALES "; const f32[33]; const f32[33]" },
    { "exact_norm", "qnn.layer_norm", "axis=1, epsilon=1e-5",
      "f8e4m3[1,20000] 126 254 3 77" SCALES "; const f32[20000]; const f32[20000]" },
    { "exact_norm", "qnn.layer_norm", "axis=1, epsilon=1e-5",
      "f8e4m3fnuz[3,40]; const f32[] 0.01; const f8e4m3fnuz[] 0; const f32[] 0.004; const "
      "f8e4m3fnuz[] 0; const f32[40]" },
    { "exact_norm", "qnn.instance_norm", "axis=1, epsilon=1e-5",
      "f8e4m3[2,3,4,5]" SCALES "; const f32[3]; const f32[3]" },
    { "exact_norm", "qnn.instance_norm", "axis=1, epsilon=1e-5",
      "hfp8_143[1,3,17]; const f32[] 1; const hfp8_143[] 0; const f32[] 0.1; const hfp8_143[] 0; "
      "const f32[3] 1; const f32[3] 0" },
    { "exact_norm", "qnn.group_norm", "axis=1, groups=2, epsilon=1e-5",
      "f8e3m4[2,6,3,3]; const f32[] 0.5; const f8e3m4[] 0; const f32[] 0.25; " ZERO
      "; const f32[6]; const f32[6]" },
    { "exact_norm", "qnn.group_norm", "axis=1, groups=1, epsilon=1e-3",
      "f8e4m3[1,4,15]" SCALES "; const f32[4]; const f32[4]" },
    { "exact_norm", "qnn.instance_norm", "axis=3, epsilon=1e-5",
      "f8e4m3[2,4,5,3]" SCALES "; const f32[3]; const f32[3]" },
    { "exact_norm", "qnn.group_norm", "axis=2, groups=2, epsilon=1e-3",
      "f8e4m3[1,15,4]" SCALES "; const f32[4]; const f32[4]" },
    { "exact_norm", "qnn.group_norm", "axis=3, groups=3, epsilon=1e-3",
      "f8e3m4[2,3,3,6]; const f32[] 0.5; const f8e3m4[] 0; const f32[] 0.25; " ZERO
      "; const f32[6]; const f32[6]" },
    { "exact_lrn", "qnn.lrn", "size=5, alpha=0.001, beta=0.75, bias=1", "f8e4m3[2,9,3,4]" SCALES },
    { "exact_lrn", "qnn.lrn", "size=4, alpha=0.5, beta=0.5, bias=2",
      "f8e4m3[1,2,15] " ALL_CODES TO_E3M4 },
    { "exact_lrn", "qnn.lrn", "size=3, alpha=10000, beta=2, bias=1, layout=\"NWC\"",
      "f8e4m3[2,5,6] 126 254" SCALES },
    { "exact_lp_normalize", "qnn.lp_normalize", "axis=1, p=2", "f8e4m3[3,10]" SCALES },
    { "exact_lp_normalize", "qnn.lp_normalize", "axis=1, p=2", "f8e4m3[2,3,4]" TO_E3M4 },
    { "exact_lp_normalize", "qnn.lp_normalize", "axis=1, p=1", "f8e4m3[1,30] " ALL_CODES SCALES },
    { "exact_lp_normalize", "qnn.lp_normalize", "axis=0, p=2", "f8e4m3[9] 0 1 129" SCALES },
    { "exact_lp_normalize", "qnn.lp_normalize", "axis=0, p=1", "f8e4m3[9] 0 1 129" SCALES },
    { "exact_lp_normalize", "qnn.lp_normalize", "axis=1, p=2", "f8e4m3[2,5] 128" SCALES },
};

START_TEST(averages_agree_exactly)
{
    KERNEL_CASES_CHECK(averages, 0);
}
END_TEST

START_TEST(norms_agree_exactly)
{
    KERNEL_CASES_CHECK(norms, 0);
}
END_TEST

START_TEST(softmaxes_agree_exactly)
{
    KERNEL_CASES_CHECK(softmaxes, 0);
}
END_TEST

START_TEST(pools_agree_exactly)
{
    KERNEL_CASES_CHECK(pools, 0);
}
END_TEST

/* clang-format off */
/* Without scratch: the channels of a patch in parts. */
static const struct kernel_case spared[] = {
    { "exact_conv", "qnn.conv2d", "groups=1, padding=[1,0,2,1], strides=[2,1]",
      "f8e4m3[2,100,5,6]; const f8e4m3[70,100,3,3]; " ZERO "; " ZERO },
    { "exact_conv", "qnn.conv2d", "groups=2, padding=[1,1,1,1], dilation=[1,2]",
      "f8e4m3[2,122,5,6]; const f8e4m3[6,61,3,2]; " ZERO "; const f8e4m3[6] 0" },
    { "exact_conv", "qnn.conv2d", "groups=1, padding=[0,1,0,1], data_layout=\"NHWC\"",
      "f8e4m3[1,3,4,131]; f8e4m3[129,131,1,3]; " ZERO "; " ZERO },
    { "exact_conv", "qnn.conv3d", "groups=1, strides=[1,2,1]",
      "f8e4m3[1,40,3,4,4]; const f8e4m3[65,40,1,2,4]; " ZERO "; " ZERO },
    { "exact_conv", "qnn.conv2d", "groups=1",
      "f8e4m3[1,400,1,1] " GREATEST "; const f8e4m3[5,400,1,1] " GREATEST " 254 254 126; " ZERO
      "; " ZERO },
};
/* clang-format on */

START_TEST(products_agree_exactly)
{
    KERNEL_CASES_CHECK(products, 0);
}
END_TEST

START_TEST(elements_agree_exactly)
{
    KERNEL_CASES_CHECK(elements, 0);
}
END_TEST

/* Rows in formats without a sign, which take turns. */
static void check_without_sign(const struct kernel_case *rows, int n)
{
    static const char *const formats[] = { "u8e2m6", "u8e3m5", "u8e4m4" };
    struct arena arena = { NULL };
    struct kernel_case *changed = arena_array(&arena, struct kernel_case, (size_t)n);

    for (int i = 0; i < n; i++) {
        changed[i] = rows[i];
        changed[i].inputs = codes_in_format(&arena, rows[i].inputs, formats[i % 3]);
    }
    kernel_cases_check(changed, n, 0);
    arena_release(&arena);
}

START_TEST(formats_without_a_sign_agree_exactly)
{
    static const struct {
        const struct kernel_case *rows;
        int n;
    } tables[] = { { products, N_ROWS(products) }, { elements, N_ROWS(elements) },
                   { pools, N_ROWS(pools) },       { averages, N_ROWS(averages) },
                   { norms, N_ROWS(norms) },       { softmaxes, N_ROWS(softmaxes) } };

    for (int i = 0; i < N_ROWS(tables); i++)
        check_without_sign(tables[i].rows, tables[i].n);
}
END_TEST

/* --- in one loop nest ------------------------------------------------------------------------- */

#define CONV                                                                                       \
    "{strides=[], padding=[1,1,1,1], dilation=[], groups=1, data_layout=\"\", "                    \
    "kernel_layout=\"\"}"

static const char convolution[] =
    "fn main(%x: (1,3,6,6) f8e4m3) -> (%y) {\n"
    "  const @w : (5,3,3,3) f8e4m3 = crc32:00000000\n"
    "  const @b : (5) i64 = [100000, -2000000, 3, 4, 500000000]\n"
    "  const @s : (5) f32 = [0.003, 0.01, 0.002, 0.5, 0.0001]\n  const @t : () f32 = [2000]\n"
    "  const @z : () f8e4m3 = [0x00]\n"
    "  %c = qnn.conv2d(%x, @w, @z, @z) " CONV " : (1,5,6,6) i64\n"
    "  %d = nn.bias_add(%c, @b) {axis=1} : (1,5,6,6) i64\n"
    "  %e = nn.relu(%d) : (1,5,6,6) i64\n"
    "  %y = qnn.requantize(%e, @s, @z, @t, @z) {axis=1, rounding=\"\"} : (1,5,6,6) f8e4m3\n}\n";

static const char dense_and_residual[] =
    "fn main(%x: (3,8) f8e4m3, %r: (3,4) f8e4m3) -> (%y) {\n"
    "  const @w : (4,8) f8e4m3 = crc32:00000000\n"
    "  const @s : (4) f32 = [0.003, 0.01, 0.002, 0.5]\n  const @t : () f32 = [3000]\n"
    "  const @z : () f8e4m3 = [0x00]\n"
    "  %c = qnn.dense(%x, @w, @z, @z) : (3,4) i64\n"
    "  %q = qnn.requantize(%c, @s, @z, @t, @z) {axis=1, rounding=\"\"} : (3,4) f8e4m3\n"
    "  %y = qnn.add(%q, %r, @t, @z, @t, @z, @t, @z) : (3,4) f8e4m3\n}\n";

static const char *const fused[] = { convolution, dense_and_residual };

START_TEST(without_scratch_they_agree_exactly)
{
    kernel_cases_check_low_scratch(spared, N_ROWS(spared), 0, 0, NULL);
}
END_TEST

START_TEST(one_region_for_all)
{
    const struct generated_case row = { .text = fused[_i], .low = -448, .high = 448 };
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = generated_module(ctx, &row);

    ck_assert_ptr_null(module->functions->next->next); /* main and one region */
    generated_check_module(module, &row, NULL);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Whether the word stands in the C, outside of comments. */
static bool has_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    bool comment = false;

    for (const char *at = text; *at; at++) {
        comment = comment ? strncmp(at, "*/", 2) != 0 : strncmp(at, "/*", 2) == 0;
        if (!comment && strncmp(at, word, n) == 0 &&
            (at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[n]) &&
            at[n] != '_')
            return true;
    }
    return false;
}

START_TEST(no_float_is_written)
{
    struct ctx *ctx = ctx_new("net.onnx");
    const char *text = generated_text(ctx, &(struct generated_case){ .text = fused[_i] }, ".c");

    ck_assert(has_word(text, "int32_t") && !has_word(text, "quux"));
    ck_assert(!has_word(text, "float"));
    ck_assert(!has_word(text, "double"));
    ck_assert(!has_word(text, "math"));
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_exact");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, products_agree_exactly);
    tcase_add_test(tests, elements_agree_exactly);
    tcase_add_test(tests, pools_agree_exactly);
    tcase_add_test(tests, averages_agree_exactly);
    tcase_add_test(tests, norms_agree_exactly);
    tcase_add_test(tests, softmaxes_agree_exactly);
    tcase_add_test(tests, formats_without_a_sign_agree_exactly);
    tcase_add_test(tests, without_scratch_they_agree_exactly);
    tcase_add_loop_test(tests, one_region_for_all, 0, N_ROWS(fused));
    tcase_add_loop_test(tests, no_float_is_written, 0, N_ROWS(fused));
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
