/* bench_peers.c - what the generated code is compared with: ONNX Runtime, a process of its own, or
 * the oneDNN engine, in this one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "driver/commands/bench.h"
#include "driver/commands/peer.h"

static bool give_inputs(struct bench *bench, struct worker *worker)
{
    struct arena *arena = &bench->driver->ctx->perm;
    bool ok = true;

    for (int i = 0; i < bench->own.module->main->n_params && ok; i++) {
        const struct type *type = &bench->given[i].type;
        const char *path = bench_write_tensor(bench, arena_printf(arena, "peer_input_%d.bin", i),
                                              &bench->given[i]);

        ok = path && peer_input(bench->driver, worker, type, path);
    }
    return ok;
}

static bool start_onnxruntime(struct bench *bench)
{
    struct worker *worker =
        peer_start(bench->driver, &bench->own.code, &implementations[IMPLEMENTATION_ONNXRUNTIME],
                   "--vs", false, &bench->peer_version);

    bench->contenders[PEER].worker = worker;
    return worker && give_inputs(bench, worker);
}

/* Outputs are allocated by each run, and freed again: that is part of it. */
static bool engine_runs(void *user, long n, double *seconds)
{
    struct bench *bench = user;
    struct tensor *outputs = arena_array(&bench->driver->ctx->scratch, struct tensor,
                                         bench->own.module->main->ret->n_inputs);
    const double start = thread_seconds();
    bool ok = true;

    for (long i = 0; i < n && ok; i++) {
        struct bulk bulk = { 0 };

        ok = engine_run(bench->engine, bench->own.inputs, outputs, &bulk, NULL);
        bulk_release(&bulk);
    }
    *seconds = thread_seconds() - start;
    return ok;
}

static bool engine_cold(void *user, size_t flush_bytes, double *seconds)
{
    static volatile unsigned char *flush;

    if (!flush && !(flush = malloc(flush_bytes)))
        out_of_memory(flush_bytes);
    for (size_t i = 0; i < flush_bytes; i += 64)
        flush[i] = (unsigned char)(flush[i] + 1);
    return engine_runs(user, 1, seconds);
}

/* The model by the passes alone, without --precision, --offload and --deterministic; and with the
 * compiler's usual flags where none are given, which do not forbid contraction. */
bool bench_build_peer(struct bench *bench)
{
    struct driver_state *driver = bench->driver;
    struct program *plain = &bench->plain;
    const char *const cflags = bench->cflags;
    const bool deterministic = driver->deterministic;
    bool ok;

    if (bench->peer != PEER_PLAIN)
        return true;
    plain->module = load_model(driver);
    plain->inputs = bench->given;
    if (!plain->module || !simplify_floats(driver, plain->module, false))
        return false;
    driver->deterministic = false;
    if (!option_text(&driver->args, OPTION_CFLAGS, NULL))
        bench->cflags = bench_default_flags(driver);
    ok = fuse_floats(driver, plain->module) && program_build(bench, plain, NULL);
    driver->deterministic = deterministic;
    bench->cflags = cflags;
    return ok;
}

static bool start_plain(struct bench *bench)
{
    if (!program_start(bench, &bench->plain))
        return false;
    bench->contenders[PEER].worker = bench->plain.worker;
    bench->peer_version = "generated C without --precision, --offload and --deterministic";
    return true;
}

bool bench_start_peer(struct bench *bench)
{
    struct contender *peer = &bench->contenders[PEER];

    switch (bench->peer) {
    case PEER_ONNXRUNTIME: return start_onnxruntime(bench);
    case PEER_ENGINE:
        peer->run = engine_runs;
        peer->cold = engine_cold;
        peer->user = bench;
        bench->peer_version = "oneDNN";
        break;
    case PEER_PLAIN: return start_plain(bench);
    case PEER_NONE: break;
    }
    return true;
}
