/* cli.h - what the commands share: a file each, one function each. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <cjson/cJSON.h>

#include "base/file.h"
#include "cli/options.h"
#include "codegen_c/codegen.h"
#include "partition/partition.h"
#include "relay_ir/ir.h"

/* What --offload, --target-dir, --assign, --no-cost and --precision ask for. */
struct offload {
    struct targets targets; /* all that are known; empty when none of these options is given */
    struct partition_options options;
    struct partition *partition; /* how the graph was divided; NULL = not at all, or not yet */
};

struct cli {
    struct ctx *ctx;
    struct arguments args;
    struct bulk bulk;           /* tensors that live until the command ends */
    struct output_set *outputs; /* the command's files: it finishes them, main puts them into their
                                   places when all that is to be said was written */
    cJSON *json;                /* the object that --json prints; NULL without --json */
    bool quiet;
    bool is_json_graph; /* the model that has been loaded */
    struct offload offload;
    const struct machine *machine; /* what --target names, once prepare_machine was asked, … */
    enum winograd winograd;        /* … and what --winograd says */
    bool optimize_size;            /* --optimize size */
    bool keep_zeros;               /* --skip-zeros off */
    const struct choices *choices; /* what --tune-log says; NULL without it */
    int parts;                     /* … and --parallel; 0: none */
    size_t ram;                    /* … and --ram; 0: as much as it takes */
    bool io_in_arena;              /* --io-in-arena */
    int n_pools;                   /* --pool; none: one arena */
    const struct codegen_pool *pools;
    const struct board *board;           /* what --board names (cli/board.h); NULL without it */
    bool deterministic;                  /* … and --deterministic */
    struct precision_request *precision; /* opaque: precision.c */
};

/* Each returns false after an error. Diagnostics are printed by main. */
bool command_bench(struct cli *cli);
bool command_calibrate(struct cli *cli);
bool command_compare(struct cli *cli);
bool command_compile(struct cli *cli);
bool command_eval(struct cli *cli);
bool command_explain(struct cli *cli);
bool command_inspect(struct cli *cli);
bool command_run(struct cli *cli);
bool command_search(struct cli *cli);
bool command_targets(struct cli *cli);
bool command_tune(struct cli *cli);
bool command_verify(struct cli *cli);

/* Imports the model that the operand names, with --shape and --external-data-dir. NULL after
 * errors. The caller frees it. */
struct module *load_model(struct cli *cli);

/* rounding.c: sets module->rounds_as_onnx by --rounding, or as is best; false after a usage error.
 */
bool choose_rounding(struct cli *cli, struct module *module);

/* Fills cli->offload from the options, with errors for all that is wrong; for commands to ask
 * before they begin. */
bool prepare_offload(struct cli *cli);

/* Fills cli->machine from --target, cli->winograd, and cli->choices; false after an error.
 * `--target help` lists the machines: then there is nothing else to do. */
bool prepare_machine(struct cli *cli);
bool show_machines_wanted(struct cli *cli);
void list_machines(struct cli *cli);

/* Fills cli->pools from --pool; behind --board, where there is one. False after errors. */
bool prepare_pools(struct cli *cli);

/* Fills cli->choices from --tune-log, for cli->machine. False after an error. */
bool prepare_tuning(struct cli *cli);

/* Which regions were written as the log says. */
struct codegen_result;
void report_tuning(struct cli *cli, const struct codegen_result *result);

/* What --precision and its companions say; to be asked before prepare_offload. */
bool prepare_precision(struct cli *cli);

/* Whether quantize/ has something to do, and its steps. */
bool precision_wanted(const struct cli *cli);
bool precision_keeps_recurrent(const struct cli *cli); /* pipeline_options.keep_recurrent */
void collect_for_precision(struct cli *cli, const struct module *module); /* before all passes */
bool run_precision(struct cli *cli, struct module *module, const struct pipeline_options *pipeline);
bool check_no_regions(struct cli *cli, const struct module *module, const char *what);
const char *chosen_numbers(struct cli *cli); /* of products, for the banner; NULL = as the model */
void report_precision(struct cli *cli); /* what became small; nothing when nothing was asked for */

/* For compare: the steps up to the simulation only; and the samples of --data for fn's parameters
 * (NULL without --data, or after an error), to be closed by the caller, with how many --limit
 * leaves. */
void simulate_precision(struct cli *cli);
void realise_precision(struct cli *cli); /* … and as it is compiled, again */
struct samples *open_samples(struct cli *cli, const struct function *fn, int64_t *n);

/* Whether parts of the graph may leave c. */
bool offload_wanted(const struct cli *cli);

/* These options as they were given, each with a blank in front, for the banner and for hints. */
const char *offload_options(const struct cli *cli, bool with_dirs);

/* A word for a command line: in quotes, where a shell would take it for something else. */
const char *for_shell(const struct cli *cli, const char *value);

/* The target of that name among those that are known. NULL after an error. */
const struct target *find_target(struct cli *cli, const char *name);

/* The partitioner, between the parts of the pipeline. */
bool run_offload(struct cli *cli, struct module *module, const struct pipeline_options *options);

/* How many regions went where; nothing when nothing was asked for. */
void report_offload(struct cli *cli, const struct module *module);

/* Tells of targets that were named or loaded and run no region; on standard error, or in --json. */
void note_offload(struct cli *cli, const struct module *module);

/* Runs the pass pipeline as --dump-after, --time-passes and --offload say. */
bool run_passes(struct cli *cli, struct module *module);

/* Whether --dump-after names a pass; for commands to ask before they begin. */
bool check_dump_option(struct cli *cli);

/* --passes. */
void list_passes(struct cli *cli);

/* The tensors for the parameters of `fn`: from --input, else random, uniform in [-1, 1) (integers
 * in 0..9; a parameter is never left unset), seeded by --seed. *inputs has fn->n_params entries. */
bool load_inputs(struct cli *cli, const struct function *fn, struct tensor **inputs);

/* The next number in [0, 1) of a sequence that is the same on every machine. */
double input_unit(uint64_t *state);

/* After the passes: tensors of f32 as the small numbers that --quantized-io made of the parameters;
 * bytes as codes of FP8. False after an error where one is of another type. */
bool fit_inputs(struct cli *cli, const struct function *fn, struct tensor *inputs);

/* Text for people: to standard output unless --json or --quiet. */
void say(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define RELAYC_VERSION "0.1.0"

#endif
