/* QNN operators: numbers by hand; fixed point against exact arithmetic in 128 bits, in the
 * reference and in the helpers of generated C; what is refused. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/ops/qnn.h"
#include "relay_ir/text.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/op_case.h"

/* Pasted into generated files; here as they are. */
#include "runtime/embed/requantize.h"
#include "runtime/embed/requantize_down.h"
#include "runtime/embed/requantize_even.h"
#include "runtime/embed/requantize_once.h"

#define QUANTIZE(axis) "{axis=" axis ", saturate=true}"
#define CONV(strides, padding, dilation, groups)                                                   \
    "{strides=" strides ", padding=" padding ", dilation=" dilation ", groups=" groups             \
    ", data_layout=\"\", kernel_layout=\"\"}"
#define DOUBLE "{axis=0, rounding=\"\"}"
#define ONNX "{axis=0, rounding=\"onnx\"}"
#define SINGLE "{axis=0, rounding=\"single\"}"

static const struct op_case conversions[] = {
    { "qnn.quantize", QUANTIZE("0"), "f32[6] 0 2 3 1000 -254 -1000; f32[] 2; u8[] 128",
      "u8[6] 128 129 130 255 1 0", NULL },
    { "qnn.quantize", QUANTIZE("0"), "f32[6] 0.5 1.5 2.5 -0.5 -1.5 nan; f32[] 1; i8[] 3",
      "i8[6] 3 5 5 3 1 0", NULL },
    { "qnn.quantize", QUANTIZE("0"), "f32[4] inf -inf 1e30 -1e30; f32[] 0.001; i8[] -5",
      "i8[4] 127 -128 127 -128", NULL },
    { "qnn.quantize", QUANTIZE("0"), "f32[3] 70000 -70000 5; f32[] 1; i16[] 1",
      "i16[3] 32767 -32768 6", NULL },
    { "qnn.quantize", QUANTIZE("0"), "f32[2] 70000 -70000; f32[1] 1; u16[1] 1", "u16[2] 65535 0",
      NULL },
    { "qnn.quantize", QUANTIZE("1"), "f32[2,3] 1 2 3 4 5 6; f32[3] 1 2 3; i8[3] 0 10 20",
      "i8[2,3] 1 11 21 4 12 22", NULL },
    { "qnn.quantize", QUANTIZE("-2"), "f32[2,3] 1 2 3 4 5 6; f32[2] 1 2; i8[] 0",
      "i8[2,3] 1 2 3 2 2 3", NULL },
    { "qnn.quantize", QUANTIZE("7"), "f32[] 3; f32[] 1; i8[] 1", "i8[] 4", NULL },
    { "qnn.quantize", QUANTIZE("0"), "f32[0]; f32[] 1; i8[] 1", "i8[0]", NULL },
    { "qnn.quantize", QUANTIZE("2"), "f32[2,3] 1; f32[3] 1; i8[] 1", "", "axis 2 is out of range" },
    { "qnn.quantize", QUANTIZE("0"), "f32[2,3] 1; f32[3] 1; i8[] 1", "",
      "input 1 of qnn.quantize has shape 3, expected one number, or 2 along the axis" },
    { "qnn.quantize", QUANTIZE("0"), "f32[2,3] 1; f32[] 1; i8[1,1] 1", "",
      "input 2 of qnn.quantize has shape 1x1" },
    { "qnn.quantize", QUANTIZE("0"), "f64[2] 1; f32[] 1; i8[] 1", "", "is f64, expected f32" },
    { "qnn.quantize", QUANTIZE("0"), "f32[2] 1; f64[] 1; i8[] 1", "",
      "is f64, expected a scale of f32" },
    { "qnn.quantize", QUANTIZE("0"), "f32[2] 1; f32[] 1; i32[] 1", "",
      "is i32, expected i8, u8, i16 or u16" },

    { "qnn.dequantize", "{axis=0}", "u8[4] 0 3 128 255; f32[] 2; u8[] 128",
      "f32[4] -256 -250 0 254", NULL },
    { "qnn.dequantize", "{axis=1}", "i8[1,3] -128 0 127; f32[3] 1 2 0.5; i8[3] 1 2 -1",
      "f32[1,3] -129 -4 64", NULL },
    { "qnn.dequantize", "{axis=0}", "i32[2] 2147483647 -7; f32[] 0.5; i32[] 0",
      "f32[2] 1073741824 -3.5", NULL },
    { "qnn.dequantize", "{axis=0}", "u16[2] 0 65535; f32[] 1; u16[] 32768", "f32[2] -32768 32767",
      NULL },
    { "qnn.dequantize", "{axis=0}", "i8[2] 1; f32[] 1; u8[] 1", "",
      "a zero point of u8, expected i8" },
    { "qnn.dequantize", "{axis=0}", "i64[2] 1; f32[] 1; i64[] 1", "", "expected i8, u8" },
};

