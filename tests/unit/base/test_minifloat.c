/* The codec against a model in long double that searches the decoded table: every code, every tie,
 * a sweep of all exponents; and the array functions against the model by its decision points. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minifloat.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

/* What the documents of the formats say, in numbers of their own. */
static const struct {
    const char *name;
    int bits, exponent_bits, bias;
    int nan, infinity; /* first codes of a positive sign, -1 = none */
    double max, least_normal, least;
    int seven; /* the code of 0.75, which all have */
} facts[] = {
    { "f4e2m1", 4, 2, 1, -1, -1, 6, 1, 0.5, -1 },
    { "f6e2m3", 6, 2, 1, -1, -1, 7.5, 1, 0.125, 0x06 },
    { "f6e3m2", 6, 3, 3, -1, -1, 28, 0.25, 0.0625, 0x0A },
    { "f8e2m5", 8, 2, 1, -1, -1, 7.875, 1, 0x1p-5, 0x18 },
    { "f8e3m4", 8, 3, 3, 0x7F, -1, 30, 0.25, 0x1p-6, 0x28 },
    { "f8e4m3", 8, 4, 7, 0x7F, -1, 448, 0x1p-6, 0x1p-9, 0x34 },
    { "f8e4m3fnuz", 8, 4, 8, 0x80, -1, 240, 0x1p-7, 0x1p-10, 0x3C },
    { "f8e5m2", 8, 5, 15, 0x7D, 0x7C, 57344, 0x1p-14, 0x1p-16, 0x3A },
    { "f8e5m2fnuz", 8, 5, 16, 0x80, -1, 57344, 0x1p-15, 0x1p-17, 0x3E },
    { "hfp8_143", 8, 4, 11, -1, -1, 30, 0x1p-10, 0x1p-13, 0x54 },
    { "u8e2m6", 8, 2, 1, -1, -1, 7.9375, 1, 0x1p-6, 0x30 },
    { "u8e3m5", 8, 3, 3, -1, -1, 31.5, 0.25, 0x1p-7, 0x50 },
    { "u8e4m4", 8, 4, 7, -1, -1, 496, 0x1p-6, 0x1p-10, 0x68 },
    { "afp<1,0,0>", 2, 1, 0, -1, -1, 2, 2, 2, -1 },
    { "afp<1,6,-3>", 8, 1, -3, -1, -1, 31.75, 16, 0.25, 0x03 },
    { "afp<2,5,40>", 8, 2, 40, -1, -1, 0x3fp-42, 0x1p-39, 0x1p-44, -1 },
    { "afp<5,2,9>", 8, 5, 9, -1, -1, 7340032, 0x1p-8, 0x1p-10, 0x22 },
    { "afp<7,0,63>", 8, 7, 63, -1, -1, 0x1p64, 0x1p-62, 0x1p-62, -1 },
    { "afp<3,2,148>", 6, 3, 148, -1, -1, 0x1.cp-141, 0x1p-147, 0x1p-149, -1 },
    { "afp<2,4,-124>", 7, 2, -124, -1, -1, 0x1.fp127, 0x1p125, 0x1p121, -1 },
    { "afp<8,7,128>", 16, 8, 128, -1, -1, 0x1.fep127, 0x1p-127, 0x1p-134, 0x3FC0 },
};

static struct minifloat format;
static unsigned sign;        /* the sign bit */
static unsigned n_finite;    /* magnitudes 0 .. n_finite - 1 are numbers */
static double number[32769]; /* of a magnitude; [n_finite] = the next one, were there one */

/* The definition of a magnitude's number, exponents of any size. */
static double define(unsigned magnitude, int exponent_bits, int mantissa_bits, int bias)
{
    const unsigned exponent = magnitude >> mantissa_bits;
    const double mantissa = (double)(magnitude % (1u << mantissa_bits)) / (1 << mantissa_bits);

    ck_assert_uint_le(exponent, 1u << exponent_bits);
    if (exponent == 0)
        return (double)(powl(2, 1 - bias) * (long double)mantissa);
    return (double)(powl(2, (long double)exponent - bias) * (1 + (long double)mantissa));
}

