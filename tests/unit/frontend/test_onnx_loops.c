/* Loop and Scan whose rounds are known at compile time (frontend/onnx/loops.c): their bodies,
 * written out round by round. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/import.h"
#include "relay_ir/verify.h"
#include "tests/support/expect.h"
#include "tests/support/listing.h"
#include "tests/support/onnx_builder.h"

static struct ctx *ctx;
static struct onnx_builder *b;
static struct module *module;

static void setup(void)
{
    const int64_t three = 3;
    const uint8_t yes = 1;

    ctx = ctx_new("test.onnx");
    b = builder_new(17);
    module = NULL;
    builder_ints(b, "three", "", &three);
    builder_tensor(b, "yes", DTYPE_BOOL, "", &yes);
}

static void teardown(void)
{
    module_free(module);
    builder_free(b);
    ctx_free(ctx);
}

static bool import(void)
{
    size_t n;
    const uint8_t *bytes = builder_bytes(b, &n);

    module = onnx_import_bytes(ctx, bytes, n, NULL, NULL);
    return module != NULL;
}

static void import_fine(void)
{
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_msg(module_verify(module, "import"), "%s", expect_text(ctx));
}

/* --- Loop ------------------------------------------------------------------------------------- */

static struct builder_outer begin_body(void)
{
    const struct builder_outer outer = builder_begin_graph(b, "body");

    builder_input(b, "i", DTYPE_I64, "");
    builder_input(b, "on", DTYPE_BOOL, "");
    return outer;
}

static void vectors(void)
{
    builder_input(b, "x", DTYPE_F32, "4");
    builder_output(b, "y", DTYPE_F32, "4");
}

START_TEST(a_body_is_written_once_for_each_round)
{
    struct builder_outer outer;

    vectors();
    builder_node(b, "Loop", "three _ x", "y");
    outer = begin_body();
    builder_input(b, "v", DTYPE_F32, "4");
    builder_node(b, "Identity", "on", "still");
    builder_node(b, "Sin", "v", "w");
    builder_output(b, "still", DTYPE_BOOL, "");
    builder_output(b, "w", DTYPE_F32, "4");
    builder_end_graph(b, outer);
    import_fine();
    ck_assert_ptr_nonnull(strstr(listing(module), "w = sin(x)\n"));
    ck_assert_ptr_nonnull(strstr(listing(module), "w_2 = sin(w)\n"));
    ck_assert_ptr_nonnull(strstr(listing(module), "w_3 = sin(w_2)\n-> w_3\n"));
}
END_TEST

/* i < 2 is no longer so in the third round, which is computed as well: the condition is that of the
 * next one. What is outside can be read. */
START_TEST(a_condition_ends_it)
{
    const int64_t one = 1;
    struct builder_outer outer;

    vectors();
    builder_ints(b, "one", "", &one);
    builder_node(b, "Exp", "x", "e");
    builder_node(b, "Loop", _i ? "_ yes x" : "three yes x", "y");
    outer = begin_body();
    builder_input(b, "v", DTYPE_F32, "4");
    builder_node(b, "Less", "i one", "still");
    builder_node(b, "Add", "v e", "w");
    builder_output(b, "still", DTYPE_BOOL, "");
    builder_output(b, "w", DTYPE_F32, "4");
    builder_end_graph(b, outer);
    import_fine();
    ck_assert_ptr_nonnull(strstr(listing(module), "w_2 = add(w, e)\n"));
    ck_assert_ptr_null(strstr(listing(module), "w_3"));
}
END_TEST

