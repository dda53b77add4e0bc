/* bench.c - how fast the generated C is on this machine.
 *
 *   build     the model's files and a harness, as a program
 *   check     its outputs against the oneDNN engine's (and the peer's): wrong code gets no time
 *   measure   rounds of: a block of runs of the program, one of the peer, a sweep over the
 *             regions, the machine's peak; all on one core, in CPU time */
#include "driver/commands/bench.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "driver/commands/tensor_error.h"
#include "codegen_c/machine/machine.h"

#define DEFAULT_SECONDS 5.0
#define DEFAULT_TOLERANCE 1e-3
#define BLOCK_SECONDS 0.02
#define PEAK_SECONDS 0.003
#define MOST_SWEEPS 20 /* over the regions in a round */

static bool parse_options(struct bench *bench)
{
    static const char *const peers[] = { "onnxruntime", "engine", "plain", NULL };
    struct driver_state *driver = bench->driver;
    const struct arguments *args = &driver->args;
    long long repeat, regions;
    int peer;
    bool ok = option_word(driver->ctx, args, OPTION_VS, peers, PEER_NONE, &peer);

    ok = option_real(driver->ctx, args, OPTION_SECONDS, DEFAULT_SECONDS, &bench->rounds.seconds) &&
         ok;
    ok = option_real(driver->ctx, args, OPTION_TOLERANCE, -1, &bench->tolerance) && ok;
    ok = option_integer(driver->ctx, args, OPTION_REPEAT, 0, &repeat) && ok;
    ok = option_integer(driver->ctx, args, OPTION_REGIONS, -1, &regions) && ok;
    bench->compiler = option_text(args, OPTION_CC, NULL);
    bench->cflags = option_text(args, OPTION_CFLAGS, NULL);
    bench->runner = option_text(args, OPTION_RUNNER, NULL);
    bench->peer = (enum peer)peer;
    bench->rounds.repeat = (long)repeat;
    bench->regions_shown = (long)regions;
    if (has_option(args, OPTION_REPEAT) && repeat == 0)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--repeat: found 0, expected at least 1 round");
    if ((bench->peer == PEER_ONNXRUNTIME || bench->peer == PEER_PLAIN) && args->n_operands &&
        strcmp(args->operands[0], "-") == 0)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL,
                        "--vs %s needs the model as a file, not from standard input", peers[peer]);
    return ok;
}

/* What the model's file says, before the passes and --quantized-io change it. */
static void keep_interface(struct bench *bench)
{
    struct arena *arena = &bench->driver->ctx->perm;
    const struct function *fn = bench->own.module->main;

    bench->given = arena_array(arena, struct tensor, fn->n_params);
    for (int i = 0; i < fn->n_params; i++)
        bench->given[i] = bench->own.inputs[i];
    bench->given_types = arena_array(arena, struct type, fn->ret->n_inputs);
    for (int i = 0; i < fn->ret->n_inputs; i++)
        bench->given_types[i] = fn->ret->inputs[i]->type;
}

/* Rounding of quantised values may tip either way, and a network magnifies it: no tolerance is
 * right. */
static bool is_quantised(const struct module *module)
{
    for (const struct function *fn = module->functions; fn; fn = fn->next)
        for (const struct node *n = fn->first; n; n = n->next)
            if (n->op == OP_QNN_QUANTIZE || n->op == OP_QNN_REQUANTIZE)
                return true;
    return false;
}

/* *largest: the greatest magnitude of the output that the error is of. */
static double outputs_error(const struct tensor *wanted, const struct tensor *found, int n,
                            double *largest)
{
    double worst = 0;

    *largest = 0;
    for (int i = 0; i < n; i++) {
        if (wanted[i].type.dtype != found[i].type.dtype ||
            !type_same_shape(&wanted[i].type, &found[i].type))
            return NAN;
        const double magnitude = largest_magnitude(&wanted[i]);
        const double error = relative_error(&wanted[i], magnitude, &found[i]);

        if (error > worst) {
            worst = error;
            *largest = magnitude;
        }
    }
    return worst;
}

static bool judge(struct bench *bench, double error, double largest, const char *whose)
{
    /* Roundings of numbers of size 1, by which functions such as sigmoid may be off, and outputs
     * beside which they are large. */
    const double roundings = 16 * FLT_EPSILON, small = 1e-2;
    struct ctx *ctx = bench->driver->ctx;

    if (bench->tolerance < 0 || !(error > bench->tolerance))
        return true;
    diag_error(ctx, DIAG_MISMATCH, NULL,
               "the outputs of the generated code differ from %s by %.2e of the largest, tolerance "
               "%.2e: not timed",
               whose, error, bench->tolerance);
    diag_help(ctx, "'relayc verify' finds the layer; --tolerance allows more");
    if (largest < small && error * largest < roundings)
        diag_help(ctx,
                  "the largest output is only %.1e; real inputs (--input) may give larger ones, "
                  "relative to which the difference is small",
                  largest);
    return false;
}

