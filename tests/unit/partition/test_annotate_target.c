#include <check.h>
#include <stdlib.h>

#include "tests/support/partition_case.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

/* On the host the product costs 116 ns, softmax 100, and the others nothing behind the product. */
#define CHAIN                                                                                      \
    "fn main(%x: (1,4) f32) -> (%s) {\n"                                                           \
    "  const @w : (4,4) f32 = crc32:00000000\n"                                                    \
    "  const @b : (4) f32 = crc32:00000000\n"                                                      \
    "  %d = nn.dense(%x, @w) : (1,4) f32\n"                                                        \
    "  %a = add(%d, @b) : (1,4) f32\n"                                                             \
    "  %r = nn.relu(%a) : (1,4) f32\n"                                                             \
    "  %s = nn.softmax(%r) {axis=1} : (1,4) f32\n"                                                 \
    "}\n"

#define BETWEEN                                                                                    \
    "fn main(%x: (1,4) f32) -> (%e) {\n"                                                           \
    "  const @w : (4,4) f32 = crc32:00000000\n"                                                    \
    "  const @v : (4,4) f32 = crc32:00000000\n"                                                    \
    "  %d = nn.dense(%x, @w) : (1,4) f32\n"                                                        \
    "  %r = nn.relu(%d) : (1,4) f32\n"                                                             \
    "  %e = nn.dense(%r, @v) : (1,4) f32\n"                                                        \
    "}\n"

#define NPU                                                                                        \
    TARGET("npu", ROW("dense_add", "dense(x, w) -> add(_, b)") "," ROW("dense", "dense(x, w)"), "")
#define DSP TARGET("dsp", ROW("add_relu", "add(a, b) -> relu") "," ROW("any", "softmax|relu"), "")

