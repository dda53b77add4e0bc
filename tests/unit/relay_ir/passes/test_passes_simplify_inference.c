#include <check.h>
#include <stdlib.h>

#include "tests/support/pass_case.h"

static const struct pass_case rows[] = {
    /* constant statistics */
    { "expand_batch_norm",
      "fn main(%x: (2,3,4) f32) -> (%y) {\n"
      "  const @g : (3) f32 = crc32:00000000\n"
      "  const @b : (3) f32 = crc32:00000000\n"
      "  const @m : (3) f32 = crc32:00000000\n"
      "  const @pos : (3) f32 = crc32:00000000\n"
      "  %y = nn.batch_norm(%x, @g, @b, @m, @pos) {axis=1, epsilon=0.001} : (2,3,4) f32 from "
      "BatchNormalization \"bn\" #0\n"
      "}\n",
      "fn main(%x: (2,3,4) f32) -> (%y) {\n"
      "  const @g : (3,1) f32 = crc32:00000000\n"
      "  const @b : (3,1) f32 = crc32:00000000\n"
      "  %y.multiply = multiply(%x, @g) : (2,3,4) f32  from BatchNormalization \"bn\" #0\n"
      "  %y = add(%y.multiply, @b) : (2,3,4) f32  from BatchNormalization \"bn\" #0\n"
      "}\n" },

    /* a variance that is computed */
    { "expand_batch_norm",
      "fn main(%x: (2,3,4) f32, %u: (3) f32) -> (%y) {\n"
      "  const @g : (3) f32 = crc32:00000000\n"
      "  const @b : (3) f32 = crc32:00000000\n"
      "  const @m : (3) f32 = crc32:00000000\n"
      "  %v = abs(%u) : (3) f32\n"
      "  %y = nn.batch_norm(%x, @g, @b, @m, %v) {axis=1, epsilon=0.001} : (2,3,4) f32 from "
      "BatchNormalization \"bn\" #0\n"
      "}\n",
      NULL },
};

START_TEST(training_operators_become_arithmetic)
{
    pass_case_check("simplify_inference", &rows[_i]);
}
END_TEST

START_TEST(every_rule_has_a_row)
{
    int n;
    const struct rule *rules = simplify_inference_rules(&n);

    pass_case_coverage(rules, n, "expand_batch_norm", "expand_batch_norm", rows, N_ROWS(rows));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("simplify_inference");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, training_operators_become_arithmetic, 0, N_ROWS(rows));
    tcase_add_test(tests, every_rule_has_a_row);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
