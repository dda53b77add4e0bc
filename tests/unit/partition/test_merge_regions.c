#include <check.h>
#include <stdlib.h>

#include "tests/support/partition_case.h"

#define N_ROWS(rows) ((int)(sizeof(rows) / sizeof *(rows)))

#define NPU TARGET("npu", ROW("any", "relu|add|max"), "")
#define DSP TARGET("dsp", ROW("any", "tanh|multiply"), "")

static const struct partition_case rows[] = {
    /* neighbours of one target */
    { .graph = "fn main(%x: (2) f32) -> (%c) {\n"
               "  %a = nn.relu(%x) : (2) f32\n"
               "  %b = nn.relu(%a) : (2) f32\n"
               "  %c = add(%b, %a) : (2) f32\n"
               "}\n",
      .targets = { NPU },
      .want = "%a = nn.relu  npu.any#2  -> npu.any#2 in region 0\n"
              "%b = nn.relu  npu.any#1  -> npu.any#1 in region 0\n"
              "%c = add  npu.any#0  -> npu.any#0 in region 0\n"
              "region 0: npu, 3 nodes, 0 MACs, 8 bytes in, 8 out, 0 of weights, 32 on chip\n" },

    /* no neighbours */
    { .graph = "fn main(%x: (2) f32) -> (%a, %b) {\n"
               "  %a = nn.relu(%x) : (2) f32\n"
               "  %b = nn.relu(%x) : (2) f32\n"
               "}\n",
      .targets = { NPU },
      .want = "%a = nn.relu  npu.any#1  -> npu.any#1 in region 0\n"
              "%b = nn.relu  npu.any#0  -> npu.any#0 in region 1\n"
              "region 0: npu, 1 node, 0 MACs, 8 bytes in, 8 out, 0 of weights, 16 on chip\n"
              "region 1: npu, 1 node, 0 MACs, 8 bytes in, 8 out, 0 of weights, 16 on chip\n" },

    /* a path through the host */
    { .graph = "fn main(%x: (2) f32) -> (%c) {\n"
               "  %a = nn.relu(%x) : (2) f32\n"
               "  %h = nn.softmax(%a) {axis=0} : (2) f32\n"
               "  %c = add(%h, %a) : (2) f32\n"
               "}\n",
      .targets = { NPU },
      .want = "%a = nn.relu  npu.any#1  -> npu.any#1 in region 0\n"
              "%h = nn.softmax  -> c\n"
              "%c = add  npu.any#0  -> npu.any#0 in region 1\n"
              "region 0: npu, 1 node, 0 MACs, 8 bytes in, 8 out, 0 of weights, 16 on chip\n"
              "region 1: npu, 1 node, 0 MACs, 16 bytes in, 8 out, 0 of weights, 24 on chip\n" },

    /* a path through another target; results in the middle of a region */
    { .graph = "fn main(%x: (2) f32) -> (%b, %d) {\n"
               "  %a = nn.relu(%x) : (2) f32\n"
               "  %b = nn.relu(%a) : (2) f32\n"
               "  %c = tanh(%b) : (2) f32\n"
               "  %d = add(%c, %b) : (2) f32\n"
               "}\n",
      .targets = { NPU, DSP },
      .want = "%a = nn.relu  npu.any#2  -> npu.any#2 in region 0\n"
              "%b = nn.relu  npu.any#1  -> npu.any#1 in region 0\n"
              "%c = tanh  dsp.any#3  -> dsp.any#3 in region 1\n"
              "%d = add  npu.any#0  -> npu.any#0 in region 2\n"
              "region 0: npu, 2 nodes, 0 MACs, 8 bytes in, 8 out, 0 of weights, 24 on chip\n"
              "region 1: dsp, 1 node, 0 MACs, 8 bytes in, 8 out, 0 of weights, 16 on chip\n"
              "region 2: npu, 1 node, 0 MACs, 16 bytes in, 8 out, 0 of weights, 24 on chip\n" },

    /* two pairs that would wait for each other if both were joined: one is */
    { .graph = "fn main(%x: (2) f32) -> (%a2, %b2) {\n"
               "  %a1 = nn.relu(%x) : (2) f32\n"
               "  %b1 = tanh(%x) : (2) f32\n"
               "  %a2 = add(%a1, %b1) : (2) f32\n"
               "  %b2 = multiply(%b1, %a1) : (2) f32\n"
               "}\n",
      .targets = { NPU, DSP },
      .want = "%a1 = nn.relu  npu.any#1  -> npu.any#1 in region 0\n"
              "%b1 = tanh  dsp.any#3  -> dsp.any#3 in region 1\n"
              "%a2 = add  npu.any#0  -> npu.any#0 in region 0\n"
              "%b2 = multiply  dsp.any#2  -> dsp.any#2 in region 2\n"
              "region 0: npu, 2 nodes, 0 MACs, 16 bytes in, 16 out, 0 of weights, 32 on chip\n"
              "region 1: dsp, 1 node, 0 MACs, 8 bytes in, 8 out, 0 of weights, 16 on chip\n"
              "region 2: dsp, 1 node, 0 MACs, 16 bytes in, 8 out, 0 of weights, 24 on chip\n" },

    /* a short branch joins the long one that it meets */
    { .graph = "fn main(%x: (2) f32) -> (%c) {\n"
               "  %a = nn.relu(%x) : (2) f32\n"
               "  %h = nn.softmax(%x) {axis=0} : (2) f32\n"
               "  %c = add(%a, %h) : (2) f32\n"
               "}\n",
      .targets = { NPU },
      .want = "%a = nn.relu  npu.any#1  -> npu.any#1 in region 0\n"
              "%h = nn.softmax  -> c\n"
              "%c = add  npu.any#0  -> npu.any#0 in region 0\n"
              "region 0: npu, 2 nodes, 0 MACs, 16 bytes in, 8 out, 0 of weights, 32 on chip\n" },

    /* ... also past a node of the host that can wait */
    { .graph = "fn main(%x: (2) f32) -> (%c, %g) {\n"
               "  %a = nn.relu(%x) : (2) f32\n"
               "  %g = nn.softmax(%a) {axis=0} : (2) f32\n"
               "  %t = tanh(%x) : (2) f32\n"
               "  %h = nn.softmax(%t) {axis=0} : (2) f32\n"
               "  %c = add(%a, %h) : (2) f32\n"
               "}\n",
      .targets = { NPU, DSP },
      .want = "%a = nn.relu  npu.any#1  -> npu.any#1 in region 0\n"
              "%g = nn.softmax  -> c\n"
              "%t = tanh  dsp.any#2  -> dsp.any#2 in region 1\n"
              "%h = nn.softmax  -> c\n"
              "%c = add  npu.any#0  -> npu.any#0 in region 0\n"
              "region 0: npu, 2 nodes, 0 MACs, 16 bytes in, 16 out, 0 of weights, 32 on chip\n"
              "region 1: dsp, 1 node, 0 MACs, 8 bytes in, 8 out, 0 of weights, 16 on chip\n" },

    /* between two regions a unit goes where it saves more bytes: %u with %p (64), not with %v (16)
     */
    { .graph = "fn main(%x: (4,4) f32) -> (%v) {\n"
               "  %p = nn.relu(%x) : (4,4) f32\n"
               "  %u = max(%p) {axis=[1], keepdims=true} : (4,1) f32\n"
               "  %h = nn.softmax(%p) {axis=1} : (4,4) f32\n"
               "  %v = add(%u, %h) : (4,4) f32\n"
               "}\n",
      .targets = { NPU },
      .want = "%p = nn.relu  npu.any#2  -> npu.any#2 in region 0\n"
              "%u = max  npu.any#1  -> npu.any#1 in region 0\n"
              "%h = nn.softmax  -> c\n"
              "%v = add  npu.any#0  -> npu.any#0 in region 1\n"
              "region 0: npu, 2 nodes, 0 MACs, 64 bytes in, 80 out, 0 of weights, 144 on chip\n"
              "region 1: npu, 1 node, 0 MACs, 80 bytes in, 64 out, 0 of weights, 144 on chip\n" },
};

START_TEST(neighbours_of_one_target_become_regions_without_cycles)
{
    struct partition_case row = rows[_i];

    row.until = "merge_regions";
    row.assign = ASSIGN_PRIORITY;
    partition_case_check(&row);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge_regions");
    TCase *tests = tcase_create("all");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tests, neighbours_of_one_target_become_regions_without_cycles, 0,
                        N_ROWS(rows));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
