/* What --explain says, as text and as JSON, about a partition made by hand. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "partition/explain.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/hand_partition.h"
#include "tests/support/pass_case.h"

static const char graph[] =
    "fn main(%x: (1,2,3,3) f32) -> (%z) {\n"
    "  const @w : (4,2,1,1) f32 = crc32:00000000\n"
    "  %c = nn.conv2d(%x, @w) " CONV " : (1,4,3,3) f32 from Conv \"conv1\" #0\n"
    "  %r = nn.relu(%c) : (1,4,3,3) f32 from Relu \"relu1\" #1\n"
    "  %s = nn.hardmax(%r) {axis=1} : (1,4,3,3) f32 from Softmax \"s\" #2\n"
    "  %t = tanh(%s) : (1,4,3,3) f32 from Tanh \"t\" #3\n"
    "  %z = negative(%t) : (1,4,3,3) f32 from Neg \"bell\\x07\" #4\n"
    "}\n";

struct fixture {
    struct ctx *ctx;
    struct module *module;
    struct partition *partition;
};

static struct node *node(struct fixture *f, const char *name)
{
    return ((struct value *)map_get(&f->module->main->names, name))->def;
}

static void row(struct fixture *f, const char *target, const char *name, const char *text)
{
    struct composite_row *made = hand_row(f->partition, target, name);
    const struct source source = { .file = "test" };

    made->text = text;
    made->pattern = pattern_parse(f->ctx, &source, text);
    ck_assert_msg(made->pattern != NULL, "%s", expect_text(f->ctx));
}

static void attempt(struct fixture *f, const char *root, const char *target, const char *name,
                    const struct mismatch *why, bool condition)
{
    struct attempt *made = arena_new(&f->ctx->perm, struct attempt);

    *made = (struct attempt){ .node = node(f, root),
                              .row = hand_row(f->partition, target, name),
                              .why = *why,
                              .condition = condition };
    *(f->partition->last_attempt ? &f->partition->last_attempt->next : &f->partition->attempts) =
        made;
    f->partition->last_attempt = made;
}

static void estimate(struct candidate *candidate, double target_ns, double host_ns)
{
    candidate->target_ns = target_ns;
    candidate->host_ns = host_ns;
}

/* Two targets; a chosen match, matches that were not taken for each of the reasons, a pattern and a
 * condition that failed, a node that no row mentions. */
static struct fixture fixture_new(void)
{
    struct fixture f = { .ctx = ctx_new(NULL) };
    struct partition *p;
    struct candidate *candidate;
    struct target *host, *dsp;
    static struct decision decision;

