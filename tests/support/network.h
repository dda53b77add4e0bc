/* network.h - whole networks, generated, built for every machine and run: the pieces. */
#ifndef TESTS_SUPPORT_NETWORK_H
#define TESTS_SUPPORT_NETWORK_H

#include <cjson/cJSON.h>

#include "codegen_c/codegen.h"
#include "relay_ir/ir.h"

enum { MAX_SETS = 4 };

/* Inputs and the outputs that are wanted for them. */
struct io_set {
    const char *folder; /* "io"; "" = made up, with the reference evaluator as the oracle */
    struct tensor *inputs, *outputs;
};

/* A model folder: model.onnx, optionally model.json with the shapes that bind its open dimensions,
 * and io/, io2/ with input_N.npy and output_N.npy. Or a single .onnx file. */
struct network {
    struct ctx *ctx;
    const char *dir, *name; /* dir: or the .onnx file */
    struct module *module;
    struct bulk bulk;
    struct io_set sets[MAX_SETS];
    int n_sets;
    double tolerance; /* of the largest error, relative to an output's largest magnitude */
};

/* Reads it; the module is as imported. False after errors in network->ctx. The network is to be
 * freed either way. */
bool network_load(struct network *network, const char *dir);
void network_free(struct network *network);

/* The pass pipeline, and whether the graph's text survives printing and parsing before and after.
 */
bool network_run_passes(struct network *network);

/* Writes the C generated for the machine (--target; NULL = none), and what the targets, NULL = only
 * c, add to it here, a driver with main(), and the data of every set into `work`. The driver fails
 * where results depend on what was in the arena, and where something is written beyond the arena or
 * an output. */
bool network_write(struct network *network, const char *work, const char *machine,
                   const struct targets *targets, struct codegen_result *result);

/* All files of it: generated, and what the targets add. [n_files + n_host_files] */
const char **network_files(struct arena *arena, const char *work,
                           const struct codegen_result *result);

/* A JSON file; NULL where there is none. */
cJSON *network_json(struct ctx *ctx, const char *path);

/* Whether its data is small enough to be part of a program (for bare machines). */
bool network_is_small(const struct network *network);

/* One way to build and run a network. */
struct config {
    const char *name;
    const char *machine; /* of --target; NULL = none: the same files as others without */
    const char *compiler;
    const char *flags;
    const char *runner; /* in front of the program; "" = run it directly */
    bool bare;          /* no files on that machine: the data is part of the program */
    size_t weights;     /* the most bytes of weights that its memory holds; 0 = no limit here */
};

extern const struct config configs[];
extern const int n_configs;

/* Builds and runs in `work`; *error is the largest error relative to an output's largest magnitude.
 * False with a reason when something failed. */
bool config_run(struct ctx *ctx, const struct config *config, const struct network *network,
                const char *work, const struct codegen_result *result, double *error,
                const char **reason);

#endif
