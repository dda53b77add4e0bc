#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/import.h"
#include "relay_ir/verify.h"
#include "tests/support/expect.h"
#include "tests/support/listing.h"
#include "tests/support/onnx_blocks.h"

static struct ctx *ctx;
static struct onnx_builder *b;
static struct module *module;
static struct import_options options;

static void setup(void)
{
    ctx = ctx_new("test.onnx");
    b = builder_new(17);
    module = NULL;
    options = (struct import_options){ 0 };
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

    module = onnx_import_bytes(ctx, bytes, n, NULL, &options);
    return module != NULL;
}

static void import_fine(void)
{
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_msg(module_verify(module, "import"), "%s", expect_text(ctx));
}

/* Input x and output y, both f32 [4]. */
static void declare_x_and_y(void)
{
    builder_input(b, "x", DTYPE_F32, "4");
    builder_output(b, "y", DTYPE_F32, "4");
}

/* --- graphs ----------------------------------------------------------------------------------- */

START_TEST(a_graph_keeps_its_names_and_origins)
{
    declare_x_and_y();
    builder_fill(b, "w", "4", 2);
    builder_node(b, "Mul", "x w", "m");
    builder_name(b, "scale");
    builder_node(b, "Relu", "m", "y");
    import_fine();
    ck_assert_str_eq(listing(module), "m = multiply(x, w)\ny = nn.relu(m)\n-> y\n");
    ck_assert_str_eq(module->main->first->origin->name, "scale");
    ck_assert_str_eq(module->main->first->origin->op_type, "Mul");
    ck_assert_int_eq(module->main->last->origin->index, 1);
    ck_assert_str_eq(module->main->result_names[0], "y");
    ck_assert_int_eq(module->opset, 17);
    ck_assert_str_eq(module->producer, "onnx_builder");
}
END_TEST

START_TEST(an_initialiser_that_is_listed_as_an_input_is_a_constant)
{
    declare_x_and_y();
    builder_input(b, "w", DTYPE_F32, "4");
    builder_fill(b, "w", "4", 2);
    builder_node(b, "Mul", "x w", "y");
    import_fine();
    ck_assert_int_eq(module->main->n_params, 1);
    ck_assert_str_eq(module->main->constants->name, "w");
}
END_TEST

START_TEST(a_default_of_another_shape_or_type_than_its_input_is_refused)
{
    declare_x_and_y();
    builder_fill(b, "w", "2,3", 1);
    builder_input(b, "w", DTYPE_F32, "3,2");
    builder_fill(b, "v", "2,3", 1);
    builder_input(b, "v", DTYPE_I64, "2,3");
    builder_node(b, "Relu", "x", "y");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_SHAPE, "\"w\" has the shape 2x3, the input of its name"));
    ck_assert(expect_error(ctx, DIAG_TYPE, "\"v\" is f32, the input of its name declares"));
    ck_assert_int_eq(ctx->diags.n_errors, 2);
}
END_TEST

START_TEST(an_input_that_nobody_reads_stays_a_parameter)
{
    declare_x_and_y();
    builder_input(b, "unused", DTYPE_I32, "2,2");
    builder_node(b, "Relu", "x", "y");
    import_fine();
    ck_assert_int_eq(module->main->n_params, 2);
    ck_assert_str_eq(module->main->params[1]->name, "unused");
}
END_TEST

START_TEST(an_input_may_be_an_output)
{
    builder_input(b, "x", DTYPE_F32, "4");
    builder_output(b, "x", DTYPE_F32, "4");
    import_fine();
    ck_assert_str_eq(listing(module), "-> x\n");
}
END_TEST

START_TEST(nodes_may_stand_in_any_order)
{
    declare_x_and_y();
    builder_node(b, "Relu", "c", "y");
    builder_node(b, "Add", "a b", "c");
    builder_node(b, "Neg", "x", "b");
    builder_node(b, "Abs", "x", "a");
    import_fine();
    ck_assert_str_eq(listing(module), "a = abs(x)\nb = negative(x)\nc = add(a, b)\n"
                                      "y = nn.relu(c)\n-> y\n");
    ck_assert_int_eq(module->main->first->origin->index, 3);
}
END_TEST

START_TEST(a_chain_of_20000_nodes_backwards_needs_no_deep_stack)
{
    enum { LENGTH = 20000 };

    declare_x_and_y();
    for (int i = LENGTH; i > 0; i--)
        builder_node(b, "Relu", i == 1 ? "x" : arena_printf(&b->arena, "v%d", i - 1),
                     i == LENGTH ? "y" : arena_printf(&b->arena, "v%d", i));
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_int_eq(module->main->first->origin->index, LENGTH - 1);
}
END_TEST