/* Halves: 3 / 2 = 1.5, 5 / 2 = 2.5; 1.25 needs a shift to the right by 1 of a number rounded
 * before: 3 * 0.25 = 0.75. */
static const struct op_case requantized[] = {
    { "qnn.requantize", DOUBLE, "i32[6] 3 5 -3 -5 1 -1; f32[] 1; i32[] 0; f32[] 2; i8[] 0",
      "i8[6] 2 3 -1 -2 1 0", NULL },
    { "qnn.requantize", SINGLE, "i32[6] 3 5 -3 -5 1 -1; f32[] 1; i32[] 0; f32[] 2; i8[] 0",
      "i8[6] 2 3 -1 -2 1 0", NULL },
    { "qnn.requantize", DOUBLE, "i32[4] 2 6 -2 -6; f32[] 1; i32[] 0; f32[] 4; i8[] 0",
      "i8[4] 1 2 -1 -2", NULL },
    { "qnn.requantize", SINGLE, "i32[4] 2 6 -2 -6; f32[] 1; i32[] 0; f32[] 4; i8[] 0",
      "i8[4] 1 2 0 -1", NULL },
    { "qnn.requantize", DOUBLE, "i32[4] 100 1000 -1000 7; f32[] 4; i32[] 0; f32[] 1; u8[] 5",
      "u8[4] 255 255 0 33", NULL },
    { "qnn.requantize", DOUBLE, "i32[3] 100 1000 -1000; f32[] 1; i32[] 900; f32[] 10; i8[] -1",
      "i8[3] -81 9 -128", NULL },
    { "qnn.requantize", "{axis=1, rounding=\"double\"}",
      "i32[2,2] 100 100 -40 -40; f32[2] 0.5 0.25; i32[] 0; f32[] 1; i16[] 1",
      "i16[2,2] 51 26 -19 -9", NULL },
    { "qnn.requantize", DOUBLE, "i32[2] 2147483647 -2147483648; f32[] 8; i32[] 0; f32[] 1; i32[] 9",
      "i32[2] 2147483647 -2147483639", NULL },
    { "qnn.requantize", DOUBLE,
      "i32[2] 2147483647 -2147483648; f32[] 1; i32[] -1; f32[] 1; i32[] 0",
      "i32[2] 2147483647 -2147483647", NULL },
    /* ties to even, before the zero point is added; 16777217 is no f32 */
    { "qnn.requantize", ONNX, "i32[8] 3 5 7 -3 -5 -7 1 -1; f32[] 1; i32[] 0; f32[] 2; i8[] 0",
      "i8[8] 2 2 4 -2 -2 -4 0 0", NULL },
    { "qnn.requantize", ONNX, "i32[4] 3 5 -3 -5; f32[] 1; i32[] 0; f32[] 2; u8[] 131",
      "u8[4] 133 133 129 129", NULL },
    { "qnn.requantize", ONNX,
      "i32[5] 2147483647 -2147483648 253 -257 -259; f32[] 1; i32[] 0; f32[] 2; i8[] 0",
      "i8[5] 127 -128 126 -128 -128", NULL },
    { "qnn.requantize", ONNX, "i32[2] 16777217 16777219; f32[] 1; i32[] 0; f32[] 2048; u16[] 5",
      "u16[2] 8197 8197", NULL },
    { "qnn.requantize", "{axis=1, rounding=\"onnx\"}",
      "i32[2,2] 101 102 -41 -46; f32[2] 0.5 0.25; i32[] 0; f32[] 1; i16[] 1",
      "i16[2,2] 51 27 -19 -11", NULL },
    /* quotient and product are rounded to f32: exactly in the middle, where the real ones are not
     */
    { "qnn.requantize", ONNX, "i32[3] 7 35 63; f32[] 0.05; i32[] 0; f32[] 0.7; i8[] 0",
      "i8[3] 0 2 4", NULL },
    { "qnn.requantize", ONNX, "i32[3] 1 0 -1; f32[] 1e30; i32[] 0; f32[] 1e-30; i8[] 3",
      "i8[3] 127 3 -128", NULL },
    { "qnn.requantize", ONNX, "i32[1] 1; f32[] 1; i32[] 0; f32[] 1; i32[] 0", "",
      "is i32, expected i8, u8, i16 or u16" },
    { "qnn.requantize", "{axis=0, rounding=\"up\"}", "i32[1] 1; f32[] 1; i32[] 0; f32[] 1; i8[] 0",
      "", "rounding is \"up\"" },
    { "qnn.requantize", DOUBLE, "i64[1] 1; f32[] 1; i32[] 0; f32[] 1; i8[] 0", "",
      "is i64, expected i32" },
    { "qnn.requantize", DOUBLE, "i32[2] 1; f32[] 1; i32[] 0; f32[2] 1; i8[] 0", "",
      "input 3 of qnn.requantize has shape 2, expected one number" },
    { "qnn.requantize", DOUBLE, "i32[2] 1; f32[] 1; i32[] 0; f32[] 1; u32[] 0", "",
      "is u32, expected i8, u8, i16 or u16" },
};

