/* Operators of audio front ends: numbers by hand, and what is refused. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/op_case.h"

#define FACTORS "; i16[2,2] 32767 0 0 -32767; i16[1,2] -32767 0"
#define PLAIN                                                                                      \
    "{smoothing=0, rest=16384, odd_smoothing=0, odd_rest=16384, least=4096, shift=2, bits=14, "    \
    "clamping="
#define BANK(first, widths)                                                                        \
    "; i16[4] 1 2 3 4; i16[4] 4 3 2 1; i16[3] 0 2 3; i16[3] " first "; i16[3] " widths

static const struct op_case cases[] = {
    /* x is shifted as far as 15 bits allow; of zeros, and beside 32768, not at all */
    { "signal.auto_scale", "", "i16[3] 3 -4 0", "i16[3] 12288 -16384 0; i32[] 12", NULL },
    { "signal.auto_scale", "", "i16[2] 0 0", "i16[2] 0 0; i32[] 0", NULL },
    { "signal.auto_scale", "", "i16[2] 1 -32768", "i16[2] 1 -32768; i32[] 0", NULL },
    { "signal.auto_scale", "", "i16[2] -32768 16384", "i16[2] -32768 16384; i32[] 0", NULL },
    { "signal.auto_scale", "", "i16[2] -32768 8192", "i16[2] 0 16384; i32[] 1", NULL },
    { "signal.auto_scale", "", "i32[2] 1 2", ";",
      "input 0 of signal.auto_scale is (2) i32, expected i16" },

    /* 1 * 10 + 2 * 20 of band 1 fall to channel 0 by 4 * 10 + 3 * 20 ... */
    { "signal.filter_bank", "", "u32[4] 10 20 30 40" BANK("0 2 3", "2 1 1"), "u64[2] 190 220",
      NULL },
    { "signal.filter_bank", "", "u32[4] 10 20 30 40" BANK("0 2 3", "2 1 2"), "",
      "a band that does not lie within" },
    { "signal.filter_bank", "", "u32[4] 10 20 30 40" BANK("-1 2 3", "2 1 1"), "",
      "a band that does not lie within" },
    { "signal.filter_bank", "", "u32[4] 1; i16[4] 1; i16[3] 1; i16[2] 0; i16[2] 0; i16[2] 1", "",
      "input 2 of signal.filter_bank" },

    /* to nearest; of 32 bits 65535 at most */
    { "signal.square_root", "", "u64[6] 0 2 3 6 7 4294967295; i32[] 0", "u32[6] 0 1 2 2 3 65535",
      NULL },
    { "signal.square_root", "", "u64[2] 4294967296 99; i32[] 2", "u32[2] 16384 2", NULL },
    { "signal.square_root", "", "u32[2] 4; i32[] 2", "", "expected u64" },

    /* the noise, 2 more bits, taken off, but for a quarter */
    { "signal.spectral_subtraction", PLAIN "false}", "u32[3] 100 100 100; u32[3] 40 380 500",
      "u32[3] 90 25 25; u32[3] 40 380 500", NULL },
    { "signal.spectral_subtraction", PLAIN "true}", "u32[3] 100 100 100; u32[3] 40 380 500",
      "u32[3] 90 25 25; u32[3] 40 380 400", NULL },
    { "signal.spectral_subtraction", PLAIN "true}", "u32[3] 1; u32[2] 1", ";",
      "expected u32, 3 numbers" },
    { "signal.spectral_subtraction",
      "{smoothing=-1, rest=0, odd_smoothing=0, odd_rest=0, least=0, shift=0, bits=0, "
      "clamping=true}",
      "u32[3] 1; u32[3] 1", ";", "expected 32 bits" },

    /* gain 64 in 2^-6: x^2 / 4 below 2, x - 1 above, in 2^-6 */
    { "signal.pcan", "{shift=0}", "u32[3] 64 127 640; u32[3] 0 0 0; i16[125] 64",
      "u32[3] 16 63 576", NULL },
    { "signal.pcan", "{shift=0}", "u32[3] 64; u32[3] 0; i16[124] 64", "",
      "124 gains, expected 125" },
    { "signal.pcan", "{shift=64}", "u32[3] 64; u32[3] 0; i16[125] 64", "", "shifts by 64 bits" },

    /* ln 2 = 0.6931, ln 1024 = 6.931 */
    { "signal.log", "{scale=6000, shift=0}", "u32[4] 0 1 2 1024", "i16[4] 0 0 4159 32767", NULL },
    { "signal.log", "{scale=1000, shift=1}", "u32[3] 1 512 0", "i16[3] 693 6931 0", NULL },
    { "signal.log", "{scale=1000, shift=32}", "u32[3] 1", "", "shifts by 32 bits" },

    /* the transform of one impulse, over 4 points; a quarter of it, rounded three times */
    { "signal.rfft", "{length=4}", "i16[4] 8000 0 0 0" FACTORS, "i16[6] 2000 0 2000 0 2000 0",
      NULL },
    { "signal.rfft", "{length=4}", "i16[1] 8000" FACTORS, "i16[6] 2000 0 2000 0 2000 0", NULL },
    { "signal.rfft", "{length=14}", "i16[14] 1" FACTORS, "",
      "expected an even number from 4 to 65536 with the factors 2, 3 and 5" },
    { "signal.rfft", "{length=15}", "i16[15] 1" FACTORS, "", "15 points, expected an even number" },
    /* over 6 points; a sixth of it, rounded twice */
    { "signal.rfft", "{length=6}",
      "i16[6] 6000 0 0 0 0 0; i16[3,2] 32767 0 -16383 -28377 -16383 28377; i16[1,2] -28377 -16384",
      "i16[8] 1000 0 1000 0 1000 0 1000 0", NULL },
    { "signal.rfft", "{length=4}", "i16[5] 1" FACTORS, "", "4 points reads rows of 5" },
    { "signal.rfft", "{length=8}", "i16[8] 1" FACTORS, "", "are not those of 8 points" },
    { "signal.rfft", "{length=4}", "f32[4] 1; f32[2,2] 1; f32[1,2] 1", "", "expected i16 or i32" },
    { "signal.irfft", "{length=4}", "i16[6] 2000 0 2000 0 2000 0" FACTORS, "i16[4] 2000 0 0 0",
      NULL },
    { "signal.irfft", "{length=4}", "i16[4] 2000" FACTORS, "", "4 points reads rows of 4" },
};

START_TEST(by_hand)
{
    op_case_check(&cases[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops: audio front ends");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, by_hand, 0, N_ROWS(cases));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
