#include "bench/accuracy/evaluate.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/file.h"
#include "driver/host_code.h"
#include "eval/rank.h"
#include "quantize/workers.h"
#include "runtime/engine/engine.h"

enum { TOP = 5 };

struct run {
    struct function *fn;
    const struct dataset *dataset;
    struct score *score;
    atomic_llong next;
};

struct runner {
    struct run *run;
    struct ctx *ctx;
    struct engine *engine;
    struct generated *generated;
    int n_runners; /* that stand from here on */
    bool failed;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- one sample ------------------------------------------------------------------------------- */

static double squared_error(const struct tensor *result, const float *wanted)
{
    const int64_t n = type_elements(&result->type);
    double sum = 0;

    for (int64_t i = 0; i < n; i++) {
        const double difference = tensor_at(result, i) - (double)wanted[i];

        sum += difference * difference;
    }
    return sum / (double)n;
}

static bool count(struct runner *runner, int64_t i, const struct tensor *result,
                  const float *sample)
{
    const struct run *run = runner->run;
    const int label = run->dataset->labels[i];

    if (label < 0) {
        if (type_elements(&result->type) != type_elements(&run->dataset->type))
            return diag_error(runner->ctx, DIAG_INPUT_MISMATCH, NULL,
                              "a network without labels must give back what it gets");
        run->score->errors[i] = squared_error(result, sample);
        return true;
    }
    if (label >= type_elements(&result->type))
        return diag_error(runner->ctx, DIAG_INPUT_MISMATCH, NULL,
                          "the label %d is beyond the network's %lld classes", label,
                          (long long)type_elements(&result->type));
    run->score->class[i] = result_class(result);
    run->score->right[i] = run->score->class[i] == label;
    run->score->right5[i] = result_rank(result, label) < TOP;
    return true;
}

/* On the engine, or, where there is none, by the generated code. */
static bool run_network(struct runner *runner, const struct tensor *input, struct tensor *outputs,
                        struct bulk *bulk)
{
    return runner->engine ? engine_run(runner->engine, input, outputs, bulk, NULL)
                          : generated_run(runner->generated, input, outputs, bulk);
}

static bool run_one(struct runner *runner, int64_t i)
{
    const struct dataset *dataset = runner->run->dataset;
    const float *sample = dataset->samples + i * type_elements(&dataset->type);
    const struct tensor input = { dataset->type, (void *)(uintptr_t)sample };
    struct tensor *outputs;
    struct bulk bulk = { 0 };
    bool ok;

    outputs = arena_array(&runner->ctx->scratch, struct tensor, runner->run->fn->ret->n_inputs);
    ok = run_network(runner, &input, outputs, &bulk) && count(runner, i, &outputs[0], sample);
    bulk_release(&bulk);
    arena_release(&runner->ctx->scratch);
    return ok;
}

/* --- threads ---------------------------------------------------------------------------------- */

/* By one thread, as it numbers the function's values; with the setting that all will have. */
static void make_engines(void *user)
{
    struct runner *runners = user;

    for (int i = 0; i < runners->n_runners; i++) {
        runners[i].engine = engine_new(runners[i].ctx, runners->run->fn);
        runners[i].failed = !runners[i].engine;
    }
}

static void run_some(void *user)
{
    struct runner *runner = user;
    int64_t i;

    while (!runner->failed && (i = atomic_fetch_add(&runner->run->next, 1)) < runner->run->score->n)
        runner->failed = !run_one(runner, i);
}

static bool all_well(struct ctx *ctx, const struct runner *runners, int n)
{
    bool ok = true;

    for (int i = 0; i < n; i++) {
        workers_report(ctx, runners[i].ctx, NULL);
        ok &= !runners[i].failed;
    }
    return ok;
}

struct score score_head(const struct score *score, int64_t n)
{
    struct score head = *score;

