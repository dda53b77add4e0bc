/* validate.c - see validate.h. */
#include "relay_ir/validate/validate.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/str.h"
#include "relay_ir/ops/run_time.h"
#include "relay_ir/validate/cost.h"
#include "relay_ir/validate/difference.h"
#include "relay_ir/validate/inputs.h"
#include "relay_ir/validate/nan_as_zero.h"
#include "relay_ir/validate/noise.h"
#include "relay_ir/validate/quantised.h"
#include "relay_ir/validate/trace.h"

enum {
    MOST_SAMPLES = 3,
    N_NOISE_RUNS = 2,
    MORE_NOISE_RUNS = 24, /* before a difference is called a mistake */
    MOST_NODES = 2000,    /* of a network that is checked unasked */
    MOST_NODES_EVER =
        1000000,       /* that are run, calls written out; more are for the passes to refuse */
    KEPT = 2,          /* traces of each set of inputs: before a step, and after it */
    NOISE_FACTOR = 16, /* results may differ by this multiple of their noise; */
    STEPS_FACTOR = 4   /* this multiple if noise moves most quantised values */
};
#define BIG_NETWORK                                                                                \
    100e6 /* multiply-accumulates and elements, above which one set of inputs is enough */
#define MOST_KEPT_BYTES 256e6 /* by all traces, of a network that is checked unasked */
#define FREE_ROUNDING 4e-6 /* of the largest number of a result: as far as rounding always goes */
#define NOISY 0.1 /* noise by the largest number of a result, above which little is judged */

/* One set of inputs, and what the network made of it after the last step. */
struct sample {
    struct bulk bulk;
    struct tensor *given;    /* as the imported parameters take them */
    struct tensor *imported; /* the results before any step */
    struct memory *memory;
    struct trace before;
    struct trace now;
    struct tensor
        *as_zero; /* results before a step that may make integers, NaN as 0; NULL = no NaN */
    struct bulk as_zero_bulk;
    struct tensor *imported_as_zero;    /* likewise those before any step */
    struct tensor *noise[N_NOISE_RUNS]; /* of the step that is being judged; NULL = not run yet */
    struct bulk noise_bulk;
};

struct validation {
    struct arena arena;
    FILE *log;
    uint64_t seed;
    int n_params, n_samples;
    struct sample samples[MOST_SAMPLES];
    int n_steps, n_noisy;
    enum dtype coarsest; /* float type of the imported graph: rounding is its own */
    enum promise least;  /* of all steps so far: what the whole may promise */
    struct snapshot was; /* of the step under way, for changes that are intended */
    struct stated_shift *stated;
};

static bool is_intended(enum promise promise)
{
    return promise >= PROMISE_CODING;
}

bool validation_is_blind(const struct validation *validation)
{
    return validation->n_samples == 0;
}

int validation_n_steps(const struct validation *validation)
{
    return validation->n_steps;
}

int validation_n_noisy(const struct validation *validation)
{
    return validation->n_noisy;
}

/* --- running ---------------------------------------------------------------------------------- */

/* The inputs as the parameters take them now. False when a parameter is not one of the model's. */
static bool fit(const struct validation *v, struct sample *sample, const struct function *fn,
                struct arena *arena, struct bulk *bulk, struct tensor **inputs)
{
    bool ok = fn->n_params == v->n_params;

    *inputs = arena_array(arena, struct tensor, fn->n_params);
    for (int i = 0; i < fn->n_params && ok; i++)
        ok = inputs_fit(bulk, &fn->params[i]->type, &sample->given[i], &(*inputs)[i]);
    return ok;
}

static bool run(const struct validation *v, struct sample *sample, struct module *module,
                struct trace *trace)
{
    struct arena arena = { NULL };
    struct bulk bulk = { NULL, 0 };
    struct seen_tensor *seen;
    struct tensor *inputs;
    bool ok = fit(v, sample, module->main, &arena, &bulk, &inputs);

    seen = arena_array(&arena, struct seen_tensor, v->n_params);
    for (int i = 0; i < v->n_params && ok; i++)
        seen[i] = memory_see(&inputs[i]);
    ok = ok && trace_run(sample->memory, module, seen, trace);
    arena_release(&arena);
    bulk_release(&bulk);
    return ok;
}

