/* search.c - which precision each layer needs: strategies of search/, with data and files.
 *
 * Several processes may share the work (mpirun, or by hand): all do the same search, each takes
 * trials that nobody else has, and the one with rank 0 writes the files. */
#include "driver/commands/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "driver/precision.h"
#include "driver/trial.h"

#define DEFAULT_PREFIX "search"
#define DEFAULT_RULES "max,percentile,kl"

enum { DEFAULT_SAMPLES = 30, MAX_FLOAT = 5, DEFAULT_TRIALS = 40 };

static const size_t default_mem = (size_t)256 << 20;

/* In the order of --help. */
static const struct strategy {
    const char *name;
    bool (*run)(struct search *search, const struct strategy_options *options, struct found *out);
} strategies[] = {
    { "sensitive", search_sensitive },       { "mixed", search_mixed },   { "topk", search_topk },
    { "greedy-pairs", search_greedy_pairs }, { "budget", search_budget }, { "bayes", search_bayes },
};

enum { N_STRATEGIES = sizeof strategies / sizeof *strategies };

/* --- what is asked for ------------------------------------------------------------------------ */

/* "max,kl": the rules, in ctx->perm. */
static bool parse_rules(struct precision_search *r)
{
    struct ctx *ctx = r->driver->ctx;
    const char *text = option_text(&r->driver->args, OPTION_RULES, DEFAULT_RULES);
    struct scale_rule *rules = arena_array(&ctx->perm, struct scale_rule, strlen(text) + 1);
    bool ok = true;

    r->options.rules = rules;
    for (const char *at = text; *at;) {
        const size_t n = strcspn(at, ",");
        const char *name = arena_strndup(&ctx->perm, at, n);

        if (!scale_rule_parse(name, &rules[r->options.n_rules++]) ||
            rules[r->options.n_rules - 1].kind == SCALE_SEARCH ||
            rules[r->options.n_rules - 1].kind == SCALE_AUTO ||
            rules[r->options.n_rules - 1].kind == SCALE_TABLE)
            ok = diag_error(ctx, DIAG_USAGE, NULL, "--rules: unknown rule '%s'",
                            str_safe(&ctx->perm, name, 80));
        at += n + (at[n] == ',');
    }
    if (!ok)
        diag_help(ctx, "rules are %s, but not auto, search and table", scale_rule_list());
    return ok;
}

static bool parse_tensors(struct precision_search *r)
{
    struct arena *arena = &r->driver->ctx->perm;
    const char *text = option_text(&r->driver->args, OPTION_TENSORS, "");
    const char **names = arena_array(arena, const char *, strlen(text) + 1);

    for (const char *at = text; *at;) {
        const size_t n = strcspn(at, ",");

        if (n)
            names[r->search_options.n_tensors++] = arena_strndup(arena, at, n);
        at += n + (at[n] == ',');
    }
    r->search_options.tensors = names;
    return true;
}

/* "int8+int8w=i4+f32"; a '+', because formats have commas. */
static bool parse_choices(struct precision_search *r)
{
    struct ctx *ctx = r->driver->ctx;
    const struct precision *own = &r->driver->precision->options.precision;
    const char *text = option_text(&r->driver->args, OPTION_CHOICES, "int8w+int8w=i4+f16w");
    struct precision *choices = arena_array(&ctx->perm, struct precision, strlen(text) + 2);
    bool ok = true;

    if (!has_option(&r->driver->args, OPTION_CHOICES))
        choices[r->options.n_choices++] = *own;
    for (const char *at = text; *at;) {
        const size_t n = strcspn(at, "+");

        if (n)
            ok = precision_parse(ctx, "--choices", arena_strndup(&ctx->perm, at, n),
                                 &choices[r->options.n_choices++]) &&
                 ok;
        at += n + (at[n] == '+');
    }
    for (int i = 0; i < r->options.n_choices; i++) /* the rules that were given are for all */
        if (choices[i].has_data && own->has_data_scale) {
            choices[i].data_scale = own->data_scale;
            choices[i].has_data_scale = true;
        }
    r->options.choices = choices;
    return ok;
}

