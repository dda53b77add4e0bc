/* Products of quantised values as generated C: weights in every format that is smaller than f32,
 * data in FP8. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/minifloat.h"
#include "base/str.h"
#include "tests/support/kernel_case.h"
#include "tests/support/run_generated.h"

/* %s: the type of the weights. */
static const struct kernel_case weights_only[] = {
    { "conv_small", "nn.conv2d", "groups=1, padding=[1,1,1,1], out_dtype=f32",
      "f32[1,3,7,9]; const %s[5,3,3,3]" },
    { "conv_small", "nn.conv2d", "groups=2, padding=[1,0,1,0], out_dtype=f32",
      "f32[2,6,5,4]; const %s[6,3,3,3]" },
    { "conv_small", "nn.conv3d", "groups=2, padding=[1,1,1,1,1,1], out_dtype=f32",
      "f32[1,2,3,3,3]; const %s[2,1,3,3,3]" },
    { "conv_small", "nn.conv2d", "groups=1, out_dtype=f32", "f32[1,5,3,1]; const %s[3,5,1,1]" },
    { "conv_small", "nn.conv2d", "groups=1, out_dtype=f32", "f32[1,71,3,2]; const %s[6,71,1,1]" },
    { "conv_depthwise", "nn.conv2d", "groups=3, padding=[1,1,1,1], out_dtype=f32",
      "f32[2,3,9,9]; const %s[6,1,3,3]" },
    { "conv_depthwise", "nn.conv1d", "groups=1, padding=[4,0], out_dtype=f32",
      "f32[1,1,60]; const %s[2,1,41]" },
    { "conv_depthwise", "nn.conv2d", "groups=3, out_dtype=f32", "f32[1,3,9,9]; const %s[3,1,3,3]" },
    { "depthwise", "nn.conv2d", "groups=24, padding=[1,1,1,1], data_layout=\"NHWC\", out_dtype=f32",
      "f32[1,5,9,24]; const %s[24,1,3,3]" },
    { "depthwise", "nn.conv2d", "groups=3, padding=[1,1,1,1], data_layout=\"NHWC\", out_dtype=f32",
      "f32[2,9,9,3]; const %s[6,1,3,3]" },
    { "gemv", "nn.conv2d", "groups=1, out_dtype=f32", "f32[1,9,1,1]; const %s[17,9,1,1]" },
    { "conv_transpose2d", "nn.conv2d_transpose",
      "groups=2, strides=[1,3], padding=[0,1,1,0], dilation=[2,1], output_padding=[0,2], "
      "out_dtype=f32",
      "f32[2,4,4,5]; const %s[4,3,2,3]" },
    { "conv_transpose2d", "nn.conv1d_transpose",
      "groups=1, strides=[2], padding=[1,0], out_dtype=f32", "f32[1,3,9]; const %s[3,4,4]" },
    { "conv_transpose", "nn.conv2d_transpose",
      "groups=1, strides=[2,2], data_layout=\"NHWC\", out_dtype=f32",
      "f32[1,3,4,5]; const %s[5,6,2,2]" },
    { "conv_transpose3d", "nn.conv3d_transpose", "groups=2, strides=[2,2,2], out_dtype=f32",
      "f32[1,2,2,2,2]; const %s[2,1,2,2,3]" },
    { "gemv", "nn.dense", "out_dtype=f32", "f32[1,77]; const %s[11,77]" },
    { "conv_small", "nn.dense", "out_dtype=f32", "f32[5,39]; const %s[10,39]" },
    { "gemv", "nn.matmul", "out_dtype=f32", "f32[1,37]; const %s[37,11]" },
    { "conv_small", "nn.matmul", "transpose_b=true, out_dtype=f32", "f32[2,3,7]; const %s[9,7]" },
    { "matmul", "nn.matmul", "out_dtype=f32", "f32[2,3,7]; const %s[2,7,5]" },
    { "matmul", "nn.matmul", "transpose_b=true, out_dtype=f32", "f32[3,7]; const %s[2,5,7]" },
};

