/* bench.h - what the parts of `relayc bench` share: cmd_bench.c is the course of it, bench_build.c
 * makes the program that is timed, bench_peers.c starts what it is compared with, bench_report.c
 * tells the result. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli/cli.h"
#include "cli/host_code.h"
#include "measure/object_size.h"
#include "measure/rounds.h"
#include "runtime/engine/engine.h"

enum peer { PEER_ONNXRUNTIME, PEER_ENGINE, PEER_NONE };

enum { OWN, PEER }; /* contenders */

struct bench {
    struct cli *cli;
    const char *compiler, *cflags, *runner; /* NULL = the default, none */
    enum peer peer;
    double tolerance; /* of the outputs; negative = they are compared, not judged */
    long regions_shown;
    int core; /* -1 = not bound */

    struct module *module;
    struct tensor *given;     /* inputs as the model's file has them */
    struct type *given_types; /* outputs likewise */
    struct tensor *inputs;    /* of the generated code */
    struct engine *engine;
    struct tensor *expected; /* outputs, of the engine */
    struct tensor *outputs;  /* of the generated code */

    struct host_code code;
    struct object_size size; /* of the model's files */
    double compile_seconds;
    const char *program;

    struct contender contenders[2];
    struct rounds rounds;
    struct series *regions; /* [n_regions] seconds */
    struct series peak;     /* operations a second */
    long peak_rounds;

    const char *peer_version;
    double engine_error, peer_error; /* of the outputs, relative to the largest; NaN = not known */
};

/* Compiles the model's files, the harness and the peak; fills size, program, compile_seconds. */
bool bench_build(struct bench *bench);

/* Starts the program and gives it its inputs. */
bool bench_start_own(struct bench *bench);

/* Starts the peer, if there is one. */
bool bench_start_peer(struct bench *bench);

/* The outputs that a worker has computed, as tensors of these types. */
bool bench_fetch_outputs(struct bench *bench, struct worker *worker, const struct type *types,
                         struct tensor *outputs);

/* Whatever the worker's bytes are read from: a file of the folder with the tensor in it. */
const char *bench_write_tensor(struct bench *bench, const char *name, const struct tensor *tensor);

/* Text, or members of cli->json. */
void bench_report(struct bench *bench);

#endif
