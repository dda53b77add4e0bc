/* Dims of inputs: fixed by the model, bound by options, or reported. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/import.h"
#include "tests/support/expect.h"
#include "tests/support/onnx_builder.h"

static struct ctx *ctx;
static struct onnx_builder *b;
static struct module *module;
static struct shape_binding bindings[4];
static struct import_options options;

static void setup(void)
{
    ctx = ctx_new("test.onnx");
    b = builder_new(17);
    module = NULL;
    options = (struct import_options){ .shapes = bindings };
}

static void teardown(void)
{
    module_free(module);
    builder_free(b);
    ctx_free(ctx);
}

static void bind_shape(const char *name, int rank, int64_t d0, int64_t d1, int64_t d2)
{
    bindings[options.n_shapes++] = (struct shape_binding){ name, rank, { d0, d1, d2 }, false };
}

static bool import(void)
{
    size_t n;
    const uint8_t *bytes = builder_bytes(b, &n);

    module = onnx_import_bytes(ctx, bytes, n, NULL, &options);
    return module != NULL;
}

/* A model that passes x on, with x of this shape. */
static void pass_on(const char *shape)
{
    builder_input(b, "x", DTYPE_F32, shape);
    builder_node(b, "Relu", "x", "y");
    builder_output(b, "y", DTYPE_F32, NULL);
}

static const char *type_of_x(void)
{
    return type_text(&ctx->perm, &module->main->params[0]->type);
}

START_TEST(a_dim_is_bound_by_the_name_of_its_input)
{
    pass_on("N,3,size");
    bind_shape("x", 3, 2, 3, 8);
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_str_eq(type_of_x(), "(2,3,8) f32");
}
END_TEST

START_TEST(a_dim_is_bound_by_its_own_name_in_every_input)
{
    pass_on("N,3,size");
    builder_input(b, "z", DTYPE_F32, "size,N");
    bind_shape("size", 1, 8, 0, 0);
    bind_shape("N", 1, 2, 0, 0);
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_str_eq(type_of_x(), "(2,3,8) f32");
    ck_assert_str_eq(type_text(&ctx->perm, &module->main->params[1]->type), "(8,2) f32");
}
END_TEST

START_TEST(an_input_without_a_shape_is_bound_whole)
{
    pass_on(NULL);
    bind_shape("x", 2, 4, 5, 0);
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_str_eq(type_of_x(), "(4,5) f32");
}
END_TEST

static const struct {
    const char *shape, *help; /* the option that is suggested */
} open_shapes[] = {
    { "N,3,224,224", "--shape x=1,3,224,224" },
    { "?,3", "--shape x=1,3" },
    { "-1,3", "--shape x=1,3" },
    { "3,batch_size", "--shape x=3,1" },
    { "1,3,height,width", "--shape x=1,3,height,width, with numbers" },
    { "1,?", "--shape x=1,?, with numbers" },
    { NULL, "--shape x=1,..., with numbers" },
};

START_TEST(an_open_shape_is_reported_with_the_option_that_binds_it)
{
    pass_on(open_shapes[_i].shape);
    ck_assert(!import());
    ck_assert_msg(expect_error(ctx, DIAG_UNBOUND_DIM, open_shapes[_i].help), "%s",
                  expect_text(ctx));
}
END_TEST

START_TEST(all_open_inputs_are_reported_at_once)
{
    pass_on("N,3");
    builder_input(b, "second input", DTYPE_F32, "N,4");
    builder_input(b, "fine", DTYPE_F32, "1,4");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_UNBOUND_DIM, "--shape x=1,3"));
    ck_assert(expect_error(ctx, DIAG_UNBOUND_DIM, "--shape 'second input=1,4'"));
    ck_assert_int_eq(ctx->diags.n_errors, 2);
}
END_TEST

static const struct {
    const char *shape, *name;
    int rank;
    const char *part;
} contradictions[] = {
    { "N,3", "x", 3, "3 dims are given, the model's input has 2" },
    { "N,3", "x", 2, "dim 1 is given as 6, the model fixes it to 3" },
    { "N,3", "N", 2, "a dimension is one number" },
    { "1,3", "y", 2, "no input and no dimension of this name" },
    { "1,3", "xx", 2, "no input and no dimension of this name" },
};

START_TEST(a_binding_that_contradicts_or_names_nothing_is_an_error)
{
    pass_on(contradictions[_i].shape);
    bind_shape(contradictions[_i].name, contradictions[_i].rank, 5, 6, 7);
    ck_assert(!import());
    ck_assert_msg(expect_error(ctx, DIAG_USAGE, contradictions[_i].part), "%s", expect_text(ctx));
}
END_TEST

START_TEST(a_misspelt_name_gets_a_suggestion)
{
    builder_input(b, "images", DTYPE_F32, "1,3");
    builder_output(b, "images", DTYPE_F32, "1,3");
    bind_shape("image", 2, 1, 3, 0);
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_USAGE, "there is an input \"images\""));
}
END_TEST