    f.module = graph_parse(f.ctx, graph, 1);
    p = f.partition = hand_partition(f.module, "npu: conv2d_act(c r)");
    row(&f, "npu", "conv2d_act", "conv2d(x, w:const) -> relu|clip?");
    row(&f, "npu", "softmax", "hardmax(x)");
    row(&f, "npu", "tanh", "tanh(x) -> negative -> sigmoid");
    row(&f, "dsp", "conv2d", "conv2d(x, w)");
    row(&f, "dsp", "softmax", "hardmax(x)");
    row(&f, "dsp", "activation", "tanh|sigmoid");
    row(&f, "dsp", "any_softmax", "hardmax(*)");
    host = arena_new(&f.ctx->perm, struct target);
    *host = *p->host;
    host->rates.call_ns = 1000;
    p->host = host;
    estimate(p->first, 450, 2000);
    candidate = hand_match(p, "dsp", "conv2d", 1, (struct node *[]){ node(&f, "c") });
    estimate(candidate, 1.5e3, 1000);
    candidate->cost_problem = "n / 0 divides by zero";
    candidate = hand_match(p, "dsp", "softmax", 1, (struct node *[]){ node(&f, "s") });
    estimate(candidate, 2.5e6, 1000);
    candidate->excluded_by = "hand-over";
    candidate->excluded = "hand-over of 288 bytes costs 2 us more than it saves";
    estimate(hand_match(p, "dsp", "activation", 1, (struct node *[]){ node(&f, "t") }), 3e9, 1000);
    attempt(&f, "s", "npu", "softmax",
            &(struct mismatch){
                .node = node(&f, "s"), .found = "x.rank is 4", .wanted = "x.rank == 2" },
            true);
    attempt(&f, "t", "npu", "tanh",
            &(struct mismatch){
                .node = node(&f, "t"), .offset = 23, .found = "op is tanh", .wanted = "sigmoid" },
            false);
    attempt(&f, "z", "npu", "tanh",
            &(struct mismatch){ .node = node(&f, "z"),
                                .offset = 23,
                                .found = "op is negative",
                                .wanted = "sigmoid",
                                .is_op = true },
            false);
    dsp = (struct target *)(uintptr_t)hand_row(p, "dsp", "conv2d")->target;
    dsp->keep_on_host[OP_NEGATIVE] = true;
    p->regions[0] = (struct region_plan){ .target = p->regions[0].target,
                                          .n = p->regions[0].n,
                                          .candidates = p->regions[0].candidates,
                                          .macs = 72,
                                          .weight_bytes = 32,
                                          .input_bytes = 72,
                                          .output_bytes = 144,
                                          .onchip_bytes = 216,
                                          .n_nodes = 2,
                                          .target_ns = 450,
                                          .handover_ns = 100,
                                          .host_ns = 2000 };
    decision = (struct decision){ .target = p->regions[0].target,
                                  .node = node(&f, "c"),
                                  .text = "region of 3 nodes split after \"r\": max_nodes is 2" };
    p->decisions = p->last_decision = &decision;
    partition_explain(p);
    return f;
}

static void fixture_free(struct fixture *f)
{
    arena_release(&f->partition->arena);
    module_free(f->module);
    ctx_free(f->ctx);
}

START_TEST(text_of_all)
{
    struct fixture f = fixture_new();
    struct str out = { .arena = &f.ctx->perm };

    explanation_print(f.partition->explanation, NULL, &f.ctx->perm, &out);
    ck_assert_str_eq(
        str_text(&out),
        "c  nn.conv2d  (1,4,3,3) f32  -> npu in region 0  (on c 1.00 us)  from Conv conv1 #0\n"
        "    npu.conv2d_act  chosen as #0: 2 nodes, 450 ns, on c 2.00 us\n"
        "    dsp.conv2d      matched as #1: 1 node, 1.50 us, on c 1.00 us; not taken: \"c\" "
        "belongs to npu.conv2d_act#0; cost_ns: n / 0 divides by zero, by the rates instead\n"
        "r  nn.relu  (1,4,3,3) f32  -> npu in region 0  (on c 0 ns)  from Relu relu1 #1\n"
        "    npu.conv2d_act  chosen as #0: 2 nodes, 450 ns, on c 2.00 us\n"
        "s  nn.hardmax  (1,4,3,3) f32  -> c  (on c 1.00 us)  from Softmax s #2\n"
        "    npu.softmax  failed: x.rank is 4, wanted x.rank == 2\n"
        "    dsp.softmax  matched as #2: 1 node, 2.50 ms, on c 1.00 us; not taken: hand-over of "
        "288 bytes costs 2 us more than it saves\n"
        "    not tried: 1 pattern after a match\n"
        "t  tanh  (1,4,3,3) f32  -> c  (on c 1.00 us)  from Tanh t #3\n"
        "    npu.tanh        failed: op is tanh, wanted sigmoid (pattern column 24: sigmoid)\n"
        "    dsp.activation  matched as #3: 1 node, 3.00 s, on c 1.00 us; not taken: the host is "
        "estimated to be faster\n"
        "z  negative  (1,4,3,3) f32  -> c  (on c 0 ns)  from Neg bell\\x07 #4\n"
        "    1 pattern cannot start at this node\n"
        "    dsp keeps negative on the host\n"
        "\n"
        "region 0  npu  c r\n"
        "    2 nodes in 1 composite, 0.00 M MACs\n"
        "    bytes: 32 of weights, 72 in, 144 out, 216 on chip\n"
        "    450 ns + hand-over 100 ns, on c 2.00 us\n"
        "\n"
        "decisions\n"
        "    npu: region of 3 nodes split after \"r\": max_nodes is 2\n"
        "\n"
        "npu: 1 region, 2 of 5 nodes\n"
        "dsp: 0 regions, 0 of 5 nodes; not taken: 1 by hand-over, 1 by overlap, 1 by slower, 1 by "
        "keep_on_host\n"
        "estimated time: all on c 3.00 us, as chosen 2.55 us\n");
    fixture_free(&f);
}
END_TEST

