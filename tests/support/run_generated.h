/* run_generated.h - compiles IR text to C, builds and runs it, and compares with the reference
 * evaluator.
 *
 *   generated_check(&(struct generated_case){
 *       .text = "fn main(%x: (2,3) f32) -> (%y) {\n"
 *               "  %y = nn.relu(%x) : (2,3) f32\n"
 *               "}\n", .tolerance = 1e-6 }); */
#ifndef TESTS_SUPPORT_RUN_GENERATED_H
#define TESTS_SUPPORT_RUN_GENERATED_H

#include "codegen_c/codegen.h"
#include "relay_ir/ir.h"

struct generated_case {
    const char *text;    /* the graph, see graph_parse */
    double low, high;    /* range of the inputs; both 0: -2 .. 2 */
    double tolerance;    /* relative to the largest number of an output; integers agree exactly */
    bool whole_pipeline; /* run all passes, not only fuse_ops */
    bool step;           /* run region by region through NAME_step */
    bool ships;          /* and NAME_run as it is without that */
    int parts;           /* --parallel: run one after the other */
    bool optimize_size;
    bool keep_zeros; /* --skip-zeros off */
    enum weights_form weights;
    enum winograd winograd;
    unsigned seed;                 /* of the turns of builds, beside the text: of what has none */
    bool one_build;                /* gcc only: for what is the same with every compiler */
    const struct machine *machine; /* CPU of the C; NULL = generic */
    const struct choices *choices; /* of knobs (codegen_c/core/knob.h); NULL = none */
    const struct targets *targets; /* backends of the graph's regions; NULL = host only */
};

/* Compiles with every warning that generated C promises not to raise as an error, and runs on
 * random inputs: built by gcc (then with the bits of simulate/simulate.h) or in another way (clang,
 * with undefined-behaviour traps or without, or gcc with them), in rotation (builds.h); in all four
 * where RELAYC_TEST_ALL_BUILDS is set, as make check-full does. A difference, a warning or a trap
 * fails the test. */
void generated_check(const struct generated_case *row);

/* generated_check on inputs of each of these ranges instead of the row's: every build is made
 * once. */
struct generated_range {
    double low, high;
};
void generated_check_ranges(const struct generated_case *row, int n,
                            const struct generated_range *ranges);

/* From here on the builds for the vectors of newer processors are among them, as far as this
 * machine has them: for kernels that are not the same with all. */
void generated_vector_builds(void);

/* Flags for C with wide vectors: of the machine where it is here, else of the widest vectors that
 * are, so that each is taken apart in two, not in four; in check-full "". */
const char *generated_vectors_here(const struct machine *machine);

/* generated_check for a module after fuse_ops, on these inputs (NULL = random). */
void generated_check_module(struct module *module, const struct generated_case *row,
                            const struct tensor *inputs);

/* The text of a generated file for IR text: suffix ".c", ".h", "_weights.c", ".json". The model is
 * called "net". In ctx->perm; fails the test when there is no such file. */
const char *generated_text(struct ctx *ctx, const struct generated_case *row, const char *suffix);

/* Whether the part stands in the text, however lines are broken. */
bool generated_says(struct ctx *ctx, const char *text, const char *part);

/* Number of occurrences of a non-empty text in the generated C. */
int generated_count(struct ctx *ctx, const struct generated_case *row, const char *what);

/* All passes on a parsed graph, or fuse_ops alone; fails the test when one fails. */
struct module *generated_module(struct ctx *ctx, const struct generated_case *row);

#endif
