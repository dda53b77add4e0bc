/* sink_views: what is element-wise stands beside the operator that it may join. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/pass_case.h"

#define LAST                                                                                       \
    "{strides=[1,1], padding=[0,0,0,0], dilation=[1,1], groups=1, data_layout=\"NHWC\", "          \
    "out_layout=\"NHWC\", kernel_layout=\"OIHW\"}"

static const struct pass_case rows[] = {
    /* whole numbers equal themselves; floats may be NaN */
    { "compare_with_itself",
      "fn main(%x: (2,3) i8, %f: (2) f32) -> (%a, %b, %c) {\n"
      "  %a = less_equal(%x, %x) : (2,3) bool\n"
      "  %b = greater(%x, %x) : (2,3) bool\n"
      "  %c = equal(%f, %f) : (2) bool\n"
      "}\n",
      "fn main(%x: (2,3) i8, %f: (2) f32) -> (@a.known as \"a\", @b.known as \"b\", %c) {\n"
      "  const @a.known : (2,3) bool = [1, ...]\n"
      "  const @b.known : (2,3) bool = [0, ...]\n"
      "  %c = equal(%f, %f) : (2) bool\n"
      "}\n" },

    /* the lesser of a value and itself */
    { "drop_own_twin",
      "fn main(%x: (2,3) i8, %z: (2,3) i8) -> (%y) {\n"
      "  %m = minimum(%x, %x) : (2,3) i8\n"
      "  %y = maximum(%m, %z) : (2,3) i8\n"
      "}\n",
      "fn main(%x: (2,3) i8, %z: (2,3) i8) -> (%y) {\n"
      "  %y = maximum(%x, %z) : (2,3) i8\n"
      "}\n" },

    /* activation and residual of a convolution over time */
    { "view_behind_elementwise",
      "fn main(%x: (1,1,5,2) f32, %r: (1,5,4) f32) -> (%y) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " LAST " : (1,1,5,4) f32\n"
      "  %s = reshape(%c) {shape=[1,5,4]} : (1,5,4) f32\n"
      "  %a = add(%r, %s) : (1,5,4) f32\n"
      "  %y = nn.relu(%a) : (1,5,4) f32\n"
      "}\n",
      "fn main(%x: (1,1,5,2) f32, %r: (1,5,4) f32) -> (%y) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " LAST " : (1,1,5,4) f32\n"
      "  %a.reshape = reshape(%r) {shape=[1,1,5,4]} : (1,1,5,4) f32\n"
      "  %a.add = add(%a.reshape, %c) : (1,1,5,4) f32\n"
      "  %y.relu = nn.relu(%a.add) : (1,1,5,4) f32\n"
      "  %y = reshape(%y.relu) {shape=[1,5,4]} : (1,5,4) f32\n"
      "}\n" },

    /* dims are joined: a head of a detector; the shape is that of all, so is the constant */
    { "view_behind_elementwise",
      "fn main(%x: (1,2,3,2) f32) -> (%y) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @k : (1,6,4) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " LAST " : (1,2,3,4) f32\n"
      "  %s = reshape(%c) {shape=[1,6,4]} : (1,6,4) f32\n"
      "  %g = sigmoid(%s) : (1,6,4) f32\n"
      "  %y = multiply(%g, @k) : (1,6,4) f32\n"
      "}\n",
      "fn main(%x: (1,2,3,2) f32) -> (%y) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @k : (1,2,3,4) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " LAST " : (1,2,3,4) f32\n"
      "  %g.sigmoid = sigmoid(%c) : (1,2,3,4) f32\n"
      "  %y.multiply = multiply(%g.sigmoid, @k) : (1,2,3,4) f32\n"
      "  %y = reshape(%y.multiply) {shape=[1,6,4]} : (1,6,4) f32\n"
      "}\n" },

    /* one number for each of the joined dims: there is no such constant of the convolution's shape
     */
    { "view_behind_elementwise",
      "fn main(%x: (1,2,3,2) f32) -> (%y) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  const @k : (6,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " LAST " : (1,2,3,4) f32\n"
      "  %s = reshape(%c) {shape=[1,6,4]} : (1,6,4) f32\n"
      "  %y = multiply(%s, @k) : (1,6,4) f32\n"
      "}\n",
      NULL },

    /* nothing to join */
    { "view_behind_elementwise",
      "fn main(%x: (1,2,3) f32) -> (%y) {\n"
      "  %s = reshape(%x) {shape=[1,6]} : (1,6) f32\n"
      "  %y = exp(%s) : (1,6) f32\n"
      "}\n",
      NULL },

    /* somebody else reads the view */
    { "view_behind_elementwise",
      "fn main(%x: (1,1,5,2) f32) -> (%y, %s) {\n"
      "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
      "  %c = nn.conv2d(%x, @w) " LAST " : (1,1,5,4) f32\n"
      "  %s = reshape(%c) {shape=[1,5,4]} : (1,5,4) f32\n"
      "  %y = nn.relu(%s) : (1,5,4) f32\n"
      "}\n",
      NULL },
};

START_TEST(views_stand_behind)
{
    pass_case_check("sink_views", &rows[_i]);
}
END_TEST

START_TEST(every_rule_has_a_row)
{
    int n;
    const struct rule *rules = sink_views_rules(&n);

    pass_case_coverage(rules, n, "view_behind_elementwise", "view_behind_elementwise", rows,
                       N_ROWS(rows));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sink_views");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, views_stand_behind, 0, N_ROWS(rows));
    tcase_add_test(tests, every_rule_has_a_row);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
