#include <check.h>
#include <stdlib.h>

#include "relay_ir/passes/pipeline.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/pass_case.h"

#define FUSED "compiler \"c\" composite \"c.relu\""

static const struct pass_case rows[] = {
    /* a plain function: its nodes, under the names that the user knows; constants come along */
    { NULL,
      "fn main(%x: (2) f32) -> (%y) {\n"
      "  %y = call f(%x) : (2) f32  from Relu \"r\" #1\n"
      "}\n"
      "fn f(%a: (2) f32) -> (%c) {\n"
      "  const @k : (2) f32 = [1, 2]\n"
      "  %b = add(%a, @k) : (2) f32  from Add \"a\" #0\n"
      "  %c = nn.relu(%b) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%y) {\n"
      "  const @k : (2) f32 = [1, 2]\n"
      "  %b = add(%x, @k) : (2) f32  from Add \"a\" #0\n"
      "  %y = nn.relu(%b) : (2) f32  from Relu \"r\" #1\n"
      "}\n" },

    /* called twice: names become unique */
    { NULL,
      "fn main(%b: (2) f32) -> (%z) {\n"
      "  %y = call f(%b) : (2) f32\n"
      "  %z = call f(%y) : (2) f32\n"
      "}\n"
      "fn f(%a: (2) f32) -> (%c) {\n"
      "  %b = nn.relu(%a) : (2) f32\n"
      "  %c = exp(%b) : (2) f32\n"
      "}\n",
      "fn main(%b: (2) f32) -> (%z) {\n"
      "  %b_2 = nn.relu(%b) : (2) f32\n"
      "  %y = exp(%b_2) : (2) f32\n"
      "  %b_3 = nn.relu(%y) : (2) f32\n"
      "  %z = exp(%b_3) : (2) f32\n"
      "}\n" },

    /* results: a parameter, one twice, several */
    { NULL,
      "fn main(%x: (2) f32) -> (%p, %q, %r, %s) {\n"
      "  %p, %q, %r, %s = call f(%x) : (2) f32, (2) f32, (2) f32, (2) f32\n"
      "}\n"
      "fn f(%a: (2) f32) -> (%a, %b, %b, %c) {\n"
      "  %b = nn.relu(%a) : (2) f32\n"
      "  %c = exp(%b) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%x as \"p\", %q, %q as \"r\", %s) {\n"
      "  %q = nn.relu(%x) : (2) f32\n"
      "  %s = exp(%q) : (2) f32\n"
      "}\n" },

    /* functions that call functions, one without nodes */
    { NULL,
      "fn main(%x: (2) f32) -> (%y) {\n"
      "  %a = call same(%x) : (2) f32\n"
      "  %y = call f(%a) : (2) f32\n"
      "}\n"
      "fn f(%a: (2) f32) -> (%c) {\n"
      "  %b = call same(%a) : (2) f32\n"
      "  %c = call g(%b) : (2) f32\n"
      "}\n"
      "fn g(%a: (2) f32) -> (%c) {\n"
      "  %c = exp(%a) : (2) f32\n"
      "}\n"
      "fn same(%a: (2) f32) -> (%a) {\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%y) {\n"
      "  %y = exp(%x) : (2) f32\n"
      "}\n" },

    /* regions stay: one that fuse_ops could have made, one of another target with its composite */
    { NULL,
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %y = call a(%x) : (2) f32\n"
      "  %z = call b(%y) : (2) f32\n"
      "}\n"
      "fn a(%x: (2) f32) -> (%y) " FUSED " {\n"
      "  %y = nn.relu(%x) : (2) f32\n"
      "}\n"
      "fn b(%x: (2) f32) -> (%y) compiler \"npu\" global_symbol \"npu_b\" {\n"
      "  %y = call c(%x) : (2) f32\n"
      "}\n"
      "fn c(%x: (2) f32) -> (%y) compiler \"npu\" composite \"npu.exp\" {\n"
      "  %y = exp(%x) : (2) f32\n"
      "}\n",
      "fn main(%x: (2) f32) -> (%z) {\n"
      "  %y = call a(%x) : (2) f32\n"
      "  %z = call b(%y) : (2) f32\n"
      "}\n"
      "fn a(%x: (2) f32) -> (%y) " FUSED " {\n"
      "  %y = nn.relu(%x) : (2) f32\n"
      "}\n"
      "fn b(%x: (2) f32) -> (%y) compiler \"npu\" global_symbol \"npu_b\" {\n"
      "  %y = call c(%x) : (2) f32\n"
      "}\n"
      "fn c(%x: (2) f32) -> (%y) compiler \"npu\" composite \"npu.exp\" {\n"
      "  %y = exp(%x) : (2) f32\n"
      "}\n" },
};

START_TEST(functions_that_are_no_regions_go_into_main)
{
    pass_case_check("inline_functions", &rows[_i]);
}
END_TEST

