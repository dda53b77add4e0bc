/* legalize, and FP8 between regions: the host computes the same as the annotated graph. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "relay_ir/passes/pipeline.h"
#include "tests/support/executions.h"
#include "tests/support/expect.h"
#include "tests/support/fp8_case.h"
#include "tests/support/graph.h"
#include "tests/support/random_graph.h"
#include "tests/support/run_generated.h"

static const char report_graph[] = "fn main(%x: (1,1,4,4) f32) -> (%\"s\\x22\\x1b\") {\n"
                                   "  const @w : (2,1,1,1) f32 = [2, -4]\n"
                                   "  const @v : (1,2) f32 = [448, 1]\n"
                                   "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,4,4) f32\n"
                                   "  %p = nn.max_pool2d(%c) " POOL " : (1,2,2,2) f32\n"
                                   "  %r = reshape(%p) {shape=[4,2]} : (4,2) f32\n"
                                   "  %d = nn.dense(%r, @v) : (4,1) f32\n"
                                   "  %\"s\\x22\\x1b\" = nn.softmax(%d) {axis=1} : (4,1) f32\n"
                                   "}\n";

/* --- legalize -------------------------------------------------------------------------------- */

static const struct {
    const char *before, *after;
} host_graphs[] = {
    { "fn main(%x: (1,1,2,2) f32) -> (%c, %d) {\n"
      "  const @w : (2,1,1,1) f8e4m3 = [0x7e, 0x2a]\n"
      "  const @v : (1,1,1,1) f8e5m2 = [0x3c]\n"
      "  %q = cast(%x) " CAST " : (1,1,2,2) f8e4m3\n"
      "  %c = nn.conv2d(%q, @w) " CONV8 " : (1,2,2,2) f32\n"
      "  %d = nn.conv2d(%q, @v) " CONV8 " : (1,1,2,2) f32\n"
      "}\n",
      "fn main(%x: (1,1,2,2) f32) -> (%c, %d) {\n"
      "  const @w : (2,1,1,1) f32 = [448, 0.3125]\n"
      "  const @v : (1,1,1,1) f32 = [1]\n"
      "  %q = cast(%x) " CAST " : (1,1,2,2) f8e4m3\n"
      "  %q.f32 = cast(%q) {dtype=f32, saturate=true} : (1,1,2,2) f32\n"
      "  %c = nn.conv2d(%q.f32, @w) " CONV " : (1,2,2,2) f32\n"
      "  %q.f32_2 = cast(%q) {dtype=f32, saturate=true} : (1,1,2,2) f32\n"
      "  %d = nn.conv2d(%q.f32_2, @v) " CONV " : (1,1,2,2) f32\n"
      "}\n" },
    { "fn main(%x: (2,2) f32) -> (%a) {\n"
      "  %q = cast(%x) " CAST " : (2,2) f8e4m3\n"
      "  %a = nn.matmul(%q, %q) {transpose_a=false, transpose_b=true, out_dtype=f32} : (2,2) f32\n"
      "}\n",
      "fn main(%x: (2,2) f32) -> (%a) {\n"
      "  %q = cast(%x) " CAST " : (2,2) f8e4m3\n"
      "  %q.f32 = cast(%q) {dtype=f32, saturate=true} : (2,2) f32\n"
      "  %a = nn.matmul(%q.f32, %q.f32) {transpose_a=false, transpose_b=true} : (2,2) f32\n"
      "}\n" },
    { "fn main(%x: (1,1,2,2) f8e5m2) -> (%p, %t) {\n"
      "  %p = nn.max_pool2d(%x) " POOL " : (1,1,1,1) f8e5m2\n"
      "  %t = transpose(%x) {axes=[0,1,3,2]} : (1,1,2,2) f8e5m2\n"
      "}\n",
      "fn main(%x: (1,1,2,2) f8e5m2) -> (%p, %t) {\n"
      "  %x.f32 = cast(%x) {dtype=f32, saturate=true} : (1,1,2,2) f32\n"
      "  %p.max_pool = nn.max_pool2d(%x.f32) " POOL " : (1,1,1,1) f32\n"
      "  %p = cast(%p.max_pool) {dtype=f8e5m2, saturate=false} : (1,1,1,1) f8e5m2\n"
      "  %t = transpose(%x) {axes=[0,1,3,2]} : (1,1,2,2) f8e5m2\n"
      "}\n" },
};

START_TEST(host_computes_f32)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, host_graphs[_i].before, 1);
    struct fp8_run run;

    fp8_run_open(&run, module, DTYPE_F8E4M3, NULL, NULL);
    ck_assert(partition_run_one(run.partition, "legalize"));
    fp8_expect_graph(module, host_graphs[_i].after);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Nobody asked for FP8 of targets: then it was there before, and c computes with the codes. */