START_TEST(a_binding_of_a_constant_names_nothing)
{
    pass_on("1,3");
    builder_input(b, "w", DTYPE_F32, "2");
    builder_fill(b, "w", "2", 1);
    bind_shape("w", 1, 2, 0, 0);
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_USAGE, "no input and no dimension"));
}
END_TEST

START_TEST(bound_dims_may_not_overflow)
{
    pass_on("a,b,c");
    bind_shape("x", 3, INT64_MAX, INT64_MAX, 2);
    ck_assert(!import());
    ck_assert_msg(expect_error(ctx, DIAG_TOO_BIG, ""), "%s", expect_text(ctx));
}
END_TEST

START_TEST(inputs_of_other_kinds_than_tensors_are_refused)
{
    Onnx__TypeProto__Other other = ONNX__TYPE_PROTO__OTHER__INIT;

    pass_on("1,3");
    builder_input(b, "map", DTYPE_F32, "1");
    b->graph->input[1]->type->tensor_type = NULL;
    b->graph->input[1]->type->map_type = &other;
    builder_input(b, "untyped", DTYPE_F32, "1");
    b->graph->input[2]->type = NULL;
    builder_input(b, "text", DTYPE_F32, "1");
    b->graph->input[3]->type->tensor_type->elem_type = 8;
    builder_input(b, "high", DTYPE_F32, "1,1,1,1,1,1,1,1,1");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_UNSUPPORTED_TYPE, "\"map\" is not declared as a tensor"));
    ck_assert(expect_error(ctx, DIAG_ONNX_GRAPH, "\"untyped\" is not declared as a tensor"));
    ck_assert(expect_error(ctx, DIAG_UNSUPPORTED_TYPE, "\"text\" has the element type string"));
    ck_assert(expect_error(ctx, DIAG_UNSUPPORTED_FORM, "\"high\" has rank 9"));
    ck_assert_int_eq(ctx->diags.n_errors, 4);
}
END_TEST

/* A sequence of f32 tensors of rank 1 is input 1; its types, as the builder's, live as long as the test. */
static void add_sequence(const char *name)
{
    static Onnx__TypeProto__Of of;
    static Onnx__TypeProto outer;

    builder_input(b, name, DTYPE_F32, "n");
    onnx__type_proto__of__init(&of);
    onnx__type_proto__init(&outer);
    of.elem_type = b->graph->input[1]->type;
    outer.sequence_type = &of;
    b->graph->input[1]->type = &outer;
}

START_TEST(a_sequence_has_the_elements_that_are_bound)
{
    pass_on("1,3");
    add_sequence("s");
    bind_shape("s.0", 1, 4, 0, 0);
    bind_shape("s.1", 1, 2, 0, 0);
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_int_eq(module->main->n_params, 3);
    ck_assert_str_eq(module->main->params[2]->name, "s.1");
    ck_assert_int_eq(module->main->params[1]->type.dim[0], 4);
}
END_TEST

START_TEST(a_sequence_may_be_empty)
{
    pass_on("1,3");
    add_sequence("s");
    bind_shape("s", -1, 0, 0, 0);
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_int_eq(module->main->n_params, 1);
}
END_TEST

START_TEST(a_sequence_without_bindings_is_refused)
{
    pass_on("1,3");
    add_sequence("s");
    ck_assert(!import());
    ck_assert(expect_error(ctx, DIAG_UNBOUND_DIM, "nobody says how many elements"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx shapes");
    TCase *tests = tcase_create("onnx shapes");
    SRunner *runner = srunner_create(suite);
    int failed;

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_dim_is_bound_by_the_name_of_its_input);
    tcase_add_test(tests, a_dim_is_bound_by_its_own_name_in_every_input);
    tcase_add_test(tests, an_input_without_a_shape_is_bound_whole);
    tcase_add_loop_test(tests, an_open_shape_is_reported_with_the_option_that_binds_it, 0,
                        sizeof open_shapes / sizeof *open_shapes);
    tcase_add_test(tests, all_open_inputs_are_reported_at_once);
    tcase_add_loop_test(tests, a_binding_that_contradicts_or_names_nothing_is_an_error, 0,
                        sizeof contradictions / sizeof *contradictions);
    tcase_add_test(tests, a_misspelt_name_gets_a_suggestion);
    tcase_add_test(tests, a_binding_of_a_constant_names_nothing);
    tcase_add_test(tests, bound_dims_may_not_overflow);
    tcase_add_test(tests, a_sequence_has_the_elements_that_are_bound);
    tcase_add_test(tests, a_sequence_may_be_empty);
    tcase_add_test(tests, a_sequence_without_bindings_is_refused);
    tcase_add_test(tests, inputs_of_other_kinds_than_tensors_are_refused);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
