#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "partition/partition.h"
#include "tests/support/expect.h"
#include "tests/support/graph.h"
#include "tests/support/temp_dir.h"

static const char npu[] = "{ \"name\": \"npu\", \"description\": \"for tests\", \"format\": "
                          "\"extern\", \"composites\": [\n"
                          "  { \"name\": \"add_relu\", \"pattern\": \"add(x, b:const) -> relu\",\n"
                          "    \"where\": [\"x.rank == 1\", \"x.dim[0] <= 4\"] } ] }\n";

/* main calls r, which calls f; N is the extent of all values. */
#define MAIN(n) "fn main(%x: (" n ") f32) -> (%y) {\n  %y = call r(%x) : (" n ") f32\n}\n"
#define REGION(n, head)                                                                            \
    "fn r(%x: (" n ") f32) -> (%y) " head " {\n  %y = call f(%x) : (" n ") f32\n}\n"
#define COMPOSITE(n, head)                                                                         \
    "fn f(%x: (" n ") f32) -> (%y) " head " {\n"                                                   \
    "  const @b : (" n ") f32 = [1, ...]\n"                                                        \
    "  %a = add(%x, @b) : (" n ") f32\n"                                                           \
    "  %y = nn.relu(%a) : (" n ") f32\n}\n"
#define NPU "compiler \"npu\" "
#define SYMBOL "global_symbol \"npu_r\""
#define ADD_RELU "composite \"npu.add_relu\""

