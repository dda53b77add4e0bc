/* verify.h - what the parts of `relayc verify` share. One model, from the file to the code:
 *
 *   imported   the graph as the importer gave it, no pass, on the reference evaluator
 *   passes     the graph after all passes, on the reference evaluator: "the reference"
 *   engine     the same graph on oneDNN
 *   generated  the C, on this machine or by --cc and --runner on what it is for
 *
 * cmd_verify.c is the course of it; verify_inputs.c makes the inputs, verify_imported.c compares
 * the reference with the imported graph, verify_layers.c the engine with the reference,
 * verify_code.c the C with the reference (verify_target.c runs it elsewhere), verify_whole.c
 * compares results of the whole network, verify_report.c tells. */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include "cli/cli.h"
#include "driver/host_code.h"
#include "measure/worker.h"

enum column { IMPORTED, ENGINE, GENERATED, N_COLUMNS };

/* How far a column is off in one layer, in the set of inputs where it is worst. */
struct column_error {
    double error; /* NaN = not compared */
    double limit;
};

struct layer {
    double largest; /* of the reference's magnitudes, over all sets */
    struct column_error column[N_COLUMNS];
};

/* One set of inputs, with what the graphs compute from it. Results are [ret->n_inputs]. */
struct verify_set {
    const char *what;         /* "--input", "made up 1" */
    struct tensor *given;     /* as the file's inputs are */
    struct tensor *inputs;    /* as those of the graph after the passes */
    struct tensor *expected;  /* --expect; NULL = nothing is known */
    struct tensor *imported;  /* results of the imported graph */
    struct tensor *outputs;   /* of the reference */
    struct tensor *engine;    /* of the engine */
    struct tensor *generated; /* of the C */
    struct tensor *peer;      /* of ONNX Runtime; NULL without --against */
    struct tensor *simulated; /* with --deterministic: the bits that the C is to give; else NULL */
    struct map values;        /* the reference's: name -> struct tensor *, of the graph's values */
};

/* The results of one side against those of another, over all sets. */
struct agreement {
    const char *name; /* "the imported graph and the reference" */
    int n;            /* results compared; 0 = this was not done */
    double error;     /* relative to a result's largest number, the worst */
    double distance;  /* 1 - cosine, the worst */
    int n_argmax;     /* results whose greatest number is at the same place */
    double limit;     /* of `error`, or (`loose`) of `distance` */
    bool loose;       /* small numbers lie between the two: rounding may tip, and is amplified */
    bool only_warn;   /* the difference is what small numbers cost, no mistake of anybody's */
};

enum { MOST_AGREEMENTS = 8 };

struct verification {
    struct cli *cli;
    struct module *imported; /* as the importer gave it */
    struct module *module;   /* after the passes */
    int n_sets;
    struct verify_set *sets;
    double tolerance;
    bool rounds;       /* the graph after the passes stores small numbers */
    bool rounds_anew;  /* … which the model in the file does not: --precision */
    struct map layers; /* by the value's name, which stays when codegen_c changes main */
    int n_onednn, n_reference;
    int n_values, n_matched; /* of main after the passes; those that the imported graph has */
    bool on_target;          /* --cc: the C was built and run for --target */
    bool whole_only;         /* … but not layer by layer */
    struct agreement agreements[MOST_AGREEMENTS];
    int n_agreements;
    const char *bits;        /* what --deterministic showed; NULL = it was not asked */
    const char *exception;   /* a region that the simulation does not have; NULL = none */
    struct host_code folder; /* for ONNX Runtime */
    struct worker *peer;     /* NULL without --against onnxruntime */
    const char *peer_version;
};

/* --- verify_inputs.c -------------------------------------------------------------------------- */

/* --input, samples of --data, or made up. Before the passes, for the parameters of the file. */
bool verify_load_inputs(struct verification *v);

/* After them: what was given, as the parameters are now. */
bool verify_fit_inputs(struct verification *v);

/* --- verify_layers.c -------------------------------------------------------------------------- */

struct layer *layer_of(const struct verification *v, const struct value *value);

/* A worse error of a layer takes the place of the one before. */
void layer_note(struct layer *layer, enum column column, double error, double limit);

/* What the reference gave a value of main. */
struct tensor wanted_tensor(const struct verification *v, const struct verify_set *set,
                            const struct value *value);

/* How far an executor may be off in this value, relative to `largest`: the tolerance, and one step
 * for each time that the layer quantises. */
double layer_tolerance(const struct verification *v, const struct verify_set *set,
                       const struct value *value, double largest);

bool verify_run_reference(struct verification *v);
bool verify_run_engine(struct verification *v);

/* --- verify_imported.c ------------------------------------------------------------------------ */

/* Runs the imported graph on all sets: as it is, and with the reference's values in the places of
 * its own, so that each layer answers for its own error. */
bool verify_run_imported(struct verification *v);

/* The numbers that a tensor means (codes times their scale), of `bulk`. */
double *real_numbers(struct bulk *bulk, const struct tensor *tensor);

/* --- verify_code.c, verify_target.c ----------------------------------------------------------- */

bool verify_run_generated(struct verification *v);

/* What is done to the memory of the generated code. count runs of `size` bytes, `pitch` apart. */
struct code_command {
    enum { CODE_FILL, CODE_WRITE, CODE_CALL, CODE_READ } kind;
    int space;  /* FILL, WRITE, READ: 0 = the arena, then inputs, then outputs */
    int region; /* CALL; -1 = all of them */
    size_t offset, count, size, pitch;
    void *data; /* WRITE: from here; READ: to there */
    struct code_command *next;
};

struct code_commands {
    struct code_command *first, **end;
};

/* Builds the program with --cc and --cflags, runs it with --runner, and takes the answers. */
bool target_run(struct verification *v, struct host_code *code,
                const struct code_commands *commands);

/* Whether the latest error is the linker's, that a program is too big for the machine. */
bool target_does_not_fit(struct ctx *ctx);

/* --- verify_whole.c --------------------------------------------------------------------------- */

bool verify_ask_peer(struct verification *v); /* ONNX Runtime, if it was started */
bool verify_simulate(struct verification *v); /* with --deterministic; before code is generated */

/* Compares the results of all sets, once all have run. */
void verify_whole(struct verification *v);

/* --- verify_report.c -------------------------------------------------------------------------- */

/* The table; false after errors: where something differs. */
bool verify_report(struct verification *v);

#endif