static bool check_own(struct bench *bench)
{
    struct driver_state *driver = bench->driver;
    const struct function *fn = bench->own.module->main;
    const int n = fn->ret->n_inputs;
    struct type *types = arena_array(&driver->ctx->perm, struct type, n);
    double largest;

    for (int i = 0; i < n; i++)
        types[i] = fn->ret->inputs[i]->type;
    bench->outputs = arena_array(&driver->ctx->perm, struct tensor, n);
    bench->expected = arena_array(&driver->ctx->perm, struct tensor, n);
    bench->engine = engine_new(driver->ctx, bench->own.module->main);
    if (!bench->engine ||
        !engine_run(bench->engine, bench->own.inputs, bench->expected, &driver->bulk, NULL) ||
        !bench_fetch_outputs(bench, bench->own.worker, types, bench->outputs))
        return false;
    bench->engine_error = outputs_error(bench->expected, bench->outputs, n, &largest);
    return judge(bench, bench->engine_error, largest, "oneDNN's");
}

static bool check_peer(struct bench *bench)
{
    const int n = bench->own.module->main->ret->n_inputs;
    struct tensor *outputs = arena_array(&bench->driver->ctx->perm, struct tensor, n);
    double largest;

    bench->peer_error = NAN;
    if (bench->peer == PEER_ENGINE)
        bench->peer_error = bench->engine_error;
    if (bench->peer != PEER_ONNXRUNTIME && bench->peer != PEER_PLAIN)
        return true;
    if (!bench_fetch_outputs(bench, bench->contenders[PEER].worker, bench->given_types, outputs))
        return false;
    bench->peer_error = outputs_error(outputs, bench->outputs, n, &largest);
    return bench->peer == PEER_PLAIN || judge(bench, bench->peer_error, largest, "ONNX Runtime's");
}

static bool measure_peak(struct bench *bench)
{
    struct worker *worker = bench->own.worker;
    double answer[2]; /* seconds, operations */

    if (!bench->peak_rounds) {
        const long few = 10000;

        if (!worker_ask_numbers(worker, 2, answer, "peak %ld", few) ||
            !worker_ask_numbers(worker, 2, answer, "peak %ld", few))
            return false;
        bench->peak_rounds = few + (long)((double)few * PEAK_SECONDS / fmax(answer[0], 1e-6));
    }
    if (!worker_ask_numbers(worker, 2, answer, "peak %ld", bench->peak_rounds))
        return false;
    series_add(&bench->peak, answer[1] / fmax(answer[0], 1e-9));
    return true;
}

static bool measure_regions(void *user, double block_seconds)
{
    struct bench *bench = user;
    const struct contender *own = &bench->contenders[OWN];
    const int n = bench->own.code.result.n_regions;
    const double one = own->warm.at[own->warm.n - 1];
    const int sweeps = (int)fmin(MOST_SWEEPS, ceil(block_seconds / fmax(one, 1e-9)));
    double *seconds = arena_array(&bench->driver->ctx->scratch, double, n);

    for (int sweep = 0; sweep < sweeps; sweep++) {
        if (!worker_ask_numbers(bench->stepping.worker, n, seconds, "sweep %d", n))
            return false;
        for (int i = 0; i < n; i++)
            series_add(&bench->regions[i], seconds[i]);
    }
    return measure_peak(bench);
}

static bool measure(struct bench *bench)
{
    struct ctx *ctx = bench->driver->ctx;

    bench->regions = arena_array(&ctx->perm, struct series, bench->own.code.result.n_regions);
    for (int i = 0; i < bench->own.code.result.n_regions; i++)
        bench->regions[i].arena = &ctx->perm;
    bench->peak.arena = &ctx->perm;
    bench->rounds.contenders = bench->contenders;
    bench->rounds.n_contenders = bench->peer == PEER_NONE ? 1 : 2;
    bench->rounds.block_seconds = BLOCK_SECONDS;
    bench->rounds.between = bench->sized ? NULL : measure_regions;
    bench->rounds.user = bench;
    return rounds_run(ctx, &bench->rounds);
}

