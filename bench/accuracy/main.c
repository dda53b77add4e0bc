/* main.c - make bench-accuracy: what each way to quantise does to the answers of real networks.
 *
 * A markdown table per network on standard output, each row as soon as it is known. f32 comes first
 * and must be what shared/data/INDEX.md says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "bench/accuracy/measure.h"
#include "eval/mcnemar.h"

struct bench {
    const char *shared;
    const char *networks, *configs; /* comma-separated parts of names; NULL = all */
    const char *output;             /* NULL = none */
    long limit;                     /* samples; 0 = all */
    int n_threads;
    enum judge judge;
    FILE *copy;
    int n_failed;
};

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
    fflush(bench->copy);
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

/* --- the table -------------------------------------------------------------------------------- */

static double percent(int64_t part, int64_t n)
{
    return 100 * (double)part / (double)n;
}

static void put_heading(const struct bench *bench, const struct subject *subject)
{
    const struct network *network = subject->network;
    const struct dataset *dataset = &subject->dataset;
    const struct score *all = &subject->f32;

    put(bench, "\n## %s\n\n", network->name);
    if (dataset->n_reference && network->kind == DATA_WINDOWS)
        put(bench, "f32: mean squared error %.5f, reference %.5f (%lld windows of %s)%s\n",
            all->error, network->top1, (long long)all->n, network->data,
            fabs(all->error - network->top1) < 1e-4 ? "" : " **DIFFERS**");
    else if (dataset->n_reference)
        put(bench, "f32: top-1 %.2f %%, reference %.2f %%; top-5 %.2f %% (%lld of %s)%s\n",
            percent(all->n_right, all->n), network->top1, percent(all->n_right5, all->n),
            (long long)all->n, network->data,
            fabs(percent(all->n_right, all->n) - network->top1) < 0.005 &&
                    (network->top5 == 0 ||
                     fabs(percent(all->n_right5, all->n) - network->top5) < 0.005)
                ? ""
                : " **DIFFERS**");
    put(bench, "Calibrated on %lld samples, tested on %lld others, judged by %s.\n\n",
        (long long)dataset->n_calibration, (long long)dataset->n_tested,
        bench->judge == JUDGE_GENERATED  ? "the generated C (first row: by oneDNN)"
        : bench->judge == JUDGE_REALISED ? "oneDNN, on the realised graph"
                                         : "oneDNN, on the simulation");
    if (network->kind == DATA_WINDOWS)
        put(bench, "| | mean squared error | weights, KiB | CPU s to quantise, to run "
                   "|\n|---|---|---|---|\n");
    else
        put(bench, "| | top-1 %% | points | top-5 %% | agree %% | lost / won | p | weights, "
                   "KiB | CPU s to quantise, to run |\n"
                   "|---|---|---|---|---|---|---|---|---|\n");
}

static void put_row(const struct bench *bench, const struct subject *subject, const char *name,
                    const struct score *score, size_t bytes, double before)
{
    const struct score f32 = score_head(&subject->f32, score->n);
    const struct comparison c = score_compare(&f32, score);
    const double kib = (double)bytes / 1024, p = mcnemar_p(c.n_lost, c.n_won);
    char chance[16] = "< 0.0001";

    if (p >= 1e-4)
        snprintf(chance, sizeof chance, "%.2g", p);
    if (subject->network->kind == DATA_WINDOWS) {
        put(bench, "| %s | %.4f | %.1f | %.1f, %.1f |\n", name, score->error, kib, before,
            score->seconds);
        return;
    }
    put(bench,
        "| %s | %.2f | %+.2f ± %.2f | %.2f | %.2f | %lld / %lld | %s | %.1f | %.1f, %.1f |\n", name,
        percent(score->n_right, score->n), c.points, c.points_error,
        percent(score->n_right5, score->n), percent(c.n_agree, score->n), (long long)c.n_lost,
        (long long)c.n_won, chance, kib, before, score->seconds);
}

/* --- one configuration ------------------------------------------------------------------------ */

