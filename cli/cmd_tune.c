/* cmd_tune.c - the fastest code for each region of a model, by trying it: what AutoTVM does for
 * TVM.
 *
 *   regions   those that compute the same are one (codegen_c/select/signature.h)
 *   search    choices of knobs, each built, checked against the usual code and timed beside it
 *             (tune/)
 *   confirm   the best once more, in fresh processes
 *   log       a line for each trial, at once: what is there already is not measured again */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "cli/tune.h"
#include "codegen_c/machine/machine.h"

#define DEFAULT_LOG "tune.jsonl"
#define DEFAULT_TOLERANCE 1e-3
#define DEFAULT_TRIALS 100

static bool parse_options(struct tuner *tuner)
{
    struct cli *cli = tuner->cli;
    const struct arguments *args = &cli->driver->args;
    bool ok = option_real(cli->ctx, args, OPTION_SECONDS, 0, &tuner->seconds);

    ok = option_real(cli->ctx, args, OPTION_TOLERANCE, DEFAULT_TOLERANCE, &tuner->tolerance) && ok;
    ok = option_integer(cli->ctx, args, OPTION_TRIALS, DEFAULT_TRIALS, &tuner->most_trials) && ok;
    tuner->bench.cli = cli;
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
    const char *text = option_text(&tuner->cli->driver->args, OPTION_REGIONS, "");

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
    known->title = str_safe(&tuner->cli->ctx->perm, region->c_name, 40);
    map_set(seen, region->signature, known);
}

static int by_work(const void *a, const void *b)
{
    const struct tuned_region *x = a, *y = b;
    const int64_t work_x = x->region->macs * x->n_times, work_y = y->region->macs * y->n_times;

    return (work_x < work_y) - (work_x > work_y);
}

/* Those with something to choose, the greatest share of the work first. */
static bool collect_regions(struct tuner *tuner, struct module *module)
{
    struct cli *cli = tuner->cli;
    const struct codegen_options options = { .name = "model",
                                             .dir = ".",
                                             .model_file = "",
                                             .model_sha256 = "",
                                             .command = "",
                                             .machine = cli->driver->machine,
                                             .ram = SIZE_MAX, /* region by region: no stripes */
                                             .targets = cli->driver->offload.targets.first
                                                            ? &cli->driver->offload.targets
                                                            : NULL };
    struct codegen_result *result = arena_new(&cli->ctx->perm, struct codegen_result);
    struct output_set set = { .ctx = cli->ctx };
    struct map seen = { .arena = &cli->ctx->perm };
    const bool ok = codegen_c(module, &options, &set, result);

    output_abort(&set);
    if (!ok)
        return false;
    tuner->regions = arena_array(&cli->ctx->perm, struct tuned_region, result->n_regions);
    for (int i = 0; i < result->n_regions; i++)
        if (has_choices(&result->regions[i]) && is_asked_for(tuner, &result->regions[i]))
            add_region(tuner, &seen, &result->regions[i]);
    qsort(tuner->regions, (size_t)tuner->n_regions, sizeof *tuner->regions, by_work);
    if (tuner->n_regions == 0 && has_option(&cli->driver->args, OPTION_REGIONS))
        return diag_error(
            cli->ctx, DIAG_USAGE, NULL,
            "--regions: no tunable region has '%s' in its name or signature",
            str_safe(&cli->ctx->perm, option_text(&cli->driver->args, OPTION_REGIONS, ""), 80));
    return true;
}

/* --- work ------------------------------------------------------------------------------------- */