#define SCALES(a, za, b, zb, y, zy)                                                                \
    "; f32[] " a "; i8[] " za "; f32[] " b "; i8[] " zb "; f32[] " y "; i8[] " zy

/* 9 / 4 is 3: to 9 / 2, up, is 5, then 5 / 2, away from zero. */
static const struct op_case binary[] = {
    { "qnn.add", "",
      "i8[4] 10 -10 127 -128; i8[4] 20 5 127 -128" SCALES("1", "0", "1", "0", "1", "0"),
      "i8[4] 30 -5 127 -128", NULL },
    { "qnn.add", "", "i8[3] 11 7 1; i8[3] 20 6 1" SCALES("0.5", "1", "0.25", "2", "1", "-3"),
      "i8[3] 7 1 -3", NULL },
    { "qnn.add", "", "i8[2,1] 1 2; i8[3] 10 20 30" SCALES("1", "0", "1", "0", "1", "0"),
      "i8[2,3] 11 21 31 12 22 32", NULL },
    { "qnn.mul", "",
      "i8[4] 10 -10 3 127; i8[4] 20 5 3 127" SCALES("0.5", "0", "0.5", "0", "1", "0"),
      "i8[4] 50 -13 3 127", NULL },
    { "qnn.mul", "", "i8[2] 11 7; i8[2] 20 6" SCALES("0.5", "1", "0.25", "2", "1", "-3"),
      "i8[2] 20 0", NULL },
    { "qnn.add", "",
      "u16[2] 65535 0; u16[2] 65535 0; f32[] 1; u16[] 0; f32[] 1; u16[] 0; f32[] 4; u16[] 1",
      "u16[2] 32769 1", NULL },
    { "qnn.add", "", "i8[2] 1; i8[3] 1" SCALES("1", "0", "1", "0", "1", "0"), "",
      "shapes 2 and 3 do not broadcast" },
    { "qnn.add", "", "i8[2] 1; u8[2] 1" SCALES("1", "0", "1", "0", "1", "0"), "",
      "input 5 of qnn.add is a zero point of i8, expected u8" },
    { "qnn.mul", "", "i32[2] 1; i32[2] 1" SCALES("1", "0", "1", "0", "1", "0"), "", "is i32" },
};