/* The list of nodes that were to be small and are not. */
static void note_kept(struct str *notes, const char *name, const struct quantize_report *report)
{
    int n = 0;

    for (int i = 0; i < report->n; i++)
        if (report->lines[i].why)
            str_printf(notes, "%s`%s` (%s)",
                       n++ ? ", " : arena_printf(notes->arena, "- %s: in f32 are ", name),
                       report->lines[i].node, report->lines[i].why);
    if (n)
        str_add(notes, "\n");
}

/* What the rule `auto` has chosen. */
static void note_rules(struct str *notes, const char *name, const struct quantize_report *report)
{
    for (int i = 0; i < report->n_rules; i++)
        str_printf(notes, "%s%s %s %.3g", i ? "," : arena_printf(notes->arena, "- %s:", name),
                   i == report->chosen_rule ? " **by**" : "", report->rules[i].name,
                   report->rules[i].loss);
    if (report->n_rules)
        str_add(notes, " (1 - cosine of the results)\n");
}

static void run_config(struct bench *bench, const struct subject *subject,
                       const struct config *config, struct str *notes)
{
    struct ctx *ctx = ctx_new(subject->path);
    struct measured m;

    if (measure(subject, config, bench->judge, ctx, &m)) {
        put_row(bench, subject, config->name, &m.score, m.report.weight_bytes_after, m.seconds);
        note_kept(notes, config->name, &m.report);
        note_rules(notes, config->name, &m.report);
    } else {
        put(bench, "| %s | failed |\n", config->name);
        complain(bench, ctx);
    }
    ctx_free(ctx);
}

/* The f32 row on top is the engine's: this one is of the C that is compared with it below. */
static const struct config f32_by_the_c = { .name = "f32, by the C", .precision = "f32" };

static void run_network(struct bench *bench, const struct network *network)
{
    struct subject subject;
    struct str notes = { .arena = NULL };

    if (subject_open(&subject, bench->shared, network, bench->limit, bench->n_threads)) {
        const struct score head = score_head(&subject.f32, subject.dataset.n_tested);

        notes.arena = &subject.ctx->perm;
        put_heading(bench, &subject);
        put_row(bench, &subject, "f32", &head, subject.weight_bytes, 0);
        if (bench->judge == JUDGE_GENERATED)
            run_config(bench, &subject, &f32_by_the_c, &notes);
        for (int i = 0; i < n_accuracy_configs; i++)
            if (is_wanted(bench->configs, accuracy_configs[i].name))
                run_config(bench, &subject, &accuracy_configs[i], &notes);
        put(bench, "\n%s", str_text(&notes));
    } else {
        complain(bench, subject.ctx);
    }
    subject_close(&subject);
}

/* --- the command line ------------------------------------------------------------------------- */

static int usage(void)
{
    fputs("bench_accuracy [-m NETWORK,...] [-c PART,...] [-n SAMPLES] [-t THREADS] [-o FILE] "
          "[-r|-s]\n"
          "  -m  networks whose names have one of these parts; default: all\n"
          "  -c  likewise of configurations; \"\" is f32 alone\n"
          "  -n  test on so many samples only\n"
          "  -o  write the table to this file too\n"
          "  -r  on oneDNN: the realised graphs (integers and small floats)\n"
          "  -s  on oneDNN: their simulation in f32; default: the generated C\n"
          "  -l  list networks and configurations\n"
          "RELAYC_SHARED is the folder with models/ and data/.\n",
          stderr);
    return 2;
}

static int list(void)
{
    for (int i = 0; i < n_networks; i++)
        printf("%s\n", networks[i].name);
    for (int i = 0; i < n_accuracy_configs; i++)
        printf("  %-45s %s\n", accuracy_configs[i].name, accuracy_configs[i].section);
    return 0;
}

static bool parse(struct bench *bench, int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "m:c:n:t:o:rs")) != -1;)
        switch (c) {
        case 'm': bench->networks = optarg; break;
        case 'c': bench->configs = optarg; break;
        case 'n': bench->limit = atol(optarg); break;
        case 't': bench->n_threads = atoi(optarg); break;
        case 'o': bench->output = optarg; break;
        case 'r': bench->judge = JUDGE_REALISED; break;
        case 's': bench->judge = JUDGE_SIMULATION; break;
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