/* Each round is computed if no round before has ended the loop: what it gives is chosen. */
START_TEST(a_condition_of_run_time_may_end_it_sooner)
{
    struct builder_outer outer;

    vectors();
    builder_input(b, "flag", DTYPE_BOOL, "");
    builder_input(b, "most", DTYPE_F32, "");
    builder_node(b, "Loop", _i ? "three flag x" : "three yes x", "y");
    outer = begin_body();
    builder_input(b, "v", DTYPE_F32, "4");
    builder_node(b, "Sin", "v", "w");
    builder_node(b, "ReduceMax", "w", "top");
    builder_attrs(b, "keepdims=0");
    builder_node(b, "Less", "top most", "still");
    builder_output(b, "still", DTYPE_BOOL, "");
    builder_output(b, "w", DTYPE_F32, "4");
    builder_end_graph(b, outer);
    import_fine();
    ck_assert_msg(strstr(listing(module), _i ? "= if(flag, w, x)\n" : "w_2 = sin(w)\n"), "%s",
                  listing(module));
    ck_assert_msg(
        strstr(listing(module), _i ? "= if(flag, still, flag)\n" : "= if(still, w_2, w)\n"), "%s",
        listing(module));
    ck_assert_ptr_nonnull(strstr(listing(module), "w_3 = sin("));
}
END_TEST

START_TEST(what_rounds_of_run_time_give_has_no_length)
{
    struct builder_outer outer;

    vectors();
    builder_input(b, "flag", DTYPE_BOOL, "");
    builder_node(b, "Loop", "three flag x", "y z");
    outer = begin_body();
    builder_input(b, "v", DTYPE_F32, "4");
    builder_node(b, "Sin", "v", "w");
    builder_output(b, "on", DTYPE_BOOL, "");
    builder_output(b, "w", DTYPE_F32, "4");
    builder_output(b, "w", DTYPE_F32, "4");
    builder_end_graph(b, outer);
    ck_assert(!import());
    ck_assert_msg(expect_error(ctx, DIAG_UNSUPPORTED_DYNAMIC, "the length of output 1 depends on"),
                  "%s", expect_text(ctx));
}
END_TEST

START_TEST(what_rounds_give_is_stacked)
{
    struct builder_outer outer;

    builder_input(b, "x", DTYPE_F32, "4");
    builder_output(b, "z", DTYPE_F32, "3,4");
    builder_node(b, "Loop", "three yes x", "_ z");
    outer = begin_body();
    builder_input(b, "v", DTYPE_F32, "4");
    builder_node(b, "Sin", "v", "w");
    builder_node(b, "Cos", "v", "c");
    builder_output(b, "on", DTYPE_BOOL, "");
    builder_output(b, "w", DTYPE_F32, "4");
    builder_output(b, "c", DTYPE_F32, "4");
    builder_end_graph(b, outer);
    import_fine();
    ck_assert_msg(strstr(listing(module), "= concatenate(z, z_2, z_3)\n"), "%s", listing(module));
    ck_assert_int_eq(module->main->ret->inputs[0]->type.dim[0], 3);
}
END_TEST

/* --- Scan ------------------------------------------------------------------------------------- */

/* Sums of columns of x, from behind where that is said, and each of them, stacked likewise. */
START_TEST(sequences_are_scanned)
{
    const struct node *first = NULL, *all = NULL;
    struct builder_outer outer;

    builder_input(b, "x", DTYPE_F32, "4,3");
    builder_input(b, "s", DTYPE_F32, "4");
    builder_output(b, "t", DTYPE_F32, "4");
    builder_output(b, "z", DTYPE_F32, "4,3");
    builder_node(b, "Scan", "s x", "t z");
    builder_attrs(b,
                  "num_scan_inputs=1 scan_input_axes=[-1] scan_output_axes=[1] "
                  "scan_input_directions=[%d] scan_output_directions=[%d]",
                  _i, _i);
    outer = builder_begin_graph(b, "body");
    builder_input(b, "before", DTYPE_F32, "4");
    builder_input(b, "column", DTYPE_F32, "4");
    builder_node(b, "Add", "before column", "sum");
    builder_output(b, "sum", DTYPE_F32, "4");
    builder_output(b, "sum", DTYPE_F32, "4");
    builder_end_graph(b, outer);
    import_fine();
    ck_assert_msg(strstr(listing(module), "sum_3 = add(sum_2, "), "%s", listing(module));
    for (const struct node *n = module->main->first; n; n = n->next) {
        if (n->op == OP_STRIDED_SLICE && !first)
            first = n;
        if (n->op == OP_CONCATENATE)
            all = n;
    }
    ck_assert_ptr_nonnull(all);
    ck_assert_int_eq(first->attrs.slice.begin.at[1], _i ? 2 : 0);
    ck_assert_str_eq(all->inputs[0]->def->inputs[0]->name, _i ? "sum_3" : "sum");
    ck_assert_int_eq(module->main->ret->inputs[1]->type.dim[1], 3);
}
END_TEST

