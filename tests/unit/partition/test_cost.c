#include <check.h>
#include <stdlib.h>

#include "tests/support/partition_case.h"
#include "tests/support/partition_graph.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

/* Five operators of 100 ns on the host; values of 8 bytes. */
#define FIVE                                                                                       \
    "fn main(%x: (2) f32) -> (%e) {\n"                                                             \
    "  %a = nn.relu(%x) : (2) f32\n"                                                               \
    "  %b = nn.hardmax(%a) {axis=0} : (2) f32\n"                                                   \
    "  %c = nn.relu(%b) : (2) f32\n"                                                               \
    "  %d = nn.hardmax(%c) {axis=0} : (2) f32\n"                                                   \
    "  %e = nn.relu(%d) : (2) f32\n"                                                               \
    "}\n"

/* The value between is smaller behind %b than anywhere else. */
#define NARROW                                                                                     \
    "fn main(%x: (4,4) f32) -> (%d) {\n"                                                           \
    "  %a = nn.relu(%x) : (4,4) f32\n"                                                             \
    "  %b = max(%a) {axis=[1], keepdims=true} : (4,1) f32\n"                                       \
    "  %c = add(%b, %x) : (4,4) f32\n"                                                             \
    "  %d = nn.relu(%c) : (4,4) f32\n"                                                             \
    "}\n"

#define FC                                                                                         \
    "fn main(%x: (1,4) f32) -> (%t) {\n"                                                           \
    "  const @w : (4,4) f32 = crc32:00000000\n"                                                    \
    "  const @b : (4) f32 = crc32:00000000\n"                                                      \
    "  %d = nn.dense(%x, @w) : (1,4) f32\n"                                                        \
    "  %a = add(%d, @b) : (1,4) f32\n"                                                             \
    "  %r = nn.relu(%a) : (1,4) f32\n"                                                             \
    "  %t = tanh(%r) : (1,4) f32\n"                                                                \
    "}\n"

#define ANY ROW("any", "relu|tanh|hardmax|max|add|dense")