/* The names are those of before, whatever the later steps do to the graph. */
START_TEST(text_after_outlining)
{
    struct fixture f = fixture_new();
    struct str before = { .arena = &f.ctx->perm }, after = { .arena = &f.ctx->perm };

    explanation_print(f.partition->explanation, NULL, &f.ctx->perm, &before);
    ck_assert(partition_outline(f.partition));
    module_sweep(f.module);
    explanation_print(f.partition->explanation, NULL, &f.ctx->perm, &after);
    ck_assert_str_eq(str_text(&after), str_text(&before));
    fixture_free(&f);
}
END_TEST

START_TEST(json)
{
    struct fixture f = fixture_new();
    cJSON *made = explanation_json(f.partition->explanation, &f.ctx->perm);
    const cJSON *nodes = cJSON_GetObjectItem(made, "nodes");
    char *printed = cJSON_PrintUnformatted(cJSON_GetArrayItem(nodes, 0));

    ck_assert_int_eq(cJSON_GetArraySize(nodes), 5);
    ck_assert_str_eq(
        printed,
        "{\"name\":\"c\",\"op\":\"nn.conv2d\",\"type\":\"(1,4,3,3) f32\",\"onnx\":[{\"name\":"
        "\"conv1\",\"op_type\":\"Conv\",\"node\":0}],\"target\":\"npu\",\"region\":0,\"host_ns\":"
        "1000,\"rows\":[{\"row\":\"npu.conv2d_act\",\"result\":\"chosen\",\"candidate\":0,"
        "\"nodes\":2,\"target_ns\":450,\"host_ns\":2000},{\"row\":\"dsp.conv2d\",\"result\":"
        "\"matched\",\"candidate\":1,\"nodes\":1,\"target_ns\":1500,\"host_ns\":1000,\"why_not\":"
        "\"\\\"c\\\" belongs to npu.conv2d_act#0\",\"reason\":\"overlap\","
        "\"cost_problem\":\"n / 0 divides by zero\"}]}");
    cJSON_free(printed);
    printed = cJSON_PrintUnformatted(
        cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetArrayItem(nodes, 2), "rows"), 2));
    ck_assert_str_eq(printed, "{\"row\":\"dsp.any_softmax\",\"result\":\"untried\"}");
    cJSON_free(printed);
    printed = cJSON_PrintUnformatted(cJSON_GetArrayItem(nodes, 4));
    ck_assert_str_eq(printed,
                     "{\"name\":\"z\",\"op\":\"negative\",\"type\":\"(1,4,3,3) f32\",\"onnx\":[{"
                     "\"name\":\"bell\\\\x07\",\"op_type\":\"Neg\",\"node\":4}],\"target\":\"c\","
                     "\"host_ns\":0,\"rows\":[{\"row\":\"npu.tanh\",\"result\":\"failed\","
                     "\"found\":\"op is negative\",\"wanted\":\"sigmoid\",\"column\":24}]}");
    cJSON_free(printed);
    printed = cJSON_PrintUnformatted(cJSON_GetObjectItem(made, "regions"));
    ck_assert_str_eq(printed,
                     "[{\"target\":\"npu\",\"composites\":[\"npu.conv2d_act\"],\"nodes\":2,"
                     "\"macs\":72,\"weight_bytes\":32,\"input_bytes\":72,\"output_bytes\":144,"
                     "\"onchip_bytes\":216,\"target_ns\":450,\"handover_ns\":100,\"host_ns\":"
                     "2000}]");
    cJSON_free(printed);
    printed = cJSON_PrintUnformatted(cJSON_GetObjectItem(made, "decisions"));
    ck_assert_str_eq(printed, "[{\"target\":\"npu\",\"text\":\"region of 3 nodes split after "
                              "\\\"r\\\": max_nodes is 2\"}]");
    cJSON_free(printed);
    ck_assert_double_eq(cJSON_GetObjectItem(made, "host_only_ns")->valuedouble, 3000);
    ck_assert_double_eq(cJSON_GetObjectItem(made, "chosen_ns")->valuedouble, 2550);
    cJSON_Delete(made);
    fixture_free(&f);
}
END_TEST