/* Data of FP8 as well; weights that are computed come in as bytes. */
static const struct kernel_case data_too[] = {
    { "conv_small", "nn.conv2d", "groups=1, padding=[1,1,1,1], out_dtype=f32",
      "f8e4m3[1,3,7,9]; const %s[5,3,3,3]" },
    { "conv_small", "nn.conv2d", "groups=2, strides=[2,1], out_dtype=f32",
      "f8e5m2[2,4,6,7]; const %s[6,2,3,2]" },
    { "conv_small", "nn.conv3d", "groups=2, out_dtype=f32",
      "f8e3m4[1,4,4,5,6]; const %s[4,2,2,3,3]" },
    { "conv_small", "nn.conv2d", "groups=1, out_dtype=f32",
      "f8e4m3fnuz[1,5,3,1]; const %s[3,5,1,1]" },
    { "conv_depthwise", "nn.conv2d", "groups=3, padding=[1,1,1,1], out_dtype=f32",
      "hfp8_143[2,3,9,9]; const %s[6,1,3,3]" },
    { "conv_depthwise", "nn.conv2d", "groups=3, out_dtype=f32",
      "f8e4m3[1,3,9,9]; const %s[3,1,3,3]" },
    { "conv_depthwise", "nn.conv1d", "groups=1, padding=[4,0], out_dtype=f32",
      "f8e4m3[1,1,60]; const %s[2,1,41]" },
    { "depthwise", "nn.conv2d", "groups=24, padding=[1,1,1,1], data_layout=\"NHWC\", out_dtype=f32",
      "f8e4m3[1,5,9,24]; const %s[24,1,3,3]" },
    { "depthwise", "nn.conv2d",
      "groups=5, strides=[2,1], padding=[3,1,1,1], dilation=[2,1], data_layout=\"NHWC\", "
      "out_dtype=f32",
      "f8e5m2[2,9,9,5]; const %s[10,1,3,3]" },
    { "conv_transpose2d", "nn.conv2d_transpose", "groups=1, strides=[2,2], out_dtype=f32",
      "f8e4m3[1,2,6,7]; const %s[2,3,5,4]" },
    { "conv_transpose", "nn.conv2d_transpose",
      "groups=1, strides=[2,2], data_layout=\"NHWC\", out_dtype=f32",
      "f8e4m3[1,3,4,5]; const %s[5,6,2,2]" },
    { "conv_transpose3d", "nn.conv3d_transpose", "groups=2, strides=[2,2,2], out_dtype=f32",
      "f8e5m2fnuz[1,2,2,2,2]; const %s[2,1,2,2,3]" },
    { "gemv", "nn.dense", "out_dtype=f32", "f8e4m3[1,77]; const %s[11,77]" },
    { "conv_small", "nn.dense", "out_dtype=f32", "f6e3m2[5,39]; const %s[10,39]" },
    { "conv_small", "nn.matmul", "out_dtype=f32", "f4e2m1[5,37]; const %s[37,11]" },
    { "matmul", "nn.matmul", "out_dtype=f32", "f8e4m3[2,3,7]; const %s[2,7,5]" },
};

static const struct kernel_case computed[] = {
    { "matmul_tiles", "nn.matmul", "out_dtype=f32", "f8e4m3[3,7]; f8e5m2[7,9]" },
    { "matmul_tiles", "nn.matmul", "transpose_a=true, transpose_b=true, out_dtype=f32",
      "f8e3m4[2,7,5]; f8e4m3[2,9,7]" },
    { "matmul_tiles", "nn.matmul", "out_dtype=f32", "f32[3,7]; f8e4m3[7,9]" },
    { "matmul_tiles", "nn.matmul", "out_dtype=f32", "u8e2m6[3,7]; u8e3m5[7,9]" },
    { "conv_depthwise", "nn.conv2d", "groups=2, padding=[1,1,1,1], out_dtype=f32",
      "u8e4m4[1,2,5,6]; f8e2m5[2,1,3,3]" },
    { "matmul_tiles", "nn.matmul", "out_dtype=f32", "f32[3,7]; i8[7,9]" },
    { "matmul_tiles", "nn.dense", "out_dtype=f32", "f8e4m3[5,7]; f8e4m3[9,7]" },
    { "matmul_tiles", "nn.matmul", "out_dtype=f32", "const f8e4m3[5,7]; f8e4m3[7,9]" },
    { "conv_direct", "nn.conv2d", "groups=1, padding=[1,1,1,1], out_dtype=f32",
      "f8e4m3[1,3,7,9]; f8e4m3[5,3,3,3]" },
    { "conv_direct", "nn.conv3d", "groups=2, out_dtype=f32",
      "f8e4m3[1,4,4,5,6]; f8e5m2[4,2,2,3,3]" },
    { "conv_depthwise", "nn.conv2d", "groups=2, padding=[1,1,1,1], out_dtype=f32",
      "f8e4m3[1,2,5,6]; f8e4m3[2,1,3,3]" },
    { "conv_transpose2d", "nn.conv2d_transpose", "groups=1, out_dtype=f32",
      "f8e4m3[1,2,1,1]; f8e5m2[2,3,2,2]" },
};

