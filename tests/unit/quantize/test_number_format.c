/* Number formats and precisions by name, what numbers become in them. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantize/precision.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

static const struct {
    const char *name;
    enum dtype dtype;
    int bits;
    double max;
    int64_t block;
} formats[] = {
    { "f16", DTYPE_F16, 16, 65504, 0 },
    { "bf16", DTYPE_BF16, 16, 0x1.FEp127, 0 },
    { "i8", DTYPE_I8, 8, 127, 0 },
    { "i4", DTYPE_I4, 4, 7, 0 },
    { "f8e4m3", DTYPE_F8E4M3, 8, 448, 0 },
    { "f8e5m2", DTYPE_F8E5M2, 8, 57344, 0 },
    { "f8e4m3fnuz", DTYPE_F8E4M3FNUZ, 8, 240, 0 },
    { "f8e3m4", DTYPE_F8E3M4, 8, 30, 0 },
    { "hfp8_143", DTYPE_HFP8_143, 8, 30, 0 },
    { "f8e2m5", DTYPE_F8E2M5, 8, 7.875, 0 },
    { "u8e2m6", DTYPE_U8E2M6, 8, 7.9375, 0 },
    { "u8e3m5", DTYPE_U8E3M5, 8, 31.5, 0 },
    { "u8e4m4", DTYPE_U8E4M4, 8, 496, 0 },
    { "auto", DTYPE_F8E4M3, 8, 448, 0 },
    { "f6e3m2", DTYPE_F6E3M2, 6, 28, 0 },
    { "f6e2m3", DTYPE_F6E2M3, 6, 7.5, 0 },
    { "f4e2m1", DTYPE_F4E2M1, 4, 6, 0 },
    { "mxfp8", DTYPE_F8E4M3, 8, 448, 32 },
    { "mxfp8=f8e5m2", DTYPE_F8E5M2, 8, 57344, 32 },
    { "mxfp6", DTYPE_F6E2M3, 6, 7.5, 32 },
    { "mxfp4", DTYPE_F4E2M1, 4, 6, 32 },
    { "afp<3,2,7>", DTYPE_AFP, 6, 1.75, 0 }, /* 1.75 * 2^(7 - 7) */
};

START_TEST(formats_have_their_bits_and_greatest_numbers)
{
    struct number_format format;

    ck_assert(number_format_parse(formats[_i].name, &format));
    ck_assert_str_eq(format.name, formats[_i].name);
    ck_assert_int_eq(format.dtype, formats[_i].dtype);
    ck_assert_int_eq(number_format_bits(&format), formats[_i].bits);
    ck_assert_double_eq(number_format_max(&format), formats[_i].max);
    ck_assert_int_eq(format.block, formats[_i].block);
}
END_TEST

static const char *const no_formats[] = { "",         "f32",      "i16",      "afp2",  "afp9",
                                          "afp<0,2>", "afp<4,4>", "afp<3,2,", "mxfp5", "f8",
                                          "afp8x",    "F16",      "mxfp8=i8" };

START_TEST(other_texts_are_no_formats)
{
    struct number_format format;

    ck_assert_msg(!number_format_parse(no_formats[_i], &format), "%s", no_formats[_i]);
}
END_TEST

/* The paper's split of bits, and its rule for k: the greatest number is in the top binade. */
static const struct {
    const char *name;
    double greatest;
    int exponent_bits, mantissa_bits;
} fits[] = {
    { "afp8", 1.0, 5, 2 },       { "afp6", 0.3, 3, 2 },      { "afp5", 100, 2, 2 },
    { "afp4", 0.001, 2, 1 },     { "afp3", 1.5, 2, 0 },      { "afp<4,3>", 0.25, 4, 3 },
    { "afp<6,1>", 1e-20, 6, 1 }, { "afp<1,6>", 3e38, 1, 6 },
};

START_TEST(adaptive_formats_fit_their_numbers)
{
    struct number_format format, fitted;

    ck_assert(number_format_parse(fits[_i].name, &format));
    ck_assert(format.chooses_bias);
    fitted = number_format_fit(&format, fits[_i].greatest);
    ck_assert(!fitted.chooses_bias);
    ck_assert_int_eq(fitted.codec.exponent_bits, fits[_i].exponent_bits);
    ck_assert_int_eq(fitted.codec.mantissa_bits, fits[_i].mantissa_bits);
    if (fits[_i].greatest < 1e30) {
        ck_assert_double_ge(number_format_max(&fitted), fits[_i].greatest);
        ck_assert_double_lt(number_format_max(&fitted) / 2, fits[_i].greatest);
    }
    ck_assert(isfinite(number_format_max(&fitted)));
}
END_TEST

static const struct {
    const char *name;
    double x, scale, rounded;
} roundings[] = {
    { "i8", 0.36, 0.1, 0.4 },     { "i8", -100, 0.5, -63.5 }, { "i8", 0.25, 0.1, 0.2 },
    { "i4", 100, 1, 7 },          { "f8e4m3", 1.06, 1, 1 },   { "f8e4m3", 1.07, 1, 1.125 },
    { "f8e4m3", 1e9, 2, 896 },    { "f8e5m2", 1.125, 1, 1 },  { "f16", 1e6, 1, 65504 },
    { "bf16", 1.00390625, 1, 1 }, { "f4e2m1", 2.5, 1, 2 },    { "f4e2m1", -5.1, 1, -6 },
};

