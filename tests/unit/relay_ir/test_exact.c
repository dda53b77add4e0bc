/* Narrow floats in integers (relay_ir/ops/exact.h): against definitions that know nothing of bits,
 * for every format that has such a form; and the helpers of generated C against both. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minifloat.h"
#include "base/str.h"
#include "relay_ir/interpret.h"
#include "relay_ir/ops/exact.h"
#include "relay_ir/text.h"
#include "relay_ir/walk.h"
#include "runtime/embed/minifloat_steps.h"
#include "runtime/embed/scale_to_i64.h"
#include "runtime/embed/scale_to_minifloat.h"
#include "runtime/embed/sum_to_minifloat.h"
#include "tests/support/expect.h"
#include "tests/support/op_case.h"

static const enum minifloat_row exact_rows[] = {
    MINIFLOAT_F4E2M1, MINIFLOAT_F6E2M3,     MINIFLOAT_F6E3M2,   MINIFLOAT_F8E3M4,
    MINIFLOAT_F8E4M3, MINIFLOAT_F8E4M3FNUZ, MINIFLOAT_HFP8_143, MINIFLOAT_F8E2M5,
    MINIFLOAT_U8E2M6, MINIFLOAT_U8E3M5,     MINIFLOAT_U8E4M4,
};

static uint64_t state = 1;

static uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static unsigned greatest_code(const struct minifloat *format)
{
    return minifloat_encode(format, INFINITY, true);
}

static unsigned sign_of(const struct minifloat *format)
{
    return 1u << (format->exponent_bits + format->mantissa_bits);
}

static bool has_sign(const struct minifloat *format)
{
    return format->sign == MINIFLOAT_SIGNED;
}

START_TEST(steps_are_numbers)
{
    const struct minifloat *format = &minifloats[exact_rows[_i]];

    for (unsigned code = 0; code < 256; code++) {
        const double number = (double)minifloat_decode(format, code);
        const double steps = isnan(number) ? 0 : ldexp(number, -exact_unit(format));

        ck_assert_double_eq(exact_steps(format, code), steps);
        ck_assert_int_eq(
            exact_steps(format, code),
            minifloat_steps(code, format->mantissa_bits, greatest_code(format), sign_of(format)));
        ck_assert_double_le(fabs(steps), (double)exact_greatest(format));
    }
    ck_assert_int_eq(exact_steps(format, 1), 1);
    ck_assert_int_eq(exact_steps(format, greatest_code(format)), exact_greatest(format));
}
END_TEST

START_TEST(wide_formats_have_no_steps)
{
    ck_assert_int_eq(exact_greatest(&minifloats[MINIFLOAT_F8E5M2]), 0);
    ck_assert_int_eq(exact_greatest(&minifloats[MINIFLOAT_F8E5M2FNUZ]), 0);
    ck_assert_int_eq(exact_greatest(NULL), 0);
    ck_assert_int_eq(exact_greatest(&minifloats[MINIFLOAT_F8E4M3]), 448 * 512);
}
END_TEST

static wide distance(wide a, wide b)
{
    return a < b ? b - a : a - b;
}

/* The code nearest to x * factor, found by looking at all of them; -75 <= shift <= 20. */
static unsigned nearest_code(const struct minifloat *format, int64_t x, struct exact_factor factor)
{
    const wide up = factor.shift > 0 ? (wide)1 << factor.shift : 1;
    const wide down = factor.shift < 0 ? (wide)1 << -factor.shift : 1;
    const wide magnitude = (x < 0 ? -(wide)x : (wide)x) * factor.multiplier;
    unsigned best = 0;

    for (unsigned code = 1; code <= greatest_code(format); code++) {
        const wide here = distance(magnitude * up, exact_steps(format, code) * down);
        const wide there = distance(magnitude * up, exact_steps(format, best) * down);

        if (here < there || (here == there && code % 2 == 0))
            best = code;
    }
    if (x < 0 && !has_sign(format))
        return 0;
    return best && x < 0 ? best | sign_of(format) : best;
}