/* Operator set 8: two batches of three rows each; the second network has lengths, the third batches that differ. */
START_TEST(batches_are_scanned_one_after_the_other)
{
    struct builder_outer outer;

    b->model->opset_import[0]->version = 8;
    builder_input(b, "x", DTYPE_F32, _i == 2 ? "1,3,4" : "2,3,4");
    builder_input(b, "s", DTYPE_F32, "2,4");
    builder_input(b, "lengths", DTYPE_I64, "2");
    builder_output(b, "t", DTYPE_F32, "2,4");
    builder_output(b, "z", DTYPE_F32, "2,3,4");
    builder_node(b, "Scan", _i == 1 ? "lengths s x" : "_ s x", "t z");
    builder_attrs(b, "num_scan_inputs=1 directions=[1]");
    outer = builder_begin_graph(b, "body");
    builder_input(b, "before", DTYPE_F32, "4");
    builder_input(b, "row", DTYPE_F32, "4");
    builder_node(b, "Add", "before row", "sum");
    builder_output(b, "sum", DTYPE_F32, "4");
    builder_output(b, "sum", DTYPE_F32, "4");
    builder_end_graph(b, outer);
    if (_i == 1) {
        ck_assert(!import());
        ck_assert_msg(expect_error(ctx, DIAG_UNSUPPORTED_FORM, "has lengths of its sequences"),
                      "%s", expect_text(ctx));
        return;
    }
    if (_i == 2) {
        ck_assert(!import());
        ck_assert_msg(
            expect_error(ctx, DIAG_SHAPE, "input 2 has not the batches of the others in front"),
            "%s", expect_text(ctx));
        return;
    }
    import_fine();
    ck_assert_msg(strstr(listing(module), "sum_6 = add(sum_5, "), "%s", listing(module));
    ck_assert_msg(strstr(listing(module), "= concatenate(t, t_2)\n"), "%s", listing(module));
    ck_assert_int_eq(module->main->ret->inputs[1]->type.rank, 3);
    ck_assert_int_eq(module->main->ret->inputs[1]->type.dim[0], 2);
    ck_assert_int_eq(module->main->ret->inputs[1]->type.dim[1], 3);
}
END_TEST

/* --- refused ---------------------------------------------------------------------------------- */

static void body(const char *condition, const char *output)
{
    const struct builder_outer outer = begin_body();

    builder_input(b, "v", DTYPE_F32, "4");
    builder_node(b, "Sin", "v", "w");
    builder_output(b, condition, DTYPE_BOOL, "");
    builder_output(b, output, DTYPE_F32, "4");
    builder_end_graph(b, outer);
}

static const struct {
    const char *inputs, *outputs, *condition, *gives;
    enum diag_code code;
    const char *text;
} refused[] = {
    { "n yes x", "y", "on", "w", DIAG_UNSUPPORTED_DYNAMIC, "the count of this Loop" },
    { "_ flag x", "y", "on", "w", DIAG_UNSUPPORTED_DYNAMIC, "the condition of this Loop" },
    { "_ yes x", "y", "flag", "w", DIAG_UNSUPPORTED_DYNAMIC, "the condition of this Loop" },
    { "_ yes x", "y", "on", "w", DIAG_LIMIT, "loops expanded; the limit is 100000" },
    { "_ _ x", "y", "on", "w", DIAG_ONNX_GRAPH, "this loop never ends" },
    { "three yes _", "y", "on", "w", DIAG_ONNX_GRAPH,
      "input 2, an initial value of the loop, is absent" },
    { "three yes", "y", "on", "w", DIAG_ONNX_GRAPH, "its body has 3 inputs and 2 outputs" },
    { "three yes x", "y z", "on", "w", DIAG_ONNX_GRAPH, "it has 2 outputs, its body gives 1" },
    { "three yes x", "y", "on", "undefined", DIAG_ONNX_GRAPH, "\"undefined\" as output 1" },
    { "many yes x", "y", "on", "w", DIAG_SHAPE, "the count has the shape 2" },
};