static const struct op_case products[] = {
    { "qnn.conv2d", CONV("[]", "[]", "[]", "1"),
      "u8[1,1,2,2] 1 2 3 4; i8[1,1,2,2] 1 -1 2 -2; u8[] 0; i8[] 0", "i32[1,1,1,1] -3", NULL },
    { "qnn.conv2d", CONV("[]", "[1,1,1,1]", "[]", "1"),
      "u8[1,1,2,2] 5 6 7 8; i8[1,1,1,1] 3; u8[] 5; i8[] 1",
      "i32[1,1,4,4] 0 0 0 0 0 0 2 0 0 4 6 0 0 0 0 0", NULL },
    { "qnn.conv2d", CONV("[2,2]", "[0,0,0,0]", "[]", "2"),
      "i8[1,2,1,3] 1 2 3 -4 -5 -6; u8[2,1,1,1] 10 20; i8[] 1; u8[2] 1 2",
      "i32[1,2,1,2] 0 18 -90 -126", NULL },
    { "qnn.conv1d", CONV("[]", "[]", "[]", "1"),
      "u8[1,1,3] 255 255 255; u8[1,1,2] 255 255; u8[] 0; u8[] 0", "i32[1,1,2] 130050 130050",
      NULL },
    { "qnn.conv3d", CONV("[]", "[]", "[]", "1"),
      "i16[1,1,1,1,2] 32767 -32768; i8[1,1,1,1,2] -128 127; i16[] 0; i8[] 0",
      "i32[1,1,1,1,1] -8355712", NULL },
    { "qnn.conv2d", CONV("[]", "[]", "[]", "1"), "u8[1,1,2,2] 1; i8[1,1,2,2] 1; i8[] 0; i8[] 0", "",
      "a zero point of i8, expected u8" },
    { "qnn.conv2d", CONV("[]", "[]", "[]", "1"), "u8[1,1,2,2] 1; i8[3,1,2,2] 1; u8[] 0; i8[2] 0",
      "", "input 3 of qnn.conv2d has shape 2, expected one number, or 3 along the axis" },
    { "qnn.conv2d", CONV("[]", "[]", "[]", "1"), "u8[1,1,2,2] 1; i16[1,1,2,2] 1; u8[] 0; i16[] 0",
      "", "is i16, expected i8 or u8" },
    { "qnn.conv2d", CONV("[]", "[]", "[]", "1"), "f32[1,1,2,2] 1; i8[1,1,2,2] 1; f32[] 0; i8[] 0",
      "", "input 0 of qnn.conv2d is f32" },
    { "qnn.conv2d", CONV("[]", "[]", "[]", "3"), "u8[1,1,2,2] 1; i8[1,1,2,2] 1; u8[] 0; i8[] 0", "",
      "3 groups do not divide" },

    { "qnn.dense", "", "u8[2,3] 1 2 3 4 5 6; i8[2,3] 1 0 -1 2 2 2; u8[] 1; i8[] 0",
      "i32[2,2] -2 6 -2 24", NULL },
    { "qnn.dense", "", "i8[1,2] -128 127; i8[3,2] 1 2 3 4 5 6; i8[] -128; i8[3] 1 2 3",
      "i32[1,3] 255 510 765", NULL },
    { "qnn.dense", "{out_dtype=i32}", "i8[2] 2 3; i8[1,2] 4 5; i8[] 0; i8[] 0", "i32[1] 23", NULL },
    { "qnn.dense", "{out_dtype=i8}", "i8[2] 2 3; i8[1,2] 4 5; i8[] 0; i8[] 0", "",
      "the out_dtype of qnn.dense is i8, expected i32" },
    { "qnn.dense", "", "i8[1,2] 1; i8[3,3] 1; i8[] 0; i8[] 0", "", "expects 3 inputs" },
    { "qnn.matmul", "{transpose_a=false, transpose_b=false}",
      "u8[2,2] 1 2 3 4; i8[2,3] 1 2 3 4 5 6; u8[] 1; i8[3] 1 0 0", "i32[2,3] 3 5 6 9 19 24", NULL },
    { "qnn.matmul", "{transpose_a=true, transpose_b=true}",
      "u8[2,2] 1 3 2 4; i8[3,2] 1 4 2 5 3 6; u8[] 1; i8[3] 1 0 0", "i32[2,3] 3 5 6 9 19 24", NULL },
    { "qnn.matmul", "{transpose_a=false, transpose_b=false}",
      "i8[2,1,2] 1 2 3 4; i8[2,1] 5 6; i8[] 0; i8[] 5", "i32[2,1,1] 2 4", NULL },
    { "qnn.matmul", "{transpose_a=false, transpose_b=false}",
      "i8[2] 1 2; i8[2] 5 6; i8[] 0; i8[] 5", "i32[] 2", NULL },
};

START_TEST(conversions_by_hand)
{
    op_case_check(&conversions[_i]);
}
END_TEST

START_TEST(requantize_by_hand)
{
    op_case_check(&requantized[_i]);
}
END_TEST

START_TEST(add_and_mul_by_hand)
{
    op_case_check(&binary[_i]);
}
END_TEST

START_TEST(products_by_hand)
{
    op_case_check(&products[_i]);
}
END_TEST

/* --- fixed point ------------------------------------------------------------------------------ */

__extension__ typedef __int128 exact;

