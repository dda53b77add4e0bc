/* Branches and functions of the model. */
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
    ctx = ctx_new("test.onnx");
    b = builder_new(17);
    module = NULL;
    builder_input(b, "x", DTYPE_F32, "4");
    builder_output(b, "y", DTYPE_F32, "4");
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

/* --- If --------------------------------------------------------------------------------------- */

/* A branch of the last node that computes `y` from `x` by one operator. */
static void branch(const char *attr, const char *op, const char *x, const char *y)
{
    const struct builder_outer outer = builder_begin_graph(b, attr);

    builder_node(b, op, x, y);
    builder_output(b, y, DTYPE_F32, "4");
    builder_end_graph(b, outer);
}

static void condition(const char *name, bool value)
{
    const uint8_t byte = value;

    builder_tensor(b, name, DTYPE_BOOL, "", &byte);
}

START_TEST(a_branch_with_a_constant_condition_takes_the_place_of_its_if)
{
    condition("cond", _i);
    builder_node(b, "Neg", "x", "outer");
    builder_node(b, "If", "cond", "z");
    branch("then_branch", "Abs", "outer", "t");
    branch("else_branch", "Exp", "outer", "e");
    builder_node(b, "Relu", "z", "y");
    import_fine();
    ck_assert_str_eq(listing(module),
                     _i ? "outer = negative(x)\nt = abs(outer)\ny = nn.relu(t)\n-> y\n"
                        : "outer = negative(x)\ne = exp(outer)\ny = nn.relu(e)\n-> y\n");
    ck_assert_int_eq(module->main->first->next->origin->index, 1);
    ck_assert_str_eq(module->main->first->next->origin->op_type, _i ? "Abs" : "Exp");
}
END_TEST

START_TEST(a_condition_may_be_computed_from_shapes)
{
    const int64_t four = 4;

    builder_ints(b, "four", "1", &four);
    builder_node(b, "If", "equal", "y");
    branch("then_branch", "Abs", "x", "t");
    branch("else_branch", "Exp", "x", "e");
    builder_node(b, "Shape", "x", "shape");
    builder_node(b, "Equal", "shape four", "equal");
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_str_eq(op_name(module->main->last->op), "abs");
}
END_TEST

START_TEST(the_branch_not_taken_may_hold_anything)
{
    condition("cond", true);
    builder_node(b, "If", "cond", "y");
    branch("then_branch", "Abs", "x", "t");
    branch("else_branch", "Frobnicate", "nothing", "e");
    import_fine();
}
END_TEST

START_TEST(a_branch_may_read_a_tensor_defined_later_in_the_file)
{
    condition("cond", true);
    builder_node(b, "If", "cond", "y");
    branch("then_branch", "Abs", "late", "t");
    branch("else_branch", "Abs", "x", "e");
    builder_node(b, "Neg", "x", "late");
    import_fine();
    ck_assert_str_eq(listing(module), "late = negative(x)\nt = abs(late)\n-> t\n");
}
END_TEST

START_TEST(a_branch_may_give_an_outer_value_or_an_initialiser)
{
    struct builder_outer outer;

    condition("cond", true);
    builder_node(b, "If", "cond", "a c");
    outer = builder_begin_graph(b, "then_branch");
    builder_fill(b, "own", "4", 3);
    builder_output(b, "x", DTYPE_F32, "4");
    builder_output(b, "own", DTYPE_F32, "4");
    builder_end_graph(b, outer);
    branch("else_branch", "Abs", "x", "e");
    builder_node(b, "Add", "a c", "y");
    import_fine();
    ck_assert_str_eq(listing(module), "y = add(x, own)\n-> y\n");
}
END_TEST

