/* bench.h - relayc bench, and the state that its files share: bench.c (main flow), bench_build.c
 * (builds the timed programs), bench_peers.c (starts the program compared with). */
#ifndef DRIVER_COMMANDS_BENCH_H
#define DRIVER_COMMANDS_BENCH_H

#include "driver/host_code.h"
#include "driver/sized_code.h"
#include "measure/object_size.h"
#include "measure/rounds.h"
#include "runtime/engine/engine.h"

enum peer { PEER_ONNXRUNTIME, PEER_ENGINE, PEER_PLAIN, PEER_NONE };

enum { OWN, PEER }; /* contenders */

/* A program made from generated C, and its process. */
struct program {
    struct module *module; /* after all passes */
    struct tensor *inputs;
    const struct choices *choices; /* knobs; NULL = those of --tune-log */
    bool step;                     /* also has NAME_step, unlike what users build */
    struct host_code code;
    const char **objects;    /* [code.n_files] for .c files; else NULL */
    struct object_size size; /* size of the model's own files */
    const char *path;
    struct worker *worker;
    bool borrows; /* the files, of --vary */
};

struct bench {
    struct driver_state *driver;
    const struct sized_code *sized;         /* --vary: the C for all sizes, of which ... */
    int size;                               /* ... this one runs */
    struct host_code harness;               /* folder with the harness ... */
    const char *harness_objects[2];         /* ... and its objects, once built */
    const char *compiler, *cflags, *runner; /* NULL = the default, none */
    enum peer peer;
    double tolerance; /* for the outputs; negative = report only */
    long regions_shown;
    int core; /* -1 = not bound */

    struct tensor *given;     /* inputs in the model's types */
    struct type *given_types; /* output types of the model */

    struct program own, stepping, plain; /* plain: for PEER_PLAIN */
    double compile_seconds;              /* for all programs */
    struct engine *engine;
    struct tensor *expected; /* outputs of the engine */
    struct tensor *outputs;  /* of the generated code */

    struct contender contenders[2];
    struct rounds rounds;
    struct series *regions; /* [n_regions] seconds */
    struct series peak;     /* operations per second */
    long peak_rounds;

    const char *peer_version;
    double engine_error, peer_error; /* output error relative to the largest magnitude; NaN =
                                        unknown */
};

/* Builds, checks and times the model's code. False after an error. Call driver_bench_free in any
 * case. */
bool driver_bench(struct driver_state *driver, struct bench *out);

/* Likewise for one size of the code of all, without its regions; `driver` is that of the size alone. The program is
 * built by the first, which the others are given and which is freed last. */
bool driver_bench_size(struct driver_state *driver, const struct sized_code *code, int size,
                       const struct bench *first, struct bench *out);
void driver_bench_free(struct bench *bench);

/* Generates and compiles the C of program->module with the harness, which is compiled for the first
 * program only. sharing (or NULL): a program of this module whose objects are reused for equal
 * files. False after an error. Call program_free in any case. */
bool program_build(struct bench *bench, struct program *program, const struct program *sharing);

/* Compiles and links the C of bench->sized. */
bool program_build_sized(struct bench *bench, struct program *program);

/* -O3 and the flags for --target's CPU, or the host's. */
const char *bench_default_flags(struct driver_state *driver);

/* Starts the process and sends the inputs. */
bool program_start(struct bench *bench, struct program *program);
void program_free(struct program *program);
void bench_free_harness(struct bench *bench); /* after all programs */

/* Builds the peer, if there is one; and starts it on one core. */
bool bench_build_peer(struct bench *bench);
bool bench_start_peer(struct bench *bench);

/* Reads a worker's outputs as tensors of these types. */
bool bench_fetch_outputs(struct bench *bench, struct worker *worker, const struct type *types,
                         struct tensor *outputs);

/* Writes a tensor's bytes to a file in the own program's folder; NULL after an error. */
const char *bench_write_tensor(struct bench *bench, const char *name, const struct tensor *tensor);

#endif