static void constant(const char *name, const char *attrs)
{
    builder_node(b, "Constant", "", name);
    builder_attrs(b, "%s", attrs);
}

START_TEST(constants_are_given_in_six_forms)
{
    static const int8_t bytes[] = { 5, 6 };
    static const struct {
        const char *name, *attrs, *type;
        double first;
    } forms[] = {
        { "c1", "value_int=7", "() i64", 7 },
        { "c2", "value_ints=[8,9]", "(2) i64", 8 },
        { "c3", "value_float=1.5", "() f32", 1.5 },
        { "c4", "value_floats=[2.5,3,4]", "(3) f32", 2.5 },
        { "c5", "value_ints=[]", "(0) i64", 0 },
    };
    const struct value *value;

    builder_node(b, "Constant", "", "c0");
    builder_attr_tensor(b, "value", DTYPE_I8, "2", bytes);
    builder_output(b, "c0", DTYPE_I8, "2");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        constant(forms[i].name, forms[i].attrs);
        builder_output(b, forms[i].name, i == 2 || i == 3 ? DTYPE_F32 : DTYPE_I64, NULL);
    }
    import_fine();
    value = module->main->constants;
    ck_assert_mem_eq(value->data, bytes, 2);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        value = value->next;
        ck_assert_str_eq(value->name, forms[i].name);
        ck_assert_str_eq(type_text(&ctx->perm, &value->type), forms[i].type);
        if (type_elements(&value->type))
            ck_assert_double_eq(dtype_load(value->type.dtype, value->data, 0), forms[i].first);
    }
}
END_TEST

START_TEST(networks_of_common_blocks_are_read)
{
    builder_free(b);
    b = builder_mixed_network(7);
    import_fine();
    ck_assert_int_eq(ctx->diags.n_warnings, 0);
    ck_assert_str_eq(type_text(&ctx->perm, &module->main->ret->inputs[0]->type), "(1,10) f32");
}
END_TEST

/* --- inconsistent graphs ---------------------------------------------------------------------- */

START_TEST(a_cycle_is_reported_with_its_nodes_and_nothing_else)
{
    declare_x_and_y();
    builder_node(b, "Add", "x c", "a");
    builder_name(b, "first");
    builder_node(b, "Relu", "a", "c");
    builder_name(b, "second");
    builder_node(b, "Neg", "c", "y");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "\"first\" (Add) reads \"second\" (Relu)"));
    ck_assert_int_eq(ctx->diags.n_errors, 1);
}
END_TEST

START_TEST(a_node_that_reads_itself_is_a_cycle)
{
    declare_x_and_y();
    builder_node(b, "Add", "x y", "y");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "cycle"));
}
END_TEST

START_TEST(every_missing_tensor_is_reported_once)
{
    declare_x_and_y();
    builder_node(b, "Add", "x nothing", "a");
    builder_node(b, "Add", "a absent", "c");
    builder_node(b, "Relu", "c", "y");
    builder_output(b, "z", DTYPE_F32, "4");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "reads \"nothing\", which nothing defines"));
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "reads \"absent\", which nothing defines"));
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "nothing defines the output \"z\""));
    ck_assert_int_eq(ctx->diags.n_errors, 3);
}
END_TEST

START_TEST(names_defined_twice_are_all_reported)
{
    declare_x_and_y();
    builder_input(b, "x", DTYPE_F32, "4");
    builder_fill(b, "w", "4", 1);
    builder_fill(b, "w", "4", 2);
    builder_node(b, "Relu", "x", "y");
    builder_node(b, "Neg", "x", "y");
    builder_node(b, "Neg", "x", "x");
    builder_node(b, "Neg", "x", "w");
    builder_output(b, "y", DTYPE_F32, "4");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "input 1 is called \"x\" as another one is"));
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "two initialisers are called \"w\""));
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "\"y\", which is defined already"));
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "\"x\", which is defined already"));
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "\"w\", which is defined already"));
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "two outputs are called \"y\""));
    ck_assert_int_eq(ctx->diags.n_errors, 6);
}
END_TEST

START_TEST(a_graph_without_outputs_is_refused)
{
    builder_input(b, "x", DTYPE_F32, "4");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "no outputs"));
}
END_TEST

