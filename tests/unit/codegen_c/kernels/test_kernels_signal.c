/* Audio front ends of integers as generated C against the reference: exactly equal. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/kernel_case.h"

#define TURNS(type, half, quarter)                                                                 \
    "; const " type "[" half ",2] 32767 0 -31000 9000; const " type "[" quarter ",2] "             \
    "-15000 28000"
#define WIDE(half, quarter)                                                                        \
    "; const i32[" half ",2] 2147483647 0 -1000000000 1900000000; const i32[" quarter              \
    ",2] -100 2147483647"

/* Some numbers make sums wrap. */
static const struct kernel_case transforms[] = {
    { "rfft", "signal.rfft", "length=4", "i16[3,4] 32767 -32768 5 -6 9000" TURNS("i16", "2", "1") },
    { "rfft", "signal.rfft", "length=16", "i16[16]" TURNS("i16", "8", "4") },
    { "rfft", "signal.rfft", "length=32", "i16[2,29] 32767 -32768 -32768" TURNS("i16", "16", "8") },
    { "rfft", "signal.rfft", "length=64", "i32[61] 2147483647 -2147483648 99" WIDE("32", "16") },
    { "rfft", "signal.rfft", "length=8", "i32[2,8] 2000000000 -77 5" WIDE("4", "2") },
    { "rfft", "signal.rfft", "length=60", "i16[2,57] 32767 -32768 -32768" TURNS("i16", "30", "15") },
    { "rfft", "signal.rfft", "length=24", "i32[24] 2147483647 -2147483648 99" WIDE("12", "6") },
    { "rfft", "signal.rfft", "length=6", "i16[6] 32767 32767 -32768 -32768" TURNS("i16", "3", "1") },
    { "irfft", "signal.irfft", "length=30", "i16[2,32] 32767 -32768" TURNS("i16", "15", "7") },
    { "irfft", "signal.irfft", "length=20", "i32[22] 2147483647 -9" WIDE("10", "5") },
    { "irfft", "signal.irfft", "length=4", "i16[2,6] 32767 -32768 -32768" TURNS("i16", "2", "1") },
    { "irfft", "signal.irfft", "length=64", "i16[66]" TURNS("i16", "32", "16") },
    { "irfft", "signal.irfft", "length=16", "i32[2,18] 2147483647 -2147483648 -9" WIDE("8", "4") },
};

static const struct kernel_case functions[] = {
    { "auto_scale", "signal.auto_scale", "", "i16[5] 3 -77 0 9 1" },
    { "auto_scale", "signal.auto_scale", "", "i16[3] 0 0 0" },
    { "auto_scale", "signal.auto_scale", "", "i16[4] 5 -32768 -3 7" },
    { "auto_scale", "signal.auto_scale", "", "i16[2] 32767 1" },
    { "filter_bank", "signal.filter_bank", "",
      "u32[9] 4294967295 7 0 99999 12345678; const i16[6] 4096 0 32767 -5 2000; const i16[6] 0 "
      "4096 "
      "-32768 11; const i16[4] 0 2 5 9; const i16[4] 0 1 3 6; const i16[4] 2 3 3 0" },
    { "square_root", "signal.square_root", "",
      "u64[8] 0 1 2 65535 4294967295 4294967296 9223372036854775807 123456789012; i32[] 0" },
    { "square_root", "signal.square_root", "", "u64[3] 4294836224 4294836225 99; i32[] 3" },
    { "spectral_subtraction", "signal.spectral_subtraction",
      "smoothing=410, rest=15974, odd_smoothing=410, odd_rest=15974, least=819, shift=10, bits=14",
      "u32[5] 0 70 9999 4294967295 1234567; u32[5] 0 99 4294967295 5 700000" },
    { "spectral_subtraction", "signal.spectral_subtraction",
      "smoothing=410, rest=15974, odd_smoothing=819, odd_rest=15565, least=819, shift=4, bits=14, "
      "clamping=true",
      "u32[6] 0 70 9999 4294967295 1234567 3; u32[6] 0 99 4294967295 5 700000 77777" },
    { "pcan", "signal.pcan", "shift=6",
      "u32[8] 4294967295 70 9999 3 1234567; u32[8] 0 1 2 3 1023 4096 2147483648 4294967295; const "
      "i16[125] 32767 -32768 900 -77 12000 4 -5" },
    { "log", "signal.log", "scale=1600, shift=3", "u32[7] 0 1 2 77 65536 4294967295 536870912" },
    { "log", "signal.log", "scale=100000", "u32[7] 0 1 2 77 65535 4294967295 65793" },
};

START_TEST(transforms_agree)
{
    KERNEL_CASES_CHECK(transforms, 0);
}
END_TEST

START_TEST(functions_agree)
{
    KERNEL_CASES_CHECK(functions, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels: audio front ends");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, transforms_agree);
    tcase_add_test(tests, functions_agree);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
