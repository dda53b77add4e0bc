/* tune.c - the fastest code for each region of a model, by trying it: what AutoTVM does for
 * TVM.
 *
 *   regions   those that compute the same are one (codegen_c/select/signature.h)
 *   search    choices of knobs, each built, checked against the usual code and timed beside it
 *             (tune/)
 *   confirm   the best once more, in fresh processes
 *   log       a line for each trial, at once: what is there already is not measured again */
#include "driver/commands/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "codegen_c/machine/machine.h"

#define DEFAULT_LOG "tune.jsonl"
#define DEFAULT_TOLERANCE 1e-3
#define DEFAULT_TRIALS 100

static bool parse_options(struct tuner *tuner)
{
    struct driver_state *driver = tuner->driver;
    const struct arguments *args = &driver->args;
    bool ok = option_real(driver->ctx, args, OPTION_SECONDS, 0, &tuner->seconds);

    ok = option_real(driver->ctx, args, OPTION_TOLERANCE, DEFAULT_TOLERANCE, &tuner->tolerance) &&
         ok;
    ok =
        option_integer(driver->ctx, args, OPTION_TRIALS, DEFAULT_TRIALS, &tuner->most_trials) && ok;
    tuner->bench.driver = driver;
    tuner->bench.compiler = option_text(args, OPTION_CC, NULL);
    tuner->bench.cflags = option_text(args, OPTION_CFLAGS, NULL);
    tuner->bench.runner = option_text(args, OPTION_RUNNER, NULL);
    tuner->cold = !tuner->bench.runner; /* whose caches would it be? */
    return ok;
}

/* --- regions ---------------------------------------------------------------------------------- */

static bool has_choices(const struct codegen_region *region)
{
    for (int k = 0; region->knobs && k < KNOB_COUNT; k++)
        if (region->knobs[k].n > 1)
            return true;
    return false;
}

static bool is_asked_for(struct tuner *tuner, const struct codegen_region *region)
{
    const char *text = option_text(&tuner->driver->args, OPTION_REGIONS, "");

    return strstr(region->c_name, text) || strstr(region->signature, text);
}

static void add_region(struct tuner *tuner, struct map *seen, const struct codegen_region *region)
{
    struct tuned_region *known = map_get(seen, region->signature);

    if (known) {
        known->n_times++;
        return;
    }
    known = &tuner->regions[tuner->n_regions++];
    *known = (struct tuned_region){ .region = region, .n_times = 1 };
    known->title = str_safe(&tuner->driver->ctx->perm, region->c_name, 40);
    map_set(seen, region->signature, known);
}

static int by_work(const void *a, const void *b)
{
    const struct tuned_region *x = a, *y = b;
    const int64_t work_x = x->region->macs * x->n_times, work_y = y->region->macs * y->n_times;

    return (work_x < work_y) - (work_x > work_y);
}

/* Those with something to choose, the greatest share of the work first. */
static bool collect_regions(struct tuner *tuner)
{
    struct driver_state *driver = tuner->driver;
    struct codegen_options options = driver_codegen_options(driver);
    struct codegen_result *result = arena_new(&driver->ctx->perm, struct codegen_result);
    struct map seen = { .arena = &driver->ctx->perm };

    options.name = "model";
    options.ram = SIZE_MAX; /* region by region: no depth-first tiling */
    if (!codegen_sizes(tuner->module, &options, result))
        return false;
    tuner->regions = arena_array(&driver->ctx->perm, struct tuned_region, result->n_regions);
    for (int i = 0; i < result->n_regions; i++)
        if (has_choices(&result->regions[i]) && is_asked_for(tuner, &result->regions[i]))
            add_region(tuner, &seen, &result->regions[i]);
    qsort(tuner->regions, (size_t)tuner->n_regions, sizeof *tuner->regions, by_work);
    if (tuner->n_regions == 0 && has_option(&driver->args, OPTION_REGIONS))
        return diag_error(
            driver->ctx, DIAG_USAGE, NULL,
            "--regions: no tunable region has '%s' in its name or signature",
            str_safe(&driver->ctx->perm, option_text(&driver->args, OPTION_REGIONS, ""), 80));
    return true;
}

/* --- work ------------------------------------------------------------------------------------- */

static struct tune_search search_of(struct tuner *tuner)
{
    return (struct tune_search){ .ctx = tuner->driver->ctx,
                                 .user = tuner,
                                 .knobs = tuner_knobs,
                                 .try_choice = tuner_try,
                                 .best_score = 1,
                                 .most_trials = (int)fmin((double)tuner->most_trials, 1e6) };
}

/* What is left of the time is divided by the work: at least one part in a hundred each. */
static double deadline_of(const struct tuner *tuner, int i)
{
    const double now = wall_seconds(), left = tuner->start + tuner->seconds - now;
    double own = 0, all = 0;

    if (tuner->seconds <= 0)
        return INFINITY;
    for (int k = i; k < tuner->n_regions; k++) {
        const struct tuned_region *r = &tuner->regions[k];
        const double work = (double)r->region->macs * r->n_times + 1;

        all += work;
        own = k == i ? work : own;
    }
    return now + left * fmax(own / all, 0.01);
}