/* The greatest whole number <= x / d, for d > 0, by search from C's quotient. */
static exact down(exact x, exact d)
{
    exact q = x / d;

    while (q * d > x)
        q--;
    return q;
}

static exact within_32_bits(exact x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
}

static exact power_of_two(int n)
{
    exact power = 1;

    while (n-- > 0)
        power *= 2;
    return power;
}

/* x / d to nearest; in the middle upwards, or away from zero. */
static exact nearest(exact x, exact d, bool away)
{
    if (away && x < 0)
        return -nearest(-x, d, false);
    return down(2 * x + d, 2 * d);
}

static exact exact_double(exact x, exact multiplier, int shift)
{
    exact y = within_32_bits(x) * power_of_two(shift > 0 ? shift : 0);

    y = within_32_bits(nearest(y * multiplier, power_of_two(31), false));
    return nearest(y, power_of_two(shift < 0 ? -shift : 0), true);
}

static exact exact_single(exact x, exact multiplier, int shift)
{
    return within_32_bits(nearest(within_32_bits(x) * multiplier, power_of_two(31 - shift), false));
}

static void check_fixed_point(int64_t x, int32_t multiplier, int shift)
{
    const struct fixed_point factor = { multiplier, shift };
    const int64_t twice = (int64_t)exact_double(x, multiplier, shift);
    const int64_t once = (int64_t)exact_single(x, multiplier, shift);

    ck_assert_int_eq(fixed_point_apply(factor, x, ROUND_DOUBLE), twice);
    ck_assert_int_eq(requantize(x, multiplier, shift), twice);
    if (shift < 0 && x >= INT32_MIN && x <= INT32_MAX)
        ck_assert_int_eq(requantize_down((int32_t)x, multiplier, shift), twice);
    ck_assert_int_eq(fixed_point_apply(factor, x, ROUND_SINGLE), once);
    ck_assert_int_eq(requantize_once(x, multiplier, shift), once);
}

/* As generated C has it: what a float between the two roundings, and one of doubles, say. */
static void check_even(int32_t x, float factor, int32_t zero, int32_t least, int32_t greatest)
{
    const volatile float product = (float)x * factor;
    const double whole = rint((double)product) + zero;

    ck_assert_int_eq(requantize_even(x, factor, zero, least, greatest),
                     (int32_t)fmin(fmax(whole, least), greatest));
}

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

START_TEST(fixed_point_is_exact)
{
    static const int64_t numbers[] = { 0,         1,         2,         3,        5,
                                       127,       128,       65535,     1 << 30,  INT32_MAX - 1,
                                       INT32_MAX, 1LL << 31, 1LL << 40, INT64_MAX };
    static const int32_t multipliers[] = { 0,          1 << 30,       (1 << 30) + 1, 3 << 29,
                                           0x55555555, INT32_MAX - 1, INT32_MAX };
    uint64_t state = 88172645463325252u;

    for (int shift = -31; shift <= 30; shift++) {
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            for (size_t k = 0; k < sizeof multipliers / sizeof *multipliers; k++) {
                check_fixed_point(numbers[i], multipliers[k], shift);
                check_fixed_point(-numbers[i], multipliers[k], shift);
                check_fixed_point(-numbers[i] - 1, multipliers[k], shift);
            }
        for (int i = 0; i < 5000; i++) {
            const int bits = 1 + (int)(random_bits(&state) % 34);
            const int64_t x = (int64_t)(random_bits(&state) >> (64 - bits));

            check_fixed_point(random_bits(&state) % 2 ? x : -x,
                              (int32_t)(1 << 30 | random_bits(&state) >> 34), shift);
        }
        for (int i = 0; i < 200; i++) /* results in the middle: multiples of half a step */
            check_fixed_point((int64_t)i - 100, 1 << 30, shift);
    }
}
END_TEST

