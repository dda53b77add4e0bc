/* driver.h - a compilation, from model to files: one state, one list of stages.
 *
 * Callers (cli/, relayc.h, fuzzers, benches, tests) fill `args`, call prepare_* to evaluate the
 * options, and run all stages or those up to the one they need. The driver prints nothing: problems
 * are diagnostics in ctx, other messages go to `events`. */
#ifndef DRIVER_DRIVER_H
#define DRIVER_DRIVER_H

#include "base/file.h"
#include "codegen_c/codegen.h"
#include "driver/options.h"
#include "partition/partition.h"
#include "relay_ir/ir.h"
#include "relay_ir/passes/pipeline.h"

/* Stages in execution order; driver.c lists their functions. */
enum driver_stage {
    STAGE_LOAD,
    STAGE_DESCRIBE,
    STAGE_SIMPLIFY,
    STAGE_QUANTIZE,
    STAGE_PARTITION,
    STAGE_LAYOUT,
    STAGE_FUSE,
    STAGE_GRAPH,
    STAGE_MEASURE,
    STAGE_PLAN,
    STAGE_BUDGET,
    STAGE_PRINT,
    STAGE_COUNT
};

/* Messages other than diagnostics; each function may be NULL. */
struct driver_events {
    void (*note)(void *user, const char *text); /* information, without a final newline */
    void (*say)(void *user, const char *text);  /* finished steps, as lines */
    /* `done` of n steps are finished; done = 0 begins a display, n = 0 ends it. */
    void (*progress)(void *user, const char *what, int64_t done, int64_t n);
    /* A step of unknown length begins, such as "building the C": a string literal. */
    void (*begin)(void *user, const char *what);
    void *user;
};

/* Partitioning, from --offload, --target-dir, --assign, --no-cost and --precision. */
struct offload {
    struct targets targets; /* all known backends; empty if none of these options is given */
    struct partition_options options;
    struct partition *partition; /* result; NULL = not partitioned (yet) */
};

/* --ram, --flash, --board (budget.c): limits in bytes (0 = none) and result. */
struct budget {
    size_t ram, flash;
    const char *ram_source, *flash_source; /* "--ram", "the pool axi of nucleo-h743zi" */
    bool is_judged;
    bool fits; /* true until judged */
    size_t ram_needed, flash_needed;
    int n_changes; /* options tried because the code did not fit */
    struct budget_change {
        const char *option, *value; /* "precision", "int8w" */
        size_t ram, flash;          /* needed with it */
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
    const struct driver_events *events; /* may be NULL */
    FILE *log;                          /* output of --dump-after, --time-passes, --stats */
    struct bulk bulk;                   /* tensors of the whole compilation */

    /* Evaluated options, set by prepare_*. */
    struct offload offload;
    const struct machine *machine; /* --target */
    enum winograd winograd;        /* --winograd */
    bool share;                    /* --optimize balanced, size */
    bool optimize_size;            /* --optimize size */
    bool keep_zeros;               /* --skip-zeros off */
    const struct choices *choices; /* --tune-log; NULL without it */
    int parts;                     /* --parallel; 0: none */
    size_t ram;                    /* --ram; 0: unlimited */
    bool io_in_arena;              /* --io-in-arena */
    int n_pools;                   /* --pool; none: one arena */
    const struct codegen_pool *pools;
    const struct board *board;           /* --board (driver/board.h); NULL without it */
    bool deterministic;                  /* --deterministic */
    struct precision_request *precision; /* opaque: precision.c */
    struct emit emit;
    struct budget budget;

    struct import_obstacles
        *obstacles; /* inspect --preflight (frontend/onnx/import.h); else NULL */