static bool tune_region(struct tuner *tuner, int i)
{
    struct tune_search search = search_of(tuner);
    const struct choice usual = { .value = { NULL } };
    double score;
    bool ok;

    tuner->current = &tuner->regions[i];
    tuner->deadline = deadline_of(tuner, i);
    ok = tuner_begin_region(tuner);
    /* The usual code against itself: its line says what noise is, and what the search starts from.
     */
    if (ok && tuner_try(tuner, &usual, &score))
        tune_search_run(&search);
    ok = ok && tuner->driver->ctx->diags.n_errors == 0;
    if (ok && search.best_score <= 1 - TUNE_LEAST_GAIN) {
        ok = tuner_confirm(tuner, &search.best, &tuner->current->best);
        tuner->current->found = ok && tuner->current->best.verdict == VERDICT_OK &&
                                trial_score(&tuner->current->best) <= 1 - TUNE_LEAST_GAIN;
    }
    tuner_end_region(tuner);
    return ok;
}

static bool expect_trials(struct tuner *tuner)
{
    for (int i = 0; i < tuner->n_regions; i++) {
        struct tune_search search = search_of(tuner);

        tuner->current = &tuner->regions[i];
        tuner->trials_expected += 1 + tune_search_size(&search);
    }
    return tuner->driver->ctx->diags.n_errors == 0;
}

static bool tune_regions(struct tuner *tuner)
{
    const struct tune_events *events = tuner->events;
    bool ok = expect_trials(tuner);

    driver_progress(tuner->driver, "", 0, 1);
    events->begin(events->user, tuner);
    for (int i = 0; i < tuner->n_regions && ok; i++) {
        ok = tune_region(tuner, i);
        driver_progress(tuner->driver, "", 0, 0);
        if (ok)
            events->tuned(events->user, &tuner->regions[i]);
    }
    driver_progress(tuner->driver, "", 0, 0);
    return ok;
}

/* --- the log and its key ---------------------------------------------------------------------- */

/* As Linux calls the processor; "" where it does not, or where another one runs the code. */
static const char *cpu_name(struct tuner *tuner)
{
    static const char key[] = "model name";
    struct ctx *ctx = tuner->driver->ctx;
    FILE *file = tuner->bench.runner ? NULL : fopen("/proc/cpuinfo", "r");
    const char *name = "";
    char line[256];

    while (file && !*name && fgets(line, sizeof line, file))
        if (str_starts(line, key) && strchr(line, ':')) {
            line[strcspn(line, "\n")] = '\0';
            name = str_safe(&ctx->perm, strchr(line, ':') + 2, 120);
        }
    if (file)
        fclose(file);
    return name;
}

/* The first word of --runner without its folder, which is this machine's business. */
static const char *runner_name(struct tuner *tuner)
{
    const char *text = tuner->bench.runner ? tuner->bench.runner : "";
    const char *start = text + strspn(text, " \t");
    char *word = arena_strndup(&tuner->driver->ctx->perm, start, strcspn(start, " \t"));
    char *slash = strrchr(word, '/');

    return str_safe(&tuner->driver->ctx->perm, slash ? slash + 1 : word, 60);
}

static bool open_log(struct tuner *tuner)
{
    struct driver_state *driver = tuner->driver;
    tuner->path = option_text(&driver->args, OPTION_OUTPUT, DEFAULT_LOG);
    tuner->key = (struct tune_key){ .target = driver->machine->name,
                                    .compiler = tuner_compiler(tuner),
                                    .flags = tuner->bench.cflags,
                                    .cpu = cpu_name(tuner),
                                    .runner = runner_name(tuner) };
    if (!tuner->key.compiler ||
        (access(tuner->path, F_OK) == 0 && !tune_log_read(driver->ctx, tuner->path, &tuner->log)))
        return false;
    tuner->file = tune_file_open(driver->ctx, tuner->path);
    return tuner->file != NULL;
}

/* --- the command ------------------------------------------------------------------------------ */

/* --target is this machine where none is named. */
static bool choose_machine(struct driver_state *driver)
{
    driver->machine = machine_find(driver->ctx, option_text(&driver->args, OPTION_TARGET, "host"));
    return driver->machine != NULL;
}

static bool check_options(struct tuner *tuner)
{
    struct driver_state *driver = tuner->driver;
    bool ok = parse_options(tuner);

    ok = choose_machine(driver) && ok;
    if (!prepare_offload(driver) || !ok)
        return false;
    if (!tuner->bench.cflags)
        tuner->bench.cflags = bench_default_flags(driver);
    return true;
}

static bool load(struct tuner *tuner)
{
    tuner->module = load_model(tuner->driver);
    return tuner->module != NULL;
}

static bool simplify_to_fuse(struct tuner *tuner)
{
    return run_passes(tuner->driver, tuner->module);
}

static bool start_clock(struct tuner *tuner)
{
    bind_to_core();
    tuner->start = wall_seconds();
    return true;
}

bool driver_tune(struct driver_state *driver, const struct tune_events *events, struct tuner *out)
{
    static bool (*const stages[])(struct tuner *) = {
        check_options,    /* all options */
        open_log,         /* -o: trials that are known */
        load,             /* the model */
        simplify_to_fuse, /* the stages of driver.c */
        collect_regions,  /* select: regions that have knobs */
        start_clock,      /* on one core */
        tune_regions,     /* select, plan, print, build and time, for each choice */
    };
    bool ok = true;

    *out = (struct tuner){ .driver = driver, .events = events };
    for (size_t i = 0; i < sizeof stages / sizeof *stages && ok; i++)
        ok = stages[i](out);
    return ok;
}

bool driver_tune_free(struct tuner *tuner)
{
    module_free(tuner->module);
    bench_free_harness(&tuner->bench);
    return tune_file_close(tuner->file);
}
