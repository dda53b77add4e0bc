/* Kernels of norms and quotients of quantised numbers against the reference: exactly equal. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/kernel_case.h"

#define I8 "; const f32[] 0.05; const i8[] 3; const f32[] 0.03; const i8[] -7"
#define U8 "; const f32[] 0.05; const u8[] 120; const f32[] 0.02; const i8[] 0"
#define TO_16 "; const f32[] 0.05; const i8[] 3; const f32[] 0.0002; const u16[] 30000"
#define OF_16 "; const f32[] 0.001; const i16[] 30; const f32[] 0.05; const i8[] 0"
#define OF_U16 "; const f32[] 0.001; const u16[] 32768; const f32[] 0.05; const u8[] 128"

static const struct kernel_case norms[] = {
    { "qnn_layer_norm", "qnn.layer_norm", "axis=2, epsilon=1e-5",
      "i8[2,3,40]" I8 "; const f32[40]; const f32[40]" },
    { "qnn_layer_norm", "qnn.layer_norm", "axis=1, epsilon=1e-5",
      "u8[4,3,5]" U8 "; const f32[3,5]; const f32[3,5]" },
    { "qnn_layer_norm", "qnn.layer_norm", "axis=1, epsilon=0.001",
      "i8[3,7]" TO_16 "; const f32[7]" },
    { "qnn_layer_norm", "qnn.layer_norm", "axis=1, epsilon=1e-5",
      "i16[3,50]" OF_16 "; const f32[50]; const f32[50]" },
    { "qnn_layer_norm", "qnn.layer_norm", "axis=1, epsilon=1e-5",
      "u16[2,10] 0 65535 1 65534" OF_U16 "; const f32[10]; const f32[10]" },
    /* no spread; the least there is; the greatest, in sums of 64 bits */
    { "qnn_layer_norm", "qnn.layer_norm", "axis=1, epsilon=0",
      "i8[2,9] 5" I8 "; const f32[9]; const f32[9]" },
    { "qnn_layer_norm", "qnn.layer_norm", "axis=0, epsilon=0",
      "i8[1] 5" I8 "; const f32[1]; const f32[1]" },
    { "qnn_layer_norm", "qnn.layer_norm", "axis=1, epsilon=1e-12",
      "i8[1,33] 1 0 0 0 0 0 0 0 0 0 0" I8 "; const f32[33]; const f32[33]" },
    { "qnn_layer_norm", "qnn.layer_norm", "axis=1, epsilon=1e-5",
      "i8[1,40000] -128 127" I8 "; const f32[40000]; const f32[40000]" },
    { "qnn_group_norm", "qnn.instance_norm", "axis=1, epsilon=1e-5",
      "i8[2,3,4,5]" I8 "; const f32[3]; const f32[3]" },
    { "qnn_group_norm", "qnn.instance_norm", "axis=1, epsilon=1e-5",
      "u8[1,3,17]" U8 "; const f32[3] 1; const f32[3] 0" },
    { "qnn_group_norm", "qnn.group_norm", "axis=1, groups=2, epsilon=1e-5",
      "i8[2,6,3,3]" I8 "; const f32[6]; const f32[6]" },
    { "qnn_group_norm", "qnn.group_norm", "axis=1, groups=1, epsilon=1e-3",
      "i16[1,4,5]" OF_16 "; const f32[4]; const f32[4]" },
    /* the channels last */
    { "qnn_group_norm", "qnn.instance_norm", "axis=3, epsilon=1e-5",
      "i8[2,4,5,3]" I8 "; const f32[3]; const f32[3]" },
    { "qnn_group_norm", "qnn.group_norm", "axis=2, groups=2, epsilon=1e-5",
      "u8[1,17,6]" U8 "; const f32[6]; const f32[6]" },
    { "qnn_group_norm", "qnn.group_norm", "axis=3, groups=3, epsilon=1e-3",
      "i16[2,5,2,6]" OF_16 "; const f32[6]; const f32[6]" },
};

static const struct kernel_case neighbours[] = {
    { "qnn_lrn", "qnn.lrn", "size=5, alpha=0.001, beta=0.75, bias=1", "i8[2,9,3,4]" I8 },
    { "qnn_lrn", "qnn.lrn", "size=5, alpha=0.001, beta=0.75, bias=1",
      "i16[2,9,3,4]; const f32[] 0.002; const i16[] 5; const f32[] 0.0015; const i16[] -7" },
    { "qnn_lrn", "qnn.lrn", "size=4, alpha=2, beta=0.5, bias=3",
      "u16[1,7,6] 65535 0 65535; const f32[] 0.002; const u16[] 0; const f32[] 0.01; const i8[] "
      "3" },
    { "qnn_lrn", "qnn.lrn", "size=4, alpha=0.5, beta=0.5, bias=2", "u8[1,7,6]" U8 },
    { "qnn_lrn", "qnn.lrn", "size=3, alpha=0, beta=1, bias=0.5", "i8[1,2,2]" I8 },
    { "qnn_lrn", "qnn.lrn", "size=3, alpha=10000, beta=2, bias=1, layout=\"NWC\"",
      "i8[2,5,6]" TO_16 },
    { "qnn_lp_normalize", "qnn.lp_normalize", "axis=1, p=2", "i8[3,10]" I8 },
    { "qnn_lp_normalize", "qnn.lp_normalize", "axis=1, p=2", "u8[2,3,4]" U8 },
    { "qnn_lp_normalize", "qnn.lp_normalize", "axis=1, p=1", "i8[3,10]" TO_16 },
    { "qnn_lp_normalize", "qnn.lp_normalize", "axis=0, p=1", "i16[5,2]" OF_16 },
    { "qnn_lp_normalize", "qnn.lp_normalize", "axis=0, p=2", "u16[8] 0 65535" OF_U16 },
    { "qnn_lp_normalize", "qnn.lp_normalize", "axis=1, p=2", "i8[2,5] 3" I8 },
};

#define DIV(a, b)                                                                                  \
    a "; " b                                                                                       \
      "; const f32[] 0.1; const i8[] 3; const f32[] 0.02; const i8[] -4; const f32[] 0.05; "       \
      "const i8[] 5"

static const struct kernel_case quotients[] = {
    { "elementwise", "qnn.div", "", DIV("i8[2,3,40]", "i8[2,3,40]") },
    { "elementwise", "qnn.div", "", DIV("i8[2,3]", "i8[3] -4 -3 -5") },
    { "elementwise", "qnn.div", "", DIV("i8[4] 3 4 2 100", "i8[4] -4") }, /* by 0 */
    { "elementwise", "qnn.div", "",
      "u16[2,3] 65535 0 3; u8[3] 7 255 0; const f32[] 1; const u16[] 0; const f32[] 1; const u8[] "
      "7; const f32[] 0.0001; const i16[] 0" },
    { "elementwise", "qnn.div", "",
      "i16[2,3]; u8[2,1]; const f32[] 0.000001; const i16[] 0; const f32[] 1; const u8[] 7; const "
      "f32[] 1000; const i8[] 0" },
};

START_TEST(norms_agree_exactly)
{
    KERNEL_CASES_CHECK(norms, 0);
}
END_TEST

START_TEST(neighbours_agree_exactly)
{
    KERNEL_CASES_CHECK(neighbours, 0);
}
END_TEST

START_TEST(quotients_agree_exactly)
{
    KERNEL_CASES_CHECK(quotients, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels: norms and quotients of quantised numbers");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, norms_agree_exactly);
    tcase_add_test(tests, neighbours_agree_exactly);
    tcase_add_test(tests, quotients_agree_exactly);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