static void check_scale(const struct minifloat *format, int64_t x, struct exact_factor factor)
{
    const unsigned wanted = nearest_code(format, x, factor);

    ck_assert_msg(exact_scale(format, x, factor) == wanted, "%s: %lld * %d * 2^%d: %u, wanted %u",
                  format->name, (long long)x, factor.multiplier, factor.shift,
                  exact_scale(format, x, factor), wanted);
    ck_assert_uint_eq(scale_to_minifloat(x, factor.multiplier, factor.shift, format->mantissa_bits,
                                         greatest_code(format), sign_of(format)),
                      wanted);
}

START_TEST(scaling_finds_the_nearest_code)
{
    const struct minifloat *format = &minifloats[exact_rows[_i]];

    for (int i = 0; i < 20000; i++) {
        const int64_t x = (int64_t)random_bits() >> random_bits() % 64;
        const struct exact_factor factor = { (int32_t)(1u << 30 | random_bits() >> 34),
                                             (int)(random_bits() % 72) - 75 };

        check_scale(format, x, factor);
    }
}
END_TEST

/* Around every number and every middle between two, one unit of the product to either side. */
START_TEST(ties_go_to_the_even_code)
{
    const struct minifloat *format = &minifloats[exact_rows[_i]];

    for (int shift = -31; shift > -40; shift--)
        for (unsigned code = 0; code < greatest_code(format); code++)
            for (int64_t off = -1; off <= 1; off++) {
                const int64_t middle =
                    exact_steps(format, code) + (int64_t)exact_steps(format, code + 1);
                const int64_t x = middle * ((int64_t)1 << -(shift + 31)) + off;

                check_scale(format, x, (struct exact_factor){ 1 << 30, shift });
                check_scale(format, -x, (struct exact_factor){ 1 << 30, shift });
            }
}
END_TEST

START_TEST(extremes_saturate_or_vanish)
{
    const struct minifloat *format = &minifloats[exact_rows[_i]];
    static const int64_t numbers[] = { INT64_MAX, INT64_MIN, INT64_MIN + 1, 1, -1, 0 };
    static const int shifts[] = { -127, -100, -96, -64, -33, -32, -31, 0, 31 };

    for (int n = 0; n < 6; n++)
        for (int s = 0; s < 9; s++) {
            const struct exact_factor factor = { INT32_MAX, shifts[s] };
            const unsigned code = exact_scale(format, numbers[n], factor);
            const double number = ldexp((double)numbers[n] * INT32_MAX, shifts[s]);
            unsigned wanted = minifloat_encode(format, ldexp(number, exact_unit(format)), true);

            if ((wanted & (sign_of(format) - 1)) == 0)
                wanted = 0;
            ck_assert_uint_eq(code, wanted);
            ck_assert_uint_eq(scale_to_minifloat(numbers[n], factor.multiplier, factor.shift,
                                                 format->mantissa_bits, greatest_code(format),
                                                 sign_of(format)),
                              code);
        }
}
END_TEST

/* Against a division of 128 bits, and around the limits. */
START_TEST(whole_numbers_round_alike)
{
    static const int64_t ends[] = { INT64_MAX, INT64_MIN, INT64_MIN + 1, 1, -1, 0 };
    const wide most = (wide)1 << 62;

    for (int i = 0; i < 400000; i++) {
        const int64_t x =
            i % 8 == 0 ? ends[i / 8 % 6] : (int64_t)random_bits() >> random_bits() % 64;
        const struct exact_factor factor = { i % 3 == 0 ? 1 << 30
                                                        : (int32_t)(1u << 30 | random_bits() >> 34),
                                             (int)(random_bits() % 126) - 94 };
        const wide product = (x < 0 ? -(wide)x : (wide)x) * factor.multiplier;
        const wide unit = factor.shift < 0 ? (wide)1 << -factor.shift : 1;
        const wide rest = product % unit;
        wide wanted = product / unit;

        wanted += 2 * rest > unit || (2 * rest == unit && wanted % 2 == 1);
        if (factor.shift > 0)
            wanted = wanted > most ? most : wanted << factor.shift;
        wanted = (wanted > most ? most : wanted) * (x < 0 ? -1 : 1);
        ck_assert_msg(exact_scale_whole(x, factor) == (int64_t)wanted, "%lld * %d * 2^%d",
                      (long long)x, factor.multiplier, factor.shift);
        ck_assert_int_eq(scale_to_i64(x, factor.multiplier, factor.shift), (int64_t)wanted);
    }
    ck_assert_int_eq(scale_to_i64(INT64_MIN, INT32_MAX, -127), 0);
    ck_assert_int_eq(exact_scale_whole(INT64_MIN, (struct exact_factor){ INT32_MAX, -127 }), 0);
}
END_TEST