/* A number that a launcher of processes has left for each: Open MPI, MPICH, Slurm. */
static int launcher_number(const char *const *variables, int missing)
{
    for (int i = 0; variables[i]; i++) {
        const char *text = getenv(variables[i]);
        char *end;
        const long number = text ? strtol(text, &end, 10) : -1;

        if (text && end != text && !*end && number >= 0 && number < 1 << 20)
            return (int)number;
    }
    return missing;
}

static void find_rank(struct precision_search *r)
{
    static const char *const ranks[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", NULL };
    static const char *const sizes[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL };
    static const char *const locals[] = { "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", NULL };
    const int n_local = launcher_number(locals, 1);

    r->rank = launcher_number(ranks, 0);
    r->n_ranks = launcher_number(sizes, 1);
    if (!has_option(&r->driver->args, OPTION_THREADS) && n_local > 1)
        r->search_options.n_threads =
            r->search_options.n_threads > n_local ? r->search_options.n_threads / n_local : 1;
}

static bool parse_numbers(struct precision_search *r)
{
    struct driver_state *driver = r->driver;
    long long max_float, trials;
    bool ok = option_real(driver->ctx, &driver->args, OPTION_TARGET_COS, 0.99, &r->options.target);

    ok = option_integer(driver->ctx, &driver->args, OPTION_MAX_FLOAT_LAYERS, MAX_FLOAT,
                        &max_float) &&
         ok;
    ok =
        option_bytes(driver->ctx, &driver->args, OPTION_MEM, default_mem, &r->search_options.mem) &&
        ok;
    ok = option_integer(driver->ctx, &driver->args, OPTION_TRIALS, DEFAULT_TRIALS, &trials) && ok;
    ok = search_price_prepare(driver, &r->price, &r->options) && ok;
    r->options.n_trials = trials < 1 ? 1 : trials < 1000 ? (int)trials : 1000;
    r->options.max_float = max_float < 1 << 20 ? (int)max_float : 1 << 20;
    if (r->options.target > 1)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--target-cos: %g is above 1",
                        r->options.target);
    return ok;
}

static bool check_given(struct precision_search *r)
{
    struct driver_state *driver = r->driver;
    const struct precision_request *p = driver->precision;
    bool ok = true;

    if (!p->data)
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "'relayc search' needs --data");
    if (!p->options.precision.has_weights && !p->options.precision.has_data) {
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "'relayc search' needs --precision");
        diag_help(driver->ctx, "for example --precision int8; docs/guide/quantize.md lists them");
    }
    if (p->options.precision.has_data && !p->options.calib) {
        ok = diag_error(driver->ctx, DIAG_USAGE, NULL, "--precision %s needs --calib here",
                        precision_name(p->options.precision.mode));
        diag_help(driver->ctx, "relayc calibrate writes it");
    }
    return ok;
}

static bool check_options(struct precision_search *r)
{
    static const char *const measures[] = { "cos", "snr", "mse", NULL };
    const char *names[N_STRATEGIES + 1] = { NULL };
    struct driver_state *driver = r->driver;
    int measure;
    bool ok = prepare_precision(driver);

    for (int i = 0; i < N_STRATEGIES; i++)
        names[i] = strategies[i].name;
    ok = option_word(driver->ctx, &driver->args, OPTION_STRATEGY, names, 0, &r->strategy_index) &&
         ok;
    ok = option_word(driver->ctx, &driver->args, OPTION_MEASURE, measures, 0, &measure) && ok;
    ok = parse_rules(r) && ok;
    ok = parse_tensors(r) && ok;
    ok = parse_choices(r) && ok;
    ok = parse_numbers(r) && ok;
    ok = ok && check_given(r);
    if (!ok)
        return false;
    r->search_options.n_threads = driver->precision->options.n_threads;
    find_rank(r);
    r->search_options.measure = (enum measure)measure;
    if (has_option(&driver->args, OPTION_METRIC)) {
        r->judge = search_judge_new(driver);
        r->search_options.measure = MEASURE_TASK;
        ok = r->judge != NULL;
    }
    if (!ok)
        return false;
    r->strategy = strategies[r->strategy_index].name;
    r->prefix = option_text(&driver->args, OPTION_OUTPUT, DEFAULT_PREFIX);
    r->search_options.log = arena_printf(&driver->ctx->perm, "%s.jsonl", r->prefix);
    r->search_options.stages = &trial_stages;
    r->search_options.calib = driver->precision->options.calib;
    r->options.precision = driver->precision->options.precision;
    r->options.loss =
        has_option(&driver->args, OPTION_LOSS) ? driver->precision->options.loss : LOSS_KLD;
    return true;
}

