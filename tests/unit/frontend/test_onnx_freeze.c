/* --freeze: inputs that are always the same, and what they decide. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/import.h"
#include "tests/support/expect.h"
#include "tests/support/onnx_builder.h"

static struct ctx *ctx;
static struct onnx_builder *b;
static struct module *module;
static struct frozen_input frozen[4];
static struct shape_binding binding;
static struct import_options options;

static void setup(void)
{
    ctx = ctx_new("test.onnx");
    b = builder_new(17);
    module = NULL;
    options = (struct import_options){ .shapes = &binding, .frozen = frozen };
}

static void teardown(void)
{
    module_free(module);
    builder_free(b);
    ctx_free(ctx);
}

static void freeze(const char *name, int n, const double *numbers)
{
    frozen[options.n_frozen++] = (struct frozen_input){ name, n, numbers };
}

static bool import(void)
{
    size_t n;
    const uint8_t *bytes = builder_bytes(b, &n);

    module = onnx_import_bytes(ctx, bytes, n, NULL, &options);
    return module != NULL;
}

static void branch(const char *attr, const char *op, const char *x, const char *y)
{
    const struct builder_outer outer = builder_begin_graph(b, attr);

    builder_node(b, op, x, y);
    builder_output(b, y, DTYPE_F32, "4");
    builder_end_graph(b, outer);
}

/* As networks for speech have it: the rate of the samples says which of two networks it is. */
static void decided_by_rate(void)
{
    const int64_t rate = 16000;

    builder_input(b, "x", DTYPE_F32, "4");
    builder_input(b, "sr", DTYPE_I64, "");
    builder_ints(b, "rate", "", &rate);
    builder_node(b, "Equal", "sr rate", "equal");
    builder_node(b, "If", "equal", "y");
    branch("then_branch", "Abs", "x", "t");
    branch("else_branch", "Exp", "x", "e");
    builder_output(b, "y", DTYPE_F32, "4");
}

START_TEST(a_frozen_input_decides_an_if)
{
    const double rate = _i ? 16000 : 8000;

    decided_by_rate();
    freeze("sr", 1, &rate);
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_int_eq(module->main->n_params, 1);
    ck_assert_str_eq(module->main->params[0]->name, "x");
    ck_assert_str_eq(op_name(module->main->last->op), _i ? "abs" : "exp");
}
END_TEST

START_TEST(what_an_input_decides_is_said_with_its_name)
{
    const int64_t axes[] = { 0 };

    decided_by_rate();
    builder_input(b, "to_it", DTYPE_I64, "2");
    builder_ints(b, "zero", "1", axes);
    builder_node(b, "Add", "to_it zero", "shape");
    builder_node(b, "Reshape", "x shape", "z");
    builder_output(b, "z", DTYPE_F32, NULL);
    ck_assert(!import());
    ck_assert_msg(strstr(expect_text(ctx), "--freeze to_it=NUMBER,NUMBER,..., if"), "%s",
                  expect_text(ctx));
}
END_TEST

START_TEST(numbers_are_for_each_element_or_for_all)
{
    static const double numbers[] = { 1, 0.1, -3, 4e30, 5, 6 }, one = 0.25;
    const float *found;

    builder_input(b, "x", DTYPE_F32, "2,3");
    builder_input(b, "each", DTYPE_F32, "2,3");
    builder_input(b, "all", DTYPE_F32, "n,3");
    binding = (struct shape_binding){ "all", 2, { 2, 3 }, false };
    options.n_shapes = 1;
    builder_node(b, "Add", "x each", "s");
    builder_node(b, "Mul", "s all", "y");
    builder_output(b, "y", DTYPE_F32, "2,3");
    freeze("each", 6, numbers);
    freeze("all", 1, &one);
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_int_eq(module->main->n_params, 1);
    found = module->main->first->inputs[1]->data;
    for (int i = 0; i < 6; i++)
        ck_assert(found[i] == (float)numbers[i]);
    found = module->main->last->inputs[1]->data;
    for (int i = 0; i < 6; i++)
        ck_assert(found[i] == 0.25F);
}
END_TEST

/* As exporters give Resize a region: none. */
START_TEST(an_empty_tensor_has_no_numbers)
{
    static const float scales[] = { 1, 2 };

    builder_input(b, "x", DTYPE_F32, "1,4");
    builder_input(b, "roi", DTYPE_F32, _i ? "n" : "0");
    builder_floats(b, "scales", "2", scales);
    builder_node(b, "Resize", "x roi scales", "y");
    builder_output(b, "y", DTYPE_F32, "1,8");
    freeze("roi", 0, NULL);
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_int_eq(module->main->n_params, 1);
}
END_TEST