START_TEST(products_that_came_in_fp8_stay)
{
    struct ctx *ctx = ctx_new("net.onnx");
    struct module *module = graph_parse(ctx, host_graphs[_i].before, 1);
    struct fp8_run run = { 0 };

    fp8_run_open(&run, module, DTYPE_NONE, NULL, NULL);
    ck_assert(partition_run_one(run.partition, "legalize"));
    fp8_expect_graph(module, host_graphs[_i].before);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(report_says_what_ended_on_the_host)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, report_graph, 1);
    struct str text = { .arena = &ctx->perm };
    struct fp8_run run;

    fp8_run_open(&run, module, DTYPE_F8E4M3, &fp8_all, NULL);
    ck_assert(partition_run_one(run.partition, "legalize"));
    fp8_report_print(run.partition->fp8, true, &ctx->perm, &text);
    ck_assert_ptr_nonnull(strstr(str_text(&text), "weights 16 -> 24 bytes\n")); /* 8 of scales */
    ck_assert_ptr_nonnull(strstr(
        str_text(&text), "all, f8e4m3, weights 8 -> 16 bytes, ends on c: computed in f32\n"));
    ck_assert_ptr_nonnull(
        strstr(str_text(&text), "nn.dense           all, f8e4m3, ends on c: computed in f32\n"));
    ck_assert(!run.partition->fp8->lines[1].on_host);
    text.n = 0;
    fp8_report_print(run.partition->fp8, false, &ctx->perm, &text);
    ck_assert_ptr_nonnull(strstr(str_text(&text), "nn.dense "));
    ck_assert_ptr_null(strstr(str_text(&text), "nn.softmax")); /* no product */
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(host_keeps_what_it_has_a_row_for)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, host_graphs[1].before, 1);
    struct fp8_run run;

    fp8_host = fp8_all;
    fp8_run_open(&run, module, DTYPE_NONE, NULL, NULL);
    ck_assert(partition_run_one(run.partition, "legalize"));
    fp8_expect_graph(module, host_graphs[1].before);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- any graph -------------------------------------------------------------------------------- */

static void check_invariants(const struct function *fn)
{
    for (const struct node *node = fn->first; node; node = node->next) {
        ck_assert_msg(node->op != OP_CAST || node->inputs[0]->kind != VALUE_CONSTANT,
                      "a constant is cast at run time");
        for (const struct node *other = node->next; other && node->op == OP_CAST;
             other = other->next)
            ck_assert_msg(other->op != OP_CAST || other->inputs[0] != node->inputs[0] ||
                              other->attrs.cast.dtype != node->attrs.cast.dtype ||
                              node->attrs.cast.dtype == DTYPE_F32,
                          "a value is cast twice");
    }
}

static int products_of_fp8(const struct function *fn)
{
    int n = 0;

    for (const struct node *node = fn->first; node; node = node->next)
        for (int i = 0; i < node->n_inputs; i++)
            n += node->inputs[i] && dtype_minifloat(node->inputs[i]->type.dtype) &&
                 op_row(node->op)->pattern == PATTERN_OUT_FUSABLE;
    return n;
}

START_TEST(random_graph_is_the_same_on_the_host)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = random_graph(ctx, 60, (unsigned)_i);
    const int n = module->main->ret->n_inputs;
    struct bulk bulk = { NULL, 0 };
    struct tensor *annotated, *legal;
    struct fp8_run run;

    fp8_run_open(&run, module, DTYPE_F8E4M3, &fp8_all, NULL);
    check_invariants(module->main);
    annotated = graph_run(module, 9, &bulk);
    ck_assert(partition_run_one(run.partition, "legalize"));
    ck_assert_int_eq(products_of_fp8(module->main), 0);
    legal = graph_run(module, 9, &bulk);
    ck_assert(annotated && legal);
    /* both sum in double: the same order, the same numbers */
    ck_assert_double_le(graph_difference(legal, annotated, n), 1e-12);
    bulk_release(&bulk);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* The whole way on the host: pooling, moving and casts as C. */
START_TEST(annotated_network_becomes_c)
{
    static const struct generated_case row = { .tolerance = 1e-5, .one_build = true };
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, report_graph, 1);
    struct fp8_run run;

    fp8_run_open(&run, module, DTYPE_F8E4M3, &fp8_all, NULL);
    ck_assert(partition_run_one(run.partition, "legalize"));
    ck_assert(pipeline_run_one(module, "fuse_ops"));
    generated_check_module(module, &row, NULL);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* --- with regions ----------------------------------------------------------------------------- */

