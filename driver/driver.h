/* driver.h - the course of a compilation, from the model to the files: one state, one list of
 * stages.
 *
 * Who compiles (cli/, relayc.h, fuzzers, benches, tests) fills `args`, asks prepare_... functions
 * for what these options mean, and runs the stages, all of them or up to the one that it needs. The
 * driver prints nothing: problems are diagnostics of ctx, what is worth a word goes to `events`. */
#ifndef DRIVER_DRIVER_H
#define DRIVER_DRIVER_H

#include "base/file.h"
#include "codegen_c/codegen.h"
#include "driver/options.h"
#include "partition/partition.h"
#include "relay_ir/ir.h"
#include "relay_ir/passes/pipeline.h"

/* In the order in which they run: driver.c has the list. */
enum driver_stage {
    STAGE_LOAD,
    STAGE_DESCRIBE,
    STAGE_SIMPLIFY,
    STAGE_QUANTIZE,
    STAGE_PARTITION,
    STAGE_LAYOUT,
    STAGE_FUSE,
    STAGE_MEASURE,
    STAGE_BUDGET,
    STAGE_GRAPH,
    STAGE_CODE,
    STAGE_COUNT
};

/* What is no diagnostic; each function may be NULL. */
struct driver_events {
    void (*note)(void *user, const char *text); /* worth knowing; no newline at its end */
    void (*say)(void *user, const char *text);  /* what has been done; lines */
    /* So many of n are done; n = 0: no more of this comes. */
    void (*progress)(void *user, const char *what, int64_t done, int64_t n);
    void *user;
};

/* What --offload, --target-dir, --assign, --no-cost and --precision ask for. */
struct offload {
    struct targets targets; /* all that are known; empty when none of these options is given */
    struct partition_options options;
    struct partition *partition; /* how the graph was divided; NULL = not at all, or not yet */
};

/* --ram, --flash, --board (budget.c): limits in bytes, 0 = none, and the verdict. */
struct budget {
    size_t ram, flash;
    const char *ram_source, *flash_source; /* "--ram", "the pool axi of nucleo-h743zi" */
    bool is_judged;
    bool fits; /* true as long as it is not judged */
    size_t ram_needed, flash_needed;
    int n_changes; /* that were tried because it did not fit */
    struct budget_change {
        const char *option, *value; /* "precision", "int8w" */
        size_t ram, flash;          /* needed then */
        bool fits;
    } changes[8];
};

/* --emit. */
struct emit {
    bool c, json;
};

struct driver_state {
    struct ctx *ctx;
    struct arguments args;
    const struct driver_events *events; /* NULL: nobody listens */
    FILE *log;                          /* of --dump-after, --time-passes, --stats */
    struct bulk bulk;                   /* tensors that live until the end */

    /* What the options mean, once prepare_... was asked. */
    struct offload offload;
    const struct machine *machine; /* --target */
    enum winograd winograd;        /* --winograd */
    bool optimize_size;            /* --optimize size */
    bool keep_zeros;               /* --skip-zeros off */
    const struct choices *choices; /* --tune-log; NULL without it */
    int parts;                     /* --parallel; 0: none */
    size_t ram;                    /* --ram; 0: as much as it takes */
    bool io_in_arena;              /* --io-in-arena */
    int n_pools;                   /* --pool; none: one arena */
    const struct codegen_pool *pools;
    const struct board *board;           /* --board (driver/board.h); NULL without it */
    bool deterministic;                  /* --deterministic */
    struct precision_request *precision; /* opaque: precision.c */
    struct emit emit;
    struct budget budget;

    /* The compilation. */
    struct module *module;         /* NULL = not loaded yet; the owner of the state frees it */
    bool is_json_graph;            /* the model that was loaded last */
    enum driver_stage next;        /* the stage that driver_run begins with */
    double check_limit;            /* networks of more work are not checked unasked; 0: the usual */
    struct validation *validation; /* of the passes; NULL = none */
    struct output_set *outputs;    /* the files; whoever made the set finishes it */
    struct codegen_options codegen;
    struct codegen_result result;
};

/* --- the course ------------------------------------------------------------------------------- */

/* Runs the stages from driver->next to `last`, with those left out that these options do not need.
 * False after an error. */
bool driver_run(struct driver_state *driver, enum driver_stage last);
const char *stage_name(enum driver_stage stage); /* "simplify" */

/* Simplify to fuse, for a module that was loaded beside. */
bool run_passes(struct driver_state *driver, struct module *module);

/* Parts of it, without --precision and --offload and without checks: the float network. int8 keeps
 * recurrent layers (precision_keeps_recurrent). */
bool simplify_floats(const struct driver_state *driver, struct module *module, bool keep_recurrent);
bool fuse_floats(const struct driver_state *driver, struct module *module);

/* A state for a command, without options yet; and an option of it. */
struct driver_state driver_begin(struct ctx *ctx, enum command command);
void driver_give(struct driver_state *driver, enum option_id option, const char *value);

/* What the options of `compile` mean. False after errors, all of them. */
bool driver_prepare(struct driver_state *driver);

/* A module that somebody else has made or read, and frees, instead of the first two stages. */
void driver_take(struct driver_state *driver, struct module *module);

/* All of `compile`: what its options mean, then all stages. The files are begun in driver->outputs.
 * False after an error; driver->budget.fits says whether the code is larger than it may be (with
 * --force). */
