/* --cut and --extract: parts of the graph; and --preflight: all obstacles at once. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/import.h"
#include "tests/support/expect.h"
#include "tests/support/onnx_builder.h"

static struct ctx *ctx;
static struct onnx_builder *b;
static struct module *module;
static struct import_options options;
static struct import_obstacles found;

/* x -> Abs a -> Split s1 s2; s1 -> Exp e -> acme.Fancy f -> Neg n -> Tanh t; s2 -> Sin i.
 * Outputs t, i. */
static void setup(void)
{
    ctx = ctx_new("test.onnx");
    b = builder_new(17);
    module = NULL;
    options = (struct import_options){ .obstacles = NULL };
    found = (struct import_obstacles){ .open_length = 64 };
    builder_domain(b, "acme", 1);
    builder_input(b, "x", DTYPE_F32, "2,6");
    builder_input(b, "unused", DTYPE_F32, "n,m");
    builder_node(b, "Abs", "x", "a");
    builder_node(b, "Split", "a", "s1 s2");
    builder_attrs(b, "axis=1");
    builder_name(b, "halves");
    builder_node(b, "Exp", "s1", "e");
    builder_node(b, "acme:Fancy", "e", "f");
    builder_name(b, "fancy");
    builder_node(b, "Neg", "f", "n");
    builder_node(b, "Tanh", "n", "t");
    builder_node(b, "Sin", "s2", "i");
    builder_output(b, "t", DTYPE_F32, NULL);
    builder_output(b, "i", DTYPE_F32, "2,3");
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

/* "x:2,6 -> e:2,3 i:2,3 (4 nodes)" */
static const char *interface(void)
{
    static char text[500];
    const struct function *fn = module->main;
    size_t n = 0;
    int nodes = 0;

    for (int i = 0; i < fn->n_params; i++)
        n += (size_t)sprintf(text + n, "%s ", fn->params[i]->name);
    n += (size_t)sprintf(text + n, "->");
    for (int i = 0; i < fn->ret->n_inputs; i++)
        n += (size_t)sprintf(text + n, " %s[%lld]", fn->result_names[i],
                             (long long)type_elements(&fn->ret->inputs[i]->type));
    for (const struct node *node = fn->first; node; node = node->next)
        nodes++;
    sprintf(text + n, " (%d nodes)", nodes);
    return text;
}

static const struct {
    const char *from[2], *to[3], *want;
} parts[] = {
    { { NULL }, { "e" }, "x -> e[6] (3 nodes)" },
    { { NULL }, { "i", "e" }, "x -> i[6] e[6] (4 nodes)" },
    { { NULL }, { "halves" }, "x -> s1[6] s2[6] (2 nodes)" },
    { { "s1" }, { "e" }, "s1 -> e[6] (1 nodes)" },
    { { "halves" }, { "e", "i" }, "s1 s2 -> e[6] i[6] (2 nodes)" },
    { { "s1" }, { "e", "i" }, "x s1 -> e[6] i[6] (4 nodes)" }, /* s2 still comes from the Split */
    { { "n" }, { "t" }, "n -> t[6] (1 nodes)" },               /* declared by the file */
    { { "x" }, { "x", "a" }, "x -> x[12] a[12] (1 nodes)" },
};

START_TEST(a_part_has_what_its_outputs_need)
{
    if (strcmp(parts[_i].to[0], "t") == 0) { /* nothing in front of it tells its type */
        Onnx__GraphProto *graph = b->graph;
        Onnx__ValueInfoProto **info = arena_new(&b->arena, Onnx__ValueInfoProto *);

        builder_output(b, "n", DTYPE_F32, "2,3");
        *info = graph->output[--graph->n_output];
        graph->value_info = info;
        graph->n_value_info = 1;
    }
    options.from = parts[_i].from;
    options.to = parts[_i].to;
    for (; options.n_from < 2 && options.from[options.n_from]; options.n_from++)
        ;
    for (; options.n_to < 3 && options.to[options.n_to]; options.n_to++)
        ;
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_str_eq(interface(), parts[_i].want);
}
END_TEST

static const struct {
    const char *from, *to, *message, *help;
} mistakes[] = {
    { NULL, "halve", "--cut halve: the model has no tensor and no node", "there is \"halves\"" },
    { "elsewhere", "e", "--extract elsewhere: the model has no tensor", "Netron shows them" },
    { "i", "e", "--extract: no output of the part depends on \"i\"", "check the order" },
    { "f", "t", "the element type and shape of \"f\" are unknown", "infer_shapes" },
    { NULL, "f", "operator acme.Fancy is not supported", "" },
};

START_TEST(parts_that_are_none_are_errors)
{
    options.from = &mistakes[_i].from;
    options.n_from = mistakes[_i].from != NULL;
    options.to = &mistakes[_i].to;
    options.n_to = 1;
    ck_assert(!import());
    ck_assert_msg(strstr(expect_text(ctx), mistakes[_i].message) != NULL, "%s", expect_text(ctx));
    ck_assert_msg(strstr(expect_text(ctx), mistakes[_i].help) != NULL, "%s", expect_text(ctx));
}
END_TEST

START_TEST(a_layout_of_one_cpu_is_explained)
{
    builder_node(b, "com.microsoft.nchwc:Conv", "t", "c");
    builder_output(b, "c", DTYPE_F32, NULL);
    options.obstacles = &found;
    ck_assert(!import());
    ck_assert_msg(strstr(expect_text(ctx), "save it with ORT_ENABLE_EXTENDED") != NULL, "%s",
                  expect_text(ctx));
}
END_TEST

START_TEST(a_branch_keeps_what_it_reads)
{
    static const bool yes = true;
    static const char *const to[] = { "y" };
    struct builder_outer outer;

    builder_tensor(b, "yes", DTYPE_BOOL, "", &yes);
    builder_node(b, "If", "yes", "y");
    outer = builder_begin_graph(b, "then_branch");
    builder_node(b, "Neg", "i", "then");
    builder_output(b, "then", DTYPE_F32, "2,3");
    builder_end_graph(b, outer);
    outer = builder_begin_graph(b, "else_branch");
    builder_node(b, "Abs", "i", "else");
    builder_output(b, "else", DTYPE_F32, "2,3");
    builder_end_graph(b, outer);
    options.to = to;
    options.n_to = 1;
    ck_assert_msg(import(), "%s", expect_text(ctx));
    ck_assert_str_eq(interface(), "x -> y[6] (4 nodes)");
}
END_TEST

START_TEST(a_preflight_finds_all_obstacles_and_the_parts_without_them)
{
    options.obstacles = &found;
    builder_node(b, "acme:Other", "t", "o");
    builder_output(b, "o", DTYPE_F32, NULL);
    ck_assert(!import());
    ck_assert_msg(expect_error(ctx, DIAG_UNBOUND_DIM, "input \"unused\""), "%s", expect_text(ctx));
    ck_assert(expect_error(ctx, DIAG_UNSUPPORTED_OP, "operator acme.Fancy"));
    ck_assert(expect_error(ctx, DIAG_UNSUPPORTED_OP, "operator acme.Other"));
    ck_assert(expect_error(ctx, DIAG_UNSUPPORTED_OP, "--cut e ends the network in front of it"));
    ck_assert_int_eq(ctx->diags.n_errors, 3);
    ck_assert_int_eq(found.n_nodes, 8);
    ck_assert_int_eq(found.n_refused, 2);
    ck_assert_int_eq(found.n_open, 1);
    ck_assert_str_eq(found.cut, "e,i");
    ck_assert_int_eq(found.n_cut, 4);
    ck_assert_ptr_null(found.extract); /* Other is the last */
    ck_assert_ptr_nonnull(strstr(found.interface, "(n,m) f32"));
}
END_TEST

START_TEST(a_preflight_goes_on_behind_what_is_refused)
{
    builder_output(b, "f", DTYPE_F32, "2,3"); /* so its type is known */
    builder_node(b, "Neg", "n", "m");
    builder_node(b, "Concat", "m x", "c"); /* widths differ on the wrong axis */
    builder_attrs(b, "axis=0");
    builder_output(b, "c", DTYPE_F32, NULL);
    options.obstacles = &found;
    ck_assert(!import());
    ck_assert_int_eq(found.n_refused, 2);
    ck_assert_msg(strstr(expect_text(ctx), "Concat") != NULL, "%s", expect_text(ctx));
    ck_assert_str_eq(found.extract, "n..t");
}
END_TEST

START_TEST(a_preflight_gives_open_dims_a_length)
{
    builder_node(b, "Neg", "unused", "u");
    builder_output(b, "u", DTYPE_F32, NULL);
    options.obstacles = &found;
    options.to = (const char *const[]){ "i", "u" };
    options.n_to = 2;
    ck_assert_msg(import(), "%s", expect_text(ctx)); /* with a module, for later stages */
    ck_assert_int_eq(found.n_open, 1);
    ck_assert_int_eq(ctx->diags.n_errors, 1);
    ck_assert_str_eq(interface(), "x unused -> i[6] u[64] (4 nodes)");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx extract");
    TCase *tests = tcase_create("onnx extract");
    SRunner *runner = srunner_create(suite);
    int failed;

    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, a_part_has_what_its_outputs_need, 0, sizeof parts / sizeof *parts);
    tcase_add_loop_test(tests, parts_that_are_none_are_errors, 0,
                        sizeof mistakes / sizeof *mistakes);
    tcase_add_test(tests, a_layout_of_one_cpu_is_explained);
    tcase_add_test(tests, a_branch_keeps_what_it_reads);
    tcase_add_test(tests, a_preflight_finds_all_obstacles_and_the_parts_without_them);
    tcase_add_test(tests, a_preflight_goes_on_behind_what_is_refused);
    tcase_add_test(tests, a_preflight_gives_open_dims_a_length);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