static const struct {
    const char *text;
    enum diag_code code;
    const char *error; /* NULL = it is in order */
} rows[] = {
    { MAIN("4") REGION("4", NPU SYMBOL) COMPOSITE("4", NPU ADD_RELU), 0, NULL },

    /* heads */
    { MAIN("4") REGION("4", "compiler \"nothing\" " SYMBOL) COMPOSITE("4", NPU ADD_RELU),
      DIAG_TARGET_UNKNOWN, "function \"r\" is for the unknown target 'nothing'" },
    { MAIN("4") REGION("4", NPU) COMPOSITE("4", NPU ADD_RELU), DIAG_GRAPH_JSON,
      "function \"r\": found no global_symbol, wanted one" },
    { MAIN("4") REGION("4", NPU ADD_RELU " " SYMBOL) COMPOSITE("4", NPU ADD_RELU), DIAG_GRAPH_JSON,
      "function \"r\": found a composite called by main, wanted a region" },
    { MAIN("4") REGION("4", NPU SYMBOL) COMPOSITE("4", "compiler \"c\" " ADD_RELU), DIAG_GRAPH_JSON,
      "function \"f\": found the compiler 'c', wanted 'npu'" },
    { MAIN("4") REGION("4", NPU SYMBOL) COMPOSITE("4", ""), DIAG_GRAPH_JSON,
      "function \"f\": found the compiler '', wanted 'npu'" },
    { MAIN("4") REGION("4", NPU SYMBOL) COMPOSITE("4", NPU), DIAG_GRAPH_JSON,
      "function \"f\": found the composite '', wanted one of target npu" },
    { MAIN("4") REGION("4", NPU SYMBOL) COMPOSITE("4", NPU "composite \"npu.sub\""),
      DIAG_GRAPH_JSON, "found the composite 'npu.sub', wanted one of target npu" },
    { MAIN("4") REGION("4", NPU SYMBOL) COMPOSITE("4", NPU "composite \"dnnl.relu\""),
      DIAG_GRAPH_JSON, "found the composite 'dnnl.relu', wanted one of target npu" },

    /* conditions and patterns */
    { MAIN("5") REGION("5", NPU SYMBOL) COMPOSITE("5", NPU ADD_RELU), DIAG_GRAPH_JSON,
      "function \"f\": found x.dim[0] is 5, wanted x.dim[0] <= 4 for npu.add_relu" },
    { MAIN("4") REGION("4", NPU SYMBOL) "fn f(%x: (4) f32) -> (%y) " NPU ADD_RELU " {\n"
                                        "  %y = nn.relu(%x) : (4) f32\n}\n",
      DIAG_GRAPH_JSON, "function \"f\": found other nodes than the pattern of npu.add_relu" },
    { MAIN("4") REGION("4", NPU SYMBOL) "fn f(%x: (4) f32) -> (%y) " NPU ADD_RELU " {\n"
                                        "  const @b : (4) f32 = [1, ...]\n"
                                        "  %e = exp(%x) : (4) f32\n"
                                        "  %a = add(%e, @b) : (4) f32\n"
                                        "  %y = nn.relu(%a) : (4) f32\n}\n",
      DIAG_GRAPH_JSON, "function \"f\": found other nodes than the pattern of npu.add_relu" },
    { MAIN("4") REGION("4", NPU SYMBOL) "fn f(%x: (4) f32) -> (%x) " NPU ADD_RELU " {\n}\n",
      DIAG_GRAPH_JSON, "function \"f\": found result 0 not computed in it" },
    { MAIN("4") REGION("4", NPU SYMBOL) "fn f(%x: (4) f32) -> (%y) " NPU ADD_RELU " {\n"
                                        "  %y = call g(%x) : (4) f32\n}\n"
                                        "fn g(%x: (4) f32) -> (%y) " NPU ADD_RELU " {\n"
                                        "  %y = nn.relu(%x) : (4) f32\n}\n",
      DIAG_GRAPH_JSON, "function \"f\": found a call in a composite" },

    /* bodies and interfaces of regions */
    { MAIN("4") "fn r(%x: (4) f32) -> (%y) " NPU SYMBOL " {\n"
                "  %y = nn.relu(%x) : (4) f32\n}\n",
      DIAG_GRAPH_JSON, "function \"r\": found nn.relu, wanted calls of composites only" },
    { MAIN("4") "fn r(%x: (4) f32) -> (%x) " NPU SYMBOL " {\n}\n", DIAG_GRAPH_JSON,
      "function \"r\": found result 0 not computed in it" },
    { MAIN("4") "fn r(%x: (4) f32) -> (%z) " NPU SYMBOL " {\n"
                "  %y = call f(%x) : (4) f32\n  %z = call f(%y) : (4) f32\n}\n" COMPOSITE(
                    "4", NPU ADD_RELU),
      DIAG_GRAPH_JSON, "function \"f\": found a second call of it" },
    { "fn main(%x: (4) f32) -> (%z) {\n"
      "  %y = call r(%x) : (4) f32\n  %z = call r(%y) : (4) f32\n}\n" REGION("4", NPU SYMBOL)
          COMPOSITE("4", NPU ADD_RELU),
      DIAG_GRAPH_JSON, "function \"r\": found a second call of it" },
    { "fn main(%x: (4) f32) -> (%y, %z) {\n"
      "  %y, %z = call r(%x, %x) : (4) f32, (4) f32\n}\n"
      "fn r(%x: (4) f32, %u: (4) f32) -> (%y, %y) " NPU SYMBOL " {\n"
      "  const @k : (4) f32 = [1, ...]\n"
      "  %y = call f(@k) : (4) f32\n}\n" COMPOSITE("4", NPU ADD_RELU),
      DIAG_GRAPH_JSON, "function \"r\": found parameter 0 unused" },
    { "fn main(%x: (4) f32) -> (%y, %z) {\n"
      "  %y, %z = call r(%x, %x) : (4) f32, (4) f32\n}\n"
      "fn r(%x: (4) f32, %u: (4) f32) -> (%y, %y) " NPU SYMBOL " {\n"
      "  const @k : (4) f32 = [1, ...]\n"
      "  %y = call f(@k) : (4) f32\n}\n" COMPOSITE("4", NPU ADD_RELU),
      DIAG_GRAPH_JSON, "function \"r\": found results 0 and 1 the same" },
    { "fn main(%x: (4) f32) -> (%y, %z) {\n"
      "  %y, %z = call r(%x, %x) : (4) f32, (4) f32\n}\n"
      "fn r(%x: (4) f32, %u: (4) f32) -> (%y, %y) " NPU SYMBOL " {\n"
      "  const @k : (4) f32 = [1, ...]\n"
      "  %y = call f(@k) : (4) f32\n}\n" COMPOSITE("4", NPU ADD_RELU),
      DIAG_GRAPH_JSON, "function \"r\": found inputs 0 and 1 the same" },
    { "fn main(%x: (4) f32) -> (%y) {\n"
      "  const @k : (4) f32 = [1, ...]\n"
      "  %y = call r(@k) : (4) f32\n}\n" REGION("4", NPU SYMBOL) COMPOSITE("4", NPU ADD_RELU),
      DIAG_GRAPH_JSON, "function \"r\": found constant input 0" },
    { MAIN("4") "fn r(%x: (4) f32) -> (%y) " NPU SYMBOL " {\n"
                "  const @k : (4) f32 = [1, ...]\n"
                "  %y = call f(%x) : (4) f32\n}\n" COMPOSITE("4", NPU ADD_RELU),
      DIAG_GRAPH_JSON, "function \"r\": found constants, wanted them in composites only" },
};

START_TEST(regions_are_what_partition_would_have_made)
{
    struct temp_dir dir = temp_dir_new();
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, rows[_i].text, 1);
    struct targets targets;

    temp_file(&dir, "target.json", npu, sizeof npu - 1);
    ck_assert_msg(targets_load(ctx, 1, &dir.path, &targets), "%s", expect_text(ctx));
    ck_assert(module_has_foreign_regions(module));
    ck_assert_msg(partition_check_regions(module, &targets) == !rows[_i].error, "%s\n%s",
                  rows[_i].text, expect_text(ctx));
    if (rows[_i].error)
        ck_assert_msg(expect_error(ctx, rows[_i].code, rows[_i].error), "%s\n%s", rows[_i].text,
                      expect_text(ctx));
    for (const struct diag *d = ctx->diags.first; d; d = d->next)
        ck_assert_int_ne(d->code, DIAG_INTERNAL);
    module_free(module);
    ctx_free(ctx);
    temp_dir_free(&dir);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("check_regions");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, regions_are_what_partition_would_have_made, 0,
                        (int)(sizeof rows / sizeof *rows));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