START_TEST(names_of_a_branch_hide_outer_ones_and_end_with_it)
{
    struct builder_outer outer;

    condition("cond", true);
    builder_node(b, "Neg", "x", "v");
    builder_node(b, "If", "cond", "z");
    outer = builder_begin_graph(b, "then_branch");
    builder_node(b, "Abs", "x", "v");
    builder_node(b, "Exp", "v", "t");
    builder_output(b, "t", DTYPE_F32, "4");
    builder_end_graph(b, outer);
    branch("else_branch", "Abs", "x", "e");
    builder_node(b, "Add", "z v", "y");
    import_fine();
    ck_assert_str_eq(listing(module),
                     "v = negative(x)\nv_2 = abs(x)\nt = exp(v_2)\ny = add(t, v)\n-> y\n");
}
END_TEST

START_TEST(branches_nest)
{
    enum { LEVELS = 20 };
    struct builder_outer outer[LEVELS];

    condition("cond", true);
    for (int i = 0; i < LEVELS; i++) {
        builder_node(b, "If", "cond", i ? arena_printf(&b->arena, "v%d", i) : "y");
        branch("else_branch", "Abs", "x", "e");
        outer[i] = builder_begin_graph(b, "then_branch");
        builder_output(b, arena_printf(&b->arena, "v%d", i + 1), DTYPE_F32, "4");
    }
    builder_node(b, "Relu", "x", arena_printf(&b->arena, "v%d", LEVELS));
    for (int i = LEVELS; i-- > 0;)
        builder_end_graph(b, outer[i]);
    import_fine();
    ck_assert_str_eq(listing(module), "v20 = nn.relu(x)\n-> v20\n");
}
END_TEST

START_TEST(a_condition_of_run_time_joins_both_branches)
{
    builder_input(b, "flag", DTYPE_BOOL, "");
    builder_node(b, "If", "flag", "y");
    branch("then_branch", "Abs", "x", "t");
    branch("else_branch", "Exp", "x", "e");
    import_fine();
    ck_assert_str_eq(listing(module), "t = abs(x)\ne = exp(x)\ny = if(flag, t, e)\n-> y\n");
}
END_TEST

START_TEST(branches_of_different_shapes_are_refused)
{
    struct builder_outer outer;

    builder_input(b, "flag", DTYPE_BOOL, "");
    builder_node(b, "If", "flag", "z");
    branch("then_branch", "Abs", "x", "t");
    outer = builder_begin_graph(b, "else_branch");
    builder_node(b, "Concat", "x x", "e");
    builder_attrs(b, "axis=0");
    builder_output(b, "e", DTYPE_F32, "8");
    builder_end_graph(b, outer);
    builder_node(b, "Relu", "z", "y");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_UNSUPPORTED_DYNAMIC,
                           "output 0 \"z\" is (4) f32 in its then_branch and (8) f32 in its "
                           "else_branch"));
    ck_assert_msg(strstr(expect_text(ctx), "--freeze flag=NUMBER"), "%s", expect_text(ctx));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
}
END_TEST

START_TEST(malformed_ifs_are_refused)
{
    struct builder_outer outer;

    condition("cond", true);
    builder_fill(b, "two", "2", 1);
    builder_node(b, "If", "cond", "a");
    builder_node(b, "If", "", "a2");
    builder_node(b, "If", "two", "a3");
    branch("then_branch", "Abs", "x", "t");
    branch("else_branch", "Exp", "x", "e");
    builder_node(b, "If", "cond", "a4 a5");
    branch("then_branch", "Abs", "x", "t");
    branch("else_branch", "Exp", "x", "e");
    builder_node(b, "If", "cond", "a6");
    outer = builder_begin_graph(b, "then_branch");
    builder_output(b, "undefined", DTYPE_F32, "4");
    builder_end_graph(b, outer);
    branch("else_branch", "Exp", "x", "e");
    builder_node(b, "Relu", "x", "y");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_ONNX_ATTRIBUTE, "If needs a condition"));
    ck_assert(expect_error(ctx, DIAG_SHAPE, "the condition is (2) f32"));
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "it has 2 outputs, its body gives 1"));
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "\"undefined\" as output 0"));
    ck_assert_int_eq(ctx->diags.n_errors, 5);
}
END_TEST

/* --- functions -------------------------------------------------------------------------------- */

static void *new_message(const ProtobufCMessageDescriptor *type)
{
    void *message = arena_alloc(&b->arena, type->sizeof_message);

    protobuf_c_message_init(type, message);
    return message;
}