START_TEST(ties_go_to_even)
{
    uint64_t state = 7;

    for (int x = -2000; x <= 2000; x++)
        for (int shift = 0; shift < 5; shift++) { /* ties */
            check_even(x, ldexpf(1, -shift), -128, -128, 127);
            check_even(x, ldexpf(1, -shift), 77, 0, 255);
            check_even(x, ldexpf(3, -shift), -3, -32768, 32767);
        }
    for (int i = 0; i < 200000; i++) {
        const int32_t x = (int32_t)(random_bits(&state) >> 32) >> random_bits(&state) % 31;
        const float factor =
            ldexpf((float)(random_bits(&state) >> 40), (int)(random_bits(&state) % 60) - 60);

        check_even(x, factor, (int32_t)(random_bits(&state) % 256) - 128, -128, 127);
        check_even(x, factor, (int32_t)(random_bits(&state) % 65536), 0, 65535);
    }
    check_even(INT32_MIN, FLT_MAX, 127, -128, 127);
    check_even(INT32_MAX, FLT_MAX, -128, -128, 127);
    check_even(0, FLT_MAX, 5, 0, 255);
}
END_TEST

START_TEST(factors_are_the_nearest)
{
    uint64_t state = 1;

    for (int i = 0; i < 20000; i++) {
        const double factor = ldexp((double)(random_bits(&state) >> 11), (int)(i % 60) - 83);
        const struct fixed_point found = fixed_point_of(factor);
        const double back = ldexp(found.multiplier, found.shift - 31);

        if (factor >= 0x1p-32)
            ck_assert_msg(fabs(back - factor) <= ldexp(factor, -31), "%a became %a", factor, back);
        ck_assert(found.multiplier == 0 || found.multiplier >= 1 << 30);
        ck_assert(found.shift >= -31 && found.shift <= 30);
    }
    ck_assert_int_eq(fixed_point_of(1 - 0x1p-40).multiplier, 1 << 30); /* the carry */
    ck_assert_int_eq(fixed_point_of(1 - 0x1p-40).shift, 1);
    ck_assert_int_eq(fixed_point_of(0x1p-33).multiplier, 0);
    ck_assert_int_eq(fixed_point_of(0).multiplier, 0);
    ck_assert_int_eq(fixed_point_of(-1).multiplier, 0);
    ck_assert_int_eq(fixed_point_of(NAN).multiplier, 0);
    ck_assert_int_eq(fixed_point_of(INFINITY).multiplier, INT32_MAX);
    ck_assert_int_eq(fixed_point_of(INFINITY).shift, 30);
    ck_assert_int_eq(fixed_point_of((1 - 0x1p-40) * 0x1p30).multiplier, INT32_MAX);
}
END_TEST

/* How far the results are from those of real numbers. */
START_TEST(results_are_near_the_real_ones)
{
    uint64_t state = 5;

    for (int i = 0; i < 20000; i++) {
        const double a_scale = 0.001 + (double)(random_bits(&state) % 1000) / 1000;
        const double b_scale = 0.001 + (double)(random_bits(&state) % 1000) / 1000;
        const double scale = 0.002 + (double)(random_bits(&state) % 1000) / 1000;
        const int64_t a = (int64_t)(random_bits(&state) % 511) - 255;
        const int64_t b = (int64_t)(random_bits(&state) % 511) - 255;
        const struct qnn_add_factors f = qnn_add_factors_of(DTYPE_I8, a_scale, b_scale, scale);
        const int64_t sum = (int64_t)fixed_point_apply(f.a, a * (1 << 20), ROUND_DOUBLE) +
                            fixed_point_apply(f.b, b * (1 << 20), ROUND_DOUBLE);
        const double real_sum = ((double)a * a_scale + (double)b * b_scale) / scale;
        const double real_product = (double)(a * b) * a_scale * b_scale / scale;
        const struct fixed_point product = qnn_mul_factor_of(a_scale, b_scale, scale);

        ck_assert_double_le(fabs(fixed_point_apply(f.out, sum, ROUND_DOUBLE) - real_sum), 0.501);
        ck_assert_double_le(fabs(fixed_point_apply(product, a * b, ROUND_SINGLE) - real_product),
                            0.501);
        ck_assert_double_le(fabs(fixed_point_apply(product, a * b, ROUND_DOUBLE) - real_product),
                            1.001);
    }
}
END_TEST

/* --- constants, text -------------------------------------------------------------------------- */

static const struct {
    const char *lines, *error;
} constants[] = {
    { "  const @s : () f32 = [1]\n  const @z : () f8e4m3 = [0x38]\n"
      "  %y = qnn.quantize(%x, @s, @z) {axis=0, saturate=true} : (2) f8e4m3\n",
      "the zero point of FP8 is not the constant 0" },
    { "  const @s : () f32 = [1]\n  const @i : () i32 = [1]\n  const @z : () i8 = [0]\n"
      "  %c = cast(%x) {dtype=i32, saturate=true} : (2) i32\n"
      "  %y = qnn.requantize(%c, @s, @i, @s, @z) {axis=0, rounding=\"onnx\"} : (2) i8\n",
      "input 2, the zero point of x, must be the constant 0" },
};

