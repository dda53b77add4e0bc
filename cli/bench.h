/* bench.h - what the parts of `relayc bench` share: cmd_bench.c is the course of it, bench_build.c
 * makes the programs that are timed, bench_peers.c starts what it is compared with, bench_report.c
 * tells the result. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli/cli.h"
#include "driver/host_code.h"
#include "measure/object_size.h"
#include "measure/rounds.h"
#include "runtime/engine/engine.h"

enum peer { PEER_ONNXRUNTIME, PEER_ENGINE, PEER_PLAIN, PEER_NONE };

enum { OWN, PEER }; /* contenders */

/* A program made of generated C, and the process that runs it. */
struct program {
    struct module *module; /* after the passes */
    struct tensor *inputs;
    const struct choices *choices; /* of knobs; NULL = as --tune-log says */
    bool step; /* NAME_step is there, too: then it is not quite what users build */
    struct host_code code;
    const char **objects;    /* [code.n_files] of the .c files, else NULL */
    struct object_size size; /* of the model's own files */
    const char *path;
    struct worker *worker;
};

struct bench {
    struct cli *cli;
    struct host_code harness;       /* a folder with the harness … */
    const char *harness_objects[2]; /* … and its objects, once the first program was built */
    const char *compiler, *cflags, *runner; /* NULL = the default, none */
    enum peer peer;
    double tolerance; /* of the outputs; negative = they are compared, not judged */
    long regions_shown;
    int core; /* -1 = not bound */

    struct tensor *given;     /* inputs as the model's file has them */
    struct type *given_types; /* outputs likewise */

    struct program own, stepping, plain; /* plain: for PEER_PLAIN */
    double compile_seconds;              /* of all of them */
    struct engine *engine;
    struct tensor *expected; /* outputs, of the engine */
    struct tensor *outputs;  /* of the generated code */

    struct contender contenders[2];
    struct rounds rounds;
    struct series *regions; /* [n_regions] seconds */
    struct series peak;     /* operations a second */
    long peak_rounds;

    const char *peer_version;
    double engine_error, peer_error; /* of the outputs, relative to the largest; NaN = not known */
};

/* Generates and compiles the C of program->module with the harness. sharing: a program of the same
 * module whose objects are taken for files with the same text; or NULL. The harness is compiled for
 * the first program only. False after an error; to be freed either way. */
bool program_build(struct bench *bench, struct program *program, const struct program *sharing);

/* -O3 and the flags of --target's machine, or of this one. */
const char *bench_default_flags(struct cli *cli);

/* Starts it and gives it its inputs. */
bool program_start(struct bench *bench, struct program *program);
void program_free(struct program *program);
void bench_free_harness(struct bench *bench); /* after all programs */

/* Builds what the peer needs, if there is one; then, on one core, starts it. */
bool bench_build_peer(struct bench *bench);
bool bench_start_peer(struct bench *bench);

/* The outputs that a worker has computed, as tensors of these types. */
bool bench_fetch_outputs(struct bench *bench, struct worker *worker, const struct type *types,
                         struct tensor *outputs);

/* A file of the own program's folder with the tensor's bytes in it; NULL after an error. */
const char *bench_write_tensor(struct bench *bench, const char *name, const struct tensor *tensor);

/* Text, or members of cli->json. */
void bench_report(struct bench *bench);

#endif