static const struct partition_case rows[] = {
    /* no limits, no hand-over */
    { .graph = FIVE,
      .targets = { TARGET("npu", ANY, "") },
      .want = "%a = nn.relu  npu.any#4  -> npu.any#4 in region 0\n"
              "%b = nn.hardmax  npu.any#3  -> npu.any#3 in region 0\n"
              "%c = nn.relu  npu.any#2  -> npu.any#2 in region 0\n"
              "%d = nn.hardmax  npu.any#1  -> npu.any#1 in region 0\n"
              "%e = nn.relu  npu.any#0  -> npu.any#0 in region 0\n"
              "region 0: npu, 5 nodes, 0 MACs, 8 bytes in, 8 out, 0 of weights, 32 on chip\n" },

    /* at most three operators; equal cuts: the first piece is the shorter one */
    { .graph = FIVE,
      .targets = { TARGET("npu", ANY, ", \"limits\": { \"max_nodes\": 3 }") },
      .want = "%a = nn.relu  npu.any#4  -> npu.any#4 in region 0\n"
              "%b = nn.hardmax  npu.any#3  -> npu.any#3 in region 0\n"
              "%c = nn.relu  npu.any#2  -> npu.any#2 in region 1\n"
              "%d = nn.hardmax  npu.any#1  -> npu.any#1 in region 1\n"
              "%e = nn.relu  npu.any#0  -> npu.any#0 in region 1\n"
              "region 0: npu, 2 nodes, 0 MACs, 8 bytes in, 8 out, 0 of weights, 24 on chip\n"
              "region 1: npu, 3 nodes, 0 MACs, 8 bytes in, 8 out, 0 of weights, 32 on chip\n"
              "npu: region of 5 nodes split into 2 after b: max_nodes: 5 nodes, 3 allowed\n" },

    /* the cut goes where the fewest bytes cross */
    { .graph = NARROW,
      .targets = { TARGET("npu", ANY, ", \"limits\": { \"max_nodes\": 3 }") },
      .want = "%a = nn.relu  npu.any#3  -> npu.any#3 in region 0\n"
              "%b = max  npu.any#2  -> npu.any#2 in region 0\n"
              "%c = add  npu.any#1  -> npu.any#1 in region 1\n"
              "%d = nn.relu  npu.any#0  -> npu.any#0 in region 1\n"
              "region 0: npu, 2 nodes, 0 MACs, 64 bytes in, 16 out, 0 of weights, 144 on chip\n"
              "region 1: npu, 2 nodes, 0 MACs, 80 bytes in, 64 out, 0 of weights, 208 on chip\n"
              "npu: region of 4 nodes split into 2 after b: max_nodes: 4 nodes, 3 allowed\n" },

    /* on request what does not pay stays, but not what the target cannot take */
    { .graph = FIVE,
      .no_cost = true,
      .targets = { TARGET("npu", ANY,
                          ", \"limits\": { \"max_nodes\": 3, \"min_macs\": 1000 },"
                          " \"rates\": { \"launch_ns\": 100000 }") },
      .want = "%a = nn.relu  npu.any#4  -> npu.any#4 in region 0\n"
              "%b = nn.hardmax  npu.any#3  -> npu.any#3 in region 0\n"
              "%c = nn.relu  npu.any#2  -> npu.any#2 in region 1\n"
              "%d = nn.hardmax  npu.any#1  -> npu.any#1 in region 1\n"
              "%e = nn.relu  npu.any#0  -> npu.any#0 in region 1\n"
              "region 0: npu, 2 nodes, 0 MACs, 8 bytes in, 8 out, 0 of weights, 24 on chip\n"
              "region 1: npu, 3 nodes, 0 MACs, 8 bytes in, 8 out, 0 of weights, 32 on chip\n"
              "npu: region of 5 nodes split into 2 after b: max_nodes: 5 nodes, 3 allowed\n" },
    { .graph = FC,
      .no_cost = true,
      .targets = { TARGET("npu", ANY,
                          ", \"limits\": { \"max_macs\": 15 },"
                          " \"rates\": { \"launch_ns\": 100000 }") },
      .want = "%d = nn.dense  (npu.any#3)  -> c\n"
              "%a = add  npu.any#2  -> npu.any#2 in region 0\n"
              "%r = nn.relu  npu.any#1  -> npu.any#1 in region 0\n"
              "%t = tanh  npu.any#0  -> npu.any#0 in region 0\n"
              "region 0: npu, 3 nodes, 0 MACs, 16 bytes in, 16 out, 16 of weights, 64 on chip\n"
              "npu: npu.any#3 at d excluded: max_macs: 16 MACs, 15 allowed\n" },

    /* one composite beyond a limit: it is excluded, and the halves beside it go on */
    { .graph = "fn main(%x: (1,4) f32) -> (%t) {\n"
               "  const @w : (4,4) f32 = crc32:00000000\n"
               "  %r = nn.relu(%x) : (1,4) f32\n"
               "  %d = nn.dense(%r, @w) : (1,4) f32\n"
               "  %t = max(%d) {axis=[1], keepdims=true} : (1,1) f32\n"
               "}\n",
      .targets = { TARGET("npu", ANY, ", \"limits\": { \"max_weight_bytes\": 63 }") },
      .want = "%r = nn.relu  npu.any#2  -> npu.any#2 in region 0\n"
              "%d = nn.dense  (npu.any#1)  -> c\n"
              "%t = max  npu.any#0  -> npu.any#0 in region 1\n"
              "region 0: npu, 1 node, 0 MACs, 16 bytes in, 16 out, 0 of weights, 32 on chip\n"
              "region 1: npu, 1 node, 0 MACs, 16 bytes in, 4 out, 0 of weights, 20 on chip\n"
              "npu: npu.any#1 at d excluded: max_weight_bytes: 64 bytes of weights, 63 allowed\n" },
    /* ... but what is free in the loop of the product, if that stays on the host, stays with it */
    { .graph = FC,
      .targets = { TARGET("npu", ANY, ", \"limits\": { \"max_macs\": 15 }") },
      .want = "%d = nn.dense  (npu.any#3)  -> c\n"
              "%a = add  (npu.any#2)  -> c\n"
              "%r = nn.relu  (npu.any#1)  -> c\n"
              "%t = tanh  (npu.any#0)  -> c\n"
              "npu: npu.any#3 at d excluded: max_macs: 16 MACs, 15 allowed\n"
              "npu: region of 3 nodes at a returned: hand-over: 0 ns for the work and 0 ns for "
              "launch and 32 bytes, c needs 0 ns\n" },

    /* a smaller form of a composite that is too big */
    { .graph = FC,
      .targets = { TARGET("npu", ROW("fc", "dense(x, w) -> add(_, b)? -> relu? -> tanh?") "," ANY,
                          ", \"limits\": { \"max_nodes\": 3 }") },
      .want = "%d = nn.dense  (npu.fc#0) npu.fc#1  -> npu.fc#1 in region 0\n"
              "%a = add  (npu.fc#0) npu.fc#1  -> npu.fc#1 in region 0\n"
              "%r = nn.relu  (npu.fc#0) npu.fc#1  -> npu.fc#1 in region 0\n"
              "%t = tanh  (npu.fc#0) npu.any#2  -> npu.any#2 in region 1\n"
              "region 0: npu, 3 nodes, 16 MACs, 16 bytes in, 16 out, 80 of weights, 32 on chip\n"
              "region 1: npu, 1 node, 0 MACs, 16 bytes in, 16 out, 0 of weights, 32 on chip\n"
              "npu: npu.fc#0 at t excluded: max_nodes: 4 nodes, 3 allowed\n"
              "npu: region of 4 nodes split into 2 after r: max_nodes: 4 nodes, 3 allowed\n" },

    /* weights are counted once per piece, 64 bytes each product and 16 each sum */
    { .graph = "fn main(%x: (1,4) f32) -> (%a3) {\n"
               "  const @w : (4,4) f32 = crc32:00000000\n"
               "  const @b : (4) f32 = crc32:00000000\n"
               "  %d1 = nn.dense(%x, @w) : (1,4) f32\n"
               "  %a1 = add(%d1, @b) : (1,4) f32\n"
               "  %d2 = nn.dense(%a1, @w) : (1,4) f32\n"
               "  %a2 = add(%d2, @b) : (1,4) f32\n"
               "  %d3 = nn.dense(%a2, @w) : (1,4) f32\n"
               "  %a3 = add(%d3, @b) : (1,4) f32\n"
               "}\n",
      .targets = { TARGET("npu", ANY, ", \"limits\": { \"max_weight_bytes\": 80 }"),
                   TARGET("dsp", ANY, "") },
      .want = "%d1 = nn.dense  npu.any#5 dsp.any#11  -> npu.any#5 in region 0\n"
              "%a1 = add  npu.any#4 dsp.any#10  -> npu.any#4 in region 0\n"
              "%d2 = nn.dense  npu.any#3 dsp.any#9  -> npu.any#3 in region 0\n"
              "%a2 = add  npu.any#2 dsp.any#8  -> npu.any#2 in region 0\n"
              "%d3 = nn.dense  npu.any#1 dsp.any#7  -> npu.any#1 in region 0\n"
              "%a3 = add  npu.any#0 dsp.any#6  -> npu.any#0 in region 0\n"
              "region 0: npu, 6 nodes, 48 MACs, 16 bytes in, 16 out, 80 of weights, 64 on chip\n" },

    /* memory on the chip: in 16, out 16, weights 80, and 16 of %d1 while the sum runs */
    { .graph = "fn main(%x: (1,4) f32) -> (%a1) {\n"
               "  const @w : (4,4) f32 = crc32:00000000\n"
               "  const @b : (4) f32 = crc32:00000000\n"
               "  %d1 = nn.dense(%x, @w) : (1,4) f32\n"
               "  %a1 = add(%d1, @b) : (1,4) f32\n"
               "}\n",
      .targets = { TARGET(
          "npu", ANY, ", \"limits\": { \"max_onchip_bytes\": 128, \"weights_onchip\": true }") },
      .want =
          "%d1 = nn.dense  npu.any#1  -> npu.any#1 in region 0\n"
          "%a1 = add  npu.any#0  -> npu.any#0 in region 0\n"
          "region 0: npu, 2 nodes, 16 MACs, 16 bytes in, 16 out, 80 of weights, 128 on chip\n" },
    { .graph = "fn main(%x: (1,4) f32) -> (%a1) {\n"
               "  const @w : (4,4) f32 = crc32:00000000\n"
               "  const @b : (4) f32 = crc32:00000000\n"
               "  %d1 = nn.dense(%x, @w) : (1,4) f32\n"
               "  %a1 = add(%d1, @b) : (1,4) f32\n"
               "}\n",
      .targets = { TARGET(
          "npu", ANY, ", \"limits\": { \"max_onchip_bytes\": 127, \"weights_onchip\": true }") },
      .want = "%d1 = nn.dense  npu.any#1  -> npu.any#1 in region 0\n"
              "%a1 = add  npu.any#0  -> npu.any#0 in region 1\n"
              "region 0: npu, 1 node, 16 MACs, 16 bytes in, 16 out, 64 of weights, 96 on chip\n"
              "region 1: npu, 1 node, 0 MACs, 16 bytes in, 16 out, 16 of weights, 48 on chip\n"
              "npu: region of 2 nodes split into 2 after d1: max_onchip_bytes: 128 bytes on chip, "
              "127 allowed\n" },

    /* too little work goes back; another target takes it */
    { .graph = FC,
      .targets = { TARGET("npu", ANY, ", \"limits\": { \"min_macs\": 17 }"),
                   TARGET("dsp", ROW("fc", "dense|add|relu|tanh"), "") },
      .assign = ASSIGN_PRIORITY,
      .want = "%d = nn.dense  (npu.any#3) dsp.fc#7  -> dsp.fc#7 in region 0\n"
              "%a = add  (npu.any#2) dsp.fc#6  -> dsp.fc#6 in region 0\n"
              "%r = nn.relu  (npu.any#1) dsp.fc#5  -> dsp.fc#5 in region 0\n"
              "%t = tanh  (npu.any#0) dsp.fc#4  -> dsp.fc#4 in region 0\n"
              "region 0: dsp, 4 nodes, 16 MACs, 16 bytes in, 16 out, 80 of weights, 64 on chip\n"
              "npu: region of 4 nodes at d returned: min_macs: 16 MACs, 17 wanted\n" },

    /* hand-over: 5 operators save 500 ns, 16 bytes and a launch cost as much */
    { .graph = FIVE,
      .targets = { TARGET("npu", ANY,
                          ", \"rates\": { \"launch_ns\": 420, \"transfer_ns_per_byte\": 5 }") },
      .want = "%a = nn.relu  (npu.any#4)  -> c\n"
              "%b = nn.hardmax  (npu.any#3)  -> c\n"
              "%c = nn.relu  (npu.any#2)  -> c\n"
              "%d = nn.hardmax  (npu.any#1)  -> c\n"
              "%e = nn.relu  (npu.any#0)  -> c\n"
              "npu: region of 5 nodes at a returned: hand-over: 0 ns for the work and 500 ns for "
              "launch and 16 bytes, c needs 500 ns\n" },
    { .graph = FIVE,
      .targets = { TARGET("npu", ANY,
                          ", \"rates\": { \"launch_ns\": 419, \"transfer_ns_per_byte\": 5 }") },
      .want = "%a = nn.relu  npu.any#4  -> npu.any#4 in region 0\n"
              "%b = nn.hardmax  npu.any#3  -> npu.any#3 in region 0\n"
              "%c = nn.relu  npu.any#2  -> npu.any#2 in region 0\n"
              "%d = nn.hardmax  npu.any#1  -> npu.any#1 in region 0\n"
              "%e = nn.relu  npu.any#0  -> npu.any#0 in region 0\n"
              "region 0: npu, 5 nodes, 0 MACs, 8 bytes in, 8 out, 0 of weights, 32 on chip\n" },

    /* on the host one loop of 100 ns does all three */
    { .graph = "fn main(%x: (2) f32) -> (%c) {\n"
               "  %a = nn.relu(%x) : (2) f32\n"
               "  %b = tanh(%a) : (2) f32\n"
               "  %c = add(%b, %x) : (2) f32\n"
               "}\n",
      .targets = { TARGET("npu", ANY, ", \"rates\": { \"launch_ns\": 100 }") },
      .want = "%a = nn.relu  (npu.any#2)  -> c\n"
              "%b = tanh  (npu.any#1)  -> c\n"
              "%c = add  (npu.any#0)  -> c\n"
              "npu: region of 3 nodes at a returned: hand-over: 0 ns for the work and 100 ns for "
              "launch and 16 bytes, c needs 100 ns\n" },

    /* a split that makes the shorter piece too expensive */
    { .graph = FIVE,
      .targets = { TARGET(
          "npu", ANY, ", \"limits\": { \"max_nodes\": 3 }, \"rates\": { \"launch_ns\": 220 }") },
      .want = "%a = nn.relu  (npu.any#4)  -> c\n"
              "%b = nn.hardmax  (npu.any#3)  -> c\n"
              "%c = nn.relu  npu.any#2  -> npu.any#2 in region 0\n"
              "%d = nn.hardmax  npu.any#1  -> npu.any#1 in region 0\n"
              "%e = nn.relu  npu.any#0  -> npu.any#0 in region 0\n"
              "region 0: npu, 3 nodes, 0 MACs, 8 bytes in, 8 out, 0 of weights, 32 on chip\n"
              "npu: region of 2 nodes at a returned: hand-over: 0 ns for the work and 220 ns for "
              "launch and 16 bytes, c needs 200 ns\n" },

    /* two targets by priority: the first returns what does not pay, the second takes it */
    { .graph = FIVE,
      .assign = ASSIGN_PRIORITY,
      .targets = { TARGET("npu", ROW("relu", "relu"), ", \"rates\": { \"launch_ns\": 150 }"),
                   TARGET("dsp", ROW("any", "relu|hardmax"),
                          ", \"rates\": { \"launch_ns\": 50 }") },
      .want = "%a = nn.relu  (npu.relu#2) dsp.any#7  -> dsp.any#7 in region 0\n"
              "%b = nn.hardmax  dsp.any#6  -> dsp.any#6 in region 0\n"
              "%c = nn.relu  (npu.relu#1) dsp.any#5  -> dsp.any#5 in region 0\n"
              "%d = nn.hardmax  dsp.any#4  -> dsp.any#4 in region 0\n"
              "%e = nn.relu  (npu.relu#0) dsp.any#3  -> dsp.any#3 in region 0\n"
              "region 0: dsp, 5 nodes, 0 MACs, 8 bytes in, 8 out, 0 of weights, 32 on chip\n"
              "npu: region of 1 node at a returned: hand-over: 0 ns for the work and 150 ns for "
              "launch and 16 bytes, c needs 100 ns\n"
              "npu: region of 1 node at c returned: hand-over: 0 ns for the work and 150 ns for "
              "launch and 16 bytes, c needs 100 ns\n"
              "npu: region of 1 node at e returned: hand-over: 0 ns for the work and 150 ns for "
              "launch and 16 bytes, c needs 100 ns\n" },

    /* each operator is cheaper on another target, but alone none pays its launch: one takes all */
    { .graph = FIVE,
      .targets = { TARGET("npu",
                          ROW_WITH("relu", "relu", "\"cost_ns\": \"10\"") "," ROW_WITH(
                              "hardmax", "hardmax", "\"cost_ns\": \"20\""),
                          ", \"rates\": { \"launch_ns\": 150 }"),
                   TARGET("dsp",
                          ROW_WITH("relu", "relu", "\"cost_ns\": \"20\"") "," ROW_WITH(
                              "hardmax", "hardmax", "\"cost_ns\": \"10\""),
                          ", \"rates\": { \"launch_ns\": 150 }") },
      .want = "%a = nn.relu  npu.relu#2 dsp.relu#7  -> npu.relu#2 in region 0\n"
              "%b = nn.hardmax  npu.hardmax#4 dsp.hardmax#9  -> npu.hardmax#4 in region 0\n"
              "%c = nn.relu  npu.relu#1 dsp.relu#6  -> npu.relu#1 in region 0\n"
              "%d = nn.hardmax  npu.hardmax#3 dsp.hardmax#8  -> npu.hardmax#3 in region 0\n"
              "%e = nn.relu  npu.relu#0 dsp.relu#5  -> npu.relu#0 in region 0\n"
              "region 0: npu, 5 nodes, 0 MACs, 8 bytes in, 8 out, 0 of weights, 32 on chip\n"
              "npu: chooses first: 280 ns saved in all, 0 ns when each composite goes where it is "
              "cheapest\n" },
};