START_TEST(a_declared_output_that_contradicts_is_a_warning)
{
    builder_input(b, "x", DTYPE_F32, "4");
    builder_node(b, "Relu", "x", "y");
    builder_output(b, "y", DTYPE_F64, "5");
    builder_node(b, "Relu", "x", "z");
    builder_output(b, "z", DTYPE_F32, "N");
    import_fine();
    ck_assert(expect_warning(ctx, DIAG_SHAPE, "output \"y\" has the shape 4"));
    ck_assert(expect_warning(ctx, DIAG_TYPE, "output \"y\" is f32"));
    ck_assert_int_eq(ctx->diags.n_warnings, 2);
}
END_TEST

/* --- operators -------------------------------------------------------------------------------- */

START_TEST(all_unknown_operators_are_reported_at_once_and_what_hangs_on_them_is_not)
{
    declare_x_and_y();
    builder_input(b, "open", DTYPE_F32, "N,4");
    builder_node(b, "Frobnicate", "x", "a");
    builder_node(b, "Add", "a x", "c");
    builder_node(b, "Frobnicate", "c", "d");
    builder_node(b, "my.domain:Relu", "d", "e");
    builder_node(b, "Relu", "e", "y");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_UNSUPPORTED_OP, "operator Frobnicate is not supported"));
    ck_assert(expect_error(ctx, DIAG_UNSUPPORTED_OP, "operator my.domain.Relu is not supported"));
    ck_assert(expect_error(ctx, DIAG_UNBOUND_DIM, "input \"open\""));
    ck_assert_int_eq(ctx->diags.n_errors, 4);
}
END_TEST

START_TEST(an_operator_newer_than_the_model_is_reported)
{
    declare_x_and_y();
    builder_node(b, "Gelu", "x", "y");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_UNSUPPORTED_OP, "Gelu is not supported in version 17"));
}
END_TEST

START_TEST(the_default_domain_has_two_spellings)
{
    declare_x_and_y();
    b->model->opset_import[0]->domain = arena_strdup(&b->arena, "ai.onnx");
    builder_node(b, "ai.onnx:Relu", "x", "a");
    builder_node(b, "Relu", "a", "y");
    import_fine();
}
END_TEST

START_TEST(attributes_are_checked)
{
    declare_x_and_y();
    builder_node(b, "LeakyRelu", "x", "a");
    builder_attrs(b, "alpha='much'");
    builder_node(b, "LeakyRelu", "x", "c");
    builder_attrs(b, "alpha=0.5 alpha=0.25");
    builder_node(b, "Transpose", "x", "d");
    builder_attrs(b, "perm=[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]");
    builder_node(b, "Relu", "x", "y");
    for (int i = 0; i < 300; i++)
        builder_attrs(b, "a%d=1", i);
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_ONNX_ATTRIBUTE, "alpha is a string, expected a float"));
    ck_assert(expect_error(ctx, DIAG_ONNX_ATTRIBUTE, "alpha occurs twice"));
    ck_assert(expect_error(ctx, DIAG_ONNX_ATTRIBUTE, "perm has 17 elements, at most 16"));
    ck_assert(expect_error(ctx, DIAG_ONNX_ATTRIBUTE, "the node has 300 attributes"));
    ck_assert_int_eq(ctx->diags.n_errors, 4);
}
END_TEST

START_TEST(attributes_without_a_type_are_what_they_hold)
{
    Onnx__AttributeProto *attr;

    declare_x_and_y();
    builder_node(b, "LeakyRelu", "x", "y");
    attr = builder_attr(b, "alpha", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED);
    attr->has_type = 0;
    attr->has_f = 1;
    attr->f = 0.25f;
    import_fine();
    ck_assert_double_eq(module->main->first->attrs.alpha_beta.alpha, 0.25);
}
END_TEST

/* --- operator sets and files ------------------------------------------------------------------ */

static const struct {
    int opset;
    const char *part; /* of the error; NULL = accepted */
} opsets[] = {
    { 7, NULL },
    { 23, NULL },
    { 6, "operator set 6, 7 to 28 are supported" },
    { 29, "operator set 29, 7 to 28 are supported" },
    { 0, "operator set 0, 7 to 28" },
};

START_TEST(operator_sets_7_to_23_are_read)
{
    declare_x_and_y();
    b->model->opset_import[0]->version = opsets[_i].opset;
    builder_node(b, "Relu", "x", "y");
    if (!opsets[_i].part) {
        import_fine();
        return;
    }
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_UNSUPPORTED_FORM, opsets[_i].part));
    ck_assert(expect_error(ctx, DIAG_UNSUPPORTED_FORM, "opset_version="));
}
END_TEST