static struct tune_search search_of(struct tuner *tuner)
{
    return (struct tune_search){ .ctx = tuner->cli->ctx,
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
    ok = ok && tuner->cli->ctx->diags.n_errors == 0;
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
    return tuner->cli->ctx->diags.n_errors == 0;
}

static void say_region(const struct tuner *tuner, const struct tuned_region *r)
{
    struct cli *cli = tuner->cli;

    say(cli, "%-32.32s %3dx %6d", r->title, r->n_times, r->n_trials);
    if (r->found)
        say(cli, " %10.2f %10.2f  %5.3f  %s", r->best.usual_warm * 1e6, r->best.warm * 1e6,
            trial_score(&r->best), choice_text(&cli->ctx->perm, &r->best.choice));
    else
        say(cli, " %10s %10s  %5s  usual", "", "", "");
    if (r->n_wrong || r->n_failed)
        say(cli, " (%d wrong, %d failed)", r->n_wrong, r->n_failed);
    say(cli, "\n");
    fflush(stdout);
}

static bool tune_regions(struct tuner *tuner)
{
    bool ok = expect_trials(tuner);

    tuner->progress = progress_begin(tuner->cli);
    say(tuner->cli, "%d regions that differ, at most %lld trials, on %s with %s %s\n",
        tuner->n_regions, (long long)tuner->trials_expected, tuner->key.target, tuner->key.compiler,
        tuner->key.flags);
    say(tuner->cli, "%-32s %4s %6s %10s %10s  %5s  choices\n", "region", "", "trials", "usual us",
        "best us", "ratio");
    for (int i = 0; i < tuner->n_regions && ok; i++) {
        ok = tune_region(tuner, i);
        progress_end(&tuner->progress);
        if (ok)
            say_region(tuner, &tuner->regions[i]);
    }
    progress_end(&tuner->progress);
    return ok;
}

/* --- the log and its key ---------------------------------------------------------------------- */

/* As Linux calls the processor; "" where it does not, or where another one runs the code. */
static const char *cpu_name(struct tuner *tuner)
{
    static const char key[] = "model name";
    struct ctx *ctx = tuner->cli->ctx;
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
    char *word = arena_strndup(&tuner->cli->ctx->perm, start, strcspn(start, " \t"));
    char *slash = strrchr(word, '/');

    return str_safe(&tuner->cli->ctx->perm, slash ? slash + 1 : word, 60);
}

static bool open_log(struct tuner *tuner)
{
    struct cli *cli = tuner->cli;
    const char *path = option_text(&cli->driver->args, OPTION_OUTPUT, DEFAULT_LOG);

    tuner->key = (struct tune_key){ .target = cli->driver->machine->name,
                                    .compiler = tuner_compiler(tuner),
                                    .flags = tuner->bench.cflags,
                                    .cpu = cpu_name(tuner),
                                    .runner = runner_name(tuner) };
    if (!tuner->key.compiler ||
        (access(path, F_OK) == 0 && !tune_log_read(cli->ctx, path, &tuner->log)))
        return false;
    tuner->file = tune_file_open(cli->ctx, path);
    return tuner->file != NULL;
}

/* --- the result ------------------------------------------------------------------------------- */

static void add_json(const struct tuner *tuner)
{
    cJSON *list = cJSON_AddArrayToObject(tuner->cli->json, "regions");

    cJSON_AddStringToObject(tuner->cli->json, "target", tuner->key.target);
    for (int i = 0; i < tuner->n_regions; i++) {
        const struct tuned_region *r = &tuner->regions[i];
        cJSON *row = cJSON_CreateObject(), *knobs;

        cJSON_AddStringToObject(row, "function", r->region->c_name);
        cJSON_AddStringToObject(row, "signature", r->region->signature);
        cJSON_AddNumberToObject(row, "times", r->n_times);
        cJSON_AddNumberToObject(row, "trials", r->n_trials);
        cJSON_AddNumberToObject(row, "wrong", r->n_wrong);
        cJSON_AddNumberToObject(row, "failed", r->n_failed);
        cJSON_AddNumberToObject(row, "ratio", r->found ? trial_score(&r->best) : 1);
        knobs = cJSON_AddObjectToObject(row, "knobs");
        for (int k = 0; r->found && k < KNOB_COUNT; k++)
            if (r->best.choice.value[k])
                cJSON_AddStringToObject(knobs, knob_name((enum knob)k), r->best.choice.value[k]);
        cJSON_AddItemToArray(list, row);
    }
}

static void report(const struct tuner *tuner)
{
    struct cli *cli = tuner->cli;
    const char *path = option_text(&cli->driver->args, OPTION_OUTPUT, DEFAULT_LOG);
    int n_found = 0, n_wrong = 0;

    for (int i = 0; i < tuner->n_regions; i++) {
        n_found += tuner->regions[i].found;
        n_wrong += tuner->regions[i].n_wrong;
    }
    if (cli->json) {
        add_json(tuner);
        return;
    }
    say(cli, "%d of %d faster than the default; %s has all trials\n", n_found, tuner->n_regions,
        path);
    if (n_wrong)
        say(cli, "%d trials gave different outputs: a bug in relayc or in the compiler\n", n_wrong);
    say(cli, "  next    relayc compile %s --target %s --tune-log %s\n",
        for_shell(cli->driver, cli->driver->args.operands[0]), cli->driver->machine->name,
        for_shell(cli->driver, path));
}

/* --target is this machine where none is named. */
static bool choose_machine(struct cli *cli)
{
    cli->driver->machine =
        machine_find(cli->ctx, option_text(&cli->driver->args, OPTION_TARGET, "host"));
    return cli->driver->machine != NULL;
}

static bool load_and_tune(struct tuner *tuner)
{
    struct cli *cli = tuner->cli;
    struct module *module;
    bool ok;

    if (!open_log(tuner))
        return false;
    module = load_model(cli->driver);
    if (!module)
        return false;
    ok = run_passes(cli->driver, module) && collect_regions(tuner, module);
    if (ok) {
        bind_to_core();
        tuner->start = wall_seconds();
        ok = tune_regions(tuner);
    }
    if (ok)
        report(tuner);
    module_free(module);
    return ok;
}

bool command_tune(struct cli *cli)
{
    struct tuner tuner = { .cli = cli };
    bool ok = parse_options(&tuner);

    if (show_machines_wanted(cli))
        return true;
    ok = choose_machine(cli) && ok;
    if (!prepare_offload(cli->driver) || !ok)
        return false;
    if (!tuner.bench.cflags)
        tuner.bench.cflags = bench_default_flags(cli);
    ok = load_and_tune(&tuner);
    bench_free_harness(&tuner.bench);
    return tune_file_close(tuner.file) && ok;
}
