#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

/* The definition of a binary format with 5 or 8 bits of exponent, in its own words. */
static double decode(unsigned bits, int exponent_bits, int mantissa_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    const int mantissa = (int)bits & ((1 << mantissa_bits) - 1);
    const double sign = bits >> 15 ? -1 : 1;

    if (exponent == (1 << exponent_bits) - 1)
        return mantissa ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * mantissa * pow(2, 1 - bias - mantissa_bits);
    return sign * (1 + mantissa / pow(2, mantissa_bits)) * pow(2, exponent - bias);
}

static const struct {
    float (*to_f32)(uint16_t bits);
    uint16_t (*from_f64)(double value);
    int exponent_bits, mantissa_bits;
} formats[] = {
    { f16_to_f32, f16_from_f64, 5, 10 },
    { bf16_to_f32, bf16_from_f64, 8, 7 },
};

START_TEST(every_code_decodes_by_definition_and_comes_back)
{
    for (unsigned bits = 0; bits < 65536; bits++) {
        const double value = (double)formats[_i].to_f32((uint16_t)bits);
        const double want = decode(bits, formats[_i].exponent_bits, formats[_i].mantissa_bits);

        if (isnan(want)) {
            ck_assert(isnan(value) &&
                      isnan((double)formats[_i].to_f32(formats[_i].from_f64(value))));
            continue;
        }
        if (value != want || formats[_i].from_f64(value) != bits)
            ck_abort_msg("code %04x is %.17g, expected %.17g; back it is %04x", bits, value, want,
                         formats[_i].from_f64(value));
    }
}
END_TEST

/* Between any two neighbours: half way goes to the even code, a hair off goes to the nearer one. */
START_TEST(halves_go_to_the_even_neighbour)
{
    const unsigned infinity = ((1u << formats[_i].exponent_bits) - 1) << formats[_i].mantissa_bits;

    for (unsigned bits = 0; bits < infinity; bits++) {
        const double low = decode(bits, formats[_i].exponent_bits, formats[_i].mantissa_bits);
        const double high =
            bits + 1 < infinity
                ? decode(bits + 1, formats[_i].exponent_bits, formats[_i].mantissa_bits)
                : 2 * low - decode(bits - 1, formats[_i].exponent_bits, formats[_i].mantissa_bits);
        const double half = low + (high - low) / 2;
        const unsigned even = bits + bits % 2;

        if (formats[_i].from_f64(half) != even ||
            formats[_i].from_f64(nextafter(half, 0)) != bits ||
            formats[_i].from_f64(nextafter(half, INFINITY)) != bits + 1 ||
            formats[_i].from_f64(-half) != (even | 0x8000))
            ck_abort_msg("above code %04x", bits);
    }
}
END_TEST

static const struct {
    double value;
    uint16_t f16, bf16;
} specials[] = {
    { 0, 0, 0 },
    { -0.0, 0x8000, 0x8000 },
    { INFINITY, 0x7C00, 0x7F80 },
    { -INFINITY, 0xFC00, 0xFF80 },
    { 1e300, 0x7C00, 0x7F80 },
    { -1e300, 0xFC00, 0xFF80 },
    { 1e-300, 0, 0 },
    { 65519.999, 0x7BFF, 0x4780 },
    { 65520, 0x7C00, 0x4780 },
    { 0x1p-25, 0, 0x3300 }, /* half of the least subnormal: even is 0 */
    { 0x1.000001p-25, 1, 0x3300 },
    { 1.00390625000001, 0x3C04, 0x3F81 }, /* a float would round this to a tie */
};

START_TEST(extremes_are_clear)
{
    ck_assert_uint_eq(f16_from_f64(specials[_i].value), specials[_i].f16);
    ck_assert_uint_eq(bf16_from_f64(specials[_i].value), specials[_i].bf16);
}
END_TEST

