/* verify.h - relayc verify, and the state that its files share. A model is run in four forms:
 *
 *   imported   the graph as the importer gave it, no pass, on the reference evaluator
 *   passes     the graph after all passes, on the reference evaluator: "the reference"
 *   engine     the same graph on oneDNN
 *   generated  the C, on this machine or by --cc and --runner on what it is for
 *
 * verify.c has the main flow; verify_inputs.c makes the inputs, verify_imported.c compares the
 * reference with the imported graph, verify_saturation.c counts what scales cannot hold,
 * verify_layers.c compares the engine with the reference, verify_code.c the C with the reference
 * (verify_target.c runs it elsewhere), verify_peer.c asks another implementation, verify_whole.c
 * compares results of the whole network. */
#ifndef DRIVER_COMMANDS_VERIFY_H
#define DRIVER_COMMANDS_VERIFY_H

#include "driver/commands/peer.h"

enum column { IMPORTED, ENGINE, GENERATED, N_COLUMNS };

/* Error of a column in one layer, in its worst set of inputs. */
struct column_error {
    double error; /* NaN = not compared */
    double limit;
};

/* Numbers of the imported graph that a stored value cannot hold, over all sets. */
struct saturation {
    const char *name;
    int64_t n, n_beyond; /* elements */
    int64_t n_lost;      /* not 0, and stored as 0 */
    int64_t n_zero;
    double low, high;   /* the range */
    double smallest;    /* above 0 */
    double least, most; /* of the numbers */
};

struct layer {
    double largest; /* greatest magnitude of the reference, over all sets */
    struct column_error column[N_COLUMNS];
};

/* A set of inputs and all results, each [ret->n_inputs]. */
struct verify_set {
    const char *what;         /* "--input", "made up 1" */
    struct tensor *given;     /* in the model's types */
    struct tensor *inputs;    /* in the types after the passes */
    struct tensor *expected;  /* --expect; NULL = none */
    struct tensor *imported;  /* of the imported graph */
    struct tensor *outputs;   /* of the reference */
    struct tensor *engine;    /* of the engine */
    struct tensor *generated; /* of the C */
    struct tensor *peer;      /* of another implementation, of states without data; NULL without
                                 --against */
    struct tensor *simulated; /* with --deterministic: bit-exact results; else NULL */
    struct map values;        /* of the reference: value name -> struct tensor * */
};

/* Agreement of the results of two forms, over all sets. */
struct agreement {
    const char *name; /* "the imported graph and the reference" */
    int n;            /* compared results; 0 = not compared */
    double error;     /* worst error relative to a result's largest magnitude */
    double distance;  /* worst 1 - cosine */
    int n_argmax;     /* results with equal argmax */
    double limit;     /* limit of `error`, or, if loose, of `distance` */
    bool loose;       /* quantised values in between: rounding differences are amplified */
    bool only_warn;   /* the difference is the cost of quantisation, not a bug */
};

enum { MOST_AGREEMENTS = 8 };

struct verification {
    struct driver_state *driver;
    struct module *imported; /* as the importer gave it */
    struct module *module;   /* after the passes */
    const char *graph;       /* SHA-256 of its text, which names constants by their CRC-32 */
    int n_sets;
    struct verify_set *sets;
    double tolerance;
    bool rounds;          /* the graph after the passes is quantised */
    bool rounds_anew;     /* ... by --precision, not in the model file */
    struct map layers;    /* by value name, which survives codegen_c's changes of main */
    struct map saturated; /* value name -> struct saturation *; of values inside regions, too */
    int n_onednn, n_reference;
    int n_values, n_matched; /* values of main after the passes; those that the imported graph has
                                too */
    bool on_target;          /* --cc: the C was built and run for --target */
    bool whole_only;         /* ... but not layer by layer */
    struct agreement agreements[MOST_AGREEMENTS];
    int n_agreements;
    const char *bits;        /* result of --deterministic; NULL = not requested */
    const char *exception;   /* region without bit-exact simulation; NULL = none */
    struct host_code folder; /* for the peer */
    struct generated *code;  /* for several sizes; NULL = the C is built for this network */
    const int32_t *sizes;    /* of this network */
    const struct implementation *which; /* of --against; NULL = none */
    struct worker *peer;
    const char *peer_version;
    struct peer_count { /* the outputs of the generated C beside the peer's */
        int64_t n, n_different;
        double most;   /* difference of integers, in steps of the last place */
        bool promised; /* 0 is promised */
    } peer_count;
};

