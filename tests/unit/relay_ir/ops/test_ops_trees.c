/* ml.tree_ensemble: walks, aggregates, missing numbers, and tables that are no trees. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/op_case.h"

/* Two trees: x0 <= 1 ? (x1 <= 2 ? 10 : 20) : 30, and the leaf 5. */
#define SPLITS "i32[2] 1 0; f32[2] 2 1; i32[2,2] -1 -2 0 -3; i32[2] 1 -4; i32[2] 0 0; "
#define LEAVES "f32[4,1] 10 20 30 5"
#define SUM "{n_targets=1, aggregate=\"sum\"}"

static const struct op_case rows[] = {
    { "ml.tree_ensemble", SUM, "f32[4,2] 1 2 1 2.5 1.5 0 -9 -9; " SPLITS LEAVES,
      "f32[4,1] 15 25 35 15", NULL },
    { "ml.tree_ensemble", "{n_targets=1, aggregate=\"min\"}", "f32[2,2] 1 2 1.5 0; " SPLITS LEAVES,
      "f32[2,1] 5 5", NULL },
    { "ml.tree_ensemble", "{n_targets=1, aggregate=\"max\"}", "f32[2,2] 1 2 1.5 0; " SPLITS LEAVES,
      "f32[2,1] 10 30", NULL },
    /* NaN: to the second child, or to the first where the feature is ~f */
    { "ml.tree_ensemble", SUM, "f32[2,2] nan 0 1 nan; " SPLITS LEAVES, "f32[2,1] 35 25", NULL },
    { "ml.tree_ensemble", SUM,
      "f32[2,2] nan 0 1 nan; i32[2] -2 -1; f32[2] 2 1; i32[2,2] -1 -2 0 -3; i32[1] 1; i32[1] "
      "0; " LEAVES,
      "f32[2,1] 10 10", NULL },
    /* nothing is <= NaN; infinities */
    { "ml.tree_ensemble", SUM,
      "f32[3,1] -inf inf nan; i32[1] 0; f32[1] nan; i32[1,2] -1 -2; i32[1] 0; i32[1] 0; f32[2,1] 1 "
      "2",
      "f32[3,1] 2 2 2", NULL },
    { "ml.tree_ensemble", SUM,
      "f32[2,1] -inf inf; i32[1] 0; f32[1] inf; i32[1,2] -1 -2; i32[1] 0; i32[1] 0; f32[2,1] 1 2",
      "f32[2,1] 1 1", NULL },
    /* a leaf of two numbers, a tree that begins at column 1, leaves only */
    { "ml.tree_ensemble", "{n_targets=3, aggregate=\"sum\"}",
      "f64[1,1] 0; i32[0]; f64[0]; i32[0,2]; i32[2] -1 -2; i32[2] 0 1; f64[2,2] 1 2 3 4",
      "f64[1,3] 1 5 4", NULL },
    { "ml.tree_ensemble", SUM, "f32[0,2]; " SPLITS LEAVES, "f32[0,1]", NULL },
    { "ml.tree_ensemble", SUM, "f32[2] 1 2; " SPLITS LEAVES, "", "expected rank 2" },
    { "ml.tree_ensemble", SUM, "i32[1,2] 1 2; " SPLITS LEAVES, "", "input 0 of ml.tree_ensemble" },
    { "ml.tree_ensemble", SUM, "f64[1,2] 1 2; " SPLITS LEAVES, "", "threshold is f32" },
    { "ml.tree_ensemble", SUM,
      "f32[1,1] 0; i32[1] 1; f32[1] 0; i32[1,2] -1 -2; i32[1] 0; i32[1] 0; f32[2,1] 1 2", "",
      "feature 0 is 1, out of range" },
    { "ml.tree_ensemble", SUM,
      "f32[1,1] 0; i32[1] -2; f32[1] 0; i32[1,2] -1 -2; i32[1] 0; i32[1] 0; f32[2,1] 1 2", "",
      "feature 0 is -2, out of range" },
    { "ml.tree_ensemble", SUM, /* a cycle */
      "f32[1,1] 0; i32[1] 0; f32[1] 0; i32[1,2] 0 -2; i32[1] 0; i32[1] 0; f32[2,1] 1 2", "",
      "child 0 is 0, out of range" },
    { "ml.tree_ensemble", SUM,
      "f32[1,1] 0; i32[1] 0; f32[1] 0; i32[1,2] -1 -3; i32[1] 0; i32[1] 0; f32[2,1] 1 2", "",
      "child 1 is -3, out of range" },
    { "ml.tree_ensemble", SUM,
      "f32[1,1] 0; i32[1] 0; f32[1] 0; i32[1,2] -1 -2; i32[1] 1; i32[1] 0; f32[2,1] 1 2", "",
      "root 0 is 1, out of range" },
    { "ml.tree_ensemble", SUM,
      "f32[1,1] 0; i32[1] 0; f32[1] 0; i32[1,2] -1 -2; i32[1] 0; i32[1] 1; f32[2,1] 1 2", "",
      "target 0 is 1, out of range" },
    { "ml.tree_ensemble", SUM,
      "f32[1,1] 0; i32[1] 0; f32[2] 0; i32[1,2] -1 -2; i32[1] 0; i32[1] 0; f32[2,1] 1 2", "",
      "differ in length" },
    /* classes of which none is likelier */
    { "ml.coupling", "{n_classes=2}", "f32[1,1] 0.5", "f32[1,2] 0.5 0.5", NULL },
    { "ml.coupling", "{n_classes=3}", "f32[1,3] 0.5", "f32[1,3] 0.33333334", NULL },
    { "ml.coupling", "{n_classes=3}", "f32[1,2] 0.5", "", "2 pairs of 3 classes" },
    { "ml.coupling", "{n_classes=0}", "f32[1,0]", "", "0 pairs of 0 classes" },
};

START_TEST(trees_are_walked)
{
    op_case_check(&rows[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ops_trees");
    TCase *tcase = tcase_create("trees");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_loop_test(tcase, trees_are_walked, 0, N_ROWS(rows));
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
