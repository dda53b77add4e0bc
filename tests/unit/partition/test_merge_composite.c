#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/graph.h"
#include "tests/support/partition_case.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

#define CHAIN                                                                                      \
    "fn main(%x: (1,4) f32) -> (%s) {\n"                                                           \
    "  const @w : (4,4) f32 = crc32:00000000\n"                                                    \
    "  const @b : (4) f32 = crc32:00000000\n"                                                      \
    "  %d = nn.dense(%x, @w) : (1,4) f32\n"                                                        \
    "  %a = add(%d, @b) : (1,4) f32\n"                                                             \
    "  %r = nn.relu(%a) : (1,4) f32\n"                                                             \
    "  %s = nn.softmax(%r) {axis=1} : (1,4) f32\n"                                                 \
    "}\n"

#define UNARY_CHAIN                                                                                \
    "fn main(%x: (2) f32) -> (%d) {\n"                                                             \
    "  %a = nn.relu(%x) : (2) f32\n"                                                               \
    "  %b = nn.relu(%a) : (2) f32\n"                                                               \
    "  %c = nn.relu(%b) : (2) f32\n"                                                               \
    "  %d = tanh(%c) : (2) f32\n"                                                                  \
    "}\n"

#define WIDE                                                                                       \
    ROW_WITH("wide", "dense(x, w:const) -> add(_, b:const)", "\"where\": [\"w.dim[0] >= 8\"]")

static const struct partition_case rows[] = {
    /* the longest form of a row */
    { .graph = CHAIN,
      .targets = { TARGET("npu", ROW("fc", "dense(x, w:const) -> add(_, b:const)? -> relu?"), "") },
      .want = "%d = nn.dense  npu.fc#0  -> c\n"
              "%a = add  npu.fc#0  -> c\n"
              "%r = nn.relu  npu.fc#0  -> c\n"
              "%s = nn.softmax  -> c\n" },

    /* rows in the order of the table: the first takes what a longer one behind it wants */
    { .graph = CHAIN,
      .targets = { TARGET(
          "npu",
          ROW("dense", "dense(x, w)") "," ROW("dense_add", "dense(x, w) -> add(_, b)") "," ROW(
              "add_relu", "add(a, b) -> relu"),
          "") },
      .want = "%d = nn.dense  npu.dense#0  -> c\n"
              "%a = add  npu.add_relu#1  -> c\n"
              "%r = nn.relu  npu.add_relu#1  -> c\n"
              "%s = nn.softmax  -> c\n" },

    /* within a row the match at the end of the graph comes first */
    { .graph = UNARY_CHAIN,
      .targets = { TARGET("npu", ROW("two", "relu -> relu") "," ROW("any", "relu|tanh"), "") },
      .want = "%a = nn.relu  npu.any#2  -> c\n"
              "%b = nn.relu  npu.two#0  -> c\n"
              "%c = nn.relu  npu.two#0  -> c\n"
              "%d = tanh  npu.any#1  -> c\n" },

    /* what is read outside ends a composite */
    { .graph = "fn main(%x: (1,4) f32) -> (%r, %a) {\n"
               "  const @w : (4,4) f32 = crc32:00000000\n"
               "  const @b : (4) f32 = crc32:00000000\n"
               "  %d = nn.dense(%x, @w) : (1,4) f32\n"
               "  %a = add(%d, @b) : (1,4) f32\n"
               "  %r = nn.relu(%a) : (1,4) f32\n"
               "}\n",
      .targets = { TARGET("npu", ROW("fc", "dense(x, w:const) -> add(_, b:const)? -> relu?"), "") },
      .want = "%d = nn.dense  npu.fc#0  -> c\n"
              "%a = add  npu.fc#0  -> c\n"
              "%r = nn.relu  -> c\n" },

    /* all candidates of all targets stay */
    { .graph = CHAIN,
      .targets = { TARGET("npu", ROW("dense_add", "dense(x, w) -> add(_, b)"), ""),
                   TARGET("dsp",
                          ROW("add_relu", "add(a, b) -> relu") "," ROW("softmax", "softmax(x)"),
                          ""),
                   TARGET("gpu", ROW("any", "relu|dense"), "") },
      .want = "%d = nn.dense  npu.dense_add#0 gpu.any#4  -> c\n"
              "%a = add  npu.dense_add#0 dsp.add_relu#1  -> c\n"
              "%r = nn.relu  dsp.add_relu#1 gpu.any#3  -> c\n"
              "%s = nn.softmax  dsp.softmax#2  -> c\n" },

    /* operators that the target leaves to the host */
    { .graph = CHAIN,
      .targets = { TARGET("npu",
                          ROW("fc", "dense(x, w:const) -> add(_, b:const)? -> relu?") "," ROW(
                              "any", "softmax|relu"),
                          ", \"keep_on_host\": [\"relu\"]") },
      .want = "%d = nn.dense  npu.fc#0  -> c\n"
              "%a = add  npu.fc#0  -> c\n"
              "%r = nn.relu  -> c\n"
              "%s = nn.softmax  npu.any#1  -> c\n" },

    /* a condition that does not hold; a later row without it */
    { .graph = CHAIN,
      .targets = { TARGET("npu", WIDE "," ROW("dense", "dense(x, w:const)"), "") },
      .want = "%d = nn.dense  npu.dense#0  -> c\n"
              "%a = add  -> c\n"
              "%r = nn.relu  -> c\n"
              "%s = nn.softmax  -> c\n" },

    /* calls that were there before belong to somebody */
    { .graph = "fn main(%x: (2) f32) -> (%b) {\n"
               "  %a = call other(%x) : (2) f32\n"
               "  %b = nn.relu(%a) : (2) f32\n"
               "}\n\n"
               "fn other(%x: (2) f32) -> (%a) compiler \"gpu\" {\n"
               "  %a = nn.relu(%x) : (2) f32\n"
               "}\n",
      .targets = { TARGET("npu", ROW("relu", "relu"), "") },
      .want = "%a = call  -> c\n"
              "%b = nn.relu  npu.relu#0  -> c\n" },

    /* a graph without nodes */
    { .graph = "fn main(%x: (2) f32) -> (%x) {\n}\n",
      .targets = { TARGET("npu", ROW("relu", "relu"), "") },
      .want = "" },
};

