/* conformance.h - the ONNX backend tests as one program: the pieces.
 *
 * A case is a folder with model.onnx and test_data_set_N/{input,output}_M.pb. Each goes through
 * five stages, and each stage computes the expected outputs: the imported graph in the reference
 * interpreter; the same after the pass pipeline; the oneDNN engine; the generated C; and this once
 * more, whose outputs must be those of simulate/simulate.h to the last bit. Cases run in
 * child processes, so that a crash is one failure; children report through shared memory. */
#ifndef TESTS_CONFORMANCE_CONFORMANCE_H
#define TESTS_CONFORMANCE_CONFORMANCE_H

#include "frontend/onnx/import.h"
#include "frontend/onnx/onnx.pb-c.h"

enum stage { STAGE_IMPORT, STAGE_PASSES, STAGE_ENGINE, STAGE_C, STAGE_BITS, N_STAGES };

enum verdict { VERDICT_FAIL, VERDICT_PASS, VERDICT_UNSUPPORTED };

extern const char *const stage_names[N_STAGES];

/* Result of a child, in shared memory. */
struct report {
    enum verdict verdict;
    enum stage stage;      /* under way, or where the verdict was reached */
    bool has_c;            /* generated C lies in the case's work folder; stage C is still to run */
    bool simulated;        /* and so do the bits that it must have: stage bits is to be done, too */
    bool broken_data;      /* strings, sequences and the like */
    int n_params;          /* of the imported graph: inputs that were not frozen */
    uint64_t frozen;       /* bit i: input i became a constant, as its number must be known */
    uint64_t bf16_outputs; /* bit i: output i is bf16, whose expected data may be bare bits */
    char reason[400];
    char key[160]; /* reasons of one kind have the same */
};

struct test_case {
    const char *dir;
    const char *name;   /* last part of dir */
    const char *c_name; /* prefix of the generated C, unique */
    const char *work;   /* folder for the generated C */
    struct report *report;
    void *library; /* with the generated code, loaded; NULL = none */
};

enum { MAX_JOBS = 16 };

struct settings {
    bool stages[N_STAGES];
    bool as_is; /* no input becomes a constant */
    int jobs;
    unsigned turns; /* generated C of every so many cases is built and run, in rotation */
    const char *compiler;
    const char *work;
};

/* --- data.c ----------------------------------------------------------------------------------- */
enum { MAX_TENSORS = 64 };

/* Sequences are their elements, optionals what they hold. */
struct data_set {
    int n_inputs, n_outputs;
    struct tensor inputs[MAX_TENSORS], outputs[MAX_TENSORS];
    int n_values;               /* of the graph's inputs */
    int first[MAX_TENSORS + 1]; /* tensor of input i; that of i + 1 ends them */
};

/* Reads test_data_set_`index`. False when there is none; *broken says whether its files hold
 * something else. */
bool data_set_read(struct ctx *ctx, const struct test_case *test, int index, struct bulk *bulk,
                   struct data_set *set, bool *broken);

/* Moves the inputs that stay inputs together. */
void data_set_freeze(struct data_set *set, uint64_t frozen);

/* Gives data that are stored as bare bits the types of the graph. */
void data_set_adapt(struct data_set *set, const struct function *fn);

/* Whether `found` is what was expected, as the ONNX backend tests define it: |found - expected| <=
 * 1e-7 + 1e-3 |expected|, integers exactly, NaN for NaN. oneDNN's approximations of functions near
 * a zero need 2e-6 instead of 1e-7. False with a reason. */
bool tensor_agrees(struct ctx *ctx, enum stage stage, const struct tensor *expected,
                   const struct tensor *found, const char **reason);

/* The graph's inputs that have no initialiser; the count. */
int model_inputs(const Onnx__GraphProto *graph, Onnx__ValueInfoProto **inputs);

/* --- model.c ---------------------------------------------------------------------------------- */

/* The imported model. Open dims are bound to those of the inputs; inputs that a converter must know
 * at compile time become initialisers (and their bits in *frozen), unless the model is to stay as it
 * is. NULL after errors in ctx. */
struct module *model_import(struct ctx *ctx, const struct test_case *test,
                            const struct data_set *set, bool as_is, uint64_t *frozen);

/* The inputs (bits) behind the operands of nodes that no kernel took, except for their first:
 * weights, which the backend tests give at run time and kernels want as constants. */
uint64_t model_operands_of_refused(struct ctx *ctx, const struct test_case *test);

/* --- examine.c -------------------------------------------------------------------------------- */

/* Everything but running the generated C; in a child. */
void examine(const struct settings *settings, const struct test_case *test);

/* --- generated.c ------------------------------------------------------------------------------ */

/* Writes the function that calls the generated code by arrays of pointers. */
bool case_adapter_write(struct ctx *ctx, const struct test_case *test, int n_inputs, int n_outputs);

/* What the simulation makes of data set `index`, in the work folder. */
bool simulated_write(struct ctx *ctx, const struct test_case *test, int index, int output,
                     const struct tensor *tensor);

/* Builds and loads the generated C of all cases that have some, a shared object for many cases. A
 * case that does not compile is reported. */
void generated_build_all(const struct settings *settings, struct test_case *tests, int n);
void generated_close_all(struct test_case *tests, int n);

/* Stage C of one case; in a child. */
void generated_examine(const struct settings *settings, const struct test_case *test);

/* --- children.c ------------------------------------------------------------------------------- */

/* Calls `work` for each case that `wanted` wants, in a child each, settings->jobs at a time. */
void children_run(const struct settings *settings, struct test_case *tests, int n,
                  bool (*wanted)(const struct test_case *test),
                  void (*work)(const struct settings *settings, const struct test_case *test));

/* Starts a program with its messages in the file `log`; children_wait gives its exit status, -1
 * when it could not run. */
int child_start(char **words, const char *log);
int child_wait(int pid);

void report_fail(struct report *report, enum stage stage, const char *reason);

#endif