/* The results of the graph that sample->before is a run of, with NaN as 0; NULL if it has no NaN. */
static struct tensor *run_as_zero(struct validation *v, struct sample *sample,
                                  struct module *module, struct bulk *bulk)
{
    struct tensor *results, *inputs;
    struct diags saved;
    bool ok;

    if (!trace_has_nan(&sample->before))
        return NULL;
    saved = diag_save(module->ctx);
    results = arena_array(&v->arena, struct tensor, sample->before.n_results);
    ok = fit(v, sample, module->main, &v->arena, bulk, &inputs) &&
         nan_as_zero_run(module, inputs, results, bulk);
    diag_restore(module->ctx, saved);
    return ok ? results : NULL;
}

static void sample_free(struct sample *sample)
{
    bulk_release(&sample->as_zero_bulk);
    bulk_release(&sample->bulk);
    bulk_release(&sample->noise_bulk);
    memory_free(sample->memory);
    trace_free(&sample->before);
    trace_free(&sample->now);
}

/* Inputs of this kind, if the network can be evaluated on them. */
static bool sample_begin(struct validation *v, struct module *module, enum input_kind kind)
{
    struct sample *sample = &v->samples[v->n_samples];
    const struct function *fn = module->main;
    uint64_t state = v->seed + (uint64_t)kind;
    const struct diags saved = diag_save(module->ctx);
    bool ok;

    *sample = (struct sample){ .memory = memory_new() };
    sample->given = arena_array(&v->arena, struct tensor, fn->n_params);
    for (int i = 0; i < fn->n_params; i++) {
        sample->given[i] = tensor_new(&sample->bulk, &fn->params[i]->type);
        inputs_fill(kind, &sample->given[i], &state);
        (void)run_time_example(fn->params[i], &sample->given[i]);
    }
    ok = run(v, sample, module, &sample->before);
    diag_restore(module->ctx, saved);
    if (!ok) {
        sample_free(sample);
        return false;
    }
    sample->imported = arena_array(&v->arena, struct tensor, sample->before.n_results);
    for (int i = 0; i < sample->before.n_results; i++) {
        const struct tensor *result = &sample->before.results[i].tensor;

        sample->imported[i] = tensor_new(&sample->bulk, &result->type);
        memcpy(sample->imported[i].data, result->data, type_bytes(&result->type));
    }
    sample->imported_as_zero = run_as_zero(v, sample, module, &sample->bulk);
    v->n_samples++;
    return true;
}

/* Constants beyond the limit are for the passes to refuse, not for an evaluation to compute.
 * Unasked, what is kept of the values must not be what the compiler needs most memory for. */
static bool is_worth_it(const struct module *module, const struct validation_options *options,
                        const struct cost *cost, int n_samples)
{
    if (cost->constant_bytes > (double)limit_value(module->ctx, LIMIT_CONSTANT_BYTES) ||
        cost->n_nodes > MOST_NODES_EVER)
        return false;
    return !options || options->limit <= 0 ||
           (cost->work <= options->limit && cost->n_nodes <= MOST_NODES &&
            cost->bytes * KEPT * n_samples <= MOST_KEPT_BYTES);
}

struct validation *validation_new(struct module *module, const struct validation_options *options)
{
    struct validation *v = block_alloc(sizeof *v, 0);
    const struct cost cost = network_cost(module);
    int wanted = options ? options->n_inputs : 0;

    v->log = options ? options->log : NULL;
    v->seed = options ? options->seed : 1;
    v->n_params = module->main->n_params;
    v->coarsest = noise_coarsest(module->main);
    if (wanted <= 0)
        wanted = cost.work > BIG_NETWORK ? 1 : MOST_SAMPLES;
    if (!is_worth_it(module, options, &cost, wanted))
        wanted = 0;
    for (int kind = 0; kind < INPUT_KINDS && v->n_samples < wanted; kind++)
        sample_begin(v, module, (enum input_kind)kind);
    if (v->log && validation_is_blind(v))
        fprintf(v->log, "check-passes: no generated inputs can be evaluated\n");
    return v;
}

void validation_free(struct validation *validation)
{
    if (!validation)
        return;
    for (int i = 0; i < validation->n_samples; i++)
        sample_free(&validation->samples[i]);
    snapshot_free(&validation->was);
    arena_release(&validation->arena);
    block_free(validation);
}