static const struct {
    enum dtype dtype;
    double value, want;
} stores[] = {
    { DTYPE_I8, 127.5, 127 },
    { DTYPE_I8, -1e9, -128 },
    { DTYPE_I8, 2.5, 2 }, /* ties to even */
    { DTYPE_I8, NAN, 0 },
    { DTYPE_U8, -1, 0 },
    { DTYPE_U8, 256, 255 },
    { DTYPE_I16, 40000, 32767 },
    { DTYPE_U16, 65536, 65535 },
    { DTYPE_I32, -3e9, -2147483648.0 },
    { DTYPE_U32, 5e9, 4294967295.0 },
    { DTYPE_I64, INFINITY, 9223372036854775808.0 },
    { DTYPE_I64, -INFINITY, -9223372036854775808.0 },
    { DTYPE_U64, INFINITY, 18446744073709551616.0 },
    { DTYPE_U64, -5, 0 },
    { DTYPE_U64, 1e19, 1e19 },
    { DTYPE_BOOL, 0.25, 1 },
    { DTYPE_BOOL, -0.0, 0 },
    { DTYPE_F32, 1e300, INFINITY },
    { DTYPE_F64, 1e300, 1e300 },
    { DTYPE_F16, 1 + 0x1p-11, 1 },
    { DTYPE_BF16, 1 + 0x1p-7, 1 + 0x1p-7 },
};

START_TEST(stores_round_and_saturate)
{
    uint64_t memory[3] = { 0x5555555555555555, 0x5555555555555555, 0x5555555555555555 };
    unsigned char *element = (unsigned char *)memory + dtype_bytes(stores[_i].dtype);

    dtype_store(stores[_i].dtype, memory, 1, stores[_i].value);
    ck_assert_double_eq(dtype_load(stores[_i].dtype, memory, 1), stores[_i].want);
    ck_assert_uint_eq(element[-1], 0x55); /* nothing else was touched */
    ck_assert_uint_eq(element[dtype_bytes(stores[_i].dtype)], 0x55);
}
END_TEST

static const struct {
    enum dtype dtype;
    int64_t value, want;
} wholes[] = {
    { DTYPE_I8, 200, -56 },
    { DTYPE_U8, -1, 255 },
    { DTYPE_I16, 65537, 1 },
    { DTYPE_U16, -2, 65534 },
    { DTYPE_I32, 4294967297, 1 },
    { DTYPE_U32, -1, 4294967295 },
    { DTYPE_I64, INT64_MIN, INT64_MIN },
    { DTYPE_I64, 9007199254740993, 9007199254740993 },
    { DTYPE_U64, -1, -1 },
    { DTYPE_BOOL, 256, 1 },
    { DTYPE_F32, 3, 3 },
    { DTYPE_F16, 100000, INT64_MAX }, /* infinity */
};

START_TEST(whole_numbers_wrap_to_the_width)
{
    uint64_t memory = 0;

    dtype_store_int(wholes[_i].dtype, &memory, 0, wholes[_i].value);
    ck_assert_int_eq(dtype_load_int(wholes[_i].dtype, &memory, 0), wholes[_i].want);
}
END_TEST

START_TEST(loads_of_floats_as_whole_numbers_truncate)
{
    const float values[] = { -1.9F, 1.9F, NAN, 1e30F, -1e30F };
    const int64_t want[] = { -1, 1, 0, INT64_MAX, INT64_MIN };

    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(dtype_load_int(DTYPE_F32, values, i), want[i]);
}
END_TEST

/* The types without arithmetic in C, whose codec has its own test. */
static const struct {
    enum dtype dtype;
    double value, stored;
    uint8_t code;
    int64_t whole;
} minifloats_stored[] = {
    { DTYPE_F8E4M3, 1.1, 1.125, 0x39, 1 },      { DTYPE_F8E4M3, -1e9, -448, 0xFE, -448 },
    { DTYPE_F8E4M3FNUZ, 1.1, 1.125, 0x41, 1 },  { DTYPE_F8E4M3FNUZ, 1e9, 240, 0x7F, 240 },
    { DTYPE_F8E5M2, -2.4, -2.5, 0xC1, -2 },     { DTYPE_F8E5M2, INFINITY, 57344, 0x7B, 57344 },
    { DTYPE_F8E5M2FNUZ, -2.4, -2.5, 0xC5, -2 }, { DTYPE_F8E5M2FNUZ, -1e-9, 0, 0x00, 0 },
};