START_TEST(what_is_not_known_or_fits_not_is_refused)
{
    const int64_t many[] = { 1, 2 };

    vectors();
    builder_ints(b, "many", "2", many);
    builder_input(b, "flag", DTYPE_BOOL, "");
    builder_input(b, "n", DTYPE_I64, "");
    builder_node(b, "Loop", refused[_i].inputs, refused[_i].outputs);
    body(refused[_i].condition, refused[_i].gives);
    ck_assert(!import());
    ck_assert_msg(expect_error(ctx, refused[_i].code, refused[_i].text), "%s", expect_text(ctx));
}
END_TEST

static const struct {
    const char *attrs;
    enum diag_code code;
    const char *text;
} scans[] = {
    { "num_scan_inputs=0", DIAG_ONNX_ATTRIBUTE, "num_scan_inputs is not in 1 .. 2" },
    { "num_scan_inputs=3", DIAG_ONNX_ATTRIBUTE, "num_scan_inputs is not in 1 .. 2" },
    { "num_scan_inputs=1 scan_input_axes=[2]", DIAG_SHAPE, "sequence 0 has no axis 2" },
    { "num_scan_inputs=2", DIAG_SHAPE, "its sequences have 4 and 5 elements" },
    { "num_scan_inputs=1 scan_output_axes=[3]", DIAG_SHAPE, "output 1 of its body has 1 dims" },
};

START_TEST(scans_that_do_not_fit_are_refused)
{
    struct builder_outer outer;

    builder_input(b, "s", DTYPE_F32, "4");
    builder_input(b, "x", DTYPE_F32, "5,4");
    builder_output(b, "z", DTYPE_F32, "5,4");
    builder_node(b, "Scan", "s x", "_ z");
    builder_attrs(b, "%s", scans[_i].attrs);
    outer = builder_begin_graph(b, "body");
    builder_input(b, "before", DTYPE_F32, "4");
    builder_input(b, "row", DTYPE_F32, "4");
    builder_node(b, "Add", "before row", "sum");
    builder_output(b, "sum", DTYPE_F32, "4");
    builder_output(b, "sum", DTYPE_F32, "4");
    builder_end_graph(b, outer);
    ck_assert(!import());
    ck_assert_msg(expect_error(ctx, scans[_i].code, scans[_i].text), "%s", expect_text(ctx));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx_loops");
    TCase *tests = tcase_create("all");
    SRunner *runner = srunner_create(suite);
    int n_failed;

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, a_body_is_written_once_for_each_round);
    tcase_add_loop_test(tests, a_condition_ends_it, 0, 2);
    tcase_add_loop_test(tests, a_condition_of_run_time_may_end_it_sooner, 0, 2);
    tcase_add_test(tests, what_rounds_of_run_time_give_has_no_length);
    tcase_add_test(tests, what_rounds_give_is_stacked);
    tcase_add_loop_test(tests, sequences_are_scanned, 0, 2);
    tcase_add_loop_test(tests, batches_are_scanned_one_after_the_other, 0, 3);
    tcase_add_loop_test(tests, what_is_not_known_or_fits_not_is_refused, 0,
                        sizeof refused / sizeof *refused);
    tcase_add_loop_test(tests, scans_that_do_not_fit_are_refused, 0, sizeof scans / sizeof *scans);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