START_TEST(rows_match_in_the_order_of_the_table_and_the_graph)
{
    struct partition_case row = rows[_i];

    row.until = "merge_composite";
    partition_case_check(&row);
}
END_TEST

static const struct attempt *find_attempt(const struct partition *partition, const char *node,
                                          const char *row)
{
    const struct attempt *found = NULL;

    for (const struct attempt *a = partition->attempts; a; a = a->next)
        if (strcmp(a->node->outputs[0]->name, node) == 0 && strcmp(a->row->name, row) == 0) {
            ck_assert_msg(!found, "two attempts of %s at %s", row, node);
            found = a;
        }
    return found;
}

START_TEST(attempts_that_failed_are_told_once_per_row_and_node)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = graph_parse(ctx, CHAIN, 1);
    struct target *target = case_target(
        ctx, TARGET("npu",
                    WIDE "," ROW("tail", "add(a, b) -> tanh") "," ROW(
                        "dense", "dense(x, w:const)") "," ROW("dense_tanh", "dense(x, w:const) -> "
                                                                            "tanh"),
                    ""));
    struct partition *partition = partition_new(
        module, case_options(ctx, case_target(ctx, HOST), 1, &target, ASSIGN_COST, false));
    const struct attempt *attempt;

    case_run(partition, "merge_composite");
    attempt = find_attempt(partition, "a", "npu.wide");
    ck_assert(attempt && attempt->condition);
    ck_assert_str_eq(attempt->why.wanted, "w.dim[0] >= 8");
    ck_assert_ptr_nonnull(strstr(attempt->why.found, "4"));

    /* an operator that the row has inside only */
    attempt = find_attempt(partition, "d", "npu.wide");
    ck_assert(attempt && !attempt->condition);
    attempt = find_attempt(partition, "a", "npu.tail");
    ck_assert(attempt && !attempt->condition);

    ck_assert_ptr_null(find_attempt(partition, "r", "npu.wide"));       /* not mentioned */
    ck_assert_ptr_null(find_attempt(partition, "d", "npu.dense"));      /* matched */
    ck_assert_ptr_null(find_attempt(partition, "d", "npu.dense_tanh")); /* taken before */
    partition_free(partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge_composite");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, rows_match_in_the_order_of_the_table_and_the_graph, 0, N_ROWS(rows));
    tcase_add_test(tests, attempts_that_failed_are_told_once_per_row_and_node);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