/* Moves the nodes made since `first` from the graph into a new function. */
static Onnx__FunctionProto *function(const char *name, const char *inputs, const char *outputs,
                                     size_t first)
{
    Onnx__FunctionProto *f = new_message(&onnx__function_proto__descriptor);
    const Onnx__NodeProto *names = builder_node(b, name, inputs, outputs);
    Onnx__FunctionProto **list =
        arena_array(&b->arena, Onnx__FunctionProto *, b->model->n_functions + 1);

    b->graph->n_node--;
    f->name = arena_strdup(&b->arena, name);
    f->domain = arena_strdup(&b->arena, "own");
    f->n_input = names->n_input;
    f->input = names->input;
    f->n_output = names->n_output;
    f->output = names->output;
    f->n_node = b->graph->n_node - first;
    f->node = arena_array(&b->arena, Onnx__NodeProto *, f->n_node);
    memcpy(f->node, b->graph->node + first, f->n_node * sizeof(Onnx__NodeProto *));
    b->graph->n_node = first;
    f->n_opset_import = b->model->n_opset_import;
    f->opset_import = b->model->opset_import;
    if (b->model->n_functions)
        memcpy(list, b->model->functions, b->model->n_functions * sizeof *list);
    list[b->model->n_functions++] = f;
    b->model->functions = list;
    return f;
}

static void refer(const char *attr, const char *to, Onnx__AttributeProto__AttributeType type)
{
    builder_attr(b, attr, type)->ref_attr_name = arena_strdup(&b->arena, to);
}

/* own.Twice(v) = relu(v) + relu(v), its nodes in the wrong order */
static void define_twice(void)
{
    builder_node(b, "Add", "r r", "w");
    builder_node(b, "Relu", "v", "r");
    function("Twice", "v", "w", 0);
}

START_TEST(a_call_of_a_function_is_replaced_by_its_body)
{
    define_twice();
    builder_node(b, "own:Twice", "x", "a");
    builder_node(b, "own:Twice", "a", "y");
    import_fine();
    ck_assert_str_eq(listing(module), "r = nn.relu(x)\nw = add(r, r)\nr_2 = nn.relu(w)\n"
                                      "w_2 = add(r_2, r_2)\n-> w_2\n");
    ck_assert_int_eq(module->main->last->origin->index, 1);
}
END_TEST

START_TEST(a_body_gets_the_attributes_of_its_call_or_their_defaults)
{
    Onnx__FunctionProto *f;
    Onnx__AttributeProto *initial = new_message(&onnx__attribute_proto__descriptor);
    const struct node *node;

    builder_node(b, "LeakyRelu", "v", "w");
    refer("alpha", "slope", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
    f = function("Leaky", "v", "w", 0);
    initial->name = arena_strdup(&b->arena, "slope");
    initial->has_f = 1;
    initial->f = 0.5f;
    f->n_attribute_proto = 1;
    f->attribute_proto = &initial;
    builder_node(b, "LeakyRelu", "v", "w");
    refer("alpha", "slope", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
    function("Plain", "v", "w", 0);
    builder_node(b, "own:Leaky", "x", "a");
    builder_attrs(b, "slope=0.25");
    builder_node(b, "own:Leaky", "a", "c");
    builder_node(b, "own:Plain", "c", "y");
    import_fine();
    node = module->main->first;
    ck_assert_double_eq(node->attrs.alpha_beta.alpha, 0.25);
    ck_assert_double_eq(node->next->attrs.alpha_beta.alpha, 0.5);
    ck_assert_double_eq_tol(node->next->next->attrs.alpha_beta.alpha, 0.01, 1e-6);
}
END_TEST

START_TEST(an_input_left_out_is_absent_in_the_body)
{
    builder_fill(b, "low", "", -1);
    builder_node(b, "Clip", "v low high", "w");
    function("Limit", "v low high", "w", 0);
    builder_node(b, "own:Limit", "x low", "y");
    import_fine();
    ck_assert_str_eq(op_name(module->main->first->op), "clip");
}
END_TEST

START_TEST(a_body_does_not_see_the_names_around_its_call)
{
    builder_node(b, "Add", "v x", "w");
    function("Peek", "v", "w", 0);
    builder_node(b, "own:Peek", "x", "y");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "reads \"x\", which nothing defines"));
}
END_TEST

