/* Averages, sums, softmax and tables of quantised numbers: numbers by hand, softmax against exact
 * arithmetic, and what is refused. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "relay_ir/ops/qnn.h"
#include "runtime/embed/power_of_steps.h"
#include "tests/support/expect.h"
#include "tests/support/op_case.h"

#define POOL(size, where, counts)                                                                  \
    "{pool_size=" size ", " where ", dilation=[], ceil_mode=false, count_include_pad=" counts      \
    ", p=0, storage_order=0, layout=\"\"}"
#define PLAIN "strides=[], padding=[]"
#define PADDED "strides=[2], padding=[1,1]"
#define SAME "; f32[] 0.5; i8[] 3; f32[] 0.5; i8[] 3"
#define HALF "; f32[] 0.5; i8[] 3; f32[] 1; i8[] -5" /* one step is two of x */

static const struct op_case cases[] = {
    /* halves go away from the zero point, 3 */
    { "qnn.avg_pool1d", POOL("[2]", PLAIN, "false"), "i8[1,1,5] 4 5 1 0 -128" SAME,
      "i8[1,1,4] 5 3 0 -64", NULL },
    /* ((4-3) + (5-3)) / 4 = 0.75, -1.0, -6.25 ... */
    { "qnn.avg_pool1d", POOL("[2]", PLAIN, "false"), "i8[1,1,4] 4 5 -3 -10" HALF,
      "i8[1,1,3] -4 -6 -10", NULL },
    /* padding is left out, or 3 */
    { "qnn.avg_pool1d", POOL("[2]", PADDED, "false"), "i8[1,1,2] 9 7" SAME, "i8[1,1,2] 9 7", NULL },
    { "qnn.avg_pool1d", POOL("[2]", PADDED, "true"), "i8[1,1,2] 9 7" SAME, "i8[1,1,2] 6 5", NULL },
    { "qnn.avg_pool1d", POOL("[2]", PLAIN, "false"),
      "u8[1,1,3] 255 255 0; f32[] 1; u8[] 0; f32[] 0.001; i16[] 0", "i16[1,1,2] 32767 32767",
      NULL },
    { "qnn.avg_pool1d", POOL("[2]", PLAIN, "false"),
      "i8[1,1,5] 4; f32[] 1; u8[] 0; f32[] 1; i8[] 0", "",
      "input 2 of qnn.avg_pool1d is a zero point of u8, expected i8" },
    { "qnn.avg_pool1d", POOL("[2]", PLAIN, "false"),
      "f32[1,1,5] 4; f32[] 1; i8[] 0; f32[] 1; i8[] 0", "", "expected i8, u8, i16 or u16" },
    { "qnn.avg_pool2d", POOL("[2]", PLAIN, "false"), "i8[1,1,5,5] 4" SAME, "",
      "pool_size has 1 entries, expected 2" },

    { "qnn.mean", "{axis=[1], keepdims=false}", "i8[2,2] 4 5 1 0" SAME, "i8[2] 5 0", NULL },
    { "qnn.mean", "{axis=[], keepdims=true}", "i8[2,2] 4 5 -3 10" HALF, "i8[1,1] -4", NULL },
    { "qnn.sum", "{axis=[1], keepdims=true}", "i8[2,2] 4 5 13 23" HALF, "i8[2,1] -3 10", NULL },
    { "qnn.sum", "{axis=[3], keepdims=true}", "i8[2,2] 4" HALF, "", "out of range" },

    { "qnn.softmax", "{axis=0}", "i8[2] 7 7; f32[] 1; i8[] 0; f32[] 0.00390625; i8[] -128",
      "i8[2] 0 0", NULL },
    { "qnn.softmax", "{axis=0}", "i8[2] 127 -128; f32[] 1; i8[] 0; f32[] 0.00390625; i8[] -128",
      "i8[2] 127 -128", NULL },
    { "qnn.softmax", "{axis=1}", "u8[1,4] 9; f32[] 1; u8[] 0; f32[] 0.25; u8[] 10",
      "u8[1,4] 11 11 11 11", NULL },
    { "qnn.softmax", "{axis=0}", "i8[0]; f32[] 1; i8[] 0; f32[] 0.00390625; i8[] -128", "i8[0]",
      NULL },
    { "qnn.softmax", "{axis=0}", "i8[2] 7 7; f32[] 1; i8[] 0; f32[] nan; i8[] 3", "i8[2] 3 3",
      NULL },
    { "qnn.softmax", "{axis=0}", "i16[2] 7; f32[] 1; i16[] 0; f32[] 0.00390625; i8[] -128",
      "i8[2] 0 0", NULL },
    { "qnn.softmax_powers", "{axis=1}",
      "i8[1,2] 7 7; i32[256] 2147483647 0; f32[] 0.00390625; i8[] -128", "i8[1,2] 0 0", NULL },
    /* -ln 2 in sixteenths; one alone is 0 */
    { "qnn.log_softmax_powers", "{axis=1}",
      "i8[1,2] 7 7; i32[256] 2147483647; i32[256] 0; f32[] 0.0625; i8[] 127", "i8[1,2] 116 116",
      NULL },
    { "qnn.log_softmax_powers", "{axis=0}",
      "i8[1] 7; i32[256] 2147483647; i32[256] 0; f32[] 0.0625; i8[] 127", "i8[1] 127", NULL },
    { "qnn.log_softmax_powers", "{axis=0}",
      "u8[1] 7; i32[256] 2147483647; i32[256] 0; f32[] 0.0625; i8[] 127", "",
      "of u8, expected i8" },
    { "qnn.log_softmax_powers", "{axis=0}",
      "i8[1] 7; i32[256] 2147483647; i32[255] 0; f32[] 0.0625; i8[] 127", "",
      "expected (256) i32" },
    { "qnn.l2_normalize_double", "{axis=1}", "i8[2,2] 6 11 3 3; i8[] 3; f32[] 0.0078125; i8[] 0",
      "i8[2,2] 45 120 0 0", NULL },
    { "qnn.l2_normalize_double", "{axis=0}", "u8[2] 6; u8[] 3; f32[] 0.0078125; i8[] 0", "",
      "of u8, expected i8" },
    { "qnn.softmax", "{axis=0}",
      "i16[2] -32768 32767; f32[] 0.0001; i16[] 0; f32[] 0.0000152587890625; u16[] 0",
      "u16[2] 93 65443", NULL },
    { "qnn.softmax", "{axis=0}", "f32[2] 7; f32[] 1; i16[] 0; f32[] 1; i8[] 0", "",
      "expected i8, u8, i16 or u16" },
    { "qnn.softmax", "{axis=1}", "i8[2] 7; f32[] 1; i8[] 0; f32[] 1; i8[] 0", "",
      "axis 1 is out of range" },

    /* y as TensorFlow Lite Micro computes it */
    { "qnn.lstm_tables", "{time_major=false, h_scale=0.0078125, h_zero=4, c_power=-11, c_most=0}",
      "i8[1,2,1] 20 -90; i8[4,1] 50 -70 90 30; i8[4,1] -20 40 60 -80; i32[4] 250 -410 570 140; "
      "f32[8] 4.096 4.096 4.096 4.096 0.32 0.32 0.32 0.32; i8[1,1] 4; i16[1,1] 0; "
      "i32[4] 80 -160 -240 320",
      "i8[1,2,1] 60 8; i16[1,1] 1534", NULL },
    { "qnn.lstm_tables", "{time_major=false, h_scale=0.0078125, h_zero=4, c_power=-11, c_most=0}",
      "i8[1,2,1] 20; i8[4,1] 50; i8[4,2] 20; i32[4] 1; f32[8] 1; i8[1,2] 4; i16[1,2] 0; i32[4] 1",
      ";", "do not fit together" },
    { "qnn.lstm_tables", "{time_major=false, h_scale=0.0078125, h_zero=0, c_power=-11, c_most=0}",
      "i16[1,2,1] 20; i8[4,1] 50; i8[4,1] 20; i32[4] 1; f32[8] 1; i16[1,1] 4; i16[1,1] 0", ";",
      "do not fit together" },
    { "qnn.lstm_tables", "{time_major=false, h_scale=0.0078125, h_zero=4, c_power=-11, c_most=0}",
      "i16[1,2,1] 20; i8[4,1] 50; i8[4,1] 20; i64[4] 1; f32[8] 1; i16[1,1] 4; i16[1,1] 0", ";",
      "out of range" },
    { "qnn.lstm_tables", "{time_major=false, h_scale=0.0078125, h_zero=4, c_power=1, c_most=0}",
      "i8[1,2,1] 20; i8[4,1] 50; i8[4,1] 20; i32[4] 1; f32[8] 1; i8[1,1] 4; i16[1,1] 0; i32[4] 1",
      ";", "out of range" },

    /* -ln 2 in tenths; next to 0 and 25.5 below it; of four -ln 4 */
    { "qnn.log_softmax", "{axis=0}", "i8[2] 7 7; f32[] 1; i8[] 0; f32[] 0.1; i8[] 127",
      "i8[2] 120 120", NULL },
    { "qnn.log_softmax", "{axis=0}", "i8[2] 127 -128; f32[] 0.1; i8[] 0; f32[] 0.1; i8[] 127",
      "i8[2] 127 -128", NULL },
    { "qnn.log_softmax", "{axis=1}", "u8[1,4] 9; f32[] 1; u8[] 0; f32[] 0.25; u8[] 10",
      "u8[1,4] 4 4 4 4", NULL },
    { "qnn.log_softmax", "{axis=0}", "i8[0]; f32[] 1; i8[] 0; f32[] 0.1; i8[] -128", "i8[0]",
      NULL },
    { "qnn.log_softmax", "{axis=0}", "u16[2] 7 7; f32[] 1; u16[] 0; f32[] 0.1; i8[] 127",
      "i8[2] 120 120", NULL },
    { "qnn.log_softmax", "{axis=0}", "f32[2] 7; f32[] 1; i16[] 0; f32[] 1; i8[] 0", "",
      "expected i8, u8, i16 or u16" },
    { "qnn.log_softmax", "{axis=0}", "f8e4m3[2] 0x38; f32[] 1; f8e4m3[] 0; f32[] 1; f8e4m3[] 1", "",
      "the zero point of f8e4m3 is not the constant 0" },

    /* a quarter and three quarters between -8 and 8; halves go up */
    { "qnn.resize",
      "{size=[4], scales=[], roi=[], method=\"linear\", "
      "coordinate_transformation_mode=\"half_pixel\", "
      "rounding_method=\"floor\", cubic_alpha=0, exclude_outside=false, antialias=false, "
      "extrapolation_value=0}",
      "i8[2] -8 8", "i8[4] -8 -4 4 8", NULL },
    { "qnn.resize",
      "{size=[1,3], scales=[], roi=[], method=\"linear\", "
      "coordinate_transformation_mode=\"align_corners\", "
      "rounding_method=\"floor\", cubic_alpha=0, exclude_outside=false, antialias=false, "
      "extrapolation_value=0}",
      "i8[1,2] -128 127", "i8[1,3] -128 0 127", NULL },
    { "qnn.resize",
      "{size=[4], scales=[], roi=[], method=\"cubic\", "
      "coordinate_transformation_mode=\"half_pixel\", "
      "rounding_method=\"floor\", cubic_alpha=-0.75, exclude_outside=false, antialias=false, "
      "extrapolation_value=0}",
      "i8[2] -120 120", "i8[4] -128 -66 66 127", NULL },
    { "qnn.resize",
      "{size=[4], scales=[], roi=[], method=\"linear\", "
      "coordinate_transformation_mode=\"half_pixel\", "
      "rounding_method=\"floor\", cubic_alpha=0, exclude_outside=false, antialias=false, "
      "extrapolation_value=0}",
      "f32[2] 1", "", "expected i8, u8 or FP8" },

    { "qnn.lut", "{axis=0}", "u8[2] 0 255; i8[256] 5; f32[] 1; i8[] 0", "i8[2] 5 5", NULL },
    { "qnn.lut", "{axis=1}", "i8[1,2] -128 127; u16[2,256] 500; f32[] 1; u16[] 0",
      "u16[1,2] 500 500", NULL },
    { "qnn.lut", "{axis=0}", "i16[2] 0; i8[256] 5; f32[] 1; i8[] 0", "", "expected i8 or u8" },
    { "qnn.lut", "{axis=0}", "u8[2] 0; i8[255] 5; f32[] 1; i8[] 0", "",
      "input 1 of qnn.lut has shape 255, expected 256" },
    { "qnn.lut", "{axis=1}", "u8[1,2] 0; i8[3,256] 5; f32[] 1; i8[] 0", "",
      "input 1 of qnn.lut has shape 3x256" },

    { "qnn.subtract", "",
      "i8[2] 10 -100; u8[2] 4 200; f32[] 1; i8[] 0; f32[] 0.5; u8[] 0; f32[] 2; "
      "i8[] 1",
      "i8[2] 5 -99", NULL },
};