    head.n = n;
    head.n_right = head.n_right5 = 0;
    head.error = 0;
    for (int64_t i = 0; i < n; i++) {
        head.n_right += score->right[i];
        head.n_right5 += score->right5[i];
        head.error += score->errors[i] / (double)n;
    }
    return head;
}

static void score_begin(struct ctx *ctx, int64_t n, struct score *out)
{
    *out = (struct score){ .n = n };
    out->class = arena_array(&ctx->perm, int, n);
    out->right = arena_array(&ctx->perm, bool, n);
    out->right5 = arena_array(&ctx->perm, bool, n);
    out->errors = arena_array(&ctx->perm, double, n);
}

bool evaluate(struct ctx *ctx, struct function *fn, const struct dataset *dataset, int64_t n,
              int n_threads, struct score *out)
{
    struct run run = { .fn = fn, .dataset = dataset, .score = out };
    struct runner *runners = arena_array(&ctx->scratch, struct runner, n_threads);
    bool ok;

    if (fn->n_params != 1)
        return diag_error(ctx, DIAG_INPUT_MISMATCH, NULL, "the network has %d inputs, wanted is 1",
                          fn->n_params);
    score_begin(ctx, n, out);
    for (int i = 0; i < n_threads; i++)
        runners[i] = (struct runner){ .run = &run,
                                      .ctx = ctx_new(ctx->diags.input_name),
                                      .n_runners = n_threads - i };
    ok = workers_run(ctx, runners, sizeof *runners, 1, make_engines) &&
         all_well(ctx, runners, n_threads);
    if (ok) {
        const double start = now();

        ok = workers_run(ctx, runners, sizeof *runners, n_threads, run_some) &&
             all_well(ctx, runners, n_threads);
        out->seconds = now() - start;
    }
    for (int i = 0; i < n_threads; i++) {
        engine_free(runners[i].engine);
        ctx_free(runners[i].ctx);
    }
    if (ok)
        *out = score_head(out, n);
    return ok;
}

/* --- generated C ------------------------------------------------------------------------------ */

/* The C for this machine, built and loaded. */
static bool build_generated(struct ctx *ctx, struct module *module, struct host_code *code)
{
    struct driver_state driver = driver_begin(ctx, COMMAND_EVAL);

    driver_give(&driver, OPTION_TARGET, "host");
    *code = (struct host_code){ .dir = NULL };
    return prepare_machine(&driver) && host_code_build(&driver, module, false, code);
}

/* By callers of their own on as many threads, each sample by the first that is free. */
static bool run_generated(struct ctx *ctx, struct run *run, const struct generated *generated,
                          int n_threads, double *seconds)
{
    struct runner *runners = arena_array(&ctx->scratch, struct runner, n_threads);
    double start;
    bool ok;

    for (int i = 0; i < n_threads; i++) {
        runners[i] = (struct runner){ .run = run, .ctx = ctx_new(ctx->diags.input_name) };
        runners[i].generated = generated_again(runners[i].ctx, generated);
    }
    start = now();
    ok = workers_run(ctx, runners, sizeof *runners, n_threads, run_some) &&
         all_well(ctx, runners, n_threads);
    *seconds = now() - start;
    for (int i = 0; i < n_threads; i++) {
        generated_free(runners[i].generated);
        ctx_free(runners[i].ctx);
    }
    return ok;
}

bool evaluate_generated(struct ctx *ctx, struct module *module, const struct dataset *dataset,
                        int64_t n, int n_threads, struct score *out)
{
    struct run run = { .fn = module->main, .dataset = dataset, .score = out };
    struct host_code code;
    bool ok;

    if (module->main->n_params != 1)
        return diag_error(ctx, DIAG_INPUT_MISMATCH, NULL, "the network has %d inputs, wanted is 1",
                          module->main->n_params);
    score_begin(ctx, n, out);
    ok = build_generated(ctx, module, &code) &&
         run_generated(ctx, &run, code.generated, n_threads, &out->seconds);
    host_code_free(&code);
    if (ok)
        *out = score_head(out, n);
    return ok;
}

/* --- comparison ------------------------------------------------------------------------------- */

struct comparison score_compare(const struct score *f32, const struct score *other)
{
    const double n = (double)f32->n;
    struct comparison c = { .n_agree = 0 };
    double mean;

    for (int64_t i = 0; i < f32->n; i++) {
        c.n_agree += f32->class[i] == other->class[i];
        c.n_lost += f32->right[i] && !other->right[i];
        c.n_won += !f32->right[i] && other->right[i];
    }
    mean = (double)(c.n_won - c.n_lost) / n;
    c.points = 100 * mean;
    c.points_error = 100 * sqrt(((double)(c.n_won + c.n_lost) / n - mean * mean) / n);
    return c;
}
