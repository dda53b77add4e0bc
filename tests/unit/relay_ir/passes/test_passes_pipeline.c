#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relay_ir/passes/pipeline.h"
#include "relay_ir/text.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/random_graph.h"

enum { N_SEEDS = 300, N_NODES = 30 };

/* --- what fuse_ops promises ------------------------------------------------------------------- */

static bool is_anchor(const struct node *node)
{
    return !op_is_elementwise(node->op);
}

static void check_region(const struct function *region)
{
    const struct node *first = region->first;
    const struct type *shape = &region->ret->inputs[0]->type;

    ck_assert_str_eq(region->compiler, "c");
    ck_assert(first != NULL && str_starts(region->composite, "c."));
    ck_assert_int_eq(region->ret->n_inputs, first->next ? 1 : first->n_outputs);
    for (const struct node *n = first; n; n = n->next) {
        ck_assert_msg(n == first || !is_anchor(n), "%s is not first", op_name(n->op));
        ck_assert_int_ne(op_row(n->op)->pattern, PATTERN_VIEW);
        ck_assert(n->next || n->outputs[0] == region->ret->inputs[0]);
        if (first->next || !is_anchor(first))
            ck_assert(type_same_shape(&n->outputs[0]->type, shape));
    }
}

/* The value whose memory this one is; NULL unless a call computes it. */
static const struct value *memory_of(const struct value *value)
{
    while (value->def && value->def->op == OP_RESHAPE)
        value = value->def->inputs[0];
    return value->def && value->def->op == OP_CALL ? value : NULL;
}

static void check_contract(const struct module *module)
{
    const struct node *ret = module->main->ret;
    struct map taken = { .arena = &module->ctx->perm };

    for (const struct node *n = module->main->first; n; n = n->next) {
        ck_assert_msg(n->op == OP_CALL || n->op == OP_RESHAPE, "%s in main", op_name(n->op));
        for (int i = 0; n->op == OP_CALL && i < n->n_inputs; i++)
            ck_assert_int_ne(n->inputs[i]->kind, VALUE_CONSTANT);
    }
    for (const struct function *fn = module->functions->next; fn; fn = fn->next)
        check_region(fn);
    for (int i = 0; i < ret->n_inputs; i++) {
        const struct value *memory = memory_of(ret->inputs[i]);

        ck_assert(memory != NULL);
        ck_assert_msg(!map_get(&taken, memory->name), "two results share %s", memory->name);
        map_set(&taken, memory->name, ret->inputs[i]);
    }
}

/* --- random networks -------------------------------------------------------------------------- */

static struct module *reparse(struct ctx *ctx, const struct module *module)
{
    const char *text = graph_text(module, true);
    struct module *again = module_parse(ctx, text, module, false);

    ck_assert_msg(again != NULL, "%s\n%s", expect_text(ctx), text);
    ck_assert_str_eq(graph_text(again, true), text);
    return again;
}

START_TEST(a_random_network_computes_the_same_after_all_passes)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *before = random_graph(ctx, N_NODES, (unsigned)_i), *after, *again;
    const int n = before->main->ret->n_inputs;
    struct bulk bulk = { NULL, 0 };
    struct tensor *wanted, *got;

    ck_assert_msg(ctx->diags.n_errors == 0, "%s", expect_text(ctx));
    after = reparse(ctx, before);
    ck_assert_msg(pipeline_run(after, &(struct pipeline_options){ .log = NULL }), "%s",
                  expect_text(ctx));
    check_contract(after);
    again = reparse(ctx, after);
    wanted = graph_run(before, 1, &bulk);
    got = graph_run(after, 1, &bulk);
    ck_assert_msg(wanted && got, "%s", expect_text(ctx));
    ck_assert_double_lt(graph_difference(got, wanted, n), 2e-5);
    for (int i = 0; i < n; i++)
        ck_assert_str_eq(after->main->result_names[i], before->main->result_names[i]);
    bulk_release(&bulk);
    module_free(again);
    module_free(after);
    module_free(before);
    ctx_free(ctx);
}
END_TEST

/* Same model, same text: nothing depends on addresses. */
START_TEST(the_passes_are_deterministic)
{
    const char *texts[2];
    struct ctx *contexts[2];

    for (int i = 0; i < 2; i++) {
        struct module *module;

        contexts[i] = ctx_new(NULL);
        module = random_graph(contexts[i], 4 * N_NODES, (unsigned)_i);
        ck_assert(pipeline_run(module, &(struct pipeline_options){ .log = NULL }));
        texts[i] = graph_text(module, true);
        module_free(module);
    }
    ck_assert_str_eq(texts[0], texts[1]);
    ctx_free(contexts[0]);
    ctx_free(contexts[1]);
}
END_TEST