START_TEST(by_hand)
{
    op_case_check(&cases[_i]);
}
END_TEST

/* Every difference of two numbers, for several scales: a result is at most half a step and what
 * its power of 31 bits is off from the exact quotient. */
START_TEST(softmax_is_nearest)
{
    static const double in_scales[] = { 0.001, 0.0371, 0.1, 1 }, out_scales[] = { 1.0 / 256, 0.01 };

    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++) {
            const struct qnn_softmax softmax = qnn_softmax_of(in_scales[i], out_scales[k]);

            for (int d = 0; d < QNN_VALUES; d++) {
                const uint64_t sum = (uint64_t)softmax.powers[0] + softmax.powers[d];
                const uint64_t half = (uint64_t)1 << (softmax.shift - 1);
                const uint64_t stored =
                    (softmax.powers[d] * (softmax.numerator / sum) + half) >> softmax.shift;
                const double power = exp(-d * in_scales[i]);
                const double exact = power / (1 + power) / out_scales[k];

                ck_assert_msg(fabs((double)stored - exact) <= 0.5 + 1e-5, "%d: %g, wanted %g", d,
                              (double)stored, exact);
            }
        }
}
END_TEST

/* The same of 16 bits, and with results of as many. */
START_TEST(wide_softmax_is_nearest)
{
    static const double in_scales[] = { 1e-5, 0.000371, 0.02, 1 };
    static const double out_scales[] = { 1.0 / 256, 1.0 / 65536, 1.6e-5 };

    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            const struct qnn_softmax softmax = qnn_softmax_of(in_scales[i], out_scales[k]);
            const uint64_t half = (uint64_t)1 << (softmax.shift - 1);

            for (int d = 0; d < QNN_WIDE_VALUES; d++) {
                const uint64_t power = qnn_power_at(softmax.powers, d);
                const uint64_t sum = ((uint64_t)1 << 31) + power;
                const double found =
                    (double)((power * (softmax.numerator / sum) + half) >> softmax.shift);
                const double real = exp(-d * in_scales[i]);
                const double exact = real / (1 + real) / out_scales[k];

                ck_assert_uint_eq(power_of_steps(d, softmax.powers), power);
                ck_assert_msg(fabs(found - exact) <= 0.5 + 1e-3, "%d: %g, wanted %g", d, found,
                              exact);
            }
        }
}
END_TEST