static bool is_unsigned(int row)
{
    return *facts[row].name == 'u';
}

static void choose(int row)
{
    const int magnitude_bits = facts[row].bits - !is_unsigned(row);
    const int mantissa_bits = magnitude_bits - facts[row].exponent_bits;

    ck_assert_msg(minifloat_from_name(facts[row].name, &format), "%s", facts[row].name);
    sign = 1u << magnitude_bits;
    n_finite = facts[row].infinity >= 0 ? (unsigned)facts[row].infinity
               : facts[row].nan >= 0 && (unsigned)facts[row].nan < sign ? (unsigned)facts[row].nan
                                                                        : sign;
    for (unsigned i = 0; i <= n_finite; i++)
        number[i] = define(i, facts[row].exponent_bits, mantissa_bits, facts[row].bias);
}

static bool is_fnuz(int row)
{
    return facts[row].nan >= 0 && (unsigned)facts[row].nan == sign;
}

static unsigned signed_code(int row, unsigned magnitude, bool negative)
{
    if (is_unsigned(row))
        return negative ? 0 : magnitude;
    return negative && (magnitude || !is_fnuz(row)) ? magnitude | sign : magnitude;
}

static unsigned nan_code(int row, bool negative)
{
    return is_fnuz(row) ? sign : signed_code(row, sign - 1, negative);
}

static unsigned overflow_code(int row, bool negative, bool saturate)
{
    if (!saturate && facts[row].infinity >= 0)
        return (unsigned)facts[row].infinity | (negative ? sign : 0);
    if (!saturate && facts[row].nan >= 0)
        return nan_code(row, negative);
    return signed_code(row, n_finite - 1, negative);
}

/* The nearest number, by bisection of the sorted table; of two equally near ones the even code. All
 * differences are exact in long double: both have few bits and are neighbours, or one is far less
 * than the other, where the comparison does not depend on the last bits. */
static unsigned search(int row, double value, bool saturate)
{
    const double positive = fabs(value);
    const bool negative = signbit(value);
    unsigned low = 0, high = n_finite;
    long double below, above;

    if (isnan(value))
        return nan_code(row, negative);
    if (positive >= number[n_finite])
        return overflow_code(row, negative, saturate);
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;

        if (number[middle] <= positive)
            low = middle;
        else
            high = middle;
    }
    below = (long double)positive - (long double)number[low];
    above = (long double)number[high] - (long double)positive;
    if (above < below || (above == below && low % 2))
        low = high;
    return low == n_finite ? overflow_code(row, negative, saturate)
                           : signed_code(row, low, negative);
}

START_TEST(constants_are_those_of_the_documents)
{
    choose(_i);
    ck_assert_int_eq(minifloat_bits(&format), facts[_i].bits);
    ck_assert_double_eq((double)minifloat_max(&format), facts[_i].max);
    ck_assert_double_eq((double)minifloat_decode(&format, 1), facts[_i].least);
    ck_assert_double_eq((double)minifloat_decode(&format, 1u << format.mantissa_bits),
                        facts[_i].least_normal);
    if (facts[_i].seven >= 0)
        ck_assert_double_eq((double)minifloat_decode(&format, (unsigned)facts[_i].seven), 0.75);
    if (facts[_i].nan >= 0)
        ck_assert(isnan(minifloat_decode(&format, (unsigned)facts[_i].nan)));
    ck_assert_uint_eq(minifloat_nan(&format), nan_code(_i, false));
}
END_TEST