/* --- comparing -------------------------------------------------------------------------------- */

/* What the smallest noise on every value moves a result by, at most; infinite where it cannot be
 * told. */
static double noise_of(const struct validation *v, struct sample *sample, struct module *module,
                       int result, enum promise promise)
{
    const struct noise_level level = { promise == PROMISE_CODES ? 0.75 : 1.0 / 64, v->coarsest };
    double most = 0;

    for (int k = 0; k < N_NOISE_RUNS; k++) {
        if (!sample->noise[k]) {
            struct arena arena = { NULL };
            struct tensor *inputs;
            bool ok;

            sample->noise[k] =
                block_alloc(((size_t)sample->now.n_results + 1) * sizeof(struct tensor), 0);
            ok = fit(v, sample, module->main, &arena, &sample->noise_bulk, &inputs) &&
                 noise_run(module, inputs, v->seed + 77u + (uint64_t)k, &level, sample->noise[k],
                           &sample->noise_bulk);
            arena_release(&arena);
            if (!ok)
                return INFINITY;
        }
        most = fmax(
            most,
            difference_of(&sample->noise[k][result], &sample->now.results[result].tensor).most);
    }
    return most;
}

static void forget_noise(struct sample *sample)
{
    for (int k = 0; k < N_NOISE_RUNS; k++) {
        block_free(sample->noise[k]);
        sample->noise[k] = NULL;
    }
    bulk_release(&sample->noise_bulk);
}

static int multiple_of_noise(enum promise promise)
{
    return promise == PROMISE_CODES ? STEPS_FACTOR : NOISE_FACTOR;
}

/* Whether each element that is off by more than `allowed` moves as far in one of many runs with noise:
 * where a number next to a half is rounded, a run in two tells. */
static bool is_moved_by_noise(const struct validation *v, struct sample *sample,
                              struct module *module, int result, const struct tensor *wanted,
                              enum promise promise, double allowed)
{
    const struct noise_level level = { promise == PROMISE_CODES ? 0.75 : 1.0 / 64, v->coarsest };
    const struct tensor *got = &sample->now.results[result].tensor;
    const int64_t n = type_elements(&got->type);
    bool *off = block_alloc((size_t)n + 1, 0);
    int64_t left = 0;

    for (int64_t i = 0; i < n; i++) {
        const double a = tensor_at(got, i), b = tensor_at(wanted, i);

        off[i] = a != b && !(isnan(a) && isnan(b)) && !(fabs(a - b) <= allowed);
        left += off[i];
    }
    for (int k = 0; k < MORE_NOISE_RUNS && left > 0; k++) {
        struct tensor *results =
            block_alloc(((size_t)sample->now.n_results + 1) * sizeof *results, 0);
        struct arena arena = { NULL };
        struct bulk bulk = { NULL, 0 };
        struct tensor *inputs;
        const bool ran =
            fit(v, sample, module->main, &arena, &bulk, &inputs) &&
            noise_run(module, inputs, v->seed + 7777u + (uint64_t)k, &level, results, &bulk);

        for (int64_t i = 0; i < n && ran; i++) {
            const double moved = fabs(tensor_at(&results[result], i) - tensor_at(got, i));

            if (off[i] && fabs(tensor_at(got, i) - tensor_at(wanted, i)) <=
                              multiple_of_noise(promise) * moved) {
                off[i] = false;
                left--;
            }
        }
        arena_release(&arena);
        bulk_release(&bulk);
        block_free(results);
        if (!ran)
            break;
    }
    block_free(off);
    return left == 0;
}

/* Whether result i of the sample is what the promise says of `wanted`; *d tells how far it is off.
 */