START_TEST(sums_round_as_products_do)
{
    const struct minifloat *format = &minifloats[exact_rows[_i]];

    for (int i = 0; i < 20000; i++) {
        const int64_t x = (int64_t)random_bits() >> (2 + random_bits() % 61);
        const int shift = (int)(random_bits() % 80) - 70;
        const uint64_t magnitude = (uint64_t)(x < 0 ? -x : x);
        const unsigned wanted = nearest_code(format, x, (struct exact_factor){ 1, shift });

        ck_assert_uint_eq(exact_round(format, magnitude, shift, x < 0), wanted);
        ck_assert_uint_eq(sum_to_minifloat(x, shift, format->mantissa_bits, greatest_code(format),
                                           sign_of(format)),
                          wanted);
    }
}
END_TEST

START_TEST(factors_are_the_nearest)
{
    for (int i = 0; i < 10000; i++) {
        const double real =
            ldexp(0.5 + (double)(random_bits() >> 12) * 0x1p-53, (int)(random_bits() % 150) - 90);
        const struct exact_factor factor = exact_factor_of(real);

        if (real < 0x1p-96)
            continue;
        ck_assert_int_ge(factor.multiplier, real >= 0x1p62 ? 0 : 1 << 30);
        ck_assert_double_le(fabs(ldexp(factor.multiplier, factor.shift) / real - 1), 0x1p-31);
    }
    ck_assert_int_eq(exact_factor_of(0).multiplier, 0);
    ck_assert_int_eq(exact_factor_of(-1).multiplier, 0);
    ck_assert_int_eq(exact_factor_of((double)NAN).multiplier, 0);
    ck_assert_int_eq(exact_factor_of((double)INFINITY).multiplier, INT32_MAX);
    ck_assert_int_eq(exact_factor_of(0x1.ffffffffffp-1).multiplier, 1 << 30);
    ck_assert_int_eq(exact_factor_of(0x1p-120).multiplier, 0);
}
END_TEST

/* --- operators --------------------------------------------------------------------------------
 * Nodes on constants; `z` is a zero point. */

#define CONV                                                                                       \
    "{strides=[], padding=[1,1,1,1], dilation=[], groups=1, data_layout=\"\", "                    \
    "kernel_layout=\"\"}"