START_TEST(every_code_decodes_by_definition_and_comes_back)
{
    choose(_i);
    for (unsigned code = 0; code < 1u << facts[_i].bits; code++) {
        const unsigned magnitude = code % sign;
        const double value = (double)minifloat_decode(&format, code);

        ck_assert(memcmp(&(float){ (float)value },
                         &(float){ minifloat_decode(&format, code | 1u << facts[_i].bits) },
                         sizeof(float)) == 0 ||
                  isnan(value)); /* bits above do not matter */
        if (is_fnuz(_i) && code == sign) {
            ck_assert(isnan(value));
        } else if (magnitude < n_finite) {
            ck_assert_double_eq(value, code < sign ? number[magnitude] : -number[magnitude]);
            ck_assert(!signbit(value) == (code < sign));
        } else if (facts[_i].infinity == (int)magnitude) {
            ck_assert(isinf(value) && !signbit(value) == (code < sign));
            ck_assert_uint_eq(minifloat_encode(&format, value, false), code);
            ck_assert_uint_eq(minifloat_encode(&format, value, true), code - 1);
            continue;
        } else {
            ck_assert(isnan(value));
            ck_assert_uint_eq(minifloat_encode(&format, value, false), nan_code(_i, code >= sign));
            continue;
        }
        ck_assert_uint_eq(minifloat_encode(&format, value, false), code);
        ck_assert_uint_eq(minifloat_encode(&format, value, true), code);
    }
}
END_TEST

START_TEST(greater_codes_are_greater_numbers)
{
    choose(_i);
    for (unsigned i = 1; i < n_finite; i++)
        ck_assert(minifloat_decode(&format, i) > minifloat_decode(&format, i - 1));
}
END_TEST

static void check_encode(int row, double value)
{
    for (int saturate = 0; saturate < 2; saturate++) {
        const unsigned got = minifloat_encode(&format, value, saturate);
        const unsigned want = search(row, value, saturate);

        if (got != want)
            ck_abort_msg("%s: %a (saturate %d) gives code %02x, expected %02x", format.name, value,
                         saturate, got, want);
    }
}

static void check_both_signs(int row, double value)
{
    check_encode(row, value);
    check_encode(row, -value);
}

/* Between all neighbours, the last number and infinity's place included: half way, and the nearest
 * doubles on both sides, which a detour over f32 would round to the tie. */
START_TEST(halves_go_to_the_even_code_and_a_hair_off_to_the_nearer)
{
    choose(_i);
    for (unsigned i = 0; i < n_finite; i++) {
        const double half = (number[i] + number[i + 1]) / 2;
        const unsigned even = i % 2 ? i + 1 : i;

        ck_assert_uint_eq(minifloat_encode(&format, half, true), even == n_finite ? i : even);
        ck_assert_uint_eq(minifloat_encode(&format, nextafter(half, 0), true), i);
        ck_assert_uint_eq(minifloat_encode(&format, nextafter(half, (double)INFINITY), true),
                          i + 1 == n_finite ? i : i + 1);
        check_both_signs(_i, half);
        check_both_signs(_i, nextafter(half, 0));
        check_both_signs(_i, nextafter(half, (double)INFINITY));
        check_both_signs(_i, (double)nextafterf((float)half, 0));
        check_both_signs(_i, (double)nextafterf((float)half, INFINITY));
    }
}
END_TEST

static const double extremes[] = { 0,          0x1p-1074,      0x1p-1022, 0x1p-150, 0x1p-149,
                                   0x1p-126,   0x1.fffffep127, 0x1p128,   0x1p200,  0x1p1023,
                                   0x1.fp1023, INFINITY,       NAN };

START_TEST(extreme_numbers_have_their_codes)
{
    choose(_i);
    for (int i = 0; i < N_ROWS(extremes); i++)
        check_both_signs(_i, extremes[i]);
}
END_TEST