START_TEST(limits_split_regions_and_handover_returns_them)
{
    struct partition_case row = rows[_i];

    row.until = "cost";
    partition_case_check(&row);
}
END_TEST

/* Pieces longer than what the cuts are chosen among. */
START_TEST(large_regions_are_split_into_few_pieces)
{
    struct ctx *ctx = ctx_new(NULL);
    struct module *module = partition_graph_long(ctx, 2100);
    struct target *target =
        case_target(ctx, TARGET("npu", ROW("any", "conv2d|bias_add|relu|add|softmax"),
                                ", \"limits\": { \"max_nodes\": 300 }"));
    struct partition *partition = partition_new(
        module, case_options(ctx, case_target(ctx, HOST), 1, &target, ASSIGN_PRIORITY, false));
    int n = 0;

    case_run(partition, "cost");
    ck_assert_int_eq(partition->n_regions, 8); /* 300 blocks of 7 nodes, at most 42 each */
    for (int i = 0; i < partition->n_regions; i++) {
        const struct region_plan *region = &partition->regions[i];

        ck_assert_int_le(region->n_nodes, 300);
        /* the cheapest cuts: between residual blocks one value crosses, inside of them two */
        ck_assert_int_eq(region->input_bytes, 4 * 4 * 4 * 4);
        ck_assert_int_eq(region->output_bytes, 4 * 4 * 4 * 4);
        n += region->n_nodes;
    }
    ck_assert_int_eq(n, partition->n_nodes);
    partition_free(partition);
    module_free(module);
    ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cost");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, limits_split_regions_and_handover_returns_them, 0, N_ROWS(rows));
    tcase_add_test(tests, large_regions_are_split_into_few_pieces);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