/* Functions that say that they are c's regions, and are not: main keeps no call of one. */
static const char *const no_regions[] = {
    /* no composite; nothing in it */
    "fn f(%x: (1,2,3,3) f32) -> (%y) compiler \"c\" {\n"
    "  %y = nn.relu(%x) : (1,2,3,3) f32\n}\n",
    "fn f(%x: (1,2,3,3) f32) -> (%x) " FUSED " {\n}\n",

    /* two anchors, an anchor behind, one that nothing may follow */
    "fn f(%x: (1,2,3,3) f32) -> (%y) " FUSED " {\n"
    "  const @w : (2,2,1,1) f32 = [1, 2, 3, 4]\n"
    "  %a = nn.conv2d(%x, @w) " CONV " : (1,2,3,3) f32\n"
    "  %y = nn.conv2d(%a, @w) " CONV " : (1,2,3,3) f32\n}\n",
    "fn f(%x: (1,2,3,3) f32) -> (%y) " FUSED " {\n"
    "  const @w : (2,2,1,1) f32 = [1, 2, 3, 4]\n"
    "  %a = nn.relu(%x) : (1,2,3,3) f32\n"
    "  %y = nn.conv2d(%a, @w) " CONV " : (1,2,3,3) f32\n}\n",
    "fn f(%x: (1,2,3,3) f32) -> (%y) " FUSED " {\n"
    "  %a = nn.hardmax(%x) {axis=1} : (1,2,3,3) f32\n"
    "  %y = nn.relu(%a) : (1,2,3,3) f32\n}\n",

    /* views, shapes that grow, results that are not the last, dead nodes, unread parameters */
    "fn f(%x: (1,2,3,3) f32) -> (%y) " FUSED " {\n"
    "  %y = reshape(%x) {shape=[1,2,3,3]} : (1,2,3,3) f32\n}\n",
    "fn f(%x: (1,2,3,3) f32) -> (%y) " FUSED " {\n"
    "  const @k : (2,1,1,1) f32 = [1, 2]\n"
    "  const @one : (1,1,1,1) f32 = [1]\n"
    "  %a = nn.relu(@one) : (1,1,1,1) f32\n"
    "  %y = add(%a, %x) : (1,2,3,3) f32\n}\n",
    "fn f(%x: (1,2,3,3) f32) -> (%a) " FUSED " {\n"
    "  %a = nn.relu(%x) : (1,2,3,3) f32\n"
    "  %y = exp(%a) : (1,2,3,3) f32\n}\n",
    "fn f(%x: (1,2,3,3) f32) -> (%y) " FUSED " {\n"
    "  %a = nn.relu(%x) : (1,2,3,3) f32\n"
    "  %y = exp(%x) : (1,2,3,3) f32\n}\n",
    "fn f(%x: (1,2,3,3) f32) -> (%y) " FUSED " {\n"
    "  const @k : (1,2,3,3) f32 = [1, ...]\n"
    "  %y = nn.relu(@k) : (1,2,3,3) f32\n}\n",
};

START_TEST(regions_of_another_form_go_into_main)
{
    struct ctx *ctx = ctx_new(NULL);
    const char *text = arena_printf(&ctx->perm,
                                    "fn main(%%x: (1,2,3,3) f32) -> (%%z) {\n"
                                    "  %%z = call f(%%x) : (1,2,3,3) f32\n"
                                    "}\n%s",
                                    no_regions[_i]);
    struct module *module = graph_parse(ctx, text, 7);

    ck_assert(pipeline_run_one(module, "inline_functions"));
    for (const struct node *node = module->main->first; node; node = node->next)
        ck_assert(node->op != OP_CALL);
    ck_assert(pipeline_run(module, &(struct pipeline_options){ .log = stderr }));
    for (const struct node *node = module->main->first; node; node = node->next)
        ck_assert(node->op == OP_CALL || node->op == OP_RESHAPE);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* A region is code in one place: two calls of it are two regions. So are calls whose inputs are
 * constants, or twice the same. */
static const char *const calls[] = {
    "  %a = call f(%x, %w) : (2) f32\n  %y = call f(%a, %x) : (2) f32\n",
    "  const @k : (2) f32 = [1, 2]\n  %y = call f(%x, @k) : (2) f32\n",
    "  %y = call f(%x, %x) : (2) f32\n",
};

START_TEST(calls_that_regions_do_not_have_are_inlined)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(
        ctx,
        arena_printf(&ctx->perm,
                     "fn main(%%x: (2) f32, %%w: (2) f32) -> (%%y) {\n%s}\n"
                     "fn f(%%x: (2) f32, %%r: (2) f32) -> (%%y) compiler \"c\" composite "
                     "\"c.add\" {\n  %%y = add(%%x, %%r) : (2) f32\n}\n",
                     calls[_i]),
        7);

    ck_assert(pipeline_run_one(module, "inline_functions"));
    for (const struct node *node = module->main->first; node; node = node->next)
        ck_assert(node->op == OP_ADD);
    ck_assert_ptr_null(module->main->next);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Ten calls of a function that calls ten times ...: small as a file. */
START_TEST(functions_that_multiply_are_refused)
{
    struct ctx *ctx = ctx_new(NULL);
    struct str text = { .arena = &ctx->perm };
    struct module *module;

    for (int f = 0; f < 8; f++) {
        str_printf(&text, "fn %s(%%v0: (2) f32) -> (%%v10) {\n",
                   f ? arena_printf(&ctx->perm, "f%d", f) : "main");
        for (int i = 0; i < 10; i++)
            str_printf(&text, "  %%v%d = %s(%%v%d) : (2) f32\n", i + 1,
                       f < 7 ? arena_printf(&ctx->perm, "call f%d", f + 1) : "nn.relu", i);
        str_add(&text, "}\n");
    }
    module = graph_parse(ctx, str_text(&text), 1);
    ck_assert(!pipeline_run_one(module, "inline_functions"));
    ck_assert_msg(expect_error(ctx, DIAG_TOO_BIG, "functions are called so often"), "%s",
                  expect_text(ctx));
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("inline_functions");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, functions_that_are_no_regions_go_into_main, 0, N_ROWS(rows));
    tcase_add_loop_test(tests, regions_of_another_form_go_into_main, 0, N_ROWS(no_regions));
    tcase_add_loop_test(tests, calls_that_regions_do_not_have_are_inlined, 0, N_ROWS(calls));
    tcase_add_test(tests, functions_that_multiply_are_refused);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
