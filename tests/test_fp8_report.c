/* annotate_fp8: what stays float and why, and the report. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tests/support/expect.h"
#include "tests/support/fp8_case.h"
#include "tests/support/graph.h"

/* --- what stays float, and why ------------------------------------------------------------------
 */

#define ONE_CONV                                                                                   \
    "fn main(%x: (1,1,2,2) f32) -> (%d) {\n"                                                       \
    "  const @w : (1,1,1,1) f32 = [1]\n"                                                           \
    "  %d = nn.conv2d(%x, @w) " CONV " : (1,1,2,2) f32\n"                                          \
    "}\n"

static const struct refusal {
    const char *text, *why;
    const struct target *target;
} refusals[] = {
    { DENSE_OF("[1, nan]"), "element 1 of its weights is not finite", &fp8_all },
    { DENSE_OF("[-inf, 1]"), "element 0 of its weights is not finite", &fp8_all },
    { DENSE_OF("[1, 2]"), "no target takes nn.dense in f8e4m3", &fp8_conv_only },
    { DENSE_OF("[1, 2]"), "no target takes nn.dense in f8e4m3", NULL },
    { DENSE_OF("[1, 2]"), "poor takes no weights of f8e4m3 in nn.dense", &fp8_poor },
    { ONE_CONV, "poor takes no data of f8e4m3 in nn.conv2d", &fp8_poor },
    { ONE_CONV, "keeping keeps nn.conv2d on the host", &fp8_keeping },
    { "fn main(%x: (1,2) f32, %w: (2,2) f32) -> (%d) {\n"
      "  %d = nn.matmul(%x, %w) {transpose_a=false, transpose_b=false} : (1,2) f32\n"
      "}\n",
      "poor gives f16 in nn.matmul, wanted is f32", &fp8_poor },
    { "fn main(%x: (1,1,2) f32) -> (%d) {\n"
      "  const @w : (1,1,1) f32 = [1]\n"
      "  %d = nn.conv1d(%x, @w) {groups=1}\n"
      "}\n",
      "poor sums in f16 in nn.conv1d, the graph means f32", &fp8_poor },
    { "fn main(%x: (1,2) f32, %w: (2,2) f32) -> (%d) {\n"
      "  %d = nn.dense(%x, %w) : (1,2) f32\n"
      "}\n",
      "its weights are computed at run time", &fp8_all },
    { "fn main(%x: (2,1) f32) -> (%d) {\n"
      "  const @w : (1,2) f32 = [1, 2]\n"
      "  %d = nn.matmul(@w, %x) {transpose_a=false, transpose_b=false} : (1,1) f32\n"
      "}\n",
      "its data is a constant", &fp8_all },
    { "fn main(%x: (1,2) f64) -> (%d) {\n"
      "  const @w : (1,2) f64 = [1, 2]\n"
      "  %d = nn.dense(%x, @w) : (1,1) f64\n"
      "}\n",
      "its data is f64, wanted is f32", &fp8_all },
    { "fn main(%x: (1,2) i32) -> (%d) {\n"
      "  const @w : (1,2) i32 = [1, 2]\n"
      "  %d = nn.dense(%x, @w) : (1,1) i32\n"
      "}\n",
      "its data is i32, wanted is f32", &fp8_all },
    { "fn main(%x: (1,0) f32) -> (%d) {\n"
      "  const @w : (1,0) f32 = []\n"
      "  %d = nn.dense(%x, @w) : (1,1) f32\n"
      "}\n",
      "its weights are empty", &fp8_all },
    { "fn main(%x: (1,2) f32) -> (%d) {\n"
      "  %d = nn.softmax(%x) {axis=1} : (1,2) f32\n"
      "}\n",
      "no target takes nn.softmax in f8e4m3", &fp8_all },
    { "fn main(%x: (1,2) f8e4m3) -> (%d) {\n" /* FP8 already */
      "  const @w : (1,2) f8e4m3 = [0x38, 0x39]\n"
      "  %d = nn.dense(%x, @w) {out_dtype=f32} : (1,1) f32\n"
      "}\n",
      "its data is f8e4m3, wanted is f32", &fp8_all },
    { "fn main(%x: (1,1,1,2) f32) -> (%d) {\n"
      "  const @w : (1,1,1,1) f32 = [1]\n"
      "  %d = nn.conv2d_transpose(%x, @w) {strides=[1,1], padding=[0,0,0,0], dilation=[1,1], "
      "output_padding=[0,0], groups=1, data_layout=\"NCHW\", kernel_layout=\"IOHW\"} : (1,1,1,2) "
      "f32\n"
      "}\n",
      "no target takes nn.conv2d_transpose in f8e4m3", &fp8_all },
};