static bool check_all_options(struct bench *bench)
{
    struct driver_state *driver = bench->driver;
    bool ok = parse_options(bench);

    ok = prepare_machine(driver) && ok;
    if (!prepare_offload(driver) || !ok)
        return false;
    if (!bench->cflags)
        bench->cflags = bench_default_flags(driver);
    return true;
}

/* All sizes share the time. */
static bool check_sized_options(struct bench *bench)
{
    if (!check_all_options(bench))
        return false;
    bench->rounds.seconds /= bench->sized->variants->n;
    if (bench->peer != PEER_PLAIN)
        return true;
    diag_error(bench->driver->ctx, DIAG_USAGE, NULL,
               "--vs plain: not with dimensions that are known at run time only (--vary)");
    diag_help(bench->driver->ctx, "--shape NAME=VALUE compares one size");
    return false;
}

static bool load(struct bench *bench)
{
    struct driver_state *driver = bench->driver;

    bench->own.module = load_model(driver);
    if (!bench->own.module)
        return false;
    return !driver->is_json_graph || bench->peer == PEER_NONE || bench->peer == PEER_ENGINE ||
           diag_error(driver->ctx, DIAG_USAGE, NULL, "--vs %s needs an ONNX model",
                      option_text(&driver->args, OPTION_VS, ""));
}

static bool read_inputs(struct bench *bench)
{
    if (!load_inputs(bench->driver, bench->own.module->main, &bench->own.inputs))
        return false;
    keep_interface(bench);
    return true;
}

static bool simplify_to_fuse(struct bench *bench)
{
    struct program *own = &bench->own;

    if (!run_passes(bench->driver, own->module))
        return false;
    fit_inputs(bench->driver, own->module->main, own->inputs);
    if (bench->tolerance < 0 && !is_quantised(own->module) && !precision_wanted(bench->driver))
        bench->tolerance = DEFAULT_TOLERANCE;
    return true;
}

static bool build_programs(struct bench *bench)
{
    struct program *own = &bench->own, *stepping = &bench->stepping;

    stepping->module = own->module;
    stepping->inputs = own->inputs;
    stepping->step = true;
    return program_build(bench, own, NULL) && program_build(bench, stepping, own) &&
           bench_build_peer(bench);
}

/* The program of the first size is that of all. */
static bool build_sized(struct bench *bench)
{
    if (bench->own.path)
        return bench_build_peer(bench);
    return program_build_sized(bench, &bench->own) && bench_build_peer(bench);
}

static bool start_programs(struct bench *bench)
{
    bench->core = bind_to_core(); /* compilers may use all of them */
    engine_use_one_core();
    if (!program_start(bench, &bench->own) ||
        (!bench->sized && !program_start(bench, &bench->stepping)) || !bench_start_peer(bench))
        return false;
    bench->contenders[OWN].worker = bench->own.worker;
    return true;
}

bool driver_bench(struct driver_state *driver, struct bench *out)
{
    static bool (*const stages[])(struct bench *) = {
        check_all_options, /* all options */
        load,              /* the model */
        read_inputs,       /* --input, or random numbers */
        simplify_to_fuse,  /* the stages of driver.c */
        build_programs,    /* the C, whole and region by region; --vs */
        start_programs,    /* on one core */
        check_own,         /* their outputs: oneDNN's */
        check_peer,        /* those of --vs */
        measure,           /* rounds */
    };
    bool ok = true;

    *out = (struct bench){ .driver = driver };
    for (size_t i = 0; i < sizeof stages / sizeof *stages && ok; i++)
        ok = stages[i](out);
    return ok;
}

bool driver_bench_size(struct driver_state *driver, const struct sized_code *code, int size,
                       const struct bench *first, struct bench *out)
{
    static bool (*const stages[])(struct bench *) = {
        check_sized_options, load,      read_inputs, simplify_to_fuse, build_sized,
        start_programs,      check_own, check_peer,  measure,
    };
    bool ok = true;

    *out = (struct bench){ .driver = driver, .sized = code, .size = size };
    if (first) {
        out->own.code = first->own.code;
        out->own.path = first->own.path;
        out->own.size = first->own.size;
        out->own.borrows = true;
        out->compile_seconds = first->compile_seconds;
    }
    for (size_t i = 0; i < sizeof stages / sizeof *stages && ok; i++)
        ok = stages[i](out);
    return ok;
}

void driver_bench_free(struct bench *bench)
{
    if (bench->peer == PEER_ONNXRUNTIME)
        worker_stop(bench->contenders[PEER].worker);
    engine_free(bench->engine);
    program_free(&bench->plain);
    program_free(&bench->stepping);
    program_free(&bench->own);
    bench_free_harness(bench);
    module_free(bench->plain.module);
    module_free(bench->own.module);
}