    /* The compilation. */
    struct module *module;         /* NULL = not loaded yet; freed by the caller */
    bool is_json_graph;            /* the loaded model is a JSON graph */
    enum driver_stage next;        /* next stage of driver_run */
    double check_limit;            /* work above which passes are validated only on request; 0:
                                      default */
    struct validation *validation; /* of passes; NULL = off */
    struct output_set *outputs;    /* output files; committed by the set's owner, the caller */
    struct codegen_options codegen;
    struct codegen_result result;
    struct planned_code *code; /* after plan, until print or driver_free; needs the module */
    /* --vary: of a compilation for one combination, which --shape gives; else NULL. */
    const struct variants *sizes;
    int n_variants;                /* --vary: compilations whose networks `module` has taken */
    struct driver_state *variants; /* [n_variants] */
};

/* --- running stages --------------------------------------------------------------------------- */

/* Runs the stages from driver->next to `last`, skipping those that the options do not need. False
 * after an error. */
bool driver_run(struct driver_state *driver, enum driver_stage last);
const char *stage_name(enum driver_stage stage); /* "simplify" */

/* Runs simplify to fuse on another module. */
bool run_passes(struct driver_state *driver, struct module *module);

/* Parts of run_passes for the float network: no --precision, --offload or validation. int8 keeps
 * recurrent layers (precision_keeps_recurrent). */
bool simplify_floats(const struct driver_state *driver, struct module *module, bool keep_recurrent);
bool fuse_floats(const struct driver_state *driver, struct module *module);

/* A state for a command, without options; driver_give adds one. */
struct driver_state driver_begin(struct ctx *ctx, enum command command);
void driver_give(struct driver_state *driver, enum option_id option, const char *value);

/* Evaluates all options of `compile`. False after errors, all of which are reported. */
bool driver_prepare(struct driver_state *driver);

/* Name of a compilation without --name: "../kws v2.onnx" -> "kws_v2". */
const char *default_name(struct ctx *ctx, const char *path);

/* Uses a module of the caller, who frees it, in place of the first two stages. */
void driver_take(struct driver_state *driver, struct module *module);

/* `compile`: evaluates the options and runs all stages; files go to driver->outputs. False after an
 * error. driver->budget.fits is false if the code exceeds the budget (with --force). */
bool driver_compile(struct driver_state *driver);

/* Releases the state, except ctx and the output set. */
void driver_free(struct driver_state *driver);

/* Options of codegen_c that do not depend on the command; the rest is zero. */
struct codegen_options driver_codegen_options(const struct driver_state *driver);

/* Paths of the files of stage_graph: DIR/NAME.graph.json, and .bin if there are large constants.
 * Their number. */
int driver_graph_files(const struct driver_state *driver, const char *paths[2]);

/* --- stages, in the order of driver.c --------------------------------------------------------- */

bool stage_load(struct driver_state *driver);
bool stage_describe(struct driver_state *driver);
bool stage_simplify(struct driver_state *driver);
bool stage_quantize(struct driver_state *driver);
bool stage_partition(struct driver_state *driver);
bool stage_layout(struct driver_state *driver);
bool stage_fuse(struct driver_state *driver);
bool stage_graph(struct driver_state *driver);
bool stage_measure(struct driver_state *driver);
bool stage_plan(struct driver_state *driver);
bool stage_budget(struct driver_state *driver);
bool stage_print(struct driver_state *driver);

/* stage_print of n networks for one program (--shared-kernels). */
bool driver_print_set(struct driver_state *all, int n, struct kernels_result *shared);

/* --- load.c, rounding.c ----------------------------------------------------------------------- */

/* Imports the model operand, with --shape and --external-data-dir. NULL after errors. The caller
 * frees it. */
struct module *load_model(struct driver_state *driver);

/* --state: adds the module's states. False after an error. */
bool bind_states(struct driver_state *driver, struct module *module);

/* Sets module->rounds_as_onnx from --rounding, or by default. False after a usage error. */
bool choose_rounding(struct driver_state *driver, struct module *module);

/* --- evaluating options ----------------------------------------------------------------------- */

/* Fills driver->offload and driver->precision, reporting all errors. Call before work starts. */
bool prepare_offload(struct driver_state *driver);

/* Fills driver->machine, winograd and choices. False after an error. */
bool prepare_machine(struct driver_state *driver);

/* Fills driver->pools from --pool; call after --board was read. False after errors. */
bool prepare_pools(struct driver_state *driver);

/* Fills driver->choices from --tune-log, for driver->machine. False after an error. */
bool prepare_tuning(struct driver_state *driver);

/* Evaluates --precision and related options; call before prepare_offload. */
bool prepare_precision(struct driver_state *driver);

/* Reads --ram, --flash and --board; before prepare_machine. False after errors. */
bool prepare_budget(struct driver_state *driver);

/* Checks that --dump-after names a pass. Call before work starts. */
bool check_dump_option(struct driver_state *driver);

/* --- precision.c ------------------------------------------------------------------------------ */

/* True if the options ask for quantisation; and its steps. */
bool precision_wanted(const struct driver_state *driver);
bool precision_keeps_recurrent(
    const struct driver_state *driver); /* pipeline_options.keep_recurrent */
void collect_for_precision(struct driver_state *driver,
                           const struct module *module); /* call before all passes */
bool check_no_regions(struct driver_state *driver, const struct module *module, const char *what);
const char *chosen_numbers(
    struct driver_state *driver); /* formats of products, for the banner; NULL = the model's */

/* For compare: simulate_precision runs the steps up to the fake-quantised graph, realise_precision
 * those of a compilation. open_samples opens the --data samples for fn's parameters, *n of them
 * after --limit (NULL without --data or after an error); the caller closes them. */
void simulate_precision(struct driver_state *driver);
void realise_precision(struct driver_state *driver);
struct samples *open_samples(struct driver_state *driver, const struct function *fn, int64_t *n);

/* --- vary.c, variants.c ----------------------------------------------------------------------- */

/* `compile` with --vary or --max: the network for each combination of values, then one module of all. */
bool variants_wanted(const struct driver_state *driver);
bool compile_variants(struct driver_state *driver);
void variants_free(struct driver_state *driver);
struct variants *variants_read(
    struct driver_state *driver); /* what the options say; NULL after an error */

/* The command line as if it gave combination v by --shape; and how messages call it: "time=200". */
struct driver_state variant_alone(const struct driver_state *given, const struct variants *variants,
                                  int v);
const char *variant_text(struct arena *arena, const struct variants *variants, int v);

/* "137" of --shape time=137; NULL if there is none. */
const char *size_given(const struct option_values *shapes, const char *name);

/* " --vary time=1..200", as given; "" without. */
const char *vary_options(const struct driver_state *driver);

/* --- offload.c -------------------------------------------------------------------------------- */

/* True if parts of the graph may be offloaded. */
bool offload_wanted(const struct driver_state *driver);

/* The offload options as given, each preceded by a blank, for the banner and for hints. */
const char *offload_options(const struct driver_state *driver, bool with_dirs);

/* A shell word, quoted if necessary. */
const char *for_shell(const struct driver_state *driver, const char *value);

/* Backend by name. NULL after an error. */
const struct target *find_target(struct driver_state *driver, const char *name);

/* Notes backends that were named or loaded but got no region. */
void note_offload(struct driver_state *driver, const struct module *module);
int count_regions(const struct module *module, const struct target *target);

/* --- passes.c --------------------------------------------------------------------------------- */

/* Pipeline options from --dump-after and others. */
struct pipeline_options driver_pipeline_options(const struct driver_state *driver);

/* All passes in order, with quantisation and the partitioner before fuse_ops. */
struct listed_pass {
    const char *name, *purpose;
    const char *option; /* required option; NULL = always runs */
};
struct listed_pass *list_all_passes(struct arena *arena, int *n);

/* --- inputs.c --------------------------------------------------------------------------------- */

/* Tensors for the parameters of `fn`: from --input, else random with --seed, uniform in [-1, 1),
 * integers in 0 .. 9. *inputs has fn->n_params entries. */
bool load_inputs(struct driver_state *driver, const struct function *fn, struct tensor **inputs);

/* Next random number in [0, 1); the sequence is identical on every machine. */
double input_unit(uint64_t *state);

/* The parameter of this name of n bytes; -1 = there is none. */
int driver_param_index(const struct function *fn, const char *name, size_t n);

/* "'x' (1,2) f32, 'h' (1,4) f32", for messages; in ctx->perm. */
const char *driver_param_list(struct ctx *ctx, const struct function *fn);

/* Converts f32 inputs to the quantised types that --quantized-io gave the parameters; bytes count
 * as FP8 bit patterns. False after an error for any other type. */
bool fit_inputs(struct driver_state *driver, const struct function *fn, struct tensor *inputs);

/* --- events ----------------------------------------------------------------------------------- */

void driver_note(const struct driver_state *driver, const char *text);
void driver_say(const struct driver_state *driver, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void driver_progress(const struct driver_state *driver, const char *what, int64_t done, int64_t n);
void driver_begins(const struct driver_state *driver, const char *what); /* `what` is a literal */

#endif
