/* examine.c - one case through all stages but the last. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "driver/driver.h"
#include "relay_ir/interpret.h"
#include "runtime/engine/engine.h"
#include "simulate/simulate.h"
#include "tests/conformance/conformance.h"

const char *const stage_names[N_STAGES] = { "import", "passes", "engine", "c", "bits" };

/* A case under examination. */
struct examination {
    const struct settings *settings;
    const struct test_case *test;
    struct report *report;
    struct ctx *ctx;
    struct bulk bulk;
    struct module *module;
    struct driver_state driver; /* of its compilation */
};

static void fail(struct examination *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void fail(struct examination *e, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report_fail(e->report, e->report->stage, arena_vprintf(&e->ctx->perm, format, args));
    va_end(args);
}

/* Whether every error says "not supported"; then the first one is the reason. */
static bool is_unsupported(const struct examination *e, const struct diag **first)
{
    *first = NULL;
    for (const struct diag *d = e->ctx->diags.first; d; d = d->next) {
        if (d->severity != DIAG_ERROR)
            continue;
        if (!*first)
            *first = d;
        if (d->code != DIAG_UNSUPPORTED_OP && d->code != DIAG_UNSUPPORTED_FORM &&
            d->code != DIAG_UNSUPPORTED_TYPE && d->code != DIAG_UNSUPPORTED_DYNAMIC &&
            d->code != DIAG_NO_KERNEL && (d->code != DIAG_UNBOUND_DIM || !e->report->broken_data)) {
            *first = d;
            return false;
        }
    }
    return *first != NULL;
}

/* The verdict on a phase that reported errors. */
static void judge_errors(struct examination *e)
{
    struct report *report = e->report;
    const struct diag *d;
    const bool unsupported = is_unsupported(e, &d);
    const char *op = d && d->origin ? str_safe(&e->ctx->perm, d->origin->op_type, 40) : "model";

    if (!d) {
        fail(e, "failed without saying why");
        return;
    }
    fail(e, "%s: %s", op, d->message);
    if (!unsupported)
        return;
    report->verdict = VERDICT_UNSUPPORTED;
    snprintf(report->key, sizeof report->key, "%s: %s", op, diag_title(d->code));
}

/* All data sets through one executor. */
typedef bool executor(struct examination *e, const struct tensor *inputs, struct tensor *outputs,
                      void *user);

static bool by_interpreter(struct examination *e, const struct tensor *inputs,
                           struct tensor *outputs, void *user)
{
    (void)user;
    return interpret(e->ctx, e->module->main, inputs, outputs, &e->bulk, NULL);
}

/* What the bits of generated C must be, for the stage behind. */
static bool by_simulation(struct examination *e, const struct tensor *inputs,
                          struct tensor *outputs, void *user)
{
    int *index = user;
    bool ok = simulate(e->ctx, e->module->main, NULL, inputs, outputs, &e->bulk, NULL);

    for (int i = 0; ok && i < e->module->main->ret->n_inputs; i++)
        ok = simulated_write(e->ctx, e->test, *index, i, &outputs[i]);
    ++*index;
    return ok;
}

static bool by_engine(struct examination *e, const struct tensor *inputs, struct tensor *outputs,
                      void *user)
{
    (void)e;
    return engine_run(user, inputs, outputs, &e->bulk, NULL);
}

static bool check_outputs(struct examination *e, int index, const struct data_set *set,
                          const struct tensor *outputs)
{
    const char *why;

    for (int i = 0; i < set->n_outputs; i++)
        if (!tensor_agrees(e->ctx, e->report->stage, &set->outputs[i], &outputs[i], &why)) {
            fail(e, "output %d of data set %d %s", i, index, why);
            return false;
        }
    return true;
}

static bool run_sets(struct examination *e, executor *execute, void *user)
{
    const int n_outputs = e->module->main->ret->n_inputs;
    struct tensor *outputs = arena_array(&e->ctx->perm, struct tensor, n_outputs);
    struct data_set set;
    bool broken;

    for (int i = 0; data_set_read(e->ctx, e->test, i, &e->bulk, &set, &broken); i++) {
        data_set_freeze(&set, e->report->frozen);
        data_set_adapt(&set, e->module->main);
        if (broken || set.n_inputs != e->report->n_params || set.n_outputs != n_outputs) {
            fail(e, "data set %d has %d inputs and %d outputs, the graph %d and %d", i,
                 set.n_inputs, set.n_outputs, e->report->n_params, n_outputs);
            return false;
        }
        if (!interpret_check_inputs(e->ctx, e->module->main, set.n_inputs, set.inputs) ||
            !execute(e, set.inputs, outputs, user)) {
            judge_errors(e);
            return false;
        }
        if (!check_outputs(e, i, &set, outputs))
            return false;
    }
    return true;
}

static bool stage_import(struct examination *e)
{
    struct data_set set;
    bool broken;

    e->report->stage = STAGE_IMPORT;
    if (!data_set_read(e->ctx, e->test, 0, &e->bulk, &set, &broken)) {
        fail(e, "there is no data set");
        return false;
    }
    e->report->broken_data = broken;
    if (broken) { /* strings, sequences: the import says what is not supported */
        memset(&set, 0, sizeof set);
        diag_restore(e->ctx, (struct diags){ .input_name = e->test->name });
    }
    e->module = model_import(e->ctx, e->test, &set, e->settings->as_is, &e->report->frozen);
    if (!e->module) {
        judge_errors(e);
        return false;
    }
    e->report->n_params = e->module->main->n_params;
    return !e->settings->stages[STAGE_IMPORT] || run_sets(e, by_interpreter, NULL);
}

static bool stage_passes(struct examination *e)
{
    struct driver_state *driver = &e->driver;

    e->report->stage = STAGE_PASSES;
    *driver = driver_begin(e->ctx, COMMAND_COMPILE);
    driver_give(driver, OPTION_NAME, e->test->c_name);
    driver_give(driver, OPTION_OUTPUT_DIR, e->test->work);
    driver_give(driver, OPTION_CHECK_PASSES, "");
    driver_give(driver, OPTION_WINOGRAD, "auto");
    driver_take(driver, e->module);
    if (!driver_prepare(driver) || !driver_run(driver, STAGE_FUSE)) {
        judge_errors(e);
        return false;
    }
    return !e->settings->stages[STAGE_PASSES] || run_sets(e, by_interpreter, NULL);
}

static bool stage_engine(struct examination *e)
{
    struct engine *engine;
    bool ok;

    if (!e->settings->stages[STAGE_ENGINE])
        return true;
    e->report->stage = STAGE_ENGINE;
    engine = engine_new(e->ctx, e->module->main);
    if (!engine) {
        judge_errors(e);
        return false;
    }
    ok = run_sets(e, by_engine, engine);
    engine_free(engine);
    return ok;
}

static bool stage_generate(struct examination *e)
{
    struct output_set files = { .ctx = e->ctx };
    const struct function *main_fn = e->module->main;
    int index = 0;

    if (!e->settings->stages[STAGE_C] && !e->settings->stages[STAGE_BITS])
        return true;
    e->report->stage = STAGE_C;
    mkdir(e->test->work, 0777);
    e->driver.outputs = &files;
    if (!driver_run(&e->driver, STAGE_PRINT) || !output_commit(&files) ||
        !case_adapter_write(e->ctx, e->test, main_fn->n_params, main_fn->ret->n_inputs)) {
        output_abort(&files);
        judge_errors(e);
        return false;
    }
    for (int i = 0; i < main_fn->ret->n_inputs; i++)
        if (main_fn->ret->inputs[i]->type.dtype == DTYPE_BF16)
            e->report->bf16_outputs |= (uint64_t)1 << i;
    e->report->simulated =
        e->settings->stages[STAGE_BITS] && !simulate_exception(&e->driver.result);
    if (e->report->simulated && !run_sets(e, by_simulation, &index))
        return false;
    e->report->has_c = true;
    return true;
}

/* One attempt; *frozen_more are inputs that must be constants for another one to get further. */
static void attempt(const struct settings *settings, const struct test_case *test,
                    uint64_t *frozen_more)
{
    struct examination e = { .settings = settings, .test = test, .report = test->report };

    e.ctx = ctx_new(test->name);
    *frozen_more = 0;
    if (stage_import(&e) && stage_passes(&e) && stage_engine(&e) && stage_generate(&e)) {
        e.report->verdict = VERDICT_PASS;
        e.report->reason[0] = '\0';
    } else if (e.report->stage == STAGE_C && e.report->verdict == VERDICT_UNSUPPORTED) {
        *frozen_more = model_operands_of_refused(e.ctx, test) & ~e.report->frozen;
    }
    module_free(e.module);
    driver_free(&e.driver);
    bulk_release(&e.bulk);
    ctx_free(e.ctx);
}

void examine(const struct settings *settings, const struct test_case *test)
{
    uint64_t frozen_more;

    attempt(settings, test, &frozen_more);
    if (!frozen_more || settings->as_is)
        return;
    test->report->frozen |= frozen_more;
    attempt(settings, test, &frozen_more);
}