static const struct partition_case rows[] = {
    /* the first target wins; the second looks again at what is left of its match */
    { .graph = CHAIN,
      .assign = ASSIGN_PRIORITY,
      .targets = { NPU, DSP },
      .want = "%d = nn.dense  npu.dense_add#0  -> npu.dense_add#0\n"
              "%a = add  npu.dense_add#0 dsp.add_relu#1  -> npu.dense_add#0\n"
              "%r = nn.relu  dsp.add_relu#1 dsp.any#3  -> dsp.any#3\n"
              "%s = nn.softmax  dsp.any#2  -> dsp.any#2\n" },
    { .graph = CHAIN,
      .assign = ASSIGN_PRIORITY,
      .targets = { DSP, NPU },
      .want = "%d = nn.dense  npu.dense_add#2 npu.dense#3  -> npu.dense#3\n"
              "%a = add  dsp.add_relu#0 npu.dense_add#2  -> dsp.add_relu#0\n"
              "%r = nn.relu  dsp.add_relu#0  -> dsp.add_relu#0\n"
              "%s = nn.softmax  dsp.any#1  -> dsp.any#1\n" },

    /* what a target has looked for again, it gets before the next target in the order */
    { .graph = CHAIN,
      .assign = ASSIGN_PRIORITY,
      .targets = { NPU, DSP, TARGET("gpu", ROW("any", "softmax|relu"), "") },
      .want = "%d = nn.dense  npu.dense_add#0  -> npu.dense_add#0\n"
              "%a = add  npu.dense_add#0 dsp.add_relu#1  -> npu.dense_add#0\n"
              "%r = nn.relu  dsp.add_relu#1 gpu.any#4 dsp.any#5  -> dsp.any#5\n"
              "%s = nn.softmax  dsp.any#2 gpu.any#3  -> dsp.any#2\n" },

    /* priority does not ask for the cost, cost does not ask for the order */
    { .graph = BETWEEN,
      .assign = ASSIGN_PRIORITY,
      .targets = { TARGET("npu", ROW_WITH("dense", "dense(x, w)", "\"cost_ns\": \"500\""), ""),
                   TARGET("dsp", ROW_WITH("dense", "dense(x, w)", "\"cost_ns\": \"20\""), "") },
      .want = "%d = nn.dense  npu.dense#1 dsp.dense#3  -> npu.dense#1\n"
              "%r = nn.relu  -> c\n"
              "%e = nn.dense  npu.dense#0 dsp.dense#2  -> npu.dense#0\n" },
    { .graph = BETWEEN,
      .targets = { TARGET("npu", ROW_WITH("dense", "dense(x, w)", "\"cost_ns\": \"50\""), ""),
                   TARGET("dsp", ROW_WITH("dense", "dense(x, w)", "\"cost_ns\": \"20\""), "") },
      .want = "%d = nn.dense  npu.dense#1 dsp.dense#3  -> dsp.dense#3\n"
              "%r = nn.relu  -> c\n"
              "%e = nn.dense  npu.dense#0 dsp.dense#2  -> dsp.dense#2\n" },

    /* equal estimates: the order of the targets */
    { .graph = BETWEEN,
      .targets = { TARGET("npu", ROW("dense", "dense(x, w)"), ""),
                   TARGET("dsp", ROW("dense", "dense(x, w)"), "") },
      .want = "%d = nn.dense  npu.dense#1 dsp.dense#3  -> npu.dense#1\n"
              "%r = nn.relu  -> c\n"
              "%e = nn.dense  npu.dense#0 dsp.dense#2  -> npu.dense#0\n" },

    /* the greatest saving counts, not the least time: 4 nodes for 140 ns save 76 of 216 */
    { .graph = CHAIN,
      .targets = { TARGET("npu",
                          ROW_WITH("fc", "dense(x, w) -> add(_, b)? -> relu? -> softmax?",
                                   "\"cost_ns\": \"35 * nodes\""),
                          ""),
                   TARGET("dsp", ROW_WITH("softmax", "softmax", "\"cost_ns\": \"40\""), "") },
      .want = "%d = nn.dense  npu.fc#0  -> npu.fc#0\n"
              "%a = add  npu.fc#0  -> npu.fc#0\n"
              "%r = nn.relu  npu.fc#0  -> npu.fc#0\n"
              "%s = nn.softmax  npu.fc#0 dsp.softmax#1  -> npu.fc#0\n" },

    /* the same row without its optional part: 105 ns of 116 */
    { .graph = CHAIN,
      .targets = { TARGET("npu",
                          ROW_WITH("fc", "dense(x, w) -> add(_, b)? -> relu? -> softmax?",
                                   "\"cost_ns\": \"35 * nodes\""),
                          ""),
                   TARGET("dsp", ROW_WITH("softmax", "softmax", "\"cost_ns\": \"1\""), "") },
      .want = "%d = nn.dense  npu.fc#0 npu.fc#2  -> npu.fc#2\n"
              "%a = add  npu.fc#0 npu.fc#2  -> npu.fc#2\n"
              "%r = nn.relu  npu.fc#0 npu.fc#2  -> npu.fc#2\n"
              "%s = nn.softmax  npu.fc#0 dsp.softmax#1  -> dsp.softmax#1\n" },

    /* behind what stays on the host a sum and its relu are free there, behind a target they cost
     * 100 ns each */
    { .graph = CHAIN,
      .targets = { TARGET("npu", ROW_WITH("act", "add|relu", "\"cost_ns\": \"1\""), "") },
      .want = "%d = nn.dense  -> c\n"
              "%a = add  npu.act#1  -> c\n"
              "%r = nn.relu  npu.act#0  -> c\n"
              "%s = nn.softmax  -> c\n" },
    { .graph = CHAIN,
      .targets = { TARGET("npu", ROW_WITH("act", "add|relu", "\"cost_ns\": \"99\""), ""),
                   TARGET("dsp", ROW("dense", "dense(x, w)"), "") },
      .want = "%d = nn.dense  dsp.dense#2  -> dsp.dense#2\n"
              "%a = add  npu.act#1  -> npu.act#1\n"
              "%r = nn.relu  npu.act#0  -> npu.act#0\n"
              "%s = nn.softmax  -> c\n" },
    { .graph = CHAIN,
      .targets = { TARGET("npu", ROW_WITH("act", "add|relu", "\"cost_ns\": \"101\""), ""),
                   TARGET("dsp", ROW("dense", "dense(x, w)"), "") },
      .want = "%d = nn.dense  dsp.dense#2  -> dsp.dense#2\n"
              "%a = add  npu.act#1  -> c\n"
              "%r = nn.relu  npu.act#0  -> c\n"
              "%s = nn.softmax  -> c\n" },

    /* slower than the host: not chosen for its cost */
    { .graph = BETWEEN,
      .targets = { TARGET(
          "npu", ROW_WITH("relu", "relu", "\"cost_ns\": \"150\"") "," ROW("dense", "dense(x, w)"),
          "") },
      .want = "%d = nn.dense  npu.dense#2  -> npu.dense#2\n"
              "%r = nn.relu  npu.relu#0  -> c\n"
              "%e = nn.dense  npu.dense#1  -> npu.dense#1\n" },

    /* ... unless the way to the host and back costs more: 32 bytes at 2 ns against 50 ns */
    { .graph = BETWEEN,
      .targets = { TARGET(
          "npu", ROW_WITH("relu", "relu", "\"cost_ns\": \"150\"") "," ROW("dense", "dense(x, w)"),
          ", \"rates\": { \"transfer_ns_per_byte\": 2 }") },
      .want = "%d = nn.dense  npu.dense#2  -> npu.dense#2\n"
              "%r = nn.relu  npu.relu#0  -> npu.relu#0\n"
              "%e = nn.dense  npu.dense#1  -> npu.dense#1\n" },
};

START_TEST(every_node_goes_to_one_candidate_or_to_the_host)
{
    struct partition_case row = rows[_i];

    row.until = "annotate_target";
    partition_case_check(&row);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("annotate_target");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, every_node_goes_to_one_candidate_or_to_the_host, 0, N_ROWS(rows));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
