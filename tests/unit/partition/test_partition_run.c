#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/partition_case.h"

#define GRAPH                                                                                      \
    "fn main(%x: (2) f32) -> (%b) {\n"                                                             \
    "  %a = nn.relu(%x) : (2) f32\n"                                                               \
    "  %b = tanh(%a) : (2) f32\n"                                                                  \
    "}\n"

#define STATE                                                                                      \
    "%a = nn.relu  npu.relu#0  -> npu.relu#0 in region 0\n"                                        \
    "%b = tanh  -> c\n"                                                                            \
    "region 0: npu, 1 node, 0 MACs, 8 bytes in, 8 out, 0 of weights, 16 on chip\n"

/* What the runner prints with these options. In ctx->perm. */
static const char *log_of(struct ctx *ctx, struct pipeline_options options)
{
    struct module *module = graph_parse(ctx, GRAPH, 1);
    struct target *target = case_target(ctx, TARGET("npu", ROW("relu", "relu"), ""));
    struct partition *partition = partition_new(
        module, case_options(ctx, case_target(ctx, HOST), 1, &target, ASSIGN_COST, false));
    FILE *log = tmpfile();
    char *text;
    size_t n;

    ck_assert_ptr_nonnull(log);
    options.log = log;
    ck_assert_msg(partition_run(partition, &options), "%s", expect_text(ctx));
    n = (size_t)ftell(log);
    text = arena_alloc(&ctx->perm, n + 1);
    rewind(log);
    ck_assert_uint_eq(fread(text, 1, n, log), n);
    fclose(log);
    partition_free(partition);
    module_free(module);
    return text;
}

START_TEST(a_step_that_leaves_the_graph_alone_dumps_the_state)
{
    struct ctx *ctx = ctx_new(NULL);

    ck_assert_str_eq(log_of(ctx, (struct pipeline_options){ .dump_after = "cost" }),
                     "after cost:\n" STATE);
    ctx_free(ctx);
}
END_TEST

START_TEST(a_step_that_rewrites_the_graph_dumps_the_graph)
{
    struct ctx *ctx = ctx_new(NULL);
    const char *log = log_of(ctx, (struct pipeline_options){ .dump_after = "partition" });

    ck_assert_ptr_eq(strstr(log, "after partition:\n"), log);
    ck_assert_ptr_nonnull(strstr(log, "composite \"npu.relu\""));
    ctx_free(ctx);
}
END_TEST

START_TEST(all_steps_run_in_order_until_the_one_that_is_asked_for)
{
    struct ctx *ctx = ctx_new(NULL);
    int n;
    const struct partition_pass *passes = partition_passes(&n);
    const char *log = log_of(ctx, (struct pipeline_options){ .dump_after = "all" });
    const char *until =
        log_of(ctx, (struct pipeline_options){ .dump_after = "all", .stop_after = passes[3].name });

    for (int i = 0; i < n; i++) {
        const char *title = arena_printf(&ctx->perm, "after %s:\n", passes[i].name);

        log = strstr(log, title);
        ck_assert_msg(log != NULL, "%s", title);
        ck_assert((strstr(until, title) != NULL) == (i <= 3));
    }
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("partition_run");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_test(tests, a_step_that_leaves_the_graph_alone_dumps_the_state);
    tcase_add_test(tests, a_step_that_rewrites_the_graph_dumps_the_graph);
    tcase_add_test(tests, all_steps_run_in_order_until_the_one_that_is_asked_for);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