/* ONNX's table of Cast, operators.md. */
static const struct {
    const char *name;
    double value;
    unsigned saturated, not_saturated;
} cast_table[] = {
    { "f8e4m3", 0, 0x00, 0x00 },
    { "f8e4m3", -0.0, 0x80, 0x80 },
    { "f8e4m3", NAN, 0x7F, 0x7F },
    { "f8e4m3", INFINITY, 0x7E, 0x7F },
    { "f8e4m3", -INFINITY, 0xFE, 0xFF },
    { "f8e4m3", 1000, 0x7E, 0x7F },
    { "f8e4m3", -1000, 0xFE, 0xFF },
    { "f8e4m3", 464, 0x7E, 0x7E },
    { "f8e4m3fnuz", -0.0, 0x00, 0x00 },
    { "f8e4m3fnuz", -1e-9, 0x00, 0x00 },
    { "f8e4m3fnuz", NAN, 0x80, 0x80 },
    { "f8e4m3fnuz", INFINITY, 0x7F, 0x80 },
    { "f8e4m3fnuz", -1000, 0xFF, 0x80 },
    { "f8e4m3fnuz", 248, 0x7F, 0x80 },
    { "f8e5m2", -0.0, 0x80, 0x80 },
    { "f8e5m2", NAN, 0x7F, 0x7F },
    { "f8e5m2", INFINITY, 0x7B, 0x7C },
    { "f8e5m2", -INFINITY, 0xFB, 0xFC },
    { "f8e5m2", 1e6, 0x7B, 0x7C },
    { "f8e5m2", 61439, 0x7B, 0x7B },
    { "f8e5m2fnuz", -0.0, 0x00, 0x00 },
    { "f8e5m2fnuz", NAN, 0x80, 0x80 },
    { "f8e5m2fnuz", INFINITY, 0x7F, 0x80 },
    { "f8e5m2fnuz", -INFINITY, 0xFF, 0x80 },
    { "f4e2m1", INFINITY, 0x07, 0x07 },
    { "f4e2m1", NAN, 0x07, 0x07 },
    { "f8e2m5", -INFINITY, 0xFF, 0xFF }, /* not ONNX's: relayc's own, which the header defines */
    { "f8e2m5", -NAN, 0xFF, 0xFF },
    { "u8e2m6", NAN, 0xFF, 0xFF },
    { "u8e2m6", -NAN, 0x00, 0x00 },
    { "u8e2m6", INFINITY, 0xFF, 0xFF },
    { "u8e2m6", -INFINITY, 0x00, 0x00 },
    { "u8e2m6", -0.0, 0x00, 0x00 },
    { "u8e2m6", -1, 0x00, 0x00 },
    { "u8e4m4", 1000, 0xFF, 0xFF },
};

START_TEST(overflow_and_nan_are_those_of_onnx_cast)
{
    const double value = cast_table[_i].value;

    ck_assert(minifloat_from_name(cast_table[_i].name, &format));
    ck_assert_uint_eq(minifloat_encode(&format, value, true), cast_table[_i].saturated);
    ck_assert_uint_eq(minifloat_encode(&format, value, false), cast_table[_i].not_saturated);
}
END_TEST

/* --- arrays ----------------------------------------------------------------------------------- */
enum { BLOCK = 1 << 14 };

static uint64_t state = 1;