START_TEST(minifloats_are_stored_and_loaded_by_their_codec)
{
    const enum dtype dtype = minifloats_stored[_i].dtype;
    uint8_t codes[3] = { 0xA5, 0xA5, 0xA5 };

    dtype_store(dtype, codes, 1, minifloats_stored[_i].value);
    ck_assert_uint_eq(codes[1], minifloats_stored[_i].code);
    ck_assert(codes[0] == 0xA5 && codes[2] == 0xA5);
    ck_assert_double_eq(dtype_load(dtype, codes, 1), minifloats_stored[_i].stored);
    ck_assert_int_eq(dtype_load_int(dtype, codes, 1), minifloats_stored[_i].whole);
    dtype_store_int(dtype, codes, 1, -2);
    ck_assert_double_eq(dtype_load(dtype, codes, 1), -2);
    codes[1] = 0x80;
    ck_assert(isnan(dtype_load(dtype, codes, 1)) ==
              (dtype == DTYPE_F8E4M3FNUZ || dtype == DTYPE_F8E5M2FNUZ));
}
END_TEST

/* 2^(code - 127). */
START_TEST(exponents_are_powers_of_two)
{
    static const struct {
        double value;
        uint8_t code;
    } rows[] = { { 1, 127 },        { 1.49, 127 },     { 1.5, 128 },     { 0x1p-127, 0 },
                 { 0x1.8p-127, 1 }, { 0x1.7p-127, 0 }, { 0, 0 },         { -3, 0 },
                 { 0x1p127, 254 },  { INFINITY, 254 }, { -INFINITY, 0 }, { NAN, 255 } };
    uint8_t code;

    for (size_t i = 0; i < N_ROWS(rows); i++) {
        dtype_store(DTYPE_F8E8M0, &code, 0, rows[i].value);
        ck_assert_msg(code == rows[i].code, "%g is %d", rows[i].value, code);
    }
    for (int i = 0; i < 255; i++) {
        const uint8_t all = (uint8_t)i;

        ck_assert(dtype_load(DTYPE_F8E8M0, &all, 0) == ldexp(1, i - 127));
        dtype_store(DTYPE_F8E8M0, &code, 0, ldexp(1, i - 127));
        ck_assert_int_eq(code, i);
    }
    code = 255;
    ck_assert(isnan(dtype_load(DTYPE_F8E8M0, &code, 0)));
}
END_TEST

START_TEST(names_and_onnx_codes_lead_back_to_their_rows)
{
    static const int32_t onnx[] = {
#define DTYPE(symbol, name, bits, kind, c_type, code) [DTYPE_##symbol] = code,
#include "base/dtype.def"
#undef DTYPE
    };

    for (int i = 1; i < DTYPE_COUNT; i++) {
        ck_assert_int_eq(dtype_from_name(dtype_name((enum dtype)i)), i);
        if (onnx[i] != 0)
            ck_assert_int_eq(dtype_from_onnx(onnx[i]), i);
        ck_assert_uint_gt(dtype_bytes((enum dtype)i), 0);
    }
    ck_assert_int_eq(dtype_from_name("f33"), DTYPE_NONE);
    ck_assert_int_eq(dtype_from_name("?"), DTYPE_NONE);
    ck_assert_int_eq(dtype_from_onnx(0), DTYPE_NONE);
    ck_assert_int_eq(dtype_from_onnx(8), DTYPE_NONE); /* strings */
    ck_assert_int_eq(dtype_from_onnx(-1), DTYPE_NONE);
    ck_assert(dtype_is_float(DTYPE_BF16) && !dtype_is_float(DTYPE_F8E4M3));
    ck_assert(dtype_is_integer(DTYPE_U8) && !dtype_is_integer(DTYPE_BOOL));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dtype");
    TCase *tcase = tcase_create("dtype");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, every_code_decodes_by_definition_and_comes_back, 0, N_ROWS(formats));
    tcase_add_loop_test(tcase, halves_go_to_the_even_neighbour, 0, N_ROWS(formats));
    tcase_add_loop_test(tcase, extremes_are_clear, 0, N_ROWS(specials));
    tcase_add_loop_test(tcase, stores_round_and_saturate, 0, N_ROWS(stores));
    tcase_add_loop_test(tcase, whole_numbers_wrap_to_the_width, 0, N_ROWS(wholes));
    tcase_add_test(tcase, loads_of_floats_as_whole_numbers_truncate);
    tcase_add_loop_test(tcase, minifloats_are_stored_and_loaded_by_their_codec, 0,
                        N_ROWS(minifloats_stored));
    tcase_add_test(tcase, exponents_are_powers_of_two);
    tcase_add_test(tcase, names_and_onnx_codes_lead_back_to_their_rows);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