START_TEST(a_model_without_an_operator_set_is_refused)
{
    declare_x_and_y();
    b->model->n_opset_import = 0;
    builder_node(b, "Relu", "x", "y");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_ONNX_FORMAT, "declares no operator set"));
}
END_TEST

static const struct {
    const char *bytes;
    size_t n;
    const char *help;
} others[] = {
#define BYTES(text) text, sizeof text - 1
    { BYTES(""), "the file is empty" },
    { BYTES("PK\3\4\0\0\0\0\0\0\0\0"), "PyTorch" },
    { BYTES("\x89HDF\r\n\x1a\n"), "Keras" },
    { BYTES("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"), "git lfs pull" },
    { BYTES("\x08\x07\x12\x01x"), "contains no graph" },
#undef BYTES
};

START_TEST(files_of_other_kinds_are_recognised)
{
    module = onnx_import_bytes(ctx, (const uint8_t *)others[_i].bytes, others[_i].n, NULL, NULL);
    ck_assert_ptr_null(module);
    ck_assert_msg(expect_error(ctx, DIAG_ONNX_FORMAT, others[_i].help) ||
                      expect_error(ctx, DIAG_ONNX_GRAPH, others[_i].help),
                  "%s", expect_text(ctx));
}
END_TEST

START_TEST(hostile_names_are_escaped_in_every_message)
{
    builder_input(b, "\033[2J\"", DTYPE_F32, "\033[0m,\x80,3");
    builder_output(b, "\033y", DTYPE_F32, "4");
    builder_fill(b, "*/\n\033", "4", 1);
    builder_fill(b, "*/\n\033", "4", 1);
    builder_node(b, "\033dom:\033Op", "\033[2J\" \033?", "\033out");
    builder_name(b, "\033]0;title\007");
    builder_attrs(b, "\033a=1 \033a=2");
    ck_assert(!import());
    for (const char *p = expect_text(ctx); *p; p++)
        ck_assert_msg(*p == '\n' || (*p >= ' ' && *p <= '~'), "byte %d in: %s", *p,
                      expect_text(ctx));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx import");
    TCase *tests = tcase_create("onnx import");
    SRunner *runner = srunner_create(suite);
    int failed;

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, a_graph_keeps_its_names_and_origins);
    tcase_add_test(tests, an_initialiser_that_is_listed_as_an_input_is_a_constant);
    tcase_add_test(tests, a_default_of_another_shape_or_type_than_its_input_is_refused);
    tcase_add_test(tests, an_input_that_nobody_reads_stays_a_parameter);
    tcase_add_test(tests, an_input_may_be_an_output);
    tcase_add_test(tests, nodes_may_stand_in_any_order);
    tcase_add_test(tests, a_chain_of_20000_nodes_backwards_needs_no_deep_stack);
    tcase_add_test(tests, constants_are_given_in_six_forms);
    tcase_add_test(tests, networks_of_common_blocks_are_read);
    tcase_add_test(tests, a_cycle_is_reported_with_its_nodes_and_nothing_else);
    tcase_add_test(tests, a_node_that_reads_itself_is_a_cycle);
    tcase_add_test(tests, every_missing_tensor_is_reported_once);
    tcase_add_test(tests, names_defined_twice_are_all_reported);
    tcase_add_test(tests, a_graph_without_outputs_is_refused);
    tcase_add_test(tests, a_declared_output_that_contradicts_is_a_warning);
    tcase_add_test(tests, all_unknown_operators_are_reported_at_once_and_what_hangs_on_them_is_not);
    tcase_add_test(tests, an_operator_newer_than_the_model_is_reported);
    tcase_add_test(tests, the_default_domain_has_two_spellings);
    tcase_add_test(tests, attributes_are_checked);
    tcase_add_test(tests, attributes_without_a_type_are_what_they_hold);
    tcase_add_loop_test(tests, operator_sets_7_to_23_are_read, 0, sizeof opsets / sizeof *opsets);
    tcase_add_test(tests, a_model_without_an_operator_set_is_refused);
    tcase_add_loop_test(tests, files_of_other_kinds_are_recognised, 0,
                        sizeof others / sizeof *others);
    tcase_add_test(tests, hostile_names_are_escaped_in_every_message);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