START_TEST(node_stays_float_because)
{
    const struct refusal *row = &refusals[_i];
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, row->text, 1);
    struct fp8_run run;

    fp8_run_open(&run, module, DTYPE_F8E4M3, row->target, NULL);
    fp8_expect_graph(module, row->text);
    ck_assert_int_eq(run.partition->fp8->n, 1);
    ck_assert_int_eq(run.partition->fp8->n_annotated, 0);
    ck_assert_ptr_null(run.partition->fp8->lines[0].target);
    ck_assert_str_eq(run.partition->fp8->lines[0].why, row->why);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

START_TEST(targets_are_asked_in_the_order_of_the_user)
{
    static const struct {
        const struct target *first, *second, *wanted;
    } orders[] = {
        { &fp8_all, &fp8_conv_only, &fp8_all },
        { &fp8_conv_only, &fp8_all, &fp8_conv_only },
        { &fp8_poor, &fp8_all, &fp8_all },
        { &fp8_keeping, &fp8_conv_only, &fp8_conv_only },
    };

    for (int i = 0; i < N_ROWS(orders); i++) {
        struct ctx *ctx = ctx_new(NULL);
        struct module *module = graph_parse(ctx, ONE_CONV, 1);
        struct fp8_run run;

        fp8_run_open(&run, module, DTYPE_F8E4M3, orders[i].first, orders[i].second);
        ck_assert_ptr_eq(run.partition->fp8->lines[0].target, orders[i].wanted);
        ck_assert_ptr_null(run.partition->fp8->lines[0].why);
        partition_free(run.partition);
        module_free(module);
        ctx_free(ctx);
    }
}
END_TEST

/* --- the report ----------------------------------------------------------------------------------
 */

static const char report_graph[] = "fn main(%x: (1,1,4,4) f32) -> (%\"s\\x22\\x1b\") {\n"
                                   "  const @w : (2,1,1,1) f32 = [2, -4]\n"
                                   "  const @v : (1,2) f32 = [448, 1]\n"
                                   "  %c = nn.conv2d(%x, @w) " CONV " : (1,2,4,4) f32\n"
                                   "  %p = nn.max_pool2d(%c) " POOL " : (1,2,2,2) f32\n"
                                   "  %r = reshape(%p) {shape=[4,2]} : (4,2) f32\n"
                                   "  %d = nn.dense(%r, @v) : (4,1) f32\n"
                                   "  %\"s\\x22\\x1b\" = nn.softmax(%d) {axis=1} : (4,1) f32\n"
                                   "}\n";

START_TEST(report_names_every_node)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, report_graph, 1);
    struct str text = { .arena = &ctx->perm };
    struct fp8_run run;
    cJSON *json, *nodes;

    fp8_run_open(&run, module, DTYPE_F8E4M3, &fp8_all, NULL);
    fp8_report_print(run.partition->fp8, true, &ctx->perm, &text);
    ck_assert_str_eq(
        str_text(&text),
        "f8e4m3: 2 of 5 nodes, 2 casts, weights 16 -> 12 bytes\n"
        "  c                            nn.conv2d          all, f8e4m3, weights 8 -> 10 bytes\n"
        "  p                            nn.max_pool2d      f8e4m3: works on the codes: the cast "
        "stands "
        "in front of it\n"
        "  r                            reshape            f8e4m3: works on the codes: the cast "
        "stands "
        "in front of it\n"
        "  d                            nn.dense           all, f8e4m3, weights 8 -> 2 bytes\n"
        "  s\\x22\\x1B                    nn.softmax         float: no target takes nn.softmax in "
        "f8e4m3\n");
    json = fp8_report_json(run.partition->fp8);
    ck_assert_str_eq(cJSON_GetObjectItem(json, "format")->valuestring, "f8e4m3");
    ck_assert_int_eq(cJSON_GetObjectItem(json, "annotated")->valueint, 2);
    ck_assert_int_eq(cJSON_GetObjectItem(json, "weight_bytes_after")->valueint, 12);
    nodes = cJSON_GetObjectItem(json, "nodes");
    ck_assert_int_eq(cJSON_GetArraySize(nodes), 5);
    ck_assert_str_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(nodes, 0), "target")->valuestring,
                     "all");
    ck_assert_str_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(nodes, 4), "node")->valuestring,
                     "s\\x22\\x1B");
    ck_assert_str_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(nodes, 4), "why")->valuestring,
                     "no target takes nn.softmax in f8e4m3");
    cJSON_Delete(json);
    partition_free(run.partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fp8_report");
    TCase *tcase = tcase_create("fp8_report");
    SRunner *runner;
    int n_failed;

    tcase_add_checked_fixture(tcase, fp8_set_up, NULL);
    tcase_add_loop_test(tcase, node_stays_float_because, 0, N_ROWS(refusals));
    tcase_add_test(tcase, targets_are_asked_in_the_order_of_the_user);
    tcase_add_test(tcase, report_names_every_node);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
