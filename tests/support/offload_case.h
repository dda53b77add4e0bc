/* offload_case.h - a graph through the whole partitioner with a target that ships, to generated C
 * that runs: for the tests of targets.
 *
 *   offload_check(&(struct offload_case){
 *       .target = "dnnl", .composites = "dnnl.conv2d_act dnnl.softmax", .text = "fn main(...", })
 */
#ifndef TESTS_SUPPORT_OFFLOAD_CASE_H
#define TESTS_SUPPORT_OFFLOAD_CASE_H

#include "relay_ir/ir.h"

struct offload_case {
    const char *target;     /* names in the order of priority: "sim_npu,dnnl" */
    const char *text;       /* the graph, see graph_parse; integer constants that are called w... or
                               b... and are all zero become random, full-range numbers */
    const char *composites; /* that main's regions call, in order of execution, before the target's
                               own rewriting; NULL = not checked */
    const char *left;       /* operators that stay on c, in order; NULL = none may */
    double low, high;       /* range of the inputs; both 0: -2 .. 2 */
    double tolerance; /* relative to the largest number of an output; integers: see executions.h */
    bool all_builds;  /* gcc and clang, with and without traps; else gcc alone */
    const char *precision; /* of quantize_module, without calibration: "fp8"; NULL = f32 */
};

/* Fails the test where the composites are others, or the generated C differs from the reference
 * evaluator on the graph as it was before offloading. */
void offload_check(const struct offload_case *row);

/* Writes the generated C with a driver and data (network_write) into the folder: for machines and
 * libraries that this program does not run on. Fails as above where the composites are others. */
void offload_write(const struct offload_case *row, const char *dir);

#endif