START_TEST(constants_are_checked)
{
    struct ctx *ctx = ctx_new("qnn.ir");
    const char *text =
        arena_printf(&ctx->perm, "fn main(%%x: (2) f32) -> (%%y) {\n%s}\n", constants[_i].lines);

    ck_assert_ptr_null(module_parse(ctx, text, NULL, false));
    ck_assert_msg(strstr(expect_text(ctx), constants[_i].error) != NULL, "%s", expect_text(ctx));
    ctx_free(ctx);
}
END_TEST

START_TEST(fp8_rounds_once)
{
    struct ctx *ctx = ctx_new("qnn.ir");
    struct module *module =
        graph_parse(ctx,
                    "fn main(%x: (4) f32) -> (%q, %y) {\n"
                    "  const @s : () f32 = [2]\n  const @z : () f8e4m3 = [0x00]\n"
                    "  %q = qnn.quantize(%x, @s, @z) {axis=0, saturate=true} : (4) f8e4m3\n"
                    "  %y = qnn.dequantize(%q, @s, @z) {axis=0} : (4) f32\n}\n",
                    1);
    float numbers[] = { 2, 1000, -3, 0.1f };
    const struct tensor x = { module->main->params[0]->type, numbers };
    struct bulk bulk = { NULL, 0 };
    struct tensor y[2];

    ck_assert(interpret(ctx, module->main, &x, y, &bulk, NULL));
    ck_assert_int_eq(((uint8_t *)y[0].data)[0], 0x38);
    ck_assert_int_eq(((uint8_t *)y[0].data)[1], 0x7e); /* 448 */
    ck_assert_double_eq(tensor_at(&y[1], 1), 896);
    ck_assert_double_eq(tensor_at(&y[1], 2), -3);
    ck_assert_double_eq_tol(tensor_at(&y[1], 3), 0.1, 0.1 / 16);
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(text_reads_back)
{
    struct ctx *ctx = ctx_new("qnn.ir");
    struct module *module = graph_parse(
        ctx,
        "fn main(%x: (1,2,3,3) u8) -> (%y) {\n"
        "  const @w : (2,2,1,1) i8 = [1, 2, 3, -4]\n  const @b : (2) i32 = [5, -6]\n"
        "  const @s : (2) f32 = [0.5, 0.25]\n  const @t : () f32 = [0.125]\n"
        "  const @zx : () u8 = [128]\n  const @zw : () i8 = [0]\n  const @z : () i32 = [0]\n"
        "  %c = qnn.conv2d(%x, @w, @zx, @zw) {strides=[], padding=[], dilation=[], groups=1, "
        "data_layout=\"\", kernel_layout=\"\", out_dtype=i32} : (1,2,3,3) i32\n"
        "  %d = nn.bias_add(%c, @b) {axis=1} : (1,2,3,3) i32\n"
        "  %y = qnn.requantize(%d, @s, @z, @t, @zx) {axis=1, rounding=\"\"} : (1,2,3,3) u8\n}\n",
        1);
    const char *first = graph_text(module, true);
    struct module *again = module_parse(ctx, first, module, false);

    ck_assert_msg(again != NULL, "%s", expect_text(ctx));
    ck_assert_str_eq(graph_text(again, true), first);
    ck_assert_ptr_nonnull(strstr(first, "rounding=\"double\""));
    module_free(again);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops_qnn");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, conversions_by_hand, 0, N_ROWS(conversions));
    tcase_add_loop_test(tests, requantize_by_hand, 0, N_ROWS(requantized));
    tcase_add_test(tests, ties_go_to_even);
    tcase_add_loop_test(tests, add_and_mul_by_hand, 0, N_ROWS(binary));
    tcase_add_loop_test(tests, products_by_hand, 0, N_ROWS(products));
    tcase_add_test(tests, fixed_point_is_exact);
    tcase_add_test(tests, factors_are_the_nearest);
    tcase_add_test(tests, results_are_near_the_real_ones);
    tcase_add_loop_test(tests, constants_are_checked, 0, N_ROWS(constants));
    tcase_add_test(tests, fp8_rounds_once);
    tcase_add_test(tests, text_reads_back);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