static const struct operator_case {
    const char *constants, *node;
    const char *error; /* part of the message, instead of a result; NULL = none */
    double wanted[8];  /* numbers of the result */
} operators[] = {
    { "a : (1,2) f8e4m3 = [0x7e, 0xfe]; b : (1,2) f8e4m3 = [0x7e, 0x7e]",
      "qnn.dense(@a, @b, @z, @z) : (1,1) i64",
      NULL,
      { 0 } },
    { "a : (1,2) f8e4m3 = [0x7e, 0x01]; b : (2,2) f8e4m3 = [0x7e, 0x7e, 0x7e, 0xff]",
      "qnn.dense(@a, @b, @z, @z) : (1,2) i64",
      NULL,
      { 52613578752.0, 52613349376.0 } },
    { "a : (1,2) f8e3m4 = [0x7e, 0x10]; b : (2,1) f8e4m3 = [0x38, 0x80]; y : () f8e3m4 = [0x00]",
      "qnn.matmul(@a, @b, @y, @z) {transpose_a=false, transpose_b=false} : (1,1) i64",
      NULL,
      { 30 * 64 * 512.0 } },
    { "a : (1,1) f8e4m3fnuz = [0x80]; b : (1,1) f8e4m3fnuz = [0x7f]; y : () f8e4m3fnuz = [0x00]",
      "qnn.dense(@a, @b, @y, @y) : (1,1) i64",
      NULL,
      { 0 } },
    { "a : (1,1,1,2) f8e4m3 = [0x38, 0x40]; b : (1,1,3,3) f8e4m3 = [0x38, 0x40, 0x44, 0x48, 0x4a, "
      "0x4c, 0x4e, 0x50, 0x51]",
      "qnn.conv2d(@a, @b, @z, @z) " CONV " : (1,1,1,2) i64",
      NULL,
      { 17 * 262144.0, 14 * 262144.0 } },
    { "a : (5) i64 = [262144, -262144, 1088, 1089, 9223372036854775807]; s : () f32 = "
      "[3.814697265625e-06]; y : () f32 = [1]",
      "qnn.requantize(@a, @s, @z, @y, @z) {axis=0, rounding=\"\"} : (5) f8e4m3",
      NULL,
      { 1, -1, 0.00390625, 0.00390625, 448 } },
    { "a : (1,3) i64 = [17, 19, -27]; s : (3) f32 = [1, 0.5, 1]; y : () f32 = [1]",
      "qnn.requantize(@a, @s, @z, @y, @z) {axis=1, rounding=\"single\"} : (1,3) f8e4m3",
      NULL,
      { 16, 10, -28 } }, /* ties: 17, 9.5, 27 */
    { "a : (4) f8e4m3 = [0x38, 0x7e, 0x01, 0x7f]; b : (4) f8e4m3 = [0x40, 0x7e, 0x81, 0x44]; s : "
      "() "
      "f32 = [0.5]; y : () f32 = [0.25]",
      "qnn.add(@a, @b, @s, @z, @s, @z, @y, @z) : (4) f8e4m3",
      NULL,
      { 6, 448, 0, 6 } },
    { "a : (3) f8e4m3 = [0x3c, 0x7e, 0x81]; b : (1) f8e4m3 = [0x44]; s : () f32 = [0.5]; y : () "
      "f32 = "
      "[0.25]",
      "qnn.mul(@a, @b, @s, @z, @s, @z, @y, @z) : (3) f8e4m3",
      NULL,
      { 4.5, 448, -0.005859375 } },
    { "a : (1,2) f8e5m2 = [0x00, 0x00]; y : () f8e5m2 = [0x00]",
      "qnn.dense(@a, @a, @y, @y) : (1,1) i64",
      "expected a narrow float with at most",
      { 0 } },
    { "a : (1,2) f8e4m3 = [0x00, 0x00]; y : () f8e4m3 = [0x38]",
      "qnn.dense(@a, @a, @z, @y) : (1,1) i64",
      "the zero point of f8e4m3 is not the constant 0",
      { 0 } },
    { "a : (1) i64 = [1]; s : () f32 = [1]",
      "qnn.requantize(@a, @s, @z, @s, @z) {axis=0, rounding=\"double\"} : (1) f8e4m3",
      "rounding is \"double\", expected one of \"single\"",
      { 0 } },
    { "a : (1) i32 = [1]; s : () f32 = [1]",
      "qnn.requantize(@a, @s, @z, @s, @z) {axis=0, rounding=\"\"} : (1) f8e4m3",
      "is i32, expected i64",
      { 0 } },
    { "a : (1) f8e4m3 = [0x01]; b : (1) f8e3m4 = [0x01]; s : () f32 = [1]",
      "qnn.add(@a, @b, @s, @z, @s, @z, @s, @z) : (1) f8e4m3",
      NULL,
      { 9.0 / 512 } }, /* of two formats */
};

