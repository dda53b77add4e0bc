#include "relay_ir/passes/pipeline.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "relay_ir/passes/rewrite.h"
#include "relay_ir/text.h"
#include "relay_ir/verify.h"

#define ROW(name, promise, purpose)                                                                \
    {                                                                                              \
#name, purpose, pass_##name, NULL, PROMISE_##promise                                       \
    }
#define RULES_ROW(name, promise, purpose)                                                          \
    {                                                                                              \
#name, purpose, pass_##name, name##_rules, PROMISE_##promise                               \
    }

/* After a simplification come the rows that fold what it made constant and drop what it made
 * double, so that the next one sees the small graph. */
static const struct pass passes[] = {
    ROW(inline_functions, BITS, "inlines functions that are not regions"),
    ROW(infer_type, BITS, "infers all types again, in order"),
    ROW(widen_halves, ROUNDING, "replaces f16 and bf16 arithmetic by f32"),
    RULES_ROW(fake_quant_to_integer, CODES, "computes in integers between dequantize and quantize"),
    RULES_ROW(fold_dequantize, ROUNDING,
              "keeps weights and FP8 data quantised, and moves scales behind products"),
    ROW(fold_constant, BITS, "evaluates what depends on constants only"),
    ROW(unroll_recurrent, ROUNDING, "writes recurrent layers of one step as products and gates"),
    ROW(dead_code, BITS, "removes nodes that no result needs"),
    RULES_ROW(simplify_inference, ROUNDING, "lowers batch norms to multiply and add"),
    RULES_ROW(canonicalize, ROUNDING, "canonicalises equivalent forms"),
    ROW(fold_constant, BITS, "evaluates what depends on constants only"),
    ROW(common_subexpr, BITS, "computes equal expressions once"),
    RULES_ROW(simplify_expr, ROUNDING, "recognises composed operators, drops identities"),
    RULES_ROW(fold_scale_axis, ROUNDING, "moves per-channel scales and shifts into weights"),
    RULES_ROW(canonicalize, ROUNDING, "canonicalises equivalent forms"),
    ROW(fold_constant, BITS, "evaluates what depends on constants only"),
    ROW(common_subexpr, BITS, "computes equal expressions once"),
    ROW(dead_code, BITS, "removes nodes that no result needs"),
    ROW(flush_tiny_weights, ROUNDING, "flushes tiny weights to 0"),
    ROW(drop_dead_channels, BITS, "leaves out channels whose weights are all 0"),
    ROW(convert_layout, BITS, "converts convolutions and pools to channels last"),
    RULES_ROW(sink_views, BITS, "moves views behind element-wise operators"),
    ROW(unshare_dequantize, BITS, "gives each reader of quantised values its own dequantize"),
    ROW(fuse_ops, BITS, "groups nodes into region functions"),
};

#undef ROW
#undef RULES_ROW

enum { N_PASSES = sizeof passes / sizeof *passes };

const struct pass *pipeline_passes(int *n)
{
    *n = N_PASSES;
    return passes;
}

const struct pass *pipeline_find(const char *name)
{
    for (int i = 0; i < N_PASSES; i++)
        if (strcmp(passes[i].name, name) == 0)
            return &passes[i];
    return NULL;
}

static double milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int count_nodes(const struct module *module)
{
    int n = 0;

    for (const struct function *fn = module->functions; fn; fn = fn->next)
        for (const struct node *node = fn->first; node; node = node->next)
            n++;
    return n;
}

static void dump(struct module *module, const char *name, FILE *log)
{
    struct str text = { .arena = &module->ctx->scratch };

    module_print(module, &text);
    fprintf(log, "after %s:\n%s", name, str_text(&text));
}