/* --- data ------------------------------------------------------------------------------------- */

static bool load_sample(void *user, struct ctx *ctx, struct bulk *bulk, int64_t index,
                        struct tensor *inputs)
{
    return samples_load(user, ctx, bulk, index, inputs);
}

/* In memory, as they are run again and again. */
static bool copy_inputs(struct precision_search *r, const struct function *fn,
                        const struct calibration_source *source)
{
    struct driver_state *driver = r->driver;
    struct tensor *inputs =
        arena_array(&driver->ctx->perm, struct tensor, source->n * fn->n_params);
    bool ok = true;

    for (int64_t s = 0; s < source->n && ok; s++) {
        struct bulk bulk = { 0 };

        ok = source->load(source->user, driver->ctx, &bulk, s, inputs + s * fn->n_params);
        for (int i = 0; i < fn->n_params && ok; i++) { /* may be borrowed from the samples */
            struct tensor *input = &inputs[s * fn->n_params + i];
            const size_t bytes = type_bytes(&input->type);
            void *copy = bulk_alloc(&driver->bulk, bytes);

            memcpy(copy, input->data, bytes);
            input->data = copy;
        }
        bulk_release(&bulk);
        arena_release(&driver->ctx->scratch);
    }
    r->search_options.inputs = inputs;
    r->search_options.n_samples = source->n;
    return ok;
}

static bool load_samples(struct precision_search *r)
{
    const struct function *fn = r->module->main;
    struct driver_state *driver = r->driver;
    struct calibration_source source = { .n = 0 };
    struct samples *samples = NULL;
    bool ok;

    if (!has_option(&driver->args, OPTION_LIMIT))
        driver->precision->limit = DEFAULT_SAMPLES;
    if (r->judge && !search_judge_open(r->judge, fn, driver->precision->limit, &source))
        return false;
    if (!source.load) {
        samples = open_samples(driver, fn, &source.n);
        source.load = load_sample;
        source.user = samples;
        if (!samples)
            return false;
    }
    ok = copy_inputs(r, fn, &source);
    samples_close(samples);
    if (r->judge) {
        search_judge_expect(r->judge, r->search_options.n_samples);
        r->search_options.judge = search_judge_of(r->judge);
    }
    return ok;
}

static void show_progress(void *user, int64_t done, int64_t n)
{
    driver_progress(user, "trials", done, n);
}

/* --- work ------------------------------------------------------------------------------------- */

static bool load(struct precision_search *r)
{
    r->module = load_model(r->driver);
    return r->module != NULL;
}

static bool simplify(struct precision_search *r)
{
    return simplify_floats(r->driver, r->module, false) &&
           check_no_regions(r->driver, r->module, "relayc search");
}

static bool search(struct precision_search *r)
{
    struct driver_state *driver = r->driver;
    bool ok;

    driver_progress(driver, "trials", 0, 1);
    r->search_options.progress = r->rank == 0 ? show_progress : NULL;
    r->search_options.user = driver;
    r->is_open = true;
    ok = search_open(&r->search, driver->ctx, r->module, &r->search_options) &&
         strategies[r->strategy_index].run(&r->search, &r->options, &r->found);
    driver_progress(driver, "trials", 0, 0);
    return ok;
}

static bool write_files(struct precision_search *r)
{
    return r->rank != 0 || search_write_files(r);
}

bool driver_search(struct driver_state *driver, struct precision_search *out)
{
    static bool (*const stages[])(struct precision_search *) = {
        check_options, /* all options */
        load,          /* the model */
        simplify,      /* up to quantise */
        load_samples,  /* --data, --labels */
        search,        /* quantise and run, or layout to plan for a price, for each proposal */
        write_files,   /* -o */
    };
    bool ok = true;

    *out = (struct precision_search){ .driver = driver };
    for (size_t i = 0; i < sizeof stages / sizeof *stages && ok; i++)
        ok = stages[i](out);
    return ok;
}

void driver_search_free(struct precision_search *r)
{
    if (r->is_open)
        search_close(&r->search);
    search_judge_close(r->judge);
    module_free(r->module);
}