START_TEST(names_and_numbers_that_do_not_fit_are_errors)
{
    static const double two[] = { 1, 2 }, half = 0.5, large = 256;
    static const float own = 3;

    decided_by_rate();
    builder_input(b, "flag", DTYPE_BOOL, "");
    builder_input(b, "small", DTYPE_U8, "2");
    builder_input(b, "own", DTYPE_F32, "1");
    builder_floats(b, "own", "1", &own);
    freeze("sr_", 1, two);
    freeze("flag", 1, &half);
    freeze("small", 1, &large);
    freeze("own", 1, two);
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_USAGE, "--freeze sr_: the model has no input of this name"));
    ck_assert(expect_error(ctx, DIAG_USAGE,
                           "--freeze flag: 0.5 is not representable in the input's type bool"));
    ck_assert(expect_error(ctx, DIAG_USAGE,
                           "--freeze small: 256 is not representable in the input's type u8"));
    ck_assert(expect_error(ctx, DIAG_USAGE, "--freeze own: the model has an initialiser"));
    ck_assert(strstr(expect_text(ctx), "there is an input \"sr\""));
}
END_TEST

START_TEST(there_are_as_many_numbers_as_elements)
{
    static const double two[] = { 1, 2 };

    decided_by_rate();
    freeze("sr", 2, two);
    freeze("x", 2, two);
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_USAGE,
                           "--freeze sr: found 2 values, expected one for each element of "));
    ck_assert(expect_error(ctx, DIAG_USAGE,
                           "--freeze x: found 2 values, expected one for each element of "));
    ck_assert_int_eq(ctx->diags.n_errors, 2);
}
END_TEST

/* --vary: the number of an input, or of an element. */
static void size(const char *name, int64_t number)
{
    binding = (struct shape_binding){ name, 1, { number }, .is_size = true };
    options.n_shapes = 1;
}

static void sliced(void)
{
    static const int64_t zero = 0, one = 1;

    builder_input(b, "x", DTYPE_F32, "2,9");
    builder_input(b, "n", DTYPE_I64, "1");
    builder_ints(b, "zero", "1", &zero);
    builder_ints(b, "one", "1", &one);
    builder_node(b, "Slice", "x zero n one", "y");
    builder_output(b, "y", DTYPE_F32, NULL);
}

START_TEST(a_size_is_the_number_of_an_input)
{
    sliced();
    size("n", _i);
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_int_eq(module->main->n_params, 1);
    ck_assert_int_eq(module->main->ret->inputs[0]->type.dim[1], _i);
}
END_TEST

START_TEST(a_size_is_an_element_beside_frozen_ones)
{
    static const double shape[] = { 0, -1 };

    builder_input(b, "x", DTYPE_F32, "4,6");
    builder_input(b, "shape", DTYPE_I64, "2");
    builder_node(b, "Reshape", "x shape", "y");
    builder_output(b, "y", DTYPE_F32, "a,b");
    size("shape.0", 3);
    if (_i)
        freeze("shape", 2, shape);
    ck_assert(import() == (_i == 1));
    if (!_i)
        ck_assert(
            expect_error(ctx, DIAG_USAGE, "--vary: 1 of the 2 numbers of \"shape\" are given"));
    else
        ck_assert_int_eq(module->main->ret->inputs[0]->type.dim[0], 3);
}
END_TEST

START_TEST(a_size_is_a_dimension_before_it_is_a_number)
{
    builder_input(b, "x", DTYPE_F32, "n,6");
    builder_input(b, "n", DTYPE_I64, "");
    builder_node(b, "CumSum", "x n", "y");
    builder_output(b, "y", DTYPE_F32, "3,6");
    size("n", _i);
    ck_assert(import() == (_i > 0));
    if (!_i)
        ck_assert(expect_error(ctx, DIAG_USAGE, "--vary n: found 0, a dimension is at least 1"));
    else
        ck_assert_int_eq(module->main->n_params, 2);
}
END_TEST

START_TEST(a_size_that_names_no_number_is_an_error)
{
    static const char *const names[] = { "x", "m", "n.1", "x.18" };

    sliced();
    size(names[_i], 1);
    ck_assert(!import());
    ck_assert_msg(expect_error(ctx, DIAG_USAGE,
                               _i == 0 ? "--vary x: the input is a tensor of more than one number"
                                       : "the model has no input and no dimension of this name"),
                  "%s", expect_text(ctx));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx freeze");
    TCase *tests = tcase_create("onnx freeze");
    SRunner *runner = srunner_create(suite);
    int failed;

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, a_frozen_input_decides_an_if, 0, 2);
    tcase_add_test(tests, what_an_input_decides_is_said_with_its_name);
    tcase_add_test(tests, numbers_are_for_each_element_or_for_all);
    tcase_add_loop_test(tests, an_empty_tensor_has_no_numbers, 0, 2);
    tcase_add_test(tests, names_and_numbers_that_do_not_fit_are_errors);
    tcase_add_test(tests, there_are_as_many_numbers_as_elements);
    tcase_add_loop_test(tests, a_size_is_the_number_of_an_input, 0, 10);
    tcase_add_loop_test(tests, a_size_is_an_element_beside_frozen_ones, 0, 2);
    tcase_add_loop_test(tests, a_size_is_a_dimension_before_it_is_a_number, 0, 3);
    tcase_add_loop_test(tests, a_size_that_names_no_number_is_an_error, 0, 4);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
