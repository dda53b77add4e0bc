/* main.c - damaged models, graphs and tensors, by the thousand.
 *
 *   robustness [--work DIR] [--cases N] [--turns N] FILE.onnx...
 *
 * Every truncation of each file (a selection, of big ones) and N other cases each, always the same
 * ones; of these every Nth, in rotation with RELAYC_TEST_TURN. Exit code 1 when anything failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/robustness/robustness.h"
#include "tests/support/builds.h"

struct tally {
    size_t passed, failed;
};

struct options {
    const char *dir;
    size_t n_cases, turns;
};

static void run(const struct subject *subjects, int n, const struct options *options,
                struct tally *tally)
{
    for (int i = 0; i < n; i++) {
        const struct sweep sweep = { (builds_turn() + (unsigned)i) % options->turns, options->turns,
                                     n_truncations(&subjects[i]) + options->n_cases };
        const size_t failed = run_cases(&subjects[i], &sweep, options->dir);

        tally->failed += failed;
        tally->passed += (sweep.end - sweep.first + sweep.step - 1) / sweep.step - failed;
    }
}

static void run_model(const char *path, const struct options *options, struct tally *tally)
{
    struct arena arena = { NULL };
    struct subject subjects[MOST_SUBJECTS_OF_A_MODEL];
    const int n = load_model_subjects(&arena, path, options->dir, subjects);

    tally->failed += n == 0;
    run(subjects, n, options, tally);
    arena_release(&arena);
}

static void run_tensors(const struct options *options, struct tally *tally)
{
    struct arena arena = { NULL };
    struct subject subjects[N_TENSOR_SUBJECTS];
    const int n = make_tensor_subjects(&arena, options->dir, subjects);

    tally->failed += n == 0;
    run(subjects, n, options, tally);
    arena_release(&arena);
}

int main(int argc, char **argv)
{
    struct options options = { "build/robustness", 1000, 1 };
    struct tally tally = { 0 };
    int i = 1;

    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--work") == 0)
            options.dir = argv[i + 1];
        else if (strcmp(argv[i], "--cases") == 0)
            options.n_cases = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--turns") == 0)
            options.turns = strtoul(argv[i + 1], NULL, 10);
        else
            return 2;
    }
    if (options.turns == 0)
        return 2;
    mkdir(options.dir, 0777);
    run_tensors(&options, &tally);
    for (; i < argc; i++)
        run_model(argv[i], &options, &tally);
    printf("%zu passed, %zu failed\n", tally.passed, tally.failed);
    return tally.failed || tally.passed == 0;
}
