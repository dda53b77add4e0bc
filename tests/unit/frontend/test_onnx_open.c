/* Axes of which run time says how long they are (frontend/onnx/open.h): what is told, what must be equal, and who cannot
 * read them. What is computed with them: tests/e2e/open_lengths.py. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/import.h"
#include "tests/support/expect.h"
#include "tests/support/onnx_builder.h"

static struct ctx *ctx;
static struct onnx_builder *b;
static struct module *module;

static void setup(void)
{
    ctx = ctx_new("test.onnx");
    b = builder_new(18);
    module = NULL;
}

static void teardown(void)
{
    module_free(module);
    builder_free(b);
    ctx_free(ctx);
}

static bool import(void)
{
    static const struct import_options options = { 0 };
    size_t n;
    const uint8_t *bytes = builder_bytes(b, &n);

    module = onnx_import_bytes(ctx, bytes, n, NULL, &options);
    return module != NULL;
}

/* y: rows of x (6 x 4) that m says. */
static void chosen(const char *x, const char *y)
{
    if (strcmp(x, "x") == 0) {
        builder_input(b, "x", DTYPE_F32, "6,4");
        builder_input(b, "m", DTYPE_BOOL, "6");
    }
    builder_node(b, "Compress", arena_printf(&ctx->perm, "%s m", x), y);
    builder_attrs(b, "axis=0");
}

static bool has(enum op op)
{
    bool found = false;

    for (const struct node *node = module->main->first; node; node = node->next)
        found = found || node->op == op;
    return found;
}

static bool is_result(const char *name)
{
    bool found = false;

    for (int i = 0; i < module->main->ret->n_inputs; i++)
        found = found || strcmp(module->main->result_names[i], name) == 0;
    return found;
}

START_TEST(a_result_tells_how_long_it_is_as_the_node_that_decides_it)
{
    chosen("x", "c");
    builder_node(b, "Relu", "c", "r");
    builder_node(b, "Exp", "r", "y");
    builder_output(b, "y", DTYPE_F32, "n,4");
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_int_eq(module->main->ret->n_inputs, 2);
    ck_assert(is_result("c.count"));
    ck_assert(expect_warning(ctx, DIAG_SHAPE, "\"c.count\" says how many elements there are"));
}
END_TEST

/* After a sum along the axis nothing is open; behind the last element there is no number that counts. */
START_TEST(a_sum_ends_it)
{
    chosen("x", "c");
    builder_node(b, "ReduceSum", "c", "y");
    builder_attrs(b, "keepdims=0");
    builder_output(b, "y", DTYPE_F32, "");
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_int_eq(module->main->ret->n_inputs, 1);
    ck_assert(has(OP_WHERE));
}
END_TEST

START_TEST(two_lengths_that_meet_are_compared)
{
    chosen("x", "c");
    builder_node(b, "Abs", "x", "a");
    if (_i)
        chosen("a", "d");
    else
        builder_node(b, "Neg", "c", "d");
    builder_node(b, "Mul", "c d", "y");
    builder_output(b, "y", DTYPE_F32, "n,4");
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert(has(OP_EXPECT) == (_i == 1));
    ck_assert_int_eq(module->main->ret->n_inputs, 2);
}
END_TEST

START_TEST(what_the_file_declares_is_not_open)
{
    chosen("x", "c");
    builder_node(b, "Relu", "c", "r");
    builder_node(b, "Softmax", "r", "s");
    builder_attrs(b, "axis=0");
    builder_node(b, "MatMul", "s w", "y");
    builder_random(b, "w", "4,2", 1);
    builder_output(b, "y", DTYPE_F32, "3,2");
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert(has(OP_EXPECT));
    ck_assert_int_eq(module->main->ret->n_inputs, 1);
    ck_assert_int_eq(module->main->ret->inputs[0]->type.dim[0], 3);
}
END_TEST

/* Without a rule, or in a form of the operator that has none. */
static const struct {
    const char *op, *inputs, *attrs;
} without_rule[] = {
    { "Einsum", "c", "equation='ij->ji'" },
    { "Trilu", "c", "" },
    { "Concat", "c x", "axis=1" },
    { "Add", "c x", "" },
    { "MatMul", "xt c", "" },
    { "Split", "c", "axis=0 num_outputs=1" },
    { "LayerNormalization", "c scale", "axis=0" },
    { "Reshape", "c to", "" },
};

START_TEST(a_node_that_cannot_read_it_is_named)
{
    static const int64_t to[] = { 4, 6 };
    const char *op = without_rule[_i].op;

    chosen("x", "c");
    builder_ints(b, "to", "2", to);
    builder_fill(b, "scale", "6,4", 1);
    builder_node(b, "Transpose", "x", "xt");
    builder_node(b, op, without_rule[_i].inputs, "y");
    if (*without_rule[_i].attrs)
        builder_attrs(b, "%s", without_rule[_i].attrs);
    builder_output(b, "y", DTYPE_F32, NULL);
    ck_assert(!import());
    ck_assert_msg(
        expect_error(ctx, DIAG_UNSUPPORTED_DYNAMIC,
                     arena_printf(&ctx->perm, "known at run time only, and %s reads it", op)) ||
            expect_error(ctx, DIAG_UNSUPPORTED_DYNAMIC, "must be known at compile time"),
        "%s", expect_text(ctx));
}
END_TEST