START_TEST(numbers_are_rounded_to_even_and_saturate)
{
    struct number_format format;
    const float x = (float)roundings[_i].x;
    uint8_t code[4];
    struct type type;
    struct arena arena = { 0 };
    struct tensor tensor;

    ck_assert(number_format_parse(roundings[_i].name, &format));
    ck_assert_double_eq_tol(number_format_round(&format, roundings[_i].x, roundings[_i].scale),
                            roundings[_i].rounded, 1e-12);
    type = number_format_type(&format, &(struct type){ .rank = 0 }, &arena);
    number_format_encode(&format, &x, 1, (float)roundings[_i].scale, code);
    tensor = (struct tensor){ type, code };
    ck_assert_double_eq_tol(tensor_at(&tensor, 0) * roundings[_i].scale, roundings[_i].rounded,
                            1e-12);
    arena_release(&arena);
}
END_TEST

static const struct {
    const char *text;
    enum precision_mode mode;
    const char *weights, *data; /* NULL = f32 */
    const char *again;          /* as it is printed */
} precisions[] = {
    { "f32", PRECISION_F32, NULL, NULL, "f32" },
    { "fp8", PRECISION_FP8, "f8e4m3", "f8e4m3", "fp8" },
    { "fp8=f8e5m2", PRECISION_FP8, "f8e5m2", "f8e5m2", "fp8=f8e5m2" },
    { "fp8=f8e3m4,f8e4m3", PRECISION_FP8, "f8e3m4", "f8e4m3", "fp8=f8e3m4,f8e4m3" },
    { "fp8=auto", PRECISION_FP8, "auto", "auto", "fp8=auto" },
    { "fp8=f8e3m4,auto", PRECISION_FP8, "f8e3m4", "auto", "fp8=f8e3m4,auto" },
    { "fp8=u8e2m6", PRECISION_FP8, "f8e2m5", "u8e2m6", "fp8=u8e2m6" },
    { "fp8=f8e2m5,u8e2m6", PRECISION_FP8, "f8e2m5", "u8e2m6", "fp8=u8e2m6" },
    { "fp8=f8e2m5,u8e4m4", PRECISION_FP8, "f8e2m5", "u8e4m4", "fp8=f8e2m5,u8e4m4" },
    { "fp8w=auto", PRECISION_FP8W, "auto", NULL, "fp8w=auto" },
    { "fp8w=f4e2m1", PRECISION_FP8W, "f4e2m1", NULL, "fp8w=f4e2m1" },
    { "int8", PRECISION_INT8, "i8", "i8", "int8" },
    { "int8w=i4", PRECISION_INT8W, "i4", NULL, "int8w=i4" },
    { "afp=afp<3,4>", PRECISION_AFP, "afp<3,4>", NULL, "afp=afp<3,4>" },
    { "afp=afp<3,4,9>", PRECISION_AFP, "afp<3,4,9>", NULL, "afp=afp<3,4,9>" },
    { "mxfp6", PRECISION_MXFP6, "mxfp6", NULL, "mxfp6" },
};

START_TEST(precisions_are_read_and_printed)
{
    struct ctx *ctx = ctx_new("test");
    struct precision p;

    ck_assert(precision_parse(ctx, "--precision", precisions[_i].text, &p));
    ck_assert_int_eq(p.mode, precisions[_i].mode);
    ck_assert_int_eq(p.has_weights, precisions[_i].weights != NULL);
    ck_assert_int_eq(p.has_data, precisions[_i].data != NULL);
    if (p.has_weights)
        ck_assert_str_eq(p.weights.name, precisions[_i].weights);
    if (p.has_data)
        ck_assert_str_eq(p.data.name, precisions[_i].data);
    ck_assert_str_eq(precision_text(&ctx->perm, &p), precisions[_i].again);
    ctx_free(ctx);
}
END_TEST

static const struct {
    const char *text, *message;
} no_precisions[] = {
    { "fp9", "unknown precision 'fp9'" },
    { "", "unknown precision ''" },
    { "fp8=i8", "precision fp8 cannot have the format i8" },
    { "fp8=f8e4m3,f4e2m1", "precision fp8 cannot have the format f4e2m1" },
    { "fp8=u8e2m6,u8e2m6", "precision fp8 cannot have the format u8e2m6" },
    { "fp8w=u8e2m6", "precision fp8w cannot have the format u8e2m6" },
    { "int8=auto", "precision int8 cannot have the format auto" },
    { "afp=auto", "precision afp cannot have the format auto" },
    { "int8=f8e4m3", "precision int8 cannot have the format f8e4m3" },
    { "f32=f16", "precision f32 takes no format 'f16'" },
    { "fp8w=f8e4m3,f8e4m3", "precision fp8w takes no format 'f8e4m3'" },
    { "afp=nonsense", "unknown number format 'nonsense'" },
    { "afp=f8e4m3", "precision afp cannot have the format f8e4m3" },
    { "mxfp4=f8e4m3", "unknown number format 'mxfp4=f8e4m3'" },
};

START_TEST(wrong_precisions_say_why)
{
    struct ctx *ctx = ctx_new("test");
    struct precision p;

    ck_assert(!precision_parse(ctx, "--precision", no_precisions[_i].text, &p));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    ck_assert_ptr_nonnull(strstr(ctx->diags.first->message, no_precisions[_i].message));
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("number_format");
    TCase *tcase = tcase_create("number_format");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, formats_have_their_bits_and_greatest_numbers, 0, N_ROWS(formats));
    tcase_add_loop_test(tcase, other_texts_are_no_formats, 0, N_ROWS(no_formats));
    tcase_add_loop_test(tcase, adaptive_formats_fit_their_numbers, 0, N_ROWS(fits));
    tcase_add_loop_test(tcase, numbers_are_rounded_to_even_and_saturate, 0, N_ROWS(roundings));
    tcase_add_loop_test(tcase, precisions_are_read_and_printed, 0, N_ROWS(precisions));
    tcase_add_loop_test(tcase, wrong_precisions_say_why, 0, N_ROWS(no_precisions));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