/* --- the runner ------------------------------------------------------------------------------- */

static const char small[] = "fn main(%x: (1,3,2,2) f32) -> (%z) {\n"
                            "  const @w : (3,3,1,1) f32 = crc32:00000000\n"
                            "  const @s : (3,1,1) f32 = crc32:00000000\n"
                            "  %y = nn.conv2d(%x, @w) {strides=[1,1], padding=[0,0,0,0], "
                            "dilation=[1,1], groups=1, data_layout=\"NCHW\", "
                            "kernel_layout=\"OIHW\"} : (1,3,2,2) f32\n"
                            "  %m = multiply(%y, @s) : (1,3,2,2) f32\n"
                            "  %r = nn.relu(%m) : (1,3,2,2) f32\n"
                            "  %z = nn.relu(%r) : (1,3,2,2) f32\n"
                            "}\n";

/* What the runner logs for these options. */
static const char *logged(struct ctx *ctx, struct pipeline_options options)
{
    struct module *module = graph_parse(ctx, small, 1);
    char *text = NULL;
    size_t n = 0;
    const char *copy;

    options.log = open_memstream(&text, &n);
    ck_assert(options.log != NULL);
    ck_assert_msg(pipeline_run(module, &options), "%s", expect_text(ctx));
    fclose(options.log);
    copy = arena_strndup(&ctx->perm, text, n);
    free(text);
    module_free(module);
    return copy;
}

static int count(const char *text, const char *part)
{
    int n = 0;

    for (; (text = strstr(text, part)) != NULL; text++)
        n++;
    return n;
}

START_TEST(dumps_times_and_statistics_go_to_the_log)
{
    struct ctx *ctx = ctx_new(NULL);
    const char *text = logged(ctx, (struct pipeline_options){ .dump_after = "fold_scale_axis" });
    int n;

    ck_assert_int_eq(count(text, "after "), 1);
    ck_assert_int_eq(count(text, "multiply("), 0);
    ck_assert_int_eq(count(text, "fn main("), 1);
    (void)pipeline_passes(&n);
    ck_assert_int_eq(count(logged(ctx, (struct pipeline_options){ .dump_after = "all" }), "after "),
                     n);
    ck_assert_int_eq(count(logged(ctx, (struct pipeline_options){ .time_passes = true }), " ms "),
                     n);
    text = logged(ctx, (struct pipeline_options){ .stats = true });
    ck_assert_ptr_nonnull(strstr(text, "merge_clips                       1"));
    ck_assert_ptr_nonnull(strstr(text, "find_silu                         0"));
    ctx_free(ctx);
}
END_TEST

START_TEST(the_pipeline_stops_after_the_last_run_of_a_pass)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, small, 1);

    ck_assert(pipeline_run(module, &(struct pipeline_options){ .stop_after = "dead_code" }));
    ck_assert_int_eq(module->main->first->op, OP_CONV2D);
    ck_assert_int_eq(module->main->first->next->op, OP_RELU);
    ck_assert_ptr_null(module->main->first->next->next);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(every_pass_is_found_by_its_name)
{
    int n;
    const struct pass *passes = pipeline_passes(&n);

    ck_assert_int_gt(n, 8);
    for (int i = 0; i < n; i++)
        ck_assert_str_eq(pipeline_find(passes[i].name)->name, passes[i].name);
    ck_assert_ptr_null(pipeline_find("no_such_pass"));
}
END_TEST

/* The test's time limit is the check: quadratic work on this many nodes takes minutes. */
START_TEST(ten_thousand_nodes_take_no_time)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = random_graph(ctx, 10000, 5);

    ck_assert_msg(pipeline_run(module, &(struct pipeline_options){ .log = NULL }), "%s",
                  expect_text(ctx));
    check_contract(module);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pipeline");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, a_random_network_computes_the_same_after_all_passes, 0, N_SEEDS);
    tcase_add_loop_test(tests, the_passes_are_deterministic, 0, 3);
    tcase_add_test(tests, dumps_times_and_statistics_go_to_the_log);
    tcase_add_test(tests, the_pipeline_stops_after_the_last_run_of_a_pass);
    tcase_add_test(tests, every_pass_is_found_by_its_name);
    tcase_add_test(tests, ten_thousand_nodes_take_no_time);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
