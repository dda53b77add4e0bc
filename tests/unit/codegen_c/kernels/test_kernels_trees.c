/* Decision trees as generated C: codegen_c/kernels/trees/tree_ensemble.c. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/kernel_case.h"

#define TABLES(feature, threshold, children, root, target, leaf)                                   \
    "; const i32" feature "; const f32" threshold "; const i32" children "; const i32" root        \
    "; const i32" target "; const f32" leaf
#define TWO                                                                                        \
    TABLES("[2] 1 0", "[2] 0.25 -0.5", "[2,2] -1 -2 0 -3", "[2] 1 -4", "[2] 0 0",                  \
           "[4,1] 10 20 30 5")

static const struct kernel_case rows[] = {
    { "tree_ensemble", "ml.tree_ensemble", "n_targets=1", "f32[9,2]" TWO },
    { "tree_ensemble", "ml.tree_ensemble", "n_targets=1", "f32[1,2]" TWO },
    { "tree_ensemble", "ml.tree_ensemble", "n_targets=1, aggregate=\"min\"", "f32[5,2]" TWO },
    { "tree_ensemble", "ml.tree_ensemble", "n_targets=1, aggregate=\"max\"", "f32[5,2]" TWO },
    /* NaN */
    { "tree_ensemble", "ml.tree_ensemble", "n_targets=1",
      "f32[3,2] nan 0 0 nan -1 0" TABLES("[2] -2 0", "[2] 0.25 -0.5", "[2,2] -1 -2 0 -3", "[1] 1",
                                         "[1] 0", "[3,1] 1 2 4") },
    /* several targets: all of them in a leaf, one for each tree, some */
    { "tree_ensemble", "ml.tree_ensemble", "n_targets=3",
      "f32[7,2]" TABLES("[2] 1 0", "[2] 0.25 -0.5", "[2,2] -1 -2 0 -3", "[2] 1 0", "[2] 0 0",
                        "[3,3] 1 2 3 4 5 6 7 8 9") },
    { "tree_ensemble", "ml.tree_ensemble", "n_targets=3, aggregate=\"max\"",
      "f32[7,2]" TABLES("[2] 1 0", "[2] 0.25 -0.5", "[2,2] -1 -2 0 -3", "[3] 1 0 -2", "[3] 0 1 2",
                        "[3,1] 1 2 3") },
    { "tree_ensemble", "ml.tree_ensemble", "n_targets=4",
      "f32[7,2]" TABLES("[2] 1 0", "[2] 0.25 -0.5", "[2,2] -1 -2 0 -3", "[3] 1 0 -2", "[3] 0 1 2",
                        "[3,2] 1 2 3 4 5 6") },
    /* leaves whose numbers are few */
    { "tree_ensemble", "ml.tree_ensemble", "n_targets=5",
      "f32[7,2]" TABLES("[2] 1 0", "[2] 0.25 -0.5", "[2,2] -1 -2 0 -3", "[2] 1 0", "[2] 0 0",
                        "[3,5] 1 0.5 0 0 0.25") },
    { "tree_ensemble", "ml.tree_ensemble", "n_targets=1, aggregate=\"min\"",
      "f32[7,2]" TABLES("[2] 1 0", "[2] 0.25 -0.5", "[2,2] -1 -2 0 -9", "[2] 1 0", "[2] 0 0",
                        "[9,1] 1 1 1 1 1 1 1 1 2") },
    /* more targets than are kept on the stack */
    { "tree_ensemble", "ml.tree_ensemble", "n_targets=100",
      "f32[3,2]" TABLES("[2] 1 0", "[2] 0.25 -0.5", "[2,2] -1 -2 0 -3", "[2] 1 0", "[2] 3 99",
                        "[3,1] 1 2 3") },
    /* questions that several splits ask; a feature beyond 255; leaves only */
    { "tree_ensemble", "ml.tree_ensemble", "n_targets=1",
      "f32[9,2]" TABLES("[12] 1 0", "[12] 0.25 -0.5",
                        "[12,2] -1 -2 0 -3 1 0 2 1 3 -2 4 -1 5 -3 6 2 7 -4 8 -5 9 3 10 9",
                        "[3] 11 10 9", "[3] 0 0 0", "[5,1] 1 2 4 8 16") },
    { "tree_ensemble", "ml.tree_ensemble", "n_targets=1",
      "f32[3,300]" TABLES("[1] 299", "[1] 0.25", "[1,2] -1 -2", "[1] 0", "[1] 0", "[2,1] 1 2") },
    { "tree_ensemble", "ml.tree_ensemble", "n_targets=2",
      "f32[3,2]" TABLES("[0]", "[0]", "[0,2]", "[2] -1 -2", "[2] 0 1", "[2,1] 1 2") },
    { "tree_ensemble", "ml.tree_ensemble", "n_targets=1",
      "f64[9,2]; const i32[2] 1 0; const f64[2] 0.25 -0.5; const i32[2,2] -1 -2 0 -3; const i32[2] "
      "1 -4; const i32[2] 0 0; const f64[4,1] 10 20 30 5" },
};

static const struct kernel_case couplings[] = {
    { "coupling", "ml.coupling", "n_classes=2", "f32[3,1] 0.2 0.5 0.9999" },
    { "coupling", "ml.coupling", "n_classes=3", "f32[3,3] 0.2 0.9 0.4 0.5 0.1 0.7 0.9 0.8 0.3" },
    { "coupling", "ml.coupling", "n_classes=4", "f32[1,6] 0.2 0.9 0.4 0.5 0.1 0.7" },
};

START_TEST(trees_are_tables)
{
    KERNEL_CASES_CHECK(rows, 1e-6);
}
END_TEST

START_TEST(pairs_are_coupled)
{
    KERNEL_CASES_CHECK(couplings, 1e-6);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_trees");
    TCase *tcase = tcase_create("trees");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0);
    tcase_add_test(tcase, trees_are_tables);
    tcase_add_test(tcase, pairs_are_coupled);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
