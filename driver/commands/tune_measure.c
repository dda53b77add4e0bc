/* tune_measure.c - a region's variants: generated, built, checked against the usual code, and timed
 * beside it. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "driver/commands/tensor_error.h"
#include "driver/commands/tune.h"
#include "codegen_c/select/signature.h"
#include "relay_ir/ops/run_time.h"
#include "runtime/engine/host_compile.h"
#include "tune/extract.h"

enum { TRIAL_ROUNDS = 7, CONFIRM_ROUNDS = 15, TRIAL_COLD = 3, CONFIRM_COLD = 9 };

/* What is so slow when warm is not run cold: that takes most of the time. */
#define NO_WINNER 1.05

#define TRIAL_SECONDS 0.006 /* of a block of runs */
#define CONFIRM_SECONDS 0.02

/* --- inputs and outputs ----------------------------------------------------------------------- */

/* All of a small type's numbers occur, and none of a float is so large that sums overflow. */
static void fill(struct tensor *tensor, uint32_t *state)
{
    const enum dtype dtype = tensor->type.dtype;
    const int64_t n = type_elements(&tensor->type);

    for (int64_t i = 0; i < n; i++) {
        double unit;

        *state = *state * 1664525u + 1013904223u;
        unit = (double)(*state >> 8) * 0x1p-24;
        if (dtype_is_float(dtype))
            dtype_store(dtype, tensor->data, i, 2 * unit - 1);
        else
            dtype_store_int(dtype, tensor->data, i,
                            dtype == DTYPE_BOOL       ? unit < 0.5
                            : dtype_bytes(dtype) == 1 ? (int64_t)(unit * 100)
                                                      : (int64_t)(unit * 10));
    }
}

static void make_inputs(struct tuner *tuner, struct program *program)
{
    struct arena *arena = &tuner->driver->ctx->perm;
    const struct function *fn = program->module->main;
    uint32_t state = 1;

    program->inputs = arena_array(arena, struct tensor, fn->n_params);
    for (int i = 0; i < fn->n_params; i++) {
        program->inputs[i] = tensor_new(&tuner->driver->bulk, &fn->params[i]->type);
        fill(&program->inputs[i], &state);
        (void)run_time_example(fn->params[i], &program->inputs[i]);
    }
}

static bool fetch(struct tuner *tuner, struct worker *worker, struct tensor *outputs)
{
    const struct function *fn = tuner->bench.own.module->main;
    struct type *types = arena_array(&tuner->driver->ctx->perm, struct type, fn->ret->n_inputs);

    for (int i = 0; i < fn->ret->n_inputs; i++)
        types[i] = fn->ret->inputs[i]->type;
    return bench_fetch_outputs(&tuner->bench, worker, types, outputs);
}

/* Between the outputs of two quantised values that add in another order; a code of a small type may
 * be the next. */
static double allowed(const struct tuner *tuner, enum dtype dtype)
{
    return dtype == DTYPE_F32 || dtype == DTYPE_F64 ? tuner->tolerance
           : dtype_bytes(dtype) == 1                ? 0.15
                                                    : fmax(tuner->tolerance, 0.01);
}

/* Gives back the outputs of a variant. */
static void forget_outputs(struct tuner *tuner)
{
    const struct bench *bench = &tuner->bench;
    const struct function *fn = bench->own.module->main;
    const void **kept =
        arena_array(&tuner->driver->ctx->perm, const void *, fn->n_params + fn->ret->n_inputs);
    size_t n = 0;

    for (int i = 0; i < fn->n_params; i++)
        kept[n++] = bench->own.inputs[i].data;
    for (int i = 0; i < fn->ret->n_inputs; i++)
        kept[n++] = bench->outputs[i].data;
    bulk_keep(&tuner->driver->bulk, kept, n);
}

static bool same_outputs(struct tuner *tuner, struct worker *worker, double *error)
{
    const int n = tuner->bench.own.module->main->ret->n_inputs;
    struct tensor *found = arena_array(&tuner->driver->ctx->perm, struct tensor, n);
    const struct tensor *wanted = tuner->bench.outputs;
    bool same = true;

    *error = 0;
    if (!fetch(tuner, worker, found))
        return false;
    for (int i = 0; i < n; i++) {
        const double e = relative_error(&wanted[i], largest_magnitude(&wanted[i]), &found[i]);

        same = same && e <= allowed(tuner, wanted[i].type.dtype);
        *error = isnan(e) ? INFINITY : fmax(*error, e);
    }
    forget_outputs(tuner);
    return same;
}