static bool is_kept(struct validation *v, struct sample *sample, struct module *module, int i,
                    const struct tensor *wanted, enum promise promise, struct difference *d)
{
    const struct tensor *got = &sample->now.results[i].tensor;
    double allowed, noise;

    *d = (struct difference){ .at = -1 };
    if (tensor_equal(got, wanted))
        return true;
    if (is_intended(promise)) /* judged by the graph (is_as_stated) */
        return true;
    if (promise == PROMISE_BITS && difference_is_none(got, wanted))
        return true;
    *d = difference_of(got, wanted);
    if (promise == PROMISE_BITS)
        return false;
    allowed = FREE_ROUNDING * d->largest;
    if (promise == PROMISE_CODES)
        allowed = fmax(allowed, difference_step(got, wanted));
    if (d->most <= allowed)
        return true;
    noise = noise_of(v, sample, module, i, promise);
    v->n_noisy += noise > NOISY * d->largest;
    return d->most <= fmax(allowed, multiple_of_noise(promise) * noise) ||
           is_moved_by_noise(v, sample, module, i, wanted, promise, allowed);
}

/* The results that were; or those with NaN as 0, element by element, where these are nearer to what the result is. */
static struct tensor wanted_of(const struct sample *sample, int i, const struct tensor *was,
                               const struct tensor *as_zero, struct bulk *bulk)
{
    struct tensor wanted;

    if (!as_zero)
        return *was;
    wanted = tensor_new(bulk, &was->type);
    memcpy(wanted.data, was->data, type_bytes(&was->type));
    difference_take_nearer(&sample->now.results[i].tensor, &wanted, &as_zero[i]);
    return wanted;
}

/* --- telling ---------------------------------------------------------------------------------- */

/* The first value, in the order of the graph, that had this name before and is another now. */
static const struct traced *first_changed(const struct sample *sample, enum promise promise,
                                          const struct traced **was)
{
    for (int i = 0; i < sample->now.n_values; i++) {
        const struct traced *now = &sample->now.values[i];
        struct difference d;

        *was = trace_find(&sample->before, now->name);
        if (!*was || (*was)->seen.hash == now->seen.hash ||
            !type_same_shape(&(*was)->seen.tensor.type, &now->seen.tensor.type))
            continue;
        d = difference_of(&now->seen.tensor, &(*was)->seen.tensor);
        if (promise == PROMISE_BITS ? d.most > 0 : d.most > 1e-3 * d.largest)
            return now;
    }
    return NULL;
}

static bool tell(struct sample *sample, struct module *module, const char *step, int result,
                 enum promise promise, const struct difference *of_result)
{
    struct ctx *ctx = module->ctx;
    const struct traced *was, *now = first_changed(sample, promise, &was);
    struct difference d = *of_result;
    const char *name = sample->now.result_names[result], *op = "the result";
    const struct type *type = &sample->now.results[result].tensor.type;

    if (now) {
        d = difference_of(&now->seen.tensor, &was->seen.tensor);
        name = now->name;
        op = now->op;
        type = &now->seen.tensor.type;
    }
    diag_error(ctx, DIAG_MEANING, now ? now->origin : NULL,
               "%s changes what the network computes: \"%s\" (%s) %s is not what it was before",
               step, str_safe(&ctx->perm, name, 120), op, type_text(&ctx->perm, type));
    if (d.at >= 0)
        diag_note(ctx, "element %s is %.9g, was %.9g; the largest number is %.9g",
                  element_text(&ctx->perm, type, d.at), d.got, d.wanted, d.largest);
    diag_help(
        ctx,
        "this is a bug in relayc: please report it with the model; --dump-after %s shows the graph",
        step);
    return false;
}

static bool tell_end(const struct sample *sample, struct module *module, int result,
                     const struct difference *d)
{
    struct ctx *ctx = module->ctx;

    diag_error(ctx, DIAG_MEANING, NULL,
               "the steps together change what the network computes: result \"%s\"",
               str_safe(&ctx->perm, sample->now.result_names[result], 120));
    diag_note(ctx, "element %s is %.9g, imported it was %.9g; the largest number is %.9g",
              element_text(&ctx->perm, &sample->now.results[result].tensor.type, d->at), d->got,
              d->wanted, d->largest);
    return false;
}

/* --- steps ------------------------------------------------------------------------------------ */

static void log_step(const struct validation *v, const char *step, enum promise promise,
                     double most)
{
    static const char *const words[] = { "bits",   "rounding",   "quantised values",
                                         "coding", "neighbours", "near weights",
                                         "shifts" };

    if (v->log)
        fprintf(v->log, "check-passes: %-21s promises %s: %.2g of the result\n", step,
                words[promise], most);
}