bool driver_compile(struct driver_state *driver);

/* Releases what the state holds, but for ctx and the output set. */
void driver_free(struct driver_state *driver);

/* The options of codegen_c that do not depend on the command; the rest is zero. */
struct codegen_options driver_codegen_options(const struct driver_state *driver);

/* --- stages (driver.c lists them) ------------------------------------------------------------- */

bool stage_load(struct driver_state *driver);
bool stage_describe(struct driver_state *driver);
bool stage_simplify(struct driver_state *driver);
bool stage_quantize(struct driver_state *driver);
bool stage_partition(struct driver_state *driver);
bool stage_layout(struct driver_state *driver);
bool stage_fuse(struct driver_state *driver);
bool stage_measure(struct driver_state *driver);
bool stage_budget(struct driver_state *driver);
bool stage_graph(struct driver_state *driver);
bool stage_code(struct driver_state *driver);

/* --- load.c, rounding.c ----------------------------------------------------------------------- */

/* Imports the model that the operand names, with --shape and --external-data-dir. NULL after
 * errors. The caller frees it. */
struct module *load_model(struct driver_state *driver);

/* Sets module->rounds_as_onnx by --rounding, or as is best; false after a usage error. */
bool choose_rounding(struct driver_state *driver, struct module *module);

/* --- what options mean ------------------------------------------------------------------------ */

/* Fills driver->offload and driver->precision from the options, with errors for all that is wrong;
 * for commands to ask before they begin. */
bool prepare_offload(struct driver_state *driver);

/* Fills driver->machine from --target, driver->winograd, and driver->choices; false after an error.
 */
bool prepare_machine(struct driver_state *driver);

/* Fills driver->pools from --pool; behind --board, where there is one. False after errors. */
bool prepare_pools(struct driver_state *driver);

/* Fills driver->choices from --tune-log, for driver->machine. False after an error. */
bool prepare_tuning(struct driver_state *driver);

/* What --precision and its companions say; to be asked before prepare_offload. */
bool prepare_precision(struct driver_state *driver);

/* Reads --ram, --flash and --board; before prepare_machine. False after errors. */
bool prepare_budget(struct driver_state *driver);

/* Whether --dump-after names a pass; for commands to ask before they begin. */
bool check_dump_option(struct driver_state *driver);

/* --- precision.c ------------------------------------------------------------------------------ */

/* Whether quantize/ has something to do, and its steps. */
bool precision_wanted(const struct driver_state *driver);
bool precision_keeps_recurrent(
    const struct driver_state *driver); /* pipeline_options.keep_recurrent */
void collect_for_precision(struct driver_state *driver,
                           const struct module *module); /* before all passes */
bool check_no_regions(struct driver_state *driver, const struct module *module, const char *what);
const char *chosen_numbers(
    struct driver_state *driver); /* of products, for the banner; NULL = as the model */

/* For compare: the steps up to the simulation only; and the samples of --data for fn's parameters
 * (NULL without --data, or after an error), to be closed by the caller, with how many --limit
 * leaves. */
void simulate_precision(struct driver_state *driver);
void realise_precision(struct driver_state *driver); /* … and as it is compiled, again */
struct samples *open_samples(struct driver_state *driver, const struct function *fn, int64_t *n);

/* --- offload.c -------------------------------------------------------------------------------- */

/* Whether parts of the graph may leave c. */
bool offload_wanted(const struct driver_state *driver);

/* These options as they were given, each with a blank in front, for the banner and for hints. */
const char *offload_options(const struct driver_state *driver, bool with_dirs);

/* A word for a command line: in quotes, where a shell would take it for something else. */
const char *for_shell(const struct driver_state *driver, const char *value);

/* The target of that name among those that are known. NULL after an error. */
const struct target *find_target(struct driver_state *driver, const char *name);

/* Tells of targets that were named or loaded and run no region, by events->note. */
void note_offload(struct driver_state *driver, const struct module *module);
int count_regions(const struct module *module, const struct target *target);

/* --- passes.c --------------------------------------------------------------------------------- */

/* What the pipeline is asked for, by --dump-after and the like. */
struct pipeline_options driver_pipeline_options(const struct driver_state *driver);

/* All passes in order: quantisation and the partitioner stand before those that make regions. */
struct listed_pass {
    const char *name, *purpose;
    const char *option; /* without which it does not run; NULL = it always does */
};
struct listed_pass *list_all_passes(struct arena *arena, int *n);

/* --- inputs.c --------------------------------------------------------------------------------- */

/* The tensors for the parameters of `fn`: from --input, else random, uniform in [-1, 1) (integers
 * in 0..9; a parameter is never left unset), seeded by --seed. *inputs has fn->n_params entries. */
bool load_inputs(struct driver_state *driver, const struct function *fn, struct tensor **inputs);

/* The next number in [0, 1) of a sequence that is the same on every machine. */
double input_unit(uint64_t *state);

/* After the passes: tensors of f32 as the small numbers that --quantized-io made of the parameters;
 * bytes as codes of FP8. False after an error where one is of another type. */
bool fit_inputs(struct driver_state *driver, const struct function *fn, struct tensor *inputs);

/* --- events ----------------------------------------------------------------------------------- */

void driver_note(const struct driver_state *driver, const char *text);
void driver_say(const struct driver_state *driver, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void driver_progress(const struct driver_state *driver, const char *what, int64_t done, int64_t n);

#endif