/* Against exact arithmetic: half a step, and 1/30 of one. */
START_TEST(log_softmax_is_nearest)
{
    static const double in_scales[] = { 0.001, 0.0371, 0.1, 1 }, out_scales[] = { 0x1p-14, 0.05 };

    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++) {
            const struct qnn_log_softmax of = qnn_log_softmax_of(in_scales[i], out_scales[k]);

            for (int d = 0; d < QNN_VALUES; d++) {
                /* of two, d steps apart: the sum is 2^31 and powers[d] */
                const double m = 1 + (double)of.powers[d] / 0x1p31, at = (m - 1) * 256;
                const int low = m < 2 ? (int)at : 255;
                const double log_sum =
                    of.logs[low] + (of.logs[low + 1] - of.logs[low]) * (at - low);
                const double found = (d * (double)of.step + log_sum) / 65536;
                const double exact =
                    (d * in_scales[i] + log1p(exp(-d * in_scales[i]))) / out_scales[k];

                ck_assert_msg(fabs(found - exact) <= 1.0 / 28 + exact * 1e-6, "%d: %g, wanted %g",
                              d, found, exact);
            }
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops: tables and averages of quantised numbers");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, by_hand, 0, N_ROWS(cases));
    tcase_add_test(tests, softmax_is_nearest);
    tcase_add_test(tests, wide_softmax_is_nearest);
    tcase_add_test(tests, log_softmax_is_nearest);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
