/* main.c - make bench-accuracy: what each way to quantise does to the answers of real networks.
 *
 * A markdown table per network on standard output, each row as soon as it is known. f32 comes first
 * and must be what shared/data/INDEX.md says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "bench/accuracy/configs.h"
#include "bench/accuracy/evaluate.h"
#include "frontend/onnx/import.h"
#include "quantize/batch_norms.h"
#include "relay_ir/passes/pipeline.h"

struct bench {
    const char *shared;
    const char *networks, *configs; /* comma-separated parts of names; NULL = all */
    const char *output;             /* NULL = none */
    long limit;                     /* samples; 0 = all */
    int n_threads;
    bool realised; /* what generated C computes, not its simulation in f32 */
    FILE *copy;
    int n_failed;
};

/* Processor time: others may be using the machine. */
static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void put(const struct bench *bench, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(const struct bench *bench, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
    if (!bench->copy)
        return;
    va_start(args, format);
    vfprintf(bench->copy, format, args);
    va_end(args);
}

/* Whether one of the comma-separated parts stands in the name. */
static bool is_wanted(const char *list, const char *name)
{
    struct arena arena = { NULL };
    bool wanted = !list;

    for (char *part = list ? strtok(arena_strdup(&arena, list), ",") : NULL; part && !wanted;
         part = strtok(NULL, ","))
        wanted = strstr(name, part) != NULL;
    arena_release(&arena);
    return wanted;
}

static void complain(struct bench *bench, struct ctx *ctx)
{
    diag_print(ctx, stderr, false, 20);
    bench->n_failed++;
}

/* --- one network ------------------------------------------------------------------------------ */

/* What all rows of a network's table share. */
struct subject {
    struct bench *bench;
    const struct network *network;
    struct ctx *ctx;
    const char *path;
    struct dataset dataset;
    struct calib_table table;
    struct score f32;
    size_t weight_bytes;
    struct str notes; /* behind the table */
};

/* The model before quantisation; *norms, unless NULL, of what it was before. NULL after errors. */
static struct module *prepare(const struct subject *subject, struct ctx *ctx,
                              struct batch_norms **norms)
{
    const struct import_options import = { .n_shapes = 0 };
    const struct pipeline_options pipeline = { .part = PIPELINE_PREPARE, .log = stderr };
    struct module *module = onnx_import(ctx, subject->path, &import);

    if (!module)
        return NULL;
    if (norms)
        *norms = batch_norms_collect(ctx, module);
    if (pipeline_run(module, &pipeline))
        return module;
    module_free(module);
    return NULL;
}

static bool fuse(struct module *module)
{
    const struct pipeline_options pipeline = { .part = PIPELINE_FUSE, .log = stderr };

    return pipeline_run(module, &pipeline);
}

static size_t weight_bytes(const struct module *module)
{
    size_t bytes = 0;

    for (const struct value *v = module->main->constants; v; v = v->next)
        bytes += type_packed_bytes(&v->type);
    return bytes;
}

static bool make_table(struct subject *subject, struct function *fn)
{
    const struct calibration_source source = dataset_calibration(&subject->dataset);
    struct threshold_method *methods;
    struct calibration_options options = { .n_threads = subject->bench->n_threads };

    options.n_methods = threshold_methods(&subject->ctx->perm, 99.99, &methods);
    options.methods = methods;
    return calibrate(subject->ctx, fn, &source, &options, &subject->table);
}

/* Data, calibration, and the f32 network's answers. */
static bool open_subject(struct subject *subject)
{
    const struct bench *bench = subject->bench;
    struct dataset *dataset = &subject->dataset;
    struct module *module = prepare(subject, subject->ctx, NULL);
    bool ok = module &&
              (module->main->n_params == 1 || diag_error(subject->ctx, DIAG_INPUT_MISMATCH, NULL,
                                                         "the network has more than one input"));

    ok =
        ok && dataset_load(subject->ctx, bench->shared, subject->network,
                           &module->main->params[0]->type, bench->limit, bench->n_threads, dataset);
    ok = ok && make_table(subject, module->main);
    if (ok)
        subject->weight_bytes = weight_bytes(module);
    ok = ok && fuse(module) &&
         evaluate(subject->ctx, module->main, dataset,
                  dataset->n_reference ? dataset->n_reference : dataset->n_tested, bench->n_threads,
                  &subject->f32);
    module_free(module);
    return ok;
}

/* --- the table -------------------------------------------------------------------------------- */

static double percent(int64_t part, int64_t n)
{
    return 100 * (double)part / (double)n;
}

static void put_heading(const struct subject *subject)
{
    const struct network *network = subject->network;
    const struct dataset *dataset = &subject->dataset;
    const struct score *all = &subject->f32;

    put(subject->bench, "\n## %s\n\n", network->name);
    if (dataset->n_reference && network->kind == DATA_WINDOWS)
        put(subject->bench, "f32: mean squared error %.5f, reference %.5f (%lld windows of %s)%s\n",
            all->error, network->top1, (long long)all->n, network->data,
            fabs(all->error - network->top1) < 1e-4 ? "" : " **DIFFERS**");
    else if (dataset->n_reference)
        put(subject->bench, "f32: top-1 %.2f %%, reference %.2f %%; top-5 %.2f %% (%lld of %s)%s\n",
            percent(all->n_right, all->n), network->top1, percent(all->n_right5, all->n),
            (long long)all->n, network->data,
            fabs(percent(all->n_right, all->n) - network->top1) < 0.005 &&
                    (network->top5 == 0 ||
                     fabs(percent(all->n_right5, all->n) - network->top5) < 0.005)
                ? ""
                : " **DIFFERS**");
    put(subject->bench, "Calibrated on %lld samples, tested on %lld others.\n\n",
        (long long)dataset->n_calibration, (long long)dataset->n_tested);
    if (network->kind == DATA_WINDOWS)
        put(subject->bench, "| | mean squared error | weights, KiB | CPU s to quantise, to run "
                            "|\n|---|---|---|---|\n");
    else
        put(subject->bench, "| | top-1 %% | points | top-5 %% | agree %% | lost / won | weights, "
                            "KiB | CPU s to quantise, to run |\n"
                            "|---|---|---|---|---|---|---|---|\n");
}

static void put_row(const struct subject *subject, const char *name, const struct score *score,
                    size_t bytes, double before)
{
    const struct score f32 = score_head(&subject->f32, score->n);
    const struct comparison c = score_compare(&f32, score);
    const double kib = (double)bytes / 1024;

    if (subject->network->kind == DATA_WINDOWS) {
        put(subject->bench, "| %s | %.4f | %.1f | %.1f, %.1f |\n", name, score->error, kib, before,
            score->seconds);
        return;
    }
    put(subject->bench,
        "| %s | %.2f | %+.2f ± %.2f | %.2f | %.2f | %lld / %lld | %.1f | %.1f, %.1f |\n", name,
        percent(score->n_right, score->n), c.points, c.points_error,
        percent(score->n_right5, score->n), percent(c.n_agree, score->n), (long long)c.n_lost,
        (long long)c.n_won, kib, before, score->seconds);
}

/* --- one configuration ------------------------------------------------------------------------ */

static bool quantize(const struct subject *subject, struct ctx *ctx, const struct config *config,
                     struct module **module, struct quantize_report *report)
{
    const struct pipeline_options pipeline = { .log = stderr };
    const struct calibration_source source = dataset_calibration(&subject->dataset);
    struct batch_norms *norms;
    struct quantize_options options = { .calib = config->equalize ? NULL : &subject->table,
                                        .samples = &source,
                                        .n_threads = subject->bench->n_threads,
                                        .simulate_only = !subject->bench->realised };

    if (!config_apply(ctx, config, &options))
        return false;
    *module = prepare(subject, ctx, &norms);
    options.batch_norms = norms;
    return *module && quantize_module(*module, &options, &pipeline, report) && fuse(*module);
}

/* The list of nodes that were to be small and are not. */
static void note_kept(struct subject *subject, const char *name,
                      const struct quantize_report *report)
{
    int n = 0;

    for (int i = 0; i < report->n; i++)
        if (report->lines[i].why)
            str_printf(&subject->notes, "%s`%s` (%s)",
                       n++ ? ", " : arena_printf(&subject->ctx->perm, "- %s: in f32 are ", name),
                       report->lines[i].node, report->lines[i].why);
    if (n)
        str_add(&subject->notes, "\n");
}

static void run_config(struct subject *subject, const struct config *config)
{
    struct ctx *ctx = ctx_new(subject->path);
    struct module *module = NULL;
    struct quantize_report report;
    struct score score;
    const double start = now();

    if (quantize(subject, ctx, config, &module, &report) &&
        evaluate(ctx, module->main, &subject->dataset, subject->dataset.n_tested,
                 subject->bench->n_threads, &score)) {
        put_row(subject, config->name, &score, report.weight_bytes_after,
                now() - start - score.seconds);
        note_kept(subject, config->name, &report);
    } else {
        put(subject->bench, "| %s | failed |\n", config->name);
        complain(subject->bench, ctx);
    }
    module_free(module);
    ctx_free(ctx);
}

static void run_network(struct bench *bench, const struct network *network)
{
    struct subject subject = { .bench = bench, .network = network };
    struct score head;

    subject.ctx = ctx_new(NULL);
    subject.notes.arena = &subject.ctx->perm;
    subject.path =
        arena_printf(&subject.ctx->perm, "%s/models/%s/model.onnx", bench->shared, network->name);
    subject.ctx->diags.input_name = subject.path;
    if (open_subject(&subject)) {
        put_heading(&subject);
        head = score_head(&subject.f32, subject.dataset.n_tested);
        put_row(&subject, "f32", &head, subject.weight_bytes, 0);
        for (int i = 0; i < n_configs; i++)
            if (is_wanted(bench->configs, configs[i].name))
                run_config(&subject, &configs[i]);
        put(bench, "\n%s", str_text(&subject.notes));
    } else {
        complain(bench, subject.ctx);
    }
    dataset_free(&subject.dataset);
    ctx_free(subject.ctx);
}

/* --- the command line ------------------------------------------------------------------------- */

static int usage(void)
{
    fputs("bench_accuracy [-m NETWORK,...] [-c PART,...] [-n SAMPLES] [-t THREADS] [-o FILE] [-r]\n"
          "  -m  networks whose names have one of these parts; default: all\n"
          "  -c  likewise of configurations; \"\" is f32 alone\n"
          "  -n  test on so many samples only\n"
          "  -o  write the table to this file too\n"
          "  -r  run the realised graphs (integers and small floats), not their simulation\n"
          "  -l  list networks and configurations\n"
          "RELAYC_SHARED is the folder with models/ and data/.\n",
          stderr);
    return 2;
}

static int list(void)
{
    for (int i = 0; i < n_networks; i++)
        printf("%s\n", networks[i].name);
    for (int i = 0; i < n_configs; i++)
        printf("  %-45s %s\n", configs[i].name, configs[i].section);
    return 0;
}

static bool parse(struct bench *bench, int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "m:c:n:t:o:r")) != -1;)
        switch (c) {
        case 'm': bench->networks = optarg; break;
        case 'c': bench->configs = optarg; break;
        case 'n': bench->limit = atol(optarg); break;
        case 't': bench->n_threads = atoi(optarg); break;
        case 'o': bench->output = optarg; break;
        case 'r': bench->realised = true; break;
        default: return false;
        }
    return optind == argc && bench->limit >= 0 && bench->n_threads >= 1;
}

int main(int argc, char **argv)
{
    const char *shared = getenv("RELAYC_SHARED");
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct bench bench = { .shared = shared && *shared ? shared : "../shared",
                           .n_threads = cores > 0 ? (int)cores : 1 };

    if (argc == 2 && strcmp(argv[1], "-l") == 0)
        return list();
    if (!parse(&bench, argc, argv))
        return usage();
    if (bench.output && !(bench.copy = fopen(bench.output, "w"))) {
        fprintf(stderr, "cannot write %s\n", bench.output);
        return 3;
    }
    for (int i = 0; i < n_networks; i++)
        if (is_wanted(bench.networks, networks[i].name))
            run_network(&bench, &networks[i]);
    if (bench.copy && fclose(bench.copy) != 0) {
        fprintf(stderr, "cannot write %s\n", bench.output);
        return 3;
    }
    return bench.n_failed > 0;
}