static bool sample_step(struct validation *v, struct sample *sample, struct module *module,
                        const char *step, enum promise promise, double *most)
{
    struct bulk bulk = { NULL, 0 };
    struct difference d;
    bool ok = true;

    trace_free(&sample->now);
    if (!run(v, sample, module, &sample->now) || sample->now.n_results != sample->before.n_results)
        return diag_error(module->ctx, DIAG_MEANING, NULL,
                          "the network cannot be evaluated after %s", step);
    for (int i = 0; i < sample->now.n_results && ok; i++) {
        const struct tensor wanted =
            wanted_of(sample, i, &sample->before.results[i].tensor, sample->as_zero, &bulk);

        ok = is_kept(v, sample, module, i, &wanted, promise, &d) ||
             tell(sample, module, step, i, promise, &d);
        *most = fmax(*most, d.largest > 0 ? d.most / d.largest : d.most);
    }
    bulk_release(&bulk);
    forget_noise(sample);
    trace_forget(sample->memory);
    trace_free(&sample->before);
    sample->before = sample->now;
    sample->now = (struct trace){ .n_values = 0 };
    return ok;
}

void validation_before(struct validation *v, struct module *module, enum promise promise)
{
    validation_forget_shifts(v);
    for (int i = 0; i < v->n_samples; i++) {
        struct sample *sample = &v->samples[i];

        bulk_release(&sample->as_zero_bulk);
        sample->as_zero =
            promise == PROMISE_CODES ? run_as_zero(v, sample, module, &sample->as_zero_bulk) : NULL;
    }
    if (is_intended(promise) && !validation_is_blind(v))
        snapshot_take(&v->was, module->main);
}

void validation_state_shift(struct validation *v, const char *sum, int64_t n, const double *shift)
{
    struct stated_shift *stated;

    if (!v)
        return;
    stated = arena_new(&v->arena, struct stated_shift);
    *stated = (struct stated_shift){ .name = arena_strdup(&v->arena, sum), .n = n };
    stated->shift = arena_memdup(&v->arena, shift, (size_t)n * sizeof *shift);
    stated->next = v->stated;
    v->stated = stated;
}

void validation_forget_shifts(struct validation *v)
{
    if (v)
        v->stated = NULL;
}

/* Whether the graph has changed in what the promise names only. */
static bool is_as_stated(struct validation *v, struct module *module, const char *step,
                         enum promise promise)
{
    bool ok;

    if (!is_intended(promise) || validation_is_blind(v))
        return true;
    ok = promise == PROMISE_CODING ? quantised_is_coding(module->ctx, &v->was, module->main, step)
         : promise == PROMISE_SHIFT
             ? quantised_is_shift(module->ctx, &v->was, module->main, step, v->stated)
             : quantised_is_rounding(module->ctx, &v->was, module->main, step, promise);
    snapshot_free(&v->was);
    if (!ok)
        diag_help(module->ctx, "this is a bug in relayc: please report it with the model");
    return ok;
}

bool validation_step(struct validation *v, struct module *module, const char *step,
                     enum promise promise)
{
    double most = 0;
    bool ok = is_as_stated(v, module, step, promise);

    for (int i = 0; i < v->n_samples && ok; i++)
        ok = sample_step(v, &v->samples[i], module, step, promise, &most);
    v->n_steps += v->n_samples > 0;
    if (promise > v->least)
        v->least = promise;
    if (ok)
        log_step(v, step, promise, most);
    return ok;
}

bool validation_end(struct validation *v, struct module *module)
{
    bool ok = true;

    for (int k = 0; k < v->n_samples && !is_intended(v->least) && ok; k++) {
        struct sample *sample = &v->samples[k];
        struct bulk bulk = { NULL, 0 };
        struct difference d;

        trace_free(&sample->now);
        if (!run(v, sample, module, &sample->now))
            return false;
        for (int i = 0; i < sample->now.n_results && ok; i++) {
            const struct tensor wanted =
                wanted_of(sample, i, &sample->imported[i],
                          v->least == PROMISE_CODES ? sample->imported_as_zero : NULL, &bulk);

            ok = is_kept(v, sample, module, i, &wanted, v->least, &d) ||
                 tell_end(sample, module, i, &d);
        }
        bulk_release(&bulk);
        forget_noise(sample);
    }
    return ok;
}