/* --- the usual code --------------------------------------------------------------------------- */

bool tuner_begin_region(struct tuner *tuner)
{
    struct program *own = &tuner->bench.own;
    const struct function *fn = tuner->current->region->call->callee;
    static const struct choices none;

    *own = (struct program){ .module = region_extract(tuner->driver->ctx, fn), .choices = &none };
    if (!own->module)
        return false;
    make_inputs(tuner, own);
    tuner->bench.outputs = arena_array(&tuner->driver->ctx->perm, struct tensor, fn->ret->n_inputs);
    return program_build(&tuner->bench, own, NULL) && program_start(&tuner->bench, own) &&
           fetch(tuner, own->worker, tuner->bench.outputs);
}

void tuner_end_region(struct tuner *tuner)
{
    struct program *own = &tuner->bench.own;

    program_free(own);
    module_free(own->module);
    bulk_release(&tuner->driver->bulk);
    *own = (struct program){ .module = NULL };
}

/* --- variants --------------------------------------------------------------------------------- */

static struct choices *choices_of(struct tuner *tuner, const struct choice *choice)
{
    struct arena *arena = &tuner->driver->ctx->perm;
    struct choices *choices = arena_new(arena, struct choices);

    choices->by_signature = (struct map){ .arena = arena };
    map_set(&choices->by_signature, tuner->current->region->signature,
            arena_memdup(arena, choice, sizeof *choice));
    return choices;
}

const struct knob_range *tuner_knobs(void *user, const struct choice *choice)
{
    struct tuner *tuner = user;
    struct driver_state *driver = tuner->driver;
    struct codegen_options options = driver_codegen_options(driver);
    struct module *module = region_extract(driver->ctx, tuner->current->region->call->callee);
    struct codegen_result result = { 0 };
    bool ok;

    options.name = "model";
    options.choices = choices_of(tuner, choice);
    ok = module && codegen_sizes(module, &options, &result);
    module_free(module);
    return ok ? result.regions[0].knobs : NULL;
}

static void summarise_rounds(const struct contender *contenders, struct trial *trial)
{
    const struct contender *variant = &contenders[0], *usual = &contenders[1];

    trial->warm = summarise(&variant->warm).median;
    trial->usual_warm = summarise(&usual->warm).median;
    trial->warm_ratio = summarise_ratio(&variant->warm, &usual->warm).median;
    trial->cold = summarise(&variant->cold_runs).median;
    trial->usual_cold = summarise(&usual->cold_runs).median;
    trial->cold_ratio = summarise_ratio(&variant->cold_runs, &usual->cold_runs).median;
}

static bool time_variant(struct tuner *tuner, struct program *program, struct trial *trial)
{
    struct contender contenders[2] = { { .worker = program->worker },
                                       { .worker = tuner->bench.own.worker } };
    struct rounds rounds = { .contenders = contenders,
                             .n_contenders = 2,
                             .repeat = trial->confirmed ? CONFIRM_ROUNDS : TRIAL_ROUNDS,
                             .block_seconds = trial->confirmed ? CONFIRM_SECONDS : TRIAL_SECONDS,
                             .no_cold = true };

    if (!rounds_run(tuner->driver->ctx, &rounds))
        return false;
    summarise_rounds(contenders, trial);
    if (!tuner->cold || trial->warm_ratio > NO_WINNER)
        return true;
    if (!rounds_run_cold(&rounds, trial->confirmed ? CONFIRM_COLD : TRIAL_COLD))
        return false;
    summarise_rounds(contenders, trial);
    return true;
}

/* The first line of what went wrong; the diagnostics are the log's business, not the user's. */
static const char *take_reason(struct tuner *tuner)
{
    struct ctx *ctx = tuner->driver->ctx;
    const struct diag *first = ctx->diags.first;

    return first ? str_safe(&ctx->perm, first->message, 300) : "unknown";
}