/* Only what is asked for, by either name. */
START_TEST(one_node)
{
    struct fixture f = fixture_new();
    struct str out = { .arena = &f.ctx->perm };

    explanation_print(f.partition->explanation, "relu1", &f.ctx->perm, &out);
    explanation_print(f.partition->explanation, "nowhere", &f.ctx->perm, &out);
    ck_assert_str_eq(
        str_text(&out),
        "r  nn.relu  (1,4,3,3) f32  -> npu in region 0  (on c 0 ns)  from Relu relu1 #1\n"
        "    npu.conv2d_act  chosen as #0: 2 nodes, 450 ns, on c 2.00 us\n");
    fixture_free(&f);
}
END_TEST

/* The nodes of a big region take several lines. */
START_TEST(wraps)
{
    struct ctx *ctx = ctx_new(NULL);
    struct str text = { .arena = &ctx->perm }, region = { .arena = &ctx->perm };
    struct str out = { .arena = &ctx->perm };
    struct module *module;
    struct partition *partition;
    int n_names = 0;

    str_add(&text, "fn main(%x: (2) f32) -> (%layer29) {\n");
    str_add(&region, "npu:");
    for (int i = 0; i < 30; i++) {
        const char *input = i ? arena_printf(&ctx->perm, "layer%d", i - 1) : "x";

        str_printf(&text, "  %%layer%d = nn.relu(%%%s) : (2) f32\n", i, input);
        str_printf(&region, " act(layer%d)", i);
    }
    str_add(&text, "}\n");
    module = graph_parse(ctx, str_text(&text), 1);
    partition = hand_partition(module, str_text(&region));
    partition_explain(partition);
    explanation_print(partition->explanation, NULL, &ctx->perm, &out);
    for (const char *line = strstr(str_text(&out), "region 0"); !str_starts(line, "    30 nodes");
         line += strcspn(line, "\n") + 1) {
        const size_t n = strcspn(line, "\n");

        ck_assert_uint_le(n, 100);
        for (const char *at = line; (at = strstr(at, " layer")) && at < line + n; at++)
            n_names++;
    }
    ck_assert_int_eq(n_names, 30);
    arena_release(&partition->arena);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

/* Nothing to say. */
START_TEST(empty)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, "fn main(%x: (2) f32) -> (%x) {\n}\n", 1);
    struct partition *partition = hand_partition(module, "");
    struct str out = { .arena = &ctx->perm };

    partition_explain(partition);
    explanation_print(partition->explanation, NULL, &ctx->perm, &out);
    ck_assert_str_eq(str_text(&out), "\nestimated time: all on c 0 ns, as chosen 0 ns\n");
    arena_release(&partition->arena);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("explain");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_test(tests, text_of_all);
    tcase_add_test(tests, text_after_outlining);
    tcase_add_test(tests, one_node);
    tcase_add_test(tests, json);
    tcase_add_test(tests, wraps);
    tcase_add_test(tests, empty);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