static uint32_t random_bits(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

/* Encodes a block of f32 both ways and compares with the search. */
static void check_block(int row, const uint32_t *bits, size_t n)
{
    static float values[BLOCK];
    static uint8_t codes[BLOCK];

    memcpy(values, bits, n * sizeof *values);
    for (int saturate = 0; saturate < 2; saturate++) {
        minifloat_encode_array(&format, values, codes, n, saturate);
        for (size_t i = 0; i < n; i++)
            if (codes[i] != search(row, (double)values[i], saturate))
                ck_abort_msg("%s: f32 %08x (saturate %d) gives code %02x, expected %02x",
                             format.name, bits[i], saturate, codes[i],
                             search(row, (double)values[i], saturate));
    }
}

/* Every sign and exponent (NaN and subnormals are exponents) with 2^15 mantissas: all 2^9 upper
 * parts, each with the 32 lower parts that lie around a boundary of rounding, and as many random
 * ones. */
START_TEST(arrays_of_f32_are_encoded_as_one_by_one)
{
    static uint32_t bits[BLOCK];

    choose(_i);
    if (minifloat_bits(&format) > 8)
        return;
    for (uint32_t exponent = 0; exponent < 512; exponent++) {
        for (uint32_t i = 0; i < BLOCK; i++)
            bits[i] = exponent << 23 | ((((i >> 5) << 14) + (i & 31) - 16) & 0x7FFFFF);
        check_block(_i, bits, BLOCK);
        for (uint32_t i = 0; i < BLOCK; i++)
            bits[i] = exponent << 23 | (random_bits() & 0x7FFFFF);
        check_block(_i, bits, BLOCK);
    }
}
END_TEST

START_TEST(arrays_of_any_length_leave_the_rest_alone)
{
    float values[200], back[600];
    uint8_t codes[600];

    choose(_i);
    if (minifloat_bits(&format) > 8)
        return;
    for (size_t i = 0; i < 200; i++)
        values[i] = (float)(((double)random_bits() - 0x1p31) * 0x1p-31 * facts[_i].max * 1.25);
    for (size_t n = 0; n < 200; n++) {
        memset(codes, 0xA5, sizeof codes);
        minifloat_encode_array(&format, values, codes, n, true);
        for (size_t i = 0; i < n; i++)
            ck_assert_uint_eq(codes[i], minifloat_encode(&format, (double)values[i], true));
        ck_assert_uint_eq(codes[n], 0xA5);
    }
    for (size_t i = 0; i < 600; i++)
        codes[i] = (uint8_t)i;
    for (size_t n = 1; n <= 600; n += 599) {
        minifloat_decode_array(&format, codes, back, n);
        for (size_t i = 0; i < n; i++) {
            const float want = minifloat_decode(&format, codes[i]);

            ck_assert(memcmp(&back[i], &want, sizeof want) == 0);
        }
    }
}
END_TEST

static const struct {
    const char *name;
    bool ok;
} names[] = {
    { "f8e4m3", true },
    { "f8e4m3fn", false },
    { "", false },
    { "afp<4,3,7>", true },
    { "afp<4,3,7", false },
    { "afp<4,3,7>x", false },
    { "afp<4, 3,7>", false },
    { "afp<04,3,7>", false },
    { "afp<0,3,7>", false },
    { "afp<9,0,200>", false },
    { "afp<4,8,7>", false },
    { "afp<4,-1,7>", false },
    { "afp<4,3,147>", true },
    { "afp<4,3,148>", false },
    { "afp<4,3,-112>", true },
    { "afp<4,3,-113>", false },
    { "afp<4,3,99999999999>", false },
};

START_TEST(names_are_rows_or_adaptive_formats_within_f32)
{
    struct minifloat found;

    ck_assert_msg(minifloat_from_name(names[_i].name, &found) == names[_i].ok, "%s",
                  names[_i].name);
    if (names[_i].ok)
        ck_assert_str_eq(found.name, names[_i].name);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("minifloat");
    TCase *tcase = tcase_create("minifloat");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, constants_are_those_of_the_documents, 0, N_ROWS(facts));
    tcase_add_loop_test(tcase, every_code_decodes_by_definition_and_comes_back, 0, N_ROWS(facts));
    tcase_add_loop_test(tcase, greater_codes_are_greater_numbers, 0, N_ROWS(facts));
    tcase_add_loop_test(tcase, halves_go_to_the_even_code_and_a_hair_off_to_the_nearer, 0,
                        N_ROWS(facts));
    tcase_add_loop_test(tcase, extreme_numbers_have_their_codes, 0, N_ROWS(facts));
    tcase_add_loop_test(tcase, overflow_and_nan_are_those_of_onnx_cast, 0, N_ROWS(cast_table));
    tcase_add_loop_test(tcase, arrays_of_f32_are_encoded_as_one_by_one, 0, N_ROWS(facts));
    tcase_add_loop_test(tcase, arrays_of_any_length_leave_the_rest_alone, 0, N_ROWS(facts));
    tcase_add_loop_test(tcase, names_are_rows_or_adaptive_formats_within_f32, 0, N_ROWS(names));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