static const char npu_json[] =
    "{ \"name\": \"npu\", \"description\": \"for tests\", \"format\": \"extern\",\n"
    "  \"composites\": [ { \"name\": \"conv2d\", \"pattern\": \"conv2d(x, w:const) -> "
    "multiply(_, s:const)? -> bias_add(_, b:const)? -> relu? -> cast?\",\n"
    "    \"where\": [\"x.dtype == f8e4m3\", \"x.dim[1] <= 2\"] } ],\n"
    "  \"limits\": { \"max_nodes\": 4 },\n"
    "  \"fp8\": [ { \"op\": \"conv2d\", \"data\": [\"f8e4m3\"], \"weights\": "
    "[\"f8e4m3\"], \"accumulate\": \"f32\", \"out\": \"f32\", \"weight_scales\": true } "
    "] }\n";

/* The third convolution has too many channels for the target's pattern. */
static const char three_convs[] =
    "fn main(%x: (1,1,4,4) f32) -> (%e) {\n"
    "  const @w : (2,1,1,1) f32 = [2, -4]\n"
    "  const @v : (3,2,1,1) f32 = [1, 2, 3, -4, 5, -6]\n"
    "  const @u : (1,3,1,1) f32 = [1, 2, 3]\n"
    "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,4,4) f32  from Conv \"first\" #0\n"
    "  %r = nn.relu(%c) : (1,2,4,4) f32\n"
    "  %d = nn.conv2d(%r, @v) " CONV " : (1,3,4,4) f32  from Conv \"second\" #1\n"
    "  %e = nn.conv2d(%d, @u) " CONV " : (1,1,4,4) f32  from Conv \"third\" #2\n"
    "}\n";

static struct value *input_of_call(const struct function *fn, int index)
{
    for (const struct node *node = fn->first; node; node = node->next)
        if (node->op == OP_CALL && index-- == 0)
            return node->inputs[0];
    return NULL;
}

START_TEST(what_lies_between_regions_is_fp8)
{
    struct ctx *ctx = ctx_new(NULL);
    struct target *npu = target_parse(ctx, "target.json", npu_json, NULL, NULL);
    struct module *module = graph_parse(ctx, three_convs, 1);
    struct pipeline_options options = { .part = PIPELINE_WHOLE };
    struct bulk bulk = { NULL, 0 };
    struct tensor *annotated, *got;
    struct fp8_run run;

    ck_assert_msg(npu != NULL, "%s", expect_text(ctx));
    fp8_run_open(&run, module, DTYPE_F8E4M3, npu, NULL);
    annotated = graph_run(module, 3, &bulk);
    partition_free(run.partition);
    module_free(module);

    module = graph_parse(ctx, three_convs, 1);
    run.partition = partition_new(module, &run.options);
    ck_assert_msg(partition_run(run.partition, &options), "%s", expect_text(ctx));
    ck_assert_ptr_nonnull(input_of_call(module->main, 1));
    ck_assert_int_eq(input_of_call(module->main, 0)->type.dtype, DTYPE_F8E4M3);
    ck_assert_int_eq(input_of_call(module->main, 1)->type.dtype, DTYPE_F8E4M3);
    ck_assert_int_eq(input_of_call(module->main, 1)->def->op, OP_CALL); /* no cast on the host */
    ck_assert_ptr_null(input_of_call(module->main, 2));
    ck_assert(!run.partition->fp8->lines[2].on_host);
    ck_assert(run.partition->fp8->lines[3].on_host);
    ck_assert_int_eq(products_of_fp8(module->main), 0);
    got = graph_run(module, 3, &bulk);
    ck_assert(annotated && got);
    ck_assert_double_eq(graph_difference(got, annotated, 1), 0);
    bulk_release(&bulk);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fp8_legalize");
    TCase *tcase = tcase_create("fp8_legalize");
    SRunner *runner;
    int n_failed;

    tcase_add_checked_fixture(tcase, fp8_set_up, NULL);
    tcase_add_loop_test(tcase, host_computes_f32, 0, N_ROWS(host_graphs));
    tcase_add_loop_test(tcase, products_that_came_in_fp8_stay, 0, 2);
    tcase_add_test(tcase, report_says_what_ended_on_the_host);
    tcase_add_test(tcase, host_keeps_what_it_has_a_row_for);
    tcase_add_loop_test(tcase, random_graph_is_the_same_on_the_host, 0, 40);
    tcase_add_test(tcase, annotated_network_becomes_c);
    tcase_add_test(tcase, what_lies_between_regions_is_fp8);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