static const char *graph_of(struct ctx *ctx, const struct operator_case *row)
{
    struct str text = { .arena = &ctx->perm };

    str_add(&text, "fn main() -> (%out) {\n  const @z : () f8e4m3 = [0x00]\n");
    for (const char *at = row->constants; *at; at += strspn(at, "; ")) {
        const size_t n = strcspn(at, ";");

        str_printf(&text, "  const @%.*s\n", (int)n, at);
        at += n;
    }
    str_printf(&text, "  %%out = %s\n}\n", row->node);
    return str_text(&text);
}

static struct module *graph_parse_or_null(struct ctx *ctx, const char *text)
{
    return module_parse(ctx, text, NULL, false);
}

START_TEST(operators_are_exact)
{
    const struct operator_case *row = &operators[_i];
    struct ctx *ctx = ctx_new(NULL);
    const char *text = graph_of(ctx, row);
    struct module *module = graph_parse_or_null(ctx, text);
    struct bulk bulk = { NULL, 0 };
    struct tensor y;

    if (row->error) {
        ck_assert_ptr_null(module);
        ck_assert_msg(strstr(expect_text(ctx), row->error) != NULL, "%s", expect_text(ctx));
        ctx_free(ctx);
        return;
    }
    ck_assert_msg(module != NULL, "%s", expect_text(ctx));
    ck_assert(interpret(ctx, module->main, NULL, &y, &bulk, NULL));
    for (int64_t i = 0; i < type_elements(&y.type); i++)
        ck_assert_double_eq(tensor_at(&y, i), row->wanted[i]);
    bulk_release(&bulk);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* 2^27 products of the greatest numbers: the sum in a shape that no machine computes is typed, one
 * of more than fit is refused, and the sum of all of them is still a number of 64 bits. */
START_TEST(the_longest_sum_fits)
{
    static const char text[] = "fn main(%%x: (1,%lld) f8e4m3, %%w: (1,%lld) f8e4m3) -> (%%y) {\n"
                               "  const @z : () f8e4m3 = [0x00]\n"
                               "  %%y = qnn.dense(%%x, %%w, @z, @z) : (1,1) i64\n}\n";
    const int64_t most = INT64_MAX / exact_greatest(&minifloats[MINIFLOAT_F8E4M3]) /
                         exact_greatest(&minifloats[MINIFLOAT_F8E4M3]);
    const long long lengths[] = { 1 << 27, most, most + 1 };

    ck_assert_int_gt(most, 1 << 27);
    for (int i = 0; i < 3; i++) {
        struct ctx *ctx = ctx_new(NULL);
        const char *graph = arena_printf(&ctx->perm, text, lengths[i], lengths[i]);
        struct module *module = graph_parse_or_null(ctx, graph);

        ck_assert_msg((module != NULL) == (i < 2), "%s", expect_text(ctx));
        ck_assert(i < 2 || strstr(expect_text(ctx), "may leave 64 bits"));
        if (module)
            module_free(module);
        ctx_free(ctx);
    }
}
END_TEST

int main(void)
{
    const int n_formats = N_ROWS(exact_rows);
    Suite *suite = suite_create("exact");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, steps_are_numbers, 0, n_formats);
    tcase_add_test(tests, wide_formats_have_no_steps);
    tcase_add_loop_test(tests, scaling_finds_the_nearest_code, 0, n_formats);
    tcase_add_loop_test(tests, ties_go_to_the_even_code, 0, n_formats);
    tcase_add_loop_test(tests, extremes_saturate_or_vanish, 0, n_formats);
    tcase_add_loop_test(tests, sums_round_as_products_do, 0, n_formats);
    tcase_add_test(tests, whole_numbers_round_alike);
    tcase_add_test(tests, factors_are_the_nearest);
    tcase_add_test(tests, the_longest_sum_fits);
    tcase_add_loop_test(tests, operators_are_exact, 0, N_ROWS(operators));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