static const enum dtype formats[] = {
    DTYPE_F16,        DTYPE_BF16,       DTYPE_I8,     DTYPE_I4,     DTYPE_F8E4M3, DTYPE_F8E5M2,
    DTYPE_F8E4M3FNUZ, DTYPE_F8E5M2FNUZ, DTYPE_F8E3M4, DTYPE_F6E3M2, DTYPE_F6E2M3, DTYPE_F4E2M1,
    DTYPE_HFP8_143,   DTYPE_F8E2M5,     DTYPE_U8E2M6, DTYPE_U8E3M5, DTYPE_U8E4M4
};

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

/* The product of the extents in "[5,3,3,3]". */
static int elements_of(const char *extents)
{
    int n = 1;

    for (const char *at = extents; *at != ']';) {
        char *end;

        n *= (int)strtol(at + 1, &end, 10);
        at = end;
    }
    return n;
}

/* n numbers: every finite code of a minifloat, every integer, halves with subnormal ones. */
static const char *numbers_of(struct arena *arena, enum dtype dtype, int n)
{
    static const char *const halves[] = { "0.5",    "-3.1e-6", "1.25",  "-0",   "6e-8", "-1.875",
                                          "0.0001", "3",       "-0.33", "1e-5", "0.7" };
    const struct minifloat *format = dtype_minifloat(dtype);
    const int n_codes = dtype_is_float(dtype) ? 1 << 16 : 1 << dtype_packed_bits(dtype);
    struct str out = { .arena = arena };

    for (int i = 0; i < n; i++) {
        const int code = (i * 37 + 11) % n_codes;

        if (dtype_is_float(dtype))
            str_printf(&out, " %s", halves[i % 11]);
        else if (!format)
            str_printf(&out, " %d", code - n_codes / 2);
        else if (isfinite(minifloat_decode(format, (unsigned)code)))
            str_printf(&out, " 0x%x", (unsigned)code);
        else
            str_add(&out, " 0x1");
    }
    return str_text(&out);
}

/* "const f8e4m3[5,3,3,3] 0x01 ...": "%s[5,3,3,3]" in a row, with numbers. */
static const char *fill_in_text(struct arena *arena, const char *inputs, enum dtype dtype)
{
    const char *at = strstr(inputs, "%s");

    if (!at)
        return inputs;
    return arena_printf(arena, "%.*s%s%s%s", (int)(at - inputs), inputs, dtype_name(dtype), at + 2,
                        numbers_of(arena, dtype, elements_of(at + 2)));
}

/* The rows with the format in the place of the %s, which stands in the last operand. */
static struct kernel_case *fill_in(struct arena *arena, const struct kernel_case *rows, int n,
                                   enum dtype dtype)
{
    struct kernel_case *filled = arena_array(arena, struct kernel_case, n);

    for (int i = 0; i < n; i++) {
        filled[i] = rows[i];
        filled[i].inputs = fill_in_text(arena, rows[i].inputs, dtype);
    }
    return filled;
}

START_TEST(weights_of_every_format_are_decoded)
{
    struct arena arena = { NULL };

    kernel_cases_check(fill_in(&arena, weights_only, N_ROWS(weights_only), formats[_i]),
                       N_ROWS(weights_only), 1e-5);
    arena_release(&arena);
}
END_TEST

/* Integers and halves are weights of f32 only. */
START_TEST(data_are_decoded_as_well)
{
    struct arena arena = { NULL };

    if (dtype_minifloat(formats[_i]))
        kernel_cases_check(fill_in(&arena, data_too, N_ROWS(data_too), formats[_i]),
                           N_ROWS(data_too), 1e-5);
    arena_release(&arena);
}
END_TEST

START_TEST(operands_that_are_computed_are_decoded)
{
    KERNEL_CASES_CHECK(computed, 1e-5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_small");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, weights_of_every_format_are_decoded, 0, N_ROWS(formats));
    tcase_add_loop_test(tests, data_are_decoded_as_well, 0, N_ROWS(formats));
    tcase_add_test(tests, operands_that_are_computed_are_decoded);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