START_TEST(a_number_without_a_bound_is_an_error)
{
    static const int64_t zero = 0, one = 1, most = 9;

    builder_input(b, "n", DTYPE_I64, "");
    builder_ints(b, "zero", "", &zero);
    builder_ints(b, "one", "", &one);
    builder_ints(b, "most", "", &most);
    builder_node(b, "Min", "n most", "m");
    builder_node(b, "Range", _i ? "zero m one" : "zero n one", "y");
    builder_output(b, "y", DTYPE_I64, "l");
    ck_assert(import() == (_i == 1));
    if (_i)
        ck_assert_int_eq(module->main->ret->inputs[0]->type.dim[0], 9);
    else
        ck_assert_msg(strstr(expect_text(ctx), "--vary n=VALUES makes it an argument of the C"),
                      "%s", expect_text(ctx));
}
END_TEST

/* Whatever inputs and axes there are: a network or an error. */
static const char *const with_rules[] = {
#define OPEN(name, rule) name,
#include "frontend/onnx/open.def"
#undef OPEN
};

START_TEST(operators_of_odd_inputs_are_networks_or_errors)
{
    static const char *const inputs[] = { "c",       "_ c",       "c c",   "c _ c", "c c c", "c x",
                                          "x c",     "c one",     "c l",   "l c",   "s s",   "s c",
                                          "c s s s", "c c c c c", "one c", "c c l" };
    static const char *const attrs[] = { "", "axis=0", "axis=99",
                                         "axis=-1 keepdims=0 perm=[0] to=1" };
    static const int64_t one = 1;

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (size_t k = 0; k < sizeof attrs / sizeof *attrs; k++) {
            const int n_inputs = i < 2 ? 1 : 2;

            chosen("x", "c");
            builder_node(b, "Cast", "c", "l"); /* integers, as open */
            builder_attrs(b, "to=7");
            builder_node(b, "ReduceSum", "c one", "s0");
            builder_node(b, "Squeeze", "s0 one", "s"); /* a list */
            builder_ints(b, "one", "1", &one);
            builder_node(b, with_rules[_i], inputs[i], n_inputs == 1 ? "y" : "y y2");
            if (*attrs[k])
                builder_attrs(b, "%s", attrs[k]);
            builder_output(b, "y", DTYPE_F32, NULL);
            if (!import())
                ck_assert(ctx->diags.n_errors > 0);
            teardown();
            setup();
        }
}
END_TEST

/* x[at:at + 3] has three elements. */
START_TEST(a_window_is_not_open)
{
    static const int64_t three = 3, zero = 0;

    builder_input(b, "x", DTYPE_F32, "9,4");
    builder_input(b, "at", DTYPE_I64, "1");
    builder_ints(b, "three", "1", &three);
    builder_ints(b, "zero", "1", &zero);
    builder_node(b, "Add", _i ? "at three" : "three at", "end");
    builder_node(b, "Slice", "x at end zero", "y");
    builder_output(b, "y", DTYPE_F32, "n,4");
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_int_eq(module->main->ret->n_inputs, 1);
    ck_assert_int_eq(module->main->ret->inputs[0]->type.dim[0], 3);
    ck_assert(has(OP_EXPECT));
}
END_TEST

/* As the functions of windows have it: what is computed of the numbers, element by element, is declared. A vector
 * beside it (_i = 1) could be what makes it so long. */
START_TEST(what_is_computed_of_it_declares_how_long_it_is)
{
    static const float zero = 0, one = 1;

    builder_input(b, "n", DTYPE_F32, "");
    builder_input(b, "v", DTYPE_F32, "10");
    builder_floats(b, "zero", "", &zero);
    builder_floats(b, "one", "", &one);
    builder_node(b, "Range", "zero n one", "r");
    builder_node(b, "Sub", "n one", "less");
    builder_node(b, "Div", "one less", "step");
    builder_node(b, "Mul", _i ? "r v" : "r step", "a");
    builder_node(b, "Cos", "a", "c");
    builder_node(b, "Mul", "c a", "p");
    builder_node(b, "Sub", "one p", "y");
    builder_output(b, "y", DTYPE_F32, "10");
    ck_assert_msg(import() == !_i, "%s", expect_text(ctx));
    if (!_i) {
        ck_assert_int_eq(module->main->ret->n_inputs, 1);
        ck_assert_int_eq(module->main->ret->inputs[0]->type.dim[0], 10);
        ck_assert(has(OP_EXPECT));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx open lengths");
    TCase *tests = tcase_create("onnx open lengths");
    SRunner *runner = srunner_create(suite);
    int failed;

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_result_tells_how_long_it_is_as_the_node_that_decides_it);
    tcase_add_test(tests, a_sum_ends_it);
    tcase_add_loop_test(tests, two_lengths_that_meet_are_compared, 0, 2);
    tcase_add_test(tests, what_the_file_declares_is_not_open);
    tcase_add_loop_test(tests, a_node_that_cannot_read_it_is_named, 0,
                        sizeof without_rule / sizeof *without_rule);
    tcase_add_loop_test(tests, a_number_without_a_bound_is_an_error, 0, 2);
    tcase_add_loop_test(tests, a_window_is_not_open, 0, 2);
    tcase_add_loop_test(tests, operators_of_odd_inputs_are_networks_or_errors, 0,
                        sizeof with_rules / sizeof *with_rules);
    tcase_add_loop_test(tests, what_is_computed_of_it_declares_how_long_it_is, 0, 2);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