/* Runs the model in all forms. False after an error; differences are for the report to judge. Call
 * driver_verify_free in any case. */
bool driver_verify(struct driver_state *driver, struct verification *out);

/* Likewise for one combination of --vary, `sizes`, of code for all of them. */
bool driver_verify_sizes(struct driver_state *driver, struct generated *code, const int32_t *sizes,
                         struct verification *out);
void driver_verify_free(struct verification *v);

/* --- verify_inputs.c -------------------------------------------------------------------------- */

/* Inputs from --input, --data, or generated; before the passes, for the model's parameters. */
bool verify_load_inputs(struct verification *v);

/* After the passes: converts the inputs to the parameters' types. */
bool verify_fit_inputs(struct verification *v);

/* --- verify_layers.c -------------------------------------------------------------------------- */

struct layer *layer_of(const struct verification *v, const struct value *value);

/* Records an error of a layer if it is worse than before. */
void layer_note(struct layer *layer, enum column column, double error, double limit);

/* Reference result of a value of main. */
struct tensor wanted_tensor(const struct verification *v, const struct verify_set *set,
                            const struct value *value);

/* Allowed error of a value relative to `largest`: the tolerance, plus a step per quantisation in
 * the layer. */
double layer_tolerance(const struct verification *v, const struct verify_set *set,
                       const struct value *value, double largest);

bool verify_run_reference(struct verification *v);
bool verify_run_engine(struct verification *v);

/* --- verify_imported.c ------------------------------------------------------------------------ */

/* Runs the imported graph on all sets, from the inputs and layer by layer from the reference's
 * values, so that each layer is judged by its own error. */
bool verify_run_imported(struct verification *v);

/* Real values of a tensor (quantised values times scale), in `bulk`. */
double *real_numbers(struct bulk *bulk, const struct tensor *tensor);

/* --- verify_saturation.c ---------------------------------------------------------------------- */

/* wanted[] as this value holds it at best: numbers beyond its range become its ends, those below
 * half of its smallest become 0; both are counted. True if there are some. */
bool saturate(struct verification *v, const struct value *value, double *wanted, int64_t n);

/* --- verify_code.c, verify_target.c ----------------------------------------------------------- */

bool verify_run_generated(struct verification *v);

/* Operation on the memory of generated code: `count` runs of `size` bytes with stride `pitch`. */
struct code_command {
    enum code_kind { CODE_FILL, CODE_WRITE, CODE_CALL, CODE_READ } kind;
    int space;  /* FILL, WRITE, READ: 0 = arena, then inputs, then outputs */
    int region; /* CALL; -1 = all */
    size_t offset, count, size, pitch;
    void *data; /* WRITE: source; READ: destination */
    struct code_command *next;
};

struct code_commands {
    struct code_command *first, **end;
};

/* Builds with --cc and --cflags, runs with --runner, and reads the results. */
bool target_run(struct verification *v, struct host_code *code,
                const struct code_commands *commands);

/* True if the last error is the linker's message that the program exceeds the target's memory. */
bool target_does_not_fit(struct ctx *ctx);

/* --- verify_peer.c ---------------------------------------------------------------------------- */

/* Starts it, first of all: who asks for it wants to know at once that it is missing. */
bool verify_start_peer(struct verification *v);

/* How many sets there are without --inputs. */
int verify_usual_sets(const struct verification *v);

/* The sets of a network with states become steps, where the peer keeps states itself: each gets the
 * states that the imported graph leaves behind the one before. */
bool verify_chain_states(struct verification *v);

bool verify_ask_peer(struct verification *v);
bool verify_peer_rounds(const struct verification *v); /* where relayc does not */
void verify_count_peer(struct verification *v);

/* --- verify_whole.c --------------------------------------------------------------------------- */

bool verify_simulate(struct verification *v); /* with --deterministic; before code is generated */

/* Compares the results of all sets after all runs. */
void verify_whole(struct verification *v);

#endif
