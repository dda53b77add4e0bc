/* bench_peers.c - what the generated code is compared with: ONNX Runtime, a process of its own, or
 * the oneDNN engine, in this one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/str.h"
#include "cli/bench.h"
#include "relay_ir/passes/pipeline.h"

/* $RELAYC_PYTHON, the one beside relayc (build/python), or python3. */
static const char *find_python(struct ctx *ctx)
{
    const char *given = getenv("RELAYC_PYTHON");
    char self[4000];
    ssize_t n;

    if (given && *given)
        return given;
    n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n > 0) {
        const char *beside;

        self[n] = '\0';
        *strrchr(self, '/') = '\0';
        beside = arena_printf(&ctx->perm, "%s/python/bin/python3", self);
        if (access(beside, X_OK) == 0)
            return beside;
    }
    return "python3";
}

static const char *write_script(struct bench *bench)
{
    static const char name[] = "peer_onnxruntime.py";
    struct output_set set = { .ctx = bench->cli->ctx };
    const char *path = host_code_path(bench->cli, &bench->own.code, name);

    writer_text(
        output_open(&set, path),
        embedded_find(arena_printf(&bench->cli->ctx->perm, "runtime/bench/%s", name))->text);
    return output_commit(&set) ? path : NULL;
}

/* "1x3x224x224"; "scalar". */
static const char *dims_text(struct arena *arena, const struct type *type)
{
    struct str text = { .arena = arena };

    for (int i = 0; i < type->rank; i++)
        str_printf(&text, "%s%lld", i ? "x" : "", (long long)type->dim[i]);
    return type->rank ? str_text(&text) : "scalar";
}

/* What is a constant of ours is an input of the model still. */
static bool freeze_inputs(struct bench *bench, struct worker *worker)
{
    const struct option_values *frozen = &bench->cli->args.options[OPTION_FREEZE];
    bool ok = true;

    for (int i = 0; i < frozen->n && ok; i++) {
        const char *text = frozen->at[i], *equals = strrchr(text, '=');

        ok = worker_ask(worker, "freeze %s %.*s", equals + 1, (int)(equals - text), text);
    }
    return ok;
}

static bool give_inputs(struct bench *bench, struct worker *worker)
{
    struct arena *arena = &bench->cli->ctx->perm;
    bool ok = true;

    for (int i = 0; i < bench->own.module->main->n_params && ok; i++) {
        const struct type *type = &bench->given[i].type;
        const char *path = bench_write_tensor(bench, arena_printf(arena, "peer_input_%d.bin", i),
                                              &bench->given[i]);

        ok = path && worker_ask(worker, "input %s %s %s", dtype_name(type->dtype),
                                dims_text(arena, type), path);
    }
    return ok;
}

static bool start_onnxruntime(struct bench *bench)
{
    struct cli *cli = bench->cli;
    const char *script = write_script(bench), *python = find_python(cli->ctx), *version;
    const char *words[] = { python, script, cli->args.operands[0], NULL };
    struct worker *worker;

    if (!script)
        return false;
    worker = worker_start(cli->ctx, "ONNX Runtime", words,
                          host_code_path(cli, &bench->own.code, "peer.messages"));
    bench->contenders[PEER].worker = worker;
    if (!worker || !(version = worker_ask(worker, NULL))) {
        diag_help(cli->ctx,
                  "--vs onnxruntime runs '%s'; RELAYC_PYTHON names another Python, which needs the "
                  "package onnxruntime (pip install onnxruntime)",
                  str_safe(&cli->ctx->perm, python, 300));
        return false;
    }
    bench->peer_version = arena_strdup(&cli->ctx->perm, version);
    return freeze_inputs(bench, worker) && give_inputs(bench, worker);
}

/* Outputs are allocated by each run, and freed again: that is part of it. */
static bool engine_runs(void *user, long n, double *seconds)
{
    struct bench *bench = user;
    struct tensor *outputs = arena_array(&bench->cli->ctx->scratch, struct tensor,
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
    struct cli *cli = bench->cli;
    struct program *plain = &bench->plain;
    struct pipeline_options options = { .part = PIPELINE_PREPARE, .log = stderr };
    const char *const cflags = bench->cflags;
    const bool deterministic = cli->deterministic;
    bool ok;

    if (bench->peer != PEER_PLAIN)
        return true;
    plain->module = load_model(cli);
    plain->inputs = bench->given;
    if (!plain->module || !pipeline_run(plain->module, &options))
        return false;
    options.part = PIPELINE_FUSE;
    cli->deterministic = false;
    if (!option_text(&cli->args, OPTION_CFLAGS, NULL))
        bench->cflags = bench_default_flags(cli);
    ok = pipeline_run(plain->module, &options) && program_build(bench, plain, NULL);
    cli->deterministic = deterministic;
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