/* The chores around every pass: verify, sweep, dump, time, empty the scratch arena. */
bool pipeline_run_step(struct module *module, const char *name, enum promise promise,
                       bool (*run)(struct module *module, void *user), void *user,
                       const struct pipeline_options *options)
{
    const int nodes = count_nodes(module);
    double start;
    bool ok;

    if (options->validation)
        validation_before(options->validation, module, promise);
    start = milliseconds();
    ok = run(module, user);
    assert(ok || module->ctx->diags.n_errors > 0);
    if (options->time_passes)
        fprintf(options->log, "%9.2f ms  %-21s %6d -> %d nodes\n", milliseconds() - start, name,
                nodes, count_nodes(module));
    if (ok) {
        module_sweep(module);
        ok = module_verify(module, name) && constants_fit(module, 0, NULL) &&
             (!options->validation || validation_step(options->validation, module, name, promise));
    }
    if (options->dump_after &&
        (strcmp(options->dump_after, "all") == 0 || strcmp(options->dump_after, name) == 0))
        dump(module, name, options->log);
    arena_release(&module->ctx->scratch);
    return ok;
}

static bool run_of_pass(struct module *module, void *user)
{
    const struct pass *pass = user;

    return pass->run(module);
}

static bool run_pass(struct module *module, const struct pass *pass,
                     const struct pipeline_options *options)
{
    struct pass copy = *pass;

    return pipeline_run_step(module, pass->name, pass->promise, run_of_pass, &copy, options);
}

/* A rule that never fires on any model is a bug in its table, or is missing a test. */
static void print_stats(const struct module *module, FILE *log)
{
    for (int i = 0; i < N_PASSES; i++) {
        int n_rules = 0;
        const struct rule *rules = passes[i].rules ? passes[i].rules(&n_rules) : NULL;

        if (pipeline_find(passes[i].name) != &passes[i])
            continue; /* printed at its first row */
        for (int j = 0; j < n_rules; j++) {
            const long *fired = map_get(&module->fired, rules[j].name);

            fprintf(log, "%-21s %-28s %6ld\n", passes[i].name, rules[j].name, fired ? *fired : 0);
        }
    }
}

bool pipeline_run(struct module *module, const struct pipeline_options *options)
{
    enum { FUSE = N_PASSES - PIPELINE_N_FUSE }; /* they end the table */
    static const struct {
        int first, end;
    } parts[] = {
        [PIPELINE_WHOLE] = { 0, N_PASSES },
        [PIPELINE_PREPARE] = { 0, FUSE },
        [PIPELINE_FUSE] = { FUSE, N_PASSES },
        [PIPELINE_LAYOUT] = { FUSE, N_PASSES - 1 },
        [PIPELINE_REGIONS] = { N_PASSES - 1, N_PASSES },
    };
    int i = parts[options->part].first, n = parts[options->part].end;
    bool ok = true;

    if (options->part != PIPELINE_REGIONS) /* which goes on where PIPELINE_LAYOUT ended */
        module->ctx->limits.work = 0;      /* a search runs it again and again */
    assert(options->log || !(options->dump_after || options->time_passes || options->stats));
    if (options->stop_after) {
        while (n > 0 && strcmp(passes[n - 1].name, options->stop_after) != 0)
            n--;
        assert(n > 0);
    }
    for (; ok && i < n; i++)
        if (!options->keep_recurrent || passes[i].run != pass_unroll_recurrent)
            ok = run_pass(module, &passes[i], options);
    if (options->stats && parts[options->part].end == N_PASSES)
        print_stats(module, options->log);
    return ok;
}

bool pipeline_run_checked(struct module *module, const struct pipeline_options *options,
                          double limit)
{
    const struct validation_options checks = { .seed = 1, .limit = limit };
    struct pipeline_options checked = *options;
    bool ok;

    checked.validation = validation_new(module, &checks);
    ok = pipeline_run(module, &checked) && validation_end(checked.validation, module);
    validation_free(checked.validation);
    return ok;
}

#define MOST_WORK 1e8 /* of a graph that is judged */

bool pipeline_run_one(struct module *module, const char *name)
{
    const struct pass *pass = pipeline_find(name);
    const struct validation_options checks = { .seed = 1, .limit = MOST_WORK };
    struct pipeline_options options = { .validation = validation_new(module, &checks) };
    bool ok;

    assert(pass);
    ok = run_pass(module, pass, &options);
    validation_free(options.validation);
    return ok;
}