static bool measure(struct tuner *tuner, struct program *program, struct trial *trial)
{
    struct bench *bench = &tuner->bench;
    const struct choices *choices = choices_of(tuner, &trial->choice);

    *program = (struct program){ .module = bench->own.module,
                                 .inputs = bench->own.inputs,
                                 .choices = choices };
    if (!program_build(bench, program, &bench->own) || !program_start(bench, program))
        return false;
    trial->verdict = VERDICT_OK;
    trial->kernel = program->code.result.regions[0].kernel;
    trial->features = *program->code.result.regions[0].features;
    if (!same_outputs(tuner, program->worker, &trial->error)) {
        trial->verdict = VERDICT_WRONG;
        return tuner->driver->ctx->diags.n_errors == 0;
    }
    return time_variant(tuner, program, trial);
}

/* Whether the usual code is still there: else the fault is not the variant's. */
static bool usual_is_alive(struct tuner *tuner)
{
    return worker_ask(tuner->bench.own.worker, "run 1") != NULL;
}

/* False after an error that is not the variant's. */
static bool run_trial(struct tuner *tuner, struct trial *trial)
{
    struct ctx *ctx = tuner->driver->ctx;
    struct program program = { .module = NULL };
    struct diags before = diag_save(ctx);
    bool ok = measure(tuner, &program, trial);

    if (!ok) {
        trial->verdict = VERDICT_FAILED;
        trial->reason = take_reason(tuner);
    }
    if (isinf(trial->error)) /* JSON has no infinity */
        trial->error = 1e30;
    program_free(&program);
    diag_restore(ctx, before);
    ok = ok || usual_is_alive(tuner);
    tune_log_add(ctx, &tuner->log, trial);
    return tune_file_append(tuner->file, trial) && ok;
}

static struct trial trial_of(const struct tuner *tuner, const struct choice *choice, bool confirmed)
{
    return (struct trial){ .key = tuner->key,
                           .region = tuner->current->region->signature,
                           .choice = *choice,
                           .kernel = "",
                           .confirmed = confirmed,
                           .reason = "" };
}

static void count(struct tuner *tuner, const struct trial *trial)
{
    tuner->current->n_trials++;
    tuner->current->n_failed += trial->verdict == VERDICT_FAILED;
    tuner->current->n_wrong += trial->verdict == VERDICT_WRONG;
    tuner->trials_done++;
    if (tuner->trials_done < tuner->trials_expected)
        driver_progress(tuner->driver, tuner->current->title, tuner->trials_done,
                        tuner->trials_expected);
}

bool tuner_try(void *user, const struct choice *choice, double *score)
{
    struct tuner *tuner = user;
    const struct trial *known =
        tune_log_find(&tuner->log, &tuner->key, tuner->current->region->signature, choice, false);
    struct trial trial = trial_of(tuner, choice, false);

    if (!known && wall_seconds() >= tuner->deadline)
        return false;
    if (!known && !run_trial(tuner, &trial))
        return false;
    if (known)
        trial = *known;
    *score = trial.verdict == VERDICT_OK ? trial_score(&trial) : INFINITY;
    count(tuner, &trial);
    return true;
}

bool tuner_confirm(struct tuner *tuner, const struct choice *choice, struct trial *trial)
{
    struct program *own = &tuner->bench.own;
    const struct trial *known =
        tune_log_find(&tuner->log, &tuner->key, tuner->current->region->signature, choice, true);

    *trial = known ? *known : trial_of(tuner, choice, true);
    if (known)
        return true;
    worker_stop(own->worker);
    own->worker = NULL;
    return program_start(&tuner->bench, own) && run_trial(tuner, trial);
}

/* --- the key ---------------------------------------------------------------------------------- */

const char *tuner_compiler(struct tuner *tuner)
{
    struct driver_state *driver = tuner->driver;
    struct host_code folder;
    struct host_compile job = { .compiler = tuner->bench.compiler,
                                .mode = "--version",
                                .flags = "" };
    const char *line = NULL;
    struct mapping said;

    if (!host_code_folder(driver, &folder))
        return NULL;
    job.include_dir = folder.dir;
    job.output = host_code_path(driver, &folder, "version");
    host_code_path(driver, &folder, "version.log");
    if (host_compile(driver->ctx, &job) &&
        file_map(driver->ctx, arena_printf(&driver->ctx->perm, "%s.log", job.output), &said)) {
        const char *text = (const char *)said.data;
        const char *end = memchr(text, '\n', said.size);

        line = arena_strndup(&driver->ctx->perm, text, end ? (size_t)(end - text) : said.size);
        line = str_safe(&driver->ctx->perm, line, 120);
        file_unmap(&said);
    }
    host_code_free(&folder);
    return line;
}
