/* main.c - networks through the whole partitioner: every model with every list of targets in every
 * precision, built, run and compared; pass or FAIL, a line each.
 *
 *   offload [--work DIR] [--target-dir DIR] [--offload LIST]... [--precision f32|MODE]...
 *           [--everything] [--must] [--sanitize] [--tolerance X] (MODEL_DIR | FILE.onnx)...
 *
 * What is expected what the reference evaluator says of the graph before partitioning (after
 * the stage quantize, which changes numbers and has its own tests), and under f32 the model's io/ too.
 *
 * --everything  all that matches is offloaded: by priority, without the cost step
 * --must        each target of the list must get a region
 * --sanitize    once more with gcc's address and undefined-behaviour sanitizers
 * --tolerance   of the largest error, relative to an output's largest magnitude
 *
 * Exit code 1 when anything failed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tests/offload/offload.h"

enum { MAX_WORDS = 16 };

struct settings {
    const char *work, *target_dir;
    const char *lists[MAX_WORDS], *precisions[MAX_WORDS];
    int n_lists, n_precisions;
    bool everything, must, sanitize;
    double tolerance; /* 0 = see default_tolerance */
    int passed, failed;
};

static const struct config *find_config(const char *name)
{
    for (int i = 0; i < n_configs; i++)
        if (strcmp(configs[i].name, name) == 0)
            return &configs[i];
    abort();
}

static bool fail(struct ctx *ctx, const char **reason, const char *text)
{
    if (!*reason)
        *reason = text;
    diag_print(ctx, stdout, false, 3);
    return false;
}

static bool build_and_run(struct trial *trial, const char *work, const struct settings *settings,
                          struct codegen_result *result, double *error, const char **reason)
{
    struct network *network = &trial->network;
    const char *const names[] = { "gcc", "gcc-sanitized" };

    if (!network_write(network, work, NULL, &trial->driver.offload.targets, result))
        return fail(network->ctx, reason, "no C was generated");
    for (int i = 0; i < (settings->sanitize ? 2 : 1); i++) {
        double one;

        if (!config_run(network->ctx, find_config(names[i]), network, work, result, &one, reason))
            return false;
        *error = fmax(*error, one);
    }
    return watch_arena(trial, work, result, reason) || fail(network->ctx, reason, NULL);
}

/* Under FP8, a number next to the border between two steps goes one way in the reference's order of
 * summing and the other way in c's or oneDNN's, and is then up to an eighth off. In a deep network
 * one such number moves others over their borders, until little but the precision itself bounds
 * what comes out: the error may be as great as the distance between fp8 and f32. A target that sums
 * in the reference's order, and has all of the network, has no error at all. */
static double default_tolerance(const struct trial *trial)
{
    return fmax(trial->network.tolerance, trial->noise);
}

static const char *shares(struct trial *trial)
{
    struct str text = { .arena = &trial->network.ctx->perm };

    for (int i = 0; i < trial->n_shares; i++)
        str_printf(&text, "%s%s %d/%d", i ? ", " : "", trial->shares[i].target->name,
                   trial->shares[i].n_regions, trial->shares[i].n_nodes);
    return str_text(&text);
}

static bool all_take_part(struct trial *trial, const char **reason)
{
    for (int i = 1; i < trial->n_shares; i++)
        if (trial->shares[i].n_regions == 0) {
            *reason = arena_printf(&trial->network.ctx->perm, "%s got no region",
                                   trial->shares[i].target->name);
            return false;
        }
    return true;
}

static void run_one(const char *dir, const char *list, const char *precision,
                    struct settings *settings, struct oracle **oracles)
{
    struct trial trial = { .list = list,
                           .precision = precision,
                           .everything = settings->everything,
                           .target_dir = settings->target_dir };
    struct codegen_result result = { 0 };
    const char *reason = NULL;
    double error = 0, tolerance = settings->tolerance;
    bool ok = trial_prepare(&trial, dir, oracles);
    struct ctx *ctx = trial.network.ctx;

    if (!ok)
        fail(ctx, &reason, "it was not partitioned");
    ok = ok && (!settings->must || all_take_part(&trial, &reason)) &&
         build_and_run(&trial,
                       arena_printf(&ctx->perm, "%s/%s.%s.%s", settings->work, trial.network.name,
                                    list, precision),
                       settings, &result, &error, &reason);
    if (tolerance == 0)
        tolerance = default_tolerance(&trial);
    if (ok && !(error <= tolerance)) {
        reason = arena_printf(&ctx->perm, "error %.1e, tolerance %.0e", error, tolerance);
        ok = false;
    }
    if (ok)
        printf("pass %-20s %-14s %s  error %.1e  (to f32 %.1e)  arena %zu  regions/nodes: %s\n",
               trial.network.name, list, precision, error, trial.noise, result.arena_bytes,
               shares(&trial));
    else
        printf("FAIL %-20s %-14s %s  %s\n", trial.network.name, list, precision, reason);
    fflush(stdout);
    *(ok ? &settings->passed : &settings->failed) += 1;
    trial_free(&trial);
}

static void run_model(const char *dir, struct settings *settings)
{
    struct oracle *oracles = NULL;

    for (int p = 0; p < settings->n_precisions; p++)
        for (int i = 0; i < settings->n_lists; i++)
            run_one(dir, settings->lists[i], settings->precisions[p], settings, &oracles);
    oracles_free(oracles);
}

static void add(const char **words, int *n, const char *word)
{
    if (*n == MAX_WORDS)
        abort();
    words[(*n)++] = word;
}

/* Whether argv[i] is an option; one with a value takes both. */
static int parse_option(struct settings *settings, char **argv, int i)
{
    const char *word = argv[i], *value = argv[i + 1];

    if (strcmp(word, "--everything") == 0)
        return settings->everything = true;
    if (strcmp(word, "--must") == 0)
        return settings->must = true;
    if (strcmp(word, "--sanitize") == 0)
        return settings->sanitize = true;
    if (!value || strncmp(word, "--", 2) != 0)
        return 0;
    if (strcmp(word, "--work") == 0)
        settings->work = value;
    else if (strcmp(word, "--target-dir") == 0)
        settings->target_dir = value;
    else if (strcmp(word, "--offload") == 0)
        add(settings->lists, &settings->n_lists, value);
    else if (strcmp(word, "--precision") == 0)
        add(settings->precisions, &settings->n_precisions, value);
    else if (strcmp(word, "--tolerance") == 0)
        settings->tolerance = atof(value);
    else
        return 0;
    return 2;
}

int main(int argc, char **argv)
{
    struct settings settings = { .work = "build/offload" };
    int i = 1;

    for (int n; i < argc && (n = parse_option(&settings, argv, i)) > 0;)
        i += n;
    if (settings.n_precisions == 0)
        add(settings.precisions, &settings.n_precisions, "f32");
    for (; i < argc; i++)
        run_model(argv[i], &settings);
    printf("%d passed, %d failed\n", settings.passed, settings.failed);
    return settings.failed || settings.passed == 0;
}