START_TEST(a_function_that_calls_itself_is_refused)
{
    builder_node(b, "own:Other", "v", "w");
    function("One", "v", "w", 0);
    builder_node(b, "own:One", "v", "w");
    function("Other", "v", "w", 0);
    builder_node(b, "own:One", "x", "y");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "the function One calls itself"));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
}
END_TEST

START_TEST(functions_that_multiply_are_stopped)
{
    /* own.F0 is one node, own.Fi calls own.F(i-1) twice: 2^30 nodes. */
    builder_node(b, "Relu", "v", "w");
    function("F0", "v", "w", 0);
    for (int i = 1; i <= 30; i++) {
        builder_node(b, arena_printf(&b->arena, "own:F%d", i - 1), "v", "m");
        builder_node(b, arena_printf(&b->arena, "own:F%d", i - 1), "m", "w");
        function(arena_printf(&b->arena, "F%d", i), "v", "w", 0);
    }
    builder_node(b, "own:F30", "x", "y");
    ck_assert(!import());
    ck_assert_msg(expect_error(ctx, DIAG_LIMIT, "100001 operators"), "%s", expect_text(ctx));
}
END_TEST

START_TEST(functions_nested_too_deep_are_refused)
{
    builder_node(b, "Relu", "v", "w");
    function("F0", "v", "w", 0);
    for (int i = 1; i <= 100; i++) {
        builder_node(b, arena_printf(&b->arena, "own:F%d", i - 1), "v", "w");
        function(arena_printf(&b->arena, "F%d", i), "v", "w", 0);
    }
    builder_node(b, "own:F100", "x", "y");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_UNSUPPORTED_FORM, "nested more than 64 deep"));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
}
END_TEST

START_TEST(malformed_functions_and_calls_are_refused)
{
    define_twice();
    define_twice();
    builder_node(b, "own:Twice", "x x", "a");
    builder_node(b, "own:Twice", "x", "c d");
    builder_node(b, "Relu", "x", "y");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "the function Twice is defined twice"));
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "it has 2 inputs, its function takes 1"));
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "it has 2 outputs, its body gives 1"));
    ck_assert_int_eq(ctx->diags.n_errors, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx control");
    TCase *tests = tcase_create("onnx control");
    SRunner *runner = srunner_create(suite);
    int failed;

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, a_branch_with_a_constant_condition_takes_the_place_of_its_if, 0, 2);
    tcase_add_test(tests, a_condition_may_be_computed_from_shapes);
    tcase_add_test(tests, the_branch_not_taken_may_hold_anything);
    tcase_add_test(tests, a_branch_may_read_a_tensor_defined_later_in_the_file);
    tcase_add_test(tests, a_branch_may_give_an_outer_value_or_an_initialiser);
    tcase_add_test(tests, names_of_a_branch_hide_outer_ones_and_end_with_it);
    tcase_add_test(tests, branches_nest);
    tcase_add_test(tests, a_condition_of_run_time_joins_both_branches);
    tcase_add_test(tests, branches_of_different_shapes_are_refused);
    tcase_add_test(tests, malformed_ifs_are_refused);
    tcase_add_test(tests, a_call_of_a_function_is_replaced_by_its_body);
    tcase_add_test(tests, a_body_gets_the_attributes_of_its_call_or_their_defaults);
    tcase_add_test(tests, an_input_left_out_is_absent_in_the_body);
    tcase_add_test(tests, a_body_does_not_see_the_names_around_its_call);
    tcase_add_test(tests, a_function_that_calls_itself_is_refused);
    tcase_add_test(tests, functions_that_multiply_are_stopped);
    tcase_add_test(tests, functions_nested_too_deep_are_refused);
    tcase_add_test(tests, malformed_functions_and_calls_are_refused);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
